"""The workers' side of tablebases on a cluster: a layer, or a pass over a share of one."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from typing import Any

from engine.cluster.worker import on_worker
from engine.tablebases.builder import LayerBuilder
from engine.tablebases.files import Folder
from engine.tablebases.retrograde import MissingLayerError
from engine.tablebases.shares import SharedLayer
from engine.tablebases.solving import Settings

__all__ = ["FolderOnWorker", "solve_layer"]


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
    """The layer of which this process has done shares, and what stops the task of now."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.key: Any = None
        self.layer: SharedLayer | None = None
        self.stops: list[threading.Event] = []

    def take(
        self, order: FolderOnWorker, example: Any, number: int, shares: int, threads: int
    ) -> SharedLayer:
        """Return the layer; what fails while it is worked on has to begin with one that is new."""
        key = order.job, number, shares
        layer = self.layer if self.key == key else None
        self.layer = None
        if layer is None:
            self.stops = []
            settings = replace(order.settings, threads=threads)
            builder = LayerBuilder.of(Folder(order.path), example, settings, self.stops)
            layer = SharedLayer(builder, number, shares)
        self.key = key
        return layer


held = Held()


def solve_layer(
    order: FolderOnWorker, number: int, part: tuple[int, int | None, int] | None
) -> tuple[int | None, int]:
    """Solve a layer, or do a *part* of it: a pass, a share, and of how many; no share is the end.

    Return the layer that has to be solved before, or None, and the longest distance found so far.
    """
    with on_worker(order.plugin) as (game, stop):
        example = game.positions(order.example)[0]
        try:
            if part is None:
                folder = Folder(order.path)
                LayerBuilder.of(folder, example, order.settings, (stop,)).solve(number)
                return None, 0
            step, share, shares = part
            with held.lock:  # a process has the codes of a layer once, for all its threads
                layer = held.take(order, example, number, shares, game.threads)
                held.stops[:] = [stop]
                if share is None:
                    layer.builder.keep(layer.table(step))
                    return None, 0
                farthest = layer.do(step, share)
                held.layer = layer
                return None, farthest
        except MissingLayerError as missing:
            return int(missing.args[0]), 0
