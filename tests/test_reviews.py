"""Reviews of games: marks and accuracy against exact values, and the files they are written to."""

from __future__ import annotations

import io
import json
import math
import random
from html.parser import HTMLParser

import pytest
from commands import run_cutnode

import cutnode
from cutnode import CutnodeError
from cutnode.cli.exit_codes import BAD_INPUT, INTERRUPTED
from cutnode.explaining import reviewing
from cutnode.explaining.annotated import annotated
from cutnode.explaining.judging import Judge
from cutnode.explaining.pages import page
from cutnode.explaining.points import points_of
from cutnode.explaining.reviewing import accuracy_of, game_accuracy, volatilities
from cutnode.playing.records import parse_list

pytestmark = pytest.mark.once

MATED = (
    *("e4", "e5", "Nf3", "f6", "Nxe5", "fxe5", "Qh5+", "Ke7", "Qxe5+", "Kf7", "Bc4+", "Kg6"),
    *("Qf5+", "Kh6", "d4+", "g5", "h4", "Kg7", "Qf7+", "Kh6", "hxg5#"),
)


def random_game(name, rng, most=100):
    board = cutnode.Board(name, seed=rng.getrandbits(16))
    while not board.is_game_over() and len(board.moves) < most:
        if board.is_chance():
            board.roll()
        else:
            board.push(rng.choice(board.legal_moves))
    return board


@pytest.fixture(scope="module")
def noughts():
    return Judge("tictactoe")


@pytest.fixture(scope="module")
def mated():
    return cutnode.review("chess", MATED, nodes=3000)


@pytest.mark.parametrize("seed", range(8))
def test_marks_agree_with_exact_values(noughts, seed):
    board = random_game("tictactoe", random.Random(seed))
    review = cutnode.review(board, nodes=100_000, turning_points=1, judge=noughts)
    assert review.complete and f"of {len(review.steps)} positions proven" in review.basis
    assert review.result == board.record.score(0)
    for step in review.steps:
        scores = cutnode.analyse(step.position).scores
        best, value = max(scores.values()), scores[step.move]
        assert step.proven and step.points == points_of(best)
        assert step.change == points_of(value) - points_of(best)
        lost = points_of(best) > points_of(value)
        expected = "" if not lost else "?" if points_of(value) == 0.5 else "??"
        assert step.mark.replace("!", "") == expected
        kept = [move for move in scores if points_of(scores[move]) == points_of(best)]
        only = kept == [step.move] and len(scores) > 1
        assert step.only_move == only and (step.mark != "!" or only)
        assert scores[step.best[0]] == best
        assert step.accuracy == accuracy_of(-step.change)
    for side in review.sides:
        own = [step for step in review.steps if step.side == review.sides.index(side)]
        assert side.skill == pytest.approx(sum(step.change for step in own))
        assert side.moves == len(own) and side.luck is None
    turns = [each.step.number for each in review.turning_points]
    assert (
        turns == []
        or turns == [min(step.number for step in review.steps if step.change)]
        or (min(step.change for step in review.steps) == review.turning_points[0].step.change)
    )


def test_a_refuted_reply_is_the_turning_point():
    review = cutnode.review("tictactoe", ["5", "2", "1", "9", "7"])
    (turn,) = review.turning_points
    assert (turn.step.number, turn.step.mark, turn.step.grade) == (2, "??", "blunder")
    assert turn.explanation.judgement.proven and turn.explanation.asked == turn.step.move
    assert review.points == (0.5, 0.5, 1, 1, 1, 1) and review.result is None
    text = str(review)
    assert "Step 2, 2??: blunder, from 50% to 0% for the second player" in text
    assert "100.0 %" in text and review.to_dict()["steps"][1]["mark"] == "??"
    json.dumps(review.to_dict())


def test_an_only_move_that_is_not_obvious_is_marked():
    start = cutnode.load_game("connect4").parse("..o..../..x..../..oo.../.oxo.x./xxxoxoo/xxoxoox")
    review = cutnode.review(start, ["4", "7", "6", "7"], nodes=50_000)
    assert [step.marked for step in review.steps] == ["4", "7??", "6??", "7!"]
    ending = cutnode.review("tictactoe", ["1", "4", "2", "5", "3"])
    assert ending.steps[-1].marked == "3□"  # the only one that wins, and it does so at once
    assert ending.result_text() == "won by the first player"


def test_accuracy():
    assert accuracy_of(0) == 100 and accuracy_of(1) == 0
    assert accuracy_of(0.1) == pytest.approx(103.1668 * math.exp(-0.4354) - 3.1669)
    weights = volatilities([0.5, 0.5, 1.0, 1.0])
    assert weights == [0.5, 12, 0.5]
    assert len(volatilities([0.5] * 61)) == 60
    assert game_accuracy([], []) is None
    assert game_accuracy([50, 100], [1, 3]) == pytest.approx((87.5 + 200 / 3) / 2)


def test_luck_is_apart_from_skill():
    judge = Judge("toys.race")
    for seed in range(4):
        board = random_game("toys.race", random.Random(seed), 60)
        review = cutnode.review(board, nodes=20_000, turning_points=0, judge=judge)
        changes = [side.skill + side.luck for side in review.sides]
        assert all(side.skill <= 0 for side in review.sides)
        if review.result is not None:
            end = review.points[0] + changes[0] - changes[1]
            assert end == pytest.approx(review.result, abs=0.05)


def test_errors_say_where_and_what_was_legal():
    for asked, error in (
        (["5", "5"], r"step 2: cell 5 is marked already; legal in .*: 1, 2, 3, 4, 6, 7, 8, 9"),
        (["1", "4", "2", "5", "3", "6"], r"step 6: .*the game is over in .*, by the rules"),
        ([], "the game has no moves: there is nothing to review"),
    ):
        with pytest.raises(CutnodeError, match=error):
            cutnode.review("tictactoe", asked)
    with pytest.raises(CutnodeError, match=r"step 1: .*chance decides in .*: chance 0 to chance"):
        cutnode.review("toys.race", ["1"])
    with pytest.raises(CutnodeError, match="a board has its own moves"):
        cutnode.review(cutnode.Board("tictactoe"), ["5"])


def test_an_interrupted_review_keeps_the_last_steps(noughts, monkeypatch):
    judged = []

    def interrupted(judge, position, **how):
        judged.append(position)
        if len(judged) == 3:
            raise KeyboardInterrupt
        return judge_one(judge, position, **how)

    judge_one = Judge.judge
    monkeypatch.setattr(Judge, "judge", interrupted)
    review = cutnode.review("tictactoe", ["5", "1", "9", "2"], judge=noughts)
    assert review.reason == "interrupted" and not review.complete
    assert [step.grade != "" for step in review.steps] == [False, False, False, True]
    assert "The review was interrupted" in str(review)
    assert "<svg" in page(review) and annotated(review, ".txt")


def test_lists_keep_marks_and_lines():
    review = cutnode.review("tictactoe", ["5", "2", "1"])
    recorded = parse_list(annotated(review, ".txt"), None)
    assert recorded.steps == ["5", "2", "1"]
    assert [ply.mark for ply in recorded.plies] == ["", "??", ""]
    ((first, *_),) = recorded.plies[1].variations
    assert first == "1" and recorded.comment.startswith("Accuracy is ")
    again = cutnode.review(recorded)
    assert [step.mark for step in again.steps] == [step.mark for step in review.steps]


@pytest.mark.slow
def test_python_chess_reads_the_marks(mated):
    pgn = pytest.importorskip("chess.pgn")
    game = pgn.read_game(io.StringIO(annotated(mated, ".pgn")))
    assert not game.errors and game.headers["Result"] == "1-0"
    assert game.comment.replace("\n", " ").startswith("Accuracy is ")
    nags = {"!": 1, "?": 2, "??": 4, "?!": 6}
    for node, step in zip(game.mainline(), mated.steps, strict=True):
        expected = {nags[step.mark]} if step.mark else set()
        assert node.nags == expected | ({7} if step.only_move else set())
        better = node.parent.variations[1:]
        assert bool(better) == step.mark.startswith("?")
        if better:
            assert node.parent.board().san(better[0].move) != step.text
    assert {"?", "??"} & {step.mark for step in mated.steps}
    assert mated.sides[0].accuracy > mated.sides[1].accuracy


@pytest.mark.slow
def test_pages_show_the_graph_and_the_marks(mated):
    class Tags(HTMLParser):
        def __init__(self):
            super().__init__()
            self.open, self.ids, self.links = [], set(), []

        def handle_starttag(self, tag, attrs):
            found = dict(attrs)
            self.open += [tag] if tag not in ("meta", "rect", "line", "polygon", "polyline") else []
            self.ids |= {found["id"]} if "id" in found else set()
            self.links += [found["href"]] if "href" in found else []

        def handle_startendtag(self, tag, attrs):
            pass

        def handle_endtag(self, tag):
            assert self.open.pop() == tag

    text = page(mated)
    tags = Tags()
    tags.feed(text)
    assert tags.open == [] and {link[1:] for link in tags.links} <= tags.ids
    assert text.count("<circle") == sum(step.mark != "" for step in mated.steps)
    assert "http" not in text


def test_command(tmp_path):
    out = [tmp_path / name for name in ("game.html", "game.txt", "game.json")]
    words = [word for file in out for word in ("--out", file)]
    result = run_cutnode("review", "tictactoe", "5 2 1", *words, "--json")
    (data,) = [json.loads(line) for line in result.stdout.splitlines()]
    assert data["details"]["steps"][1]["mark"] == "??" and data["reason"] == "complete"
    assert json.loads(out[2].read_text())["points"] == data["details"]["points"]
    assert run_cutnode("review", "tictactoe", out[1]).stdout.splitlines()[0].endswith("not over")
    assert run_cutnode("review", "tictactoe", "-", stdin="5\n2\n").exit_code == 0
    for words, said in (
        ((tmp_path / "no.txt",), "cannot be read"),
        (("5", "--out", "x.pdf"), "must end in .html, .json, .txt"),
        ((tmp_path,), "needs --out FOLDER"),
        (("5 5",), "step 2: cell 5 is marked already"),
    ):
        result = run_cutnode("review", "tictactoe", *words)
        assert result.exit_code == BAD_INPUT and said in result.stderr
        assert result.stderr.count("\n") == 1


def test_folder_is_resumed(tmp_path, monkeypatch):
    folder, out = tmp_path / "games", tmp_path / "reviews"
    folder.mkdir()
    for name, text in (("a", "5\n2\n1\n"), ("b", "5\n5\n"), ("c", "5\n1\n")):
        (folder / f"{name}.txt").write_text(text)
    words = "review", "tictactoe", folder, "--out", out, "--nodes", 100_000, "--format", "record"
    reviewed = []

    def watched(*args, **options):
        if len(reviewed) == 1 and stops:
            raise KeyboardInterrupt
        reviewed.append(args)
        return review(*args, **options)

    review, stops = reviewing.review, True
    monkeypatch.setattr(cutnode, "review", watched)
    assert run_cutnode(*words).exit_code == INTERRUPTED
    assert sorted(file.name for file in out.iterdir()) == ["a.txt", "a.txt.json"]
    stops = False
    result = run_cutnode(*words)
    assert result.exit_code == BAD_INPUT and "b.txt: step 2: cell 5" in result.stderr
    assert [line.split()[0] for line in result.stdout.splitlines()] == ["game", "a.txt", "c.txt"]
    assert len(reviewed) == 2
    (folder / "a.txt").write_text("5\n1\n")
    run_cutnode(*words)
    assert len(reviewed) == 3  # the record has changed


@pytest.mark.slow
def test_games_without_an_evaluation_are_estimated_by_playouts():
    board = random_game("clobber:5x4", random.Random(2))
    review = cutnode.review(board, nodes=300, turning_points=0)
    assert "by random playouts" in review.basis and "no evaluation" in review.basis
