"""Studies of theory: counts confirmed by formulas and plain searches."""

from __future__ import annotations

import functools

import pytest
from click.testing import CliRunner
from marks import compiled_only
from toys import boxes, duel, race

from cutnode import CutnodeError, GameError, alphabeta, load_game
from cutnode.cli.lab import lab
from cutnode.contract.derived import legal_moves
from cutnode.contract.verbs import outcome, play
from cutnode.lab import minimal
from cutnode.lab import theory as uniform
from cutnode.lab.formulas import branching_factor, minimal_leaves, minimal_nodes
from cutnode.lab.minimal import expected_leaves, minimal_graph
from cutnode.lab.searches import SEARCHES
from cutnode.lab.theory import theory

pytestmark = [compiled_only, pytest.mark.once]

TICTACTOE = load_game("tictactoe").start()
TREE = load_game("uniform:4x12,random").start()


def of(study, **wanted):
    """Return the rows with the *wanted* figures."""
    return [row for row in study.rows if wanted.items() <= row.items()]


# Uniform trees


def test_perfect_order_takes_the_fewest_leaves():
    study = theory((4,), (3, 6, 7), ("ordered",), range(3), searches=("plain",))
    assert len(study.rows) == 3
    for row in study.rows:
        assert row["leaves"] == row["minimal"] == minimal_leaves(row["width"], row["depth"])
        assert (row["ratio"], row["error"]) == (1.0, 0.0)


def test_growth_of_random_trees():
    study = theory((4,), (6, 7, 8, 9), ("random",), range(100), searches=("plain",))
    six, seven, eight, nine = study.rows
    assert six["growth"] is seven["growth"] is None
    assert eight["growth"] == pytest.approx((eight["leaves"] / six["leaves"]) ** 0.5)
    for row in (eight, nine):
        assert row["perfect"] < row["growth"] == pytest.approx(branching_factor(4), rel=0.12)
        assert row["exponent"] == pytest.approx(0.7, abs=0.06)


def test_one_parity_is_not_compared_with_the_other():
    study = theory((4,), (3, 4), ("random",), (0,), searches=("plain",))
    assert [(row["growth"], row["error"]) for row in study.rows] == [(None, None)] * 2


@pytest.mark.long
@pytest.mark.slow
def test_worse_order_is_further_from_the_fewest():
    models = ("ordered", "ordered=75", "ordered=0")
    study = theory((4,), (6,), models, range(20), searches=("plain",))
    best, good, worst = (row["ratio"] for row in study.rows)
    assert 1 == best < good < worst


@pytest.mark.slow
@pytest.mark.long
def test_all_searches_of_random_trees():
    study = theory((4,), (2, 4), ("random",), range(5))
    assert [row["search"] for row in study.rows[::2]] == list(SEARCHES)
    assert all(row["leaves"] >= row["minimal"] for row in study.rows)
    plain = [alphabeta(tree, 4).leaves for tree in trees(5)]
    assert of(study, search="plain", depth=4)[0]["leaves"] == sum(plain) / 5
    for column in study.columns:
        assert all(isinstance(study.text(row, column), str) for row in study.rows)


@pytest.mark.slow
@pytest.mark.long
def test_search_without_techniques_is_plain():
    study = theory((4,), (2, 4), ("random",), range(5), searches=("plain", "engine"))
    plain, engine = of(study, search="plain"), of(study, search="engine")
    assert [row["leaves"] for row in plain] == [row["leaves"] for row in engine]


def trees(count):
    return [load_game(f"uniform:4x12,random,seed={seed}").start() for seed in range(count)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"widths": ()}, "needs at least one width"),
        ({"depths": (0,)}, r"1\.\.63, got 0"),
        ({"searches": ("fast",)}, "unknown search 'fast': searches are plain, engine"),
        ({"models": ("sorted",)}, "neither a model"),
    ],
)
def test_studies_of_no_theory(options, message):
    with pytest.raises(CutnodeError, match=message):
        theory(**options)


# Minimal trees and graphs


@pytest.mark.long
@pytest.mark.slow
def test_minimal_tree_of_a_uniform_tree():
    """Knuth and Moore's formula, whatever the values; no transpositions, so the graph agrees."""
    study = minimal_graph(trees(2), (1, 4, 5), searches=("plain", "exact"))
    for name in ("minimal tree", "minimal graph"):
        rows = of(study, search=name)
        assert len(rows) == 3
        for row in rows:
            assert row["leaves"] == 2 * minimal_leaves(4, row["depth"])
            assert row["nodes"] == 2 * minimal_nodes(4, row["depth"])
            assert (row["above_tree"], row["above_graph"], row["late"]) == (1, 1, 0)
    for row in of(study, search="formula"):
        assert row["leaves"] == 2 * minimal_leaves(4, row["depth"])
    for sample in study.samples:
        if sample["search"] == "plain":
            fewest = minimal_nodes(4, sample["depth"])
            assert sample["above_tree"] == sample["nodes"] / fewest >= 1


def test_minimal_graph_of_tictactoe():
    study = minimal_graph(TICTACTOE, (3, 9), searches=("plain", "exact"))
    for depth in (3, 9):
        rows = {row["search"]: row for row in of(study, depth=depth)}
        graph, tree = rows["minimal graph"], rows["minimal tree"]
        assert 1 < graph["nodes"] <= tree["nodes"] < rows["plain"]["nodes"]
        assert (graph["late"], tree["late"]) == (0, 0)
        assert rows["exact"]["last"] <= rows["exact"]["nodes"]
        assert rows["plain"]["score"] == alphabeta(TICTACTOE, depth).value
    assert graph["nodes"] < tree["nodes"] / 2
    assert rows["plain"]["nodes"] == 20_866


def test_minimal_tree_is_no_smaller_than_a_proof():
    """The smallest proofs of each bound, from the true values of all positions."""
    depth = 5

    @functools.cache
    def value(position, left):
        return alphabeta(position, left, soonest=False).value

    def fewest(position, left, at_least, at_most):
        """Return the number of nodes in the smallest proof of one bound of the score."""
        if left == 0 or outcome(position)[0]:
            return 1
        children = [play(position, move) for move in legal_moves(position)]
        if at_least is None:
            return 1 + sum(fewest(child, left - 1, -at_most, None) for child in children)
        good = [child for child in children if -value(child, left - 1) >= at_least]
        return 1 + min(fewest(child, left - 1, None, -at_least) for child in good)

    score = value(TICTACTOE, depth)
    (tree,) = of(minimal_graph(TICTACTOE, (depth,), searches=()), search="minimal tree")
    assert tree["score"] == score
    proofs = [fewest(TICTACTOE, depth, score, None), fewest(TICTACTOE, depth, None, score)]
    assert max(proofs) < tree["nodes"] < alphabeta(TICTACTOE, depth).nodes


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("start", [boxes.start(), load_game("kalah:3x2").start()])
def test_minimal_tree_of_a_game_in_which_players_move_again(start):
    study = minimal_graph(start, (2, 3, 5), searches=("plain",))
    for row in of(study, search="plain"):
        assert row["score"] == alphabeta(start, row["depth"], depth_in="actions").value
        assert row["above_tree"] >= 1
    assert all(row["late"] == 0 for row in of(study, search="minimal tree"))


def test_formula_for_widths_that_change():
    assert expected_leaves([1, 3, 3, 0], [3, 6, 12, 0]) == 3 * 4 + 2 - 1
    assert expected_leaves([1, 5, 9, 9], [5, 25, 45, 45]) == minimal_leaves(5, 4)


def test_games_without_minimal_trees():
    for start, reason in ((race.Position(), "chance"), (duel.Position(), "repetition")):
        with pytest.raises(GameError, match=f"{reason}: its minimal tree"):
            minimal_graph(start, (2,))
    with pytest.raises(CutnodeError, match="needs at least one position and one depth"):
        minimal_graph([], (2,))


# Commands and plots


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("theory --widths 4 --depths 2 --models random --searches plain", "Knuth and Moore"),
        ("minimal tictactoe --depths 3 --searches plain", "minimal graph"),
    ],
    ids=lambda text: text.split()[0],
)
def test_commands(command, text):
    result = CliRunner().invoke(lab, command.split())
    assert result.exit_code == 0
    assert text in result.output


def test_invalid_numbers():
    result = CliRunner().invoke(lab, ["theory", "--widths", "2,x"])
    assert isinstance(result.exception, CutnodeError)
    assert str(result.exception) == "'2,x' is not a list of numbers such as 4,6,8"


def test_plots(tmp_path):
    pytest.importorskip("matplotlib")
    from cutnode.lab.plots import write_plot

    studies = {
        "theory": (
            theory((2, 4), (2, 4), ("random",), range(2), searches=("plain",)),
            uniform.draw,
        ),
        "minimal": (minimal_graph(TICTACTOE, (2, 3), searches=("plain",)), minimal.draw),
    }
    for name, (study, drawing) in studies.items():
        path = tmp_path / f"{name}.png"
        write_plot(study, drawing, str(path))
        assert path.read_bytes().startswith(b"\x89PNG")
