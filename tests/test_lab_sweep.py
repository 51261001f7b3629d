"""Sweeps of one or two parameters of the search through a range."""

from __future__ import annotations

import json

import pytest
from commands import run_cutnode
from marks import compiled_only

from cutnode import CutnodeError, Searcher, load_game, make_player
from cutnode.lab.plots import inline_plot
from cutnode.lab.rerun import rerun
from cutnode.lab.sweep import draw, range_of, sweep

pytestmark = [compiled_only, pytest.mark.once]

TICTACTOE = load_game("tictactoe")
SOME = [TICTACTOE.parse(text) for text in ("", "5", "1", "15", "159")]


@pytest.fixture(scope="module")
def study():
    return sweep(SOME, 7, {"lmr.divisor": [0.25, 0.75, 3.0]}, runs=1)


def test_rows_are_those_of_the_searches(study):
    assert [row["lmr.divisor"] for row in study.rows] == [0.75, 0.25, 3.0]
    for row in study.rows:
        searcher = Searcher(
            TICTACTOE, parameters={"late_move_reductions.divisor": row["lmr.divisor"]}
        )
        nodes = 0
        for position in SOME:
            searcher.clear()
            nodes += searcher.search(position, depth=7).nodes
        assert row["nodes"] == nodes
    usual, eager, careful = study.rows
    assert usual["fewer"] == usual["value"] == usual["move"] == 1
    assert eager["fewer"] > 1 > careful["fewer"]
    assert eager["fewer_low"] <= eager["fewer"] <= eager["fewer_high"]
    assert "p" in eager
    assert "p" not in usual
    assert len(study.samples) == 3 * len(SOME)


def test_plots_of_one_and_of_two(study):
    svg, _ = inline_plot(study, draw)
    assert "lmr.divisor" in svg
    both = sweep(SOME[:2], 5, {"lmr.divisor": [0.5, 1.0], "lmr.moves": [1, 4]}, runs=1)
    assert [(row["lmr.divisor"], row["lmr.moves"]) for row in both.rows] == [
        *((0.75, 2), (0.5, 1), (0.5, 4), (1.0, 1), (1.0, 4)),
    ]
    svg, _ = inline_plot(both, draw)
    assert "lmr.moves" in svg
    assert "100%" in svg


def test_a_sweep_is_measured_again(study):
    again = rerun(study)
    assert [row["same"] for row in again.rows] == ["yes"] * 4


def test_rows_that_take_too_many_nodes_are_empty(study):
    usual, _, careful = (
        sum(s["nodes"] for s in study.samples if s["lmr.divisor"] == row["lmr.divisor"])
        for row in study.rows
    )
    most = (usual + careful) // 2
    found = sweep(SOME, 7, {"lmr.divisor": [3.0]}, runs=1, most_nodes=most)
    assert found.rows[0]["nodes"] == usual
    assert found.rows[1] == {"lmr.divisor": 3.0}
    assert f"lmr.divisor 3 takes more than --most-nodes {most:,}: it was abandoned." in found.notes


def test_ranges():
    assert range_of("lmr.base=0:1:5") == ("lmr.base", [0, 0.25, 0.5, 0.75, 1])
    assert range_of("lmr.moves=1:4") == ("lmr.moves", [1, 2, 3, 4])
    assert range_of("lmr.moves=1:9:3") == ("lmr.moves", [1, 5, 9])


REFUSED = {
    ("lmr.bass=0:1:3",): "there is no parameter 'lmr.bass'",
    ("lmr.base=3",): "'lmr.base=3' is not a range such as lmr.base=",
    ("lmr.base=0:1",): "'lmr.base=0:1' is not a range such as lmr.base=",
    ("lmr.base=0:nan:3",): "is not a range such as",
    ("lmr.moves=4:1",): "'lmr.moves=4:1' is not a range: it must ascend, with 2 to 1,000 values",
    ("lmr.base=0:99:3",): "lmr.base must be a number from",
    ("null_move.reduction=1:3",): "null_move.reduction changes nothing",
    ("lmr.base=0:1:3", "late_move_reductions.base=0:1:2"): "a sweep needs two different parameters",
    ("lmr.base=0:1:2", "lmr.moves=1:2", "lmr.depth=1:2"): "a sweep needs 1 or 2 parameters, got 3",
}


@pytest.mark.parametrize("ranges", REFUSED)
def test_what_makes_no_sense(ranges):
    args = ["lab", "sweep", "tictactoe", *ranges, "--depth", "3", "--from", "15", "--quiet"]
    result = run_cutnode(*args)
    assert result.exit_code == 2
    assert REFUSED[ranges] in result.output
    assert result.output.count("\n") == 1


def test_the_command():
    args = ["lab", "sweep", "tictactoe", "lmr.moves=1:3", "--depth", "5", "--from", "15", "--json"]
    result = run_cutnode(*args)
    assert result.exit_code == 0
    assert [row["lmr.moves"] for row in json.loads(result.stdout)["rows"]] == [2, 1, 3]


def test_players_have_parameters():
    player = make_player(TICTACTOE, "depth=7,set=lmr.divisor=0.25+lmr.moves=1")
    found = player.search(SOME[0])
    searcher = Searcher(TICTACTOE, parameters={"lmr.divisor": 0.25, "lmr.moves": 1}, table=16)
    assert found.nodes == searcher.search(SOME[0], depth=7).nodes
    for text, why in (
        ("depth=3,set=lmr", "set must be values as in lmr.base=0.8"),
        ("depth=3,set=lmr.base=99", "lmr.base must be a number from"),
        ("engine=mcts,playouts=9,set=lmr.base=1", "set does not go with engine=mcts"),
    ):
        with pytest.raises(CutnodeError, match=why):
            make_player(TICTACTOE, text)
