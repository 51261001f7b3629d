"""The top of a game's tree as a graph: its expansion, and proof numbers to choose the next leaf.

See :mod:`cutnode.search.top` and :mod:`cutnode.search.splitting`, which drive it."""

from __future__ import annotations

import functools
from typing import Annotated, Any

import numba
import numpy as np
from numba import types

from cutnode.compiler.jit import Position, Words, compiled, kernel, record
from cutnode.contract.derived import most_moves, most_value
from cutnode.contract.dispatch import game_constant
from cutnode.contract.positions import pack, unpack, width, words_each
from cutnode.contract.stop import MOVES, VALUE
from cutnode.contract.verbs import (
    INFINITE,
    MOVES_ROOM,
    bounds,
    candidates,
    canonical,
    moves_again,
    order,
    play,
)
from cutnode.kernels.graph import Graph
from cutnode.kernels.reference import report_violation
from cutnode.kernels.solver import resolve

NODE = np.dtype(
    [
        ("low", np.int32),  # proven bounds of the value
        ("high", np.int32),
        ("decided", np.int32),  # best value of a decided child, which is no node; else the worst
        ("decided_move", np.int32),  # the move to it
        ("side", np.int32),  # 1: the root's player moves, -1: the opponent
        ("first", np.int32),  # first edge to a child
        ("count", np.int32),  # number of children; 0 for a leaf
        ("first_parent", np.int32),
        ("parents", np.int32),
        ("assumed", np.int32),  # expected answer of a leaf in work: 1 yes, -1 no; 0: not in work
        ("needed", np.int32),  # whether the question at the root still depends on it
        ("queued", np.int32),  # whether it waits in the queue of renew_above
        ("proof", np.int64),  # leaves still to prove for a yes at the root
        ("disproof", np.int64),  # leaves still to disprove for a no
    ],
    align=True,
)
"""A position of the graph."""


CHILD = np.dtype(
    [
        ("parent", np.int64),  # its number in the block
        ("move", np.int64),
        ("order", np.int64),
        ("same", np.int64),  # 1: the same player moves, -1: the other
        ("open", np.int64),  # 0: lower is the value
        ("lower", np.int64),  # for the player to move
        ("upper", np.int64),
        ("key", np.uint64),
    ]
)
"""A child, as :func:`expand` finds it."""


@functools.cache
def work_dtype(cls: Any) -> np.dtype[Any]:
    fields: list[Any] = [
        ("stop", np.int64),
        ("nodes", np.int64),
        ("node_limit", np.int64),
        ("violation", np.uint64, (words_each(cls),)),  # a position that breaks the contract
        ("moves", np.int64, (game_constant(cls, "MAX_MOVES", 256) + MOVES_ROOM,)),
    ]
    return np.dtype(fields, align=True)


Children = Annotated[Any, types.Array(numba.from_dtype(CHILD), 1, "C")]
ExpansionMemory = Annotated[Any, record(work_dtype)]


@kernel
def expand(
    example: Position,
    words: Words,
    count: int,
    children: Children,
    child_words: Words,
    work: ExpansionMemory,
) -> int:
    """Write the children of *count* positions, after forced moves; return their number."""
    number = 0
    for parent in range(count):
        position = unpack(words, parent * width(example), example)
        end = candidates(position, work.moves, 0)
        if not 0 < end <= most_moves(position):
            report_violation(position, MOVES, work)
            return number
        for at in range(end):
            move = work.moves[at]
            child = play(position, move)
            reached, same, decided, value = resolve(child, -INFINITE, INFINITE, work)
            row = children[number]
            row.parent = parent
            row.move = move
            row.order = order(position, move, child)
            row.same = 1 if moves_again(position, child) == same else -1
            row.open = 0 if decided else 1
            row.lower = row.upper = value
            if decided:
                if abs(value) > most_value(position):
                    report_violation(reached, VALUE, work)
                    return number
            else:
                row.lower, row.upper = bounds(reached, -INFINITE, INFINITE)
                row.key, _ = canonical(reached)
                pack(child_words, number * width(example), reached)
            number += 1
    return number


NEVER = np.int64(1 << 40)
"""The proof number of a node that cannot be proven."""


Nodes = Annotated[Any, types.Array(numba.from_dtype(NODE), 1, "C")]
Indices = Annotated[Any, types.int32[::1]]


@compiled
def renew(nodes, children, asked, at):
    """Compute bounds and proof numbers of a node from its children; return whether they changed."""
    node = nodes[at]
    low, high = node.low, node.high
    proof, disproof = np.int64(1), np.int64(1)
    if node.count > 0:
        low, high = renew_bounds(nodes, children, node)
        least, together = NEVER, np.int64(0)
        for edge in range(node.first, node.first + node.count):
            child = nodes[children[edge]]
            least = min(least, child.proof if node.side > 0 else child.disproof)
            together += child.disproof if node.side > 0 else child.proof
            together = min(together, NEVER - 1)
        if least == 0:
            together = NEVER
        proof, disproof = (least, together) if node.side > 0 else (together, least)
    if low >= asked or (high >= asked and node.assumed > 0):
        proof, disproof = np.int64(0), np.int64(NEVER)
    elif high < asked or node.assumed < 0:
        proof, disproof = np.int64(NEVER), np.int64(0)
    same = node.proof == proof and node.disproof == disproof
    changed = not (same and node.low == low and node.high == high)
    node.low, node.high, node.proof, node.disproof = low, high, proof, disproof
    return changed


@compiled
def renew_bounds(nodes, children, node):
    """Return the bounds of an inner node, from its children and its decided moves."""
    low = high = np.int64(node.decided)
    for edge in range(node.first, node.first + node.count):
        child = nodes[children[edge]]
        if node.side > 0:
            low, high = max(low, child.low), max(high, child.high)
        else:
            low, high = min(low, child.low), min(high, child.high)
    return max(np.int64(node.low), low), min(np.int64(node.high), high)


@kernel
def renew_all(graph: Graph, nodes: Nodes, children: Indices, asked: int) -> None:
    """Compute all bounds and proof numbers, to test whether the root's value reaches *asked*."""
    for at in range(len(nodes) - 1, -1, -1):
        renew(nodes, children, asked, at)


@kernel
def renew_above(
    graph: Graph,
    nodes: Nodes,
    children: Indices,
    parents: Indices,
    queue: Indices,
    asked: int,
    leaf: int,
) -> None:
    """Recompute a leaf, and the nodes above that it changes.  *queue* has room for all nodes."""
    queue[0] = leaf
    begin, end = 0, 1
    while begin < end:
        node = nodes[queue[begin]]
        node.queued = 0
        changed = renew(nodes, children, asked, queue[begin]) or begin == 0
        begin += 1
        for edge in range(node.first_parent, node.first_parent + node.parents * changed):
            above = nodes[parents[edge]]
            if above.queued == 0:
                above.queued = 1
                queue[end] = parents[edge]
                end += 1


@kernel
def choose(graph: Graph, nodes: Nodes, children: Indices) -> int:
    """Return the most-proving leaf, to search next; -1 if there is none until answers arrive."""
    at = np.int64(0)
    if nodes[0].proof == 0 or nodes[0].disproof == 0:
        return -1
    while nodes[at].count > 0:
        node = nodes[at]
        for edge in range(node.first, node.first + node.count):
            child = nodes[children[edge]]
            if child.proof == node.proof if node.side > 0 else child.disproof == node.disproof:
                at = np.int64(children[edge])
                break
    return at


@kernel
def mark_needed(graph: Graph, nodes: Nodes, children: Indices, asked: int) -> None:
    """Mark the nodes on which the question at the root still depends."""
    for at in range(len(nodes)):
        nodes[at].needed = 1 if at == 0 else 0
    for at in range(len(nodes)):
        node = nodes[at]
        if node.needed != 0 and (node.low >= asked or node.high < asked):
            node.needed = 0
        for edge in range(node.first, node.first + node.count * node.needed):
            nodes[children[edge]].needed = 1
