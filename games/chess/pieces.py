"""The worth of pieces by their mobility and their threats."""

from __future__ import annotations

from cutnode.compiler.jit import compiled
from cutnode.contract.bits import Bits, lowest_index, popcount, without_lowest
from cutnode.games.chess.attacks import (
    bishop_attacks,
    king_attacks,
    knight_attacks,
    pawn_attacks,
    rook_attacks,
)
from cutnode.games.chess.boards import Attacks, fill_down, fill_up, pawn_attacks_down
from cutnode.games.chess.kings import king_zone
from cutnode.games.chess.squares import ALL, DARK, FILES, LAST_ROW, THIRD_ROW
from cutnode.games.chess.weights import start_of, weighed

__all__ = ["activity", "threats"]

KNIGHT_MOBILITY = start_of("knight mobility")
BISHOP_MOBILITY = start_of("bishop mobility")
ROOK_MOBILITY = start_of("rook mobility")
QUEEN_MOBILITY = start_of("queen mobility")
BISHOP_PAIR = start_of("bishop pair")
BISHOP_PAWNS = start_of("bishop and pawns of its colour")
BEHIND_PAWN = start_of("minor behind a pawn")
KNIGHT_OUTPOST = start_of("knight on an outpost")
BISHOP_OUTPOST = start_of("bishop on an outpost")
NEAR_OUTPOST = start_of("knight near an outpost")
OPEN_FILE = start_of("rook on an open file")
HALF_OPEN_FILE = start_of("rook on a half-open file")
SEVENTH = start_of("rook on the seventh")
SPACE = start_of("space")
PAWN_THREAT = start_of("pawn attacks")
MINOR_THREAT = start_of("knight or bishop attacks")
ROOK_THREAT = start_of("rook attacks")
KING_THREAT = start_of("king attacks")
HANGING = start_of("hanging")
PUSH_THREAT = start_of("push that attacks")
ATTACKERS = start_of("danger from attackers")
RING_ATTACKS = start_of("danger from attacks")

OUTPOST_ROWS = Bits(0xFFFFFF << 24)
LIGHT = Bits(ALL ^ DARK)
SEVENTH_ROW = Bits(0xFF << 48)
SPACE_SQUARES = (FILES[2] | FILES[3] | FILES[4] | FILES[5]) & Bits(0xFFFFFF << 8)


@compiled
def activity(board, trace):
    """Return the worth of a player's pieces, the danger that they are, and their attacks."""
    occupied = board.mine | board.theirs
    pawns = board.pawns & board.mine
    their_pawns = board.pawns & board.theirs
    king = lowest_index(board.kings & board.mine)
    by_pawns = pawn_attacks(pawns)
    by_king = king_attacks(king)
    hit = pawn_attacks_down(their_pawns)
    free = ~(hit | pawns | board.kings & board.mine) & ALL
    zone = king_zone(lowest_index(board.kings & board.theirs))
    ring = king_attacks(lowest_index(board.kings & board.theirs))
    posts = OUTPOST_ROWS & by_pawns & ~fill_down(hit)
    twice = by_pawns & by_king
    reached = by_pawns | by_king
    worth = 0
    danger, hits = 0, 0

    by_knights = Bits(0)
    some = board.knights & board.mine
    while some:
        square = lowest_index(some)
        some = without_lowest(some)
        seen = knight_attacks(square)
        twice |= reached & seen
        reached |= seen
        by_knights |= seen
        worth += weighed(trace, KNIGHT_MOBILITY + popcount(seen & free), 1)
        danger += weighed(trace, ATTACKERS, 1 if seen & zone else 0)
        hits += popcount(seen & ring)

    by_bishops = Bits(0)
    some = board.bishops & board.mine
    through = occupied ^ board.queens & board.mine
    while some:
        square = lowest_index(some)
        some = without_lowest(some)
        seen = bishop_attacks(square, through)
        twice |= reached & seen
        reached |= seen
        by_bishops |= seen
        worth += weighed(trace, BISHOP_MOBILITY + popcount(seen & free), 1)
        danger += weighed(trace, ATTACKERS + 1, 1 if seen & zone else 0)
        hits += popcount(seen & ring)

    by_rooks = Bits(0)
    some = board.rooks & board.mine
    through ^= board.rooks & board.mine
    while some:
        square = lowest_index(some)
        some = without_lowest(some)
        seen = rook_attacks(square, through)
        twice |= reached & seen
        reached |= seen
        by_rooks |= seen
        worth += weighed(trace, ROOK_MOBILITY + popcount(seen & free), 1)
        danger += weighed(trace, ATTACKERS + 2, 1 if seen & zone else 0)
        hits += popcount(seen & ring)

    by_queens = Bits(0)
    some = board.queens & board.mine
    while some:
        square = lowest_index(some)
        some = without_lowest(some)
        seen = bishop_attacks(square, occupied) | rook_attacks(square, occupied)
        twice |= reached & seen
        reached |= seen
        by_queens |= seen
        worth += weighed(trace, QUEEN_MOBILITY + popcount(seen & free), 1)
        danger += weighed(trace, ATTACKERS + 3, 1 if seen & zone else 0)
        hits += popcount(seen & ring)

    danger += weighed(trace, RING_ATTACKS, hits)
    bishops, knights = board.bishops & board.mine, board.knights & board.mine
    dark, light = popcount(bishops & DARK), popcount(bishops & LIGHT)
    worth += weighed(trace, BISHOP_PAIR, 1 if dark and light else 0)
    beside = dark * popcount(pawns & DARK) + light * popcount(pawns & LIGHT)
    worth += weighed(trace, BISHOP_PAWNS, beside)
    behind = (knights | bishops) & board.pawns >> Bits(8)
    worth += weighed(trace, BEHIND_PAWN, popcount(behind))
    worth += weighed(trace, KNIGHT_OUTPOST, popcount(knights & posts))
    worth += weighed(trace, BISHOP_OUTPOST, popcount(bishops & posts))
    near = by_knights & posts & ~board.mine
    worth += weighed(trace, NEAR_OUTPOST, popcount(near))
    rooks = board.rooks & board.mine
    half_open = rooks & ~fill_up(fill_down(pawns))
    open_ = half_open & ~fill_up(fill_down(their_pawns))
    worth += weighed(trace, OPEN_FILE, popcount(open_))
    worth += weighed(trace, HALF_OPEN_FILE, popcount(half_open & ~open_))
    prey = (their_pawns & SEVENTH_ROW) | (board.kings & board.theirs & LAST_ROW)
    worth += weighed(trace, SEVENTH, popcount(rooks & SEVENTH_ROW) if prey else 0)
    worth += weighed(trace, SPACE, popcount(SPACE_SQUARES & free))
    attacks = Attacks(
        by_pawns, by_knights, by_bishops, by_rooks, by_queens, by_king, reached, twice
    )
    return worth, danger, attacks


@compiled
def threats(board, attacks, other, trace):
    """Return the worth of attacks on pieces that are worth more, or not well defended.

    *other* are the other's attacks, on the same board.
    """
    theirs = board.theirs
    minors = (board.knights | board.bishops) & theirs
    rooks, queens = board.rooks & theirs, board.queens & theirs
    pieces = minors | rooks | queens
    hit = attacks.pawns
    worth = weighed(trace, PAWN_THREAT, popcount(hit & minors))
    worth += weighed(trace, PAWN_THREAT + 1, popcount(hit & rooks))
    worth += weighed(trace, PAWN_THREAT + 2, popcount(hit & queens))

    # Not defended by a pawn, nor defended twice where we attack only once.
    weak = attacks.any & ~other.pawns & ~(other.twice & ~attacks.twice)
    pawns = board.pawns & theirs & weak
    hit = attacks.knights | attacks.bishops
    worth += weighed(trace, MINOR_THREAT, popcount(hit & pawns))
    worth += weighed(trace, MINOR_THREAT + 1, popcount(hit & minors & weak))
    worth += weighed(trace, MINOR_THREAT + 2, popcount(hit & rooks))
    worth += weighed(trace, MINOR_THREAT + 3, popcount(hit & queens))
    hit = attacks.rooks
    worth += weighed(trace, ROOK_THREAT, popcount(hit & pawns))
    worth += weighed(trace, ROOK_THREAT + 1, popcount(hit & minors & weak))
    worth += weighed(trace, ROOK_THREAT + 2, popcount(hit & queens))
    worth += weighed(trace, KING_THREAT, popcount(attacks.king & theirs & weak))
    loose = theirs & weak & (~other.any | attacks.twice & pieces)
    worth += weighed(trace, HANGING, popcount(loose))

    empty = ~(board.mine | board.theirs) & ALL
    own = board.pawns & board.mine
    step = own << Bits(8) & empty
    step |= (step & THIRD_ROW) << Bits(8) & empty
    step &= ~other.pawns & (attacks.any | ~other.any)
    pushed = pawn_attacks(step) & pieces & ~attacks.pawns
    return worth + weighed(trace, PUSH_THREAT, popcount(pushed))
