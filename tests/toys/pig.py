"""Pig: turns of several rolls, the most outcomes of chance, and equivalent positions.

Rules: a player rolls a die (1, 2, 3 or 6; a 6 comes half of the time) as often as he likes.  A 1
ends the turn and loses its points; other rolls add to them.  Instead of rolling, he may hold: then
the points of the turn are his for good.  Reaching the target wins, so a mover whose turn reaches it
has won.  Values: 0.5 a win, -0.5 a loss, and nothing else.
"""

from __future__ import annotations

from typing import NamedTuple

from cutnode import Bits, compiled

TARGET = 12
MAX_MOVES = 2
MAX_PLIES = 400
MAX_ACTIONS = 1
VALUE_LIMIT = 0.5

NAMES = ("hold", "roll")
HOLD, ROLL = range(2)
FACES = (1, 2, 3, 6)
ODDS = (0.125, 0.125, 0.25, 0.5)


class Position(NamedTuple):
    """The points of both, the points of the turn, whose turn it is, and whether to roll."""

    first: int = 0
    second: int = 0
    turn: int = 0
    mover: int = 0
    rolling: bool = False


@compiled
def points(position):
    return position.first if position.mover == 0 else position.second


@compiled
def moves(position, buffer, at):
    buffer[at] = ROLL
    if position.turn == 0:
        return at + 1
    buffer[at + 1] = HOLD
    return at + 2


@compiled
def play(position, move):
    first, second, total, mover, _ = position
    if move == ROLL:
        return Position(first, second, total, mover, True)
    if mover == 0:
        return Position(first + total, second, 0, 1, False)
    return Position(first, second + total, 0, 0, False)


@compiled
def outcome(position):
    over = not position.rolling and points(position) + position.turn >= TARGET
    return over, 0.5 if over else 0.0


@compiled
def key(position):
    low = Bits(position.first) | Bits(position.second) << Bits(8) | Bits(position.turn) << Bits(16)
    return low | Bits(position.mover) << Bits(24) | Bits(position.rolling) << Bits(25)


@compiled
def canonical(position):
    """Return the same race with the first player to move."""
    if position.mover == 0:
        return key(position), 0
    first, second, total, _, rolling = position
    return key(Position(second, first, total, 0, rolling)), 1


@compiled
def turn(position):
    return position.mover


@compiled
def chance(position):
    return len(FACES) if position.rolling else 0


@compiled
def chance_outcome(position, index):
    first, second, total, mover, _ = position
    if index == 0:
        return ODDS[0], Position(first, second, 0, 1 - mover, False)
    return ODDS[index], Position(first, second, total + FACES[index], mover, False)


@compiled
def order(position, move, child):
    return 1 if (move == HOLD) == (position.turn >= 6) else 0


@compiled
def evaluate(position):
    lead = position.first - position.second
    return (lead if position.mover == 0 else -lead) / (4 * TARGET) + position.turn / (8 * TARGET)


def move_text(position: Position, move: int) -> str:
    return NAMES[move]
