"""Puzzles: unique solutions, none of them obvious, and the command that finds them."""

from __future__ import annotations

import json
import threading
import xml.etree.ElementTree as ET

import pytest
from commands import run_cutnode

from cutnode import (
    CutnodeError,
    GameError,
    analyse,
    find_puzzles,
    legal_moves,
    load_game,
    prove_win,
    search,
)
from cutnode.explaining.judging import Judge
from cutnode.explaining.puzzles import GRADES, Puzzle
from cutnode.search.record import class_key

pytestmark = pytest.mark.once

MATE = "r6r/2p1np1k/bp4p1/p4P2/2PBP1N1/P2Q4/2P3PP/q4RK1 w - - 0 22"


def sign(value):
    return (value > 0) - (value < 0)


@pytest.mark.parametrize(
    ("game", "count"),
    [
        ("tictactoe", 3),
        *(
            pytest.param(*each, marks=pytest.mark.slow)
            for each in (("connect4:5x4", 4), ("mnk:4x4x3", 2), ("hex:4", 3))
        ),
    ],
)
def test_only_the_solution_keeps_the_result(game, count):
    puzzles = list(find_puzzles(game, count, seed=1))
    assert len({class_key(each.position) for each in puzzles}) == len(puzzles) == count
    for puzzle in puzzles:
        scores = analyse(puzzle.position).scores
        signs = {move: sign(value) for move, value in scores.items()}
        wanted = {"win": 1, "draw": 0}[puzzle.aim]
        assert max(signs.values()) == wanted and puzzle.within is None
        assert [move for move in signs if signs[move] == wanted] == [puzzle.move]
        assert search(puzzle.position, depth=1, table=1).move == puzzle.obvious != puzzle.move
        assert puzzle.grade in GRADES and puzzle.legal == len(scores)
        data = puzzle.to_dict()
        assert json.loads(json.dumps(data)) == data
        assert load_game(data["game"]).parse(data["position"]) == puzzle.position
        assert data["goal"].endswith(f"to move and {puzzle.aim}")
        assert data["obvious"] in data["hints"][0] and data["solution"] in data["hints"][-1]


@pytest.mark.slow
def test_own_game_without_a_board(tmp_path):
    file = tmp_path / "my_game.py"
    run_cutnode("new", file)
    text = file.read_text()
    file.write_text(text.replace("else -10", "else 10"))  # a perfect estimate leaves no puzzle
    found = run_cutnode("puzzles", file, "--count", 2)
    puzzles = [json.loads(line) for line in found.stdout.splitlines()]
    assert found.exit_code == 0 and len(puzzles) == 2
    for puzzle in puzzles:
        assert puzzle["goal"] == "Move and win" and len(puzzle["hints"]) == 2
        heaps = [int(stones) for stones in puzzle["position"].split("/")]
        assert heaps[0] ^ heaps[1] ^ heaps[2]  # the theory of Nim


@pytest.fixture
def mate(tmp_path):
    folder = tmp_path / "records"
    folder.mkdir()
    moves = "22. Qh3+ Kg8 23. Qxh8#"
    (folder / "a.pgn").write_text(f'[FEN "{MATE}"]\n\n{moves} *\n')
    return folder


@pytest.mark.slow
def test_forced_wins_of_records_in_all_formats(tmp_path, mate):
    from cutnode.games.chess.epd import parse_record

    files = {ending: tmp_path / f"found.{ending}" for ending in ("jsonl", "epd", "html")}
    outs = [word for file in files.values() for word in ("--out", file)]
    found = run_cutnode("puzzles", "chess", "--count", 2, "--records", mate, *outs)
    assert found.exit_code == 3 and "found 1 of 2 puzzles" in found.stderr
    (puzzle,) = map(json.loads, files["jsonl"].read_text().splitlines())
    assert (puzzle["goal"], puzzle["solution"]) == ("White to move and win in 2", "Qh3+")
    assert puzzle["hints"][1] == "Look at the white queen on d3."
    assert (puzzle["source"], puzzle["ply"]) == ("a.pgn", 0)
    position = load_game("chess").parse(puzzle["position"])
    solution = prove_win(position, 2)
    assert solution.moves == 2
    others = [move for move in legal_moves(position) if move != solution.move]
    assert prove_win(position, 2, among=others).refuted == 2

    record = parse_record(files["epd"].read_text())
    assert record.best == (solution.move,) and record.operations["dm"] == ("2",)
    page = files["html"].read_text()
    board = ET.fromstring(page[page.index("<svg") : page.index("</svg>") + 6])
    pieces = [each for each in board.iter("text") if each.get("class") in ("first", "second")]
    assert len(board.findall("rect")) == 64 and len(pieces) == 23
    assert all(text in page for text in (puzzle["goal"], puzzle["hints"][0]))


def test_resumed_search_finds_what_one_search_finds(tmp_path):
    file, whole = tmp_path / "found.jsonl", tmp_path / "whole.jsonl"
    run_cutnode("puzzles", "tictactoe", "--count", 4, "--out", whole)
    run_cutnode("puzzles", "tictactoe", "--count", 2, "--out", file)
    with file.open("a") as lines:
        lines.write('{"game": "conn')  # cut off by a crash
    resumed = run_cutnode("puzzles", "tictactoe", "--count", 4, "--out", file)
    assert resumed.exit_code == 0 and resumed.output == ""
    first, second = (
        [json.loads(line) | {"line": None} for line in each.read_text().splitlines()]
        for each in (file, whole)
    )
    assert first == second


def test_small_game_runs_out_of_puzzles(monkeypatch):
    monkeypatch.setattr("cutnode.explaining.puzzles.IDLE_GAMES", 3)
    assert all(isinstance(each, Puzzle) for each in find_puzzles("tictactoe", 10**6))


def test_bad_input_is_one_line(tmp_path, mate):
    with pytest.raises(GameError, match="has chance"):
        find_puzzles("ur", 1)
    with pytest.raises(CutnodeError, match="at least 1, got 0"):
        find_puzzles("tictactoe", 0)
    wrong = tmp_path / "wrong.txt"
    wrong.write_text("# moves of tictactoe\n5\n5\n")
    none = tmp_path / "none.jsonl"
    none.write_text("5\n")
    other = tmp_path / "other.jsonl"
    other.write_text('{"game": "hex", "position": "", "source": "seed 0, game 1"}\n')
    for words, message in {
        ("ur",): "ur has chance",
        ("tictactoe", "--count", 0): "0 is not in the range x>=1",
        ("tictactoe", "--records", wrong): f"{wrong}: step 2: ",
        ("tictactoe", "--records", mate): "holds no game files of tictactoe",
        ("tictactoe", "--records", tmp_path / "none.x"): "neither a folder nor a game file",
        ("tictactoe", "--out", "x.csv"): "must end in .jsonl, .epd, .html",
        ("tictactoe", "--out", "x.epd"): "tictactoe has no EPD",
        ("tictactoe", "--out", other): "line 1: a puzzle of hex, not tictactoe",
        ("tictactoe", "--out", none): "line 1: this is no puzzle",
    }.items():
        failed = run_cutnode("puzzles", *words)
        assert failed.exit_code == 2 and message in failed.stderr, words
        assert len(failed.stderr.splitlines()) <= 4
    for words, message in {
        ("--puzzles", none): "--puzzles needs a GAME",
        ("tictactoe", "--puzzles", none): "line 1: this is no puzzle of tictactoe",
        ("tictactoe", "--puzzles", tmp_path / "missing"): "cannot be read: No such file",
    }.items():
        failed = run_cutnode("board", "--no-browser", *words)
        assert failed.exit_code == 2 and message in failed.stderr, words


def test_a_stopped_search_yields_no_more():
    stop = threading.Event()
    found = find_puzzles("tictactoe", 10, stop=stop, judge=Judge("tictactoe", table=1))
    assert next(found).legal > 1
    stop.set()
    assert list(found) == []
