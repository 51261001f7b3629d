"""The inputs of a network in chess: a board for each kind of piece of each player.

There are two views, the mover's and the other player's.  The boards of each are as its player sees
them, with the files reversed where his king stands on the left half, which is rare: what is good on
one wing is good on the other.
"""

from __future__ import annotations

from cutnode.compiler.jit import compiled
from cutnode.contract.bits import Bits, lowest_index
from cutnode.games.chess.boards import board_of, turned

__all__ = ["opponent_planes", "planes"]

PAIRS, FOURS, ONES = (
    Bits(0x3333333333333333),
    Bits(0x0F0F0F0F0F0F0F0F),
    Bits(0x5555555555555555),
)


@compiled
def planes(position):
    """Return the mover's pawns, knights, bishops, rooks, queens and king, then the other's."""
    return view_of(board_of(position))


@compiled
def opponent_planes(position):
    """Return the other player's planes, then the mover's, as the other player sees the board."""
    return view_of(turned(board_of(position)))


@compiled
def view_of(board):
    """Return the planes of the player whose board it is."""
    flip = lowest_index(board.kings & board.mine) & 4 == 0
    mine, theirs = seen(board.mine, flip), seen(board.theirs, flip)
    pawns, knights = seen(board.pawns, flip), seen(board.knights, flip)
    bishops, rooks = seen(board.bishops, flip), seen(board.rooks, flip)
    queens, kings = seen(board.queens, flip), seen(board.kings, flip)
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
    """Return a board, with the files reversed if *flip* is set."""
    return files_reversed(board) if flip else board


@compiled
def files_reversed(board):
    """Return a board with its files reversed."""
    board = (board >> Bits(1) & ONES) | (board & ONES) << Bits(1)
    board = (board >> Bits(2) & PAIRS) | (board & PAIRS) << Bits(2)
    return (board >> Bits(4) & FOURS) | (board & FOURS) << Bits(4)
