"""The fit of weights to labelled positions, with JAX and Optax.

In a game of wins and losses the sum of a position's weights is the logarithm of the odds that its
mover wins; where points count it is their number.  Each stage of the game has weights of its own,
which are what all stages have in common and a difference, held small.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np

from engine.contract.errors import CutnodeError

__all__ = ["MOST_EPOCHS", "Examples", "Fit", "fit", "require_jax"]

BATCHES = 128
"""Of an epoch, at least, each of 256 to 4096 positions."""

FEWEST = 4096
"""Positions to learn from."""

SOME = 32_768
"""Positions whose error is found at a time."""

RATE = 0.002
MOST_EPOCHS = 8
PATIENCE = 2
"""Epochs without a better error on held-out positions, after which the fit ends."""

DECAY = 1e-5, 3e-5
"""Penalties for the squares of weights that stages have in common, and of their differences."""


class Examples(NamedTuple):
    """Positions to learn from, each a row."""

    places: Any
    """The places of their weights: int32 of ``(positions, windows)``."""
    stages: Any
    targets: Any
    """The odds that the mover wins, or points."""
    held: Any
    """True where a position is not learned from: it is for validation."""


@dataclass(frozen=True)
class Fit:
    """Weights, float32 of ``(stages, size)``, and the error on positions that were held out."""

    weights: Any
    error: float


def require_jax() -> None:
    """:class:`CutnodeError` if what training needs is not installed."""
    if not (find_spec("jax") and find_spec("optax")):
        raise CutnodeError("training needs JAX and Optax: pip install 'cutnode[train]'")


def fit(
    examples: Examples,
    *,
    size: int,
    count: int,
    decisive: bool,
    seed: int = 0,
    known: Any = None,
    epochs: int = MOST_EPOCHS,
) -> Fit:
    """Fit the weights of *count* stages, *size* of each, to examples.

    Of the *epochs* those count that made the error on held-out positions least.  Weights that are
    *known*, of an earlier fit, are where it begins.  :class:`CutnodeError` if there are too few.
    """
    import jax
    import jax.numpy as jnp
    import optax

    def sums(parameters: Any, at: Any, stage: Any) -> Any:
        common, own = parameters
        return (common[at] + own.reshape(-1)[at + size * stage[:, None]]).sum(axis=1)

    def losses(parameters: Any, at: Any, stage: Any, target: Any) -> Any:
        found = sums(parameters, at, stage)
        if decisive:
            return optax.sigmoid_binary_cross_entropy(found, target)
        return (found - target) ** 2

    def objective(parameters: Any, at: Any, stage: Any, target: Any) -> Any:
        common, own = parameters
        penalty = DECAY[0] * (common**2).sum() + DECAY[1] * (own**2).sum()
        return losses(parameters, at, stage, target).mean() + penalty

    places, stages, targets, held = examples
    learned = np.flatnonzero(~held)
    others = np.flatnonzero(held)
    if len(learned) < FEWEST or not len(others):
        raise CutnodeError(
            f"{len(targets):,} positions are too few to learn from: let it play longer"
        )
    batch = min(max(len(learned) // BATCHES, 256), 4096)
    steps = epochs * (len(learned) // batch)
    spread = 1.0 if decisive else float(np.std(targets)) or 1.0
    rule = optax.adam(optax.cosine_decay_schedule(RATE * spread, steps))
    known = np.zeros((count, size)) if known is None else known
    common = known.mean(axis=0)
    parameters = jnp.asarray(common), jnp.asarray(known - common)

    @jax.jit
    def step(parameters: Any, state: Any, at: Any, stage: Any, target: Any) -> Any:
        gradient = jax.grad(objective)(parameters, at, stage, target)
        updates, state = rule.update(gradient, state)
        return optax.apply_updates(parameters, updates), state

    total = jax.jit(lambda *given: losses(*given).sum())

    def error(parameters: Any) -> float:
        parts = [others[n : n + SOME] for n in range(0, len(others), SOME)]
        found = (total(parameters, places[part], stages[part], targets[part]) for part in parts)
        return float(sum(map(float, found)) / len(others))

    state = rule.init(parameters)
    order = np.random.default_rng(seed)
    best, least, waited = parameters, error(parameters), 0
    for _ in range(epochs):
        shuffled = order.permutation(learned)
        for start in range(0, len(shuffled) - batch + 1, batch):
            part = shuffled[start : start + batch]
            parameters, state = step(parameters, state, places[part], stages[part], targets[part])
        now = error(parameters)
        if now < least:
            best, least, waited = parameters, now, 0
        else:
            waited += 1
            if waited >= PATIENCE:
                break
    common, own = best
    return Fit(np.asarray(common + own), least)
