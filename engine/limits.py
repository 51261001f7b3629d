"""Why a search ends."""

from __future__ import annotations

__all__ = ["CALLED", "NODES", "PLIES", "RUNNING"]

RUNNING, CALLED, NODES, PLIES = range(4)
"""Not; it was told to; its nodes ran out; a line of play is longer than the game said."""
