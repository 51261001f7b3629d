"""Building a book: the first positions of a game, with their proven values or bounds.

Only the positions of the last ply are solved, as a batch; the values of all others follow from
their children.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np

from cutnode.batches.running import JobKeywords, run_batch
from cutnode.batches.symmetry import keys_of
from cutnode.contract.derived import most_value
from cutnode.contract.dispatch import game_constant, game_name, is_plain
from cutnode.contract.errors import GameError, require_at_least
from cutnode.contract.loading import Game
from cutnode.contract.messages import contract_violation
from cutnode.contract.positions import Packed, coerce, words_each
from cutnode.contract.stop import MOVES
from cutnode.contract.verbs import INFINITE, MOVES_ROOM, NO_MOVE, canonical, canonical_move
from cutnode.kernels.expansion import unfold
from cutnode.search.board import class_of, given_position
from cutnode.search.options import require_keywords
from cutnode.search.solving import require_batches
from cutnode.storage.books import Book

EXPANDED_AT_ONCE = 4096
"""The number of positions that are expanded at a time."""


@dataclass
class _Level:
    """The positions after a number of plies, one for each symmetry class, ordered by key."""

    positions: Packed
    keys: Any
    counts: Any = None
    """The number of children of each position."""
    children: Any = None
    """The key of each child."""
    played: Any = None
    """The move to each child, in the canonical frame."""
    again: Any = None
    """Whether the same player moves again in each child."""
    values: Any = None
    """The value of each position without children, where the game is over."""
    lower: Any = None
    upper: Any = None
    bests: Any = None


def build_book(
    game: Game | str,
    plies: int,
    *,
    start: Any = None,
    weak: bool = False,
    **options: Unpack[JobKeywords],
) -> tuple[Book, str]:
    """Build a book of the positions after at most *plies* moves; return it and why it ended.

    The reason is ``done``, ``stopped`` or ``interrupted``.  *game* is a game or its name; the first
    position is its start, or *start*.  The positions after exactly *plies* moves are solved by
    :func:`cutnode.run_batch`, which takes *journal*, *threads*, *table*, *stop* and *progress*;
    *nodes* and *seconds* limit each position, and unproven positions get bounds.  *weak* finds
    only the winner, and therefore also bounds.
    """
    require_keywords("build_book", options, sorted(JobKeywords.__optional_keys__))
    require_at_least(plies, 0, "plies")
    cls = class_of(game)
    require_batches(cls)
    first = coerce(given_position(game if start is None else start))
    if type(first) is not cls:
        raise GameError(f"start must be a position of {game_name(cls)}, got {first!r}")
    levels = [_Level(Packed.of([first]), keys_of(Packed.of([first]))[0])]
    while len(levels) <= plies and len(levels[-1].positions):
        levels.append(_after(levels[-1]))
    reason = "done"
    if not len(levels[-1].positions):
        levels.pop()  # all games have ended by then
        _infer(levels[-1], None)
    else:
        result = run_batch(levels[-1].positions, cold=False, weak=weak, **options)
        reason = result.reason
        _take(levels[-1], result.rows, weak)
    for level, below in zip(levels[-2::-1], levels[:0:-1], strict=True):
        _infer(level, below)
    return _bound(levels), reason


def _expand(level: _Level) -> Packed:
    """Find and return the children of all positions of a level."""
    example = level.positions.example
    cls = type(example)
    most, each = game_constant(cls, "MAX_MOVES", 256), words_each(cls)
    run = unfold.specialise(cls)
    buffer = np.zeros(most + MOVES_ROOM, np.int64)
    parts = []
    for at in range(0, len(level.positions), EXPANDED_AT_ONCE):
        part = level.positions[at : at + EXPANDED_AT_ONCE]
        room = most * len(part)
        counts, values = np.zeros(len(part), np.int64), np.zeros(len(part), np.int64)
        words: Any = [None] * room if is_plain(cls) else np.zeros(room * each, np.uint64)
        keys, played = np.zeros(room, np.uint64), np.zeros(room, np.int64)
        again = np.zeros(room, np.int64)
        run(example, part.words, buffer, counts, values, words, keys, played, again)
        if counts.max() > most:
            worst = part[int(counts.argmax())]
            raise contract_violation(worst, MOVES)
        made = int(counts.sum())
        kept = [column[:made].copy() for column in (keys, played, again)]
        parts.append((counts, values, words[: made * each].copy(), *kept))
    columns = list(zip(*parts, strict=True))
    level.counts, level.values = np.concatenate(columns[0]), np.concatenate(columns[1])
    level.children, level.played = np.concatenate(columns[3]), np.concatenate(columns[4])
    level.again = np.concatenate(columns[5]) != 0
    if is_plain(cls):
        return Packed([position for part in columns[2] for position in part], example)
    return Packed(np.concatenate(columns[2]), example)


def _after(level: _Level) -> _Level:
    """Return the next level."""
    children = _expand(level)
    keys, firsts = np.unique(level.children, return_index=True)
    return _Level(children.chosen(firsts), keys)


def _take(level: _Level, rows: Any, weak: bool) -> None:
    """Set the bounds and best moves of a level from the rows of a batch."""
    limit = most_value(level.positions.example)
    level.lower, level.upper = rows["lower"].astype(np.int64), rows["upper"].astype(np.int64)
    if weak:  # a weak win or loss gives only the sign of the value
        level.upper[level.upper == 1] = limit
        level.lower[level.lower == -1] = -limit
    level.bests = rows["move"].astype(np.int64)
    for number in np.flatnonzero(level.bests != NO_MOVE).tolist():
        position = level.positions[number]
        symmetry = canonical(position)[1]
        level.bests[number] = canonical_move(position, int(level.bests[number]), symmetry)


def _infer(level: _Level, below: _Level | None) -> None:
    """Infer the bounds and best moves of a level from the next; None if all its games are over."""
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
    # The first move with the best lower bound and, among equals, the best upper bound.
    worth = lower * (4 * INFINITE) + upper
    is_best = worth == np.repeat(np.maximum.reduceat(worth, starts), counts)
    firsts = np.minimum.reduceat(np.where(is_best, np.arange(len(worth)), len(worth)), starts)
    level.bests[going] = level.played[firsts]


def _bound(levels: list[_Level]) -> Book:
    """Return a book of all levels; a position in several levels is taken from the first."""
    example = levels[0].positions.example
    keys, firsts = np.unique(np.concatenate([level.keys for level in levels]), return_index=True)
    lower = np.concatenate([level.lower for level in levels])[firsts]
    upper = np.concatenate([level.upper for level in levels])[firsts]
    bests = np.concatenate([level.bests for level in levels])[firsts]
    if is_plain(type(example)):
        everything = Packed([p for level in levels for p in level.positions], example)
    else:
        everything = Packed(np.concatenate([level.positions.words for level in levels]), example)
    return Book(
        keys,
        lower.astype(np.int16),
        upper.astype(np.int16),
        bests.astype(np.uint16),
        everything.chosen(firsts),
        plies=len(levels) - 1,
    )
