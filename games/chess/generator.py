"""Legal moves of chess, from checks and pins, without making them.

A move is ``source | target << 6 | kind << 12``, squares as the mover sees them.  The kind is the
piece that moves, or a special move; castling is written as the king taking the rook.
"""

from __future__ import annotations

from cutnode.compiler.jit import compiled
from cutnode.contract.bits import Bits, lowest_index, without_lowest
from cutnode.games.chess.attacks import (
    between,
    bishop_attacks,
    king_attacks,
    knight_attacks,
    pawn_attacks,
    rook_attacks,
)
from cutnode.games.chess.boards import sides
from cutnode.games.chess.squares import ALL, LAST_ROW, NOT_A, NOT_H, THIRD_ROW

__all__ = [
    "BISHOP",
    "CASTLING",
    "KING",
    "KNIGHT",
    "PASSANT",
    "PAWN",
    "PROMOTION",
    "QUEEN",
    "ROOK",
    "attackers",
    "checkers",
    "kind_of",
    "source_of",
    "target_of",
    "write_moves",
    "write_noisy",
]

PAWN, KNIGHT, BISHOP, ROOK, QUEEN, KING = range(6)
"""The kinds of pieces, and of their usual moves."""

PROMOTION = 6
"""A promotion to a knight; promotions to other pieces follow."""

QUEENING = PROMOTION + 3

CASTLING, PASSANT = 10, 11


@compiled
def source_of(move):
    return move & 63


@compiled
def target_of(move):
    return (move >> 6) & 63


@compiled
def kind_of(move):
    return move >> 12


# Attacks


@compiled
def attackers(position, square, occupied):
    """Return the other player's pieces that attack a square, with sliders seeing *occupied*."""
    bit = Bits(1) << Bits(square)
    found = knight_attacks(square) & position.knights
    found |= king_attacks(square) & position.kings
    found |= pawn_attacks(bit) & position.pawns
    found |= bishop_attacks(square, occupied) & (position.bishops | position.queens)
    found |= rook_attacks(square, occupied) & (position.rooks | position.queens)
    return found & position.theirs


@compiled
def checkers(position):
    """Return the pieces that give check to the mover."""
    king = lowest_index(position.kings & position.mine)
    return attackers(position, king, position.mine | position.theirs)


@compiled
def snipers(position, king):
    """Return the other player's sliders aimed at *king* through the mover's pieces, if any."""
    diagonal = bishop_attacks(king, position.theirs) & (position.bishops | position.queens)
    straight = rook_attacks(king, position.theirs) & (position.rooks | position.queens)
    return (diagonal | straight) & position.theirs


# Moves


@compiled(inline=False)
def write_moves(position, buffer, at):
    """Write all legal moves."""
    return write_legal(position, ~position.mine & ALL, ALL, buffer, at)


@compiled(inline=False)
def write_noisy(position, buffer, at):
    """Write captures, and promotions to a queen."""
    return write_legal(position, position.theirs, LAST_ROW, buffer, at)


@compiled
def write_legal(position, squares, steps, buffer, at):
    """Write legal moves of pieces and captures of pawns to *squares*, and steps of pawns to
    *steps*.

    Unless *steps* are all squares, there is no castling and no promotion but to a queen.
    """
    occupied = position.mine | position.theirs
    king = lowest_index(position.kings & position.mine)
    giving = attackers(position, king, occupied)
    at = write_king(position, king, king_attacks(king) & squares, buffer, at)
    allowed = ALL
    if giving:
        if without_lowest(giving):
            return at  # in double check only the king can move
        allowed = giving | between(king, lowest_index(giving))
    elif steps == ALL:
        rooks = position.castling & position.mine
        if rooks:
            at = write_castling(position, king, rooks, occupied, buffer, at)
    if position.passant:
        at = write_passant(position, king, occupied, buffer, at)

    free = position.mine
    hidden = snipers(position, king) & ~giving
    while hidden:
        sniper = lowest_index(hidden)
        hidden = without_lowest(hidden)
        line = between(king, sniper)
        pinned = line & position.mine
        if pinned and without_lowest(pinned) == Bits(0):
            free ^= pinned
            line = (line | (Bits(1) << Bits(sniper))) & allowed
            at = write_pieces(position, pinned, occupied, squares & line, buffer, at)
            at = write_pawns(position, pinned, occupied, line, steps, buffer, at)
    at = write_pieces(position, free, occupied, squares & allowed, buffer, at)
    return write_pawns(position, free, occupied, allowed, steps, buffer, at)


@compiled
def write_targets(source, targets, kind, buffer, at):
    base = (kind << 12) | source
    while targets:
        buffer[at] = base | (lowest_index(targets) << 6)
        targets = without_lowest(targets)
        at += 1
    return at


@compiled
def write_king(position, king, targets, buffer, at):
    """Write the king's steps to squares that are not attacked once it has left its own."""
    without = position.mine ^ (Bits(1) << Bits(king)) | position.theirs
    while targets:
        target = lowest_index(targets)
        targets = without_lowest(targets)
        if attackers(position, target, without) == Bits(0):
            buffer[at] = (KING << 12) | (target << 6) | king
            at += 1
    return at


@compiled
def write_pieces(position, pieces, occupied, squares, buffer, at):
    """Write moves of some knights, bishops, rooks and queens to some squares."""
    some = position.knights & pieces
    while some:
        source = lowest_index(some)
        some = without_lowest(some)
        at = write_targets(source, knight_attacks(source) & squares, KNIGHT, buffer, at)
    some = position.bishops & pieces
    while some:
        source = lowest_index(some)
        some = without_lowest(some)
        at = write_targets(source, bishop_attacks(source, occupied) & squares, BISHOP, buffer, at)
    some = position.rooks & pieces
    while some:
        source = lowest_index(some)
        some = without_lowest(some)
        at = write_targets(source, rook_attacks(source, occupied) & squares, ROOK, buffer, at)
    some = position.queens & pieces
    while some:
        source = lowest_index(some)
        some = without_lowest(some)
        seen = bishop_attacks(source, occupied) | rook_attacks(source, occupied)
        at = write_targets(source, seen & squares, QUEEN, buffer, at)
    return at


@compiled
def write_pawns(position, pieces, occupied, allowed, steps, buffer, at):
    """Write moves of the pawns among some pieces to *allowed* squares; steps to *steps* only."""
    pawns = position.pawns & pieces
    prey = position.theirs & allowed
    at = write_advances((pawns & NOT_A) << Bits(7) & prey, 7, steps, buffer, at)
    at = write_advances((pawns & NOT_H) << Bits(9) & prey, 9, steps, buffer, at)
    one = pawns << Bits(8) & ~occupied
    two = (one & THIRD_ROW) << Bits(8) & ~occupied
    at = write_advances(one & allowed & steps, 8, steps, buffer, at)
    return write_targets_behind(two & allowed & steps, 16, buffer, at)


@compiled
def write_advances(targets, distance, steps, buffer, at):
    """Write moves of pawns from *distance* squares below; on the last row they are promoted."""
    at = write_targets_behind(targets & ~LAST_ROW, distance, buffer, at)
    targets &= LAST_ROW
    while targets:
        target = lowest_index(targets)
        targets = without_lowest(targets)
        base = (target << 6) | (target - distance)
        buffer[at] = (QUEENING << 12) | base
        at += 1
        if steps == ALL:
            for kind in range(PROMOTION, QUEENING):
                buffer[at] = (kind << 12) | base
                at += 1
    return at


@compiled
def write_targets_behind(targets, distance, buffer, at):
    while targets:
        target = lowest_index(targets)
        targets = without_lowest(targets)
        buffer[at] = (PAWN << 12) | (target << 6) | (target - distance)
        at += 1
    return at


@compiled
def write_passant(position, king, occupied, buffer, at):
    """Write captures en passant."""
    target = lowest_index(position.passant)
    pawns = sides(position.passant >> Bits(8)) & position.pawns & position.mine
    while pawns:
        source = lowest_index(pawns)
        pawns = without_lowest(pawns)
        if passant_is_safe(position, king, occupied, source, target):
            buffer[at] = (PASSANT << 12) | (target << 6) | source
            at += 1
    return at


@compiled
def passant_is_safe(position, king, occupied, source, target):
    """Return whether the mover's king is safe after a capture en passant."""
    taken = Bits(1) << Bits(target - 8)
    occupied = occupied ^ (Bits(1) << Bits(source)) ^ taken | Bits(1) << Bits(target)
    return attackers(position, king, occupied) & ~taken == Bits(0)


@compiled(inline=False)
def write_castling(position, king, rooks, occupied, buffer, at):
    """Write castling with some rooks; the king is not in check.

    King and rook go to the same squares wherever they begin.  No other piece stands on their paths,
    and neither the king's path is attacked, nor its target once the rook has left its square.
    """
    while rooks:
        rook = lowest_index(rooks)
        rooks = without_lowest(rooks)
        king_to, rook_to = castled(king, rook)
        both = Bits(1) << Bits(king) | Bits(1) << Bits(rook)
        ends = Bits(1) << Bits(king_to) | Bits(1) << Bits(rook_to)
        path = between(king, king_to) | between(rook, rook_to) | ends
        if path & occupied & ~both:
            continue
        moved = occupied & ~both | ends
        if attackers(position, king_to, moved):
            continue
        safe = True
        steps = between(king, king_to)
        while steps and safe:
            safe = attackers(position, lowest_index(steps), occupied) == Bits(0)
            steps = without_lowest(steps)
        if safe:
            buffer[at] = (CASTLING << 12) | (rook << 6) | king
            at += 1
    return at


@compiled
def castled(king, rook):
    """Return where king and rook stand after castling."""
    return (6, 5) if rook > king else (2, 3)
