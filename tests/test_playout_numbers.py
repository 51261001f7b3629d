"""Proof numbers in the tree of Monte Carlo tree search: they are right, and so are its proofs."""

from __future__ import annotations

from math import inf
from random import Random
from types import SimpleNamespace

import pytest
from test_monte_carlo import SMALL, compiled_too, holds, random_position
from toys import race

from cutnode import CutnodeError, load_game, minimax, solve
from cutnode.contract.choices import PROOF_FORMULAS
from cutnode.contract.verbs import play
from cutnode.kernels.playout_numbers import set_biases
from cutnode.kernels.playout_tree import ROOT
from cutnode.search.monte_carlo import MonteCarlo

pytestmark = pytest.mark.once


def assert_numbers(tree):
    """Assert that each node has the numbers of its bounds, or else of its children."""
    columns = tree.columns
    waiting = [ROOT]
    while waiting:
        node = waiting.pop()
        children = tree.children(node)
        waiting += children
        lower, upper = int(columns["lower"][node]), int(columns["upper"][node])
        wins, losses = 1.0, 1.0
        if children:
            least = min(float(columns["wins"][child]) for child in children)
            total = sum(float(columns["losses"][child]) for child in children)
            wins, losses = (least, total) if columns["same"][node] else (total, least)
        wins = 0 if lower > 0 else inf if upper <= 0 else wins
        losses = 0 if upper < 0 else inf if lower >= 0 else losses
        found = float(columns["wins"][node]), float(columns["losses"][node])
        assert found == pytest.approx((wins, losses), rel=1e-5)


@pytest.mark.parametrize("formula", PROOF_FORMULAS)
def test_proofs_and_numbers_of_positions_of_tictactoe(formula):
    dice = Random(formula)
    game = load_game("tictactoe", plain=True)
    search = MonteCarlo(game, memory=SMALL, proof_bias=0.5, proof_formula=formula)
    proven = 0
    for number in range(8):
        position = random_position(game.start(), 7, dice)
        result = search.search(position, playouts=150, seed=number)
        assert holds(result, minimax(position).value)
        assert_numbers(search.tree)
        if result.proven:
            assert holds(result, -minimax(play(position, result.best_move)).value)
            proven += 1
    assert proven > 2


@compiled_too
@pytest.mark.slow
@pytest.mark.parametrize("formula", PROOF_FORMULAS)
@pytest.mark.parametrize(
    "name",
    [
        "connect4:4x4",
        *(
            pytest.param(name, marks=pytest.mark.long)
            for name in ("breakthrough:4x4", "kalah:2x3", "othello:4x4", "toys.boxes", "toys.duel")
        ),
    ],
)
def test_proofs_of_random_positions(name, formula):
    game = load_game(name)
    dice = Random(name)
    search = MonteCarlo(game, memory=SMALL, selection="uct", proof_bias=0.5, proof_formula=formula)
    proven = 0
    for number in range(100):
        position = random_position(game.start(), 30, dice)
        result = search.search(position, playouts=2000, seed=number)
        value = solve(position).value
        assert holds(result, value), (position, result)
        columns = search.tree.columns
        assert columns["wins"][ROOT] > 0 or value > 0
        assert columns["losses"][ROOT] > 0 or value < 0
        if result.decisive:
            assert_numbers(search.tree)
        proven += result.proven
    assert proven > (30 if name in ("connect4:4x4", "breakthrough:4x4", "othello:4x4") else 0)


def test_formulas():
    """The numbers 2, 4, 4 and infinity; a proven win has the greatest bias."""
    expected = {
        "rank": (1 - 1 / 4, 1 - 2 / 4, 1 - 2 / 4, 0),
        "max": (1, 1 - 2 / 3, 1 - 2 / 3, 0),
        "sum": (1 - 2 / 11, 1 - 4 / 11, 1 - 4 / 11, 0),
    }
    for formula, name in enumerate(PROOF_FORMULAS):
        siblings = [SimpleNamespace(wins=number, bias=None) for number in (2, 4, 4, inf)]
        set_biases(0, 4, SimpleNamespace(proof_formula=formula), siblings)
        assert [each.bias for each in siblings] == pytest.approx(expected[name])
        siblings = [SimpleNamespace(wins=number, bias=None) for number in (0, inf)]
        set_biases(0, 2, SimpleNamespace(proof_formula=formula), siblings)
        assert siblings[0].bias > siblings[1].bias == 0


@compiled_too
def test_plain_python_numbers_the_same_tree():
    for formula in PROOF_FORMULAS:
        found = []
        for plain in (False, True):
            game = load_game("tictactoe", plain=plain)
            search = MonteCarlo(game, memory=SMALL, proof_bias=1.0, proof_formula=formula)
            result = search.search(game.start(), playouts=300, seed=2)
            found.append((result.value, result.nodes, result.statistics.tree_size))
        assert found[0] == found[1]


def test_a_search_without_the_solver_proves_nothing():
    game = load_game("tictactoe", plain=True)
    position = game.parse("15937")
    for no_solver in (False, True):
        search = MonteCarlo(game, memory=SMALL, no_solver=no_solver)
        result = search.search(position, playouts=300)
        assert result.proven != no_solver
        assert holds(result, minimax(position).value)


@pytest.mark.parametrize(
    ("game", "options", "message"),
    [
        ("tictactoe", {"rave": 10.0}, "rave and proof_bias exclude each other"),
        ("tictactoe", {"no_solver": True}, "no_solver and proof_bias exclude each other"),
        ("tictactoe", {"proof_formula": "mean"}, "proof_formula must be one of rank, max, sum"),
        ("tictactoe", {"proof_bias": -1}, "proof_bias must be at least 0"),
        (race.Position(), {}, "race is a game of chance"),
    ],
    ids=str,
)
def test_options_that_do_not_go_together(game, options, message):
    game = load_game(game, plain=True) if isinstance(game, str) else game
    with pytest.raises(CutnodeError, match=message):
        MonteCarlo(game, **{"proof_bias": 1.0, **options})
