"""A stone on the nodes of any graph, in plain Python: a player who cannot move has won or lost.

Rules: the players alternately move one stone along the edges of ``GRAPH``.  At a node without
edges, the player to move has won if the node is odd, and has lost if it is even.  Play can cycle
forever.
"""

from __future__ import annotations

from typing import NamedTuple

MAX_MOVES = 4
VALUE_LIMIT = 1

GRAPH: dict[int, list[int]] = {0: [1, 2], 1: [0], 2: []}


class Position(NamedTuple):
    node: int = 0
    graph: int = 0
    """The number of the graph, for shared tables."""


def moves(position, buffer, at):
    for child in GRAPH[position.node]:
        buffer[at] = child
        at += 1
    return at


def play(position, move):
    return position._replace(node=move)


def outcome(position):
    if GRAPH[position.node]:
        return False, 0
    return True, 1 if position.node % 2 else -1


def reversible(position, child):
    return True
