"""The search of limited depth for games of chance: expectiminimax, one node function.

:func:`chance_node` is that function, in numbered steps, for positions where a player
decides (alpha-beta) and for those where chance does (the expectation, with Star1 and
Star2).  :func:`chance_root` is what Python calls, once for each depth.  It promises what
``engine.kernels.search`` does, and uses the same memory; scores are float64.  A move costs a ply
of depth, a chance event none.

Star1.  All scores lie between plus and minus ``search.most``, so outcomes not searched yet
bound the expectation from both sides, and with it what the next outcome has to score to
matter: its window.  A score outside of it decides the event.

Star2.  Before that, one move of each outcome is tried.  The mover gets at least its score,
so the bound of an outcome on his side is better than ``search.most``.

Whether a score decides an event is asked of the window as it follows from alpha and beta,
not of the one that was searched, which is cut to the range of scores: a score at the end
of the range is exact.

Sources: B. Ballard, "The *-minimax search procedure for trees containing chance nodes"
(1983); T. Hauk, "Search in trees with chance nodes" (2004).
"""

from __future__ import annotations

import numpy as np
from numba import types

from engine.compiler.jit import compiled
from engine.contract.bits import Bits, mix
from engine.contract.derived import is_free_move, most_moves, recurs, same_after_chance, side
from engine.contract.dispatch import MAX_VALUE
from engine.contract.positions import unpack, width
from engine.contract.stop import MOVES, PLIES, PROBABILITIES, RUNNING, VALUE
from engine.contract.verbs import (
    INFINITE,
    NO_MOVE,
    canonical,
    canonical_move,
    chance,
    chance_outcome,
    moves,
    moves_again,
    original_move,
    outcome,
    play,
    reversible,
)
from engine.kernels.chance_table import begin, open_whole, probe, store
from engine.kernels.evaluation import estimate
from engine.kernels.node import (
    PREPARE_TABLE,
    TABLE,
    address,
    count_cutoff,
    count_kind,
    extend_line,
    is_excluded,
    leaf_score,
    must_stop,
    rank_moves,
    search_type,
    suits,
)
from engine.kernels.ordering import (
    bring_best,
    ranked_again,
    ranked_move,
    ranked_number,
    remember_cutoff,
)
from engine.kernels.parameters import LISTED_OUTCOMES, PARITY, STAR_DEPTH, TABLE_DEPTH
from engine.kernels.reference import is_draw, report_violation
from engine.kernels.scores import final_score
from engine.kernels.table import depth_of, is_proven, move_of

__all__ = ["chance_address", "chance_root"]

ALL_MOVES = 1 << 30
"""More than a position has."""

RESOLUTION = 1e-12
"""No window is narrower than this part of the range of scores: floats tell its ends apart."""


@compiled
def chance_address(position, actions, depth, ply, search):
    """The scattered key under which a position is kept; also of the depth, and of the ply.

    An exact search has no use for scores of other depths, so each depth is kept for itself.
    Where sooner wins score higher, a mean of wins and losses is of no use at another ply.
    """
    word = address(position, actions, search)
    kept = Bits(depth) if search.exact else Bits(0)
    if search.win != 0 and search.step != 0:
        kept = Bits(kept | Bits(ply) << Bits(8))
    return word if kept == Bits(0) else mix(word ^ kept)


@compiled(inline=False)
def check_value(position, evaluation, search):
    """Whether the value or the estimate of a position is as small as the game says."""
    over, value = outcome(position)
    number = float(value) if over else float(estimate(evaluation, position))
    limit = search.value_limit if over or search.win == 0 else float(MAX_VALUE)
    if not abs(number) <= limit:
        report_violation(position, VALUE, search)


@compiled(inline=False)
def check_probabilities(position, search):
    """Whether the probabilities of outcomes are some, and sum to one."""
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
    """The score of a position from which the search does not go on."""
    score = float(leaf_score(position, evaluation, ply, steps, search))
    if search.debug:
        check_value(position, evaluation, search)
        if ply >= search.plies and not outcome(position)[0]:
            report_violation(position, PLIES, search)
    return score


@compiled(
    signature=lambda position, evaluation: types.float64(
        position,
        evaluation,
        types.uint64,
        types.float64,
        types.float64,
        types.int64,
        types.int64,
        types.int64,
        types.int64,
        types.int64,
        types.int64,
        types.int64,
        types.int64,
        search_type(position),
        TABLE,
    )
)
def chance_node(
    position,
    evaluation,
    word,
    alpha,
    beta,
    depth,
    ply,
    steps,
    actions,
    top,
    previous,
    mover,
    tries,
    search,
    table,
):
    """The score of a position within a window, *depth* plies deep (see the module's text).

    *word* is its address in the table; *steps* reversible moves led here and *actions*
    costless ones, the last was *previous* (``NO_MOVE``: none); *mover* is 0 or 1; the stacks
    are free from *top* on.  Of a decision only the *tries* most promising moves are
    searched: with fewer than there are, a score above alpha is a lower bound and one below
    says nothing.
    """
    # 0. Where the depth ends, estimate.
    if ply >= search.plies or depth <= 0:
        return end_score(position, evaluation, ply, steps, search)

    # 1. Count the node, and stop if told to.
    search.nodes += 1
    search.length[ply] = 0
    if search.stop != RUNNING or search.nodes > search.node_limit:
        if must_stop(search):
            return alpha

    # 2. See whether the line ends here.
    over, final = outcome(position)
    if over:
        search.leaves += 1
        search.deepest = max(search.deepest, ply)
        if search.debug:
            check_value(position, evaluation, search)
        return float(final_score(final, ply, search.win, search.step))
    if is_draw(position, ply, steps, search):
        search.leaves += 1
        search.deepest = max(search.deepest, ply)
        search.repetitions += 1
        return 0.0

    # 3. Look the position up.  What a repetition may have touched is not for the table.
    estimates, repetitions = search.estimates, search.repetitions
    remember = search.use_table != 0 and depth >= TABLE_DEPTH
    remember = remember and not (recurs(position) and search.exact and steps > 0)
    known, symmetry = NO_MOVE, 0
    if remember:
        search.probes += 1
        entry = probe(table, word)
        if entry.data == Bits(0) and search.exact and depth > PARITY:
            # The last iteration may have proven the score, and liked a move.
            earlier = chance_address(position, actions, depth - PARITY, ply, search)
            entry = probe(table, earlier)
        if entry.data != Bits(0):
            search.hits += 1
            if ply > 0 and suits(entry.data, depth, search.exact):
                exact = entry.lower == entry.upper
                if entry.lower >= beta or exact or entry.upper <= alpha:
                    search.table_cutoffs += 1
                    search.estimates += not is_proven(entry.data)
                    if search.exact and depth_of(entry.data) < depth:
                        move = move_of(entry.data)
                        store(table, word, entry.lower, entry.upper, move, depth, True)
                    return entry.lower if entry.lower >= beta or exact else entry.upper
            known = move_of(entry.data)
            if search.use_symmetry and known != NO_MOVE:
                _, symmetry = canonical(position)
                known = original_move(position, known, symmetry)

    best, best_move = -float(INFINITE), NO_MOVE
    partial = False
    proven = True
    if chance(position) > 0:
        # 4. Where chance decides, bound what all outcomes give.
        search.chance_nodes += 1
        if search.debug:
            check_probabilities(position, search)
            if search.stop != RUNNING:
                return alpha
        count = chance(position)
        most, least = search.most, search.most * RESOLUTION
        total = 0.0
        for index in range(count):
            total += chance_outcome(position, index)[0]
        row = ply * LISTED_OUTCOMES
        listed = search.use_star1 != 0 and depth >= STAR_DEPTH and count <= LISTED_OUTCOMES
        if listed:
            list_outcomes(position, row, search)
        lowest, highest = -most * total, most * total
        remembered = search.use_table != 0 and depth >= TABLE_DEPTH
        decided = False
        bounds_proven = True

        # 4a. Try a move of each outcome (Star2).
        probing = search.use_star2 != 0 and listed and (alpha > -most or beta < most)
        if probing:
            for index in range(count):
                search.lowest[row + index] = -most
                search.highest[row + index] = most
            for number in range(count):
                which = search.likeliest[row + number]
                probability, child = chance_outcome(position, which)
                again = same_after_chance(position, child)
                useless = beta >= most if again else alpha <= -most
                if useless or probability <= 0 or chance(child) > 0:
                    continue
                bottom = (alpha - highest) / probability + most
                ceiling = (beta - lowest) / probability - most
                low = min(max(bottom, -most), most - least)
                high = max(min(ceiling, most), low + least)
                before = search.estimates
                search.star2_probes += 1
                score = chance_node(
                    child,
                    evaluation,
                    chance_address(child, actions, depth, ply + 1, search)
                    if remembered
                    else Bits(0),
                    low if again else -high,
                    high if again else -low,
                    depth,
                    ply + 1,
                    np.int64(0),
                    actions,
                    top,
                    previous,
                    mover if again else 1 - mover,
                    np.int64(1),
                    search,
                    table,
                )
                if search.stop != RUNNING:
                    return alpha
                score = score if again else -score
                if again and score > low:
                    bounds_proven &= search.estimates == before
                    search.lowest[row + which] = score
                    lowest += probability * (score + most)
                    if score >= ceiling:
                        best, decided = max(lowest, beta), True
                        break
                if not again and score < high:
                    bounds_proven &= search.estimates == before
                    search.highest[row + which] = score
                    highest -= probability * (most - score)
                    if score <= bottom:
                        best, decided = min(highest, alpha), True
                        break
            search.star2_cutoffs += decided

        # 4b. Search the outcomes, each in the window in which its score matters (Star1).
        expectation = 0.0
        for number in range(0 if decided else count):
            which = int(search.likeliest[row + number]) if listed else number
            probability, child = chance_outcome(position, which)
            if probability <= 0:
                continue
            again = same_after_chance(position, child)
            low, high = -float(INFINITE), float(INFINITE)
            bottom, ceiling = low, high
            if search.use_star1:
                lowest -= probability * (search.lowest[row + which] if probing else -most)
                highest -= probability * (search.highest[row + which] if probing else most)
                bottom = (alpha - expectation - highest) / probability
                ceiling = (beta - expectation - lowest) / probability
                low = min(max(bottom, -most), most - least)
                high = max(min(ceiling, most), low + least)
            before = search.estimates
            score = chance_node(
                child,
                evaluation,
                chance_address(child, actions, depth, ply + 1, search) if remembered else Bits(0),
                low if again else -high,
                high if again else -low,
                depth,
                ply + 1,
                np.int64(0),
                actions,
                top,
                previous,
                mover if again else 1 - mover,
                np.int64(ALL_MOVES),
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
        if decided:
            proven &= bounds_proven
        else:
            best = expectation
    else:
        # 5. Make the moves and say which look promising.
        stride = width(position) + 1
        parked = depth >= search.order_depth and search.use_order != 0
        end = moves(position, search.moves, top)
        if not 0 < end - top <= most_moves(position):
            report_violation(position, MOVES, search)
            return alpha
        rank_moves(position, known, previous, mover, ply, top, end, parked, search)
        partial = tries < end - top
        last = top + tries if partial else end

        # 6. Search the children, the most promising first.
        floor = alpha
        searched = 0
        best_proven = True
        for at in range(top, last):
            ranked = bring_best(search.ranked, at, end)
            move = ranked_move(ranked)
            if ply == 0 and is_excluded(search, move):
                continue
            if parked:
                child = unpack(search.children, (top + ranked_number(ranked)) * stride, position)
                again = ranked_again(ranked)
            else:
                child = play(position, move)
                again = moves_again(position, child)
            run = np.int64(steps + 1 if reversible(position, child) else 0)
            gratis = is_free_move(position, move, child, actions, search.turns)
            taken = np.int64(actions + 1 if gratis else 0)
            deeper = depth if gratis else depth - 1
            before = search.estimates
            if deeper <= 0:
                score = end_score(child, evaluation, ply + 1, run, search)
            else:
                remembered = search.use_table != 0 and deeper >= TABLE_DEPTH
                score = chance_node(
                    child,
                    evaluation,
                    chance_address(child, taken, deeper, ply + 1, search)
                    if remembered
                    else Bits(0),
                    floor if again else -beta,
                    beta if again else -floor,
                    deeper,
                    ply + 1,
                    run,
                    taken,
                    end,
                    move,
                    mover if again else 1 - mover,
                    np.int64(ALL_MOVES),
                    search,
                    table,
                )
            if search.stop != RUNNING:
                return alpha
            score = score if again else -score
            searched += 1
            proven &= search.estimates == before
            if score > best:
                best, best_proven = score, search.estimates == before
                if score > floor:
                    best_move = move
                    extend_line(search, ply, move)
                    if score >= beta:
                        count_cutoff(search, move, known, ply, searched, end - at - 1)
                        remember_cutoff(position, search, top, at, previous, mover, ply, depth)
                        break
                    floor = score
        if best >= beta:
            proven = best_proven

    # 7. Say what is proven, and remember it.
    count_kind(search, best, alpha, beta)
    if proven:
        search.estimates = estimates
    elif search.estimates == estimates:
        search.estimates += 1
    complete = ply > 0 or search.excluded == 0
    if remember and complete and (steps == 0 or repetitions == search.repetitions):
        lower = best if best > alpha else -float(INFINITE)
        upper = best if best < beta and not partial else float(INFINITE)
        if lower > -INFINITE or upper < INFINITE:
            if search.use_symmetry and best_move != NO_MOVE:
                _, symmetry = canonical(position)
                best_move = canonical_move(position, best_move, symmetry)
            search.stores += 1
            search.overwrites += store(table, word, lower, upper, best_move, depth, proven)
    return best


@compiled(
    signature=lambda position, evaluation: types.float64(
        position,
        evaluation,
        types.float64,
        types.float64,
        types.int64,
        types.int64,
        search_type(position),
        TABLE,
    )
)
def chance_root(position, evaluation, alpha, beta, depth, first, search, table):
    """Search a position once; see ``search_root``."""
    if first == PREPARE_TABLE:
        open_whole(table)
        return 0.0
    if first and search.use_table:
        begin(table)
    nothing = np.int64(0)
    return chance_node(
        position,
        evaluation,
        chance_address(position, nothing, depth, nothing, search),
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
        search,
        table,
    )
