"""The tree of Monte Carlo tree search: its nodes, the room for them, and copies of it.

The tree is three arrays, in which the children of a node are a block.  Selection reads only their
*arms*, 16 bytes each: speed depends on how many cache lines a playout waits for.  Of each node on
its line a playout reads 32 bytes more; *sums* hold what only some searches use.  All numbers of a
node are from the point of view of the *chooser*, the player who moves at its parent, so the numbers
of siblings are comparable; ``same`` says whether he moves at the node as well.  Node 0 means none,
and node 1 is the root.  A node is a line of play, not a position: repetitions on the line are
known, and a position that several lines reach has several nodes.

Each thread takes nodes from its own part of the arrays.  When they are full, the tree is copied
into new arrays without the children of the least visited nodes (:func:`copy_tree`); the subtree
that is left after a move is copied in the same way.
"""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from cutnode.compiler.jit import Numbers, Position, compiled, kernel, records
from cutnode.contract.bits import fetch_add
from cutnode.contract.stop import FULL
from cutnode.contract.verbs import INFINITE, chance_outcome, play
from cutnode.kernels.table import work_for

ARM = np.dtype(
    [
        ("mean", np.float32),  # mean result of its playouts, or UNTRIED, or USELESS
        ("explore", np.float32),  # factor of the parent's bonus: less for more visits
        ("first", np.int32),  # first child; 0: none yet
        ("move", np.uint16),  # or the number of an outcome of chance
        ("next", np.uint16),  # number of the child that the next playout visits, or NOWHERE
    ],
    align=True,
)
"""An arm of the bandit: the data of a child that selection at its parent reads."""

NODE = np.dtype(
    [
        ("average", np.float64),  # mean result of its playouts in full precision; 0 at first
        ("visits", np.int64),
        ("bonus", np.float32),  # exploration bonus for its children
        ("lower", np.int16),  # bounds of the value
        ("upper", np.int16),
        ("count", np.uint16),  # number of children
        ("same", np.uint8),
        ("kind", np.uint8),
    ],
    align=True,
)
"""The further data that a playout reads of the nodes that it visits."""

SUMS = np.dtype(
    {
        "names": [
            "prior",  # or the probability of an outcome
            "estimate",  # minimax of the estimates below, in units of worth
            "rave_visits",
            "rave_mean",
            "wins",  # proof number of the chooser's win
            "losses",  # proof number of the opponent's win
            "bias",  # of the chooser's selection, by the proof numbers of the siblings
        ],
        "formats": [*(np.float64,) * 4, *(np.float32,) * 3],
        "offsets": [0, 8, 16, 24, 16, 20, 24],
        "itemsize": 32,
    },
    align=True,
)
"""The data of a node that only some searches use; other searches do not write them.

No search uses both RAVE and proof numbers, which share their place.
"""

Nodes = Annotated[Any, records(lambda cls: NODE)]
Arms = Annotated[Any, records(lambda cls: ARM)]
Sums = Annotated[Any, records(lambda cls: SUMS)]

ROOT = 1

NEW, OPEN, OVER, CHANCE = range(4)
"""Kinds of nodes: not looked at yet; looked at; game over; chance node."""

UNTRIED = np.float32(1e30)
"""The mean of a node before its first playout: UCT tries it before all others."""

USELESS = np.float32(-1e30)
"""The mean of a node that is lost, or proven to be no better than one of its siblings."""

FREE, CAPACITY, TOLD = range(3)
POOL = 3
"""The numbers that threads share: the first node that no thread has taken; the number of nodes;
the reason for all threads to stop, or ``RUNNING``."""

CHUNK = 256
"""The number of nodes that a thread takes at once."""

NOWHERE = 65535
"""The *next* of a node that is settled, where a playout ends, or that has no children yet."""


# Room for nodes


@compiled
def give_up(start, end, arms):
    """Mark nodes as unused."""
    for node in range(start, end):
        arms[node].explore = np.float32(0.0)
        arms[node].first = 0


@compiled
def take_nodes(count, memory, arms, pool):
    """Return the first of *count* free nodes, or 0 if there is no room."""
    if memory.next + count > memory.end:
        part = max(count, CHUNK)
        start = fetch_add(pool, FREE, part)
        if start + part > pool[CAPACITY]:
            fetch_add(pool, FREE, -part)
            pool[TOLD] = FULL
            return 0
        if start != memory.end:
            give_up(memory.next, memory.end, arms)
            memory.next = start
        memory.end = start + part
    first = memory.next
    memory.next += count
    return first


@compiled
def make_node(node, move, same, nodes, arms):
    """Initialize a new node."""
    arms[node].mean = UNTRIED
    arms[node].explore = np.float32(1.0)
    arms[node].first = 0
    arms[node].move = move
    arms[node].next = NOWHERE
    nodes[node].average = 0.0
    nodes[node].visits = 0
    nodes[node].bonus = np.float32(1.0)
    nodes[node].lower = -INFINITE
    nodes[node].upper = INFINITE
    nodes[node].count = 0
    nodes[node].same = same
    nodes[node].kind = NEW


# Copies of the tree


@compiled
def copy_node(nodes, arms, sums, node, new_nodes, new_arms, new_sums, place):
    """Copy a node to a place in another tree."""
    new_arms[place].mean = arms[node].mean
    new_arms[place].explore = arms[node].explore
    new_arms[place].first = arms[node].first
    new_arms[place].move = arms[node].move
    new_arms[place].next = arms[node].next
    new_nodes[place].average = nodes[node].average
    new_nodes[place].visits = nodes[node].visits
    new_nodes[place].bonus = nodes[node].bonus
    new_nodes[place].lower = nodes[node].lower
    new_nodes[place].upper = nodes[node].upper
    new_nodes[place].count = nodes[node].count
    new_nodes[place].same = nodes[node].same
    new_nodes[place].kind = nodes[node].kind
    new_sums[place].prior = sums[node].prior
    new_sums[place].estimate = sums[node].estimate
    new_sums[place].rave_visits = sums[node].rave_visits
    new_sums[place].rave_mean = sums[node].rave_mean
    new_sums[place].wins = sums[node].wins
    new_sums[place].losses = sums[node].losses
    new_sums[place].bias = sums[node].bias


@compiled
def forget_proof(node, nodes, arms):
    """Forget a node's proven bounds."""
    nodes[node].lower = -INFINITE
    nodes[node].upper = INFINITE
    if arms[node].first == 0:
        nodes[node].kind = NEW
    elif arms[node].next == NOWHERE:
        arms[node].next = 0
    arms[node].mean = np.float32(nodes[node].average) if nodes[node].visits > 0 else UNTRIED


@kernel
def copy_tree(
    nodes: Nodes,
    arms: Arms,
    sums: Sums,
    root: int,
    least: int,
    forget: bool,
    new_nodes: Nodes,
    new_arms: Arms,
    new_sums: Sums,
) -> int:
    """Copy the tree below a root into other arrays; return the first free node there.

    Nodes with fewer than *least* visits lose their children.  *forget* drops proven bounds: they
    may depend on repetitions of positions that are no longer on the line.
    """
    # The copies are the queue of nodes whose children are still to be copied (C. Cheney 1970).
    copy_node(nodes, arms, sums, root, new_nodes, new_arms, new_sums, np.int64(ROOT))
    at, free = np.int64(ROOT), np.int64(ROOT + 1)
    while at < free:
        first, count = np.int64(new_arms[at].first), np.int64(new_nodes[at].count)
        if first != 0 and new_nodes[at].visits < least and at != ROOT:
            new_arms[at].first = 0
            new_arms[at].next = NOWHERE
            new_nodes[at].count = 0
        elif first != 0:
            new_arms[at].first = free
            for child in range(first, first + count):
                copy_node(nodes, arms, sums, child, new_nodes, new_arms, new_sums, free)
                free += 1
        if forget:
            forget_proof(at, new_nodes, new_arms)
        at += 1
    return free


@kernel
def visits_kept(nodes: Nodes, arms: Arms, end: int, most: int, counts: Numbers) -> int:
    """Return the least visits, a power of two, with which nodes may keep their children.

    All nodes before *end* with at least as many visits have *most* children or fewer in total.
    *counts* has room for 64 numbers, all 0.
    """
    kept = np.int64(0)
    for node in range(ROOT, end):
        if arms[node].first != 0:
            counts[work_for(nodes[node].visits)] += nodes[node].count
            kept += np.int64(nodes[node].count)
    power = 0
    while kept > most:
        kept -= counts[power]
        power += 1
    return 1 << power


@kernel
def find_node(
    position: Position, target: Position, node: int, left: int, nodes: Nodes, arms: Arms
) -> int:
    """Return the most visited node of a position, at most *left* plies below a node; 0: none.

    *position* is the position of the node, and *target* the one to find.
    """
    if position == target:
        return node
    first, count = np.int64(arms[node].first), np.int64(nodes[node].count)
    best = np.int64(0)
    if left == 0 or first == 0:
        return best
    for child in range(first, first + count):
        if nodes[child].visits > 0:
            move = np.int64(arms[child].move)
            if nodes[node].kind == CHANCE:
                _, reached = chance_outcome(position, move)
            else:
                reached = play(position, move)
            found = find_node(reached, target, child, left - 1, nodes, arms)
            if found != 0 and (best == 0 or nodes[found].visits > nodes[best].visits):
                best = found
    return best
