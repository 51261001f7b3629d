"""Fitting parameters: SPSA, the losses of moves, and the command from end to end."""

from __future__ import annotations

import json
import math
import re
from random import Random
from statistics import pstdev
from types import SimpleNamespace

import pytest
from commands import run_cutnode

from cutnode import CutnodeError, legal_moves, load_game
from cutnode.compiler.jit import jit_enabled
from cutnode.games import breakthrough, tictactoe, ur
from cutnode.kernels.techniques import choose
from cutnode.lab.files import Journal, read_study
from cutnode.lab.judging import Judge, Lead, Task, losses_of
from cutnode.lab.plots import can_plot, inline_plot
from cutnode.lab.spsa import Spsa
from cutnode.lab.study import Follower
from cutnode.lab.tuning import draw, parameters_for, tune, tuned_parameters
from cutnode.playing.matches import play_game
from cutnode.playing.players import Choice

pytestmark = pytest.mark.once

TICTACTOE = load_game("tictactoe")
SOME = [TICTACTOE.parse(text) for text in ("", "5", "1", "15", "52", "159", "19", "2")]
FEW = {
    **{"parameters": ["lmr.*", "late_move_pruning.moves"], "nodes": 60, "iterations": 4},
    **{"pairs": 12, "move_nodes": 60, "plies": 1},
}


# The optimiser


def bowl(point):
    return sum((x - target) ** 2 for x, target in zip(point, (2.0, -1.0), strict=True))


def minimum(seed, iterations=300, **options):
    search = Spsa([0.0, 0.0], iterations=iterations, seed=seed, **options)
    for up, down in search:
        search.tell(bowl(up), bowl(down))
    return search


def test_spsa_finds_a_minimum():
    assert math.dist(minimum(1).mean(), (2, -1)) < 0.1


def test_spsa_follows_its_seed():
    assert minimum(1).path == minimum(1).path != minimum(2).path


def test_spsa_stays_within_bounds():
    search = minimum(1, bounds=[(-1, 1.5), (-0.5, 3)])
    assert all(-1 <= x <= 1.5 and -0.5 <= y <= 3 for x, y in search.path)
    assert math.dist(search.mean(), (1.5, -0.5)) < 0.1


def test_spsa_with_noise_that_is_known():
    search = minimum(1, iterations=3000, noise=3.0)
    assert math.dist(search.mean(), (2, -1)) < 0.2


def test_noise_alone_does_not_lead_far():
    random = Random(1)
    ends = []
    for seed in range(30):
        search = Spsa([0.0] * 10, iterations=200, seed=seed, noise=0.5)
        for _ in search:
            search.tell(random.gauss(0, 0.5), 0.0)
        ends += search.point
    assert pstdev(ends) == pytest.approx(0.5, rel=0.15)


def test_spsa_stays_where_nothing_changes():
    search = Spsa([1.0], iterations=20, seed=0)
    for _ in search:
        search.tell(3.0, 3.0)
    assert search.mean() == [1.0]


# Parameters, and the losses of moves


def test_parameters_are_those_of_selective_techniques_in_use():
    found = parameters_for(tictactoe.Position, None)
    used = choose(tictactoe.Position, None) - choose(tictactoe.Position, None, exact=True)
    assert {name.partition(".")[0] for name in found} <= used
    assert "late_move_reductions.base" in found


def test_parameters_by_pattern_and_abbreviation():
    names = list(parameters_for(tictactoe.Position, ["lmr.d*", "history.bonus"]))
    reductions = [f"late_move_reductions.{name}" for name in ("depth", "divisor", "deeper")]
    assert names == [*reductions, "history.bonus"]


@pytest.mark.parametrize(
    ("cls", "names", "message"),
    [
        (tictactoe.Position, ["lmr.bass"], "did you mean 'late_move_reductions.base'"),
        (
            tictactoe.Position,
            ["lmr.x*"],
            "no parameter of the search of tictactoe matches 'lmr.x*'",
        ),
        (tictactoe.Position, ["null_move.depth"], "tictactoe is searched without null_move"),
        (tictactoe.Position, [], "no parameters to tune"),
        (ur.Position, None, "no selective technique with parameters"),
    ],
)
def test_parameters_that_make_no_sense(cls, names, message):
    with pytest.raises(CutnodeError, match=re.escape(message)):
        parameters_for(cls, names)


def test_losses_are_points_of_a_game():
    class Position:
        UNIT = 100

    scores = {"7": 100, "8": 0, "9": -32000}
    [losses] = losses_of(Position, [{"scores": json.dumps(scores)}])
    best = 1 / (1 + 10 ** (-100 / 400))
    assert losses == pytest.approx({7: 0, 8: best - 0.5, 9: best})


def test_losses_without_a_unit():
    class Position:
        pass

    references = [{"scores": json.dumps(scores)} for scores in ({"1": 4, "2": 0}, {"3": 5})]
    unit = 2
    best = 1 / (1 + 10 ** (-100 * 4 / unit / 400))
    assert losses_of(Position, references) == [pytest.approx({1: 0, 2: best - 0.5}), {3: 0}]


# Studies


@pytest.fixture(scope="module")
def study():
    return tune(TICTACTOE, SOME, **FEW)


def test_rows(study):
    default, tuned = study.rows
    assert [default["setting"], tuned["setting"]] == ["default", "tuned"]
    assert default["set"].endswith("lmr.cut_nodes=1+lmp.moves=4")
    assert 0 <= default["loss"] <= 1 and default["depth"] > 0
    found = tuned_parameters(study)
    assert found.keys() == parameters_for(tictactoe.Position, FEW["parameters"]).keys()


def test_nothing_is_installed_that_did_not_win(study):
    assert any("keep the default" in note for note in study.notes)
    assert not any("PROFILE" in note for note in study.notes)


def test_the_same_seed_finds_the_same(study):
    assert tune(TICTACTOE, SOME, **FEW).rows == study.rows


class Stopping(Journal):
    """A journal that stops a study after some samples."""

    left = 14

    def sample(self, sample):
        super().sample(sample)
        self.left -= 1
        if not self.left:
            raise KeyboardInterrupt


def test_a_stopped_study_is_resumed(study, tmp_path):
    path = str(tmp_path / "tune.jsonl")
    stopped = tune(TICTACTOE, SOME, **FEW, progress=Stopping(path))
    assert stopped.stopped and len(stopped.samples) == 14
    assert stopped.rows[1]["setting"] == "tuned"  # the best so far
    again = tune(TICTACTOE, SOME, **FEW, progress=Journal(path, resume=True))
    assert again.rows == study.rows and again.samples == study.samples


class Counting(Follower):
    def __init__(self):
        self.told = []

    def __call__(self, now, done, of):
        assert done <= of
        self.told.append(now)


def test_parameters_that_change_no_move_are_left_out():
    told = Counting()
    few = FEW | {"parameters": None, "pairs": 0}
    screened = tune(TICTACTOE, SOME, **few, progress=told)
    tried = {s["parameter"]: s["changed"] for s in screened.samples if s["stage"] == "screen"}
    fitted = set(tuned_parameters(screened))
    assert set(tried) == set(parameters_for(tictactoe.Position, None))
    assert fitted == {name for name, changed in tried.items() if changed >= 0.02}
    assert "elo" not in [column.name for column in screened.columns]
    assert any(now.startswith("trying") for now in told.told)


@pytest.mark.skipif(not jit_enabled(), reason="other processes compile")
def test_workers_find_the_same(study):
    few = FEW | {"workers": 2}
    assert tune(TICTACTOE, SOME, **few).rows == study.rows


# By games

BY_GAMES = FEW | {"by": "games", "parameters": ["lmr.divisor", "killers.bonus"]}


@pytest.fixture(scope="module")
def by_games():
    return tune(TICTACTOE, SOME, **BY_GAMES)


def test_fitted_by_games(by_games):
    assert [row["setting"] for row in by_games.rows] == ["default", "tuned"]
    assert not {"loss", "move", "depth"} & {column.name for column in by_games.columns}
    steps = [sample for sample in by_games.samples if sample["stage"] == "fit"]
    assert len(steps) == 4 and all(0 <= s["up"] <= 1 and s["up"] + s["down"] == 1 for s in steps)
    assert not any(sample["stage"] == "reference" for sample in by_games.samples)
    assert tuned_parameters(by_games).keys() == {"late_move_reductions.divisor", "killers.bonus"}


def test_parameters_that_change_no_game_are_said_to():
    few = BY_GAMES | {"parameters": ["lmr.depth"], "nodes": 2, "pairs": 0}
    assert any("try more nodes" in note for note in tune(TICTACTOE, SOME, **few).notes)


def test_parameters_are_screened_before_games():
    few = BY_GAMES | {"parameters": None, "pairs": 0, "iterations": 1}
    stages = {sample["stage"] for sample in tune(TICTACTOE, SOME, **few).samples}
    assert "screen" in stages and "reference" not in stages


@pytest.mark.slow
@pytest.mark.skipif(not jit_enabled(), reason="other processes compile")
def test_workers_play_the_same(by_games):
    again = tune(TICTACTOE, SOME, **BY_GAMES, workers=2)
    assert again.rows == by_games.rows
    assert again.samples == by_games.samples


def test_the_score_is_that_of_the_first_setting():
    one, other = {}, {"late_move_pruning.moves": 1, "late_move_pruning.depth": 9}
    play = Judge("connect4", 100, ("", "4", "3", "44", "42", "12")).begin()
    every = tuple(range(6))
    scores = [each["score"] for each in play(Task("games", every, (one, other)))]
    turned = [each["score"] for each in play(Task("games", every, (other, one)))]
    assert turned == [1 - score for score in scores] and set(scores) != {0.5}
    assert play(Task("games", (0,), (one, one))) == [{"score": 0.5}]


def test_pairs_of_a_step_differ_by_positions_and_luck(monkeypatch):
    tasks = []

    def begin(judge):
        return lambda task: tasks.append(task) or [{"score": 0.5}]

    monkeypatch.setattr(Judge, "begin", begin)
    tune(TICTACTOE, SOME, **BY_GAMES | {"iterations": 2, "pairs": 0})
    assert len(tasks) == 16 and len({task.seed for task in tasks}) == 16
    for step in (tasks[:8], tasks[8:]):
        assert {task.numbers for task in step} == {(number,) for number in range(8)}
        assert len({str(task.points) for task in step}) == 1
    del tasks[:]
    tune(TICTACTOE, SOME[:3], **BY_GAMES | {"iterations": 1, "pairs": 0})
    assert len(tasks) == 3


class Choosing:
    """A player whose choices have the scores of a list."""

    def __init__(self, values):
        self.values = iter(values)

    def new_game(self, seed):
        pass

    def choose(self, position):
        move = legal_moves(position)[0]
        return Choice(move, next(self.values), (move,), 1, 1, 0.0, "depth")


@pytest.mark.parametrize(
    ("values", "plies", "score"),
    [
        ([600, -600] * 9, 5, 1.0),
        ([-600, 600] * 9, 5, 0.0),
        ([600, 600] * 9, 9, 0.5),  # both think that they are winning
        ([100, 600, -600, 600, -600, 600, -600, 600, -600], 6, 0.0),
        ([600, 0, 600, 0, 600, 0, 600, 0, 600], 9, 0.5),  # only one of them thinks so
        ([None] * 9, 9, 0.5),
    ],
)
def test_a_lead_that_both_players_see_ends_a_game(values, plies, score):
    lead = Lead(breakthrough.Position)
    player = Choosing(values)
    record = play_game([player, player], breakthrough.start(), plies=9, until=lead)
    assert len(record.steps) == plies and lead.score(record) == score


@pytest.mark.parametrize(
    ("constants", "value", "winner"),
    [
        ({"DECISIVE": True}, 25_000, 0),  # the largest evaluation
        ({"DECISIVE": True}, 25_001, 1),
        ({"DECISIVE": False}, 10**6, 0),
        ({"DECISIVE": False, "UNIT": 10}, 49, 0),
        ({"DECISIVE": False, "UNIT": 10}, 50, 1),
    ],
)
def test_what_decides_a_game(constants, value, winner):
    lead = Lead(type("Position", (), constants))
    for side in (0, 1) * 3:
        choice = Choice(0, value if side == 0 else -value, (0,), 1, 1, 0.0, "depth")
        lead(SimpleNamespace(side=side), choice)
    assert lead.winner() == winner


def test_many_turns_of_one_player_decide_nothing():
    lead = Lead(breakthrough.Position)
    choice = Choice(0, 900, (0,), 1, 1, 0.0, "depth")
    assert not any(lead(SimpleNamespace(side=0), choice) for _ in range(9))


def test_stopped_games_are_resumed(by_games, tmp_path):
    path = str(tmp_path / "games.jsonl")

    class Early(Stopping):
        left = 2

    stopped = tune(TICTACTOE, SOME, **BY_GAMES, progress=Early(path))
    assert stopped.stopped and len(stopped.samples) == 2
    again = tune(TICTACTOE, SOME, **BY_GAMES, progress=Journal(path, resume=True))
    assert again.rows == by_games.rows and again.samples == by_games.samples


@pytest.mark.skipif(not can_plot(), reason="needs matplotlib")
def test_games_are_drawn_as_values(by_games):
    svg, caption = inline_plot(by_games, draw)
    assert "svg" in svg and "distance from the default" in caption


@pytest.mark.skipif(not can_plot(), reason="needs matplotlib")
def test_it_can_be_drawn(study):
    svg, caption = inline_plot(study, draw)
    assert "svg" in svg and "SPSA" in caption


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"iterations": 0}, "iterations must be at least 1, got 0"),
        ({"pairs": -1}, "pairs must be at least 0, got -1"),
        ({"least_elo": 0.0}, "least_elo must be positive and finite, got 0"),
        ({"workers": 0}, "workers must be 1..256, got 0"),
        ({"by": "luck"}, "tuning is by moves or games, got 'luck'"),
    ],
)
def test_options_that_make_no_sense(options, message):
    with pytest.raises(CutnodeError, match=message):
        tune(TICTACTOE, SOME, **FEW | options)


def test_too_few_positions():
    with pytest.raises(CutnodeError, match="at least 2 positions"):
        tune(TICTACTOE, SOME[:1], **FEW)
    with pytest.raises(CutnodeError, match="the game is over"):
        tune(TICTACTOE, [TICTACTOE.parse("14253"), *SOME], **FEW)


# The command


def test_the_command_and_its_file(tmp_path):
    out = tmp_path / "tuned.json"
    words = ("--positions", 6, "--plies", "1:4", "--parameters", "lmr.*", "--nodes", 50)
    words = (*words, "--iterations", 2, "--pairs", 0, "--workers", 1)
    result = run_cutnode("lab", "tune", "tictactoe", *words, "--out", out)
    assert result.exit_code == 0, result.output
    found = tuned_parameters(read_study(out))
    assert found and all(name.startswith("late_move_reductions.") for name in found)
    assert run_cutnode("search", "tictactoe", "--depth", 3, "--set", f"@{out}").exit_code == 0


def test_the_command_by_games(tmp_path):
    out = tmp_path / "games.json"
    words = ("--positions", 4, "--plies", "1:4", "--parameters", "lmr.*", "--nodes", 50)
    words = (*words, "--by", "games", "--iterations", 1, "--pairs", 0, "--workers", 1)
    result = run_cutnode("lab", "tune", "tictactoe", *words, "--out", out)
    assert result.exit_code == 0, result.output
    assert read_study(out).settings["by"] == "games"


def test_a_file_without_parameters(tmp_path):
    other = tmp_path / "parameters.json"
    assert run_cutnode("lab", "parameters", "--out", other).exit_code == 0
    for path, message in ((other, "no tuned parameters"), (tmp_path / "none.json", "cannot be")):
        result = run_cutnode("search", "tictactoe", "--depth", 3, "--set", f"@{path}")
        assert result.exit_code == 2 and message in result.stderr
