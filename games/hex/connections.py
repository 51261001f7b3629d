"""Virtual connections: what a player connects whatever the other does.

Two places are *virtually connected* for a player if he can connect them though the other moves
first, and *semi-connected* if he can when he moves first himself.  The empty cells that he needs
for it are its *carrier*.  New ones follow from known ones (H-search; V. Anshelevich, "A
hierarchical approach to computer Hex", 2002): two connections with different carriers follow each
other over a cell between them, which makes a semi-connection, or over a stone of the player; and
semi-connections make a connection if no cell is in all of their carriers.

Here one end is always an edge of the board.  The search begins with what is next to the edge, and
keeps one connection for each cell, and of all semi-connections of a cell what their carriers have
in common, and what they have together.  A further step is to a neighbour, or over one of two
common neighbours (a bridge).  A chain of stones that is connected becomes part of the edge, and its
carrier is reserved from then on.  Last, cells that are connected to both edges by different cells
connect these.  So not all is found that H-search finds, but no lists are kept, and all that is
found is true.

The semi-connections from one edge to the other are threats to win.  Who does not move inside the
carriers of all of them loses: what they have in common is where he *must play* (R. Hayward et al.,
"Solving 7x7 Hex with domination, fill-in, and virtual connections", 2005).
"""

from __future__ import annotations

from cutnode import compiled, lowest, lowest_index, popcount, without_lowest
from cutnode.contract.boards import scratch
from cutnode.games.hex.cells import chain, neighbours, twice_beside

__all__ = ["common_carrier", "over_bridge", "two_of"]


@compiled(inline=False)
def common_carrier(position, stones, empty, start, goal):
    """The cells in the carriers of all threats to connect two edges that are found; or all cells.

    *stones* and *empty* are boards, *start* and *goal* the cells along the two edges.  The whole
    board means that no threat is found; none at all that the edges are connected, even if the
    other moves.
    """
    memory = scratch(position), scratch(position), scratch(position)
    there, back = scratch(position), scratch(position)
    common, source, reserved, found = from_edge(
        position, (stones, empty, start, goal), position.BOARD, memory, there
    )
    if not common:
        return common
    common, other, other_reserved, other_found = from_edge(
        position, (stones, empty, goal, start), common, memory, back
    )
    if source & other and not reserved & other_reserved:
        return position.NONE
    # Cells that are connected to both edges, by different cells.
    cells = found & other_found
    while cells and common:
        number = lowest_index(cells)
        if not there[number] & back[number]:
            common &= there[number] | back[number] | lowest(cells)
        cells = without_lowest(cells)
    return common


@compiled
def from_edge(position, board, common, memory, carriers):
    """Connect stones and cells with an edge of a board: stones, empty cells, and two edges.

    Returned are what all threats have in common, if it is not less than what is known; the stones
    that are connected and their carrier; and the cells that are, whose carriers are written.
    """
    stones, empty, start, goal = board
    source, reserved, found = start & stones, position.NONE, position.NONE
    while True:
        source = chain(position, source, stones)
        if source & goal:
            return position.NONE, source, reserved, found
        free = empty & ~reserved
        near = (neighbours(position, source) | start) & free
        group, bridge = over_bridge(position, near, stones & ~source)
        if not group:
            others = stones & ~source, free, goal
            group, bridge, common, connected = spread(
                position, others, near, (reserved, common), memory
            )
            if not common:
                return common, source, reserved, found
            while connected:
                cell, number = lowest(connected), lowest_index(connected)
                connected = without_lowest(connected)
                carrier = reserved if cell & near else reserved | memory[0][number]
                if not found & cell or popcount(carrier) < popcount(carriers[number]):
                    carriers[number] = carrier
                found |= cell
        if not group:
            return common, source, reserved, found
        source |= group
        reserved |= bridge


@compiled(inline=False)
def spread(position, cells, near, threats, memory):
    """Connect cells with the source, from the *near* ones on, until a chain of stones is connected.

    *cells* are the stones that are not connected, the free cells, and those along the other edge.
    Returned are the chain and its carrier, or nothing, what all threats to reach the other edge
    have in common, and the cells that are connected.
    """
    stones, free, goal = cells
    reserved, common = threats
    known, both, either = memory
    none = position.NONE
    connected, touched, goal_both = near, none, position.BOARD
    front, later = near, none
    while front:
        cell = lowest(front)
        carrier = cell if cell & near else cell | known[lowest_index(cell)]
        front = without_lowest(front)
        links = chain(position, cell, stones)
        reach = links
        while links:
            # What is reached when the cell is played, by these links: the other edge,
            beside = neighbours(position, links) & free & ~carrier
            if links & goal:
                goal_both &= carrier
            edge = beside & goal
            if without_lowest(edge):
                goal_both &= carrier | if_two(edge, none)
            common &= reserved | goal_both
            if not goal_both or not common:
                return none, none, none, none

            # chains of stones,
            groups = links & stones
            while groups:
                group = chain(position, lowest(groups), stones)
                groups &= ~group
                at = lowest_index(group)
                touched = add_way(at, group, touched, carrier, carrier, (both, either))
                if not both[at]:
                    return group, either[at], common, connected

            # and empty cells, by themselves or over a bridge.
            targets = (beside | (twice_beside(position, beside) & free & ~carrier)) & ~connected
            while targets:
                target = lowest(targets)
                at = lowest_index(targets)
                targets = without_lowest(targets)
                over = none if target & beside else neighbours(position, target) & beside
                least = carrier | if_two(over, none)
                touched = add_way(at, target, touched, least, carrier | over, (both, either))
                if not both[at]:
                    known[at] = either[at]
                    connected |= target
                    later |= target

            # The next links are a chain over a bridge from here.
            links, bridge = over_bridge(position, beside, stones & ~reach)
            carrier |= bridge
            reach |= links
        if not front:
            front, later = later, none
    return none, none, common, connected


@compiled
def add_way(at, place, touched, least, carrier, memory):
    """Add semi-connections of a place, of which so much and so much is in all and in one carrier.

    Only if they leave less in common.  Returned are the places of which some are known.
    """
    both, either = memory
    if not touched & place:
        both[at], either[at] = least, carrier
    elif both[at] & ~least:
        both[at] &= least
        either[at] |= carrier
    return touched | place


@compiled
def over_bridge(position, cells, stones):
    """A chain of *stones* next to two of some cells, or more, and two of them; or nothing."""
    others = neighbours(position, cells) & stones
    while others:
        group = chain(position, lowest(others), stones)
        others &= ~group
        bridge = neighbours(position, group) & cells
        if without_lowest(bridge):
            return group, two_of(bridge)
    return position.NONE, position.NONE


@compiled
def two_of(cells):
    """Two of some cells."""
    return lowest(cells) | lowest(without_lowest(cells))


@compiled
def if_two(cells, none):
    """Two cells, or less; of more no cell is needed for each way, so none."""
    return cells if cells == two_of(cells) else none
