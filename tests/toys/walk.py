"""A walk on a graph that the position holds: small games in which play comes back.

Rules: a token stands on one of eight nodes, and the players alternately move it along an edge; play
ends on a node without edges, which has a value for the player to move there, -2 to 2.  Nodes with
the same label are the same place, as boards in Go are with either player to move.
"""

from __future__ import annotations

from random import Random
from typing import NamedTuple

from cutnode import Bits, compiled
from cutnode.contract.repetition import RULES
from cutnode.contract.variants import variants

NODES = 8
VALUE_LIMIT = 2
MAX_MOVES = NODES
MAX_PLIES = 24


class Token(NamedTuple):
    """The node, a mask of successors for each node, and 4 bits for each node's label and value."""

    at: int = 0
    edges: Bits = Bits(0x0000000000000102)
    labels: Bits = Bits(0x76543210)
    values: Bits = Bits(0)


@variants(Token, usual=RULES[0], read=str, about="what a repetition is: illegal")
def walk(rule):
    return {"REPETITION": rule, "VARIANT": rule}


Position = walk(RULES[0])


def start(variant: str = ""):
    return walk.of(variant)()


@compiled
def successors(position):
    return (int(position.edges >> Bits(8 * position.at))) & 255


@compiled
def moves(position, buffer, at):
    mask = successors(position)
    for node in range(NODES):
        if mask >> node & 1:
            buffer[at] = node
            at += 1
    return at


@compiled
def play(position, move):
    return position._replace(at=move)


@compiled
def outcome(position):
    if successors(position):
        return False, 0
    return True, (int(position.values >> Bits(4 * position.at)) & 15) - 2


@compiled
def reversible(position, child):
    return True


@compiled
def recurrence(position):
    return position.labels >> Bits(4 * position.at) & Bits(15)


def random_walk(seed: int, rule: str) -> Token:
    """Return a random graph: sparse enough to be searched whole along every line."""
    random = Random(seed)
    nodes, ends = random.randint(4, NODES), random.choice((0.15, 0.3))
    labels = [*range(nodes)]
    for node in range(1, nodes) if rule != "draw" else ():
        if random.random() < 0.3:
            labels[node] = random.randrange(node)
    edges = values = 0
    for node in range(nodes):
        values |= random.randrange(5) << (4 * node)
        if random.random() > ends or node == 0:
            # Moves that stay at a place come to an end, as passes in Go do.
            others = [n for n in range(nodes) if labels[n] != labels[node] or n > node]
            for other in random.sample(others, min(len(others), random.choice((1, 2, 3, 3)))):
                edges |= 1 << (8 * node + other)
    named = sum(label << (4 * node) for node, label in enumerate(labels))
    return walk(rule)(0, Bits(edges), Bits(named), Bits(values))
