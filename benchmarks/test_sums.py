"""Boards that fall apart, solved by their parts, and as wholes by the other solvers."""

from __future__ import annotations

from typing import Literal

import pytest

from benchmarks.conftest import Measure
from benchmarks.studies.boards import published
from cutnode import Table, load_game, solve

slow = pytest.mark.slow

WHOLE = "clobber:4x5", "nogo:4x4", "cram:4x6", "kayles:20"
"""Boards that the other solvers solve as wholes in seconds."""

BOARDS = "clobber:3x8", "clobber:4x6", "clobber:5x5", "nogo:4x5", "cram:5x6", "cram:5x7"


ENGINES = [
    (board, engine)
    if board == WHOLE[0]
    else pytest.param(board, engine, marks=slow)  # each compiles a search
    for board in WHOLE
    for engine in ("sums", "pn", "alphabeta")
]


@pytest.mark.parametrize(("board", "engine"), ENGINES)
def test_winner(measure: Measure, board: str, engine: Literal["sums", "pn", "alphabeta"]) -> None:
    """The value of a full or empty board, from an empty table."""
    start, table = load_game(board).start(), Table(256)

    def task() -> tuple[int, int | None]:
        table.forget()
        result = solve(start, table=table, engine=engine, weak=True)
        return result.nodes, result.value

    measure(task, published(board)[0], group=board)


@pytest.mark.parametrize("board", [*WHOLE, *(pytest.param(board, marks=slow) for board in BOARDS)])
def test_outcome_class(measure: Measure, board: str) -> None:
    """The value and, in impartial games, the nimber."""
    start, table = load_game(board).start(), Table(1024)

    def task() -> tuple[int, tuple[int | None, int | None]]:
        table.forget()
        result = solve(start, table=table)
        return result.nodes, (result.value, result.nimber)

    measure(task, published(board), rounds=None if board in WHOLE else 1)
