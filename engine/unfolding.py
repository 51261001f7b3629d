"""Compiled loops over many positions: their keys, their children, and what is known of them."""

from __future__ import annotations

import numpy as np
from numba import types

from engine.bits import Bits, mix
from engine.contract import (
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
from engine.jit import compiled
from engine.positions import load, park, width
from engine.table import store

__all__ = ["ROOM", "canonical_keys", "fill", "unfold"]

WORDS = types.uint64[::1]
NUMBERS = types.int64[::1]

ROOM = MOVES_ROOM
"""The room for moves beyond ``MAX_MOVES`` that :func:`unfold` is given."""

MOST_WORK = 127
"""What is put into a table from outside gives way last."""


@compiled(signature=lambda position: types.void(position, WORDS, WORDS, NUMBERS))
def canonical_keys(like, words, keys, symmetries):
    """The key of the class of each position parked in *words*, and how it is turned in it."""
    for number in range(len(keys)):
        word, symmetry = canonical(load(words, number * width(like), like))
        keys[number] = word
        symmetries[number] = symmetry


@compiled(
    signature=lambda position: types.void(
        position, WORDS, NUMBERS, NUMBERS, WORDS, WORDS, NUMBERS, NUMBERS
    )
)
def unfold(like, words, buffer, counts, children, keys, played, again):
    """Park the children of each position in *words*, and say how many each has.

    Of each child its canonical key, the move to it in the canonical frame of its parent, and
    whether the same player moves again; there is room for ``MAX_MOVES`` of each position.
    ``counts`` is ``-1 - value`` shifted by ``INFINITE`` for a position where the game is over.
    """
    made = 0
    for number in range(len(counts)):
        position = load(words, number * width(like), like)
        over, value = outcome(position)
        if over:
            counts[number] = -1 - (np.int64(value) + INFINITE)
            continue
        _, symmetry = canonical(position)
        end = moves(position, buffer, 0)
        counts[number] = end
        for at in range(end):
            move = buffer[at]
            child = play(position, move)
            park(children, made * width(like), child)
            word, _ = canonical(child)
            keys[made] = word
            played[made] = canonical_move(position, move, symmetry)
            again[made] = moves_again(position, child)
            made += 1


@compiled(signature=lambda position: types.void(position, WORDS, NUMBERS, NUMBERS, NUMBERS, WORDS))
def fill(like, words, lower, upper, best, table):
    """Put what is known of the positions parked in *words* into a solver's table."""
    for number in range(len(best)):
        position = load(words, number * width(like), like)
        points, word = settled(position)
        low, high = lower[number], upper[number]
        store(
            table,
            mix(Bits(word)),
            -INFINITE if low == -INFINITE else low - points,
            INFINITE if high == INFINITE else high - points,
            best[number],
            MOST_WORK,
        )
