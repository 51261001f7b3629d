"""The blocks of indices that threads take from a layer, each thread every *threads*-th block.

The memory of such a thread has ``thread``, ``threads``, ``stop``, ``fault`` and ``done`` among its
fields.  A kernel goes through its blocks like this::

    start, end = first_block(memory, size)
    while start < end:
        for number in range(start, end):
            ...
        start, end = next_block(memory, start, end, size)
"""

from __future__ import annotations

from cutnode.compiler.jit import compiled
from cutnode.contract.stop import RUNNING

BLOCK_SHIFT = 12
"""The binary logarithm of the indices of a block."""


@compiled
def first_block(memory, size):
    """Return the first index of a thread's first block and its end, of *size* indices in all."""
    return block_from(memory, memory.thread << BLOCK_SHIFT, size)


@compiled
def next_block(memory, start, end, size):
    """Count a block as done and return the next one, which is empty after the last block.

    It is also empty if the thread is stopped, or if it met a fault.
    """
    memory.done += end - start
    return block_from(memory, start + (memory.threads << BLOCK_SHIFT), size)


@compiled
def block_from(memory, start, size):
    if start >= size or memory.stop != RUNNING or memory.fault != 0:
        return size, size
    return start, min(start + (1 << BLOCK_SHIFT), size)
