"""Books: what is proven of the first positions of a game, to look up.

A book holds every position that can be reached in so many moves, each class of equivalent
positions once, with proven bounds of its value and a best move.  Only those with the most moves
are solved, as a batch; the values of all others follow from their children.

The file (see ``engine.saving``) has five arrays: the canonical keys in rising order, lower and
upper bounds, best moves in the canonical frame, and a position of each class (as text, where the
rules are plain Python).  Where keys are
hashed, a position that is not in the book is taken for one that is with odds of the size of the
book to 2 ** 64.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.batches.running import BatchProgress, keys_of, run_batch
from engine.contract import (
    INFINITE,
    MOVES_ROOM,
    NO_MOVE,
    canonical,
    canonical_move,
    defines,
    game_constant,
    game_function,
    game_name,
    is_plain,
    most_value,
    original_move,
)
from engine.errors import CutnodeError, GameError, whole
from engine.finding import Game
from engine.limits import MOVES
from engine.people import accusation, position_text
from engine.positions import Packed, coerce, words_each
from engine.saving import class_in, identity, read_arrays, write_arrays
from engine.searcher import class_of
from engine.solving import require_solvable
from engine.table import Table
from engine.unfolding import fill, unfold

__all__ = ["Book", "build_book"]

KIND = b"cutnode book\n"

UNFOLDED = 4096
"""So many positions are unfolded at a time."""


class Book:
    """Positions of a game with bounds of their values, sorted by canonical key.

    *positions* are one of each class, *bests* moves in the canonical frame, ``NO_MOVE`` where none
    is known.
    """

    def __init__(
        self,
        keys: Any,
        lower: Any,
        upper: Any,
        bests: Any,
        positions: Packed,
        *,
        plies: int,
        name: str = "a book",
    ):
        self.keys, self.lower, self.upper, self.bests = keys, lower, upper, bests
        self.positions = positions
        self.cls: Any = type(positions.like)
        self.plies = plies
        """The most moves that were played before a position of the book."""
        self.name = name

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def proven(self) -> Any:
        """Which values are proven."""
        return self.lower == self.upper

    def __repr__(self) -> str:
        return f"<book of {game_name(self.cls)}: {len(self):,} positions, {self.plies} plies>"

    def require(self, cls: Any) -> None:
        """:class:`CutnodeError` if the book is not about positions of a class."""
        if cls is not self.cls:
            given = game_name(cls) if defines(cls, "moves") else cls.__name__
            raise CutnodeError(f"{self.name} is about {game_name(self.cls)}, not {given}")

    def answer(self, position: Any) -> tuple[int, int, int | None] | None:
        """Bounds of the value of a position for its mover, and a best move, if one is known.

        None if the position is not in the book.  :class:`CutnodeError` if it is of another game.
        """
        self.require(type(position))
        word, symmetry = canonical(position)
        at = int(np.searchsorted(self.keys, np.uint64(word)))
        if at == len(self.keys) or int(self.keys[at]) != int(word):
            return None
        best = int(self.bests[at])
        move = None if best == NO_MOVE else int(original_move(position, best, symmetry))
        return int(self.lower[at]), int(self.upper[at]), move

    def fill(self, table: Table) -> None:
        """Put all of the book into a table, where proofs of values find it.

        What they store later may take its place: fill the table again before the next proof.
        """
        table.claim(self.cls)
        limit = most_value(self.positions.like)
        lower, upper = self.lower.astype(np.int64), self.upper.astype(np.int64)
        lower[(lower <= -limit) & ~self.proven] = -INFINITE
        upper[(upper >= limit) & ~self.proven] = INFINITE
        run = fill.specialise(self.cls)
        known: list[Any] = [lower, upper, self.bests.astype(np.int64)]
        if is_plain(self.cls):
            known = [numbers.tolist() for numbers in known]
        run(coerce(self.positions.like), self.positions.words, *known, table.words)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the book to a file, which takes its place when all of it is written."""
        if is_plain(self.cls):
            text = "\n".join(map(position_text, self.positions))
            positions = {"texts": np.frombuffer(text.encode(), np.uint8)}
        else:
            positions = {"positions": self.positions.words}
        arrays = {
            "keys": self.keys,
            "lower": self.lower,
            "upper": self.upper,
            "bests": self.bests,
            **positions,
        }
        about = {**identity(self.cls), "plies": self.plies}
        write_arrays(path, KIND, about, arrays)

    @staticmethod
    def load(path: str | os.PathLike[str], *, map: bool = True) -> Book:
        """A book from a file; *map*: it is not read but mapped.

        :class:`CutnodeError` if the file is no book, is damaged, or is about a game that is not
        loaded or has other rules now.
        """
        about, arrays = read_arrays(path, KIND, CutnodeError, map=map)
        cls = class_in(about, path, CutnodeError)
        if "texts" in arrays:
            parse, variant = game_function(cls, "parse_position"), getattr(cls, "VARIANT", "")
            texts = arrays.pop("texts").tobytes().decode().split("\n")
            positions = Packed.of([parse(text, variant) for text in texts])
        elif is_plain(cls):
            raise CutnodeError(f"{path} was made by compiled rules, and these are plain Python")
        else:
            like = coerce(cls._make([0] * words_each(cls)))
            positions = Packed(arrays.pop("positions"), like)
        return Book(**arrays, positions=positions, plies=about["plies"], name=str(path))


@dataclass
class _Level:
    """The positions after so many moves, each class once, in the order of their keys."""

    positions: Packed
    keys: Any
    counts: Any = None
    """How many children each has, and of each child:"""
    children: Any = None
    """its key,"""
    played: Any = None
    """the move to it in the canonical frame,"""
    again: Any = None
    """and whether the same player moves again."""
    values: Any = None
    """The value of a position that has no children: the game is over."""
    lower: Any = None
    upper: Any = None
    bests: Any = None


def build_book(
    game: Game,
    plies: int,
    *,
    start: Any = None,
    weak: bool = False,
    nodes: int | None = None,
    seconds: float | None = None,
    journal: str | os.PathLike[str] | None = None,
    threads: int | None = None,
    table: int = 256,
    stop: threading.Event | None = None,
    progress: Callable[[BatchProgress], None] | None = None,
) -> tuple[Book, str]:
    """A book of all positions after at most *plies* moves; and why it ended: done, or stopped.

    From the game's first position, or from *start*.  The positions after just so many moves are
    solved by :func:`engine.batches.run_batch`: *journal*, *threads*, *table*, *stop* and
    *progress* are as there, and *nodes* and *seconds* limit each of them; what is not proven has
    bounds.  *weak* asks only who wins, which gives bounds, too.
    """
    if whole(plies, "a number of plies") < 0:
        raise CutnodeError(f"a book has 0 plies or more, not {plies}")
    cls = class_of(game)
    require_solvable(cls)
    first = coerce(game.start() if start is None else start)
    if type(first) is not cls:
        raise GameError(f"a book of {game_name(cls)} does not begin at {first!r}")
    levels = [_Level(Packed.of([first]), keys_of(Packed.of([first]))[0])]
    while len(levels) <= plies and len(levels[-1].positions):
        levels.append(_after(levels[-1]))
    reason = "done"
    if not len(levels[-1].positions):
        levels.pop()  # all games were over before
        _infer(levels[-1], None)
    else:
        result = run_batch(
            levels[-1].positions,
            cold=False,
            journal=journal,
            threads=threads,
            table=table,
            stop=stop,
            progress=progress,
            weak=weak,
            nodes=nodes,
            seconds=seconds,
        )
        reason = result.reason
        _take(levels[-1], result.rows, weak)
    for level, below in zip(levels[-2::-1], levels[:0:-1], strict=True):
        _infer(level, below)
    return _bound(levels), reason


def _unfold(level: _Level) -> Packed:
    """Find the children of all positions of a level."""
    like = level.positions.like
    cls = type(like)
    most, each = game_constant(cls, "MAX_MOVES", 256), words_each(cls)
    run = unfold.specialise(cls)
    buffer = np.zeros(most + MOVES_ROOM, np.int64)
    parts = []
    for at in range(0, len(level.positions), UNFOLDED):
        part = level.positions[at : at + UNFOLDED]
        room = most * len(part)
        counts, values = np.zeros(len(part), np.int64), np.zeros(len(part), np.int64)
        words: Any = [None] * room if is_plain(cls) else np.zeros(room * each, np.uint64)
        keys, played = np.zeros(room, np.uint64), np.zeros(room, np.int64)
        again = np.zeros(room, np.int64)
        run(like, part.words, buffer, counts, values, words, keys, played, again)
        if counts.max() > most:
            worst = part[int(counts.argmax())]
            raise accusation(worst, MOVES)
        made = int(counts.sum())
        kept = [column[:made].copy() for column in (keys, played, again)]
        parts.append((counts, values, words[: made * each].copy(), *kept))
    columns = list(zip(*parts, strict=True))
    level.counts, level.values = np.concatenate(columns[0]), np.concatenate(columns[1])
    level.children, level.played = np.concatenate(columns[3]), np.concatenate(columns[4])
    level.again = np.concatenate(columns[5]) != 0
    if is_plain(cls):
        return Packed([position for part in columns[2] for position in part], like)
    return Packed(np.concatenate(columns[2]), like)


def _after(level: _Level) -> _Level:
    """The level after another."""
    children = _unfold(level)
    keys, firsts = np.unique(level.children, return_index=True)
    return _Level(children.chosen(firsts), keys)


def _take(level: _Level, rows: Any, weak: bool) -> None:
    """What a batch found of a level."""
    limit = most_value(level.positions.like)
    level.lower, level.upper = rows["lower"].astype(np.int64), rows["upper"].astype(np.int64)
    if weak:  # a win or a loss says no more than the sign
        level.upper[level.upper == 1] = limit
        level.lower[level.lower == -1] = -limit
    level.bests = rows["move"].astype(np.int64)
    for number in np.flatnonzero(level.bests != NO_MOVE).tolist():
        position = level.positions[number]
        symmetry = canonical(position)[1]
        level.bests[number] = canonical_move(position, int(level.bests[number]), symmetry)


def _infer(level: _Level, below: _Level | None) -> None:
    """Bounds and best moves of a level from those of the next; None where all games are over."""
    level.lower, level.upper = level.values.copy(), level.values.copy()
    level.bests = np.full(len(level.values), NO_MOVE, np.int64)
    going = np.flatnonzero(level.counts)
    if below is None or not len(going):
        return
    at = np.searchsorted(below.keys, level.children)
    lower = np.where(level.again, below.lower[at], -below.upper[at])
    upper = np.where(level.again, below.upper[at], -below.lower[at])
    counts = level.counts[going]
    starts = np.cumsum(counts) - counts
    level.lower[going] = np.maximum.reduceat(lower, starts)
    level.upper[going] = np.maximum.reduceat(upper, starts)
    # The first of the moves with the best lower bound, and of these with the best upper one.
    worth = lower * (4 * INFINITE) + upper
    is_best = worth == np.repeat(np.maximum.reduceat(worth, starts), counts)
    firsts = np.minimum.reduceat(np.where(is_best, np.arange(len(worth)), len(worth)), starts)
    level.bests[going] = level.played[firsts]


def _bound(levels: list[_Level]) -> Book:
    """A book of all levels; a position of several is taken from the first."""
    like = levels[0].positions.like
    keys, firsts = np.unique(np.concatenate([level.keys for level in levels]), return_index=True)
    lower = np.concatenate([level.lower for level in levels])[firsts]
    upper = np.concatenate([level.upper for level in levels])[firsts]
    bests = np.concatenate([level.bests for level in levels])[firsts]
    if is_plain(type(like)):
        everything = Packed([p for level in levels for p in level.positions], like)
    else:
        everything = Packed(np.concatenate([level.positions.words for level in levels]), like)
    return Book(
        keys,
        lower.astype(np.int16),
        upper.astype(np.int16),
        bests.astype(np.uint16),
        everything.chosen(firsts),
        plies=len(levels) - 1,
    )
