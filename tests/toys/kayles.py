"""Kayles: skittles in rows, whose Grundy values are known.

Rules: players alternately knock down one pin, or two adjacent pins; the player who knocks down the
last one wins.  Values: 1 a win, -1 a loss.

Text: ``|`` for a standing pin and ``.`` for a fallen one, ``|||.||``.  A move is twice the number
of a pin, plus one to knock down the next pin as well.  A variant is a number of pins, 9 by default.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from cutnode import Bits, PositionError, compiled, lowest_index, quoted, without_lowest

MOST = 32
MAX_MOVES = 2 * MOST
MAX_PLIES = MOST
DECISIVE = True
VALUE_LIMIT = 1


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
