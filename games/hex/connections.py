"""Virtual connections: edges that a player can connect whatever the other does.

Two places are *virtually connected* for a player if he can connect them even if the other moves
first, and *semi-connected* if he can when he moves first himself.  The empty cells that he needs
for it are the *carrier* of the connection.  New connections follow from known ones (H-search;
V. Anshelevich, "A hierarchical approach to computer Hex", 2002): two connections with disjoint
carriers can be joined at a stone of the player, or at a cell between them, which makes a
semi-connection; and semi-connections make a connection if no cell is in all of their carriers.

Here one end is always an edge of the board.  The search begins at the cells next to the edge, and
keeps one connection for each cell, and the intersection and the union of the carriers of all
semi-connections of a cell.  A further step leads to a neighbour, or over one of two common
neighbours (a bridge).  A chain of stones that is connected becomes part of the edge, and its
carrier is reserved from then on.  Finally, cells that are connected to both edges with disjoint
carriers connect these.  This finds less than H-search does, but it keeps no lists, and all that it
finds is true.

The semi-connections from one edge to the other are threats to win.  A player loses who does not
move inside the carriers of all threats of the other: their intersection is where he *must play*
(R. Hayward et al., "Solving 7x7 Hex with domination, fill-in, and virtual connections", 2005).
"""

from __future__ import annotations

from cutnode import compiled, lowest, lowest_index, popcount, without_lowest
from cutnode.contract.boards import scratch
from cutnode.games.hex.cells import chain, neighbours, twice_beside

__all__ = ["common_carrier", "over_bridge", "two_of"]


@compiled(inline=False)
def common_carrier(position, stones, empty, start, goal):
    """Return the cells in the carriers of all threats found to connect two edges; or all cells.

    *stones* and *empty* are boards, *start* and *goal* the cells along the two edges.  The whole
    board means that no threat was found; an empty one means that the edges are connected, even if
    the other moves.
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
    # Cells that are connected to both edges, with disjoint carriers.
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

    Return the intersection of all threats, if it is smaller than the known one; the stones that are
    connected and their carrier; and the connected cells, whose carriers are written.
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
    """Connect cells with the source, starting at the *near* ones, until a chain is connected.

    *cells* are the stones that are not connected, the free cells, and those along the other edge.
    Return the chain and its carrier, or nothing; the intersection of all threats to reach the other
    edge; and the cells that are connected.
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
            # Playing the cell reaches by these links the other edge,
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
    """Add semi-connections of a place: *least* is common to their carriers, *carrier* their union.

    They are added only if they shrink what the carriers have in common.  Return the places with
    known semi-connections.
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
    """Return a chain of *stones* next to two or more of some cells, and two of these, if any."""
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
    """Return two of some cells."""
    return lowest(cells) | lowest(without_lowest(cells))


@compiled
def if_two(cells, none):
    """Return at most two cells as they are; of more, no cell is needed for every way, so none."""
    return cells if cells == two_of(cells) else none
