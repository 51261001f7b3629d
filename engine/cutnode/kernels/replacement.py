"""Replacement schemes from the literature, to compare with the table's own.

A bucket has room for four entries, and the table's own scheme replaces the one with the least depth
(``cutnode.kernels.table``).  The schemes of D. Breuker, J. Uiterwijk and H. J. van den Herik,
"Replacement schemes for transposition tables" (1994) and "Replacement schemes and two-level tables"
(1996), give each position one place, or one place in each of two levels.  Here a bucket is four
places of one entry, or two of two; the position's key says which is its own.

* *deep* keeps the entry of the greater depth, and of equal ones the newer;
* *new* always replaces, and *old* never;
* *big* keeps the entry whose search visited more nodes.  A position that the table answers counts
  as one node, as in the authors' Big1;
* *two-level deep* and *two-level big* keep that entry on the first level, and the newest of the
  others on the second.

An entry of the same position is always updated in place.  Entries do not age: no search frees the
entries of earlier ones.  In place of the age an entry holds the number of nodes, as eight times the
binary logarithm, so it needs no more room than others.

All schemes are one technique that no search uses by default.  It is compiled into a search that
uses it, in place of ``store_depth``; other searches are the same code as if it did not exist.
"""

from __future__ import annotations

import numpy as np

from cutnode.compiler.jit import compiled
from cutnode.contract.bits import Bits
from cutnode.contract.verbs import NO_MOVE
from cutnode.kernels.declarations import Parameter, Technique
from cutnode.kernels.table import (
    AGE,
    BUCKET_WORDS,
    BUCKETS,
    ENTRY_WORDS,
    FILLED,
    FIRST_AGE,
    HEADER_WORDS,
    HIGHEST,
    SALT,
    age_of,
    bucket,
    depth_of,
    lower_of,
    most_buckets,
    move_of,
    packed_bounds,
    put,
    upper_of,
    work_for,
    work_of,
)

DEEP, NEW, OLD, BIG, TWO_DEEP, TWO_BIG = range(6)

ENTRIES_EACH = BUCKET_WORDS // ENTRY_WORDS


@compiled
def open_region(table, size):
    """Use a fixed part of the table, 2**size entries or all, empty at the start of a generation."""
    buckets = most_buckets(table)
    if size > 0:
        buckets = min(buckets, max((1 << size) // ENTRIES_EACH, 1))
    if np.int64(table[FILLED]) == 0 or np.int64(table[BUCKETS]) != buckets:
        empty_region(table, buckets)


@compiled(inline=False)
def empty_region(table, buckets):
    """Begin a generation with an empty region of a number of buckets."""
    for word in range(HEADER_WORDS, HEADER_WORDS + buckets * BUCKET_WORDS):
        table[word] = 0
    table[BUCKETS], table[FILLED] = buckets, 1
    table[HIGHEST] = max(np.int64(table[HIGHEST]), buckets)
    table[AGE], table[FIRST_AGE] = 1, 1  # what entries hold in place of an age starts at 1


@compiled
def scaled(nodes):
    """Return a number of nodes as an age of nine bits: one plus eight times its logarithm."""
    exponent = work_for(nodes)
    return np.int64(1 + 8 * exponent + (((nodes << 3) >> exponent) & 7))


@compiled
def holds(table, at, word):
    """Return whether an entry is the one of a scattered key."""
    data = Bits(table[at + 1])
    return data != Bits(0) and Bits(table[at]) ^ data == Bits(word) ^ Bits(table[SALT])


@compiled
def outranks(table, at, entry, scheme):
    """Return whether a new entry of another position may take a place (or its first level)."""
    data = Bits(table[at + 1])
    if data == Bits(0) or scheme == NEW:
        return True
    if scheme in (DEEP, TWO_DEEP):
        return entry.depth >= depth_of(data)
    if scheme in (BIG, TWO_BIG):
        return scaled(entry.nodes) >= age_of(data)
    return False


@compiled
def write(table, at, entry):
    """Write an entry, merged with one of the same position; return whether another one is lost."""
    data = Bits(table[at + 1])
    work = 2 * entry.depth + (1 if entry.proven else 0)
    lower, upper, move = entry.lower, entry.upper, entry.move
    same = holds(table, at, entry.word)
    if same:
        if work_of(data) > work:
            return False
        if work_of(data) == work:
            low, high = max(lower, lower_of(data)), min(upper, upper_of(data))
            if low <= high:
                lower, upper = low, high
        move = move_of(data) if move == NO_MOVE else move
    put(table, at, entry.word, packed_bounds(lower, upper, move), work, scaled(entry.nodes))
    return data != Bits(0) and not same


@compiled
def store_by_scheme(table, entry, search):
    """Store an entry by the chosen scheme; return whether an entry of another position is lost."""
    open_region(table, search.replacement_size)
    scheme = search.replacement_scheme
    levels = 2 if scheme >= TWO_DEEP else 1
    own = np.int64(Bits(entry.word) % Bits(ENTRIES_EACH // levels)) * levels * ENTRY_WORDS
    first = bucket(table, entry.word) + own
    if levels == 1:
        if holds(table, first, entry.word) or outranks(table, first, entry, scheme):
            return write(table, first, entry)
        return False
    second = first + ENTRY_WORDS
    if holds(table, first, entry.word):
        return write(table, first, entry)
    if holds(table, second, entry.word) or not outranks(table, first, entry, scheme):
        return write(table, second, entry)
    lost = Bits(table[first + 1]) != Bits(0) and Bits(table[second + 1]) != Bits(0)
    if Bits(table[first + 1]) != Bits(0):
        table[second], table[second + 1] = table[first], table[first + 1]
    write(table, first, entry)
    return lost


REPLACEMENT = Technique(
    "replacement",
    exact=True,
    about="replace entries of the table by a published scheme, not by the table's own",
    source='D. Breuker, J. Uiterwijk and H. J. van den Herik, "Replacement schemes for '
    'transposition tables" (1994), "Replacement schemes and two-level tables" (1996)',
    parameters=(
        Parameter(
            "scheme",
            TWO_BIG,
            DEEP,
            TWO_BIG,
            "0 deep, 1 new, 2 old, 3 big, 4 two-level deep, 5 two-level big",
        ),
        Parameter("size", 0, 0, 40, "binary logarithm of the entries; 0: the whole table"),
    ),
    store=store_by_scheme,
)
