"""Searches that try to prove the value first, and look ahead with estimates if that fails.

The exact solver answers within milliseconds many positions whose end no search of limited depth
comes to see; where it fails, a part of the time is lost.  A game says in its ``PROFILE`` which
part, ``solver.share``, or nothing if it is better off without.
"""

from __future__ import annotations

import threading
from dataclasses import replace
from random import Random
from typing import Any, Unpack

from engine.contract.dispatch import defines, game_name
from engine.contract.errors import GameError
from engine.contract.positions import coerce
from engine.contract.verbs import outcome
from engine.kernels.clock import Clock
from engine.kernels.profiles import SHARE, SOLVER, profile_of
from engine.kernels.scores import final_score
from engine.kernels.tablebase_scores import FAR, FARTHEST
from engine.runtime.running import Limits
from engine.runtime.threads import SHARED_WORKERS, Workers
from engine.search.given import class_of
from engine.search.loops import has_loops
from engine.search.options import SearcherKeywords, SearchOptions, thread_count
from engine.search.results import Iteration, Line, Result, SearchResult
from engine.search.searcher import Searcher
from engine.search.solving import Solver
from engine.search.statistics import Statistics
from engine.storage.tables import Table

__all__ = ["ProvingSearcher", "proof_share"]


def proof_share(cls: Any, prove: float | None = None) -> float:
    """Return the part of a search's limits in which a proof is tried: *prove*, or the game's.

    :class:`CutnodeError` if there is no such part; :class:`GameError` if the game has no proofs
    that could come before a search.
    """
    share = profile_of(cls).proof_share if prove is None else SOLVER[SHARE].checked(prove, "prove")
    if share and (defines(cls, "chance") or has_loops(cls)):
        reason = "chance" if defines(cls, "chance") else "play that can go round"
        raise GameError(
            f"{game_name(cls)} has {reason}: no proof is tried before a search, and the part of "
            f"its limits for one is 0, not {share:g}"
        )
    return share


class ProvingSearcher(Searcher):
    """A :class:`Searcher` that tries to prove the value before it looks ahead.

    *prove* is the part of its limits that this takes at most: see :class:`engine.Engine`.
    """

    def __init__(
        self,
        game: Any,
        *,
        table: Table | int = 64,
        threads: int = 1,
        workers: Workers = SHARED_WORKERS,
        ready: bool = True,
        prove: float | None = None,
        **options: Unpack[SearcherKeywords],
    ):
        cls = class_of(game)
        self.share = proof_share(cls, prove)
        self.threads = thread_count(threads, cls)
        self.solver: Solver | None = None
        self.proof_nodes = 0
        """Those of the attempt at a proof that was part of this search, or of the last."""
        super().__init__(
            game, table=table, threads=threads, workers=workers, ready=False, **options
        )
        if ready:
            self.prepare()

    def prepare(self) -> None:
        """Have the compiled search and the solver ready."""
        super().prepare()
        if self.share and self.solver is None:
            about = self.cls, self.table, self.threads, self.workers
            self.solver = Solver(*about, tablebase=self.tablebase)

    def stop(self) -> None:
        """End the search that runs now, from any thread; it returns its best so far at once."""
        super().stop()
        if self.solver is not None:
            self.solver.stop()

    def nodes(self) -> int:
        """Return the nodes of the search that runs, or of the last, by all threads."""
        proving = 0 if self.solver is None else self.solver.progress()[0]
        return proving or self.proof_nodes + super().nodes()

    def reset(self) -> None:
        """Count nodes from zero again, before a search begins."""
        super().reset()
        self.proof_nodes = 0

    def _look_ahead(
        self,
        position: Any,
        options: SearchOptions,
        limits: Limits,
        moves: list[int] | None,
        clock: Clock,
    ) -> SearchResult:
        """Try to prove the value, and search if that fails."""
        self.proof_nodes = 0
        of_proof = self._limits_of_proof(position, options, limits, clock)
        if of_proof is None or self.solver is None:
            return super()._look_ahead(position, options, limits, moves, clock)
        prove = self.solver.solve if options.seed is None else self.solver.analyse
        proof = prove(position, weak=False, limits=of_proof)
        self.proof_nodes = spent = proof.nodes
        if proof.best_move is not None and proof.proven:
            return self._proven(proof, proof.best_move, options, clock)
        left = replace(limits, nodes=limits.nodes and max(1, limits.nodes - spent))
        if proof.reason == "interrupted":
            left = replace(limits, stop=threading.Event())
            left.stops[0].set()
        result = self._deepen(
            position, options, left, moves, clock, helpers=self.helpers, spent=spent
        )
        reason = proof.reason if proof.reason == "interrupted" else result.reason
        why = f"alpha-beta, as {spent:,} nodes were no proof"
        return replace(result, reason=reason, why=why)

    def _limits_of_proof(
        self, position: Any, options: SearchOptions, limits: Limits, clock: Clock
    ) -> Limits | None:
        """Return the limits of an attempt at a proof; None if there is to be none."""
        times = [each for each in (limits.seconds, options.soft_seconds) if each is not None]
        asks_more = options.depth is not None or options.lines > 1 or options.moves is not None
        limited = bool(times or limits.nodes) and not clock.held
        if not self.share or asks_more or not limited or outcome(position)[0]:
            return None
        return Limits(
            limits.nodes and max(1, int(limits.nodes * self.share)),
            min(times) * self.share if times else None,
            limits.stop,
        )

    def _proven(
        self, proof: Result, move: int, options: SearchOptions, clock: Clock
    ) -> SearchResult:
        """Return a proof, which names a *move*, as the result of a search."""
        assert proof.value is not None
        length = len(proof.pv)
        value = final_score(proof.value, min(FAR + length, FARTHEST), self.win, self.step)
        best = Line(move, value, proof.pv)
        if options.seed is not None and proof.scores is not None:
            ties = sorted(move for move, score in proof.scores.items() if score == proof.value)
            move = Random(options.seed).choice(ties)
            best = best if move == best.move else Line(move, value, (move,))
        nodes, seconds = proof.nodes, clock.elapsed()
        iteration = Iteration(length, value, True, (best,), nodes, seconds, deepest=length)
        if options.progress is not None:
            options.progress(iteration)
        statistics = replace(
            Statistics.nothing(),
            depth=length,
            seconds=seconds,
            fill=self.table.fill(),
            proof_nodes=nodes,
        )
        return SearchResult(
            position=coerce(proof.position),
            value=value,
            proven=True,
            exact=True,
            decisive=self.win > 0,
            lines=(best,),
            depth=length,
            iterations=(iteration,),
            statistics=statistics,
            seconds=seconds,
            reason="interrupted" if proof.reason == "interrupted" else "proven",
            why=f"the exact solver: {proof.meaning()}",
        )
