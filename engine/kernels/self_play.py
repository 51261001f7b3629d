"""Many games at once, a ply of each at a time: the moves are played by compiled code."""

from __future__ import annotations

from typing import Annotated, Any

import numba
import numpy as np
from numba import types

from engine.compiler.jit import Numbers, Position, Words, kernel
from engine.contract.bits import Bits, high_product, mix
from engine.contract.positions import pack, unpack, width
from engine.contract.verbs import NO_MOVE, drawn, moves, moves_again, outcome, play

__all__ = ["ANY_MOVE", "STEP", "advance"]

ANY_MOVE = -1
"""In place of a move: one of all, each as likely."""

STEP = np.dtype(
    [
        ("move", np.int64),  # to play; NO_MOVE: none, ANY_MOVE: a random one
        ("random", np.uint64),  # the counter of this game's random numbers
        ("second", np.int64),  # whether the second player is to move
        ("over", np.int64),
        ("value", np.int64),  # of the finished game, for the first player
    ],
    align=True,
)
"""A game that is being played, beside its packed position."""

GAMMA = Bits(0x9E3779B97F4A7C15)
"""The step of the counter (SplitMix64: see :mod:`engine.kernels.playouts`)."""

Steps = Annotated[Any, types.Array(numba.from_dtype(STEP), 1, "C")]


@kernel
def advance(example: Position, words: Words, steps: Steps, buffer: Numbers) -> None:
    """Play a move in each game whose position is packed in *words*."""
    for number in range(len(steps)):
        step = steps[number]
        if step.move == NO_MOVE or step.over != 0:
            continue
        position = unpack(words, number * width(example), example)
        move = step.move
        if move == ANY_MOVE:
            step.random += GAMMA
            count = moves(position, buffer, 0)
            move = buffer[int(high_product(mix(Bits(step.random)), Bits(count)))]
        child = play(position, move)
        if not moves_again(position, child):
            step.second = 1 - step.second
        over, value = outcome(child)
        step.over = int(over or drawn(child))
        step.value = 0 if not over else -value if step.second else value
        pack(words, number * width(example), child)
