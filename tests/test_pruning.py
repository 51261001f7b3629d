"""Pruning: where it is allowed, estimates from the table, margins and null moves."""

from __future__ import annotations

import pytest

from cutnode import load_game
from cutnode.compiler.memory import Memory
from cutnode.contract.bits import Bits
from cutnode.contract.verbs import INFINITE, NO_MOVE
from cutnode.kernels.hooks import NodeInfo, plan
from cutnode.kernels.node import estimate_by, search_dtype
from cutnode.kernels.pruning import reverse_futility
from cutnode.kernels.scores import MOST_ESTIMATE, WIN
from cutnode.kernels.search import may_prune, null_move_node, promises_cutoff
from cutnode.kernels.table import packed_bounds

pytestmark = pytest.mark.once

PLAIN = load_game("chess", plain=True).start()


@pytest.fixture
def search():
    memory = Memory(type(PLAIN), search_dtype(type(PLAIN)), interpreted=True)
    memory["table_estimates"] = 1
    memory["win"] = WIN
    memory["step"] = 1
    memory["use_reverse_futility"] = 1
    memory["reverse_futility_depth"] = 6
    memory["reverse_futility_margin"] = 100
    memory["null_move_divisor"] = 3
    memory["null_move_reduction"] = 3
    memory["null_move_margin"] = 100
    return memory.argument


def node_at(depth, static_eval, *, beta=0, improving=False, estimate=None):
    return NodeInfo(
        PLAIN, None, Bits(1), None, beta - 1, beta, depth, 2, 0, NO_MOVE, 0, NO_MOVE, False, False,
        0, True, static_eval, improving, static_eval if estimate is None else estimate,
    )  # fmt: skip


def entry(lower, upper):
    return packed_bounds(lower, upper, 0)


@pytest.mark.parametrize(
    ("changes", "allowed"),
    [
        ({}, (True, True)),
        ({"beta": 9}, (False, False)),
        ({"beta": 9, "pvs_skips": 1}, (False, True)),
        ({"beta": 9, "pvs_skips": 1, "use_pvs": 0}, (False, False)),
        *(({name: 1, "pvs_skips": 1}, (False, False)) for name in ("exact", "in_check")),
        ({"ply": 0, "pvs_skips": 1}, (False, False)),
        ({"beta": WIN - 9, "pvs_skips": 1}, (False, False)),
    ],
)
def test_estimates_may_skip_moves_of_nodes_that_they_may_not_cut(search, changes, allowed):
    search.use_pvs = 1
    node = {"alpha": 0, "beta": 1, "ply": 2, "in_check": 0}
    for name, value in changes.items():
        if name in node:
            node[name] = value
        else:
            setattr(search, name, value)
    assert may_prune(*node.values(), search) == allowed


@pytest.mark.parametrize(
    ("lower", "upper", "estimate"),
    [
        (-INFINITE, INFINITE, 50),
        (-INFINITE, 80, 50),
        (20, INFINITE, 50),
        (90, INFINITE, 90),
        (-INFINITE, 10, 10),
        (70, 70, 70),
        (WIN - 5, INFINITE, MOST_ESTIMATE),
    ],
)
def test_a_bound_replaces_an_evaluation_that_contradicts_it(search, lower, upper, estimate):
    assert estimate_by(entry(lower, upper), 50, PLAIN, 2, search) == estimate


def test_an_evaluation_stands_where_bounds_are_not_wanted(search):
    bounds = entry(90, INFINITE)
    assert estimate_by(Bits(0), 50, PLAIN, 2, search) == 50
    assert estimate_by(bounds, -INFINITE, PLAIN, 2, search) == -INFINITE
    search.exact = 1
    assert estimate_by(bounds, 50, PLAIN, 2, search) == 50
    search.exact, search.table_estimates = 0, 0
    assert estimate_by(bounds, 50, PLAIN, 2, search) == 50


@pytest.mark.parametrize(
    ("depth", "improving", "less", "margin"),
    [
        (1, True, 0, 100),
        (1, False, 0, 200),
        (1, True, 100, 0),
        (1, True, 150, 0),
        (3, False, 50, 350),
    ],
)
def test_reverse_futility_has_a_margin_for_each_ply(search, depth, improving, less, margin):
    search.reverse_futility_less = less
    for above in (margin - 1, margin):
        node = node_at(depth, above, improving=improving)
        assert reverse_futility(node, plan(), search).cuts == (above == margin)


def test_reverse_futility_goes_by_the_better_estimate(search):
    assert reverse_futility(node_at(1, 0, estimate=300), plan(), search).score == 300
    assert not reverse_futility(node_at(1, 300, estimate=0), plan(), search).cuts


def test_a_null_move_needs_less_surplus_at_greater_depth(search):
    search.null_move_least, search.null_move_slope = 60, 10
    assert not promises_cutoff(node_at(3, 29), search)
    assert promises_cutoff(node_at(3, 30), search)
    assert promises_cutoff(node_at(6, 0), search)
    # However deep the node, the estimate must not be below beta, or below the evaluation.
    assert not promises_cutoff(node_at(12, -1), search)
    assert not promises_cutoff(node_at(6, 50, estimate=20), search)
    assert promises_cutoff(node_at(6, 20, estimate=50), search)


def test_a_null_move_is_reduced_by_depth_and_surplus(search):
    search.null_move_surplus = 2
    depths = [null_move_node(node_at(9, above), search).depth for above in (0, 99, 100, 250, 999)]
    assert depths == [2, 2, 1, 0, 0]
