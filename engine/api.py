"""The functions that people call: solve, analyse, count.

Each checks its input, owns the memory, runs compiled code in threads of its own, watches
the clock, and returns an immutable result.  Ctrl-C, a stop event and limits end a search
early; what is proven by then is returned.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from engine.clock import Clock
from engine.contract import (
    INFINITE,
    defines,
    game_constant,
    game_name,
    is_plain,
    legal_moves,
    most_value,
    moves_again,
    play,
)
from engine.errors import ContractError, CutnodeError, GameError, whole
from engine.evaluation import Evaluation, evaluation_of
from engine.jit import Kernel
from engine.limits import MOVES, NODES, PLIES, RUNNING, TIME, counts_turns
from engine.memory import Memory
from engine.native import records
from engine.optionality import Optionality
from engine.people import accusation
from engine.plain import alphabeta_node, minimax_node, perft_node, plain_dtype
from engine.positions import class_of_all, coerce
from engine.results import Batch, PlainResult, Result, TableUse
from engine.runner import Limits, Scouting, Solver, run, watch
from engine.scores import WIN, is_decisive
from engine.scouting import scouting
from engine.searcher import Engine
from engine.solver import ALONE, SHARED, solve_batch
from engine.table import Table

__all__ = ["alphabeta", "analyse", "minimax", "perft", "solve", "solve_many"]

DEFAULT_MEGABYTES = 256
"""The size of the table of searches that are given none."""

TO_THE_END = 1 << 30
"""A depth that no game reaches."""


def solve(
    position: Any,
    *,
    table: Table | None = None,
    weak: bool = False,
    nodes: int | None = None,
    seconds: float | None = None,
    threads: int = 1,
    stop: threading.Event | None = None,
) -> Result:
    """Prove the value of a position, a best move, and the line of best play.

    *weak* asks only who wins.  Without *table* the search starts from nothing, and with
    one thread it visits the same nodes each time; with a :class:`Table` it builds on
    what earlier searches with that table stored.  *nodes* and *seconds* limit the search,
    and another thread can end it by setting the event *stop*.
    """
    limits = Limits(nodes, seconds, stop)
    threads = _threads(threads, type(position))
    return _solve(position, table or _fresh_table(), weak, limits, threads)


def analyse(
    position: Any,
    *,
    table: Table | None = None,
    weak: bool = False,
    nodes: int | None = None,
    seconds: float | None = None,
    threads: int = 1,
    stop: threading.Event | None = None,
) -> Result:
    """:func:`solve`, and prove the value of every legal move as well.

    The limits are for all of it together.
    """
    limits = Limits(nodes, seconds, stop)
    threads = _threads(threads, type(position))
    table = table or _fresh_table()
    _require_solvable(type(position))
    solve_batch.specialise(type(position))
    if defines(type(position), "scout"):
        Engine(type(position), table=table)  # compiles, too, before the clock runs
    clock = Clock(None)
    result = _solve(position, table, weak, limits, threads)
    scores: dict[int, int | None] = dict.fromkeys(legal_moves(result.position))
    if result.proven and result.best_move is not None:
        scores[result.best_move] = result.value
    spent = result.nodes
    reason = result.reason
    most = most_value(result.position)
    for move, score in scores.items():
        if score is not None or reason != "proven":
            continue
        left = Limits(
            None if nodes is None else max(1, nodes - spent),
            None if seconds is None else max(1e-3, seconds - clock.elapsed()),
            stop,
        )
        child = play(result.position, move)
        again = moves_again(result.position, child)
        best = most if result.value is None else result.value
        known = (-most, best) if again else (-best, most)
        of_child = _solve(child, table, weak, left, threads, known, line=0)
        spent += of_child.nodes
        reason = of_child.reason
        if of_child.value is not None:
            scores[move] = of_child.value if again else -of_child.value
    return replace(result, scores=scores, reason=reason)


def solve_many(
    positions: Sequence[Any],
    *,
    table: Table | None = None,
    cold: bool = False,
    weak: bool = False,
    lines: bool = False,
    nodes: int | None = None,
    seconds: float | None = None,
    threads: int = 1,
    stop: threading.Event | None = None,
    progress: Callable[[int], None] | None = None,
) -> Batch:
    """Solve positions of one class, one after the other, with limits for each.

    *cold*: each position starts from nothing, so its figures do not depend on the others.
    *lines*: also find a best move and the line of best play of each.  With several
    *threads* each has a part of the table and every so many positions.  *progress* is
    called now and then with the number of positions that are done.
    """
    limits = Limits(nodes, seconds, stop)
    positions = list(positions)
    if not positions:
        raise CutnodeError("there are no positions to solve")
    cls = class_of_all(positions)
    _require_solvable(cls)
    threads = min(_threads(threads, cls), len(positions))
    table = table or _fresh_table()
    tables = [table]
    if threads > 1:
        tables = [Table(max(1, table.megabytes // threads)) for _ in range(threads)]
    line = 2 if lines else 0
    parts = [positions[start::threads] for start in range(threads)]
    scouted: list[Scouting | None] = []
    ended = ""
    for part, own in zip(parts, tables, strict=True):
        said = None if ended else scouting(part, own, limits, cold=cold)
        scouted.append(said)
        ended = said.ended if said is not None else ended
    solvers = [
        Solver(
            part,
            own,
            limits if said is None else said.left,
            weak=weak,
            line=line,
            cold=cold,
            sharing=ALONE,
            scouting=said,
        )
        for part, own, said in zip(parts, tables, scouted, strict=True)
    ]
    ended = run(solvers, limits, progress=progress, ended=ended)
    rows = records(len(positions), solvers[0].rows.dtype)
    spent = np.zeros(len(positions))
    for start, (solver, said) in enumerate(zip(solvers, scouted, strict=True)):
        rows[start::threads] = solver.rows
        spent[start::threads] = solver.seconds
        if said is not None:
            rows["nodes"][start::threads] += said.nodes
            spent[start::threads] += said.seconds
    return Batch(positions, rows, spent, functools.partial(_result, weak, ended))


def _solve(
    position: Any,
    table: Table,
    weak: bool,
    limits: Limits,
    threads: int,
    known: tuple[int, int] | None = None,
    line: int = 2,
) -> Result:
    """Solve one position, with all threads on it; *known* bounds its value."""
    _require_solvable(type(position))
    scouted = scouting([position], table, limits)
    if scouted is not None:
        limits = scouted.left
    if limits.nodes is not None:
        limits = replace(limits, nodes=max(1, limits.nodes // threads))
    solvers = [
        Solver(
            [position],
            table,
            limits,
            weak=weak,
            line=line,
            cold=False,
            sharing=ALONE if threads == 1 else SHARED,
            known=known,
            scouting=scouted,
        )
        for _ in range(threads)
    ]
    if threads > 1:
        solvers[0].open_table()
    ended = run(solvers, limits, first_wins=True, ended="" if scouted is None else scouted.ended)
    rows = np.concatenate([solver.rows for solver in solvers])
    best = int(np.argmin(rows["upper"] - rows["lower"]))
    row = rows[best]
    row["lower"], row["upper"] = rows["lower"].max(), rows["upper"].min()
    row["reason"] = rows["reason"].max()
    for name in ("nodes", *TableUse.__slots__):
        row[name] = rows[name].sum()
    seconds = float(solvers[best].seconds[0])
    if scouted is not None:
        row["nodes"] += scouted.nodes[0]
        seconds += scouted.seconds[0]
    return _result(weak, ended, position, row, seconds)


def _result(weak: bool, ended: str, position: Any, row: Any, seconds: float) -> Result:
    """A result from what the kernel wrote about a position."""
    lower, upper = int(row["lower"]), int(row["upper"])
    proven = lower == upper
    if row["reason"] == PLIES and not proven:
        raise lines_too_long(type(position))
    limit = {NODES: "node limit", TIME: "time limit"}.get(int(row["reason"]), ended)
    line = tuple(int(move) for move in row["line"][: row["length"]])
    return Result(
        position=coerce(position),
        value=lower if proven else None,
        lower=lower,
        upper=upper,
        weak=weak,
        best_move=line[0] if line else None,
        scores=None,
        pv=line if proven else (),
        nodes=int(row["nodes"]),
        seconds=seconds,
        table=TableUse(*(int(row[name]) for name in TableUse.__slots__)),
        reason="proven" if proven else limit,
    )


def lines_too_long(cls: Any) -> ContractError:
    """What to tell when lines of play are longer than a game said."""
    plies = game_constant(cls, "MAX_PLIES", 512)
    return ContractError(
        f"{game_name(cls)} has lines of play longer than its MAX_PLIES = {plies}: "
        f"raise it, or, if play can go on forever, this game cannot be solved"
    )


def perft(position: Any, depth: int, *, finished: bool = False, bulk: bool = True) -> int:
    """The number of lines of exactly *depth* moves from a position.

    *finished* counts a line that ends the game earlier as one, too.  *bulk* counts the last
    moves without making them; else they are made, for a test of ``play`` and of its speed.
    """
    settings = {"finished": bool(finished), "bulk": bool(bulk)}
    return int(_plain(perft_node, position, _depth(depth), 0, **settings)[0])


def minimax(
    position: Any,
    depth: int | None = None,
    *,
    evaluation: str | Evaluation | Optionality | None = None,
    soonest: bool = True,
    depth_in: str = "turns",
) -> PlainResult:
    """The value by minimax without any pruning, to the end of the game or *depth* plies.

    Where the depth ends a line, an estimate stands for the value: the game's ``evaluate``,
    or another *evaluation*; what is counted then are scores (see ``engine.scores``).
    *depth_in* is as for :class:`Engine`.
    """
    return _plain_result(minimax_node, position, depth, evaluation, soonest, depth_in)


def alphabeta(
    position: Any,
    depth: int | None = None,
    *,
    evaluation: str | Evaluation | Optionality | None = None,
    soonest: bool = True,
    depth_in: str = "turns",
) -> PlainResult:
    """The same value by textbook alpha-beta, in the game's order of moves, without a table."""
    if defines(type(position), "chance"):
        raise GameError("plain alpha-beta is for games without chance; minimax takes chance")
    window = (-INFINITE, INFINITE)
    return _plain_result(alphabeta_node, position, depth, evaluation, soonest, depth_in, *window)


def _plain(
    kernel: Kernel,
    position: Any,
    *args: Any,
    evaluation: Any = None,
    **settings: int,
) -> tuple[Any, Memory, float]:
    """Run a plain kernel; return its answer, its memory, and the seconds it took.

    *settings* are numbers of the memory.
    """
    cls: Any = type(position)
    run = kernel.specialise(cls, evaluation)
    memory = Memory(cls, plain_dtype(cls))
    words = memory.words
    words["plies"][0] = plies = game_constant(cls, "MAX_PLIES", 512)
    for name, value in settings.items():
        memory[name] = value
    if evaluation is not None:
        args = (evaluation, *args)
    clock = Clock(None)
    call = functools.partial(run, coerce(position), *args, memory.argument)
    answer = watch(call, memory)
    if words["stop"][0] == PLIES:
        raise ContractError(f"a line of play is longer than MAX_PLIES = {plies}")
    if words["stop"][0] == MOVES:
        raise accusation(memory.position("culprit", position), MOVES)
    if words["stop"][0] != RUNNING:
        raise KeyboardInterrupt
    return answer, memory, clock.elapsed()


def _plain_result(
    kernel: Kernel,
    position: Any,
    depth: int | None,
    evaluation: str | Evaluation | Optionality | None,
    soonest: bool,
    depth_in: str,
    *window: int,
) -> PlainResult:
    cls = type(position)
    value, memory, seconds = _plain(
        kernel,
        position,
        *window,
        _depth(depth),
        *(0, 0, 0, 0),
        evaluation=evaluation_of(cls, evaluation),
        win=WIN if depth is not None and is_decisive(cls) else 0,
        step=int(soonest),
        turns=counts_turns(depth_in),
    )
    if not defines(type(position), "chance"):
        value = int(value)
    return PlainResult(value, **memory.numbers(("nodes", "leaves")), seconds=seconds)


def _depth(depth: int | None) -> int:
    if depth is not None and whole(depth, "a depth") < 0:
        raise CutnodeError(f"a depth is 0 or more, not {depth}")
    return TO_THE_END if depth is None else min(depth, TO_THE_END)


def _threads(threads: int, cls: type) -> int:
    if whole(threads, "a number of threads") < 1:
        raise CutnodeError(f"a search needs at least 1 thread, not {threads}")
    if threads > 1 and is_plain(cls):
        raise GameError(f"{game_name(cls)} is plain Python, which runs on one thread at a time")
    return threads


def _require_solvable(cls: type) -> None:
    for verb, reason in (
        ("chance", "chance: iterate() solves such games, not the exact solver"),
        ("reversible", "repetition: the exact solver does not take it yet"),
        ("drawn", "draws by rule: the exact solver does not take them yet"),
    ):
        if defines(cls, verb):
            raise GameError(f"{game_name(cls)} has {reason}")


@functools.cache
def _shared_table() -> Table:
    return Table(DEFAULT_MEGABYTES)


def _fresh_table() -> Table:
    """The table of searches that are given none; they begin with nothing."""
    table = _shared_table()
    table.forget()
    return table
