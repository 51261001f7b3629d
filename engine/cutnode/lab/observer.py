"""A technique that changes nothing, and counts nodes, moves and cutoffs.

Code with its hooks is compiled only for a study that uses it, so other searches pay nothing.
The counts are arrays in the memory of the search, under the names in :data:`OBSERVER`'s memory.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cutnode.compiler.jit import compiled
from cutnode.contract.counting import count_moves
from cutnode.kernels.declarations import Technique
from cutnode.kernels.parameters import MOST_DEPTH

MOST_INDEX = 64
"""The number of counted moves; the last also counts cutoffs by later moves."""

MOST_PLIES = 128
"""The number of counted plies; the last also counts nodes further from the root."""

KINDS = ("PV", "expected cut", "expected all")
"""The node types that a search expects: PV nodes (open window), cut-nodes and all-nodes."""

DEPTHS = MOST_DEPTH + 1


@compiled
def count_child(node, child, value, search):  # type: ignore[no-untyped-def]
    """Count a node and its moves, once its first move has been searched."""
    if child.searched == 0:
        ply = min(node.ply, MOST_PLIES - 1)
        search.observer_nodes[ply] += 1
        search.observer_moves[ply] += count_moves(node.position)


@compiled
def count_cutoff(node, child, search):  # type: ignore[no-untyped-def]
    """Count a cutoff by its move number, and by its node's expected type and depth."""
    search.observer_index[min(child.searched, MOST_INDEX - 1)] += 1
    kind = 0 if node.in_pv else (1 if node.cut_node else 2)
    place = kind * DEPTHS + min(max(node.depth, 0), MOST_DEPTH)
    search.observer_cutoffs[place] += 1
    search.observer_first[place] += child.searched == 0


OBSERVER = Technique(
    "observer",
    exact=True,
    about="count nodes, moves and cutoffs",
    memory={
        "nodes": MOST_PLIES,
        "moves": MOST_PLIES,
        "index": MOST_INDEX,
        "cutoffs": len(KINDS) * DEPTHS,
        "first": len(KINDS) * DEPTHS,
    },
    after_child=count_child,
    on_cutoff=count_cutoff,
)


def counts_of(memory: Any) -> dict[str, np.ndarray[Any, Any]]:
    """Return the counts of a search.

    Nodes and their moves by ply, cutoffs by move number, and all cutoffs and first-move cutoffs by
    node type and depth.
    """
    counts = {name: np.array(memory.words[OBSERVER.field(name)]) for name in OBSERVER.memory}
    for name in ("cutoffs", "first"):
        counts[name] = counts[name].reshape(len(KINDS), DEPTHS)
    return counts
