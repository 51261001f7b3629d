"""Repetition: what a move is worth that brings an earlier position back.

A game says it by its constant ``REPETITION``; :mod:`cutnode.contract.verbs` explains the rules, and
``recurrence`` which positions count as the same.  Under every rule but ``"draw"`` a move that
leaves that word as it was, such as a pass under positional superko, repeats nothing.
"""

from __future__ import annotations

from cutnode.contract.dispatch import (
    constant_of,
    declared,
    defines,
    game_constant,
    game_name,
    value_limit,
)
from cutnode.contract.errors import GameError
from cutnode.contract.verbs import INFINITE

RULES = ("draw", "illegal", "loss", "win")
"""The values of ``REPETITION``, the default first."""


def repetition_rule(cls: type) -> str:
    """Return the ``REPETITION`` of the game of a position class.

    :class:`GameError` if it is none of :data:`RULES`, or does not suit the rest of the game.
    """
    rule = declared(cls, "REPETITION")
    if rule is None or rule == RULES[0]:
        return RULES[0]
    said = f"REPETITION of {game_name(cls)}"
    if not isinstance(rule, str) or rule not in RULES:
        allowed = ", ".join(f'"{each}"' for each in RULES[:-1])
        raise GameError(f'{said} must be {allowed} or "{RULES[-1]}", got {rule!r}')
    if not defines(cls, "reversible"):
        raise GameError(f'{said} is "{rule}", which needs reversible(position, child)')
    if defines(cls, "chance"):
        raise GameError(f'{said} must be "draw" in a game of chance, got "{rule}"')
    if (often := game_constant(cls, "REPETITIONS", 2)) != 2:
        raise GameError(f'{said} is "{rule}", so REPETITIONS must be 2, got {often}')
    return rule


def require_draws(cls: type, what: str) -> None:
    """Raise :class:`GameError` unless a repetition is a draw, as *what* needs."""
    if (rule := repetition_rule(cls)) != RULES[0]:
        raise GameError(
            f'REPETITION of {game_name(cls)} is "{rule}", so a value is no property of a position: '
            f"it depends on the line of play, which {what} cannot handle"
        )


def worst_value(cls: type) -> int:
    """Return the value of a lost game: ``-VALUE_LIMIT`` if the game declares it, else -1."""
    return -1 if declared(cls, "VALUE_LIMIT") is None else -int(value_limit(cls))


def _value(cls: type) -> int:
    worst = worst_value(cls)
    return {"draw": 0, "illegal": -INFINITE, "loss": worst, "win": -worst}[repetition_rule(cls)]


value_of_repetition = constant_of(_value)
"""The value of a repetition for the player who makes it; ``-INFINITE`` if there is no such move."""

value_without_moves = constant_of(worst_value)
"""The value for a mover whose every move is an illegal repetition."""

bans_repetition = constant_of(lambda cls: repetition_rule(cls) == "illegal")
"""Whether a move that brings a position back does not exist."""

needs_line = constant_of(lambda cls: repetition_rule(cls) != "draw")
"""Whether the value of a position depends on the line of play that led to it.

Where a repetition is a draw it does not: whoever can win does so without one, after any line.
"""
