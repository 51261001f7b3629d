"""Units of depth, and the codes that say why a search ended."""

from __future__ import annotations

from cutnode.contract.errors import CutnodeError

RUNNING, CALLED, NODES, TIME, PLIES, PROBABILITIES, VALUE, MOVES, FULL, PLAYOUTS = range(10)
"""In order: the search is still running; it was stopped from outside; its nodes, or its time, ran
out; a line of play is longer than ``MAX_PLIES``; probabilities do not sum to 1; a value is beyond
``VALUE_LIMIT``; there are more moves than ``MAX_MOVES``, or none; the tree is full; playouts ran
out."""

DECIDED = 10
"""Another thread has decided a node of the line: the search resumes above it."""

DEPTH_IN = ("turns", "actions")
"""The units of depth, which differ if a player can move again: see ``contract.free_move``."""


def counts_turns(depth_in: str) -> int:
    """Return 1 if depth is counted in turns, 0 if in actions; else :class:`CutnodeError`."""
    if depth_in not in DEPTH_IN:
        raise CutnodeError(f"depth_in must be {' or '.join(DEPTH_IN)}, got {depth_in!r}")
    return int(depth_in == "turns")
