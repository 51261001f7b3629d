"""The transposition table for games of chance, where bounds are any numbers.

Memory, header, regions, ages and generations work as in ``cutnode.kernels.table``.  An entry is
four words, two entries to a bucket:

    word    the scattered key XOR the salt XOR the other words: an entry that two threads wrote
            at once matches no key; all 64 bits of it are compared
    data    as in ``cutnode.kernels.table``: move, plies and proof, age; the bits of bounds are 0
    lower   bound of the score, a float64
    upper   bound of the score, a float64

Where a score depends on the ply, as the score of a win does, the address has to depend on the ply,
too: an average of wins and losses cannot be converted to another ply.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cutnode.compiler.jit import compiled
from cutnode.contract.bits import Bits, as_bits, as_float
from cutnode.contract.verbs import NO_MOVE
from cutnode.kernels.parameters import REGION_GROWTH
from cutnode.kernels.table import (
    AGE,
    AGE_AT,
    AGES,
    BUCKET_WORDS,
    BUCKETS,
    EARLIER,
    FILLED,
    FIRST_AGE,
    FREE,
    HEADER_WORDS,
    HIGHEST,
    SALT,
    SAME,
    WORK_AT,
    age_of,
    bucket,
    most_buckets,
    move_of,
    sweep,
    work_of,
)
from cutnode.kernels.table import begin as begin_search

__all__ = ["ENTRY_WORDS", "Entry", "begin", "open_whole", "probe", "store"]

ENTRY_WORDS = 4


class Entry(NamedTuple):
    """The entry of a position; no *data* if nothing is stored."""

    word: Bits
    data: Bits
    lower: float
    upper: float


@compiled
def entry_at(table, at):
    """Return the entry at a place, with its scattered key XOR the salt as *word*."""
    # Read each word only once: another thread may overwrite it at any time.
    data, lower, upper = Bits(table[at + 1]), Bits(table[at + 2]), Bits(table[at + 3])
    word = Bits(table[at]) ^ data ^ lower ^ upper
    return Entry(Bits(word), data, as_float(lower), as_float(upper))


@compiled
def put(table, at, salted, data, lower, upper):
    # Write the word with the key last: until then the entry matches no key.
    low, high = as_bits(lower), as_bits(upper)
    table[at + 1] = Bits(data)
    table[at + 2] = low
    table[at + 3] = high
    table[at] = Bits(salted) ^ Bits(data) ^ low ^ high


@compiled
def begin(table, cold):
    """Begin a search; a *cold* one, or the first after ``forget``, begins a generation."""
    if np.int64(table[AGE]) == AGES:
        sweep(table, ENTRY_WORDS)
    begin_search(table, cold)


@compiled
def probe(table, word):
    """Return the entry of a scattered key."""
    at = bucket(table, word)
    salted = Bits(word) ^ Bits(table[SALT])
    for entry in range(at, at + BUCKET_WORDS, ENTRY_WORDS):
        found = entry_at(table, entry)
        if found.word == salted and found.data != Bits(0):
            return found
    return Entry(Bits(0), Bits(0), 0.0, 0.0)


@compiled
def store(table, word, lower, upper, move, depth, proven):
    """Store the bounds found at a depth; return whether they replaced another position's entry.

    *proven* bounds do not depend on estimates.  Bounds from the same depth are merged; otherwise
    deeper bounds from this search stay.
    """
    at, worth, old = place(table, word)
    work = 2 * depth + (1 if proven else 0)
    if worth == SAME:
        if work_of(old.data) == work:
            low, high = max(lower, old.lower), min(upper, old.upper)
            if low <= high:  # rounding may make them cross
                lower, upper = low, high
        elif age_of(old.data) == np.int64(table[AGE]) and work_of(old.data) > work:
            return False
        move = move_of(old.data) if move == NO_MOVE else move
    salted = Bits(word) ^ Bits(table[SALT])
    age = Bits(table[AGE]) << Bits(AGE_AT)
    data = (Bits(move) << Bits(32)) | (Bits(work) << Bits(WORK_AT)) | age
    put(table, at, salted, data, lower, upper)
    if worth == FREE and np.int64(table[BUCKETS]) < most_buckets(table):
        table[FILLED] = Bits(table[FILLED]) + Bits(1)
        if np.int64(table[FILLED]) > np.int64(table[BUCKETS]):
            grow(table)
    return worth >= 0


@compiled
def place(table, word):
    """Return the place for the entry of a scattered key, the worth of the entry there, and it."""
    first = bucket(table, word)
    # As in the other layout: replace the same position always, else the entry of least worth.
    salted = Bits(word) ^ Bits(table[SALT])
    victim, least = first, 1 << 30
    there = Entry(Bits(0), Bits(0), 0.0, 0.0)
    for at in range(first, first + BUCKET_WORDS, ENTRY_WORDS):
        there = entry_at(table, at)
        if there.word == salted and there.data != Bits(0):
            return at, SAME, there
        age = age_of(there.data)
        worth = EARLIER if age >= np.int64(table[FIRST_AGE]) else FREE
        if age == np.int64(table[AGE]):
            worth = work_of(there.data)
        if worth < least:
            victim, least = at, worth
    return victim, least, there


@compiled(inline=False)
def grow(table):
    """Enlarge a region that is half full."""
    table[FILLED] = 0
    resize(table, min(np.int64(table[BUCKETS]) * REGION_GROWTH, most_buckets(table)))


@compiled(inline=False)
def open_whole(table):
    """Use all of the memory: threads that share the table cannot resize it."""
    if np.int64(table[BUCKETS]) < most_buckets(table):
        resize(table, most_buckets(table))


@compiled
def resize(table, buckets):
    """Enlarge the region, and move the generation's entries to their new places.

    It goes from the last bucket to the first: a bucket's entries stay or move towards the end.
    """
    old = np.int64(table[BUCKETS])
    table[BUCKETS] = buckets
    table[HIGHEST] = max(np.int64(table[HIGHEST]), np.int64(buckets))
    for number in range(old - 1, -1, -1):
        first = HEADER_WORDS + number * BUCKET_WORDS
        for at in range(first, first + BUCKET_WORDS, ENTRY_WORDS):
            entry = entry_at(table, at)
            word = entry.word ^ Bits(table[SALT])
            if age_of(entry.data) < np.int64(table[FIRST_AGE]):
                table[at + 1] = 0
            elif bucket(table, word) != first:
                table[at + 1] = 0
                other, _, _ = place(table, word)
                put(table, other, entry.word, entry.data, entry.lower, entry.upper)
