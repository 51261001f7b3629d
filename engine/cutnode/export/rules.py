"""The rules of a game as kernels, which an exported engine calls for one position at a time.

A position is an array of words, and the answers of the rules go to a record.
"""

from __future__ import annotations

from typing import Annotated, Any

import numba
import numpy as np

from cutnode.compiler.jit import Numbers, Position, Words, kernel
from cutnode.contract.derived import same_after_chance, side
from cutnode.contract.positions import pack, unpack
from cutnode.contract.verbs import (
    cell,
    chance,
    chance_outcome,
    drawn,
    moves,
    moves_again,
    outcome,
    play,
    recurrence,
    reversible,
    scout,
)

ABOUT = np.dtype(
    [
        ("value", np.float64),  # of a finished game, for the player to move
        ("probability", np.float64),  # of the last outcome of chance
        ("recurrence", np.uint64),  # equal in positions that repeat each other
        ("over", np.int64),
        ("drawn", np.int64),
        ("outcomes", np.int64),  # of chance; 0 if a player decides
        ("player", np.int64),  # to move, if the game has turns
        ("again", np.int64),  # whether the last step left the same player to move
        ("reversible", np.int64),  # whether the last move can be taken back by play
    ],
    align=True,
)
"""The answers of the rules about a position, and about the step that led to it."""

About = Annotated[Any, numba.from_dtype(ABOUT)]


@kernel
def describe(example: Position, words: Words, about: About) -> None:
    """Write what the rules say about the position in *words*."""
    position = unpack(words, 0, example)
    over, value = outcome(position)
    about.over, about.value = over, value
    about.drawn = drawn(position)
    about.recurrence = recurrence(position)
    about.outcomes = 0 if over else chance(position)
    about.player = side(position, 0)


@kernel
def list_moves(example: Position, words: Words, buffer: Numbers) -> int:
    """Write the legal moves of a position, and return their number."""
    return int(moves(unpack(words, 0, example), buffer, 0))


@kernel
def make_move(example: Position, words: Words, move: int, about: About) -> None:
    """Replace the position in *words* by the one after a move."""
    position = unpack(words, 0, example)
    child = play(position, move)
    about.again = moves_again(position, child)
    about.reversible = reversible(position, child)
    pack(words, 0, child)


@kernel
def meet_outcome(example: Position, words: Words, index: int, about: About) -> None:
    """Replace the position in *words* by the one after an outcome of chance."""
    position = unpack(words, 0, example)
    probability, child = chance_outcome(position, index)
    about.probability = probability
    about.again = same_after_chance(position, child)
    about.reversible = 0
    pack(words, 0, child)


@kernel
def read_cells(example: Position, words: Words, buffer: Numbers) -> None:
    """Write the content of each cell of the board."""
    position = unpack(words, 0, example)
    for index in range(len(buffer)):
        buffer[index] = cell(position, index)


@kernel
def scout_depth(position: Position) -> int:
    """Return the depth of the search that precedes a proof; 0: none."""
    return int(scout(position))
