"""Positions solved to the end: public sets, endgames, mates, and games of chance."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.conftest import Measure
from benchmarks.peers.engines import BitBully
from benchmarks.positions import SETS, chess_suite, connect4_set, ffo_endgames
from cutnode import Prover, Searcher, Table, iterate, load_game, solve, solve_many
from cutnode.kernels.scores import win_distance

slow = pytest.mark.slow


@pytest.mark.parametrize("name", SETS)
def test_connect4_set(measure: Measure, name: str) -> None:
    """A thousand positions, each from an empty table."""
    _, positions, values = connect4_set(name)
    table = Table(256)

    def task() -> tuple[int, list[int]]:
        batch = solve_many(positions, table=table, cold=True)
        return int(batch.nodes.sum()), batch.values.tolist()

    measure(task, values, group=f"connect4 {name}")


@slow
@pytest.mark.parametrize("name", SETS)
def test_connect4_set_bitbully(measure: Measure, name: str) -> None:
    texts, _, values = connect4_set(name)
    peer = BitBully()
    measure(
        lambda: peer.solve(texts, measure.clock),
        values,
        nodes=None,
        group=f"connect4 {name}",
        rounds=3,
    )


@slow
@pytest.mark.parametrize("weak", [False, True], ids=["strongly", "weakly"])
def test_empty_board(measure: Measure, weak: bool) -> None:
    """Connect Four from the start, on one thread, without a book."""
    start, table = load_game("connect4").start(), Table(1024)

    def task() -> tuple[int, tuple[int, int | None]]:
        table.forget()
        result = solve(start, table=table, weak=weak)
        return result.nodes, (result.value, result.best_move)

    measure(task, (1, 3), rounds=1)


@pytest.mark.parametrize(
    "numbers",
    [
        pytest.param(range(1, 20), id="1-19"),
        pytest.param(range(40, 45), id="40-44", marks=slow),
        pytest.param(range(45, 50), id="45-49", marks=slow),
    ],
)
def test_ffo_endgames(measure: Measure, numbers: range) -> None:
    """Othello's endgames: all values, and a best move for each."""
    game, table, endgames = load_game("othello"), Table(256), ffo_endgames(numbers)

    def task() -> tuple[int, list[int]]:
        nodes, values = 0, []
        for endgame in endgames:
            table.forget()
            result = solve(endgame.position, table=table)
            assert game.module.move_text(endgame.position, result.best_move) in endgame.best
            nodes += result.nodes
            values.append(result.value)
        return nodes, values

    measure(task, [e.value for e in endgames], rounds=None if numbers[0] == 1 else 1)


@pytest.mark.parametrize("way", ["proven", "proven and verified", "exact search"])
@pytest.mark.parametrize("moves", [2, pytest.param(3, marks=slow), pytest.param(4, marks=slow)])
def test_chess_mates(measure: Measure, moves: int, way: str) -> None:
    """Mates in *moves* moves, each from an empty table; the rules alone verify each proof."""
    mates = [problem.position for problem in chess_suite("mates") if problem.mate == moves]
    game, plies = load_game("chess"), 2 * moves - 1
    if way == "exact search":
        engine = Searcher(game, exact=True)

        def find(position: Any) -> tuple[int, int | None]:
            engine.clear()
            result = engine.search(position, depth=plies)
            won = result.value > 0 and win_distance(result.value) == plies
            return result.nodes, moves if won else None
    else:
        prover = Prover(game)

        def find(position: Any) -> tuple[int, int | None]:
            prover.table.forget()
            result = prover.prove(position, moves, proof=way == "proven and verified")
            if result.proof is not None:
                result.proof.verify()
            return result.nodes, result.moves

    def task() -> tuple[int, list[int | None]]:
        nodes, found = zip(*map(find, mates), strict=True)
        return sum(nodes), list(found)

    measure(task, [moves] * len(mates), group=f"chess mates in {moves}", rounds=3)


UR = {"finkel-1": 53.0049839525, "finkel-2": 51.8572907496, "finkel-3": 51.6201102238}
"""Published: the first player's wins in 100 games, by the number of each player's pieces."""


@pytest.mark.parametrize(
    "variant",
    ["finkel-1", pytest.param("finkel-2", marks=slow), pytest.param("finkel-3", marks=slow)],
)
def test_value_iteration(measure: Measure, variant: str) -> None:
    """The Royal Game of Ur; nodes are updates of a position's value."""
    start = load_game(f"ur:{variant}").start()

    def task() -> tuple[int, tuple[bool, float]]:
        result = iterate(start)
        return result.updates, (result.proven, pytest.approx((result.value + 100) / 2, abs=1e-9))

    measure(task, (True, UR[variant]), rounds=3 if variant == "finkel-1" else 1)
