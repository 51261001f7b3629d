"""Before a proof: a search of limited depth says what to ask first, and leaves its moves.

The solver asks whether the value is at least so much, beginning with a guess; and of each
position it wants a move that refutes.  A search by estimates answers both at a
thousandth of the cost of the proof, in games whose estimates foretell values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from cutnode.contract.dispatch import defines
from cutnode.contract.positions import coerce
from cutnode.contract.verbs import INFINITE, outcome, scout
from cutnode.kernels.parameters import MOST_DEPTH, SCOUTING_SHARE
from cutnode.runtime.running import Limits
from cutnode.search.searcher import Searcher
from cutnode.storage.tables import Table


@dataclass(frozen=True, slots=True)
class Scouting:
    """The results of searches of limited depth that go before the proofs of positions."""

    guesses: list[int]
    """The score of each position, or ``INFINITE`` if it was not searched."""
    purpose: int
    """Part of the keys under which the searches left their moves in the table."""
    nodes: list[int]
    seconds: list[float]
    left: Limits
    """The limits that are left to the proof of each."""
    ended: str
    """Why the searches, and so the proofs, were ended early; "" if they were not."""


def scouting(
    positions: Sequence[Any],
    table: Table,
    limits: Limits,
    *,
    cold: bool = False,
    searcher: Searcher | None = None,
) -> Scouting | None:
    """Search positions of one class as deep as their game says; return None if it does not.

    It takes at most ``1 / SCOUTING_SHARE`` of the *limits* of each position, and the proof has
    the rest.  *cold*: what is found of a position does not depend on the others.  *searcher* is one
    with that table and the techniques of the game, by default a new one.
    """
    cls = type(positions[0])
    if not defines(cls, "scout"):
        return None
    depths = [0 if outcome(position)[0] else scout(position) for position in positions]
    if not any(depths) or (limits.nodes is not None and limits.nodes < SCOUTING_SHARE):
        return None
    table.claim(cls)
    if searcher is None:
        searcher = Searcher(cls, table=table)
    guesses = [INFINITE] * len(positions)
    nodes, seconds = [0] * len(positions), [0.0] * len(positions)
    ended = ""
    for number, (position, depth) in enumerate(zip(positions, depths, strict=True)):
        if depth > 0 and not ended:
            if cold:
                table.forget()
            if cold or number == 0:
                searcher.unlearn()
            result = searcher.search(
                coerce(position),
                depth=min(depth, MOST_DEPTH),
                nodes=limits.nodes and limits.nodes // SCOUTING_SHARE,
                seconds=limits.seconds and limits.seconds / SCOUTING_SHARE,
                stop=limits.stop,
            )
            nodes[number], seconds[number] = result.nodes, result.seconds
            if result.depth > 0:
                guesses[number] = int(result.value)
            if result.reason in ("stopped", "interrupted"):
                ended = result.reason
    left = replace(
        limits,
        nodes=limits.nodes and max(1, limits.nodes - max(nodes)),
        seconds=limits.seconds and max(1e-3, limits.seconds - max(seconds)),
    )
    return Scouting(guesses, int(searcher.words["purpose"][0]), nodes, seconds, left, ended)
