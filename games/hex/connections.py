"""Virtual connections: edges that a player can connect whatever the other does.

Two places are *virtually connected* for a player if he can connect them even if the other moves
first, and *semi-connected* if he can when he moves first himself.  The empty cells that he needs
for it are the *carrier* of the connection.  New connections follow from known ones (H-search;
V. Anshelevich, "A hierarchical approach to computer Hex", 2002):

* Two connections with disjoint carriers can be joined at a chain of the player, which makes a
  connection, or at an empty cell between them, which makes a semi-connection.
* A connection and a semi-connection joined at a chain are a semi-connection.
* Semi-connections of the same places make a connection if no cell is in all of their carriers.

Here one place is always a chain or an edge of the board, and the other a chain, an edge or an empty
cell; of the connections between two cells, only neighbours and bridges (pairs of common neighbours)
are used.  So there are few pairs of places, each with a short list of carriers, the smallest found.
This finds less than H-search does, but all that it finds is true.

The semi-connections from one edge to the other are threats to win.  A player loses who does not
move inside the carriers of all threats of the other: their intersection is where he *must play*
(R. Hayward et al., "Solving 7x7 Hex with domination, fill-in, and virtual connections", 2005).

The places have numbers: the edges are 0 and 1, then come the chains, and from ``CHAINS`` on the
cells.  Each pair has two lists of carriers, and the whole board ends a list that is not full.
"""

from __future__ import annotations

from cutnode import Bits, compiled, lowest, lowest_index, popcount, without_lowest
from cutnode.contract.boards import narrow, scratch, single, wide
from cutnode.games.hex.cells import chain, neighbours, twice_beside

__all__ = ["common_carrier", "constants"]

CHAINS = 12
"""The most chains, with the edges, whose connections are looked for."""

WAITING = 1500
"""The most connections that are joined with others."""

COMMON, TAIL, QUEUE = 0, 1, 2
LISTS = QUEUE + 2 * WAITING
"""Where the memory has what all threats have in common, the queue's end, the queue, the lists."""


def constants(area: int) -> dict[str, int]:
    """Return the constants of a board of *area* cells that the search for connections needs.

    They are the most connections and semi-connections of two places, and the memory.  Small boards
    are solved: longer lists mean fewer nodes there, and the same time.  On larger ones nodes are
    searched 3 to 6 times as fast with short lists.
    """
    full, semi = (8, 16) if area <= 64 else (2, 4)
    memory = LISTS + CHAINS * (CHAINS + area) * (full + semi)
    return {"FULL": full, "SEMI": semi, "SCRATCH": memory}


@compiled(inline=False)
def common_carrier(position, stones, empty, start, goal, one_threat):
    """Return the cells in the carriers of all threats found to connect two edges; or all cells.

    *stones* and *empty* are boards, *start* and *goal* the cells along the two edges.  The whole
    board means that no threat was found; an empty one means that the edges are connected, even if
    the other moves.  With *one_threat* the first threat is enough.
    """
    memory = scratch(position)
    memory[COMMON] = position.BOARD
    memory[TAIL] = wide(position, Bits(QUEUE))
    rest, number = stones, 0
    while number < 2 or (rest and number < CHAINS):
        edge = start if number == 0 else goal if number == 1 else position.NONE
        group = chain(position, edge & stones if number < 2 else lowest(rest), stones)
        if number == 0 and group & goal:
            return position.NONE
        rest &= ~group
        for other in range(CHAINS + position.AREA):
            at = list_of(position, number, other)
            memory[at] = position.BOARD
            memory[at + position.FULL] = position.BOARD
        cells = (neighbours(position, group) | edge) & empty
        while cells:
            connect(position, number, CHAINS + lowest_index(cells), position.NONE, memory)
            cells = without_lowest(cells)
        number += 1

    at = QUEUE
    while at < narrow(memory[TAIL]):
        one, other, full = read_pair(memory[at])
        carrier = memory[at + 1]
        at += 2
        if full and other >= CHAINS:
            join_at_cell(position, one, other, carrier, number, empty, memory)
        if one > 1:
            join_at_chain(position, one, other, carrier, full, number, empty, memory)
        if 1 < other < CHAINS:
            join_at_chain(position, other, one, carrier, full, number, empty, memory)
        common = memory[COMMON]
        if not common or (one_threat and common != position.BOARD):
            break
    return memory[COMMON]


@compiled
def list_of(position, one, other):
    """Return where the carriers of two places begin: the connections, then semi-connections."""
    pair = min(one, other) * (CHAINS + position.AREA) + max(one, other)
    return LISTS + pair * (position.FULL + position.SEMI)


@compiled(inline=False)
def join_at_cell(position, group, place, carrier, number, empty, memory):
    """Add the semi-connections of a group over a cell to which it is connected."""
    cell = single(position, place - CHAINS)
    played = carrier | cell
    free = empty & ~played
    near = neighbours(position, cell) & free
    targets = near | (twice_beside(position, near) & free)
    while targets:
        target = lowest(targets)
        over = position.NONE if target & near else neighbours(position, target) & near
        semi_connect(position, group, CHAINS + lowest_index(targets), played | over, memory)
        targets = without_lowest(targets)
    for other in range(number):
        at = list_of(position, other, place)
        end = at if other == group else at + position.FULL
        while at < end and memory[at] != position.BOARD:
            also = memory[at]
            at += 1
            if not also & carrier:
                semi_connect(position, group, other, played | also, memory)


@compiled(inline=False)
def join_at_chain(position, middle, place, carrier, full, number, empty, memory):
    """Join a connection or semi-connection of a chain with all others of the chain."""
    for other in range(number):
        if other != middle and other != place:
            join(position, middle, (place, other), carrier, full, memory)
    if place < CHAINS:
        cells = empty & ~carrier
        while cells:
            join(position, middle, (place, CHAINS + lowest_index(cells)), carrier, full, memory)
            cells = without_lowest(cells)


@compiled
def join(position, middle, places, carrier, full, memory):
    """Connect two places over a chain: the first by a carrier, the second by all known ones."""
    place, other = places
    used = carrier
    if place >= CHAINS:
        used |= single(position, place - CHAINS)
    at = list_of(position, middle, other)
    end = at + position.FULL
    while at < end and memory[at] != position.BOARD:
        also = memory[at]
        at += 1
        if not also & used:
            if full:
                connect(position, place, other, carrier | also, memory)
            else:
                semi_connect(position, place, other, carrier | also, memory)
    at, end = end, end + position.SEMI
    while full and at < end and memory[at] != position.BOARD:
        also = memory[at]
        at += 1
        if not also & used:
            semi_connect(position, place, other, carrier | also, memory)


@compiled(inline=False)
def connect(position, one, other, carrier, memory):
    """Add a connection of two places, unless a known one has a smaller carrier."""
    at = list_of(position, one, other)
    if contains(position, at, position.FULL, carrier, memory):
        return
    if not insert(position, at, position.FULL, carrier, memory):
        return
    remove(position, at + position.FULL, position.SEMI, carrier, memory)
    if one + other == 1:
        memory[COMMON] = position.NONE
    push(position, one, other, carrier, True, memory)


@compiled(inline=False)
def semi_connect(position, one, other, carrier, memory):
    """Add a semi-connection of two places, and the connections that it makes with known ones."""
    at = list_of(position, one, other)
    if contains(position, at, position.FULL, carrier, memory):
        return
    if contains(position, at + position.FULL, position.SEMI, carrier, memory):
        return
    if one + other == 1:
        memory[COMMON] &= carrier
    combine(position, one, other, carrier, memory)
    if contains(position, at, position.FULL, carrier, memory):
        return
    kept = insert(position, at + position.FULL, position.SEMI, carrier, memory)
    if kept and max(one, other) < CHAINS:
        push(position, one, other, carrier, False, memory)


@compiled
def combine(position, one, other, carrier, memory):
    """Connect two places by two to four semi-connections, this one among them, if any can."""
    start = list_of(position, one, other) + position.FULL
    end = start
    while end < start + position.SEMI and memory[end] != position.BOARD:
        end += 1
    # Connections that are found may remove carriers from the list: those moved or left are true.
    for i in range(start, end):
        first = memory[i]
        both = carrier & first
        if not both:
            connect(position, one, other, carrier | first, memory)
            continue
        for j in range(i + 1, end):
            second = memory[j]
            common = both & second
            if not common:
                connect(position, one, other, carrier | first | second, memory)
            elif common != both:
                for k in range(j + 1, end):
                    third = memory[k]
                    if not common & third:
                        whole = carrier | first | second | third
                        connect(position, one, other, whole, memory)


@compiled
def contains(position, at, most, carrier, memory):
    """Return whether a list has a carrier inside this one."""
    for place in range(at, at + most):
        known = memory[place]
        if known == position.BOARD:
            return False
        if not known & ~carrier:
            return True
    return False


@compiled
def remove(position, at, most, carrier, memory):
    """Remove the carriers that contain this one from a list; return the end of the others."""
    end = at
    for place in range(at, at + most):
        known = memory[place]
        if known == position.BOARD:
            break
        if carrier & ~known:
            memory[end] = known
            end += 1
    if end < at + most:
        memory[end] = position.BOARD
    return end


@compiled
def insert(position, at, most, carrier, memory):
    """Insert a carrier into a list in place of larger ones; return whether there was room."""
    end = remove(position, at, most, carrier, memory)
    if end == at + most:
        end = at
        for place in range(at + 1, at + most):
            if popcount(memory[place]) > popcount(memory[end]):
                end = place
        if popcount(carrier) >= popcount(memory[end]):
            return False
    elif end + 1 < at + most:
        memory[end + 1] = position.BOARD
    memory[end] = carrier
    return True


@compiled
def push(position, one, other, carrier, full, memory):
    """Put a connection at the end of the queue, if there is room."""
    at = narrow(memory[TAIL])
    if at < LISTS:
        memory[at] = wide(position, Bits(min(one, other) << 10 | max(one, other) << 1 | full))
        memory[at + 1] = carrier
        memory[TAIL] = wide(position, Bits(at + 2))


@compiled
def read_pair(packed):
    """Return the two places of a connection in the queue, and whether it is a full one."""
    number = narrow(packed)
    return number >> 10, number >> 1 & 511, number & 1
