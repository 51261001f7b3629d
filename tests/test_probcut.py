"""ProbCut: it cuts where shallow scores predict deep ones, and nowhere else."""

from __future__ import annotations

import json

import pytest
from commands import run_cutnode
from marks import compiled_only

from cutnode import Searcher, load_game, minimax
from cutnode.contract.dispatch import VERBS
from cutnode.contract.errors import CutnodeError, GameError
from cutnode.contract.verbs import deviation as deviation_of
from cutnode.contract.verbs import play
from cutnode.kernels.techniques import EXACT, choose
from cutnode.lab.deviation import deviation
from cutnode.tree.recording import record_tree

pytestmark = pytest.mark.once

STEADY = load_game("toys.steady", plain=True)
steady, START = STEADY.module, STEADY.start()
SOUND = choose(steady.Position, None, exact=True)


def test_games_tell_how_far_scores_are_apart():
    assert VERBS["deviation"](START, 8, 4) == 0
    assert "probcut" in choose(steady.Position, None)
    assert "probcut" not in EXACT | SOUND
    with pytest.raises(GameError, match="does not allow probcut: it does not define deviation"):
        Searcher(load_game("tictactoe"), techniques=["probcut"])
    with pytest.raises(CutnodeError, match="probcut is selective"):
        Searcher(START, techniques=["probcut"], exact=True)


@compiled_only
@pytest.mark.parametrize("depth", [5, 7, 8])
def test_where_shallow_scores_are_true_nothing_is_lost(depth):
    probing = Searcher(START, techniques=SOUND | {"probcut"})
    exact = Searcher(START, exact=True)
    for position in (START, *(play(START, move) for move in range(3))):
        exact.clear()
        probing.clear()
        wanted, found = (each.search(position, depth=depth) for each in (exact, probing))
        assert found.value == wanted.value == position.value
        assert not found.proven and not found.exact
        assert wanted.statistics.probcut_tries == 0
        counts = found.statistics
        assert 0 < counts.probcut_cutoffs <= counts.probcut_tries
        if depth > 6:
            assert found.nodes < wanted.nodes


@compiled_only
def test_a_game_that_tells_no_deviation_is_searched_as_before():
    """The same tree as a game of ``uniform``, whose search does not use ProbCut."""
    twin = load_game("uniform:5x12,ordered=75", plain=True).start()._replace(value=START.value)
    for exact in (True, False):
        techniques = choose(type(twin), None, exact=exact)
        results = [Searcher(at, techniques=techniques).search(at, depth=7) for at in (START, twin)]
        told, untold = ((result.nodes, result.value, result.pv) for result in results)
        assert told == untold


@compiled_only
def test_what_foretelling_saw_does_not_count_against_a_proof():
    """At the end of the tree scores are proven, with and without ProbCut."""
    for text in ("0 1 2 3 4 0", "4 3 2 1 0 0 1"):
        position = STEADY.parse(text)
        result = Searcher(START, techniques=SOUND | {"probcut"}).search(position, depth=12)
        assert result.value == position.value == minimax(position, position.left).value


def test_othello_tells_more_deviation_later_and_for_shallower_searches():
    start = load_game("othello").start()
    late = load_game("othello:8x8").parse("X" * 30 + "O" * 24 + "-" * 10 + " X")
    for position in (start, late):
        apart = [deviation_of(position, 8, shallow) for shallow in (0, 2, 4, 6)]
        assert apart == sorted(apart, reverse=True) and 1 < apart[-1] < apart[0] < 12
    assert deviation_of(start, 12, 6) < deviation_of(late, 12, 6)


@compiled_only
@pytest.mark.slow
def test_othello_is_foretold():
    start = load_game("othello").start()
    probing = Searcher(start, techniques=choose(type(start), None, exact=True) | {"probcut"})
    results = [each.search(start, depth=10) for each in (probing, Searcher(start, exact=True))]
    counts = [result.statistics for result in results]
    assert counts[0].probcut_cutoffs > 0 == counts[1].probcut_tries
    assert results[0].nodes < results[1].nodes
    assert abs(results[0].value - results[1].value) <= 4


def test_a_tree_tells_who_was_asked():
    tree = record_tree(START, 6, techniques=SOUND | {"probcut"}, plies=9, width=9, size=9999)
    nodes = list(tree.root.walk())
    asked = [node for node in nodes if "ProbCut by 2 plies" in node.notes]
    cut = [node for node in nodes if node.reason == "ProbCut"]
    assert asked and cut
    assert all(node.notes and not node.children for node in cut)
    for node in nodes:
        assert node.nodes >= 1 + sum(child.nodes for child in node.children)


# The measurement

GAME = "connect4:5x4"


@compiled_only
@pytest.mark.slow
@pytest.mark.long
def test_the_laboratory_compares_depths():
    study = deviation(load_game(GAME).start(), 5, games=40)
    pairs = {(row["deep"], row["shallow"]) for row in study.rows}
    assert pairs == {(2, 0), (3, 1), (4, 0), (4, 2), (5, 1), (5, 3)}
    assert all(row["deviation"] > 0 for row in study.rows)
    assert study.notes[-1].startswith("deviation = exp(")
    arguments = ["lab", "deviation", GAME, "--depth", "5", "--games", "40", "--json"]
    printed = json.loads(run_cutnode(*arguments).output)
    assert printed["rows"] == study.rows
    assert printed["settings"] == study.settings


def test_the_laboratory_says_what_it_cannot_compare():
    with pytest.raises(GameError, match="ur is a game of chance"):
        deviation(load_game("ur").start(), 4)
    for depth, games, message in ((1, 1, "depth must be 2"), (4, 0, "games must be at least 1")):
        with pytest.raises(CutnodeError, match=message):
            deviation(load_game("tictactoe").start(), depth, games=games)
