"""The outcome of an experiment: a table of figures, and what is needed to reproduce them."""

from __future__ import annotations

import contextlib
import importlib
import inspect
import itertools
import math
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, get_args, get_type_hints

import numpy as np

from cutnode.contract.errors import CutnodeError
from cutnode.contract.loading import load_game
from cutnode.contract.text import nearest
from cutnode.lab.provenance import command_line, load_average, machine, now, own_files
from cutnode.storage.frames import Rows, Tabular

FORMAT = 1
"""The version of the file format of studies."""

FORMATS = re.compile(r"[+]?,?([.]\d)?[dfge%]?")
"""The format specifications that a column may have."""

KEYS = ("", "d", ".6g")
"""The format specifications of columns that may name a row."""

INTERRUPTED = "Interrupted: what follows was not measured."
"""The note of an interrupted study; files of studies have it too."""

FAILED = "An error ended it: "
"""The beginning of the note of a study that an error ended; files of studies have it too."""

Progress = Callable[[str, int, int], None]
"""A function called with the current measurement's name, the measurements done, and their total."""


def no_progress(now: str, done: int, of: int) -> None:
    """Report nothing."""


class Follower:
    """A :data:`Progress` that also receives rows, samples and notes as the study adds them.

    This base class does nothing; subclasses store or show what they receive.
    """

    def __call__(self, now: str, done: int, of: int) -> None:
        """Receive the current measurement's name, the measurements done, and their total."""

    def begin(self, study: Study) -> None:
        """Receive a study that begins; it has no rows and samples yet."""

    def row(self, row: dict[str, Any]) -> None:
        """Receive a complete row."""

    def sample(self, sample: dict[str, Any]) -> None:
        """Receive a sample."""

    def note(self, note: str) -> None:
        """Receive a note."""

    def recall(self, key: dict[str, Any]) -> dict[str, Any] | None:
        """Return an earlier run's sample that has all items of *key*; None if there is none."""
        return None


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a study's table: one figure of each row."""

    name: str
    about: str = ""
    """The meaning, with the unit."""
    form: str = ""
    """A format specification such as ``",d"`` or ``".3f"``; empty for texts."""
    interval: bool = False
    """Whether rows also have the ends of a 95 % confidence interval, named by :attr:`ends`."""
    timed: bool = False
    """Whether the figure depends on the clock, so that it differs from run to run."""

    @property
    def every(self) -> tuple[str, ...]:
        """The names of the column's figures in a row: its own name and :attr:`ends`."""
        return (self.name, *self.ends)

    @property
    def ends(self) -> tuple[str, ...]:
        """The names of the interval's ends, ``NAME_low`` and ``NAME_high``, if it has one."""
        return (f"{self.name}_low", f"{self.name}_high") if self.interval else ()


@dataclass(frozen=True, slots=True)
class Study(Tabular):
    """A table of figures, the samples that it summarises, and the settings that reproduce it.

    An experiment makes a study before it measures anything, and adds rows, samples and notes as it
    goes; a *progress* that is a :class:`Follower` receives each of them at once.
    """

    name: str
    about: str
    settings: dict[str, Any]
    """The arguments of the experiment as plain data: the game by its name, positions as texts."""
    columns: tuple[Column, ...]
    rows: list[dict[str, Any]] = field(default_factory=list)
    """The summary: figures by the names of columns, and of the ends of intervals."""
    notes: list[str] = field(default_factory=list)
    samples: list[dict[str, Any]] = field(default_factory=list)
    """The measurements that rows summarise, one for each position and row: the fields that name
    the row, ``position``, and figures such as ``nodes``, ``seconds``, ``value``."""
    machine: dict[str, str] = field(default_factory=machine)
    run: dict[str, Any] = field(default_factory=dict)
    """The ``command``, when it ``started``, the ``load`` average of the machine at that time, and
    the ``seconds`` until the last figure."""
    files: dict[str, dict[str, str]] = field(default_factory=dict)
    """The files that settings name, by path: their ``sha256``, and the ``text`` of code."""
    progress: Progress = field(default=no_progress, repr=False, compare=False)
    _began: float = field(default_factory=time.monotonic, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not self.run:
            self.run.update(command=command_line(), started=now(), load=load_average(), seconds=0.0)
            self.files.update(own_files(self.settings))
        if isinstance(self.progress, Follower):
            self.progress.begin(self)

    def add_row(self, row: dict[str, Any]) -> None:
        """Add a complete row."""
        self._tick()
        self.rows.append(row)
        if isinstance(self.progress, Follower):
            self.progress.row(row)

    def add_sample(self, sample: dict[str, Any]) -> None:
        """Add the measurement of one position."""
        self._tick()
        self.samples.append(sample)
        if isinstance(self.progress, Follower):
            self.progress.sample(sample)

    def add_note(self, note: str) -> None:
        """Add a note, unless the study already has it."""
        if note not in self.notes:
            self.notes.append(note)
            if isinstance(self.progress, Follower):
                self.progress.note(note)

    def recall(self, **key: Any) -> dict[str, Any] | None:
        """Add an interrupted run's sample for a key, and return it; None if there is none.

        A sample that it returns need not be measured again.
        """
        if not isinstance(self.progress, Follower):
            return None
        sample = self.progress.recall(key)
        if sample is not None:
            self.samples.append(sample)
        return sample

    @property
    def stopped(self) -> bool:
        """Whether the study is incomplete because Ctrl-C or an error ended it."""
        return INTERRUPTED in self.notes

    @property
    def failure(self) -> str:
        """The error that ended the study, or an empty text."""
        notes = (note.removeprefix(FAILED) for note in self.notes if note.startswith(FAILED))
        return next(notes, "")

    @contextlib.contextmanager
    def kept(self) -> Iterator[None]:
        """Return a context that turns Ctrl-C or a :class:`CutnodeError` into a note.

        The study keeps its results so far.  An error before the first sample or row is raised.
        """
        try:
            yield
        except KeyboardInterrupt:
            self.add_note(INTERRUPTED)
        except CutnodeError as error:
            if not (self.rows or self.samples):
                raise
            self.add_note(f"{FAILED}{error}")
            self.add_note(INTERRUPTED)

    def _tick(self) -> None:
        self.run["seconds"] = round(time.monotonic() - self._began, 3)

    def header(self) -> dict[str, Any]:
        """Return the study without rows, samples and notes, as plain data."""
        return {
            "cutnode_study": FORMAT,
            "name": self.name,
            "about": self.about,
            "settings": plain(self.settings),
            "columns": [asdict(column) for column in self.columns],
            "machine": self.machine,
            "run": plain(self.run),
            "files": self.files,
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the study as plain data, for :meth:`from_dict`."""
        summary = self.summary()
        return (
            self.header()
            | ({"summary": summary} if summary else {})
            | {
                "rows": plain(self.rows),
                "notes": self.notes,
                "samples": plain(self.samples),
            }
        )

    def summary(self) -> list[str]:
        """Return the sentences that sum up the rows; none for most experiments."""
        summarise = _of_experiment(self, "summarise")
        return summarise(self) if summarise else []

    @classmethod
    def from_dict(cls, data: Any) -> Study:
        """Return the study of plain data; :class:`CutnodeError` if they are not a valid study."""
        version = data.get("cutnode_study") if isinstance(data, dict) else None
        if version is None:
            raise CutnodeError("it is not a study of cutnode's laboratory")
        if version != FORMAT:
            raise CutnodeError(f"it has format {version!r}, and this cutnode reads {FORMAT}")
        for name, kind in FORM.items():
            if not isinstance(data.get(name), kind):
                raise CutnodeError(f"its {name!r} is missing or damaged")
        for name, kind in (("rows", dict), ("samples", dict), ("notes", str), ("columns", dict)):
            if not all(isinstance(item, kind) for item in data[name]):
                raise CutnodeError(f"its {name!r} are damaged")
        if not data["run"]:
            raise CutnodeError("its 'run' is damaged")
        try:
            columns = tuple(Column(**column) for column in data["columns"])
            study = cls(**{name: data[name] for name in FORM} | {"columns": columns})
            for column in columns:
                texts = column.name, column.about, column.form
                if not all(isinstance(text, str) for text in texts):
                    raise TypeError(f"{texts} are not texts")
                if not FORMATS.fullmatch(column.form):
                    raise ValueError(f"{column.form!r} is not a format")
                for row in study.rows:
                    study.text(row, column)
        except (TypeError, ValueError, AttributeError):
            raise CutnodeError("its columns are damaged, or do not match its rows") from None
        return study

    @property
    def fields(self) -> list[str]:
        """The names of all figures of a row: each column's, and the ends of its interval."""
        return [name for column in self.columns for name in column.every]

    @property
    def key_columns(self) -> tuple[Column, ...]:
        """The columns that name a row: those before the first measured one."""
        keys = itertools.takewhile(
            lambda column: column.form in KEYS and not column.timed and not column.interval,
            self.columns,
        )
        return tuple(keys) or self.columns[:1]

    @property
    def table_columns(self) -> tuple[Column, ...]:
        """The columns of printed tables: those with a figure in at least one row."""
        return tuple(
            column
            for column in self.columns
            if not self.rows or any(row.get(column.name) is not None for row in self.rows)
        )

    def to_columns(self) -> dict[str, list[Any]]:
        """Return the figures of all rows, by the names of their columns."""
        return {name: [row.get(name) for row in self.rows] for name in self.fields}

    def to_csv(self) -> str:
        """Return the rows as CSV, after the settings, machine and run as ``#`` comments."""
        about = {**self.settings, **self.machine, **self.run}
        comments = [f"# {name}: {one_line(value)}\n" for name, value in about.items()]
        # slots=True replaces the class, so a bare super() would fail.
        return "".join(comments) + Tabular.to_csv(self)

    def sample_table(self) -> Rows:
        """Return the samples as a table, which pandas and Arrow accept like the study itself."""
        return Rows(self.samples)

    def selected(self, names: Iterable[str]) -> Study:
        """Return the study with some of its columns; :class:`CutnodeError` for an unknown name."""
        columns = {column.name: column for column in self.columns}
        chosen = list(dict.fromkeys(names))
        for name in chosen:
            if name not in columns:
                known = f"columns are {', '.join(columns)}"
                raise CutnodeError(f"unknown column {name!r}{nearest(name, columns, known)}")
        if not chosen:
            raise CutnodeError("a table needs at least one column")
        picked = tuple(columns[name] for name in chosen)
        return replace(self, columns=picked, progress=no_progress)

    def _repr_html_(self) -> str:
        rows = [{each.name: self.text(row, each) for each in self.columns} for row in self.rows]
        return Rows(rows)._repr_html_()

    def text(self, row: dict[str, Any], column: Column) -> str:
        """Format a figure of a row, with its interval: ``1.52 (1.41 to 1.66)``."""
        shown, *ends = (
            "" if row.get(name) is None else format(row[name], column.form) for name in column.every
        )
        return f"{shown} ({ends[0]} to {ends[1]})" if shown and all(ends) and ends else shown


FORM: dict[str, type] = {
    **{"name": str, "about": str, "settings": dict, "columns": list, "rows": list},
    **{"notes": list, "samples": list, "machine": dict, "run": dict, "files": dict},
}
"""The parts of a study as plain data, and the type of each."""


def one_line(text: object) -> str:
    """Return a text on one line, with single spaces."""
    return " ".join(str(text).split())


def plain(value: Any) -> Any:
    """Return a value as JSON data: Python numbers, and None for numbers that are not finite."""
    if isinstance(value, Mapping):
        return {str(name): plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple | range):
        return [plain(inner) for inner in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value


EXPERIMENTS = {
    "ablation": "cutnode.lab.ablation:ablation",
    "combinations": "cutnode.lab.combinations:combinations",
    "compare": "cutnode.lab.compare:compare",
    "depths": "cutnode.lab.depths:depths",
    "design": "cutnode.lab.design:design",
    "deviation": "cutnode.lab.deviation:deviation",
    "engines": "cutnode.lab.engines:engines",
    "literature": "cutnode.lab.literature:literature",
    "minimal": "cutnode.lab.minimal:minimal_graph",
    "nodes": "cutnode.lab.nodes:nodes",
    "sweep": "cutnode.lab.sweep:sweep",
    "theory": "cutnode.lab.theory:theory",
    "tune": "cutnode.lab.tuning:tune",
}
"""The function of each experiment.

The settings of a study are the function's arguments, except that the game is a name and positions
are texts.  The function gets ``game`` and ``positions`` if it has such parameters, and the first
position as ``start`` if it has that one.  A ``draw`` in the same module draws its studies, and a
``summarise`` returns the sentences that open its reports.
"""

Draw = Callable[[Study, Any], None]
"""A function that draws a study on a matplotlib figure, and sets its label, for the caption."""


def drawing_of(study: Study) -> Draw | None:
    """Return the function that draws a study; None if there is none."""
    draw: Draw | None = _of_experiment(study, "draw")
    return draw


def _of_experiment(study: Study, name: str) -> Any:
    """Return a function of the module of a study's experiment; None if there is none."""
    module, _, _ = EXPERIMENTS.get(study.name, "").partition(":")
    return getattr(importlib.import_module(module), name, None) if module else None


def repeat(study: Study, progress: Progress = no_progress) -> Study:
    """Run the experiment of a study again; :class:`CutnodeError` if it cannot be repeated."""
    if study.name not in EXPERIMENTS:
        known = ", ".join(EXPERIMENTS)
        raise CutnodeError(f"a study of {study.name!r} cannot be repeated: experiments are {known}")
    module, _, name = EXPERIMENTS[study.name].partition(":")
    function: Callable[..., Study] = getattr(importlib.import_module(module), name)
    parameters = _parameters(function)
    options = dict(study.settings)
    if "game" in options:
        game = load_game(options.pop("game"))
        positions = [game.parse(text) for text in options.pop("positions", [])]
        given = {"game": game, "positions": positions, "start": (positions or [game.start()])[0]}
        options |= {name: value for name, value in given.items() if name in parameters}
    for name in options:
        if name not in parameters:
            raise CutnodeError(
                f"the study has a setting {name!r}, which {study.name} does not have"
            )
    for name, needed in parameters.items():
        if needed and name not in options:
            raise CutnodeError(f"the study lacks the setting {name!r}")
    return function(**options, progress=progress)


def _parameters(function: Callable[..., Study]) -> dict[str, bool]:
    """Return the names of a function's parameters, and whether each is required."""
    found: dict[str, bool] = {}
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD:  # Unpack of a TypedDict
            (options,) = get_args(get_type_hints(function)[parameter.name])
            found |= dict.fromkeys(get_type_hints(options), False)
        else:
            found[parameter.name] = parameter.default is parameter.empty
    return found
