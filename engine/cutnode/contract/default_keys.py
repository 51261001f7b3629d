"""The key of a position whose game defines none: a mix of its fields.

Each field becomes a word; signed numbers are folded so that small numbers of either sign become
small words.  If each word fits its share of 64 bits (one bit for a ``bool``, an equal part of the
rest for each other field), the words are put side by side, so no two such positions share a key.
Otherwise they are hashed one after the other, as :func:`cutnode.contract.verbs.key` advises.
"""

from __future__ import annotations

import functools
from typing import Any

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from cutnode.contract.bits import WORD, Bits, mix
from cutnode.contract.native import in_compiled_code
from cutnode.contract.positions import as_word, field_kinds, to_word


def key_of_fields(position: Any) -> int:
    """Return a word made of all fields; equal positions have equal words."""
    cls: Any = type(position)
    kinds = field_kinds(cls)
    widths, places, signed = _layout(cls)
    side_by_side, hashed, fits = 0, 0, True
    for at, (value, kind) in enumerate(zip(position, kinds, strict=True)):
        word = to_word(value, kind)
        if signed[at]:
            word = (word << 1 & WORD) ^ (WORD if word >> 63 else 0)
        fits = fits and word < 1 << widths[at]
        side_by_side |= word << places[at]
        hashed = mix(hashed ^ word)
    return side_by_side if fits else hashed


def words_of(position: Any) -> tuple[int, ...]:
    """Return the fields as words of 64 bits."""
    kinds = field_kinds(type(position))
    return tuple(to_word(value, kind) for value, kind in zip(position, kinds, strict=True))


@functools.cache
def _layout(cls: Any) -> tuple[tuple[int, ...], tuple[int, ...], tuple[bool, ...]]:
    """Return, for each field, its number of bits, its first bit, and whether it is signed."""
    kinds = field_kinds(cls)
    bools = sum(kind is bool for kind in kinds)
    share = max(64 - bools, 0) // max(len(kinds) - bools, 1)
    widths = [1 if kind is bool else share for kind in kinds]
    places = [sum(widths[:at]) for at in range(len(kinds))]
    signed = tuple(kind is int and share < 64 for kind in kinds)
    return tuple(widths), tuple(places), signed


@intrinsic
def _words(typing: Any, position: Any) -> Any:
    """Return the fields as a tuple of words."""

    def generate(context: Any, builder: Any, call: Any, args: Any) -> Any:
        values = [as_word(builder, value) for value in cgutils.unpack_tuple(builder, args[0])]
        return context.make_tuple(builder, call.return_type, values)

    return types.UniTuple(types.uint64, len(position))(position), generate


@in_compiled_code(words_of)
def _compiled_words_of(position: Any) -> Any:
    return lambda position: _words(position)


@in_compiled_code(key_of_fields)
def _compiled_key(position: Any) -> Any:
    widths, places, signed = _layout(position.instance_class)
    if len(widths) == 1 and widths[0] == 64:
        return lambda position: _words(position)[0]
    beyond = tuple(Bits(WORD - (1 << width) + 1) for width in widths)
    shifts = tuple(map(Bits, places))
    folded = tuple(Bits(sign) for sign in signed)

    def key(position: Any) -> Any:
        words = _words(position)
        hashed: int = Bits(0)
        side_by_side, outside = Bits(0), Bits(0)
        for at in range(len(words)):
            word = words[at]
            if folded[at]:
                word = (word << Bits(1)) ^ (Bits(0) - (word >> Bits(63)))
            outside |= word & beyond[at]
            side_by_side |= word << shifts[at]
            hashed = mix(hashed ^ word)
        return hashed if outside else side_by_side

    return key
