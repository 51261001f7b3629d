"""Win, draw and loss with distance for each position of a layer, by retrograde analysis.

The first step examines the moves of each position: the position is over, or won by a move that
leaves the layer, or lost because all its moves leave the layer and lose.  After that, there is one
pass per distance, over the predecessors of the positions decided at that distance.  A predecessor
whose move there wins is won in one ply more.  Any other is touched, and its moves are examined once
in the pass, since it is lost if all of them now lose.  A position that is never decided is a draw:
play can continue forever, or ends drawn.

Predecessors come from the game (``retreats``), or else from a list of all moves within the layer,
which is made beforehand: 4 bytes a move and 8 a position.  If there is no memory for that list,
each pass looks at all positions that are not decided yet, or are won in more plies.

In a large layer with many holes, only positions have a place in memory: see
:mod:`cutnode.kernels.codes`.

Sources: K. Thompson, "Retrograde analysis of certain endgames" (1986); layers and the counting of
draws as infinite play, R. Gasser, "Solving Nine Men's Morris" (1996).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from cutnode.contract.dispatch import defines, game_name, is_plain
from cutnode.contract.errors import GameError
from cutnode.kernels.blocks import BLOCK_SHIFT
from cutnode.kernels.codes import (
    FAR,
    HOLE,
    LINE_SHIFT,
    TOUCHED,
    Codes,
    count_places,
    new_codes,
    write_codes,
)
from cutnode.kernels.retrograde import (
    BEYOND,
    CHECK,
    MISSING,
    MOST_DISTANCE,
    STUCK,
    TOUCH,
    WIN,
    begin,
    find_positions,
    propagate,
    write_edges,
)
from cutnode.tablebases.layer_tables import codes_in
from cutnode.tablebases.scratch import parts
from cutnode.tablebases.threads import LayerTask

LARGEST_EDGES = 1 << 30
"""The limit of an index that an edge can name."""

MANY_HOLES = 1 / 4
"""The least fraction of holes in a layer of ``LARGE`` blocks or more for them to have no place."""

LARGE, SAMPLED = 1024, 32
"""The least blocks of such a layer, and about how many of them are sampled first."""


class MissingLayerError(Exception):
    """Play leads to a layer that is not solved yet; the argument is its number."""


class RetrogradeLayer:
    """The analysis of a layer: ``codes``, and ``distance``, the next pass."""

    def __init__(self, task: LayerTask, *, conversion: bool):
        self.space, self.number, self.threads = task.space, task.number, task.threads
        self.tables = task.directory.numbers
        self.blocks = -(-task.size // (1 << BLOCK_SHIFT))
        self.size, self._scratch = task.size, task.scratch
        self.distance = 0
        self.begun = False
        self._touched = np.zeros(self.blocks, np.uint8)
        farthest = max((table.farthest for table in task.directory.layers.values()), default=0)
        self._due = np.zeros((4 if conversion else farthest + 4, self.blocks), np.uint8)
        self._firsts = np.zeros(0, np.int64)
        self._edges = np.zeros(0, np.uint32)
        self._sweeping = False
        self.threads.set(conversion=conversion)

    def solve(self, pause: Callable[[], None] | None = None) -> None:
        """Decide all positions; *pause* is called before each pass."""
        if not self.begun:
            self.find_places()
            self.begin()
        self._find_predecessors()
        while self.distance < len(self._due):
            if pause is not None:
                pause()
            if self._sweeping:
                self.sweep(self.distance)
            elif self._due[self.distance].any():
                self._pass((WIN, TOUCH, CHECK))
            self.distance += 1
            if self._sweeping and not self._due[self.distance :].any():
                break

    @property
    def step(self) -> str:
        """The current step."""
        if not self.begun:
            return "first look"
        return f"distance {self.distance}" if len(self._firsts) or self.distance else "moves back"

    def state(self) -> tuple[dict[str, Any], dict[str, Any]] | None:
        """Return the distance of the next or current pass, and the codes."""
        return ({"distance": self.distance}, known_codes(self.codes)) if self.begun else None

    def restore(self, numbers: dict[str, Any], arrays: dict[str, Any]) -> None:
        """Resume from a state, repeating its whole pass, which does not change finished work."""
        self.find_places()
        restore_codes(self.codes, arrays)
        self.distance = int(numbers["distance"])
        self.begun = True
        for block, numbers_of_block in enumerate(self.blocks_of(0, 1)):
            part = self.read(numbers_of_block)
            touched = numbers_of_block.start + np.flatnonzero(part == TOUCHED)
            self.write(touched, np.zeros_like(touched))
            found = np.unique(np.abs(part[(part != 0) & (part > HOLE) & (part < TOUCHED)]) - 1)
            if len(found):
                self._make_due(int(found[-1]))
                self._due[found, block] = 1

    @functools.cached_property
    def codes(self) -> Codes:
        """The codes, with a place for every index unless :meth:`find_places` was called before."""
        return new_codes(self.space.cls, self.size, self._scratch.zeros)

    def find_places(self) -> None:
        """Let only positions have places, if there are many holes."""
        cls = self.space.cls
        if self.blocks < LARGE or is_plain(cls) or not defines(cls, "index"):
            return
        step = self.blocks // SAMPLED
        words = -(-self.size // 64)
        filled = np.zeros(words, np.uint64)  # of which little is touched
        before = np.zeros(2 * (self.size >> LINE_SHIFT) + 2, np.int64)
        self._find_positions(filled, step)
        places = self._count_places(filled, before)
        if places > (1 - MANY_HOLES) * sum(self.threads.each("done")):
            return
        filled = self._scratch.zeros(words, np.uint64)
        self._find_positions(filled, 1)
        places = self._count_places(filled, before)
        self.codes = new_codes(self.space.cls, places, self._scratch.zeros, filled, before)

    def _find_positions(self, filled: Any, step: int) -> None:
        """Mark the indices with a position, in every block or in one of *step*."""
        self.threads.set(done=0)
        self.threads.take_share(0, step)
        self.threads.run(find_positions, self.space.words, filled)
        self.threads.take_share(0, 1)

    def _count_places(self, filled: Any, before: Any) -> int:
        return int(count_places.specialise(self.space.cls)(filled, before))

    def read(self, numbers: range) -> Any:
        """Return the codes of consecutive indices."""
        return codes_in(self.space.cls, self.codes, numbers.start, numbers.stop)

    def write(self, numbers: Any, codes: Any) -> None:
        """Write the codes of some indices."""
        write_codes.specialise(self.space.cls)(self.codes, numbers, codes)

    def begin(self) -> None:
        """Decide the positions that do not depend on others of the layer."""
        self.threads.set(done=0)
        self._run(begin, self.tables, self.space.words, None, self.codes, self._due)
        self.begun = True

    def _run(self, kernel: Any, *arguments: Any) -> None:
        """Call a kernel; :class:`GameError` if it finds a fault in the game."""
        self.threads.run(kernel, *arguments, self.space.room)
        for memory in self.threads.memories:
            fault = int(memory["fault"])
            if fault == MISSING:
                raise MissingLayerError(int(memory["fault_layer"]))
            if fault:
                raise GameError(self._complaint(fault, int(memory["fault_index"])))

    def _complaint(self, fault: int, number: int) -> str:
        name = self.space.names[self.number]
        if fault == BEYOND:
            return (
                f"{game_name(self.space.cls)}: from index {number:,} of layer {name} play leads to "
                f"a later layer, to an index out of range, or to a position without an index whose "
                f"moves do"
            )
        if fault == STUCK:
            return self.space.stuck(self.number, number)
        return f"{game_name(self.space.cls)}: layer {name} has distances beyond {MOST_DISTANCE}"

    def _find_predecessors(self) -> None:
        """List the moves within the layer, if there is room and no usable ``retreats``."""
        through = any(self.threads.each("through"))
        self.threads.set(wins_known=int(not through))
        if defines(self.space.cls, "retreats") and not through:
            return
        size = self.size
        room = self._scratch.memory - 2 * size - 8 * (size + 1)
        self._sweeping = size >= LARGEST_EDGES or room < 0
        if self._sweeping:
            return
        firsts = np.zeros(size + 1, np.int64)
        arguments = self.tables, self.space.words, None, self.codes, firsts
        self._run(write_edges, *arguments, np.zeros(0, np.uint32))
        edges = int(firsts.sum())
        self._sweeping = 4 * edges > room
        if self._sweeping:
            return
        np.cumsum(firsts, out=firsts)
        self._edges = np.zeros(max(edges, 1), np.uint32)
        self._run(write_edges, *arguments[:-1], firsts, self._edges)
        firsts[1:] = firsts[:-1].copy()  # writing has moved each to where the next begins
        firsts[0] = 0
        self._firsts = firsts

    def _make_due(self, distance: int) -> None:
        """Make room for distances up to *distance* and a few more."""
        rows = distance + 4
        if rows > MOST_DISTANCE:
            raise GameError(self._complaint(0, 0))
        if rows > len(self._due):
            more = max(rows, len(self._due) * 3 // 2) - len(self._due)
            self._due = np.concatenate((self._due, np.zeros((more, self.blocks), np.uint8)))

    def sweep(self, distance: int, share: int = 0, shares: int = 1) -> int:
        """Examine all undecided positions, after those up to *distance* are decided.

        With *shares*, examine only those in one share of the blocks.  A win that begins by leaving
        the layer may turn out to be quicker, until its own distance is reached.  Return the longest
        distance found so far.
        """
        self.distance = distance
        self.threads.set(wins_known=0, sweeping=1)
        self._pass((CHECK,))
        return int(max(self.threads.each("farthest")))

    def blocks_of(self, share: int, shares: int) -> Iterator[range]:
        """Yield the indices of each block of a share; each of *n* shares has every n-th block."""
        for block in range(share, self.blocks, shares):
            yield range(block << BLOCK_SHIFT, min((block + 1) << BLOCK_SHIFT, self.size))

    def _pass(self, phases: tuple[int, ...]) -> None:
        """Process the predecessors of all positions decided at the current distance."""
        self._make_due(self.distance + 2)
        for phase in phases:
            self.threads.set(phase=phase, distance=self.distance, done=0)
            self._run(
                propagate,
                self.tables,
                self.space.words,
                None,
                self.codes,
                self._due,
                self._touched,
                self._firsts,
                self._edges,
            )


def known_codes(codes: Codes) -> dict[str, Any]:
    """Return the arrays from which :func:`restore_codes` restores codes."""
    far = [codes.far[part][codes.near[part] == FAR] for part in parts(len(codes.near))]
    return {"near": codes.near, "far": np.concatenate(far)}


def restore_codes(codes: Codes, arrays: dict[str, Any]) -> None:
    """Restore codes of the same layer."""
    codes.near[:] = arrays["near"]
    first = 0
    for part in parts(len(codes.near)):
        places = np.flatnonzero(codes.near[part] == FAR)
        codes.far[part][places] = arrays["far"][first : first + len(places)]
        first += len(places)
