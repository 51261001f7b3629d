"""Compiled value iteration: states, their order, and the narrowing of their bounds.

See :mod:`cutnode.search.value_iteration` for the method and its sources."""

from __future__ import annotations

import math
from typing import Annotated, Any

import numba
import numpy as np
from numba import types

from cutnode.compiler.jit import Numbers, Position, Words, compiled, kernel
from cutnode.contract.bits import Bits, mix
from cutnode.contract.derived import same_after_chance
from cutnode.contract.positions import pack, unpack, width
from cutnode.contract.stop import RUNNING
from cutnode.contract.verbs import (
    canonical,
    chance,
    chance_outcome,
    moves,
    moves_again,
    outcome,
    play,
)

FINISHED, DECISION, CHANCE = range(3)
"""The kinds of states."""


SOUND, VALUE, ODDS, STUCK = range(4)
"""Faults of a game: none; a value beyond its limit; invalid probabilities; no moves."""


DONE = (1 << 31) - 1
"""The rank of a state whose component is complete: above all others."""


GRAPH = np.dtype(
    [
        ("stop", np.int64),
        ("limit", np.float64),  # VALUE_LIMIT
        ("most", np.int64),  # MAX_MOVES
        ("positions", np.int64),  # limit on states
        ("states", np.int64),
        ("expanded", np.int64),  # number of states, from the first, whose edges are known
        ("indexed", np.int64),  # number of states, from the first, in the slots
        ("edges", np.int64),
        ("room", np.int64),  # room for new states and edges that is needed to continue
        ("trouble", np.int64),  # fault of the state that is expanded next
        ("cyclic", np.int64),  # components with cycles
        ("sweeps", np.int64),  # most updates of any state
        ("updates", np.int64),  # updates of all states together
        ("kinds", np.int64, (3,)),
    ],
    align=True,
)
"""The memory of exploring and iterating: control and counters."""


GraphMemory = Annotated[Any, numba.from_dtype(GRAPH)]
Bytes = Annotated[Any, types.uint8[::1]]
Indices = Annotated[Any, types.int32[::1]]
IndexTable = Annotated[Any, types.int32[:, ::1]]
Reals = Annotated[Any, types.float64[::1]]
RealTable = Annotated[Any, types.float64[:, ::1]]


@compiled
def slot_of(word, keys, slots):
    """Return the slot of a canonical key: it holds the state's number plus 1, or 0 if unknown."""
    last = Bits(len(slots) - 1)
    slot = mix(word) & last
    while slots[slot] != 0 and Bits(keys[slots[slot] - 1]) != word:
        slot = (slot + Bits(1)) & last
    return slot


@compiled
def state_of(position, word, count, keys, slots, words):
    """Return the number of a position by its key *word*; a new one is added as number *count*.

    A position with the same key may stand for it.
    """
    slot = slot_of(word, keys, slots)
    if slots[slot] == 0:
        keys[count] = word
        pack(words, count * width(position), position)
        slots[slot] = count + 1
    return int(slots[slot]) - 1


@compiled
def lead_to(child, weight, graph, keys, slots, words, children, weights):
    """Add an edge to the state of a position, which may be new."""
    state = state_of(child, Bits(canonical(child)[0]), graph.states, keys, slots, words)
    graph.states = max(graph.states, state + 1)
    children[graph.edges] = state
    weights[graph.edges] = weight
    graph.edges += 1


@kernel
def explore(
    example: Position,
    graph: GraphMemory,
    keys: Words,
    slots: Indices,
    words: Words,
    first: Numbers,
    kinds: Bytes,
    children: Indices,
    weights: Reals,
    values: Reals,
    buffer: Numbers,
) -> None:
    """Expand states in the order in which they were found, as long as there is room.

    *example* is the position to begin with.  ``keys``, ``first``, ``kinds`` and ``values`` (of
    finished games) have an element for each state, ``children`` and ``weights`` one for each edge:
    the edges of a state are from ``first[state]`` to ``first[state + 1]``.  ``words`` holds the
    positions.  ``slots`` is a hash table of state numbers plus 1; its size is a power of two, at
    least twice the number of states.
    """
    for state in range(graph.indexed, graph.states):
        slots[slot_of(Bits(keys[state]), keys, slots)] = state + 1
    if graph.states == 0:
        word = Bits(canonical(example)[0])
        graph.states = 1 + state_of(example, word, 0, keys, slots, words)
    graph.indexed = graph.states
    while graph.expanded < graph.states and graph.stop == RUNNING:
        state = graph.expanded
        position = unpack(words, state * width(example), example)
        over, value = outcome(position)
        events = 0 if over else chance(position)
        graph.room = max(graph.most, events)
        if graph.states + graph.room > len(keys) or graph.edges + graph.room > len(children):
            break
        first[state] = graph.edges
        if over:
            kinds[state] = FINISHED
            values[state] = value
            if not abs(value) <= graph.limit:
                graph.trouble = VALUE
        elif events > 0:
            kinds[state] = CHANCE
            total = 0.0
            for index in range(events):
                odds, child = chance_outcome(position, index)
                total += odds
                if odds < 0:
                    graph.trouble = ODDS
                elif odds > 0:
                    weight = odds if same_after_chance(position, child) else -odds
                    lead_to(child, weight, graph, keys, slots, words, children, weights)
            if not abs(total - 1) < 1e-9:
                graph.trouble = ODDS
        else:
            kinds[state] = DECISION
            end = moves(position, buffer, 0)
            for at in range(end):
                child = play(position, buffer[at])
                weight = 1.0 if moves_again(position, child) else -1.0
                lead_to(child, weight, graph, keys, slots, words, children, weights)
            if end == 0:
                graph.trouble = STUCK
        if graph.trouble != SOUND or graph.states > graph.positions:
            break
        graph.kinds[kinds[state]] += 1
        graph.expanded += 1
        first[state + 1] = graph.edges
    graph.indexed = graph.states


@kernel
def arrange(
    graph: GraphMemory,
    first: Numbers,
    children: Indices,
    order: Indices,
    ranks: Indices,
    ends: Bytes,
    waiting: Indices,
    line: IndexTable,
) -> None:
    """Write the states to *order* by strongly connected components, each after its successors.

    Within a component a state comes after most of its successors.  *ends* says for each place
    whether a component ends there.  *ranks*, 0 before, becomes the place of each state.  *waiting*
    and *line* have room for all states: *waiting* for the states of open components, *line* for the
    current path of the depth-first search, with each state's next edge and first rank.
    """
    written = waits = depth = 0
    visited = 1
    line[0, 0], line[0, 1], line[0, 2] = 0, 0, visited
    ranks[0] = visited
    while depth >= 0 and graph.stop == RUNNING:
        state = line[depth, 0]
        edge = first[state] + line[depth, 1]
        if edge < first[state + 1]:
            child = children[edge]
            if ranks[child] == 0:
                visited += 1
                depth += 1
                line[depth, 0], line[depth, 1], line[depth, 2] = child, 0, visited
                ranks[child] = visited
            else:
                ranks[state] = min(ranks[state], ranks[child])
                line[depth, 1] += 1
            continue
        depth -= 1
        if ranks[state] < line[depth + 1, 2]:
            # Play from here leads back to a state of the current path.
            waiting[waits] = state
            waits += 1
            continue
        bottom = waits
        while bottom > 0 and ranks[waiting[bottom - 1]] >= ranks[state]:
            bottom -= 1
            ranks[waiting[bottom]] = DONE
        ranks[state] = DONE
        for at in range(bottom, waits):
            order[written] = waiting[at]
            ends[written] = False
            written += 1
        order[written] = state
        ends[written] = True
        written += 1
        goes_round = bottom < waits
        for edge in range(first[state], first[state + 1]):
            goes_round = goes_round or children[edge] == state
        graph.cyclic += goes_round
        waits = bottom
    for place in range(written):
        ranks[order[place]] = place


@kernel
def renumber(
    graph: GraphMemory,
    order: Indices,
    ranks: Indices,
    first: Numbers,
    kinds: Bytes,
    children: Indices,
    weights: Reals,
    firsts: Numbers,
    kind_at: Bytes,
    children_at: Indices,
    weights_at: Reals,
) -> None:
    """Copy the states and edges in the order of their places, so that memory is read in order."""
    edges = 0
    for place in range(graph.states):
        state = order[place]
        firsts[place] = edges
        kind_at[place] = kinds[state]
        for edge in range(first[state], first[state + 1]):
            children_at[edges] = ranks[children[edge]]
            weights_at[edges] = weights[edge]
            edges += 1
    firsts[graph.states] = edges


@compiled
def backed_up(state, first, kinds, children, weights, bounds):
    """Return the bounds of a state, backed up from the states that it leads to."""
    choice = kinds[state] == DECISION
    low = high = -math.inf if choice else 0.0
    for edge in range(first[state], first[state + 1]):
        child, weight = children[edge], weights[edge]
        other = int(weight < 0)
        below = weight * bounds[child, other]
        above = weight * bounds[child, 1 - other]
        low = max(low, below) if choice else low + below
        high = max(high, above) if choice else high + above
    return low, high


@kernel
def converge(
    graph: GraphMemory,
    ends: Bytes,
    first: Numbers,
    kinds: Bytes,
    children: Indices,
    weights: Reals,
    bounds: RealTable,
    tolerance: float,
) -> None:
    """Narrow the bounds of all states until they are within *tolerance*, or as far as possible.

    A component's bounds get no closer than the bounds of its successors; the tolerance is shared
    among the components with cycles.
    """
    share = tolerance / max(graph.cyclic, 1)
    begin = 0
    while begin < graph.states:
        end = begin + 1
        while not ends[end - 1]:
            end += 1
        goes_round = False
        aim = 0.0
        for edge in range(first[begin], first[end]):
            child = children[edge]
            if child >= begin:
                goes_round = True
            else:
                aim = max(aim, bounds[child, 1] - bounds[child, 0])
        aim += share
        sweeps = 0
        widest, narrowed = math.inf, True
        while sweeps == 0 or (goes_round and narrowed and widest > aim):
            widest, narrowed = 0.0, False
            for state in range(begin, end):
                if graph.stop != RUNNING:
                    return
                if kinds[state] == FINISHED:
                    continue
                low, high = backed_up(state, first, kinds, children, weights, bounds)
                if low > bounds[state, 0]:
                    bounds[state, 0] = low
                    narrowed = True
                if high < bounds[state, 1]:
                    bounds[state, 1] = high
                    narrowed = True
                widest = max(widest, bounds[state, 1] - bounds[state, 0])
            sweeps += 1
        graph.sweeps = max(graph.sweeps, sweeps)
        graph.updates += sweeps * (end - begin)
        begin = end
