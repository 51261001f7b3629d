"""Scores: the scale of a search that stops before the end of the game.

Estimates and values of finished games have to be compared.  In a game whose ``evaluate``
estimates the value (discs, seeds) they simply are.  In a ``DECISIVE`` game, where only who
wins and how soon matters, a position of the line of play that is *ply* moves deep and
won by the mover scores ``WIN - ply``, a lost one ``ply - WIN``: the quicker win and the
slower loss are better, and every win is above every estimate.  A caller may say that
how soon does not matter (``soonest=False``); then a win is ``WIN`` at every ply.

In the transposition table a position must not know how deep the line was on which it was
met, so a score of a win is kept as the distance from the position (:func:`to_table`), and
made one from the root again when it is found (:func:`from_table`).
"""

from __future__ import annotations

from typing import Any

from cutnode.compiler.jit import compiled
from cutnode.contract.dispatch import MAX_VALUE, game_constant

__all__ = [
    "MOST_ESTIMATE",
    "WIN",
    "final_score",
    "from_table",
    "is_decisive",
    "limited",
    "to_table",
    "win_distance",
]

WIN = 30000
"""A win of a ``DECISIVE`` game, at once."""

MOST_ESTIMATE = 25000
"""In a ``DECISIVE`` game no estimate is further from zero: what is further is a win."""

assert MOST_ESTIMATE < WIN < MAX_VALUE


def is_decisive(cls: Any) -> bool:
    """Return whether in the game of a position class only who wins, and how soon, matters."""
    return bool(game_constant(cls, "DECISIVE", 0))


def win_distance(score: float) -> float | None:
    """Plies to the end of a game that is won or lost by its score; None for estimates."""
    return WIN - abs(score) if abs(score) > MOST_ESTIMATE else None


@compiled
def final_score(value, ply, win, step):
    """The score of a finished game.

    *win* is ``WIN`` if the game is decisive and else 0; *step* is 1 if sooner is better.
    """
    if win == 0 or value == 0:
        return value
    return win - step * ply if value > 0 else step * ply - win


@compiled
def limited(estimate, win):
    """An estimate within what is allowed."""
    most = MAX_VALUE if win == 0 else MOST_ESTIMATE
    return most if estimate > most else -most if estimate < -most else estimate


@compiled
def to_table(score, ply, win, step):
    """A score, seen from a position *ply* moves deep."""
    if win == 0 or -MOST_ESTIMATE <= score <= MOST_ESTIMATE or abs(score) > win:
        return score
    return score + step * ply if score > 0 else score - step * ply


@compiled
def from_table(score, ply, win, step):
    """The inverse of :func:`to_table`."""
    if win == 0 or -MOST_ESTIMATE <= score <= MOST_ESTIMATE or abs(score) > win:
        return score
    return score - step * ply if score > 0 else score + step * ply
