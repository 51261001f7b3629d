"""Value iteration within a layer of a tablebase, for games of chance.

See :mod:`cutnode.tablebases.chances` for the method and its sources."""

from __future__ import annotations

import math
from typing import Annotated, Any, NamedTuple

import numba
import numpy as np
from numba import types

from cutnode.compiler.jit import Numbers, Position, Words, compiled, kernel
from cutnode.contract.derived import same_after_chance
from cutnode.contract.verbs import (
    chance,
    chance_outcome,
    moves,
    moves_again,
    outcome,
    play,
)
from cutnode.kernels.blocks import first_block, next_block
from cutnode.kernels.retrograde import MISSING
from cutnode.kernels.tablebase import (
    ENTRY,
    SYMBOLS,
    error_of,
    is_hole,
    is_solved,
    layer_of,
    number_of,
    position_numbered,
    value_at,
)

MOST_SLOTS = 64
"""The most outcomes of chance for which best moves are noted."""

NO_EDGE = (1 << 32) - 1
OPPOSITE = 1
"""An edge is twice an index, plus ``OPPOSITE`` if the other player is to move there, so that the
value changes sign; ``NO_EDGE`` if the value is already known."""

SWEEP = np.dtype(
    [
        ("stop", np.int64),
        ("thread", np.int64),
        ("threads", np.int64),
        ("layer", np.int64),  # the layer being solved
        ("size", np.int64),  # its indices
        ("side", np.float64),  # -1 for lower bounds, 1 for upper bounds, 0 for values
        ("done", np.int64),  # indices done
        ("held", np.int64),  # states whose value changed the wrong way, or not at all
        ("largest", np.float64),  # largest change of a value
        ("product", np.float64),  # dot product of this sweep's changes and the last's
        ("square", np.float64),  # sum of the squares of the last sweep's changes
        ("bad_index", np.int64),  # 1 more than an index from which play leaves the tables, or 0
        ("fault", np.int64),  # MISSING if a table is not there yet
        ("fault_layer", np.int64),  # the layer of that table
        ("irregular", np.int64),  # whether choices cannot express all that values depend on
        ("slots", np.int64),  # edges for each index
        ("odds", np.float64, (MOST_SLOTS,)),  # probability of each edge
    ],
    align=True,
)
"""The memory of one thread's sweep."""

SweepMemory = Annotated[Any, numba.from_dtype(SWEEP)]
Reals = Annotated[Any, types.float64[::1]]
Edges = Annotated[Any, types.uint32[::1]]


class Choices(NamedTuple):
    """The best moves from each index, as far as they lead to the same layer.

    Each outcome of chance (or the move, where a player decides) has an edge; *rest* is the sum of
    everything without one.
    """

    edges: Any
    rest: Any


ChoicesMemory = Annotated[Any, types.NamedTuple((types.uint32[::1], types.float64[::1]), Choices)]


@compiled
def leaf_value(position, same, memory, side, tables, own, other):
    """Return the value of a position that is over or has an index, for the mover of its parent.

    *same* says that both have the same mover.  *side* is -1 for a lower bound of the value, 1 for
    an upper bound.  Also return the edge to the position, if it is in the layer being solved.
    """
    over, value = outcome(position)
    if over:
        return (float(value) if same else -float(value)), NO_EDGE
    number = number_of(position, tables)
    if number < 0:
        return math.nan, NO_EDGE
    at = layer_of(position)
    if at == memory.layer:
        if same:
            return own[number], 2 * number
        return -other[number], 2 * number + OPPOSITE
    if at > memory.layer or not is_solved(tables, at, number):
        if at < memory.layer and tables[ENTRY * at + SYMBOLS] == 0:
            memory.fault, memory.fault_layer = MISSING, at
        return math.nan, NO_EDGE
    found = value_at(tables, at, number)
    return (found if same else -found) + side * error_of(tables, at), NO_EDGE


@compiled
def value_between(position, same, memory, side, tables, own, other, buffer, room):
    """Return the same for any position, looking through one without an index."""
    if outcome(position)[0] or number_of(position, tables) >= 0:
        return leaf_value(position, same, memory, side, tables, own, other)
    mine, theirs, side = (own, other, side) if same else (other, own, -side)
    if chance(position) > 0:
        total = 0.0
        memory.irregular = 1
        for event in range(chance(position)):
            odds, child = chance_outcome(position, event)
            if odds > 0:
                again = same_after_chance(position, child)
                found, _ = leaf_value(child, again, memory, side, tables, mine, theirs)
                total += odds * found
        return (total if same else -total), NO_EDGE
    best, best_edge = -math.inf, NO_EDGE
    for place in range(room, moves(position, buffer, room)):
        child = play(position, buffer[place])
        again = moves_again(position, child)
        found, edge = leaf_value(child, again, memory, side, tables, mine, theirs)
        if not found <= best:
            best, best_edge = found, edge
    if not same:
        best = -best
        best_edge = best_edge ^ OPPOSITE if best_edge != NO_EDGE else NO_EDGE
    return best, best_edge


@compiled
def note_edge(memory, choices, number, slot, edge, odds):
    """Note where the best move after an outcome of chance leads, if there is room in *choices*."""
    if choices is not None:
        if len(choices.rest) > 0:
            if slot >= memory.slots:
                memory.irregular = 1
                return
            if odds != memory.odds[slot]:
                if memory.odds[slot] != 0:
                    memory.irregular = 1
                memory.odds[slot] = odds
            choices.edges[number * memory.slots + slot] = edge


@compiled
def note_rest(choices, number, rest):
    """Note the sum of everything without an edge, if there is room in *choices*."""
    if choices is not None:
        if len(choices.rest) > 0:
            choices.rest[number] = rest


@compiled
def backed_up(position, memory, side, tables, own, other, buffer, room, choices, number):
    """Return the value of a position with an index, backed up from the positions it leads to.

    The best moves are noted in *choices*, unless it is None or empty.
    """
    over, value = outcome(position)
    if over:
        note_rest(choices, number, value)
        return float(value)
    if chance(position) > 0:
        total, rest = 0.0, 0.0
        for event in range(chance(position)):
            odds, child = chance_outcome(position, event)
            edge = NO_EDGE
            if odds > 0:
                same = same_after_chance(position, child)
                found, edge = value_between(
                    child, same, memory, side, tables, own, other, buffer, room
                )
                total += odds * found
                rest += odds * found if edge == NO_EDGE else 0.0
            note_edge(memory, choices, number, event, edge, odds)
        note_rest(choices, number, rest)
        return total
    best, best_edge = -math.inf, NO_EDGE
    for place in range(moves(position, buffer, 0)):
        child = play(position, buffer[place])
        same = moves_again(position, child)
        found, edge = value_between(child, same, memory, side, tables, own, other, buffer, room)
        if not found <= best:
            best, best_edge = found, edge
    note_edge(memory, choices, number, 0, best_edge, 1.0)
    note_rest(choices, number, best if best_edge == NO_EDGE else 0.0)
    return best


@kernel
def sweep(
    example: Position,
    memory: SweepMemory,
    tables: Numbers,
    words: Words,
    buffer: Numbers,
    own: Reals,
    other: Reals,
    changes: Reals,
    choices: ChoicesMemory,
    room: int,
) -> None:
    """Compute the value of each index of a layer once, from the current values.

    *own* holds the values to compute, which also serve where the same player is to move; *other*
    serves where the other player is: the same array, or the upper bounds for lower ones and vice
    versa.  *changes* receives the change of each value, if it is as long as *own*, and *choices*
    the best moves, if there is room.  *buffer* has room for two lists of moves, the second from
    *room* on.
    """
    keep = len(changes) == len(own)
    start, end = first_block(memory, len(own))
    while start < end:
        for number in range(start, end):
            position = position_numbered(example, memory.layer, number, words)
            if is_hole(position, memory.layer, number):
                own[number] = math.nan
                continue
            before = own[number]
            value = backed_up(
                position,
                memory,
                memory.side,
                tables,
                own,
                other,
                buffer,
                room,
                choices,
                number,
            )
            if not abs(value) < math.inf:
                memory.bad_index = number + 1
                return
            change = value - before
            memory.largest = max(memory.largest, abs(change))
            if keep:
                memory.product += change * changes[number]
                memory.square += changes[number] * changes[number]
                changes[number] = change
            elif not change * memory.side < 0:
                memory.held += 1
            own[number] = value
        start, end = next_block(memory, start, end, len(own))


@kernel
def sweep_choices(
    memory: SweepMemory, choices: ChoicesMemory, values: Reals, changes: Reals
) -> None:
    """Compute each value once as if the noted moves were best, in a tenth of a sweep's time."""
    slots = memory.slots
    start, end = first_block(memory, len(values))
    while start < end:
        for number in range(start, end):
            value = choices.rest[number]
            for slot in range(slots):
                edge = np.int64(choices.edges[number * slots + slot])
                if edge != NO_EDGE:
                    found = memory.odds[slot] * values[edge >> 1]
                    value += -found if edge & OPPOSITE else found
            change = value - values[number]
            memory.largest = max(memory.largest, abs(change))
            memory.product += change * changes[number]
            memory.square += changes[number] * changes[number]
            changes[number] = change
            values[number] = value
        start, end = next_block(memory, start, end, len(values))
