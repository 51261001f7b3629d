"""The evaluation of chess, in hundredths of a pawn.

The sum of features times weights (``games/chess/weights.py``), for the mover minus the other
player.  Each feature is written once, for a player who goes up, and counted on the board and on the
turned board.  Every weight is a pair, for the middle game and for the end game, and the pieces that
are left (the *phase*) determine how much of each counts.  The sum of piece-square weights is a
field of the position, which ``play`` updates.

By default a search uses a network instead, which has learned from the pieces on their squares
(``games/chess/planes.py``): the weights shipped with the game.  It learned the evaluation of
Stockfish 15.1 (``games/chess/labels.py``).  Its scores count more the more pieces are left, and
less where the stronger player has no pawns.  Against a bare king, which its games do not reach,
material and how far that king is driven count instead.

The features are well known, from Fruit (F. Letouzey, 2005), the source also of weights for two
phases, and from Stockfish before its networks (up to version 11).  The weights are our own, from
``games/chess/tuning.py``.
"""

from __future__ import annotations

from cutnode.compiler.jit import compiled
from cutnode.contract.bits import Bits, lowest_index, popcount, without_lowest
from cutnode.contract.counting import NOWHERE
from cutnode.games.chess.boards import board_of, turned, turned_attacks
from cutnode.games.chess.kings import attack, shelter
from cutnode.games.chess.pawns import DISTANCE, passed_pawns, structure
from cutnode.games.chess.pieces import activity, threats
from cutnode.games.chess.squares import DARK
from cutnode.games.chess.weights import (
    SQUARES,
    add_count,
    end_of,
    half_of,
    middle_of,
    start_of,
    takes_note,
    weighed,
)

__all__ = [
    "FULL_SCALE",
    "PHASES",
    "SQUARES",
    "VALUES",
    "adjust",
    "between",
    "evaluate",
    "evaluate_material",
    "evaluate_squares",
    "phase_of",
    "scale_of",
    "standing",
    "worth_of",
]

VALUES = (100, 320, 330, 500, 950, 0)
"""The values of a pawn, a knight, a bishop, a rook and a queen, where only material counts."""

BARE = 500
"""The worth of leaving the opponent only the king."""

PHASES = 24
"""The phase with all pieces: one for each knight and bishop, two for a rook, four for a queen."""

FULL_SHARE = 256
END_SHARE, PHASE_SHARE = 222, 3
"""The share of a network's score that counts with pawns only, and the share that each unit of the
phase adds, in 256ths.  Stockfish 15.1 weighs its network's score by material in the same way."""

FULL_SCALE = 64
"""The factor of an advantage, in 64ths, where nothing reduces it."""

TEMPO = start_of("tempo")


@compiled(inline=False)
def evaluate(position):
    """Return an estimate for the mover, who is not in check: the sum of features times weights."""
    board = board_of(position)
    return finished(board, scaled(board, between(board, worth_of(position, NOWHERE, NOWHERE))))


@compiled
def adjust(position, score):
    """Return a network's score, weighed by the pieces that are left.

    It is reduced where pieces alone cannot win, and not used against a bare king.
    """
    board = board_of(position)
    score = score * (END_SHARE + PHASE_SHARE * phase_of(board)) // FULL_SHARE
    if board.pawns & (board.mine if score > 0 else board.theirs):
        return score
    if board.pawns == Bits(0) and (is_bare(board, board.mine) or is_bare(board, board.theirs)):
        worth = evaluate_material(position)
        score = worth + BARE if worth > 0 else worth - BARE
    return finished(board, score * scale_of(board, score > 0) // FULL_SCALE)


@compiled
def finished(board, score):
    """Return the score, plus how far a bare king is driven."""
    if is_bare(board, board.theirs):
        return score + driven(board, board.mine)
    if is_bare(board, board.mine):
        return score - driven(board, board.theirs)
    return score


@compiled
def is_bare(board, side):
    """Return whether a side has only the king."""
    return side & ~board.kings == Bits(0)


@compiled
def evaluate_squares(position):
    """Only what pieces are worth on their squares."""
    board = board_of(position)
    return scaled(board, between(board, position.placed))


@compiled
def evaluate_material(position):
    """Only what pieces are worth."""
    mine, theirs = position.mine, position.theirs
    pieces = (position.pawns, position.knights, position.bishops, position.rooks, position.queens)
    worth = 0
    for kind in range(5):
        worth += VALUES[kind] * (popcount(pieces[kind] & mine) - popcount(pieces[kind] & theirs))
    return worth


@compiled
def worth_of(position, trace, other):
    """Return the sum of features times weights, middle game and end game in one number.

    The mover's features are recorded in *trace* and the other player's in *other*.
    """
    board = board_of(position)
    opposite = turned(board)
    worth = position.placed + weighed(trace, TEMPO, 1)
    if takes_note(trace):
        standing(board, trace)
        standing(opposite, other)
    mine, danger, attacks = alone(board, trace)
    theirs, their_danger, their_attacks = alone(opposite, other)
    worth += mine - theirs
    worth += together(board, attacks, turned_attacks(their_attacks), danger, trace)
    return worth - together(opposite, their_attacks, turned_attacks(attacks), their_danger, other)


@compiled(inline=False)
def alone(board, trace):
    """Return terms without the opponent's attacks; the player's attacks, and their danger."""
    worth, danger, attacks = activity(board, trace)
    return worth + structure(board, trace) + shelter(board, trace), danger, attacks


@compiled(inline=False)
def together(board, attacks, other, danger, trace):
    """Return terms that depend on the attacks of both players."""
    worth = threats(board, attacks, other, trace) + passed_pawns(board, attacks, other, trace)
    return worth + attack(board, attacks, other, danger, trace)


@compiled
def standing(board, trace):
    """Return the worth of a player's pieces on their squares: his part of ``Position.placed``."""
    worth = 0
    kinds = (board.pawns, board.knights, board.bishops, board.rooks, board.queens, board.kings)
    for kind in range(6):
        some = kinds[kind] & board.mine
        while some:
            square = lowest_index(some)
            some = without_lowest(some)
            add_count(trace, 32 * kind + half_of(square), 1)
            worth += SQUARES[64 * kind + square]
    return worth


# From features to one number


@compiled
def between(board, worth):
    """Interpolate a sum of weights between middle game and end game; times ``PHASES``."""
    phase = phase_of(board)
    return phase * middle_of(worth) + (PHASES - phase) * end_of(worth)


@compiled
def scaled(board, score):
    """Divide a score by ``PHASES``, and reduce it where it is hard to win."""
    return score * scale_of(board, score > 0) // (PHASES * FULL_SCALE)


@compiled
def phase_of(board):
    phase = popcount(board.knights | board.bishops) + 2 * popcount(board.rooks)
    return min(phase + 4 * popcount(board.queens), PHASES)


@compiled
def pieces_of(board, side):
    """Return the worth of a side's pieces without its pawns, in pawns."""
    minors = popcount((board.knights | board.bishops) & side)
    return 3 * minors + 5 * popcount(board.rooks & side) + 9 * popcount(board.queens & side)


@compiled
def scale_of(board, mine):
    """Return the share of an advantage that counts, in 64ths, of the mover's or the opponent's.

    Few pawns are easily lost.  Without any, winning takes a rook more than the other has; with
    opposite-coloured bishops, blocked pawns stay blocked.
    """
    strong, weak = (board.mine, board.theirs) if mine else (board.theirs, board.mine)
    pawns = popcount(board.pawns & strong)
    if pawns == 0:
        more = pieces_of(board, strong) - pieces_of(board, weak)
        if more <= 3:
            return 0 if pieces_of(board, strong) <= 3 else 10
        if more == 6 and board.knights & strong == strong & ~board.kings:
            return 0
    scale = min(FULL_SCALE, 40 + 6 * pawns) if pawns else FULL_SCALE
    bishops = board.bishops
    own, other = bishops & board.mine, bishops & board.theirs
    if own and other and without_lowest(own) == Bits(0) and without_lowest(other) == Bits(0):
        if (own & DARK == Bits(0)) != (other & DARK == Bits(0)):
            alone = board.knights | board.rooks | board.queens
            return min(scale, 20 + 4 * pawns) if alone == Bits(0) else min(scale, 48)
    return scale


@compiled(inline=False)
def driven(board, strong):
    """Return how far a bare king is driven to where the *strong* player's pieces can mate it.

    Mate needs an edge; with bishop and knight, a corner of the bishop's colour.
    """
    if scale_of(board, strong == board.mine) == 0:
        return 0
    king, other = lowest_index(board.kings & strong), lowest_index(board.kings & ~strong)
    file, row = other & 7, other >> 3
    near = 7 - DISTANCE[64 * king + other]
    pieces = strong & ~board.kings
    if pieces == (board.bishops | board.knights) & strong and board.knights & strong:
        corner = abs(7 - file - row) if board.bishops & strong & DARK else abs(file - row)
        return 40 * corner + 10 * near
    edge = max(3 - file, file - 4) + max(3 - row, row - 4)
    return 20 * edge + 10 * near
