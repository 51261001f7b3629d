"""The choice of an engine for a game: ``engine="auto"``.

Whether estimates are worth more than playouts differs from game to game, and the caller need not
know: alpha-beta and Monte Carlo tree search play a few quick games against each other from the
given position, and then the better one searches it.

The trial takes :data:`TRIAL_SHARE` of the time of that search, and each move a small part of it.
Games come in pairs, so that each engine plays both sides, and each pair starts one random ply later
than the last.  A pair that is unfinished when the trial ends does not count.  If the pairs are
even, alpha-beta is chosen.  Before the games, alpha-beta searches the position itself: that is the
result if the trial is stopped.
"""

from __future__ import annotations

import threading
from dataclasses import replace
from random import Random
from typing import Any, Unpack

from cutnode.contract.choices import ENGINES
from cutnode.contract.dispatch import defines, game_name
from cutnode.contract.errors import CutnodeError
from cutnode.contract.verbs import outcome
from cutnode.kernels.clock import Clock
from cutnode.kernels.evaluation import OWN
from cutnode.runtime.running import is_stopped
from cutnode.runtime.threads import SHARED_WORKERS, Workers
from cutnode.runtime.unpickled import Unpickled
from cutnode.search.monte_carlo import MonteCarlo
from cutnode.search.options import AutoKeywords, AutoOptions, SearchOptions
from cutnode.search.proving_searcher import ProvingSearcher
from cutnode.search.record import Record, position_of_game
from cutnode.search.results import MonteCarloResult, SearchResult
from cutnode.search.searcher import Searcher
from cutnode.storage.tables import Table

TRIAL_SHARE = 0.25
"""The share of a search's time that a trial may take."""

FIRST_SHARE = 0.1
"""The share of a trial's time for the search of the position itself."""

MOVES_EACH = 500
"""The number of moves that share a trial's time."""

SHORTEST_MOVE = 0.001
"""The least time of a move in seconds."""

ENOUGH_LEAD = 4.0
"""The lead in points at which a trial ends."""

LONGEST_GAME = 400
"""Plies after which a game of a trial counts as a draw."""


class AutoSearcher(Unpickled):
    """A search by alpha-beta or Monte Carlo tree search, whichever does better in a trial.

    It has the interface of a :class:`Searcher`, needs a limit in *seconds*, and keeps its choice
    until :meth:`clear`.  Results say *why* the engine was chosen.  A game without
    ``evaluate`` needs no trial, as alpha-beta has no estimates there.
    """

    techniques: frozenset[str] = frozenset()
    exact = False
    book = None

    def __init__(
        self,
        game: Any,
        *,
        table: Table | int = 64,
        threads: int = 1,
        workers: Workers = SHARED_WORKERS,
        ready: bool = True,
        **options: Unpack[AutoKeywords],
    ):
        chosen = AutoOptions.of("AutoSearcher", options)
        common: Any = {
            "threads": threads,
            "workers": workers,
            "ready": ready,
            "evaluation": chosen.evaluation,
            "tablebase": chosen.tablebase,
        }
        self.mcts = MonteCarlo(game, memory=chosen.memory, **common)
        self.alphabeta = ProvingSearcher(game, table=table, **common)
        self.cls: Any = self.mcts.cls
        self.tablebase = self.mcts.tablebase
        self.megabytes = self.mcts.megabytes
        self.stopped = threading.Event()
        """The event that :meth:`stop` sets."""
        self.estimates = self.alphabeta.evaluation is not OWN or defines(self.cls, "evaluate")
        self._choose_again()

    def _choose_again(self) -> None:
        self.chosen: Searcher | MonteCarlo | None = None
        self.why = ""
        if not self.estimates:
            self.chosen, self.why = self.mcts, f"mcts, as {game_name(self.cls)} has no evaluate"

    def prepare(self) -> None:
        """Compile both searches now; raise :class:`GameError` if the rules do not compile."""
        self.alphabeta.prepare()
        self.mcts.prepare()

    def run(
        self,
        position: Any,
        options: SearchOptions,
        *,
        stop: threading.Event | None = None,
        clock: Clock | None = None,
    ) -> SearchResult | MonteCarloResult:
        """Search with checked options: see ``Searcher.run``."""
        self.check(position, options)
        self.prepare()
        self.stopped.clear()
        stop = stop or options.stop or threading.Event()
        clock = clock or Clock(options.seconds)
        ended = self.decide(position, options, stop)
        if ended is not None:
            return replace(ended, seconds=clock.elapsed())
        search = self.chosen or self.alphabeta
        return replace(search.run(position, options, stop=stop, clock=clock), why=self.why)

    def decide(
        self, position: Any, options: SearchOptions, stop: threading.Event | None = None
    ) -> SearchResult | None:
        """Let a trial choose the engine, unless one is chosen or the game is over.

        The trial takes its share of the *seconds* in *options*.  Return the result so far if the
        trial was stopped.
        """
        if self.chosen is not None or outcome(position)[0]:
            return None
        trial = Trial(self, position, options, stop or threading.Event())
        first = trial.run()
        if trial.reason:
            why = f"{ENGINES[0]}, interrupted in the trial"
            return replace(first, reason=trial.reason, why=why)
        self.chosen, self.why = trial.verdict()
        return None

    def check(self, position: Any, options: SearchOptions) -> None:
        """Raise :class:`CutnodeError` if the options do not suit the position or either engine."""
        if options.seconds is None:
            raise CutnodeError("engine=auto needs a limit of seconds, for its trial takes a share")
        for limit in ("depth", "playouts"):
            if getattr(options, limit) is not None:
                raise CutnodeError(f"{limit} limits one engine only; engine=auto takes seconds")
        self.alphabeta.check(position, options)

    def estimate(self, position: Any) -> float:
        """Return a position's static evaluation as a score."""
        return (self.chosen or self.alphabeta).estimate(position)

    def stop(self) -> None:
        """End the running search, from any thread; it returns its best so far at once."""
        self.stopped.set()
        self.alphabeta.stop()
        self.mcts.stop()

    def nodes(self) -> int:
        """Return the nodes of the current or last search, of all threads."""
        return (self.chosen or self.alphabeta).nodes()

    def fill(self) -> float:
        """Return the share of the table, or of the tree's memory, that is in use."""
        return (self.chosen or self.alphabeta).fill()

    def reset(self) -> None:
        """Reset the node counts, before a search begins."""
        self.alphabeta.reset()
        self.mcts.reset()

    def clear(self) -> None:
        """Forget what searches stored, and which engine was chosen."""
        self.alphabeta.clear()
        self.mcts.clear()
        self._choose_again()


class Trial:
    """Quick games between the two engines, and their score."""

    def __init__(
        self, search: AutoSearcher, position: Any, options: SearchOptions, stop: threading.Event
    ):
        assert options.seconds is not None
        self.engines = search.alphabeta, search.mcts
        self.position = position
        self.stop = stop
        self.stops = stop, search.stopped
        seconds = options.seconds * TRIAL_SHARE
        self.clock = Clock(seconds)
        first = max(seconds * FIRST_SHARE, SHORTEST_MOVE)
        self.first = replace(options, seconds=first, progress=None, bounds=None)
        self.options = SearchOptions(seconds=max(seconds / MOVES_EACH, SHORTEST_MOVE))
        self.random = Random(options.seed or 0)
        self.games = 0
        self.lead = 0.0
        """Alpha-beta's lead over Monte Carlo tree search in points, over pairs of games."""
        self.reason = ""
        """Why the whole search must end: stopped or interrupted; "" if it need not."""

    def run(self) -> SearchResult:
        """Play until time is up or one engine leads clearly; return a search of the position."""
        first = self.engines[0].run(self.position, self.first, stop=self.stop)
        if first.reason == "interrupted":
            self.reason = first.reason
        try:
            plies = 0
            while not self._is_over():
                opening = position_of_game(self.position, plies, self.random)
                plies = 0 if opening is None else plies + 1
                if opening is not None:
                    self._play_pair(opening)
        except KeyboardInterrupt:  # between two searches
            self.reason = "interrupted"
        return first

    def verdict(self) -> tuple[Searcher | MonteCarlo, str]:
        """Return the better engine, or alpha-beta if they are even, and the score in words."""
        better = int(self.lead < 0)
        points = (self.games + abs(self.lead)) / 2
        score = f"{points:g} of {self.games} points"
        if not self.games:
            score = "not decided, as no pair of games was finished"
        elif not self.lead:
            score = f"not decided by {self.games} games"
        why = f"{ENGINES[better]}, after a trial of {self.clock.elapsed():.2g} s: {score}"
        return self.engines[better], why

    def _is_over(self) -> bool:
        if not self.reason and is_stopped(self.stops):
            self.reason = "stopped"
        return bool(self.reason) or abs(self.lead) >= ENOUGH_LEAD or self.clock.is_over(0)

    def _play_pair(self, opening: Any) -> None:
        """Play two games, each engine beginning one, and count them if both are finished."""
        dice = self.random.getrandbits(32)
        lead = 0.0
        for first in (0, 1):
            record = Record(opening, seed=dice, plies=LONGEST_GAME)
            if not self._play(record, first):
                return
            lead += 2 * record.score(first) - 1
        self.games += 2
        self.lead += lead

    def _play(self, record: Record, first: int) -> bool:
        """Play a game that engine number *first* begins; return whether it was finished."""
        while not record.ending():
            if record.is_chance():
                record.draw()
                continue
            if self._is_over():
                return False
            result = self.engines[record.side ^ first].run(record.position, self.options)
            if result.reason == "interrupted":
                self.reason = result.reason
                return False
            assert result.best_move is not None
            record.play(result.best_move)
        return True
