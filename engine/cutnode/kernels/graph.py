"""The class for which the kernels of a split search are specialised; it belongs to no game.

It has a module of its own because that must not import verbs, or it would be taken for a game.
"""

from __future__ import annotations

from typing import NamedTuple


class Graph(NamedTuple):
    """A stand-in for positions, for kernels that know no game and are compiled only once."""

    nodes: int


GRAPH = Graph(0)
