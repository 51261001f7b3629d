"""The workers' side of tablebases on a cluster: a layer, or a pass over a share of one."""

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
    """What a worker has to know of a tablebase: the plugin of its game, and the folder."""

    plugin: str
    job: str
    """A name for one run of the driver: what a worker holds is of no use to another one."""
    example: bytes
    """Any position, packed."""
    path: str
    settings: Settings


class Held:
    """The layer of which this process has done shares."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.key: Any = None
        self.layer: SharedLayer | None = None
        self.stops: list[threading.Event] = []

    def take(self, order: FolderOnWorker, game: Any, number: int, shares: int) -> SharedLayer:
        """Return the layer; the caller puts it back unless the work on it fails."""
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
"""Of a thread: the builder of the job, which has mapped its layers, and what stops it."""


def forget_layer() -> None:
    """Free the memory of the layer of which this process has done shares."""
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
    """Solve a layer, or do a *part* of it: a pass, a share, and of how many; no share is the end.

    Return the layer that has to be solved before, or None, and the longest distance found so far.
    """
    with on_worker(order.plugin) as (game, stop):
        try:
            if part is None:
                _solve_whole(order, game, number, stop)
                return None, 0
            step, share, shares = part
            with held.lock:  # a process has the codes of a layer once, for all its threads
                if number in Folder(order.path).solved:
                    return None, 0  # by a task that ended before it could say so
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
