"""The functions of the public face: solve, analyse, search, count lines, and plain searches.

Each takes a position, a :class:`~cutnode.search.board.Board`, or a game or its name, which stand
for their start (see :mod:`cutnode.search.board`).
Each checks its input, owns the memory, runs compiled code in threads of its own, watches
the clock, and returns an immutable result.  Ctrl-C, a stop event and limits end a search
early; what is proven by then is returned.
"""

from __future__ import annotations

import contextlib
import functools
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, TypedDict, Unpack, overload

import numpy as np

from cutnode.compiler.jit import Kernel
from cutnode.compiler.memory import Memory
from cutnode.contract.derived import legal_moves, most_value, require_moves
from cutnode.contract.dispatch import defines, game_constant
from cutnode.contract.errors import (
    CutnodeError,
    GameError,
    require_callable,
    require_integer,
    require_iterable,
)
from cutnode.contract.messages import contract_violation
from cutnode.contract.native import records
from cutnode.contract.positions import class_of_all, coerce
from cutnode.contract.stop import CALLED, MOVES, PLIES, counts_turns
from cutnode.contract.verbs import INFINITE, chance, chance_outcome, outcome, play
from cutnode.kernels.clock import Clock
from cutnode.kernels.evaluation import AnyEvaluation
from cutnode.kernels.reference import alphabeta_node, minimax_node, perft_node, plain_dtype
from cutnode.kernels.scores import WIN, is_decisive
from cutnode.kernels.solver import result_dtype
from cutnode.runtime.running import KernelCall, Limits, run, watch
from cutnode.runtime.threads import SHARED_WORKERS, Workers
from cutnode.search.board import class_of, given_history, given_position
from cutnode.search.game_solver import GameSolver
from cutnode.search.monte_carlo import MonteCarlo
from cutnode.search.options import (
    ProofKeywords,
    ProofOptions,
    ProvingKeywords,
    QuestionKeywords,
    SearchKeywords,
    SearchOptions,
    TreeKeywords,
    check_engine,
    proof_options,
    require_keywords,
    thread_count,
)
from cutnode.search.proving_searcher import ProvingSearcher
from cutnode.search.results import Batch, MonteCarloResult, PlainResult, Result, SearchResult
from cutnode.search.solving import (
    ProofSettings,
    lines_too_long,
    proof_result,
    require_batches,
    table_for,
    write_row,
)
from cutnode.search.spans import Spans, proof_workers, work_through
from cutnode.search.trials import AutoSearcher
from cutnode.storage.books import Book
from cutnode.storage.evaluations import chosen_evaluation
from cutnode.storage.tables import Table, holding
from cutnode.tablebases.tablebase import Tablebase

PARTS_EACH = 16
"""Threads that count lines get so many parts each, at least: they differ in size."""

TO_THE_END = 1 << 30
"""A depth that no game reaches."""


class AnalyseKeywords(ProofKeywords, total=False):
    """Keywords of a proof, and of what it is found with."""

    table: Table | int | None
    threads: int
    book: Book | None
    tablebase: Tablebase | str | os.PathLike[str] | None
    memory: int | None


class SolveKeywords(QuestionKeywords, AnalyseKeywords, total=False):
    """The same, for a proof that can be asked about a single value."""


def solve(position: Any, text: str | None = None, **options: Unpack[SolveKeywords]) -> Result:
    """Prove the value of a position, a best move, and the line of best play.

    *position* can also be a game or its name, with the *text* of a position in its notation:
    ``solve("connect4", "4455")``.
    *weak* asks only who wins, and *at_least* only whether the value is at least so much: that is
    the ``answer`` of the result, which has bounds then.  Without *table* the search starts from
    nothing, and with one of the *threads* (by default there is one) it visits the same nodes each
    time; with a :class:`Table` it builds on what earlier searches with that table stored, and no
    other may use it meanwhile.  A number in place of a table is the size of a new one in MiB.
    *nodes* and *seconds* limit the search, and another thread can end it by setting the event
    *stop*.  A *book* is put into the table first.

    A position that is in a *tablebase* is answered from it.  Where play can go round, the positions
    that can be reached are solved in *memory*, so many bytes, by default 512 MiB; if they do not
    fit, repetitions on the line of play are draws: see :mod:`cutnode.search.loops`.

    *engine* is what proves it: ``"alphabeta"``, ``"pn"`` (proof numbers, for games that are won or
    lost by narrow lines in wide trees: :mod:`cutnode.kernels.proof_numbers`), or ``"auto"``: they
    take turns, each time with more nodes, until one has a proof, and the result says which.

    :class:`GameError` for games of chance, which :func:`iterate` solves; :class:`PositionError` for
    a text that denotes no position; :class:`CutnodeError` for options that make no sense.
    """
    with _solver("solve", position, text, options) as (solver, position, chosen):
        return solver.prove("solve", position, chosen)


def analyse(position: Any, text: str | None = None, **options: Unpack[AnalyseKeywords]) -> Result:
    """Prove the values of a position and of every legal move, as :func:`solve` does.

    The limits are for all of it together.
    """
    with _solver("analyse", position, text, options) as (solver, position, chosen):
        return solver.prove("analyse", position, chosen)


@contextlib.contextmanager
def _solver(
    kind: str, position: Any, text: str | None, options: Mapping[str, Any]
) -> Iterator[tuple[GameSolver, Any, ProofOptions]]:
    """Hold a solver of its own for one call, the position that is meant, and checked options."""
    position = given_position(position, text)
    own = AnalyseKeywords.__optional_keys__ - ProofKeywords.__optional_keys__
    asked = {name: value for name, value in options.items() if name not in own}
    keywords = SolveKeywords if kind == "solve" else AnalyseKeywords
    require_keywords(kind, asked, sorted(keywords.__optional_keys__))
    chosen = proof_options(kind, asked)
    given = {name: value for name, value in options.items() if name in own}
    table, threads = given.pop("table", None), given.pop("threads", 1)
    given["tablebase"] = Tablebase.of(given.get("tablebase"), type(position))
    with table_for(table) as table:
        yield GameSolver(type(position), table, threads, **given), position, chosen


class _Keywords(ProvingKeywords, SearchKeywords, TreeKeywords, total=False):
    """Keywords of a searcher of any kind and of its search together."""


@overload
def search(
    position: Any,
    text: str | None = ...,
    *,
    engine: Literal["alphabeta"] = ...,
    table: Table | int = ...,
    threads: int = ...,
    **options: Unpack[_Keywords],
) -> SearchResult: ...
@overload
def search(
    position: Any,
    text: str | None = ...,
    *,
    engine: Literal["mcts"],
    table: Table | int = ...,
    threads: int = ...,
    **options: Unpack[_Keywords],
) -> MonteCarloResult: ...
@overload
def search(
    position: Any,
    text: str | None = ...,
    *,
    engine: str,
    table: Table | int = ...,
    threads: int = ...,
    **options: Unpack[_Keywords],
) -> SearchResult | MonteCarloResult: ...
def search(
    position: Any,
    text: str | None = None,
    *,
    engine: str = "alphabeta",
    table: Table | int = 64,
    threads: int = 1,
    **options: Unpack[_Keywords],
) -> SearchResult | MonteCarloResult:
    """Search a position with a searcher of its own, as an :class:`Engine` does.

    *position* and *text* are as for :func:`solve`; of a board, the history is known.
    The *engine* is ``"alphabeta"``, ``"mcts"`` or ``"auto"``: the one of them that does better in a
    trial, which takes a quarter of the *seconds*, and the result says *why*.  *options* are those
    of :class:`Engine` and of its :meth:`~cutnode.Engine.search`; of ``"auto"``, ``evaluation``,
    ``tablebase`` and ``memory``, which suit both.
    """
    check_engine(engine)
    keywords: dict[str, Any] = dict(options)
    own = {name: keywords.pop(name) for name in options if name in SearchKeywords.__optional_keys__}
    own["history"] = given_history(position, own.get("history", ()))
    position = given_position(position, text)
    chosen = SearchOptions.of("search", own)
    if engine == "mcts":
        return MonteCarlo(position, threads=threads, **keywords).run(position, chosen)
    kind = AutoSearcher if engine == "auto" else ProvingSearcher
    with holding(table) as table:
        chosen.require_limit(engine)
        return kind(position, table=table, threads=threads, **keywords).run(position, chosen)


def solve_many(
    positions: Sequence[Any],
    *,
    table: Table | int | None = None,
    threads: int = 1,
    cold: bool = False,
    lines: bool = False,
    progress: Callable[[int], None] | None = None,
    **options: Unpack[ProofKeywords],
) -> Batch:
    """Solve positions of one class, one after the other, with limits for each.

    *cold*: each position starts from nothing, so its figures do not depend on the others.
    *lines*: also find a best move and the line of best play of each.  Several
    *threads* share the table; if positions are *cold* or the game has a ``scout``, each has one
    of its own instead, and they are together as large.
    *progress* is called now and then with the number of positions that are done.  With an *engine*
    other than alpha-beta all threads are on one position, whose line is found in any case.
    :class:`CutnodeError` if there are no positions, :class:`GameError` as for :func:`solve`.
    """
    chosen = ProofOptions.of("solve_many", options)
    require_callable(progress, "progress")
    positions = [given_position(each) for each in require_iterable(positions, "positions")]
    if not positions:
        raise CutnodeError("there are no positions to solve")
    cls = class_of_all(positions)
    if chosen.engine != "alphabeta":
        return _solve_each(positions, table, thread_count(threads, cls), chosen, cold, progress)
    require_batches(cls)
    threads = min(thread_count(threads, cls), len(positions))
    rows = records(len(positions), result_dtype(cls))
    spent = np.zeros(len(positions))

    def keep(first: int, found: tuple[Any, Any]) -> None:
        part = slice(first, first + len(found[0]))
        rows[part], spent[part] = found

    line = 2 if lines else 0
    with table_for(table) as table:
        settings = ProofSettings(chosen.weak, line, cold)
        workers = proof_workers(positions, threads, table, chosen.limits, keep, settings)

        def look() -> None:
            if progress is not None:
                progress(sum(worker.done for worker in workers))

        spans = Spans([(0, len(positions))], threads)
        ended = work_through(spans, workers, chosen.limits.stops, look)
    return Batch(positions, rows, spent, functools.partial(proof_result, chosen.weak, ended), ended)


def _solve_each(
    positions: list[Any],
    table: Table | int | None,
    threads: int,
    chosen: ProofOptions,
    cold: bool,
    progress: Callable[[int], None] | None,
) -> Batch:
    """Solve positions one by one, as :func:`solve_many` says."""
    cls: Any = type(positions[0])
    rows = records(len(positions), result_dtype(cls))
    rows["lower"], rows["upper"] = -most_value(positions[0]), most_value(positions[0])
    rows["reason"] = CALLED
    spent = np.zeros(len(positions))
    ended = ""
    with table_for(table) as table:
        solver = GameSolver(cls, table, threads)
        for number, position in enumerate(positions):
            if cold:
                table.forget()
            result = solver.prove("solve", position, chosen)
            write_row(rows[number], result)
            spent[number] = result.seconds
            if progress is not None:
                progress(number + 1)
            if result.reason in ("stopped", "interrupted"):
                ended = result.reason
                break
    build = functools.partial(proof_result, chosen.weak, ended, engine=chosen.engine)
    return Batch(positions, rows, spent, build, ended)


def perft(
    position: Any,
    depth: int,
    *,
    finished: bool = False,
    bulk: bool = True,
    threads: int = 1,
    stop: threading.Event | None = None,
    workers: Workers = SHARED_WORKERS,
) -> int:
    """Return the number of lines of exactly *depth* moves from a position.

    *finished* counts a line that ends the game earlier as one, too.  *bulk* counts the last
    moves without making them; else they are made, for a test of ``play`` and of its speed.
    Several *threads* share the lines; *workers* are where to find them.
    :class:`CutnodeError` if the event *stop* ended the count.
    """
    position = given_position(position)
    require_moves(position)
    cls = type(position)
    longest = game_constant(cls, "MAX_PLIES", 512)
    if _depth(depth) > longest:
        if not finished:
            return 0  # no line is as long
        depth = longest
    threads = thread_count(threads, cls)
    limits = Limits(stop=stop)
    count_lines = perft_node.specialise(cls)
    settings = {"finished": bool(finished), "bulk": bool(bulk)}
    memories = [_plain_memory(cls, **settings) for _ in range(threads)]
    parts = [(coerce(position), _depth(depth))]
    while threads > 1 and len(parts) < PARTS_EACH * threads and any(map(_is_wide, parts)):
        parts = [smaller for part in parts for smaller in _divided(part)]
    waiting = iter(parts)  # what one thread takes no other gets

    def count(memory: Memory) -> int:
        return sum(int(count_lines(part, left, 0, memory.argument)) for part, left in waiting)

    calls = [KernelCall(functools.partial(count, memory), memory) for memory in memories]
    reason = run(calls, limits.stops, workers=workers)
    for memory in memories:
        _require_sound(memory, position)
    if reason == "interrupted":
        raise KeyboardInterrupt
    if reason:
        raise CutnodeError("the count was stopped before its end")
    return sum(call.answer for call in calls)


def _is_wide(part: tuple[Any, int]) -> bool:
    """Return whether a position and the depth that is left are worth dividing."""
    position, depth = part
    return depth > 2 and not outcome(position)[0]


def _divided(part: tuple[Any, int]) -> list[tuple[Any, int]]:
    """Return the positions a ply below, if it is worth it, and the depths left to them."""
    if not _is_wide(part):
        return [part]
    position, depth = part
    events = chance(position)
    if events:
        return [(chance_outcome(position, number)[1], depth) for number in range(events)]
    return [(play(position, move), depth - 1) for move in legal_moves(position)]


class PlainKeywords(TypedDict, total=False):
    """Keywords of plain searches, with the meaning that they have for a :class:`Searcher`."""

    evaluation: AnyEvaluation
    soonest: bool
    depth_in: str


def minimax(
    position: Any, depth: int | None = None, **options: Unpack[PlainKeywords]
) -> PlainResult:
    """Return the value by minimax without pruning, to the end of the game or *depth* plies.

    Where the depth ends a line, an estimate stands for the value: the game's ``evaluate``,
    or another *evaluation*; what is counted then are scores (see ``cutnode.kernels.scores``).
    """
    return _plain_result(minimax_node, (), position, depth, **options)


def alphabeta(
    position: Any, depth: int | None = None, **options: Unpack[PlainKeywords]
) -> PlainResult:
    """Return the value of :func:`minimax` by textbook alpha-beta.

    Moves are searched in the order in which the game lists them, without a table.
    :class:`GameError` for games of chance.
    """
    if defines(class_of(position), "chance"):
        raise GameError("plain alpha-beta is for games without chance; minimax takes chance")
    return _plain_result(alphabeta_node, (-INFINITE, INFINITE), position, depth, **options)


def _plain_result(
    kernel: Kernel,
    window: tuple[int, ...],
    position: Any,
    depth: int | None,
    *,
    evaluation: AnyEvaluation = None,
    soonest: bool = True,
    depth_in: str = "turns",
) -> PlainResult:
    position = given_position(position)
    require_moves(position)
    cls: Any = type(position)
    chosen, plies = chosen_evaluation(cls, evaluation), _depth(depth)
    call = kernel.specialise(cls, chosen)
    memory = _plain_memory(
        cls,
        win=WIN if depth is not None and is_decisive(cls) else 0,
        step=int(bool(soonest)),
        turns=counts_turns(depth_in),
    )
    clock = Clock(None)
    arguments = coerce(position), chosen, *window, plies, 0, 0, 0, 0, memory.argument
    value = watch(functools.partial(call, *arguments), memory)
    _require_sound(memory, position)
    if not defines(cls, "chance"):
        value = int(value)
    counts = memory.numbers(("nodes", "leaves"))
    return PlainResult(value, **counts, seconds=clock.elapsed())


def _plain_memory(cls: Any, **settings: int) -> Memory:
    """Return the memory of a plain kernel, with some of its numbers."""
    memory = Memory(cls, plain_dtype(cls))
    memory["plies"] = game_constant(cls, "MAX_PLIES", 512)
    for name, value in settings.items():
        memory[name] = value
    return memory


def _require_sound(memory: Memory, position: Any) -> None:
    """:class:`ContractError` if a plain kernel met what breaks the contract."""
    if memory["stop"] == PLIES:
        raise lines_too_long(type(position))
    if memory["stop"] == MOVES:
        raise contract_violation(memory.position("violation", position), MOVES)


def _depth(depth: int | None) -> int:
    if depth is not None and require_integer(depth, "a depth") < 0:
        raise CutnodeError(f"a depth is 0 or more, not {depth}")
    return TO_THE_END if depth is None else min(depth, TO_THE_END)
