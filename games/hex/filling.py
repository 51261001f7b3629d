"""Cells that can be filled with stones because they do not matter: dead and captured ones.

A cell is *dead* if it makes no difference who has it, however the rest of the board is filled: no
player has a shortest chain through it.  This holds if any two of its neighbours that a player has,
or can have, are connected without it.  Looking at neighbours alone, a cell is dead in these
patterns, up to rotation and exchange of colours, and in no others: four consecutive stones of one
colour; three, with a stone of the other colour opposite the middle one; two, with two of the other
colour opposite.  The edges of the board count as stones of their owner.

Two empty cells next to each other are *captured* by a player if each is dead once he has the other:
he answers a stone of the opponent on either of them with one on the other.

The winner is the same if dead cells are given to anybody and captured ones to their captor.  So
positions with the same filled board have the same value, and a move to a cell *dominates* one to
another cell that is dead or captured by the mover after it: the first gets both.  (R. Hayward
et al., "Solving 7x7 Hex with domination, fill-in, and virtual connections", 2005.)
"""

from __future__ import annotations

from cutnode import compiled
from cutnode.contract.boards import board
from cutnode.games.hex.cells import beside

__all__ = ["dead", "fill", "filled"]


@compiled
def filled(position):
    """Return the stones of both players of a position after filling its board."""
    return fill(position, board(position, 0), board(position, 1), False)


@compiled(inline=False)
def fill(position, first, second, to_second):
    """Return the stones of both players after filling all cells that the patterns find.

    Dead cells go to the second player if *to_second*, else to the first.
    """
    while True:
        empty = position.BOARD & ~(first | second)
        mine, theirs = surroundings(position, first, second)
        useless = dead(mine, theirs) & empty
        if useless:
            if to_second:
                second |= useless
            else:
                first |= useless
            continue
        pairs = captured(position, mine, theirs, empty)
        if pairs:
            first |= pairs
            continue
        pairs = captured(position, theirs, mine, empty)
        if not pairs:
            return first, second
        second |= pairs


@compiled
def surroundings(position, first, second):
    """Return for both players the cells whose neighbours 0 to 5 are stones, or edges, of theirs."""
    a, b, c, d, e, f = beside(position, first)
    mine = (
        a,
        b | position.TOP,
        c | position.TOP_ROW,
        d,
        e | position.BOTTOM,
        f | position.BOTTOM_ROW,
    )
    a, b, c, d, e, f = beside(position, second)
    theirs = a | position.RIGHT_COLUMN, b | position.RIGHT, c, d | position.LEFT_COLUMN
    return mine, (*theirs, e | position.LEFT, f)


@compiled
def dead(mine, theirs):
    """Return the cells that are dead by what surrounds them."""
    found = mine[0] & ~mine[0]
    for _ in range(6):
        two, other_two = mine[0] & mine[1], theirs[0] & theirs[1]
        found |= two & ((mine[2] & (mine[3] | theirs[4])) | (theirs[3] & theirs[4]))
        found |= other_two & theirs[2] & (theirs[3] | mine[4])
        mine, theirs = turned(mine), turned(theirs)
    return found


@compiled
def turned(planes):
    return planes[1], planes[2], planes[3], planes[4], planes[5], planes[0]


@compiled
def dead_after(mine, theirs):
    """Return the cells that would be dead if their neighbour 0 were a first player's stone."""
    one, two, three, four, five = mine[1], mine[2], mine[3], mine[4], mine[5]
    row = (two & (three | five) & one) | (four & five & (three | one))
    row |= (theirs[2] & ((four & five) | (theirs[3] & (theirs[4] | five)))) | (
        one & two & theirs[4]
    )
    return row | (theirs[3] & one & (five | theirs[4]))


@compiled
def captured(position, mine, theirs, empty):
    """Return some cells that the first player has captured: pairs without a cell in common."""
    for direction in range(3):
        back = turned(turned(turned(mine))), turned(turned(turned(theirs)))
        here, there = dead_after(mine, theirs) & empty, dead_after(back[0], back[1]) & empty
        pairs = here & moved(position, there, direction)
        if pairs:
            pairs &= ~moved(position, pairs, direction)
            return pairs | moved_back(position, pairs, direction)
        mine, theirs = turned(mine), turned(theirs)
    return position.NONE


@compiled
def moved(position, cells, direction):
    """Return the cells whose neighbour in a direction, 0 to 2, is among some cells."""
    found = beside(position, cells)
    return found[0] if direction == 0 else found[1] if direction == 1 else found[2]


@compiled
def moved_back(position, cells, direction):
    """Return the neighbours of some cells in a direction, 0 to 2."""
    found = beside(position, cells)
    return found[3] if direction == 0 else found[4] if direction == 1 else found[5]
