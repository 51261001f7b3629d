"""The depth-limited search for games of chance: expectiminimax, in one node function.

:func:`chance_node` is that function, in numbered steps, for decision nodes (alpha-beta) and for
chance nodes (the expectation, with Star1 and Star2).  Python calls :func:`chance_root`, once for
each depth.  Its contract is the contract of ``cutnode.kernels.search``, and so is its memory;
scores are float64.  A move costs a ply of depth, a chance event none.

Star1.  All scores lie between plus and minus ``search.most``.  The outcomes not searched yet
therefore bound the expectation from both sides, and so give the next outcome a window: the scores
at which it matters.  A score outside this window decides the event.

Star2.  Before that, try one move of each outcome.  The mover gets at least the score of that move,
which tightens the outcome's bound on that side from ``search.most``.

A score decides an event if it lies outside the window that follows from alpha and beta.  The
window that is searched is clipped to the range of scores, and does not count: a score at the end
of the range is exact.

Sources: B. Ballard, "The *-minimax search procedure for trees containing chance nodes"
(1983); T. Hauk, "Search in trees with chance nodes" (2004).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cutnode.compiler.jit import Evaluator, Position, Words, compiled, kernel
from cutnode.contract.bits import Bits, mix
from cutnode.contract.derived import recurs, same_after_chance, side
from cutnode.contract.dispatch import MAX_VALUE
from cutnode.contract.stop import PLIES, PROBABILITIES, RUNNING, VALUE
from cutnode.contract.verbs import INFINITE, NO_MOVE, chance, chance_outcome, outcome
from cutnode.kernels.chance_table import begin, open_whole, probe, store
from cutnode.kernels.evaluation import estimate
from cutnode.kernels.node import (
    PREPARE_TABLE,
    SearchMemory,
    address,
    begin_node,
    canonical_best,
    child_of,
    count_cutoff,
    count_kind,
    end_of_line,
    extend_line,
    is_excluded_at_root,
    leaf_score,
    make_moves,
    settle_estimates,
    suits,
    tt_move_of,
)
from cutnode.kernels.ordering import bring_best, ranked_move, remember_cutoff
from cutnode.kernels.parameters import LISTED_OUTCOMES, PARITY
from cutnode.kernels.reference import after_move, report_violation
from cutnode.kernels.table import depth_of, entry_cutoff, is_proven, move_of

ALL_MOVES = 1 << 30
"""More moves than any position has."""

RESOLUTION = 1e-12
"""Least width of a window, as a part of the range of scores: floats can tell its ends apart."""


class ChanceNode(NamedTuple):
    """The coordinates of a node in a game of chance; the fields of :class:`Node`, and two more."""

    alpha: float
    beta: float
    depth: int
    ply: int
    steps: int
    actions: int
    top: int
    previous: int
    mover: int
    """0 or 1: the player to move; at a chance node, the player who moved last."""
    tries: int
    """The most moves to search, the most promising first.  If there are more, a score above alpha
    is a lower bound, and one below says nothing."""


@compiled
def chance_address(position, actions, depth, ply, search):
    """Return the scattered key under which a position is kept; it may include depth and ply.

    An exact search has no use for scores of other depths, so each depth has an entry of its own.
    Where sooner wins score higher, a mean of wins and losses is of no use at another ply.
    """
    word = address(position, actions, search)
    # A selective search uses deeper scores as well, so there the key leaves the depth out.
    kept = Bits(depth) if search.exact else Bits(0)
    if search.win != 0 and search.step != 0:
        kept = Bits(kept | Bits(ply) << Bits(8))
    return word if kept == Bits(0) else mix(word ^ kept)


@compiled(inline=False)
def check_value(position, evaluation, search):
    """Report a position whose value or estimate exceeds the game's limit."""
    over, value = outcome(position)
    number = float(value) if over else float(estimate(evaluation, position))
    limit = search.value_limit if over or search.win == 0 else float(MAX_VALUE)
    if not abs(number) <= limit:
        report_violation(position, VALUE, search)


@compiled(inline=False)
def check_probabilities(position, search):
    """Report a position whose outcomes' probabilities do not sum to one."""
    total = 0.0
    for index in range(chance(position)):
        probability, _ = chance_outcome(position, index)
        if not 0 <= probability <= 1:
            total += 2.0
        total += probability
    if not abs(total - 1) <= 1e-9:
        report_violation(position, PROBABILITIES, search)


@compiled
def list_outcomes(position, row, search):
    """List the outcomes of a chance event from *row* on, the likeliest first."""
    # Insertion sort: outcomes are few, and often in order.
    for index in range(chance(position)):
        probability, _ = chance_outcome(position, index)
        at = row + index
        while at > row and search.odds[at - 1] < probability:
            search.odds[at] = search.odds[at - 1]
            search.likeliest[at] = search.likeliest[at - 1]
            at -= 1
        search.odds[at] = probability
        search.likeliest[at] = index


@compiled
def end_score(position, evaluation, ply, steps, search):
    """Return the score of a leaf; in debug mode, check the game's contract there."""
    score = float(leaf_score(position, evaluation, ply, steps, search))
    if search.debug:
        check_value(position, evaluation, search)
        if ply >= search.plies and not outcome(position)[0]:
            report_violation(position, PLIES, search)
    return score


@compiled
def next_address(child, actions, depth, ply, search):
    """Return the address of a child in the table; 0 if the child will not use it."""
    if search.use_table != 0 and depth >= search.table_depth:
        return chance_address(child, actions, depth, ply, search)
    return Bits(0)


@compiled
def look_up_chance(position, word, depth, ply, actions, search, table):
    """Return the entry of a position; an exact search may find one from an earlier iteration."""
    search.probes += 1
    entry = probe(table, word)
    if entry.data == Bits(0) and search.exact and depth > PARITY:
        # The last iteration may have proven the score, or found a best move.
        entry = probe(table, chance_address(position, actions, depth - PARITY, ply, search))
    search.hits += entry.data != Bits(0)
    return entry


@compiled
def total_probability(position):
    """Return the sum of the probabilities of all outcomes: 1, up to rounding."""
    total = 0.0
    for index in range(chance(position)):
        total += chance_outcome(position, index)[0]
    return total


@compiled
def window_for(bottom, ceiling, search):
    """Return the window in which an outcome's score matters, clipped to the range of scores."""
    # In an empty window every score would be a cutoff.
    most = search.most
    low = min(max(bottom, -most), most - most * RESOLUTION)
    return low, max(min(ceiling, most), low + most * RESOLUTION)


@compiled
def child_node(low, high, again, depth, ply, steps, actions, top, previous, mover, tries):
    """Return the node of a child; window and mover switch if the other player moves there."""
    alpha, beta = (low, high) if again else (-high, -low)
    mover = mover if again else 1 - mover
    steps, tries = np.int64(steps), np.int64(tries)
    return ChanceNode(
        alpha, beta, depth, ply + 1, steps, actions, top, previous, mover, tries
    )  # fmt: skip


@kernel
def chance_node(
    position: Position,
    evaluation: Evaluator,
    word: Bits,
    node: ChanceNode,
    search: SearchMemory,
    table: Words,
) -> float:
    """Return the score of a position within a window (see the module's docstring).

    *word* is the position's address in the table.
    """
    alpha, beta, depth, ply, steps, actions, top, previous, mover, tries = node

    # Step 1. At the horizon, estimate.
    if ply >= search.plies or depth <= 0:
        return end_score(position, evaluation, ply, steps, search)

    # Step 2. Count the node, and check whether the line ends here.
    if begin_node(ply, search):
        return alpha
    over, final = end_of_line(position, ply, steps, search)
    if over:
        if search.debug and outcome(position)[0]:
            check_value(position, evaluation, search)
        return float(final)

    # Step 3. Look the position up, unless a repetition may have influenced its score.
    estimates, repetitions = search.estimates, search.repetitions
    use_table = search.use_table != 0 and depth >= search.table_depth
    use_table = use_table and not (recurs(position) and search.exact and steps > 0)
    tt_move = NO_MOVE
    if use_table:
        entry = look_up_chance(position, word, depth, ply, actions, search, table)
        if entry.data != Bits(0):
            if ply > 0 and suits(entry.data, depth, search.exact):
                decided, score = entry_cutoff(entry.lower, entry.upper, alpha, beta)
                if decided:
                    search.table_cutoffs += 1
                    search.estimates += not is_proven(entry.data)
                    # Proven by an earlier iteration: keep it under this depth as well.
                    if search.exact and depth_of(entry.data) < depth:
                        move = move_of(entry.data)
                        store(table, word, entry.lower, entry.upper, move, depth, True)
                    return score
            tt_move = tt_move_of(position, entry.data, search)

    old_alpha = alpha
    best, best_move = -float(INFINITE), NO_MOVE
    partial, proven = False, True
    if chance(position) > 0:
        # Step 4. At a chance node, bound the expectation: *lowest* and *highest*.
        search.chance_nodes += 1
        if search.debug:
            check_probabilities(position, search)
            if search.stop != RUNNING:
                return alpha
        count = chance(position)
        most = search.most
        row = ply * LISTED_OUTCOMES
        listed = search.use_star1 != 0 and depth >= search.star1_depth and count <= LISTED_OUTCOMES
        if listed:
            list_outcomes(position, row, search)
        total = total_probability(position)
        lowest, highest = -most * total, most * total
        decided = False
        bounds_proven = True

        # Step 5. Star2: try a move of each outcome.
        probing = search.use_star2 != 0 and listed and (alpha > -most or beta < most)
        if probing:
            for index in range(count):
                search.lowest[row + index] = -most
                search.highest[row + index] = most
            for number in range(count):
                which = search.likeliest[row + number]
                probability, child = chance_outcome(position, which)
                again = same_after_chance(position, child)
                # The probe can prove a bound only if that side of the window is within the range.
                useless = beta >= most if again else alpha <= -most
                if useless or probability <= 0 or chance(child) > 0:
                    continue
                bottom = (alpha - highest) / probability + most
                ceiling = (beta - lowest) / probability - most
                low, high = window_for(bottom, ceiling, search)
                before = search.estimates
                search.star2_probes += 1
                score = chance_node(
                    child,
                    evaluation,
                    next_address(child, actions, depth, ply + 1, search),
                    child_node(low, high, again, depth, ply, 0, actions, top, previous, mover, 1),
                    search,
                    table,
                )
                if search.stop != RUNNING:
                    return alpha
                score = score if again else -score
                # A score inside or above the window bounds the outcome from below ...
                if again and score > low:
                    bounds_proven &= search.estimates == before
                    search.lowest[row + which] = score
                    lowest += probability * (score + most)
                    if score >= ceiling:
                        best, decided = max(lowest, beta), True
                        break
                # ... and, if the opponent moves there, one inside or below bounds it from above.
                if not again and score < high:
                    bounds_proven &= search.estimates == before
                    search.highest[row + which] = score
                    highest -= probability * (most - score)
                    if score <= bottom:
                        best, decided = min(highest, alpha), True
                        break
            search.star2_cutoffs += decided

        # Step 6. Star1: search the outcomes, each in the window in which its score matters.
        expectation = 0.0
        for number in range(0 if decided else count):
            which = int(search.likeliest[row + number]) if listed else number
            probability, child = chance_outcome(position, which)
            if probability <= 0:
                continue
            again = same_after_chance(position, child)
            low, high = -float(INFINITE), float(INFINITE)
            bottom, ceiling = low, high
            # Take this outcome's bounds out of the sums; what is left bounds all others.
            if search.use_star1:
                lowest -= probability * (search.lowest[row + which] if probing else -most)
                highest -= probability * (search.highest[row + which] if probing else most)
                bottom = (alpha - expectation - highest) / probability
                ceiling = (beta - expectation - lowest) / probability
                low, high = window_for(bottom, ceiling, search)
            before = search.estimates
            score = chance_node(
                child,
                evaluation,
                next_address(child, actions, depth, ply + 1, search),
                child_node(
                    low, high, again, depth, ply, 0, actions, top, previous, mover, ALL_MOVES
                ),
                search,
                table,
            )
            if search.stop != RUNNING:
                return alpha
            proven &= search.estimates == before
            score = score if again else -score
            expectation += probability * score
            if search.use_star1 and (score <= bottom or score >= ceiling):
                if score <= bottom:
                    best = min(expectation + highest, alpha)
                else:
                    best = max(expectation + lowest, beta)
                decided = True
                search.star1_cutoffs += number + 1 < count
                break
        # A cutoff also rests on the bounds of outcomes that were not searched.
        if decided:
            proven &= bounds_proven
        else:
            best = expectation
    else:
        # Step 7. Make the moves, and rank them.
        keep_children = search.use_order != 0 and depth >= search.order_depth
        end = make_moves(position, tt_move, previous, mover, ply, top, keep_children, search)
        if end == top:
            return alpha
        # A Star2 probe looks only at the first moves.
        partial = tries < end - top
        last = top + tries if partial else end

        # Step 8. Search the children, the most promising first.
        searched = 0
        best_proven = True
        for at in range(top, last):
            ranked = bring_best(search.ranked, at, end)
            move = ranked_move(ranked)
            if ply == 0 and is_excluded_at_root(search, move):
                continue
            child, again = child_of(position, move, ranked, top, keep_children, search)
            child_steps, child_actions, is_free = after_move(
                position, move, child, steps, actions, search
            )
            new_depth = depth if is_free else depth - 1
            before = search.estimates
            if new_depth <= 0:
                score = end_score(child, evaluation, ply + 1, child_steps, search)
            else:
                score = chance_node(
                    child,
                    evaluation,
                    next_address(child, child_actions, new_depth, ply + 1, search),
                    child_node(
                        alpha,
                        beta,
                        again,
                        new_depth,
                        ply,
                        child_steps,
                        child_actions,
                        end,
                        move,
                        mover,
                        ALL_MOVES,
                    ),
                    search,
                    table,
                )
            if search.stop != RUNNING:
                return old_alpha
            score = score if again else -score
            searched += 1
            proven &= search.estimates == before
            if score > best:
                best, best_proven = score, search.estimates == before
                if score > alpha:
                    best_move = move
                    extend_line(search, ply, move)
                    if score >= beta:
                        count_cutoff(search, move, tt_move, ply, searched, end - at - 1)
                        remember_cutoff(position, search, top, at, previous, mover, ply, depth)
                        break
                    alpha = score
        if best >= beta:
            proven = best_proven

    # Step 9. Record whether the score is proven, and store it.
    count_kind(search, best, old_alpha, beta)
    settle_estimates(proven, estimates, search)
    complete = ply > 0 or search.root_excluded == 0
    if use_table and complete and (steps == 0 or repetitions == search.repetitions):
        # With moves left untried, the score is no upper bound.
        lower = best if best > old_alpha else -float(INFINITE)
        upper = best if best < beta and not partial else float(INFINITE)
        if lower > -INFINITE or upper < INFINITE:
            best_move = canonical_best(position, best_move, search)
            search.stores += 1
            search.overwrites += store(table, word, lower, upper, best_move, depth, proven)
    return best


@kernel
def chance_root(
    position: Position,
    evaluation: Evaluator,
    alpha: float,
    beta: float,
    depth: int,
    first: int,
    search: SearchMemory,
    table: Words,
) -> float:
    """Search a position once; see ``search_root``."""
    if first == PREPARE_TABLE:
        open_whole(table)
        return 0.0
    if first and search.use_table:
        begin(table, False)
    nothing = np.int64(0)
    root = ChanceNode(
        alpha,
        beta,
        depth,
        nothing,
        np.int64(search.before),
        nothing,
        nothing,
        np.int64(NO_MOVE),
        np.int64(side(position, nothing)),
        np.int64(ALL_MOVES),
    )
    word = chance_address(position, nothing, depth, nothing, search)
    return chance_node(position, evaluation, word, root, search, table)
