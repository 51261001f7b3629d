"""Why a search ends."""

from __future__ import annotations

__all__ = ["CALLED", "NODES", "PLIES", "PROBABILITIES", "RUNNING", "TIME", "VALUE"]

RUNNING, CALLED, NODES, TIME, PLIES, PROBABILITIES, VALUE = range(7)
"""Not; it was told to; its nodes or its time ran out; a line of play is longer than the
game said; probabilities are none; a value is further from zero than the game said."""
