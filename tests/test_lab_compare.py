"""Comparisons of settings and of versions; players in separate processes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import run_cutnode

from cutnode import CutnodeError, Searcher, load_game, match
from cutnode.compiler.jit import jit_enabled
from cutnode.lab.compare import compare, draw
from cutnode.lab.plots import inline_plot
from cutnode.lab.statistics import geometric_mean_ratio, share
from cutnode.lab.study import INTERRUPTED, Follower
from cutnode.playing.configurations import loads_code, split_configuration
from cutnode.playing.players import RemotePlayer
from cutnode.playing.remote import Remote, Version

pytestmark = [
    pytest.mark.skipif(not jit_enabled(), reason="other processes compile"),
    pytest.mark.once,
]

ROOT = Path(__file__).parent.parent
TICTACTOE = load_game("tictactoe")
TEXTS = ["", "5", "1", "15", "52", "159"]
SOME = [TICTACTOE.parse(text) for text in TEXTS]
FEW = "techniques=table+deepening+killers"

OTHER = '''
"""Another version, which knows one game: to name a number."""

class GameError(Exception):
    pass

class Game:
    notation = property(lambda self: self)
    def parse(self, text):
        return text
    def move_text(self, position, move):
        return move

def load_game(name):
    return Game()

class Player:
    best_move, value, depth, nodes, seconds, reason = "5", 7, 3, 1000, 0.5, "depth limit"
    def new_game(self, seed):
        pass
    def search(self, position):
        print("what a game prints is no answer")
        return self
    def choose(self, position):
        raise SystemExit("gone")

def make_player(game, text):
    if text != "depth=3":
        raise GameError(f"{text!r} was not known then")
    return Player()
'''


@pytest.fixture
def other(tmp_path):
    """The checkout of another version."""
    (tmp_path / "engine").mkdir()
    (tmp_path / "engine" / "__init__.py").write_text(OTHER)
    (tmp_path / "pyproject.toml").write_text('[project]\nversion = "0.0.1"\n')
    return tmp_path


# Comparisons


@pytest.fixture(scope="module")
def study():
    """A default search and a search with few techniques, by a worker of each."""
    return compare(TICTACTOE, "default", FEW, SOME, depth=5, pairs=0, runs=1, workers=1)


def test_figures_are_those_of_the_searches(study):
    first, second = study.rows
    assert [first["setting"], second["setting"]] == ["A: default", f"B: {FEW}"]
    for row, techniques in ((first, None), (second, ("table", "deepening", "killers"))):
        searcher = Searcher(TICTACTOE, techniques=techniques)
        for position in SOME:
            searcher.clear()
            found = searcher.search(position, depth=5)
            sample = next(
                sample
                for sample in study.samples
                if sample["setting"] == row["setting"]
                and sample["position"] == TICTACTOE.position_text(position)
            )
            assert (sample["nodes"], sample["value"]) == (found.nodes, found.value)
            assert sample["move"] == found.move_text()
            assert sample["leaves"] == found.statistics.leaves
            assert sample["seconds"] > 0
        its = [s["nodes"] for s in study.samples if s["setting"] == row["setting"]]
        assert row["nodes"] == sum(its)
        its = [s["leaves"] for s in study.samples if s["setting"] == row["setting"]]
        assert row["leaves"] == sum(its) > 0


def test_the_second_row_is_beside_the_first(study):
    row = study.rows[1]
    nodes = [
        [s["nodes"] for s in study.samples if s["setting"] == row["setting"]] for row in study.rows
    ]
    fewer = tuple(row[name] for name in ("fewer", "fewer_low", "fewer_high"))
    assert fewer == geometric_mean_ratio(*nodes)
    assert 0 < row["p_nodes"] <= 1
    assert row["value_low"] <= row["value"] <= row["value_high"]
    assert {"elo", "value", "faster"}.isdisjoint(study.rows[0])
    assert set(row) - {"setting"} <= set(study.fields)


def test_the_machine_has_the_versions(study):
    import numba

    for row in study.rows:
        assert study.machine[row["setting"]].startswith("cutnode 0.")
        assert study.machine[row["setting"]].endswith(f"numba {numba.__version__}")


def test_a_plot_has_both(study):
    svg, _ = inline_plot(study, draw)
    assert "A: default" in svg
    assert FEW in svg


class Again(Follower):
    """A follower that remembers samples, as an interrupted study's file does, and stops again."""

    def __init__(self, samples, stop_at=None):
        self.samples = samples
        self.stop_at = stop_at

    def __call__(self, now, done, of):
        if (now, done) == ("searches", self.stop_at):
            raise KeyboardInterrupt

    def recall(self, key):
        return next((s for s in self.samples if key.items() <= s.items()), None)


def test_an_interrupted_study_is_kept_and_resumed(study):
    known = study.samples[:5]  # of two positions, and half of a third
    options = {"depth": 5, "pairs": 0, "runs": 1}
    stopped = compare(TICTACTOE, "default", FEW, SOME, progress=Again(known, 4), **options)
    assert all(sample in stopped.samples for sample in known[:4])
    assert len(stopped.samples) == 8
    assert INTERRUPTED in stopped.notes
    firsts = [s["nodes"] for s in stopped.samples if s["setting"] == "A: default"]
    assert len(firsts) == 4
    assert stopped.rows[0]["nodes"] == sum(firsts)


def test_an_interrupted_match_is_resumed():
    options = {"depth": 1, "pairs": 4, "move_nodes": 20, "runs": 1}
    whole = compare(TICTACTOE, "default", "random", SOME[:1], **options)
    games = [sample for sample in whole.samples if sample["setting"] == "match"]
    assert [game["pair"] for game in games] == [0, 1, 2, 3]
    assert sum(game["score"] for game in games) / 4 == whole.rows[1]["score"]
    wrong = [games[0] | {"score": 1.0, "games": "1 rules, 1 rules"}, *whole.samples[:2]]
    again = compare(TICTACTOE, "default", "random", SOME[:1], progress=Again(wrong), **options)
    kept = [sample for sample in again.samples if sample["setting"] == "match"]
    assert kept == [wrong[0], *games[1:]]
    assert again.rows[1]["score"] == sum(game["score"] for game in kept) / 4


def test_a_match_is_decided(tmp_path):
    args = [
        "lab",
        "compare",
        "tictactoe",
        "random",
        "depth=6",
        "--positions",
        "3",
        "--plies",
        "1:3",
    ]
    args += ["--pairs", "200", "--elo0", "0", "--elo1", "200", "--workers", "1", "--json"]
    result = run_cutnode(*args)
    assert result.exit_code == 0
    row = json.loads(result.stdout)["rows"][1]
    assert row["llr"] > 2.9
    assert row["accepted"] == "elo1"
    assert row["games"] < 100
    assert row["score"] > 0.7


# Versions


@pytest.mark.slow
def test_another_version_is_searched(other):
    game = load_game("tictactoe")
    study = compare(game, "depth=3", f"path={other}", SOME[:2], depth=3, pairs=0, runs=1)
    first, second = study.rows
    assert second["nodes"] == 2000
    assert second["fewer"] == pytest.approx(
        geometric_mean_ratio(
            [s["nodes"] for s in study.samples if s["setting"] == first["setting"]], [1000, 1000]
        )[0]
    )
    assert first["leaves"] > 0 and "leaves" not in second  # that version does not count them
    assert study.machine[second["setting"]].startswith("cutnode 0.0.1, Python 3")


@pytest.mark.slow
def test_what_was_found_before_an_error_is_kept(other):
    b = f"path={other},depth=3"
    study = compare(TICTACTOE, "depth=3", b, SOME[:2], pairs=1, plies=0, move_nodes=9, runs=1)
    assert "An error ended it: " in study.notes[0]
    assert study.stopped
    assert [row["nodes"] > 0 for row in study.rows] == [True, True]
    assert "elo" not in study.rows[1]
    assert study.failure.endswith("its process ended: gone")


def test_what_other_versions_refuse(other):
    for text, why in (
        ("depth=4", r"'path=.*': 'depth=4' was not known then"),
        ("", "a player needs a limit"),
    ):
        with pytest.raises(CutnodeError, match=why):
            RemotePlayer(TICTACTOE, f"path={other},{text}".rstrip(","))
    with pytest.raises(CutnodeError, match="its process ended: gone"):
        RemotePlayer(TICTACTOE, f"path={other},depth=3").choose(TICTACTOE.start())
    (other / "engine" / "__init__.py").write_text("")
    with pytest.raises(CutnodeError, match="RuntimeError: this version is too old"):
        _ = Remote("tictactoe", "depth=3", Version(str(other)), "B").facts


@pytest.mark.slow
def test_a_version_plays_matches():
    here = f"path={ROOT},depth=4"
    played = match(TICTACTOE, here, "depth=4", pairs=1)
    assert [record["steps"] for record in played.records] == [
        record["steps"] for record in match(TICTACTOE, "depth=4", "depth=4", pairs=1).records
    ]
    assert played.player == here


def test_settings_of_versions_are_told_apart():
    where, rest = split_configuration("depth=3, path=/old,without=table, python=py")
    assert (where, rest) == ({"path": "/old", "python": "py"}, "depth=3,without=table")
    assert loads_code("depth=3,path=/old")
    assert loads_code("evaluation=own.py:centre,depth=3")
    assert loads_code("techniques=table+own.py:mine")
    assert not loads_code("level=hard,seconds=0.5")


REFUSED = {
    ("default", "depth=3"): "A: default needs a limit: a depth, nodes or seconds",
    ("depth=3", "depth=3,path=/nowhere"): "path=/nowhere: not a checkout of cutnode",
    ("depth=3", "depth=3,python=/nowhere"): "python=/nowhere: there is no such interpreter",
    ("depth=3", "depth=3,path=a,path=b"): "path is set twice",
    ("depth=3", "depth=3", "--opening-plies", "99"): "0 distinct openings of 99 plies were found",
    ("depth=3", "depth=3,path"): "'path' should be path=...",
    ("depth=3", "depth=3", "--elo0", "3"): "an SPRT needs both elo0 and elo1",
    ("depth=3", "depth=3", "14253"): "the game is over in",
}


@pytest.mark.parametrize("words", REFUSED)
def test_what_makes_no_sense(words):
    few = [] if words[-1] == "14253" else ["--positions", 2]
    result = run_cutnode("lab", "compare", "tictactoe", *words, *few)
    assert result.exit_code == 2
    assert REFUSED[words] in result.output
    assert result.output.count("\n") == 1


def test_shares_have_score_intervals():
    """Figures: R. Newcombe, Two-sided confidence intervals for the single proportion (1998)."""
    for true, count, low, high in ((81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605)):
        part, *ends = share([True] * true + [False] * (count - true))
        assert part == true / count
        assert ends == pytest.approx([low, high], abs=5e-5)
    assert share([True]) == (1, None, None)
