"""What a search of limited depth knows of Othello, beside its evaluation."""

from __future__ import annotations

from engine import compiled, popcount
from games.othello.discs import mobility

__all__ = ["deviation", "evaluate_mobility"]


@compiled
def evaluate_mobility(position):
    """The mover's moves, for comparison with programs that count them."""
    return popcount(mobility(position))


@compiled
def deviation(position, deep, shallow):
    return 1.0 + 0.4 * (deep - shallow)
