"""Depth-first proof-number search (df-pn): is the value of a position at least so much?

A *question* is a position and a *target*: does its mover reach that value?  The proof number of a
question is the least number of open positions that have to be answered with yes to prove it, the
disproof number the same for no; 0 is a proof, ``SOLVED`` the number of what is decided the other
way.  A node expands the move that is nearest to a proof until one of its numbers reaches the
threshold that its parent set, and then the parent looks again: so the search is best-first, in the
memory of a depth-first one and a table.

Numbers are the mover's.  After a move that hands over, the question is the other player's: whether
*he* reaches ``1 - target``; a proof of that is a disproof here.  After an extra turn it stays the
same.

Over-counting.  Where lines meet again, a sum of disproof numbers counts positions twice, which can
make an easy proof look hard.  So the largest of them is taken instead, and one for each other open
move (T. Ueda et al., "Weak proof-number search", 2008).  Numbers only order the search: what
is proven is proven by the rules, whatever they are, and no sum reaches ``SOLVED``.

Focus.  Only the first open moves of a node, in their order, make its numbers: one, or ``FOCUS`` of
the game, and a part of them.  Others take their turn when these are disproven, so a good order
makes wide nodes narrow (dynamic widening: P. Henderson, "Playing and solving the game of Hex",
2010).  Not where play can go round: there a search can turn for ever among moves that a repetition
answers on one line only.

Stops.  Told to stop, the nodes of the line take in the numbers of their moves once more, from the
last to the root, and store their own: they are those of now, and a search with the same table goes
on where this one was.

Repetition.  A position of the line of play that comes back is a draw.  An answer that needs one
holds on this line only (graph-history interaction): it says from which ply on the line matters to
it, and unless that is the node's own, the table keeps it under the line's *signature*, to be found
again by those that come the same way.  All other answers hold wherever the position is met.  This
is the base of A. Kishimoto and M. Mueller, "A general solution to the graph history interaction
problem" (2004), without its simulation of what was proven on another line.

Threads that share the table take the moves that another searches right now for worse than they are
(virtual proof numbers: J. Pawlewicz and R. Hayward, "Scalable parallel DFPN search", 2013), and for
each of these in the focus they may choose one more behind it.  Else two threads would go the same
way through narrow games, whose focus is one move.

Sources: L. V. Allis et al., "Proof-number search" (1994); A. Nagai, "Df-pn algorithm for searching
AND/OR trees and its applications" (2002); J. Pawlewicz and L. Lew, "Improving depth-first
pn-search: 1 + epsilon trick" (2007).
"""

from __future__ import annotations

import functools
from typing import Annotated, Any

import numpy as np

from cutnode.compiler.jit import Position, Words, compiled, kernel, record
from cutnode.contract.bits import Bits, mix
from cutnode.contract.derived import least_focus, most_moves, most_value, recurs
from cutnode.contract.dispatch import game_constant
from cutnode.contract.positions import pack, unpack, width, words_each
from cutnode.contract.stop import MOVES, NODES, RUNNING, VALUE
from cutnode.contract.verbs import (
    INFINITE,
    MOVES_ROOM,
    NO_MOVE,
    bounds,
    candidates,
    drawn,
    evaluate,
    moves,
    moves_again,
    order,
    outcome,
    play,
    recurrence,
    reversible,
    settled,
)
from cutnode.kernels.ordering import rank, ranked_again, ranked_move, ranked_number, sort_down
from cutnode.kernels.parameters import (
    EPSILON_PART,
    FOCUS_PART,
    HALF_FULL,
    LOOK_NODES,
    REFRESH_NODES,
    SHARED_REFRESH,
    SHARED_WORK,
    VIRTUAL_FACTOR,
)
from cutnode.kernels.reference import report_violation
from cutnode.kernels.solver import PREPARE_TABLE, SHARED_TABLE, resolve
from cutnode.kernels.table import (
    SOLVED,
    address_for,
    begin,
    disproof_of,
    entry_cutoff,
    is_marked,
    mark,
    open_for,
    prepare,
    probe,
    proof_of,
    store_numbers,
    work_for,
    work_of,
)
from cutnode.kernels.tablebase_scores import tablebase_fields, tablebase_value

ALWAYS = 1 << 30
"""The ply on which an answer depends that holds on every line of play."""

UNSURE = -1
"""The ply on which an answer depends that holds for this root and its past only."""


@functools.cache
def proof_dtype(cls: Any) -> np.dtype[Any]:
    """The memory of one thread that answers questions."""
    most = game_constant(cls, "MAX_MOVES", 256)
    plies = game_constant(cls, "MAX_PLIES", 512) + 1
    room = (plies + 1) * most
    fields: list[Any] = [
        ("stop", np.int64),
        ("node_limit", np.int64),
        ("brief", np.int64),  # whether a search that reaches it is begun anew, and keeps nothing
        ("nodes", np.int64),
        ("plies", np.int64),  # longest line that the stacks have room for
        ("cut", np.int64),  # whether a line was longer, and counted against the attacker
        ("decided", np.int64),  # whether bounds decide the root
        ("unit", np.int64),  # an advantage that doubles a first number; 0: estimates do not matter
        ("purpose", np.uint64),  # part of all keys
        ("target", np.int64),  # of the attacker, whose question the root's is
        ("least", np.int64),  # what the attacker surely has where a line was decided for him
        ("most", np.int64),  # and at most where it was decided against him
        ("move", np.int64),  # of the root: what proves it, or is nearest to that
        ("proof", np.int64),  # the numbers of the node that was searched last
        ("disproof", np.int64),
        ("shared", np.int64),  # whether other threads search the same with the same table
        ("looked", np.int64),  # at so many nodes we looked last for what they have answered
        ("unwind", np.int64),  # they have answered the node of this ply; ALWAYS: none
        ("line", np.uint64, (plies + 1,)),  # the addresses of the nodes to here
        ("violation", np.uint64, (words_each(cls),)),  # breaks the contract
        ("moves", np.int64, (room + MOVES_ROOM,)),
        ("ranked", np.int64, (room,)),
        ("proofs", np.int64, (room,)),  # of the moves, for the player who has them
        ("disproofs", np.int64, (room,)),
        ("children", np.uint64, (room * (words_each(cls) + 1),)),
        ("path", np.uint64, (plies + 1,)),
        ("signatures", np.uint64, (plies + 1,)),  # of the line above a ply
        *tablebase_fields(cls),
    ]
    return np.dtype(fields, align=True)


ProofMemory = Annotated[Any, record(proof_dtype)]

# A move waits in the stacks: ``ranked`` has its word (see ``cutnode.kernels.ordering``), ``proofs``
# and ``disproofs`` its numbers, ``children`` the position after it and that one's address.


@compiled
def address(position, target, memory):
    """The scattered key of a question."""
    # What is asked is of the part of the value that is left to play for: never below zero here.
    points, word = settled(position)
    return address_for(word, memory.purpose, target - points + 2 * INFINITE)


@compiled
def look(position, target, memory):
    """Return what can be seen of a question without search, as the solver's ``resolve`` does."""
    # Where play can go round, no position may be passed over: it could be one that comes back.
    if recurs(position):
        lower, upper = bounds(position, target - 1, target)
        decided, value = entry_cutoff(lower, upper, target - 1, target)
        if not decided:
            decided, value = tablebase_value(position, memory)
        return position, True, decided, value
    return resolve(position, target - 1, target, memory)


@compiled
def list_moves(position, at, memory):
    """Write the moves of a node to the stack from *at* on; return the end."""
    # Candidates are only asked for where bounds leave the value open.
    if at == 0 and memory.decided:
        return moves(position, memory.moves, at)
    return candidates(position, memory.moves, at)


@compiled
def note_value(value, target, memory):
    """Remember how clearly a line was decided: a bound of the mover, whose *target* that is."""
    # Seen by the attacker it is a lower bound where he succeeds, and an upper one where he fails.
    bound = value if target == memory.target else -value
    if bound >= memory.target:
        memory.least = min(memory.least, bound)
    else:
        memory.most = max(memory.most, bound)


@compiled
def draw_since(position, child, ply, steps, memory):
    """Return the ply whose position comes back with a move, ``ALWAYS`` if none does.

    *steps* reversible moves led to the node.
    """
    if drawn(child):
        return UNSURE
    if not recurs(position) or not reversible(position, child):
        return ALWAYS
    word = Bits(recurrence(child))
    at = ply
    first = max(at - steps, 0)
    while at >= first:
        if Bits(memory.path[at]) == word:
            return at
        at -= 1
    return ALWAYS


@compiled
def focus(position, number):
    """How many of so many open moves make the numbers of a node."""
    return min(number, least_focus(position) + number // FOCUS_PART)


@compiled
def first_numbers(position, end, memory):
    """The numbers of a position that nobody has searched yet, for its mover.

    One move is enough to prove, and all are needed to disprove (mobility), or those in the focus of
    a game that says how many these are; an estimate shifts both.
    """
    proof, disproof = 1, max(list_moves(position, end, memory) - end, 1)
    if least_focus(position) > 1:
        disproof = focus(position, disproof)
    if memory.unit > 0:
        # Doubled for each unit that the mover is behind, the other for each that he is ahead.
        doublings = min(max(evaluate(position) // memory.unit, -8), 8)
        proof <<= max(-doublings, 0)
        disproof <<= max(doublings, 0)
    return proof, disproof


@compiled
def known_numbers(word, signature, table):
    """Return whether a question is in the table, its numbers, and the ply they depend on."""
    data = probe(table, word)
    proof, disproof = proof_of(data), disproof_of(data)
    if signature != Bits(0) and (data == Bits(0) or (proof != 0 and disproof != 0)):
        # Of what is answered for this line only, one number is 0, and the other says the ply.
        answer = probe(table, word ^ signature)
        if answer != Bits(0):
            if proof_of(answer) == 0:
                return True, 0, SOLVED, disproof_of(answer) - 1 + UNSURE
            return True, SOLVED, 0, proof_of(answer) - 1 + UNSURE
    return data != Bits(0), proof, disproof, ALWAYS


@compiled
def keep_numbers(word, signature, proof, disproof, depends, ply, work, table):
    """Put the numbers of a node into the table: of an answer for this line only, for that."""
    if depends >= ply:
        store_numbers(table, word, proof, disproof, work)
    elif proof == 0:
        store_numbers(table, word ^ signature, 0, depends + 1 - UNSURE, work)
    else:
        store_numbers(table, word ^ signature, depends + 1 - UNSURE, 0, work)


@compiled(inline=False)
def refresh(top, count, stride, memory, table):
    """Look up the numbers of the moves of a node again, where they are not answers."""
    for at in range(top, top + count):
        slot = top + ranked_number(memory.ranked[at])
        data = probe(table, Bits(memory.children[slot * stride + stride - 1]))
        if data != Bits(0) and memory.proofs[slot] != SOLVED:
            again = ranked_again(memory.ranked[at])
            memory.proofs[slot] = proof_of(data) if again else disproof_of(data)
            memory.disproofs[slot] = disproof_of(data) if again else proof_of(data)


@compiled
def open_moves(top, count, memory):
    """The number of moves of a node that are not disproven."""
    number = 0
    for at in range(top, top + count):
        number += memory.proofs[top + ranked_number(memory.ranked[at])] != SOLVED
    return number


@compiled(inline=False)
def nearest_move(top, count, live, memory):
    """The nearest to a proof of the first *live* open moves, and the second least number."""
    best, least, second = -1, SOLVED, SOLVED
    for at in range(top, top + count):
        number = memory.proofs[top + ranked_number(memory.ranked[at])]
        if number == SOLVED or live == 0:
            continue
        live -= 1
        if number < least:
            best, least, second = at, number, least
        elif number < second:
            second = number
    return best, second


@compiled(inline=False)
def look_around(ply, memory, table):
    """Find out whether another thread has answered a node of the line to here, the first."""
    memory.looked = memory.nodes
    for above in range(ply):
        data = probe(table, memory.line[above])
        if data != Bits(0) and (proof_of(data) == 0 or disproof_of(data) == 0):
            memory.unwind = above
            return


@compiled
def make_moves(position, target, ply, steps, top, memory, table):
    """Make the moves of a node and put those that are open into the stacks, the likely ones first.

    Returns the end of the moves and the number of open ones, whether one of the others proves the
    node, and the ply that the others' answers depend on.
    """
    end = list_moves(position, top, memory)
    if not 0 < end - top <= most_moves(position):
        report_violation(position, MOVES, memory)
        return end, 0, False, ALWAYS
    stride = width(position) + 1
    count = 0
    depends = ALWAYS
    proven = False
    at = top
    while at < end and not proven:
        move = memory.moves[at]
        at += 1
        child = play(position, move)
        again = moves_again(position, child)
        goal = target if again else 1 - target
        decided, value = outcome(child)
        since = ALWAYS
        reached = child
        if not decided:
            since = draw_since(position, child, ply, steps, memory)
            decided = since != ALWAYS
        if not decided:
            reached, same, decided, value = look(child, goal, memory)
            if not same:
                again = not again
                goal = 1 - goal
        if decided:
            if abs(value) > most_value(position):
                report_violation(reached, VALUE, memory)
                return end, 0, False, ALWAYS
            note_value(value, goal, memory)
            proven = (value >= goal) == again
            depends = since if proven else min(depends, since)
            if ply == 0:
                memory.move = move
            continue
        slot = top + count
        child_word = address(reached, goal, memory)
        prepare(table, child_word)
        memory.ranked[slot] = rank(order(position, move, child), move, again, count)
        pack(memory.children, slot * stride, reached)
        memory.children[slot * stride + stride - 1] = child_word
        count += 1
    sort_down(memory.ranked, top, top + count)
    return end, count, proven, depends


@compiled
def first_look(position, ply, top, count, end, here, memory, table):
    """Look up the open moves of a node, or estimate their numbers.

    Returns whether one is answered that proves the node, and the ply that the answers depend on.
    """
    stride = width(position) + 1
    proven = False
    depends = ALWAYS
    at = top
    while at < top + count and not proven:
        ranked = memory.ranked[at]
        at += 1
        slot = top + ranked_number(ranked)
        child_word = Bits(memory.children[slot * stride + stride - 1])
        known, proof, disproof, since = known_numbers(child_word, here, table)
        if not known:
            reached = unpack(memory.children, slot * stride, position)
            proof, disproof = first_numbers(reached, end, memory)
        if not ranked_again(ranked):
            proof, disproof = disproof, proof
        memory.proofs[slot], memory.disproofs[slot] = proof, disproof
        if proof == 0 or disproof == 0:
            proven = proof == 0
            depends = since if proven else min(depends, since)
            if ply == 0:
                memory.move = ranked_move(ranked)
    return proven, depends


@kernel
def proof_node(
    position: Position,
    word: Bits,
    target: int,
    most_proof: int,
    most_disproof: int,
    ply: int,
    steps: int,
    top: int,
    memory: ProofMemory,
    table: Words,
) -> int:
    """Search a question until one of its numbers reaches its threshold, or it is answered.

    The numbers are left in ``memory.proof`` and ``memory.disproof``.  Returns the first ply of the
    line that an answer depends on.  The question is open: the caller has looked.  *word* is its
    address; the stacks are free from *top* on; *steps* reversible moves led here.
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
        return ALWAYS
    # A line without end proves nothing for the attacker.
    if ply >= memory.plies:
        memory.cut = 1
        failed = target == memory.target
        memory.proof, memory.disproof = (SOLVED, 0) if failed else (0, SOLVED)
        return UNSURE
    before = memory.nodes
    above, here = Bits(0), Bits(0)
    if recurs(position):
        memory.path[ply] = recurrence(position)
        above = Bits(memory.signatures[ply]) if ply > 0 else Bits(0)
        here = mix(above ^ word)
        memory.signatures[ply + 1] = here

    # Step 2. Make the moves.  One that is decided needs no place: it proves the node, or it fails.
    end, count, proven, depends = make_moves(position, target, ply, steps, top, memory, table)
    if memory.stop != RUNNING:
        return ALWAYS

    # Step 3. Look the others up, or estimate their numbers.
    stride = width(position) + 1
    if not proven:
        proven, since = first_look(position, ply, top, count, end, here, memory, table)
        depends = since if proven else min(depends, since)

    # Step 4. Search the move that is nearest to a proof, until a threshold is reached.
    proof, disproof = 0, SOLVED
    seen = memory.nodes
    memory.line[ply] = word
    # In small nodes it costs more to look after other threads than it saves.
    large = memory.shared != 0 and work_of(probe(table, word)) >= SHARED_WORK
    while not proven:
        if memory.shared and not large:
            large = memory.nodes - before >= 1 << SHARED_WORK
        # What was searched elsewhere meanwhile may have changed the numbers of moves.
        if memory.nodes - seen > (SHARED_REFRESH if large else REFRESH_NODES):
            seen = memory.nodes
            refresh(top, count, stride, memory, table)
        # Of moves that another thread searches right now the numbers are taken for worse.
        best, least, second, nearest = -1, SOLVED, SOLVED, SOLVED
        widest, unsolved, offered = 0, 0, 0
        live = count
        if not recurs(position):
            live = focus(position, open_moves(top, count, memory))
        for at in range(top, top + count):
            slot = top + ranked_number(memory.ranked[at])
            number = memory.proofs[slot]
            if number == SOLVED or offered == live:
                continue
            if unsolved < live:
                nearest = min(nearest, number)
                widest = max(widest, memory.disproofs[slot])
                unsolved += 1
            # Marks are written all the time, and slow to read: only of moves that they can put off.
            marked = large and number < second
            if marked and is_marked(table, memory.children[slot * stride + stride - 1]):
                number = min(VIRTUAL_FACTOR * number + 1, SOLVED - 1)
            else:
                offered += 1
            if number < least:
                best, least, second = at, number, least
            elif number < second:
                second = number
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
            # Only what others search is left: help them.
            best, second = nearest_move(top, count, live, memory)
        move_word = memory.ranked[best]
        slot = top + ranked_number(move_word)
        again = ranked_again(move_word)
        child = unpack(memory.children, slot * stride, position)
        child_word = Bits(memory.children[slot * stride + stride - 1])
        # A little more than the second best (1 + epsilon): to and fro costs more than it saves.
        first = min(most_proof, second + second // EPSILON_PART + 1)
        last = SOLVED if most_disproof == SOLVED else most_disproof - (unsolved - 1)
        child_steps = 0
        if recurs(position) and reversible(position, child):
            child_steps = steps + 1
        if large:
            mark(table, child_word, True)
        if again:
            since = proof_node(
                child, child_word, target, first, last, ply + 1, child_steps, end, memory, table
            )
            proof, disproof = memory.proof, memory.disproof
        else:
            since = proof_node(
                child, child_word, 1 - target, last, first, ply + 1, child_steps, end, memory, table
            )
            proof, disproof = memory.disproof, memory.proof
        if large:
            mark(table, child_word, False)
        if memory.unwind < ply:
            return ALWAYS
        if memory.stop != RUNNING or memory.unwind == ply:
            # Another thread has answered this very question, or the search is told to stop.
            memory.unwind = ALWAYS
            data = probe(table, word)
            if data != Bits(0) and (proof_of(data) == 0 or disproof_of(data) == 0):
                memory.proof, memory.disproof = proof_of(data), disproof_of(data)
                return ALWAYS
            if memory.stop != RUNNING:
                most_proof = 0  # a threshold that is reached: no more than the numbers of now
            refresh(top, count, stride, memory, table)
            continue
        memory.proofs[slot], memory.disproofs[slot] = proof, disproof
        proven = proof == 0
        if proven:
            depends = since
        elif disproof == 0:
            depends = min(depends, since)

    # Step 5. Store the numbers.
    memory.proof, memory.disproof = proof, disproof
    if proof != 0 and disproof != 0:
        depends = ALWAYS
    keep_numbers(word, above, proof, disproof, depends, ply, work_for(memory.nodes - before), table)
    return depends if depends < ply else ALWAYS


@kernel
def proof_root(
    position: Position,
    target: int,
    move_wanted: bool,
    sharing: int,
    memory: ProofMemory,
    table: Words,
) -> int:
    """Search a question to its answer, for Python; return the ply it depends on.

    The game is not over.  A move is only looked for if it is wanted; *sharing* is how the table is
    used, as in ``cutnode.kernels.solver``; it is prepared for as many nodes as the limit says.
    """
    if sharing != SHARED_TABLE:
        begin(table, False)
    if sharing == PREPARE_TABLE:
        open_for(table, memory.node_limit, HALF_FULL)
        return ALWAYS
    memory.target = target
    memory.shared = sharing == SHARED_TABLE
    memory.unwind = ALWAYS
    memory.cut = memory.looked = 0
    memory.proof = memory.disproof = 1
    memory.move = NO_MOVE
    lower, upper = bounds(position, target - 1, target)
    memory.decided, value = entry_cutoff(lower, upper, target - 1, target)
    if memory.decided and not move_wanted:
        note_value(value, target, memory)
        memory.proof, memory.disproof = (0, SOLVED) if value >= target else (SOLVED, 0)
        return ALWAYS
    word = address(position, target, memory)
    zero, most = np.int64(0), np.int64(SOLVED)
    return proof_node(position, word, target, most, most, zero, zero, zero, memory, table)
