"""The tables of a tablebase in compiled code: the place of a position in them, and its value.

There is a table for each ``layer``, which covers all positions with an ``index``.  A game without
indices has a single layer of its enumerated positions, numbered by the rank of their canonical key.
A table packs a *symbol* of a few bits for each index.  A symbol means an integer from a list: a
code of win, draw or loss with the distance (:mod:`cutnode.kernels.retrograde`), or a value in
points.  In games of chance it means a float: a number of steps above the lowest value.

Kernels get the tables as a flat array of numbers, the *directory*, with ``ENTRY`` of them a layer::

    0  the address of the packed symbols; 0 if the layer is missing
    1  the bits of a symbol
    2  the address of the meanings: the integers, or two floats, the lowest and the step
    3  the number of indices
    4  the address of the sorted keys, if positions are enumerated
    5  the error of a value, as the bits of a float
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cutnode.compiler.jit import Words, compiled, kernel
from cutnode.contract.addresses import integer_at, word_at
from cutnode.contract.bits import WORD, Bits, as_float
from cutnode.contract.dispatch import defines, derived
from cutnode.contract.positions import unpack, width
from cutnode.contract.verbs import NO_INDEX, canonical, index, layer, position_at, position_of

ENTRY = 6
SYMBOLS, SYMBOL_BITS, MEANINGS, SIZE, KEYS, ERROR = range(ENTRY)

MOST_BITS = 56
"""The most bits of a symbol: it is read with a single word that begins at a byte."""


@compiled
def is_solved(tables, layer, number):
    """Return whether an index of a layer has a symbol."""
    at = ENTRY * layer
    return tables[at + SYMBOLS] != 0 and number < tables[at + SIZE]


@compiled
def symbol_at(tables, layer, number):
    """Return the symbol of an index."""
    bits = int(tables[ENTRY * layer + SYMBOL_BITS])
    place = int(number) * bits
    word = word_at(tables[ENTRY * layer + SYMBOLS] + (place >> 3)) >> Bits(place & 7)
    return 0 + (word & ((Bits(1) << Bits(bits)) - Bits(1)))


@compiled
def meaning_at(tables, layer, number):
    """Return the integer that the symbol of an index means."""
    return integer_at(tables[ENTRY * layer + MEANINGS] + 8 * symbol_at(tables, layer, number))


@compiled
def value_at(tables, layer, number):
    """Return the value that the symbol of an index means: a number of steps above the lowest."""
    scale = tables[ENTRY * layer + MEANINGS]
    lowest, step = as_float(word_at(scale)), as_float(word_at(scale + 8))
    return lowest + step * symbol_at(tables, layer, number)


@compiled
def error_of(tables, layer):
    """Return the largest error of the values of a layer."""
    return as_float(Bits(tables[ENTRY * layer + ERROR]))


@compiled
def number_of_key(tables, word):
    """Return the rank of a key among the sorted keys, or ``NO_INDEX`` if it is missing."""
    low, high = 0, tables[SIZE]
    while low < high:
        middle = (low + high) >> 1
        if word_at(tables[KEYS] + 8 * middle) < word:
            low = middle + 1
        else:
            high = middle
    if low < tables[SIZE] and word_at(tables[KEYS] + 8 * low) == word:
        return low
    return NO_INDEX


@derived
def number_of(cls: type) -> Callable[..., Any]:
    """``number_of(position, tables)``: the index of a position in its layer, or ``NO_INDEX``."""
    if defines(cls, "index"):
        return lambda position, tables: index(position)
    return lambda position, tables: number_of_key(tables, Bits(canonical(position)[0]))


@derived
def layer_of(cls: type) -> Callable[..., Any]:
    """``layer_of(position)``: the layer of a position."""
    if defines(cls, "index"):
        return lambda position: layer(position)
    return lambda position: 0


@derived
def position_numbered(cls: type) -> Callable[..., Any]:
    """``position_numbered(example, at, number, words)``: the position of an index of a layer.

    For a game without indices, *words* are the data of its enumerated positions: their keys, or the
    packed positions themselves.
    """
    if defines(cls, "index"):
        return lambda example, at, number, words: position_at(example, at, number)
    if defines(cls, "position_of"):
        return lambda example, at, number, words: position_of(example, words[number])
    return lambda example, at, number, words: unpack(words, number * width(example), example)


@derived
def is_hole(cls: type) -> Callable[..., Any]:
    """``is_hole(position, at, number)``: whether an index of a layer belongs to no position."""
    if defines(cls, "index"):
        return lambda position, at, number: index(position) != number or layer(position) != at
    return lambda position, at, number: False


@kernel
def pack_symbols(symbols: Words, first: int, bits: int, packed: Words) -> None:
    """Pack symbols of *bits* bits each, from index *first* on.

    Earlier symbols must be there already; the memory written to need not be 0.
    """
    for at in range(len(symbols)):
        symbol = Bits(symbols[at])
        place = (first + at) * bits
        word, shift = place >> 6, Bits(place & 63)
        packed[word] = (packed[word] if shift else Bits(0)) | (symbol << shift) & Bits(WORD)
        if (place & 63) + bits > 64:
            packed[word + 1] = symbol >> (Bits(64) - shift)
