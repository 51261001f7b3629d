"""``cutnode design``: reports on the rules of games."""

from __future__ import annotations

import math
import time

import pytest
from commands import run_cutnode

from cutnode import load_game, solve
from cutnode.contract.errors import CutnodeError
from cutnode.lab.design import COLUMNS, design
from cutnode.lab.files import read_study
from cutnode.lab.selfplay import Ladder, Played, add_chances
from cutnode.lab.sizes import Walks, size_of
from cutnode.lab.study import Study
from cutnode.lab.verdicts import figures_of


def figure(study: Study, part: str, of: str):
    """Return a figure of a study and the ends of its interval."""
    row = next(row for row in study.rows if (row["part"], row["of"]) == (part, of))
    return row.get("figure"), row.get("figure_low"), row.get("figure_high")


@pytest.fixture(scope="module")
def tictactoe() -> Study:
    return design("tictactoe", pairs=6)


# Size


@pytest.mark.parametrize(
    ("game", "positions", "nodes"),
    [
        ("tictactoe", 5_478, 549_946),
        pytest.param("connect4:4x4", 161_029, None, marks=pytest.mark.slow),
        pytest.param("hex:3x3", 5_514, None, marks=pytest.mark.slow),
    ],
)
def test_positions_are_counted_and_estimated(game: str, positions: int, nodes: int | None) -> None:
    size = size_of(load_game(game).start(), None, 200_000, 3)
    assert size.counted == positions
    assert size.positions.low - 0.02 <= math.log10(positions) <= size.positions.high + 0.02
    if nodes is not None:
        assert size.lines.low <= math.log10(nodes) <= size.lines.high


@pytest.mark.slow
def test_two_seeds_of_an_estimate_overlap() -> None:
    start = load_game("connect4:5x5").start()
    a, b = (size_of(start, None, 1_000, seed).positions for seed in (0, 100))
    for each in (a, b):
        assert each.low < math.log10(69_763_700) < each.high  # J. Tromp's count
    assert a.low < b.high and b.low < a.high


@pytest.mark.once
def test_positions_that_also_arise_from_other_moves_are_not_estimated() -> None:
    size = size_of(load_game("toys.nim").start(), None, 10, 1)
    assert size.positions is None and size.lines is not None


def test_walks_end_at_their_deadline() -> None:
    walks = Walks(load_game("tictactoe").start())
    assert walks.population(10, 1, 0, time.monotonic() - 1) is None
    again, one = (walks.population(10, 1, 0) for _ in range(2))
    assert one.positions == again.positions


# Games


@pytest.mark.once
def test_a_ladder_doubles_nodes_and_counts_by_side() -> None:
    ladder = Ladder(load_game("tictactoe"), 1)
    names = list(ladder.play(None, 2))
    assert names[0].startswith("random moves") and ladder.strengths == [0, 16, 32, 64, 128, 256]
    assert len(ladder.games) == 2 * 2 * len(ladder.matches())
    beaten = ladder.of((0, 16))
    assert sum(game.points for game in beaten) < 2  # of the random player
    assert ladder.use.played <= ladder.use.legal.keys() and len(ladder.use.legal) == 9


def test_the_course_of_a_game_shows_leads_and_the_decision() -> None:
    scores = [0.0, 30.0, -30.0, 40.0, 90.0]
    won = Played((16, 32), 0, 5, [3] * 5, 1.0, 1.0, "rules", scores)
    lost = Played((16, 32), 1, 5, [3] * 5, 0.0, 0.0, "rules", [-score for score in scores])
    add_chances([won, lost], decisive=True)
    assert won.course[0] == 0.5 and won.course[4] > 0.75 > won.course[0]
    assert won.changes == lost.changes == 2
    assert won.decided == lost.decided == 0.6
    proven = Played((16, 32), 2, 1, [3], 1.0, 1.0, "rules", [29_990.0])
    add_chances([proven], decisive=True)
    assert (proven.course, proven.decided, proven.comeback) == ([1.0], 0.0, False)


# Reports


@pytest.mark.once
def test_a_report_has_every_part(tictactoe: Study) -> None:
    parts = dict.fromkeys(row["part"] for row in tictactoe.rows)
    assert list(parts) == [
        *("size", "value", "openings", "play", "first player", "draws", "depth", "length"),
        *("choices", "forced", "tension", "use"),
    ]
    assert figure(tictactoe, "size", "positions")[0] == 5_478
    assert figure(tictactoe, "value", "exact value")[0] == 0
    assert figure(tictactoe, "openings", "different first moves")[0] == 3
    assert figure(tictactoe, "use", "cells never used")[0] == 0
    for row in tictactoe.rows:
        if "figure_low" in row:
            assert row["figure_low"] <= row["figure"] <= row["figure_high"], row
    known = {name for column in COLUMNS for name in column.every}
    assert all(row.keys() <= known for row in tictactoe.rows)


@pytest.mark.once
def test_a_report_begins_with_a_verdict(tictactoe: Study) -> None:
    said = tictactoe.summary()
    assert 5 <= len(said) <= 9
    assert said[0].startswith("tictactoe has 5,478 positions (counted)")
    assert said[1] == "With perfect play: draw, and 9 of 9 first moves achieve that."
    assert tictactoe.to_dict()["summary"] == said
    assert Study.from_dict(tictactoe.to_dict()).summary() == said


@pytest.mark.slow
def test_two_sets_of_rules_are_compared() -> None:
    study = design("tictactoe", "toys.nim", pairs=3)
    a, b = figures_of(study)
    assert (a.title, b.title) == ("A: tictactoe", "B: toys.nim")
    assert a.row("value", "exact value")["figure"] == 0
    assert b.row("value", "exact value")["figure"] == 1
    assert any("in A" in sentence for sentence in study.summary())


@pytest.mark.once
def test_an_interrupted_report_keeps_its_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*args: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("cutnode.lab.selfplay.Ladder._searched", interrupt)
    monkeypatch.setattr("cutnode.lab.selfplay.Ladder.compile", lambda self: None)
    study = design("tictactoe", pairs=2)
    assert study.stopped and figure(study, "value", "exact value")[0] == 0
    assert figure(study, "first player", "random moves")[0] is not None


@pytest.mark.once
def test_reports_of_chance_say_what_is_skill() -> None:
    study = design("toys.race", pairs=3)
    share, low, high = figure(study, "luck", "skill, random and 16 nodes")
    assert 0 <= low <= share <= high <= 1
    assert any("luck the rest" in sentence for sentence in study.summary())


@pytest.mark.slow
def test_games_without_an_evaluation_are_judged_by_playouts() -> None:
    study = design("toys.nim", pairs=2)
    row = next(row for row in study.rows if row["of"] == "strengths")
    assert row["how"].startswith("positions judged by random playouts")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pairs": 1, "seconds": 1}, "limited by seconds or by pairs"),
        ({"pairs": 0}, "pairs must be at least 1"),
        ({"seconds": -1}, "seconds must be positive, got -1"),
        ({"other": "conect4"}, "did you mean 'connect4'"),
    ],
)
def test_bad_input_is_told_in_a_line(options: dict[str, object], message: str) -> None:
    with pytest.raises(CutnodeError, match=message):
        design("tictactoe", **options)


@pytest.mark.once
def test_the_command_prints_and_writes_reports(tmp_path, tictactoe: Study) -> None:
    """The same pairs and seed give the same report."""
    page, data = tmp_path / "a.html", tmp_path / "a.json"
    words = "design", "tictactoe", "--pairs", 6, "--quiet", "--out", page, "--out", data
    result = run_cutnode(*words)
    assert result.exit_code == 0
    assert result.stdout.splitlines()[1] == tictactoe.summary()[0]
    written = read_study(data)
    assert (written.samples, written.summary()) == (tictactoe.samples, tictactoe.summary())
    assert f'<p class="summary">{tictactoe.summary()[0]}' in page.read_text()
    assert read_study(page).rows == tictactoe.rows
    assert run_cutnode("design", "no_game.py").exit_code == 2


# Solved games

SOLVED = {
    "tictactoe": 0,
    "connect4:4x4": 0,
    "connect4:5x4": 0,
    "connect4:5x5": 0,
    "hex:3x3": 1,
    "hex:4x4": 1,
    "mnk:4x3x3": 1,
    "domineering:4x4": 1,
    "kayles:5": 1,
    "nogo:3x3": None,
}
"""Games whose values are known: the sign for the first player; None: by the solver alone."""


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("game", SOLVED)
def test_reports_agree_with_solved_games(game: str) -> None:
    a, b = (design(game, pairs=20, seed=seed) for seed in (1, 2))
    expected = SOLVED[game]
    if expected is None:
        value = solve(load_game(game).start()).value
        expected = (value > 0) - (value < 0)
    for study in (a, b):
        value = figure(study, "value", "exact value")[0]
        assert (value > 0) - (value < 0) == expected
        strongest = figures_of(study)[0].strongest
        if expected:  # players of 256 nodes do not hold every draw
            assert (strongest["figure"] - 0.5) * expected > 0
    for row, other in zip(a.rows, b.rows, strict=True):
        if "figure_low" in row and row["part"] in ("size", "first player", "draws"):
            assert row["figure_low"] <= other["figure_high"], row
            assert other["figure_low"] <= row["figure_high"], row
