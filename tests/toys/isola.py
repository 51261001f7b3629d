"""Isolation on three by three cells: turns of two actions, and a group of symmetries.

Rules: a player walks one step in any direction to a free cell, and then closes a free cell; a
player who cannot walk loses.  Values: 1 a win, -1 a loss.
"""

from __future__ import annotations

from typing import NamedTuple

from cutnode import Bits, compiled, lowest_index, popcount
from cutnode.cells import Grid

MAX_MOVES = 8
MAX_PLIES = 14
CELLS = Grid(3, 3, contents={".": "free", "a": "mover", "b": "other", "#": "closed"})
STEPS = (0o32, 0o75, 0o62, 0o323, 0o757, 0o626, 0o230, 0o570, 0o260)
"""The neighbours of each cell in octal: one digit for each row, the lowest for the top row."""
TURNED = (6, 3, 0, 7, 4, 1, 8, 5, 2)
"""The destination of each cell when the board makes a quarter turn."""


class Position(NamedTuple):
    """The walkers, the closed cells, whether the mover has walked, and which player he is."""

    mine: Bits = Bits(0o2)
    theirs: Bits = Bits(0o200)
    closed: Bits = Bits(0)
    walked: bool = False
    second: bool = False


@compiled
def cell(position, index):
    bit = Bits(1) << Bits(index)
    if position.closed & bit:
        return 3
    return 1 if position.mine & bit else 2 if position.theirs & bit else 0


@compiled
def free(position):
    return Bits(0o777) & ~(position.mine | position.theirs | position.closed)


@compiled
def targets(position):
    return free(position) & (
        Bits(0o777) if position.walked else Bits(STEPS[lowest_index(position.mine)])
    )


@compiled
def moves(position, buffer, at):
    for cell in range(9):
        if targets(position) >> Bits(cell) & Bits(1):
            buffer[at] = cell
            at += 1
    return at


@compiled
def play(position, move):
    cell = Bits(1) << Bits(move)
    if position.walked:
        closed = position.closed | cell
        return Position(position.theirs, position.mine, closed, False, not position.second)
    return Position(cell, position.theirs, position.closed, True, position.second)


@compiled
def outcome(position):
    over = targets(position) == Bits(0)
    return over, -1 if over else 0


@compiled
def key(position):
    board = position.mine | position.theirs << Bits(9) | position.closed << Bits(18)
    return board | Bits(position.walked) << Bits(27) | Bits(position.second) << Bits(28)


@compiled
def turn(position):
    return 1 if position.second else 0


@compiled
def turned(cells):
    image = Bits(0)
    for cell in range(9):
        image |= (cells >> Bits(cell) & Bits(1)) << Bits(TURNED[cell])
    return image


@compiled
def canonical(position):
    best, symmetry = key(position), 0
    mine, theirs, closed = position.mine, position.theirs, position.closed
    for quarters in range(1, 4):
        mine, theirs, closed = turned(mine), turned(theirs), turned(closed)
        word = key(Position(mine, theirs, closed, position.walked, position.second))
        if word < best:
            best, symmetry = word, quarters
    return best, symmetry


@compiled
def canonical_move(position, move, symmetry):
    for _ in range(symmetry):
        move = TURNED[move]
    return move


@compiled
def original_move(position, move, symmetry):
    for _ in range(-symmetry % 4):
        move = TURNED[move]
    return move


@compiled
def evaluate(position):
    return popcount(targets(position))


@compiled
def plies_left(position):
    return 2 * popcount(free(position))
