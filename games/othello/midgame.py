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
    """As ``cutnode lab deviation othello --depth 12 --games 40`` fits it, in discs."""
    played = position.AREA - 4 - empties(position)
    apart, known = math.log(deep - shallow), math.log(1 + shallow)
    return math.exp(0.785 + 0.0177 * played + 0.245 * apart - 0.366 * known)
