"""Move ordering: ranked moves, killers, countermoves, history.

The stack ``ranked`` holds moves as words that sort in the order of search.  A word consists of,
from the highest bits down: the score (plus 2**29, 30 bits); the child's number, counted down from
65535 (16 bits), so that among equal moves the one generated first comes first; the move (16 bits);
and whether the parent's mover is also to move in the child (1 bit).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cutnode.compiler.jit import compiled
from cutnode.contract.derived import knows_gains
from cutnode.contract.verbs import NO_MOVE, exchange, gain, pattern
from cutnode.kernels.parameters import (
    HISTORY_LIMIT,
    HISTORY_SIZE,
    PATTERNS,
)

FIRST = (1 << 29) - 1
"""The score of the move to search first."""


@compiled
def rank(score, move, again, number):
    """Return the word of a move (see the module's docstring)."""
    return (
        ((np.int64(score) + (1 << 29)) << 33)
        | ((0xFFFF - np.int64(number)) << 17)
        | (np.int64(move) << 1)
        | np.int64(again)
    )


@compiled
def ranked_move(ranked):
    return (ranked >> 1) & 0xFFFF


@compiled
def ranked_again(ranked):
    return ranked & 1 != 0


@compiled
def ranked_number(ranked):
    return 0xFFFF - ((ranked >> 17) & 0xFFFF)


@compiled
def ranked_score(ranked):
    return (ranked >> 33) - (1 << 29)


@compiled
def with_score(ranked, score):
    """Return the word of the same move with another score."""
    return (ranked & ((1 << 33) - 1)) | ((np.int64(score) + (1 << 29)) << 33)


@compiled
def defer(ranked, place):
    """Return the word of the same move behind all others, to search it last (ABDADA).

    It holds the move's *place* in the order instead of its score.
    """
    return (ranked & ((1 << 33) - 1)) | ((0xFFFF - place) << 33)


@compiled
def is_deferred(ranked):
    return ranked >> 33 <= 0xFFFF


@compiled
def deferred_place(ranked):
    return 0xFFFF - (ranked >> 33)


@compiled
def sort_down(ranked, start, end):
    """Sort ``ranked[start:end]`` so that the highest come first."""
    # The solver looks at all moves anyway, and they are few: insertion sort is fastest.
    for i in range(start + 1, end):
        item = ranked[i]
        j = i
        while j > start and ranked[j - 1] < item:
            ranked[j] = ranked[j - 1]
            j -= 1
        ranked[j] = item


@compiled
def bring_best(ranked, at, end):
    """Swap the highest word of ``ranked[at:end]`` to the front, and return it.

    It is cheaper than sorting where a cutoff comes early.
    """
    # Sorting would also order the moves that a cutoff leaves out.
    best, item = at, ranked[at]
    for other in range(at + 1, end):
        # Select instead of branching: which word is highest cannot be predicted.
        higher = ranked[other] > item
        best = other if higher else best
        item = ranked[other] if higher else item
    ranked[best] = ranked[at]
    ranked[at] = item
    return item


class Refutations(NamedTuple):
    """Moves that refuted similar nodes before; ``NO_MOVE`` where there is none."""

    killer: int
    second_killer: int
    countermove: int


@compiled
def refutations(search, previous, mover, ply):
    """Return the killers and the countermove of a node: they are the same for all its moves."""
    countermove = np.int64(NO_MOVE)
    if previous != NO_MOVE:
        countermove = np.int64(search.countermoves[mover * HISTORY_SIZE + previous % HISTORY_SIZE])
    return Refutations(search.killers[2 * ply], search.killers[2 * ply + 1], countermove)


@compiled
def learned_score(search, refuting, move, index, mover, ply):
    """Return the score of a move by what the search has learned: killers, countermoves, history."""
    # A technique that is off has learned nothing.  Moves whose numbers are equal modulo the size
    # of the history share an entry: that is rare, and affects only the order.
    score = np.int64(search.history[mover * HISTORY_SIZE + move % HISTORY_SIZE])
    if search.use_continuation_history:
        score += continuation_score(search, index, ply)
    # Bonuses are on the scale of history, for games differ in what these moves are worth.  Killers
    # come before countermoves: a sibling's refutation is closer than the same reply elsewhere.
    if move == refuting.killer:
        score += 2 * search.killers_bonus
    elif move == refuting.second_killer:
        score += search.killers_bonus
    if move == refuting.countermove:
        score += search.countermoves_bonus
    return score


@compiled
def pattern_of(position, move):
    """Return the pattern of a move as an index, within bounds whatever the game returns."""
    return np.int64(pattern(position, move)) & (PATTERNS - 1)


@compiled
def continuation_score(search, index, ply):
    """Return the continuation history of a pattern after the last move and the one before it."""
    return np.int64(
        search.continuation_history[PATTERNS * search.patterns[ply + 1] + index]
    ) + np.int64(search.continuation_history[PATTERNS * search.patterns[ply] + index])


@compiled
def see_ge(position, move, least):
    """Return whether a move wins at least *least* by static exchange evaluation."""
    return exchange(position, move, least)


@compiled
def remember_cutoff(position, search, first, at, previous, mover, ply, depth):
    """Learn from a cutoff by ``ranked[at]``, before which the moves from *first* on did not cut.

    Noisy moves are ordered by what they win, so only quiet moves become killers and countermoves.
    """
    move = ranked_move(search.ranked[at])
    quiet = not knows_gains(position) or gain(position, move) <= 0
    if search.use_killers and move != search.killers[2 * ply] and quiet:
        search.killers[2 * ply + 1] = search.killers[2 * ply]
        search.killers[2 * ply] = move
    if search.use_countermoves and previous != NO_MOVE and quiet:
        search.countermoves[mover * HISTORY_SIZE + previous % HISTORY_SIZE] = move
    # Cutoffs at greater depth save more.
    weight = depth * depth
    if search.use_history:
        learn_move(search, mover * HISTORY_SIZE + move % HISTORY_SIZE, weight, 1)
        # Moves tried before that did not cut get a malus: with bonuses alone all would rise.
        for earlier in range(first, at):
            tried = ranked_move(search.ranked[earlier])
            learn_move(search, mover * HISTORY_SIZE + tried % HISTORY_SIZE, weight, -1)
    if search.use_continuation_history and quiet:
        bonus = min(search.history_bonus * weight, search.history_most)
        learn_pattern(position, search, move, ply, bonus)
        for earlier in range(first, at):
            learn_pattern(position, search, ranked_move(search.ranked[earlier]), ply, -bonus)


@compiled
def learn_move(search, index, weight, sign):
    """Adjust the history of a move, up or down: the more is known of it, the less.

    The history is thus the rate at which the move cut when it was tried (M. Winands et al., "The
    relative history heuristic", 2006), except that old results fade.
    """
    search.history_weight[index] += weight
    known = search.history_prior + search.history_weight[index]
    rate = max(HISTORY_LIMIT // known, search.history_bonus)
    learn(search.history, index, sign * min(rate * weight, search.history_most))


@compiled
def learn_pattern(position, search, move, ply, bonus):
    """Adjust the continuation history of a move's pattern by *bonus*."""
    index = pattern_of(position, move)
    learn(search.continuation_history, PATTERNS * search.patterns[ply + 1] + index, bonus)
    learn(search.continuation_history, PATTERNS * search.patterns[ply] + index, bonus)


@compiled
def learn(scores, index, bonus):
    """Adjust a score by *bonus*, the less the nearer it is to the limit (gravity)."""
    # The pull towards zero grows with the score, so the score stays within the limit, and old
    # knowledge fades.
    score = np.int64(scores[index])
    scores[index] = score + bonus - score * abs(bonus) // HISTORY_LIMIT
