"""Kayles and Dawson's Kayles with up to 64 pins.

Rules: pins stand in a row.  Two players alternately knock down one pin or two neighbouring pins, in
Dawson's Kayles always two; a player who cannot move loses.

Values: 1 a win, -1 a loss.

Text: the number of a pin, from 1 at the left, or of both (``3``, ``3-4``), or the row, ``|`` a pin
and ``.`` a fallen one.  A variant is a number of pins, after ``dawson`` if two fall at a time:
``20``, ``dawson,20``.

Encoding: one bit for each pin that stands; bit 0 is pin 1.  A move is twice the bit's number, plus
1 if the next pin falls too.

Parts are runs of pins.  Both players have the same moves, so a run is worth a nimber, and it
depends on its length alone.  In Kayles nimbers have the period 12 from 71 pins on (R. Guy and
C. Smith, "The G-values of various games", 1956), in Dawson's Kayles the period 34 from 53 on.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from cutnode import (
    Bits,
    PositionError,
    compiled,
    lowest,
    lowest_index,
    popcount,
    quoted,
    without_lowest,
)
from cutnode.contract.cells import Grid
from cutnode.contract.variants import variants

DECISIVE = True
VALUE_LIMIT = 1


class Row(NamedTuple):
    """The pins that stand."""

    pins: Bits


@compiled
def cell(position, index):
    """Return 0 for a fallen pin, 1 for one that stands."""
    return 1 if position.pins & Bits(1) << Bits(index) else 0


@compiled
def moves(position, buffer, at):
    for pair in range(position.FEWEST - 1, 2):
        first = position.pins & position.pins >> Bits(pair)
        while first:
            buffer[at] = 2 * lowest_index(first) + pair
            first = without_lowest(first)
            at += 1
    return at


@compiled
def play(position, move):
    fallen = Bits(1 + 2 * (move & 1)) << Bits(move >> 1)
    return position._replace(pins=position.pins & ~fallen)


@compiled
def outcome(position):
    over = position.pins & position.pins >> Bits(position.FEWEST - 1) == 0
    return over, -1 if over else 0


# Parts


@compiled
def parts(position, buffer, at):
    left = position.pins
    while left:
        run = left & ~(left + lowest(left))
        left &= ~run
        if popcount(run) >= position.FEWEST:
            buffer[at] = run
            at += 1
    return at


@compiled
def part(position, mask):
    return position._replace(pins=position.pins & mask)


@compiled
def part_key(position):
    return Bits(popcount(position.pins))


# Rows of all lengths

VARIANTS = "20", "9", "dawson,20", "dawson,15"


def settings(text: str) -> tuple[int, bool]:
    """Read the number of pins, and whether the game is Dawson's, as in ``dawson,20``."""
    match = re.fullmatch("(dawson,)?([0-9]{1,9})", text)
    if not match:
        raise PositionError(
            f"{quoted(text)} is not a number of pins, as in 20, or dawson,20 for Dawson's Kayles"
        )
    return int(match[2]), bool(match[1])


@variants(Row, usual="20", read=settings, about="the number of pins: 9 or dawson,20")
def row(pins: int, dawson: bool) -> dict[str, Any]:
    """Return the constants of a row; :class:`PositionError` if it has too few or too many pins."""
    fewest = 2 if dawson else 1
    if not fewest <= pins <= 64:
        raise PositionError(f"there is no row of {pins} pins: a row has {fewest} to 64")
    return {
        "FEWEST": fewest,
        "AREA": pins,
        "VARIANT": f"{'dawson,' * dawson}{pins}",
        "CELLS": Grid(
            1,
            pins,
            contents={".": "fallen", "|": "pin"},
            column_names=[str(number % 10) for number in range(1, pins + 1)],
        ),
        "MAX_MOVES": 2 * pins,
        "MAX_PLIES": pins,
    }


Position = row(20, False)


# Text

MOVE_PATTERN = r"[0-9]+-[0-9]+|[^\s,]+"


def start(variant: str = "") -> Any:
    """Return the row of a variant with all its pins."""
    cls = row.of(variant)
    return cls(Bits((1 << cls.AREA) - 1))


def parse_move(position: Any, text: str) -> int:
    """Read one pin or two, as in ``3`` or ``3-4``."""
    match = re.fullmatch("([0-9]{1,2})(?:-([0-9]{1,2}))?", text)
    if not match:
        raise PositionError(f"{quoted(text)} is not a move; moves are written as in 3 or 3-4")
    first, last = sorted((int(match[1]), int(match[2] or match[1])))
    if last - first > 1:
        raise PositionError(f"{text}: two pins that fall are neighbours")
    if last - first + 1 < position.FEWEST:
        raise PositionError(f"{text}: in Dawson's Kayles two pins fall, as in 3-4")
    for number in (first, last):
        if not (number and position.pins >> number - 1 & 1):
            raise PositionError(f"{text}: no pin {number} stands")
    return 2 * (first - 1) + last - first


def move_text(position: Any, move: int) -> str:
    first = (move >> 1) + 1
    return f"{first}-{first + 1}" if move & 1 else f"{first}"


def from_cells(contents: list[int], mover: str, start: Any) -> Any:
    return type(start)(Bits(sum(pin << number for number, pin in enumerate(contents))))
