"""What a node of the searches of limited depth has at hand: memory, addresses, ranks, counts.

The node functions are those of ``search``, ``quiescence`` and ``chance``; what two of
them do alike is here.
"""

from __future__ import annotations

import functools
from typing import Any

import numba
import numpy as np
from numba import types

from engine.compiler.jit import compiled
from engine.contract.bits import Bits
from engine.contract.derived import knows_gains
from engine.contract.dispatch import defines, game_constant, longest_line
from engine.contract.positions import pack, width, words_each
from engine.contract.stop import NODES, RUNNING
from engine.contract.verbs import (
    MOVES_ROOM,
    NO_MOVE,
    canonical,
    exchange,
    gain,
    key,
    moves_again,
    order,
    original_move,
    outcome,
    play,
)
from engine.kernels.evaluation import estimate
from engine.kernels.ordering import FIRST, learned_score, likeness, rank
from engine.kernels.parameters import (
    BLUNT,
    GAIN_WEIGHT,
    HISTORY_SIZE,
    LISTED_OUTCOMES,
    MARGINS,
    MOST_BEFORE,
    MOST_DEPTH,
    NOISY_BONUS,
    ORDER_WEIGHT,
    PATTERNS,
    SINGULAR_LEVELS,
)
from engine.kernels.reference import is_draw
from engine.kernels.scores import final_score, from_table, limited
from engine.kernels.table import address_for, depth_of, is_proven, lower_of, move_of, upper_of
from engine.kernels.techniques import TECHNIQUES

__all__ = [
    "COUNTERS",
    "PREPARE_TABLE",
    "TABLE",
    "address",
    "bounds_of",
    "count_cutoff",
    "count_kind",
    "extend_line",
    "is_excluded",
    "known_move",
    "leaf_score",
    "must_stop",
    "rank_moves",
    "search_dtype",
    "search_type",
    "suits",
]

PREPARE_TABLE = 2
"""Told to a root in place of *first*: only make the table ready for several threads."""

COUNTERS = (
    *("nodes", "quiet_nodes", "leaves", "pv_nodes", "cut_nodes", "all_nodes", "deepest"),
    *("cutoffs", "first_cutoffs", "table_move_cutoffs", "killer_cutoffs", "branches_cut"),
    *("probes", "hits", "table_cutoffs", "enhanced_cutoffs", "stores", "overwrites"),
    *("pvs_researches", "reductions", "reduction_researches", "null_tries", "null_cutoffs"),
    *("probcut_tries", "probcut_cutoffs"),
    *("reverse_cutoffs", "razored", "futile", "late", "losing", "extended"),
    *("singular_cutoffs", "distance_cutoffs"),
    *("chance_nodes", "star1_cutoffs", "star2_probes", "star2_cutoffs"),
)
"""What is counted, each a field of the search's memory (see ``engine.search.statistics``)."""


@functools.cache
def search_dtype(cls: Any) -> np.dtype[Any]:
    """The memory of a search: control, techniques, counters, what it learns, and stacks."""
    plies = longest_line(cls) + 2
    moves = game_constant(cls, "MAX_MOVES", 256)
    room = (plies + SINGULAR_LEVELS) * moves  # such a test takes as much as another ply
    fields: list[Any] = [
        ("stop", np.int64),
        ("node_limit", np.int64),
        ("plies", np.int64),  # no line gets longer than this
        ("turns", np.int64),  # depth is counted in turns, not in moves
        ("win", np.int64),  # see engine.scores
        ("step", np.int64),
        ("exact", np.int64),  # entries count only if they are of just the depth asked for
        ("order_depth", np.int64),  # from this depth on the game says which moves look promising
        ("shared", np.int64),  # other threads search the same with the same table
        ("purpose", np.uint64),  # part of all keys: what the scores depend on
        *((f"use_{name}", np.int64) for name in TECHNIQUES),
        *((name, np.int64) for name in BLUNT),
        *((f"{name}_margin", np.int64) for name in MARGINS),
        *((name, np.int64) for name in COUNTERS),
        ("estimates", np.int64),
        ("repetitions", np.int64),
        ("foretelling", np.int64),  # so many searches of ProbCut are under way
        ("excluded", np.int64),  # so many root moves are not searched
        ("excluded_moves", np.int64, (moves,)),
        ("killers", np.int64, (2 * (plies + 1),)),  # two for each ply
        ("history", np.int64, (2 * HISTORY_SIZE,)),
        ("counters", np.int64, (2 * HISTORY_SIZE,)),
        ("continued", np.int16, (PATTERNS**2 if defines(cls, "pattern") else 1,)),
        ("barred", np.int64, (plies + 1,)),  # the move that a node is asked to do without
        ("patterns", np.int64, (plies + 3,)),  # of the two moves before the root, and of its line
        ("reduction", np.int64, ((MOST_DEPTH + 1) * 64,)),
        ("violation", np.uint64, (words_each(cls),)),  # breaks the contract
        ("before", np.int64),  # so many positions of the path come before the root
        ("static", np.int64, (plies + 1,)),
        ("cutting", np.int64, (plies + 2,)),  # whether a cutoff is expected
        ("path", np.uint64, (MOST_BEFORE + plies + 1,)),
        ("length", np.int64, (plies + 2,)),
        ("line", np.uint16, ((plies + 2) * (plies + 2),)),
        ("moves", np.int64, (room + MOVES_ROOM,)),
        ("ranked", np.int64, (room,)),
        ("children", np.uint64, (room * (words_each(cls) + 1),)),
    ]
    if defines(cls, "chance"):
        fields += [
            ("debug", np.int64),
            ("value_limit", np.float64),
            ("most", np.float64),  # no score is further from 0
            ("odds", np.float64, ((plies + 1) * LISTED_OUTCOMES,)),
            ("likeliest", np.int64, ((plies + 1) * LISTED_OUTCOMES,)),
            ("lowest", np.float64, ((plies + 1) * LISTED_OUTCOMES,)),
            ("highest", np.float64, ((plies + 1) * LISTED_OUTCOMES,)),
        ]
    return np.dtype(fields, align=True)


def search_type(position: Any) -> Any:
    """The numba type of that memory, for signatures of kernels."""
    return numba.from_dtype(search_dtype(position.instance_class))


TABLE = types.uint64[::1]
"""The numba type of a table's memory."""


@compiled
def address(position, actions, search):
    """The scattered key under which a position is kept in the table.

    How many *actions* may still follow without cost is a part of it: scores depend on that.
    """
    if search.use_symmetry:
        word, _ = canonical(position)
        return address_for(word, search.purpose, actions)
    return address_for(key(position), search.purpose, actions)


@compiled
def suits(data, depth, exact):
    """Whether the bounds of an entry hold for a search of some depth.

    An exact search wants the score at just this depth, which is also that of every
    smaller depth at which nothing depended on estimates.
    """
    if exact:
        return depth_of(data) == depth or (is_proven(data) and depth_of(data) < depth)
    return depth_of(data) >= depth or is_proven(data)


@compiled
def must_stop(search):
    if search.stop == RUNNING and search.nodes > search.node_limit:
        search.stop = NODES
    return search.stop != RUNNING


@compiled
def is_excluded(search, move):
    for at in range(search.excluded):
        if search.excluded_moves[at] == move:
            return True
    return False


@compiled
def extend_line(search, ply, move):
    """The best line from *ply* on is a move and then the best line of the child."""
    row = len(search.length)
    at, below = ply * row, (ply + 1) * row
    count = search.length[ply + 1]
    search.line[at] = move
    for plies in range(count):
        search.line[at + 1 + plies] = search.line[below + plies]
    search.length[ply] = count + 1


@compiled
def bounds_of(data, ply, search):
    """The bounds that the data of an entry holds, as scores so many plies from the root."""
    lower = from_table(lower_of(data), ply, search.win, search.step)
    upper = from_table(upper_of(data), ply, search.win, search.step)
    return lower, upper


@compiled
def known_move(position, data, search):
    """The move that the data of an entry knows, as seen in the position."""
    known = move_of(data) if data != Bits(0) else NO_MOVE
    if search.use_symmetry and known != NO_MOVE:
        _, symmetry = canonical(position)
        known = original_move(position, known, symmetry)
    return known


@compiled
def rank_moves(position, known, previous, mover, ply, top, end, parked, search):
    """Say how promising the moves on the stack look; if *parked*, children wait beside them.

    First come a move that is *known* to be good, and one that wins at once.
    """
    stride = width(position) + 1
    for at in range(top, end):
        move = search.moves[at]
        score = learned_score(search, move, likeness(position, move), previous, mover, ply)
        if knows_gains(position):
            won = gain(position, move)
            if won > 0:
                loses = search.use_exchange and not exchange(position, move, 0)
                score += GAIN_WEIGHT * won + (-NOISY_BONUS if loses else NOISY_BONUS)
        again = False
        if parked:
            child = play(position, move)
            again = moves_again(position, child)
            pack(search.children, at * stride, child)
            if search.use_order:
                score += ORDER_WEIGHT * order(position, move, child)
            ended, final = outcome(child)
            if ended and (final > 0 if again else final < 0):
                score = FIRST
        if move == known:
            score = FIRST
        search.ranked[at] = rank(score, move, again, at - top)


@compiled
def count_cutoff(search, move, known, ply, searched, left):
    """Count a cutoff by a move, after so many were *searched* and so many are *left*."""
    search.cutoffs += 1
    search.first_cutoffs += searched == 1
    search.table_move_cutoffs += move == known
    search.killer_cutoffs += move == search.killers[2 * ply] or move == search.killers[2 * ply + 1]
    search.branches_cut += left


@compiled
def count_kind(search, best, alpha, beta):
    """Count a node that was searched, by its kind."""
    search.pv_nodes += best > alpha and best < beta
    search.cut_nodes += best >= beta
    search.all_nodes += best <= alpha


@compiled
def leaf_score(position, evaluation, ply, steps, search):
    """The score of a position from which the search does not go on."""
    search.nodes += 1
    search.leaves += 1
    search.deepest = max(search.deepest, ply)
    search.length[ply] = 0
    if must_stop(search):
        return 0
    over, value = outcome(position)
    if over:
        return final_score(value, ply, search.win, search.step)
    if is_draw(position, ply, steps, search):
        search.repetitions += 1
        return 0
    search.estimates += 1
    return limited(estimate(evaluation, position), search.win)
