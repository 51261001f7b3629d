"""Matches: statistics compared with published figures, openings, games, processes."""

from __future__ import annotations

import json
import math
import os
import re
import signal
import subprocess
import sys
import threading
from multiprocessing import active_children
from pathlib import Path

import pytest
from commands import run_cutnode
from toys import boxes, duel, race

from cutnode import (
    CutnodeError,
    Game,
    GameError,
    Record,
    Sprt,
    legal_moves,
    load_game,
    make_player,
    match,
    play_game,
)
from cutnode.playing.elo import elo_difference, expected_score, mean_and_error
from cutnode.playing.matches import MatchResult, make_openings

ROOT = Path(__file__).parent.parent
GAME = load_game("tictactoe")


def result_of(pairs):
    games = 2 * sum(pairs)
    points = sum(count * half for half, count in enumerate(pairs)) / 2
    wins = int(points)
    draws = int(2 * (points - wins))
    return MatchResult(
        game="",
        player="",
        opponent="",
        seed=0,
        pairs=tuple(pairs),
        wins=wins,
        draws=draws,
        losses=games - wins - draws,
        endings={"rules": games, "repetition": 0, "plies": 0},
        sprt=None,
        reason="played",
        seconds=0.0,
        records=(),
    )


# Statistics

# Pairs of 0, 1/2, 1, 3/2, 2 points; Elo, its error at 95 %, likelihood of superiority in %:
# from fastchess (github.com/Disservin/fastchess, app/tests/elo_test.cpp), to its precision.
PUBLISHED = [
    ((34, 54, 31 + 32, 64, 75), 55.58, 27.65, 100.00),
    ((332, 433, 457 + 41, 333, 334), -8.64, 10.33, 5.05),
    ((7895, 8757, 5485 + 200, 568, 9999), -21.04, 2.95, 0.00),
]


@pytest.mark.parametrize(("pairs", "elo", "error", "los"), PUBLISHED)
def test_elo_and_error_bars_are_the_published(pairs, elo, error, los):
    result = result_of(pairs)
    assert result.elo == pytest.approx(elo, abs=0.01)
    low, high = result.interval
    assert (high - low) / 2 == pytest.approx(error, abs=0.01)
    assert 100 * result.los == pytest.approx(los, abs=0.01)


# Pairs, elo0, elo1, and the logarithm of the likelihood ratio (logistic Elo): from fastchess
# (app/tests/sprt_test.cpp), to its precision.
PUBLISHED_TESTS = [
    ((223, 9863, 20279 + 1000, 10037, 246), 0.5, 2.5, -3.07),
    ((871, 26175, 55003 + 980, 26678, 821), 0.0, 2.0, -4.98),
]


@pytest.mark.parametrize(("pairs", "elo0", "elo1", "llr"), PUBLISHED_TESTS)
def test_likelihood_ratio_is_the_published(pairs, elo0, elo1, llr):
    assert Sprt(elo0, elo1).llr(pairs) == pytest.approx(llr, abs=0.01)


def test_likelihood_ratio_is_near_its_approximation():
    """For small differences it is N (s1 - s0) (2 mean - s0 - s1) / (2 variance)."""
    pairs = (10, 40, 100, 60, 15)
    mean, error = mean_and_error(pairs)
    low, high = expected_score(0), expected_score(5)
    rough = (high - low) * (2 * mean - low - high) / (2 * error**2)
    assert Sprt(0, 5).llr(pairs) == pytest.approx(rough, rel=0.05)


def test_mean_and_error_by_hand():
    """Two pairs of 1 and two of 2 points: mean 3/4, variance 1/16, variance of the mean 1/64."""
    assert mean_and_error((0, 0, 2, 0, 2)) == (0.75, 0.125)
    result = result_of((0, 0, 2, 0, 2))
    assert (result.score, result.games) == (0.75, 8)
    assert result.elo == pytest.approx(190.85, abs=0.01)  # 400 log10 3
    assert result.los == pytest.approx(0.97725, abs=1e-5)  # two standard errors
    assert result.interval == (pytest.approx(3.48, abs=0.01), pytest.approx(919.4, abs=0.1))


def test_elo_and_score_are_inverse():
    for elo in (-300, 0, 1, 250):
        assert elo_difference(expected_score(elo)) == pytest.approx(elo, abs=1e-9)
    assert elo_difference(1) == math.inf and elo_difference(0) == -math.inf
    assert expected_score(400) == pytest.approx(10 / 11)


def test_equal_pairs_have_no_error_bars():
    result = result_of((0, 0, 0, 0, 5))
    assert (result.elo, result.interval, result.los) == (math.inf, None, None)
    data = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert (data["score"], data["elo"], data["elo_low"], data["los"]) == (1.0, None, None, None)
    assert "too few for error bars" in str(result)
    low, high = result.score_interval  # of 5 successes in 5 trials (Wilson)
    assert (low, high) == (pytest.approx(5 / (5 + 1.959964**2)), 1.0)
    assert result_of((0, 0, 2, 0, 2)).score_interval == pytest.approx((0.505, 0.995), abs=1e-3)
    nothing = result_of((0, 0, 0, 0, 0))
    assert nothing.score_interval is None
    assert (nothing.score, nothing.elo, nothing.interval) == (None, None, None)
    assert str(nothing).endswith("(played)")


def test_bounds_of_the_test():
    lower, upper = Sprt(0, 5).bounds
    assert (lower, upper) == (pytest.approx(-2.944, abs=0.001), pytest.approx(2.944, abs=0.001))
    test = Sprt(0, 50, alpha=0.1, beta=0.2)
    assert test.bounds == (pytest.approx(math.log(2 / 9)), pytest.approx(math.log(8)))
    assert test.llr((0,) * 5) == 0
    assert test.decision((0, 5, 40, 60, 20)) == "elo1"
    assert test.decision((20, 60, 40, 5, 0)) == "elo0"
    assert test.decision((1, 1, 4, 2, 0)) == ""


@pytest.mark.parametrize(
    "numbers", [(5, 0), (0, 0), (0, math.inf), (0, 1e9), (0, 5, 0), (0, 5, 0.05, 1)]
)
def test_invalid_tests(numbers):
    with pytest.raises(CutnodeError, match=r"elo0 must be less than elo1|alpha and beta must be"):
        Sprt(*numbers)


# Openings


def test_openings_are_distinct_open_and_the_same_each_time():
    game = load_game("connect4")
    openings = make_openings(game, 40, 5, seed=1)
    assert len({tuple(position) for position in openings}) == 40
    for position in openings:
        assert len(legal_moves(position)) > 1
        assert "x" in str(position)
    assert openings == make_openings(game, 40, 5, seed=1)
    assert openings != make_openings(game, 40, 5, seed=2)
    assert make_openings(game, 3, 0, seed=1) == [game.start()] * 3


def test_too_few_openings():
    with pytest.raises(CutnodeError, match=r"9 distinct openings of 1 plies were found, but 10"):
        make_openings(GAME, 10, 1, seed=0)


# Matches


def test_match_counts_what_was_played():
    result = match(GAME, "level=medium", "random", pairs=12, plies=2, seed=4)
    assert result.games == len(result.records) == 24
    assert (result.reason, sum(result.pairs), result.endings["rules"]) == ("played", 12, 24)
    points = 0.0
    for number, facts in enumerate(result.records):
        assert facts["pair"] == number // 2
        first = facts["players"][0] == "level=medium"
        assert first == (number % 2 == 0)
        points += facts["result"] if first else 1 - facts["result"]
        record = Record(GAME.parse(facts["start"]))
        record.follow(facts["steps"])
        assert record.ending() == facts["ending"] == "rules"
        assert GAME.notation.position_text(record.position) == facts["positions"][-1]
        assert record.score(0) == facts["result"]
    assert points == result.score * 24 == result.wins + result.draws / 2
    assert result.score > 0.7
    starts = [facts["start"] for facts in result.records]
    assert starts[::2] == starts[1::2] and len(set(starts)) == 12


def test_recorded_game_is_played_again():
    facts = match(GAME, "strength=50", "level=easy", pairs=3, plies=1).records[5]
    players = [make_player(GAME, text) for text in facts["players"]]
    start = GAME.parse(facts["start"])
    again = play_game(players, start, seed=facts["seed"], dice=facts["dice"])
    assert again.to_dict()["steps"] == facts["steps"]


@pytest.mark.slow
def test_processes_do_not_change_the_result():
    options = {"pairs": 7, "plies": 2, "seed": 3}
    alone, shared = (
        match(GAME, "level=easy", "random", processes=processes, **options) for processes in (1, 2)
    )
    assert alone.records == shared.records
    assert alone.pairs == shared.pairs


@pytest.mark.once
def test_failure_in_a_process_is_the_callers(tmp_path):
    """A game with too small a MAX_PLIES; its moves are found up to the end."""
    source = (ROOT / "games" / "tictactoe.py").read_text()
    path = tmp_path / "odd_tictactoe.py"
    path.write_text(source.replace("return str(move + 1)", "raise GameError('no text')"))
    text = path.read_text().replace("import Bits, ", "import Bits, GameError, ")
    path.write_text(text)
    with pytest.raises(GameError, match="no text"):
        match(load_game(str(path)), "random", "random", pairs=2, plies=1, processes=2)


def test_dice_are_the_same_for_both_games_of_a_pair():
    result = match(Game(race), "random", "random", pairs=30, plies=0, seed=2)
    for first, second in zip(result.records[::2], result.records[1::2], strict=True):
        dice = [facts["steps"][::2] for facts in (first, second)]
        shared = min(map(len, dice))
        assert dice[0][:shared] == dice[1][:shared]
    assert len({tuple(facts["steps"]) for facts in result.records}) > 30
    assert sum(facts["value"] == 100 for facts in result.records) not in (0, 60)


def test_points_decide_and_extra_turns_are_followed():
    result = match(Game(boxes, "3"), "random", "random", pairs=30, plies=2)
    for facts in result.records:
        value = facts["value"]
        assert facts["result"] == (1 if value > 0 else 0.5 if value == 0 else 0)
        board, lead, _ = facts["positions"][-1].split()
        assert board.isupper()
        started = 1 if facts["start"].endswith("1") else -1
        assert value == started * int(lead)
    assert 0 < result.score < 1


def test_repetition_and_length_are_draws():
    result = match(Game(duel), "random", "random", pairs=20, plies=0)
    assert result.endings["repetition"] > 0 and result.endings["plies"] == 0
    assert result.draws == result.endings["repetition"]
    assert "by repetition" in str(result)
    short = match(GAME, "random", "random", pairs=2, plies=1, most_plies=3)
    assert (short.endings["plies"], short.draws) == (4, 4)
    assert "4 at the ply limit" in str(short)


def test_decided_match_ends_early():
    test = Sprt(0, 100)
    result = match(GAME, "level=expert", "random", pairs=500, plies=0, sprt=test)
    assert result.reason == "decided"
    assert 2 <= sum(result.pairs) < 100
    data = result.to_dict()["sprt"]
    assert data["accepted"] == "elo1" and data["llr"] >= data["bounds"][1]
    assert "100 accepted" in str(result)


def test_interrupted_match_keeps_whole_pairs():
    def progress(result):
        if result.games == 6:
            raise KeyboardInterrupt

    result = match(GAME, "random", "random", pairs=50, plies=0, progress=progress)
    assert (result.reason, result.games, len(result.records)) == ("interrupted", 6, 6)


def test_progress_for_a_log():
    words = ["match", "tictactoe", "random", "random", "--pairs", "3"]
    assert run_cutnode(*words).stderr == ""
    *_, last = run_cutnode(*words, "--progress").stderr.splitlines()
    assert re.fullmatch(r"cutnode: \d won, \d drawn, \d lost, pairs, 3 of 3, \d+ s", last)


SCRIPT = """
from cutnode import match

print(match("tictactoe", "random", "random", pairs=2, plies=1, processes=2).games)
"""


def test_a_script_without_a_guard_is_told_so(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    run = subprocess.run([sys.executable, script], capture_output=True, text=True)
    assert run.stderr.count("Traceback") == 1
    assert run.stderr.splitlines()[-1].endswith(
        "each process imports the script, which starts processes again: put its calls below "
        "if __name__ == '__main__':"
    )


def test_a_script_on_standard_input_has_processes():
    run = subprocess.run([sys.executable, "-"], input=SCRIPT, capture_output=True, text=True)
    assert run.stdout == "4\n", run.stderr


@pytest.mark.once
@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="no signals to a thread")
def test_ctrl_c_reaches_all_processes():
    """As at a terminal: the playing processes leave it to the waiting one."""

    def progress(result):
        if result.games == 100:
            for process in active_children():
                os.kill(process.pid, signal.SIGINT)
        if result.games == 200:
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    options = {"pairs": 50_000, "plies": 0, "processes": 2, "progress": progress}
    result = match(GAME, "random", "random", **options)
    assert result.reason == "interrupted"
    assert 200 <= result.games == len(result.records) < 1000
    assert not active_children()


@pytest.mark.once
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no such signal")
def test_games_are_kept_if_a_process_is_killed(tmp_path, monkeypatch):
    file = tmp_path / "games.jsonl"

    def killing(result):
        if result.games == 20:
            os.kill(active_children()[0].pid, signal.SIGKILL)

    monkeypatch.setattr("cutnode.cli.match.tally", lambda now: killing(now) or "")
    words = ("--plies", "0", "--pairs", "50000", "--processes", "2", "--record", str(file))
    result = run_cutnode("match", "tictactoe", "random", "random", *words, "--json")
    assert result.exit_code == 2 and "a process ended unexpectedly (exit code -9)" in result.stderr
    shown = json.loads(result.stdout)
    assert shown["reason"] == "interrupted"
    assert 20 <= shown["details"]["games"] == len(file.read_text().splitlines()) < 1000
    assert not active_children()


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"pairs": 0}, "pairs must be at least 1"),
        ({"plies": -1}, "plies must be at least 0"),
        ({"processes": 0}, "processes must be at least 1"),
        ({"most_plies": 0}, "most_plies must be at least 1"),
        ({"seed": "x"}, "a seed must be a whole number"),
        ({"pairs": 2, "openings": [GAME.start()]}, "2 pairs need 2 openings, got 1"),
        ({"openings": [GAME.parse("14253")]}, "cannot be a finished game, got xxx/oo./..."),
    ],
)
def test_invalid_matches(options, reason):
    with pytest.raises(CutnodeError, match=reason):
        match(GAME, "random", "random", **options)


# The command


def test_command_prints_the_result(tmp_path):
    file = tmp_path / "games.jsonl"
    result = run_cutnode(
        *("match", "tictactoe", "level=medium", "random"),
        *("--pairs", 5, "--plies", 1, "--record", file, "--elo0", 0, "--elo1", 10),
    )
    assert result.exit_code == 0
    names = [line.split()[0] for line in result.output.splitlines()]
    assert names[:4] == ["tictactoe:", "games", "score", "elo"] and names[-1] == "sprt"
    records = [json.loads(line) for line in file.read_text().splitlines()]
    assert len(records) == 10
    assert records[0]["players"] == ["level=medium", "random"]


def test_command_prints_json_and_reads_openings(tmp_path):
    file = tmp_path / "openings.txt"
    file.write_text("5 ; centre\n1\n")
    result = run_cutnode("match", "tictactoe", "random", "random", "--file", file, "--json")
    data = json.loads(result.output)
    found = data["details"]
    assert (found["games"], found["player"], data["reason"]) == (4, "random", "played")
    assert found["wins"] + found["draws"] + found["losses"] == 4
    assert data["value"] == found["score"]


@pytest.mark.parametrize(
    ("args", "reason"),
    [
        (("random", "magic"), "there is no setting 'magic'"),
        (("random", "random", "--elo0", 1), "an SPRT needs both elo0 and elo1"),
        (("random", "random", "--elo0", 1, "--elo1", 0), "elo0 must be less than elo1"),
        (("random", "random", "--elo0", 0, "--elo1", 1e9), "-2000<=x<=2000"),
        (("random", "random", "--elo0", "nan", "--elo1", 9), "nan is not a finite number"),
        (("random", "random", "--alpha", 7), "0<x<0.5"),
        (("random", "random", "--record", "/nowhere/games"), "there is no folder"),
        (("random", "random", "--pairs", 20, "--plies", 1), "9 distinct openings"),
    ],
)
def test_bad_input_is_one_line(args, reason):
    result = run_cutnode("match", "tictactoe", *args)
    assert (result.exit_code, result.output.count("\n")) == (2, 1)
    assert reason in result.output
