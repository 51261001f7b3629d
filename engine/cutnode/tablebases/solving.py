"""Solving the layers of a game, one after the other."""

from __future__ import annotations

import functools
import threading
import weakref
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cutnode.contract.choices import LAYER_MEMORY, METRICS
from cutnode.contract.dispatch import game_name, value_limit
from cutnode.contract.errors import CutnodeError
from cutnode.kernels.clock import Clock
from cutnode.kernels.layer_iteration import SWEEP
from cutnode.kernels.layer_points import THRESHOLD
from cutnode.kernels.retrograde import PASS
from cutnode.tablebases.chances import ChanceLayer
from cutnode.tablebases.layer_tables import (
    CHANCES,
    DISTANCES,
    POINTS,
    Directory,
    LayerTable,
    kind_of,
    table_of_codes,
    table_of_values,
)
from cutnode.tablebases.points import PointsLayer
from cutnode.tablebases.retrograde import MissingLayerError, RetrogradeLayer
from cutnode.tablebases.scratch import Scratch
from cutnode.tablebases.spaces import Space
from cutnode.tablebases.threads import LayerTask, LayerThreads

DIGITS = 1e-11
"""The default tolerance of expected values, as a fraction of ``VALUE_LIMIT``."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings for solving layers."""

    metric: str = "dtm"
    """The distances to keep: a key of ``METRICS``."""
    threads: int = 1
    memory: int = LAYER_MEMORY
    """Bytes of memory for the layer being solved; with a folder, the rest goes to disk."""
    tolerance: float | None = None
    """The largest error of a value, in games of chance; None for a fraction of ``VALUE_LIMIT``."""

    def __post_init__(self) -> None:
        if self.metric not in METRICS:
            raise CutnodeError(f"metric must be one of {', '.join(METRICS)}, got {self.metric!r}")
        if self.tolerance is not None and not self.tolerance > 0:
            raise CutnodeError(f"tolerance must be positive, got {self.tolerance!r}")


BYTES_EACH = {CHANCES: 24, POINTS: 1, DISTANCES: 1}
"""Bytes of memory for each index of the layer being solved, not counting the list of moves."""


class LayerWork:
    """The work of solving a layer, which can be saved and resumed.

    The layers to which its moves lead have to be in the directory.  *look* is called from time to
    time, and *clock* limits all of it.  Arrays that do not fit into memory go to a *folder*.
    """

    def __init__(
        self,
        space: Space,
        number: int,
        directory: Directory,
        settings: Settings,
        *,
        stops: Sequence[threading.Event] = (),
        look: Callable[[LayerWork], None] | None = None,
        clock: Clock | None = None,
        folder: Path | None = None,
    ):
        self.space, self.number, self.settings = space, number, settings
        self.kind = kind_of(space.cls)
        self.size = space.sizes[number]
        self.error_before = max((table.error for table in directory.layers.values()), default=0.0)
        if folder is None:
            self._require_memory()
        dtype = {CHANCES: SWEEP, POINTS: THRESHOLD, DISTANCES: PASS}[self.kind]
        self.threads = LayerThreads(
            space,
            number,
            dtype,
            settings.threads,
            stops,
            # A layer's memory is freed with its last reference, so there must be no cycle of them.
            None if look is None else functools.partial(look, weakref.proxy(self)),
            clock,
        )
        scratch = Scratch(settings.memory, folder)
        task = LayerTask(space, number, directory, self.threads, scratch)
        self.layer: ChanceLayer | PointsLayer | RetrogradeLayer
        if self.kind == CHANCES:
            whole = settings.tolerance or DIGITS * value_limit(space.cls)
            self._share = whole / (1.5 * len(space.sizes))
            self.layer = ChanceLayer(task, tolerance=self._share)
        elif self.kind == POINTS:
            self.layer = PointsLayer(task)
        else:
            self.layer = RetrogradeLayer(task, conversion=settings.metric != "dtm")

    def _require_memory(self) -> None:
        needed, allowed = self.size * BYTES_EACH[self.kind], self.settings.memory
        if needed > allowed:
            raise CutnodeError(
                f"layer {self.space.names[self.number]} of {game_name(self.space.cls)} has "
                f"{self.size:,} indices and takes {needed / 2**20:,.0f} MiB, but the limit is "
                f"{allowed / 2**20:,.0f} MiB: raise it, or split the game into more layers"
            )

    def solve(self, pause: Callable[[], None] | None = None) -> LayerTable:
        """Solve the layer; *pause* is called from time to time, when :meth:`state` can be saved.

        :class:`MissingLayerError` if it leads to an unsolved layer, :class:`StoppedError` if it
        was stopped early.
        """
        self.layer.solve(pause)
        cls, name, layer = self.space.cls, self.space.names[self.number], self.layer
        if isinstance(layer, ChanceLayer):
            return table_of_values(
                cls, self.number, name, layer.values, layer.error, self._share / 2
            )
        metric = "points" if isinstance(layer, PointsLayer) else self.settings.metric
        return table_of_codes(cls, self.number, name, self.size, layer.codes, metric)

    def state(self) -> tuple[dict[str, Any], dict[str, Any]] | None:
        """Return what is known of the layer, as numbers and arrays; None if nothing is."""
        return self.layer.state()

    def restore(self, numbers: dict[str, Any], arrays: dict[str, Any]) -> None:
        """Resume from a :meth:`state`."""
        self.layer.restore(numbers, arrays)

    def step(self) -> tuple[str, float]:
        """Return the current step and its finished fraction."""
        return self.layer.step, sum(self.threads.each("done")) / max(self.size, 1)


def solve_layers(
    space: Space,
    directory: Directory,
    wanted: Iterable[int],
    solve: Callable[[int], LayerTable],
) -> None:
    """Solve the *wanted* layers in ascending order; *solve* solves one.

    If *solve* finds that a layer leads to an unsolved one, that is solved first.
    """
    waiting = sorted(set(wanted), reverse=True)
    while waiting:
        number = waiting[-1]
        if number not in directory.layers:
            try:
                directory.add(solve(number))
            except MissingLayerError as missing:
                waiting.append(int(missing.args[0]))
                continue
        waiting.pop()
