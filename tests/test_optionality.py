"""Optionality: advantages and weights, presets, one compilation for all weights, features."""

from __future__ import annotations

import json
import pickle
from fractions import Fraction
from random import Random

import pytest
from commands import run_cutnode
from hypothesis import given
from hypothesis import strategies as st
from marks import compiled_only
from toys import boxes

from cutnode import (
    CutnodeError,
    GameError,
    Optionality,
    Searcher,
    Table,
    alphabeta,
    compiled,
    count_moves,
    legal_moves,
    load_game,
    minimax,
    rebuild,
)
from cutnode.contract.counting import NOWHERE
from cutnode.contract.dispatch import game_constant
from cutnode.contract.messages import position_text
from cutnode.contract.notation import notation_of
from cutnode.contract.verbs import evaluate, features, outcome, play, turn
from cutnode.kernels.evaluation import evaluation_of
from cutnode.kernels.optionality import FEATURES, PRESETS, advantage
from cutnode.kernels.reference import minimax_node
from cutnode.kernels.search import search_root

NAMES = ("breakthrough:5x5", "breakthrough:3x4", "kalah:4x3", "kalah", "connect4:5x4")
GAME = load_game("breakthrough:3x4")


@st.composite
def reached(draw, names=NAMES):
    """A position that is not over, after random moves."""
    position = load_game(draw(st.sampled_from(names))).start()
    for choice in draw(st.lists(st.integers(0, 30), max_size=40)):
        moves = legal_moves(position)
        child = play(position, moves[choice % len(moves)])
        if outcome(child)[0]:
            break
        position = child
    return position


# The formula


@pytest.mark.parametrize(
    ("mine", "theirs", "wanted"), [(0, 0, 0), (3, 0, 1), (0, 2, -1), (3, 1, 0.5), (2, 2, 0)]
)
def test_advantage(mine, theirs, wanted):
    assert advantage(mine, theirs) == wanted


@given(reached(), st.sampled_from(sorted(PRESETS)))
def test_weighted_advantages_are_added(position, name):
    numbers = list(map(Fraction, features(position)))
    total = Fraction(0)
    for at, weight in enumerate(PRESETS[name][:6]):
        mine, theirs = numbers[2 * at : 2 * at + 2]
        total += weight * (mine - theirs) / (mine + theirs) if mine + theirs else 0
    unit = game_constant(type(position), "UNIT", 100)
    for share in (0.0, 0.5, 1.0):
        wanted = evaluate(position) + Fraction(share) * unit * total / 100
        found = PRESETS[name]._replace(share=share)(position)
        assert abs(found - wanted) <= Fraction(501, 1000)
        if share == 0:
            assert found == evaluate(position)


def test_estimates_are_limited():
    huge = Optionality(*[32000] * 6, share=32000)
    position = load_game("breakthrough:5x5").parse("oo.../...../...../...../..x.. x")
    assert huge(position) == -32000


def test_presets():
    assert Optionality._fields[:6] == FEATURES
    assert set(PRESETS) == {"balanced", "aggressive", "economic"}
    for name, preset in PRESETS.items():
        assert sum(preset[:6]) == 100 and preset.share == 1
        assert evaluation_of(type(GAME.start()), name) == preset
        assert preset.name == name
    assert Optionality(1, 2, 3, 4, 5, 6, 0.5).name == "optionality 1, 2, 3, 4, 5, 6, 0.5"


def test_jittered_weights():
    preset = PRESETS["balanced"]
    random = Random(1)
    styles = [preset.jittered(random) for _ in range(200)]
    assert len(set(styles)) == 200
    for style in styles:
        assert style.share == preset.share
        assert all(0.5 * w <= found <= 1.5 * w for w, found in zip(preset, style[:6], strict=False))
    factors = [found / w for w, found in zip(preset, styles[0][:6], strict=False)]
    assert len(set(factors)) == 6
    assert preset.jittered(Random(3)) == preset.jittered(Random(3))
    assert preset.jittered(Random(3), 2, 2) == Optionality(50, 30, 60, 30, 20, 10)
    assert pickle.loads(pickle.dumps(styles[0])) == styles[0]


@pytest.mark.parametrize("wrong", [float("nan"), float("inf"), 1e9, "5", None, 10**400, 1j])
def test_invalid_weights(wrong):
    optionality = Optionality(1, 2, 3, wrong, 5, 6)
    with pytest.raises(
        CutnodeError, match="territory of an optionality must be a number from -32000"
    ):
        Searcher(GAME, evaluation=optionality)


def test_games_without_features():
    words = "tictactoe has no features to weigh: .* defines features"
    for evaluation in ("balanced", PRESETS["economic"]):
        with pytest.raises(GameError, match=words):
            Searcher(load_game("tictactoe"), evaluation=evaluation)
        with pytest.raises(GameError, match=words):
            minimax(load_game("tictactoe").start(), 2, evaluation=evaluation)


def test_invalid_names():
    words = "connect4 has no evaluation 'economical' .did you mean 'economic'"
    with pytest.raises(GameError, match=words):
        Searcher(load_game("connect4"), evaluation="economical")
    with pytest.raises(GameError, match="boxes has no evaluation 'lines'; it has only its own"):
        Searcher(boxes.start(), evaluation="lines")


# In a search


@pytest.fixture(scope="module")
def table():
    return Table(1)


@pytest.mark.slow
@pytest.mark.long
@compiled_only
def test_weights_share_compiled_code():
    cls = type(GAME.start())
    for kernel in (search_root, minimax_node):
        codes = {kernel.specialise(cls, evaluation_of(cls, style)) for style in styles(4)}
        assert len(codes) == 1


def styles(count):
    random = Random(9)
    whole = Optionality(25, 15, 30, 15, 10, 5)
    return [*PRESETS.values(), whole, *(whole.jittered(random) for _ in range(count))]


@pytest.mark.parametrize(
    "plain", [True, pytest.param(False, marks=[pytest.mark.slow, pytest.mark.long])]
)
def test_search_is_minimax_with_the_same_weights(table, plain):
    """One table serves all searches: entries of other weights must not be found."""
    game = load_game("breakthrough:3x4", plain=plain)
    position = game.start()
    values = set()
    for style in styles(4):
        engine = Searcher(game, evaluation=style._replace(share=2.0), exact=True, table=table)
        for depth in (1, 2, 3) if plain else (2, 4, 5):
            wanted = minimax(position, depth, evaluation=engine.evaluation)
            pruned = alphabeta(position, depth, evaluation=engine.evaluation)
            assert engine.search(position, depth=depth).value == wanted.value == pruned.value
            values.add((depth, wanted.value))
    assert len(values) > 8


@compiled_only
def test_compiled_estimates_are_those_of_plain_python():
    position, random = GAME.start(), Random(2)
    while not outcome(position)[0]:
        for style in styles(3):
            assert minimax(position, 0, evaluation=style).value == style(position)
        position = play(position, random.choice(legal_moves(position)))


def test_meaning_tells_weights_apart():
    few = [evaluation_of(type(GAME.start()), style) for style in styles(4)]
    assert len({evaluation.meaning for evaluation in few}) == len(set(few))
    assert few[0] == few[3] and few[0].meaning == few[3].meaning


@pytest.mark.long
@pytest.mark.slow
@compiled_only
def test_command_line():
    arguments = ["search", "breakthrough:3x4", "--depth", "3", "--evaluation", "economic", "--json"]
    result = run_cutnode(*arguments)
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["details"]["depth"] == 3
    arguments[1] = "tictactoe"
    result = run_cutnode(*arguments)
    assert result.exit_code == 2
    assert "tictactoe has no features to weigh" in result.stderr


# Counting


@given(reached())
def test_moves_are_counted(position):
    assert count_moves(position) == len(legal_moves(position))


def test_moves_of_finished_games_are_none():
    assert count_moves(load_game("tictactoe").parse("14253")) == 0


def test_nothing_is_kept():
    NOWHERE[7] = 1
    with pytest.raises(TypeError):
        NOWHERE[7]  # type: ignore[index]


@compiled
def evaluate_freedom(position):
    """Return the number of moves, counted in compiled code."""
    return count_moves(position)


@compiled_only
def test_moves_are_counted_in_compiled_code():
    from cutnode import Evaluation

    position, freedom = GAME.start(), Evaluation(evaluate_freedom)
    for move in (0, 0, 1):
        assert minimax(position, 0, evaluation=freedom).value == len(legal_moves(position))
        position = play(position, legal_moves(position)[move])


# Features of games, counted without bit tricks


def both(count, position, other):
    """Return what the mover and the opponent have, alternately."""
    pairs = zip(count(position), count(other), strict=True)
    return [number for pair in pairs for number in pair]


def breakthrough_features(position):
    rows = [list(row) for row in position_text(position)[:-2].split("/")]
    symbol, enemy = ("o", "x") if position.second else ("x", "o")
    if not position.second:
        rows.reverse()  # the mover's rows go up from the first
    stones = [(r, c) for r, row in enumerate(rows) for c, cell in enumerate(row) if cell == symbol]
    ahead = [(r + 1, c + d) for r, c in stones for d in (-1, 1)]
    attacked = {(r, c) for r, c in ahead if 0 <= c < len(rows[0]) and r < len(rows)}
    prey = [cell for cell in attacked if rows[cell[0]][cell[1]] == enemy]
    return len(legal_moves(position)), 0, len(stones), len(attacked), 0, len(prey)


@given(reached(("breakthrough:5x5", "breakthrough:3x4")))
def test_breakthrough(position):
    x, o = position_text(position)[:-2].split("/"), "xo"[not position.second]
    other = notation_of(type(position)).parse_position(f"{'/'.join(x)} {o}", position.VARIANT)
    assert list(features(position)) == both(breakthrough_features, position, other)


def kalah_features(position):
    size = position.HOUSES
    own = [position.mine >> 8 * n & 255 for n in range(size + 1)]
    again, most = 0, 0
    for move in legal_moves(position):
        child = play(position, move)
        again += turn(child) == turn(position) and own[move] % (2 * size + 1) == size - move
        store = (child.mine if turn(child) == turn(position) else child.theirs) >> 8 * size
        if own[move] % (2 * size + 1) != size - move:
            most = max(most, store - own[-1])
    return len(legal_moves(position)), again, own[-1], 0, sum(own[:-1]), most


@given(reached(("kalah:4x3", "kalah")))
def test_kalah(position):
    other = rebuild(position, position.theirs, position.mine, not position.second)
    assert list(features(position)) == both(kalah_features, position, other)


@given(reached(("connect4:5x4",)))
def test_connect4(position):
    rows = position_text(position).split("/")
    cells = {(r, c): cell for r, row in enumerate(rows) for c, cell in enumerate(row)}
    stones = sum(cell != "." for cell in cells.values())
    symbols = "ox" if stones % 2 else "xo"
    directions = ((0, 1), (1, 0), (1, 1), (1, -1))
    lines = [
        [(r + n * up, c + n * right) for n in range(4)]
        for r, c in cells
        for up, right in directions
    ]
    lines = [line for line in lines if all(cell in cells for cell in line)]
    counted = []
    wins = {}
    for own in symbols:
        free = [line for line in lines if all(cells[cell] in (own, ".") for cell in line)]
        threes = (line for line in free if sum(cells[cell] == own for cell in line) == 3)
        wins[own] = {cell for line in threes for cell in line if cells[cell] == "."}
        counted.append([0, 0, 0, len(free), 0, len(wins[own])])
    tops = [(r, c) for r, c in cells if cells[r, c] == "." and cells.get((r + 1, c), "x") != "."]
    for own, enemy in (symbols, symbols[::-1]):
        safe = [(r, c) for r, c in tops if (r - 1, c) not in wins[enemy]]
        counted[own == symbols[1]][0] = len(safe)
    assert list(features(position)) == [n for pair in zip(*counted, strict=True) for n in pair]
