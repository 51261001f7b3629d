"""How depth is counted, and why a search ends."""

from __future__ import annotations

from engine.contract.errors import CutnodeError

__all__ = [
    "CALLED",
    "DEPTH_IN",
    "MOVES",
    "NODES",
    "PLIES",
    "PROBABILITIES",
    "RUNNING",
    "TIME",
    "VALUE",
    "counts_turns",
]

RUNNING, CALLED, NODES, TIME, PLIES, PROBABILITIES, VALUE, MOVES = range(8)
"""Not; it was told to; its nodes or its time ran out; a line of play is longer than the
game said; probabilities are none; a value is further from zero than the game said; there are
more moves than it said, or none."""

DEPTH_IN = ("turns", "actions")
"""What a ply of depth can be, where a player can move again: see ``contract.free_move``."""


def counts_turns(depth_in: str) -> int:
    """1 if depth is counted in turns, 0 if in actions; :class:`CutnodeError` if in neither."""
    if depth_in not in DEPTH_IN:
        raise CutnodeError(f"depth is counted in {' or '.join(DEPTH_IN)}, not in {depth_in!r}")
    return int(depth_in == "turns")
