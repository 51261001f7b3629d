"""Win, draw and loss with distance for each position of a layer, by retrograde analysis.

The first step examines the moves of each position: the position is over, or won by a move that
leaves the layer, or lost because all its moves leave the layer and lose.  After that, there is one
pass per distance, over the predecessors of the positions decided at that distance.  A predecessor
whose move there wins is won in one ply more.  Any other is touched, and its moves are examined once
in the pass, since it is lost if all of them now lose.  A position that is never decided is a draw:
play can continue forever, or ends drawn.

Predecessors come from the game (``retreats``), or else from a list of all moves within the layer,
which is made beforehand: 4 bytes a move and 8 a position.  If there is no memory for that list,
each pass touches all positions that are not decided yet, or are won in more plies.

Sources: K. Thompson, "Retrograde analysis of certain endgames" (1986); layers and the counting of
draws as infinite play, R. Gasser, "Solving Nine Men's Morris" (1996).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from cutnode.contract.dispatch import defines, game_name, is_plain
from cutnode.contract.errors import GameError
from cutnode.kernels.blocks import BLOCK_SHIFT
from cutnode.kernels.retrograde import (
    BEYOND,
    CHECK,
    DRAWN,
    HOLE,
    MISSING,
    MOST_DISTANCE,
    STUCK,
    TOUCH,
    TOUCHED,
    WIN,
    begin,
    propagate,
    write_edges,
)
from cutnode.tablebases.scratch import parts
from cutnode.tablebases.threads import LayerTask

LARGEST_EDGES = 1 << 30
"""The limit of an index that an edge can name."""


class MissingLayerError(Exception):
    """Play leads to a layer that is not solved yet; the argument is its number."""


class RetrogradeLayer:
    """The analysis of a layer: ``codes``, one for each index, and ``distance``, the next pass."""

    def __init__(self, task: LayerTask, *, conversion: bool):
        self.space, self.number, self.threads = task.space, task.number, task.threads
        self.tables = task.directory.numbers
        self.blocks = -(-task.size // (1 << BLOCK_SHIFT))
        self.codes = task.scratch.zeros(task.size, code_type(task.space.cls))
        self.memory = task.scratch.memory
        """Bytes left for the list of moves."""
        self.distance = 0
        self.begun = False
        self._touched = np.zeros(self.blocks, np.uint8)
        farthest = max((table.farthest for table in task.directory.layers.values()), default=0)
        self._due = np.zeros((4 if conversion else farthest + 4, self.blocks), np.uint8)
        self._firsts = np.zeros(0, np.int64)
        self._edges = np.zeros(0, np.uint32)
        self._sweeping = self._swept = False
        self.threads.set(conversion=conversion)

    def solve(self, pause: Callable[[], None] | None = None) -> None:
        """Decide all positions; *pause* is called before each pass."""
        if not self.begun:
            self.begin()
        elif self._swept:
            self.sweep(self.distance)
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

    def state(self) -> tuple[dict[str, Any], Any] | None:
        """Return the distance of the next or current pass, and the codes."""
        about = {"distance": self.distance, "sweeping": self._sweeping}
        return (about, self.codes) if self.begun else None

    def restore(self, numbers: dict[str, Any], codes: Any) -> None:
        """Resume from a state, repeating its whole pass, which does not change finished work.

        An interrupted sweep has overwritten wins that begin by leaving the layer, so :meth:`solve`
        repeats it in any case.
        """
        for part in parts(len(codes)):
            self.codes[part] = np.where(codes[part] == TOUCHED, 0, codes[part])
        self.distance = int(numbers["distance"])
        self._swept = bool(numbers["sweeping"])
        self.begun = True
        size = 1 << BLOCK_SHIFT
        for block in range(self.blocks):
            part = self.codes[block * size : (block + 1) * size].astype(np.int64)
            found = np.unique(np.abs(part[(part != HOLE) & (part != DRAWN) & (part != 0)]) - 1)
            if len(found):
                self._make_due(int(found[-1]))
                self._due[found, block] = 1

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
        size = len(self.codes)
        room = self.memory - 2 * size - 8 * (size + 1)
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
        for codes in self.blocks_of(share, shares):
            codes[(codes == 0) | ((codes > distance + 2) & (codes < TOUCHED))] = TOUCHED
        self._touched[share::shares] = 1
        self.threads.set(wins_known=0)
        self._pass((CHECK,))
        return int(max(self.threads.each("farthest")))

    def blocks_of(self, share: int, shares: int) -> Iterator[Any]:
        """Yield the codes of each block of a share; each of *n* shares has every n-th block."""
        for block in range(share, self.blocks, shares):
            yield self.codes[block << BLOCK_SHIFT : (block + 1) << BLOCK_SHIFT]

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


def code_type(cls: Any) -> Any:
    """Return the type of an array of codes; in plain Python, one that does not overflow."""
    return np.int64 if is_plain(cls) else np.int16
