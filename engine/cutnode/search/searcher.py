"""Alpha-beta searches of one game: the calls of programs, and their results.

A :class:`Searcher` owns a table, what its searches learn, and the choice of techniques;
:mod:`cutnode.search.deepening` carries out each search.
"""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any, Unpack

from cutnode.contract.errors import CutnodeError
from cutnode.contract.positions import coerce
from cutnode.kernels.clock import Clock
from cutnode.runtime.running import Limits
from cutnode.runtime.threads import SHARED_WORKERS, Workers
from cutnode.runtime.unpickled import Unpickled
from cutnode.search.board import class_of
from cutnode.search.compiled_search import CompiledSearch
from cutnode.search.deepening import Attempt, Deepening
from cutnode.search.helper_threads import HelperThreads
from cutnode.search.options import (
    SearcherKeywords,
    SearcherOptions,
    SearchKeywords,
    SearchOptions,
    require_book,
    root_moves,
    thread_count,
)
from cutnode.search.record import counted_words, require_history, require_searchable
from cutnode.search.results import SearchResult, Statistics
from cutnode.search.tablebase_results import lines_of
from cutnode.storage.tables import Table


class Searcher(CompiledSearch, Unpickled):
    """A depth-limited alpha-beta search for one game.

    *game* is a game, a position or a position class.  *table* is a :class:`Table` or its
    size in MiB.  *threads* search one position together.  Further keywords:

    * *evaluation*: the name of one of the game's evaluations (``"cells"`` means
      ``evaluate_cells``, ``"balanced"`` a style of ``cutnode.kernels.optionality``), an
      :class:`Evaluation` or an :class:`Optionality`.
    * *techniques*: names from ``cutnode.kernels.techniques``; by default, all that suit the game.
    * *exact*: leave out techniques that can change scores.
    * *driver*: ``"alphabeta"``, or null windows only: ``"mtdf"``, ``"sss"`` or ``"dual"``.
    * *soonest*: score quicker wins higher; the default.
    * *depth_in*: the unit of depth in games in which a player can move again: ``"turns"``, in which
      a ``free_move`` costs no depth, or ``"actions"``, in which every move does.
    * *book*: positions whose value it proves are not searched, but answered with the book's move.
    * *tablebase*: a folder, or the result of ``Tablebase.open``.  Positions in it are not searched,
      and lines of a search end there if the game numbers its positions (``index``).
    * *debug*: in games of chance, check during the search that probabilities sum to one, that
      values are within the game's ``VALUE_LIMIT``, and that lines of play end; raise
      :class:`GameError` otherwise.

    Games of chance are searched by expectiminimax, and their scores are floats.  That search is
    always exact except for the table: unless *exact*, it also uses entries of deeper searches.

    One thread at a time may use a searcher, and searchers that share a table must not use it at
    the same time for different games.
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
        **options: Unpack[SearcherKeywords],
    ):
        chosen = SearcherOptions.of("Searcher", options)
        cls = class_of(game)
        self.threads = thread_count(threads, cls)
        require_book(chosen.book, cls)
        super().__init__(cls, chosen, table, workers, ready=ready, interpreted=interpreted)
        self.book = chosen.book
        self.helpers = HelperThreads(self, self.threads)
        self._busy = threading.Lock()

    def search(self, position: Any, **options: Unpack[SearchKeywords]) -> SearchResult:
        """Return the best move and its score: see :meth:`cutnode.Engine.search`."""
        chosen = SearchOptions.of("search", options)
        chosen.require_limit()
        return self.run(position, chosen)

    def run(
        self,
        position: Any,
        options: SearchOptions,
        *,
        stop: threading.Event | None = None,
        clock: Clock | None = None,
    ) -> SearchResult:
        """Search with checked options.

        *stop*, if given, replaces the event in *options*.  *clock* measures the search; if it is
        held, time limits count from its release on.
        """
        self.check(position, options)
        if not self._busy.acquire(blocking=False):
            raise CutnodeError("this searcher is busy: use one for each thread")
        self.stopped.clear()
        try:
            self.prepare(options)
            clock = clock or Clock(options.seconds)
            clock.seconds = options.seconds
            limits = options.limits(stop)
            moves = root_moves(position, options)
            depth = options.depth
            answer = self._in_tablebase(position, options, moves, clock)
            if answer is not None:
                return answer
            helpers: HelperThreads | None = self.helpers
            attempt = None
            known = self._in_book(position) if options.lines == 1 and moves is None else None
            if known is not None:
                depth, moves, helpers = 1, [known[1]], None
            else:
                attempt = self._attempt(position, options, limits)
            deepening = Deepening(
                self,
                coerce(position),
                limits,
                depth=depth,
                clock=clock,
                lines=options.lines,
                moves=moves,
                history=options.history,
                helpers=helpers,
                attempt=attempt,
            )
            result = deepening.run(
                seed=options.seed,
                soft_seconds=options.soft_seconds,
                progress=options.progress,
                bounds=options.bounds,
            )
            if attempt is not None:
                result = attempt.explained(result)
            return result if known is None else _by_book(result, known[0])
        finally:
            self._busy.release()

    def _attempt(self, position: Any, options: SearchOptions, limits: Limits) -> Attempt | None:
        """Return the attempt at a proof that a search makes; None for no attempt."""
        return None

    def check(self, position: Any, options: SearchOptions) -> None:
        """Raise a :class:`CutnodeError` if the options do not suit the position."""
        require_searchable(position, self.cls)
        if options.playouts is not None:
            raise CutnodeError("playouts limit only Monte Carlo tree search (engine='mcts')")
        require_history(options.history, self.cls)
        root_moves(position, options)

    def _in_tablebase(
        self, position: Any, options: SearchOptions, moves: list[int] | None, clock: Clock
    ) -> SearchResult | None:
        """Return the tablebase's result for a position, if the tablebase knows all its moves."""
        if self.tablebase is None or counted_words(options.history, position):
            return None  # a move back to a counted position is a draw, whatever the tablebase says
        lines = lines_of(self.tablebase, position, moves, options.lines, self.win, self.step)
        if lines is None:
            return None
        return SearchResult(
            position=coerce(position),
            value=lines[0].value,
            proven=True,
            exact=True,
            decisive=self.win != 0,
            lines=lines,
            depth=1,
            iterations=(),
            statistics=Statistics.nothing(),
            seconds=clock.elapsed(),
            reason="tablebase",
        )

    def _in_book(self, position: Any) -> tuple[int, int] | None:
        """Return a position's value and a best move, if the book knows both."""
        answer = None if self.book is None else self.book.answer(position)
        if answer is None or answer[0] != answer[1] or answer[2] is None:
            return None
        return answer[0], answer[2]

    def nodes(self) -> int:
        """Return the nodes of the current or last search, of all threads."""
        return int(self.memory["nodes"]) + self.helpers.nodes()

    def fill(self) -> float:
        """Return the share of the table's entries that are in use."""
        return self.table.fill()

    def reset(self) -> None:
        """Reset the node counts, before a search begins."""
        self.memory["nodes"] = 0
        self.helpers.began = False

    def unlearn(self) -> None:
        """Forget what earlier searches learned about moves; the table keeps its entries."""
        super().unlearn()
        self.helpers.unlearn()

    def clear(self) -> None:
        """Forget what searches stored and learned: the next one behaves like the first."""
        self.table.forget()
        self.unlearn()


def _by_book(result: SearchResult, value: int) -> SearchResult:
    """Return the result of a search of the book's move, with the book's value as its score.

    In ``DECISIVE`` games the score stays, as it also says how soon the game is won.
    """
    if not result.decisive and result.lines:
        best = replace(result.lines[0], value=value)
        result = replace(result, value=value, proven=True, lines=(best,))
    return result if result.reason == "interrupted" else replace(result, reason="book")
