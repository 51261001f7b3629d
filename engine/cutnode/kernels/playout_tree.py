"""The tree of Monte Carlo tree search: its nodes, the room for them, and copies of it.

The tree is three arrays, and the children of a node are a block of them.  Selection reads their
*arms*, 16 bytes each and all it needs: time goes by the lines of memory that a playout waits for.
Of the nodes on its line, 32 bytes more; and *sums* hold what only some searches use.  All numbers
of a node are seen by the *chooser*, the player who moves at its parent; so the numbers of siblings
compare, and ``same`` says whether he moves at the node as well.  Node 0 is none, node 1 the root.
A tree node is a line of play, not a position: what repeats on the line is known, and positions that
several lines reach are several nodes.

Each thread takes nodes from a part of the arrays that is its own.  When they are full, the tree is
copied into others, without the children of nodes that were visited least (:func:`copy_tree`); so is
the part that is left after a move.
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
        ("mean", np.float32),  # worth of its playouts, or UNTRIED, or USELESS
        ("explore", np.float32),  # what the bonus is multiplied by: less for more visits
        ("first", np.int32),  # of the children; 0: none yet
        ("move", np.uint16),  # or the number of an outcome of chance
        ("next", np.uint16),  # of the children: the one that the next playout goes to, or NOWHERE
    ],
    align=True,
)
"""An arm of the bandit that a node is: what selection reads of each child."""

NODE = np.dtype(
    [
        ("average", np.float64),  # worth of its playouts, exactly; 0 before the first
        ("visits", np.int64),
        ("bonus", np.float32),  # of exploring, for its children
        ("lower", np.int16),  # bounds of the value
        ("upper", np.int16),
        ("count", np.uint16),  # of the children
        ("same", np.uint8),
        ("kind", np.uint8),
    ],
    align=True,
)
"""What else a playout reads of the nodes that it visits."""

SUMS = np.dtype(
    [
        ("prior", np.float64),  # or the probability of an outcome
        ("estimate", np.float64),  # in units of worth, by minimax
        ("rave_visits", np.float64),
        ("rave_mean", np.float64),
    ],
    align=True,
)
"""What else is known of a node; of one whose numbers nobody needs, these are not written."""

Nodes = Annotated[Any, records(lambda cls: NODE)]
Arms = Annotated[Any, records(lambda cls: ARM)]
Sums = Annotated[Any, records(lambda cls: SUMS)]

ROOT = 1

NEW, OPEN, OVER, CHANCE = range(4)
"""Kinds of nodes: not looked at yet; looked at; the game is over there; chance decides."""

UNTRIED = np.float32(1e30)
"""The mean of a node before its first playout: UCT tries it before all others."""

USELESS = np.float32(-1e30)
"""The mean of a node that is lost, or no better than what another child is proven to be worth."""

FREE, CAPACITY, TOLD = range(3)
POOL = 3
"""The numbers that threads share: the first node that no thread has taken; how many there are;
why all of them have to end, or ``RUNNING``."""

CHUNK = 256
"""A thread takes so many nodes at once."""

NOWHERE = 65535
"""The next child of a node that is settled, or has no children yet: a playout ends there, or makes
them."""


# Room for nodes


@compiled
def give_up(start, end, arms):
    """Mark nodes as unused."""
    for node in range(start, end):
        arms[node].explore = np.float32(0.0)
        arms[node].first = 0


@compiled
def take_nodes(count, memory, arms, pool):
    """Return the first of so many free nodes, or 0 if there are not as many."""
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
    """Make a node of which nothing is known yet."""
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


@compiled
def forget_proof(node, nodes, arms):
    """Forget what is proven of a node."""
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
    """Copy the tree below a root into other arrays; return the first node that is free there.

    Nodes of fewer than *least* visits lose their children.  *forget* what is proven: it
    may have depended on repetitions of positions that are no longer on the line.
    """
    # The copies are the queue of what is to be copied (C. Cheney 1970).
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
    """The least power of two so that nodes of so many visits have at most *most* children.

    Of the nodes before *end*; *counts* is room for 64 numbers, all 0.
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
    """The most visited node of a position, at most *left* plies below a node; 0 if there is none.

    *position* is that of the node, and *target* the one that is looked for.
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
