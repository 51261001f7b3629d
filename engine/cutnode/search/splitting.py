"""The questions to ask about the leaves of a split position, and the bounds from their answers.

As in the solver's driver, the questions at the root are null-window searches: is the value at
least a threshold?  For one question, the top of the tree is an AND/OR tree, and proof numbers
choose the next leaf to ask about: the most-proving leaf, which is both in a smallest set of leaves
that would prove the root and in a smallest set that would disprove it (L. V. Allis et al.,
"Proof-number search", 1994).  Leaves in flight count as if they had given the answer that the root
expects, so the next choice is another leaf of the same set: the *virtual win* of I-C. Wu et al.,
"Job-level proof number search" (2013).  When nothing is left to ask under these assumptions, idle
workers work ahead, possibly in vain: first on leaves that matter if the root's expected answer is
wrong, then on the next question at the root.

An answer is a bound of a leaf, which stays valid for all later questions at the root.
"""

from __future__ import annotations

import numpy as np

from cutnode.contract.dispatch import MAX_VALUE
from cutnode.contract.verbs import INFINITE, NO_MOVE
from cutnode.kernels.expansion import bounds_in_entries
from cutnode.kernels.graph import GRAPH, Graph
from cutnode.kernels.parameters import FAR_FRACTION
from cutnode.kernels.solver import question
from cutnode.kernels.splitting import choose, mark_needed, renew_above, renew_all
from cutnode.kernels.table import WORK_AT, packed_bounds
from cutnode.search.top import Top

AHEAD = 2
"""The leaves in flight for each leaf that may be asked for the next question at the root.  In a
simulation (Connect Four after 44444, 6 plies) of 256 workers with a table, the speed-up is 27 with
2, 31 with 4, 20 without this limit, and 29 if none are asked; with 64 workers it is 35, 26, 36 and
26."""


class Split:
    """A position that is split into the leaves of a :class:`Top`, with their bounds so far.

    *weak* finds only the winner; *guess* is the value to ask about first.
    """

    def __init__(self, top: Top, *, weak: bool = False, guess: int | None = None):
        self.top = top
        self.weak = weak
        self.nodes = top.nodes
        self.asked = 0
        self.in_flight: set[int] = set()
        """The leaves that have been asked and have not answered."""
        self._ahead: set[int] = set()
        """The leaves in flight whose answer matters only for the next question at the root."""
        kernels = renew_all, renew_above, choose, mark_needed
        self._renew_all, self._renew, self._choose, self._mark_needed = (
            kernel.specialise(Graph) for kernel in kernels
        )
        self._queue = np.zeros(len(self.nodes), np.int32)
        root = self.nodes[0]
        self._least = int(root.low)
        if top.first_move == NO_MOVE and root.count > 0:
            root.low = -MAX_VALUE  # a move must still prove the game's bound
        self._ask_of_all(0)
        bounded = top.bounded and guess is None
        self._near = (self.upper - self.lower) // FAR_FRACTION if bounded else 2 * MAX_VALUE
        self._guess = 0 if guess is None else guess
        self._ask()

    @property
    def lower(self) -> int:
        """The proven lower bound of the value (if weak, of its sign) for the mover at the root."""
        return self._sign(max(int(self.nodes[0].low), self._least))

    @property
    def upper(self) -> int:
        """The proven upper bound of the value (if weak, of its sign) for the mover at the root."""
        return self._sign(int(self.nodes[0].high))

    @property
    def proven(self) -> bool:
        """Whether the value is proven."""
        return self.lower == self.upper

    @property
    def done(self) -> bool:
        """Whether the value is proven, and a move that keeps it is known."""
        return self.proven and self._sign(int(self.nodes[0].low)) >= self.lower

    def _sign(self, value: int) -> int:
        return max(-1, min(value, 1)) if self.weak else value

    def _ask(self) -> None:
        """Choose the next question at the root, unless the current one is still open."""
        root = self.nodes[0]
        while not (self.done or root.low < self.asked <= root.high):
            self._ahead.clear()
            self._guess = min(max(self._guess, self.lower), self.upper)
            self._ask_of_all(self._next(self.lower, self.upper))

    def _next(self, lower: int, upper: int) -> int:
        """Return the question to ask at the root if its value is within bounds."""
        if lower == upper:
            return lower  # to find a move that proves it
        return int(question(lower, upper, min(max(self._guess, lower), upper), self._near))

    def _ask_of_all(self, asked: int) -> None:
        self.asked = asked
        self._renew_all(GRAPH, self.nodes, self.top.children, asked)

    def take(self, count: int) -> list[tuple[int, int]]:
        """Take at most *count* leaves to ask about, each with a threshold; they are then in flight.

        The question is whether the leaf's value for its mover is at least the threshold.
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
        """Take leaves that may not matter, for idle workers.

        First those that matter if answers are not as expected, then those for the next question at
        the root.
        """
        if count < 1 or self.done:
            return []
        self.nodes["assumed"][list(self.in_flight)] *= -1
        self._ask_of_all(self.asked)
        taken = self.take(count)
        now, yes = self.asked, self.nodes[0].proof <= self.nodes[0].disproof
        bounds = [(now, self.upper), (self.lower, now - 1)]
        # Limit these: a leaf in flight for the next question cannot be asked for this one.
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
        """Return whether the assumed answer of a leaf in flight is yes, for its mover."""
        return bool(self.nodes[leaf].assumed * self.nodes[leaf].side > 0)

    def take_answer(self, leaf: int, lower: int, upper: int) -> None:
        """Take the bounds of a leaf, for its mover, which is then no longer in flight."""
        node = self.nodes[leaf]
        low, high = (lower, upper) if node.side > 0 else (-upper, -lower)
        node.low, node.high = max(node.low, low), min(node.high, high)
        self.put_back(leaf)

    def put_back(self, leaf: int) -> None:
        """Mark a leaf as no longer in flight, without an answer."""
        self.in_flight.discard(leaf)
        self._ahead.discard(leaf)
        self.nodes[leaf].assumed = 0
        self._renew_above(leaf)
        self._ask()

    def idle(self) -> list[int]:
        """Return the leaves in flight on which the question at the root no longer depends."""
        self._mark_needed(GRAPH, self.nodes, self.top.children, self.asked)
        needed = self.nodes["needed"]
        return [leaf for leaf in self.in_flight - self._ahead if not needed[leaf]]

    def restore(self, entries: np.ndarray) -> int:
        """Take bounds from entries of a solver's table; return how many belong to nodes of the top.

        *entries* has a scattered key and data in each row.
        """
        keys, points = self.top.solver_keys
        order = np.argsort(keys, kind="stable")
        known = keys[order]
        first = np.searchsorted(known, entries[:, 0])
        counts = np.searchsorted(known, entries[:, 0], "right") - first
        record = np.repeat(np.arange(len(entries)), counts)
        within = np.arange(len(record)) - np.repeat(np.cumsum(counts) - counts, counts)
        at = order[first[record] + within]
        lower, upper = np.zeros((2, len(entries)), np.int64)
        read = bounds_in_entries.specialise(Graph)
        read(GRAPH, np.ascontiguousarray(entries[:, 1]), lower, upper)
        lower, upper = lower[record], upper[record]
        lower = np.where(lower == -INFINITE, lower, lower + points[at])
        upper = np.where(upper == INFINITE, upper, upper + points[at])
        ours = self.nodes["side"][at] > 0
        np.maximum.at(self.nodes["low"], at, np.where(ours, lower, -upper))
        np.minimum.at(self.nodes["high"], at, np.where(ours, upper, -lower))
        self._ask_of_all(self.asked)
        self._ask()
        return int(np.count_nonzero(counts))

    def entry(self, leaf: int, lower: int, upper: int, work: int) -> tuple[int, int]:
        """Return bounds of a node, for its mover, as an entry of a solver's table."""
        keys, points = self.top.solver_keys
        low = lower if lower == -INFINITE else lower - int(points[leaf])
        high = upper if upper == INFINITE else upper - int(points[leaf])
        data = int(packed_bounds(low, high, NO_MOVE)) | work << WORK_AT
        return int(keys[leaf]), data

    def share(self) -> float:
        """Return the share of the question at the root that is answered, by a rough estimate.

        Where one answer suffices it counts the child that is nearest to one, where all are needed
        the mean of the children, all taken for equally hard.
        """
        return max(self._share(True), self._share(False))

    def _share(self, yes: bool) -> float:
        nodes, children = self.nodes, self.top.children
        low, high = nodes["low"].tolist(), nodes["high"].tolist()
        first, count, side = (nodes[name].tolist() for name in ("first", "count", "side"))
        done = [0.0] * len(nodes)
        for at in range(len(nodes) - 1, -1, -1):
            if low[at] >= self.asked or high[at] < self.asked:
                done[at] = float((low[at] >= self.asked) == yes)
            elif count[at]:
                below = [done[child] for child in children[first[at] : first[at] + count[at]]]
                one = (side[at] > 0) == yes
                done[at] = max(below) if one else sum(below) / len(below)
        return done[0]

    def best_move(self) -> int:
        """Return a move at the root that keeps its proven value, or else the best by bounds."""
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
