"""A game as a user writes it, with annotations."""

from typing import Any, NamedTuple

from cutnode import Bits, PositionError, compiled, lowest, popcount, without_lowest

MAX_MOVES = 3
MAX_PLIES = 16


class Position(NamedTuple):
    """The remaining stones, one bit each, and the player to move."""

    stones: Bits = Bits(0b1111_1111)
    second: bool = False


@compiled
def moves(position: Position, buffer: Any, at: int) -> int:
    left = position.stones
    for taken in range(1, 1 + min(3, popcount(left))):
        buffer[at] = taken
        at += 1
    return at


@compiled
def play(position: Position, move: int) -> Position:
    left = position.stones
    for _ in range(move):
        left = without_lowest(left)
    return Position(left & ~Bits(0), not position.second)


@compiled
def outcome(position: Position) -> tuple[bool, int]:
    return position.stones == 0, -1


@compiled
def turn(position: Position) -> int:
    return int(position.second)


def parse_position(text: str) -> Position:
    if not text.isdigit() or int(text) > 8:
        raise PositionError(f"stones must be 0 to 8, got {text!r}")
    return Position(Bits((1 << int(text)) - 1))


first: Bits = lowest(Position().stones)
after: Position = play(Position(), 1)
play(Position(), "1")  # error: a move is a number
