"""The trees of games/uniform.py, with the known value of every node as its evaluation.

As the evaluation of a position is its true value, searches of all depths agree, and any positive
deviation keeps ProbCut correct.
"""

from __future__ import annotations

from cutnode import Bits, PositionError, compiled
from cutnode.games.uniform import ORDERED, Node, evaluate, key, moves, outcome, play, plies_left

__all__ = ["evaluate", "key", "moves", "outcome", "play", "plies_left"]


class Position(Node):
    __slots__ = ()
    WIDTH = MAX_MOVES = 5
    DEPTH = MAX_PLIES = 12
    MODEL = ORDERED
    PERCENT = 75
    NOISE = 0
    VARIANT = ""


@compiled
def deviation(position, deep, shallow):
    return 0.1 * (deep - shallow)


def start(variant: str = "") -> Position:
    if variant:
        raise PositionError(f"there is only one tree, not {variant!r}")
    return Position(Bits(0), Bits(1), Position.DEPTH, 100)
