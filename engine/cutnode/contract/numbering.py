"""Keys for positions that have none: a number for each, so that no two share one."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Hashable
from typing import Any

MOST_KNOWN = 500_000
"""So many positions are remembered at a time."""


class Numbering:
    """Numbers, the same only for equal positions.

    A number is never given twice, so it does no harm to forget which position had which,
    unless positions can recur (*forgets* is false then).
    """

    def __init__(self, forgets: bool):
        self._forgets = forgets
        self._known: dict[Hashable, int] = {}
        self._next = itertools.count(1)

    def __call__(self, position: Hashable) -> int:
        number = self._known.get(position)
        if number is None:
            if self._forgets and len(self._known) >= MOST_KNOWN:
                self._known.clear()
            number = self._known[position] = next(self._next)
        return number


@functools.cache
def numbering(cls: Any, forgets: bool) -> Numbering:
    """The numbering of a class of positions."""
    return Numbering(forgets)
