"""The levels of play: how deep each searches, and how well it evaluates."""

from __future__ import annotations

from dataclasses import dataclass

FULL_STRENGTH = 100
"""The strength of a player without deliberate errors."""


@dataclass(frozen=True, slots=True)
class Level:
    """The limits and the evaluation of a level."""

    depth: int | None
    """The depth in plies; None for as deep as time allows, with all techniques of the search."""
    seconds: float | None = None
    share: float = 1.0
    """The share of optionality in the evaluation of games with ``features``."""
    jitter: tuple[float, float] | None = None
    """The range of the random factors by which each game scales the weights of optionality."""


LEVELS = {
    "easy": Level(1, share=0.1, jitter=(0.5, 1.5)),
    "medium": Level(2, share=0.5),
    "hard": Level(4, share=0.8),
    "expert": Level(None, 3.0, share=1.0),
}
"""The levels by name, weakest first."""
