"""The transposition table: the bounds that searches have found, by position.

Layout.  One array of 64-bit words in *buckets* of four entries: 64 bytes, one cache line.  An entry
is two words: ``data``, and the scattered key XOR ``data``, so that an entry torn by two threads
that write at once matches no key (R. Hyatt's lockless table).

    data   bits  0..15   lower bound of the value, plus 32768
           bits 16..31   upper bound of the value, plus 32768
           bits 32..47   best move in the canonical frame, 65535 if none is known
           bits 48..54   work: for the solver, the binary logarithm of the nodes spent;
                         for a depth-limited search, the depth (6 bits), and one bit if
                         the bounds do not depend on estimates
           bits 55..63   age: the search that wrote it, 1..511 (0 marks a free entry)

Proof-number search keeps two numbers of 24 bits in place of bounds and move.

An entry holds both bounds, so a sequence of null windows narrows it from both sides.  The solver's
values are stored unchanged: a value belongs to its position, however it was reached.
``cutnode.kernels.scores`` explains how scores of wins are stored.

Replacement.  A new entry replaces, in this order: an entry for the same position, a free one, one
from an earlier search (ageing), the one with the least work (the least depth).  Bounds for the same
position are merged; of bounds from different depths, the deeper ones from this search stay, unless
a selective search prefers the newer ones.

Region.  A search starts with a small region at the front of the array and enlarges it when it is
half full, so that easy positions stay in the processor's cache and touch little memory.  The solver
may wait until it has been filled several times over, in games where a replaced entry is soon found
again.  Threads that share a table leave the header alone, because every probe reads it: they use
the whole array from the start, or return when there is no more room.  An entry is two stores and
two loads, whose order does not matter: words that do not belong together match no key, and a probe
uses the words that it checked, without reading them again.

Generations.  A *cold* search must not see entries of earlier ones.  Instead of clearing gigabytes
it draws a new salt, which is part of every stored key, so no old entry matches.  Buckets do not
depend on the salt: a cold search is the same, node for node, in a used table as in a new one.  When
ages run out, the memory used since the last time is swept.

Errors.  The whole 64-bit key is compared, and keys are scattered by a bijection: a game whose key
tells all positions apart gets no false match within a generation.  For hashed keys, and across
generations, the probability of a false match in a table with n entries is n / 2**64 for each probe:
1 in 10**11 for the entries of 2 GiB.

The header, in front, consists of the words below and of marks: the scattered keys of positions that
threads which share the table are searching right now.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cutnode.compiler.jit import compiled
from cutnode.contract.bits import Bits, high_product, mix, prefetch
from cutnode.contract.verbs import NO_MOVE
from cutnode.kernels.parameters import HALF_FULL, REGION_GROWTH, SMALLEST_REGION

BUCKETS, FILLED, SALT, AGE, FIRST_AGE, HIGHEST, COLD, SHARED = range(8)
"""Words of the header: the buckets of the region; the entries counted since it last grew; the
generation's salt; the current age; the generation's first age; the largest region since the last
sweep; whether the next search has to be cold; whether threads share the table."""

ENTRY_WORDS = 2
BUCKET_WORDS = 8
BUCKET_BYTES = 8 * BUCKET_WORDS
MARKS = 1024
HEADER_WORDS = BUCKET_WORDS + MARKS
AGES = 511
WORK_AT, AGE_AT = 48, 55
SOLVED = (1 << 24) - 1
"""The proof number of a disproven question, and the disproof number of a proven one."""

SAME, FREE, EARLIER = -3, -2, -1
"""The worth of keeping an entry, below every amount of work."""


class Entry(NamedTuple):
    """The result of a depth-limited search, as a replacement scheme sees it."""

    word: Bits
    """The scattered key of the position."""
    lower: int
    upper: int
    move: int
    """The best move in the canonical frame, or ``NO_MOVE``."""
    depth: int
    proven: bool
    """Whether the bounds do not depend on estimates."""
    nodes: int
    """The nodes that the search visited, at least 1."""


@compiled
def most_buckets(table):
    """Return the number of buckets that the memory has room for."""
    return (len(table) - HEADER_WORDS) // BUCKET_WORDS


@compiled
def begin(table, cold):
    """Begin a search; a *cold* one, or the first after ``forget``, begins a generation."""
    # Ages have 9 bits: before they run out, all entries get new ones.
    if np.int64(table[AGE]) == AGES:
        sweep(table, ENTRY_WORDS)
    table[AGE] = np.int64(table[AGE]) + 1
    table[SHARED] = 0
    if cold or np.int64(table[COLD]) != 0:
        # A new salt hides all older entries; the region starts small again.
        table[COLD] = 0
        table[SALT] = mix(Bits(table[SALT]) ^ Bits(0x9E3779B97F4A7C15))
        table[FIRST_AGE] = table[AGE]
        table[BUCKETS] = min(SMALLEST_REGION, most_buckets(table))
        table[HIGHEST] = max(np.int64(table[HIGHEST]), np.int64(table[BUCKETS]))
        table[FILLED] = 0


@compiled(inline=False)
def sweep(table, entry_words):
    """Restart ages: entries of this generation become the oldest, all others are deleted."""
    end = HEADER_WORDS + np.int64(table[HIGHEST]) * BUCKET_WORDS
    for at in range(HEADER_WORDS, end, entry_words):
        data = Bits(table[at + 1])
        if data != Bits(0) and age_of(data) >= np.int64(table[FIRST_AGE]):
            # The key is stored XOR the data, so both words change.
            renewed = (data & Bits((1 << AGE_AT) - 1)) | (Bits(1) << Bits(AGE_AT))
            table[at] = Bits(table[at]) ^ data ^ renewed
            table[at + 1] = renewed
        else:
            table[at] = 0
            table[at + 1] = 0
    table[AGE] = 1
    table[FIRST_AGE] = 1
    table[HIGHEST] = table[BUCKETS]


@compiled
def address_for(word, purpose, actions):
    """Return the scattered key under which a depth-limited search keeps a position.

    *word* is the position's key, *purpose* a digest of what the scores depend on, and *actions* the
    free moves in a row that led to it.
    """
    return mix(Bits(word) ^ Bits(purpose)) ^ mix(Bits(actions))


@compiled
def bucket(table, word):
    """Return the index of the first entry of a scattered key's bucket."""
    return HEADER_WORDS + np.int64(high_product(word, table[BUCKETS])) * BUCKET_WORDS


@compiled
def prepare(table, word):
    """Prefetch the bucket of a scattered key, for a probe soon."""
    prefetch(table, bucket(table, word))


@compiled
def probe(table, word):
    """Return the data stored for a scattered key, or 0."""
    at = bucket(table, word)
    salted = Bits(word) ^ Bits(table[SALT])
    # A bucket is a cache line: at most the first read is a cache miss.
    for entry in range(at, at + BUCKET_WORDS, ENTRY_WORDS):
        data = Bits(table[entry + 1])
        if Bits(table[entry]) ^ data == salted and data != Bits(0):
            return data
    return Bits(0)


@compiled
def mark(table, word, searched):
    """Mark the position of a scattered key as searched by this thread, or clear the mark."""
    table[BUCKET_WORDS + np.int64(Bits(word) % Bits(MARKS))] = word if searched else Bits(0)


@compiled
def is_marked(table, word):
    """Return whether a thread is searching the position of a scattered key right now."""
    return Bits(table[BUCKET_WORDS + np.int64(Bits(word) % Bits(MARKS))]) == Bits(word)


@compiled
def lower_of(data):
    return np.int64(data & Bits(0xFFFF)) - 32768


@compiled
def upper_of(data):
    return np.int64((data >> Bits(16)) & Bits(0xFFFF)) - 32768


@compiled
def move_of(data):
    return np.int64((data >> Bits(32)) & Bits(0xFFFF))


@compiled
def work_of(data):
    return np.int64((data >> Bits(WORK_AT)) & Bits(0x7F))


@compiled
def age_of(data):
    return np.int64(data >> Bits(AGE_AT))


@compiled
def entry_cutoff(lower, upper, alpha, beta):
    """Return whether bounds decide a window, and the bound that does."""
    if lower >= beta or lower == upper:
        return True, lower
    return upper <= alpha, upper


@compiled
def work_for(nodes):
    """Return the work of a number of nodes: its binary logarithm, rounded down."""
    exponent = 0
    while nodes > 1:
        nodes >>= 1
        exponent += 1
    return exponent


@compiled
def store(table, word, lower, upper, move, work, each):
    """Store proven bounds; return whether they replaced another position's entry of this search.

    The region grows after *each* entries per bucket, replacements included.
    """
    worth = write(table, word, lower, upper, move, work)
    if worth != SAME:
        count_entry(table, each)
    return worth >= 0


@compiled
def store_depth(table, word, lower, upper, move, depth, proven, shallower=0):
    """Store the bounds found at a depth, as :func:`store` does.

    *proven* says that they do not depend on estimates.  Bounds from the same search stay
    if they are deeper by more than *shallower* plies, or deeper and proven.
    """
    victim, worth, data = place(table, word)
    work = 2 * depth + (1 if proven else 0)
    if worth == SAME:
        # Bounds from the same depth both hold; deeper ones from this search are worth more.
        if work_of(data) == work:
            low, high = max(lower, lower_of(data)), min(upper, upper_of(data))
            if low <= high:
                lower, upper = low, high
        elif age_of(data) == np.int64(table[AGE]) and work_of(data) > work:
            if is_proven(data) or work_of(data) > work + 2 * shallower:
                return False
        move = move_of(data) if move == NO_MOVE else move
    put(table, victim, word, packed_bounds(lower, upper, move), work, np.int64(table[AGE]))
    # Count only entries in free places: a replacement leaves the table as full as it was.
    if worth == FREE:
        count_entry(table, HALF_FULL)
    return worth >= 0


@compiled
def store_numbers(table, word, proof, disproof, work):
    """Store a proof and a disproof number, of 24 bits each."""
    entry, worth, _ = place(table, word)
    content = Bits(proof) | (Bits(disproof) << Bits(24))
    put(table, entry, word, content, work, np.int64(table[AGE]))
    if worth == FREE:
        count_entry(table, HALF_FULL)


@compiled
def proof_of(data):
    return np.int64(data & Bits(SOLVED))


@compiled
def disproof_of(data):
    return np.int64((data >> Bits(24)) & Bits(SOLVED))


@compiled
def depth_of(data):
    return work_of(data) // 2


@compiled
def is_proven(data):
    return work_of(data) % 2 != 0


@compiled
def count_entry(table, each):
    """Count an entry, and enlarge the region after *each* entries per bucket."""
    if np.int64(table[SHARED]) == 0 and np.int64(table[BUCKETS]) < most_buckets(table):
        table[FILLED] = Bits(table[FILLED]) + Bits(1)
        if np.int64(table[FILLED]) > each * np.int64(table[BUCKETS]):
            grow(table)


@compiled
def place(table, word):
    """Return the place for a scattered key's entry, the worth of the entry there, and its data.

    The data are the ones that were checked: another thread may overwrite them at any time.
    """
    at = bucket(table, word)
    salted = Bits(word) ^ Bits(table[SALT])
    now, first = np.int64(table[AGE]), np.int64(table[FIRST_AGE])
    victim, least = at, 1 << 30
    for entry in range(at, at + BUCKET_WORDS, ENTRY_WORDS):
        data = Bits(table[entry + 1])
        if Bits(table[entry]) ^ data == salted and data != Bits(0):
            return entry, SAME, data
        # An entry of this search is worth its work; an entry of an earlier search of this
        # generation less than any of these; an entry of an earlier generation nothing.
        age = age_of(data)
        worth = work_of(data) if age == now else EARLIER if age >= first else FREE
        if worth < least:
            victim, least = entry, worth
    return victim, least, Bits(0)


@compiled
def packed_bounds(lower, upper, move):
    """Return bounds and a move as the lowest bits of an entry's data."""
    return Bits(lower + 32768) | (Bits(upper + 32768) << Bits(16)) | (Bits(move) << Bits(32))


@compiled
def put(table, entry, word, content, work, age):
    """Write an entry."""
    packed = content | (Bits(work) << Bits(WORK_AT)) | (Bits(age) << Bits(AGE_AT))
    # A thread that reads between the two stores finds a key that matches no position.
    table[entry + 1] = packed
    table[entry] = Bits(word) ^ Bits(table[SALT]) ^ packed


@compiled
def write(table, word, lower, upper, move, work):
    """Put an entry into its bucket, merging bounds; return the worth of the entry before."""
    entry, worth, data = place(table, word)
    if worth == SAME:
        lower = max(lower, lower_of(data))
        upper = min(upper, upper_of(data))
        move = move_of(data) if move == NO_MOVE else move
    put(table, entry, word, packed_bounds(lower, upper, move), work, np.int64(table[AGE]))
    return worth


@compiled(inline=False)
def grow(table):
    """Enlarge a region that has enough entries."""
    table[FILLED] = 0
    resize(table, min(np.int64(table[BUCKETS]) * REGION_GROWTH, most_buckets(table)))


@compiled(inline=False)
def open_whole(table):
    """Let threads share the table, with all of its memory, as they cannot enlarge the region."""
    share(table)
    if np.int64(table[BUCKETS]) < most_buckets(table):
        resize(table, most_buckets(table))


@compiled(inline=False)
def open_for(table, entries, each):
    """Let threads share the table, with room for *entries* more.

    The region grows as if a single thread had added them: after *each* entries per bucket.
    """
    share(table)
    buckets = np.int64(table[BUCKETS])
    filled = np.int64(table[FILLED]) + entries
    reserve(table, filled, each)
    table[FILLED] = filled if np.int64(table[BUCKETS]) == buckets else entries


@compiled(inline=False)
def reserve(table, entries, each):
    """Enlarge the region until *entries* are at most *each* per bucket."""
    buckets = np.int64(table[BUCKETS])
    while entries > each * buckets and buckets < most_buckets(table):
        buckets = min(buckets * REGION_GROWTH, most_buckets(table))
    if buckets > np.int64(table[BUCKETS]):
        table[FILLED] = 0
        resize(table, buckets)


@compiled
def share(table):
    """Fix the region from now on, and clear the marks of a search that was stopped."""
    table[SHARED] = 1
    table[BUCKET_WORDS:HEADER_WORDS] = 0


@compiled
def resize(table, buckets):
    """Enlarge the region, and move the generation's entries to their new places.

    It goes from the last bucket to the first: a bucket's entries stay or move towards the end.
    """
    old = np.int64(table[BUCKETS])
    first = np.int64(table[FIRST_AGE])
    table[BUCKETS] = buckets
    table[HIGHEST] = max(np.int64(table[HIGHEST]), np.int64(buckets))
    for number in range(old - 1, -1, -1):
        at = HEADER_WORDS + number * BUCKET_WORDS
        for entry in range(at, at + BUCKET_WORDS, ENTRY_WORDS):
            data = Bits(table[entry + 1])
            word = Bits(table[entry]) ^ data ^ Bits(table[SALT])
            # The entry itself gives the key back: no position is needed.
            if age_of(data) < first:
                table[entry] = 0
                table[entry + 1] = 0
            elif bucket(table, word) != at:
                table[entry] = 0
                table[entry + 1] = 0
                place_at, _, _ = place(table, word)
                content = data & Bits((1 << WORK_AT) - 1)
                put(table, place_at, word, content, work_of(data), np.int64(table[AGE]))
