"""Compiled enumeration of the positions that can be reached from a given one."""

from __future__ import annotations

from typing import Annotated, Any

import numba
import numpy as np

from cutnode.compiler.jit import Numbers, Position, Words, compiled, kernel
from cutnode.contract.bits import Bits
from cutnode.contract.positions import unpack, width
from cutnode.contract.stop import RUNNING
from cutnode.contract.verbs import canonical, chance, chance_outcome, key, moves, outcome, play
from cutnode.kernels.value_iteration import Indices, slot_of, state_of

REACHED = np.dtype(
    [
        ("stop", np.int64),
        ("most", np.int64),  # MAX_MOVES
        ("apart", np.int64),  # whether equivalent positions count apart
        ("positions", np.int64),  # number of positions found
        ("expanded", np.int64),  # how many of them, from the first, had all their moves played
        ("indexed", np.int64),  # how many of them, from the first, are in the slots
    ],
    align=True,
)
"""The memory of an enumeration."""

ReachedMemory = Annotated[Any, numba.from_dtype(REACHED)]


@compiled
def reach(child, memory, keys, slots, words):
    """Add a position, unless one with the same key is known: canonical, unless they are apart."""
    word = Bits(key(child)) if memory.apart != 0 else Bits(canonical(child)[0])
    number = state_of(child, word, memory.positions, keys, slots, words)
    memory.positions = max(memory.positions, number + 1)


@kernel
def enumerate_positions(
    example: Position,
    memory: ReachedMemory,
    keys: Words,
    slots: Indices,
    words: Words,
    buffer: Numbers,
) -> None:
    """Find the positions that can be reached from *example*, breadth first.

    It returns when there is no room for more, and resumes when called with longer arrays.  *slots*
    is a hash table of position numbers plus 1; its size is a power of two, at least twice the
    number of positions.
    """
    if memory.positions == 0:
        reach(example, memory, keys, slots, words)
        memory.indexed = 1
    for number in range(memory.indexed, memory.positions):
        slots[slot_of(Bits(keys[number]), keys, slots)] = number + 1
    while memory.expanded < memory.positions and memory.stop == RUNNING:
        position = unpack(words, memory.expanded * width(example), example)
        over = outcome(position)[0]
        events = 0 if over else chance(position)
        if memory.positions + max(memory.most, events) > len(keys):
            break
        if not over:
            if events > 0:
                for event in range(events):
                    odds, child = chance_outcome(position, event)
                    if odds > 0:
                        reach(child, memory, keys, slots, words)
            else:
                for place in range(moves(position, buffer, 0)):
                    reach(play(position, buffer[place]), memory, keys, slots, words)
        memory.expanded += 1
    memory.indexed = memory.positions
