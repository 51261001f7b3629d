"""The memory of values: forms in one array, and the compiled arithmetic on them.

All values of a process share a memory.  When it is half full, the next value for which there is no
room gets a new one, and other values move there when they are used, so nothing ever has to be
freed one by one.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from cutnode.compiler.jit import Kernel, jit_enabled
from cutnode.compiler.rules import as_plain_python
from cutnode.contract.errors import CutnodeError
from cutnode.kernels import forms

MEMORY_BYTES = 32 << 20
MOST_TERMS = 1 << 20
"""The most terms in the tree of a value."""

Node = int | tuple[tuple[int, ...], tuple[int, ...]]
"""A form among others: a simple one is its handle, another one has options earlier in the list."""


class Values(NamedTuple):
    """The class for which the kernels are compiled."""

    word: int = 0


class Memory:
    """Forms in one array; handles are :mod:`cutnode.kernels.forms`'s.  For one thread at a time."""

    def __init__(self, size: int):
        self.words = np.zeros(forms.forms_words(size), np.uint64)
        forms.lay_out(self.words, MOST_TERMS)

    @property
    def is_half_full(self) -> bool:
        first = int(forms.first_node(self.words))
        used = int(self.words[forms.FREE]) - first
        slots, nodes = int(self.words[forms.SLOTS]), int(self.words[forms.NODES])
        return 2 * used > len(self.words) - first or 4 * nodes > slots

    def at_most(self, a: int, b: int) -> bool:
        return int(run(forms.at_most)(self.words, a, b)) == 1

    def added(self, a: int, b: int) -> int:
        if forms.is_simple(a) and forms.is_simple(b):
            return int(forms.simple_added(a, b))
        return int(run(forms.added)(self.words, a, b))

    def negative(self, a: int) -> int:
        return int(forms.negative(self.words, a))

    def form(self, left: Sequence[int], right: Sequence[int]) -> int:
        """Return the form with these options."""
        self.words[forms.TOP] = 0  # Ctrl-C may have come between pushes
        for a in (*left, *right):
            forms.push(self.words, a)
        return int(run(forms.canonical_form)(self.words, len(left), len(right)))

    def options(self, a: int, side: int) -> list[int]:
        count = forms.option_count(self.words, a, side)
        return [int(forms.option(self.words, a, side, index)) for index in range(count)]

    def both(self, a: int) -> tuple[list[int], list[int]]:
        """Return the options of both players, Left's first."""
        return self.options(a, forms.LEFT), self.options(a, forms.RIGHT)

    def tree(self, a: int) -> list[int]:
        """Return a form and all nodes below it, each after its options."""
        found: dict[int, None] = {}
        waiting = [(a, False)]
        while waiting:
            b, ready = waiting.pop()
            if b in found:
                continue
            if ready or forms.is_simple(b):
                found[b] = None
                continue
            waiting.append((b, True))
            waiting.extend((c, False) for side in self.both(b) for c in side)
        return list(found)

    def nodes(self, a: int) -> list[Node]:
        """Return a form as a list that any memory can read; it is the last entry."""
        places: dict[int, int] = {}
        listed: list[Node] = []
        for b in self.tree(a):
            places[b] = len(listed)
            if forms.is_simple(b):
                listed.append(b)
            else:
                left, right = (tuple(places[c] for c in side) for side in self.both(b))
                listed.append((left, right))
        return listed

    def read(self, nodes: Sequence[Node]) -> int:
        """Return the form of a list from :meth:`nodes`."""
        known: list[int] = []
        for node in nodes:
            if isinstance(node, int):
                known.append(node)
            else:
                left, right = ([known[place] for place in side] for side in node)
                known.append(self.form(left, right))
        return known[-1]


def run(kernel: Kernel) -> Callable[..., Any]:
    """Return a kernel that reads no positions: compiled, unless compilation is disabled."""
    return kernel.specialise(Values) if jit_enabled() else as_plain_python(kernel, Values)


lock = threading.RLock()
"""Held while the memory is used."""

_current: list[Memory] = []


def current() -> Memory:
    """Return the memory of new values."""
    if not _current:
        _current.append(Memory(MEMORY_BYTES))
    return _current[0]


def computed(compute: Callable[[Memory], int]) -> tuple[Memory, int]:
    """Return what *compute* makes in the current memory, or in a new one for want of room.

    :class:`CutnodeError` if the value is too large for either.
    """
    with lock:
        memory = current()
        a = compute(memory)
        if a == forms.NO_FORM and memory.is_half_full:
            memory = _current[0] = Memory(MEMORY_BYTES)
            a = compute(memory)
        if a == forms.NO_FORM:
            raise CutnodeError(
                f"the value is too large: it may have at most {MOST_TERMS:,} terms, "
                f"{forms.MOST_DEPTH} deep, numbers below {1 << 21:,} with denominators up to "
                f"{forms.ONE:,}, {forms.MOST_UPS} ups, and *{forms.MOST_STAR}"
            )
        return memory, a
