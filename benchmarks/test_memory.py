"""Memory and threads: what engines use, and that they release it."""

from __future__ import annotations

import gc
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmarks.conftest import Measure
from cutnode import Engine, Table, load_game

GAME = load_game("connect4")
MEBIBYTE = 1 << 20

PATIENCE = 5.0
"""The seconds that threads have to end after the last search."""


def resident() -> float:
    """Return the resident memory of this process, in MiB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / MEBIBYTE


def grown(benchmark: Any, work: Callable[[int], None], count: int) -> tuple[float, int]:
    """Return the growth of the process in MiB and threads over *count* repetitions of *work*.

    A tenth as many repetitions warm it up.
    """
    work(count // 10)
    gc.collect()
    before, threads = resident(), threading.active_count()
    benchmark.pedantic(work, args=(count,), rounds=1)
    gc.collect()
    ending = time.monotonic() + PATIENCE
    while threading.active_count() > threads and time.monotonic() < ending:
        time.sleep(0.01)
    return resident() - before, threading.active_count() - threads


def test_a_thousand_searches(benchmark: Any) -> None:
    """A thousand searches, started searches and some proofs leak neither memory nor threads."""
    position = GAME.parse("4444")
    with Engine(GAME, table=16, threads=2) as engine:

        def work(count: int) -> None:
            for number in range(count):
                engine.search(position, nodes=2000)
                engine.start(position, depth=5).wait()
                if number % 10 == 0:
                    engine.solve(position, nodes=20_000)
                    engine.new_game()

        megabytes, threads = grown(benchmark, work, 1000)
    assert megabytes < 4
    assert threads <= 0


def test_engines_are_given_back(benchmark: Any) -> None:
    """A hundred engines, one after another."""

    def work(count: int) -> None:
        for _ in range(count):
            with Engine(GAME, table=4, threads=2) as engine:
                engine.search(GAME.start(), depth=4)

    megabytes, threads = grown(benchmark, work, 100)
    assert megabytes < 8
    assert threads <= 1


@pytest.mark.parametrize("megabytes", [1, 64, 1024])
def test_table_is_reserved_and_not_touched(measure: Measure, megabytes: int) -> None:
    """A table has the requested size, and a short search touches little of it."""
    before = resident()

    def task() -> tuple[None, bool]:
        table = Table(megabytes)
        with Engine(GAME, table=table) as engine:
            engine.search(GAME.start(), depth=4)
            room = Engine.room(GAME, table=table)
        sized = megabytes * MEBIBYTE <= table.words.nbytes <= (megabytes + 1) * MEBIBYTE
        return None, sized and room >= megabytes and resident() < before + min(megabytes + 64, 200)

    measure(task, True, nodes=None)
