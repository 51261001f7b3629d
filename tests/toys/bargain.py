"""A bargain that can go on forever: points, with play that goes round.

Rules: two players stand on a ring of numbers and move by turns, one step forward or back; a player
may instead end the game and take the own number less the other's, but only from an even
cell.  Values: the difference; infinite play is worth 0.
"""

from __future__ import annotations

from typing import NamedTuple

from cutnode import Bits, compiled

NUMBERS = (0, 3, -2, 5, 1, -4, 2, -1)
VALUE_LIMIT = 9
MAX_MOVES = 3
FORWARD, BACK, TAKE = range(3)


class Position(NamedTuple):
    """The cells of the mover and of the other, and whether the other has ended the game."""

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
