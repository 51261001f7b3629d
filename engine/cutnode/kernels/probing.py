"""Compiled lookups in a tablebase, and the verification of its entries.

Lookups take positions whose game has an ``index`` or was enumerated; a missing table is no error
for them.
"""

from __future__ import annotations

import math
from typing import Annotated, Any

import numba
import numpy as np

from cutnode.compiler.jit import Numbers, Position, Words, compiled, kernel
from cutnode.contract.verbs import outcome
from cutnode.kernels.blocks import first_block, next_block
from cutnode.kernels.codes import CodesMemory, code_at, write_code
from cutnode.kernels.layer_iteration import Reals
from cutnode.kernels.layer_iteration import backed_up as backed_up_value
from cutnode.kernels.layer_points import backed_up_points, banked
from cutnode.kernels.retrograde import MOST_DISTANCE, backed_up
from cutnode.kernels.tablebase import (
    error_of,
    is_hole,
    is_solved,
    layer_of,
    meaning_at,
    number_of,
    position_numbered,
    value_at,
)

ABSENT = 1 << 20
"""The code of a position about which the tables say nothing."""

LOOKUP = np.dtype(
    [
        ("stop", np.int64),
        ("thread", np.int64),
        ("threads", np.int64),
        ("layer", np.int64),  # the layer to compare; beyond all layers for a lookup
        ("size", np.int64),  # its indices
        ("conversion", np.int64),  # see cutnode.kernels.retrograde
        ("signs", np.int64),  # whether only win, draw and loss are kept
        ("through", np.int64),
        ("irregular", np.int64),
        ("done", np.int64),  # indices done
        ("compared", np.int64),  # positions compared
        ("wrong", np.int64),  # wrong entries
        ("first_wrong", np.int64),  # 1 more than the first index with a wrong entry
        ("fault", np.int64),
        ("fault_layer", np.int64),
    ],
    align=True,
)
"""The memory of a lookup, and of a comparison."""

LookupMemory = Annotated[Any, numba.from_dtype(LOOKUP)]


@kernel
def probe_code(
    position: Position,
    memory: LookupMemory,
    tables: Numbers,
    buffer: Numbers,
    codes: CodesMemory,
    room: int,
) -> int:
    """Return the code of a position, or ``ABSENT`` if the tables have none; *codes* is empty."""
    over, value = outcome(position)
    if over:
        return 1 if value > 0 else -1 if value < 0 else 0
    number = number_of(position, tables)
    if number < 0:
        memory.fault = 0
        code = backed_up(position, memory, tables, codes, -1, buffer, room, False)
        return ABSENT if memory.fault != 0 else code
    at = layer_of(position)
    if not is_solved(tables, at, number):
        return ABSENT
    return meaning_at(tables, at, number)


@kernel
def probe_points(
    position: Position,
    memory: LookupMemory,
    tables: Numbers,
    buffer: Numbers,
    codes: CodesMemory,
    room: int,
) -> int:
    """Return the value of a position in points, or ``ABSENT`` if the tables have none."""
    over, value = outcome(position)
    if over:
        return value
    number = number_of(position, tables)
    if number < 0:
        memory.fault = 0
        left = backed_up_points(position, memory, tables, codes, buffer, room)
        return ABSENT if memory.fault != 0 else left + banked(position)
    at = layer_of(position)
    if not is_solved(tables, at, number):
        return ABSENT
    return banked(position) + meaning_at(tables, at, number)


@kernel
def probe_value(
    position: Position,
    memory: LookupMemory,
    tables: Numbers,
    buffer: Numbers,
    values: Reals,
    room: int,
) -> float:
    """Return the expected value of a position, or NaN if the tables have none."""
    over, value = outcome(position)
    if over:
        return float(value)
    number = number_of(position, tables)
    if number < 0:
        return backed_up_value(position, memory, 0.0, tables, values, values, buffer, room, None, 0)
    at = layer_of(position)
    return value_at(tables, at, number) if is_solved(tables, at, number) else math.nan


@kernel
def unpack_codes(tables: Numbers, layer: int, size: int, codes: CodesMemory) -> None:
    """Write the meanings of the symbols of a layer."""
    for number in range(size):
        write_code(codes, number, meaning_at(tables, layer, number))


@kernel
def unpack_values(tables: Numbers, layer: int, values: Reals) -> None:
    """Write the values of a layer."""
    for number in range(len(values)):
        values[number] = value_at(tables, layer, number)


@compiled
def count_entry(memory, number, is_right):
    """Count a compared entry; it is also wrong where play leaves the tables."""
    memory.compared += 1
    if not is_right or memory.fault != 0:
        memory.wrong += 1
        if memory.first_wrong == 0:
            memory.first_wrong = number + 1
        memory.fault = 0


@kernel
def compare_codes(
    example: Position,
    memory: LookupMemory,
    tables: Numbers,
    words: Words,
    buffer: Numbers,
    codes: CodesMemory,
    room: int,
) -> None:
    """Compare each code of a layer with the code backed up from its position's moves."""
    start, end = first_block(memory, memory.size)
    while start < end:
        for number in range(start, end):
            position = position_numbered(example, memory.layer, number, words)
            if is_hole(position, memory.layer, number):
                continue
            over, value = outcome(position)
            found = 1 if value > 0 else -1 if value < 0 else 0
            if not over:
                found = backed_up(
                    position, memory, tables, codes, MOST_DISTANCE, buffer, room, False
                )
            code = code_at(codes, number)
            if memory.signs:
                found = 1 if found > 0 else -1 if found < 0 else 0
            count_entry(memory, number, found == code)
        start, end = next_block(memory, start, end, memory.size)


@kernel
def compare_points(
    example: Position,
    memory: LookupMemory,
    tables: Numbers,
    words: Words,
    buffer: Numbers,
    codes: CodesMemory,
    room: int,
) -> None:
    """Compare each value in points of a layer with the value backed up from its moves."""
    start, end = first_block(memory, memory.size)
    while start < end:
        for number in range(start, end):
            position = position_numbered(example, memory.layer, number, words)
            if is_hole(position, memory.layer, number):
                continue
            over, value = outcome(position)
            found = value - banked(position)
            if not over:
                found = backed_up_points(position, memory, tables, codes, buffer, room)
            count_entry(memory, number, found == code_at(codes, number))
        start, end = next_block(memory, start, end, memory.size)


@kernel
def compare_values(
    example: Position,
    memory: LookupMemory,
    tables: Numbers,
    words: Words,
    buffer: Numbers,
    values: Reals,
    room: int,
) -> None:
    """Compare each expected value of a layer with the backed-up one, within the error bounds."""
    start, end = first_block(memory, len(values))
    while start < end:
        for number in range(start, end):
            position = position_numbered(example, memory.layer, number, words)
            if is_hole(position, memory.layer, number):
                continue
            found = backed_up_value(
                position, memory, 0.0, tables, values, values, buffer, room, None, 0
            )
            margin = 2 * error_of(tables, memory.layer)
            count_entry(memory, number, abs(found - values[number]) <= margin)
        start, end = next_block(memory, start, end, len(values))
