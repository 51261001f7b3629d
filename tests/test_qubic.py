"""Qubic: lines and symmetries, the end of a game, threats, notation."""

from __future__ import annotations

import functools
import itertools

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from positions import moves_by, reached, texts_of

from cutnode import Bits, legal_moves, solve
from cutnode.compiler.jit import jit_enabled
from cutnode.contract.verbs import (
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
from cutnode.games.qubic import (
    EARLY,
    STARTS,
    STEPS,
    SYMMETRIES,
    Position,
    answers,
    images,
    move_text,
    winning_fours,
)

pytestmark = pytest.mark.once

parse_position, position_text, _ = texts_of("qubic")


def all_lines():
    """Return the cells of each line: four in a row of a cube, from one face to another."""
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
        ("111 222 112 223 113", (-1, 1)),  # x completes a line unless o takes 114
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
    """Fewer cells: each takes part in the threats or makes a four."""
    position = parse_position("112 222 121 343 113 234 131")
    answers = texts(position, moves_by(candidates, position))
    assert forced(position) == NO_MOVE
    assert {"111", "114", "141"} <= answers and len(answers) < 20


MASKS = [sum(1 << cell for cell in line) for line in LINES]
ALL = (1 << 64) - 1


@functools.cache
def lines_with(count, own, other):
    """Return the lines with this number of one player's stones, and none of the other's."""
    return [line for line in MASKS if not line & other and (line & own).bit_count() == count]


def cells_lacking(own, other):
    """Return the cells where a player completes a line."""
    return {line & ~own for line in lines_with(3, own, other)}


@functools.cache
def wins_by_fours(own, other):
    """Return whether the mover wins, by trying all sequences of fours."""
    if cells_lacking(own, other):
        return True
    threats = cells_lacking(other, own)
    if len(threats) > 1:
        return False
    for line in lines_with(2, own, other):
        rest = line & ~own
        for four in (rest & -rest, rest & (rest - 1)):
            if threats and four not in threats:
                continue
            answers_left = cells_lacking(own | four, other)
            if len(answers_left) > 1:
                return True
            if wins_by_fours(own | four, other | answers_left.pop()):
                return True
    return False


@st.composite
def scattered(draw):
    """Two sets of equally many stones, anywhere."""
    cells = draw(st.permutations(range(64)))[: draw(st.integers(3, 8)) * 2]
    own, other = (sum(1 << cell for cell in cells[half::2]) for half in (0, 1))
    assume(not any(line & stones == line for line in MASKS for stones in (own, other)))
    assume(not cells_lacking(own, other) and not cells_lacking(other, own))
    return own, other


@settings(max_examples=20)
@given(scattered())
def test_wins_by_fours(stones):
    """The claim is true, and every answer that is left out loses."""
    own, other = stones
    won, _ = winning_fours(Bits(own), Bits(other))
    assert not won or wins_by_fours(own, other)
    empty = ALL & ~(own | other)
    left_out = empty & ~int(answers(Bits(own), Bits(other), Bits(empty)))
    for cell in range(64):
        if left_out >> cell & 1:
            assert wins_by_fours(other, own | 1 << cell)
    wins_by_fours.cache_clear()
    lines_with.cache_clear()


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.skipif(not jit_enabled(), reason="many nodes")
def test_a_sharp_position_is_won():
    """Plain alpha-beta takes millions of nodes."""
    assert solve(parse_position("222 333 223 111"), engine="pn", weak=True).value == 1


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.skipif(not jit_enabled(), reason="many nodes")
def test_the_first_player_wins():
    """O. Patashnik, 1980."""
    assert solve(parse_position(""), engine="pn", weak=True).value == 1


# Symmetry and estimates


def test_symmetries_take_lines_to_lines():
    assert len({tuple(cells) for cells in SYMMETRIES}) == 192
    for cells in SYMMETRIES:
        assert {frozenset(cells[cell] for cell in line) for line in LINES} == LINES


@settings(max_examples=40)
@given(reached("qubic"), st.integers(1, 191))
def test_images_are_of_one_class(position, symmetry):
    image = Position(*(images(position, stones, symmetry) for stones in position[:2]))
    if sum(board.bit_count() for board in position[:2]) <= EARLY:
        assert canonical(image)[0] == canonical(position)[0]
    assert outcome(image) == outcome(position)
    lower, upper = bounds(image, -1, 1)
    assert lower <= bounds(position, -1, 1)[1] and bounds(position, -1, 1)[0] <= upper
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
