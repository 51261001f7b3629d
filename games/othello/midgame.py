"""What a search of limited depth knows of Othello, beside its evaluation."""

from __future__ import annotations

import math

from engine import compiled
from games.othello.discs import empties

__all__ = ["deviation"]


@compiled
def deviation(position, deep, shallow):
    """As ``cutnode lab deviation othello --depth 12 --games 40`` fits it, in discs."""
    played = position.AREA - 4 - empties(position)
    apart, known = math.log(deep - shallow), math.log(1 + shallow)
    return math.exp(0.785 + 0.0177 * played + 0.245 * apart - 0.366 * known)
