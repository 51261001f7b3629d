"""Othello in searches of limited depth, apart from its evaluation."""

from __future__ import annotations

import math

from cutnode import compiled
from cutnode.games.othello.discs import empties

__all__ = ["deviation"]


@compiled
def deviation(position, deep, shallow):
    """Return the deviation in discs, as ``cutnode lab deviation`` fits it.

    The command was ``cutnode lab deviation othello --depth 10 --games 40``.
    """
    played = position.AREA - 4 - empties(position)
    apart, known = math.log(deep - shallow), math.log(1 + shallow)
    return math.exp(0.651 + 0.0195 * played + 0.292 * apart - 0.327 * known)
