"""Theory: published figures, consequences of first principles, and measurements by search."""

from __future__ import annotations

import itertools
from math import prod
from statistics import fmean, stdev

import pytest
from data import FOLDER, rows
from marks import LONG

from cutnode import CutnodeError, alphabeta, load_game, minimax
from cutnode.compiler.jit import jit_enabled
from cutnode.lab.formulas import (
    branching_factor,
    critical_tree,
    expected_leaves_of_two_plies,
    fixed_point,
    leaves,
    minimal_leaves,
    minimal_nodes,
    nodes,
    win_loss_tree,
)

pytestmark = pytest.mark.once

AFFORDABLE = 300_000 if jit_enabled() else 3_000
"""The most leaves that a test may visit in one tree."""

TREES = 1_000 if jit_enabled() else 50
"""The number of trees over which a test takes the mean."""


def facts(name):
    return rows(FOLDER / "theory" / f"{name}.txt")


def tree(variant):
    return load_game(f"uniform:{variant}").start()


# Published figures


@pytest.mark.parametrize("fact", facts("minimal_leaves"), ids="x".join)
def test_published_minimal_leaves(fact):
    width, depth, count = map(int, fact)
    assert minimal_leaves(width, depth) == count


@pytest.mark.parametrize(("width", "xi", "factor"), facts("branching_factors"))
def test_published_branching_factors(width, xi, factor):
    assert fixed_point(int(width)) == pytest.approx(float(xi), abs=6e-10)
    assert branching_factor(int(width)) == pytest.approx(float(factor), abs=6e-7)


@pytest.mark.parametrize(("width", "mean"), facts("two_plies"))
def test_published_leaves_of_two_plies(width, mean):
    assert expected_leaves_of_two_plies(int(width)) == pytest.approx(float(mean), abs=6e-7)


@pytest.mark.parametrize("fact", facts("win_loss"), ids=lambda fact: "-".join(fact[:2]))
def test_published_trees_of_wins_and_losses(fact):
    width, at_leaves, *published = fact
    win = fixed_point(int(width)) if at_leaves == "xi" else float(at_leaves)
    trees = list(itertools.islice(win_loss_tree(int(width), win), 13))
    for depth, at_root, mean in map(str.split, published):
        assert trees[int(depth)].win == pytest.approx(float(at_root), abs=6e-10)
        assert trees[int(depth)].leaves == pytest.approx(float(mean), rel=1e-10, abs=6e-7)


# First principles


def search(values, width, alpha=-99, beta=99):
    """Return the value and the number of leaves evaluated by alpha-beta over a list of leaves."""
    if len(values) == 1:
        return values[0], 1
    part, count = len(values) // width, 0
    for at in range(0, len(values), part):
        value, seen = search(values[at : at + part], width, -beta, -alpha)
        alpha, count = max(alpha, -value), count + seen
        if alpha >= beta:
            break
    return alpha, count


def test_two_plies_of_width_2_in_every_order():
    counts = [search(order, 2)[1] for order in itertools.permutations(range(4))]
    assert expected_leaves_of_two_plies(2) == pytest.approx(fmean(counts), rel=1e-12)


@pytest.mark.parametrize(("width", "depth"), [(2, 1), (2, 2), (2, 3), (3, 2), (5, 1)])
@pytest.mark.parametrize("win", [0.0, 0.25, 0.6, 1.0])
def test_wins_and_losses_of_every_tree(width, depth, win):
    won = evaluated = 0.0
    for values in itertools.product((0, 1), repeat=width**depth):
        odds = prod(win if value else 1 - win for value in values)
        value, count = search([2 * value - 1 for value in values], width, -1, 1)
        won += odds * (value > 0)
        evaluated += odds * count
    expected = next(itertools.islice(win_loss_tree(width, win), depth, None))
    assert expected == pytest.approx((won, evaluated), rel=1e-12)


@pytest.mark.parametrize("width", [1, 2, 3, 10])
def test_critical_trees(width):
    for depth in range(8):
        levels = critical_tree(width, depth)
        assert [sum(level) for level in levels] == [
            minimal_leaves(width, ply) for ply in range(depth + 1)
        ]
        assert minimal_nodes(width, depth) == sum(map(sum, levels)) <= nodes(width, depth)
    assert critical_tree(3, 4)[2:] == [(1, 2, 2), (1, 8, 2), (1, 8, 8)]


def test_win_probability_at_the_fixed_point_stays():
    for width in (1, 2, 5, 100):
        xi = fixed_point(width)
        one_ply = next(itertools.islice(win_loss_tree(width, xi), 1, None))
        assert one_ply == pytest.approx((xi, branching_factor(width)), rel=1e-12)


@pytest.mark.parametrize("count", [leaves, nodes, minimal_leaves, minimal_nodes, critical_tree])
def test_shapes_of_no_tree(count):
    with pytest.raises(CutnodeError, match="width must be at least 1, got 0"):
        count(0, 3)
    with pytest.raises(CutnodeError, match="depth must be at least 0, got -1"):
        count(3, -1)


def test_probabilities_of_no_leaf():
    for win in (-0.1, 1.1, float("nan")):
        with pytest.raises(CutnodeError, match="win must be a probability"):
            next(win_loss_tree(2, win))


# Measured


@pytest.mark.parametrize(
    "shape", ["5x12", *(pytest.param(s, marks=LONG) for s in ("1x12", "2x24", "17x5"))]
)
def test_alphabeta_visits_the_critical_tree(shape):
    width, deepest = map(int, shape.split("x"))
    for seed, depth in itertools.product((1, 2), range(deepest + 1)):
        if minimal_leaves(width, depth) > AFFORDABLE:
            break
        root = tree(f"{shape},ordered,seed={seed}")
        result = alphabeta(root, depth)
        assert result.value == root.value
        assert result.leaves == minimal_leaves(width, depth)
        assert result.nodes == minimal_nodes(width, depth)


@pytest.mark.parametrize("variant", ["5x12,ordered", "5x12,random"])
def test_minimax_visits_all(variant):
    root = tree(variant)
    for depth in range(root.DEPTH + 1):
        if leaves(root.WIDTH, depth) > AFFORDABLE:
            break
        result = minimax(root, depth)
        assert result.leaves == leaves(root.WIDTH, depth)
        assert result.nodes == nodes(root.WIDTH, depth)


@pytest.mark.long
@pytest.mark.slow
def test_worse_order_takes_more():
    def mean(model):
        roots = (tree(f"5x12,{model},seed={seed}") for seed in range(TREES // 20))
        return fmean(alphabeta(root, 6).leaves for root in roots)

    best, good, worst = map(mean, ("ordered", "ordered=80", "ordered=0"))
    assert minimal_leaves(5, 6) == best < good < worst < leaves(5, 6)


def sample(variant, depth):
    """Return the mean number of leaves that alpha-beta evaluates, and its standard error."""
    counts = [alphabeta(tree(f"{variant},seed={seed}"), depth).leaves for seed in range(TREES)]
    return fmean(counts), stdev(counts) / TREES**0.5


QUICK = {("5", "random"), ("5", "incremental")}
MEANS = [
    pytest.param(
        *(model, int(width), int(depth), float(mean), float(error)),
        id=f"{model}-{width}x{depth}",
        marks=[] if (width, model) in QUICK else LONG,
    )
    for model in ("random", "incremental")
    for width, depth, mean, error in facts(model)
]


@pytest.mark.parametrize(("model", "width", "depth", "mean", "error"), MEANS)
def test_published_means(model, width, depth, mean, error):
    """Within 4 standard errors; depth-limited searches, so that one class has all depths."""
    if mean > AFFORDABLE / 10:
        pytest.skip("too much for plain Python")
    measured, uncertainty = sample(f"{width}x12,{model}", depth)
    assert abs(measured - mean) < 4 * (error**2 + uncertainty**2) ** 0.5


def test_two_plies_measured():
    measured, uncertainty = sample("5x12,random", 2)
    assert abs(measured - expected_leaves_of_two_plies(5)) < 4 * uncertainty


def test_end_of_the_game_is_a_depth():
    for seed in range(TREES // 20):
        root = tree(f"2x12,seed={seed}")
        assert alphabeta(root).leaves == alphabeta(root, 12).leaves
