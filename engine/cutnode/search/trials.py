"""Which engine to search a game with: ``engine="auto"``.

Whether an estimate is worth more than playouts differs from game to game, and nobody has to know:
alpha-beta and Monte Carlo tree search play a few quick games against each other, from the position
that is asked about, and then the better one searches it.

The trial takes :data:`TRIAL_SHARE` of the time of that search, of which a move has a small part.
Games come in pairs, so that both have either side, and a pair begins one random ply later than the
last.  A pair that the end of the trial leaves unfinished does not count.  Alpha-beta is taken where
the pairs decide nothing.  Before them it searches the position itself: that is the result if
somebody ends the trial.
"""

from __future__ import annotations

import threading
from dataclasses import replace
from random import Random
from typing import Any, Unpack

from cutnode.contract.choices import ENGINES
from cutnode.contract.derived import legal_moves
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
from cutnode.search.record import Record
from cutnode.search.results import MonteCarloResult, SearchResult
from cutnode.search.searcher import Searcher
from cutnode.storage.tables import Table

TRIAL_SHARE = 0.25
"""The part of the time of a search that a trial may take."""

FIRST_SHARE = 0.1
"""The part of the time of a trial for the search of the position itself."""

MOVES_EACH = 500
"""So many moves share that time; each has at least :data:`SHORTEST_MOVE` seconds."""

SHORTEST_MOVE = 0.001

ENOUGH_LEAD = 4.0
"""A trial ends when one of them is so many points ahead."""

LONGEST_GAME = 400
"""Plies after which a game of a trial is taken for a draw."""


class AutoSearcher(Unpickled):
    """A search by alpha-beta or by Monte Carlo tree search, whichever does better in a trial.

    It is called as a :class:`Searcher`, with a limit of *seconds*, and keeps its choice until
    :meth:`clear`.  Results say *why* the engine was taken.  A game without ``evaluate`` needs no
    trial: alpha-beta has nothing to go by.
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
        """Set by :meth:`stop`."""
        self.estimates = self.alphabeta.evaluation is not OWN or defines(self.cls, "evaluate")
        self._choose_again()

    def _choose_again(self) -> None:
        self.chosen: Searcher | MonteCarlo | None = None
        self.why = ""
        if not self.estimates:
            self.chosen, self.why = self.mcts, f"mcts, as {game_name(self.cls)} has no evaluate"

    def prepare(self) -> None:
        """Have both searches ready; :class:`GameError` if the rules do not compile."""
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
        """Search with options that are checked; see ``Searcher.run``."""
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
        """Let a trial choose the engine, if none is chosen yet and the game goes on.

        The trial takes its share of the *seconds* in *options*.  Returns the result by then if
        somebody ended it.
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
        """:class:`CutnodeError` if options do not suit a position, or one of the engines."""
        if options.seconds is None:
            raise CutnodeError("engine=auto needs a limit of seconds: its trial takes a part")
        for limit in ("depth", "playouts"):
            if getattr(options, limit) is not None:
                raise CutnodeError(f"{limit} limits one engine only: engine=auto takes seconds")
        self.alphabeta.check(position, options)

    def estimate(self, position: Any) -> float:
        """Return the score of a position without looking ahead."""
        return (self.chosen or self.alphabeta).estimate(position)

    def stop(self) -> None:
        """End the search that runs now, from any thread; it returns its best so far at once."""
        self.stopped.set()
        self.alphabeta.stop()
        self.mcts.stop()

    def nodes(self) -> int:
        """Return the nodes of the search that runs, or of the last, by all threads."""
        return (self.chosen or self.alphabeta).nodes()

    def fill(self) -> float:
        """Return the part of the table, or of the memory of the tree, that is in use."""
        return (self.chosen or self.alphabeta).fill()

    def reset(self) -> None:
        """Count nodes from zero again, before a search begins."""
        self.alphabeta.reset()
        self.mcts.reset()

    def clear(self) -> None:
        """Forget what searches stored, and which of them was chosen."""
        self.alphabeta.clear()
        self.mcts.clear()
        self._choose_again()


class Trial:
    """Quick games between the two engines, and who has more points."""

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
        """Points of alpha-beta minus those of Monte Carlo tree search, in pairs of games."""
        self.reason = ""
        """Why the whole search has to end: stopped, or interrupted."""

    def run(self) -> SearchResult:
        """Play until the time is over, or one is far ahead; return a search of the position."""
        first = self.engines[0].run(self.position, self.first, stop=self.stop)
        if first.reason == "interrupted":
            self.reason = first.reason
        try:
            plies = 0
            while not self._is_over():
                opening = self._opening(plies)
                plies = 0 if opening is None else plies + 1
                if opening is not None:
                    self._play_pair(opening)
        except KeyboardInterrupt:  # between two searches
            self.reason = "interrupted"
        return first

    def verdict(self) -> tuple[Searcher | MonteCarlo, str]:
        """Return the better engine, alpha-beta if there is none, and how it came out."""
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

    def _opening(self, plies: int) -> Any | None:
        """Return the position after random moves; None if the game is over by then."""
        record = Record(self.position, seed=self.random.getrandbits(32))
        while not record.ending():
            if record.is_chance():
                record.draw()
            elif plies == 0:
                return record.position
            else:
                record.play(self.random.choice(legal_moves(record.position)))
                plies -= 1
        return None

    def _play_pair(self, opening: Any) -> None:
        """Play two games, in which each engine begins once, and count them if both are finished."""
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
        """Play a game, in which engine number *first* begins; return whether it was finished."""
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
