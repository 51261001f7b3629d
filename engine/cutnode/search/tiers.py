"""First answers: small questions answered before the search of their game is compiled.

Compiling the search of a small game takes four CPU seconds, and six with the solver.  Its first
questions are often small: a proof of tic-tac-toe visits 1,833 nodes.  So a single question about a
game that is not compiled yet is searched as plain Python first, which calls the compiled rules
(:mod:`cutnode.compiler.rules`).  If that takes longer than ``PATIENCE``, its result is discarded,
and the search is compiled and starts again.

The answer is the same either way: value, move, line, node counts and statistics.  ``compiled`` in
the result tells which it was.  Searches that share a table with others, use several threads,
tablebases, books, learned evaluations or techniques from outside the engine are compiled at once,
and so are all searches in games with chance or cycles.  ``CUTNODE_TIERS=0`` in the environment
turns first answers off.
"""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from cutnode.contract.dispatch import defines, is_plain
from cutnode.contract.errors import CutnodeError
from cutnode.kernels.evaluation import OWN
from cutnode.kernels.node import search_dtype
from cutnode.kernels.search import search_root
from cutnode.kernels.solver import search_dtype as solver_dtype
from cutnode.kernels.solver import solve_batch
from cutnode.search.game_solver import GameSolver
from cutnode.search.loops import has_loops
from cutnode.search.options import ProofOptions, SearchOptions
from cutnode.search.proving_searcher import ProvingSearcher, proof_share_of
from cutnode.search.results import Iteration, Result, SearchResult
from cutnode.search.searcher import Searcher
from cutnode.storage.evaluations import chosen_evaluation
from cutnode.storage.tables import Table

PATIENCE = 0.8
"""The CPU seconds of searches in plain Python in a process, for each position class: a fifth of
what it takes to compile the search of a small game.  They are enough for 10,000 nodes or more."""

MOST_BYTES = 64 << 20
"""The most memory of a search in plain Python, whose lists are filled at once."""

Report = Callable[[Iteration], None]

_spent: weakref.WeakKeyDictionary[type, float] = weakref.WeakKeyDictionary()
"""The CPU seconds of searches in plain Python so far."""


def first_proof(kind: str, position: Any, options: ProofOptions, table: Table) -> Result | None:
    """Return a proof found in plain Python, of a game that is not compiled yet; None if none is.

    The *table* must be empty, and is so afterwards if the proof is still to be made.
    """
    cls = type(position)
    if options.engine != "alphabeta" or solver_is_ready(cls) or not _may_try(cls):
        return None
    stop = _Patience(cls, options.stop, options.seconds)
    solver = GameSolver(cls, table, interpreted=True)
    try:
        solver.prepare()
        with stop:
            result = solver.prove(kind, position, replace(options, seconds=None, stop=stop))
    except Exception:  # the compiled search reports it, or finds the answer
        result = None
    if result is not None and stop.accepts(result.reason):
        return replace(result, compiled=False)
    table.forget()
    return None


class FirstSearch:
    """A search in plain Python, of a game that is not compiled yet.

    *keywords* are the options of a :class:`ProvingSearcher`.  The *table* must be empty, and is so
    afterwards if there is no result.
    """

    def __init__(
        self, position: Any, options: SearchOptions, table: Table, keywords: Mapping[str, Any]
    ):
        self.result: SearchResult | None = None
        """The result; None if the search is still to be made."""
        self.options = options
        """The options for that search, whose callbacks leave out what has been reported."""
        searcher = _searcher(position, options, table, keywords)
        if searcher is None:
            return
        told = _Told(options.progress), _Told(options.bounds)
        stop = _Patience(type(position), options.stop, options.seconds, options.soft_seconds)
        progress, bounds = (each.report if each.given else None for each in told)
        limited: dict[str, Any] = {"seconds": None, "soft_seconds": None, "stop": stop}
        result = None
        try:
            searcher.prepare(options)
            with stop:
                chosen = replace(options, progress=progress, bounds=bounds, **limited)
                result = searcher.run(position, chosen)
        except Exception:  # the compiled search reports it, or finds the answer
            if any(each.failed for each in told):
                raise
        if result is not None and stop.accepts(result.reason):
            self.result = replace(result, compiled=False)
            return
        table.forget()
        progress, bounds = (each.report_rest if each.given else None for each in told)
        self.options = replace(options, progress=progress, bounds=bounds)


def _searcher(
    position: Any, options: SearchOptions, table: Table, keywords: Mapping[str, Any]
) -> Searcher | None:
    """Return the searcher for a first search; None if the search should be compiled at once."""
    cls = type(position)
    given = dict(keywords)
    try:
        if not _may_try(cls) or options.playouts is not None:
            return None
        share = proof_share_of(cls, given.pop("proof_share", None))
        searcher = ProvingSearcher(
            position, table=table, ready=False, interpreted=True, proof_share=share, **given
        )
    except CutnodeError:
        return None
    others = searcher.evaluation is not OWN or searcher.outside or searcher.debug
    if others or searcher.book is not None or searcher.tablebase is not None:
        return None
    solves = searcher.solves(options)
    if search_root.is_ready(cls, OWN) and (not solves or solver_is_ready(cls)):
        return None
    return searcher


def _may_try(cls: Any) -> bool:
    """Return whether searches of a class may run as plain Python first."""
    if not are_on() or _spent.get(cls, 0.0) >= PATIENCE:
        return False
    if is_plain(cls) or defines(cls, "chance") or has_loops(cls):
        return False
    return search_dtype(cls).itemsize + solver_dtype(cls).itemsize <= MOST_BYTES


def are_on() -> bool:
    """Return whether searches may run as plain Python before they are compiled."""
    return os.environ.get("CUTNODE_TIERS") != "0"


def solver_is_ready(cls: Any) -> bool:
    """Return whether the solver is compiled, or should be compiled at once."""
    scouts = defines(cls, "scout")
    if scouts and chosen_evaluation(cls, None) is not OWN:
        return True
    return solve_batch.is_ready(cls) and not (scouts and not search_root.is_ready(cls, OWN))


class _Patience(threading.Event):
    """The stop event of a search in plain Python, which is set when it has taken too long.

    It takes too long if all time for the class is spent, or one of the *seconds* of the question.
    The event *outer* ends the search as well.
    """

    def __init__(self, cls: type, outer: threading.Event | None, *seconds: float | None):
        super().__init__()
        self.cls = cls
        self.outer = outer
        self.seconds = min((each for each in seconds if each is not None), default=None)

    def __enter__(self) -> None:
        self.began = time.process_time()
        self.most = PATIENCE - _spent.get(self.cls, 0.0)
        self.until = None if self.seconds is None else time.perf_counter() + self.seconds

    def __exit__(self, *exception: object) -> None:
        _spent[self.cls] = _spent.get(self.cls, 0.0) + time.process_time() - self.began

    def is_set(self) -> bool:
        spent = time.process_time() - self.began >= self.most
        return spent or self._is_stopped() or self._is_late()

    def accepts(self, reason: str) -> bool:
        """Return whether a result is final that ended for this *reason*."""
        return self._is_stopped() or not (reason == "stopped" or self._is_late())

    def _is_stopped(self) -> bool:
        return self.outer is not None and self.outer.is_set()

    def _is_late(self) -> bool:
        return self.until is not None and time.perf_counter() >= self.until


class _Told:
    """A callback of a search in plain Python, and what it has been told."""

    def __init__(self, callback: Report | None):
        self.callback = callback
        self.given = callback is not None
        self.count = 0
        self.failed = False
        """Whether the callback raised an error."""

    def report(self, iteration: Iteration) -> None:
        """Call the callback."""
        assert self.callback is not None
        self.count += 1
        try:
            self.callback(iteration)
        except BaseException:
            self.failed = True
            raise

    def report_rest(self, iteration: Iteration) -> None:
        """Call the callback, except for what it has been told by the search in plain Python."""
        if self.count > 0:
            self.count -= 1
        elif self.callback is not None:
            self.callback(iteration)
