"""Cells of a Hex board: steps, neighbours and chains.

A board is one number (:mod:`cutnode.contract.boards`), with a bit ``WIDTH * row + column`` for each
cell, row 0 at the top.  Each row of the rhombus begins half a cell to the right of the one above,
so a cell has these neighbours, numbered around it::

        2   1            up, up and right
      3   .   0          left, right
        4   5            down and left, down

Consecutively numbered neighbours are neighbours of each other.  On the board of 4x4 the cells
are ::

    0   1   2   3
      4   5   6   7
        8   9  10  11
         12  13  14  15

and the neighbours 0 to 5 of cell 5 are 6, 2, 1, 4, 8 and 9.
"""

from __future__ import annotations

from cutnode import Bits, compiled

__all__ = ["beside", "chain", "neighbours", "twice_beside"]


@compiled
def neighbours(position, cells):
    """Return the cells next to any of some cells."""
    row = position.ROW
    right = (cells << Bits(1)) | (cells >> (row - Bits(1)))
    left = (cells >> Bits(1)) | (cells << (row - Bits(1)))
    across = (cells << row) | (cells >> row)
    return ((right & position.NOT_LEFT) | (left & position.NOT_RIGHT) | across) & position.BOARD


@compiled
def beside(position, cells):
    """Return six boards: the cells whose neighbour 0, 1, ... 5 is among some cells."""
    row = position.ROW
    return (
        (cells >> Bits(1)) & position.NOT_RIGHT,
        (cells << (row - Bits(1))) & position.NOT_RIGHT & position.BOARD,
        (cells << row) & position.BOARD,
        (cells << Bits(1)) & position.NOT_LEFT,
        (cells >> (row - Bits(1))) & position.NOT_LEFT,
        cells >> row,
    )


@compiled
def twice_beside(position, cells):
    """Return the cells next to two or more of some cells."""
    a, b, c, d, e, f = beside(position, cells)
    once, twice = a | b, a & b
    twice |= once & c
    once |= c
    twice |= once & d
    once |= d
    twice |= once & e
    once |= e
    return twice | (once & f)


@compiled
def chain(position, cells, stones):
    """Return the *cells* and all *stones* that are connected to them."""
    front = neighbours(position, cells) & stones & ~cells
    while front:
        cells |= front
        front = neighbours(position, front) & stones & ~cells
    return cells
