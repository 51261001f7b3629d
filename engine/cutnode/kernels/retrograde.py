"""Compiled retrograde analysis of a layer of a tablebase: win, draw and loss with distance.

A *code* is 0 for an undecided position, which in the end is a draw; ``distance + 1`` for a win of
the mover in ``distance`` plies, and ``-(distance + 1)`` for a loss.  In the layer being solved,
three more have a meaning: ``HOLE``, ``DRAWN`` and ``TOUCHED`` of :mod:`cutnode.kernels.codes`.

A code is *final* in the pass of its distance.  Until then it may be a win that leaves the layer and
takes longer than another win, which has not been found yet.

See :mod:`cutnode.tablebases.retrograde` for the method and its sources."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import numba
import numpy as np
from numba import types

from cutnode.compiler.jit import Numbers, Position, Words, compiled, kernel
from cutnode.contract.bits import Bits, fetch_add, lowest_index, popcount, without_lowest
from cutnode.contract.dispatch import defines, derived
from cutnode.contract.verbs import (
    NO_INDEX,
    moves,
    moves_again,
    outcome,
    play,
    retreat,
    retreats,
)
from cutnode.kernels.blocks import BLOCK_SHIFT, first_block, next_block
from cutnode.kernels.codes import (
    DRAWN,
    HOLE,
    TOUCHED,
    CodesMemory,
    any_code,
    code_at,
    code_in,
    has_place,
    place_of,
    places_in,
    write_code,
)
from cutnode.kernels.tablebase import (
    ENTRY,
    SYMBOLS,
    is_hole,
    is_solved,
    layer_of,
    meaning_at,
    number_of,
    position_numbered,
)

MOST_DISTANCE = 32000

WIN, TOUCH, CHECK = range(3)
"""The phases of a pass: decide the predecessors that win; touch the others; check the touched ones,
which are lost if all their moves lose."""

MERIT = 1 << 17
QUICKEST = MERIT - 2
"""The merit of a win in one ply, which no move beats."""

SAME, THROUGH, EDGE_SHIFT = 1, 2, 2
"""The parts of an edge: a flag that the predecessor has the same mover, a flag that a position
without an index lies in between, and the shift of the predecessor's index."""

MISSING, BEYOND, TOO_LONG, STUCK = range(1, 5)
"""Faults: play leads to a missing table; play leads to a later layer or an invalid index; a
distance is too long; a position has no moves though the game is not over."""

PASS = np.dtype(
    [
        ("stop", np.int64),
        ("thread", np.int64),
        ("threads", np.int64),
        ("layer", np.int64),  # the layer being solved
        ("size", np.int64),  # its indices
        ("distance", np.int64),  # of the positions whose predecessors the pass looks at
        ("phase", np.int64),
        ("conversion", np.int64),  # whether distances end where play leaves the layer
        ("wins_known", np.int64),  # whether the first phase finds all wins
        ("sweeping", np.int64),  # whether to check all undecided positions, not the touched ones
        ("farthest", np.int64),  # greatest distance found
        ("done", np.int64),  # indices done
        ("through", np.int64),  # 1 if values may depend on positions behind one without an index
        ("fault", np.int64),
        ("fault_index", np.int64),  # the index from which play goes wrong
        ("fault_layer", np.int64),  # the layer that it leads to
    ],
    align=True,
)
"""The memory of a thread."""

PassMemory = Annotated[Any, numba.from_dtype(PASS)]
Flags = Annotated[Any, types.uint8[::1]]
FlagTable = Annotated[Any, types.uint8[:, ::1]]
Edges = Annotated[Any, types.uint32[::1]]


@compiled
def one_ply_before(code, same):
    """Return a position's code by its child's; *same* says that both have the same mover."""
    further = code + 1 if code > 0 else code - 1 if code < 0 else 0
    return further if same else -further


@compiled
def merit(code):
    """Return the merit of a code, a number to compare moves by; or the code of a merit.

    Quicker wins are better, and slower losses.
    """
    return MERIT - code if code > 0 else -MERIT - code if code < 0 else 0


@compiled
def entry_of(position, memory, tables):
    """Return the layer and the index of a position; an invalid index is a fault.

    Layers before the one being solved have to be in the tables.
    """
    number, at = number_of(position, tables), layer_of(position)
    if number < 0 or at < 0 or at > memory.layer:
        memory.fault = BEYOND
    elif at == memory.layer:
        if number < memory.size:
            return at, number
        memory.fault = BEYOND
    elif is_solved(tables, at, number):
        return at, number
    else:
        memory.fault = MISSING if tables[ENTRY * at + SYMBOLS] == 0 else BEYOND
    memory.fault_layer = at
    return at, NO_INDEX


@compiled
def known_code(position, same, memory, tables, codes, most):
    """Return the code, as seen one ply before, of a position that is over or has an index.

    Codes of this layer that are further from zero than *most* are not final, and count as 0.
    """
    over, value = outcome(position)
    if over:
        return one_ply_before(1 if value > 0 else -1 if value < 0 else 0, same)
    at, number = entry_of(position, memory, tables)
    if number == NO_INDEX:
        return 0
    if at == memory.layer:
        code = code_at(codes, number)
        return one_ply_before(code, same) if -most <= code <= most else 0
    code = meaning_at(tables, at, number)
    if memory.conversion and code != 0:
        code = 1 if code > 0 else -1
    return one_ply_before(code, same)


@compiled
def code_behind(position, same, memory, tables, codes, most, buffer, room):
    """Return the same for a position without an index, looking through it."""
    best = -2 * MERIT
    for place in range(room, moves(position, buffer, room)):
        child = play(position, buffer[place])
        again = moves_again(position, child)
        best = max(best, merit(known_code(child, again, memory, tables, codes, most)))
        if best == QUICKEST:
            break
    if best != QUICKEST:
        memory.through = 1
    return one_ply_before(merit(best), same)


@compiled
def backed_up(position, memory, tables, codes, most, buffer, room, losses):
    """Return the code of a position with an index, backed up from its moves; 0 if undecided.

    *buffer* holds the moves, and from *room* on the moves of positions that are looked through.
    *losses* says that the position is known not to be won.
    """
    best = -2 * MERIT
    end = moves(position, buffer, 0)
    if end == 0:
        memory.fault = STUCK
        return 0
    behind = 0
    for place in range(end):
        child = play(position, buffer[place])
        if not outcome(child)[0] and number_of(child, tables) < 0:
            buffer[behind] = buffer[place]  # looking through it takes longer, so it comes last
            behind += 1
            continue
        same = moves_again(position, child)
        best = max(best, merit(known_code(child, same, memory, tables, codes, most)))
        if best == QUICKEST or (losses and best >= 0):
            return merit(best)
    for place in range(behind):
        child = play(position, buffer[place])
        same = moves_again(position, child)
        code = code_behind(child, same, memory, tables, codes, most, buffer, room)
        best = max(best, merit(code))
        if best == QUICKEST or (losses and best >= 0):
            break
    return merit(best)


@compiled
def note(memory, codes, due, number, code):
    """Write the code of a decided position, and mark its block as due."""
    distance = abs(code) - 1
    if distance >= len(due):
        memory.fault = TOO_LONG
        return
    write_code(codes, number, code)
    due[distance, number >> BLOCK_SHIFT] = 1
    memory.farthest = max(memory.farthest, distance)


@kernel
def find_positions(example: Position, memory: PassMemory, words: Words, filled: Words) -> None:
    """Set the bit of each index of the layer that has a position."""
    start, end = first_block(memory, memory.size)
    while start < end:
        for number in range(start, end):
            position = position_numbered(example, memory.layer, number, words)
            if not is_hole(position, memory.layer, number):
                filled[number >> 6] = Bits(filled[number >> 6]) | Bits(1) << Bits(number & 63)
        start, end = next_block(memory, start, end, memory.size)


@kernel
def begin(
    example: Position,
    memory: PassMemory,
    tables: Numbers,
    words: Words,
    buffer: Numbers,
    codes: CodesMemory,
    due: FlagTable,
    room: int,
) -> None:
    """Write the codes of positions that are decided by positions outside their layer.

    *due* marks, for each distance, the blocks of indices that contain positions with it.
    """
    start, end = first_block(memory, memory.size)
    while start < end:
        for number in range(start, end):
            if not has_place(codes, number):
                continue
            position = position_numbered(example, memory.layer, number, words)
            if len(codes.filled) == 0 and is_hole(position, memory.layer, number):
                write_code(codes, number, HOLE)
                continue
            over, value = outcome(position)
            if over:
                write_code(codes, number, DRAWN)
                if value != 0:
                    note(memory, codes, due, number, 1 if value > 0 else -1)
            else:
                write_code(codes, number, 0)
                code = backed_up(position, memory, tables, codes, -1, buffer, room, False)
                if code != 0:
                    note(memory, codes, due, number, code)
                if memory.fault != 0:
                    memory.fault_index = number
                    return
        start, end = next_block(memory, start, end, memory.size)


@compiled
def precede(memory, codes, due, touched, number, wins):
    """Process a predecessor of a decided position; *wins* says that the move to it wins.

    A win decides the predecessor in the first phase; otherwise, if it is undecided, the second
    phase touches it.
    """
    code = code_at(codes, number)
    if memory.phase == WIN:
        quickest = memory.distance + 2
        if wins and (code == 0 or quickest < code < TOUCHED):
            note(memory, codes, due, number, quickest)
    elif not wins and code == 0:
        write_code(codes, number, TOUCHED)
        touched[number >> BLOCK_SHIFT] = 1


@derived
def matters(cls: type) -> Callable[..., Any]:
    """``matters(position, won, phase)``: whether a phase decides or touches predecessors.

    Where the players alternate, a predecessor of a lost position wins, and only a predecessor of a
    won position can lose.
    """
    if defines(cls, "turn"):
        return lambda position, won, phase: True
    return lambda position, won, phase: won == (phase == TOUCH)


@derived
def by_retreats(cls: type) -> Callable[..., Any]:
    """``by_retreats(...)``: process the predecessors that the game's ``retreats`` lists."""
    return _by_retreats if defines(cls, "retreats") else _by_nothing


@compiled
def _by_retreats(example, memory, words, buffer, codes, due, touched, tables, number, won):
    position = position_numbered(example, memory.layer, number, words)
    known = 0
    for place in range(retreats(position, buffer, 0)):
        before = retreat(position, buffer[place])
        found = number_of(before, tables)
        if found >= 0 and layer_of(before) == memory.layer:
            buffer[known] = found << 1 | (won == moves_again(before, position))
            known += 1
    for place in range(known):  # apart, so that the processor waits for many codes at once
        edge = buffer[place]
        precede(memory, codes, due, touched, edge >> 1, edge & 1 != 0)


@compiled
def _by_nothing(example, memory, words, buffer, codes, due, touched, tables, number, won):
    memory.fault = BEYOND


@compiled
def by_edges(memory, codes, due, touched, firsts, edges, number, won):
    """Process the predecessors that :func:`write_edges` found."""
    for place in range(firsts[number], firsts[number + 1]):
        edge = np.int64(edges[place])
        wins = edge & THROUGH == 0 and won == (edge & SAME != 0)
        precede(memory, codes, due, touched, edge >> EDGE_SHIFT, wins)


@kernel
def propagate(
    example: Position,
    memory: PassMemory,
    tables: Numbers,
    words: Words,
    buffer: Numbers,
    codes: CodesMemory,
    due: FlagTable,
    touched: Flags,
    firsts: Numbers,
    edges: Edges,
    room: int,
) -> None:
    """Run a phase of a pass, for the positions that are decided with the pass's distance.

    *touched* marks the blocks with touched positions.  *firsts* and *edges* come from
    :func:`write_edges`, and are empty if the game defines ``retreats``.
    """
    checks, plies = memory.phase == CHECK, memory.distance + 1
    won = not checks and (len(firsts) > 0 or matters(example, True, memory.phase))
    lost = not checks and (len(firsts) > 0 or matters(example, False, memory.phase))
    first = plies if won else TOUCHED if checks else -plies
    second = -plies if lost else first
    start, end = first_block(memory, memory.size)
    while start < end:
        block = start >> BLOCK_SHIFT
        wanted = due[memory.distance, block] != 0
        if checks:
            wanted = touched[block] != 0 or memory.sweeping != 0
            touched[block] = 0
        place = place_of(codes, start)
        for word in range(start >> 6, (end + 63) >> 6 if wanted else 0):
            left = places_in(codes, word, end)
            if memory.sweeping == 0 and not any_code(codes, place, left, first, second):
                place += popcount(left)
                continue
            while left:
                number = word << 6 | lowest_index(left)
                left = without_lowest(left)
                code = code_in(codes, place)
                place += 1
                if checks:
                    if code == TOUCHED or (memory.sweeping and is_open(code, memory.distance)):
                        look_again(example, memory, tables, words, buffer, codes, due, number, room)
                elif code not in (first, second):
                    continue
                elif len(firsts) > 0:
                    by_edges(memory, codes, due, touched, firsts, edges, number, code > 0)
                else:
                    by_retreats(
                        example,
                        memory,
                        words,
                        buffer,
                        codes,
                        due,
                        touched,
                        tables,
                        number,
                        code > 0,
                    )
        start, end = next_block(memory, start, end, memory.size)


@compiled
def is_open(code, distance):
    """Return whether a sweep can decide a position with a code, or find a quicker win."""
    return code == 0 or distance + 2 < code < TOUCHED


@compiled
def look_again(example, memory, tables, words, buffer, codes, due, number, room):
    """Look at the moves of a touched position, and decide it if they do."""
    position = position_numbered(example, memory.layer, number, words)
    losses = memory.wins_known != 0
    final = memory.distance + 2
    code = backed_up(position, memory, tables, codes, final, buffer, room, losses)
    if code != 0:
        note(memory, codes, due, number, code)
    else:
        write_code(codes, number, 0)
    if memory.fault != 0:
        memory.fault_index = number


@compiled
def lead_to(position, edge, memory, tables, counts, edges):
    """Count an edge to a position of the layer being solved, or write it."""
    if outcome(position)[0] or layer_of(position) != memory.layer:
        return
    number = number_of(position, tables)
    if len(edges) == 0:
        fetch_add(counts, number + 1, 1)
    else:
        edges[fetch_add(counts, number, 1)] = edge


@kernel
def write_edges(
    example: Position,
    memory: PassMemory,
    tables: Numbers,
    words: Words,
    buffer: Numbers,
    codes: CodesMemory,
    counts: Numbers,
    edges: Edges,
    room: int,
) -> None:
    """Find the moves to each position of the layer from undecided positions.

    The first call, with empty *edges*, adds the number of edges to *n* to ``counts[n + 1]``.  The
    second call writes each edge to the place ``counts[n]``, which it increments.
    """
    start, end = first_block(memory, memory.size)
    while start < end:
        for number in range(start, end):
            if not has_place(codes, number):
                continue
            code = code_at(codes, number)
            if code in (HOLE, DRAWN) or -2 <= code < 0 or 0 < code <= 2:
                continue
            position = position_numbered(example, memory.layer, number, words)
            for place in range(moves(position, buffer, 0)):
                child = play(position, buffer[place])
                same = moves_again(position, child)
                if outcome(child)[0] or number_of(child, tables) >= 0:
                    edge = number << EDGE_SHIFT | (SAME if same else 0)
                    lead_to(child, edge, memory, tables, counts, edges)
                    continue
                for second in range(room, moves(child, buffer, room)):
                    lead_to(
                        play(child, buffer[second]),
                        number << EDGE_SHIFT | THROUGH,
                        memory,
                        tables,
                        counts,
                        edges,
                    )
        start, end = next_block(memory, start, end, memory.size)
