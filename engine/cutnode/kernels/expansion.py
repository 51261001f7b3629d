"""Compiled loops over many positions: their keys, their children, and their known results."""

from __future__ import annotations

import numpy as np

from cutnode.compiler.jit import Numbers, Position, Words, kernel
from cutnode.contract.bits import Bits, mix
from cutnode.contract.derived import most_moves
from cutnode.contract.positions import pack, unpack, width
from cutnode.contract.verbs import (
    INFINITE,
    MOVES_ROOM,
    canonical,
    canonical_move,
    moves,
    moves_again,
    outcome,
    play,
    settled,
)
from cutnode.kernels.graph import Graph
from cutnode.kernels.parameters import HALF_FULL
from cutnode.kernels.table import (
    AGE,
    ENTRY_WORDS,
    WORK_AT,
    begin,
    lower_of,
    place,
    put,
    reserve,
    store,
    upper_of,
    work_of,
)

ROOM = MOVES_ROOM
"""Room for moves that the buffer of :func:`unfold` has in addition to ``MAX_MOVES``."""

MOST_WORK = 127
"""The work recorded for entries that were not searched here: they are replaced last."""


@kernel
def canonical_keys(example: Position, words: Words, keys: Words, symmetries: Numbers) -> None:
    """Write the canonical key of each position packed in *words*, and the symmetry used."""
    for number in range(len(keys)):
        word, symmetry = canonical(unpack(words, number * width(example), example))
        keys[number] = word
        symmetries[number] = symmetry


@kernel
def unfold(
    example: Position,
    words: Words,
    buffer: Numbers,
    counts: Numbers,
    values: Numbers,
    children: Words,
    keys: Words,
    played: Numbers,
    again: Numbers,
) -> None:
    """Pack the children of each position in *words*, and count them.

    Where the game is over there are none, and the position has a value.  For each child it writes
    the canonical key, the move to it in its parent's canonical frame, and whether the same player
    moves again.  There is room for ``MAX_MOVES`` children of each position; *buffer* has room for
    ``ROOM`` moves more.
    """
    made = 0
    for number in range(len(counts)):
        position = unpack(words, number * width(example), example)
        over, values[number] = outcome(position)
        counts[number] = 0
        if over:
            continue
        _, symmetry = canonical(position)
        counts[number] = moves(position, buffer, 0)
        for at in range(min(counts[number], most_moves(position))):
            move = buffer[at]
            child = play(position, move)
            pack(children, made * width(example), child)
            word, _ = canonical(child)
            keys[made] = word
            played[made] = canonical_move(position, move, symmetry)
            again[made] = moves_again(position, child)
            made += 1


@kernel
def fill(
    example: Position, words: Words, lower: Numbers, upper: Numbers, best: Numbers, table: Words
) -> None:
    """Store known bounds of the positions packed in *words* in a solver's table.

    *best* are moves in the canonical frame, or ``NO_MOVE``.
    """
    begin(table, False)
    reserve(table, len(best), HALF_FULL)
    for number in range(len(best)):
        position = unpack(words, number * width(example), example)
        points, word = settled(position)
        low, high = lower[number], upper[number]
        store(
            table,
            mix(Bits(word)),
            -INFINITE if low == -INFINITE else low - points,
            INFINITE if high == INFINITE else high - points,
            best[number],
            MOST_WORK,
            HALF_FULL,
        )


@kernel
def solver_words(example: Position, words: Words, keys: Words, points: Numbers) -> None:
    """Write the scattered key of each position packed in *words*, and its settled points."""
    for number in range(len(keys)):
        points[number], word = settled(unpack(words, number * width(example), example))
        keys[number] = mix(Bits(word))


@kernel
def bounds_in_entries(graph: Graph, data: Words, lower: Numbers, upper: Numbers) -> None:
    """Write the bounds in the *data* of entries, without settled points."""
    for number in range(len(data)):
        lower[number] = lower_of(Bits(data[number]))
        upper[number] = upper_of(Bits(data[number]))


@kernel
def put_back(graph: Graph, entries: Words, begins: bool, table: Words) -> None:
    """Put *entries*, each a scattered key and its data, into a table of any game.

    With *begins*, make room for them first; without, a search may be using the table.  An entry in
    the table stays if it took more work.
    """
    if begins:
        begin(table, False)
        reserve(table, len(entries) // ENTRY_WORDS, HALF_FULL)
    for at in range(0, len(entries), ENTRY_WORDS):
        word, data = Bits(entries[at]), Bits(entries[at + 1])
        entry, worth, there = place(table, word)
        if max(worth, work_of(there)) <= work_of(data):
            content = data & Bits((1 << WORK_AT) - 1)
            put(table, entry, word, content, work_of(data), np.int64(table[AGE]))
