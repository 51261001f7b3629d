"""Compiled random walks from a position to the end of the game, for estimates of its size.

Many walks advance a ply at a time.  A step of probability p stands for 1 / p steps (D. Knuth,
"Estimating the efficiency of backtrack programs", 1975): the products of these factors count the
lines of play.  Dividing each factor by the number of positions that lead to the one after the step,
its *parents*, counts positions in place of lines: the odds of all walks back from a position, to a
random parent at each step, add up to 1.

The parents of a position are the ones found on the way: the moves that led to it are played in
another order, at random, and an order that leads to the same position is kept for the next try.
Where the same position also arises from other moves, or an order is missed, parents are too few and
the count is too high.
"""

from __future__ import annotations

from typing import Annotated, Any

import numba
import numpy as np
from numba import types

from cutnode.compiler.jit import Numbers, Position, Words, compiled, kernel
from cutnode.contract.bits import Bits
from cutnode.contract.positions import pack, unpack, width
from cutnode.contract.verbs import (
    NO_MOVE,
    chance,
    chance_outcome,
    drawn,
    key,
    moves,
    moves_again,
    outcome,
    play,
)
from cutnode.kernels.playouts import below, draw, sampled_outcome

WALKS = np.dtype(
    [
        ("random", np.uint64),  # state of the random numbers (cutnode.kernels.playouts)
        ("ply", np.int64),  # the length of the walks so far
        ("tries", np.int64),  # the orders tried for each walk at a ply
    ],
    align=True,
)
"""The memory of walks."""

WalksMemory = Annotated[Any, numba.from_dtype(WALKS)]
Rows = Annotated[Any, types.Array(types.int64, 2, "C")]
WordRows = Annotated[Any, types.Array(types.uint64, 2, "C")]
Odds = Annotated[Any, types.Array(types.float64, 1, "C")]

CHANCE = -1
"""In place of a move: an outcome of chance."""

WINDOW = 32
"""The most plies between two moves that change places."""

SWAP, LATER, SOONER, PAIRS, EXCHANGE, REPLACE = range(6)
"""Changes of the moves: two of a player change places; one comes later, or sooner, and the player's
moves between close up; two pairs of consecutive ones change places; two of any players do, as in
impartial games; two of a player are replaced by others, the first of them at random."""

OPEN = -2
"""In place of a move: each legal one is tried."""


@compiled
def propose(a, b, change, first, moved, sides, order):
    """Write other moves of the plies *a* to *b*; return whether there are any.

    *first* is the move at *a* if two are replaced.
    """
    for at in range(a, b + 1):
        order[at] = moved[at]
    if change == PAIRS:
        if b < a + 3 or sides[a] != sides[b - 1] or sides[a + 1] != sides[b]:
            return False
        for at in range(2):
            order[a + at], order[b - 1 + at] = moved[b - 1 + at], moved[a + at]
        return True
    if (sides[a] != sides[b] and change != EXCHANGE) or moved[a] == moved[b]:
        return False
    if change in (SWAP, EXCHANGE):
        order[a], order[b] = moved[b], moved[a]
        return True
    if change == REPLACE:
        order[a], order[b] = first, OPEN
        return first != moved[a]
    step = 1 if change == LATER else -1
    begin, end = (a, b) if change == LATER else (b, a)
    hole = begin
    for count in range(1, b - a + 1):
        at = begin + step * count
        if sides[at] == sides[a]:
            order[hole] = moved[at]
            hole = at
    order[end] = moved[begin]
    return True


@compiled
def is_legal(position, move, buffer):
    """Return whether a player can make a move."""
    if outcome(position)[0] or drawn(position) or chance(position) > 0:
        return False
    for at in range(moves(position, buffer, 0)):
        if buffer[at] == move:
            return True
    return False


@compiled
def accept(example, a, b, order, moved, words, others, buffer):
    """Take over other moves of the plies *a* to *b* if they lead to the same position.

    Return whether they do.
    """
    target = Bits(key(unpack(words, (b + 1) * width(example), example)))
    position = unpack(words, a * width(example), example)
    for at in range(a, b):
        if not is_legal(position, order[at], buffer):
            return False
        position = play(position, order[at])
        pack(others, at * width(example), position)
    if order[b] == OPEN:
        order[b] = move_to(position, target, buffer)
    if not is_legal(position, order[b], buffer) or Bits(key(play(position, order[b]))) != target:
        return False
    for at in range(a, b + 1):
        moved[at] = order[at]
    for at in range(a * width(example), b * width(example)):
        words[at + width(example)] = others[at]
    return True


@compiled
def move_to(position, target, buffer):
    """Return the move that leads to the position with key *target*; ``NO_MOVE`` if none does."""
    if outcome(position)[0] or drawn(position) or chance(position) > 0:
        return NO_MOVE
    for at in range(moves(position, buffer, 0)):
        if Bits(key(play(position, buffer[at]))) == target:
            return buffer[at]
    return NO_MOVE


@compiled
def add_parent(example, last, count, words, known):
    """Add the position before ply *last* is played, unless its key is known; return the count."""
    found = Bits(key(unpack(words, last * width(example), example)))
    for at in range(count):
        if Bits(known[at]) == found:
            return count
    known[count] = found
    return count + 1


@kernel
def step(
    example: Position,
    memory: WalksMemory,
    played: Rows,
    words: WordRows,
    odds: Odds,
    parents: Rows,
    order: Numbers,
    others: Words,
    known: Words,
    buffer: Numbers,
) -> None:
    """Advance each walk by a ply.

    A walk has two rows of *played*, its moves and who made each (0 or 1), and a row of *words*, its
    positions, packed.  *odds* becomes the probability of the step, 0 if the game was over, and
    *parents* the parents found with half of the tries, and with all.  *order*, *others*, *known*
    and *buffer* are room to work in.
    """
    last = memory.ply
    for number in range(len(odds)):
        its, by, way = played[2 * number], played[2 * number + 1], words[number]
        position = unpack(way, last * width(example), example)
        odds[number] = 0.0
        if outcome(position)[0] or drawn(position):
            continue
        if chance(position) > 0:
            probability, child = chance_outcome(position, sampled_outcome(position, memory))
            odds[number] = probability
            its[last] = CHANCE
            by[last + 1] = by[last]
        else:
            count = moves(position, buffer, 0)
            its[last] = buffer[below(draw(memory), count)]
            odds[number] = 1.0 / count
            child = play(position, its[last])
            by[last + 1] = by[last] if moves_again(position, child) else 1 - by[last]
        pack(way, (last + 1) * width(example), child)
        count = add_parent(example, last, 0, way, known)
        parents[number, 0] = parents[number, 1] = count
        if its[last] == CHANCE:
            continue
        for at in range(memory.tries if last > 1 else 0):
            b = last if at & 1 else 1 + below(draw(memory), last)
            a = b - 1 - below(draw(memory), min(b, WINDOW))
            change = (at >> 1) % (REPLACE + 1)
            first = its[a]
            if change == REPLACE and first != CHANCE:
                count_first = moves(unpack(way, a * width(example), example), buffer, 0)
                first = buffer[below(draw(memory), count_first)]
            if propose(a, b, change, first, its, by, order) and accept(
                example, a, b, order, its, way, others, buffer
            ):
                count = add_parent(example, last, count, way, known)
            if at < memory.tries // 2:
                parents[number, 0] = count
        parents[number, 1] = count
