"""Depth-first proof-number search (df-pn): is the value of a position at least a target?

A *question* is a position and a *target*: does the mover reach that value?  The proof number of a
question is the least number of open positions that have to be answered with yes to prove it, the
disproof number the least number to be answered with no to disprove it; a number of 0 is a proof or
a disproof, and the other number is then ``SOLVED``.  A node expands its most-proving move until one
of the node's numbers reaches the threshold that the parent set, and then returns to the parent:
thus the search is best-first, but needs only the memory of a depth-first search and a table.

Numbers are from the mover's point of view.  After a move that passes the turn, the question is the
other player's: whether *he* reaches ``1 - target``; a proof of that is a disproof here.  After an
extra turn the question stays the same.

Overcounting.  Where lines transpose, a sum of disproof numbers counts positions twice, which can
make an easy proof look hard.  So a node takes the largest of them, plus one for each other open
move (T. Ueda et al., "Weak proof-number search", 2008).  Numbers only order the search: proofs
follow from the rules whatever the numbers are, and no sum reaches ``SOLVED``.

Focus.  Only the first open moves of a node, in their order, count towards its numbers: one, or the
game's ``FOCUS``, plus a fraction of all.  The others are considered once these are disproven, so a
good move ordering makes wide nodes narrow (dynamic widening: P. Henderson, "Playing and solving the
game of Hex", 2010).  Games with repetitions have no focus: there the search could cycle for ever
among moves that a repetition answers on one line only.  Where a repetition is no draw, the initial
proof number of a move grows with its place in the order instead.

Stops.  When told to stop, the nodes of the line look up the numbers of their moves once more, from
the last node to the root, and store their own: these are up to date, and a search with the same
table resumes where this one stopped.

Repetition.  A position that recurs on the line of play is a draw.  An answer that depends on a
repetition holds on this line only (graph-history interaction): it records the first ply of the line
that it depends on, and if that lies above the node, the table keeps the answer under the line's
*signature*, where searches that come the same way find it.  All other answers hold wherever the
position occurs.  This is the base of A. Kishimoto and M. Mueller, "A general solution to the graph
history interaction problem" (2004), without its simulation of proofs from other lines.

Where a repetition is a loss, a win or illegal, a proof without one can fail on another line, too:
there a move of it may repeat a position.  So an answer that depends on no position above its node
has a *low*: the least ``progress`` of the player who must not repeat, after his moves in the proof.
It holds on every line on which he had less, and only there is it found.  All other answers, and the
numbers of questions that the table answers for other lines, are stored under the line's signature.
So answers are exact.

Threads that share the table take the moves that another thread is searching for worse than they are
(virtual proof numbers: J. Pawlewicz and R. Hayward, "Scalable parallel DFPN search", 2013), and for
each such move in the focus they may choose one more beyond it.  Otherwise two threads would take
the same path through narrow games, whose focus is one move.

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
from cutnode.contract.repetition import (
    bans_repetition,
    needs_line,
    value_of_repetition,
    value_without_moves,
)
from cutnode.contract.stop import MOVES, NODES, RUNNING, VALUE
from cutnode.contract.verbs import (
    INFINITE,
    MOVES_ROOM,
    NO_MOVE,
    bounds,
    candidates,
    drawn,
    evaluate,
    key,
    moves,
    moves_again,
    order,
    outcome,
    play,
    progress,
    recurrence,
    reversible,
    settled,
)
from cutnode.kernels.ordering import rank, ranked_again, ranked_move, ranked_number, sort_down
from cutnode.kernels.parameters import (
    EPSILON_PART,
    FEW_MOVES,
    FOCUS_PART,
    HALF_FULL,
    LATEST,
    REFRESH_NODES,
    SHARED_LOOK,
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
"""In place of a ply: the answer depends on none, and holds on every line of play."""

UNEXPOSED = 255
"""The low of a proof in which no move can be a repetition; also above the largest ``progress``."""

UNSURE = -1
"""In place of a ply: the answer depends on play before the root, and holds for this root only."""


@functools.cache
def proof_dtype(cls: Any) -> np.dtype[Any]:
    """Return the layout of the memory of one searching thread."""
    most = game_constant(cls, "MAX_MOVES", 256)
    plies = game_constant(cls, "MAX_PLIES", 512) + 1
    room = (plies + 1) * most
    fields: list[Any] = [
        ("stop", np.int64),
        ("node_limit", np.int64),
        ("brief", np.int64),  # whether a search that reaches node_limit restarts, keeping nothing
        ("nodes", np.int64),
        ("plies", np.int64),  # longest line that the stacks have room for
        ("cut", np.int64),  # whether a longer line was counted against the attacker
        ("decided", np.int64),  # whether bounds decide the root
        ("unit", np.int64),  # advantage that doubles an initial number; 0: ignore estimates
        ("purpose", np.uint64),  # part of every key
        ("target", np.int64),  # of the attacker, who asks the root's question
        ("least", np.int64),  # lower bound for the attacker on lines decided for him
        ("most", np.int64),  # upper bound for the attacker on lines decided against him
        ("points", np.int64),  # whether any position had settled points
        ("move", np.int64),  # the root's proving or most-proving move
        ("low", np.int64),  # of the answer of the node that was searched last
        ("proof", np.int64),  # numbers of the node that was searched last
        ("disproof", np.int64),
        ("shared", np.int64),  # whether other threads search the same root with the same table
        ("looked", np.int64),  # node count at the last check for other threads' answers
        ("unwind", np.int64),  # ply of a node that another thread has answered; ALWAYS: none
        ("line", np.uint64, (plies + 1,)),  # addresses of the nodes of the line
        ("violation", np.uint64, (words_each(cls),)),  # a position that breaks the contract
        ("moves", np.int64, (room + MOVES_ROOM,)),
        ("ranked", np.int64, (room,)),
        ("proofs", np.int64, (room,)),  # of the moves, for the player who makes them
        ("disproofs", np.int64, (room,)),
        ("children", np.uint64, (room * (words_each(cls) + 1),)),
        ("path", np.uint64, (plies + 1,)),
        ("signatures", np.uint64, (plies + 1,)),  # of the line above a ply
        ("highs", np.int64, (2 * plies + 4,)),  # most progress above a ply: defender's, attacker's
        *tablebase_fields(cls),
    ]
    return np.dtype(fields, align=True)


ProofMemory = Annotated[Any, record(proof_dtype)]

# The stacks hold for each move: in ``ranked`` its word (see ``cutnode.kernels.ordering``), in
# ``proofs`` and ``disproofs`` its numbers, in ``children`` the position after it and its address.


@compiled
def address(position, target, memory):
    """Return the scattered key of a question."""
    # The key includes the target for the points still to play for, shifted to be non-negative.
    points, word = settled(position)
    if points != 0:
        memory.points = 1
    return address_for(word, memory.purpose, target - points + 2 * INFINITE)


@compiled
def look(position, target, memory):
    """Resolve a question without search as far as possible, as the solver's ``resolve`` does."""
    # Where positions can recur, forced moves may not be skipped: a position among them may recur.
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
    # ``candidates`` may only be called where bounds leave the value open.
    # After some lines all candidates may be repetitions.
    if needs_line(position) or (at == 0 and memory.decided):
        return moves(position, memory.moves, at)
    return candidates(position, memory.moves, at)


@compiled
def note_value(value, target, memory):
    """Record by how much a line was decided: *value* is a bound for the *target*'s player."""
    # For the attacker it is a lower bound where he succeeds, and an upper bound where he fails.
    bound = value if target == memory.target else -value
    if bound >= memory.target:
        memory.least = min(memory.least, bound)
    else:
        memory.most = max(memory.most, bound)


@compiled
def since_when(position, child, ply, steps, memory):
    """Return the ply whose position recurs after a move, or ``ALWAYS`` if none does.

    For a draw by another rule it is ``UNSURE``.  *steps* reversible moves led to the node.
    """
    drawn_by_rule = drawn(child)
    if drawn_by_rule and not needs_line(position):
        return UNSURE
    if recurs(position) and reversible(position, child):
        word = Bits(recurrence(child))
        at = ply
        first = max(at - steps, 0)
        if needs_line(position) and Bits(memory.path[at]) == word:
            first = ply + 1
        while at >= first:
            if Bits(memory.path[at]) == word:
                return at
            at -= 1
    return UNSURE if drawn_by_rule else ALWAYS


@compiled
def low_after(position, child, again, proven, low):
    """Return the low of an answer that rests on a move, from the *low* of the answer below.

    *proven* says whether the move is the proof of a node, or one of those that fail.
    """
    if not reversible(position, child):
        return UNEXPOSED
    careful = proven == (value_of_repetition(position) < 0)
    if not careful or recurrence(child) == recurrence(position):
        return low
    mine, theirs = progress(child)
    return min(low, max(mine if again else theirs, 0))


@compiled
def extend_line(position, target, ply, steps, memory):
    """Add the position of a node to the line: its signature, and the most progress on it."""
    above = Bits(memory.signatures[ply]) if ply > 0 else Bits(0)
    memory.signatures[ply + 1] = mix(above ^ Bits(recurrence(position)))
    mine, theirs = progress(position)
    attacks = target == memory.target
    for attacker in range(2):
        high = memory.highs[2 * ply + attacker] if steps > 0 else -1
        now = mine if attacks == (attacker > 0) else theirs
        memory.highs[2 * ply + 2 + attacker] = min(max(high, now, 0), UNEXPOSED - 1)


@compiled
def line_of(position, ply, memory):
    """Return the signature of a question at *ply* on this line.

    It tells a position from its images, after which the positions of the line are others.
    """
    above = Bits(memory.signatures[ply]) if ply > 0 else Bits(0)
    return mix(above ^ mix(Bits(key(position))))


@compiled
def known_by_line(position, word, target, ply, steps, memory, table):
    """Return what :func:`known_numbers` does where a repetition is no draw, a low and the address.

    *word* is the address of the question on all lines, and *ply* the one of its node.
    """
    data = probe(table, word)
    proof, disproof = proof_of(data), disproof_of(data)
    answered = data != Bits(0) and (proof == 0 or disproof == 0)
    if answered:
        low = max(proof, disproof) - 1
        proven = proof == 0
        careful = proven == (value_of_repetition(position) < 0)
        attacker = careful == (target == memory.target)
        if steps == 0 or low > memory.highs[2 * ply + attacker]:
            return True, 0 if proven else SOLVED, SOLVED if proven else 0, ALWAYS, low, word
    here = word ^ line_of(position, ply, memory)
    answer = probe(table, here)
    if answer != Bits(0) and (proof_of(answer) == 0 or disproof_of(answer) == 0):
        code = max(proof_of(answer), disproof_of(answer))
        since, low = code // (UNEXPOSED + 1) - 1 + UNSURE, code % (UNEXPOSED + 1)
        if proof_of(answer) == 0:
            return True, 0, SOLVED, since, low, here
        return True, SOLVED, 0, since, low, here
    if answered:
        data, word = answer, here
        proof, disproof = proof_of(data), disproof_of(data)
    return data != Bits(0), proof, disproof, ALWAYS, UNEXPOSED, word


@compiled
def keep_by_line(word, here, proof, disproof, depends, low, ply, work, table):
    """Store the numbers of a node where a repetition is no draw.

    *word* is the address that :func:`known_by_line` has found, and *here* the one on this line.
    """
    code = low + 1
    if proof != 0 and disproof != 0:
        store_numbers(table, word, proof, disproof, work)
        return
    if depends < ply or word == here:
        word = here
        code = (min(depends, ply) + 1 - UNSURE) * (UNEXPOSED + 1) + low
    if proof == 0:
        store_numbers(table, word, 0, code, work)
    else:
        store_numbers(table, word, code, 0, work)


@compiled
def focus(position, number):
    """Return how many of *number* open moves count towards the numbers of a node."""
    return min(number, least_focus(position) + number // FOCUS_PART)


@compiled
def first_numbers(position, end, memory):
    """Return the initial numbers of an unsearched position, for its mover.

    One move is enough to prove it, and all are needed to disprove it (mobility), or the moves in
    the focus if the game defines one; an estimate shifts both numbers.
    """
    proof, disproof = 1, max(list_moves(position, end, memory) - end, 1)
    if least_focus(position) > 1:
        disproof = focus(position, disproof)
    if memory.unit > 0:
        # Double the proof number for each unit that the mover is behind, or the disproof number
        # for each unit that he is ahead.
        doublings = min(max(evaluate(position) // memory.unit, -8), 8)
        proof <<= max(-doublings, 0)
        disproof <<= max(doublings, 0)
    return proof, disproof


@compiled
def known_numbers(word, signature, table):
    """Return whether a question is in the table, its numbers, and the ply that they depend on."""
    data = probe(table, word)
    proof, disproof = proof_of(data), disproof_of(data)
    if signature != Bits(0) and (data == Bits(0) or (proof != 0 and disproof != 0)):
        # In an answer for this line only, one number is 0, and the other encodes the ply.
        answer = probe(table, word ^ signature)
        if answer != Bits(0):
            if proof_of(answer) == 0:
                return True, 0, SOLVED, disproof_of(answer) - 1 + UNSURE
            return True, SOLVED, 0, proof_of(answer) - 1 + UNSURE
    return data != Bits(0), proof, disproof, ALWAYS


@compiled
def keep_numbers(word, signature, proof, disproof, depends, ply, work, table):
    """Store the numbers of a node; an answer for this line only, under the line's signature."""
    if depends >= ply:
        store_numbers(table, word, proof, disproof, work)
    elif proof == 0:
        store_numbers(table, word ^ signature, 0, depends + 1 - UNSURE, work)
    else:
        store_numbers(table, word ^ signature, depends + 1 - UNSURE, 0, work)


@compiled(inline=False)
def refresh(top, count, stride, memory, table):
    """Look up the numbers of a node's open moves again."""
    for at in range(top, top + count):
        slot = top + ranked_number(memory.ranked[at])
        data = probe(table, Bits(memory.children[slot * stride + stride - 1]))
        if data != Bits(0) and memory.proofs[slot] != SOLVED:
            again = ranked_again(memory.ranked[at])
            memory.proofs[slot] = proof_of(data) if again else disproof_of(data)
            memory.disproofs[slot] = disproof_of(data) if again else proof_of(data)


@compiled
def open_moves(top, count, memory):
    """Return the number of a node's moves that are not disproven."""
    number = 0
    for at in range(top, top + count):
        number += memory.proofs[top + ranked_number(memory.ranked[at])] != SOLVED
    return number


@compiled(inline=False)
def nearest_move(top, count, live, memory):
    """Return the most-proving of the first *live* open moves, and the second least number."""
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


@compiled
def choose(position, most_proof, top, count, stride, large, memory, table):
    """Choose the move of a node to search next, among the open ones in the focus.

    Return its place in the order, the second least number, and the node's numbers: its proof
    number, its disproof number, and how many moves count towards that.  With *large*, moves that
    another thread is searching get a worse, virtual proof number.
    """
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
        # Marks change all the time and are slow to read: read them only where they can defer a
        # move.
        marked = large and number < second
        if marked and is_marked(table, memory.children[slot * stride + stride - 1]):
            number = min(VIRTUAL_FACTOR * number + 1, SOLVED - 1)
        else:
            offered += 1
        if number < least:
            best, least, second = at, number, least
        elif number < second:
            second = number
    if nearest == SOLVED:
        return best, second, SOLVED, 0, unsolved
    if nearest == 0:
        return best, second, 0, SOLVED, unsolved
    if least >= most_proof > nearest:
        # Other threads are searching all moves that are left: help them.
        best, second = nearest_move(top, count, live, memory)
    return best, second, nearest, min(widest + unsolved - 1, SOLVED - 1), unsolved


@compiled
def enter(ply, memory, table):
    """Count a node; return whether to search it, or to return to the root or another ply."""
    memory.nodes += 1
    if memory.stop == RUNNING and memory.nodes > memory.node_limit:
        memory.stop = NODES
        if memory.brief:
            memory.unwind = -1  # beyond the root
    if memory.shared and memory.nodes - memory.looked > SHARED_LOOK:
        look_around(ply, memory, table)
    return memory.stop == RUNNING and memory.unwind >= ply


@compiled
def take_answer(word, memory, table):
    """Take the numbers of a question from the table if it is answered; return whether it is."""
    memory.unwind = ALWAYS
    data = probe(table, word)
    if data == Bits(0) or (proof_of(data) != 0 and disproof_of(data) != 0):
        return False
    memory.proof, memory.disproof = proof_of(data), disproof_of(data)
    return True


@compiled(inline=False)
def look_around(ply, memory, table):
    """Find the first node of the line that another thread has answered, if there is one."""
    memory.looked = memory.nodes
    for above in range(ply):
        data = probe(table, memory.line[above])
        if data != Bits(0) and (proof_of(data) == 0 or disproof_of(data) == 0):
            memory.unwind = above
            return


@compiled
def make_moves(position, target, ply, steps, top, memory, table):
    """Make the moves of a node, and push the open ones onto the stacks, the most promising first.

    Return the end of the moves, the number of open ones, whether one of the decided moves proves
    the node, and the ply that the decided moves depend on, and their low.
    """
    end = list_moves(position, top, memory)
    if not 0 < end - top <= most_moves(position):
        report_violation(position, MOVES, memory)
        return end, 0, False, ALWAYS, UNEXPOSED
    stride = width(position) + 1
    count = 0
    illegal = 0
    depends, low = ALWAYS, UNEXPOSED
    proven = False
    at = top
    while at < end and not proven:
        move = memory.moves[at]
        at += 1
        child = play(position, move)
        again = moves_again(position, child)
        goal = target if again else 1 - target
        over, value = outcome(child)
        decided = over
        since = ALWAYS
        reached = child
        if not decided:
            since = since_when(position, child, ply, steps, memory)
            decided = since != ALWAYS
        repeated = needs_line(position) and 0 <= since < ALWAYS
        if repeated:
            if needs_line(position) and bans_repetition(position):
                illegal += 1
                depends = min(depends, since)
                continue
            value = value_of_repetition(position)
            value = value if again else -value
        if not decided:
            reached, same, decided, value = look(child, goal, memory)
            if not same:
                again = not again
                goal = 1 - goal
        if decided:
            if abs(value) > most_value(position):
                report_violation(reached, VALUE, memory)
                return end, 0, False, ALWAYS, UNEXPOSED
            note_value(value, goal, memory)
            proven = (value >= goal) == again
            depends = since if proven else min(depends, since)
            if needs_line(position) and not over:
                below = low_after(position, child, again, proven, UNEXPOSED)
                low = below if proven else min(low, below)
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
    if needs_line(position) and illegal == end - top:
        note_value(value_without_moves(position), target, memory)
    sort_down(memory.ranked, top, top + count)
    return end, count, proven, depends, low


@compiled
def first_look(position, target, ply, steps, top, count, end, here, memory, table):
    """Look up the numbers of a node's open moves, or initialise them.

    Return whether an answered move proves the node, the ply that the answers depend on, and their
    low.
    """
    stride = width(position) + 1
    proven = False
    depends, low = ALWAYS, UNEXPOSED
    at = top
    while at < top + count and not proven:
        ranked = memory.ranked[at]
        at += 1
        slot = top + ranked_number(ranked)
        child_word = Bits(memory.children[slot * stride + stride - 1])
        reached = unpack(memory.children, slot * stride, position)
        below = UNEXPOSED
        if needs_line(position):
            goal = target if ranked_again(ranked) else 1 - target
            child_steps = steps + 1 if reversible(position, reached) else 0
            known, proof, disproof, since, below, _ = known_by_line(
                reached, child_word, goal, ply + 1, child_steps, memory, table
            )
        else:
            known, proof, disproof, since = known_numbers(child_word, here, table)
        if not known:
            proof, disproof = first_numbers(reached, end, memory)
        if not ranked_again(ranked):
            proof, disproof = disproof, proof
        if needs_line(position) and most_moves(position) > FEW_MOVES and not known:
            late = min(at - 1 - top, LATEST)
            proof += 2 * late * (late + 4)
        memory.proofs[slot], memory.disproofs[slot] = proof, disproof
        if proof == 0 or disproof == 0:
            proven = proof == 0
            depends = since if proven else min(depends, since)
            if needs_line(position):
                below = low_after(position, reached, ranked_again(ranked), proven, below)
                low = below if proven else min(low, below)
            if ply == 0:
                memory.move = ranked_move(ranked)
    return proven, depends, low


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

    The numbers are left in ``memory.proof`` and ``memory.disproof``.  Return the first ply of the
    line that an answer depends on.  The caller has checked that the question is open.  *word* is
    its address; the stacks are free from *top* on; *steps* reversible moves led here.
    """
    # Step 1. Count the node, and stop if told to.
    if not enter(ply, memory, table):
        return ALWAYS
    # A line that is too long counts against the attacker.
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
    line = word
    if needs_line(position):
        here = word ^ line_of(position, ply, memory)
        extend_line(position, target, ply, steps, memory)
        known, proof, disproof, since, low, word = known_by_line(
            position, word, target, ply, steps, memory, table
        )
        line = mix(here)  # no address: an answer of another thread need not hold on this line
        if ply > 0 and known and (proof == 0 or disproof == 0):
            memory.proof, memory.disproof, memory.low = proof, disproof, low
            return since if since < ply else ALWAYS

    # Step 2. Make the moves.  A decided one takes no place on the stacks: it proves the node or
    # fails.
    end, count, proven, depends, low = make_moves(position, target, ply, steps, top, memory, table)
    if memory.stop != RUNNING:
        return ALWAYS

    # Step 3. Look up the numbers of the open moves, or initialise them.
    stride = width(position) + 1
    if not proven:
        proven, since, below = first_look(
            position, target, ply, steps, top, count, end, here, memory, table
        )
        depends = since if proven else min(depends, since)
        low = below if proven else min(low, below)

    # Step 4. Search the most-proving move, until a threshold is reached.
    proof, disproof = 0, SOLVED
    seen = memory.nodes
    memory.line[ply] = line
    # At small nodes, watching other threads costs more than it saves.
    large = memory.shared != 0 and work_of(probe(table, word)) >= SHARED_WORK
    while not proven:
        if memory.shared and not large:
            large = memory.nodes - before >= 1 << SHARED_WORK
        # Searches elsewhere may have changed the numbers of moves meanwhile.
        if memory.nodes - seen > (SHARED_REFRESH if large else REFRESH_NODES):
            seen = memory.nodes
            if not needs_line(position):  # answers must hold on this line
                refresh(top, count, stride, memory, table)
        best, second, proof, disproof, unsolved = choose(
            position, most_proof, top, count, stride, large, memory, table
        )
        if ply == 0 and proof != 0 and disproof != 0:
            memory.move = ranked_move(memory.ranked[best])
        if proof >= most_proof or disproof >= most_disproof:
            break
        move_word = memory.ranked[best]
        slot = top + ranked_number(move_word)
        again = ranked_again(move_word)
        child = unpack(memory.children, slot * stride, position)
        child_word = Bits(memory.children[slot * stride + stride - 1])
        # Allow more than the second best number (1 + epsilon): switching back and forth costs more
        # than it saves.
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
            # Another thread has answered this very question, or the search has been told to stop.
            if not needs_line(position) and take_answer(word, memory, table):
                return ALWAYS
            if memory.stop != RUNNING:
                most_proof = 0  # reached at once: only bring the numbers up to date
            if not needs_line(position):
                refresh(top, count, stride, memory, table)
            continue
        memory.proofs[slot], memory.disproofs[slot] = proof, disproof
        proven = proof == 0
        below = memory.low
        if needs_line(position) and (proven or disproof == 0):
            below = low_after(position, child, again, proven, below)
        if proven:
            depends, low = since, below
        elif disproof == 0:
            depends, low = min(depends, since), min(low, below)

    # Step 5. Store the numbers.
    memory.proof, memory.disproof = proof, disproof
    if proof != 0 and disproof != 0:
        depends = ALWAYS
    memory.low = low
    if memory.cut and depends == UNSURE:  # it may rest on a line that was too long
        return UNSURE
    work = work_for(memory.nodes - before)
    if needs_line(position):
        keep_by_line(word, here, proof, disproof, depends, low, ply, work, table)
    else:
        keep_numbers(word, above, proof, disproof, depends, ply, work, table)
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
    """Search a question to its answer, for Python; return the ply that it depends on.

    The game must not be over.  With *move_wanted* the root is searched even if bounds decide it;
    *sharing* is the use of the table, as in ``cutnode.kernels.solver``; it is prepared for as many
    nodes as the limit allows.
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
