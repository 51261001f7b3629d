"""Game files: a list of moves, which works for every game, or the game's own format.

A list of moves is text, one step a line::

    # moves of connect4, from 4455
    3
    5

A step is a move in the game's notation, or ``chance N`` for outcome number N, counted from 0.
Other lines that begin with ``#`` are comments.  A game with a format of its own declares the
ending of its files, ``RECORD_SUFFIX``, and defines ``record_text(start, moves, about)`` and
``parse_record(text)``: see :mod:`cutnode.contract.verbs`.
"""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

from cutnode.contract.collection import described, game_names
from cutnode.contract.dispatch import declared
from cutnode.contract.errors import CutnodeError
from cutnode.contract.loading import load_game
from cutnode.contract.messages import position_text
from cutnode.contract.text import quoted
from cutnode.search.record import Record
from cutnode.storage.files import decoded

LIST_SUFFIX = ".txt"
"""The ending of files that hold lists of moves."""

FIRST_LINE = re.compile(r"#\s*moves of (\S+?)(?:, from (.*))?\s*")
CHANCE = re.compile(r"chance ([0-9]{1,9})")


class Recorded(NamedTuple):
    """A game read from a file."""

    name: str
    """The name of the game."""
    start: str
    """The first position, as text; "" for the start of the game."""
    steps: list[Any]
    """The steps, as :meth:`~cutnode.search.record.Record.follow` takes them."""


def record_suffix(file: str, cls: Any = None) -> str:
    """Return the ending of a game file: ``.txt`` or the ending of the game's own format; else "".

    Without a position class, the formats of all named games count.
    """
    suffix = Path(file).suffix.lower()
    if suffix == LIST_SUFFIX or not suffix:
        return suffix
    own = [declared(cls, "RECORD_SUFFIX")] if cls is not None else [*_games_by_suffix()]
    return suffix if suffix in own else ""


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
        about = {"players": players, "date": date.today().isoformat(), "value": value}
        module = load_game(name).module
        return str(module.record_text(start, texts, about))
    lines = [f"chance {text}" if isinstance(text, int) else text for text in texts]
    return "\n".join([f"# moves of {name}, from {position_text(start)}", *lines, ""])


def read_record(file: str, name: str | None) -> Recorded:
    """Read a game file; :class:`CutnodeError` says what is wrong with it.

    *name* is the game; if the file names it too, both must agree.
    """
    try:
        text = decoded(Path(file).read_bytes())
    except OSError as error:
        raise CutnodeError(f"{file} cannot be read: {error.strerror}") from None
    suffix = Path(file).suffix.lower()
    if suffix != LIST_SUFFIX:
        game = name or _games_by_suffix()[suffix]
        module = load_game(game).module
        if getattr(module, "RECORD_SUFFIX", None) != suffix:
            raise CutnodeError(f"{file} is not a game of {game}, which has no {suffix} files")
        try:
            start, moves = module.parse_record(text)
        except CutnodeError as error:
            raise CutnodeError(f"{file}: {error}") from None
        return Recorded(game, start, moves)
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    said = FIRST_LINE.fullmatch(lines[0]) if lines else None
    if said is None and name is None:
        raise CutnodeError(
            f"{file} does not say which game it is: name the game, or begin the file with "
            f"'# moves of GAME'"
        )
    if said is not None and name is not None and said[1] != name:
        raise CutnodeError(f"{file} has moves of {quoted(said[1])}, not of {quoted(name)}")
    steps = [line for line in lines if not line.startswith("#")]
    start = (said[2] or "") if said else ""
    return Recorded(name or (said[1] if said else ""), start, list(map(_step, steps)))


def _step(line: str) -> str | int:
    event = CHANCE.fullmatch(line)
    return int(event[1]) if event else line
