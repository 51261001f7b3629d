"""Compiled retrograde analysis of values in points, within a layer of a tablebase.

See :mod:`cutnode.tablebases.points` for the method."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import numba
import numpy as np

from cutnode.compiler.jit import Numbers, Position, Words, compiled, kernel
from cutnode.contract.dispatch import defines, derived
from cutnode.contract.verbs import NO_INDEX, moves, moves_again, outcome, play, settled
from cutnode.kernels.blocks import first_block, next_block
from cutnode.kernels.codes import DRAWN, HOLE, CodesMemory, code_at, write_code
from cutnode.kernels.retrograde import STUCK, entry_of
from cutnode.kernels.tablebase import (
    is_hole,
    meaning_at,
    number_of,
    position_numbered,
)

THRESHOLD = np.dtype(
    [
        ("stop", np.int64),
        ("thread", np.int64),
        ("threads", np.int64),
        ("layer", np.int64),  # the layer being solved
        ("size", np.int64),  # its indices
        ("threshold", np.int64),  # values this far from zero are decided; -1 in the first pass
        ("decided", np.int64),  # positions decided
        ("largest", np.int64),  # largest absolute value beyond the settled points
        ("done", np.int64),  # indices done
        ("fault", np.int64),
        ("fault_index", np.int64),  # the index from which play goes wrong
        ("fault_layer", np.int64),  # the layer that it leads to
    ],
    align=True,
)
"""The memory of a thread."""

ThresholdMemory = Annotated[Any, numba.from_dtype(THRESHOLD)]


@derived
def banked(cls: type) -> Callable[..., Any]:
    """``banked(position)``: the points that are settled, which the value of an index excludes."""
    if defines(cls, "index") and defines(cls, "settled"):
        return lambda position: settled(position)[0]
    return lambda position: 0


@compiled
def known_points(position, same, memory, tables, codes):
    """Return the value of a position that is over or has an index, for the mover of its parent."""
    over, value = outcome(position)
    if not over:
        at, number = entry_of(position, memory, tables)
        if number == NO_INDEX:
            return 0
        left = code_at(codes, number) if at == memory.layer else meaning_at(tables, at, number)
        value = banked(position) + left
    return value if same else -value


@compiled
def points_between(position, same, memory, tables, codes, buffer, room):
    """Return the same for any position, looking through one without an index."""
    if outcome(position)[0] or number_of(position, tables) >= 0:
        return known_points(position, same, memory, tables, codes)
    best = HOLE
    for place in range(room, moves(position, buffer, room)):
        child = play(position, buffer[place])
        again = moves_again(position, child)
        best = max(best, known_points(child, again, memory, tables, codes))
    return best if same else -best


@compiled
def backed_up_points(position, memory, tables, codes, buffer, room):
    """Return the value of a position with an index beyond the settled points, by its moves."""
    best = HOLE
    end = moves(position, buffer, 0)
    if end == 0:
        memory.fault = STUCK
        return 0
    for place in range(end):
        child = play(position, buffer[place])
        same = moves_again(position, child)
        best = max(best, points_between(child, same, memory, tables, codes, buffer, room))
    return best - banked(position)


@kernel
def lower_threshold(
    example: Position,
    memory: ThresholdMemory,
    tables: Numbers,
    words: Words,
    buffer: Numbers,
    codes: CodesMemory,
    room: int,
) -> None:
    """Decide the positions whose moves show an absolute value of at least the threshold."""
    start, end = first_block(memory, memory.size)
    while start < end:
        for number in range(start, end):
            if memory.threshold > 0 and code_at(codes, number) != 0:
                continue
            position = position_numbered(example, memory.layer, number, words)
            if memory.threshold < 0:
                write_code(codes, number, 0)
                if is_hole(position, memory.layer, number):
                    write_code(codes, number, HOLE)
                    continue
                over, value = outcome(position)
                if over:
                    left = value - banked(position)
                    write_code(codes, number, left if left != 0 else DRAWN)
                    memory.largest = max(memory.largest, abs(left))
                    continue
            found = backed_up_points(position, memory, tables, codes, buffer, room)
            if memory.fault != 0:
                memory.fault_index = number
                return
            if memory.threshold < 0:
                memory.largest = max(memory.largest, abs(found))
            elif abs(found) >= memory.threshold:
                decided = memory.threshold if found > 0 else -memory.threshold
                write_code(codes, number, decided)
                memory.decided += 1
        start, end = next_block(memory, start, end, memory.size)
