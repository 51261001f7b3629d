"""Rebuilding weights from their recipe and the kept positions, to compare them."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from cutnode.contract.dispatch import game_name
from cutnode.contract.errors import CutnodeError
from cutnode.contract.loading import Game
from cutnode.kernels.learned import Learned
from cutnode.storage.evaluations import evaluation_recipe, load_evaluation
from cutnode.training.fits import Fitting, Games, fit_step, libraries
from cutnode.training.fitting import require_jax
from cutnode.training.models import models_for
from cutnode.training.records import read_games


@dataclass
class Rebuilt:
    """The comparison of weights in a file with the same weights fitted again."""

    game: str
    file: str
    model: str
    positions: int
    """The number of positions in the last fit."""
    seconds: float = 0.0
    differences: list[str] = field(default_factory=list)
    """Differences between the weights."""
    versions: list[str] = field(default_factory=list)
    """Differences between the versions of libraries in the two fits."""

    @property
    def same(self) -> bool:
        """Whether all weights are the same, bit for bit."""
        return not self.differences

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {**vars(self), "same": self.same}

    def __str__(self) -> str:
        about = f"{self.game}: {self.model}, fitted again to {self.positions:,} positions"
        verdict = "the same, bit for bit" if self.same else "not the same"
        return "\n".join([f"{about}: {verdict}", *self.differences, *self.versions])


def rebuild(
    game: Game,
    file: str | os.PathLike[str],
    *,
    data: str | os.PathLike[str],
    report: Callable[[str], None] | None = None,
) -> Rebuilt:
    """Repeat the fit of the weights in a file, with positions in the folder *data*, and compare.

    :class:`CutnodeError` if the file has no record of its fit, or positions are missing.
    """
    require_jax()
    began = time.monotonic()
    start = game.start()
    cls: Any = type(start)
    learned, recipe = load_evaluation(file, cls), evaluation_recipe(file)
    if "fitting" not in recipe:
        raise CutnodeError(
            f"{file} does not say how its weights were fitted, so they cannot be rebuilt: an "
            f"earlier version made it, or another program than cutnode train"
        )
    try:
        fitting = Fitting.of(recipe["fitting"])
        wanted = {each["digest"]: each for each in recipe["data"]}
        fitted_with = dict(recipe["libraries"])
    except (KeyError, TypeError):
        raise CutnodeError(f"{file} has a recipe from another version of cutnode") from None
    model = next((each for each in models_for(start) if each.name == fitting.model), None)
    if model is None:
        raise CutnodeError(f"{game_name(cls)} no longer has a model {fitting.model!r}")
    games = _positions(Path(data), cls, wanted)
    known, evaluation = None, learned
    for number, step in enumerate(fitting.steps, 1):
        if report is not None:
            report(f"fit {number} of {len(fitting.steps)}: {step.epochs} epochs")
        part = replace(fitting, steps=fitting.steps[:number])
        parts = [games[digest] for digest in step.data]
        known, evaluation = fit_step(start, model, parts, part, known)
    positions = sum(wanted[digest]["rows"] for digest in fitting.steps[-1].data)
    found = Rebuilt(game_name(cls), str(file), fitting.model, positions)
    found.differences = _differences(learned, evaluation)
    found.versions = [
        f"{name} is now {now}, was {fitted_with.get(name, 'unknown')}"
        for name, now in libraries().items()
        if fitted_with.get(name) != now
    ]
    found.seconds = time.monotonic() - began
    return found


def _positions(folder: Path, cls: Any, wanted: dict[str, dict[str, Any]]) -> dict[str, Games]:
    """Return the wanted positions from a folder, by their digests."""
    if not folder.is_dir():
        raise CutnodeError(f"there is no folder {str(folder)!r}")
    found = {}
    for played, about in read_games(folder, cls, None):
        games = Games(played, about["file"])
        if games.digest in wanted:
            found[games.digest] = games
    missing = [each for digest, each in wanted.items() if digest not in found]
    if missing:
        rows = sum(each["rows"] for each in missing)
        names = ", ".join(each["file"] for each in missing if each["file"])
        raise CutnodeError(
            f"{folder} lacks {rows:,} of the positions that the weights were fitted to"
            f"{f': {names}' if names else ', which were not kept'}"
        )
    return found


def _differences(one: Learned, other: Learned) -> list[str]:
    if (one.kind, one.shape) != (other.kind, other.shape):
        return [f"{one.kind} {one.shape}", f"{other.kind} {other.shape}"]
    found = []
    for name, array in one.arrays.items():
        again = other.arrays[name]
        if np.shape(array) != np.shape(again):
            found.append(f"{name}: shape {np.shape(again)}, in the file {np.shape(array)}")
        elif not np.array_equal(array, again):
            differ = np.asarray(array) != np.asarray(again)
            found.append(f"{name}: {np.sum(differ):,} of {np.size(array):,} numbers differ")
    return found
