"""The game of :mod:`toys.hazard` in two layers, with indices for most nodes: see ``LAYERS``."""

from __future__ import annotations

from toys import hazard
from toys.hazard import chance, chance_outcome, moves, outcome, play, turn

__all__ = ["chance", "chance_outcome", "moves", "outcome", "play", "turn"]

MAX_MOVES = hazard.MAX_MOVES
VALUE_LIMIT = hazard.VALUE_LIMIT

LAYERS: tuple[list[int], list[int]] = ([], [])
"""The indexed nodes of each layer; no edge leads to a later layer."""
LAYER_SIZES: tuple[int, ...] = (0, 0)


class Position(hazard.Position):
    """A position: the node."""

    __slots__ = ()


def layer(position):
    return int(position.node in LAYERS[1])


def index(position):
    nodes = LAYERS[layer(position)]
    return nodes.index(position.node) if position.node in nodes else -1


def position_at(example, at, number):
    return example._replace(node=LAYERS[at][number])
