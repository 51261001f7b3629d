"""A stone on the nodes of any graph, in plain Python: players move it, or dice do.

Rules: a node of ``GRAPH`` belongs to a player, who moves along an edge, or to chance, which picks
an edge by the odds; or the game is over there, even if the node has edges.  Play can cycle.  The
value of a finished game is the value of its node, for the player who owns the node.

``ASKED`` collects the finished nodes that were asked for their edges.
"""

from __future__ import annotations

from typing import Any, NamedTuple

MAX_MOVES = 4
VALUE_LIMIT = 5


class Node(NamedTuple):
    """The player to move, the value if the game is over, the odds at a chance node, and edges."""

    mover: int
    value: int | None
    odds: tuple[float, ...]
    children: tuple[int, ...]


GRAPH: list[Node] = []
ASKED: list[int] = []


class Position(NamedTuple):
    node: int = 0


def at(position: Any) -> Node:
    """Return the node of a position, to read its edges; note it if the game is over there."""
    if outcome(position)[0]:
        ASKED.append(position.node)
    return GRAPH[position.node]


def moves(position, buffer, room):
    for place in range(len(at(position).children)):
        buffer[room] = place
        room += 1
    return room


def play(position, move):
    return position._replace(node=at(position).children[move])


def outcome(position):
    value = GRAPH[position.node].value
    return value is not None, value or 0


def chance(position):
    return len(at(position).odds)


def chance_outcome(position, index):
    return at(position).odds[index], position._replace(node=at(position).children[index])


def turn(position):
    return GRAPH[position.node].mover
