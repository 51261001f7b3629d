"""Searches that prove a score in as few nodes as possible, for :mod:`cutnode.lab.theory`."""

from __future__ import annotations

import functools
from typing import Annotated, Any

import numpy as np

from cutnode.compiler.jit import Evaluator, Position, Words, compiled, kernel, record
from cutnode.contract.bits import Bits, mix
from cutnode.contract.dispatch import game_constant
from cutnode.contract.stop import RUNNING
from cutnode.contract.verbs import (
    INFINITE,
    NO_MOVE,
    canonical,
    key,
    moves,
    moves_again,
    order,
    outcome,
    play,
)
from cutnode.kernels.evaluation import estimate
from cutnode.kernels.ordering import FIRST, rank, ranked_move, sort_down
from cutnode.kernels.parameters import MOST_DEPTH
from cutnode.kernels.reference import must_stop
from cutnode.kernels.scores import final_score, limited
from cutnode.kernels.table import (
    begin,
    entry_cutoff,
    lower_of,
    move_of,
    probe,
    store_depth,
    upper_of,
)


@functools.cache
def proof_dtype(cls: Any) -> np.dtype[Any]:
    """Return the layout of a proof's memory: settings, counters, and stacks for all plies."""
    plies = min(game_constant(cls, "MAX_PLIES", 512), MOST_DEPTH) + 1
    stack = (plies + 1) * game_constant(cls, "MAX_MOVES", 256)
    fields: list[Any] = [
        ("stop", np.int64),
        ("plies", np.int64),
        ("win", np.int64),  # see cutnode.kernels.scores
        ("step", np.int64),
        ("share", np.int64),  # whether transpositions are not searched again
        ("nodes", np.int64),
        ("leaves", np.int64),
        ("late", np.int64),  # nodes whose first move was not the one that mattered
        ("inner", np.int64, (plies + 1,)),  # number of inner nodes at each ply
        ("children", np.int64, (plies + 1,)),  # number of their children
        ("moves", np.int64, (stack,)),
        ("ranked", np.int64, (stack,)),
    ]
    return np.dtype(fields, align=True)


ProofMemory = Annotated[Any, record(proof_dtype)]


@compiled
def task_word(position: Any, alpha: int, beta: int, depth: int) -> Any:
    """Return the word of a task: a position, a depth, and a window."""
    asked = (alpha + INFINITE) << 32 | (beta + INFINITE) << 8 | depth
    return mix(Bits(key(position)) ^ mix(Bits(asked)))


@compiled
def shared_word(position: Any, depth: int) -> Any:
    """Return the word under which equivalent positions share bounds at the same depth."""
    word, _ = canonical(position)
    return mix(Bits(word) ^ mix(Bits(depth + 1)))


@compiled
def make_moves(position: Any, first: int, top: int, proof: Any) -> Any:
    """Put the moves on the stack, *first* before the rest in order of promise; return its end."""
    end = moves(position, proof.moves, top)
    for at in range(top, end):
        move = proof.moves[at]
        score = FIRST if move == first else order(position, move, play(position, move))
        proof.ranked[at] = rank(score, move, False, at - top)
    sort_down(proof.ranked, top, end)
    return end


@kernel
def prove_node(
    position: Position,
    evaluation: Evaluator,
    alpha: int,
    beta: int,
    depth: int,
    ply: int,
    top: int,
    proof: ProofMemory,
    known: Words,
    bounds: Words,
) -> int:
    """Return the score by fail-soft alpha-beta that begins with the move of an earlier proof.

    The table *known* holds the move that mattered for each task; *bounds* holds the bounds that
    this proof has found, if it shares them.
    """
    proof.nodes += 1
    over, value = outcome(position)
    if over:
        proof.leaves += 1
        return final_score(value, ply, proof.win, proof.step)
    if depth == 0 or must_stop(ply, proof):
        proof.leaves += 1
        return limited(estimate(evaluation, position), proof.win)
    shared = Bits(0)
    if proof.share:
        shared = shared_word(position, depth)
        data = probe(bounds, shared)
        if data != Bits(0):
            decided, value = entry_cutoff(lower_of(data), upper_of(data), alpha, beta)
            if decided:
                return value
    task = task_word(position, alpha, beta, depth)
    data = probe(known, task)
    first = move_of(data) if data != Bits(0) else NO_MOVE
    end = make_moves(position, first, top, proof)
    proof.inner[ply] += 1
    proof.children[ply] += end - top
    best, best_move, floor, mattered = -INFINITE, NO_MOVE, alpha, top
    for at in range(top, end):
        move = ranked_move(proof.ranked[at])
        child = play(position, move)
        again = moves_again(position, child)
        low, high = (floor, beta) if again else (-beta, -floor)
        value = prove_node(
            child, evaluation, low, high, depth - 1, ply + 1, end, proof, known, bounds
        )
        value = value if again else -value
        if proof.stop != RUNNING:
            return alpha
        best = max(best, value)
        if value > floor:
            floor, best_move, mattered = value, move, at
            if floor >= beta:
                break
    proof.late += mattered > top
    if best_move != NO_MOVE:
        store_depth(known, task, best, best, best_move, depth, False)
    if proof.share:
        lower = best if best > alpha else -INFINITE
        upper = best if best < beta else INFINITE
        store_depth(bounds, shared, lower, upper, NO_MOVE, depth, False)
    return best


@kernel
def prove(
    position: Position,
    evaluation: Evaluator,
    alpha: int,
    beta: int,
    depth: int,
    proof: ProofMemory,
    known: Words,
    bounds: Words,
) -> int:
    """Run a proof, which uses the moves of earlier proofs but nothing else of them."""
    begin(known, False)
    begin(bounds, True)
    nothing = np.int64(0)
    return prove_node(
        position, evaluation, alpha, beta, depth, nothing, nothing, proof, known, bounds
    )
