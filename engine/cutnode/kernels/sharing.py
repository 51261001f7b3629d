"""How threads that share a depth-limited search keep out of each other's way.

A thread marks the moves that it searches, and defers a move that another thread is searching until
the rest of the node is done: by then, most of its scores are in the table (T. Kerrigan, "Simplified
ABDADA").  A deferred move keeps its place in the order, on which reductions depend.

A thread also notes the nodes of its line.  When another thread stores a score that decides one of
them, all search below that node is useless.  So the search looks such scores up from time to time;
if it finds one, it stops with ``DECIDED``, and the node takes the score and resumes the search.
"""

from __future__ import annotations

import numpy as np

from cutnode.compiler.jit import compiled
from cutnode.contract.bits import Bits, mix
from cutnode.contract.stop import DECIDED, RUNNING
from cutnode.kernels.node import bounds_of, settles, suits
from cutnode.kernels.ordering import (
    bring_best,
    defer,
    deferred_place,
    is_deferred,
    ranked_move,
)
from cutnode.kernels.parameters import DECIDED_LOOK, SHARED_DEPTH
from cutnode.kernels.table import entry_cutoff, is_marked, mark, probe


@compiled
def shares_moves(use_table, depth, search):
    """Return whether a node marks and defers moves, which needs the table."""
    return search.shared != 0 and use_table and depth >= SHARED_DEPTH


@compiled
def mark_of(node, move):
    """Return the word that marks a move of a node while a thread searches it."""
    return Bits(node.word) ^ mix(Bits(move) ^ Bits(node.depth << 16))


@compiled
def pick_move(node, at, end, sharing, searched, deferred, search):
    """Bring the most promising move that is left to the front; return its word and its place.

    *searched* moves came before it, and *deferred* ones wait until the end.  A node that is
    *sharing* defers moves that another thread is searching, but not the first.  The last result is
    the new number of deferred moves.
    """
    ranked = bring_best(search.ranked, at, end)
    if sharing and searched > 0:
        while not is_deferred(ranked) and is_marked(node.table, mark_of(node, ranked_move(ranked))):
            search.ranked[at] = defer(ranked, searched + deferred)
            deferred += 1
            ranked = bring_best(search.ranked, at, end)
    place = deferred_place(ranked) if is_deferred(ranked) else searched + deferred
    return ranked, place, deferred


@compiled
def begin_move(node, move, sharing, stores, search):
    """Mark a move of a node that is *sharing*; note the node if it *stores* its score."""
    if sharing:
        mark(node.table, mark_of(node, move), True)
        # The root has to find a move, not only a score.
        if stores and node.ply > 0:
            at = node.ply
            search.line_words[at], search.line_depths[at] = node.word, node.depth
            search.line_alphas[at], search.line_betas[at] = node.alpha, node.beta


@compiled
def end_move(node, move, sharing, search):
    """Undo :func:`begin_move`."""
    if sharing:
        mark(node.table, mark_of(node, move), False)
        search.line_words[node.ply] = 0


@compiled
def look_around(ply, search, table):
    """Stop the search if another thread has decided a node above; return whether it did.

    It looks at intervals, and only if other threads share the search.
    """
    if search.shared == 0 or search.nodes - search.looked <= DECIDED_LOOK:
        return False
    search.looked = search.nodes
    for above in range(1, ply):
        word = Bits(search.line_words[above])
        data = probe(table, word) if word != Bits(0) else Bits(0)
        if data == Bits(0) or not suits(data, search.line_depths[above], search.exact):
            continue
        lower, upper = bounds_of(data, above, search)
        decided, _ = entry_cutoff(lower, upper, search.line_alphas[above], search.line_betas[above])
        if decided:
            search.decided_ply, search.decided_data = above, data
            search.stop = DECIDED
            return True
    return False


@compiled
def stopped_score(node, alpha, estimates, search):
    """Return the score of a node whose search was stopped; it is *alpha* if it means nothing.

    If the search stopped because another thread has decided this very node, resume it above the
    node, which takes the other thread's score.  *estimates* is the count before the node.
    """
    if search.stop != DECIDED or search.decided_ply != node.ply:
        return alpha
    search.stop = RUNNING
    search.table_cutoffs += 1
    search.length[node.ply] = 0
    data = Bits(search.decided_data)
    search.estimates = estimates + np.int64(not settles(node.position, data, search))
    lower, upper = bounds_of(data, node.ply, search)
    _, value = entry_cutoff(lower, upper, node.alpha, node.beta)
    return value
