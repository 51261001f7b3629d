"""Fights for the last three rows: tables of results for all ways in which stones can stand there.

Seen from the player who moves up, the *attacker*: his stones on the two rows before the last one
against the *defender*'s on all three.  A defending stone that leaves these rows never comes
back, which helps the attacker: here it stays.  The rest of the board gives both players moves
elsewhere: the defender may always pass here.  Four numbers of *turns* of the defender, up to 6, are
stored for each fight:

* the most turns that the defender gets before the attacker is on the last row, whatever the
  defender does, if the attacker moves first, and if the defender does (``NEVER``: the attacker does
  not get there);
* how many turns in all the defender can spend elsewhere, whenever he likes, without having lost
  before the last one, if the attacker moves first: once if no attacking stones can join, and once
  if one may appear on any cell of the third row in any turn, which is more than the rules allow.

So a player wins if the other gets at most as many turns before the breakthrough at one end as the
player himself can spend away from the other end, as long as no stone stands in both fights.  (The
first two numbers: A. Isaac and R. Lorentz, "Using partial tablebases in Breakthrough", 2016.)
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import numpy as np

from cutnode.contract.constants import Constant

__all__ = ["NEVER", "ROWS", "TERNARY", "WIDEST", "fights"]

ROWS = 3
GOAL, SECOND, THIRD = range(ROWS)
EMPTY, DEFENDER, ATTACKER = range(3)
NEVER = 7
"""More turns than anyone can spend."""

WIDEST = 5
"""The widest board with a table of fights, which takes 3.8 MB; for six columns it takes 68 MB."""

TERNARY = Constant(
    "breakthrough.ternary",
    np.array([int(f"{stones:b}", 3) for stones in range(1 << WIDEST)], np.int64),
)
"""Bits as digits of base 3."""

Cells = tuple[Any, ...]
Step = tuple[Cells, Cells]


@functools.cache
def fights(width: int) -> np.ndarray:
    """Return the results for boards of *width* columns, three bits each, in the order above.

    The index has a digit for each cell, from the third row to the last and from right to left:
    0 empty, 1 a defender, 2 an attacker, in base 3, and in base 2 on the last row.
    """
    attacks = [*_steps(width, ATTACKER, THIRD, SECOND)]
    replies = [s for row in (GOAL, SECOND) for s in _steps(width, DEFENDER, row, row + 1)]
    joins = [
        _step(width, {(THIRD, c): (content, ATTACKER)})
        for c in range(width)
        for content in (EMPTY, DEFENDER)
    ]
    ready = np.zeros((3,) * 2 * width + (2,) * width, bool)
    for column in range(width):
        ready[_cells(width, {(SECOND, column): ATTACKER})] = True
    answers = (
        *_turns_left(ready, attacks, replies),
        _turns_to_spend(ready, attacks, replies),
        _turns_to_spend(ready, attacks + joins, replies),
    )
    words = np.zeros(ready.shape, np.int16)
    for number, answer in enumerate(answers):
        words |= answer << 3 * number
    return words.ravel()


def _cells(width: int, contents: dict[tuple[int, int], int]) -> Cells:
    """Return the fights in which some cells, given by row and column, have these contents."""
    index: list[Any] = [slice(None)] * (ROWS * width)
    for (row, column), content in contents.items():
        index[(ROWS - row) * width - 1 - column] = content
    return tuple(index)


def _step(width: int, changes: dict[tuple[int, int], tuple[int, int]]) -> Step:
    """Return the fights before a step and after it, from the contents of its cells."""
    before = {cell: contents[0] for cell, contents in changes.items()}
    after = {cell: contents[1] for cell, contents in changes.items()}
    return _cells(width, before), _cells(width, after)


def _steps(width: int, stone: int, row: int, to: int) -> Iterator[Step]:
    """Yield the steps of a player from a row to the next; diagonally he may also capture."""
    for column in range(width):
        for end in range(max(column - 1, 0), min(column + 2, width)):
            for taken in (EMPTY,) if end == column else (EMPTY, DEFENDER + ATTACKER - stone):
                yield _step(width, {(row, column): (stone, EMPTY), (to, end): (taken, stone)})


def _turns_left(ready: Any, attacks: list[Step], replies: list[Step]) -> tuple[Any, Any]:
    """Return the defender's turns until an attacker who moves first or second has won."""
    first = np.where(ready, 0, NEVER).astype(np.int16)
    second = np.full_like(first, NEVER)
    for turns in range(1, NEVER):
        lost = first < turns
        for before, after in replies:
            lost[before] &= first[after] < turns
        second[lost] = np.minimum(second[lost], turns)
        for before, after in attacks:
            first[before] = np.minimum(first[before], second[after])
    return first, second


def _turns_to_spend(ready: Any, attacks: list[Step], replies: list[Step]) -> Any:
    """Return the defender's turns elsewhere, if the attacker moves first."""
    turns = np.zeros(ready.shape, np.int16)
    left = np.ones_like(ready)  # where he can spend one turn fewer
    for spent in range(1, NEVER):
        holds = np.zeros_like(ready)
        while True:
            # After each of the attacker's moves he spends a turn, or replies and holds.
            answered = left.copy()
            for before, after in replies:
                answered[before] |= holds[after]
            more = left & ~ready
            for before, after in attacks:
                more[before] &= answered[after]
            if np.array_equal(more, holds):
                break
            holds = more
        if np.array_equal(holds, left):
            turns[holds] = NEVER - 1
            break
        turns[holds] = spent
        left = holds
    return turns
