"""Quiescence search: at the horizon, play noisy moves until the position is quiet.

``cutnode.kernels.search`` calls :func:`quiet_search`, whose score has the same contract.

In some games a noisy move leads to many more.  A search therefore counts the nodes of its
quiescence searches, and halves their plies each time the average exceeds ``quiescence.nodes``.

Source: L. Harris, "The heuristic search and the game of chess: a study of quiescence,
sacrifices, and plan oriented play" (1975).
"""

from __future__ import annotations

import numpy as np

from cutnode.compiler.jit import Evaluator, Position, Words, compiled, kernel
from cutnode.contract.bits import Bits
from cutnode.contract.derived import knows_gains, most_moves
from cutnode.contract.stop import MOVES, RUNNING
from cutnode.contract.verbs import (
    INFINITE,
    NO_MOVE,
    check,
    drawn,
    gain,
    moves,
    moves_again,
    noisy,
    order,
    outcome,
    play,
)
from cutnode.kernels.evaluation import estimate_at
from cutnode.kernels.node import (
    SearchMemory,
    address,
    bounds_of,
    estimate_by,
    look_up,
    must_stop,
    settles,
    stored_bounds,
    tt_move_of,
)
from cutnode.kernels.ordering import FIRST, bring_best, rank, ranked_move, see_ge
from cutnode.kernels.outside import outside_store
from cutnode.kernels.reference import report_violation
from cutnode.kernels.scores import final_score, limited
from cutnode.kernels.table import Entry, entry_cutoff, prepare
from cutnode.kernels.tablebase_scores import tablebase_score

__all__ = ["begin_quiet_counts", "quiet_search"]


LONGEST = 16
"""Plies of a quiescence search after the first shortening; each further one halves them."""

MOST_HALVINGS = (2 * LONGEST).bit_length()
"""The number of shortenings after which no plies are left."""

GRACE = 64
"""Nodes by which all quiescence searches together may exceed the allowed average."""


@compiled
def begin_quiet_counts(search):
    """Lift all limits on quiescence searches, and count their nodes from now on."""
    search.quiet_shortened = search.quiet_searches = 0
    search.quiet_spent = search.quiet_nodes


@compiled
def shorten_if_costly(search):
    """Shorten quiescence searches if they take too many nodes.

    Where noisy moves lead to ever more of them, leaves would use up the nodes that depth needs.
    """
    spent = search.quiet_nodes - search.quiet_spent
    if spent > search.quiescence_nodes * search.quiet_searches + GRACE:
        search.quiet_last -= quiet_plies(search)
        search.quiet_shortened += 1
        search.quiet_last += quiet_plies(search)
        search.quiet_searches, search.quiet_spent = 1, search.quiet_nodes


@compiled
def quiet_plies(search):
    """Return the most plies of a quiescence search."""
    if search.quiet_shortened == 0:
        return search.plies
    # Searches under way may count further shortenings after no plies are left: hence the minimum.
    return np.int64(2 * LONGEST) >> min(search.quiet_shortened, MOST_HALVINGS)


@compiled
def quiet_search(position, evaluation, word, alpha, beta, ply, top, search, table):
    """Return the score of a position by quiescence search."""
    search.quiet_searches += 1
    search.quiet_last = ply + quiet_plies(search)
    return quiet_node(position, evaluation, word, alpha, beta, ply, top, search, table)


@compiled
def rank_noisy_moves(position, tt_move, top, end, search):
    """Rank the moves on the stack: the hash move, then the ones that win most."""
    for at in range(top, end):
        move = search.moves[at]
        score = search.order_gain_weight * gain(position, move)
        # The game's own order, if it defines one, weighs more than a point of gain.
        if search.use_order:
            score += search.order_weight * order(position, move, play(position, move))
        search.ranked[at] = rank(FIRST if move == tt_move else score, move, False, at - top)


@kernel
def quiet_node(
    position: Position,
    evaluation: Evaluator,
    word: Bits,
    alpha: int,
    beta: int,
    ply: int,
    top: int,
    search: SearchMemory,
    table: Words,
) -> int:
    """Return the score if only noisy moves are played, and either player may stand pat.

    A player in check may not stand pat, and has all his moves.
    """
    # Step 1. Count the node, and check whether the line ends here.
    # Quiescence can go far beyond the horizon: every node checks for a stop, and all count.
    began = search.nodes
    search.nodes += 1
    search.quiet_nodes += 1
    search.deepest = max(search.deepest, ply)
    search.length[ply] = 0
    if must_stop(search):
        return alpha
    shorten_if_costly(search)
    over, value = outcome(position)
    if over:
        search.leaves += 1
        return final_score(value, ply, search.win, search.step)
    if ply > 0 and drawn(position):
        search.leaves += 1
        return 0
    known, value = tablebase_score(position, ply, search)
    if known:
        search.leaves += 1
        return value

    # Step 2. Look the position up, but only in games with gains: in others a quiescence search
    # ends after a few nodes, and a probe does not pay.
    tt_move, data = NO_MOVE, Bits(0)
    use_table = search.use_table and knows_gains(position)
    if use_table:
        data = look_up(table, word, search)
        if data != Bits(0):
            lower, upper = bounds_of(data, ply, search)
            decided, value = entry_cutoff(lower, upper, alpha, beta)
            if decided:
                search.table_cutoffs += 1
                search.estimates += not settles(position, data, search)
                return value
            tt_move = tt_move_of(position, data, search)

    # Step 3. Stand pat: the mover need not play a noisy move, unless in check.
    in_check = check(position)
    stand_pat, best = -INFINITE, -INFINITE
    # Where a line gets too long, the estimate has to do, even in check.
    too_long = ply >= min(search.plies, search.quiet_last)
    if not in_check or too_long:
        search.estimates += 1
        stand_pat = limited(estimate_at(evaluation, position, ply, search), search.win)
        best = estimate_by(data, stand_pat, position, ply, search)
        if best >= beta or too_long:
            search.leaves += 1
            return best

    # Step 4. Make the moves, and rank them.
    end = moves(position, search.moves, top) if in_check else noisy(position, search.moves, top)
    if end - top > most_moves(position):
        report_violation(position, MOVES, search)
        return alpha
    # Without a noisy move the position is quiet, and its estimate stands.
    if end == top:
        search.leaves += 1
        return best
    rank_noisy_moves(position, tt_move, top, end, search)

    # Step 5. Search the children, the most promising first.
    old_alpha, alpha, best_move = alpha, max(alpha, best), NO_MOVE
    for at in range(top, end):
        move = ranked_move(bring_best(search.ranked, at, end))
        if knows_gains(position) and not in_check:
            # Delta pruning: skip moves that win too little to raise alpha.  Also skip moves that
            # lose material by static exchange evaluation.
            value = stand_pat + gain(position, move) + search.quiescence_delta
            if value <= alpha:
                best = max(best, value)
                continue
            if not see_ge(position, move, 0):
                continue
        child = play(position, move)
        # Free moves are not counted here, as every line ends soon.
        child_word = Bits(0)
        if use_table:
            child_word = address(child, np.int64(0), search)
            prepare(table, child_word)
        again = moves_again(position, child)
        value = quiet_node(
            child,
            evaluation,
            child_word,
            alpha if again else -beta,
            beta if again else -alpha,
            ply + 1,
            end,
            search,
            table,
        )
        value = value if again else -value
        if search.stop != RUNNING:
            return old_alpha
        if value > best:
            best = value
            if value > alpha:
                alpha, best_move = value, move
                if value >= beta:
                    break

    # Step 6. Store the score at depth 0.
    if use_table:
        lower, upper = stored_bounds(best, old_alpha, beta, ply, search)
        nothing = np.int64(0)
        search.stores += 1
        entry = Entry(word, lower, upper, best_move, nothing, False, search.nodes - began)
        search.overwrites += outside_store(table, entry, search)
    return best
