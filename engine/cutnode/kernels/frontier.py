"""The last plies of a search in games that order nothing: plain alpha-beta, without the table.

Where a game says nothing about its moves and positions, a node near the leaves is cheaper to search
than to look up, to rank and to learn from.  What is stored and learned above the frontier saves
most of the nodes all the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from cutnode.compiler.jit import Evaluator, Position, compiled, kernel
from cutnode.contract.derived import is_ordered, most_moves, orders_nothing
from cutnode.contract.dispatch import derived
from cutnode.contract.stop import MOVES, RUNNING
from cutnode.contract.verbs import INFINITE, NO_MOVE, moves, moves_again, play
from cutnode.kernels.node import (
    Node,
    SearchMemory,
    begin_node,
    count_cutoff,
    count_kind,
    end_of_line,
    extend_line,
    leaf_score,
    settle_estimates,
)
from cutnode.kernels.reference import after_move, or_lost, report_violation


@compiled
def is_frontier(position, depth, ply, search):
    """Return whether :func:`frontier_score` searches the rest of a node's depth."""
    if not orders_nothing(position) or depth > search.frontier:
        return False
    # The root and a singular search leave moves out.
    return ply > 0 and search.excluded_move[ply] == NO_MOVE


@derived
def frontier_score(cls: type) -> Callable[..., Any]:
    """``frontier_score(position, evaluation, node, search)``: the score of a node at the frontier.

    Other games do not compile its code.
    """
    if is_ordered(cls):
        return lambda position, evaluation, node, search: 0
    return _rest_of_depth


@compiled
def _rest_of_depth(position, evaluation, node, search):
    return frontier_node(position, evaluation, node, search)


@kernel
def frontier_node(
    position: Position, evaluation: Evaluator, node: Node, search: SearchMemory
) -> int:
    """Return the score of a position within a window, fail-soft, as ``search_node`` does."""
    alpha, beta, depth, ply, steps, actions, top, _ = node
    if ply >= search.plies or depth <= 0:
        return leaf_score(position, evaluation, ply, steps, search)
    if begin_node(ply, search):
        return alpha
    over, value = end_of_line(position, ply, steps, search)
    if over:
        return value
    end = moves(position, search.moves, top)
    if not 0 < end - top <= most_moves(position):
        report_violation(position, MOVES, search)
        return alpha
    estimates = search.estimates
    best, best_proven, all_proven = -INFINITE, False, True
    for at in range(top, end):
        move = search.moves[at]
        child = play(position, move)
        again = moves_again(position, child)
        child_steps, child_actions, free = after_move(position, move, child, steps, actions, search)
        before = search.estimates
        plies = depth if free else depth - 1
        if plies > 0:
            low, high = (alpha, beta) if again else (-beta, -alpha)
            below = Node(low, high, plies, ply + 1, child_steps, child_actions, end, move)
            value = frontier_node(child, evaluation, below, search)
        else:
            value = leaf_score(child, evaluation, ply + 1, child_steps, search)
        value = value if again else -value
        if search.stop != RUNNING:
            return alpha
        proven = search.estimates == before
        all_proven &= proven
        if value > best:
            best, best_proven = value, proven
            if value > alpha:
                extend_line(search, ply, move)
                if value >= beta:
                    searched = np.int64(at - top + 1)
                    count_cutoff(search, move, NO_MOVE, ply, searched, end - at - 1)
                    break
                alpha = value
    best = or_lost(position, best, ply, search)
    count_kind(search, best, node.alpha, beta)
    settle_estimates(all_proven or (best >= beta and best_proven), estimates, search)
    return best
