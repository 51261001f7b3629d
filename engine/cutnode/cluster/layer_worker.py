"""The worker side of tablebases on a cluster: solving a layer, or one pass over a share of it."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from typing import Any

from cutnode.cluster.worker import on_worker
from cutnode.tablebases.builder import LayerBuilder
from cutnode.tablebases.files import Folder
from cutnode.tablebases.retrograde import MissingLayerError
from cutnode.tablebases.shares import SharedLayer
from cutnode.tablebases.solving import Settings


@dataclass(frozen=True)
class FolderOnWorker:
    """The description of a tablebase for a worker: the plugin of its game, and the folder."""

    plugin: str
    job: str
    """The name of one run of the driver; a worker reuses what it holds only within that run."""
    example: bytes
    """Any position, packed."""
    path: str
    settings: Settings


class Held:
    """The layer that this process holds between the shares of it that it does."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.key: Any = None
        self.layer: SharedLayer | None = None
        self.stops: list[threading.Event] = []

    def take(self, order: FolderOnWorker, game: Any, number: int, shares: int) -> SharedLayer:
        """Take and return the layer; the caller puts it back unless the work on it fails."""
        key = order.job, number, shares
        layer = self.layer if self.key == key else None
        self.layer = None
        if layer is None:
            self.stops = []
            settings = replace(order.settings, threads=game.threads)
            layer = SharedLayer(builder_of(order, game, settings, self.stops), number, shares)
        self.key = key
        return layer


held = Held()
_own = threading.local()
"""The thread's builder for the job, which has mapped its layers, and the events that stop it."""


def forget_layer() -> None:
    """Free the memory of the layer that this process holds."""
    with held.lock:
        held.layer = None


def builder_of(
    order: FolderOnWorker, game: Any, settings: Settings, stops: list[threading.Event]
) -> LayerBuilder:
    """Return a builder for a job."""
    example = game.positions(order.example)[0]
    return LayerBuilder.of(Folder(order.path), example, settings, stops)


def solve_layer(
    order: FolderOnWorker, number: int, part: tuple[int, int | None, int] | None
) -> tuple[int | None, int]:
    """Solve a layer, or do a *part* of it, and return two numbers.

    *part* is a pass, the number of a share and the number of shares; a share of None finishes the
    layer.  The results are a layer that must be solved first, or None, and the longest distance
    found so far.
    """
    with on_worker(order.plugin) as (game, stop):
        try:
            if part is None:
                _solve_whole(order, game, number, stop)
                return None, 0
            step, share, shares = part
            with held.lock:  # a process holds the codes of a layer once, for all its threads
                if number in Folder(order.path).solved:
                    return None, 0  # by a task that died before it could answer
                layer = held.take(order, game, number, shares)
                held.stops[:] = [stop]
                if share is None:
                    layer.builder.keep(layer.table(step))
                    return None, 0
                farthest = layer.do(step, share)
                held.layer = layer
                return None, farthest
        except MissingLayerError as missing:
            return int(missing.args[0]), 0


def _solve_whole(order: FolderOnWorker, game: Any, number: int, stop: threading.Event) -> None:
    """Solve a layer in this thread."""
    if getattr(_own, "job", None) != order.job:
        _own.job, _own.stops = order.job, []
        _own.builder = builder_of(order, game, order.settings, _own.stops)
    builder: LayerBuilder = _own.builder
    _own.stops[:] = [stop]
    builder.load()
    if number not in builder.directory.layers:
        builder.solve(number)
