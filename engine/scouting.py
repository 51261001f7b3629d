"""Before a proof: a search of limited depth says what to ask first, and leaves its moves.

The solver asks whether the value is at least so much, and is told what to ask by a guess; and
of each position it wants a move that refutes.  A search by estimates answers both at a
thousandth of the cost of the proof, in games whose estimates foretell values.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from engine.contract import INFINITE, defines, outcome, scout
from engine.parameters import SCOUTING_SHARE
from engine.positions import coerce
from engine.runner import Limits, Scouting
from engine.searcher import Engine
from engine.table import Table

__all__ = ["scouting"]


def scouting(positions: Sequence[Any], table: Table, limits: Limits) -> Scouting | None:
    """Search positions of one class as deep as their game says; None if it says nothing.

    It takes at most ``1 / SCOUTING_SHARE`` of the *limits* of each position.
    """
    cls = type(positions[0])
    if not defines(cls, "scout"):
        return None
    depths = [0 if outcome(position)[0] else scout(position) for position in positions]
    if not any(depths):
        return None
    table.claim(cls)
    engine = Engine(cls, table=table)
    guesses = [INFINITE] * len(positions)
    nodes, seconds = [0] * len(positions), [0.0] * len(positions)
    stop = limits.stop or threading.Event()
    for number, (position, depth) in enumerate(zip(positions, depths, strict=True)):
        if depth > 0 and not stop.is_set():
            result = engine.search(
                coerce(position),
                depth=depth,
                nodes=limits.nodes and max(1, limits.nodes // SCOUTING_SHARE),
                seconds=limits.seconds and limits.seconds / SCOUTING_SHARE,
                stop=stop,
            )
            nodes[number], seconds[number] = result.nodes, result.seconds
            if result.depth > 0:
                guesses[number] = int(result.value)
    return Scouting(guesses, int(engine.words["purpose"][0]), nodes, seconds)
