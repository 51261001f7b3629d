"""Nim on three heaps: replace it with your game.

Rules: players alternate, and take one or more stones from one heap; whoever takes the last stone
wins.

Values: 1 for a win, -1 for a loss.

Text: the stones in each heap, separated by ``/`` (``1/3/5``).  A move is the number of a heap,
counted from 1, and the number of stones to take: ``2x3``.

This file is a complete game.  ``cutnode check`` tests whether it keeps to the contract, which
``engine/cutnode/contract/verbs.py`` explains; ``cutnode solve``, ``search``, ``perft`` and ``lab``
take its path in place of a game's name.  They run functions marked @compiled as machine code; your
own calls run them as plain Python.  Such functions can use numbers, tuples, loops and other
@compiled functions.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from cutnode import Bits, PositionError, compiled, quoted

HEAPS = 3
MOST = 7
MAX_MOVES = HEAPS * MOST  # the most moves in any position
MAX_PLIES = HEAPS * MOST  # the plies of the longest game
DECISIVE = True  # all that matters is who wins, and how soon
VALUE_LIMIT = 1  # the largest value: the solver looks for nothing better than a win


class Position(NamedTuple):
    """Everything that the rest of the game depends on, in fields of Bits, int, bool or float."""

    first: int
    second: int
    third: int

    def __str__(self) -> str:
        return "\n".join("o" * stones or "-" for stones in self)


# The rules


@compiled
def moves(position, buffer, at):
    """Write each legal move from buffer[at] on, and return the end.

    A move is a number: you choose the encoding.
    """
    for heap in range(HEAPS):
        for count in range(1, position[heap] + 1):
            buffer[at] = heap * (MOST + 1) + count
            at += 1
    return at


@compiled
def play(position, move):
    """Return the position after a move, as the other player sees it."""
    heap, count = move // (MOST + 1), move % (MOST + 1)
    return Position(
        position.first - (count if heap == 0 else 0),
        position.second - (count if heap == 1 else 0),
        position.third - (count if heap == 2 else 0),
    )


@compiled
def outcome(position):
    """Return whether the game is over, and its value for the player to move."""
    over = position.first + position.second + position.third == 0
    return over, -1 if over else 0


@compiled
def key(position):
    """Return a 64-bit word that tells positions apart; here the whole position fits.

    If yours does not fit, hash it with ``cutnode.mix``: ``mix(mix(Bits(first)) ^ Bits(second))``.
    """
    low, middle, high = Bits(position.first), Bits(position.second), Bits(position.third)
    return low | middle << Bits(8) | high << Bits(16)


# Optional help for the search


@compiled
def evaluate(position):
    """Estimate the value for the player to move, for searches that stop before the end."""
    return 10 if position.first ^ position.second ^ position.third else -10


@compiled
def plies_left(position):
    """Return the most plies that the game can still last."""
    return position.first + position.second + position.third


# Text


def start(variant: str = "") -> Position:
    """Return the first position; variants (board sizes, rules) are classes: see the contract."""
    if variant:
        raise PositionError(f"there is no variant {quoted(variant)}")
    return Position(3, 5, 7)


def parse_position(text: str, variant: str = "") -> Position:
    """Read a position; raise an error that says what is wrong with the text."""
    if not text.strip():
        return start(variant)
    match = re.fullmatch(r"([0-9]+)/([0-9]+)/([0-9]+)", text.strip())
    if not match or any(len(heap) > 1 or int(heap) > MOST for heap in match.groups()):
        raise PositionError(f"{quoted(text)} is not three heaps of 0 to {MOST}, such as 1/3/5")
    return Position(*map(int, match.groups()))


def position_text(position: Position) -> str:
    return "/".join(map(str, position))


def parse_move(position: Position, text: str) -> int:
    match = re.fullmatch(r"([1-3])x([1-7])", text)
    if not match:
        raise PositionError(f"{quoted(text)} is not a move such as 2x3: heap and stones")
    heap, count = int(match[1]) - 1, int(match[2])
    if count > position[heap]:
        raise PositionError(f"heap {heap + 1} has {position[heap]} stones, not {count}")
    return heap * (MOST + 1) + count


def move_text(position: Position, move: int) -> str:
    return f"{move // (MOST + 1) + 1}x{move % (MOST + 1)}"
