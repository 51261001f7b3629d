"""Depth-first proof-number search on sums: does the player to move win a sum of positions?

A game of normal play falls apart into parts that do not touch: a move is made in one of them, and
whoever cannot move loses.  A *sum* is a list of *items*, each a part as the mover sees it, or the
canonical form of a small part (:mod:`cutnode.kernels.forms`).  A move replaces one item by what
becomes of it, and all items by their negatives, so that the player to move always has the moves of
Left.

Sums are known by the sum of their items' keys, whatever the order of the items and the place of a
part on the board, so a table of sums answers many positions at once.  Items of value 0 are left
out, pairs G + (-G) cancel, and a part of few cells is replaced by its form, which many parts share.

Numbers, thresholds, threads and stops work as in :mod:`cutnode.kernels.proof_numbers`.

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
from cutnode.contract.bits import WORD, Bits, high_product, mix, popcount
from cutnode.contract.derived import most_moves
from cutnode.contract.dispatch import game_constant
from cutnode.contract.positions import pack, unpack, width, words_each
from cutnode.contract.stop import MOVES, NODES, PLIES, RUNNING
from cutnode.contract.verbs import (
    MOVES_ROOM,
    asymmetry,
    key,
    moves,
    part,
    part_key,
    parts,
    play,
    swapped,
)
from cutnode.kernels.forms import (
    LEFT,
    NO_FORM,
    TOP,
    ZERO,
    added,
    at_most,
    canonical_form,
    first_node,
    form_hash,
    is_simple,
    left_count,
    left_option,
    left_stop,
    moved,
    negative,
    nimber,
    push,
    read_nodes,
    right_stop,
    simple_added,
    terms,
)
from cutnode.kernels.forms import MOST_TERMS as LIMIT
from cutnode.kernels.ordering import rank, ranked_move, ranked_number, sort_down
from cutnode.kernels.parameters import (
    EPSILON_PART,
    HALF_FULL,
    REFRESH_NODES,
    SHARED_REFRESH,
    SHARED_WORK,
)
from cutnode.kernels.proof_numbers import (
    ALWAYS,
    choose,
    enter,
    refresh,
    take_answer,
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

KEY, NEGATIVE_KEY, COUNTS, ASYMMETRY, FORM, POSITION = range(6)
"""Words of an item: its key, and its negative's; the numbers of moves of the mover and, in the
upper half, of the opponent; the ``asymmetry`` of a part; its form, ``NO_FORM`` if it is a part.
The part follows."""

FORM_CELLS = 8
"""The most cells of a part that is replaced by its form.  Clobber on 4x6, nodes and CPU time:
1.22 M and 2.2 s with 7, 1.01 M and 2.7 s with 8, 0.78 M and 4.2 s with 9, 0.58 M and 8.7 s with
10."""

MOST_ASYMMETRY = 4
FIRST_SYMMETRIC = 100
"""A sum's asymmetry counts up to the first.  Each unit puts it behind sums with up to the second
more moves left, and adds its first proof number once more.  NoGo 4x4 and 3x5, thousand nodes: 24
and 9 with 4, 44 and 10 with 8, 102 and 12 with 16, 178 and 74 without; 66 and 18 if only the order
follows it, 174 and 73 if only the numbers do (with 8)."""

HALF = (1 << 32) - 1
"""The lower half of a word."""

KNOWN_PARTS = 1 << 14
"""The parts whose items a thread keeps, by position."""

KNOWN_FORMS = 1 << 20
"""The parts whose forms a thread keeps, by key; the memory is touched as it is needed."""

KEPT = 2
"""Added to a form that is kept, so that it is not 0, which says that there is none."""

FORM_BYTES = 16 << 20
"""The memory of a thread for forms."""

MOST_TERMS = 1 << 10
"""The most terms of a form: a part with a larger one is searched."""

LOOK_UP = 10
"""In place of a use of the table: only look the position up, and return the work on it."""

WHOLE = 0x6A09E667F3BCC909
"""A word that keeps the key of the root from the keys of parts."""

MOST_ITEMS = 66
"""The most items of a sum: disjoint parts of 64 cells, and a nimber."""


@functools.cache
def sum_dtype(cls: Any) -> np.dtype[Any]:
    """Return the layout of the memory of one searching thread."""
    most = game_constant(cls, "MAX_MOVES", 256)
    plies = game_constant(cls, "MAX_PLIES", 512) + 1
    room = (plies + 1) * (most + MOST_TERMS)
    words = POSITION + words_each(cls)
    fields: list[Any] = [
        ("stop", np.int64),
        ("node_limit", np.int64),
        ("brief", np.int64),  # whether a search that reaches node_limit restarts, keeping nothing
        ("nodes", np.int64),
        ("plies", np.int64),  # longest line that the stacks have room for
        ("cut", np.int64),  # whether a longer line was counted as lost
        ("cells", np.int64),  # parts of at most this size are replaced by their forms
        ("formed", np.int64),  # positions whose forms were computed, and their limit; 0: none
        ("form_limit", np.int64),
        ("depth", np.int64),  # moves made on the way to the form that is computed
        ("heap", np.int64),  # a nimber that is added to the root
        ("purpose", np.uint64),  # part of every key
        ("least", np.int64),  # bounds that follow from an answer: a win is 1, a loss -1
        ("most", np.int64),
        ("points", np.int64),  # 0: no points are settled
        ("move", np.int64),  # the root's winning or most-proving move
        ("proof", np.int64),  # numbers of the node that was searched last
        ("disproof", np.int64),
        ("shared", np.int64),  # whether other threads search the same root with the same table
        ("looked", np.int64),  # node count at the last check for other threads' answers
        ("unwind", np.int64),  # ply of a node that another thread has answered; ALWAYS: none
        ("line", np.uint64, (plies + 1,)),  # addresses of the nodes of the line
        ("violation", np.uint64, (words_each(cls),)),  # a position that breaks the contract
        ("items", np.uint64, ((plies + 2) * MOST_ITEMS * words,)),
        ("moves", np.int64, (room + MOVES_ROOM,)),
        ("ranked", np.int64, (room,)),
        ("sources", np.int64, (room,)),  # items of the node in which the moves are made
        ("proofs", np.int64, (room,)),
        ("disproofs", np.int64, (room,)),
        ("children", np.uint64, (room,)),  # addresses
        ("known", np.uint64, (KNOWN_PARTS * words,)),
        ("values", np.uint64, (KNOWN_FORMS * 2,)),  # a key each, and a form plus KEPT
    ]
    return np.dtype(fields, align=True)


SumMemory = Annotated[Any, record(sum_dtype)]


@compiled
def item_words(position):
    """Return the number of words of an item."""
    return POSITION + width(position)


@compiled
def form_of(at, memory):
    """Return the form of the item at *at*, or ``NO_FORM`` if it is a part."""
    return np.int64(memory.items[at + FORM])


@compiled
def write_form(form, at, memory, forms):
    """Write an item that is a form."""
    opposite = negative(forms, form)
    memory.items[at + KEY] = form_hash(forms, form)
    memory.items[at + NEGATIVE_KEY] = form_hash(forms, opposite)
    write_counts(left_count(forms, form), left_count(forms, opposite), at, memory)
    memory.items[at + ASYMMETRY] = 0
    memory.items[at + FORM] = form


@compiled
def write_counts(mine, theirs, at, memory):
    """Write the numbers of moves of an item."""
    memory.items[at + COUNTS] = Bits(mine) | Bits(theirs) << Bits(32)


@compiled
def count_of(at, memory):
    """Return the mover's number of moves in the item at *at*."""
    return np.int64(Bits(memory.items[at + COUNTS]) & Bits(HALF))


@compiled
def move_item(example, source, to, memory):
    """Copy an item to another place."""
    for word in range(item_words(example)):
        memory.items[to + word] = memory.items[source + word]


@compiled
def negate(example, at, memory, forms):
    """Exchange the players' roles in the item at *at*."""
    word = memory.items[at + KEY]
    memory.items[at + KEY] = memory.items[at + NEGATIVE_KEY]
    memory.items[at + NEGATIVE_KEY] = word
    counts = Bits(memory.items[at + COUNTS])
    memory.items[at + COUNTS] = counts >> Bits(32) | (counts & Bits(HALF)) << Bits(32)
    form = form_of(at, memory)
    if form != NO_FORM:
        memory.items[at + FORM] = negative(forms, form)
    else:
        pack(memory.items, at + POSITION, swapped(unpack(memory.items, at + POSITION, example)))


@compiled(inline=False)
def add_item(example, first, end, memory, forms):
    """Add the item at *end* to the sum of items from *first* to there; return the sum's end.

    An item of value 0 is left out, an item and its negative cancel, and simple forms are added up.
    """
    words = item_words(example)
    form = form_of(end, memory)
    if form == ZERO:
        return end
    for at in range(first, end, words):
        if (
            memory.items[at + KEY] == memory.items[end + NEGATIVE_KEY]
            and memory.items[at + NEGATIVE_KEY] == memory.items[end + KEY]
        ):
            move_item(example, end - words, at, memory)
            return end - words
        other = form_of(at, memory)
        if is_simple(form) and is_simple(other):
            total = simple_added(form, other)
            if total != NO_FORM:
                write_form(total, at, memory, forms)
                return end
    return end + words


@compiled(inline=False)
def write_part(one, at, top, memory):
    """Write an item that is a part."""
    opposite = swapped(one)
    memory.items[at + KEY] = part_key(one)
    memory.items[at + NEGATIVE_KEY] = part_key(opposite)
    mine = moves(one, memory.moves, top) - top
    write_counts(mine, moves(opposite, memory.moves, top) - top, at, memory)
    memory.items[at + ASYMMETRY] = asymmetry(one)
    memory.items[at + FORM] = Bits(NO_FORM)
    pack(memory.items, at + POSITION, one)


@compiled(inline=False)
def push_part(one, mask, first, end, top, memory, forms):
    """Add a part with a mask to the sum of items from *first* to *end*; return its end."""
    words = item_words(one)
    pack(memory.items, end + POSITION, one)
    known = np.int64(high_product(mix(key(one)), Bits(KNOWN_PARTS))) * words
    same = memory.known[known + KEY] != Bits(0)
    for word in range(POSITION, words):
        same = same and memory.known[known + word] == memory.items[end + word]
    if same:
        for word in range(POSITION):
            memory.items[end + word] = memory.known[known + word]
        return add_item(one, first, end, memory, forms)
    write_part(one, end, top, memory)
    if popcount(mask) <= memory.cells or is_kept(Bits(memory.items[end + KEY]), memory):
        form = sum_form(one, top, memory, forms)
        if form != NO_FORM:
            write_form(form, end, memory, forms)
    if memory.stop == RUNNING:  # otherwise the form may be unknown for no other reason
        for word in range(words):
            memory.known[known + word] = memory.items[end + word]
    return add_item(one, first, end, memory, forms)


@kernel
def sum_form(position: Position, top: int, memory: SumMemory, forms: Words) -> int:
    """Return the canonical form of a position, as the mover sees it.

    It is ``NO_FORM`` if it is too large, or after a stop.  The stack of moves is free from *top*
    on.
    """
    total = ZERO
    last = parts(position, memory.moves, top)
    for number in range(top, last):
        one = part(position, Bits(memory.moves[number]))
        word = Bits(part_key(one))
        entry = entry_of(word)
        if not is_kept(word, memory):
            if not enter_form(memory):
                return NO_FORM
            base = np.int64(forms[TOP])
            left = 0
            form = ZERO
            for side in range(2):
                seen = one if side == LEFT else swapped(one)
                end = end_of_any_moves(seen, last, memory)
                for at in range(last, end):
                    if form != NO_FORM:
                        form = sum_form(play(seen, memory.moves[at]), end, memory, forms)
                    # After Left's move, Right is the one who sees the child.
                    push(forms, negative(forms, form) if side == LEFT else form)
                if side == LEFT:
                    left = np.int64(forms[TOP]) - base
            form = canonical_form(forms, left, np.int64(forms[TOP]) - base - left)
            memory.depth -= 1
            if memory.stop != RUNNING:
                return NO_FORM
            memory.values[entry] = word
            memory.values[entry + 1] = form + KEPT
        total = added(forms, total, np.int64(memory.values[entry + 1]) - KEPT)
        if total == NO_FORM:
            break
    return total


@compiled
def entry_of(word):
    """Return the place of a part's form among the kept ones, by the part's key."""
    return np.int64(high_product(mix(word), Bits(KNOWN_FORMS))) * 2


@compiled
def is_kept(word, memory):
    """Return whether the form of the part with a key is kept."""
    entry = entry_of(word)
    return memory.values[entry] == word and memory.values[entry + 1] != Bits(0)


@compiled
def enter_form(memory):
    """Count a position whose form is to be computed, and return whether the search may continue."""
    if 0 < memory.form_limit == memory.formed:
        memory.stop = NODES
    if memory.depth >= memory.plies:
        memory.stop = PLIES
    if memory.stop != RUNNING:
        return False
    memory.formed += 1
    memory.depth += 1
    return True


@compiled(inline=False)
def end_of_any_moves(position, top, memory):
    """Write the moves, if any, to the stack and return their end; if there are too many, *top*.

    A wrong number ends the search.
    """
    end = moves(position, memory.moves, top)
    if 0 <= end - top <= most_moves(position):
        return end
    report_violation(position, MOVES, memory)
    return top


@kernel
def keep_values(
    first: int, nodes: Words, keys: Words, values: Words, memory: SumMemory, forms: Words
) -> bool:
    """Keep the forms of parts with some *keys*, in an empty memory; return whether there is room.

    The *nodes* lay from the word *first* on in the array that they and the handles *values* are
    from.  Forms with more terms than *forms* may have are left out.
    """
    shift = first_node(forms) - first
    if not read_nodes(forms, nodes, shift):
        return False
    for at in range(len(keys)):
        form = moved(np.int64(values[at]), shift)
        if terms(forms, form) <= np.int64(forms[LIMIT]):
            entry = entry_of(Bits(keys[at]))
            memory.values[entry] = keys[at]
            memory.values[entry + 1] = form + KEPT
    return True


@compiled(inline=False)
def push_parts(position, first, end, top, memory, forms):
    """Add the parts of a position to the sum of items from *first* to *end*; return its end."""
    last = parts(position, memory.moves, top)
    for at in range(top, last):
        mask = Bits(memory.moves[at])
        end = push_part(part(position, mask), mask, first, end, last, memory, forms)
    return end


@compiled(inline=False)
def push_child(example, first, end, source, move, top, memory, forms):
    """Push the sum after a move in the item at *source*, for the next player; return its end."""
    words = item_words(example)
    to = end
    for at in range(first, end, words):
        if at != source:
            move_item(example, at, to, memory)
            negate(example, to, memory, forms)
            to += words
    form = form_of(source, memory)
    if form != NO_FORM:
        write_form(negative(forms, left_option(forms, form, move)), to, memory, forms)
        return add_item(example, end, to, memory, forms)
    child = play(unpack(memory.items, source + POSITION, example), move)
    return push_parts(child, end, to, top, memory, forms)


@compiled(inline=False)
def list_moves(example, at, top, memory, forms):
    """Write the moves in the item at *at* to the stack; return their end."""
    form = form_of(at, memory)
    if form != NO_FORM:
        count = left_count(forms, form)
        for number in range(count):
            memory.moves[top + number] = number
        return top + count
    return moves(unpack(memory.items, at + POSITION, example), memory.moves, top)


@compiled(inline=False)
def sum_outcome(example, first, end, memory, forms):
    """Return 1 if the mover wins a sum, 0 if he loses, and ``NO_FORM`` if a search has to say."""
    words = item_words(example)
    low, high = 0, 0
    for at in range(first, end, words):
        form = form_of(at, memory)
        if form == NO_FORM:
            return NO_FORM
        low += right_stop(forms, form)
        high += left_stop(forms, form)
    # Stops of a sum are between the sums of the stops.
    if low > 0 or high < 0:
        return 1 if low > 0 else 0
    total = ZERO
    for at in range(first, end, words):
        form = form_of(at, memory)
        if at + words == end:
            # Left wins first unless total + form <= 0.
            found = at_most(forms, total, negative(forms, form))
            return NO_FORM if found == NO_FORM else 1 - found
        total = added(forms, total, form)
    return 0


@compiled
def sum_address(example, first, end, memory):
    """Return the address of a sum in the table."""
    total = Bits(0)
    for at in range(first, end, item_words(example)):
        total = (total + Bits(mix(Bits(memory.items[at + KEY])))) & Bits(WORD)
    return address_for(total, memory.purpose, 0)


@compiled(inline=False)
def push_children(example, first, end, ply, top, memory, forms, table):
    """Make the moves of a sum, and push those that are open.

    Return the end of the moves, the number of open ones, and whether a move wins at once.
    """
    words = item_words(example)
    count = 0
    limit = most_moves(example)
    room = limit + MOST_TERMS
    bottom = top + room
    for source in range(first, end, words):
        repeated = False
        for at in range(first, source, words):
            repeated |= memory.items[at + KEY] == memory.items[source + KEY]
        if repeated:
            continue
        last = list_moves(example, source, bottom, memory, forms)
        if not 0 <= last - bottom <= limit:
            report_violation(unpack(memory.items, source + POSITION, example), MOVES, memory)
            return bottom, 0, False
        for at in range(bottom, last):
            move = memory.moves[at]
            child_end = push_child(example, first, end, source, move, last, memory, forms)
            decided = sum_outcome(example, end, child_end, memory, forms)
            if decided == 0:
                if ply == 0:
                    memory.move = move
                return bottom, 0, True
            if decided == 1:
                continue
            word = sum_address(example, end, child_end, memory)
            known = False
            for slot in range(top, top + count):
                known |= memory.children[slot] == word
            if known:
                continue
            if count == room:
                memory.cut = 1  # no small parts that were met have as many options
                break
            prepare(table, word)
            slot = top + count
            memory.children[slot] = word
            memory.sources[slot] = source
            mobility, asymmetric = 0, 0
            for item in range(end, child_end, words):
                mobility += count_of(item, memory)
                asymmetric += np.int64(memory.items[item + ASYMMETRY])
            asymmetric = min(max(asymmetric, 0), MOST_ASYMMETRY)
            memory.ranked[slot] = rank(-mobility - FIRST_SYMMETRIC * asymmetric, move, False, count)
            memory.proofs[slot] = max(mobility // 2, 1) * (1 + asymmetric)
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
    most_proof: int,
    most_disproof: int,
    ply: int,
    top: int,
    memory: SumMemory,
    forms: Words,
    table: Words,
) -> None:
    """Search whether the mover wins a sum, until a number reaches its threshold.

    The items lie from *first* to *end*; the stacks of moves are free from *top* on.  The numbers
    are left in ``memory.proof`` and ``memory.disproof``.  The caller has written the sum's address
    to ``memory.line`` and checked that the question is open.
    """
    # Step 1. Count the node, and stop if told to.
    if not enter(ply, memory, table):
        return
    if ply >= memory.plies:
        memory.cut = 1  # play longer than MAX_PLIES breaks the contract
        memory.proof, memory.disproof = SOLVED, 0
        return
    before = memory.nodes
    word = Bits(memory.line[ply])

    # Step 2. Make the moves.
    after, count, proven = push_children(example, first, end, ply, top, memory, forms, table)
    if memory.stop != RUNNING:
        return
    proven = proven or look_up_children(ply, top, count, memory, table)

    # Step 3. Search the most-proving move, until a threshold is reached.
    proof, disproof = 0, SOLVED
    seen = memory.nodes
    large = memory.shared != 0 and work_of(probe(table, word)) >= SHARED_WORK
    while not proven:
        if memory.shared and not large:
            large = memory.nodes - before >= 1 << SHARED_WORK
        if memory.nodes - seen > (SHARED_REFRESH if large else REFRESH_NODES):
            seen = memory.nodes
            refresh(top, count, 1, memory, table)
        best, second, proof, disproof, unsolved = choose(
            example, most_proof, top, count, 1, large, memory, table
        )
        if ply == 0 and proof != 0 and disproof != 0:
            memory.move = ranked_move(memory.ranked[best])
        if proof >= most_proof or disproof >= most_disproof:
            break
        slot = top + ranked_number(memory.ranked[best])
        child_word = Bits(memory.children[slot])
        move, source = ranked_move(memory.ranked[best]), memory.sources[slot]
        child_end = push_child(example, first, end, source, move, after, memory, forms)
        allowed = min(most_proof, second + second // EPSILON_PART + 1)
        rest = SOLVED if most_disproof == SOLVED else most_disproof - (unsolved - 1)
        if large:
            mark(table, child_word, True)
        memory.line[ply + 1] = child_word
        sum_node(example, end, child_end, rest, allowed, ply + 1, after, memory, forms, table)
        if large:
            mark(table, child_word, False)
        if memory.unwind < ply:
            return
        if memory.stop != RUNNING or memory.unwind == ply:
            if take_answer(word, memory, table):
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
    forms: Words,
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
        end = push_parts(position, zero, zero, zero, memory, forms)
        return work_of(probe(table, sum_address(position, zero, end, memory)))
    memory.shared = sharing == SHARED_TABLE
    memory.unwind = ALWAYS
    memory.cut = memory.looked = 0
    memory.least, memory.most = 1, -1
    if memory.heap > 0:
        end = push_parts(position, zero, zero, zero, memory, forms)
        write_form(nimber(memory.heap), end, memory, forms)
        end = add_item(position, zero, end, memory, forms)
    else:
        # One item, whatever its parts, so that its moves are moves of the position.
        write_part(position, zero, zero, memory)
        memory.items[KEY] = mix(Bits(key(position)) ^ Bits(WHOLE))
        end = item_words(position)
    memory.line[0] = sum_address(position, zero, end, memory)
    sum_node(position, zero, end, most, most, zero, zero, memory, forms, table)
    return ALWAYS
