"""Scores: the scale of a search that stops before the end of the game.

Estimates and values of finished games have to be comparable.  In a game whose ``evaluate``
estimates the value (discs, seeds) they are.  In a ``DECISIVE`` game only the winner matters, and
how soon he wins: a finished position *ply* moves from the root scores ``WIN - ply`` if the mover
has won, and ``ply - WIN`` if he has lost.  Quicker wins and slower losses are better, and every win
scores above every estimate.  A caller may say that the distance does not matter
(``soonest=False``); then a win is ``WIN`` at every ply.

An entry of the transposition table must not depend on how deep in the tree its position occurred.
So the table keeps the score of a win as a distance from the position (:func:`to_table`), which a
probe turns into a distance from the root again (:func:`from_table`).
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
"""The score of an immediate win in a ``DECISIVE`` game."""

MOST_ESTIMATE = 25000
"""The largest absolute estimate in a ``DECISIVE`` game: scores beyond it are wins and losses."""

assert MOST_ESTIMATE < WIN < MAX_VALUE


def is_decisive(cls: Any) -> bool:
    """Return whether only the winner, and how soon he wins, matters in a position class's game."""
    return bool(game_constant(cls, "DECISIVE", 0))


def win_distance(score: float) -> float | None:
    """Return the plies to the end of the game by the score of a win or loss; None for estimates."""
    return WIN - abs(score) if abs(score) > MOST_ESTIMATE else None


@compiled
def final_score(value, ply, win, step):
    """Return the score of a finished game.

    *win* is ``WIN`` if the game is decisive, else 0; *step* is 1 if quicker wins score higher.
    """
    if win == 0 or value == 0:
        return value
    return win - step * ply if value > 0 else step * ply - win


@compiled
def limited(estimate, win):
    """Return an estimate clipped to the allowed range."""
    most = MAX_VALUE if win == 0 else MOST_ESTIMATE
    return most if estimate > most else -most if estimate < -most else estimate


@compiled
def to_table(score, ply, win, step):
    """Return a score from the root as a score from a position *ply* moves deep."""
    if win == 0 or -MOST_ESTIMATE <= score <= MOST_ESTIMATE or abs(score) > win:
        return score
    return score + step * ply if score > 0 else score - step * ply


@compiled
def from_table(score, ply, win, step):
    """Return a score from a position as a score from the root: the inverse of :func:`to_table`."""
    if win == 0 or -MOST_ESTIMATE <= score <= MOST_ESTIMATE or abs(score) > win:
        return score
    return score - step * ply if score > 0 else score + step * ply
