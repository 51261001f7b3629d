"""The overhead of calls, compared with the search that they run."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks.conftest import Measure
from benchmarks.positions import random_positions
from cutnode import Engine, Searcher, Table, load_game, solve, solve_many
from cutnode.batches import run_batch
from cutnode.contract.positions import Packed

GAME = load_game("connect4")
START = GAME.start()
LATE = GAME.parse("2252576253462244111563365343671351441")
"""A position five moves before the end, worth -1."""


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    with Engine(GAME, table=16, evaluation="own") as engine:
        yield engine


@pytest.fixture(scope="module")
def calls(engine: Engine) -> dict[str, Callable[[], Any]]:
    """Return calls by name; all but one search or solve again with the objects they hold."""
    searcher, table = Searcher(GAME, table=1, evaluation="own"), Table(16)
    return {
        "cutnode.search": lambda: engine.search(START, depth=1),
        "engine.start, wait": lambda: engine.start(START, depth=1).wait(),
        "searcher reused": lambda: searcher.search(START, depth=1),
        "searcher made": lambda: Searcher(GAME, table=1, evaluation="own").search(START, depth=1),
        "engine.solve": lambda: engine.solve(LATE),
        "solve": lambda: solve(LATE, table=table),
    }


@pytest.mark.parametrize(
    "name", ["cutnode.search", "engine.start, wait", "searcher reused", "searcher made"]
)
def test_search(measure: Measure, calls: dict[str, Callable[[], Any]], name: str) -> None:
    """A search of one ply."""
    measure(lambda: (None, calls[name]().value), 7, nodes=None, group="calls that search")


@pytest.mark.parametrize("name", ["engine.solve", "solve"])
def test_solve(measure: Measure, calls: dict[str, Callable[[], Any]], name: str) -> None:
    """The value of a position close to the end."""
    measure(lambda: (None, calls[name]().value), -1, nodes=None, group="calls that solve")


COUNT, PLIES = 2_000, 24


@functools.cache
def batch_positions() -> Packed:
    return Packed.of(random_positions("connect4", COUNT, PLIES))


@functools.cache
def batch_values() -> list[int]:
    return solve_many(batch_positions(), table=Table(64)).values.tolist()


@pytest.mark.parametrize("cold", [False, True], ids=["one table", "empty tables"])
@pytest.mark.parametrize("way", ["solve_many", "1 thread", "1 thread, journal", "2 threads"])
def test_batch(measure: Measure, tmp_path: Path, way: str, cold: bool) -> None:
    """Two thousand positions of Connect Four: one call of compiled code, or batches."""
    positions, table, path = batch_positions(), Table(64), tmp_path / "journal"
    journal = path if way.endswith("journal") else None

    def task() -> tuple[None, list[int]]:
        if way == "solve_many":
            table.forget()
            return None, solve_many(positions, table=table, cold=cold).values.tolist()
        path.unlink(missing_ok=True)
        threads = int(way[0])
        batch = run_batch(
            positions, table=64, cold=cold, threads=threads, moves=False, journal=journal
        )
        return None, batch.values.tolist()

    group = f"batches of {COUNT:,} with {'empty tables' if cold else 'one table'}"
    measure(task, batch_values(), nodes=None, group=group)
