"""Batches by engines other than alpha-beta: each thread asks an engine about one position."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from cutnode.batches.results import CODES, SOLVED, require_whole_scores, row_dtype, set_root_moves
from cutnode.contract.errors import CutnodeError
from cutnode.contract.positions import Packed
from cutnode.contract.stop import RUNNING
from cutnode.contract.verbs import NO_MOVE
from cutnode.search.engine import Engine
from cutnode.search.results import MonteCarloResult
from cutnode.search.spans import SpanWorker


class EngineWorker(SpanWorker):
    """One thread of a batch, with an engine of its own.

    It solves or searches, as *task* says, with *limits* for each position.  *cold*: each position
    starts with an empty table or tree.
    """

    def __init__(
        self,
        positions: Packed,
        engine: Engine,
        task: str,
        limits: dict[str, Any],
        keep: Callable[[int, Any], None],
        *,
        cold: bool,
    ):
        super().__init__(keep)
        self.positions = positions
        self.engine = engine
        self.ask: Callable[..., Any] = engine.solve if task == "solve" else engine.search
        self.row = solved_row if task == "solve" else found_row
        self.limits = limits
        self.cold = cold

    def work(self) -> None:
        with self.engine:
            super().work()

    def do(self, first: int, last: int) -> None:
        for number in range(first, last):
            if self.ended.is_set():
                return
            if self.cold:
                self.engine.new_game()
            result = self.ask(self.positions[number], stop=self.ended, **self.limits)
            if result.reason in ("stopped", "interrupted"):
                return
            self.keep(number, self.row(result))
            self.before += 1


def solved_row(result: Any) -> Any:
    """Return the row of a proof."""
    row = np.zeros(1, SOLVED)
    row["lower"], row["upper"], row["nodes"] = result.lower, result.upper, result.nodes
    row["move"] = NO_MOVE if result.best_move is None else result.best_move
    row["reason"] = RUNNING if result.proven else CODES[result.reason]
    row["seconds"] = result.seconds
    return row


def found_row(result: Any) -> Any:
    """Return the row of a search."""
    row = np.zeros(1, row_dtype(type(result.position), "search", "mcts"))
    row["value"] = result.value
    playouts = isinstance(result, MonteCarloResult)
    rate = result.win_rate if playouts else None
    row["playouts"] = result.playouts if playouts else 0
    row["win_rate"] = math.nan if rate is None else rate
    moves = result.moves if playouts else ()
    set_root_moves(row[0], [(each.move, each.visits, each.value) for each in moves])
    row["proven"], row["depth"], row["nodes"] = result.proven, result.depth, result.nodes
    row["move"] = NO_MOVE if result.best_move is None else result.best_move
    row["reason"] = RUNNING if result.proven else CODES.get(result.reason, RUNNING)
    return row


def engine_workers(
    positions: Packed,
    task: str,
    threads: int,
    table: int,
    options: dict[str, Any],
    keep: Callable[[int, Any], None],
    *,
    cold: bool,
) -> list[EngineWorker]:
    """Return workers with the engine that *options* name, which share *table* MiB."""
    cls: Any = type(positions.example)
    given = dict(options)
    each = max(1, table // threads)
    if task == "solve":
        limits = {name: given.pop(name) for name in list(given) if name != "tablebase"}
    else:
        require_whole_scores(cls)
        names = ("playouts", "nodes", "seconds")
        limits = {name: given.pop(name) for name in names if name in given}
        engine = given["engine"]
        if engine == "auto" and limits.get("seconds") is None:
            raise CutnodeError("engine=auto needs a limit of seconds, for its trial takes a share")
        if not any(limits.values()):
            raise CutnodeError(f"a batch by {engine} needs a limit: playouts, nodes or seconds")
        parts = 2 if engine == "auto" else 1
        given["memory"] = (each << 20) // parts
        each = max(1, each // 2) if engine == "auto" else 1
    return [
        EngineWorker(positions, Engine(cls, table=each, **given), task, limits, keep, cold=cold)
        for _ in range(threads)
    ]
