"""Why a search ends."""

from __future__ import annotations

__all__ = ["CALLED", "NODES", "PLIES", "RUNNING", "TIME"]

RUNNING, CALLED, NODES, TIME, PLIES = range(5)
"""Not; it was told to; its nodes or its time ran out; a line of play is longer than the
game said."""
