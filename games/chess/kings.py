"""King safety: the pawns in front of a king, and the danger that it is in.

Danger is a sum over what attacks a king.  Its cost grows more than in proportion: in the middle
game it is the square of the danger, divided by ``DANGER_UNIT`` (as in Stockfish up to version 11).
"""

from __future__ import annotations

from cutnode.compiler.jit import compiled
from cutnode.contract.bits import Bits, lowest_index, popcount
from cutnode.games.chess.attacks import bishop_attacks, king_attacks, knight_attacks, rook_attacks
from cutnode.games.chess.boards import fill_down, fill_up
from cutnode.games.chess.squares import ALL
from cutnode.games.chess.weights import start_of, weighed

__all__ = ["attack", "danger_worth", "king_zone", "shelter"]

SHIELD = start_of("shield")
STORM = start_of("storm")
CLOSED_STORM = start_of("closed storm")
OPEN = start_of("king on an open file")
HALF_OPEN = start_of("king on a half-open file")
DANGER = start_of("danger")
NO_QUEEN = start_of("danger without a queen")
WEAK = start_of("danger of weak squares")
SAFE_CHECKS = start_of("danger of safe checks")
CHECKS = start_of("danger of checks")
OPEN_FILES = start_of("danger of open files")
DEFENDERS = start_of("danger less for defenders")

DANGER_UNIT = 1024
"""The danger that costs as many hundredths of a pawn."""

DANGER_END = 8
"""The divisor of danger for its cost in the end game."""

MOST_DANGER = 1500
"""The most danger that counts."""


@compiled
def king_zone(king):
    """Return the squares around the other player's king, and the row in front of these."""
    near = king_attacks(king) | Bits(1) << Bits(king)
    return near | near >> Bits(8)


@compiled
def front(square):
    """Return three squares in a row: a king's and its neighbours, kept on the board."""
    file = min(max(square & 7, 1), 6)
    return Bits(7) << Bits((square & 56) + file - 1)


@compiled
def shelter(board, trace):
    """Return the worth of both players' pawns in front of a player's king."""
    pawns, theirs = board.pawns & board.mine, board.pawns & board.theirs
    near = front(lowest_index(board.kings & board.mine))
    worth = 0
    ahead = near
    for step in range(3):
        ahead = ahead << Bits(8) & ALL
        worth += weighed(trace, SHIELD + step, popcount(pawns & ahead))
    ahead = near
    blocked = theirs & pawns << Bits(8)
    for step in range(4):
        ahead = ahead << Bits(8) & ALL
        worth += weighed(trace, STORM + step, popcount(theirs & ahead))
        worth += weighed(trace, CLOSED_STORM + step, popcount(blocked & ahead))
    half_open = near & ~fill_up(fill_down(pawns))
    closed = fill_up(fill_down(theirs))
    worth += weighed(trace, OPEN, popcount(half_open & ~closed))
    return worth + weighed(trace, HALF_OPEN, popcount(half_open & closed))


@compiled
def attack(board, attacks, other, attackers, trace):
    """Return the worth of the danger that the opponent's king is in.

    *other* are his attacks; *attackers* is the danger from the player's attackers.
    """
    king = lowest_index(board.kings & board.theirs)
    occupied = board.mine | board.theirs
    danger = attackers + weighed(trace, DANGER, 1)
    if not board.queens & board.mine:
        danger += weighed(trace, NO_QUEEN, 1)
    ring = king_attacks(king)
    # Attacked by us, and defended by nothing but the king and perhaps the queen.
    defended = other.pawns | other.knights | other.bishops | other.rooks
    weak = attacks.any & ~(other.twice & defended) & ~defended
    danger += weighed(trace, WEAK, popcount(ring & weak))

    safe = ~board.mine & (~other.any | weak & attacks.twice) & ALL
    through = occupied & ~(board.queens & board.theirs)
    diagonal, straight = bishop_attacks(king, through), rook_attacks(king, through)
    by_knights = knight_attacks(king) & attacks.knights & ~board.mine
    by_bishops = diagonal & attacks.bishops & ~board.mine
    by_rooks = straight & attacks.rooks & ~board.mine
    by_queens = (diagonal | straight) & attacks.queens & ~board.mine & ~other.queens
    danger += weighed(trace, SAFE_CHECKS, 1 if by_knights & safe else 0)
    danger += weighed(trace, SAFE_CHECKS + 1, 1 if by_bishops & safe else 0)
    danger += weighed(trace, SAFE_CHECKS + 2, 1 if by_rooks & safe else 0)
    danger += weighed(trace, SAFE_CHECKS + 3, 1 if by_queens & safe else 0)
    danger += weighed(trace, CHECKS, popcount((by_knights | by_bishops | by_rooks) & ~safe))
    files = front(king) & ~fill_up(fill_down(board.pawns & board.theirs))
    danger += weighed(trace, OPEN_FILES, popcount(files))
    guards = (other.knights | other.bishops) & king_zone(king)
    danger += weighed(trace, DEFENDERS, popcount(guards))
    return danger_worth(danger)


@compiled
def danger_worth(danger):
    """Return the worth of danger to the opponent's king, middle game and end game in one number."""
    danger = min(max(danger, 0), MOST_DANGER)
    return danger * danger // DANGER_UNIT + (danger // DANGER_END << 32)
