"""Kayles: skittles in rows, whose Grundy values are known.

Rules: players knock down one pin, or two that stand side by side, by turns; who knocks down
the last wins.  Values: 1 a win, -1 a loss.

Text: the pins that stand and those that do not, ``|||.||``.  A move is a pin, counted from 1,
or two: ``3``, ``5-6``.  A variant is a number of pins, 9 by default.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from engine import (
    Bits,
    PositionError,
    compiled,
    legal_moves,
    lowest_index,
    quoted,
    without_lowest,
)

MOST = 32
MAX_MOVES = 2 * MOST
MAX_PLIES = MOST
DECISIVE = True


class Position(NamedTuple):
    pins: Bits

    def __str__(self) -> str:
        return position_text(self)


@compiled
def moves(position, buffer, at):
    for pair in range(2):
        first = position.pins & (position.pins >> Bits(pair))
        while first:
            buffer[at] = 2 * lowest_index(first) + pair
            first = without_lowest(first)
            at += 1
    return at


@compiled
def play(position, move):
    knocked = Bits(1 + 2 * (move % 2)) << Bits(move // 2)
    return Position(position.pins ^ knocked)


@compiled
def outcome(position):
    over = position.pins == 0
    return over, -1 if over else 0


@compiled
def bounds(position, alpha, beta):
    """Nothing is better than a win: a search that knows looks no further."""
    over, value = outcome(position)
    return (value, value) if over else (-1, 1)


@compiled
def key(position):
    return position.pins


def start(variant: str = "") -> Position:
    if not re.fullmatch("[0-9]{0,2}", variant) or not 1 <= int(variant or 9) <= MOST:
        raise PositionError(f"{quoted(variant)} is not a number of pins, 1 to {MOST}")
    return Position(Bits((1 << int(variant or 9)) - 1))


def parse_position(text: str, variant: str = "") -> Position:
    row = text.strip()
    if not row:
        return start(variant)
    if not re.fullmatch(f"[|.]{{1,{MOST}}}", row):
        raise PositionError(f"{quoted(text)} is not a row of up to {MOST} pins, such as |||.||")
    return Position(Bits(sum(1 << at for at, pin in enumerate(row) if pin == "|")))


def position_text(position: Position) -> str:
    length = max(1, position.pins.bit_length())
    return "".join(".|"[position.pins >> at & 1] for at in range(length))


def parse_move(position: Position, text: str) -> int:
    for move in legal_moves(position):
        if move_text(position, move) == text:
            return move
    raise PositionError(f"{quoted(text)} is not a pin that stands, or two, such as 3 or 5-6")


def move_text(position: Position, move: int) -> str:
    pin = move // 2 + 1
    return f"{pin}-{pin + 1}" if move % 2 else str(pin)
