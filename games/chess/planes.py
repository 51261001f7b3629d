"""What a network sees of a position of chess: a board for each kind of piece of each player.

The boards are those of the mover, with the files in the opposite order where his king stands on
the right half: what is good on one wing is so on the other.
"""

from __future__ import annotations

from engine.compiler.jit import compiled
from engine.contract.bits import Bits, lowest_index

__all__ = ["planes"]

PAIRS, FOURS, ONES = (
    Bits(0x3333333333333333),
    Bits(0x0F0F0F0F0F0F0F0F),
    Bits(0x5555555555555555),
)


@compiled
def planes(position):
    """Pawns, knights, bishops, rooks, queens and the king of the mover, and of the other."""
    flip = lowest_index(position.kings & position.mine) & 4 != 0
    mine, theirs = seen(position.mine, flip), seen(position.theirs, flip)
    pawns, knights = seen(position.pawns, flip), seen(position.knights, flip)
    bishops, rooks = seen(position.bishops, flip), seen(position.rooks, flip)
    queens, kings = seen(position.queens, flip), seen(position.kings, flip)
    return (
        pawns & mine,
        knights & mine,
        bishops & mine,
        rooks & mine,
        queens & mine,
        kings & mine,
        pawns & theirs,
        knights & theirs,
        bishops & theirs,
        rooks & theirs,
        queens & theirs,
        kings & theirs,
    )


@compiled
def seen(board, flip):
    """A board, with the files in the opposite order if so wanted."""
    return files_reversed(board) if flip else board


@compiled
def files_reversed(board):
    """A board with its files in the opposite order."""
    board = (board >> Bits(1) & ONES) | (board & ONES) << Bits(1)
    board = (board >> Bits(2) & PAIRS) | (board & PAIRS) << Bits(2)
    return (board >> Bits(4) & FOURS) | (board & FOURS) << Bits(4)
