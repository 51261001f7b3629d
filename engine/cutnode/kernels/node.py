"""The steps that node functions share, and the memory that they work in.

The modules ``search``, ``quiescence`` and ``chance`` have a node function each.  A step is a small
compiled function, inlined where it is used; only the recursive calls stay in the node functions
themselves, because numba needs one explicit signature for a function that calls itself.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Annotated, Any, NamedTuple

import numpy as np

from cutnode.compiler.jit import compiled, record_for_techniques
from cutnode.contract.bits import Bits
from cutnode.contract.derived import gives_hints, knows_gains, most_moves
from cutnode.contract.dispatch import defines, game_constant, longest_line
from cutnode.contract.host import look
from cutnode.contract.positions import pack, unpack, width, words_each
from cutnode.contract.repetition import needs_line
from cutnode.contract.stop import MOVES, NODES, RUNNING
from cutnode.contract.verbs import (
    INFINITE,
    MOVES_ROOM,
    NO_MOVE,
    canonical,
    canonical_move,
    gain,
    hint,
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
from cutnode.kernels.reference import end_by_rule, report_violation, score_by_rule
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
    "estimate_by",
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
"""The value of *first* with which a root only makes the table ready for several threads."""

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
"""Times the quiescence search was shortened; searches since then; ``quiet_nodes`` at that time."""

LATE_COUNTS = ("late_skipped", "late_tests", "late_cutoffs")
"""Nodes that skipped late moves since the last test (which searches them); tests; their cutoffs."""


@functools.cache
def search_dtype(cls: Any, techniques: Sequence[Technique] = ()) -> np.dtype[Any]:
    """Return the layout of a search's memory: control, techniques, counters, histories, and stacks.

    *techniques* are the user's.
    """
    plies = longest_line(cls) + 2
    moves = game_constant(cls, "MAX_MOVES", 256)
    room = (plies + SINGULAR_LEVELS) * moves  # a singular search takes as much as another ply
    # Keep these first: numba accepts a longer record where a shorter one with the same leading
    # fields is expected.
    fields: list[Any] = [
        *outside_fields(techniques),
        ("stop", np.int64),
        ("node_limit", np.int64),
        ("plies", np.int64),  # no line gets longer than this
        ("turns", np.int64),  # whether depth counts turns, not moves
        ("win", np.int64),  # see cutnode.kernels.scores
        ("step", np.int64),
        ("exact", np.int64),  # whether only entries of exactly the wanted depth count
        ("shared", np.int64),  # whether other threads search the same root with the same table
        ("purpose", np.uint64),  # part of every key: a digest of what scores depend on
        *((f"use_{name}", np.int64) for name in TECHNIQUES),
        *((name, number.dtype) for _, name, number in parameters_of(TECHNIQUES.values())),
        *((name, np.int64) for name in COUNTERS),
        ("frontier", np.int64),  # the depth of the frontier; 0: none
        ("estimates", np.int64),
        ("repetitions", np.int64),
        ("looked", np.int64),  # ``nodes`` at the last look at the results of other threads
        ("decided_ply", np.int64),  # ply of a node that another thread has decided
        ("decided_data", np.uint64),  # and its entry
        ("probcut_level", np.int64),  # number of nested ProbCut searches
        ("null_move_ply", np.int64),  # no null move before this ply, while one is verified; or 0
        ("root_excluded", np.int64),  # number of root moves that are not searched (multi-PV)
        ("root_excluded_moves", np.int64, (moves,)),
        ("killers", np.int64, (2 * (plies + 1),)),  # two for each ply
        ("history", np.int16, (2 * HISTORY_SIZE,)),
        ("history_weight", np.int64, (2 * HISTORY_SIZE,)),  # how often each move was tried
        ("countermoves", np.uint16, (2 * HISTORY_SIZE,)),
        ("continuation_history", np.int16, (PATTERNS**2 if defines(cls, "pattern") else 1,)),
        ("kept", np.int64),  # address of the evaluation's data for each ply
        ("excluded_move", np.int64, (plies + 1,)),  # the hash move, during a singular search
        ("patterns", np.int64, (plies + 3,)),  # of the two moves before the root, and of its line
        ("lmr_reductions", np.int64, ((MOST_DEPTH + 1) * 64,)),  # at depth * 64 + number
        ("violation", np.uint64, (words_each(cls),)),  # a position that breaks the contract
        ("before", np.int64),  # number of positions of the path before the root
        *((name, np.int64) for name in QUIET_COUNTS),
        *((name, np.int64) for name in LATE_COUNTS),
        ("late_tested", np.int64, (plies + 2,)),  # whether a node of the line tests its late moves
        ("quiet_last", np.int64),  # the last ply of the current quiescence search
        ("line_words", np.uint64, (plies + 1,)),  # nodes that other threads may decide; or 0
        ("line_depths", np.int64, (plies + 1,)),
        ("line_alphas", np.int64, (plies + 1,)),
        ("line_betas", np.int64, (plies + 1,)),
        ("static_eval", np.int64, (plies + 1,)),
        ("noisy", np.int64, (plies + 2,)),  # whether the move to a node of the line was noisy
        ("double_extensions", np.int64, (plies + 2,)),  # number of them in the line
        ("cut_node", np.int64, (plies + 2,)),  # whether it is an expected cut-node
        ("path", np.uint64, (MOST_BEFORE + plies + 1,)),
        ("sides", np.int64, (plies + 1,)),  # who moves at each ply, if a repetition is no draw
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
            ("most", np.float64),  # the largest absolute score
            ("odds", np.float64, ((plies + 1) * LISTED_OUTCOMES,)),
            ("likeliest", np.int64, ((plies + 1) * LISTED_OUTCOMES,)),
            ("lowest", np.float64, ((plies + 1) * LISTED_OUTCOMES,)),
            ("highest", np.float64, ((plies + 1) * LISTED_OUTCOMES,)),
        ]
    fields += tablebase_fields(cls)
    return np.dtype(fields, align=True)


SearchMemory = Annotated[Any, record_for_techniques(search_dtype)]


class Node(NamedTuple):
    """The coordinates of a node: its window, and its place in the tree.

    All are plain values: compiled code passes them in registers.
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
    """The first free place on the stacks of moves."""
    previous: int
    """The last move; ``NO_MOVE`` if there is none, or if it was a pass."""


# Addresses and entries of the table.


@compiled
def address(position, actions, search):
    """Return the scattered key under which a position is kept in the table.

    It includes the *actions*: scores depend on how many free moves may still follow.
    """
    # Equivalent positions share an address, unless the search tells them apart.
    if search.use_symmetry:
        word, _ = canonical(position)
        return address_for(word, search.purpose, actions)
    return address_for(key(position), search.purpose, actions)


@compiled
def suits(data, depth, exact):
    """Return whether the bounds of an entry hold for a search of this *depth*.

    An exact search wants the score at exactly this depth; a proven score (one that depends on no
    estimate) of a smaller depth is the same.
    """
    # A selective search takes any deeper score as a better one.
    if exact:
        return depth_of(data) == depth or (is_proven(data) and depth_of(data) < depth)
    return depth_of(data) >= depth or is_proven(data)


@compiled
def settles(position, data, search):
    """Return whether an entry depends neither on estimates nor on the line that led to it."""
    # An exact search keeps scores that depend on the line out of its table.
    return is_proven(data) and (search.exact or not needs_line(position))


@compiled
def look_up(table, word, search):
    """Probe the table, and count the probe."""
    search.probes += 1
    data = probe(table, word)
    search.hits += data != Bits(0)
    return data


@compiled
def bounds_of(data, ply, search):
    """Return the bounds of an entry, as scores of a node *ply* plies from the root."""
    lower = from_table(lower_of(data), ply, search.win, search.step)
    upper = from_table(upper_of(data), ply, search.win, search.step)
    return lower, upper


@compiled
def estimate_by(data, static_eval, position, ply, search):
    """Return a static evaluation, or the bound of an entry that contradicts it, if wanted."""
    wanted = search.table_estimates != 0 and not search.exact and knows_gains(position)
    if not wanted or data == Bits(0) or static_eval == -INFINITE:
        return static_eval
    lower, upper = bounds_of(data, ply, search)
    return limited(min(max(static_eval, lower), upper), search.win)


@compiled
def tt_move_of(position, data, search):
    """Return the move of an entry, as a move of this position; or ``NO_MOVE``."""
    tt_move = move_of(data) if data != Bits(0) else NO_MOVE
    if search.use_symmetry and tt_move != NO_MOVE:
        # Equivalent positions share an entry, which holds the move of their canonical form.
        _, symmetry = canonical(position)
        tt_move = original_move(position, tt_move, symmetry)
    return tt_move


@compiled
def canonical_best(position, best_move, search):
    """Return a move as an entry keeps it: the inverse of :func:`tt_move_of`."""
    if search.use_symmetry and best_move != NO_MOVE:
        _, symmetry = canonical(position)
        best_move = canonical_move(position, best_move, symmetry)
    return best_move


@compiled
def stored_bounds(best, alpha, beta, ply, search):
    """Return the bounds that follow from a fail-soft score, as an entry keeps them."""
    lower = to_table(best, ply, search.win, search.step) if best > alpha else -INFINITE
    upper = to_table(best, ply, search.win, search.step) if best < beta else INFINITE
    return lower, upper


# The beginning and the end of a node.


@compiled
def must_stop(search):
    """Return whether the search has to end, with the reason in ``search.stop``."""
    if search.stop == RUNNING and search.nodes > search.node_limit:
        look(search)
        if search.stop == RUNNING and search.nodes > search.node_limit:
            search.stop = NODES
    return search.stop != RUNNING


@compiled
def begin_node(ply, search):
    """Count a node, and return whether it has to end at once."""
    search.nodes += 1
    search.length[ply] = 0
    search.late_tested[ply] = 0
    # One test on the hot path; the rare path finds the reason.
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
    """Return whether the rules, a repetition or a tablebase ends the line, and the score if so."""
    over, value = outcome(position)
    if over:
        count_leaf(ply, search)
        return True, final_score(value, ply, search.win, search.step)
    ends, value = end_by_rule(position, ply, steps, search)
    if ends:
        count_leaf(ply, search)
        search.repetitions += 1
        return True, score_by_rule(value, ply, search)
    known, score = tablebase_score(position, ply, search)
    if known:
        count_leaf(ply, search)
    return known, score


@compiled
def settle_estimates(proven, estimates, search):
    """Record whether a node's score depends on estimates; *estimates* is the count before the node.

    A node may meet estimates below that its score turns out not to need: they do not count.
    """
    if proven:
        search.estimates = estimates
    elif search.estimates == estimates:
        search.estimates += 1


@compiled
def is_excluded_at_root(search, move):
    """Return whether a root move is left out, for example because another line begins with it."""
    for at in range(search.root_excluded):
        if search.root_excluded_moves[at] == move:
            return True
    return False


@compiled
def count_cutoff(search, move, tt_move, ply, searched, left):
    """Count a cutoff by the last of the *searched* moves, with *left* moves unsearched."""
    search.cutoffs += 1
    search.first_cutoffs += searched == 1
    search.table_move_cutoffs += move == tt_move
    search.killer_cutoffs += move == search.killers[2 * ply] or move == search.killers[2 * ply + 1]
    search.branches_cut += left


@compiled
def count_kind(search, best, alpha, beta):
    """Count a searched node by its kind: PV node, cut-node, or all-node."""
    search.pv_nodes += best > alpha and best < beta
    search.cut_nodes += best >= beta
    search.all_nodes += best <= alpha


@compiled
def extend_line(search, ply, move):
    """Set the best line from *ply* to a move followed by the child's best line."""
    # A triangular table: each ply has a row for the best line from that ply.
    row = len(search.length)
    at, below = ply * row, (ply + 1) * row
    count = search.length[ply + 1]
    search.line[at] = move
    for plies in range(count):
        search.line[at + 1 + plies] = search.line[below + plies]
    search.length[ply] = count + 1


# The children of a node.


@compiled
def make_moves(position, tt_move, previous, mover, ply, top, keep_children, search):
    """Put the legal moves on the stack from *top*, ranked; return their end.

    It is *top* if the game breaks the contract; the search has then been told to stop.
    """
    end = moves(position, search.moves, top)
    if not 0 < end - top <= most_moves(position):
        report_violation(position, MOVES, search)
        return top
    rank_moves(position, tt_move, previous, mover, ply, top, end, keep_children, search)
    return end


@compiled
def rank_moves(position, tt_move, previous, mover, ply, top, end, keep_children, search):
    """Rank the moves on the stack by how promising they look: move ordering.

    The hash move and moves that win at once come first.  With *keep_children*, the positions that
    the moves lead to are kept for :func:`child_of`.
    """
    stride = width(position) + 1
    refuting = refutations(search, previous, mover, ply)
    hinted = gives_hints(position) and search.use_hints != 0
    for at in range(top, end):
        move = search.moves[at]
        score = learned_score(search, refuting, move, pattern_of(position, move), mover, ply)
        quiet = True
        if knows_gains(position):
            won = gain(position, move)
            quiet = won <= 0
            if won > 0:
                # Captures that lose material by exchanges come last, all others before quiet moves.
                loses = search.use_see_pruning and not see_ge(position, move, 0)
                score += search.order_gain_weight * won + (-NOISY_BONUS if loses else NOISY_BONUS)
        if hinted and quiet:
            score += search.hints_weight * hint(position, move)
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
    # Ranking has already made the children for the verb ``order``: reuse them.
    if keep_children:
        slot = (top + ranked_number(ranked)) * (width(position) + 1)
        return unpack(search.children, slot, position), ranked_again(ranked)
    child = play(position, move)
    return child, moves_again(position, child)


@compiled
def leaf_score(position, evaluation, ply, steps, search):
    """Return the score of a leaf."""
    search.nodes += 1
    search.leaves += 1
    search.deepest = max(search.deepest, ply)
    search.length[ply] = 0
    if must_stop(search):
        return 0
    over, value = outcome(position)
    if over:
        return final_score(value, ply, search.win, search.step)
    ends, value = end_by_rule(position, ply, steps, search)
    if ends:
        search.repetitions += 1
        return score_by_rule(value, ply, search)
    known, score = tablebase_score(position, ply, search)
    if known:
        return score
    # The score depends on an estimate, and so may the scores of all nodes above.
    search.estimates += 1
    return limited(estimate_at(evaluation, position, ply, search), search.win)
