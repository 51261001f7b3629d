"""The sentences of explanations: all templates, and the names of the players.

A sentence that says what perfect play leads to ends in ``(proven)``; any other says how deep it was
searched.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from cutnode.contract.messages import description, move_text
from cutnode.contract.notation import board_of, notation_of
from cutnode.contract.verbs import play
from cutnode.explaining.judging import ALMOST, JudgedMove, Judgement

MOST_NAMED = 8
"""The most moves that a sentence names."""

MOST_PLIES = 12
"""The most plies of a line that a sentence shows."""


class Names(NamedTuple):
    """The names of the players at a position."""

    mover: str
    """The player to move."""
    other: str
    """The opponent."""

    @classmethod
    def of(cls, position: Any) -> Names:
        """Return the names that the game's board gives the players, or general ones."""
        board = board_of(type(position))
        notation = notation_of(type(position))
        if board is not None:
            if board.players:
                first, second = board.players
                mover = notation.mover(position)
                if mover in (first, second):
                    names = board.players[first], board.players[second]
                    return cls(*(names if mover == first else names[::-1]))
            sides = board.sides
            player = notation.player(position) if len(sides) == 2 else None
            if player is not None:
                words = [
                    f"{side} player" if side in ("first", "second") else side for side in sides
                ]
                return cls(words[player], words[1 - player])
        return cls("player to move", "opponent")

    def subject(self, name: str) -> str:
        """Return a player's name as the subject of a sentence."""
        bare = name in ("player to move", "opponent") or name.split()[0] in ("first", "second")
        return f"the {name}" if bare else name


def capital(text: str) -> str:
    """Return a text with its first letter as a capital."""
    return text[:1].upper() + text[1:]


def counted(number: int, what: str) -> str:
    """Return a number with a noun in the singular or plural."""
    plural = {"ply": "plies", "reply": "replies"}.get(what, f"{what}s")
    return f"{number:,} {what if number == 1 else plural}"


def listed(texts: Sequence[str]) -> str:
    """Return texts as a list, cut after a few."""
    shown = list(texts[:MOST_NAMED])
    more = f" and {len(texts) - MOST_NAMED} more" if len(texts) > MOST_NAMED else ""
    return ", ".join(shown) + more


def basis(judgement: Judgement, proven: bool) -> str:
    """Return in words what a claim rests on."""
    if proven:
        return "proven"
    if judgement.playouts:
        return f"estimated by {judgement.playouts:,} playouts"
    return f"estimated {counted(judgement.depth, 'ply')} deep"


def result_words(position: Any, judged: JudgedMove, names: Names) -> str:
    """Return what a move leads to, as the end of a sentence: ``loses in 4 plies``."""
    if not judged.proven:
        if judged.points >= ALMOST:
            return "seems to win by force"
        if judged.points <= 1 - ALMOST:
            return "seems to lose by force"
        return f"leaves {names.subject(names.mover)} {judged.points:.0%} of the points"
    if judged.points == 0.5:
        return "draws"
    verb = "wins" if judged.points == 1 else "loses"
    if judged.distance is not None:
        return f"{verb} in {counted(judged.distance, 'ply')}"
    return with_words(verb, position, judged.value)


def verdict(judgement: Judgement, names: Names, ending: str) -> str:
    """Return the verdict on a position as a sentence."""
    if ending:
        return capital(ending) + "."
    mover, other = map(names.subject, names)
    why = basis(judgement, judgement.proven)
    best = judgement.best
    if not judgement.proven:
        points = judgement.points
        if points >= ALMOST:
            return f"{capital(mover)} seems to win by force ({why})."
        if points <= 1 - ALMOST:
            return f"{capital(other)} seems to win by force ({why})."
        if 0.45 <= points <= 0.55:
            return f"The chances are about even: {points:.0%} for {mover} ({why})."
        ahead, share = (mover, points) if points > 0.5 else (other, 1 - points)
        return f"{capital(ahead)} is ahead, with {share:.0%} of the points ({why})."
    if judgement.points == 0.5:
        return f"With best play the game is a draw ({why})."
    winner = mover if judgement.points == 1 else other
    if best is not None and best.proven and best.distance is not None:
        return f"{capital(winner)} wins in {counted(best.distance, 'ply')} ({why})."
    said = f"{capital(winner)} wins with best play"
    return f"{with_words(said, judgement.position, judgement.value)} ({why})."


def with_words(text: str, position: Any, value: float) -> str:
    """Add the game's own words for a value, unless they only say who wins."""
    words = description(position, value)
    return text if not words or words.endswith(" wins") else f"{text}: {words}"


def stopped(text: str) -> str:
    """Return a sentence with a full stop, unless it ends in an ellipsis."""
    return text if text.endswith("...") else f"{text}."


def keeping(judgement: Judgement) -> str:
    """Return how many moves keep the result, as a sentence; "" if there is nothing to keep."""
    if not judgement.moves or judgement.legal == 0:
        return ""
    texts = [move_text(judgement.position, each.move) for each in judgement.keeping]
    if judgement.legal == 1:
        return f"There is only one legal move, {texts[0]}."
    if not judgement.proven:
        if judgement.only_move:
            why = basis(judgement, False)
            return f"Of {judgement.legal} moves, only {texts[0]} holds this ({why})."
        return f"About as good: {len(texts)} of {judgement.legal} moves ({listed(texts)})."
    if judgement.points == 0:
        every = "Every move loses" if judgement.open == 0 else "The position is lost"
        return f"{every} (proven)."
    kept = {1.0: "win", 0.5: "draw"}[judgement.points]
    unknown = f"; {judgement.open} more are undecided" if judgement.open else ""
    if judgement.only_move:
        return f"The only move that keeps the {kept} is {texts[0]}, of {judgement.legal} (proven)."
    if len(texts) == 1:
        others = counted(judgement.legal - 1, "other move")
        return f"{texts[0]} keeps the {kept} (proven); of {others} {judgement.open} are undecided."
    named = f" ({listed(texts)})"
    return f"{len(texts)} of {judgement.legal} moves keep the {kept}{named}, proven{unknown}."


def line_words(position: Any, line: Sequence[int]) -> str:
    """Return a line of play as text, cut after some plies."""
    words = []
    for move in line[:MOST_PLIES]:
        words.append(move_text(position, move))
        position = play(position, move)
    return " ".join(words) + " ..." * (len(line) > MOST_PLIES)
