"""The stand-in for a position class in kernels that are the same for every game."""

from __future__ import annotations


class EveryGame:
    """The class for which kernels without a type that depends on the game are specialised."""
