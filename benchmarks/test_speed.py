"""Benchmarks for pytest-benchmark: ``python -m pytest benchmarks``.

Each checks its answer before it is timed.
"""

from __future__ import annotations

from typing import Any

import pytest
from positions import SETS, connect4_set

from engine import Table, alphabeta, load_game, minimax, perft, solve, solve_many


@pytest.mark.parametrize("name", SETS)
def test_connect4_set(benchmark: Any, name: str) -> None:
    """A tenth of a public test set, each position from an empty table."""
    _, positions, values = connect4_set(name, every=10)
    table = Table(256)
    batch = solve_many(positions, table=table, cold=True)
    assert batch.values.tolist() == values
    benchmark.extra_info["nodes per position"] = float(batch.nodes.mean())
    benchmark(solve_many, positions, table=table, cold=True)


def test_single_solve(benchmark: Any) -> None:
    """What one call costs beside the search: an easy position, from Python."""
    position = load_game("connect4").parse("2252576253462244111563365343671351441")
    assert solve(position).value == -1
    benchmark(solve, position)


def test_perft(benchmark: Any) -> None:
    start = load_game("connect4").start()
    assert perft(start, 8) == 5_673_234
    benchmark(perft, start, 8)


@pytest.mark.parametrize(("search", "nodes"), [(minimax, 549_946), (alphabeta, 18_297)])
def test_plain(benchmark: Any, search: Any, nodes: int) -> None:
    """The whole game tree of tic-tac-toe."""
    start = load_game("tictactoe").start()
    assert search(start).nodes == nodes
    benchmark(search, start)
