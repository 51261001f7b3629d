"""The data files of published results, and the verdict on a measurement.

A file ``NAME.toml`` has these texts, and then tables::

    title = "..."           what was found, in a few words
    source = "..."          the full reference
    read = "..."            how it was read: the source, its abstract, or a quotation elsewhere
    claim = "..."           the claim, with its numbers
    setup = "..."           the published set-up
    here = "..."            what is different here
    difference = "..."      what a difference would mean

    [[studies]]             an experiment (cutnode.lab.study.EXPERIMENTS), run once
    name = "..."            for results that refer to it; may be left out if it is the only one
    experiment = "..."
    file = "..."            the set of positions of the game, and how many of the first ones to take
    first = 20
    sample = {...}          or positions drawn from games: their count, least, most (plies) and seed
    trees = 100             the number of trees of a study of theory
    settings = {...}        its arguments, with game as a text

    [[results]]             a number, compared with a figure of a study
    of = "..."              what the number is about
    published = 0.99        the published number; left out if the source gives a range
    within = [0.98, 1.0]    what counts as the same; left out, only the number itself
    none = 0                the number that would mean no effect, if there is one
    study = "..."           the study's name
    row = {...}             the columns that pick a row of the study
    figure = "..."          the column with the figure
    against = {...}         a row whose samples to divide the row's by: the geometric mean ratio
    turned = "..."          a function of TURNED, applied to the figure

    [[values]]              values of games, which are solved again
    of = "..."
    engine = "..."          of solve; may be left out
    nodes = 1000000         the limit of each proof
    figure = "value"        or nimber, or outcome_class
    games = {"GAME" = 1}    the published values, by game
"""

from __future__ import annotations

import functools
import math
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Any

from cutnode.contract.errors import CutnodeError
from cutnode.contract.text import nearest, quoted
from cutnode.lab.statistics import Interval
from cutnode.lab.study import EXPERIMENTS

FOLDER = Path(__file__).parent / "entries"
"""The folder of the data files."""

REPRODUCED, IN_SIGN, NOT = "reproduced", "reproduced in sign only", "not reproduced"
"""The verdicts."""

TURNED: dict[str, Callable[[float], float]] = {
    "": lambda figure: figure,
    "saved": lambda gain: 1 - 1 / gain,
    "rest": lambda part: 1 - part,
    "inverse": lambda ratio: 1 / ratio,
}
"""Monotone functions of a figure: the share that a gain saves, what a share leaves, the inverse."""

ROUNDING = 1e-9
"""The relative tolerance of equal figures."""


@dataclass(frozen=True, slots=True)
class Planned:
    """An experiment that an entry runs."""

    experiment: str
    settings: Mapping[str, Any]
    name: str = ""
    file: str = ""
    first: int = 0
    sample: Mapping[str, int] | None = None
    trees: int = 0


@dataclass(frozen=True, slots=True)
class Result:
    """A published number, and the figure of a study that is compared with it."""

    of: str
    row: Mapping[str, Any]
    figure: str
    published: float | None = None
    within: tuple[float, float] | None = None
    none: float | None = None
    study: str = ""
    against: Mapping[str, Any] | None = None
    turned: str = ""

    @property
    def range(self) -> tuple[float, float]:
        """The ends of what counts as the published number."""
        number = math.nan if self.published is None else self.published
        return self.within or (number, number)

    @property
    def number(self) -> float:
        """The published number, or one in the middle of the published range."""
        if self.published is not None:
            return self.published
        ends = [end for end in self.range if math.isfinite(end)]
        return sum(ends) / len(ends)

    @property
    def said(self) -> str:
        """The published number as a text."""
        low, high = self.range
        if math.isinf(high):
            return f"{'more than' if low == self.none else 'at least'} {low:g}"
        if math.isinf(low):
            return f"{'less than' if high == self.none else 'at most'} {high:g}"
        ends = f"{low:g} to {high:g}"
        if self.published is None:
            return ends
        return f"{self.published:.7g}" + (f" ({ends})" if low < high else "")

    def verdict(self, measured: Interval) -> str:
        """Return the verdict on a measurement.

        It is reproduced if its interval meets the range of the published number, and excludes the
        number that would mean no effect.  It is reproduced in sign only if the interval lies on the
        published side of that number, but apart from the range.
        """
        middle, *ends = measured
        start, end = (middle if each is None else each for each in ends)
        low, high = self.range
        slack = ROUNDING * max(1.0, abs(self.number))
        if self.none is not None and start - slack <= self.none <= end + slack:
            return NOT
        if start <= high + slack and end >= low - slack:
            return REPRODUCED
        if self.none is not None and (start > self.none) == (low + high > 2 * self.none):
            return IN_SIGN
        return NOT


@dataclass(frozen=True, slots=True)
class Values:
    """Published values of games, which are solved again."""

    of: str
    games: Mapping[str, Any]
    nodes: int
    engine: str | None = None
    figure: str = "value"


@dataclass(frozen=True, slots=True)
class Entry:
    """A published result."""

    name: str
    title: str
    source: str
    read: str
    claim: str
    setup: str
    here: str
    difference: str
    studies: tuple[Planned, ...] = ()
    results: tuple[Result, ...] = ()
    values: tuple[Values, ...] = ()


def entries(names: Iterable[str] = ()) -> list[Entry]:
    """Return the entries with some names, by default all, in the order of the names.

    :class:`CutnodeError` for unknown names.
    """
    known = _names()
    chosen = list(dict.fromkeys(names)) or list(known)
    for name in chosen:
        if name not in known:
            near = nearest(name, known, "`cutnode lab literature --list` lists the entries")
            raise CutnodeError(f"unknown entry {quoted(name)}{near}")
    return [_read(name) for name in chosen]


@functools.cache
def _names() -> tuple[str, ...]:
    return tuple(sorted(path.stem for path in FOLDER.glob("*.toml")))


@functools.cache
def _read(name: str) -> Entry:
    text = (FOLDER / f"{name}.toml").read_text(encoding="utf-8")
    return entry_of(name, tomllib.loads(text))


def entry_of(name: str, data: Mapping[str, Any]) -> Entry:
    """Return the entry of a data file; :class:`CutnodeError` says what is wrong with it."""
    lists: dict[str, Any] = {
        "studies": tuple(_made(Planned, each, name) for each in data.get("studies", ())),
        "results": tuple(_made(Result, each, name) for each in data.get("results", ())),
        "values": tuple(_made(Values, each, name) for each in data.get("values", ())),
    }
    entry: Entry = _made(Entry, {"name": name} | dict(data) | lists, name)
    studies = [each.name for each in entry.studies]
    for planned in entry.studies:
        if planned.experiment not in EXPERIMENTS:
            raise CutnodeError(f"{name}: there is no experiment {quoted(planned.experiment)}")
    for result in entry.results:
        low, high = result.range
        published = low if result.published is None else result.published
        if not low <= published <= high or low == -high == -math.inf:
            raise CutnodeError(f"{name}: {result.of}: the published number is not within its range")
        if result.study not in studies or result.turned not in TURNED:
            raise CutnodeError(f"{name}: {result.of}: unknown study or function")
    if len(set(studies)) < len(studies) or not (entry.results or entry.values):
        raise CutnodeError(f"{name}: two studies share a name, or there is no result")
    return entry


def _made(kind: Any, data: Mapping[str, Any], name: str) -> Any:
    """Return an instance of a dataclass from a table of a data file."""
    known = {each.name: each for each in fields(kind)}
    needed = {each.name for each in known.values() if each.default is MISSING}
    if wrong := sorted(data.keys() - known.keys()):
        raise CutnodeError(f"{name}: {kind.__name__} has no {wrong[0]!r}")
    if missing := sorted(needed - data.keys()):
        raise CutnodeError(f"{name}: {kind.__name__} lacks {missing[0]!r}")
    made = {key: tuple(each) if key == "within" else each for key, each in data.items()}
    return kind(**made)
