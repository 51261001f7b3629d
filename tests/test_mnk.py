"""m,n,k games: solved boards, rules, claims about values, symmetry, estimates."""

from __future__ import annotations

import pytest
from data import FOLDER, rows
from hypothesis import given
from positions import moves_by, reached, texts_of, values_as_claimed

from cutnode import legal_moves, load_game, solve
from cutnode.compiler.jit import jit_enabled
from cutnode.contract.verbs import (
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
from cutnode.games.mnk import move_text

pytestmark = pytest.mark.once

parse_position, position_text, start = texts_of("mnk")

BOARDS = {variant: int(value) for variant, value in rows(FOLDER / "mnk.txt")}
QUICK = ("1x1x1", "2x2x2", "3x2x2", "3x3x2", "4x3x3", "5x3x3", "3x4x3", "4x4x3", "3x3x3")
SOLVED = ("4x4x4", "5x4x4", "5x5x4", "6x4x4", "6x5x4")
"""Boards that the solver finishes in seconds."""


def texts(position, moves):
    return {move_text(position, move) for move in moves}


# Values


@pytest.mark.parametrize("variant", QUICK)
def test_small_boards(variant):
    """In plain Python, which takes less time than compiling the solver."""
    assert solve(load_game(f"mnk:{variant}", plain=True).start()).value == BOARDS[variant]


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.skipif(not jit_enabled(), reason="many nodes")
@pytest.mark.parametrize("variant", SOLVED)
def test_boards(variant):
    assert solve(start(variant)).value == BOARDS[variant]


@pytest.mark.parametrize(
    "variant", ["3x3x3", "3x2x2", "6x1x3", pytest.param("5x2x3", marks=pytest.mark.slow)]
)
def test_all_positions(variant):
    """The claims of bounds, candidates and similar verbs about all positions of a small board."""
    values = values_as_claimed(start(variant))
    assert values[start(variant)] == {"3x3x3": 0, "3x2x2": 1, "5x2x3": 0, "6x1x3": 0}[variant]


# Rules


def longest_line(rows, player):
    """Return the most stones of a player in a line."""
    found = 0
    for row in range(len(rows)):
        for column in range(len(rows[0])):
            for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
                count, r, c = 0, row, column
                while r < len(rows) and 0 <= c < len(rows[0]) and rows[r][c] == player:
                    count, r, c = count + 1, r + down, c + right
                found = max(found, count)
    return found


@given(reached("mnk"))
def test_the_end_of_a_game(position):
    rows = position_text(position).split("/")
    text = "".join(rows)
    mover = (text.count("x") + text.count("o")) % 2
    won = longest_line(rows, "ox"[mover]) >= position.LENGTH
    assert longest_line(rows, "xo"[mover]) < position.LENGTH
    assert outcome(position) == (won or "." not in text, -won)


# Threats


@pytest.mark.parametrize(
    ("board", "interval"),
    [
        ("......./......./.xxxx../......./oooo...", (1, 1)),  # an immediate line
        ("......./......./.xxxx../o....../oo..o.x", (-1, -1)),  # two of the opponent's
        ("......./......./..xxx../......./oo..o..", (1, 1)),  # an open four next
        ("......./......./.oxxx../......./oo.....", (-1, 1)),  # with one end closed
        ("......./......./..xxx../......./oo.....", (-1, 1)),  # which has answers
    ],
)
def test_bounds(board, interval):
    assert bounds(parse_position(board, "7x5x5"), -1, 1) == interval


def test_a_four_leaves_one_move():
    position = parse_position("oxxxx../......./..o..../.o...../.......", "7x5x5")
    assert move_text(position, forced(position)) == "f5"
    assert texts(position, moves_by(candidates, position)) == {"f5"}
    assert texts(position, moves_by(noisy, position)) == {"f5"}


def test_answers_to_an_open_three():
    """Adjacent to it: from further away, x makes an open four on the other side."""
    position = parse_position(
        "........./........./..xxx..../........./........./oo...o.../........x", "9x7x5"
    )
    assert bounds(position, -1, 1) == (-1, 1)
    assert texts(position, moves_by(candidates, position)) == {"b5", "f5"}


def test_no_room_for_a_line_is_a_draw():
    assert bounds(parse_position("xox/xoo/ox.", "3x3x3"), -1, 1) == (0, 0)
    assert bounds(start("2x2x3"), -1, 1) == (0, 0)


# Symmetry and estimates


def turned(rows, symmetry):
    rows = [row[::-1] for row in rows] if symmetry & 1 else rows
    rows = rows[::-1] if symmetry & 2 else rows
    return ["".join(row) for row in zip(*rows, strict=True)] if symmetry & 4 else rows


@given(reached("mnk", "3x3x3", "5x4x4", "8x8x5"))
def test_images_are_of_one_class(position):
    board = position_text(position).split("/")
    early = sum(len(row) - row.count(".") for row in board) <= 8
    for symmetry in range(position.SYMMETRIES if early else 1):
        image = parse_position("/".join(turned(board, symmetry)), position.VARIANT)
        assert canonical(image)[0] == canonical(position)[0]
        assert outcome(image) == outcome(position)
        assert bounds(image, -1, 1) == bounds(position, -1, 1)
        assert evaluate(image) == evaluate(position)
        for move in legal_moves(position):
            there = canonical_move(position, move, symmetry)
            assert original_move(position, there, symmetry) == move
            if symmetry:
                assert there in legal_moves(image)


# Notation


def test_drawing():
    assert str(parse_position("b2 c1", "3x3x3")) == "\n".join(
        ["3 . . .", "2 . x .", "1 . . o", "  a b c"]
    )
