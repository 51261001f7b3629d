"""What a search of limited depth knows of Othello, beside its evaluation."""

from __future__ import annotations

import math

from engine import compiled, popcount
from games.othello.discs import empties, mobility

__all__ = ["deviation", "evaluate_mobility"]


@compiled
def evaluate_mobility(position):
    """The mover's moves, for comparison with programs that count them."""
    return popcount(mobility(position))


@compiled
def deviation(position, deep, shallow):
    """As ``cutnode lab deviation othello --depth 10`` fits it, in discs."""
    played = position.AREA - 4 - empties(position)
    apart, known = math.log(deep - shallow), math.log(1 + shallow)
    return math.exp(1.08 + 0.0097 * played + 0.3 * apart - 0.375 * known)
