"""Expected points by a score: the scale that explanations, reviews and the board share."""

from __future__ import annotations

import functools
import json
import math
from pathlib import Path
from typing import Any

from cutnode.contract.dispatch import game_constant, game_name, value_limit
from cutnode.kernels.playouts import ESTIMATE_UNIT
from cutnode.kernels.scores import is_decisive


@functools.cache
def spreads() -> dict[str, float]:
    """Return the spreads of the estimates of games, by name.

    A spread is the number of units by which one side is ahead when its odds to win are e to 1,
    fitted to games of the engine against itself (``benchmarks/studies/spreads.py``).
    """
    found: dict[str, float] = json.loads(Path(__file__).with_name("spreads.json").read_bytes())
    return found


def odds_scale(cls: Any) -> float | None:
    """Return the score at which the odds to win are e to 1; None if points are linear in scores.

    It is ``UNIT`` times the game's spread (see :func:`spreads`), which is 1 for a game without one.
    A ``DECISIVE`` game without a ``UNIT`` has the unit 100; other games without one are linear.
    """
    unit = game_constant(cls, "UNIT", ESTIMATE_UNIT if is_decisive(cls) else 0)
    return unit * spreads().get(game_name(cls).partition(":")[0], 1.0) if unit else None


def win_chance(cls: Any, score: float) -> float:
    """Return the expected points of the mover, 0 to 1, by an estimate on the game's scale.

    It is the logistic function of the score in units of :func:`odds_scale` or, without one, the
    share of the way from ``-VALUE_LIMIT`` to ``VALUE_LIMIT``.
    """
    scale = odds_scale(cls)
    if scale is None:
        return max(0.0, min(1.0, 0.5 + score / value_limit(cls) / 2))
    return 1 / (1 + math.exp(-max(-700.0, min(score / scale, 700.0))))


def points_of(value: float) -> float:
    """Return the points of a proven value: 1 for a win, 0.5 for a draw, 0 for a loss."""
    return 0.5 + 0.5 * ((value > 0) - (value < 0))
