"""The worth of pawns by their structure, and of passed pawns."""

from __future__ import annotations

import numpy as np

from cutnode.compiler.jit import compiled
from cutnode.contract.bits import Bits, lowest_index, popcount, without_lowest
from cutnode.contract.constants import Constant
from cutnode.games.chess.attacks import pawn_attacks
from cutnode.games.chess.boards import fill_down, fill_up, pawn_attacks_down, sides
from cutnode.games.chess.squares import ALL, FIRST_ROW
from cutnode.games.chess.weights import start_of, weighed

__all__ = ["DISTANCE", "passed_pawns", "structure"]

ISOLATED = start_of("isolated pawn")
DOUBLED = start_of("doubled pawn")
BACKWARD = start_of("backward pawn")
PHALANX = start_of("phalanx")
SUPPORTED = start_of("supported pawn")
PASSED = start_of("passed pawn")
FREE = start_of("passed pawn with a free square ahead")
SAFE = start_of("passed pawn with a safe way")
OWN_KING = start_of("own king near a passed pawn")
OTHER_KING = start_of("other king near a passed pawn")

FROM_KINGS = 3
"""The row from which on the distance of kings to a passed pawn counts."""


def distances() -> np.ndarray:
    """Return for any two squares the steps of a king from one to the other."""
    file, row = np.arange(64) % 8, np.arange(64) // 8
    apart = np.maximum(abs(file[:, None] - file), abs(row[:, None] - row))
    return apart.astype(np.int8).reshape(-1)


DISTANCE = Constant("chess.distance", distances())


@compiled
def structure(board, trace):
    """Return the worth of weak pawns and of pawns that support each other."""
    pawns, theirs = board.pawns & board.mine, board.pawns & board.theirs
    files = fill_up(fill_down(pawns))
    exposed = ~fill_down(theirs) & ALL
    attacked = pawn_attacks(pawns)

    isolated = pawns & ~sides(files)
    worth = weighed(trace, ISOLATED, popcount(isolated))
    worth += weighed(trace, ISOLATED + 1, popcount(isolated & exposed))
    doubled = pawns & fill_down(pawns >> Bits(8))
    worth += weighed(trace, DOUBLED, popcount(doubled))
    # They hold the square ahead: no pawn of ours will ever defend it.
    held = pawns << Bits(8) & pawn_attacks_down(theirs) & ~fill_up(attacked)
    backward = held >> Bits(8) & ~isolated
    worth += weighed(trace, BACKWARD, popcount(backward))
    worth += weighed(trace, BACKWARD + 1, popcount(backward & exposed))

    phalanx, supported = pawns & sides(pawns), pawns & attacked
    for row in range(1, 7):
        phalanx >>= Bits(8)
        supported >>= Bits(8)
        worth += weighed(trace, PHALANX + row, popcount(phalanx & FIRST_ROW))
        worth += weighed(trace, SUPPORTED + row, popcount(supported & FIRST_ROW))
    return worth


@compiled
def passed_pawns(board, attacks, other, trace):
    """Return the worth of passed pawns; *other* are the attacks of the other player."""
    pawns, theirs = board.pawns & board.mine, board.pawns & board.theirs
    guarded = fill_down(theirs >> Bits(8) | pawn_attacks_down(theirs))
    some = pawns & ~guarded & ~fill_down(pawns >> Bits(8))
    own_king = lowest_index(board.kings & board.mine)
    other_king = lowest_index(board.kings & board.theirs)
    occupied = board.mine | board.theirs
    worth = 0
    while some:
        square = lowest_index(some)
        some = without_lowest(some)
        row, ahead = square >> 3, square + 8
        bit = Bits(1) << Bits(ahead)
        worth += weighed(trace, PASSED + row, 1)
        if row >= FROM_KINGS:
            steps = row - FROM_KINGS + 1
            worth += weighed(trace, OWN_KING + DISTANCE[64 * own_king + ahead], steps)
            worth += weighed(trace, OTHER_KING + DISTANCE[64 * other_king + ahead], steps)
            if not occupied & bit:
                worth += weighed(trace, FREE + row, 1)
                if not fill_up(bit) & (other.any | board.theirs):
                    worth += weighed(trace, SAFE + row, 1)
    return worth
