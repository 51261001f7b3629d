"""The codes of a layer of a tablebase that is being solved: a byte for each position.

A *code* is an integer of 16 bits, such as a win or a loss with its distance
(:mod:`cutnode.kernels.retrograde`) or a value in points.  A byte has room for the usual ones: where
the players alternate, wins take an odd number of plies and losses an even one.  A byte ``FAR``
stands for any other code, which is in a second array, whose memory is not touched before.

Every index has a *place*, unless many of them are holes: then a bit for each index says which have
a place, and two numbers for each line of 512 bits count the places before each word of them
(S. Vigna, "Broadword implementation of rank/select queries", 2008).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, NamedTuple

import numpy as np
from numba import types

from cutnode.compiler.jit import Numbers, Words, compiled, kernel
from cutnode.contract.bits import WORD, Bits, popcount
from cutnode.contract.constants import Constant
from cutnode.contract.dispatch import is_plain

HOLE = -32768
"""The code of an index without a position."""

DRAWN = 32767
"""The code of a position where the game has ended in a draw."""

TOUCHED = 32766
"""The code of an undecided position that leads to a position that has just been decided."""

SPECIAL = (0, DRAWN, TOUCHED, HOLE)
"""The codes of the first bytes."""

USUAL, OTHER, FAR = len(SPECIAL), 194, 255
"""The bytes of distance 0 as usual (a loss) and otherwise (a win), and the byte of other codes."""

LINE_SHIFT = 9
"""The binary logarithm of the indices of a line."""

SPARE = 24
"""Bytes beyond the last place, so that packed symbols of a byte each fit."""


class Codes(NamedTuple):
    """The codes of a layer.

    *near* has a byte for each place, *far* the codes that have no byte.  *filled* has a bit for
    each index, and *before* the numbers of places before (:func:`count_places`); both are empty if
    every index has a place.
    """

    near: Any
    far: Any
    filled: Any
    before: Any


CodesMemory = Annotated[
    Any,
    types.NamedTuple(
        (types.uint8[::1], types.int16[::1], types.uint64[::1], types.int64[::1]), Codes
    ),
]


def new_codes(
    cls: Any,
    places: int,
    zeros: Callable[[int, Any], Any] = np.zeros,
    filled: Any = None,
    before: Any = None,
) -> Codes:
    """Return codes that are all 0; *zeros* makes the array of bytes, of a size and a type.

    In plain Python all numbers have 64 bits, so that they do not overflow.
    """
    near, far = (np.int64, np.int64) if is_plain(cls) else (np.uint8, np.int16)
    return Codes(
        zeros(places + SPARE, near),
        np.zeros(places + SPARE, far),
        np.zeros(0, np.uint64) if filled is None else filled,
        np.zeros(0, np.int64) if before is None else before,
    )


@compiled
def byte_of(code):
    """Return the byte of a code, which is ``FAR`` for a code without a byte."""
    if code == 0:
        return 0
    if code >= TOUCHED:
        return 1 if code == DRAWN else 2
    if code == HOLE:
        return 3
    distance = abs(code) - 1
    if (distance & 1 != 0) == (code > 0):
        return min(USUAL + distance, FAR) if distance < OTHER - USUAL else FAR
    return min(OTHER + distance, FAR)


CODE_OF_BYTE = Constant(
    "codes.of_bytes",
    np.array(
        [
            *SPECIAL,
            *((1 if distance & 1 else -1) * (distance + 1) for distance in range(OTHER - USUAL)),
            *((-1 if distance & 1 else 1) * (distance + 1) for distance in range(FAR - OTHER)),
        ]
    ),
)


@compiled
def code_in(codes, place):
    """Return the code in a place."""
    byte = np.int64(codes.near[place])
    return np.int64(codes.far[place]) if byte == FAR else CODE_OF_BYTE[byte]


@compiled
def has_place(codes, number):
    """Return whether an index has a place."""
    if len(codes.filled) == 0:
        return True
    return (Bits(codes.filled[number >> 6]) >> Bits(number & 63)) & Bits(1) != Bits(0)


@compiled
def place_of(codes, number):
    """Return the place of an index, or of the next index that has one."""
    if len(codes.filled) == 0:
        return number
    line, word = number >> LINE_SHIFT, number >> 6
    places, within = codes.before[2 * line], codes.before[2 * line + 1]
    places += (within >> (9 * ((word + 7) & 7))) & 511
    return places + popcount(Bits(codes.filled[word]) & ((Bits(1) << Bits(number & 63)) - Bits(1)))


@compiled
def places_in(codes, word, end):
    """Return which of 64 indices before *end*, from ``64 * word`` on, have a place, as bits."""
    if len(codes.filled) > 0:
        return Bits(codes.filled[word])
    count = end - (word << 6)
    return Bits(WORD) if count >= 64 else (Bits(1) << Bits(count)) - Bits(1)


@compiled
def any_code(codes, place, places, first, second):
    """Return whether one of two codes may be in as many places as there are bits."""
    one, other = np.uint8(byte_of(first)), np.uint8(byte_of(second))
    found = False
    for at in range(place, place + popcount(places)):
        found |= (codes.near[at] == one) | (codes.near[at] == other)
    return found


@compiled
def code_at(codes, number):
    """Return the code of an index that has a place."""
    return code_in(codes, place_of(codes, number))


@compiled
def write_code(codes, number, code):
    """Write the code of an index that has a place."""
    place, byte = place_of(codes, number), byte_of(code)
    if byte == FAR:
        codes.far[place] = code
    codes.near[place] = byte


@kernel
def read_codes(codes: CodesMemory, first: int, found: Numbers) -> None:
    """Write the codes of consecutive indices, from *first* on, to *found*."""
    place = place_of(codes, first)
    for at in range(len(found)):
        found[at] = HOLE
        if has_place(codes, first + at):
            found[at] = code_in(codes, place)
            place += 1


@kernel
def write_codes(codes: CodesMemory, numbers: Numbers, found: Numbers) -> None:
    """Write the codes of some indices that have places."""
    for at in range(len(numbers)):
        write_code(codes, numbers[at], found[at])


@kernel
def count_places(filled: Words, before: Numbers) -> int:
    """Write the number of places before each word of bits, and return the number of all.

    Each line of 8 words has a number for the places before it, and one with 9 bits for each further
    word: the places before it in the line.
    """
    places = 0
    for word in range(len(filled)):
        line, within = word >> 3, word & 7
        if within == 0:
            before[2 * line], before[2 * line + 1] = places, 0
        else:
            before[2 * line + 1] |= (places - before[2 * line]) << (9 * (within - 1))
        places += popcount(Bits(filled[word]))
    return places
