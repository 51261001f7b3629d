"""The fit of weights to labelled positions, with JAX and Optax.

In a game of wins and losses, the sum of weights for a position predicts the log odds that its
mover wins; in a game of points, it predicts the points.  Weights may also be fitted to correct the
game's own estimate, which is then a fixed part of the sum.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from cutnode.contract.errors import CutnodeError
from cutnode.contract.extras import extra
from cutnode.training.objectives import Examples, JaxObjective, NetworkObjective, Objective

BATCHES = 128
"""The target number of batches per epoch; a batch has 256 to 4096 positions (networks: 8192)."""

FEWEST = 4096
"""The fewest positions to learn from."""

SOME = 32_768
"""Positions whose error is computed at a time."""

RATE = 0.002
LEAST_RATE = 0.01
"""The learning rate at the end, as a fraction of ``RATE``."""

EPOCHS = 8
PATIENCE = 4
"""A fit stops early after 1 / ``PATIENCE`` of its epochs (at least two) without a new least error
on held-out positions.  The error of known weights, with which a fit begins, does not count."""

DECAY = 1e-5, 3e-5
"""Penalties on the squares of weights shared by all stages, and of each stage's differences."""


class Course(NamedTuple):
    """The kind of targets of a fit, and its length."""

    decisive: bool
    """Whether targets are odds instead of points."""
    seed: int = 0
    epochs: int = EPOCHS


@dataclass(frozen=True)
class PatternFit:
    """Weights, float32 of ``(stages, size)``, and the error on held-out positions."""

    weights: Any
    error: float


@dataclass(frozen=True)
class Layers:
    """The weights of a network in units of 1, and the error on held-out positions."""

    inputs: Any
    """float32 of ``(bits, width)``."""
    bias: Any
    outputs: Any
    """float32 of ``(stages, views * width)``."""
    shifts: Any
    spread: float
    """The value of an output of 1, in units of the targets."""
    error: float


def require_jax() -> None:
    """Raise :class:`CutnodeError` if JAX or Optax is not installed."""
    for module in ("jax", "optax"):
        extra(module, "train", "training needs")


def fit_patterns(
    examples: Examples,
    course: Course,
    *,
    size: int,
    count: int,
    known: PatternFit | None = None,
) -> PatternFit:
    """Fit *size* weights for each of *count* stages to the places in the examples.

    The weights of a stage are the sum of weights shared by all stages and of a difference, which a
    penalty keeps small.  The fit starts from *known* weights of an earlier one, if given.
    :class:`CutnodeError` if there are too few examples.
    """
    weights = np.zeros((count, size), np.float32) if known is None else known.weights
    common = weights.mean(axis=0)

    def outputs(parameters: Any, at: Any, stage: Any) -> Any:
        common, own = parameters
        return (common[at] + own.reshape(-1)[at + size * stage[:, None]]).sum(axis=1)

    def penalty(parameters: Any) -> Any:
        common, own = parameters
        return DECAY[0] * (common**2).sum() + DECAY[1] * (own**2).sum()

    (common, own), error = _descended(
        (common, weights - common),
        JaxObjective(examples, course.decisive, outputs, penalty),
        examples,
        course,
        spread=_spread(examples, course.decisive),
        largest=4096,
    )
    return PatternFit(common + own, error)


def fit_network(
    examples: Examples,
    course: Course,
    *,
    width: int,
    views: int = 1,
    count: int,
    most: tuple[float, float],
    known: Layers | None = None,
    varied: Callable[[Any, Any], Any] | None = None,
) -> Layers:
    """Fit a network of *width* neurons and *count* stages to the bytes in the examples.

    The bytes are a number of *views*, one after the other; each has *width* neurons, with the same
    weights.  *most* limits the magnitude of weights in the first and in the second layer.
    *varied* returns the inputs of an epoch, such as symmetric images.  Otherwise this works as
    :func:`fit_patterns` does.
    """
    spread = _spread(examples, course.decisive)
    if known is None:
        chosen = np.random.default_rng(course.seed)
        bits = 8 * examples.inputs.shape[1] // views
        start = (
            chosen.uniform(-0.1, 0.1, (bits, width)),
            np.full(width, 0.3),
            np.tile(chosen.uniform(-0.05, 0.05, views * width), (count, 1)),
            np.zeros(count),
        )
    else:
        start = known.inputs, known.bias, known.outputs, known.shifts

    objective = NetworkObjective(
        examples, course.decisive, views=views, spread=spread, varied=varied
    )
    (inputs, bias, second, shifts), error = _descended(
        start,
        objective,
        examples,
        course,
        limits=(most[0], most[0], most[1], np.inf),
        spread=1.0,
        largest=8192,
    )
    return Layers(inputs, bias, second, shifts, spread, error)


def _spread(examples: Examples, decisive: bool) -> float:
    """Return the standard deviation of point targets; 1 for odds."""
    return 1.0 if decisive else float(np.std(examples.targets)) or 1.0


def _descended(
    start: tuple[Any, ...],
    objective: Objective,
    examples: Examples,
    course: Course,
    *,
    spread: float,
    largest: int,
    limits: tuple[float, ...] | None = None,
) -> tuple[tuple[Any, ...], float]:
    """Return the parameters that gradient descent (Adam) finds from *start*, and their error.

    They are taken from the epoch with the least error on held-out positions.  *spread* scales the
    learning rate, and *largest* is the most positions in a step.
    """
    import jax
    import jax.numpy as jnp
    import optax

    learned = np.flatnonzero(~examples.held)
    others = np.flatnonzero(examples.held)
    if len(learned) < FEWEST or not len(others):
        raise CutnodeError(
            f"{len(examples.targets):,} positions are too few to learn from: allow more time"
        )
    batch = min(max(len(learned) // BATCHES, 256), largest)
    steps = course.epochs * (len(learned) // batch)
    rule = optax.adam(optax.cosine_decay_schedule(RATE * spread, steps, alpha=LEAST_RATE))
    parameters = tuple(jnp.asarray(part, jnp.float32) for part in start)

    @jax.jit
    def step(parameters: Any, state: Any, gradient: Any) -> Any:
        updates, state = rule.update(gradient, state)
        parameters = optax.apply_updates(parameters, updates)
        if limits is not None:
            parameters = tuple(
                jnp.clip(part, -most, most) for part, most in zip(parameters, limits, strict=True)
            )
        return parameters, state

    def error(parameters: Any) -> float:
        parts = [others[n : n + SOME] for n in range(0, len(others), SOME)]
        return sum(objective.error(parameters, rows) for rows in parts) / len(others)

    state = rule.init(parameters)
    order = np.random.default_rng(course.seed)
    best, least = parameters, error(parameters)
    lowest, waited = math.inf, 0  # of this descent: the full rate first undoes some of a known fit
    for _ in range(course.epochs):
        objective.begin_epoch(order)
        shuffled = order.permutation(learned)
        for first in range(0, len(shuffled) - batch + 1, batch):
            rows = shuffled[first : first + batch]
            parameters, state = step(parameters, state, objective.gradient(parameters, rows))
        now = error(parameters)
        if now < least:
            best, least = parameters, now
        lowest, waited = (now, 0) if now < lowest else (lowest, waited + 1)
        if waited >= max(course.epochs // PATIENCE, 2):
            break
    return tuple(np.asarray(part) for part in best), least


def logistic_slope(scores: Any, results: Any) -> float:
    """Return the slope of the logistic function that best predicts results (Newton's method)."""
    spread = float(np.std(scores)) if len(scores) else 0.0
    if spread == 0.0:
        return 0.0
    scaled, slope = scores / spread, 1.0
    for _ in range(30):
        odds = 1 / (1 + np.exp(-np.clip(slope * scaled, -30, 30)))
        curve = float((odds * (1 - odds) * scaled**2).sum()) + 1e-9
        slope += float(np.clip(((results - odds) * scaled).sum() / curve, -1, 1))
    return slope / spread
