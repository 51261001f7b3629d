"""Depth-limited searches: the signature, trees from the start, tactics, and other programs."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import pytest

from benchmarks.compiled import count_moves
from benchmarks.conftest import Measure
from benchmarks.peers.comparison import reference
from benchmarks.peers.engines import RustReversi, UciProgram, package
from benchmarks.peers.packages import PEERS
from benchmarks.peers.programs import Program, Work
from benchmarks.positions import CHESS_START, chess_suite
from benchmarks.signature import entries, kept
from cutnode import Evaluation, Game, Searcher, alphabeta, load_game
from cutnode.kernels.scores import win_distance
from cutnode.kernels.techniques import choose

slow = pytest.mark.slow

SIGNATURE = kept()


def searching(engine: Searcher, position: Any, depth: int) -> Any:
    """Return a task that searches from an empty table."""

    def task() -> tuple[int, int]:
        engine.clear()
        result = engine.search(position, depth=depth)
        return result.nodes, result.value

    return task


ELSEWHERE = (
    *("breakthrough", "clobber", "cram", "dobutsu", "domineering", "draughts", "go", "hex"),
    *("kalah", "kayles", "mnk", "morris", "nogo", "oware", "qubic", "skirmish", "toads"),
    *("uniform", "y"),
)
"""Games whose searches no other check compiles."""


def signed(name: str) -> Any:
    """Return a line of the signature; the quick form has games that other checks compile, too."""
    return pytest.param(name, marks=[slow] * name.startswith(ELSEWHERE))


@pytest.mark.parametrize("name", [signed(name) for name in SIGNATURE])
def test_signature(measure: Measure, name: str) -> None:
    """The nodes of ``signature.txt``, which move when the search does."""
    count = entries()[name]
    measure(lambda: (count(), None), None, nodes=SIGNATURE[name])


CONNECT4 = {
    8: (-1, 11_474),
    10: (0, 33_839),
    12: (0, 97_012),
    16: (1, 846_000),
    18: (0, 3_100_000),
}
"""Values, and the nodes of the best public library measured (in Rust, with history ordering)."""


@pytest.mark.parametrize("depth", CONNECT4)
def test_connect4(measure: Measure, depth: int) -> None:
    """Connect Four from the start, exact; all iterations together."""
    game = load_game("connect4")
    engine = Searcher(game, exact=True, evaluation="cells", soonest=False)
    value, nodes_of_peer = CONNECT4[depth]
    task = searching(engine, game.start(), depth)
    measure(task, value)
    info = measure.benchmark.extra_info
    info["of the peer's nodes"] = round(info["nodes"] / nodes_of_peer, 3)


@pytest.mark.parametrize("techniques", ["exact", "all", "no ProbCut"])
@pytest.mark.parametrize("depth", [12, pytest.param(16, marks=slow), pytest.param(20, marks=slow)])
def test_othello(measure: Measure, depth: int, techniques: str) -> None:
    """Othello from the start."""
    start = load_game("othello").start()
    chosen = choose(type(start), None, exact=techniques == "exact")
    if techniques == "no ProbCut":
        chosen -= {"probcut"}
    elif techniques == "exact" and depth == 20:
        pytest.skip("takes minutes")
    task = searching(Searcher(start, techniques=chosen), start, depth)
    measure(task, task()[1], group=f"othello depth {depth}")


@pytest.mark.parametrize("depth", [10, 12, *(pytest.param(d, marks=slow) for d in range(14, 21))])
def test_chess(measure: Measure, depth: int) -> None:
    """Chess from the start; all iterations together."""
    game = load_game("chess")
    task = searching(Searcher(game), game.start(), depth)
    measure(task, task()[1], group=f"chess depth {depth}")


@slow
@pytest.mark.parametrize("depth", [10, 14])
def test_chess_uci(measure: Measure, uci: UciProgram, depth: int) -> None:
    measure(
        lambda: (uci.search(CHESS_START, depth), None),
        None,
        nodes=None,
        group=f"chess depth {depth}",
    )


SUITES = ("bratko_kopec", "silent_but_deadly", "mates")


@pytest.mark.parametrize(
    ("suite", "nodes", "solved"),
    [
        ("bratko_kopec", 20_000, 17),
        *(pytest.param(name, 200_000, None, marks=slow) for name in SUITES),
    ],
)
def test_chess_tactics(measure: Measure, suite: str, nodes: int, solved: int | None) -> None:
    """Problems with a node limit, each from an empty table, and the number solved."""
    engine, problems = Searcher(load_game("chess")), list(chess_suite(suite))

    def task() -> tuple[int, int]:
        spent = found = 0
        for problem in problems:
            engine.clear()
            result = engine.search(problem.position, nodes=nodes)
            spent += result.nodes
            if problem.mate:
                plies = 2 * problem.mate - 1
                found += result.value > 0 and win_distance(result.value) == plies
            else:
                found += result.best_move in problem.best
        return spent, found

    wanted = task()[1] if solved is None else solved
    measure(task, wanted, rounds=3)
    measure.benchmark.extra_info["solved"] = wanted


# The same trees in other packages


@functools.cache
def programs(name: str) -> list[Program]:
    """Return the searches of a package in ``benchmarks.peers``."""
    peer = PEERS[name]
    package(peer.module, peer.install.removeprefix("pip install "))
    return peer.make()


@pytest.mark.parametrize("peer", ["cutnode", *PEERS])
@pytest.mark.parametrize(
    ("game", "depth"),
    [("tictactoe", 9), ("connect4", 6), pytest.param("connect4", 8, marks=slow)],
)
def test_same_tree(measure: Measure, game: str, depth: int, peer: str) -> None:
    """Textbook alpha-beta visits the same positions in every package."""
    work, group = Work(game, depth), f"same tree, {game} {depth}"
    if peer == "cutnode":
        evaluation = "cells" if game == "connect4" else None
        start = load_game(game).start()
        wanted = reference(work, True)

        def task() -> tuple[int, float]:
            result = alphabeta(start, depth, evaluation=evaluation)
            return result.nodes, result.value

        measure(task, wanted.found.score, nodes=wanted.nodes, group=group)
        return
    program = programs(peer)[0]
    wanted, count = reference(work, program.quickest), program.count(work)
    assert count.nodes == wanted.nodes
    assert count.found.move in (wanted.found.move, None)
    measure(lambda: (count.nodes, program.run(work)), count.found, nodes=wanted.nodes, group=group)


PROTOTYPE = str(Path(__file__).parent.parent / "tests" / "toys" / "drops.py")
WIN = 10_000


def easyai_game(game: Game) -> Any:
    """Return an easyAI class with the rules of a game in plain Python; it counts moves."""
    easyai, rules = package("easyAI"), game.module

    class Adapted(easyai.TwoPlayerGame):  # type: ignore[misc]
        made = 0

        def __init__(self) -> None:
            self.players = None
            self.current_player = 1
            self.line = [game.start()]
            self.buffer = [0] * rules.MAX_MOVES
            self.evaluate = getattr(rules, "evaluate", lambda position: 0)

        def possible_moves(self) -> list[int]:
            return self.buffer[: rules.moves(self.line[-1], self.buffer, 0)]

        def make_move(self, move: int) -> None:
            self.made += 1
            self.line.append(rules.play(self.line[-1], move))

        def unmake_move(self, move: int) -> None:
            self.line.pop()

        def is_over(self) -> bool:
            return bool(rules.outcome(self.line[-1])[0])

        def scoring(self) -> int:
            over, value = rules.outcome(self.line[-1])
            return int(WIN * value if over else self.evaluate(self.line[-1]))

        def copy(self) -> Any:
            return self  # moves are taken back

    return Adapted


@pytest.mark.parametrize("program", ["plain Python", "compiled", "easyAI"])
@pytest.mark.parametrize(
    ("name", "depth"), [(PROTOTYPE, 6), ("tictactoe", 7)], ids=["drops", "tictactoe"]
)
def test_prototype(measure: Measure, name: str, depth: int, program: str) -> None:
    """Rules in plain Python: searched directly, by easyAI, and compiled."""
    game = load_game(name, plain=True)
    wanted = alphabeta(game.start(), depth).nodes
    if program == "easyAI":
        rules = easyai_game(game)
        negamax = package("easyAI").Negamax(depth)

        def task() -> tuple[int, None]:
            board = rules()
            negamax(board)
            return 1 + board.made, None
    else:
        if program == "compiled":
            if name == PROTOTYPE:
                pytest.skip("a prototype is not compiled")
            game = load_game(name)
        start = game.start()

        def task() -> tuple[int, None]:
            return alphabeta(start, depth).nodes, None

    measure(task, None, nodes=wanted, group=f"prototype, {Path(name).stem}")


# rust_reversi

PLIES = {8: -7, 10: -8, 12: -9}
"""The peer's depths, which count plies below the root's children, and the score of both."""


@pytest.mark.parametrize("program", ["exact", "all", "rust_reversi"])
@pytest.mark.parametrize("depth", [8, *(pytest.param(d, marks=slow) for d in (10, 12))])
def test_rust_reversi(measure: Measure, depth: int, program: str) -> None:
    """Othello from the start, with mobility as the evaluation of both programs."""
    start, group = load_game("othello").start(), f"rust_reversi depth {depth}"
    if program == "rust_reversi":
        peer = RustReversi()
        measure(lambda: (None, peer.score(start, depth)), PLIES[depth], nodes=None, group=group)
        return
    exact = program == "exact"
    engine = Searcher(start, exact=exact, evaluation=Evaluation(count_moves))
    task = searching(engine, start, depth + 1)
    measure(task, PLIES[depth] if exact else task()[1], group=group)
