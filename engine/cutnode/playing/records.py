"""Game files: a list of moves, which works for every game, or the game's own format.

A list of moves is text, one step a line::

    # moves of connect4, from 4455
    # Event: an example
    3 !
    # takes the column
    (
    2
    )
    5

A step is a move in the game's notation, or ``chance N`` for outcome number N, counted from 0; a
mark such as ``!?`` may follow it.  Parentheses enclose a variation: an alternative to the step
before them.  Other lines that begin with ``#`` are comments on the step before them or, before the
first step, headers such as ``# Event: an example`` and comments on the game.

A game with a format of its own declares the ending of its files, ``RECORD_SUFFIX``, and defines
``record_text(start, moves, about)`` and ``parse_record(text)``: see
:mod:`cutnode.contract.verbs`.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from cutnode.contract.collection import described, game_names
from cutnode.contract.dispatch import declared
from cutnode.contract.errors import CutnodeError
from cutnode.contract.loading import load_game
from cutnode.contract.messages import position_text
from cutnode.contract.plies import Ply
from cutnode.contract.text import quoted
from cutnode.search.record import Record
from cutnode.storage.files import decoded

LIST_SUFFIX = ".txt"
"""The ending of files that hold lists of moves."""

SESSION_SUFFIX = ".json"
"""The ending of files that hold sessions of ``cutnode play``."""

FIRST_LINE = re.compile(r"#\s*moves of (\S+?)(?:, from (.*))?\s*")
HEADER = re.compile(r"([\w+#=-]+): (.+)")
CHANCE = re.compile(r"chance ([0-9]{1,9})")
MARKED = re.compile(r"(.*?\S)((?:\s+(?:[!?]{1,2}|\$[0-9]+))+)")

MOST_NESTED = 32
"""The most variations around a step."""


class Recorded(NamedTuple):
    """A game read from a file."""

    name: str
    """The name of the game."""
    start: str
    """The first position, as text; "" for the start of the game."""
    plies: list[Ply]
    """Its steps with their annotations."""
    headers: Mapping[str, str] = {}
    """Facts about the game, such as its players and its date, by name."""
    comment: str = ""
    """The comment before the first step."""

    @property
    def steps(self) -> list[str | int]:
        """The steps, as :meth:`~cutnode.search.record.Record.follow` takes them."""
        return [step_of(ply) for ply in self.plies]


def step_of(ply: str) -> str | int:
    """Return the text of a move, or the index of an outcome of chance."""
    event = CHANCE.fullmatch(ply)
    return int(event[1]) if event else str(ply)


def record_suffix(file: str, cls: Any = None) -> str:
    """Return the ending of a game file: ``.txt`` or the ending of the game's own format; else "".

    Without a position class, the formats of all named games count.
    """
    suffix = Path(file).suffix.lower()
    if suffix == LIST_SUFFIX or not suffix:
        return suffix
    own = [declared(cls, "RECORD_SUFFIX")] if cls is not None else [*_games_by_suffix()]
    return suffix if suffix in own else ""


@functools.cache
def _games_by_suffix() -> dict[str, str]:
    """Return the named games that have a format of their own, by its ending."""
    games = map(described, game_names())
    return {game.record_suffix: game.name for game in games if game.record_suffix}


def write_record(name: str, record: Record, players: tuple[str, str], suffix: str) -> str:
    """Return a game as text; *players* are the names of sides 0 and 1."""
    start = record.positions[0]
    texts = [record.step_text(number) for number in range(len(record.steps))]
    if suffix != LIST_SUFFIX:
        value = record.value() if record.ending() else None
        return own_text(load_game(name).module, start, texts, players, value)
    return list_text(name, start, list(map(ply_of, texts)))


def list_text(
    name: str,
    start: Any,
    plies: Sequence[Ply],
    headers: Mapping[str, str] = {},
    comment: str = "",
) -> str:
    """Return a game as a list of moves with their annotations, which :func:`parse_list` reads."""
    lines = [f"# moves of {name}, from {position_text(start)}"]
    lines += [f"# {header}: {value}" for header, value in headers.items()]
    return "\n".join([*lines, *_remarks(comment), *_list_lines(plies), ""])


def _list_lines(plies: Sequence[Ply]) -> Iterator[str]:
    for ply in plies:
        yield f"{ply} {ply.mark}".strip()
        yield from _remarks(ply.comment)
        for variation in ply.variations:
            yield from ("(", *_list_lines(variation), ")")


def _remarks(comment: str) -> list[str]:
    return [f"# {line}" for line in comment.split("\n") if line.strip()]


def own_text(
    module: ModuleType,
    start: Any,
    moves: Sequence[Any],
    players: tuple[str, str],
    value: float | None,
    **about: Any,
) -> str:
    """Return a game in the own format of a game's module.

    *value* is for side 0, None if the game is not over; *moves* are texts or
    :class:`~cutnode.contract.plies.Ply`s; *about* may have ``headers`` and a ``comment``.
    """
    about |= {"players": players, "date": date.today().isoformat(), "value": value}
    return str(module.record_text(start, moves, about))


def read_record(file: str, name: str | None) -> Recorded:
    """Read a game file; :class:`CutnodeError` says what is wrong with it.

    *name* is the game; if the file names it too, both must agree.
    """
    try:
        text = decoded(Path(file).read_bytes())
    except OSError as error:
        raise CutnodeError(f"{file} cannot be read: {error.strerror}") from None
    suffix = Path(file).suffix.lower()
    try:
        if suffix == LIST_SUFFIX:
            return parse_list(text, name)
        if suffix == SESSION_SUFFIX:
            return parse_session(text, name)
        game = name or _games_by_suffix()[suffix]
        module = load_game(game).module
        if getattr(module, "RECORD_SUFFIX", None) != suffix:
            raise CutnodeError(f"it is not a game of {game}, which has no {suffix} files")
        return parse_own(text, game, module)
    except CutnodeError as error:
        raise CutnodeError(f"{file}: {error}") from None


def parse_record(text: str, name: str, module: ModuleType) -> Recorded:
    """Read a game as text: a list of moves or, in games that have one, the game's own format."""
    is_list = FIRST_LINE.fullmatch(text.strip().partition("\n")[0])
    own = getattr(module, "parse_record", None) is not None and not is_list
    return parse_own(text, name, module) if own else parse_list(text, name)


def parse_own(text: str, name: str, module: ModuleType) -> Recorded:
    """Read a game in the own format of its *module*."""
    start, moves, *rest = module.parse_record(text)
    plies = [move if isinstance(move, Ply) else Ply(move) for move in moves]
    about = rest[0] if rest else {}
    if "variant" in about:
        name = _named(name, about["variant"], module)
    return Recorded(name, start, plies, about.get("headers", {}), about.get("comment", ""))


def _named(name: str, variant: str, module: ModuleType) -> str:
    """Return the name of a game with the variant of its record; *name* may say one, too."""
    base, _, asked = name.partition(":")
    if type(module.start(asked)) is type(module.start(variant)):
        return name
    recorded = f"{base}:{variant}" if variant else base
    if asked:
        raise CutnodeError(f"it is a game of {recorded}, not of {name}")
    return recorded


def parse_session(text: str, name: str | None) -> Recorded:
    """Read the game of a saved session; *name* is the game, or None for the one that it names."""
    try:
        data = json.loads(text)
        saved, start, steps = data["game"], data["start"], data["steps"]
    except (ValueError, RecursionError, TypeError, KeyError):
        raise CutnodeError("it is not a saved game of cutnode") from None
    if not isinstance(start, str) or not isinstance(steps, list):
        raise CutnodeError("its start must be a text, and its steps a list")
    if name is not None and saved != name:
        raise CutnodeError(f"it is a game of {quoted(str(saved))}, not of {quoted(name)}")
    return Recorded(str(saved), start, list(map(ply_of, steps)))


def ply_of(step: Any) -> Ply:
    """Return a step as a ply: the text of a move, or the index of an outcome of chance."""
    return Ply(f"chance {step}" if isinstance(step, int) else step)


def parse_list(text: str, name: str | None) -> Recorded:
    """Read a list of moves; :class:`CutnodeError` if it and *name* do not say which game it is."""
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    said = FIRST_LINE.fullmatch(lines[0]) if lines else None
    if said is None and name is None:
        raise CutnodeError(
            "it does not say which game it is: name the game, or begin it with '# moves of GAME'"
        )
    if said is not None and name is not None and said[1] != name:
        raise CutnodeError(f"it has moves of {quoted(said[1])}, not of {quoted(name)}")
    headers: dict[str, str] = {}
    top = Ply("")  # for comments before the first step
    open_lines: list[list[Ply]] = [[top]]
    for line in lines[said is not None :]:
        plies = open_lines[-1]
        if line.startswith("#"):
            header = HEADER.fullmatch(line[1:].strip())
            if header and plies[-1] is top and not top.comment:
                headers[header[1]] = header[2]
            elif plies:
                plies[-1].add_comment(line[1:].strip())
        elif line == "(":
            if len(open_lines) > MOST_NESTED:
                raise CutnodeError(f"variations are nested more than {MOST_NESTED} deep")
            if plies[-1:] in ([], [top]):
                raise CutnodeError("a variation must follow the step that it replaces")
            open_lines.append([])
        elif line == ")":
            if len(open_lines) == 1:
                raise CutnodeError("a parenthesis is closed that was not opened")
            open_lines.pop()
            if plies:
                open_lines[-1][-1].variations.append(plies)
        else:
            marked = MARKED.fullmatch(line)
            plies.append(Ply(marked[1], " ".join(marked[2].split())) if marked else Ply(line))
    if len(open_lines) > 1:
        raise CutnodeError("a variation is not closed: its parenthesis is missing")
    start = (said[2] or "") if said else ""
    return Recorded(
        name or (said[1] if said else ""), start, open_lines[0][1:], headers, top.comment
    )
