"""A walk on a graph that the position holds: small games in which play comes back.

Rules: a token stands on one of eight nodes, and the players alternately move it along an edge; from
some nodes the same player moves again.  Play ends on a node without edges, which has a value for
the player to move there, -2 to 2.  Nodes with the same label count as the same place; the player
to move counts or not, as in situational and in positional superko.
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
    """The node, who moves, and the graph: for each node a mask of successors, 4 bits for its label
    and 4 for its value, whether the same player moves again, and whether the player counts."""

    at: int = 0
    second: bool = False
    edges: Bits = Bits(0)
    labels: Bits = Bits(0x76543210)
    values: Bits = Bits(0)
    again: Bits = Bits(0)
    counts: bool = True


@variants(Token, usual=RULES[0], read=str, about="what a repetition is: illegal")
def walk(rule):
    return {"REPETITION": rule, "VARIANT": rule}


Position = walk(RULES[0])


def start(variant: str = ""):
    return random_walk(5, variant or RULES[0])


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
    stays = position.again >> Bits(position.at) & Bits(1) != 0
    return position._replace(at=move, second=position.second == stays)


@compiled
def outcome(position):
    if successors(position):
        return False, 0
    return True, (int(position.values >> Bits(4 * position.at)) & 15) - 2


@compiled
def turn(position):
    return 1 if position.second else 0


@compiled
def reversible(position, child):
    return True


@compiled
def recurrence(position):
    label = position.labels >> Bits(4 * position.at) & Bits(15)
    return label | Bits(position.second and position.counts) << Bits(4)


@compiled
def progress(position):
    label = int(position.labels >> Bits(4 * position.at)) & 15
    first, second = label & 3, label >> 2
    return (second, first) if position.second else (first, second)


def random_walk(seed: int, rule: str) -> Token:
    """Return a random graph: sparse enough to be searched whole along every line."""
    random = Random(seed)
    counts = rule == "draw" or random.random() < 0.4
    nodes, ends = random.randint(4, 6 if counts else NODES), random.choice((0.15, 0.3))
    labels, alike = [*range(nodes)], 0 if rule == "draw" else random.choice((0, 0.3, 0.6))
    for node in range(1, nodes):
        if random.random() < alike:
            labels[node] = random.randrange(node)
    edges = values = again = 0
    for node in range(nodes):
        values |= random.randrange(5) << (4 * node)
        again |= (random.random() < 0.15) << node
        if random.random() > ends or node == 0:
            # Moves that stay at a place come to an end, as passes in Go do.
            others = [n for n in range(nodes) if labels[n] != labels[node] or n > node]
            for other in random.sample(others, min(len(others), random.choice((1, 2, 3, 3)))):
                edges |= 1 << (8 * node + other)
    named = sum(label << (4 * node) for node, label in enumerate(labels))
    graph = map(Bits, (edges, named, values, again))
    return walk(rule)(0, False, *graph, counts)
