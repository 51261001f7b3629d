"""The questions to ask of a position that is split, and what the answers say of it.

The root is asked null-window questions, as by the solver's driver: is the value at least so
much?  Within one question the top of the tree is a tree of yes and no, and which leaf to ask
about next is chosen by proof numbers: the leaf that is in the smallest set of leaves of which
all answered yes would make a yes at the root, and in the smallest for a no (L. V. Allis et al.,
"Proof-number search", 1994).  Leaves that are asked and have not answered count as if they had
answered what the root expects, so the next choice is another of the same set: the *virtual
win* of I-C. Wu et al., "Job-level proof number search" (2013).  When nothing is left to ask
under these assumptions, workers that have nothing to do work ahead, which may turn out to be
wasted: on what would be asked if the root expects the wrong answer, and then on the next
question at the root.

An answer is a bound of a leaf, true for ever, whatever is asked at the root then.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cutnode.cluster.top import Top
from cutnode.contract.dispatch import MAX_VALUE
from cutnode.contract.verbs import NO_MOVE
from cutnode.kernels.graph import GRAPH, Graph
from cutnode.kernels.parameters import FAR_FRACTION
from cutnode.kernels.solver import question
from cutnode.kernels.splitting import choose, mark_needed, renew_above, renew_all

AHEAD = 2
"""For each so many leaves in flight, one more may be asked for the next question at the root.  Of
256 pretended workers with a table the speed-up at 6 plies is 27 with 2 (Connect Four after
44444), 31 with 4, 20 without this limit and 29 if none are asked; of 64 it is 35, 26, 36, 26."""


class Split:
    """A position that is split into the leaves of a :class:`Top`, and what is known of them.

    *weak* asks only for the winner, and *guess* is asked first.
    """

    def __init__(self, top: Top, *, weak: bool = False, guess: int | None = None):
        self.top = top
        self.weak = weak
        self.nodes = top.nodes
        self.asked = 0
        self.in_flight: set[int] = set()
        """The leaves that are asked, and have not answered."""
        self._ahead: set[int] = set()
        """Those of them that are asked what will matter only at the next question."""
        kernels = renew_all, renew_above, choose, mark_needed
        self._renew_all, self._renew, self._choose, self._mark_needed = (
            kernel.specialise(Graph) for kernel in kernels
        )
        self._queue = np.zeros(len(self.nodes), np.int32)
        root = self.nodes[0]
        self._least = int(root.low)
        if top.first_move == NO_MOVE and root.count > 0:
            root.low = -MAX_VALUE  # a move has to show what the game says
        self._ask_of_all(0)
        bounded = top.bounded and guess is None
        self._near = (self.upper - self.lower) // FAR_FRACTION if bounded else 2 * MAX_VALUE
        self._guess = 0 if guess is None else guess
        self._ask()

    @property
    def lower(self) -> int:
        """The proven lower bound of the value for the mover at the root; weak, of its sign."""
        return self._sign(max(int(self.nodes[0].low), self._least))

    @property
    def upper(self) -> int:
        return self._sign(int(self.nodes[0].high))

    @property
    def proven(self) -> bool:
        """Return whether the value is known."""
        return self.lower == self.upper

    @property
    def done(self) -> bool:
        """Return whether the value is known, and a move that keeps it."""
        return self.proven and self._sign(int(self.nodes[0].low)) >= self.lower

    def _sign(self, value: int) -> int:
        return max(-1, min(value, 1)) if self.weak else value

    def _ask(self) -> None:
        """Choose the question at the root, unless that of now is still open."""
        root = self.nodes[0]
        while not (self.done or root.low < self.asked <= root.high):
            self._ahead.clear()
            self._guess = min(max(self._guess, self.lower), self.upper)
            self._ask_of_all(self._next(self.lower, self.upper))

    def _next(self, lower: int, upper: int) -> int:
        """Return what to ask at the root if its value is known to be within bounds."""
        if lower == upper:
            return lower  # which move shows it?
        return int(question(lower, upper, min(max(self._guess, lower), upper), self._near))

    def _ask_of_all(self, asked: int) -> None:
        self.asked = asked
        self._renew_all(GRAPH, self.nodes, self.top.children, asked)

    def take(self, count: int) -> list[tuple[int, int]]:
        """Take at most *count* leaves to ask about, which are in flight then, and what to ask.

        The question is whether the value for the mover there is at least that.
        """
        taken: list[tuple[int, int]] = []
        while len(taken) < count and not self.done:
            leaf = int(self._choose(GRAPH, self.nodes, self.top.children))
            if leaf < 0:
                break
            root, node = self.nodes[0], self.nodes[leaf]
            node.assumed = 1 if root.proof <= root.disproof else -1
            self.in_flight.add(leaf)
            self._renew_above(leaf)
            taken.append((leaf, self.asked if node.side > 0 else 1 - self.asked))
        return taken

    def take_ahead(self, count: int) -> list[tuple[int, int]]:
        """Take leaves that may not matter, for workers that have nothing else to do.

        First if answers are not what is expected, then for what is asked of the root next.
        """
        if count < 1 or self.done:
            return []
        self.nodes["assumed"][list(self.in_flight)] *= -1
        self._ask_of_all(self.asked)
        taken = self.take(count)
        now, yes = self.asked, self.nodes[0].proof <= self.nodes[0].disproof
        bounds = [(now, self.upper), (self.lower, now - 1)]
        # A leaf that is asked for the next question cannot be asked for this one: not too many.
        most = len(self.in_flight - self._ahead) // AHEAD - len(self._ahead)
        count = min(count, len(taken) + most)
        for lower, upper in bounds if yes else bounds[::-1]:
            asked = self._next(lower, upper)
            if len(taken) < count and lower < upper and self.lower < asked <= self.upper:
                self._ask_of_all(asked)
                ahead = self.take(count - len(taken))
                self._ahead.update(leaf for leaf, _ in ahead)
                taken += ahead
        if self.asked != now:
            self._ask_of_all(now)
        return taken

    def expects(self, leaf: int) -> bool:
        """Return whether a yes is assumed of a leaf in flight, for its mover."""
        return bool(self.nodes[leaf].assumed * self.nodes[leaf].side > 0)

    def take_answer(self, leaf: int, lower: int, upper: int) -> None:
        """Take the bounds of a leaf, for its mover; it is in flight no longer."""
        node = self.nodes[leaf]
        low, high = (lower, upper) if node.side > 0 else (-upper, -lower)
        node.low, node.high = max(node.low, low), min(node.high, high)
        self.put_back(leaf)

    def put_back(self, leaf: int) -> None:
        """Let a leaf be in flight no longer, though it has not answered."""
        self.in_flight.discard(leaf)
        self._ahead.discard(leaf)
        self.nodes[leaf].assumed = 0
        self._renew_above(leaf)
        self._ask()

    def idle(self) -> list[int]:
        """Return the leaves in flight on which the question at the root depends no more."""
        self._mark_needed(GRAPH, self.nodes, self.top.children, self.asked)
        needed = self.nodes["needed"]
        return [leaf for leaf in self.in_flight - self._ahead if not needed[leaf]]

    def restore(self, keys: Any, lower: Any, upper: Any) -> int:
        """Take bounds that were found earlier, of positions by their keys; return how many fit."""
        order = np.argsort(self.top.keys, kind="stable")
        known = self.top.keys[order]
        first = np.searchsorted(known, keys)
        counts = np.searchsorted(known, keys, "right") - first
        record = np.repeat(np.arange(len(keys)), counts)
        within = np.arange(len(record)) - np.repeat(np.cumsum(counts) - counts, counts)
        at = order[first[record] + within]
        ours = self.nodes["side"][at] > 0
        low = np.where(ours, lower[record], -upper[record])
        high = np.where(ours, upper[record], -lower[record])
        np.maximum.at(self.nodes["low"], at, low)
        np.minimum.at(self.nodes["high"], at, high)
        self._ask_of_all(self.asked)
        self._ask()
        return int(np.count_nonzero(counts))

    def best_move(self) -> int:
        """Return a move at the root that keeps its value, if that is proven; else a likely one."""
        top = self.top
        root = self.nodes[0]
        if top.first_move != NO_MOVE or root.count == 0:
            return top.first_move
        edges = slice(int(root.first), int(root.first + root.count))
        children = self.nodes[top.children[edges]]
        worth = children["low"] if root.side > 0 else -children["high"]
        best = int(np.argmax(worth))
        if root.side * root.decided >= worth[best]:
            return int(root.decided_move)
        return int(top.moves[edges][best])

    def _renew_above(self, leaf: int) -> None:
        top = self.top
        self._renew(GRAPH, self.nodes, top.children, top.parents, self._queue, self.asked, leaf)
