"""The tree of Monte Carlo tree search, as Python owns it: its memory and its contents."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np

from cutnode.contract.dispatch import game_constant, game_name, is_plain, value_limit
from cutnode.contract.errors import CutnodeError
from cutnode.contract.native import records
from cutnode.contract.stop import RUNNING
from cutnode.contract.verbs import INFINITE
from cutnode.kernels.playout_tree import (
    ARM,
    CHANCE,
    CHUNK,
    FREE,
    NODE,
    NOWHERE,
    POOL,
    ROOT,
    SUMS,
    UNTRIED,
    copy_tree,
    find_node,
    visits_kept,
)
from cutnode.kernels.playouts import is_settled
from cutnode.storage.tables import available_megabytes

PARTS = NODE, ARM, SUMS

NODE_BYTES = sum(part.itemsize for part in PARTS)
PLAIN_NODE_BYTES = 1024
"""The bytes of a node when the rules are plain Python; ``NODE_BYTES`` when they are compiled."""

LOOK_AHEAD = 4
"""The depth in plies to which a new position is looked for in the last tree."""

SPACES = 2
"""The number of copies that memory must hold: a full tree is copied from one array to another."""


class _Records(dict[int, Any]):
    """Records of a search in plain Python, made when they are first accessed."""

    def __init__(self, dtype: np.dtype[Any]):
        self._zeros = {name: dtype[name].type(0).item() for name in dtype.names or ()}

    def __missing__(self, index: int) -> Any:
        self[index] = made = SimpleNamespace(**self._zeros)
        return made


class _Column:
    """One field of such records, by record number."""

    def __init__(self, found: _Records, name: str):
        self.records, self.name = found, name

    def __getitem__(self, node: int) -> Any:
        return getattr(self.records[node], self.name)


class PlayoutTree:
    """A tree of playouts for positions of a class, in *memory* bytes, shared by some threads."""

    def __init__(self, cls: Any, memory: int, threads: int, *, has_priors: bool):
        self.cls = cls
        self.has_priors = has_priors
        self.each = PLAIN_NODE_BYTES if is_plain(cls) else NODE_BYTES
        self.capacity = memory // (SPACES * self.each)
        least = 4 * (game_constant(cls, "MAX_MOVES", 256) + threads * CHUNK)
        if self.capacity < least:
            needed = least * SPACES * self.each
            raise CutnodeError(
                f"a tree for {game_name(cls)} needs at least {needed:,} bytes of memory, "
                f"got {memory:,}"
            )
        room = available_megabytes()
        if room is not None and memory > room << 20:
            raise CutnodeError(
                f"a tree of {memory >> 20} MiB does not fit: {room} MiB of memory are available"
            )
        self.pool = np.zeros(POOL, np.int64)
        self._take(self._space())
        self._spare: list[Any] | None = None
        self.copies = 0
        self.kept = 0
        self.root: Any = None
        """The position of the root; None if there is no tree yet."""

    @property
    def megabytes(self) -> int:
        """The most memory in MiB that the tree takes."""
        return -(-self.capacity * SPACES * self.each >> 20)

    @property
    def size(self) -> int:
        """The number of nodes taken by the tree or reserved by threads."""
        return int(self.pool[FREE]) - ROOT

    @property
    def fill(self) -> float:
        return min(1.0, self.size / self.capacity)

    def _space(self) -> list[Any]:
        if is_plain(self.cls):
            return [_Records(part) for part in PARTS]
        return [records(self.capacity, part) for part in PARTS]

    def _take(self, arrays: list[Any]) -> None:
        """Make *arrays* the memory of the tree."""
        self.arrays = arrays
        self.nodes, self.arms, self.sums = arrays
        self.columns: dict[str, Any] = {
            name: _Column(array, name) if is_plain(self.cls) else np.asarray(array[name])
            for part, array in zip(PARTS, arrays, strict=True)
            for name in part.names or ()
        }

    def prepare(self, *, reuse: bool) -> None:
        """Compile the kernels now, so that no search waits for them."""
        for kernel in (copy_tree, visits_kept, *([find_node] if reuse else [])):
            kernel.specialise(self.cls)

    def begin(self, position: Any, *, reuse: bool, forget: bool) -> None:
        """Make a position the root; with *reuse*, keep its part of the last tree.

        With *forget*, drop what is proven there, as it may depend on the moves before.
        """
        self.copies = self.kept = 0
        found = 0
        if reuse and self.root is not None:
            find = find_node.specialise(self.cls)
            found = int(find(self.root, position, ROOT, LOOK_AHEAD, self.nodes, self.arms))
        self.root = position
        if found == 0:
            self._plant()
            return
        if found != ROOT or forget:
            self._copy(found, 0, forget)
        self.kept, _ = self.count()
        # The root has the view of its player to move, and needs moves even if it is proven.
        node = self.nodes[ROOT]
        if not node.same:
            node.same = 1
            node.lower, node.upper = -node.upper, -node.lower
            node.average = -node.average
            sums = self.sums[ROOT]
            sums.estimate = -sums.estimate
            sums.wins, sums.losses = sums.losses, sums.wins
        if self.arms[ROOT].first == 0:
            self._plant()

    def _plant(self) -> None:
        """Start a new tree."""
        if is_plain(self.cls):
            self._wipe()
        for part, array in zip(PARTS, self.arrays, strict=True):
            for name in part.names or ():
                setattr(array[ROOT], name, 0)
        node, arm = self.nodes[ROOT], self.arms[ROOT]
        node.same, node.bonus, arm.mean, arm.explore = 1, np.float32(1), UNTRIED, np.float32(1)
        node.lower, node.upper, arm.next = -INFINITE, INFINITE, NOWHERE
        self.pool[:] = ROOT + 1, self.capacity, RUNNING

    def _wipe(self) -> None:
        for array in self.arrays:
            array.clear()

    def make_room(self) -> None:
        """Drop the least visited parts of a full tree: at least half of the nodes."""
        counts = np.zeros(64, np.int64)
        # All nodes below this number are in use; some threads may have passed the end.
        end = min(int(self.pool[FREE]), self.capacity)
        kept = visits_kept.specialise(self.cls)
        least = kept(self.nodes, self.arms, end, self.capacity // 2, counts)
        self._copy(ROOT, max(int(least), 2), False)
        self.copies += 1

    def _copy(self, root: int, least: int, forget: bool) -> None:
        arrays = self._spare or self._space()
        self._spare = None
        copy = copy_tree.specialise(self.cls)
        free = copy(*self.arrays, root, least, forget, *arrays)
        if is_plain(self.cls):
            self._wipe()
        self._spare = self.arrays
        self._take(arrays)
        self.pool[:] = free, self.capacity, RUNNING

    # Contents

    def children(self, node: int) -> range:
        """Return the children of a node."""
        first = int(self.columns["first"][node])
        return range(first, first + int(self.columns["count"][node]) if first else first)

    def move(self, node: int) -> int:
        """Return the move that leads to a node."""
        return int(self.columns["move"][node])

    def worth(self, node: int) -> float | None:
        """Return the mean of a node's playouts for the player who chooses it; None without any."""
        if self.visits(node) == 0:
            return None
        return max(-1.0, min(float(self.columns["average"][node]), 1.0))

    def bounds(self, node: int) -> tuple[int, int]:
        """Return the proven bounds of a node's value for the player who chooses it."""
        least, most = self.limits
        return max(int(self.columns["lower"][node]), least), min(
            int(self.columns["upper"][node]), most
        )

    @functools.cached_property
    def limits(self) -> tuple[int, int]:
        """The range of the game's values, rounded outwards to whole numbers."""
        most = math.ceil(value_limit(self.cls))
        return -most, most

    def prior(self, child: int, siblings: int) -> float:
        """Return the prior of a child of the root; uniform if the search has no priors."""
        return float(self.columns["prior"][child]) if self.has_priors else 1 / siblings

    def visits(self, node: int) -> int:
        return int(self.columns["visits"][node])

    def is_settled(self, node: int) -> bool:
        """Return whether a node's value, or its winner, is proven."""
        return bool(is_settled(self.root, *self.bounds(node)))

    def ranked(self, node: int) -> list[int]:
        """Return the children of a node, best first.

        Proven wins come first, the highest before the others.  Then come the children that may
        still be best, by visits; then children proven no better than another one; proven losses
        come last.
        """
        found = list(self.children(node))
        limits = {child: self.bounds(child) for child in found}
        proven = max((lower for lower, _ in limits.values()), default=0)
        done = self.is_settled(node) and proven == max(
            (upper for _, upper in limits.values()), default=0
        )

        def promise(child: int) -> tuple[Any, ...]:
            lower, upper = limits[child]
            settled = self.is_settled(child)
            won = settled and lower > 0 and lower == proven and self.is_settled(node)
            best = won or (done and lower == proven)
            worse = upper < proven or (upper == proven and lower < proven)
            lost = settled and upper <= -1 and self.wins_only
            worth = self.worth(child)
            rest = self.visits(child), -2.0 if worth is None else worth
            return best, lower if best else 0, not worse and not lost, upper if lost else 0, *rest

        return sorted(found, key=promise, reverse=True)

    @property
    def wins_only(self) -> bool:
        """Whether only the sign of the game's values matters."""
        return bool(game_constant(self.cls, "DECISIVE", 0))

    def line(self, child: int) -> Iterator[int]:
        """Yield the best line from a child on, until chance decides or nothing was visited."""
        while True:
            yield self.move(child)
            below = self.children(child)
            if not below or self.is_chance(child):
                return
            child = self.ranked(child)[0]
            if self.visits(child) == 0 and not self.is_settled(child):
                return

    def is_chance(self, node: int) -> bool:
        """Return whether chance decides at a node."""
        return int(self.columns["kind"][node]) == CHANCE

    def count(self) -> tuple[int, int]:
        """Return the number of nodes, and of nodes whose value or winner is proven."""
        end = min(int(self.pool[FREE]), self.capacity)
        if is_plain(self.cls):
            each = [node for node in range(ROOT, end) if node in self.nodes]
            explore, lower, upper = (
                np.array([self.columns[name][node] for node in each])
                for name in ("explore", "lower", "upper")
            )
        else:
            explore, lower, upper = (
                self.columns[name][ROOT:end] for name in ("explore", "lower", "upper")
            )
        settled = lower == upper
        if self.wins_only:
            settled |= (lower > 0) | (upper < 0)
        used = explore != 0
        return int(used.sum()), int((settled & used).sum())

    def give_back(self, start: int, end: int) -> None:
        """Take back nodes that a thread reserved but did not use."""
        if is_plain(self.cls):
            for node in range(start, end):
                self.arms[node].explore = self.arms[node].first = 0
        else:
            self.columns["explore"][start:end] = 0
            self.columns["first"][start:end] = 0
        if end == self.pool[FREE]:
            self.pool[FREE] = start
