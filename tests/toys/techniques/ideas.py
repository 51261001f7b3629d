"""Techniques from outside the engine, as users write them: most of them published."""

import math

from cutnode import NO_MOVE, Parameter, Technique, compiled
from cutnode.hooks import cut, history_score, quiet_score, reduce, skip, with_tests

# Multi-cut: cut if several of the first moves fail high in shallower searches.


@compiled
def tests_first_moves(node, plan, search):
    wanted = node.can_prune and node.cut_node and node.depth > search.multicut_reduction
    if not wanted:
        return plan
    search.multicut_found[node.ply] = 0
    search.multicut_tests += 1
    return with_tests(
        plan, search.multicut_moves, node.depth - 1 - search.multicut_reduction, node.beta
    )


@compiled
def counts_cutoffs(node, child, value, search):
    search.multicut_found[node.ply] += value >= node.beta
    return search.multicut_found[node.ply] >= search.multicut_cuts


multicut = Technique(
    "multicut",
    exact=False,
    about="cut if several of the first moves would, at reduced depth",
    source='Y. Björnsson and T. Marsland, "Multi-cut pruning in alpha-beta search" (1999)',
    parameters=(
        Parameter("moves", 6, 1, 64, "moves to test"),
        Parameter("cuts", 3, 1, 64, "how many of them have to cut"),
        Parameter("reduction", 2, 1, 16, "plies by which a test is shallower"),
    ),
    memory={"found": 128},
    counters=("tests",),
    before_moves=tests_first_moves,
    after_test=counts_cutoffs,
)

# Enhanced forward pruning: multi-cut at expected all-nodes.


@compiled
def tests_all_nodes(node, plan, search):
    depth = node.depth - 1 - search.forward_pruning_reduction
    if not node.can_prune or node.cut_node or depth < 1:
        return plan
    search.forward_pruning_found[node.ply] = 0
    search.forward_pruning_tests += 1
    return with_tests(plan, search.forward_pruning_moves, depth, node.beta)


@compiled
def counts_all_nodes(node, child, value, search):
    search.forward_pruning_found[node.ply] += value >= node.beta
    return search.forward_pruning_found[node.ply] >= search.forward_pruning_cuts


forward_pruning = Technique(
    "forward_pruning",
    exact=False,
    about="multi-cut at expected all-nodes",
    source='M. Winands et al., "Enhanced forward pruning" (2005)',
    parameters=(
        Parameter("moves", 4, 1, 64, "moves to test"),
        Parameter("cuts", 2, 1, 64, "how many of them have to cut"),
        Parameter("reduction", 2, 1, 16, "plies by which a test is shallower"),
    ),
    memory={"found": 128},
    counters=("tests",),
    before_moves=tests_all_nodes,
    after_test=counts_all_nodes,
)

# History pruning: skip moves near the leaves that have rarely caused a cutoff.


@compiled
def skips_bad_history(node, child, decision, search):
    if not child.may_skip or node.depth > search.history_pruning_depth or child.won > 0:
        return decision
    if history_score(node, child.move, search) >= -search.history_pruning_limit * node.depth:
        return decision
    search.history_pruning_skipped += 1
    return skip(decision)


history_pruning = Technique(
    "history_pruning",
    exact=False,
    about="near the leaves, skip moves that rarely cut",
    parameters=(
        Parameter("depth", 3, 0, 63, "the greatest depth"),
        Parameter("limit", 16, 0, 16384, "history score per ply of depth"),
    ),
    counters=("skipped",),
    before_child=skips_bad_history,
)

# Late move reductions by a custom formula.


@compiled
def reduces_by_root(node, child, decision, search):
    if node.depth < 3 or child.searched < 2 or node.in_pv:
        return decision
    plies = search.root_reductions_factor * math.sqrt(node.depth) * math.sqrt(child.searched)
    search.root_reductions_reduced += 1
    return reduce(decision, plies)


root_reductions = Technique(
    "root_reductions",
    exact=False,
    about="reduce late moves by the square roots of depth and move number",
    parameters=(Parameter("factor", 0.6, 0, 8, "multiplies the product of both roots"),),
    counters=("reduced",),
    before_child=reduces_by_root,
)

# The engine's own reverse futility pruning, and razoring by its quiescence search.


@compiled
def cuts_far_above(node, plan, search):
    depth = node.depth if node.improving else node.depth + 1
    wanted = node.can_prune and node.depth <= search.far_above_depth
    if wanted and node.static_eval - search.far_above_margin * depth >= node.beta:
        return cut(node.static_eval)
    return plan


far_above = Technique(
    "far_above",
    exact=False,
    about="stop when far above beta near the leaves",
    needs="UNIT",
    parameters=(
        Parameter("depth", 4, 0, 63, "the greatest depth"),
        Parameter("margin", 1.0, 0, 100, "per ply of depth", margin=True),
    ),
    estimates=True,
    before_moves=cuts_far_above,
)


@compiled
def confirms(node, plan, search):
    if not node.can_prune or node.depth > 2 or node.static_eval > node.alpha:
        return plan
    value = quiet_score(node, search)
    if value > node.alpha:
        return plan
    search.confirmed_cuts += 1
    return cut(value)


confirmed = Technique(
    "confirmed",
    exact=False,
    about="trust quiescence below alpha",
    counters=("cuts",),
    estimates=True,
    before_moves=confirms,
)

# Exact: move ordering by how often a move was best, and a technique that only counts.


@compiled
def prefers_best(node, move, search):
    return search.best_moves_times[move % 4096]


@compiled
def remembers_best(node, child, search):
    search.best_moves_times[child.move % 4096] += node.depth * node.depth


best_moves = Technique(
    "best_moves",
    exact=True,
    about="first search moves that cut elsewhere",
    memory={"times": 4096},
    rank=prefers_best,
    on_cutoff=remembers_best,
)


@compiled
def counts_moves(node, child, value, search):
    search.observer_searched += 1
    search.observer_table += child.move == node.tt_move and node.tt_move != NO_MOVE
    search.observer_at[min(child.at - child.first, 63)] += 1


observer = Technique(
    "observer",
    exact=True,
    about="count the moves that are searched",
    memory={"at": 64},
    counters=("searched", "table"),
    after_child=counts_moves,
)
