"""A bargain that can continue forever: points, in a game with cycles.

Rules: two players stand on a ring of numbers and alternately move one step forward or back; from an
even cell, a player may instead end the game and score his own number minus the opponent's.  Values:
the difference; infinite play is worth 0.
"""

from __future__ import annotations

from typing import NamedTuple

from cutnode import Bits, compiled

NUMBERS = (0, 3, -2, 5, 1, -4, 2, -1)
VALUE_LIMIT = 9
MAX_MOVES = 3
FORWARD, BACK, TAKE = range(3)


class Position(NamedTuple):
    """The mover's cell, the opponent's cell, and whether the opponent has ended the game."""

    mine: int = 0
    theirs: int = 3
    over: bool = False


@compiled
def moves(position, buffer, at):
    buffer[at] = FORWARD
    buffer[at + 1] = BACK
    if position.mine % 2 == 0:
        buffer[at + 2] = TAKE
        return at + 3
    return at + 2


@compiled
def play(position, move):
    step = 1 if move == FORWARD else 7 if move == BACK else 0
    return Position(position.theirs, (position.mine + step) % 8, move == TAKE)


@compiled
def outcome(position):
    if position.over:
        return True, NUMBERS[position.mine] - NUMBERS[position.theirs]
    return False, 0


@compiled
def reversible(position, child):
    return not child.over


@compiled
def key(position):
    return Bits(position.mine) | Bits(position.theirs) << Bits(3) | Bits(position.over) << Bits(6)
