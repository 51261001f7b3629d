# mypy: disallow-untyped-calls=False
"""Multi-cut pruning, a technique that the engine has only at singular moves."""

from __future__ import annotations

from cutnode.compiler.jit import compiled
from cutnode.hooks import with_tests
from cutnode.kernels.declarations import Technique

MOVES, CUTOFFS, REDUCTION, LEAST_DEPTH = 6, 3, 2, 4
"""The moves to test, the cutoffs that are enough, the plies of reduction, and the least depth."""


@compiled
def before_moves(node, plan, search):  # type: ignore[no-untyped-def]
    """Ask for tests of the first moves at an expected cut-node."""
    if not node.can_prune or not node.cut_node or node.depth < LEAST_DEPTH:
        return plan
    search.multi_cut_found[node.ply] = 0
    return with_tests(plan, MOVES, node.depth - 1 - REDUCTION, node.beta)


@compiled
def after_test(node, child, value, search):  # type: ignore[no-untyped-def]
    """Cut the node if enough moves have failed high."""
    search.multi_cut_found[node.ply] += value >= node.beta
    return search.multi_cut_found[node.ply] >= CUTOFFS


MULTI_CUT = Technique(
    "multi_cut",
    exact=False,
    about="cut if three of six moves fail high at a reduced depth",
    source="Y. Bjornsson and T. Marsland (1999)",
    memory={"found": 128},
    before_moves=before_moves,
    after_test=after_test,
)
