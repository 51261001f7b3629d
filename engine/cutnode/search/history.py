"""The positions of the game before the one that is searched: what a repetition of them means."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from cutnode.contract.dispatch import game_constant, game_name
from cutnode.contract.errors import GameError
from cutnode.contract.positions import coerce
from cutnode.contract.text import quoted
from cutnode.contract.verbs import recurrence, reversible
from cutnode.kernels.parameters import MOST_BEFORE


def require_history(history: Iterable[Any], cls: Any) -> None:
    """:class:`GameError` if *history* is something else than positions of a class."""
    for earlier in history:
        if type(earlier) is not cls:
            raise GameError(
                f"history is a list of earlier positions of {game_name(cls)}; "
                f"this is none: {quoted(repr(earlier))}"
            )


def drawing_words(history: Sequence[Any], position: Any) -> list[int]:
    """Return the words (``recurrence``) of earlier positions that are a draw if they come back.

    *history* leads to *position*.  Those that may come back once more are not among them.
    """
    require_history(history, type(position))
    # What lies before the last irreversible step cannot come back, and is not looked at.
    line = [coerce(position)]
    for earlier in reversed([*history][1 - MOST_BEFORE :]):
        earlier = coerce(earlier)
        if not reversible(earlier, line[-1]):
            break
        line.append(earlier)
    words = [recurrence(earlier) for earlier in reversed(line[1:])]
    often = game_constant(type(position), "REPETITIONS", 2) - 1
    return [word for at, word in enumerate(words) if words[: at + 1].count(word) >= often]
