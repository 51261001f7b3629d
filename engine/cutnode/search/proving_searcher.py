"""Searches that also try to prove the value.

The exact solver settles in milliseconds many positions whose end is beyond the horizon of a
depth-limited search; where it fails, some time is lost.  A game's ``PROFILE`` sets the share of the
time to risk, ``solver.proof_share``, and sets none if attempts do not pay.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any, Unpack

from cutnode.contract.dispatch import defines, game_name
from cutnode.contract.errors import GameError
from cutnode.contract.positions import coerce
from cutnode.kernels.clock import Clock
from cutnode.kernels.parameters import FIRST_SHARE
from cutnode.kernels.profiles import PROOF_SHARE, SOLVER, profile_of
from cutnode.kernels.scores import final_score
from cutnode.kernels.tablebase_scores import FAR, FARTHEST
from cutnode.runtime.running import Limits, is_stopped
from cutnode.runtime.threads import SHARED_WORKERS, Workers
from cutnode.search.board import class_of
from cutnode.search.deepening import Deepening
from cutnode.search.loops import has_loops
from cutnode.search.options import SearcherKeywords, SearchOptions
from cutnode.search.results import Line, Result, SearchResult
from cutnode.search.searcher import Searcher
from cutnode.search.solving import Goal, Resources, Solver
from cutnode.storage.tables import Table


def proof_share_of(cls: Any, chosen: float | None = None) -> float:
    """Return the share of a search's limits to spend on a proof: *chosen*, or the game's own.

    Raise :class:`CutnodeError` if the share is out of range, and :class:`GameError` if searches of
    the game cannot include a proof.
    """
    share = profile_of(cls).proof_share
    if chosen is not None:
        share = SOLVER[PROOF_SHARE].checked(chosen, "proof_share")
    if share and (defines(cls, "chance") or has_loops(cls)):
        reason = "chance" if defines(cls, "chance") else "cycles"
        raise GameError(
            f"{game_name(cls)} has {reason}, so its searches try no proof: proof_share must be 0, "
            f"got {share:g}"
        )
    return share


class ProvingSearcher(Searcher):
    """A :class:`Searcher` that tries to prove the value once it has a move.

    *proof_share* is the largest share of its limits to spend on it: see :class:`cutnode.Engine`.
    """

    def __init__(
        self,
        game: Any,
        *,
        table: Table | int = 64,
        threads: int = 1,
        workers: Workers = SHARED_WORKERS,
        ready: bool = True,
        interpreted: bool = False,
        proof_share: float | None = None,
        **options: Unpack[SearcherKeywords],
    ):
        self.share = proof_share_of(class_of(game), proof_share)
        self.solver: Solver | None = None
        self.attempt: ProofAttempt | None = None
        """The attempt at a proof of the current or last search."""
        super().__init__(
            game,
            table=table,
            threads=threads,
            workers=workers,
            ready=False,
            interpreted=interpreted,
            **options,
        )
        if ready:
            self.prepare()

    def prepare(self, options: SearchOptions | None = None) -> None:
        """Compile the search now, and the solver if searches with *options* may try a proof."""
        super().prepare(options)
        may_prove = options is None or not self.tries_no_proof(options)
        if self.share and self.solver is None and may_prove:
            resources = Resources(
                self.cls, self.table, self.threads, self.workers, self.interpreted
            )
            self.solver = Solver(resources, tablebase=self.tablebase)

    def stop(self) -> None:
        """End the running search, from any thread; it returns its best so far at once."""
        super().stop()
        if self.solver is not None:
            self.solver.stop()

    def nodes(self) -> int:
        """Return the nodes of the current or last search, of all threads."""
        return super().nodes() + (0 if self.attempt is None else self.attempt.nodes())

    def reset(self) -> None:
        """Reset the node counts, before a search begins."""
        super().reset()
        self.attempt = None

    @staticmethod
    def tries_no_proof(options: SearchOptions) -> bool:
        """Return whether no proof would answer a search: of a depth, several lines, some moves."""
        return options.depth is not None or options.lines > 1 or options.moves is not None

    def _attempt(
        self, position: Any, options: SearchOptions, limits: Limits
    ) -> ProofAttempt | None:
        """Return an attempt at a proof, unless no proof would answer the search."""
        self.attempt = None
        if self.solver is not None and not self.tries_no_proof(options):
            scale = self.win, self.step
            self.attempt = ProofAttempt(
                self.solver, position, options, limits, share=self.share, scale=scale
            )
        return self.attempt


class ProofAttempt:
    """An attempt at a proof by the exact solver, between two depths of a search.

    It may use a *share* of the *limits*; *scale* is the ``win`` and the ``step`` of scores.
    """

    def __init__(
        self,
        solver: Solver,
        position: Any,
        options: SearchOptions,
        limits: Limits,
        *,
        share: float,
        scale: tuple[int, int],
    ):
        self.solver = solver
        self.share = share
        self.win, self.step = scale
        self.position = coerce(position)
        self.seed = options.seed
        self.limits = limits
        times = [each for each in (limits.seconds, options.soft_seconds) if each is not None]
        self.seconds = min(times, default=None)
        self.proof: Result | None = None
        self.line: Line | None = None

    def __call__(self, deepening: Deepening) -> Line | None:
        """Make the attempt once, when it is due; return the best line if the value is proven."""
        if self.proof is not None or not self._is_due(deepening):
            return None
        deepening.rest()
        if deepening.reason or is_stopped(deepening.stops):
            return None
        goal = Goal(self.position, weak=False, scores=self.seed is not None)
        self.proof = proof = self.solver.prove(goal, self._limits(deepening.clock))
        deepening.spend(proof.nodes)
        if proof.reason == "interrupted":
            deepening.reason = proof.reason
        if proof.proven and proof.best_move is not None:
            self.line = self._line(proof, proof.best_move)
        return self.line

    def _is_due(self, deepening: Deepening) -> bool:
        """Return whether the search has used ``1 / FIRST_SHARE`` of its limits."""
        clock = deepening.clock
        if clock.held:
            return False
        spent = self.limits.nodes and deepening.nodes() * FIRST_SHARE >= self.limits.nodes
        return bool(
            spent or (self.seconds is not None and clock.spent() * FIRST_SHARE >= self.seconds)
        )

    def _limits(self, clock: Clock) -> Limits:
        return Limits(
            self.limits.nodes and max(1, int(self.limits.nodes * self.share)),
            self.seconds and max(1e-3, min(self.seconds * self.share, clock.left())),
            self.limits.stop,
        )

    def _line(self, proof: Result, move: int) -> Line:
        """Return the line of a proof, or with a seed one of the equally good moves."""
        assert proof.value is not None
        distance = min(FAR + len(proof.pv), FARTHEST)
        value = final_score(proof.value, distance, self.win, self.step)
        line = proof.pv
        if self.seed is not None and proof.scores is not None:
            ties = sorted(each for each, score in proof.scores.items() if score == proof.value)
            chosen = Random(self.seed).choice(ties)
            move, line = chosen, line if chosen == move else (chosen,)
        return Line(move, value, line)

    def nodes(self) -> int:
        """Return the nodes that the attempt has used so far."""
        return self.solver.progress()[0] if self.proof is None else self.proof.nodes

    def explained(self, result: SearchResult) -> SearchResult:
        """Return the result with the outcome of the attempt added."""
        if self.proof is None:
            return result
        if self.line is None:
            return replace(result, why=f"alphabeta; no proof in {self.proof.nodes:,} nodes")
        why = f"the exact solver: {self.proof.meaning()}"
        return replace(result, exact=self.win == 0, why=why)
