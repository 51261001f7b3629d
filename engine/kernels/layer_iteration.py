"""Value iteration within a layer of a tablebase: games of chance.

See :mod:`engine.tablebases.chances` for the method and its sources."""

from __future__ import annotations

import math
from typing import Annotated, Any

import numba
import numpy as np
from numba import types

from engine.compiler.jit import Numbers, Position, Words, compiled, kernel
from engine.contract.derived import same_after_chance
from engine.contract.stop import RUNNING
from engine.contract.verbs import (
    chance,
    chance_outcome,
    moves,
    moves_again,
    outcome,
    play,
)
from engine.kernels.tablebase import (
    ENTRY,
    SIZE,
    error_of,
    is_hole,
    layer_of,
    number_of,
    position_numbered,
    value_at,
)

__all__ = ["CHUNK", "SWEEP", "sweep"]

CHUNK = 1 << 12
"""Indices that a thread takes in a row."""

SWEEP = np.dtype(
    [
        ("stop", np.int64),
        ("thread", np.int64),
        ("threads", np.int64),
        ("layer", np.int64),  # that is solved
        ("side", np.float64),  # -1 for lower bounds, 1 for upper ones, 0 for values
        ("done", np.int64),  # indices
        ("held", np.int64),  # states whose value changed the wrong way, or not at all
        ("largest", np.float64),  # change of a value
        ("product", np.float64),  # of the changes of this sweep and of the last
        ("square", np.float64),  # of the changes of the last
        ("bad_index", np.int64),  # 1 more than one from which play leads out of the tables
    ],
    align=True,
)
"""The memory of a sweep of one thread."""

SweepMemory = Annotated[Any, numba.from_dtype(SWEEP)]
Reals = Annotated[Any, types.float64[::1]]


@compiled
def leaf_value(position, same, solved, side, tables, own, other):
    """The value of a position that is over or has an index, for the mover of the one before it.

    *same*: they have the same mover.  *side* is -1 for a lower bound of it, 1 for an upper one.
    """
    over, value = outcome(position)
    if over:
        return float(value) if same else -float(value)
    number = number_of(position, tables)
    if number < 0:
        return math.nan
    at = layer_of(position)
    if at == solved:
        return own[number] if same else -other[number]
    if at > solved or number >= tables[ENTRY * at + SIZE]:
        return math.nan
    found = value_at(tables, at, number)
    return (found if same else -found) + side * error_of(tables, at)


@compiled
def value_between(position, same, solved, side, tables, own, other, buffer, room):
    """The same of any position: one without an index is looked through."""
    if outcome(position)[0] or number_of(position, tables) >= 0:
        return leaf_value(position, same, solved, side, tables, own, other)
    mine, theirs, side = (own, other, side) if same else (other, own, -side)
    if chance(position) > 0:
        total = 0.0
        for event in range(chance(position)):
            odds, child = chance_outcome(position, event)
            if odds > 0:
                again = same_after_chance(position, child)
                total += odds * leaf_value(child, again, solved, side, tables, mine, theirs)
        return total if same else -total
    best = -math.inf
    for place in range(room, moves(position, buffer, room)):
        child = play(position, buffer[place])
        again = moves_again(position, child)
        found = leaf_value(child, again, solved, side, tables, mine, theirs)
        if not found <= best:
            best = found
    return best if same else -best


@compiled
def backed_up(position, solved, side, tables, own, other, buffer, room):
    """The value of a position with an index, by those of the positions that it leads to."""
    if chance(position) > 0:
        total = 0.0
        for event in range(chance(position)):
            odds, child = chance_outcome(position, event)
            if odds > 0:
                same = same_after_chance(position, child)
                total += odds * value_between(
                    child, same, solved, side, tables, own, other, buffer, room
                )
        return total
    best = -math.inf
    for place in range(moves(position, buffer, 0)):
        child = play(position, buffer[place])
        same = moves_again(position, child)
        found = value_between(child, same, solved, side, tables, own, other, buffer, room)
        if not found <= best:
            best = found
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
    room: int,
) -> None:
    """Compute the value of each index of a layer once, by the values that stand there now.

    *own* are the values of positions with the same mover, which are computed, *other* those of
    positions with the other mover: the same array, or for a lower bound upper ones.  *changes*
    takes what each value changed by, if it is as long as they are.  *buffer* has room for two
    lists of moves, the second from *room* on.
    """
    keep = len(changes) == len(own)
    begin = memory.thread * CHUNK
    while begin < len(own):
        if memory.stop != RUNNING:
            return
        end = min(begin + CHUNK, len(own))
        for number in range(begin, end):
            position = position_numbered(example, memory.layer, number, words)
            if is_hole(position, memory.layer, number):
                own[number] = math.nan
                continue
            before = own[number]
            value = backed_up(position, memory.layer, memory.side, tables, own, other, buffer, room)
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
        memory.done += end - begin
        begin += CHUNK * memory.threads
