"""Optionality: more options mean more resilience.

Freedom of choice is worth something beyond material: a player with many moves, things to build,
room and resources has a way out of whatever the opponent does.  A game tells what both players have
by the verb ``features``: twelve non-negative numbers, for each of :data:`FEATURES` the mover's and
then the opponent's.  The *advantage* in each is

    (mine - theirs) / (mine + theirs)

which is 1 if only the mover has any, -1 if only the opponent has, and 0 if both have the same or
nothing.  An :class:`Optionality` weighs the six advantages and adds them to the game's own
``evaluate``::

    evaluate + share * UNIT * (the sum of weight * advantage) / 100

With weights that add up to 100 and a *share* of 1, being ahead in everything is therefore worth the
game's ``UNIT`` (100 in a game without one).

The search reads the weights as data, not as a part of the compiled code: one compiled search plays
every style, and changing weights costs nothing.
"""

from __future__ import annotations

import math
from random import Random
from typing import Any, NamedTuple

from numba import types

from cutnode.compiler.jit import compiled
from cutnode.contract.choices import STYLES
from cutnode.contract.dispatch import MAX_VALUE, game_constant, value_limit
from cutnode.contract.errors import CutnodeError
from cutnode.contract.verbs import evaluate, features

FEATURES = ("move_count", "build_options", "material", "territory", "resources", "threat")
"""The measures of ``features``, in their order; 0 where a game has no such thing."""


class Optionality(NamedTuple):
    """An evaluation that adds a weighted sum of advantages to a game's own.

    Weights are in hundredths of the game's ``UNIT``; a negative weight rewards the opposite.
    """

    move_count: float
    """The moves that each player has, or would have if it were his turn."""
    build_options: float
    """The things that each player could make of his resources: units, drops, promotions."""
    material: float
    territory: float
    """The cells that each player controls or can reach."""
    resources: float
    """Assets that are not on the board yet: money, a reserve, seeds in store."""
    threat: float
    """The attacks that each player could make."""
    share: float = 1.0
    """The factor of the weighted sum."""

    def __call__(self, position: Any) -> int:
        return weigh(self, position, *scale(type(position)))

    def jittered(self, random: Random, low: float = 0.5, high: float = 1.5) -> Optionality:
        """Return a copy, each weight multiplied by its own random factor from *low* to *high*.

        It varies the games between players of the same style.
        """
        weights = self._asdict()
        return self._replace(**{f: weights[f] * random.uniform(low, high) for f in FEATURES})

    def checked(self) -> Optionality:
        """Return a copy in floats; :class:`CutnodeError` names a number out of range."""
        for name, number in self._asdict().items():
            try:
                finite = math.isfinite(number)
            except (TypeError, OverflowError):
                finite = False
            if not finite or abs(number) > MAX_VALUE:
                raise CutnodeError(
                    f"{name} of an optionality must be a number from -{MAX_VALUE} to {MAX_VALUE}, "
                    f"got {number!r}"
                )
        return Optionality(*map(float, self))

    @property
    def name(self) -> str:
        """The name of the preset, or the numbers."""
        known = (name for name, preset in PRESETS.items() if preset == self)
        return next(known, f"optionality {', '.join(f'{number:g}' for number in self)}")

    @property
    def meaning(self) -> str:
        """A text of all numbers: it differs wherever the scores of two evaluations may."""
        return repr(tuple(self))

    @property
    def type(self) -> types.Type:
        """The compiled type, the same for all weights."""
        return OPTIONALITY

    @property
    def module(self) -> str:
        """The module that its compiled code depends on."""
        return __name__


OPTIONALITY = types.BaseTuple.from_types((types.float64,) * len(Optionality._fields), Optionality)

PRESETS = {name: Optionality(*weights) for name, weights in STYLES.items()}
"""Styles of play by name."""


def scale(cls: type) -> tuple[int, float]:
    """Return the ``UNIT`` of a position class's game, and its largest estimate."""
    return game_constant(cls, "UNIT", 100), value_limit(cls)


@compiled
def advantage(mine: float, theirs: float) -> float:
    """Return the mover's advantage, from -1 to 1."""
    total = float(mine) + float(theirs)
    return (float(mine) - float(theirs)) / total if total > 0.0 else 0.0


@compiled
def weigh(weights: Any, position: Any, unit: int, limit: float) -> int:
    """Return the estimate of an :class:`Optionality`, clipped to plus and minus *limit*."""
    m0, t0, m1, t1, m2, t2, m3, t3, m4, t4, m5, t5 = features(position)
    total = weights.move_count * advantage(m0, t0)
    total += weights.build_options * advantage(m1, t1)
    total += weights.material * advantage(m2, t2)
    total += weights.territory * advantage(m3, t3)
    total += weights.resources * advantage(m4, t4)
    total += weights.threat * advantage(m5, t5)
    points: float = evaluate(position) + weights.share * unit * total / 100.0
    return round(max(-limit, min(points, limit)))
