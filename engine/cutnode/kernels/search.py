"""The depth-limited search: alpha-beta with the field's toolbox, in one node function.

:func:`search_node` is that function, in numbered steps; data say which techniques it uses
(``cutnode.kernels.techniques``).  A step that recurses is written out there; every other step is
one of the small functions above it.  At the horizon, ``quiescence`` continues with noisy moves.
Python calls :func:`search_root`, once for each depth and window.

The contract, for a window ``alpha < beta``: the returned score *v* is fail-soft.  If it fails low
(``v <= alpha``), the true score is at most *v*; if it fails high (``v >= beta``), at least *v*; in
between, *v* is exact.  With exact techniques only, the true score is the score of plain minimax at
the same depth.  After a stop nothing is stored, and only the root's score means anything: it is
the score of the best move so far, if the root has a line.

A counter tells whether a score depends on estimates: every estimate, every cutoff by a table entry
that rests on estimates, and all unsound pruning raise ``search.estimates``; a node whose score
turns out not to need them resets it.

Sources: principal variation search, A. Reinefeld, "An improvement to the scout
tree-search algorithm" (1983); killers, S. Akl and M. Newborn (1977); history, J. Schaeffer
(1989); countermoves, J. Uiterwijk (1992); null move, C. Donninger (1993); ProbCut, M. Buro
(1995, and 1997 with several depths); futility and razoring, E. Heinz (1998); singular extensions,
T. Anantharaman, M. Campbell and F. Hsu, "Singular extensions: adding selectivity to brute-force
searching" (1990), here with a search that excludes the hash move, as in open-source programs;
late move reductions, T. Romstad, "An introduction to late move reductions" (2006).
"""

from __future__ import annotations

import math

import numpy as np

from cutnode.compiler.jit import Evaluator, Position, Words, compiled, kernel
from cutnode.contract.bits import Bits
from cutnode.contract.derived import is_free_move, knows_gains, most_value, recurs, side
from cutnode.contract.positions import unpack, width
from cutnode.contract.repetition import needs_line
from cutnode.contract.stop import RUNNING
from cutnode.contract.verbs import (
    INFINITE,
    NO_MOVE,
    check,
    deviation,
    gain,
    moves_again,
    outcome,
    reversible,
    skip,
)
from cutnode.kernels.depths import extensions, late_move_reductions, leaves_little_choice
from cutnode.kernels.evaluation import estimate_at
from cutnode.kernels.frontier import frontier_score, is_frontier
from cutnode.kernels.hooks import (
    SEARCH,
    SKIP_REST,
    ChildInfo,
    NodeInfo,
    at_depth,
    decide,
    extend,
    plan,
)
from cutnode.kernels.node import (
    PREPARE_TABLE,
    Node,
    SearchMemory,
    address,
    begin_node,
    bounds_of,
    canonical_best,
    child_of,
    count_cutoff,
    count_kind,
    end_of_line,
    estimate_by,
    extend_line,
    is_excluded_at_root,
    leaf_score,
    look_up,
    make_moves,
    settle_estimates,
    settles,
    stored_bounds,
    suits,
    tt_move_of,
)
from cutnode.kernels.ordering import (
    bring_best,
    is_deferred,
    learn,
    pattern_of,
    ranked_again,
    ranked_move,
    ranked_number,
    remember_cutoff,
)
from cutnode.kernels.outside import (
    outside_after_child,
    outside_after_test,
    outside_before_child,
    outside_before_moves,
    outside_on_cutoff,
    outside_store,
    rank_by_outside,
    wants_estimate,
)
from cutnode.kernels.parameters import HISTORY_SIZE, MOST_DEPTH
from cutnode.kernels.pruning import (
    futility,
    late_move_pruning,
    margins_apply,
    razoring,
    reverse_futility,
    see_pruning,
)
from cutnode.kernels.quiescence import quiet_search
from cutnode.kernels.reference import after_move, or_lost, repetition, score_by_rule
from cutnode.kernels.scores import MOST_ESTIMATE, from_table, limited
from cutnode.kernels.sharing import (
    begin_move,
    end_move,
    look_around,
    pick_move,
    shares_moves,
    stopped_score,
)
from cutnode.kernels.table import (
    Entry,
    begin,
    depth_of,
    entry_cutoff,
    lower_of,
    open_whole,
    prepare,
    probe,
)

__all__ = ["search_node", "search_root"]

MOST_EVAL_BONUS = 4096
"""The largest change of a move's history by how it changed the static evaluation."""

MOST_DOUBLE = 9
"""The most double extensions in a line."""

RAISE_DEPTH = 5
"""The greatest depth at which moves after one that raised alpha are searched less deep."""


# Before the moves.


@compiled
def uses_table(position, depth, steps, search):
    """Return whether a node probes the table and stores its score there.

    An exact search keeps scores that a repetition may have influenced out of the table: they
    depend on the line.
    """
    wanted = search.use_table != 0 and depth >= search.table_depth
    # A selective search stores them all the same: a score that is nearly always right is worth
    # more to it than none.
    return wanted and not (recurs(position) and search.exact and steps > 0)


@compiled
def may_prune(alpha, beta, ply, in_check, search):
    """Return whether an estimate may cut a node, and whether it may skip moves of the node.

    It may do neither at the root, in check, or in an exact search, nor where the window holds wins
    or losses counted in plies: an estimate says nothing about those.  A PV node is never cut; its
    moves are skipped if ``pvs.skips`` is 1.
    """
    decisive = search.win != 0 and (alpha < -MOST_ESTIMATE or beta > MOST_ESTIMATE)
    wanted = ply > 0 and not search.exact and not in_check and not decisive
    null_window = beta - alpha <= 1
    skips_in_pv = search.use_pvs != 0 and search.pvs_skips != 0
    return wanted and null_window, wanted and (null_window or skips_in_pv)


@compiled
def null_move_applies(depth, ply, previous, excluded_move, search):
    """Return whether a node should try the null move."""
    # Two passes in a row would lead to the same position at less depth; and a singular search asks
    # about moves.
    wanted = search.use_null_move != 0 and depth >= search.null_move_depth
    wanted &= ply >= search.null_move_ply
    return wanted and previous != NO_MOVE and excluded_move == NO_MOVE


@compiled
def probcut_applies(depth, search):
    """Return whether a node should try ProbCut."""
    # The shallow search may use ProbCut itself, and so on; the limit keeps errors from adding up.
    wanted = search.use_probcut != 0 and depth >= search.probcut_depth
    return wanted and search.probcut_level < search.probcut_levels


@compiled
def horizon_score(position, evaluation, word, node, search, table):
    """Return the score at the horizon: an estimate, or by quiescence search, or by repetition."""
    if node.ply >= search.plies or not search.use_quiescence:
        return leaf_score(position, evaluation, node.ply, node.steps, search)
    # The quiescence search does not look for repetitions: captures are irreversible.
    repeated, value = repetition(position, node.ply, node.steps, search)
    if repeated and not (needs_line(position) and outcome(position)[0]):
        search.nodes += 1
        search.leaves += 1
        search.length[node.ply] = 0
        search.repetitions += 1
        return score_by_rule(value, node.ply, search)
    return quiet_search(
        position, evaluation, word, node.alpha, node.beta, node.ply, node.top, search, table
    )


@compiled
def consult_table(position, word, node, excluded_move, search, table):
    """Look a position up: return whether its entry decides the node, and the score if so.

    Also return the hash move, its score, whether that move may be singular, and the entry, if it
    holds for the node.  In a singular search (one with an excluded move) it answers another
    question: only its move is of use.
    """
    ply, depth = node.ply, node.depth
    tt_move, tt_score, try_singular = NO_MOVE, -INFINITE, False
    data = look_up(table, word, search)
    if data == Bits(0):
        return False, tt_score, tt_move, tt_score, try_singular, data
    if ply > 0 and excluded_move == NO_MOVE and suits(data, depth, search.exact):
        lower, upper = bounds_of(data, ply, search)
        decided, value = entry_cutoff(lower, upper, node.alpha, node.beta)
        if decided:
            search.table_cutoffs += 1
            search.estimates += not settles(position, data, search)
            return True, value, tt_move, tt_score, try_singular, data
    tt_move = tt_move_of(position, data, search)
    if search.use_singular_extensions and depth >= search.singular_extensions_depth and ply > 0:
        tt_score = from_table(lower_of(data), ply, search.win, search.step)
        # The entry must come from nearly this depth, and its score must be no win or loss: those
        # have no margin.
        try_singular = tt_move != NO_MOVE and excluded_move == NO_MOVE
        try_singular &= depth_of(data) >= depth - search.singular_extensions_less
        try_singular &= abs(tt_score) <= MOST_ESTIMATE
    entry = data if excluded_move == NO_MOVE else Bits(0)
    return False, tt_score, tt_move, tt_score, try_singular, entry


@compiled
def static_evaluation(position, evaluation, ply, in_check, wanted, search):
    """Return the static evaluation of a node, if *wanted*, and whether its mover is improving."""
    # In check an estimate says little: it does not measure the threat.
    compared = search.use_improving != 0 and not in_check
    static_eval = -INFINITE
    if wanted or compared:
        static_eval = limited(estimate_at(evaluation, position, ply, search), search.win)
    search.static_eval[ply] = static_eval
    # Where players alternate, the same player was to move two plies ago.
    improving = not compared or ply < 2 or static_eval > search.static_eval[ply - 2]
    return static_eval, improving


@compiled
def promises_cutoff(node, search):
    """Return whether a null move is likely to fail high, by what is known of the node."""
    least = node.beta + search.null_move_least - search.null_move_slope * node.depth
    return node.estimate >= max(node.beta, node.static_eval) and node.static_eval >= least


@compiled
def learn_from_evaluation(node, search):
    """Adjust the history of the last move, if it was quiet, by how it changed the evaluation."""
    wanted = search.history_eval_weight > 0 and node.ply > 0 and node.previous != NO_MOVE
    if not wanted or search.noisy[node.ply] or node.static_eval == -INFINITE:
        return
    before = search.static_eval[node.ply - 1]
    if before != -INFINITE:
        gained = -search.history_eval_weight * (before + node.static_eval)
        index = (1 - node.mover) * HISTORY_SIZE + node.previous % HISTORY_SIZE
        learn(search.history, index, min(max(gained, -MOST_EVAL_BONUS), MOST_EVAL_BONUS))


@compiled
def plan_for(node, search):
    """Learn from a node's evaluation; return the techniques' plan before its moves are made."""
    learn_from_evaluation(node, search)
    decided = plan()
    if node.can_prune:
        decided = razoring(node, decided, search)
        if not decided.cuts:
            decided = reverse_futility(node, decided, search)
    # The root has to find a move, not only a score.
    if node.ply > 0 and not decided.cuts:
        decided = outside_before_moves(node, decided, search)
        search.estimates += decided.cuts and not decided.sound
    return decided


@compiled
def pass_of(position, wanted):
    """Return whether the mover may pass, if *wanted*, and the position after the pass."""
    if not wanted:
        return False, position
    allowed, child = skip(position)
    return allowed and not moves_again(position, child), child


@compiled
def null_move_node(node, search):
    """Return the node after a null move: the higher the estimate, the less depth it gets."""
    # Only whether it fails high matters: the pass has no pattern, and yields no line and no bound
    # better than beta.
    ply, beta = node.ply, node.beta
    search.null_tries += 1
    search.patterns[ply + 2] = 0
    search.double_extensions[ply + 1] = search.double_extensions[ply]
    search.cut_node[ply + 1] = 1 - search.cut_node[ply]
    surplus = (node.estimate - beta) // max(search.null_move_margin, 1)
    less = node.depth - 1 - search.null_move_reduction - node.depth // search.null_move_divisor
    less -= min(surplus, search.null_move_surplus)
    nothing = np.int64(0)
    return Node(-beta, 1 - beta, less, ply + 1, nothing, nothing, node.top, np.int64(NO_MOVE))


@compiled
def verifies_null_move(depth, less, ply, search):
    """Return whether to verify a null-move cutoff with a search of real moves, *less* plies deep.

    In zugzwang no move is as good as a pass.  The verification search tries no null move in the
    first three quarters of its plies, where zugzwang may occur again.
    """
    if depth < search.null_move_verified or search.null_move_ply > 0:
        return False
    search.null_move_ply = ply + 1 + 3 * max(less, 0) // 4
    return True


@compiled
def cuts_by_pass(value, beta, search):
    """Return whether the null move, verified where necessary, fails high; count the cutoff."""
    cuts = value >= beta
    search.null_cutoffs += cuts
    search.estimates += cuts
    return cuts


@compiled
def probcut_test(position, node, static_eval, wanted, search):
    """Return whether ProbCut may decide a node, against which bound, and at what depth.

    Scores at the two depths differ by more than the margin in a few cases in a hundred.
    """
    shallow = node.depth // 4 * 2 + node.depth % 2
    if not wanted:
        return False, node.beta, shallow
    # The game has measured how far apart its scores at the two depths lie.
    margin = search.probcut_confidence * deviation(position, node.depth, shallow)
    margin = np.int64(math.ceil(margin))
    bound = node.beta + margin if static_eval >= node.beta else node.beta - margin
    # No score exceeds the largest value: such a test could never succeed.
    possible = search.win != 0 or abs(bound) <= most_value(position)
    return margin > 0 and possible, bound, shallow


@compiled
def depth_for_moves(node, tt_move, wanted, search):
    """Return the depth at which to search the moves of a node."""
    depth = node.depth
    # Internal iterative reduction: without a hash move, search less deep; next time there will be
    # one.
    if search.use_internal_iterative_reduction and tt_move == NO_MOVE and node.ply > 0:
        if depth >= search.internal_iterative_reduction_depth:
            plies = search.internal_iterative_reduction_plies
            if plies == 0:
                depth -= search.deepening_parity
            elif node.in_pv or node.cut_node:
                depth -= plies
    if wanted.change != 0:
        depth = min(max(depth + wanted.change, 1), MOST_DEPTH)
    return depth


@compiled
def looks_ahead(depth, search):
    """Return whether a node of this *depth* looks its children up before it searches any."""
    return search.use_enhanced_cutoffs != 0 and depth >= search.enhanced_cutoffs_depth


@compiled
def or_lost_here(position, best, excluded_move, ply, search):
    """Return a node's best score; a loss if every move is illegal, and none was left out."""
    if excluded_move != NO_MOVE or (ply == 0 and search.root_excluded > 0):
        return best
    return or_lost(position, best, ply, search)


@compiled
def look_up_children(position, node, depth, end, excluded_move, search, table):
    """Look all children up, and move those that cannot raise alpha in front of the others.

    Return whether a child's entry cuts the node; the best score so far; where on the stack the
    moves to search begin; and whether the bounds from the table are proven.  Each child's address
    is kept for when it is searched.
    """
    stride = width(position) + 1
    best, first, proven = -INFINITE, node.top, True
    # Prefetch all buckets before looking at the first.
    for at in range(node.top, end):
        ranked = search.ranked[at]
        slot = (node.top + ranked_number(ranked)) * stride
        child = unpack(search.children, slot, position)
        is_free = is_free_move(position, ranked_move(ranked), child, node.actions, search.turns)
        child_word = address(child, np.int64(node.actions + 1 if is_free else 0), search)
        search.children[slot + stride - 1] = child_word
        prepare(table, child_word)
    for at in range(node.top, end):
        ranked = search.ranked[at]
        slot = (node.top + ranked_number(ranked)) * stride
        child = unpack(search.children, slot, position)
        move = ranked_move(ranked)
        is_free = is_free_move(position, move, child, node.actions, search.turns)
        # The root has to find a move, not only a score.
        if node.ply == 0 or move == excluded_move:
            continue
        # The child could be a repetition, which its entry does not know of.
        if search.exact and reversible(position, child):
            continue
        data = probe(table, Bits(search.children[slot + stride - 1]))
        if data == Bits(0) or not suits(data, depth if is_free else depth - 1, search.exact):
            continue
        lower, upper = bounds_of(data, node.ply + 1, search)
        if not ranked_again(ranked):
            lower, upper = -upper, -lower
        if lower >= node.beta:
            search.enhanced_cutoffs += 1
            search.estimates += not settles(position, data, search)
            return True, lower, first, proven
        if upper <= node.alpha:
            # Its search would fail low: take the bound as its score, and do not search it.
            if not settles(position, data, search):
                search.estimates += 1
                proven = False
            best = max(best, upper)
            search.ranked[at] = search.ranked[first]
            search.ranked[first] = ranked
            first += 1
    return False, best, first, proven


# For each move.


@compiled
def is_left_out(move, ranked, skips_rest, excluded_move, ply, search):
    """Return whether a move is excluded, or belongs to the rest if a technique *skips_rest*.

    Deferred moves do not belong to the rest: their places in the order were before it.
    """
    if move == excluded_move or (skips_rest and not is_deferred(ranked)):
        return True
    return ply == 0 and is_excluded_at_root(search, move)


@compiled
def child_node(low, high, depth, node, child, steps, actions, top):
    """Return the node after a move, from a window as the parent's mover sees it."""
    if not child.again:
        low, high = -high, -low
    return Node(low, high, depth, node.ply + 1, steps, actions, top, child.move)


@compiled
def decision_on(node, child, single, search):
    """Return the techniques' decision on a move that the singular search extends by *single*."""
    decision, forcing = extend(decide(), single), leaves_little_choice(node, child, search)
    if single == 0 and forcing:
        decision = extensions(node, child, decision, search)
    if child.may_skip and decision.extension == 0 and not forcing:
        decision = late_move_pruning(node, child, decision, search)
        if decision.action == SEARCH:
            decision = futility(node, child, decision, search)
    if child.may_skip and decision.action == SEARCH:
        decision = see_pruning(node, child, forcing, decision, search)
    if decision.action == SEARCH:
        search.patterns[node.ply + 2] = pattern_of(node.position, child.move)
        decision = late_move_reductions(node, child, decision, search)
        decision = outside_before_child(node, child, decision, search)
    search.extended += decision.extension > 0
    doubled = search.double_extensions[node.ply] + (decision.extension > 1)
    search.double_extensions[node.ply + 1] = doubled
    search.noisy[node.ply + 1] = child.won > 0
    return decision


@compiled
def singular_extension(value, bound, tt_score, node, search):
    """Return by how much to extend the hash move, if all others have a *value* of at most *bound*.

    If they do not, it is reduced where that will hardly change the result.
    """
    if value < bound:
        far = search.singular_extensions_double > 0 and not node.in_pv
        far &= value < bound - search.singular_extensions_double
        far &= search.double_extensions[node.ply] < MOST_DOUBLE
        return np.int64(2 if far else 1)
    if tt_score >= node.beta:
        return np.int64(-2)
    return -np.int64(tt_score <= node.alpha and tt_score <= value)


@compiled
def reduction_of(decision, new_depth, search):
    """Return by how many plies to reduce a move; 0 for extended ones."""
    if decision.reduction <= 0 or decision.extension != 0:
        return np.int64(0)
    # Leave a ply for the search, and keep the parity of the depth.
    reduction = min(decision.reduction, new_depth - 1)
    reduction = max(reduction - reduction % search.deepening_parity, np.int64(0))
    search.reductions += reduction > 0
    return reduction


@compiled
def re_search_change(depth, reduction, value, alpha, best, search):
    """Count the re-search of a reduced move, and return by how much to change its depth.

    It is a ply more if its reduced search has found a score far above alpha, and a ply less if the
    score is hardly better than the best so far.
    """
    search.reduction_researches += 1
    if not search.late_move_reductions_terms:
        return np.int64(0)
    if value > alpha + search.late_move_reductions_deeper * (6 + reduction):
        return np.int64(depth < MOST_DEPTH)
    return -np.int64(value < best + depth // 3 and depth > 1)


@compiled
def depth_after_raise(depth, ply, search):
    """Return the depth for the moves after one that raised alpha: few of them will raise it."""
    reduces = search.use_late_move_reductions != 0 and search.late_move_reductions_terms != 0
    return depth - 1 if reduces and ply > 0 and 1 < depth <= RAISE_DEPTH else depth


@compiled
def child_address(child, ranked, actions, node, depth, search, table):
    """Return and prefetch the address of a child in the table; 0 if the child will not use it."""
    # Below the table's depth only the quiescence search uses it, in games with gains.
    if not search.use_table or not (depth >= search.table_depth or knows_gains(child)):
        return Bits(0)
    if looks_ahead(node.depth, search):
        slot = (node.top + ranked_number(ranked)) * (width(child) + 1)
        return Bits(search.children[slot + width(child)])
    word = address(child, actions, search)
    prepare(table, word)
    return word


@compiled
def learn_from_cutoff(node, child, searched, end, search):
    """Count a cutoff by the last of the *searched* moves, and learn from it."""
    search.late_cutoffs += search.late_tested[node.ply]
    count_cutoff(search, child.move, node.tt_move, node.ply, searched, end - child.at - 1)
    remember_cutoff(
        node.position, search, child.first, child.at, node.previous, node.mover, node.ply,
        node.depth,
    )  # fmt: skip
    outside_on_cutoff(node, child, search)


@compiled
def proves_win(best, depth, ply, search):
    """Return whether a score is a win that no other move can improve on.

    The horizon hides no quicker win.  Selective pruning may hide one, but it is a win all the same.
    """
    if search.win == 0 or best <= MOST_ESTIMATE:
        return False
    return not search.exact or best >= search.win - search.step * (ply + depth)


@compiled
def store_score(
    position, word, node, depth, best, best_move, proven, repetitions, began, search, table
):  # fmt: skip
    """Store a node's score as bounds for its position, unless it depends on the line before it.

    *began* is the number of nodes visited before it.
    """
    # With moves excluded at the root, the score is not the position's.  A draw by repetition below
    # belongs to the line: an exact search drops it, a selective one keeps it as an estimate.
    repeated = node.steps > 0 and repetitions != search.repetitions
    if (node.ply == 0 and search.root_excluded > 0) or (repeated and search.exact):
        return
    lower, upper = stored_bounds(best, node.alpha, node.beta, node.ply, search)
    best_move = canonical_best(position, best_move, search)
    proven = proven and not repeated
    entry = Entry(word, lower, upper, best_move, depth, proven, search.nodes - began)
    search.stores += 1
    search.overwrites += outside_store(table, entry, search)


@kernel
def search_node(
    position: Position,
    evaluation: Evaluator,
    word: Bits,
    node: Node,
    search: SearchMemory,
    table: Words,
) -> int:
    """Return the score of a position within a window; *word* is its address in the table."""
    alpha, beta, depth, ply, steps, actions, top, previous = node

    # Step 1. At the horizon, estimate, or continue with noisy moves; near it, search plainly.
    if depth <= 0 or ply >= search.plies:
        return horizon_score(position, evaluation, word, node, search, table)
    if is_frontier(position, depth, ply, search):
        return frontier_score(position, evaluation, node, search)

    # Step 2. Count the node, and check whether the line ends here.
    began = search.nodes
    if begin_node(ply, search) or look_around(ply, search, table):
        return alpha
    over, value = end_of_line(position, ply, steps, search)
    if over:
        return value

    # Step 3. Mate-distance pruning: a win comes with the next move at the earliest, a loss now.
    if search.use_mate_distance and search.step:
        alpha, beta = max(alpha, ply - search.win), min(beta, search.win - ply - 1)
        if alpha >= beta:
            search.distance_cutoffs += 1
            return alpha
        node = Node(alpha, beta, depth, ply, steps, actions, top, previous)

    # Step 4. Look the position up in the table.
    estimates, repetitions = search.estimates, search.repetitions
    excluded_move = search.excluded_move[ply]
    use_table = uses_table(position, depth, steps, search)
    tt_move, tt_score, try_singular, entry = NO_MOVE, -INFINITE, False, Bits(0)
    if use_table:
        decided, value, tt_move, tt_score, try_singular, entry = consult_table(
            position, word, node, excluded_move, search, table
        )
        if decided:
            return value
    sharing = shares_moves(use_table, depth, search)
    use_table &= excluded_move == NO_MOVE

    # Step 5. Estimate the position, if a later step needs it.
    in_check, cut_node = check(position), search.cut_node[ply]
    can_prune, can_skip = may_prune(alpha, beta, ply, in_check, search)
    try_null_move = can_prune and null_move_applies(depth, ply, previous, excluded_move, search)
    try_probcut = can_prune and probcut_applies(depth, search)
    asked = try_null_move or try_probcut or wants_estimate(search)
    asked |= can_skip and margins_apply(position, depth, search)
    static_eval, improving = static_evaluation(position, evaluation, ply, in_check, asked, search)

    # Step 6. Techniques that look only at the node: razoring, reverse futility, and the user's.
    here = NodeInfo(
        position, evaluation, word, table, alpha, beta, depth, ply, top, previous,
        side(position, ply), tt_move, in_check, beta - alpha > 1, cut_node, can_prune, static_eval,
        improving, estimate_by(entry, static_eval, position, ply, search),
    )  # fmt: skip
    wanted = plan_for(here, search)
    if wanted.cuts:
        return wanted.score

    # Step 7. Null move: if even a pass fails high, a move will.
    try_null_move, child = pass_of(position, try_null_move and promises_cutoff(here, search))
    if try_null_move:
        test = null_move_node(here, search)
        child_word = address(child, np.int64(0), search)
        value = -search_node(child, evaluation, child_word, test, search, table)
        if value >= beta and verifies_null_move(depth, test.depth, ply, search):
            test = Node(alpha, beta, test.depth, ply, steps, actions, top, previous)
            value = search_node(position, evaluation, word, test, search, table)
            search.null_move_ply = 0
        if search.stop != RUNNING:
            return alpha
        if cuts_by_pass(value, beta, search):
            return beta

    # Step 8. ProbCut: a score far outside the window at half the depth predicts the full search.
    possible, bound, shallow = probcut_test(position, node, static_eval, try_probcut, search)
    if possible:
        search.probcut_tries += 1
        search.probcut_level += 1
        test = Node(bound - 1, bound, shallow, ply, steps, actions, top, previous)
        value = search_node(position, evaluation, word, test, search, table)
        search.probcut_level -= 1
        search.length[ply] = 0
        if search.stop != RUNNING:
            return alpha
        if (value >= bound) == (bound > beta):
            search.probcut_cutoffs += 1
            search.estimates += 1
            return beta if bound > beta else alpha
        search.estimates = estimates  # estimates in the test do not count
        if use_table and tt_move == NO_MOVE:
            tt_move = tt_move_of(position, probe(table, word), search)

    # Step 9. Adjust the depth: internal iterative reduction, and the plan's change.
    depth = depth_for_moves(here, tt_move, wanted, search)

    # Step 10. Make the moves, and rank them.
    enhanced = looks_ahead(depth, search)
    keep_children = enhanced or (search.use_order != 0 and depth >= search.order_depth)
    end = make_moves(position, tt_move, previous, here.mover, ply, top, keep_children, search)
    if end == top:
        return alpha
    here = at_depth(here, depth, tt_move)
    rank_by_outside(here, top, end, search)

    # Step 11. Enhanced transposition cutoffs: look the children up before searching any.
    best, best_move, first, searched, deferred = -INFINITE, NO_MOVE, top, np.int64(0), np.int64(0)
    all_proven, best_proven, skips_rest = True, False, False
    if enhanced:
        cutoff, best, first, all_proven = look_up_children(
            position, node, depth, end, excluded_move, search, table
        )
        if cutoff:
            return best

    # Step 12. Tests: a technique wants shallow scores of the first moves.
    last = min(first + wanted.tests, end) if wanted.tests > 0 else first
    for at in range(first, last):
        ranked = bring_best(search.ranked, at, end)
        move = ranked_move(ranked)
        if move == excluded_move:
            continue
        child, again = child_of(position, move, ranked, top, keep_children, search)
        child_steps, child_actions, _ = after_move(position, move, child, steps, actions, search)
        won = np.int64(gain(position, move))
        tested = ChildInfo(move, child, again, won, at - first, at, first, alpha, False)
        search.patterns[ply + 2] = pattern_of(position, move)
        search.cut_node[ply + 1] = 1 - cut_node
        low, high, plies = wanted.bound - 1, wanted.bound, wanted.depth
        below = child_node(low, high, plies, node, tested, child_steps, child_actions, end)
        child_word = child_address(child, ranked, child_actions, here, plies, search, table)
        value = search_node(child, evaluation, child_word, below, search, table)
        value = value if again else -value
        search.length[ply] = 0
        if search.stop != RUNNING:
            return alpha
        if outside_after_test(here, tested, value, search):
            search.estimates += 1
            return wanted.bound
        search.estimates = estimates  # estimates in the test do not count

    # Step 13. Loop over the moves, the most promising first.
    for at in range(first, end):
        ranked, place, deferred = pick_move(here, at, end, sharing, searched, deferred, search)
        move = ranked_move(ranked)
        if is_left_out(move, ranked, skips_rest, excluded_move, ply, search):
            continue
        child, again = child_of(position, move, ranked, top, keep_children, search)
        child_steps, child_actions, free = after_move(position, move, child, steps, actions, search)

        # Step 14. Singular extension: extend the hash move if all others fail low by a margin.  If
        # they fail high even without it, cut (multi-cut).
        single = np.int64(0)
        if try_singular and move == tt_move:
            bound = tt_score - search.singular_extensions_margin * depth
            test = Node(bound - 1, bound, depth // 2, ply, steps, actions, end, previous)
            search.excluded_move[ply] = tt_move
            value = search_node(position, evaluation, word, test, search, table)
            search.excluded_move[ply] = NO_MOVE
            search.length[ply] = 0
            if search.stop != RUNNING:
                return alpha
            search.estimates = estimates  # estimates in the test do not count
            if value >= bound >= beta:
                search.singular_cutoffs += 1
                search.estimates += 1
                return bound
            single = singular_extension(value, bound, tt_score, here, search)

        # Step 15. Techniques that look at a move: extensions, pruning, reductions, and the user's.
        # Prune nothing until a move has been searched that does not lose by force.
        may_skip = can_skip and searched > 0 and (search.win == 0 or best > -MOST_ESTIMATE)
        won = np.int64(gain(position, move))
        this = ChildInfo(move, child, again, won, place, at, first, alpha, may_skip)
        decision = decision_on(here, this, single, search)
        if decision.action != SEARCH:
            search.estimates += not decision.sound
            all_proven &= decision.sound
            best = max(best, decision.bound)
            skips_rest |= decision.action == SKIP_REST
            if skips_rest and deferred == 0:
                search.late += end - at
                break
            continue
        new_depth = min(decision.extension + (depth if free else depth - 1), MOST_DEPTH)
        reduction = reduction_of(decision, new_depth, search)

        # Step 16. Search the child: reduced, and with a null window for all moves but the first.
        # If it fails high, re-search at full depth, then with the window up to beta.
        before = search.estimates
        child_word = child_address(child, ranked, child_actions, here, new_depth, search, table)
        null_window = search.use_pvs != 0 and searched > 0
        low, high = alpha, alpha + 1 if null_window else beta
        begin_move(here, move, sharing, use_table, search)
        while True:
            plies = new_depth - reduction
            search.cut_node[ply + 1] = np.int64(reduction > 0 or (null_window and not cut_node))
            if plies <= 0 and not search.use_quiescence:
                value = leaf_score(child, evaluation, ply + 1, child_steps, search)
            else:
                below = child_node(low, high, plies, node, this, child_steps, child_actions, end)
                value = search_node(child, evaluation, child_word, below, search, table)
            value = value if again else -value
            if search.stop != RUNNING:
                break
            if reduction > 0 and value > alpha:
                new_depth += re_search_change(new_depth, reduction, value, alpha, best, search)
                reduction = np.int64(0)
            elif null_window and alpha < value < beta and (new_depth > 0 or search.use_quiescence):
                # *value* is only a lower bound.  (A leaf's score is exact: no re-search.)
                search.pvs_researches += 1
                null_window, low, high = False, value - 1, beta
            else:
                break
        end_move(here, move, sharing, search)
        if search.stop != RUNNING:
            return stopped_score(here, alpha, estimates, search)
        searched += 1
        proven = search.estimates == before
        all_proven &= proven
        outside_after_child(here, this, value, search)

        # Step 17. Keep the best, and learn from a cutoff.
        if value > best:
            best, best_proven = value, proven
            if value > alpha:
                best_move = move
                extend_line(search, ply, move)
                if value >= beta:
                    learn_from_cutoff(here, this, searched, end, search)
                    break
                alpha, depth = value, depth_after_raise(depth, ply, search)

    # Step 18. Record whether the score is proven, and store it.  Without a legal move it is a loss.
    best = or_lost_here(position, best, excluded_move, ply, search)
    count_kind(search, best, node.alpha, beta)
    proven = all_proven or (best_proven and (best >= beta or proves_win(best, depth, ply, search)))
    settle_estimates(proven, estimates, search)
    if use_table:
        store_score(
            position, word, node, depth, best, best_move, proven, repetitions, began, search, table
        )
    return best


@kernel
def search_root(
    position: Position,
    evaluation: Evaluator,
    alpha: int,
    beta: int,
    depth: int,
    first: int,
    search: SearchMemory,
    table: Words,
) -> int:
    """Search a position once; the *first* search for a set of limits begins an age of the table.

    With *first* as ``PREPARE_TABLE`` it only makes the table ready for several threads.
    """
    if first == PREPARE_TABLE:
        open_whole(table)
        return 0
    if first and search.use_table:
        begin(table, False)
    nothing = np.int64(0)
    steps = np.int64(search.before)
    root = Node(alpha, beta, depth, nothing, steps, nothing, nothing, np.int64(NO_MOVE))
    word = address(position, nothing, search)
    return search_node(position, evaluation, word, root, search, table)
