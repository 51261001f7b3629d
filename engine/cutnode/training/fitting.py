"""The fit of weights to labelled positions, with JAX and Optax.

In a game of wins and losses what weights say of a position is the logarithm of the odds that its
mover wins; where points count it is their number.  They may say what the game's own estimate leaves
open: then that is a part of the sum, and stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from cutnode.contract.errors import CutnodeError
from cutnode.contract.extras import extra
from cutnode.training.objectives import Examples, JaxObjective, NetworkObjective, Objective

BATCHES = 128
"""Of an epoch, at least, each of 256 to 4096 positions (networks: twice as many)."""

FEWEST = 4096
"""Positions to learn from."""

SOME = 32_768
"""Positions whose error is found at a time."""

RATE = 0.002
LEAST_RATE = 0.01
"""The share of the rate that is left at the end."""

EPOCHS = 8
PATIENCE = 4
"""A fit ends after a share of 1 in so many of its epochs, two at least, without a better error on
held-out positions."""

DECAY = 1e-5, 3e-5
"""Penalties for the squares of weights that stages have in common, and of their differences."""


class Course(NamedTuple):
    """What kind of targets a fit has, and how long it takes."""

    decisive: bool
    """Targets are odds, not points."""
    seed: int = 0
    epochs: int = EPOCHS


@dataclass(frozen=True)
class PatternFit:
    """Weights, float32 of ``(stages, size)``, and the error on positions that were held out."""

    weights: Any
    error: float


@dataclass(frozen=True)
class Layers:
    """The weights of a network in units of 1, and the error on positions that were held out."""

    inputs: Any
    """float32 of ``(bits, width)``."""
    bias: Any
    outputs: Any
    """float32 of ``(stages, views * width)``."""
    shifts: Any
    spread: float
    """What an output of 1 is in the units of the targets."""
    error: float


def require_jax() -> None:
    """:class:`CutnodeError` if what training needs is not installed."""
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
    """Fit the weights of *count* stages, *size* of each, to the places that examples have.

    Each stage has weights of its own, which are what all stages have in common and a difference,
    held small.  Weights that are *known*, of an earlier fit, are where it begins.
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
    """Fit a network of *width* neurons and *count* stages to the bytes that examples have.

    The bytes are those of so many *views*, one after the other; each has *width* neurons, of the
    same weights.  Weights of the first layer, and of the second, are no further from 0 than *most*.
    *varied* gives the inputs of an epoch: symmetric images, say.  Else as :func:`fit_patterns`.
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
    """How far targets lie apart, in their units."""
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
    """The parameters that gradient descent (Adam) finds from *start* on, and their error.

    Of the epochs those count that made the error on held-out positions least.  *spread* is how much
    parameters change, and *largest* the most positions of a step.
    """
    import jax
    import jax.numpy as jnp
    import optax

    learned = np.flatnonzero(~examples.held)
    others = np.flatnonzero(examples.held)
    if len(learned) < FEWEST or not len(others):
        raise CutnodeError(
            f"{len(examples.targets):,} positions are too few to learn from: let it play longer"
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
    best, least, waited = parameters, error(parameters), 0
    for _ in range(course.epochs):
        objective.begin_epoch(order)
        shuffled = order.permutation(learned)
        for first in range(0, len(shuffled) - batch + 1, batch):
            rows = shuffled[first : first + batch]
            parameters, state = step(parameters, state, objective.gradient(parameters, rows))
        now = error(parameters)
        if now < least:
            best, least, waited = parameters, now, 0
        else:
            waited += 1
            if waited >= max(course.epochs // PATIENCE, 2):
                break
    return tuple(np.asarray(part) for part in best), least


def logistic_slope(scores: Any, results: Any) -> float:
    """The slope of the logistic function that foretells results best (Newton's method)."""
    spread = float(np.std(scores)) if len(scores) else 0.0
    if spread == 0.0:
        return 0.0
    scaled, slope = scores / spread, 1.0
    for _ in range(30):
        odds = 1 / (1 + np.exp(-np.clip(slope * scaled, -30, 30)))
        curve = float((odds * (1 - odds) * scaled**2).sum()) + 1e-9
        slope += float(np.clip(((results - odds) * scaled).sum() / curve, -1, 1))
    return slope / spread
