"""Solving the layers of a game, one after the other."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from engine.contract.dispatch import game_name, value_limit
from engine.contract.errors import CutnodeError
from engine.kernels.layer_iteration import SWEEP
from engine.kernels.retrograde import PASS
from engine.tablebases.chances import ChanceLayer
from engine.tablebases.points import THRESHOLD, PointsLayer
from engine.tablebases.retrograde import Missing, RetrogradeLayer, code_counts
from engine.tablebases.spaces import Space
from engine.tablebases.tables import (
    CHANCES,
    DISTANCES,
    METRICS,
    POINTS,
    Directory,
    LayerTable,
    kind_of,
    table_of_codes,
    table_of_values,
)
from engine.tablebases.threads import LayerThreads

__all__ = ["DEFAULT_MEMORY", "Settings", "solve_layer", "solve_layers"]

DEFAULT_MEMORY = 4 << 30
"""Bytes."""

DIGITS = 1e-11
"""Expected values are within this part of ``VALUE_LIMIT`` of the truth, if nothing else is said."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How layers are solved."""

    metric: str = "dtm"
    """Which distances are kept: a key of ``METRICS``."""
    threads: int = 1
    memory: int = DEFAULT_MEMORY
    """Bytes, for the layer that is solved."""
    tolerance: float | None = None
    """In games of chance: the error of a value, at most; None for a part of ``VALUE_LIMIT``."""

    def __post_init__(self) -> None:
        if self.metric not in METRICS:
            raise CutnodeError(f"a metric is one of {', '.join(METRICS)}, not {self.metric!r}")
        if self.tolerance is not None and not self.tolerance > 0:
            raise CutnodeError(f"a tolerance is a number, more than 0, not {self.tolerance!r}")


BYTES_EACH = {CHANCES: 32, POINTS: 2, DISTANCES: 2}
"""Of memory for an index of the layer that is solved; moves backwards come on top."""


def solve_layer(
    space: Space,
    number: int,
    directory: Directory,
    settings: Settings,
    *,
    stops: Sequence[threading.Event] = (),
    look: Callable[[LayerThreads], None] | None = None,
) -> LayerTable:
    """Solve a layer; those to which its moves lead have to be in the directory.

    :class:`Missing` if one is not, :class:`Stopped` if it was ended early.
    """
    cls, name, size = space.cls, space.names[number], space.sizes[number]
    kind = kind_of(cls)
    if size * BYTES_EACH[kind] > settings.memory:
        raise CutnodeError(
            f"layer {name} of {game_name(cls)} has {size:,} indices and takes "
            f"{size * BYTES_EACH[kind] / 2**20:,.0f} MiB, but {settings.memory / 2**20:,.0f} are "
            f"allowed: allow more, or split it into more layers"
        )
    dtype = {CHANCES: SWEEP, POINTS: THRESHOLD, DISTANCES: PASS}[kind]
    threads = LayerThreads(space, number, dtype, settings.threads, stops, look)
    if kind == CHANCES:
        whole = settings.tolerance or DIGITS * value_limit(cls)
        share = whole / (1.5 * len(space.sizes))
        chances = ChanceLayer(space, number, directory, threads, share)
        chances.solve()
        return table_of_values(cls, number, name, chances.values, chances.error, share / 2)
    if kind == POINTS:
        points = PointsLayer(space, number, directory, threads)
        points.solve()
        return table_of_codes(cls, number, name, points.codes, code_counts(points.codes), "points")
    layer = RetrogradeLayer(
        space,
        number,
        directory,
        threads,
        conversion=settings.metric != "dtm",
        memory=settings.memory,
    )
    layer.solve()
    return table_of_codes(
        cls, number, name, layer.codes, code_counts(layer.codes), settings.metric
    )


def solve_layers(
    space: Space,
    directory: Directory,
    wanted: Iterable[int],
    solve: Callable[[int], LayerTable],
) -> None:
    """Solve layers, each after those to which it leads; *solve* solves one.

    In games of chance, and wherever a layer is found to lead to one that is not there, that comes
    first.
    """
    waiting = sorted(set(wanted), reverse=True)
    while waiting:
        number = waiting[-1]
        if number not in directory.layers:
            try:
                directory.add(solve(number))
            except Missing as missing:
                waiting.append(int(missing.args[0]))
                continue
        waiting.pop()
