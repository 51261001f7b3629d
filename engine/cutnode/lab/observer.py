"""A technique that changes nothing, and counts what happens in nodes.

Machine code with its hooks is made only where a study asks for it, so other searches pay nothing.
The counts are arrays in the memory of the search, by the names of :data:`OBSERVER`'s memory.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cutnode.compiler.jit import compiled
from cutnode.contract.counting import count_moves
from cutnode.kernels.declarations import Technique
from cutnode.kernels.parameters import MOST_DEPTH

MOST_INDEX = 64
"""Cutoffs by later moves than that are counted together."""

MOST_PLIES = 128
"""So are nodes that are more plies from the root."""

KINDS = ("PV", "expected cut", "expected all")
"""Kinds of nodes as a search expects them: those with an open window; and of those with a null
window the ones where a cutoff is expected, and the others."""

DEPTHS = MOST_DEPTH + 1


@compiled
def count_child(node, child, value, search):  # type: ignore[no-untyped-def]
    """Count a node and its moves, when the first of them was searched."""
    if child.searched == 0:
        ply = min(node.ply, MOST_PLIES - 1)
        search.observer_nodes[ply] += 1
        search.observer_moves[ply] += count_moves(node.position)


@compiled
def count_cutoff(node, child, search):  # type: ignore[no-untyped-def]
    """Count a cutoff by the number of its move, and by the kind and the depth of its node."""
    search.observer_index[min(child.searched, MOST_INDEX - 1)] += 1
    kind = 0 if node.in_pv else (1 if node.cut_node else 2)
    place = kind * DEPTHS + min(max(node.depth, 0), MOST_DEPTH)
    search.observer_cutoffs[place] += 1
    search.observer_first[place] += child.searched == 0


OBSERVER = Technique(
    "observer",
    exact=True,
    about="count what happens in nodes",
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
    """Return the counts of a search: nodes and their moves by ply, cutoffs by the number of the
    move, and by kind and depth all cutoffs and those by the first move.
    """
    counts = {name: np.array(memory.words[OBSERVER.field(name)]) for name in OBSERVER.memory}
    for name in ("cutoffs", "first"):
        counts[name] = counts[name].reshape(len(KINDS), DEPTHS)
    return counts
