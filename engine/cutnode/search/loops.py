"""Proofs for games with cycles, in which the value of a line of play depends on its past.

Perfect play does not depend on the past: a player who can win does so in finitely many moves, and
play that never ends is a draw.  So a position in a tablebase is looked up there.  Without one, the
reachable positions are solved in memory, if they fit.  Otherwise an exact search deepens
iteratively and counts a repetition on the line of play as a draw.  Its score of a position can
depend on the path (graph-history interaction), but only in one direction: a win without
repetitions is a win after any path, while a draw by repetition may not hold on another path.  So
the table of this search keeps no score that depends on a repetition, and a proof is a win or a loss
whose lines all end, or a draw none of whose lines was cut off.

Where a repetition is a win, a loss or illegal, perfect play does depend on the past, and every
position is searched: as the first of a game, or each move of it as the second.

Sources: M. Campbell, "The graph-history interaction: on ignoring position history" (1985);
A. Kishimoto and M. Mueller, "A general solution to the graph history interaction problem" (2004).
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from cutnode.contract.derived import legal_moves, most_value
from cutnode.contract.dispatch import defines
from cutnode.contract.positions import coerce
from cutnode.contract.repetition import needs_line
from cutnode.contract.verbs import moves_again, outcome, play
from cutnode.kernels.clock import Clock
from cutnode.kernels.parameters import MOST_DEPTH
from cutnode.kernels.scores import MOST_ESTIMATE, is_decisive
from cutnode.runtime.running import Limits
from cutnode.search.options import SearchOptions
from cutnode.search.results import Result, TableUse
from cutnode.search.searcher import Searcher
from cutnode.search.solving import Goal, Resources
from cutnode.search.tablebase_results import result_of
from cutnode.tablebases.memory import TablebasesInMemory
from cutnode.tablebases.solving import Settings
from cutnode.tablebases.spaces import StoppedError

DEFAULT_MEMORY = 512 << 20
"""The default memory for solved positions, in bytes."""


def has_loops(cls: Any) -> bool:
    """Return whether values in the game of a class can depend on the past of a line of play."""
    return defines(cls, "reversible") or defines(cls, "drawn")


class LoopSolver:
    """Proves the values of positions of a game with cycles, as the module explains.

    It has the interface of a :class:`~cutnode.search.solving.Solver`.
    """

    def __init__(self, resources: Resources, memory: int | None = None):
        cls, table, threads, workers, _ = resources
        self.cls = cls
        memory = DEFAULT_MEMORY if memory is None else memory
        self.memory = TablebasesInMemory(cls, Settings(threads=threads, memory=memory))
        self._searcher = Searcher(
            cls, table=table, threads=threads, workers=workers, exact=True, ready=False
        )
        self._stopped = threading.Event()

    def prepare(self) -> None:
        """Compile now all that a proof may need."""
        self.memory.prepare()
        self._searcher.prepare()

    def stop(self) -> None:
        """End the running proof, from any thread."""
        self._stopped.set()
        self._searcher.stop()

    def progress(self) -> tuple[int, int | None, int | None]:
        """Return the nodes of the running search; its bounds are known only at the end."""
        return self._searcher.nodes(), None, None

    def prove(self, goal: Goal, limits: Limits, known: tuple[int, int] | None = None) -> Result:
        """Prove the value of a position, and of its moves; *known* bounds are not used."""
        if goal.scores:
            return self._with_scores(goal._replace(scores=False), limits)
        return self._prove(goal, limits)

    def _prove(self, goal: Goal, limits: Limits, history: Sequence[Any] = ()) -> Result:
        """Prove the value of a position, which *history* led to."""
        self._stopped.clear()
        position, weak = coerce(goal.position), goal.weak
        clock = Clock(limits.seconds)
        if needs_line(position):
            return self._search(position, weak, limits, clock, history)
        self.memory.prepare()
        try:
            base = self.memory.of(
                position,
                most=limits.nodes,
                stops=(*limits.stops, self._stopped),
                clock=clock,
            )
        except StoppedError as stopped:
            return self._unknown(position, weak, str(stopped), clock)
        if base is not None:
            found = result_of(base, position, weak=weak)
            if found is not None:
                return replace(found, nodes=self.memory.solved, seconds=clock.elapsed())
        return self._search(position, weak, limits, clock)

    def _with_scores(self, goal: Goal, limits: Limits) -> Result:
        """Prove the values of a position and of every legal move, within the limits in total."""
        result = self.prove(goal, limits)
        nodes, spent, reason = result.nodes, result.seconds, result.reason
        moves = [] if outcome(result.position)[0] else legal_moves(result.position)
        scores: dict[int, int | None] = dict.fromkeys(moves)
        for move in moves:
            if reason != "proven":
                break
            child = play(result.position, move)
            seconds = limits.seconds and max(1e-3, limits.seconds - spent)
            left = Limits(limits.nodes and max(1, limits.nodes - nodes), seconds, limits.stop)
            of_child = self._prove(Goal(child, goal.weak), left, [result.position])
            nodes, reason = nodes + of_child.nodes, of_child.reason
            spent += of_child.seconds
            if of_child.value is not None:
                same = moves_again(result.position, child)
                scores[move] = of_child.value if same else -of_child.value
        return replace(result, scores=scores, nodes=nodes, seconds=spent, reason=reason)

    def _search(
        self,
        position: Any,
        weak: bool,
        limits: Limits,
        clock: Clock,
        history: Sequence[Any] = (),
    ) -> Result:
        """Search with iterative deepening until the value is proven or a limit is reached."""
        spent = clock.elapsed()
        seconds = None if limits.seconds is None else max(1e-3, limits.seconds - spent)
        self._searcher.prepare()
        options = SearchOptions(
            depth=MOST_DEPTH,
            nodes=limits.nodes,
            seconds=seconds,
            stop=limits.stop,
            history=history,
        )
        found = self._searcher.run(position, options)
        most = 1 if weak or found.decisive else most_value(position)
        lower, upper = -most, most
        if found.decisive and abs(found.value) > MOST_ESTIMATE:
            lower = upper = 1 if found.value > 0 else -1
        elif found.proven:
            value = int(found.value)
            lower = upper = (value > 0) - (value < 0) if weak else value
        proven = lower == upper
        return Result(
            position=position,
            value=lower if proven else None,
            lower=lower,
            upper=upper,
            weak=weak,
            best_move=found.best_move,
            scores=None,
            pv=found.pv if proven else (),
            nodes=found.nodes,
            seconds=spent + found.seconds,
            table=TableUse(0, 0, 0, 0, 0),
            reason="proven" if proven else found.reason,
        )

    def _unknown(self, position: Any, weak: bool, reason: str, clock: Clock) -> Result:
        """Return a result with nothing proven."""
        most = 1 if weak or is_decisive(self.cls) else most_value(position)
        return Result(
            position=position,
            value=None,
            lower=-most,
            upper=most,
            weak=weak,
            best_move=next(iter(legal_moves(position)), None),
            scores=None,
            pv=(),
            nodes=0,
            seconds=clock.elapsed(),
            table=TableUse(0, 0, 0, 0, 0),
            reason=reason,
        )
