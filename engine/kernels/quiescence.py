"""Quiescence: where the depth ends, noisy moves are played on until the position is quiet.

:func:`quiet_node` is called by ``engine.kernels.search``, and promises the same of its score.

Source: L. Harris, "The heuristic search and the game of chess: a study of quiescence,
sacrifices, and plan oriented play" (1975).
"""

from __future__ import annotations

import numpy as np
from numba import types

from engine.compiler.jit import compiled
from engine.contract.bits import Bits
from engine.contract.derived import knows_gains, most_moves
from engine.contract.stop import MOVES, RUNNING
from engine.contract.verbs import (
    INFINITE,
    NO_MOVE,
    check,
    drawn,
    exchange,
    gain,
    moves,
    moves_again,
    noisy,
    order,
    outcome,
    play,
)
from engine.kernels.evaluation import estimate
from engine.kernels.node import TABLE, address, bounds_of, known_move, must_stop, search_type
from engine.kernels.ordering import FIRST, bring_best, rank, ranked_move
from engine.kernels.parameters import GAIN_WEIGHT, ORDER_WEIGHT
from engine.kernels.reference import report_violation
from engine.kernels.scores import final_score, limited, to_table
from engine.kernels.table import is_proven, probe, store_depth

__all__ = ["quiet_node"]


@compiled(
    signature=lambda position, evaluation: types.int64(
        position,
        evaluation,
        types.uint64,
        types.int64,
        types.int64,
        types.int64,
        types.int64,
        search_type(position),
        TABLE,
    )
)
def quiet_node(position, evaluation, word, alpha, beta, ply, top, search, table):
    """The score when only noisy moves are played on, and either player may stop.

    A player who has to meet a threat (``check``) may not, and has all moves.
    """
    search.nodes += 1
    search.quiet_nodes += 1
    search.deepest = max(search.deepest, ply)
    search.length[ply] = 0
    if must_stop(search):
        return alpha
    over, value = outcome(position)
    if over:
        search.leaves += 1
        return final_score(value, ply, search.win, search.step)
    if ply > 0 and drawn(position):
        search.leaves += 1
        return 0
    known, entered = NO_MOVE, search.use_table and knows_gains(position)
    if entered:
        search.probes += 1
        data = probe(table, word)
        if data != Bits(0):
            search.hits += 1
            lower, upper = bounds_of(data, ply, search)
            if lower >= beta or lower == upper or upper <= alpha:
                search.table_cutoffs += 1
                search.estimates += not is_proven(data)
                return lower if lower >= beta or lower == upper else upper
            known = known_move(position, data, search)
    checked = check(position)
    static, best = -INFINITE, -INFINITE
    if not checked or ply >= search.plies:
        search.estimates += 1
        static = limited(estimate(evaluation, position), search.win)
        best = static
        if best >= beta or ply >= search.plies:
            search.leaves += 1
            return best
    end = moves(position, search.moves, top) if checked else noisy(position, search.moves, top)
    if end - top > most_moves(position):
        report_violation(position, MOVES, search)
        return alpha
    if end == top:
        search.leaves += 1
        return best
    floor, best_move = max(alpha, best), NO_MOVE
    for at in range(top, end):
        move = search.moves[at]
        score = GAIN_WEIGHT * gain(position, move)
        if search.use_order:
            score += ORDER_WEIGHT * order(position, move, play(position, move))
        search.ranked[at] = rank(FIRST if move == known else score, move, False, at - top)
    for at in range(top, end):
        move = ranked_move(bring_best(search.ranked, at, end))
        if knows_gains(position) and not checked:
            hope = static + gain(position, move) + search.delta_margin
            if hope <= floor:
                best = max(best, hope)
                continue
            if not exchange(position, move, 0):
                continue
        child = play(position, move)
        child_word = address(child, np.int64(0), search) if entered else Bits(0)
        if moves_again(position, child):
            value = quiet_node(
                child, evaluation, child_word, floor, beta, ply + 1, end, search, table
            )
        else:
            value = -quiet_node(
                child, evaluation, child_word, -beta, -floor, ply + 1, end, search, table
            )
        if search.stop != RUNNING:
            return alpha
        if value > best:
            best = value
            if value > floor:
                floor, best_move = value, move
                if value >= beta:
                    break
    if entered:
        lower = to_table(best, ply, search.win, search.step) if best > alpha else -INFINITE
        upper = to_table(best, ply, search.win, search.step) if best < beta else INFINITE
        search.stores += 1
        nothing = np.int64(0)
        search.overwrites += store_depth(table, word, lower, upper, best_move, nothing, False)
    return best
