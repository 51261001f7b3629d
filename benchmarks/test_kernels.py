"""Node rates of the compiled kernels on fixed positions."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.compiled import (
    fill,
    look_up,
    nothing,
    strictly_alternating_node,
    sum_at_leaves,
    sum_of_estimates,
)
from benchmarks.conftest import Measure
from benchmarks.peers.engines import UciProgram, package
from benchmarks.positions import CHESS_START, KIWIPETE, chess_suite
from cutnode import Searcher, Table, alphabeta, legal_moves, load_game, minimax, perft, solve
from cutnode.compiler.memory import Memory
from cutnode.contract.positions import as_words
from cutnode.contract.verbs import INFINITE, chance, chance_outcome, outcome, play
from cutnode.kernels.evaluation import evaluation_of, kept_bytes
from cutnode.kernels.learned import MOST_STONES
from cutnode.kernels.networks import Network
from cutnode.kernels.reference import alphabeta_node, plain_dtype
from cutnode.kernels.scores import WIN
from cutnode.kernels.techniques import choose
from cutnode.training.boards import sampled_positions
from cutnode.training.designs import design_for
from cutnode.training.models import NetworkModel, models_for

slow = pytest.mark.slow

# Counting

PERFT = {
    ("chess", CHESS_START, 3): 8_902,
    ("chess", CHESS_START, 5): 4_865_609,
    ("chess", CHESS_START, 6): 119_060_324,
    ("chess", KIWIPETE, 4): 4_085_603,
    ("chess", KIWIPETE, 5): 193_690_690,
    ("othello", "", 8): 390_216,
    ("othello", "", 9): 3_005_288,
    ("othello", "", 10): 24_571_284 - 228,
    ("connect4", "", 8): 5_673_234,
    ("breakthrough", "", 4): None,
    ("kalah", "", 7): None,
    ("oware", "", 7): None,
    ("skirmish", "", 4): None,
    ("tictactoe", "", 8): None,
    ("uniform", "", 6): None,
    ("ur", "", 5): None,
}
"""Lines of play; the numbers given are published (for Othello by A. Bik, without the 228 games
that are over after 9 moves; for chess at https://www.chessprogramming.org/Perft_Results)."""


def perft_cases() -> list[Any]:
    names = {CHESS_START: "start ", KIWIPETE: "kiwipete ", "": ""}
    return [
        pytest.param(
            *(game, text, depth, leaves),
            marks=slow if leaves and leaves > 10_000_000 else (),
            id=f"{game} {names[text]}{depth}",
        )
        for (game, text, depth), leaves in PERFT.items()
    ]


@pytest.mark.parametrize(("game", "text", "depth", "leaves"), perft_cases())
def test_perft(measure: Measure, game: str, text: str, depth: int, leaves: int | None) -> None:
    position = load_game(game).parse(text)
    nodes = -1 if leaves is None else leaves
    group = "perft kiwipete" if text == KIWIPETE else f"perft {game} {depth}"
    measure(lambda: (perft(position, depth), None), None, nodes=nodes, group=group)


@pytest.mark.parametrize("depth", [5, pytest.param(6, marks=slow)])
def test_perft_all_moves_made(measure: Measure, depth: int) -> None:
    """The last moves are made as well, not only counted."""
    position = load_game("chess").start()
    nodes = PERFT["chess", CHESS_START, depth]
    measure(
        lambda: (perft(position, depth, bulk=False), None),
        None,
        nodes=nodes,
        group=f"perft chess {depth}",
    )


def test_perft_python_chess(measure: Measure) -> None:
    chess = package("chess")
    board = chess.Board()

    def count(depth: int) -> int:
        if depth == 1:
            return int(board.legal_moves.count())
        leaves = 0
        for move in board.legal_moves:
            board.push(move)
            leaves += count(depth - 1)
            board.pop()
        return leaves

    measure(lambda: (count(3), None), None, nodes=8_902, group="perft chess 3")


@slow
@pytest.mark.parametrize("depth", [5, 6])
def test_perft_uci(measure: Measure, uci: UciProgram, depth: int) -> None:
    nodes = PERFT["chess", CHESS_START, depth]
    measure(
        lambda: (uci.perft(CHESS_START, depth), None),
        None,
        nodes=nodes,
        group=f"perft chess {depth}",
    )


# Plain searches

CONNECT4_CELLS = {6: (11_767, 0), 8: (204_037, -1), 10: (2_666_528, 0), 12: (38_298_168, 0)}
"""Published nodes of alpha-beta with moves in natural order, and values."""


@pytest.mark.parametrize("depth", [6, 8, 10, pytest.param(12, marks=slow)])
def test_alphabeta(measure: Measure, depth: int) -> None:
    """Textbook alpha-beta on Connect Four."""
    start = load_game("connect4").start()
    nodes, value = CONNECT4_CELLS[depth]

    def task() -> tuple[int, int]:
        result = alphabeta(start, depth, evaluation="cells", soonest=False)
        return result.nodes, result.value

    measure(task, value, nodes=nodes)


@pytest.mark.parametrize(("search", "nodes"), [(minimax, 549_946), (alphabeta, 18_297)])
def test_whole_tree(measure: Measure, search: Any, nodes: int) -> None:
    """The game tree of tic-tac-toe, to the end."""
    start = load_game("tictactoe").start()

    def task() -> tuple[int, int]:
        result = search(start)
        return result.nodes, result.value

    measure(task, 0, nodes=nodes)


@pytest.mark.parametrize("contract", [False, True], ids=["turns only", "whole contract"])
def test_unused_verbs_cost_nothing(measure: Measure, contract: bool) -> None:
    """The engine's alpha-beta, which supports extra turns, chance and repetition, and one that does
    not."""
    start = load_game("connect4").start()
    cls, depth = type(start), 9
    evaluation = evaluation_of(cls, "cells")
    node = alphabeta_node if contract else strictly_alternating_node
    kernel = node.specialise(cls, evaluation)
    zeros = (0, 0, 0, 0) if contract else (0, 0)
    memory = Memory(cls, plain_dtype(cls))
    memory.words["plies"][0] = 42
    memory.words["win"][0], memory.words["step"][0] = WIN, 1
    wanted = alphabeta(start, depth, evaluation="cells")

    def task() -> tuple[int, int]:
        memory.words["nodes"][0] = 0
        value = kernel(start, evaluation, -INFINITE, INFINITE, depth, *zeros, memory.argument)
        return int(memory["nodes"]), value

    measure(task, wanted.value, nodes=wanted.nodes)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        pytest.param(name, kind, marks=[slow] * (name != "connect4"))
        for name in ("connect4", "breakthrough", "dobutsu", "kalah")
        for kind in ("own", "learned")
    ],
)
def test_estimates(measure: Measure, name: str, kind: str) -> None:
    """Evaluations of positions of random games, by the game and by patterns with random weights."""
    start = load_game(name).start()
    cls = type(start)
    positions = [position for position, _ in sampled_positions(start, 1000)]
    evaluation: Any = evaluation_of(cls, None)
    if kind == "learned":
        design = design_for(start)
        stages = np.minimum(np.arange(MOST_STONES + 1) // 16, 2)
        weights = np.random.default_rng(0).integers(-900, 900, (3, design.size))
        evaluation = design.evaluation(stages, weights.astype(np.int16))
    run = sum_of_estimates.specialise(cls, evaluation)
    words = as_words(positions)
    wanted = sum(map(evaluation, positions))
    measure(lambda: (len(positions), run(start, evaluation, words)), wanted, nodes=None)


@pytest.mark.parametrize(
    "width", [64, *(pytest.param(width, marks=slow) for width in (16, 128, 256))]
)
@pytest.mark.parametrize("way", ["updated", "anew"])
@pytest.mark.parametrize("name", [pytest.param("breakthrough", marks=slow), "chess"])
def test_networks(measure: Measure, name: str, way: str, width: int) -> None:
    """A network's evaluations at the leaves of a tree, in the order of a search.

    "Nodes" are leaves; ``perft`` of the same tree shows the cost of moves alone.
    """
    start = load_game(name).start()
    cls: Any = type(start)
    depth = 4
    model = next(each for each in models_for(start) if isinstance(each, NetworkModel))
    network = Network.drawn(cls, model.shape._replace(width=width))
    run = sum_at_leaves.specialise(cls, network)
    size = kept_bytes(network)
    memory = np.zeros((depth + 3) * size, np.uint8)
    kept = memory.ctypes.data + -memory.ctypes.data % 64 + size if way == "updated" else 0
    buffer = np.zeros(4000, np.int64)
    leaves = perft(start, depth)
    wanted = run(start, network, depth, 0, size, 0, buffer)
    measure(
        lambda: (leaves, run(start, network, depth, kept, size, 0, buffer)), wanted, nodes=leaves
    )


# A game as a user first writes it, compared with the tuned one

WRITTEN = str(Path(__file__).parent.parent / "tests" / "toys" / "fourinarow.py")


def user_search(name: str, kind: str) -> Any:
    """Return a task for a game; both games are searched with the techniques that both allow."""
    game = load_game(name)
    start = game.start()
    if kind == "perft":
        return lambda: (perft(start, 8), None)
    if kind in ("minimax", "alphabeta"):
        search, depth = (minimax, 7) if kind == "minimax" else (alphabeta, 10)
        plain = functools.partial(search, start, depth, evaluation=nothing)
    else:
        techniques = choose(type(load_game(WRITTEN).start()), None, exact=True) - {"frontier"}
        if kind == "no table":
            techniques -= {"table", "enhanced_cutoffs"}
        engine = Searcher(start, evaluation=nothing, techniques=techniques)

        def plain() -> Any:
            engine.clear()
            return engine.search(start, depth=14)

    def task() -> tuple[int, int]:
        result = plain()
        return result.nodes, result.value

    return task


@pytest.mark.parametrize("name", ["connect4", WRITTEN], ids=["tuned", "as written"])
@pytest.mark.parametrize(
    "kind", ["perft", "minimax", "alphabeta", pytest.param("no table", marks=slow), "exact"]
)
def test_user_game(measure: Measure, name: str, kind: str) -> None:
    """Connect Four in loops and shifts visits the same nodes as the tuned game, except with a
    table, where the game's name determines which positions share a slot."""
    nodes, value = user_search("connect4", kind)()
    published = -1 if kind == "exact" else nodes
    measure(user_search(name, kind), value, nodes=published, group=f"user game, {kind}")


# Quiescence, solver, table


def test_quiescence(measure: Measure) -> None:
    """Chess at depth 1: most nodes belong to the quiescence search."""
    problems = list(chess_suite("silent_but_deadly"))
    engine = Searcher(load_game("chess"), table=16)

    def task() -> tuple[int, None]:
        nodes = 0
        for problem in problems:
            engine.clear()
            nodes += engine.search(problem.position, depth=1).nodes
        return nodes, None

    measure(task, None)


@pytest.mark.parametrize(
    ("game", "text", "value"),
    [("connect4:5x4", "", 0), ("kalah:4x3", "", None), ("breakthrough:5x4", "", None)],
    ids=["connect4 5x4", "kalah 4x3", "breakthrough 5x4"],
)
def test_solver(measure: Measure, game: str, text: str, value: int | None) -> None:
    """Small boards from the start, with an empty table."""
    position, table = load_game(game).parse(text), Table(64)

    def task() -> tuple[int, int]:
        table.forget()
        result = solve(position, table=table)
        return result.nodes, result.value

    measure(task, task()[1] if value is None else value)


def test_table_probe(measure: Measure) -> None:
    """Probes of a table larger than any cache; nodes are entries found."""
    table, random = Table(64), np.random.default_rng(1)
    words = random.integers(0, 1 << 63, 1 << 20, np.uint64)
    fill(table.words, words)
    shuffled = random.permutation(words)
    hits = look_up(table.words, words)
    assert hits > 0.9 * len(words)
    measure(lambda: (look_up(table.words, shuffled), None), None, nodes=hits)


# Chance

UR = {5: 21_055, 6: 183_456, 7: 1_697_273, 8: 16_541_998}
"""Published nodes of expectiminimax, without positions after a roll that allows only a pass; a Java
library visits 8.6 million a second."""

PASS = 31


@functools.cache
def passes(position: Any, depth: int) -> int:
    """Count the rolls that allow only a pass, to *depth* moves from a position before a roll.

    Exchanging the players does not change the count, so both cases are counted once.
    """
    if depth == 0 or outcome(position)[0]:
        return 0
    count = 0
    for index in range(chance(position)):
        _, rolled = chance_outcome(position, index)
        legal = legal_moves(rolled)
        after = [play(rolled, move)._replace(second=False) for move in legal]
        count += (legal == [PASS]) + sum(passes(child, depth - 1) for child in after)
    return count


@pytest.mark.parametrize("depth", [5, 6, *(pytest.param(d, marks=slow) for d in (7, 8))])
def test_expectiminimax(measure: Measure, depth: int) -> None:
    """The Royal Game of Ur from the start, full width, with depth in actions."""
    start = load_game("ur").start()

    def task() -> tuple[int, int]:
        nodes = minimax(start, depth, depth_in="actions").nodes
        return nodes - passes(start, depth), nodes

    nodes = UR[depth]
    measure(task, nodes + passes(start, depth), nodes=nodes)


@slow
def test_optionality(measure: Measure) -> None:
    """Skirmish with an evaluation that weighs both players' options."""
    game = load_game("skirmish")
    engine, start = Searcher(game, evaluation="balanced", table=16), game.start()

    def task() -> tuple[int, int]:
        engine.clear()
        result = engine.search(start, depth=2)
        return result.nodes, result.depth

    measure(task, 2)
