"""Tablebases solved in memory, as far as an answer about a position needs them."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from cutnode.contract.derived import legal_moves
from cutnode.contract.dispatch import defines
from cutnode.contract.positions import coerce
from cutnode.contract.verbs import NO_INDEX, index, layer, outcome, play
from cutnode.kernels.clock import Clock
from cutnode.kernels.enumeration import enumerate_positions
from cutnode.kernels.layer_points import lower_threshold
from cutnode.kernels.probing import probe_code, probe_points
from cutnode.kernels.retrograde import begin, propagate, write_edges
from cutnode.kernels.tablebase import pack_symbols
from cutnode.tablebases.building import BYTES_OF_POSITION
from cutnode.tablebases.layer_tables import POINTS, Directory, kind_of
from cutnode.tablebases.solving import BYTES_EACH, LayerWork, Settings, solve_layers
from cutnode.tablebases.spaces import Space, enumerated, indexed
from cutnode.tablebases.tablebase import Tablebase


class TablebasesInMemory:
    """The tablebases of one game solved so far, within a memory limit.

    For a game with indices these are layers, which are kept.  For other games it is all positions
    that can be reached from one; a position outside them replaces them.
    """

    def __init__(self, cls: Any, settings: Settings):
        self.cls = cls
        self.settings = settings
        self.solved = 0
        """The number of positions that the last call solved."""
        self._base: Tablebase | None = None

    def prepare(self) -> None:
        """Compile what is needed, before a clock runs."""
        kernels = [pack_symbols, probe_code, begin, propagate]
        if kind_of(self.cls) == POINTS:
            kernels = [pack_symbols, probe_points, lower_threshold]
        if not defines(self.cls, "index"):
            kernels.append(enumerate_positions)
        if kind_of(self.cls) != POINTS and not defines(self.cls, "retreats"):
            kernels.append(write_edges)
        for kernel in kernels:
            kernel.specialise(self.cls)

    def of(
        self,
        position: Any,
        *,
        most: int | None = None,
        stops: Sequence[threading.Event] = (),
        clock: Clock | None = None,
    ) -> Tablebase | None:
        """Return a tablebase with a position; None if it does not fit into memory.

        *most* limits the positions enumerated.  :class:`StoppedError` if it was stopped early.
        """
        position = coerce(position)
        self.solved = 0
        if self._base is not None and self._base.entry(position) is not None:
            return self._base
        if defines(self.cls, "index"):
            return self._by_layers(position, stops, clock)
        room = self.settings.memory // BYTES_OF_POSITION
        space = enumerated(position, room if most is None else min(room, most), stops, clock)
        if space is None:
            return None
        try:
            self._base = self._solved(space, Directory(1, space.keys), [0], stops, clock)
        except _TooLargeError:
            return None
        return self._base

    def _by_layers(
        self, position: Any, stops: Sequence[threading.Event], clock: Clock | None
    ) -> Tablebase | None:
        layers = layers_of(position)
        base = self._base
        if base is None:
            space = indexed(position)
            base = Tablebase(
                space, Directory(len(space.sizes)), metric=self.settings.metric, name="memory"
            )
            self._base = base
        try:
            self._solved(base.space, base.directory, layers, stops, clock, base)
        except _TooLargeError:
            return None
        return base if base.entry(position) is not None else None

    def _solved(
        self,
        space: Space,
        directory: Directory,
        wanted: list[int],
        stops: Sequence[threading.Event],
        clock: Clock | None,
        base: Tablebase | None = None,
    ) -> Tablebase:
        def solve(number: int) -> Any:
            known = sum(table.symbols.nbytes for table in directory.layers.values())
            needed = space.sizes[number] * BYTES_EACH[kind_of(self.cls)]
            if known + needed > self.settings.memory:
                raise _TooLargeError
            work = LayerWork(space, number, directory, self.settings, stops=stops, clock=clock)
            table = work.solve()
            self.solved += table.counts["positions"]
            return table

        solve_layers(space, directory, wanted, solve)
        return base or Tablebase(space, directory, metric=self.settings.metric, name="memory")


def layers_of(position: Any) -> list[int]:
    """Return the layer of a position, or if it has no index the layers of its successors."""
    if outcome(position)[0]:
        return []
    if index(position) != NO_INDEX:
        return [int(layer(position))]
    followers = (play(position, move) for move in legal_moves(position))
    return sorted(
        {
            int(layer(child))
            for child in followers
            if not outcome(child)[0] and index(child) != NO_INDEX
        }
    )


class _TooLargeError(Exception):
    """A layer does not fit into the memory."""
