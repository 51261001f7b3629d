"""Forced wins: can the mover win within N of his own moves, whatever the replies?

A full-width, depth-first AND/OR search: the attacker needs one winning move, and all of the
defender's moves have to lose.  "Within *left* moves" means ``2 * left - 1`` plies.  The question
involves no estimates, so known answers are all there is to prune by: for every position the table
keeps the number of moves within which a win is refuted, and within which it is proven.  Both hold
for ever, so questions with different N may come in any order; asked from 1 upwards, the first win
found is the quickest.

Repetition.  The quickest win never repeats a position: the distance to the win falls with every
move.  So repetitions within the line can be ignored, and a position's answer does not depend on how
it was reached.  Only positions of the game before the root are compared: those whose recurrence
would be a draw.

Move ordering.  The attacker first tries the moves that leave the fewest replies (the idea of
proof-number search, L. V. Allis 1994); in chess, checks therefore come early.  Trying all checks
first takes as many nodes.  The defender first tries replies that refuted earlier moves (killers).
Proof-number search itself (df-pn, A. Nagai 2002), with the same limits on moves, visits five times
the nodes on 14 mates in three: fifteen times to refute, three and a half times to prove.
"""

from __future__ import annotations

import functools
from typing import Annotated, Any

import numpy as np

from cutnode.compiler.jit import Position, Words, compiled, kernel, record
from cutnode.contract.bits import Bits
from cutnode.contract.counting import listed
from cutnode.contract.derived import knows_gains, most_moves
from cutnode.contract.dispatch import game_constant
from cutnode.contract.host import look
from cutnode.contract.positions import words_each
from cutnode.contract.stop import MOVES, NODES, RUNNING
from cutnode.contract.verbs import (
    INFINITE,
    MOVES_ROOM,
    NO_MOVE,
    drawn,
    gain,
    key,
    moves,
    outcome,
    play,
    recurrence,
)
from cutnode.kernels.ordering import FIRST, bring_best, rank, ranked_move
from cutnode.kernels.parameters import HALF_FULL, MOST_BEFORE, MOST_MOVES
from cutnode.kernels.reference import report_violation
from cutnode.kernels.table import (
    address_for,
    begin,
    lower_of,
    move_of,
    probe,
    store,
    upper_of,
    work_for,
)

PLIES = 2 * MOST_MOVES

KILLER_BONUS = 1 << 20
"""The ordering bonus of a reply that has refuted an attack."""


@functools.cache
def mating_dtype(cls: Any) -> np.dtype[Any]:
    """Return the layout of the memory of a search for forced wins."""
    most = game_constant(cls, "MAX_MOVES", 256)
    fields: list[Any] = [
        ("stop", np.int64),
        ("node_limit", np.int64),
        ("nodes", np.int64),
        ("purpose", np.uint64),  # part of every key: a digest of what the answers depend on
        ("move", np.int64),  # the root's winning or refuting move
        ("before", np.int64),  # number of positions in path
        ("path", np.uint64, (MOST_BEFORE,)),  # positions whose recurrence is a draw
        ("violation", np.uint64, (words_each(cls),)),  # a position that breaks the contract
        ("killers", np.int64, (2 * (PLIES + 1),)),  # two for each ply
        ("moves", np.int64, (PLIES * most + MOVES_ROOM,)),
        ("ranked", np.int64, (PLIES * most,)),
    ]
    return np.dtype(fields, align=True)


MateMemory = Annotated[Any, record(mating_dtype)]


@compiled
def visit(memory):
    """Count a position, and return whether the search may continue."""
    memory.nodes += 1
    if memory.stop == RUNNING and memory.nodes > memory.node_limit:
        look(memory)
        if memory.stop == RUNNING and memory.nodes > memory.node_limit:
            memory.stop = NODES
    return memory.stop == RUNNING


@compiled
def is_draw_here(position, ply, memory):
    """Return whether a draw ends the line here, by a rule or by repeating a game position."""
    if ply == 0:
        return False
    # Compare only with the game before the root: a quickest win never repeats its own line.
    if memory.before > 0:
        word = Bits(recurrence(position))
        for at in range(memory.before):
            if Bits(memory.path[at]) == word:
                return True
    return drawn(position)


@compiled
def rank_attacks(position, tt_move, left, top, end, memory):
    """Rank the attacker's moves, and return one that wins at once, if there is one.

    The hash move comes first, then the moves that leave the fewest replies.  With one move *left*
    nothing is ranked: it has to win at once.
    """
    for at in range(top, end):
        move = np.int64(memory.moves[at])
        child = play(position, move)
        over, value = outcome(child)
        if over and value < 0:
            return move
        # With one move left there is nothing to rank: it wins now, or it does not.
        if left == 1:
            if visit(memory):
                continue
            break
        # Fewer replies make a smaller subtree.
        score = -FIRST
        if not over:
            score = FIRST if move == tt_move else end - listed(child, memory.moves, end)
        memory.ranked[at] = rank(score, move, False, at - top)
    return np.int64(NO_MOVE)


@compiled
def rank_replies(position, tt_move, ply, top, end, memory):
    """Rank the defender's moves: the hash move, killers, then by ``gain``."""
    for at in range(top, end):
        move = memory.moves[at]
        score = 0
        if move == tt_move:
            score = FIRST
        elif move == memory.killers[2 * ply]:
            score = 2 * KILLER_BONUS
        elif move == memory.killers[2 * ply + 1]:
            score = KILLER_BONUS
        elif knows_gains(position):
            score = gain(position, move)
        memory.ranked[at] = rank(score, move, False, at - top)


@compiled
def remember_refutation(move, ply, memory):
    if move != memory.killers[2 * ply]:
        memory.killers[2 * ply + 1] = memory.killers[2 * ply]
        memory.killers[2 * ply] = move


@kernel
def mating_node(
    position: Position,
    left: int,
    attacking: bool,
    ply: int,
    top: int,
    memory: MateMemory,
    table: Words,
) -> bool:
    """Return whether the attacker wins within *left* more of his moves; he moves if *attacking*.

    The game must not be over, and *left* is at least 1.  The stack of moves is free from *top* on;
    the root (*top* 0) leaves the decisive move in ``memory.move``.  After a stop the answer means
    nothing, and nothing is stored.
    """
    if not visit(memory) or is_draw_here(position, ply, memory):
        return False
    word = address_for(key(position), memory.purpose, np.int64(attacking))
    data = probe(table, word)
    tt_move = np.int64(NO_MOVE)
    # The entry bounds the number of moves to the win.  The root needs a move, not only the answer.
    if data != Bits(0):
        tt_move = move_of(data)
        if top > 0:
            if upper_of(data) <= left:
                return True
            if lower_of(data) > left:
                return False

    start = memory.nodes
    end = moves(position, memory.moves, top)
    if not 0 < end - top <= most_moves(position):
        report_violation(position, MOVES, memory)
        return False
    decisive = np.int64(NO_MOVE)
    if attacking:
        decisive = rank_attacks(position, tt_move, left, top, end, memory)
    else:
        rank_replies(position, tt_move, ply, top, end, memory)
    at = end if attacking and left == 1 else top
    while at < end and decisive == NO_MOVE and memory.stop == RUNNING:
        move = ranked_move(bring_best(memory.ranked, at, end))
        child = play(position, move)
        over, value = outcome(child)
        if over:
            won = value < 0 if attacking else value > 0
        else:
            fewer = left - 1 if attacking else left
            won = mating_node(child, fewer, not attacking, ply + 1, end, memory, table)
        if won == attacking:
            decisive = move
        at += 1
    if memory.stop != RUNNING:
        return False
    if top == 0:
        memory.move = decisive
    # A reply that refutes one attack refutes most others.
    if not attacking and decisive != NO_MOVE:
        remember_refutation(decisive, ply, memory)
    # One move is enough for the side to move: to win, or to escape.
    won = attacking == (decisive != NO_MOVE)
    lower = -INFINITE if won else left + 1
    upper = left if won else INFINITE
    store(table, word, lower, upper, decisive, work_for(2 * (memory.nodes - start)), HALF_FULL)
    return won


@kernel
def mating_root(
    position: Position,
    left: int,
    attacking: bool,
    ply: int,
    first: bool,
    memory: MateMemory,
    table: Words,
) -> bool:
    """Run :func:`mating_node` for Python; with *ply* 0 a draw at the root does not count.

    *first* begins a new search in the table.
    """
    if first:
        begin(table, False)
    memory.move = NO_MOVE
    return mating_node(position, left, attacking, ply, np.int64(0), memory, table)
