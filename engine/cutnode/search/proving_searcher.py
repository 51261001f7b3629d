"""Searches that also try to prove the value, or a forced win.

The exact solver settles in milliseconds many positions whose end is beyond the horizon of a
depth-limited search; where it fails, some time is lost.  A game's ``PROFILE`` sets the share of the
time to risk, ``solver.proof_share``, and sets none if attempts do not pay.

The exact solver cannot help in a game with cycles, such as chess.  A search there that has time for
it attempts a forced win (:mod:`cutnode.kernels.mate`), if the game defines ``check``: reductions
hide quiet moves that lead to mate, and a node of that search costs a twentieth of a usual one.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any, Unpack

from cutnode.contract.choices import MOST_PROOF_SHARE
from cutnode.contract.dispatch import defines, game_constant, game_name
from cutnode.contract.errors import GameError
from cutnode.contract.positions import coerce
from cutnode.contract.repetition import repetition_rule
from cutnode.kernels.parameters import (
    AHEAD,
    BEHIND,
    FAR_AHEAD,
    FIRST_SHARE,
    MOST_MOVES,
    WIN_NODES,
    WIN_SECONDS,
    WIN_SHARE,
)
from cutnode.kernels.profiles import PROOF_SHARE, SOLVER, profile_of
from cutnode.kernels.scores import final_score, is_decisive, win_distance
from cutnode.kernels.tablebase_scores import FAR, FARTHEST
from cutnode.runtime.running import Limits, is_stopped
from cutnode.runtime.threads import SHARED_WORKERS, Workers
from cutnode.search.board import class_of
from cutnode.search.deepening import Deepening
from cutnode.search.forced_wins import Prover
from cutnode.search.loops import has_loops
from cutnode.search.options import SearcherKeywords, SearchOptions
from cutnode.search.proofs import ForcedWin
from cutnode.search.results import Line, Result, SearchResult
from cutnode.search.searcher import Searcher
from cutnode.search.solving import Goal, Resources, Solver
from cutnode.storage.tables import Table


def attempts_wins(cls: Any) -> bool:
    """Return whether searches of a position class's game attempt a forced win, not the value."""
    suited = not (defines(cls, "chance") or defines(cls, "turn")) and repetition_rule(cls) == "draw"
    return has_loops(cls) and is_decisive(cls) and defines(cls, "check") and suited


def proof_share_of(cls: Any, chosen: float | None = None) -> float:
    """Return the share of a search's limits to spend on a proof: *chosen*, or the game's own.

    Raise :class:`CutnodeError` if the share is out of range, and :class:`GameError` if searches of
    the game cannot include a proof.
    """
    wins = attempts_wins(cls)
    share = profile_of(cls).proof_share or (WIN_SHARE if wins else 0)
    if chosen is not None:
        share = SOLVER[PROOF_SHARE].checked(chosen, "proof_share")
    if share and not wins and (defines(cls, "chance") or has_loops(cls)):
        reason = "chance" if defines(cls, "chance") else "cycles"
        raise GameError(
            f"{game_name(cls)} has {reason}, so its searches try no proof: proof_share must be 0, "
            f"got {share:g}"
        )
    return share


class ProvingSearcher(Searcher):
    """A :class:`Searcher` that tries to prove the value, or a forced win, once it has a move.

    *proof_share* is the share of its limits to spend on it: see :class:`cutnode.Engine`.
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
        self.wins = attempts_wins(class_of(game))
        """Whether it attempts a forced win."""
        self.solver: Solver | None = None
        self.prover: Prover | None = None
        self.attempt: Attempt | None = None
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
        """Compile the search now, and what searches with *options* may try a proof with."""
        super().prepare(options)
        if self.wins:
            if self.prover is None and self.share and (options is None or may_win(options)):
                self.prover = Prover(self.cls, table=self.table)
                self.prover.prepare()
        elif self.solver is None and (self.share if options is None else self.solves(options)):
            resources = Resources(
                self.cls, self.table, self.threads, self.workers, self.interpreted
            )
            self.solver = Solver(resources, tablebase=self.tablebase)

    def solves(self, options: SearchOptions) -> bool:
        """Return whether a search with *options* may attempt to prove the value."""
        return bool(self.share) and not self.wins and is_open(options)

    def stop(self) -> None:
        """End the running search, from any thread; it returns its best so far at once."""
        super().stop()
        for each in (self.solver, self.prover):
            if each is not None:
                each.stop()

    def nodes(self) -> int:
        """Return the nodes of the current or last search, of all threads."""
        return super().nodes() + (0 if self.attempt is None else self.attempt.nodes())

    def reset(self) -> None:
        """Reset the node counts, before a search begins."""
        super().reset()
        self.attempt = None

    def _attempt(self, position: Any, options: SearchOptions, limits: Limits) -> Attempt | None:
        """Return an attempt at a proof, unless no proof would answer the search."""
        self.attempt = None
        scale = self.win, self.step
        if self.prover is not None and may_win(options):
            self.attempt = WinAttempt(self.prover, position, options, limits, self.share, scale)
        elif self.solver is not None and is_open(options):
            self.attempt = ValueAttempt(self.solver, position, options, limits, self.share, scale)
        return self.attempt


def is_open(options: SearchOptions) -> bool:
    """Return whether a proof could answer a search: not of a depth, several lines, some moves."""
    return options.depth is None and options.lines == 1 and options.moves is None


def may_win(options: SearchOptions) -> bool:
    """Return whether a search has the time to attempt a forced win."""
    if options.nodes is not None and options.nodes < WIN_NODES:
        return False
    seconds = seconds_of(options)
    return is_open(options) and (seconds is None or seconds >= WIN_SECONDS)


def seconds_of(options: SearchOptions) -> float | None:
    """Return the lower time limit of a search; None if it has none."""
    times = [each for each in (options.seconds, options.soft_seconds) if each is not None]
    return min(times, default=None)


class Attempt:
    """An attempt at a proof, in one or more tries between the depths of a search.

    It may use a *share* of the *limits*; *scale* is the ``win`` and the ``step`` of scores.
    """

    def __init__(
        self,
        position: Any,
        options: SearchOptions,
        limits: Limits,
        share: float,
        scale: tuple[int, int],
    ):
        self.share = share
        self.win, self.step = scale
        self.position = coerce(position)
        self.limits = limits
        self.seconds = seconds_of(options)
        self.proof: Result | ForcedWin | None = None
        """The outcome of the last try."""
        self.line: Line | None = None
        self.tried = 0.0
        """The largest share that a try has had."""
        self.used_nodes, self.used_seconds = 0, 0.0

    def __call__(self, deepening: Deepening) -> Line | None:
        """Make a try if a larger share is due than before; return the best line if it is proven."""
        share = self.due(deepening)
        if share <= self.tried:
            return None
        deepening.rest()
        if deepening.reason or is_stopped(deepening.stops):
            return None
        self.tried = share
        self.proof = proof = self.prove(deepening, self.limited(deepening, share))
        self.used_nodes += proof.nodes
        self.used_seconds += proof.seconds
        deepening.spend(proof.nodes)
        if proof.reason == "interrupted":
            deepening.reason = proof.reason
        if proof.best_move is not None and proof.proven:
            self.line = self.line_of(proof, proof.best_move)
        return self.line

    def prove(self, deepening: Deepening, limits: Limits) -> Result | ForcedWin:
        """Attempt the proof."""
        raise NotImplementedError

    def line_of(self, proof: Any, move: int) -> Line:
        """Return the line of a proof, with the score that it proves."""
        raise NotImplementedError

    def nodes(self) -> int:
        """Return the nodes that the attempt has used so far."""
        return self.used_nodes

    def explained(self, result: SearchResult) -> SearchResult:
        """Return the result with the outcome of the attempt added."""
        raise NotImplementedError

    def limited(self, deepening: Deepening, share: float) -> Limits:
        """Return the limits of a try: what is left of a share, and of the whole search."""
        nodes, seconds = self.limits.nodes, self.seconds
        if nodes is not None:
            left = nodes - deepening.nodes()
            nodes = max(1, min(int(nodes * share) - self.used_nodes, left))
        if seconds is not None:
            remaining = seconds - deepening.clock.spent()
            seconds = max(1e-3, min(seconds * share - self.used_seconds, remaining))
        return Limits(nodes, seconds, self.limits.stop)

    def due(self, deepening: Deepening) -> float:
        """Return the share that is due, once ``1 / FIRST_SHARE`` of the limits are used; or 0."""
        clock = deepening.clock
        if clock.held or deepening.iterations[-1].proven:
            return 0.0
        spent = self.limits.nodes and deepening.nodes() * FIRST_SHARE >= self.limits.nodes
        spent = spent or (self.seconds is not None and clock.spent() * FIRST_SHARE >= self.seconds)
        return self.share if spent else 0.0


class ValueAttempt(Attempt):
    """An attempt by the exact solver to prove the value; the other arguments are an attempt's."""

    def __init__(self, solver: Solver, position: Any, options: SearchOptions, *others: Any):
        super().__init__(position, options, *others)
        self.solver = solver
        self.seed = options.seed

    def prove(self, deepening: Deepening, limits: Limits) -> Result:
        """Attempt to prove the value."""
        goal = Goal(self.position, weak=False, scores=self.seed is not None)
        return self.solver.prove(goal, limits)

    def line_of(self, proof: Any, move: int) -> Line:
        """Return the line of a proof, or with a seed one of the equally good moves."""
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
        return self.solver.progress()[0] if self.proof is None else self.used_nodes

    def explained(self, result: SearchResult) -> SearchResult:
        """Return the result with the outcome of the attempt added."""
        if self.proof is None:
            return result
        if self.line is None:
            return replace(result, why=f"alphabeta; no proof in {self.proof.nodes:,} nodes")
        why = f"the exact solver: {self.proof.meaning()}"
        return replace(result, exact=self.win == 0, why=why)


class WinAttempt(Attempt):
    """An attempt to prove the quickest forced win; the other arguments are an attempt's.

    The larger a player's advantage, the more it may use, and all that is left once the search has
    proven a win that need not be the quickest.
    """

    def __init__(self, prover: Prover, position: Any, options: SearchOptions, *others: Any):
        super().__init__(position, options, *others)
        self.prover = prover
        self.history = options.history
        self.far_ahead = FAR_AHEAD * game_constant(type(self.position), "UNIT", 0)
        self.refuted = 0
        """The number of moves within which there is no win."""

    def due(self, deepening: Deepening) -> float:
        """Return the share that suits the last score; 1 for a win, 0 if none can be quicker."""
        last = deepening.iterations[-1]
        if last.proven and last.value > 0 and not deepening.clock.held:
            return float(self.refuted < self.quicker(last.value))
        share = super().due(deepening)
        if last.value < 0:
            return share / BEHIND
        if 0 < self.far_ahead <= last.value:
            return min(share * AHEAD, MOST_PROOF_SHARE)
        return share

    def quicker(self, value: float) -> int:
        """Return the most moves of a win that is quicker than one with this *value*."""
        distance = win_distance(value)
        moves = MOST_MOVES if distance is None or value < 0 else int(distance - 1) // 2
        return max(1, min(moves, MOST_MOVES))  # a win by a tablebase can be farther

    def prove(self, deepening: Deepening, limits: Limits) -> ForcedWin:
        """Attempt to prove a win that is quicker than one which the search has found."""
        proof = self.prover.prove(
            self.position,
            self.quicker(deepening.iterations[-1].value),
            history=self.history,
            nodes=limits.nodes,
            seconds=limits.seconds,
            stop=limits.stop,
        )
        self.refuted = max(self.refuted, proof.refuted)
        return proof

    def line_of(self, proof: Any, move: int) -> Line:
        """Return the line of the win."""
        return Line(move, final_score(1, 2 * proof.moves - 1, self.win, self.step), proof.pv)

    def explained(self, result: SearchResult) -> SearchResult:
        """Return the result, with the search that found its win."""
        return result if self.line is None else replace(result, why="the search for forced wins")
