"""Uniform trees: the values and statistics that their models promise, and notation."""

from __future__ import annotations

import itertools

import pytest

from cutnode import alphabeta, legal_moves, load_game, minimax, solve_many
from cutnode.conformance import check
from cutnode.contract.verbs import evaluate, outcome, play
from cutnode.games import uniform
from cutnode.games.uniform import key, parse_position, path, position_text, start

pytestmark = pytest.mark.once

VARIANTS = (
    *("3x3,incremental", "5x4,ordered=60,noise=30,seed=7", "4x5,ordered", "5x3,random,seed=5"),
    *("1x5", "1x64,ordered=0", "2x63,incremental", "40x12,ordered=0,noise=1000"),
)


@pytest.mark.parametrize("variant", VARIANTS)
def test_rules_of_variants(variant):
    assert check(load_game(f"uniform:{variant}"), games=4, compile=False) == []


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("variant", [v for v in VARIANTS if v[:2] != "40"])
def test_variants(variant):
    assert check(load_game(f"uniform:{variant}"), games=10) == []


def below(position, plies):
    """Return the descendants of a position *plies* plies below."""
    level = [position]
    for _ in range(plies):
        level = [play(parent, move) for parent in level for move in legal_moves(parent)]
    return level


def value(position):
    """Return the value by minimax."""
    over, final = outcome(position)
    return final if over else max(-value(child) for child in below(position, 1))


def assert_evenly_in(numbers, least, most):
    """Assert that numbers are evenly distributed in a range that includes its ends.

    This checks the count in each tenth, the mean, and the independence of neighbours, to 4 standard
    errors.
    """
    count, size = len(numbers), most - least + 1
    assert least <= min(numbers) and max(numbers) <= most
    unit = [(number - least + 0.5) / size for number in numbers]
    sigma = (count / 12) ** 0.5
    assert abs(sum(unit) - count / 2) < 4 * sigma
    for tenth in range(10):
        least_of_tenth, end_of_tenth = (-(-part * size // 10) for part in (tenth, tenth + 1))
        share = (end_of_tenth - least_of_tenth) / size
        inside = sum(least_of_tenth <= number - least < end_of_tenth for number in numbers)
        assert abs(inside - count * share) < 4 * (count * share * (1 - share)) ** 0.5
    products = sum((a - 0.5) * (b - 0.5) for a, b in itertools.pairwise(unit))
    assert abs(products) < 4 * count**0.5 / 12


# Models


def test_random_values_are_of_all_sizes():
    assert_evenly_in([leaf.value for leaf in below(start("8x4,random"), 4)], -32000, 32000)
    assert_evenly_in([start(f"8x4,seed={seed}").value for seed in range(2000)], -32000, 32000)


def test_incremental_values_are_sums():
    root = start("8x4,incremental")
    assert root.value == 0
    steps = [
        -child.value - parent.value
        for plies in range(4)
        for parent in below(root, plies)
        for child in below(parent, 1)
    ]
    assert_evenly_in(steps, -100, 100)


@pytest.mark.parametrize("percent", [100, 75, 20, 0])
def test_quality_is_how_often_the_first_move_is_best(percent):
    best, losses = [], []
    for parent in itertools.chain(*(below(start(f"5x6,ordered={percent}"), n) for n in range(6))):
        lost = [parent.value + child.value for child in below(parent, 1)]
        assert lost.count(0) == 1
        best.append(lost.index(0))
        losses += [loss for loss in lost if loss]
    assert_evenly_in(losses, 1, 100)
    count = len(best)
    share = percent / 100
    for move in range(5):
        expected = share if move == 0 else (1 - share) / 4
        tolerance = 4 * (count * expected * (1 - expected)) ** 0.5
        assert abs(best.count(move) - count * expected) <= tolerance


@pytest.mark.parametrize("variant", ["4x5,ordered", "3x6,ordered=50,noise=7", "1x9,ordered=0"])
def test_ordered_values_are_known(variant):
    for plies in range(3):
        for position in below(start(variant), plies):
            assert position.value == value(position)


def plain_roots(count):
    """Return small trees in plain Python, which takes less time than compiling their search."""
    names = (f"uniform:5x4,ordered=60,noise=30,seed={seed}" for seed in range(count))
    return [load_game(name, plain=True).start() for name in names]


def test_ordered_values_are_minimax_values():
    for root in plain_roots(20):
        assert root.value == minimax(root).value == alphabeta(root).value
        assert {minimax(root, depth).value for depth in range(4)} != {root.value}


def test_solver_finds_the_values():
    roots = plain_roots(20)
    assert solve_many(roots).values.tolist() == [root.value for root in roots]


def test_values_of_ordered_roots():
    roots = [start(f"5x4,ordered,seed={seed}").value for seed in range(3000)]
    assert_evenly_in(roots, -1000, 1000)


@pytest.mark.parametrize("model", ["incremental", "ordered"])
def test_noise_is_of_evaluations_alone(model):
    noisy, exact = start(f"6x5,{model},noise=40"), start(f"6x5,{model}")
    inner = below(noisy, 4)
    assert [tuple(node) for node in inner] == [tuple(node) for node in below(exact, 4)]
    assert_evenly_in([evaluate(node) - node.value for node in inner], -40, 40)
    assert all(evaluate(leaf) == leaf.value for leaf in below(inner[0], 1))


@pytest.mark.parametrize("model", uniform.MODELS)
def test_depth_only_cuts_a_tree_off(model):
    shallow, deep = start(f"3x4,{model},seed=9"), start(f"3x9,{model},seed=9")
    for plies in range(4):
        leaves = [node.value for node in below(deep, plies)]
        assert leaves == [node.value for node in below(shallow, plies)]
        assert leaves == [evaluate(node) for node in below(deep, plies)]


# Trees and their classes


def test_seeds_are_trees_of_one_class():
    roots = [start(f"4x6,seed={seed}") for seed in (*range(1000), 2**64 - 1)]
    assert len({type(root) for root in roots}) == 1
    keys = {key(node) for root in roots for node in (root, *below(root, 1))}
    assert len(keys) == 5 * len(roots)
    assert start("4x6,seed=0") == start("4x6") == start()


# Text


def test_texts():
    root = start("8x6,seed=3")
    position = play(play(root, 0), 7)
    assert position_text(root) == "3/"
    assert position_text(position) == "3/0.7"
    assert parse_position(" 0.7\n", "8x6,seed=3") == parse_position("3/0.7", "8x6") == position
    assert parse_position("", "8x6,seed=3") == parse_position("3/", "8x6") == root


@pytest.mark.parametrize("variant", ["2x63", "1x64", "256x7", "40x12"])
def test_paths_of_the_largest_trees(variant):
    position = start(variant)
    last = position.WIDTH - 1
    while position.left:
        position = play(position, last)
    assert position.node < 2**64
    assert path(position) == [last] * position.DEPTH
    assert parse_position(position_text(position), variant) == position


def test_positions_are_shown():
    root = start("3x2,ordered=50,seed=4")
    assert str(root).splitlines()[:2] == [
        "tree 4 of 3x2,ordered=50",
        "moves none; 2 more to play",
    ]
    child = play(root, 2)
    assert f"2:{-child.value:+}" in str(root)
    assert str(play(child, 1)).splitlines()[1:] == [
        "moves 2 1; 0 more to play",
        f"final value {play(child, 1).value}",
    ]
    assert max(map(len, str(start("256x7")).splitlines())) <= 80
