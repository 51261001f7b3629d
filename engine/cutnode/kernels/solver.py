"""The exact solver: alpha-beta to the end of the game, driven by null windows.

:func:`search_node` is the node function, in numbered steps.  :func:`prove` narrows the proven
interval of a position with null windows until the value is known.  Python calls
:func:`solve_batch`, which proves one position after the other.

The contract of every function here, for a window ``alpha < beta``: the returned value *v* is
fail-soft.  If it fails low (``v <= alpha``), the true value is at most *v*; if it fails high
(``v >= beta``), at least *v*; in between, *v* is exact.  After a stop, returned values mean nothing
and nothing is stored.

Sources: fail-soft alpha-beta, J. Fishburn, "Another optimization of alpha-beta search" (1983);
enhanced transposition cutoffs, A. Plaat et al., "Best-first fixed-depth minimax algorithms" (1996),
whose MTD(f) :func:`prove` follows once the interval is narrow.
"""

from __future__ import annotations

import functools
from typing import Annotated, Any

import numpy as np

from cutnode.compiler.jit import Position, Words, compiled, kernel, record, records
from cutnode.contract.bits import Bits, mix
from cutnode.contract.derived import most_moves, most_value
from cutnode.contract.dispatch import MAX_VALUE, game_constant
from cutnode.contract.host import look
from cutnode.contract.positions import pack, unpack, width, words_each
from cutnode.contract.stop import MOVES, NODES, PLIES, RUNNING, VALUE
from cutnode.contract.verbs import (
    INFINITE,
    MOVES_ROOM,
    NO_MOVE,
    bounds,
    candidates,
    canonical,
    canonical_move,
    endgame,
    forced,
    moves,
    moves_again,
    order,
    original_move,
    outcome,
    play,
    plies_left,
    settled,
)
from cutnode.kernels.clock import ticks
from cutnode.kernels.ordering import (
    FIRST,
    rank,
    ranked_again,
    ranked_move,
    ranked_number,
    sort_down,
)
from cutnode.kernels.parameters import (
    FAR_FRACTION,
    LOOK_NODES,
    SCOUTED_DEPTH,
    SCOUTED_PLIES,
)
from cutnode.kernels.reference import report_violation
from cutnode.kernels.table import (
    address_for,
    begin,
    depth_of,
    entry_cutoff,
    is_marked,
    lower_of,
    mark,
    move_of,
    open_for,
    open_whole,
    prepare,
    probe,
    store,
    upper_of,
    work_for,
)
from cutnode.kernels.tablebase_scores import tablebase_fields, tablebase_value

NO_PLY = 1 << 30

SINGLE_THREADED, PREPARE_TABLE, SHARED_TABLE, ENLARGE_TABLE = range(4)
"""How a batch uses the table: alone; to prepare all of it for several threads; together with other
threads; to enlarge it for threads that continue the current search."""


COUNTERS: list[Any] = [
    ("nodes", np.int64),
    ("probes", np.int64),
    ("hits", np.int64),
    ("cutoffs", np.int64),
    ("stores", np.int64),
    ("overwrites", np.int64),
    ("ticks", np.int64),
]


@functools.cache
def search_dtype(cls: Any) -> np.dtype[Any]:
    """Return the layout of one searching thread's memory: control, counters, and stacks."""
    plies = game_constant(cls, "MAX_PLIES", 512) + 1
    room = (plies + 1) * game_constant(cls, "MAX_MOVES", 256)
    fields: list[Any] = [
        ("stop", np.int64),  # a reason of cutnode.contract.stop; other threads may set it
        ("stop_at", np.int64),  # number of the position that a stop is meant for; -1: all
        ("current", np.int64),  # number of the position that is being solved
        ("node_limit", np.int64),  # for each position
        ("line_limit", np.int64),  # the same, including the nodes for the best line
        *COUNTERS,  # of the batch; ticks: the clock at its end
        ("shared", np.int64),  # whether other threads search the same root with the same table
        ("looked", np.int64),  # node count at the last check for other threads' results
        ("unwind", np.int64),  # ply of a node that another thread has decided; NO_PLY: none
        ("found_lower", np.int64),  # its bounds, as found by that thread
        ("found_upper", np.int64),
        ("path", np.uint64, (plies + 1,)),  # scattered keys of the nodes of the line
        ("lowest", np.int64, (plies + 1,)),  # their windows; infinite at nodes that are not checked
        ("highest", np.int64, (plies + 1,)),
        ("plies", np.int64),  # longest line that the stacks have room for
        ("violation", np.uint64, (words_each(cls),)),  # a position that breaks the contract
        ("scouted", np.uint64),  # purpose of a scout search that left moves in the table; 0: none
        ("table_plies", np.int64),  # nodes with fewer plies left do not use the table
        ("enhanced_plies", np.int64),  # nodes with fewer plies left do not look children up
        ("shared_plies", np.int64),  # nodes with fewer plies left mark and defer no children
        ("crowding", np.int64),  # entries per bucket after which the table's region grows
        ("moves", np.int64, (room + MOVES_ROOM,)),
        ("ranked", np.int64, (room,)),
        ("children", np.uint64, (room * (words_each(cls) + 1),)),
        *tablebase_fields(cls),
    ]
    return np.dtype(fields, align=True)


@functools.cache
def result_dtype(cls: Any) -> np.dtype[Any]:
    """Return the layout of the result of one position of a batch."""
    fields: list[Any] = [
        ("lower", np.int64),
        ("upper", np.int64),
        ("guess", np.int64),  # value to test first; INFINITE: no guess
        ("reason", np.int64),
        *COUNTERS,
        ("length", np.int64),
        ("line", np.uint16, (game_constant(cls, "MAX_PLIES", 512),)),
    ]
    return np.dtype(fields, align=True)


SolverMemory = Annotated[Any, record(search_dtype)]
SolverResults = Annotated[Any, records(result_dtype)]

# The stacks hold the children: ``ranked`` has the word of each (see ``cutnode.kernels.ordering``),
# and ``children`` its position followed by its scattered key.


@compiled
def resolve(position, alpha, beta, search):
    """Play forced moves until the game decides the window or there is a choice.

    Return the position reached, whether the original mover is to move in it, whether its value is
    decided, and if so that value (for the player to move in it).
    """
    # Use a loop, not recursion: lines of forced moves are long in some games.
    same = True
    while True:
        lower, upper = bounds(position, alpha, beta)
        decided, value = entry_cutoff(lower, upper, alpha, beta)
        if decided:
            return position, same, True, value
        room = max(search.node_limit - search.nodes, 0)
        solved, value, nodes = endgame(position, alpha, beta, room)
        search.nodes += nodes
        if solved:
            return position, same, True, value
        known, value = tablebase_value(position, search)
        if known:
            return position, same, True, value
        move = forced(position)
        if move == NO_MOVE:
            return position, same, False, 0
        child = play(position, move)
        if not moves_again(position, child):
            alpha, beta = -beta, -alpha
            same = not same
        position = child


@compiled
def bounds_in(data, points):
    """Return an entry's bounds for a position of whose value *points* are settled."""
    lower, upper = lower_of(data), upper_of(data)
    lower = lower if lower == -INFINITE else lower + points
    return lower, upper if upper == INFINITE else upper + points


@compiled(inline=False)
def scouted_move(position, purpose, table):
    """Return the best move here according to the scout search, or ``NO_MOVE``."""
    word, symmetry = canonical(position)
    data = probe(table, address_for(word, purpose, 0))
    if data == Bits(0) or depth_of(data) < SCOUTED_DEPTH or move_of(data) == NO_MOVE:
        return NO_MOVE
    return original_move(position, move_of(data), symmetry)


@compiled(inline=False)
def look_around(ply, search, table):
    """Find the first node of the line that another thread has decided, if there is one."""
    search.looked = search.nodes
    for above in range(ply):
        data = probe(table, search.path[above])
        if data != Bits(0):
            lower, upper = lower_of(data), upper_of(data)
            decided, _ = entry_cutoff(lower, upper, search.lowest[above], search.highest[above])
            if decided:
                search.unwind = above
                search.found_lower, search.found_upper = lower, upper
                return


@compiled
def must_stop(search, ply):
    """Return whether the search of this position has to end, with the reason in ``stop``."""
    if search.nodes > search.node_limit:
        look(search)
    # A stop that was meant for an earlier position of the batch is void.
    if search.nodes > search.node_limit:
        search.stop = NODES
        search.stop_at = search.current
    elif ply > search.plies:
        search.stop = PLIES
        search.stop_at = search.current
    if search.stop and search.stop_at >= 0 and search.stop_at != search.current:
        search.stop = RUNNING
    return search.stop != RUNNING


@compiled(inline=False)
def end_all(position, code, search):
    """End the search of the whole batch because a position breaks the contract."""
    report_violation(position, code, search)
    search.stop_at = -1


@kernel
def search_node(
    position: Position,
    word: Bits,
    alpha: int,
    beta: int,
    ply: int,
    top: int,
    search: SolverMemory,
    table: Words,
) -> int:
    """Return the value of a position within a window, fail-soft (see the module's docstring).

    The position must be resolved: bounds leave the window open, and no move is forced.  *word* is
    its scattered key; the stacks are free from *top* on.
    """
    # Step 1. Count the node, and stop if told to.
    search.nodes += 1
    if search.stop != RUNNING or search.nodes > search.node_limit or ply > search.plies:
        if must_stop(search, ply):
            return alpha
    before = search.nodes
    plies = plies_left(position)
    remember = plies >= search.table_plies

    # Step 2. Look the position up.
    tt_move = NO_MOVE
    symmetry = 0
    points, _ = settled(position)
    if remember:
        search.probes += 1
        data = probe(table, word)
        if data != Bits(0):
            search.hits += 1
            lower, upper = bounds_in(data, points)
            decided, value = entry_cutoff(lower, upper, alpha, beta)
            if decided:
                search.cutoffs += 1
                return value
            # Proven bounds narrow the window: cutoffs come earlier, and the result is the same.
            alpha = max(alpha, lower)
            beta = min(beta, upper)
            _, symmetry = canonical(position)
            tt_move = move_of(data)
            if tt_move != NO_MOVE:
                tt_move = original_move(position, tt_move, symmetry)

        # Near the root, start with the move of the depth-limited scout search.
        if tt_move == NO_MOVE and search.scouted != 0 and plies >= SCOUTED_PLIES:
            tt_move = scouted_move(position, search.scouted, table)

    # Step 3. With several threads: return if another one has decided a node above.
    if search.shared != 0:
        if remember and search.nodes - search.looked > LOOK_NODES:
            look_around(ply, search, table)
            if search.unwind != NO_PLY:
                return alpha
        search.path[ply] = word
        search.lowest[ply] = alpha - points if remember else -INFINITE
        search.highest[ply] = beta - points if remember else INFINITE

    # Step 4. Make the children, and use those that are decided without search.
    best, best_move, floor = -INFINITE, NO_MOVE, alpha
    stride = width(position) + 1
    count = 0
    end = candidates(position, search.moves, top)
    if not 0 < end - top <= most_moves(position):
        end_all(position, MOVES, search)
        return alpha
    for at in range(top, end):
        move = search.moves[at]
        child = play(position, move)
        again = moves_again(position, child)
        low, high = (floor, beta) if again else (-beta, -floor)
        # Play forced moves at once: positions without a choice are no nodes.
        reached, same, decided, value = resolve(child, low, high, search)
        again = again == same
        if decided:
            if abs(value) > most_value(position):
                end_all(reached, VALUE, search)
                return alpha
            value = value if again else -value
            if value > best:
                best, best_move = value, move
                if best >= beta:
                    count = 0
                    break
                floor = max(floor, best)
            continue
        _, reached_key = settled(reached)
        in_table = plies_left(reached) >= search.table_plies
        reached_word = mix(Bits(reached_key)) if in_table else Bits(0)
        # Prefetch its bucket while the other children are made.
        if in_table:
            prepare(table, reached_word)
        score = order(position, move, child)
        if move == tt_move:
            score = FIRST
        search.ranked[top + count] = rank(score, move, again, count)
        pack(search.children, (top + count) * stride, reached)
        search.children[(top + count) * stride + stride - 1] = reached_word
        count += 1
    # Store the result if endings took nodes; other bounds are found again at once.
    if count == 0 and search.nodes == before:
        return best

    # Step 5. Enhanced transposition cutoffs: look the children up before searching any.
    if plies >= search.enhanced_plies:
        kept = 0
        for at in range(top, top + count):
            ranked = search.ranked[at]
            search.probes += 1
            slot = (top + ranked_number(ranked)) * stride
            data = probe(table, Bits(search.children[slot + stride - 1]))
            if data != Bits(0):
                search.hits += 1
                others, _ = settled(unpack(search.children, slot, position))
                lower, upper = bounds_in(data, others)
                if not ranked_again(ranked):
                    lower, upper = -upper, -lower
                if lower >= beta:
                    search.cutoffs += 1
                    return lower
                # It cannot raise alpha: its bound is as good as a search.
                if upper <= floor:
                    best = max(best, upper)
                    continue
            search.ranked[top + kept] = ranked
            kept += 1
        count = kept

    # Step 6. Search the children that are left, the most promising first.  Defer a child that
    # another thread is searching until the rest are done (T. Kerrigan, "Simplified ABDADA"): by
    # then, its value is mostly in the table.
    sort_down(search.ranked, top, top + count)
    shared = search.shared != 0 and plies >= search.shared_plies
    for attempt in range(2):
        deferred = 0
        for at in range(top, top + count):
            ranked = search.ranked[at]
            slot = (top + ranked_number(ranked)) * stride
            child_word = Bits(search.children[slot + stride - 1])
            if shared:
                if attempt == 0 and at > top and is_marked(table, child_word):
                    search.ranked[top + deferred] = ranked
                    deferred += 1
                    continue
                mark(table, child_word, True)
            child = unpack(search.children, slot, position)
            again = ranked_again(ranked)
            low, high = (floor, beta) if again else (-beta, -floor)
            value = search_node(child, child_word, low, high, ply + 1, end, search, table)
            value = value if again else -value
            if shared:
                mark(table, child_word, False)
            if search.stop != RUNNING or search.unwind < ply:
                return alpha
            # Another thread has decided this very node: return its result.
            if search.unwind == ply:
                search.unwind = NO_PLY
                lower, upper = search.found_lower + points, search.found_upper + points
                _, value = entry_cutoff(lower, upper, alpha, beta)
                return value
            if value > best:
                best, best_move = value, ranked_move(ranked)
                if best >= beta:
                    deferred = 0
                    break
                floor = max(floor, best)
        count = deferred
        if count == 0:
            break

    # Step 7. Store the proven bounds.
    if remember:
        lower = best - points if best > alpha else -INFINITE
        upper = best - points if best < beta else INFINITE
        # At an all-node no move is known to be best.
        if best <= alpha:
            best_move = NO_MOVE
        else:
            _, symmetry = canonical(position)
            best_move = canonical_move(position, best_move, symmetry)
        search.stores += 1
        work = work_for(search.nodes - before)
        search.overwrites += store(table, word, lower, upper, best_move, work, search.crowding)
    return best


@compiled
def search_root(position, alpha, beta, top, search, table):
    """Return the value of a position within a window, fail-soft; the stacks are free from *top*."""
    search.unwind = NO_PLY
    reached, same, decided, value = resolve(position, alpha, beta, search)
    if not decided:
        low, high = (alpha, beta) if same else (-beta, -alpha)
        _, reached_key = settled(reached)
        word = mix(Bits(reached_key))
        ply = np.int64(0)
        value = search_node(reached, word, low, high, ply, np.int64(top), search, table)
    return value if same else -value


@compiled
def question(lower, upper, guess, near):
    """Return the next test of a value in ``lower..upper``: is it at least this?

    The further a null window lies from the value, the cheaper it is, because the game's bounds
    decide it early.  So test values half-way to the far ends first, which finds quick wins before
    trying slower proofs of them.  Close to zero, test what the last answer suggests, as MTD(f)
    does.
    """
    if upper - lower > near:
        if lower >= 0 or upper <= 0:
            return (lower + upper) // 2 + 1
        if upper >= -lower and upper > near:
            return upper // 2 + 1
        if -lower > near:
            return lower // 2
    return max(guess, lower + 1)


@compiled
def begin_proof(position, result, weak, search):
    """Narrow the interval in *result* without search; return whether the game has bounds there."""
    lower, upper = bounds(position, -INFINITE, INFINITE)
    if lower > most_value(position) or upper < -most_value(position):
        end_all(position, VALUE, search)
    # A game without bounds returns minus and plus infinity: there is no half-way then.
    bounded = lower >= -MAX_VALUE and upper <= MAX_VALUE
    if weak:
        lower, upper = max(lower, -1), min(upper, 1)
        lower, upper = min(lower, 1), max(upper, -1)
    result.lower, result.upper = max(lower, result.lower), min(upper, result.upper)
    return bounded


@compiled
def prove(position, result, weak, search, table):
    """Narrow the proven interval in *result* to the value, as far as the limits allow."""
    bounded = begin_proof(position, result, weak, search)
    lower, upper = np.int64(result.lower), np.int64(result.upper)
    known = result.guess != INFINITE
    near = (upper - lower) // FAR_FRACTION if bounded and not known else 2 * MAX_VALUE
    guess = min(max(result.guess if known else 0, lower), upper)
    while lower < upper:
        asked = question(lower, upper, guess, near)
        value = search_root(position, asked - 1, asked, 0, search, table)
        if search.stop == RUNNING and abs(value) > most_value(position):
            end_all(position, VALUE, search)
        if search.stop != RUNNING:
            return
        # Fail-soft: the result is often a better bound than the one tested.
        if value >= asked:
            lower = min(value, upper)
        else:
            upper = max(value, lower)
        guess = min(max(guess, lower), upper)
        result.lower, result.upper = lower, upper


@compiled
def best_move_of(position, value, weak, search, table):
    """Return a legal move that keeps a proven value; ``NO_MOVE`` after a stop."""
    _, word = settled(position)
    _, symmetry = canonical(position)
    data = probe(table, mix(Bits(word)))
    known = move_of(data) if data != Bits(0) else NO_MOVE
    if known != NO_MOVE:
        known = original_move(position, known, symmetry)
    end = moves(position, search.moves, 0)
    if not 0 < end <= most_moves(position):
        end_all(position, MOVES, search)
        return NO_MOVE
    for at in range(end):
        move = search.moves[at]
        score = order(position, move, play(position, move))
        search.ranked[at] = rank(FIRST if move == known else score, move, False, at)
    sort_down(search.ranked, 0, end)
    for at in range(end):
        move = ranked_move(search.ranked[at])
        # Neither the last candidate nor, in a weak solution, a lost position needs a search.
        if at == end - 1 or (weak and value < 0):
            return move
        child = play(position, move)
        if moves_again(position, child):
            reached = search_root(child, value - 1, value, end, search, table)
        else:
            reached = -search_root(child, -value, 1 - value, end, search, table)
        if search.stop != RUNNING:
            break
        if reached >= value:
            return move
    return NO_MOVE


@compiled
def follow(position, result, weak, whole_line, search, table):
    """Write a best line to *result*: all of it if the value is proven, else one move."""
    result.length = 0
    value = result.lower
    proven = result.lower == result.upper
    if not proven:
        # The best move is not known yet: accept the first one.
        value = -MAX_VALUE
    while result.length < len(result.line):
        over, _ = outcome(position)
        if over:
            return
        move = best_move_of(position, value, weak, search, table)
        if move == NO_MOVE:
            return
        result.line[result.length] = move
        result.length += 1
        if not (proven and whole_line):
            return
        child = play(position, move)
        if not moves_again(position, child):
            value = -value
        position = child


@kernel
def solve_batch(
    example: Position,
    words: Words,
    results: SolverResults,
    weak: bool,
    line: int,
    cold: bool,
    sharing: int,
    search: SolverMemory,
    table: Words,
) -> None:
    """Solve the positions packed in *words*; *example* is any position of their class.

    *line* is the number of moves wanted of the best line: 0, 1, or 2 for all of them.  With *cold*,
    each position starts a generation of the table.  *sharing* says how threads share the table:
    before they start, a call without positions opens all of it (``PREPARE_TABLE``), or enough for
    as many more entries as the node limit (``ENLARGE_TABLE``).
    """
    if sharing == PREPARE_TABLE:
        begin(table, cold)
        open_whole(table)
    elif sharing == ENLARGE_TABLE:
        open_for(table, search.node_limit, search.crowding)
    for number in range(len(results)):
        result = results[number]
        position = unpack(words, number * width(example), example)
        if search.stop != RUNNING and search.stop_at < 0:
            begin_proof(position, result, weak, search)
            continue
        if sharing == SINGLE_THREADED:
            begin(table, cold)
        search.current = number
        search.shared = sharing == SHARED_TABLE
        if search.stop != RUNNING and search.stop_at >= 0 and search.stop_at != number:
            search.stop = RUNNING
        search.nodes = search.probes = search.hits = search.cutoffs = 0
        search.stores = search.overwrites = search.looked = 0
        started = ticks()
        prove(position, result, weak, search, table)
        result.ticks = ticks() - started
        result.reason = search.stop
        result.nodes = search.nodes
        result.probes = search.probes
        result.hits = search.hits
        result.cutoffs = search.cutoffs
        result.stores = search.stores
        result.overwrites = search.overwrites
        if line > 0:
            limit = search.node_limit
            stopped = search.stop
            search.node_limit = search.line_limit
            search.stop = RUNNING
            follow(position, result, weak, line > 1, search, table)
            search.node_limit = limit
            if stopped != RUNNING:
                search.stop = stopped
    search.ticks = ticks()
