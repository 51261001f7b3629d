"""Reviewed games as annotated records: PGN in chess, lists of moves in other games.

Marks become numeric annotations (NAGs) in PGN: ``!`` is ``$1``, ``?`` ``$2``, ``??`` ``$4``, ``?!``
``$6``, and an only move ``$7``.  Comments and variations of the given game are kept, after the new
ones; its marks are replaced.
"""

from __future__ import annotations

from typing import Any

from cutnode.contract.dispatch import module_of
from cutnode.contract.plies import MARKS, Ply
from cutnode.explaining.phrases import MOST_PLIES, capital
from cutnode.explaining.reviews import Review, ReviewedStep, TurningPoint
from cutnode.playing.records import LIST_SUFFIX, list_text, own_text
from cutnode.search.results import line_text

ONLY_MOVE = "$7"
"""The numeric annotation of an only move."""


def annotated(review: Review, suffix: str) -> str:
    """Return a reviewed game in the format of files that end in *suffix*: with all annotations."""
    given = review.recorded
    turns = {turn.step.number: turn for turn in review.turning_points}
    plies = [
        _ply(ply, step, turns.get(step.number), review)
        for ply, step in zip(given.plies, review.steps, strict=True)
    ]
    comment = f"{_summary(review)} {given.comment}".strip()
    if suffix == LIST_SUFFIX:
        return list_text(given.name, review.start, plies, given.headers, comment)
    headers = {"Date": "????.??.??", **given.headers}
    value = None if review.result is None else 2 * review.result - 1
    module: Any = module_of(type(review.start))
    return own_text(
        module, review.start, plies, ("?", "?"), value, headers=headers, comment=comment
    )


def _summary(review: Review) -> str:
    """Return the accuracy of both sides, and what it rests on, in a line."""
    known = [side for side in review.sides if side.accuracy is not None]
    shares = ", ".join(f"{side.accuracy:.1f} % for {side.subject}" for side in known)
    basis = capital(review.basis)
    return f"Accuracy is {shares}. {basis}." if known else f"{basis}."


def _ply(ply: Ply, step: ReviewedStep, turn: TurningPoint | None, review: Review) -> Ply:
    """Return a ply with the marks, the comment and the better line of a reviewed step."""
    kept = [mark for mark in ply.mark.split() if mark not in MARKS and mark != ONLY_MOVE]
    marks = [step.mark] * bool(step.mark) + [ONLY_MOVE] * step.only_move + kept
    comments, variations = [], list(ply.variations)
    if step.mark.startswith("?") or turn is not None:
        comments.append(f"{capital(review.change_words(step))}.")
    if turn is not None and turn.explanation is not None:
        comments += turn.explanation.sentences()
    if step.mark.startswith("?") and step.best:
        better = line_text(step.position, step.best[:MOST_PLIES])
        variations.insert(0, [Ply(text) for text in better])
    text = ply if step.move is None else step.text
    return Ply(text, " ".join(marks), " ".join([*comments, ply.comment]).strip(), variations)
