"""The gain of a move at first sight, and by static exchange evaluation (SEE)."""

from __future__ import annotations

from cutnode.compiler.jit import compiled
from cutnode.contract.bits import Bits, lowest
from cutnode.games.chess.attacks import (
    bishop_attacks,
    king_attacks,
    knight_attacks,
    pawn_attacks,
    rook_attacks,
)
from cutnode.games.chess.boards import pawn_attacks_down
from cutnode.games.chess.generator import (
    BISHOP,
    CASTLING,
    KING,
    KNIGHT,
    PASSANT,
    PAWN,
    PROMOTION,
    QUEEN,
    ROOK,
    kind_of,
    source_of,
    target_of,
)

__all__ = ["exchange", "gain", "kind_at"]

WORTH = (100, 325, 325, 500, 975, 20000)
"""The worth of each kind of piece, in hundredths of a pawn: round figures suit exchanges."""


@compiled
def worth(kind):
    """Return the same without a table lookup."""
    value = WORTH[PAWN]
    value = WORTH[KNIGHT] if kind == KNIGHT else value
    value = WORTH[BISHOP] if kind == BISHOP else value
    value = WORTH[ROOK] if kind == ROOK else value
    value = WORTH[QUEEN] if kind == QUEEN else value
    return WORTH[KING] if kind == KING else value


@compiled
def kind_at(position, bit):
    """Return the kind of the piece on a square, given as its bit."""
    kind = PAWN
    kind += 1 if position.knights & bit else 0
    kind += 2 if position.bishops & bit else 0
    kind += 3 if position.rooks & bit else 0
    kind += 4 if position.queens & bit else 0
    return kind + (5 if position.kings & bit else 0)


@compiled
def gain(position, move):
    """Return the worth of what a move captures, and of what a pawn becomes."""
    kind = kind_of(move)
    won = 0
    end = Bits(1) << Bits(target_of(move))
    if position.theirs & end:
        won = worth(kind_at(position, end))
    if kind > KING:
        if kind == PASSANT:
            won = WORTH[PAWN]
        elif kind != CASTLING:
            won += worth(kind - PROMOTION + KNIGHT) - WORTH[PAWN]
    return won


@compiled(inline=False)
def exchange(position, move, least):
    """Return whether a move wins at least *least*, if both players capture on while it pays (SEE).

    The cheapest piece captures first.  Pins are ignored.
    """
    kind = kind_of(move)
    if kind == CASTLING:
        return least <= 0
    balance = gain(position, move) - least
    if balance < 0:
        return False
    piece = kind if kind <= KING else PAWN
    if PROMOTION <= kind < CASTLING:
        piece = kind - PROMOTION + KNIGHT
    balance -= worth(piece)
    if balance >= 0:
        return True

    square = target_of(move)
    end = Bits(1) << Bits(square)
    occupied = (position.mine | position.theirs) & ~(Bits(1) << Bits(source_of(move))) | end
    if kind == PASSANT:
        occupied ^= end >> Bits(8)
    diagonal = position.bishops | position.queens
    straight = position.rooks | position.queens
    takers = knight_attacks(square) & position.knights
    takers |= king_attacks(square) & position.kings
    takers |= pawn_attacks(end) & position.pawns & position.theirs
    takers |= pawn_attacks_down(end) & position.pawns & position.mine
    takers |= bishop_attacks(square, occupied) & diagonal
    takers |= rook_attacks(square, occupied) & straight
    takers &= occupied

    answering = True  # the other player is to take
    while True:
        own = takers & (position.theirs if answering else position.mine)
        if own == Bits(0):
            break
        taker = cheapest(position, own)
        occupied ^= taker
        if taker & (position.pawns | diagonal):
            takers |= bishop_attacks(square, occupied) & diagonal
        if taker & straight:
            takers |= rook_attacks(square, occupied) & straight
        takers &= occupied
        answering = not answering
        balance = -balance - 1 - worth(kind_at(position, taker))
        if balance >= 0:  # never by a king that takes a guarded piece: it is worth more than all
            break
    return answering


@compiled
def cheapest(position, pieces):
    """Return a least valuable piece among some."""
    for kind in (
        position.pawns,
        position.knights,
        position.bishops,
        position.rooks,
        position.queens,
    ):
        if pieces & kind:
            return lowest(pieces & kind)
    return pieces
