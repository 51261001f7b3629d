"""Y: solved boards, all positions of small ones, rules, symmetry, estimates."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from positions import moves_by, reached, texts_of, values_as_claimed

from cutnode import legal_moves, load_game, solve
from cutnode.compiler.jit import jit_enabled
from cutnode.contract.boards import board
from cutnode.contract.verbs import (
    bounds,
    candidates,
    canonical,
    evaluate,
    forced,
    outcome,
    play,
    random_result,
)
from cutnode.games.y import joins_sides, move_text, place_of, triangle

pytestmark = pytest.mark.once

parse_position, position_text, start = texts_of("y")

# Values

POSITIONS = {"2": (7, 6), "3": (163, 94), "4": (10_630, 5_875)}
"""The reachable positions, including finished ones: won and lost for the mover.

Source: the tests of solved-games (B. Liou), in Rust.
"""


@pytest.mark.parametrize(
    "side", ["2", "3", pytest.param("4", marks=[pytest.mark.slow, pytest.mark.long])]
)
def test_all_positions(side):
    """The claims of bounds, candidates and similar verbs about all positions of a small board."""
    values = values_as_claimed(start(side))
    won = sum(value > 0 for value in values.values())
    assert (won, len(values) - won) == POSITIONS[side]


@pytest.mark.parametrize("side", ["2", "3", "4", "5"])
def test_the_first_player_wins(side):
    """By strategy stealing, as an extra stone anywhere never hurts."""
    assert solve(load_game(f"y:{side}", plain=True).start()).value == 1


@pytest.mark.slow
@pytest.mark.skipif(not jit_enabled(), reason="many nodes")
@pytest.mark.parametrize("engine", ["alphabeta", pytest.param("pn", marks=pytest.mark.long)])
@pytest.mark.parametrize("side", ["6", pytest.param("7", marks=pytest.mark.long)])
def test_the_first_player_wins_larger_boards(side, engine):
    assert solve(start(side), engine=engine).value == 1


# Rules


def sides_touched(stones, side):
    """Return the sides that each chain of stones touches; stones are pairs of row and column."""
    stones = set(stones)
    while stones:
        waiting, touched = [stones.pop()], set()
        while waiting:
            row, column = waiting.pop()
            touched |= {"left"} if column == 0 else set()
            touched |= {"right"} if column == row else set()
            touched |= {"bottom"} if row == side - 1 else set()
            for down, right in ((0, 1), (1, 0), (1, 1), (0, -1), (-1, 0), (-1, -1)):
                neighbour = row + down, column + right
                if neighbour in stones:
                    stones.remove(neighbour)
                    waiting.append(neighbour)
        yield touched


def joins(position, cells):
    """Return whether a chain of some cells touches all sides."""
    places = [place_of(position, bit) for bit in position.BITS if cells >> bit & 1]
    return any(len(touched) == 3 for touched in sides_touched(places, position.SIDE))


@pytest.mark.parametrize("side", [2, 3, 5, 8, 11, 19])
def test_one_player_joins_the_sides_of_a_full_board(side):
    cls, dice = triangle(side), Random(side)
    for _ in range(50):
        cells = dice.getrandbits(side**2) & cls.BOARD
        assert joins(cls, cells) != joins(cls, cls.BOARD & ~cells)
        assert joins_sides(cls, cells) == joins(cls, cells)


@given(reached("y"))
def test_the_end_of_a_game(position):
    mine, theirs = board(position, 0), board(position, 1)
    assert not joins(position, mine)
    assert outcome(position) == ((True, -1) if joins(position, theirs) else (False, 0))


@pytest.mark.parametrize(
    ("rows", "interval"),
    [
        ("x/x./.oo", (1, 1)),  # an immediate win
        ("x/x./.o.", (-1, 1)),  # which the opponent needs
        ("./x./...", (-1, -1)),  # bridges to two sides
        ("./x./o..", (-1, 1)),  # one of them is lost
    ],
)
def test_bounds(rows, interval):
    position = parse_position(rows, "3")
    assert bounds(position, -1, 1) == interval


def test_a_threat_leaves_one_move():
    position = parse_position("x/x./.o.", "3")
    assert move_text(position, forced(position)) == "a3"
    assert moves_by(candidates, position) == [forced(position)]


@pytest.mark.parametrize("text", ["4", "7"])
def test_results_of_random_games(text):
    """The win rate is the same as in games played out from a board with some stones."""
    dice, position = Random(text), start(text)
    while outcome(position)[0] or position == start(text):
        position = start(text)
        for move in dice.sample(position.BITS, len(position.BITS) // 3):
            position = play(position, move)
    games = 600
    drawn = sum(random_result(position, dice.getrandbits(64)) > 0 for _ in range(games))
    played = 0
    for _ in range(games):
        end, plies = position, 0
        while not outcome(end)[0]:
            end, plies = play(end, dice.choice(legal_moves(end))), plies + 1
        played += plies % 2
    share = (drawn + played) / (2 * games)
    assert abs(drawn - played) <= 4 * (2 * games * share * (1 - share)) ** 0.5


@pytest.mark.parametrize("side", [2, 5, 8, 11])
def test_games_of_openspiel(side):
    """Random games have the same moves and the same ends."""
    pyspiel = pytest.importorskip("pyspiel", reason="pip install 'cutnode[openspiel]'")
    game, dice = pyspiel.load_game(f"y(board_size={side})"), Random(side)

    def action(position, move):
        """In OpenSpiel rows are parallel to the left side, and counted from it."""
        row, column = place_of(position, move)
        return column * side + row - column

    for _ in range(10):
        position, state = start(f"{side}"), game.new_initial_state()
        while not state.is_terminal():
            actions = {action(position, move): move for move in legal_moves(position)}
            assert sorted(actions) == state.legal_actions()
            chosen = dice.choice(state.legal_actions())
            state.apply_action(chosen)
            position = play(position, actions[chosen])
        assert outcome(position) == (True, -1)
        assert state.returns()[1 - len(state.history()) % 2] == 1


# Symmetry and estimates


def turned(rows, symmetry):
    """Return a board mirrored left and right (bit 1), and turned by ``symmetry >> 1`` thirds."""
    rows = [row[::-1] for row in rows] if symmetry & 1 else rows
    for _ in range(symmetry >> 1):
        rows = [
            "".join(rows[len(rows) - 1 - column][row - column] for column in range(row + 1))
            for row in range(len(rows))
        ]
    return rows


@given(reached("y", "2", "4", "5", "8"))
def test_images_are_of_one_class(position):
    rows = position_text(position).split("/")
    early = sum(len(row) - row.count(".") for row in rows) <= 8
    for symmetry in range(6 if early else 1):
        image = parse_position("/".join(turned(rows, symmetry)), position.VARIANT)
        assert canonical(image)[0] == canonical(position)[0]
        assert outcome(image) == outcome(position)
        assert evaluate(image) == evaluate(position)


@pytest.mark.parametrize("side", ["5", "8", "11"])
def test_the_middle_is_estimated_best(side):
    empty = start(side)
    assert evaluate(empty) == 0
    best = max(legal_moves(empty), key=lambda move: -evaluate(play(empty, move)))
    row, column = place_of(empty, best)
    assert min(column, row - column, empty.SIDE - 1 - row) >= (empty.SIDE - 2) // 3
