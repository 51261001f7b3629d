"""Which quiet moves of chess look promising: pieces that leave an attack, and checks.

A piece is in danger where a piece of less worth attacks it.  Moves out of danger come first, moves
into it last.  The worths are half of Stockfish's (version 15.1), whose history has another scale.
"""

from __future__ import annotations

from cutnode.compiler.jit import compiled
from cutnode.contract.bits import Bits, lowest_index
from cutnode.games.chess.attacks import bishop_attacks, knight_attacks, rook_attacks
from cutnode.games.chess.boards import pawn_attacks_down
from cutnode.games.chess.generator import (
    BISHOP,
    KNIGHT,
    PAWN,
    QUEEN,
    ROOK,
    kind_of,
    source_of,
    target_of,
)

__all__ = ["hint"]

SAVED = (0, 7500, 7500, 12500, 25000)
"""The worth of moving each kind of piece out of danger, in history points."""

CHECK = 8000
"""The worth of a check."""


@compiled
def hint(position, move):
    """Return how much a quiet move gains by leaving an attack or giving check."""
    kind, start, end = kind_of(move), source_of(move), target_of(move)
    score = CHECK if gives_check(position, kind, end) else 0
    if KNIGHT <= kind <= QUEEN:
        saved = SAVED[KNIGHT]
        saved = SAVED[ROOK] if kind == ROOK else saved
        saved = SAVED[QUEEN] if kind == QUEEN else saved
        score += saved if in_danger(position, kind, start) else 0
        score -= saved if in_danger(position, kind, end) else 0
    return score


@compiled
def in_danger(position, kind, square):
    """Return whether the other player attacks a square with a piece worth less than this *kind*."""
    found = pawn_attacks_down(position.pawns & position.theirs) & (Bits(1) << Bits(square))
    if kind >= ROOK:
        occupied = position.mine | position.theirs
        found |= knight_attacks(square) & position.knights & position.theirs
        found |= bishop_attacks(square, occupied) & position.bishops & position.theirs
        if kind == QUEEN:
            found |= rook_attacks(square, occupied) & position.rooks & position.theirs
    return found != Bits(0)


@compiled
def gives_check(position, kind, square):
    """Return whether a piece checks the king from a square, if it moves there."""
    king = position.kings & position.theirs
    at, occupied = lowest_index(king), position.mine | position.theirs
    checks = Bits(0)
    if kind == PAWN:
        checks = pawn_attacks_down(king)
    elif kind == KNIGHT:
        checks = knight_attacks(at)
    elif kind == BISHOP:
        checks = bishop_attacks(at, occupied)
    elif kind == ROOK:
        checks = rook_attacks(at, occupied)
    elif kind == QUEEN:
        checks = bishop_attacks(at, occupied) | rook_attacks(at, occupied)
    return checks >> Bits(square) & Bits(1) != Bits(0)
