"""The class for which the kernels of a split are specialised: it is of no game.

It stands apart from them, as its module must not import verbs: it would be taken for a game.
"""

from __future__ import annotations

from typing import NamedTuple


class Graph(NamedTuple):
    """A substitute for positions in kernels that know no game, and are compiled once."""

    nodes: int


GRAPH = Graph(0)
