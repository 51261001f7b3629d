"""The transposition table: what searches have proven, found again by position.

Layout.  One array of 64-bit words, in *buckets* of four entries, 64 bytes, one cache
line.  An entry is two words: ``data``, and the scattered key XOR ``data``, so that an
entry torn by two threads that write at once matches no key (R. Hyatt's lockless table).

    data   bits  0..15   lower bound of the value, plus 32768
           bits 16..31   upper bound of the value, plus 32768
           bits 32..47   best move in the canonical frame, 65535 if none is known
           bits 48..53   work: the binary logarithm of the nodes spent
           bits 54..63   age: the search that wrote it, 1..1023 (0 marks a free entry)

Both bounds live in one entry, so that a sequence of null windows sharpens it from both
sides.  An entry gives way in this order: one for the same position (its bounds are
merged), a free one, one from an earlier search, the one with the least work.

Generations.  A *cold* search must not see what earlier ones stored.  Its keys are
scattered with a new salt instead of clearing gigabytes, so nothing old matches.

Errors.  The whole 64-bit key is compared.  Keys are scattered by a bijection, so a game
whose key tells all positions apart gets no false match within a generation.  Otherwise,
and across generations, a probe of a table with n entries goes wrong with odds of
n / 2**64: about 1 in 10**11 for the largest tables that fit 2 GiB.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.bits import Bits, high_product, mix, prefetch
from engine.contract import INFINITE, NO_MOVE
from engine.jit import compiled

__all__ = ["Table"]

ENTRY_WORDS = 2
BUCKET_WORDS = 8
BUCKET_BYTES = 8 * BUCKET_WORDS
AGES = 1023


@compiled
def scatter(key, salt):
    """The key under which a position is stored in this generation."""
    return mix(key ^ salt)


@compiled
def bucket(table, scattered):
    """The index of the first word of a key's bucket."""
    return np.intp(high_product(scattered, Bits(table[0])) + 1) * BUCKET_WORDS


@compiled
def prepare(table, scattered):
    """Bring a key's bucket near the processor, for a probe soon."""
    prefetch(table, bucket(table, scattered))


@compiled
def probe(table, scattered):
    """The data stored for a key, or 0."""
    at = bucket(table, scattered)
    for entry in range(at, at + BUCKET_WORDS, ENTRY_WORDS):
        data = Bits(table[entry + 1])
        if Bits(table[entry]) ^ data == scattered and data != Bits(0):
            return data
    return Bits(0)


@compiled
def pack(lower, upper, move, work, age):
    return (
        Bits(lower + 32768)
        | (Bits(upper + 32768) << Bits(16))
        | (Bits(move) << Bits(32))
        | (Bits(work) << Bits(48))
        | (Bits(age) << Bits(54))
    )


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
def restart(table, buckets):
    table[0] = buckets
    table[1] = 0

@compiled(inline=False)
def grow(table, age):
    old = np.int64(table[0])
    new = min(old * 4, len(table) // BUCKET_WORDS - 1)
    if new <= old:
        table[1] = 0
        return
    table[0] = new
    for b in range(old, 0, -1):
        at = b * BUCKET_WORDS
        d0, d1, d2, d3 = Bits(table[at + 1]), Bits(table[at + 3]), Bits(table[at + 5]), Bits(table[at + 7])
        k0, k1, k2, k3 = Bits(table[at]), Bits(table[at + 2]), Bits(table[at + 4]), Bits(table[at + 6])
        for entry in range(at, at + BUCKET_WORDS):
            table[entry] = 0
        move_in(table, k0, d0, age)
        move_in(table, k1, d1, age)
        move_in(table, k2, d2, age)
        move_in(table, k3, d3, age)

@compiled
def move_in(table, k, data, age):
    if np.int64(data >> Bits(54)) == age:
        put(table, k ^ data, lower_of(data), upper_of(data), move_of(data), np.int64((data >> Bits(48)) & Bits(63)), age)

@compiled
def store(table, scattered, lower, upper, move, work, age):
    least = put(table, scattered, lower, upper, move, work, age)
    if least == -2 or least == -1:
        table[1] += Bits(1)
        if table[1] > table[0] * Bits(2):
            grow(table, age)
    return least >= 0

@compiled
def put(table, scattered, lower, upper, move, work, age):
    at = bucket(table, scattered)
    victim, least = at, 1 << 30
    for entry in range(at, at + BUCKET_WORDS, ENTRY_WORDS):
        data = Bits(table[entry + 1])
        if data == Bits(0):
            worth = -2
        elif Bits(table[entry]) ^ data == scattered:
            lower = max(lower, lower_of(data))
            upper = min(upper, upper_of(data))
            if move == NO_MOVE:
                move = move_of(data)
            victim, least = entry, -3
            break
        elif np.int64(data >> Bits(54)) != age:
            worth = -1
        else:
            worth = np.int64((data >> Bits(48)) & Bits(63))
        if worth < least:
            victim, least = entry, worth
    data = pack(lower, upper, move, work, age)
    table[victim + 1] = data
    table[victim] = scattered ^ data
    return least
