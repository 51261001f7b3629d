"""Units of depth, and the codes with which a search says why it ended."""

from __future__ import annotations

from cutnode.contract.errors import CutnodeError

RUNNING, CALLED, NODES, TIME, PLIES, PROBABILITIES, VALUE, MOVES, FULL, PLAYOUTS = range(10)
"""It still runs; it was stopped from outside; its nodes or its time ran out; a line of play is
longer than ``MAX_PLIES``; probabilities do not sum to one; a value is beyond ``VALUE_LIMIT``; there
are more moves than ``MAX_MOVES``, or none; a tree has no room for more nodes; playouts ran out."""

DEPTH_IN = ("turns", "actions")
"""What a ply of depth can be, where a player can move again: see ``contract.free_move``."""


def counts_turns(depth_in: str) -> int:
    """Return 1 if depth is counted in turns, 0 if in actions; else :class:`CutnodeError`."""
    if depth_in not in DEPTH_IN:
        raise CutnodeError(f"depth is counted in {' or '.join(DEPTH_IN)}, not in {depth_in!r}")
    return int(depth_in == "turns")
