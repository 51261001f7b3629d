"""Qubic: lines and symmetries, the end of a game, threats, notation."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from positions import moves_by, reached

from engine import legal_moves, load_game, solve
from engine.compiler.jit import jit_enabled
from engine.contract.verbs import (
    NO_MOVE,
    bounds,
    candidates,
    canonical,
    canonical_move,
    evaluate,
    forced,
    noisy,
    original_move,
    outcome,
)
from games.qubic import EARLY, STARTS, STEPS, SYMMETRIES, Position, images, move_text

NOTATION = load_game("qubic").notation
parse_position, position_text = NOTATION.parse_position, NOTATION.position_text


def all_lines():
    """The cells of each line: four in a row of a cube, from one face to another."""
    found = set()
    for cell in itertools.product(range(4), repeat=3):
        for direction in itertools.product((-1, 0, 1), repeat=3):
            places = [
                tuple(c + n * d for c, d in zip(cell, direction, strict=True)) for n in range(4)
            ]
            inside = all(0 <= number < 4 for place in places for number in place)
            if any(direction) and inside:
                found.add(frozenset(16 * r + 4 * z + c for r, z, c in places))
    return found


LINES = all_lines()


def texts(position, moves):
    return {move_text(position, move) for move in moves}


# Rules


def test_lines():
    steps = zip(STEPS, STARTS, strict=True)
    found = {
        frozenset(first + n * step for n in range(4))
        for step, starts in steps
        for first in range(64)
        if starts >> first & 1
    }
    assert found == LINES and len(LINES) == 76


@given(reached("qubic"))
def test_the_end_of_a_game(position):
    board = position_text(position).replace("/", "")
    stones = {player: {n for n, c in enumerate(board) if c == player} for player in "xo"}
    last = "xo"[len(stones["x"]) == len(stones["o"])]
    won = any(line <= stones[last] for line in LINES)
    assert outcome(position) == (won or "." not in board, -won)


# Threats


@pytest.mark.parametrize(
    ("line", "interval"),
    [
        ("111 222 112 223 113", (-1, 1)),  # x makes a line if o does not take 114
        ("111 222 112 223 113 322", (1, 1)),
        ("112 222 121 343 113 234 131 424", (1, 1)),  # 111 makes two fours
        ("112 222 121 343 113 234 131", (-1, 1)),
    ],
)
def test_bounds(line, interval):
    assert bounds(parse_position(line), -1, 1) == interval


def test_a_four_leaves_one_move():
    position = parse_position("111 222 112 223 113")
    assert move_text(position, forced(position)) == "114"
    assert texts(position, moves_by(candidates, position)) == {"114"}
    assert texts(position, moves_by(noisy, position)) == {"114"}


def test_answers_to_two_fours():
    """Fewer cells, of which each takes part in the threats or makes a four."""
    position = parse_position("112 222 121 343 113 234 131")
    answers = texts(position, moves_by(candidates, position))
    assert forced(position) == NO_MOVE
    assert {"111", "114", "141"} <= answers and len(answers) < 20


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.skipif(not jit_enabled(), reason="many nodes")
def test_sharp_positions_are_won():
    """A start with many threats, far from the end."""
    assert solve(parse_position("222 111 333 144")).value == 1


# Symmetry and estimates


def test_symmetries_take_lines_to_lines():
    assert len({tuple(cells) for cells in SYMMETRIES}) == 192
    for cells in SYMMETRIES:
        assert {frozenset(cells[cell] for cell in line) for line in LINES} == LINES


@given(reached("qubic"), st.integers(1, 191))
def test_images_are_of_one_class(position, symmetry):
    image = Position(*(images(position, stones, symmetry) for stones in position[:2]))
    if sum(board.bit_count() for board in position[:2]) <= EARLY:
        assert canonical(image)[0] == canonical(position)[0]
    assert outcome(image) == outcome(position)
    assert bounds(image, -1, 1) == bounds(position, -1, 1)
    assert evaluate(image) == evaluate(position)
    moves = legal_moves(position)
    there = [canonical_move(position, move, symmetry) for move in moves]
    assert sorted(there) == sorted(legal_moves(image))
    assert [original_move(position, move, symmetry) for move in there] == moves


# Notation


def test_drawing():
    assert str(parse_position("111 442")) == "\n".join(
        [
            "x . . .   . . . .   . . . .   . . . .",
            *[". . . .   . . . .   . . . .   . . . ."] * 2,
            ". . . .   . . . .   . . . .   . o . .",
        ]
    )
