"""Value iteration: exact values of games of chance, and of games in which play can go round.

Positions with the same canonical key are one *state*.  :func:`explore` finds all states that
can be reached, with their edges: to each move or outcome of chance belongs the state after it,
and a weight, the probability of the outcome (1 of a move), negative if the other player is the
mover there.  :func:`arrange` puts the states in an order in which what follows comes first: in
strongly connected components, the sets of states among which play can go round.
:func:`converge` then goes through the components and narrows a lower and an upper bound of each
state, from the game's ``VALUE_LIMIT`` on, until both agree.  At all times the value is between
the two, so what is proven does not depend on when it ends, nor on a guess how fast it converges.

Where play can go on forever without chance ever ending it, both bounds can stay apart: nothing
says what such play is worth.

Sources: value iteration, L. Shapley, "Stochastic games" (1953); with two bounds, S. Haddad and
B. Monmege, "Interval iteration algorithm for MDPs and IMDPs" (2018); by components, P. Dai et
al., "Topological value iteration algorithms" (2011); components, D. Pearce, "A space-efficient
algorithm for finding strongly connected components" (2016).

Bounds hold but for the rounding of sums and products, some 1e-15 of a value.  Where keys are
hashes, *n* states are taken for fewer with odds of *n* squared in 2**65.
"""

from __future__ import annotations

import math
import threading
from typing import Any

import numba
import numpy as np
from numba import types

from engine.bits import Bits, mix
from engine.clock import Clock
from engine.contract import (
    canonical,
    chance,
    chance_outcome,
    defines,
    game_constant,
    game_name,
    is_plain,
    legal_moves,
    moves,
    moves_again,
    outcome,
    play,
    same_after_chance,
    value_limit,
)
from engine.errors import CutnodeError, GameError, PositionError, whole
from engine.jit import compiled
from engine.limits import RUNNING
from engine.memory import Memory
from engine.people import position_text
from engine.positions import coerce, load, park, width, words_each
from engine.results import Iterated
from engine.runner import Limits, run_watched
from engine.text import quoted

__all__ = ["States", "iterate"]

MOST_STATES = 1 << 30
"""What 32-bit numbers of states and slots have room for."""

FIRST_ROOM = 1 << 12
"""For states and edges; doubled as often as more is needed."""

FINISHED, DECISION, CHANCE = range(3)
"""The kinds of states."""

SOUND, VALUE, ODDS, STUCK = range(4)
"""What is wrong with the game: nothing; a value beyond its limit; probabilities that are none;
no moves."""

DONE = (1 << 31) - 1
"""The rank of a state whose component is known: after all others."""

GRAPH = np.dtype(
    [
        ("stop", np.int64),
        ("limit", np.float64),  # VALUE_LIMIT
        ("most", np.int64),  # MAX_MOVES
        ("positions", np.int64),  # most states that are wanted
        ("states", np.int64),
        ("expanded", np.int64),  # states whose edges are known: the first of all
        ("indexed", np.int64),  # states that the slots know
        ("edges", np.int64),
        ("room", np.int64),  # for new states and edges, that is needed to go on
        ("trouble", np.int64),  # what is wrong with the state that is expanded next
        ("cyclic", np.int64),  # components in which play can go round
        ("sweeps", np.int64),  # most updates of any state
        ("updates", np.int64),  # of all states together
        ("kinds", np.int64, (3,)),
    ],
    align=True,
)
"""What explores and iterates: control and counters."""


@compiled
def slot_of(word, keys, slots):
    """Where the slots have the state of a canonical key, or could have it (a 0)."""
    last = Bits(len(slots) - 1)
    slot = mix(word) & last
    while slots[slot] != 0 and Bits(keys[slots[slot] - 1]) != word:
        slot = (slot + Bits(1)) & last
    return slot


@compiled
def lead_to(child, weight, graph, keys, slots, words, children, weights):
    """Add an edge to the state of a position, which may be new."""
    word, _ = canonical(child)
    word = Bits(word)
    slot = slot_of(word, keys, slots)
    if slots[slot] == 0:
        state = graph.states
        keys[state] = word
        park(words, state * width(child), child)
        graph.states += 1
        slots[slot] = graph.states
    children[graph.edges] = slots[slot] - 1
    weights[graph.edges] = weight
    graph.edges += 1


@compiled(
    signature=lambda position: types.void(
        position,
        numba.from_dtype(GRAPH),
        types.uint64[::1],
        types.int32[::1],
        types.uint64[::1],
        types.int64[::1],
        types.uint8[::1],
        types.int32[::1],
        types.float64[::1],
        types.float64[::1],
        types.int64[::1],
    )
)
def explore(like, graph, keys, slots, words, first, kinds, children, weights, values, buffer):
    """Expand states in the order in which they were found, as long as there is room.

    *like* is the position to begin with.  ``keys``, ``first``, ``kinds`` and ``values`` (those
    of finished games) have an element for each state, ``children`` and ``weights`` for each
    edge: those of a state are from ``first[state]`` to ``first[state + 1]``.  ``words`` has the
    positions, and ``slots``, a power of two of them and twice as many as states, tells where a
    state is: its number plus 1.
    """
    for state in range(graph.indexed, graph.states):
        slots[slot_of(Bits(keys[state]), keys, slots)] = state + 1
    if graph.states == 0:
        word, _ = canonical(like)
        keys[0] = Bits(word)
        park(words, 0, like)
        slots[slot_of(Bits(word), keys, slots)] = 1
        graph.states = 1
    graph.indexed = graph.states
    while graph.expanded < graph.states and graph.stop == RUNNING:
        state = graph.expanded
        position = load(words, state * width(like), like)
        graph.room = max(graph.most, chance(position))
        if graph.states + graph.room > len(keys) or graph.edges + graph.room > len(children):
            break
        over, value = outcome(position)
        first[state] = graph.edges
        if over:
            kinds[state] = FINISHED
            values[state] = value
            if not abs(value) <= graph.limit:
                graph.trouble = VALUE
        elif chance(position) > 0:
            kinds[state] = CHANCE
            total = 0.0
            for index in range(chance(position)):
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


@compiled(
    signature=lambda position: types.void(
        numba.from_dtype(GRAPH),
        types.int64[::1],
        types.int32[::1],
        types.int32[::1],
        types.int32[::1],
        types.uint8[::1],
        types.int32[::1],
        types.int32[:, ::1],
    )
)
def arrange(graph, first, children, order, ranks, ends, waiting, line):
    """Write the states to *order* by components: what a component leads to comes before it.

    In a component a state comes after most of those that it leads to.  *ends* says of each
    place whether a component ends there.  *ranks*, 0 before, becomes the place of each state.
    *waiting* and *line* are room for as many states: those of components that are still open,
    and the line of states that are being looked at, with their next edge and first rank.
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
            # Play from here leads back to a state of the line.
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


@compiled(
    signature=lambda position: types.void(
        numba.from_dtype(GRAPH),
        types.int32[::1],
        types.int32[::1],
        *(types.int64[::1], types.uint8[::1], types.int32[::1], types.float64[::1]),
        *(types.int64[::1], types.uint8[::1], types.int32[::1], types.float64[::1]),
    )
)
def renumber(
    graph, order, ranks, first, kinds, children, weights, firsts, kind_at, children_at, weights_at
):
    """Write the states and edges once more, by their places: so memory is read as it comes."""
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
    """The bounds of a state that follow from those of the states it leads to."""
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


@compiled(
    signature=lambda position: types.void(
        numba.from_dtype(GRAPH),
        types.uint8[::1],
        types.int64[::1],
        types.uint8[::1],
        types.int32[::1],
        types.float64[::1],
        types.float64[:, ::1],
        types.float64,
    )
)
def converge(graph, ends, first, kinds, children, weights, bounds, tolerance):
    """Narrow the bounds of all states, until they are within *tolerance* or cannot be narrowed.

    The bounds of a component come no closer than those that it leads to; what is left of the
    tolerance is shared among the components in which play can go round.
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


def iterate(
    position: Any,
    *,
    tolerance: float = 1e-9,
    positions: int = 10_000_000,
    seconds: float | None = None,
    stop: threading.Event | None = None,
) -> Iterated:
    """Bound the value of a position, and of all that can be reached from it, by value iteration.

    For games of chance, and others, whose positions fit in memory, with some 200 bytes for each
    (equivalent ones count once); more than *positions* are an error.  A value is proven when its
    bounds are within *tolerance*.  Play may go round; if it can go on forever, bounds may stay
    apart.  *seconds*, Ctrl-C and the event *stop* end it early: the bounds that are returned hold.

    :class:`GameError` for games in which a repetition is a draw: there a value depends on the
    line of play.
    """
    limits = Limits(None, seconds, stop)
    if not isinstance(tolerance, int | float) or not 0 < tolerance < math.inf:
        raise CutnodeError(f"a tolerance is a number, more than 0, not {tolerance!r}")
    if not 0 < whole(positions, "a number of positions") <= MOST_STATES:
        raise CutnodeError(f"a number of positions is 1 to {MOST_STATES:,}, not {positions:,}")
    cls: Any = type(position)
    if defines(cls, "drawn"):
        raise GameError(f"{game_name(cls)} has draws by rule: value iteration does not take them")
    if defines(cls, "reversible"):
        raise GameError(
            f"{game_name(cls)} has repetition: a position that repeats is a draw, so values "
            f"depend on the line of play, and value iteration does not take it"
        )
    graph = _Graph(coerce(position), positions)
    clock = Clock(limits.seconds)
    stops = [] if stop is None else [stop]
    try:
        ended = run_watched(lambda: graph.solve(float(tolerance)), graph.counts, clock, stops)
    except MemoryError:
        raise CutnodeError("the positions that can be reached from here need more memory") from None
    return graph.result(float(tolerance), ended, clock.elapsed())


class _Graph:
    """All states that can be reached from a position, and their bounds."""

    def __init__(self, root: Any, positions: int):
        cls: Any = type(root)
        self.root = root
        self.run_explore = explore.specialise(cls)
        self.run_arrange = arrange.specialise(cls)
        self.run_renumber = renumber.specialise(cls)
        self.run_converge = converge.specialise(cls)
        self.counts = Memory(cls, GRAPH)
        self.limit = value_limit(cls)
        self.counts["limit"] = self.limit
        self.counts["most"] = game_constant(cls, "MAX_MOVES", 256)
        self.counts["positions"] = positions
        self.buffer = np.zeros(self.counts["most"], np.int64)
        self.keys = np.empty(0, np.uint64)
        self.words: Any = [] if is_plain(cls) else np.empty(0, np.uint64)
        self.first = np.empty(0, np.int64)
        self.kinds = np.empty(0, np.uint8)
        self.values = np.empty(0)
        self.slots = np.zeros(0, np.int32)
        self.children = np.empty(0, np.int32)
        self.weights = np.empty(0)
        self._make_room(states=FIRST_ROOM, edges=FIRST_ROOM)

    def _make_room(self, states: int, edges: int) -> None:
        """Let so many states and edges be known; what is known of them is kept."""
        if states > len(self.keys):
            for name in ("keys", "kinds", "values"):
                setattr(self, name, _longer(getattr(self, name), states))
            self.first = _longer(self.first, states + 1)
            self.words = _longer(self.words, states * words_each(type(self.root)))
            self.slots = np.zeros(2 * states, np.int32)
            self.counts["indexed"] = 0
        if edges > len(self.children):
            self.children = _longer(self.children, edges)
            self.weights = _longer(self.weights, edges)

    def solve(self, tolerance: float) -> None:
        """Find all states and bound their values, until that is done or the stop flag is set."""
        self._explore()
        self._trim()
        if self.counts["stop"] == RUNNING:
            self._arrange()
        if self.counts["stop"] == RUNNING:
            arguments = self.ends, self.first, self.kinds, self.children, self.weights
            self.run_converge(self.counts.argument, *arguments, self.bounds, tolerance)

    def _explore(self) -> None:
        """Find all states."""
        counts = self.counts
        while True:
            self.run_explore(
                self.root,
                self.counts.argument,
                self.keys,
                self.slots,
                self.words,
                self.first,
                self.kinds,
                self.children,
                self.weights,
                self.values,
                self.buffer,
            )
            if counts["trouble"] != SOUND:
                raise GameError(self._complaint())
            if counts["states"] > counts["positions"]:
                raise CutnodeError(
                    f"more than {counts['positions']:,} positions can be reached from here: "
                    f"allow more if there is memory, some 200 bytes for each"
                )
            if counts["stop"] != RUNNING or counts["expanded"] == counts["states"]:
                return
            self._make_room(
                _room(len(self.keys), int(counts["states"] + counts["room"])),
                _room(len(self.children), int(counts["edges"] + counts["room"])),
            )

    def _trim(self) -> None:
        """Forget the room that was not needed, and begin with bounds that surely hold."""
        states, edges = int(self.counts["states"]), int(self.counts["edges"])
        self.keys, self.kinds = self.keys[:states], self.kinds[:states]
        self.first = self.first[: states + 1]
        self.children, self.weights = self.children[:edges], self.weights[:edges]
        self.kinds[self.counts["expanded"] :] = DECISION  # not known after an early end
        self.bounds = np.empty((states, 2))
        finished = self.kinds == FINISHED
        self.bounds[:, 0] = np.where(finished, self.values[:states], -self.limit)
        self.bounds[:, 1] = np.where(finished, self.values[:states], self.limit)
        self.ends = np.empty(states, np.uint8)
        self.words, self.values = self.words[:0].copy(), self.values[:0].copy()

    def _complaint(self) -> str:
        """What is wrong with the state that was to be expanded."""
        cls: Any = type(self.root)
        at = int(self.counts["expanded"]) * words_each(cls)
        position = self.words[at] if is_plain(cls) else load(self.words, at, self.root)
        wrong = {
            VALUE: f"has a value beyond VALUE_LIMIT = {self.limit:g}",
            ODDS: "has outcomes of chance with probabilities below 0, or a sum that is not 1",
            STUCK: "has no moves, but the game is not over",
        }[int(self.counts["trouble"])]
        text = position_text(position)
        return f"{game_name(cls)}: position {quoted(text)} {wrong}"

    def _arrange(self) -> None:
        """Number the states in the order in which they are swept."""
        states, graph = len(self.keys), self.counts.argument
        order, ranks = np.empty(states, np.int32), np.zeros(states, np.int32)
        waiting, line = np.empty(states, np.int32), np.empty((states, 3), np.int32)
        known = self.first, self.kinds, self.children, self.weights
        self.run_arrange(graph, self.first, self.children, order, ranks, self.ends, waiting, line)
        if self.counts["stop"] != RUNNING:
            return
        del waiting, line
        renumbered: list[Any] = [np.empty_like(array) for array in known]
        self.run_renumber(graph, order, ranks, *known, *renumbered)
        self.first, self.kinds, self.children, self.weights = renumbered
        self.keys = self.keys[order]
        self.bounds = self.bounds[order]
        taken = self.slots > 0
        self.slots[taken] = ranks[self.slots[taken] - 1] + 1

    def result(self, tolerance: float, ended: str, seconds: float) -> Iterated:
        """What is known now."""
        counts, root = self.counts, self.root
        states = States(root, self.keys, self.slots, self.bounds)
        lower, upper = states.bounds_of(root)
        proven = upper - lower <= tolerance
        unknown = None if counts["expanded"] else (-self.limit, self.limit)
        intervals = {
            move: unknown or states.bounds_behind(root, child) for move, child in _children(root)
        }
        best = max(intervals, key=lambda move: sum(intervals[move]), default=None)
        finished, decisions, chances = map(int, counts.words["kinds"])
        return Iterated(
            position=root,
            value=(lower + upper) / 2 if proven else None,
            lower=lower,
            upper=upper,
            tolerance=tolerance,
            best_move=None if chance(root) else best,
            scores={
                move: (low + high) / 2 if high - low <= tolerance else None
                for move, (low, high) in intervals.items()
            },
            decisions=decisions,
            chances=chances,
            finished=finished,
            sweeps=int(counts["sweeps"]),
            updates=int(counts["updates"]),
            seconds=seconds,
            reason="proven" if proven else ended or "bounds stay apart",
            states=states,
        )


class States:
    """The bounds of the values of all states that can be reached from *root*."""

    def __init__(self, root: Any, keys: Any, slots: Any, bounds: Any):
        self.root = root
        self._keys, self._slots, self._bounds = keys, slots, bounds

    def __len__(self) -> int:
        return len(self._bounds)

    def bounds_of(self, position: Any) -> tuple[float, float]:
        """Those of a position for its mover; :class:`PositionError` if it is not among them."""
        if type(position) is not type(self.root):
            raise PositionError(
                f"the states are of {game_name(type(self.root))}, not {game_name(type(position))}"
            )
        word = canonical(coerce(position))[0]
        state = int(self._slots[slot_of(word, self._keys, self._slots)]) - 1
        if state < 0:
            text, origin = position_text(position), position_text(self.root)
            raise PositionError(f"{quoted(text)} cannot be reached from {quoted(origin)}")
        lower, upper = self._bounds[state].tolist()
        return lower, upper

    def bounds_behind(self, position: Any, child: Any) -> tuple[float, float]:
        """Those of a move, or of an outcome of chance, for the mover of *position*."""
        again = same_after_chance if chance(position) else moves_again
        lower, upper = self.bounds_of(child)
        return (lower, upper) if again(position, child) else (-upper, -lower)


def _children(position: Any) -> list[tuple[int, Any]]:
    """The position after each move, or each outcome of chance that has a chance."""
    if outcome(position)[0]:
        return []
    events = enumerate(chance_outcome(position, index) for index in range(chance(position)))
    return [(index, child) for index, (odds, child) in events if odds > 0] or [
        (move, play(position, move)) for move in legal_moves(position)
    ]


def _longer(array: Any, size: int) -> Any:
    if isinstance(array, list):
        return array + [None] * (size - len(array))
    longer = np.empty(size, array.dtype)
    longer[: len(array)] = array
    return longer


def _room(room: int, needed: int) -> int:
    """Twice the room as often as is needed."""
    while room < needed:
        room *= 2
    return room
