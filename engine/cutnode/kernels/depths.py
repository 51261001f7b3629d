"""Extensions and reductions: hooks of the engine's own techniques.

See ``cutnode.kernels.hooks`` for their arguments and their results.
"""

from __future__ import annotations

import numpy as np

from cutnode.compiler.jit import compiled
from cutnode.contract.derived import knows_gains
from cutnode.contract.verbs import extension
from cutnode.kernels.hooks import extend, reduce
from cutnode.kernels.ordering import continuation_score
from cutnode.kernels.parameters import HISTORY_SIZE, MOST_DEPTH


@compiled
def extensions(node, child, decision, search):
    """Extend a move that leaves little choice, unless the line has grown too long."""
    if search.use_extensions and node.ply < 2 * node.depth:
        return extend(decision, extension(node.position, child.move, child.position))
    return decision


@compiled
def late_move_reductions(node, child, decision, search):
    """Reduce the depth of a late move."""
    if not search.use_late_move_reductions or node.depth < search.late_move_reductions_depth:
        return decision
    if child.searched < search.late_move_reductions_moves:
        return decision
    depth, number = min(node.depth, MOST_DEPTH), min(child.searched, 63)
    reduction = search.lmr_reductions[depth * 64 + number]
    # The table grows with depth and move number; the terms reduce less where more is at stake, and
    # more where a cutoff is expected anyway.
    if knows_gains(node.position) and search.late_move_reductions_terms:
        reduction += np.int64(not node.improving) - np.int64(node.in_pv) - np.int64(node.in_check)
        reduction += search.late_move_reductions_cut_nodes * node.cut_node
        reduction = reduction_terms(node, child, reduction, search)
    elif node.in_pv:
        return decision
    return reduce(decision, reduction)


@compiled
def reduction_terms(node, child, reduction, search):
    """Adjust a reduction to the move: noisy, a killer, or one with a good or bad history."""
    # History changes the reduction by a ply or two, in either direction.
    reduction -= np.int64(child.move == search.killers[2 * node.ply])
    if child.won > 0:
        return reduction // 2
    history = search.history[node.mover * HISTORY_SIZE + child.move % HISTORY_SIZE]
    if search.use_continuation_history:
        history += continuation_score(search, search.patterns[node.ply + 2], node.ply)
    return reduction - history // search.late_move_reductions_history
