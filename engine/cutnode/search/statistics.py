"""The counts of a search, and what follows from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class Statistics:
    """Counts of a search, over all iterations.  A node is a position visited.

    Interior nodes are of three types, by how they turned out: *pv* with a score inside
    the window, *cut* at or above it, *all* at or below.
    """

    nodes: int
    """Positions visited, those of quiescence included."""
    quiet_nodes: int
    """Those of quiescence."""
    leaves: int
    """Positions where a line ended: finished, repeated, or estimated."""
    pv_nodes: int
    """Nodes whose score was inside the window."""
    cut_nodes: int
    """Nodes whose score was at or above beta: they failed high."""
    all_nodes: int
    """Nodes whose score was at or below alpha: they failed low."""
    deepest: int
    """Plies of the longest line (selective depth)."""
    cutoffs: int
    """Cutoffs by a move that was searched."""
    first_cutoffs: int
    """By the first move searched."""
    table_move_cutoffs: int
    """By the move that the table knew."""
    killer_cutoffs: int
    """By a killer."""
    branches_cut: int
    """Moves that no longer had to be searched after a cutoff."""
    probes: int
    """Positions looked up in the table."""
    hits: int
    """Those found there."""
    table_cutoffs: int
    """Nodes that an entry decided."""
    enhanced_cutoffs: int
    """By an entry of a child, before one was searched."""
    stores: int
    """Entries written to the table."""
    overwrites: int
    """Stores for which another position of the same search gave way."""
    pvs_researches: int
    """Moves searched again with an open window, as their null window failed high."""
    reductions: int
    """Moves searched less deep (late move reductions)."""
    reduction_researches: int
    """Those searched again to the full depth."""
    null_tries: int
    """Null moves made."""
    null_cutoffs: int
    """Null moves that were good enough."""
    probcut_tries: int
    """Shallow searches of ProbCut."""
    probcut_cutoffs: int
    """Those that decided a node."""
    reverse_cutoffs: int
    """Nodes that ended far above beta (reverse futility pruning)."""
    razored: int
    """Nodes left to quiescence, far below alpha."""
    futile: int
    """Moves skipped because they could not raise alpha."""
    late: int
    """Moves skipped because they came last."""
    losing: int
    """Moves skipped because they lose by exchanges."""
    extended: int
    """Moves searched deeper (extensions)."""
    singular_cutoffs: int
    """When two moves were good enough, in a test whether one is."""
    distance_cutoffs: int
    """Nodes where a win would come too late to matter (mate-distance pruning)."""
    chance_nodes: int
    """Positions where chance decides."""
    star1_cutoffs: int
    """Chance events that were decided before all their outcomes were searched."""
    star2_probes: int
    """Outcomes of which one move was tried first."""
    star2_cutoffs: int
    """Chance events that such moves decided."""
    aspiration_researches: int
    """Iterations searched again, as the score fell outside their window."""
    depth: int
    """Plies of the last iteration that was completed."""
    seconds: float
    """Seconds spent."""
    fill: float
    """The part of the table's entries that this table has in use."""
    counters: Mapping[str, int] = field(default_factory=dict)
    """What techniques from outside the engine count, as ``TECHNIQUE.COUNTER``."""
    proof_nodes: int = 0
    """Positions that an attempt to prove the value visited.  They are not among *nodes*, and those
    of the line and of the other moves are in neither."""

    @classmethod
    def nothing(cls) -> Self:
        """Return the counts of a search that had nothing to do."""
        counts: dict[str, Any] = {each.name: 0 for each in fields(cls)}
        return cls(**counts | {"counters": {}})

    @property
    def interior(self) -> int:
        """The nodes whose moves were searched."""
        return self.pv_nodes + self.cut_nodes + self.all_nodes

    @property
    def pruned(self) -> int:
        """Branches not searched: after cutoffs, and skipped."""
        return self.branches_cut + self.futile + self.late + self.losing

    @property
    def first_cutoff_rate(self) -> float:
        """The share of cutoffs that the first move gave: how good the order is."""
        return self.first_cutoffs / self.cutoffs if self.cutoffs else 0.0

    @property
    def effective_branching(self) -> float:
        """The width of the uniform tree of this depth with as many nodes: nodes ** (1 / depth)."""
        return float(self.nodes ** (1 / self.depth)) if self.depth > 0 else 0.0

    @property
    def mean_branching(self) -> float:
        """Children visited by an interior node, on average."""
        return (self.nodes - 1) / self.interior if self.interior else 0.0

    @property
    def nodes_per_second(self) -> float:
        """The rate; 0 if no time was measured."""
        nodes = self.nodes + self.proof_nodes
        return nodes / self.seconds if self.seconds > 0 else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return plain data: all counts, and what follows from them."""
        derived = ("interior", "pruned", "first_cutoff_rate", "effective_branching")
        more = ("mean_branching", "nodes_per_second")
        counts = asdict(self)
        counters = counts.pop("counters")
        counts |= {name: getattr(self, name) for name in (*derived, *more)}
        return counts | ({"counters": counters} if counters else {})
