"""Compiled code of the benchmarks: apart from them, so that editing them compiles nothing again."""

from __future__ import annotations

from typing import Any

import numba
from numba import types

from engine import Bits, compiled, popcount
from engine.contract.verbs import INFINITE, moves, outcome, play
from engine.kernels.evaluation import estimate
from engine.kernels.reference import plain_dtype
from engine.kernels.scores import final_score, limited
from engine.kernels.table import begin, open_whole, probe, store
from games.othello.discs import mobility


@compiled
def nothing(position):
    """Return the same estimate in both games."""
    return 0


@compiled
def count_moves(position):
    """The evaluation of rust_reversi."""
    return popcount(mobility(position))


def plain(position: Any) -> Any:
    return numba.from_dtype(plain_dtype(position.instance_class))


@compiled(
    signature=lambda position, evaluation: types.int64(
        position, evaluation, *[types.int64] * 5, plain(position)
    )
)
def strictly_alternating_node(position, evaluation, alpha, beta, depth, ply, top, plain):
    """Textbook alpha-beta for players who take turns, and nothing else."""
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
        store(table, Bits(word), -1, 1, 3, 5)


@numba.njit(nogil=True, error_model="numpy")
def look_up(table: Any, words: Any) -> int:
    hits = 0
    for word in words:
        if probe(table, Bits(word)) != Bits(0):
            hits += 1
    return hits
