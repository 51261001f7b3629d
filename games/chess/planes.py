"""What a network sees of a position of chess: a board for each kind of piece of each player.

There are two views, the mover's and the other player's.  The boards of each are as its player has
them, with the files in the opposite order where his king stands on the right half: what is good on
one wing is so on the other.
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
    """Pawns, knights, bishops, rooks, queens and the king of the mover, and of the other."""
    return view_of(board_of(position))


@compiled
def opponent_planes(position):
    """Those of the other player, and of the mover, as the other player has the board."""
    return view_of(turned(board_of(position)))


@compiled
def view_of(board):
    """The planes of the player whose board it is."""
    flip = lowest_index(board.kings & board.mine) & 4 != 0
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
    """A board, with the files in the opposite order if so wanted."""
    return files_reversed(board) if flip else board


@compiled
def files_reversed(board):
    """A board with its files in the opposite order."""
    board = (board >> Bits(1) & ONES) | (board & ONES) << Bits(1)
    board = (board >> Bits(2) & PAIRS) | (board & PAIRS) << Bits(2)
    return (board >> Bits(4) & FOURS) | (board & FOURS) << Bits(4)
