"""Extensions and reductions: hooks of the engine's own techniques.

See ``cutnode.kernels.hooks`` for their arguments and their results.
"""

from __future__ import annotations

import numpy as np

from cutnode.compiler.jit import compiled
from cutnode.contract.derived import knows_gains
from cutnode.contract.verbs import NO_MOVE, extension, gain
from cutnode.kernels.hooks import extend, history_score, reduce
from cutnode.kernels.ordering import continuation_score, pattern_of
from cutnode.kernels.parameters import MOST_DEPTH


@compiled
def leaves_little_choice(node, child, search):
    """Return whether a move leaves the other player little choice, such as check."""
    return search.use_extensions != 0 and extension(node.position, child.move, child.position) > 0


@compiled
def extensions(node, child, decision, search):
    """Extend a move that leaves little choice, unless the line has grown too long."""
    if node.depth >= search.extensions_depth and node.ply < 2 * node.depth:
        return extend(decision, extension(node.position, child.move, child.position))
    return decision


@compiled
def reduced_depth(node, child, search):
    """Return the depth of a move after its usual reduction, which does not depend on the move."""
    number = min(child.searched, 63)
    reduction = search.lmr_reductions[min(node.depth, MOST_DEPTH) * 64 + number]
    return max(node.depth - 1 - reduction - np.int64(not node.improving), 0)


@compiled
def history_of(node, child, search):
    """Return the history of a move at a node, by both histories."""
    history = history_score(node, child.move, search)
    if search.use_continuation_history:
        index = pattern_of(node.position, child.move)
        history += continuation_score(search, index, node.ply)
    return history


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
    # Where the hash move is noisy, quiet moves will hardly do.
    tt_noisy = node.tt_move != NO_MOVE and gain(node.position, node.tt_move) > 0
    reduction += np.int64(tt_noisy)
    return reduction - history_of(node, child, search) // search.late_move_reductions_history
