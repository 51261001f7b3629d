"""Value iteration: exact values of games of chance, and of games with cycles.

Positions with the same canonical key are one *state*.  :func:`explore` finds all reachable
states and their edges: each move or outcome of chance leads to a state with a weight, which is the
probability of the outcome (1 for a move), negative if the other player is to move there.
:func:`arrange` orders the states by strongly connected components, successors first.
:func:`converge` then goes through the components and narrows a lower and an upper bound of each
state, starting from the game's ``VALUE_LIMIT``, until both agree.  The value is between the two at
all times, so a proof depends neither on when the iteration ends nor on an estimate of how fast it
converges.

Where play can continue forever without chance ever ending it, the bounds can stay apart, because
the value of such play is not defined.

Sources: value iteration, L. Shapley, "Stochastic games" (1953); with two bounds, S. Haddad and
B. Monmege, "Interval iteration algorithm for MDPs and IMDPs" (2018); by components, P. Dai et
al., "Topological value iteration algorithms" (2011); components, D. Pearce, "A space-efficient
algorithm for finding strongly connected components" (2016).

Bounds hold except for the rounding of sums and products, some 1e-15 of a value.  If keys are
hashes, two of *n* states are mistaken for one with a probability of *n* squared in 2**65.
"""

from __future__ import annotations

import math
import threading
from typing import Any

import numpy as np

from cutnode.compiler.memory import Memory
from cutnode.contract.derived import legal_moves, require_moves
from cutnode.contract.dispatch import defines, game_constant, game_name, is_plain, value_limit
from cutnode.contract.errors import CutnodeError, GameError, require_integer
from cutnode.contract.messages import position_text
from cutnode.contract.positions import coerce, unpack, words_each
from cutnode.contract.repetition import require_draws
from cutnode.contract.stop import RUNNING
from cutnode.contract.text import quoted
from cutnode.contract.verbs import chance, chance_outcome, outcome, play
from cutnode.kernels.clock import Clock
from cutnode.kernels.value_iteration import (
    DECISION,
    FINISHED,
    GRAPH,
    ODDS,
    SOUND,
    STUCK,
    VALUE,
    arrange,
    converge,
    explore,
    renumber,
)
from cutnode.runtime.running import KernelCall, Limits, run
from cutnode.search.board import given_position
from cutnode.search.state_values import States, ValueIterationResult
from cutnode.tablebases.spaces import longer

MOST_STATES = 1 << 30
"""The most states, as numbers of states and slots have 32 bits."""

FIRST_ROOM = 1 << 12
"""The initial room for states and for edges, doubled whenever more is needed."""


def iterate(
    position: Any,
    *,
    tolerance: float = 1e-9,
    positions: int = 10_000_000,
    seconds: float | None = None,
    stop: threading.Event | None = None,
) -> ValueIterationResult:
    """Bound the values of a position and of all reachable positions, by value iteration.

    This suits games, with or without chance, whose reachable positions fit in memory, at some 200
    bytes for each (equivalent ones count once); more than *positions* are an error.  A value is
    proven when its bounds are within *tolerance*.  Games may have cycles; if play can continue
    forever, bounds may stay apart.  *seconds*, Ctrl-C and the event *stop* end the iteration early;
    the bounds that it returns hold.

    Raise :class:`GameError` for games in which a repetition is a draw, as values then depend on the
    line of play.
    """
    limits = Limits(None, seconds, stop)
    if not isinstance(tolerance, int | float) or not 0 < tolerance < math.inf:
        raise CutnodeError(f"tolerance must be a positive number, got {tolerance!r}")
    if not 0 < require_integer(positions, "a number of positions") <= MOST_STATES:
        raise CutnodeError(f"positions must be 1..{MOST_STATES:,}, got {positions:,}")
    position = given_position(position)
    require_moves(position)
    cls: Any = type(position)
    if defines(cls, "drawn"):
        raise GameError(f"{game_name(cls)} has draws by rule, which value iteration cannot handle")
    require_draws(cls, "value iteration")
    if defines(cls, "reversible"):
        raise GameError(
            f"{game_name(cls)} has chance and reversible, which makes repetitions draws, so values "
            f"depend on the line of play; remove reversible to allow cycles"
            if defines(cls, "chance")
            else f"{game_name(cls)} has repetition: a position that repeats is a draw, so values "
            f"depend on the line of play, which value iteration cannot handle"
        )
    graph = _Graph(coerce(position), positions)
    clock = Clock(limits.seconds)
    call = KernelCall(lambda: graph.solve(float(tolerance)), graph.counts, clock)
    try:
        ended = run([call], limits.stops)
    except MemoryError:
        raise CutnodeError("the positions reachable from here do not fit in memory") from None
    return graph.result(float(tolerance), ended, clock.elapsed())


def prepare_iteration(cls: type) -> None:
    """Compile now what :func:`iterate` needs for positions of a class."""
    for kernel in (explore, arrange, renumber, converge):
        kernel.specialise(cls)


class _Graph:
    """All states reachable from a position, and their bounds."""

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
        """Make room for *states* and *edges* in total; keep what is known."""
        if states > len(self.keys):
            for name in ("keys", "kinds", "values"):
                setattr(self, name, longer(getattr(self, name), states))
            self.first = longer(self.first, states + 1)
            self.words = longer(self.words, states * words_each(type(self.root)))
            self.slots = np.zeros(2 * states, np.int32)
            self.counts["indexed"] = 0
        if edges > len(self.children):
            self.children = longer(self.children, edges)
            self.weights = longer(self.weights, edges)

    def solve(self, tolerance: float) -> None:
        """Find all states and bound their values, until done or the stop flag is set."""
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
                    f"more than {counts['positions']:,} positions can be reached from here; "
                    f"allow more if there is memory, some 200 bytes for each"
                )
            if counts["stop"] != RUNNING or counts["expanded"] == counts["states"]:
                return
            self._make_room(
                _room(len(self.keys), int(counts["states"] + counts["room"])),
                _room(len(self.children), int(counts["edges"] + counts["room"])),
            )

    def _trim(self) -> None:
        """Release unused room, and initialise the bounds with values that certainly hold."""
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
        """Return what is wrong with the state that was to be expanded."""
        cls: Any = type(self.root)
        at = int(self.counts["expanded"]) * words_each(cls)
        position = self.words[at] if is_plain(cls) else unpack(self.words, at, self.root)
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

    def result(self, tolerance: float, ended: str, seconds: float) -> ValueIterationResult:
        """Return the result so far."""
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
        return ValueIterationResult(
            position=root,
            value=(lower + upper) / 2 + 0.0 if proven else None,  # no -0.0
            lower=lower,
            upper=upper,
            tolerance=tolerance,
            best_move=None if best is None or chance(root) else best,
            scores={
                move: (low + high) / 2 + 0.0 if high - low <= tolerance else None
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


def _children(position: Any) -> list[tuple[int, Any]]:
    """Return the position after each move, or after each possible outcome of chance."""
    if outcome(position)[0]:
        return []
    events = enumerate(chance_outcome(position, index) for index in range(chance(position)))
    return [(index, child) for index, (odds, child) in events if odds > 0] or [
        (move, play(position, move)) for move in legal_moves(position)
    ]


def _room(room: int, needed: int) -> int:
    """Return *room*, doubled until it suffices."""
    while room < needed:
        room *= 2
    return room
