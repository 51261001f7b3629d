"""Explanations: claims agree with independent proofs, lines can be played, limits are kept."""

from __future__ import annotations

import json
import math
import pickle
import threading
from functools import cache
from random import Random

import pytest
from commands import run_cutnode

from benchmarks.studies.explanations import Claims, random_boards
from cutnode import Board, CutnodeError, GameError, PositionError, explain, load_game
from cutnode.contract.dispatch import game_constant
from cutnode.explaining import phrases
from cutnode.explaining.changes import changes_of
from cutnode.explaining.judging import GRADES, Judge
from cutnode.explaining.points import spreads, win_chance

pytestmark = pytest.mark.once

BACK_RANK = "6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1"
SCHOLAR = "r1bqkbnr/pppp1ppp/2n5/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR b KQkq - 4 4"


@cache
def judge_of(game):
    return Judge(game, table=8)


def explained(name, text="", move=None, nodes=50_000):
    """Explain a position; the rules of chess are compiled, all others are plain Python."""
    game = load_game(name, plain=name != "chess")
    board = Board(game, text or None)
    return explain(board, move, nodes=nodes, judge=judge_of(game))


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("tictactoe", 40),
        pytest.param("connect4:5x4", 15, marks=pytest.mark.slow),
        pytest.param("toys.nim", 20, marks=pytest.mark.slow),
    ],
)
def test_claims_agree_with_a_second_proof(name, count):
    claims, boards = Claims(), random_boards(name, Random(3))
    judge = Judge(next(boards).position, table=8)
    for _ in range(count):
        claims.check(explain(next(boards), nodes=3_000, judge=judge))
    assert claims.faults == []
    assert claims.counts["proven move, checked"] > count


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "chess",
        "hex:4x4",
        "clobber:4x5",
        "othello:4x4",
        "draughts:4x4",
        "ur",
        "tests/toys/pursuit.py",
    ],
)
def test_claims_in_large_games_games_with_cycles_and_dice(name):
    claims, boards = Claims(), random_boards(name, Random(4))
    judge = Judge(next(boards).position, table=8)
    for _ in range(25):
        claims.check(explain(next(boards), nodes=5_000, judge=judge))
    assert claims.faults == []


def test_an_only_move_and_its_alternatives():
    found = explained("connect4:5x4", "33")
    assert found.proven
    assert found.judgement.only_move
    assert [found.judgement.grade(move) for move in range(5)].count("blunder") == 4
    text = str(found)
    assert "The only move that keeps the draw is 3, of 5 (proven)." in text
    wrong = found.notes[1]
    assert wrong.grade == "blunder"
    assert wrong.lost == 0.5
    assert wrong.refutation.proven
    assert wrong.refutation.plies[0].keeping is not None


def test_every_position_of_tictactoe_counts_the_moves_that_keep_its_value():
    found = explained("tictactoe", "x../.o./..x")
    assert found.judgement.keeping == tuple(
        each for each in found.judgement.moves if each.points == 0.5
    )
    assert len(found.keeping) == 4
    assert "4 of 6 moves keep the draw" in str(found)


@pytest.mark.slow
def test_chess_wins_are_proven_and_threats_named():
    won = explained("chess", BACK_RANK)
    assert won.proven
    assert won.judgement.best.distance == 1
    assert str(won).startswith("White wins in 1 ply (proven).")
    asked = explained("chess", SCHOLAR, "Nf6")
    note = asked.notes[0]
    assert (note.text, note.grade, note.judged.distance) == ("Nf6", "blunder", 2)
    assert str(note.refutation) == "Qxf7# (the only move as quick)"
    assert asked.threat.passing
    assert asked.threat.proven
    assert asked.threat.text == "Qxf7#"
    assert asked.note_of(asked.asked) is note


def test_a_position_that_is_over_or_where_dice_decide():
    over = explained("tictactoe", "xxx/oo./...")
    assert over.notes == ()
    assert over.sentences() == ["The game is over: second player has lost."] or over.proven
    dice = explained("ur")
    assert not dice.proven
    assert "estimated" in str(dice)


def test_games_without_an_evaluation_say_what_estimates_them():
    found = explained("toys.nim", "15/14/13/11", nodes=300)
    assert not judge_of(load_game("toys.nim", plain=True)).has_evaluation
    assert found.judgement.playouts > 0
    assert "estimated by" in str(found)


def test_changes_in_words():
    start = Board("chess").position
    game = load_game("chess")
    knight = changes_of(start, game.parse_move(start, "Nf3"))
    assert knight.words == ("moves a white knight from g1 to f3",)
    taken = game.parse("rnbqkbnr/ppp1pppp/8/3p4/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2")
    pawn = changes_of(taken, game.parse_move(taken, "exd5"))
    assert pawn.words == ("moves a white pawn from e4 to d5", "captures a black pawn")
    assert pawn.gain > 0
    othello = load_game("othello").start()
    disc = changes_of(othello, load_game("othello").parse_move(othello, "d3"))
    assert disc.words == ("places a black disc on d3", "turns a white disc into a black disc (d4)")


def test_grades_and_chances():
    assert win_chance(type(Board("chess").position), 0) == 0.5
    assert 0.6 < win_chance(type(Board("chess").position), 200) < 0.8
    for game, spread in spreads().items():
        scale = spread * game_constant(cls := type(Board(game).position), "UNIT", 100)
        assert win_chance(cls, scale) == pytest.approx(1 / (1 + math.exp(-1)))
    judgement = explained("connect4:5x4", "33").judgement
    assert {judgement.grade(move) for move in range(5)} <= {*GRADES}
    assert judgement.grade(99) == ""
    points = [each.points for each in judgement.moves]
    assert points == sorted(points, reverse=True)


def test_data_form():
    found = explained("connect4:5x4", "33", "2")
    about = json.loads(json.dumps(found.to_dict()))
    assert about["only_move"]
    assert about["keeping"] == ["3"]
    assert about["notes"][0]["grade"] == "blunder"
    assert about["text"] == found.sentences()
    assert pickle.loads(pickle.dumps(found)) == found


def test_limits_and_bad_input():
    with pytest.raises(PositionError, match="is not a cell"):
        explain("tictactoe", "z")
    with pytest.raises(GameError, match="this judge is for"):
        explain("connect4", judge=Judge(load_game("tictactoe"), table=8))
    with pytest.raises(CutnodeError, match="nodes must be"):
        explain("tictactoe", nodes=0)
    stop = threading.Event()
    stop.set()
    stopped = explain("connect4", nodes=100_000, stop=stop)
    assert stopped.reason == "stopped"
    assert set(move.move for move in stopped.judgement.moves) <= {*Board("connect4").legal_moves}


def test_lists_are_cut():
    assert phrases.listed([*"abcdefghij"]) == "a, b, c, d, e, f, g, h and 2 more"
    assert phrases.counted(1, "ply") == "1 ply"
    assert phrases.counted(2, "ply") == "2 plies"


def test_command():
    told = run_cutnode("explain", "tictactoe", "1", "2", "--nodes", 50_000)
    assert told.exit_code == 0
    assert "2 (blunder) loses" in told.stdout
    assert "Refutation: 4 (one of 3) 7 5 (the only move)" in " ".join(told.stdout.split())
    wrong = run_cutnode("explain", "tictactoe", "", "z")
    assert wrong.exit_code == 2
    assert wrong.stderr.startswith("cutnode: ")
    assert wrong.stderr.count("\n") == 1


def test_a_game_of_chance_gives_expected_points():
    found = explain(load_game("toys.pig", plain=True), nodes=2_000)
    assert 0 <= found.judgement.points <= 1
