"""Kernels for many games played at once, a ply of each at a time, and for many positions."""

from __future__ import annotations

from typing import Annotated, Any

import numba
import numpy as np
from numba import types

from cutnode.compiler.jit import Evaluator, Numbers, Position, Words, compiled, kernel
from cutnode.contract.derived import same_after_chance
from cutnode.contract.positions import pack, unpack, width
from cutnode.contract.verbs import (
    NO_MOVE,
    chance,
    chance_outcome,
    check,
    drawn,
    moves,
    moves_again,
    noisy,
    outcome,
    play,
)
from cutnode.kernels.evaluation import estimate
from cutnode.kernels.playouts import below, draw, sampled_outcome

ANY_MOVE = -1
"""In place of a move: a random one, all equally likely."""

STEP = np.dtype(
    [
        ("move", np.int64),  # to play; NO_MOVE: none, ANY_MOVE: a random one
        ("random", np.uint64),  # state of the game's random numbers (cutnode.kernels.playouts)
        ("second", np.int64),  # whether the second player is to move
        ("over", np.int64),
        ("value", np.int64),  # of the finished game, for the first player
    ],
    align=True,
)
"""The state of a game being played, in addition to its packed position."""

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
            count = moves(position, buffer, 0)
            move = buffer[below(draw(step), count)]
        child = play(position, move)
        if not moves_again(position, child):
            step.second = 1 - step.second
        note_end(child, step)
        pack(words, number * width(example), child)


@compiled
def note_end(position, step):
    """Record whether a game is over, and its value."""
    over, value = outcome(position)
    step.over = int(over or drawn(position))
    step.value = 0 if not over else -value if step.second else value


@kernel
def decide(example: Position, words: Words, steps: Steps) -> None:
    """Draw outcomes of chance in each game until a player is to move."""
    for number in range(len(steps)):
        step = steps[number]
        position = unpack(words, number * width(example), example)
        while step.over == 0 and chance(position) > 0:
            _, child = chance_outcome(position, sampled_outcome(position, step))
            if not same_after_chance(position, child):
                step.second = 1 - step.second
            note_end(child, step)
            position = child
        pack(words, number * width(example), position)


@kernel
def mark_quiet(
    example: Position, words: Words, best: Numbers, quiet: Numbers, buffer: Numbers
) -> None:
    """Mark the quiet ones among the packed positions.

    In a quiet position the mover is not in check and the best move is not noisy: the quiescence
    search plays noisy moves, so estimates need not foresee them.
    """
    for number in range(len(best)):
        position = unpack(words, number * width(example), example)
        quiet[number] = int(not check(position))
        for at in range(noisy(position, buffer, 0)):
            if buffer[at] == best[number]:
                quiet[number] = 0


Scores = Annotated[Any, types.Array(types.float64, 1, "C")]


@kernel
def write_estimates(example: Position, evaluation: Evaluator, words: Words, found: Scores) -> None:
    """Write the estimate of each position packed in *words*."""
    for number in range(len(found)):
        position = unpack(words, number * width(example), example)
        found[number] = estimate(evaluation, position)
