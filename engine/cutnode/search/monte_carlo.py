"""Monte Carlo tree search of one game: the calls of programs, and their results.

The search itself is compiled: ``cutnode.kernels.monte_carlo``, ``cutnode.kernels.playouts`` and
``cutnode.kernels.playout_tree``.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any, Unpack

import numpy as np

from cutnode.compiler.memory import Memory
from cutnode.contract.bits import WORD, mix
from cutnode.contract.choices import PRIORS, PROOF_FORMULAS, ROLLOUTS
from cutnode.contract.derived import legal_moves
from cutnode.contract.dispatch import defines, game_constant, game_name
from cutnode.contract.errors import CutnodeError, GameError
from cutnode.contract.messages import contract_violation
from cutnode.contract.positions import coerce
from cutnode.contract.repetition import needs_line
from cutnode.contract.stop import CALLED, FULL, MOVES, RUNNING
from cutnode.contract.verbs import chance, outcome
from cutnode.kernels.clock import Clock
from cutnode.kernels.evaluation import OWN
from cutnode.kernels.monte_carlo import search_tree
from cutnode.kernels.playout_tree import ROOT, TOLD
from cutnode.kernels.playouts import (
    COUNTERS,
    LISTED_VISITS,
    MOST_TREE_PLIES,
    estimated_worth,
    most_plies,
    playout_dtype,
    settled_worth,
    worth,
)
from cutnode.kernels.scores import is_decisive
from cutnode.runtime.running import UNLIMITED, KernelCall, Limits, is_stopped, run
from cutnode.runtime.threads import SHARED_WORKERS, Workers
from cutnode.runtime.unpickled import Unpickled
from cutnode.search.board import class_of
from cutnode.search.options import (
    GREED,
    SearchKeywords,
    SearchOptions,
    TreeKeywords,
    TreeOptions,
    check_limits,
    root_moves,
    thread_count,
)
from cutnode.search.playout_tree import PlayoutTree
from cutnode.search.record import counted_words, require_history, require_searchable
from cutnode.search.results import (
    Iteration,
    Line,
    MonteCarloResult,
    RootMove,
    TreeStatistics,
    final_value,
    score_of,
)
from cutnode.storage.books import Book
from cutnode.storage.evaluations import chosen_evaluation
from cutnode.tablebases.tablebase import Tablebase

FIRST_REPORT = 1000
"""The number of playouts after which progress is first reported; then whenever it doubles."""


class MonteCarlo(Unpickled):
    """A Monte Carlo tree search for one game.

    *game* is a game, a position or a position class.  *threads* grow one tree together.  Further
    keywords:

    * *evaluation*: as for :class:`~cutnode.Searcher`; used where rollouts are cut off, by
      *minimax* and by *priors*.
    * *tablebase*: a position in it is proven when it is first visited.
    * *memory*: the limit of the tree, in bytes.
    * *selection*: ``"uct"``, or ``"puct"`` (the default if there are priors).
    * *exploration*: the weight of exploration in the selection.
    * *priors*: for PUCT, from the game's ``"order"`` (the default if it has one), from the
      ``"evaluation"`` of the positions after the moves (the default if it has no order), or
      ``"uniform"``.
    * *rave*: the number of playouts up to which RAVE outweighs them (0: no RAVE).
    * *minimax*: the weight of minimaxed estimates against the mean of playouts, from 0 to 1.
    * *no_solver*: back up only the results of playouts, as plain MCTS does, and not what finished
      games prove.
    * *proof_bias*: the weight of proof numbers in the selection, in the unit of *exploration* (0:
      none; not in games of chance, and not with *rave*).
    * *proof_formula*: the formula of that bias, ``"rank"``, ``"max"`` or ``"sum"`` (see
      :mod:`cutnode.kernels.playout_numbers`).
    * *rollouts*: by the game's ``"policy"`` (the default if it has one), ``"uniform"``, by its
      ``"order"``, or with its ``"bounds"`` (the default if the game has them and only who wins
      matters).
    * *cut_after*: the number of plies after which an estimate ends a rollout.
    * *reuse*: keep the part of the last search's tree that belongs to the new position.

    On one thread, the same seed gives the same search.  One thread at a time may call it.
    """

    techniques: frozenset[str] = frozenset()
    exact = False
    book: Book | None = None

    def __init__(
        self,
        game: Any,
        *,
        threads: int = 1,
        workers: Workers = SHARED_WORKERS,
        ready: bool = True,
        **options: Unpack[TreeKeywords],
    ):
        chosen = TreeOptions.of("MonteCarlo", options)
        self.cls: Any = class_of(game)
        self.options = chosen
        self.evaluation = chosen_evaluation(self.cls, chosen.evaluation)
        self.tablebase = Tablebase.of(chosen.tablebase, self.cls)
        if self.tablebase is not None and defines(self.cls, "chance"):
            raise GameError(
                f"{game_name(self.cls)} is a game of chance: playouts do not use its tablebase"
            )
        if chosen.proof_bias and defines(self.cls, "chance"):
            raise GameError(
                f"{game_name(self.cls)} is a game of chance: proof_bias needs one without"
            )
        for what, by in (*(("rollouts", verb) for verb in ROLLOUTS[1:]), ("priors", "order")):
            if getattr(chosen, what) == by and not defines(self.cls, by):
                raise GameError(f"{game_name(self.cls)} has no {by}, which {what}={by!r} needs")
        estimates = self.evaluation is not OWN or defines(self.cls, "evaluate")
        if chosen.priors == "evaluation" and not estimates:
            raise GameError(
                f"{game_name(self.cls)} has no evaluate, which priors='evaluation' needs"
            )
        self.selection = chosen.selection_for(self.cls, estimates)
        self.priors = chosen.priors_for(self.cls, estimates)
        self.threads = thread_count(threads, self.cls)
        self.workers = workers
        puct = self.selection == "puct"
        self.tree = PlayoutTree(self.cls, chosen.memory, self.threads, has_priors=puct)
        self.memories = [self._new_memory() for _ in range(self.threads)]
        self.stopped = threading.Event()
        """The event that :meth:`stop` sets."""
        self._busy = threading.Lock()
        self._restricted = False
        if ready:
            self.prepare()

    def _new_memory(self) -> Memory:
        memory, chosen = Memory(self.cls, playout_dtype(self.cls)), self.options
        memory["plies"] = most_plies(self.cls)
        memory["shared"] = int(self.threads > 1)
        memory["puct"] = int(self.selection == "puct")
        memory["priors"] = PRIORS.index(self.priors)
        memory["exploration"] = chosen.exploration_for(self.selection)
        memory["rave"], memory["minimax"] = float(chosen.rave), float(chosen.minimax)
        memory["greed"] = GREED if chosen.rollouts == "order" else 0.0
        memory["use_bounds"] = int(chosen.rollouts_for(self.cls) == "bounds")
        memory["by_policy"] = int(chosen.rollouts_for(self.cls) == "policy")
        memory["no_solver"] = int(chosen.no_solver)
        memory["proof_bias"] = float(chosen.proof_bias)
        memory["proof_formula"] = PROOF_FORMULAS.index(chosen.proof_formula)
        memory["grown_ply"] = MOST_TREE_PLIES
        more = bool(chosen.rave or chosen.minimax or chosen.proof_bias)
        memory["mixed"] = int(more or memory["puct"] != 0)
        memory["everywhere"] = int(more or memory["shared"] != 0)
        memory["together"] = int(memory["shared"] != 0 and not more)
        uniform = chosen.rollouts_for(self.cls) == "uniform"
        memory["results_only"] = int(uniform and not chosen.rave and chosen.cut_after is None)
        longest = game_constant(self.cls, "MAX_PLIES", 512)
        visits = np.arange(1, LISTED_VISITS)
        memory.words["bonuses"][1:] = list(np.sqrt(np.log(visits)).astype(np.float32))
        memory.words["explores"][1:] = list((1 / np.sqrt(visits)).astype(np.float32))
        memory["cut_after"] = (
            longest if chosen.cut_after is None else min(chosen.cut_after, longest)
        )
        if self.tablebase is not None:
            self.tablebase.lend(memory.words)
        return memory

    @functools.cached_property
    def kernel(self) -> Callable[..., Any]:
        return search_tree.specialise(self.cls, self.evaluation)

    def prepare(self) -> None:
        """Compile the search now; raise :class:`GameError` if the rules do not compile."""
        _ = self.kernel
        self.tree.prepare(reuse=self.options.reuse)

    @property
    def megabytes(self) -> int:
        """The most memory in MiB that the search takes."""
        of_lists = isinstance(self.memories[0].words["moves"], list)
        each = 0 if of_lists else playout_dtype(self.cls).itemsize
        return self.tree.megabytes + -(-each * self.threads >> 20)

    def search(self, position: Any, **options: Unpack[SearchKeywords]) -> MonteCarloResult:
        """Return the best move, and what the playouts showed about each move.

        At least one limit is needed: *playouts*, *nodes* (positions visited, in the tree and in
        rollouts), *seconds* or *stop*; the search also ends when the value is proven.  The other
        options are as for :meth:`cutnode.Engine.search`; *progress* is called whenever the number
        of playouts has doubled.
        """
        chosen = SearchOptions.of("search", options)
        chosen.require_limit("mcts")
        return self.run(position, chosen)

    def run(
        self,
        position: Any,
        options: SearchOptions,
        *,
        stop: threading.Event | None = None,
        clock: Clock | None = None,
    ) -> MonteCarloResult:
        """Search with checked options: see ``Searcher.run``."""
        self.check(position, options)
        if not self._busy.acquire(blocking=False):
            raise CutnodeError("this searcher is busy: use one for each thread")
        self.stopped.clear()
        try:
            self.prepare()
            clock = clock or Clock(options.seconds)
            given = [s for s in (options.seconds, options.soft_seconds) if s is not None]
            clock.seconds = min(given, default=None)
            limits = options.limits(stop)
            return _Growth(self, coerce(position), options, limits, clock).run()
        finally:
            self._busy.release()

    def check(self, position: Any, options: SearchOptions) -> None:
        """Raise a :class:`CutnodeError` if the options do not suit the position."""
        require_searchable(position, self.cls)
        check_limits(options)
        require_history(options.history, self.cls)
        root_moves(position, options)

    def estimate(self, position: Any) -> float:
        """Return a position's static evaluation as a score; exact if the game is over."""
        over, value = outcome(position)
        if over:
            return final_value(self.cls, value)
        guess = estimated_worth(position, self.evaluation(position))
        return score_of(self.cls, guess, *self.tree.limits)

    def stop(self) -> None:
        """End the running search, from any thread; it returns its best so far at once."""
        self.stopped.set()
        for memory in self.memories:
            memory["stop"] = CALLED

    def nodes(self) -> int:
        """Return the positions visited in the current or last search, of all threads."""
        return sum(int(each["nodes"]) + int(each["rollout_plies"]) for each in self.memories)

    def fill(self) -> float:
        """Return the share of the tree's memory that is in use."""
        return self.tree.fill

    def playouts(self) -> int:
        """Return the playouts of the current or last search, of all threads."""
        return sum(int(each["playouts"]) for each in self.memories)

    def reset(self) -> None:
        """Reset the counts, before a search begins."""
        for memory in self.memories:
            memory.clear(COUNTERS)

    def clear(self) -> None:
        """Forget the tree: the next search behaves like the first."""
        self.tree.root = None


class _Growth:
    """One search: its limits, its threads, and why it ended."""

    def __init__(
        self,
        search: MonteCarlo,
        position: Any,
        options: SearchOptions,
        limits: Limits,
        clock: Clock,
    ):
        self.search = search
        self.position = position
        self.options = options
        self.clock = clock
        self.tree = search.tree
        self.stops = [*limits.stops, search.stopped]
        self.over = bool(outcome(position)[0])
        self.iterations: list[Iteration] = []
        self.reported = 0
        self.chosen = root_moves(position, options)
        excluded: list[int] = []
        if self.chosen is not None:
            excluded = [move for move in legal_moves(position) if move not in self.chosen]
        words = counted_words(options.history, position) if options.history else []
        for number, memory in enumerate(search.memories):
            memory.clear(COUNTERS)
            memory["stop"] = RUNNING
            memory["playout_limit"] = self._share(options.playouts)
            memory["node_limit"] = self._share(limits.nodes)
            memory["random"] = mix(mix((options.seed or 0) & WORD) ^ number)
            memory["next"] = memory["end"] = 0
            memory["lowest"], memory["highest"] = 1e9, -1e9
            memory["root_excluded"] = len(excluded)
            memory.words["root_excluded_moves"][: len(excluded)] = excluded
            memory["before"] = len(words)
            memory.words["path"][: len(words)] = words
            if memory["rave"]:
                memory.fill("played", 0)
        if not self.over:
            # Proofs depend on possible repetitions, and root moves on which were left out.
            whole = not excluded and not search._restricted
            forget = defines(search.cls, "reversible")
            whole = whole and not needs_line(position)
            reuse = search.options.reuse and whole and not (forget and search.options.proof_bias)
            self.tree.begin(position, reuse=reuse, forget=forget)
            search._restricted = bool(excluded)

    def _share(self, limit: int | None) -> int:
        """Return one thread's share of a limit."""
        return UNLIMITED if limit is None else min(-(-limit // self.search.threads), UNLIMITED)

    def run(self) -> MonteCarloResult:
        """Grow the tree until a limit, a proof or the caller ends the search."""
        reason = "proven" if self.over else ""
        while not reason:
            reason = self._grow()
        for memory in self.search.memories:
            self.tree.give_back(int(memory["next"]), int(memory["end"]))
        return self._result(reason)

    def _grow(self) -> str:
        """Run playouts until the threads return; return why the search ended, or "" to continue."""
        search, tree = self.search, self.tree
        if is_stopped(self.stops):
            return "stopped"
        evaluation = search.evaluation

        def call(memory: Memory) -> None:
            argument = memory.argument
            search.kernel(self.position, evaluation, argument, *tree.arrays, tree.pool)

        calls = [
            KernelCall(functools.partial(call, memory), memory, self.clock)
            for memory in search.memories
        ]
        try:
            reason = run(calls, self.stops, look=self._look, workers=search.workers)
        except KeyboardInterrupt:
            return "interrupted"
        told = int(tree.pool[TOLD])
        if told == MOVES:
            memory = next(each for each in search.memories if each["stop"] == MOVES)
            violation = memory.position("violation", self.position)
            raise contract_violation(violation, MOVES, search.evaluation)
        if told == FULL and not reason:
            self._make_room()
            return ""
        if reason:
            return reason
        if tree.is_settled(ROOT):
            return "proven"
        if search.playouts() >= (self.options.playouts or UNLIMITED):
            return "playout limit"
        return "stopped" if search.stopped.is_set() else "node limit"

    def _make_room(self) -> None:
        for memory in self.search.memories:
            self.tree.give_back(int(memory["next"]), int(memory["end"]))
            memory["next"] = memory["end"] = 0
        self.tree.make_room()

    def _look(self) -> None:
        """Report progress if it is due."""
        report, done = self.options.progress, self.search.playouts()
        if report is not None and done >= max(FIRST_REPORT, 2 * self.reported):
            self.reported = done
            iteration = self._iteration()
            if iteration is not None:
                self.iterations.append(iteration)
                report(iteration)

    def _iteration(self) -> Iteration | None:
        """Return the current state as an iteration; None if nothing is known yet."""
        lines = self._lines()
        if not lines:
            return None
        seconds, nodes = self.clock.elapsed(), self.search.nodes()
        deepest = max(int(memory["deepest"]) for memory in self.search.memories)
        return Iteration(
            len(lines[0].pv), lines[0].value, False, lines, nodes, seconds, deepest=deepest
        )

    # Results

    def _lines(self) -> tuple[Line, ...]:
        """Return the best moves, at most ``options.lines``, with their lines of play."""
        tree = self.tree
        if self.over or chance(self.position) > 0:
            return ()
        found = []
        if not tree.children(ROOT):
            move = (self.chosen or legal_moves(self.position))[0]
            return (Line(move, self.search.estimate(self.position), (move,)),)
        for child in tree.ranked(ROOT)[: self.options.lines]:
            line = tuple(tree.line(child))
            found.append(Line(line[0], self._value(child), line))
        return tuple(found)

    def _value(self, node: int) -> float:
        """Return the score of a node for the player who chooses it."""
        worth = self.tree.worth(node)
        return score_of(self.search.cls, 0.0 if worth is None else worth, *self.tree.bounds(node))

    def _move(self, node: int) -> RootMove:
        tree = self.tree
        mean = tree.worth(node)
        return RootMove(
            tree.move(node),
            tree.visits(node),
            mean,
            None if mean is None and not tree.is_settled(node) else self._value(node),
            *tree.bounds(node),
            tree.prior(node, len(tree.children(ROOT))),
        )

    def _result(self, reason: str) -> MonteCarloResult:
        search, tree, seconds = self.search, self.tree, self.clock.elapsed()
        counts = [memory.numbers(COUNTERS) for memory in search.memories]
        together = {name: sum(each[name] for each in counts) for name in COUNTERS}
        together["deepest"] = max(each["deepest"] for each in counts)
        together["nodes"] += together["rollout_plies"]
        size, settled = (0, 0) if self.over else tree.count()
        statistics = TreeStatistics(
            **together,
            tree_size=size,
            settled=settled,
            kept=tree.kept,
            copies=tree.copies,
            seconds=seconds,
            fill=tree.fill,
        )
        moves: tuple[RootMove, ...] = ()
        value = outcome(self.position)[1]
        if self.over:
            mean: float = worth(self.position, value)
            lower, upper = int(value // 1), -int(-value // 1)
            proven = True
        else:
            lower, upper = tree.bounds(ROOT)
            proven = tree.is_settled(ROOT)
            if chance(self.position) == 0:
                moves = tuple(map(self._move, tree.ranked(ROOT)))
            mean = tree.worth(ROOT) or 0.0
            if moves and moves[0].worth is not None:
                mean = moves[0].worth
            if proven:
                mean = settled_worth(self.position, lower, upper)
        score = score_of(search.cls, mean, lower, upper)
        return MonteCarloResult(
            position=self.position,
            value=final_value(search.cls, value) if self.over else score,
            worth=mean,
            lower=lower,
            upper=upper,
            proven=proven,
            decisive=is_decisive(search.cls),
            lines=self._lines(),
            moves=moves,
            iterations=tuple(self.iterations),
            statistics=statistics,
            seconds=seconds,
            reason=reason,
        )
