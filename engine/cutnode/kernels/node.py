"""The steps that node functions share, and the memory that they work in.

The node functions are those of ``search``, ``quiescence`` and ``chance``.  Each step is a small
compiled function, inlined where it is used; only the recursive calls stay in the node functions
themselves, because numba wants one explicit signature for a function that calls itself.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Annotated, Any, NamedTuple

import numpy as np

from cutnode.compiler.jit import compiled, record_for_techniques
from cutnode.contract.bits import Bits
from cutnode.contract.derived import knows_gains, most_moves
from cutnode.contract.dispatch import defines, game_constant, longest_line
from cutnode.contract.positions import pack, unpack, width, words_each
from cutnode.contract.stop import MOVES, NODES, RUNNING
from cutnode.contract.verbs import (
    INFINITE,
    MOVES_ROOM,
    NO_MOVE,
    canonical,
    canonical_move,
    gain,
    key,
    moves,
    moves_again,
    order,
    original_move,
    outcome,
    play,
)
from cutnode.kernels.declarations import Technique
from cutnode.kernels.evaluation import estimate_at
from cutnode.kernels.ordering import (
    FIRST,
    learned_score,
    pattern_of,
    rank,
    ranked_again,
    ranked_number,
    refutations,
    see_ge,
)
from cutnode.kernels.outside import outside_fields
from cutnode.kernels.parameters import (
    HISTORY_SIZE,
    LISTED_OUTCOMES,
    MOST_BEFORE,
    MOST_DEPTH,
    NOISY_BONUS,
    PATTERNS,
    SINGULAR_LEVELS,
)
from cutnode.kernels.reference import is_draw, report_violation
from cutnode.kernels.scores import final_score, from_table, limited, to_table
from cutnode.kernels.table import (
    address_for,
    depth_of,
    is_proven,
    lower_of,
    move_of,
    probe,
    upper_of,
)
from cutnode.kernels.tablebase_scores import tablebase_fields, tablebase_score
from cutnode.kernels.techniques import TECHNIQUES, parameters_of

__all__ = [
    "COUNTERS",
    "LATE_COUNTS",
    "PREPARE_TABLE",
    "QUIET_COUNTS",
    "Node",
    "SearchMemory",
    "address",
    "begin_node",
    "bounds_of",
    "canonical_best",
    "child_of",
    "count_cutoff",
    "count_kind",
    "end_of_line",
    "extend_line",
    "is_excluded_at_root",
    "leaf_score",
    "look_up",
    "make_moves",
    "must_stop",
    "rank_moves",
    "search_dtype",
    "settle_estimates",
    "stored_bounds",
    "suits",
    "tt_move_of",
]

PREPARE_TABLE = 2
"""In place of *first* at a root: only make the table ready for several threads."""

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
"""Counters: fields of the search's memory (see ``cutnode.search.results``)."""

QUIET_COUNTS = ("quiet_shortened", "quiet_searches", "quiet_spent")
"""How often quiet searches were shortened; their number since then, and ``quiet_nodes`` then."""

LATE_COUNTS = ("late_skipped", "late_tests", "late_cutoffs")
"""How many nodes skipped late moves since one searched them as a test; the tests; their cutoffs."""


@functools.cache
def search_dtype(cls: Any, techniques: Sequence[Technique] = ()) -> np.dtype[Any]:
    """The memory of a search: control, techniques, counters, what it learns, and stacks.

    *techniques* are those from outside.
    """
    plies = longest_line(cls) + 2
    moves = game_constant(cls, "MAX_MOVES", 256)
    room = (plies + SINGULAR_LEVELS) * moves  # such a test takes as much as another ply
    # In front: numba takes a record that is another and more for the other.
    fields: list[Any] = [
        *outside_fields(techniques),
        ("stop", np.int64),
        ("node_limit", np.int64),
        ("plies", np.int64),  # no line gets longer than this
        ("turns", np.int64),  # depth is counted in turns, not in moves
        ("win", np.int64),  # see cutnode.kernels.scores
        ("step", np.int64),
        ("exact", np.int64),  # entries count only if they are of just the depth asked for
        ("shared", np.int64),  # other threads search the same with the same table
        ("purpose", np.uint64),  # part of all keys: what the scores depend on
        *((f"use_{name}", np.int64) for name in TECHNIQUES),
        *((name, number.dtype) for _, name, number in parameters_of(TECHNIQUES.values())),
        *((name, np.int64) for name in COUNTERS),
        ("estimates", np.int64),
        ("repetitions", np.int64),
        ("probcut_level", np.int64),  # so many searches of ProbCut are under way
        ("null_move_ply", np.int64),  # no pass is tried before it: one is verified; else 0
        ("root_excluded", np.int64),  # so many root moves are not searched (multi-PV)
        ("root_excluded_moves", np.int64, (moves,)),
        ("killers", np.int64, (2 * (plies + 1),)),  # two for each ply
        ("history", np.int64, (2 * HISTORY_SIZE,)),
        ("history_weight", np.int64, (2 * HISTORY_SIZE,)),  # how often moves were tried
        ("countermoves", np.int64, (2 * HISTORY_SIZE,)),
        ("continuation_history", np.int16, (PATTERNS**2 if defines(cls, "pattern") else 1,)),
        ("kept", np.int64),  # the address of what an evaluation keeps for each ply
        ("excluded_move", np.int64, (plies + 1,)),  # of a singular search: the hash move
        ("patterns", np.int64, (plies + 3,)),  # of the two moves before the root, and of its line
        ("lmr_reductions", np.int64, ((MOST_DEPTH + 1) * 64,)),  # at depth * 64 + number
        ("violation", np.uint64, (words_each(cls),)),  # breaks the contract
        ("before", np.int64),  # so many positions of the path come before the root
        *((name, np.int64) for name in QUIET_COUNTS),
        *((name, np.int64) for name in LATE_COUNTS),
        ("late_tested", np.int64, (plies + 2,)),  # whether a node of the line is such a test
        ("quiet_last", np.int64),  # the ply where the quiet search that is under way ends
        ("static_eval", np.int64, (plies + 1,)),
        ("cut_node", np.int64, (plies + 2,)),  # whether a cutoff is expected
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
    fields += tablebase_fields(cls)
    return np.dtype(fields, align=True)


SearchMemory = Annotated[Any, record_for_techniques(search_dtype)]


class Node(NamedTuple):
    """The coordinates of a node: its window, and where it is in the tree.

    All are values: compiled, they travel in registers.
    """

    alpha: int
    beta: int
    depth: int
    ply: int
    steps: int
    """The reversible moves in a row that led here."""
    actions: int
    """The free moves in a row that led here."""
    top: int
    """The stacks of moves are free from here on."""
    previous: int
    """The last move; ``NO_MOVE`` if there is none, or if it was a pass."""


# What is where in the table.


@compiled
def address(position, actions, search):
    """The scattered key under which a position is kept in the table.

    The free moves that may still follow after *actions* are a part of it: scores depend on them.
    """
    # Equivalent positions share an address, unless the search wants to tell them apart.
    if search.use_symmetry:
        word, _ = canonical(position)
        return address_for(word, search.purpose, actions)
    return address_for(key(position), search.purpose, actions)


@compiled
def suits(data, depth, exact):
    """Return whether the bounds of an entry hold for a search of some depth.

    An exact search wants the score at just this depth, which is also that of every
    smaller depth at which nothing depended on estimates.
    """
    # Others take any deeper score for a better one.
    if exact:
        return depth_of(data) == depth or (is_proven(data) and depth_of(data) < depth)
    return depth_of(data) >= depth or is_proven(data)


@compiled
def look_up(table, word, search):
    """Probe the table, and count it."""
    search.probes += 1
    data = probe(table, word)
    search.hits += data != Bits(0)
    return data


@compiled
def bounds_of(data, ply, search):
    """The bounds that the data of an entry holds, as scores so many plies from the root."""
    lower = from_table(lower_of(data), ply, search.win, search.step)
    upper = from_table(upper_of(data), ply, search.win, search.step)
    return lower, upper


@compiled
def tt_move_of(position, data, search):
    """The move that the data of an entry holds, as seen in the position; or ``NO_MOVE``."""
    tt_move = move_of(data) if data != Bits(0) else NO_MOVE
    if search.use_symmetry and tt_move != NO_MOVE:
        # Equivalent positions share an entry, which has the move of their canonical form.
        _, symmetry = canonical(position)
        tt_move = original_move(position, tt_move, symmetry)
    return tt_move


@compiled
def canonical_best(position, best_move, search):
    """The inverse of :func:`tt_move_of`: the move as an entry keeps it."""
    if search.use_symmetry and best_move != NO_MOVE:
        _, symmetry = canonical(position)
        best_move = canonical_move(position, best_move, symmetry)
    return best_move


@compiled
def stored_bounds(best, alpha, beta, ply, search):
    """The bounds that follow from a fail-soft score and its window, as an entry keeps them."""
    lower = to_table(best, ply, search.win, search.step) if best > alpha else -INFINITE
    upper = to_table(best, ply, search.win, search.step) if best < beta else INFINITE
    return lower, upper


# How a node begins and ends.


@compiled
def must_stop(search):
    """Return whether the search has to end, and leave the reason in its memory."""
    if search.stop == RUNNING and search.nodes > search.node_limit:
        search.stop = NODES
    return search.stop != RUNNING


@compiled
def begin_node(ply, search):
    """Count a node, and return whether it has to end at once."""
    search.nodes += 1
    search.length[ply] = 0
    search.late_tested[ply] = 0
    # One test on the hot path; the reason is found out on the rare one.
    if search.stop != RUNNING or search.nodes > search.node_limit:
        return must_stop(search)
    return False


@compiled
def count_leaf(ply, search):
    """Count a node where a line ends."""
    search.leaves += 1
    search.deepest = max(search.deepest, ply)


@compiled
def end_of_line(position, ply, steps, search):
    """Return whether the game, a draw or a tablebase ends the line here, and the score if so."""
    over, value = outcome(position)
    if over:
        count_leaf(ply, search)
        return True, final_score(value, ply, search.win, search.step)
    if is_draw(position, ply, steps, search):
        count_leaf(ply, search)
        search.repetitions += 1
        return True, 0
    known, score = tablebase_score(position, ply, search)
    if known:
        count_leaf(ply, search)
    return known, score


@compiled
def settle_estimates(proven, estimates, search):
    """Say whether a node's score depends on estimates, of which there were *estimates* before it.

    A node may meet estimates below that its score turns out not to need: they do not count then.
    """
    if proven:
        search.estimates = estimates
    elif search.estimates == estimates:
        search.estimates += 1


@compiled
def is_excluded_at_root(search, move):
    """Return whether a root move is not searched: another line begins with it, say."""
    for at in range(search.root_excluded):
        if search.root_excluded_moves[at] == move:
            return True
    return False


@compiled
def count_cutoff(search, move, tt_move, ply, searched, left):
    """Count a cutoff by a move, after so many were *searched* and so many are *left*."""
    search.cutoffs += 1
    search.first_cutoffs += searched == 1
    search.table_move_cutoffs += move == tt_move
    search.killer_cutoffs += move == search.killers[2 * ply] or move == search.killers[2 * ply + 1]
    search.branches_cut += left


@compiled
def count_kind(search, best, alpha, beta):
    """Count a node that was searched, by its kind."""
    search.pv_nodes += best > alpha and best < beta
    search.cut_nodes += best >= beta
    search.all_nodes += best <= alpha


@compiled
def extend_line(search, ply, move):
    """Make the best line from *ply* on a move, and then the best line of the child."""
    # A triangular table: each ply has a row for the best line from there on.
    row = len(search.length)
    at, below = ply * row, (ply + 1) * row
    count = search.length[ply + 1]
    search.line[at] = move
    for plies in range(count):
        search.line[at + 1 + plies] = search.line[below + plies]
    search.length[ply] = count + 1


# How its children are made.


@compiled
def make_moves(position, tt_move, previous, mover, ply, top, keep_children, search):
    """Put the legal moves on the stack from *top* on, ranked; return their end.

    It is *top* if a game breaks the contract: then the search has been told to stop.
    """
    end = moves(position, search.moves, top)
    if not 0 < end - top <= most_moves(position):
        report_violation(position, MOVES, search)
        return top
    rank_moves(position, tt_move, previous, mover, ply, top, end, keep_children, search)
    return end


@compiled
def rank_moves(position, tt_move, previous, mover, ply, top, end, keep_children, search):
    """Say how promising the moves on the stack look: move ordering.

    First come the hash move, and a move that wins at once.  With *keep_children* the positions
    that moves lead to wait beside them, for :func:`child_of`.
    """
    stride = width(position) + 1
    refuting = refutations(search, previous, mover, ply)
    for at in range(top, end):
        move = search.moves[at]
        score = learned_score(search, refuting, move, pattern_of(position, move), mover, ply)
        if knows_gains(position):
            won = gain(position, move)
            if won > 0:
                # Captures that lose by exchanges come last, all others before quiet moves.
                loses = search.use_see_pruning and not see_ge(position, move, 0)
                score += search.order_gain_weight * won + (-NOISY_BONUS if loses else NOISY_BONUS)
        again = False
        if keep_children:
            child = play(position, move)
            again = moves_again(position, child)
            pack(search.children, at * stride, child)
            if search.use_order:
                score += search.order_weight * order(position, move, child)
            ended, final = outcome(child)
            if ended and (final > 0 if again else final < 0):
                score = FIRST
        if move == tt_move:
            score = FIRST
        search.ranked[at] = rank(score, move, again, at - top)


@compiled
def child_of(position, move, ranked, top, keep_children, search):
    """Return the position that a ranked move leads to, and whether the same player moves there."""
    # Ranking has made the children that the order looked at: take them from there.
    if keep_children:
        slot = (top + ranked_number(ranked)) * (width(position) + 1)
        return unpack(search.children, slot, position), ranked_again(ranked)
    child = play(position, move)
    return child, moves_again(position, child)


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
    known, score = tablebase_score(position, ply, search)
    if known:
        return score
    # From here on the score depends on an estimate, and so may that of all nodes above.
    search.estimates += 1
    return limited(estimate_at(evaluation, position, ply, search), search.win)
