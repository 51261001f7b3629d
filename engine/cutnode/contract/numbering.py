"""Keys for positions that have none: a unique number for each position."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Hashable
from typing import Any

MOST_KNOWN = 500_000
"""The most positions that are remembered at a time."""


class Numbering:
    """A numbering in which only equal positions have the same number.

    A number is never given to two positions, so forgetting which position had which does no harm
    unless positions can recur; *forgets* is False then.
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
    """Return the numbering of a class of positions."""
    return Numbering(forgets)
