"""Fits of models to the positions of several generations, and the record that reproduces them.

A fit may start from the weights of an earlier one, which saw only the positions of its time.  So
the :class:`Fitting` of weights is a list of fits, the first from scratch.  Weights depend only on
it, on the positions (``--data``), which it names by their digests, and on the libraries;
:mod:`cutnode.training.rebuilding` repeats the fits.
"""

from __future__ import annotations

import platform
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

import numpy as np

from cutnode.kernels.evaluation import OWN
from cutnode.kernels.learned import MOST_STONES, Learned, most_score
from cutnode.kernels.scores import is_decisive
from cutnode.kernels.self_play import write_estimates
from cutnode.training.fitting import Course
from cutnode.training.games import Labelled
from cutnode.training.models import Model
from cutnode.training.objectives import Examples
from cutnode.training.records import digest_of

STAGES = 3
"""The number of stages of the game, with equally many positions each."""

HELD_OUT = 20
"""One game in ``HELD_OUT`` is for validation."""

SHARE = 0.8
"""The weight of the search score in a label; the rest is the weight of the game's result."""

LIBRARIES = "jax", "jaxlib", "numba", "numpy", "optax"


@dataclass
class Games:
    """The positions of a generation, and what models read from them."""

    played: Labelled
    file: str = ""
    """The name of the file that keeps them."""
    digest: str = ""
    base: Any = None
    """The game's own estimates, in units of targets; None if not computed yet."""
    read: dict[str, tuple[Any, Any]] = field(default_factory=dict)
    """Inputs and numbers of stones, by the name of the model."""

    def __post_init__(self) -> None:
        self.digest = digest_of(self.played)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data that identifies the positions."""
        return {"file": self.file, "rows": len(self.played), "digest": self.digest}


@dataclass(frozen=True)
class Step:
    """One fit: its positions, and the number of passes over them."""

    epochs: int
    data: tuple[str, ...]
    """The digests of the generations' positions."""


@dataclass(frozen=True)
class Fitting:
    """The record of how weights were fitted."""

    model: str
    seed: int
    share: float
    """The weight of the search score in a label."""
    unit: float
    """The score that corresponds to log odds of 1."""
    stages: tuple[int, ...]
    """The numbers of stones at which each stage of the game but the first begins."""
    steps: tuple[Step, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {**vars(self), "steps": [vars(step) for step in self.steps]}

    @classmethod
    def of(cls, data: dict[str, Any]) -> Fitting:
        """Return a fitting from the plain data of :meth:`to_dict`."""
        steps = tuple(Step(step["epochs"], tuple(step["data"])) for step in data["steps"])
        return cls(**{**data, "stages": tuple(data["stages"]), "steps": steps})


def libraries() -> dict[str, str]:
    """Return the versions of Python and of the libraries that fits use, and the machine type."""
    found = {name: version(name) for name in LIBRARIES}
    return found | {"python": platform.python_version(), "machine": platform.machine()}


def staged(stones: Any) -> tuple[int, ...]:
    """Return the numbers of stones at which stages begin, so that stages have equal shares."""
    borders = np.quantile(stones, np.arange(1, STAGES) / STAGES).astype(np.int64)
    return tuple(int(border) for border in np.unique(borders))


def stage_table(borders: tuple[int, ...]) -> Any:
    """Return the stage for each number of stones."""
    return np.searchsorted(np.array(borders), np.arange(MOST_STONES + 1), side="right")


def read_of(start: Any, model: Model, games: list[Games]) -> tuple[Any, Any]:
    """Return the inputs of a model for all positions, and their numbers of stones."""
    for each in games:
        if model.name not in each.read:
            each.read[model.name] = model.read(start, each.played.words)
    inputs, stones = zip(*(each.read[model.name] for each in games), strict=True)
    return np.concatenate(inputs), np.concatenate(stones)


def fit_step(
    start: Any, model: Model, games: list[Games], fitting: Fitting, known: Any
) -> tuple[Any, Learned]:
    """Do the last step of a fitting, starting from *known* weights; return fit and evaluation."""
    cls: Any = type(start)
    decisive = is_decisive(cls)
    step, unit = fitting.steps[-1], fitting.unit if decisive else 1.0
    inputs, stones = read_of(start, model, games)
    table = stage_table(fitting.stages)
    for each in games:
        if model.own and each.base is None:
            each.base = (own_estimates(start, each.played) / unit).astype(np.float32)
    base = np.zeros(len(stones), np.float32)
    if model.own:
        base = np.concatenate([each.base for each in games])
    parts = [each.played for each in games]
    expected = np.concatenate([part.expected for part in parts])
    results = np.concatenate([part.results for part in parts])
    results = (np.sign(results) + 1) / 2 if decisive else results
    examples = Examples(
        inputs,
        table[stones].astype(np.int32),
        base,
        (fitting.share * expected + (1 - fitting.share) * results).astype(np.float32),
        np.concatenate([part.games % HELD_OUT == 0 for part in parts]),
    )
    course = Course(decisive, fitting.seed, step.epochs)
    fitted = model.fit(examples, course, count=int(table.max()) + 1, known=known)
    return fitted, model.evaluation(fitted, table, unit)


def own_estimates(start: Any, played: Labelled) -> Any:
    """Return the game's own estimates of positions."""
    cls: Any = type(start)
    found = np.zeros(len(played))
    run = write_estimates.specialise(cls, OWN)
    run(start, OWN, np.ascontiguousarray(played.words).reshape(-1), found)
    return np.clip(found, -most_score(cls), most_score(cls))
