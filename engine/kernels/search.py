"""The search of limited depth: alpha-beta with the field's toolbox, one node function.

:func:`search_node` is that function, in numbered steps; which techniques it uses is data
(``engine.kernels.techniques``).  Where the depth ends, ``quiescence`` goes on with noisy moves.
:func:`search_root` is what Python calls, once for each depth and window.

What they promise, for a window ``alpha < beta``: the score that they return is fail-soft.
If ``v <= alpha`` the true score is at most *v*; if ``v >= beta`` it is at least *v*; in
between it is exact.  With exact techniques only, the true score is that of plain minimax
at the same depth.  After a stop nothing is stored, and scores mean nothing but that of the root:
it is the score of the best move so far, if the root has a line.

Whether a score depends on estimates is known by a counter: every estimate, cutoff by an
entry with estimates, and unsound pruning raises ``search.estimates``; a node whose score
turns out not to need them sets it back.

Sources: principal variation search, A. Reinefeld, "An improvement to the scout
tree-search algorithm" (1983); killers, S. Akl and M. Newborn (1977); history, J. Schaeffer
(1989); countermoves, J. Uiterwijk (1992); null move, C. Donninger (1993); ProbCut, M. Buro
(1995, and 1997 with several depths); futility and razoring, E. Heinz (1998); singular extensions,
T. Anantharaman, M. Campbell and F. Hsu, "Singular extensions: adding selectivity to brute-force
searching" (1990), here by a search without the move of the table, as open-source programs do it;
late move reductions, T. Romstad, "An introduction to late move reductions" (2006).
"""

from __future__ import annotations

import math

import numpy as np
from numba import types

from engine.compiler.jit import compiled
from engine.contract.bits import Bits
from engine.contract.derived import is_free_move, knows_gains, most_moves, most_value, recurs, side
from engine.contract.positions import unpack, width
from engine.contract.stop import MOVES, RUNNING
from engine.contract.verbs import (
    INFINITE,
    NO_MOVE,
    canonical,
    canonical_move,
    check,
    deviation,
    exchange,
    extension,
    gain,
    moves,
    moves_again,
    outcome,
    play,
    reversible,
    skip,
)
from engine.kernels.evaluation import estimate
from engine.kernels.node import (
    PREPARE_TABLE,
    TABLE,
    address,
    bounds_of,
    count_cutoff,
    count_kind,
    extend_line,
    is_excluded,
    known_move,
    leaf_score,
    must_stop,
    rank_moves,
    search_type,
    suits,
)
from engine.kernels.ordering import (
    bring_best,
    continued_score,
    is_put_off,
    likeness,
    put_off,
    ranked_again,
    ranked_move,
    ranked_number,
    remember_cutoff,
)
from engine.kernels.parameters import (
    EXCHANGE_DEPTH,
    HISTORY_SIZE,
    INTERNAL_DEPTH,
    LATE_MOVES,
    MOST_DEPTH,
    NULL_DEPTH,
    PROBCUT_CONFIDENCE,
    PROBCUT_DEPTH,
    PROBCUT_LEVELS,
    SINGULAR_DEPTH,
    SINGULAR_LESS,
    TABLE_DEPTH,
)
from engine.kernels.quiescence import quiet_node
from engine.kernels.reference import is_draw, repeats, report_violation
from engine.kernels.scores import MOST_ESTIMATE, final_score, from_table, limited, to_table
from engine.kernels.table import (
    begin,
    depth_of,
    is_marked,
    is_proven,
    lower_of,
    mark,
    open_whole,
    probe,
    store_depth,
)

__all__ = ["search_node", "search_root"]


@compiled
def mark_of(ranked, top, depth, stride, search):
    """What tells other threads that a child with a known address is being searched."""
    at = (top + ranked_number(ranked)) * stride + stride - 1
    return Bits(search.children[at]) ^ Bits(depth)


@compiled(
    signature=lambda position, evaluation: types.int64(
        position,
        evaluation,
        types.uint64,
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
def search_node(
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
    search,
    table,
):
    """The score of a position within a window, *depth* plies deep (see the module's text).

    *word* is its address in the table; *steps* reversible moves led here, and *actions*
    costless ones, the last of all was *previous* (``NO_MOVE``: none, or a pass); the stacks
    are free from *top* on.
    """
    # 0. Where the depth ends, estimate, or play on noisily.
    if ply >= search.plies or (depth <= 0 and not search.use_quiescence):
        return leaf_score(position, evaluation, ply, steps, search)
    if depth <= 0:
        if recurs(position) and repeats(position, ply, steps, search) and ply > 0:
            search.nodes += 1
            search.leaves += 1
            search.length[ply] = 0
            search.repetitions += 1
            return 0
        return quiet_node(position, evaluation, word, alpha, beta, ply, top, search, table)

    # 1. Count the node, and stop if told to.
    search.nodes += 1
    search.length[ply] = 0
    if search.stop != RUNNING or search.nodes > search.node_limit:
        if must_stop(search):
            return alpha

    # 2. See whether the line ends here.
    over, value = outcome(position)
    if over:
        search.leaves += 1
        search.deepest = max(search.deepest, ply)
        return final_score(value, ply, search.win, search.step)
    if is_draw(position, ply, steps, search):
        search.leaves += 1
        search.deepest = max(search.deepest, ply)
        search.repetitions += 1
        return 0

    # 3. No win from here on is quicker than the next move, no loss quicker than now.
    if search.use_distance and search.step:
        alpha = max(alpha, ply - search.win)
        beta = min(beta, search.win - ply - 1)
        if alpha >= beta:
            search.distance_cutoffs += 1
            return alpha

    # 4. Look the position up.  What a repetition may have touched is not for the table.
    in_pv = beta - alpha > 1
    estimates, repetitions = search.estimates, search.repetitions
    remember = search.use_table != 0 and depth >= TABLE_DEPTH
    remember = remember and not (recurs(position) and search.exact and steps > 0)
    known, alone, known_score = NO_MOVE, False, -INFINITE
    barred = search.barred[ply]
    if remember:
        search.probes += 1
        data = probe(table, word)
        if data != Bits(0):
            search.hits += 1
            if ply > 0 and barred == NO_MOVE and suits(data, depth, search.exact):
                lower, upper = bounds_of(data, ply, search)
                if lower >= beta or lower == upper or upper <= alpha:
                    search.table_cutoffs += 1
                    search.estimates += not is_proven(data)
                    return lower if lower >= beta or lower == upper else upper
            known = known_move(position, data, search)
            if search.use_singular and depth >= SINGULAR_DEPTH and ply > 0 and known != NO_MOVE:
                known_score = from_table(lower_of(data), ply, search.win, search.step)
                alone = depth_of(data) >= depth - SINGULAR_LESS
                alone &= barred == NO_MOVE and abs(known_score) <= MOST_ESTIMATE
    remember &= barred == NO_MOVE

    # 5. Far outside the window near the leaves, after a pass, or a few plies on: no need to look.
    checked = check(position)
    cutting = search.cutting[ply]
    decided = search.win != 0 and (alpha < -MOST_ESTIMATE or beta > MOST_ESTIMATE)
    doubtful = ply > 0 and not search.exact and not in_pv and not checked and not decided
    near = depth <= search.reverse_depth and (search.use_razoring != 0 or search.use_reverse != 0)
    passing = search.use_null != 0 and depth >= NULL_DEPTH and previous != NO_MOVE
    passing &= barred == NO_MOVE
    foretold = search.use_probcut != 0 and depth >= PROBCUT_DEPTH
    foretold = foretold and search.foretelling < PROBCUT_LEVELS
    hopeless = search.use_futility != 0 and knows_gains(position)
    hopeless &= depth <= search.futility_depth + search.parity  # step 6 may take that off
    static, worsening = -INFINITE, False
    if search.use_improving and not checked:
        static = limited(estimate(evaluation, position), search.win)
        worsening = ply >= 2 and static <= search.static[ply - 2]
    elif doubtful and (near or passing or foretold or hopeless):
        static = limited(estimate(evaluation, position), search.win)
    search.static[ply] = static
    if doubtful and (near or passing or foretold):
        if search.use_razoring and depth <= search.razoring_depth:
            if static + search.razoring_margin * depth <= alpha:
                value = quiet_node(position, evaluation, word, alpha, beta, ply, top, search, table)
                if value <= alpha:
                    search.razored += 1
                    return value
        if search.use_reverse and depth <= search.reverse_depth:
            if static - search.reverse_margin * (depth + worsening) >= beta:
                search.reverse_cutoffs += 1
                search.estimates += 1
                return static
        if passing and static >= beta:
            allowed, child = skip(position)
            if allowed and not moves_again(position, child):
                search.null_tries += 1
                search.patterns[ply + 2] = 0
                search.cutting[ply + 1] = 1 - cutting
                surplus = min((static - beta) // max(search.null_margin, 1), search.null_surplus)
                less = depth - 1 - search.null_reduction - depth // 4 - surplus
                value = -search_node(
                    child,
                    evaluation,
                    address(child, np.int64(0), search),
                    -beta,
                    1 - beta,
                    less,
                    ply + 1,
                    np.int64(0),
                    np.int64(0),
                    top,
                    np.int64(NO_MOVE),
                    search,
                    table,
                )
                if search.stop != RUNNING:
                    return alpha
                if value >= beta:
                    search.null_cutoffs += 1
                    search.estimates += 1
                    return beta

        if foretold:
            shallow = depth // 4 * 2 + depth % 2
            apart = deviation(position, depth, shallow)
            margin = np.int64(math.ceil(PROBCUT_CONFIDENCE * apart))
            above = static >= beta
            bound = beta + margin if above else beta - margin
            possible = search.win != 0 or abs(bound) <= most_value(position)
            if margin > 0 and possible:
                search.probcut_tries += 1
                search.foretelling += 1
                value = search_node(
                    position,
                    evaluation,
                    word,
                    bound - 1,
                    bound,
                    shallow,
                    ply,
                    steps,
                    actions,
                    top,
                    previous,
                    search,
                    table,
                )
                search.foretelling -= 1
                search.length[ply] = 0
                if search.stop != RUNNING:
                    return alpha
                if (value >= bound) == above:
                    search.probcut_cutoffs += 1
                    search.estimates += 1
                    return beta if above else alpha
                search.estimates = estimates  # the test does not count
                if remember and known == NO_MOVE:
                    known = known_move(position, probe(table, word), search)

    # 6. Without a move to begin with, look less deep: there will be one next time.
    if search.use_internal and known == NO_MOVE and depth >= INTERNAL_DEPTH and ply > 0:
        depth -= search.parity

    # 7. Make the moves and say which look promising.
    mover = side(position, ply)
    stride = width(position) + 1
    parked = depth >= search.order_depth and search.use_order != 0
    enhanced = search.use_enhanced != 0 and depth >= search.enhanced_depth
    parked = parked or enhanced
    end = moves(position, search.moves, top)
    if not 0 < end - top <= most_moves(position):
        report_violation(position, MOVES, search)
        return alpha
    rank_moves(position, known, previous, mover, ply, top, end, parked, search)

    # 8. Look the children up before one is searched (enhanced transposition cutoffs).
    # Those that cannot raise alpha need no search.
    floor, best, best_move = alpha, -INFINITE, NO_MOVE
    all_proven, best_proven = True, False
    searched = 0
    first = top
    if enhanced:
        for at in range(top, end):
            ranked = search.ranked[at]
            slot = (top + ranked_number(ranked)) * stride
            child = unpack(search.children, slot, position)
            move = ranked_move(ranked)
            gratis = is_free_move(position, move, child, actions, search.turns)
            child_word = address(child, np.int64(actions + 1 if gratis else 0), search)
            search.children[slot + stride - 1] = child_word
            if ply == 0 or move == barred or (search.exact and reversible(position, child)):
                continue
            data = probe(table, child_word)
            if data != Bits(0) and suits(data, depth if gratis else depth - 1, search.exact):
                lower, upper = bounds_of(data, ply + 1, search)
                if not ranked_again(ranked):
                    lower, upper = -upper, -lower
                if lower >= beta:
                    search.enhanced_cutoffs += 1
                    search.estimates += not is_proven(data)
                    return lower
                if upper <= alpha:
                    if not is_proven(data):
                        search.estimates += 1
                        all_proven = False
                    best = max(best, upper)
                    search.ranked[at] = search.ranked[first]
                    search.ranked[first] = ranked
                    first += 1

    # 9. Search the children, the most promising first.  Those that another thread searches right
    # now are put off until after the others, when their scores will mostly be in the table.
    shared = search.shared != 0 and enhanced
    for at in range(first, end):
        ranked = bring_best(search.ranked, at, end)
        if shared and searched > 0:
            while not is_put_off(ranked) and is_marked(
                table, mark_of(ranked, top, depth, stride, search)
            ):
                search.ranked[at] = put_off(ranked)
                ranked = bring_best(search.ranked, at, end)
        move = ranked_move(ranked)
        if move == barred or (ply == 0 and is_excluded(search, move)):
            continue
        child_word = Bits(0)
        if parked:
            slot = (top + ranked_number(ranked)) * stride
            child = unpack(search.children, slot, position)
            again = ranked_again(ranked)
        else:
            child = play(position, move)
            again = moves_again(position, child)
        run = np.int64(steps + 1 if reversible(position, child) else 0)
        longer = np.int64(0)
        if search.use_extensions and ply < 2 * depth:
            longer = np.int64(extension(position, move, child))
        if alone and move == known:
            # Is it the only good move?  Then the others fail low by a margin.
            bound = known_score - search.singular_margin * depth
            search.barred[ply] = known
            value = search_node(
                position, evaluation, word, bound - 1, bound, depth // 2, ply, steps, actions, end,
                previous, search, table,
            )  # fmt: skip
            search.barred[ply] = NO_MOVE
            search.length[ply] = 0
            if search.stop != RUNNING:
                return alpha
            if value < bound:
                longer = np.int64(1)
            elif bound >= beta:
                search.singular_cutoffs += 1
                search.estimates += 1
                return bound
            elif known_score >= beta:
                longer = np.int64(-1)
            search.estimates = estimates  # the test does not count
        search.extended += longer > 0
        gratis = is_free_move(position, move, child, actions, search.turns)
        taken = np.int64(actions + 1 if gratis else 0)
        deeper = min(longer + (depth if gratis else depth - 1), MOST_DEPTH)

        # 9a. Skip late and futile moves near the leaves.
        won = np.int64(gain(position, move))
        if doubtful and searched > 0 and (search.win == 0 or best > -MOST_ESTIMATE):
            if search.use_late and depth <= search.late_depth and longer == 0 and won <= 0:
                if searched >= (LATE_MOVES + depth * depth) // (2 if worsening else 1):
                    search.late += end - at
                    search.estimates += 1
                    all_proven = False
                    break
            if search.use_futility and depth <= search.futility_depth and longer == 0:
                if knows_gains(position):
                    hope = static + won
                else:
                    hope = limited(estimate(evaluation, child), search.win)
                    hope = hope if again else -hope
                hope += search.futility_margin * depth
                if hope <= floor and not outcome(child)[0]:
                    search.futile += 1
                    search.estimates += 1
                    all_proven = False
                    best = max(best, hope)
                    continue
            if search.use_exchange and depth <= EXCHANGE_DEPTH:
                least = depth * (search.noisy_margin if won > 0 else search.quiet_margin)
                if not exchange(position, move, -least):
                    search.losing += 1
                    search.estimates += 1
                    all_proven = False
                    continue

        # 9b. Search late moves less deep, and all but the first with a null window.
        less = np.int64(0)
        example = likeness(position, move)
        if (
            search.use_reduction
            and depth >= search.reduction_depth
            and searched >= search.reduction_moves
        ):
            less = search.reduction[min(depth, MOST_DEPTH) * 64 + min(searched, 63)]
            if knows_gains(position):
                less += np.int64(worsening) - np.int64(in_pv) - np.int64(checked)
                less += search.cut_reduction * cutting
                less -= np.int64(move == search.killers[2 * ply])
                if won > 0:
                    less //= 2
                else:
                    known_good = search.history[mover * HISTORY_SIZE + move % HISTORY_SIZE]
                    if search.use_continuation:
                        known_good += continued_score(search, example, ply)
                    less -= known_good // search.history_share
            elif in_pv:
                less = np.int64(0)
            less = min(less, deeper - 1) if longer == 0 else np.int64(0)
            less = max(less - less % search.parity, np.int64(0))
            search.reductions += less > 0
        search.patterns[ply + 2] = example
        before = search.estimates
        if search.use_table and (deeper >= TABLE_DEPTH or knows_gains(position)):
            if enhanced:
                child_word = Bits(search.children[slot + stride - 1])
            else:
                child_word = address(child, taken, search)
        narrow = search.use_pvs != 0 and searched > 0
        low, high = floor, floor + 1 if narrow else beta
        value = np.int64(0)
        if shared:
            mark(table, mark_of(ranked, top, depth, stride, search), True)
        while True:
            plies = deeper - less
            search.cutting[ply + 1] = np.int64(less > 0 or (narrow and not cutting))
            if plies <= 0 and not search.use_quiescence:
                value = leaf_score(child, evaluation, ply + 1, run, search)
                value = value if again else -value
            elif again:
                value = search_node(
                    child, evaluation, child_word, low, high, plies, ply + 1, run, taken, end,
                    move, search, table,
                )  # fmt: skip
            else:
                value = -search_node(
                    child, evaluation, child_word, -high, -low, plies, ply + 1, run, taken, end,
                    move, search, table,
                )  # fmt: skip
            if search.stop != RUNNING:
                if shared:
                    mark(table, mark_of(ranked, top, depth, stride, search), False)
                return floor
            if less > 0 and value > floor:
                search.reduction_researches += 1
                less = np.int64(0)
            elif narrow and floor < value < beta and (deeper > 0 or search.use_quiescence):
                # At least that much, and perhaps more. (A leaf has said all there is.)
                search.pvs_researches += 1
                narrow = False
                low, high = value - 1, beta
            else:
                break
        if shared:
            mark(table, mark_of(ranked, top, depth, stride, search), False)
        searched += 1
        proven = search.estimates == before
        all_proven &= proven

        # 9c. Keep the best.
        if value > best:
            best, best_proven = value, proven
            if value > floor:
                best_move = move
                extend_line(search, ply, move)
                if value >= beta:
                    count_cutoff(search, move, known, ply, searched, end - at - 1)
                    remember_cutoff(position, search, first, at, previous, mover, ply, depth)
                    break
                floor = value

    # 10. Say what is proven, and remember it.
    count_kind(search, best, alpha, beta)
    proven = best_proven if best >= beta else all_proven
    if best_proven and search.win and best > MOST_ESTIMATE:
        # No quicker win is hidden by the horizon (by selection, perhaps: it is a win anyway).
        proven |= not search.exact or best >= search.win - search.step * (ply + depth)
    if proven:
        search.estimates = estimates
    elif search.estimates == estimates:
        search.estimates += 1
    complete = ply > 0 or search.excluded == 0
    repeated = steps > 0 and repetitions != search.repetitions
    proven = proven and not repeated
    if remember and complete and not (repeated and search.exact):
        lower = to_table(best, ply, search.win, search.step) if best > alpha else -INFINITE
        upper = to_table(best, ply, search.win, search.step) if best < beta else INFINITE
        if search.use_symmetry and best_move != NO_MOVE:
            _, symmetry = canonical(position)
            best_move = canonical_move(position, best_move, symmetry)
        search.stores += 1
        search.overwrites += store_depth(table, word, lower, upper, best_move, depth, proven)
    return best


@compiled(
    signature=lambda position, evaluation: types.int64(
        position,
        evaluation,
        types.int64,
        types.int64,
        types.int64,
        types.int64,
        search_type(position),
        TABLE,
    )
)
def search_root(position, evaluation, alpha, beta, depth, first, search, table):
    """Search a position once; the *first* time for a set of limits begins an age.

    ``PREPARE_TABLE`` in its place only makes the table ready for several threads.
    """
    if first == PREPARE_TABLE:
        open_whole(table)
        return 0
    if first and search.use_table:
        begin(table, False)
    nothing = np.int64(0)
    word = address(position, nothing, search)
    return search_node(
        position,
        evaluation,
        word,
        alpha,
        beta,
        depth,
        nothing,
        np.int64(search.before),
        nothing,
        nothing,
        np.int64(NO_MOVE),
        search,
        table,
    )
