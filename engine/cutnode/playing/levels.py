"""The levels of play: how far each looks, and how well it judges."""

from __future__ import annotations

from dataclasses import dataclass

FULL_STRENGTH = 100
"""The strength of a player that does not err."""


@dataclass(frozen=True, slots=True)
class Level:
    """The limits and the evaluation of a level."""

    depth: int | None
    """Plies; None: as deep as the time allows, with all techniques of the search."""
    seconds: float | None = None
    share: float = 1.0
    """The share of optionality in the evaluation, in games with ``features``."""
    jitter: tuple[float, float] | None = None
    """Each weight of optionality is multiplied by a factor between these, by game."""


LEVELS = {
    "easy": Level(1, share=0.1, jitter=(0.5, 1.5)),
    "medium": Level(2, share=0.5),
    "hard": Level(4, share=0.8),
    "expert": Level(None, 3.0, share=1.0),
}
"""The levels, from the weakest on."""
