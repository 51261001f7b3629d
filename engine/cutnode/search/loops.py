"""Proofs for games in which play can go round, where the value of a line depends on its past.

Perfect play is that of the game without a memory: who can win does so in finitely many moves, and
play that never ends is a draw.  So a position that a tablebase has is answered from it.  Without
one, the positions that can be reached are solved in memory, if they fit.  Else an exact search goes
deeper and deeper, with a repetition on the line of play as a draw.  What it says of a position then
can depend on how play came there (graph-history interaction), in one direction only: a win that
needs no repetition is one whatever was played before, while a draw by repetition is worth nothing
on another line.  So the search's table keeps no score that a repetition took part in, and a proof
here is a win or a loss whose lines all end, or a draw no line of which was cut off.

Sources: M. Campbell, "The graph-history interaction: on ignoring position history" (1985);
A. Kishimoto and M. Mueller, "A general solution to the graph history interaction problem" (2004).
"""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

from cutnode.contract.derived import legal_moves, most_value
from cutnode.contract.dispatch import defines
from cutnode.contract.positions import coerce
from cutnode.contract.verbs import moves_again, outcome, play
from cutnode.kernels.clock import Clock
from cutnode.kernels.parameters import MOST_DEPTH
from cutnode.kernels.scores import MOST_ESTIMATE, is_decisive
from cutnode.runtime.running import Limits
from cutnode.runtime.threads import SHARED_WORKERS, Workers
from cutnode.search.options import SearchOptions
from cutnode.search.results import Result, TableUse
from cutnode.search.searcher import Searcher
from cutnode.search.solving import Goal
from cutnode.search.tablebase_results import result_of
from cutnode.storage.tables import Table
from cutnode.tablebases.memory import TablebasesInMemory
from cutnode.tablebases.solving import Settings
from cutnode.tablebases.spaces import StoppedError

DEFAULT_MEMORY = 512 << 20
"""Bytes for positions that are solved in memory."""


def has_loops(cls: Any) -> bool:
    """Return whether in the game of a class the past of a line of play can matter."""
    return defines(cls, "reversible") or defines(cls, "drawn")


class LoopSolver:
    """Proves the values of positions of a game that can go round: see the module's text.

    It is used as a :class:`~cutnode.search.solving.Solver` is.
    """

    def __init__(
        self,
        cls: Any,
        table: Table,
        threads: int = 1,
        workers: Workers = SHARED_WORKERS,
        memory: int | None = None,
    ):
        self.cls = cls
        memory = DEFAULT_MEMORY if memory is None else memory
        self.memory = TablebasesInMemory(cls, Settings(threads=threads, memory=memory))
        self._searcher = Searcher(
            cls, table=table, threads=threads, workers=workers, exact=True, ready=False
        )
        self._stopped = threading.Event()

    def stop(self) -> None:
        """End what runs now, from any thread."""
        self._stopped.set()
        self._searcher.stop()

    def progress(self) -> tuple[int, int | None, int | None]:
        """Return the nodes of the search that runs; bounds are known at its end."""
        return self._searcher.nodes(), None, None

    def prove(self, goal: Goal, limits: Limits, known: tuple[int, int] | None = None) -> Result:
        """Prove the value of a position, and of its moves; what is *known* helps nothing here."""
        if goal.scores:
            return self._with_scores(goal._replace(scores=False), limits)
        self._stopped.clear()
        position, weak = coerce(goal.position), goal.weak
        self.memory.prepare()
        clock = Clock(limits.seconds)
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
        """Prove the values of a position and of every legal move; the limits are for all of it."""
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
            of_child = self.prove(Goal(child, goal.weak), left)
            nodes, reason = nodes + of_child.nodes, of_child.reason
            spent += of_child.seconds
            if of_child.value is not None:
                same = moves_again(result.position, child)
                scores[move] = of_child.value if same else -of_child.value
        return replace(result, scores=scores, nodes=nodes, seconds=spent, reason=reason)

    def _search(self, position: Any, weak: bool, limits: Limits, clock: Clock) -> Result:
        """Search deeper and deeper until the value is proven or a limit is reached."""
        spent = clock.elapsed()
        seconds = None if limits.seconds is None else max(1e-3, limits.seconds - spent)
        self._searcher.prepare()
        options = SearchOptions(
            depth=MOST_DEPTH, nodes=limits.nodes, seconds=seconds, stop=limits.stop
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
        """Return that nothing is proven."""
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
