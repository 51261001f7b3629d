"""Compiled code of the benchmarks, kept separate so that editing benchmarks recompiles nothing."""

from __future__ import annotations

from typing import Any

import numba

from cutnode import Bits, compiled, popcount
from cutnode.compiler.jit import Evaluator, Numbers, Position, Words, kernel
from cutnode.contract.positions import unpack, width
from cutnode.contract.verbs import INFINITE, index, layer, moves, outcome, play
from cutnode.games.othello.discs import mobility
from cutnode.kernels.evaluation import estimate, learned_score
from cutnode.kernels.parameters import HALF_FULL
from cutnode.kernels.reference import PlainMemory
from cutnode.kernels.scores import final_score, limited
from cutnode.kernels.table import begin, open_whole, probe, store
from cutnode.kernels.tablebase import meaning_at


@compiled
def nothing(position):
    """Return the same estimate in both games."""
    return 0


@compiled
def count_moves(position):
    """Return rust_reversi's evaluation."""
    return popcount(mobility(position))


@kernel
def sum_of_estimates(example: Position, evaluation: Evaluator, words: Words) -> int:
    """Return the sum of the evaluations of the positions packed in *words*."""
    total = 0
    for number in range(len(words) // width(example)):
        position = unpack(words, number * width(example), example)
        total += int(estimate(evaluation, position))
    return total


@kernel
def strictly_alternating_node(
    position: Position,
    evaluation: Evaluator,
    alpha: int,
    beta: int,
    depth: int,
    ply: int,
    top: int,
    plain: PlainMemory,
) -> int:
    """Run textbook alpha-beta for strictly alternating players, and nothing else."""
    plain.nodes += 1
    over, value = outcome(position)
    if over:
        plain.leaves += 1
        return final_score(value, ply, plain.win, plain.step)
    if depth == 0 or ply >= plain.plies:
        plain.leaves += 1
        return limited(estimate(evaluation, position), plain.win)
    best = -INFINITE
    end = moves(position, plain.moves, top)
    for at in range(top, end):
        child = play(position, plain.moves[at])
        value = -strictly_alternating_node(
            child, evaluation, -beta, -alpha, depth - 1, ply + 1, end, plain
        )
        if value > best:
            best = value
            if best > alpha:
                alpha = best
                if alpha >= beta:
                    break
    return best


@numba.njit(nogil=True, error_model="numpy")
def fill(table: Any, words: Any) -> None:
    begin(table, True)
    open_whole(table)
    for word in words:
        store(table, Bits(word), -1, 1, 3, 5, HALF_FULL)


@numba.njit(nogil=True, error_model="numpy")
def look_up(table: Any, words: Any) -> int:
    hits = 0
    for word in words:
        if probe(table, Bits(word)) != Bits(0):
            hits += 1
    return hits


@kernel
def look_up_entries(example: Position, tables: Numbers, words: Words, count: int) -> int:
    """Look up packed positions in a tablebase, and return the sum of their codes."""
    total = 0
    for at in range(count):
        position = unpack(words, at * width(example), example)
        total += meaning_at(tables, layer(position), index(position))
    return total


@kernel
def sum_at_leaves(
    position: Position,
    evaluation: Evaluator,
    depth: int,
    kept: int,
    size: int,
    top: int,
    buffer: Numbers,
) -> int:
    """Return the sum of the evaluations of all positions at a depth, in the order of a search.

    Each ply has *size* bytes in *kept*; with 0, every evaluation starts from scratch.
    """
    if depth == 0:
        return learned_score(evaluation, position, kept)
    total = 0
    if outcome(position)[0]:
        return total
    end = moves(position, buffer, top)
    below = kept + size if kept != 0 else kept
    for at in range(top, end):
        child = play(position, buffer[at])
        total += sum_at_leaves(child, evaluation, depth - 1, below, size, end, buffer)
    return total
