"""Pickles of games, boards, positions and results, and errors for objects that have none."""

from __future__ import annotations

import copy
import multiprocessing
import operator
import os
import pickle
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

import cutnode
from cutnode import (
    Board,
    Engine,
    Game,
    GameError,
    MonteCarlo,
    Prover,
    Searcher,
    Table,
    load_game,
    make_player,
    minimax,
    play_game,
    prove_win,
    record_tree,
    search,
    solve,
    solve_many,
    write_proof,
)

TOYS = Path(__file__).parent / "toys"
TICTACTOE = load_game("tictactoe")
LATE = TICTACTOE.parse("1524")

PIECES = """
from dataclasses import dataclass
from enum import Enum

class Piece(Enum):
    STONE = 1

@dataclass(frozen=True)
class Position:
    pieces: tuple = (Piece.STONE,) * 3

def moves(position, buffer, at):
    for taken in range(1, 1 + min(2, len(position.pieces))):
        buffer[at] = taken
        at += 1
    return at

def play(position, move):
    return Position(position.pieces[move:])

def outcome(position):
    return not position.pieces, -1
"""
"""A game in plain Python whose positions contain objects of its own classes."""


@pytest.fixture
def file(tmp_path):
    """The file of a user's game, with nothing left loaded afterwards."""
    before = set(sys.modules)
    path = tmp_path / "pieces_of_a_user.py"
    path.write_text(PIECES)
    yield path
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[name]


def in_another_process(data, code="print(x)"):
    """Return what a process without any loaded game prints for an object."""
    return subprocess.run(
        [sys.executable, "-c", f"import pickle, sys; x = pickle.load(sys.stdin.buffer)\n{code}"],
        input=data,
        cwd=Path(cutnode.__file__).parents[1],
        capture_output=True,
        check=False,
    )


def a_board(game):
    board = Board(game, seed=7)
    board.roll() if board.is_chance() else board.push(board.legal_moves[-1])
    return board


NAMES = ["tictactoe", "connect4:5x4", "hex:3", "ur:finkel-1", str(TOYS / "race.py")]


@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("protocol", [0, 2, pickle.HIGHEST_PROTOCOL])
def test_games_boards_and_positions_come_back_equal(name, plain, protocol):
    game = load_game(name, plain=plain)
    board = a_board(game)
    for given in (game, board, board.position):
        for again in (
            pickle.loads(pickle.dumps(given, protocol)),
            copy.copy(given),
            copy.deepcopy(given),
        ):
            assert again == given
            assert type(again) is type(given)
    assert hash(pickle.loads(pickle.dumps(game))) == hash(game)
    again = pickle.loads(pickle.dumps(board))
    assert again.moves == board.moves
    assert again.record.seed == 7
    again.pop()
    assert again != board
    assert eval(repr(game), {"load_game": load_game}) == game


def test_a_process_that_has_loaded_nothing_reads_them():
    games = [load_game(name, plain=plain) for name in (*NAMES[:2], NAMES[-1]) for plain in (0, 1)]
    boards = [a_board(game) for game in games]
    data = pickle.dumps([pickle.dumps((each.position, each, each.game)) for each in boards])
    code = """
for each in x:
    position, board, game = pickle.loads(each)
    print(position == board.position, game == board.game, board.text, sep="|")
"""
    done = in_another_process(data, code)
    assert done.stderr == b""
    assert done.stdout.decode().splitlines() == [f"True|True|{each.text}" for each in boards]


def test_positions_with_objects_of_their_file(file):
    position = load_game(file).start()
    assert copy.deepcopy(position) == position
    done = in_another_process(pickle.dumps([position, position]), "print(len(x[0].pieces))")
    assert (done.stdout, done.stderr) == (b"3\n", b"")


def test_a_file_that_was_edited_is_refused(file):
    game = load_game(file)
    data = [pickle.dumps(game), pickle.dumps(game.start()), pickle.dumps(Board(game))]
    file.write_text(PIECES.replace("-1", "+10"))
    code = """
for each in x:
    try:
        pickle.loads(each)
    except Exception as error:
        print(type(error).__name__, error)
"""
    errors = in_another_process(pickle.dumps(data), code).stdout.decode().splitlines()
    assert len(errors) == len(data)
    for error in errors:
        assert error.startswith("GameError")
        assert f"{str(file)!r} has changed since this was pickled" in error
    # Here the rules are the loaded ones.
    assert [pickle.loads(each) for each in data[:2]] == [game, game.start()]
    assert copy.deepcopy(game.start()) == game.start()
    del sys.modules[game.module.__name__]
    load_game(file)
    with pytest.raises(GameError, match="has changed since this was pickled"):
        pickle.loads(data[1])
    file.unlink()
    del sys.modules[game.module.__name__]
    with pytest.raises(GameError, match="there is no file"):
        pickle.loads(data[0])


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize(
    "method",
    [
        "spawn",
        pytest.param(
            "fork", marks=pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing forks here")
        ),
    ],
)
def test_a_pool_of_processes_maps_over_boards(file, method):
    game = load_game(file)
    boards = [Board(game), a_board(game), Board("tictactoe", "15")]
    context = multiprocessing.get_context(method)
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        moves = list(pool.map(operator.attrgetter("legal_moves"), boards))
        assert moves == [board.legal_moves for board in boards]
        assert list(pool.map(copy.copy, boards)) == boards
        assert [plain.value for plain in pool.map(minimax, boards[:2])] == [-1, 1]


def test_results_come_back_equal():
    game = load_game("tictactoe", plain=True)
    late = game.parse("1524")
    results = [
        solve(late),
        search(late, depth=2),
        search(late, engine="mcts", playouts=20),
        prove_win(game.parse("1425"), 1),
        write_proof(late, at_least=1),
        minimax(late),
        record_tree(late, 2),
    ]
    for result in results:
        assert pickle.loads(pickle.dumps(result)) == result
        assert copy.deepcopy(result) == result
    batch = solve_many([late, late])
    assert list(pickle.loads(pickle.dumps(batch))) == list(batch)
    played = play_game([make_player(game, "random")] * 2, game)
    assert pickle.loads(pickle.dumps(played)).to_dict() == played.to_dict()
    assert pickle.loads(pickle.dumps(search)) is search


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickle.dumps])
@pytest.mark.parametrize(
    "make",
    [
        lambda: Engine(TICTACTOE, table=1),
        lambda: Table(1),
        lambda: Searcher(LATE, table=1),
        lambda: MonteCarlo(LATE),
        lambda: Prover(TICTACTOE),
    ],
)
def test_what_stays_in_its_process(make, duplicate):
    with pytest.raises(TypeError, match="objects cannot be pickled or copied: make another in the"):
        duplicate(make())


def test_a_handle_stays_in_its_process():
    with Engine(TICTACTOE, table=1) as held:
        handle = held.start(LATE, depth=1)
        with pytest.raises(TypeError, match="Handle objects cannot be pickled or copied"):
            pickle.dumps(handle)
        handle.wait()


def test_games_and_boards_are_equal_if_they_are_of_one_game():
    assert load_game("tictactoe") == Game.of(LATE)
    assert load_game("tictactoe") != load_game("tictactoe", plain=True)
    assert len({load_game("hex:3"), load_game("hex:3"), load_game("hex:4")}) == 2
    assert Board("tictactoe") == Board("tictactoe")
    assert Board("hex:3") != Board("hex:4")  # their first positions have the same fields
