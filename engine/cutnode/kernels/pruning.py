"""Pruning by estimates, of nodes and of moves: hooks of the engine's own techniques.

See ``cutnode.kernels.hooks`` for their arguments and their results.
"""

from __future__ import annotations

from cutnode.compiler.jit import compiled
from cutnode.contract.derived import knows_gains
from cutnode.contract.verbs import INFINITE, outcome
from cutnode.kernels.depths import history_of, reduced_depth
from cutnode.kernels.evaluation import estimate_at
from cutnode.kernels.hooks import cut, quiet_score, skip, skip_rest
from cutnode.kernels.ordering import see_ge
from cutnode.kernels.scores import limited

TESTED = 128
"""One node in this many searches the late moves that it would otherwise skip, as a test."""

FEW_TESTS, MANY_TESTS = 8, 128
"""Tests without a cutoff that are added, as few tests say little; tests at which counts halve."""


@compiled
def margins_apply(position, depth, search):
    """Return whether a technique with a margin needs the static evaluation."""
    razoring = search.use_razoring != 0 and depth <= search.razoring_depth
    reverse = search.use_reverse_futility != 0 and depth <= search.reverse_futility_depth
    # Futility pruning uses it only in games with gains; otherwise it estimates the children.
    futility = search.use_futility != 0 and knows_gains(position)
    # Internal iterative reduction may still lower the depth by the parity.
    near = depth <= search.futility_depth + search.deepening_parity
    futility &= near or search.futility_reduced_depth > 0
    return razoring or reverse or futility


@compiled
def razoring(node, plan, search):
    """Cut a node so far below alpha that only noisy moves could help, if they do not."""
    if not search.use_razoring or node.depth > search.razoring_depth:
        return plan
    if node.estimate + search.razoring_margin * node.depth > node.alpha:
        return plan
    # Confirm it by quiescence search: a capture may make up for the difference.
    value = quiet_score(node, search)
    if value > node.alpha:
        return plan
    search.razored += 1
    return cut(value)


@compiled
def reverse_futility(node, plan, search):
    """Cut a node so far above beta that the few plies left will not bring the score below it."""
    if not search.use_reverse_futility or node.depth > search.reverse_futility_depth:
        return plan
    depth = node.depth if node.improving else node.depth + 1
    margin = search.reverse_futility_margin * depth - search.reverse_futility_less
    if node.estimate - max(margin, 0) < node.beta:
        return plan
    search.reverse_cutoffs += 1
    search.estimates += 1
    return cut(node.estimate)


@compiled
def late_move_pruning(node, child, decision, search):
    """Near the leaves, skip a quiet move that comes late in the order, and all after it."""
    # If the static evaluation is not improving, skip earlier.
    depth = node.depth
    most = (search.late_move_pruning_moves + depth * depth) // (1 if node.improving else 2)
    wanted = search.use_late_move_pruning and depth <= search.late_move_pruning_depth
    if not wanted or child.won > 0 or child.searched < most:
        return decision
    if search.late_tested[node.ply] or searches_late_moves(node, search):
        return decision
    return skip_rest(decision)


@compiled
def searches_late_moves(node, search):
    """Return whether a node should search its late moves all the same.

    One node in ``TESTED`` does, to test whether one of them cuts; all nodes do while too many of
    the tests cut.
    """
    most = search.late_move_pruning_cutoffs * (search.late_tests + FEW_TESTS)
    trusted = 100 * search.late_cutoffs <= most
    search.late_skipped += 1
    if trusted and search.late_skipped < TESTED:
        return False
    search.late_skipped = 0
    search.late_tested[node.ply] = 1
    search.late_tests += 1
    if search.late_tests >= MANY_TESTS:
        search.late_tests >>= 1
        search.late_cutoffs >>= 1
    return True


@compiled
def futility(node, child, decision, search):
    """Skip a move that is not expected to raise the score to alpha."""
    if not search.use_futility:
        return decision
    if search.use_late_move_reductions and search.futility_reduced_depth > 0:
        return reduced_futility(node, child, decision, search)
    if node.depth > search.futility_depth:
        return decision
    if knows_gains(node.position):
        value = node.static_eval + child.won  # cheaper than estimating the child
    else:
        value = estimate_at(node.evaluation, child.position, node.ply + 1, search)
        value = limited(value, search.win)
        value = value if child.again else -value
    value += search.futility_margin * node.depth
    if value > child.alpha or outcome(child.position)[0]:
        return decision
    search.futile += 1
    return skip(decision, value)


@compiled
def reduced_futility(node, child, decision, search):
    """Skip a move that its reduced search is not expected to raise to alpha."""
    plies = reduced_depth(node, child, search)
    if not knows_gains(node.position) or plies > search.futility_reduced_depth:
        return decision
    value = node.static_eval + child.won + search.futility_reduced_base
    value += search.futility_reduced_margin * plies
    if child.won <= 0:
        history = history_of(node, child, search)
        value += search.futility_reduced_margin * history // search.late_move_reductions_history
    if value > child.alpha:
        return decision
    search.futile += 1
    # With no depth left, none of the moves that come later in the order will do better.
    return skip(decision, value) if plies > 0 or child.won > 0 else skip_rest(decision)


@compiled
def see_pruning(node, child, forcing, decision, search):
    """Skip a move that loses more by static exchange evaluation than the depth may win back."""
    reduced = search.see_pruning_reduced != 0 and search.use_late_move_reductions != 0
    if not search.use_see_pruning or (node.depth > search.see_pruning_depth and not reduced):
        return decision
    # Captures get a wider margin: their consequences are harder to see.
    margin, plies = search.see_pruning_noisy_margin, node.depth
    if child.won <= 0 and not (reduced and forcing):
        margin = search.see_pruning_quiet_margin
        plies = reduced_depth(node, child, search) if reduced else plies
    if see_ge(node.position, child.move, -plies * margin):
        return decision
    search.losing += 1
    return skip(decision, -INFINITE)
