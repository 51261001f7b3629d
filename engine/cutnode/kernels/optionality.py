"""Optionality: more options mean more resilience.

Freedom of choice is worth something beyond material: who has many moves, much that can be
built, room and means keeps a way out of what the opponent does.  A game says what both
players have by the verb ``features``: twelve numbers of 0 or more, for each of
:data:`FEATURES` what the mover has and then what the other has.  Of each the *advantage* is

    (mine - theirs) / (mine + theirs)

which is 1 if only the mover has any, -1 if only the other has, and 0 if they are equal or
there is nothing.  An :class:`Optionality` weighs the six advantages and adds them to the
game's own ``evaluate``::

    evaluate + share * UNIT * (the sum of weight * advantage) / 100

so with weights that add up to 100 and a *share* of 1, to be ahead in everything is worth the
game's ``UNIT`` (100 in a game without one).

Weights are numbers that a search reads, and no part of the compiled code: one search
plays every style, and to change weights costs nothing.
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
"""The measures of ``features`` in their order; where a game has no such thing, 0."""


class Optionality(NamedTuple):
    """An evaluation that adds a weighted sum of advantages to a game's own.

    Weights are in hundredths of the game's ``UNIT``; a negative one wants the opposite.
    """

    move_count: float
    """The moves that each player has, or would have if it were the turn."""
    build_options: float
    """The things that each could make of the resources: units to build, drops, promotions."""
    material: float
    territory: float
    """Cells that each controls or can reach."""
    resources: float
    """Means that are not on the board yet: money, a reserve, seeds in store."""
    threat: float
    """Attacks that each could make."""
    share: float = 1.0
    """How much of the sum is added."""

    def __call__(self, position: Any) -> int:
        return weigh(self, position, *scale(type(position)))

    def jittered(self, random: Random, low: float = 0.5, high: float = 1.5) -> Optionality:
        """Return the same with each weight multiplied by a factor of its own from *low* to *high*.

        For games between players of one style that are not always the same.
        """
        weights = self._asdict()
        return self._replace(**{f: weights[f] * random.uniform(low, high) for f in FEATURES})

    def checked(self) -> Optionality:
        """The same in floats; :class:`CutnodeError` names what is no finite number."""
        for name, number in self._asdict().items():
            try:
                finite = math.isfinite(number)
            except (TypeError, OverflowError):
                finite = False
            if not finite or abs(number) > MAX_VALUE:
                raise CutnodeError(
                    f"{name} of an optionality is a number from -{MAX_VALUE} to {MAX_VALUE}, "
                    f"not {number!r}"
                )
        return Optionality(*map(float, self))

    @property
    def name(self) -> str:
        """The name of a preset, or the numbers."""
        known = (name for name, preset in PRESETS.items() if preset == self)
        return next(known, f"optionality {', '.join(f'{number:g}' for number in self)}")

    @property
    def meaning(self) -> str:
        """A text that differs where the scores of two evaluations may: all numbers."""
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
    """The ``UNIT`` of the game of a position class, and its largest estimate."""
    return game_constant(cls, "UNIT", 100), value_limit(cls)


@compiled
def advantage(mine: float, theirs: float) -> float:
    """The lead of the mover, from -1 to 1."""
    total = float(mine) + float(theirs)
    return (float(mine) - float(theirs)) / total if total > 0.0 else 0.0


@compiled
def weigh(weights: Any, position: Any, unit: int, limit: float) -> int:
    """The estimate of an :class:`Optionality`, no further from 0 than *limit*."""
    m0, t0, m1, t1, m2, t2, m3, t3, m4, t4, m5, t5 = features(position)
    total = weights.move_count * advantage(m0, t0)
    total += weights.build_options * advantage(m1, t1)
    total += weights.material * advantage(m2, t2)
    total += weights.territory * advantage(m3, t3)
    total += weights.resources * advantage(m4, t4)
    total += weights.threat * advantage(m5, t5)
    points: float = evaluate(position) + weights.share * unit * total / 100.0
    return round(max(-limit, min(points, limit)))
