"""Toads and Frogs on strips of up to 64 cells.

Rules: Left's toads stand at the left of a strip, Right's frogs at the right, with empty cells
between them.  Left begins.  Alternately the players move a piece of their own: toads one cell to
the right and frogs one to the left, onto an empty cell, or over a single piece of the other player
in the next cell onto the empty cell behind it.  Nothing is captured.  A player who cannot move
loses.

Values: 1 a win, -1 a loss.

Text: the number of the cell of the piece that moves, from 1 at the left, or the strip, of ``T``,
``F``, ``.`` empty and ``#`` no cell of the strip, and then who is to move, ``left`` or ``right``.
Any pieces may stand anywhere.  A variant is the numbers of toads, of empty cells and of frogs, as
in ``3,2,3`` for ``TTT..FFF``.

Encoding: one bit for each cell, in the direction in which the mover's pieces go, so bit 0 is cell 1
for Left and the last cell for Right.  A move is the number of its bit.

Parts are found from all moves that could ever be made: a cell may get a piece, or become empty, if
a move of either player could make it so whose own cells may hold what it needs.  These moves are
more than what the rules allow, and each joins its two or three cells; what they do not join can
never touch.  The position seen by the other player is the mirror image with toads for frogs, and
the negative of E. Berlekamp, J. Conway and R. Guy, who describe the game in "Winning Ways", 1982.
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
from cutnode.contract.boards import reversed_bits
from cutnode.contract.cells import Grid
from cutnode.contract.default_keys import key_of_fields
from cutnode.contract.part_keys import key_of_part
from cutnode.contract.variants import variants

DECISIVE = True
VALUE_LIMIT = 1
PART_IMAGES = 1


class Strip(NamedTuple):
    """The pieces of the player to move and of the other, the empty cells, and whether Right moves.

    The mover's pieces go towards higher bits.
    """

    mine: Bits
    theirs: Bits
    empty: Bits
    right: bool


@compiled
def cell(position, index):
    """Return 0 for an empty cell, 1 for a toad, 2 for a frog, 3 for what is not of the strip."""
    place = Bits(1) << Bits(position.AREA - 1 - index if position.right else index)
    if position.empty & place:
        return 0
    if not (position.mine | position.theirs) & place:
        return 3
    return 1 if (position.mine & place == place) != position.right else 2


@compiled
def movable(position):
    """Return the mover's pieces that can step onto an empty cell, or jump over another piece."""
    mine, theirs, empty = position.mine, position.theirs, position.empty
    return mine & (empty >> Bits(1) | theirs >> Bits(1) & empty >> Bits(2))


@compiled
def moves(position, buffer, at):
    left = movable(position)
    while left:
        buffer[at] = lowest_index(left)
        left = without_lowest(left)
        at += 1
    return at


@compiled
def play(position, move):
    origin = Bits(1) << Bits(move)
    target = origin << Bits(1)
    if position.theirs & target:
        target = target << Bits(1)
    return swapped(
        position._replace(
            mine=position.mine & ~origin | target, empty=position.empty & ~target | origin
        )
    )


@compiled
def swapped(position):
    return position._replace(
        mine=reversed_bits(position, position.theirs),
        theirs=reversed_bits(position, position.mine),
        empty=reversed_bits(position, position.empty),
        right=not position.right,
    )


@compiled
def outcome(position):
    return (False, 0) if movable(position) else (True, -1)


@compiled
def evaluate(position):
    """Count the mover's pieces that can move, minus the other's."""
    return popcount(movable(position)) - popcount(movable(swapped(position)))


# Equivalent positions


@compiled
def canonical(position):
    return key_of_fields(position._replace(right=False)), 0


# Parts


@compiled
def parts(position, buffer, at):
    left = joints(position)
    while left:
        run = left & ~(left + lowest(left))
        buffer[at] = run | run << Bits(1)
        at += 1
        left &= ~run
    return at


@compiled
def joints(position):
    """Return the cells that a move may ever join with the next one.

    Steps join the cells of a jump, too.  It leaves an empty cell, onto which the other piece could
    step, and the first one could then step after it.
    """
    mine, theirs, empty = position.mine, position.theirs, position.empty
    while True:
        step = mine & empty >> Bits(1)
        jump = mine & theirs >> Bits(1) & empty >> Bits(2)
        their_step = theirs & empty << Bits(1)
        their_jump = theirs & mine << Bits(1) & empty << Bits(2)
        could_be_mine = mine | step << Bits(1)
        could_be_theirs = theirs | their_step >> Bits(1)
        could_be_empty = empty | step | jump | their_step | their_jump
        if could_be_mine == mine and could_be_theirs == theirs and could_be_empty == empty:
            return step | their_step >> Bits(1)
        mine, theirs, empty = could_be_mine, could_be_theirs, could_be_empty


@compiled
def part(position, mask):
    return position._replace(
        mine=position.mine & mask, theirs=position.theirs & mask, empty=position.empty & mask
    )


@compiled
def part_key(position):
    return key_of_part(position._replace(right=False))


# Strips of all lengths

VARIANTS = "5,3,5", "6,4,6", "4,1,4", "3,2,3"


def settings(text: str) -> tuple[int, ...]:
    """Read the numbers of toads, empty cells and frogs, as in ``3,2,3``."""
    match = re.fullmatch("([0-9]{1,9}),([0-9]{1,9}),([0-9]{1,9})", text)
    if not match:
        raise PositionError(
            f"{quoted(text)} is not a strip; write TOADS,EMPTY,FROGS, as in 3,2,3 for TTT..FFF"
        )
    return tuple(map(int, match.groups()))


@variants(Strip, usual="5,3,5", read=settings, about="toads, empty cells and frogs: 4,3,4")
def strip(toads: int, empty: int, frogs: int) -> dict[str, Any]:
    """Return the constants of a strip; :class:`PositionError` if there is none."""
    area = toads + empty + frogs
    if not (toads and empty and area <= 64):
        raise PositionError(
            f"there is no strip of {toads},{empty},{frogs}: a strip has at least a toad and an "
            f"empty cell, and at most 64 cells"
        )
    return {
        "TOADS": toads,
        "EMPTY": empty,
        "AREA": area,
        "WORDS": 1,
        "VARIANT": f"{toads},{empty},{frogs}",
        "CELLS": Grid(
            1,
            area,
            contents={".": "empty", "T": "left toad", "F": "right frog", "#": "blocked"},
            players={"left": "left (toads)", "right": "right (frogs)"},
            column_names=[str(number % 10) for number in range(1, area + 1)],
        ),
        "MAX_MOVES": area,
        "MAX_PLIES": area**2 // 2,
    }


Position = strip(5, 3, 5)


# Text

MOVE_PATTERN = r"[0-9]{1,2}|[^\s,]+"


def start(variant: str = "") -> Any:
    """Return the strip of a variant with the pieces at its ends."""
    cls = strip.of(variant)
    contents = [1] * cls.TOADS + [0] * cls.EMPTY + [2] * (cls.AREA - cls.TOADS - cls.EMPTY)
    return of_contents(cls, contents)


def of_contents(cls: Any, contents: list[int]) -> Any:
    """Return the position with these contents of cells, Left to move."""
    empty, toads, frogs = (
        Bits(sum(1 << n for n, c in enumerate(contents) if c == content)) for content in range(3)
    )
    return cls(toads, frogs, empty, False)


def mover(position: Strip) -> str:
    return "right" if position.right else "left"


def parse_move(position: Any, text: str) -> int:
    """Read the number of a cell, such as ``3``."""
    if not re.fullmatch("[0-9]{1,2}", text) or not 1 <= int(text) <= position.AREA:
        raise PositionError(f"{quoted(text)} is not a cell; cells are 1..{position.AREA}")
    move = position.AREA - int(text) if position.right else int(text) - 1
    piece = "frog" if position.right else "toad"
    if not position.mine >> move & 1:
        raise PositionError(f"there is no {piece} on cell {text}")
    if not movable(position) >> move & 1:
        raise PositionError(f"the {piece} on cell {text} cannot move")
    return move


def move_text(position: Any, move: int) -> str:
    return str(position.AREA - move if position.right else move + 1)


def from_cells(contents: list[int], mover: str, start: Any) -> Any:
    position = of_contents(type(start), contents)
    return swapped(position) if mover == "right" else position
