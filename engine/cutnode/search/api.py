"""The public functions: solve, analyse, search, perft, and plain searches.

Each takes a position, a :class:`~cutnode.search.board.Board`, or a game or its name, which mean
the game's start position (see :mod:`cutnode.search.board`).
Each checks its arguments, allocates the memory, runs compiled code in threads of its own, watches
the clock, and returns an immutable result.  Ctrl-C, a stop event and limits end a search
early; the result then holds what is known so far.
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
    require_at_least,
    require_callable,
    require_iterable,
)
from cutnode.contract.messages import contract_violation
from cutnode.contract.native import records
from cutnode.contract.positions import class_of_all, coerce
from cutnode.contract.repetition import require_draws
from cutnode.contract.stop import CALLED, MOVES, PLIES, counts_turns
from cutnode.contract.verbs import INFINITE, chance, chance_outcome, outcome, play
from cutnode.kernels.clock import Clock
from cutnode.kernels.evaluation import AnyEvaluation
from cutnode.kernels.reference import alphabeta_node, minimax_node, perft_node, plain_dtype
from cutnode.kernels.scores import WIN, is_decisive
from cutnode.kernels.solver import result_dtype
from cutnode.runtime.options import check
from cutnode.runtime.running import KernelCall, Limits, run, watch
from cutnode.runtime.threads import SHARED_WORKERS, Workers
from cutnode.search.board import Board, class_of, given_history, given_position
from cutnode.search.canonical_values import ValueTable
from cutnode.search.game_solver import GameSolver
from cutnode.search.loops import has_loops
from cutnode.search.monte_carlo import MonteCarlo
from cutnode.search.options import (
    ProofKeywords,
    ProofOptions,
    ProvingKeywords,
    QuestionKeywords,
    SearchKeywords,
    SearchOptions,
    TreeKeywords,
    proof_options,
    require_keywords,
    solving_engine,
    thread_count,
)
from cutnode.search.proving_searcher import ProvingSearcher
from cutnode.search.results import Batch, MonteCarloResult, PlainResult, Result, SearchResult
from cutnode.search.solving import (
    ProofSettings,
    lines_too_long,
    proof_result,
    require_batches,
    shared_table,
    table_for,
    write_row,
)
from cutnode.search.spans import Spans, proof_workers, work_through
from cutnode.search.tiers import FirstSearch, first_proof
from cutnode.search.trials import AutoSearcher
from cutnode.storage.books import Book
from cutnode.storage.evaluations import chosen_evaluation
from cutnode.storage.tables import Table, holding
from cutnode.tablebases.tablebase import Tablebase

PARTS_EACH = 16
"""The least number of parts for each thread of a perft: parts differ in size."""

TO_THE_END = 1 << 30
"""A depth beyond the end of any game."""


class AnalyseKeywords(ProofKeywords, total=False):
    """Keywords of a proof, its table and its threads."""

    table: Table | int | None
    threads: int
    book: Book | None
    tablebase: Tablebase | str | os.PathLike[str] | None
    memory: int | None
    values: ValueTable | None
    journal: str | os.PathLike[str] | None


class SolveKeywords(QuestionKeywords, AnalyseKeywords, total=False):
    """Keywords of :func:`solve`, which can also ask about a single value."""


def solve(position: Any, text: str | None = None, **options: Unpack[SolveKeywords]) -> Result:
    """Prove the value of a position, a best move, and the line of best play.

    *position* can also be a game or its name, with a position as *text* in the game's notation:
    ``solve("connect4", "4455")``.

    With *weak*, prove only who wins.  With *at_least*, prove only whether the value reaches that
    number: the result then has bounds and an ``answer``.

    *table* is a :class:`Table`, or the size of a new one in MiB.  A given table keeps what earlier
    searches stored, and no other search may use it meanwhile.  Without one, the search starts from
    scratch; on a single one of the *threads* (the default) it then visits the same nodes every
    time.  The positions of a *book* are stored in the table first.

    *nodes* and *seconds* limit the search; another thread can end it by setting the event *stop*.

    A position in the *tablebase* is looked up there.  In games with cycles, all reachable positions
    are solved in *memory* bytes (512 MiB by default); if they do not fit, a search counts a
    repetition on the line of play as a draw: see :mod:`cutnode.search.loops`.

    The solver of sums takes the *values* of parts from a :class:`ValueTable`.

    A long proof is resumed from the file *journal*, which keeps what is proven below the root;
    several processes may work on it: see :mod:`cutnode.search.resuming`.

    *engine* is ``"alphabeta"``, ``"pn"`` (df-pn, for games that are won or lost by narrow lines in
    wide trees: :mod:`cutnode.kernels.proof_numbers`; the default where a repetition is no draw),
    ``"sums"`` (for games whose positions fall apart, solved by their parts:
    :mod:`cutnode.kernels.sums`; there the default), or ``"auto"``, which alternates between the
    first two, each time with more nodes, until one finds a proof; the result names it.

    Raise :class:`GameError` for games of chance, which :func:`iterate` solves,
    :class:`PositionError` if *text* is not a position, and :class:`CutnodeError` for options that
    are out of range or contradict each other.
    """
    with _solver("solve", position, text, options) as (solver, position, chosen, first):
        return solver.prove("solve", position, chosen) if first is None else first


def analyse(position: Any, text: str | None = None, **options: Unpack[AnalyseKeywords]) -> Result:
    """Prove the values of a position and of every legal move.

    Options are as for :func:`solve`; limits apply to the whole analysis.
    """
    with _solver("analyse", position, text, options) as (solver, position, chosen, first):
        return solver.prove("analyse", position, chosen) if first is None else first


@contextlib.contextmanager
def _solver(
    kind: str, position: Any, text: str | None, options: Mapping[str, Any]
) -> Iterator[tuple[GameSolver, Any, ProofOptions, Result | None]]:
    """Yield a solver for one call, its position, its checked options, and a first answer if any."""
    if isinstance(position, Board) and position.history:
        require_draws(type(position.position), f"{kind}() of a board with a history")
    position = given_position(position, text)
    own = AnalyseKeywords.__optional_keys__ - ProofKeywords.__optional_keys__
    asked = {name: value for name, value in options.items() if name not in own}
    keywords = SolveKeywords if kind == "solve" else AnalyseKeywords
    require_keywords(kind, asked, sorted(keywords.__optional_keys__))
    chosen = proof_options(kind, asked).of_game(type(position))
    given = {name: value for name, value in options.items() if name in own}
    table, threads = given.pop("table", None), given.pop("threads", 1)
    given["tablebase"] = Tablebase.of(given.get("tablebase"), type(position))
    alone = not isinstance(table, Table) and threads == 1
    alone &= all(given.get(name) is None for name in ("tablebase", "book", "journal"))
    with table_for(table) as table:
        cls: Any = type(position)
        usual = alone and table is shared_table() and not any(given.values())
        if usual and chosen.engine == "alphabeta" and not has_loops(cls):
            solver = _usual_solver(cls)
        else:
            solver = GameSolver(cls, table, threads, **given)
        first = first_proof(kind, position, chosen, table) if alone else None
        yield solver, position, chosen, first


@functools.lru_cache(1)
def _usual_solver(cls: Any) -> GameSolver:
    """Return the solver of calls without a table, for those that hold the shared one.

    Making a solver takes longer than a small proof.
    """
    return GameSolver(cls, shared_table())


class _Keywords(ProvingKeywords, SearchKeywords, TreeKeywords, total=False):
    """Keywords of a searcher of either kind, and of its search."""


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
    """Search a position, and return the best move, its score and its line.

    *position* and *text* are as for :func:`solve`; the history of a board is taken into account.
    *engine* is ``"alphabeta"``, ``"mcts"``, or ``"auto"``, which tries both for a quarter of the
    *seconds* and continues with the better one; the result says *why*.  *options* are those
    of :class:`Engine` and of :meth:`Engine.search <cutnode.Engine.search>`; with ``"auto"``, the
    engine's options are ``evaluation``, ``tablebase`` and ``memory``, which suit both.

    Each call makes a new searcher.  To search the positions of a game, hold an :class:`Engine`.
    """
    check("engine", engine)
    keywords: dict[str, Any] = dict(options)
    own = {name: keywords.pop(name) for name in options if name in SearchKeywords.__optional_keys__}
    own["history"] = given_history(position, own.get("history", ()))
    position = given_position(position, text)
    chosen = SearchOptions.of("search", own)
    chosen.require_limit(engine)
    if engine == "mcts":
        return MonteCarlo(position, threads=threads, **keywords).run(position, chosen)
    kind = AutoSearcher if engine == "auto" else ProvingSearcher
    alone = not isinstance(table, Table) and threads == 1 and engine == "alphabeta"
    with holding(table) as table:
        if alone:
            first = FirstSearch(position, chosen, table, keywords)
            if first.result is not None:
                return first.result
            chosen = first.options
        searcher = kind(position, table=table, threads=threads, ready=False, **keywords)
        return searcher.run(position, chosen)


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
    """Solve positions of one class, one after another, with limits for each.

    With *cold*, each position starts from an empty table, so its counts do not depend on the
    others.  With *lines*, also find a best move and the line of best play of each position.

    Several *threads* solve different positions and share the table; if positions are *cold* or the
    game has a ``scout``, each thread gets an equal part of it as its own table.  With an *engine*
    other than alpha-beta, all threads work on one position at a time, and its line is always found.

    *progress* is called every now and then with the number of positions done.

    Raise :class:`CutnodeError` if there are no positions, and :class:`GameError` as :func:`solve`
    does.
    """
    chosen = ProofOptions.of("solve_many", options)
    require_callable(progress, "progress")
    positions = [given_position(each) for each in require_iterable(positions, "positions")]
    if not positions:
        raise CutnodeError("there are no positions to solve")
    cls = class_of_all(positions)
    chosen = chosen.of_game(cls)
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
        limits = chosen.limits()
        workers = proof_workers(positions, threads, table, limits, keep, settings)

        def look() -> None:
            if progress is not None:
                progress(sum(worker.done for worker in workers))

        spans = Spans([(0, len(positions))], threads)
        ended = work_through(spans, workers, limits.stops, look)
    return Batch(positions, rows, spent, functools.partial(proof_result, chosen.weak, ended), ended)


def _solve_each(
    positions: list[Any],
    table: Table | int | None,
    threads: int,
    chosen: ProofOptions,
    cold: bool,
    progress: Callable[[int], None] | None,
) -> Batch:
    """Solve positions one at a time, all threads on each: see :func:`solve_many`."""
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
    engine = solving_engine(cls, chosen.engine)
    build = functools.partial(proof_result, chosen.weak, ended, engine=engine)
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

    With *finished*, lines that end the game earlier count as well.  With *bulk*, the last moves are
    counted without making them; turn it off to test ``play`` and measure its speed.  Several
    *threads*, taken from *workers*, share the lines.

    Raise :class:`CutnodeError` if the event *stop* ended the count.
    """
    position = given_position(position)
    require_moves(position)
    cls = type(position)
    longest = game_constant(cls, "MAX_PLIES", 512)
    if _depth(depth) > longest:
        if not finished:
            return 0  # no line is that long
        depth = longest
    threads = thread_count(threads, cls)
    limits = Limits(stop=stop)
    count_lines = perft_node.specialise(cls)
    settings = {"finished": bool(finished), "bulk": bool(bulk)}
    memories = [_plain_memory(cls, **settings) for _ in range(threads)]
    parts = [(coerce(position), _depth(depth))]
    while threads > 1 and len(parts) < PARTS_EACH * threads and any(map(_is_wide, parts)):
        parts = [smaller for part in parts for smaller in _divided(part)]
    waiting = iter(parts)  # shared: each part goes to one thread

    def count(memory: Memory) -> int:
        return sum(int(count_lines(part, left, 0, memory.argument)) for part, left in waiting)

    calls = [KernelCall(functools.partial(count, memory), memory) for memory in memories]
    reason = run(calls, limits.stops, workers=workers)
    for memory in memories:
        _require_sound(memory, position)
    if reason == "interrupted":
        raise KeyboardInterrupt
    if reason:
        raise CutnodeError("the count was stopped before it was complete")
    return sum(call.answer for call in calls)


def _is_wide(part: tuple[Any, int]) -> bool:
    """Return whether a position with its remaining depth is worth splitting."""
    position, depth = part
    return depth > 2 and not outcome(position)[0]


def _divided(part: tuple[Any, int]) -> list[tuple[Any, int]]:
    """Split a part into the positions one ply below, with their remaining depths, if worth it."""
    if not _is_wide(part):
        return [part]
    position, depth = part
    events = chance(position)
    if events:
        return [(chance_outcome(position, number)[1], depth) for number in range(events)]
    return [(play(position, move), depth - 1) for move in legal_moves(position)]


class PlainKeywords(TypedDict, total=False):
    """Keywords of plain searches; they mean what they mean for a :class:`Searcher`."""

    evaluation: AnyEvaluation
    soonest: bool
    depth_in: str


def minimax(
    position: Any, depth: int | None = None, **options: Unpack[PlainKeywords]
) -> PlainResult:
    """Return the value by minimax without pruning, to the end of the game or *depth* plies.

    At the horizon, the game's ``evaluate`` or another *evaluation* estimates the value; with a
    *depth*, the result is a score (see ``cutnode.kernels.scores``).
    """
    return _plain_result(minimax_node, (), position, depth, **options)


def alphabeta(
    position: Any, depth: int | None = None, **options: Unpack[PlainKeywords]
) -> PlainResult:
    """Return the value of :func:`minimax` by textbook alpha-beta.

    It has no table, and searches moves in the order in which the game lists them.
    Raise :class:`GameError` for games of chance.
    """
    if defines(class_of(position), "chance"):
        raise GameError("plain alpha-beta does not support games of chance; use minimax")
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
    """Return memory for a plain kernel, with some of its fields set."""
    memory = Memory(cls, plain_dtype(cls))
    memory["plies"] = game_constant(cls, "MAX_PLIES", 512)
    for name, value in settings.items():
        memory[name] = value
    return memory


def _require_sound(memory: Memory, position: Any) -> None:
    """Raise :class:`ContractError` if a plain kernel met a violation of the contract."""
    if memory["stop"] == PLIES:
        raise lines_too_long(type(position))
    if memory["stop"] == MOVES:
        raise contract_violation(memory.position("violation", position), MOVES)


def _depth(depth: int | None) -> int:
    return TO_THE_END if depth is None else min(require_at_least(depth, 0, "depth"), TO_THE_END)
