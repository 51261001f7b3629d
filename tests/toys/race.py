"""A race with a loaded die: chance before every move.

Rules: a player rolls 1 (one time in four) or 2, and then walks that distance or one step, but not
beyond the goal; the first to reach the goal wins.  Values: 100 a win, -100 a loss.

Text: the mover's remaining steps, the opponent's remaining steps, and the roll, as in ``3 1 2``.
"""

from __future__ import annotations

from typing import NamedTuple

from cutnode import PositionError, compiled

STEPS = 5
MAX_MOVES = 2
MAX_PLIES = 4 * STEPS
VALUE_LIMIT = 100


class Position(NamedTuple):
    """The remaining steps of both, and the roll, which is 0 before rolling."""

    mine: int = STEPS
    theirs: int = STEPS
    roll: int = 0


@compiled
def moves(position, buffer, at):
    for steps in range(1, 1 + min(position.roll, position.mine)):
        buffer[at] = steps
        at += 1
    return at


@compiled
def play(position, move):
    return Position(position.theirs, position.mine - move, 0)


@compiled
def outcome(position):
    over = position.theirs == 0
    return over, -100 if over else 0


@compiled
def chance(position):
    return 2 if position.roll == 0 else 0


@compiled
def chance_outcome(position, index):
    probability = 0.25 if index == 0 else 0.75
    return probability, Position(position.mine, position.theirs, index + 1)


@compiled
def evaluate(position):
    return 10 * (position.theirs - position.mine)


def position_text(position: Position) -> str:
    return f"{position.mine} {position.theirs} {position.roll}"


def parse_position(text: str, variant: str = "") -> Position:
    numbers = text.split(" ")
    allowed = ([*"12345"], [*"012345"], [*"012"])
    if len(numbers) != 3 or any(n not in a for n, a in zip(numbers, allowed, strict=True)):
        raise PositionError(f"{text!r} is not the steps of both and a roll")
    position = Position(*map(int, numbers))
    if position.theirs == 0 and position.roll:
        raise PositionError("nobody rolls after the end")
    return position
