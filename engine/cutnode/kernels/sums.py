"""Depth-first proof-number search on sums: does the player to move win a sum of positions?

A game of normal play falls apart into parts that do not touch: a move is made in one of them, and
whoever cannot move loses.  A *sum* is a list of *items*, each a part as the mover sees it, or the
canonical form of a small part (:mod:`cutnode.kernels.forms`).  A move replaces one item by what
becomes of it, and all items by their negatives, so that the player to move always has the moves of
Left.

Sums are known by the sum of their items' keys, whatever the order of the items and the place of a
part on the board, so a table of sums answers many positions at once.  Items of value 0 are left
out, pairs G + (-G) cancel, and a part of few cells is replaced by its form, which many parts share.

The numbers, thresholds, threads and stops are those of :mod:`cutnode.kernels.proof_numbers`.

Sources: M. Mueller, "Decomposition search: a combinatorial games approach to game tree search, with
applications to solving Go endgames" (IJCAI 1999); M. Mueller and Z. Li, "Locally informed global
search for sums of combinatorial games" (2004); J. Lemoine and S. Viennot, "Nimbers are inevitable"
(2012).
"""

from __future__ import annotations

import functools
from typing import Annotated, Any

import numpy as np

from cutnode.compiler.jit import Position, Words, compiled, kernel, record
from cutnode.contract.bits import Bits, mix
from cutnode.contract.derived import most_moves
from cutnode.contract.dispatch import game_constant
from cutnode.contract.positions import pack, unpack, width, words_each
from cutnode.contract.stop import MOVES, NODES, RUNNING
from cutnode.contract.verbs import moves, part, part_key, parts, play, swapped
from cutnode.kernels.ordering import rank, ranked_move, ranked_number, sort_down
from cutnode.kernels.parameters import (
    EPSILON_PART,
    HALF_FULL,
    LOOK_NODES,
    REFRESH_NODES,
    SHARED_REFRESH,
    SHARED_WORK,
)
from cutnode.kernels.proof_numbers import (
    ALWAYS,
    choose,
    look_around,
    nearest_move,
    open_moves,
    refresh,
)
from cutnode.kernels.reference import report_violation
from cutnode.kernels.solver import PREPARE_TABLE, SHARED_TABLE
from cutnode.kernels.table import (
    SOLVED,
    address_for,
    begin,
    disproof_of,
    mark,
    open_for,
    prepare,
    probe,
    proof_of,
    store_numbers,
    work_for,
    work_of,
)

KEY, NEGATIVE_KEY, FORM, POSITION = range(4)
"""Words of an item: its key, its negative's key, and its form (``NO_FORM`` if it is a part); the
part follows."""

NO_FORM = -1

LOOK_UP = 10
"""In place of a use of the table: only look the position up, and return the work on it."""

MOST_ITEMS = 66
"""The most items of a sum: parts are disjoint sets of 64 cells."""


@functools.cache
def sum_dtype(cls: Any) -> np.dtype[Any]:
    """Return the layout of the memory of one thread."""
    most = game_constant(cls, "MAX_MOVES", 256)
    plies = game_constant(cls, "MAX_PLIES", 512) + 1
    room = (plies + 1) * most
    items = (plies + 2) * MOST_ITEMS
    fields: list[Any] = [
        ("stop", np.int64),
        ("node_limit", np.int64),
        ("brief", np.int64),  # whether a search that reaches node_limit restarts, keeping nothing
        ("nodes", np.int64),
        ("plies", np.int64),  # longest line that the stacks have room for
        ("cut", np.int64),  # whether a longer line was counted against the attacker
        ("purpose", np.uint64),  # part of every key
        ("least", np.int64),  # bounds that follow from answers: a win is 1, a loss -1
        ("most", np.int64),
        ("move", np.int64),  # the root's proving or most-proving move
        ("proof", np.int64),  # numbers of the node that was searched last
        ("disproof", np.int64),
        ("shared", np.int64),  # whether other threads search the same root with the same table
        ("looked", np.int64),  # node count at the last check for other threads' answers
        ("unwind", np.int64),  # ply of a node that another thread has answered; ALWAYS: none
        ("line", np.uint64, (plies + 1,)),  # addresses of the nodes of the line
        ("violation", np.uint64, (words_each(cls),)),  # a position that breaks the contract
        ("items", np.uint64, (items * (POSITION + words_each(cls)),)),
        ("moves", np.int64, (room + most + MOST_ITEMS,)),
        ("ranked", np.int64, (room,)),
        ("sources", np.int64, (room,)),  # items of the node in which the moves are made
        ("proofs", np.int64, (room,)),
        ("disproofs", np.int64, (room,)),
        ("children", np.uint64, (room,)),  # addresses
    ]
    return np.dtype(fields, align=True)


SumMemory = Annotated[Any, record(sum_dtype)]


@compiled
def item_words(position):
    return POSITION + width(position)


@compiled
def negate(example, at, memory):
    """Exchange the players' roles in the item at *at*."""
    key = memory.items[at + KEY]
    memory.items[at + KEY] = memory.items[at + NEGATIVE_KEY]
    memory.items[at + NEGATIVE_KEY] = key
    pack(memory.items, at + POSITION, swapped(unpack(memory.items, at + POSITION, example)))


@compiled
def cancel(example, first, end, memory):
    """Remove the last item of a sum and one that is its negative, if there is one; return the end.

    The last item lies in front of *end*.
    """
    words = item_words(example)
    last = end - words
    for at in range(first, last, words):
        if (
            memory.items[at + KEY] == memory.items[last + NEGATIVE_KEY]
            and memory.items[at + NEGATIVE_KEY] == memory.items[last + KEY]
        ):
            move_item(example, last - words, at, memory)
            return last - words
    return end


@compiled
def move_item(example, source, to, memory):
    for word in range(item_words(example)):
        memory.items[to + word] = memory.items[source + word]


@compiled(inline=False)
def push_parts(position, first, end, top, memory):
    """Add the parts of a position to the sum of items from *first* to *end*; return its end."""
    last = parts(position, memory.moves, top)
    for at in range(top, last):
        one = part(position, Bits(memory.moves[at]))
        memory.items[end + KEY] = part_key(one)
        memory.items[end + NEGATIVE_KEY] = part_key(swapped(one))
        memory.items[end + FORM] = Bits(NO_FORM)
        pack(memory.items, end + POSITION, one)
        end = cancel(position, first, end + item_words(position), memory)
    return end


@compiled
def push_child(example, first, end, source, move, top, memory):
    """Push the sum after a move in the item at *source*, for the next player; return its end."""
    words = item_words(example)
    to = end
    for at in range(first, end, words):
        if at != source:
            move_item(example, at, to, memory)
            negate(example, to, memory)
            to += words
    child = play(unpack(memory.items, source + POSITION, example), move)
    return push_parts(child, end, to, top, memory)


@compiled
def sum_address(example, first, end, memory):
    """Return the address of a sum in the table."""
    total = Bits(0)
    for at in range(first, end, item_words(example)):
        total += mix(Bits(memory.items[at + KEY]))
    return address_for(total, memory.purpose, 0)


@compiled(inline=False)
def push_children(example, first, end, ply, top, memory, table):
    """Make the moves of a sum, and push those that are open.

    Return the end of the moves, the number of open ones, and whether a move wins at once.
    """
    words = item_words(example)
    count = 0
    limit = most_moves(example)
    bottom = top + limit
    for source in range(first, end, words):
        repeated = False
        for at in range(first, source, words):
            repeated |= memory.items[at + KEY] == memory.items[source + KEY]
        if repeated:
            continue
        position = unpack(memory.items, source + POSITION, example)
        last = moves(position, memory.moves, bottom)
        if not 0 <= last - bottom <= limit:
            report_violation(position, MOVES, memory)
            return bottom, 0, False
        for at in range(bottom, last):
            move = memory.moves[at]
            child_end = push_child(example, first, end, source, move, last, memory)
            if child_end == end:
                if ply == 0:
                    memory.move = move
                return bottom, 0, True
            word = sum_address(example, end, child_end, memory)
            known = False
            for slot in range(top, top + count):
                known |= memory.children[slot] == word
            if known:
                continue
            prepare(table, word)
            slot = top + count
            memory.children[slot] = word
            memory.sources[slot] = source
            memory.ranked[slot] = rank(0, move, False, count)
            memory.proofs[slot] = 1
            memory.disproofs[slot] = 1
            count += 1
    sort_down(memory.ranked, top, top + count)
    return bottom, count, False


@compiled(inline=False)
def look_up_children(ply, top, count, memory, table):
    """Look up the numbers of a node's open moves; return whether one of them wins."""
    for at in range(top, top + count):
        slot = top + ranked_number(memory.ranked[at])
        data = probe(table, Bits(memory.children[slot]))
        if data != Bits(0):
            memory.proofs[slot], memory.disproofs[slot] = disproof_of(data), proof_of(data)
            if disproof_of(data) == 0:
                if ply == 0:
                    memory.move = ranked_move(memory.ranked[at])
                return True
    return False


@kernel
def sum_node(
    example: Position,
    first: int,
    end: int,
    word: Bits,
    most_proof: int,
    most_disproof: int,
    ply: int,
    top: int,
    memory: SumMemory,
    table: Words,
) -> None:
    """Search whether the mover wins a sum, until a number reaches its threshold.

    The items lie from *first* to *end*; the stacks of moves are free from *top* on.
    """
    # Step 1. Count the node, and stop if told to.
    memory.nodes += 1
    if memory.stop == RUNNING and memory.nodes > memory.node_limit:
        memory.stop = NODES
        if memory.brief:
            memory.unwind = -1  # beyond the root
    if memory.shared and memory.nodes - memory.looked > LOOK_NODES:
        look_around(ply, memory, table)
    if memory.stop != RUNNING or memory.unwind < ply:
        return
    if ply >= memory.plies:
        memory.cut = 1
        memory.proof, memory.disproof = SOLVED, 0
        return
    before = memory.nodes

    # Step 2. Make the moves.
    after, count, proven = push_children(example, first, end, ply, top, memory, table)
    if memory.stop != RUNNING:
        return
    proven = proven or look_up_children(ply, top, count, memory, table)

    # Step 3. Search the most-proving move, until a threshold is reached.
    proof, disproof = 0, SOLVED
    seen = memory.nodes
    memory.line[ply] = word
    large = memory.shared != 0 and work_of(probe(table, word)) >= SHARED_WORK
    while not proven:
        if memory.shared and not large:
            large = memory.nodes - before >= 1 << SHARED_WORK
        if memory.nodes - seen > (SHARED_REFRESH if large else REFRESH_NODES):
            seen = memory.nodes
            refresh(top, count, 1, memory, table)
        live = open_moves(top, count, memory)
        best, least, second, nearest, widest, unsolved = choose(
            top, count, 1, live, large, memory, table
        )
        proof, disproof = nearest, min(widest + unsolved - 1, SOLVED - 1)
        if nearest == SOLVED:
            disproof = 0
            break
        if nearest == 0:
            disproof = SOLVED
            break
        if ply == 0:
            memory.move = ranked_move(memory.ranked[best])
        if proof >= most_proof or disproof >= most_disproof:
            break
        if least >= most_proof:
            best, second = nearest_move(top, count, live, memory)
        slot = top + ranked_number(memory.ranked[best])
        child_word = Bits(memory.children[slot])
        move, source = ranked_move(memory.ranked[best]), memory.sources[slot]
        child_end = push_child(example, first, end, source, move, after, memory)
        allowed = min(most_proof, second + second // EPSILON_PART + 1)
        rest = SOLVED if most_disproof == SOLVED else most_disproof - (unsolved - 1)
        if large:
            mark(table, child_word, True)
        sum_node(example, end, child_end, child_word, rest, allowed, ply + 1, after, memory, table)
        if large:
            mark(table, child_word, False)
        if memory.unwind < ply:
            return
        if memory.stop != RUNNING or memory.unwind == ply:
            memory.unwind = ALWAYS
            data = probe(table, word)
            if data != Bits(0) and (proof_of(data) == 0 or disproof_of(data) == 0):
                memory.proof, memory.disproof = proof_of(data), disproof_of(data)
                return
            if memory.stop != RUNNING:
                most_proof = 0  # reached at once: only bring the numbers up to date
            refresh(top, count, 1, memory, table)
            continue
        proof, disproof = memory.disproof, memory.proof
        memory.proofs[slot], memory.disproofs[slot] = proof, disproof
        proven = proof == 0
    # Step 4. Store the numbers.
    memory.proof, memory.disproof = proof, disproof
    store_numbers(table, word, proof, disproof, work_for(memory.nodes - before))


@kernel
def sum_root(
    position: Position,
    target: int,
    move_wanted: bool,
    sharing: int,
    memory: SumMemory,
    table: Words,
) -> int:
    """Search whether the mover wins a position."""
    if sharing != SHARED_TABLE and sharing != LOOK_UP:
        begin(table, False)
    if sharing == PREPARE_TABLE:
        open_for(table, memory.node_limit, HALF_FULL)
        return ALWAYS
    zero, most = np.int64(0), np.int64(SOLVED)
    if sharing == LOOK_UP:
        end = push_parts(position, zero, zero, zero, memory)
        return work_of(probe(table, sum_address(position, zero, end, memory)))
    memory.shared = sharing == SHARED_TABLE
    memory.unwind = ALWAYS
    memory.cut = memory.looked = 0
    memory.least, memory.most = 1, -1
    memory.items[KEY] = part_key(position)
    memory.items[NEGATIVE_KEY] = part_key(swapped(position))
    memory.items[FORM] = Bits(NO_FORM)
    pack(memory.items, POSITION, position)
    end = item_words(position)
    word = sum_address(position, 0, end, memory)
    sum_node(position, zero, end, word, most, most, zero, zero, memory, table)
    return ALWAYS
