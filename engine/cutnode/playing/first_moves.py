"""First moves: moves of a player whose search is not compiled yet.

Compiling the search of a game takes five CPU seconds or more, and a person at the board should not
wait for it.  So a player that is not ready searches as plain Python for at most
:data:`FIRST_SECONDS`.  A search that completes its depth in that time chooses the move that the
compiled one would: the levels easy and medium do so in every game, and hard in most.  Other
searches look less far ahead.  ``compiled`` in the result tells which search it was.

In the first answers of :mod:`cutnode.search.tiers` the rules are compiled.  Here they run in
Python, as numba compiles one kernel at a time: they would have to wait for the search.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

from cutnode.compiler.interpreter import interpret
from cutnode.contract.dispatch import is_plain
from cutnode.kernels.node import search_dtype
from cutnode.search.options import SearcherOptions, SearchOptions
from cutnode.search.proving_searcher import ProvingSearcher
from cutnode.search.results import SearchResult
from cutnode.search.searcher import Searcher
from cutnode.search.tiers import MOST_BYTES, are_on, solver_is_ready

FIRST_SECONDS = 2.0
"""The most seconds of a search for a first move."""


class FirstSearcher(Searcher):
    """A search in plain Python, rules included: nothing has to be compiled for it."""

    @functools.cached_property
    def kernel(self) -> Callable[..., Any]:
        return interpret(self.root.function, self.cls)

    def run(self, position: Any, options: SearchOptions, **given: Any) -> SearchResult:
        """Search with checked options, for at most :data:`FIRST_SECONDS`."""
        seconds = FIRST_SECONDS if options.seconds is None else options.seconds
        options = replace(options, seconds=min(seconds, FIRST_SECONDS))
        return replace(super().run(position, options, **given), compiled=False)


def has_first_moves(cls: Any) -> bool:
    """Return whether searches of a compiled game may run as plain Python."""
    return not is_plain(cls) and are_on() and search_dtype(cls).itemsize <= MOST_BYTES


def first_searcher(searcher: ProvingSearcher, options: SearchOptions) -> FirstSearcher | None:
    """Return a searcher in plain Python like another one, for searches with some *options*.

    None if that one is compiled, or if it has a tablebase, a book or techniques from files.
    """
    cls = searcher.cls
    if not has_first_moves(cls):
        return None
    if searcher.outside or searcher.tablebase is not None or searcher.book is not None:
        return None
    solves = searcher.solves(options)
    if searcher.root.is_ready(cls, searcher.evaluation) and (not solves or solver_is_ready(cls)):
        return None
    same = {each.name: getattr(searcher.options, each.name) for each in fields(SearcherOptions)}
    return FirstSearcher(cls, table=searcher.table, ready=False, interpreted=True, **same)
