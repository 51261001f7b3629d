"""Othello: perft, rules compared with naive ones, symmetry, values, estimates, notation."""

from __future__ import annotations

import itertools
import re

import pytest
from data import FOLDER, rows
from hypothesis import given
from hypothesis import strategies as st
from positions import reached

from cutnode import legal_moves, load_game, minimax, perft, solve
from cutnode.compiler.jit import jit_enabled
from cutnode.contract.verbs import (
    canonical,
    canonical_move,
    evaluate,
    features,
    key,
    original_move,
    outcome,
    play,
    plies_left,
)
from cutnode.games.othello import (
    FEW_DISCS,
    PASS,
    beside,
    evaluate_mobility,
    image,
    move_text,
    parse_move,
    parse_position,
    position_text,
    start,
)

pytestmark = pytest.mark.once

VARIANTS = ("8x8", "6x6", "4x4")
PERFT = [
    (variant, *map(int, count.split()))
    for variant, *counts in rows(FOLDER / "othello_perft.txt")
    for count in counts
]
MUST_PASS = "d3c3f5d2d1e1b2c1"
"""Black must pass, and White continues on a3, b4 or d6."""


@st.composite
def set_up(draw):
    """A position with any discs."""
    empty = start(draw(st.sampled_from(VARIANTS)))
    squares = draw(st.text("XO-", min_size=empty.AREA, max_size=empty.AREA))
    return parse_position(f"{squares} {draw(st.sampled_from('XO'))}", f"{empty.SIZE}x{empty.SIZE}")


def variant_of(position):
    return f"{position.SIZE}x{position.SIZE}"


# Rules


class Naive:
    """A board as rows of ``X``, ``O`` and ``-``, examined square by square."""

    def __init__(self, lines, mover):
        self.lines, self.mover = lines, mover
        self.other = "O" if mover == "X" else "X"

    @classmethod
    def of(cls, position):
        squares, mover = position_text(position).split()
        size = position.SIZE
        return cls([squares[n * size : (n + 1) * size] for n in range(size)], mover)

    def __eq__(self, other):
        return (self.lines, self.mover) == (other.lines, other.mover)

    def at(self, row, column):
        on_board = 0 <= row < len(self.lines) and 0 <= column < len(self.lines)
        return self.lines[row][column] if on_board else ""

    def turned(self, row, column):
        """Return the squares of the discs that a disc of the mover would flip."""
        found = []
        if self.at(row, column) == "-":
            for down, right in itertools.product((-1, 0, 1), repeat=2):
                steps = 1
                while self.at(row + steps * down, column + steps * right) == self.other:
                    steps += 1
                if self.at(row + steps * down, column + steps * right) == self.mover:
                    found += [(row + n * down, column + n * right) for n in range(1, steps)]
        return found

    def squares(self):
        numbers = range(len(self.lines))
        return [(row, column) for row in numbers for column in numbers if self.turned(row, column)]

    def passed(self):
        return Naive(self.lines, self.other)

    def children(self):
        """Return the children by the texts of moves; none if the game is over."""
        if not self.squares():
            return {"pass": self.passed()} if self.passed().squares() else {}
        found = {}
        for row, column in self.squares():
            lines = [list(line) for line in self.lines]
            for down, right in [(row, column), *self.turned(row, column)]:
                lines[down][right] = self.mover
            found["abcdefgh"[column] + str(row + 1)] = Naive(
                ["".join(line) for line in lines], self.other
            )
        return found

    def value(self):
        text = "".join(self.lines)
        mine, theirs = text.count(self.mover), text.count(self.other)
        left = text.count("-")
        return mine - theirs + (left if mine > theirs else -left if mine < theirs else 0)

    def lines_of_play(self, depth):
        children = self.children() if depth else {}
        return sum(child.lines_of_play(depth - 1) for child in children.values()) or 1


@given(reached("othello") | set_up())
def test_moves_are_as_naive_rules_say(position):
    naive = Naive.of(position)
    children = naive.children()
    over, value = outcome(position)
    assert over == (not children)
    assert value == (naive.value() if over else 0)
    assert [move_text(position, move) for move in legal_moves(position)] == list(children)
    for move in legal_moves(position):
        child = play(position, move)
        assert Naive.of(child) == children[move_text(position, move)]
        assert plies_left(child) <= plies_left(position) <= type(position).MAX_PLIES


@pytest.mark.parametrize("variant", VARIANTS)
def test_naive_counts(variant):
    naive = Naive.of(start(variant))
    for size, depth, lines in PERFT:
        if size == variant and lines < 2000:
            assert naive.lines_of_play(depth) == lines


@pytest.mark.parametrize(
    ("variant", "depth", "lines"),
    [
        pytest.param(*fact, marks=[pytest.mark.slow] * (fact[2] > 10_000_000))
        for fact in PERFT
        if fact[0] == "8x8" or fact[1] > 5
    ],
)
def test_perft(variant, depth, lines):
    if lines > 3000 and not jit_enabled():
        pytest.skip("too many for plain Python")
    assert perft(start(variant), depth, finished=True) == lines


def test_finished_games_end_lines():
    """The shortest games last nine moves, and 228 games are over by then."""
    if not jit_enabled():
        pytest.skip("too many for plain Python")
    assert perft(start(), 9) == 3005288
    assert perft(start(), 10) == 24571284 - 228


def test_a_disc_turns_others_over_in_all_directions():
    before = "X--X--X-/-O-O-O--/--OOO---/XOO-OOOX/--OOO---/-O-O-O--/X--O--X-/---X---- X"
    after = play(parse_position(before), parse_move(parse_position(before), "d4"))
    # To h4 and to a4, up and down, along both diagonals.
    assert position_text(after).split()[0] == (
        "X--X--X--X-X-X----XXX---XXXXXXXX--XXX----X-X-X--X--X--X----X----"
    )


def test_lines_do_not_go_around_the_edge():
    for squares in ("------O-X-------", "---X-O----------", "OX-O-X----------"):
        position = parse_position(f"{squares} X", "4x4")
        assert outcome(position)[0] or Naive.of(position).children()
    assert outcome(parse_position(f"{'-' * 7}OX{'-' * 55} X"))[0]


def test_passes():
    position = parse_position(MUST_PASS)
    assert legal_moves(position) == [PASS]
    assert play(position, PASS) == type(position)(position.theirs, position.mine, True)


# Equivalent positions


@given(reached("othello") | set_up())
def test_images_are_of_the_board(position):
    for symmetry in range(8):
        mine = image(position, position.mine, symmetry)
        turned = {
            canonical_move(position, square, symmetry)
            for square in range(64)
            if position.mine >> square & 1
        }
        assert mine == sum(1 << square for square in turned)
        assert mine & ~position.BOARD == 0
        for move in (*legal_moves(position), PASS):
            seen = canonical_move(position, move, symmetry)
            assert original_move(position, seen, symmetry) == move


@given(
    reached("othello").filter(
        lambda position: (position.mine | position.theirs).bit_count() <= FEW_DISCS
    ),
    st.integers(0, 7),
    st.booleans(),
)
def test_symmetric_positions_have_the_same_key(position, symmetry, white):
    mine, theirs = (image(position, discs, symmetry) for discs in position[:2])
    turned = type(position)(mine, theirs, white)
    assert canonical(turned)[0] == canonical(position)[0]
    assert (key(turned) == key(position)) == (turned == position)
    assert evaluate(turned) == evaluate(position)
    assert features(turned) == features(position)


def test_first_moves_are_one():
    children = {canonical(play(start(), move))[0] for move in legal_moves(start())}
    assert len(children) == 1


# Values


def test_small_board():
    """White wins by 11 discs to 3, with two squares left empty."""
    assert solve(load_game("othello:4x4", plain=True).start()).value == -10


@pytest.mark.slow
@pytest.mark.long
def test_compiled_searches_of_a_small_board():
    assert solve(start("4x4")).value == -10
    if jit_enabled():
        assert minimax(start("4x4")).value == -10


FEINSTEIN = """c2 b4 c5 d2 e4 e3 d1 c1 b1 d5 d6 f4 b3 b2 f3 f2 e2 b6 a4 c6 a6 a2 b5 a5 e6 e5 a3 a1
f5 f6 -- e1 f1"""
"""Best play on 6x6, with which White wins by 20 discs to 16: J. Feinstein, "Amenor wins world
6x6 championships!" (1993)."""


def test_best_play_on_6x6():
    over = parse_position(FEINSTEIN, "6x6")
    assert outcome(over) == (True, 4 if over.white else -4)
    assert parse_position(FEINSTEIN.replace("--", ""), "6x6") == over


@pytest.mark.slow
@pytest.mark.long
def test_best_play_on_6x6_is_best():
    moves = FEINSTEIN.split()
    for played in range(13 if jit_enabled() else 26, len(moves)):
        position = parse_position(" ".join(moves[:played]), "6x6")
        assert solve(position).value == (4 if position.white else -4)


# Estimates


def test_corners_and_choices_are_good():
    empty = "--------" * 3 + "---OX------XO---" + "--------" * 3
    corner = parse_position(f"X{empty[1:]} X")
    assert evaluate_mobility(corner) > evaluate_mobility(parse_position(f"{empty} X")) == 0
    assert evaluate_mobility(parse_position(f"-{empty[1:9]}X{empty[10:]} X")) < 0


def test_estimates_near_the_end_are_discs():
    full = parse_position(f"{'X' * 40}{'O' * 24} X")
    assert evaluate_mobility(full) == 16 == outcome(full)[1]


@given(reached("othello") | set_up())
def test_estimates(position):
    assert abs(evaluate(position)) <= position.AREA
    assert abs(evaluate_mobility(position)) <= position.AREA
    mine, theirs = features(position)[::2], features(position)[1::2]
    naive = Naive.of(position)
    assert mine[0] == len(naive.squares()) and theirs[0] == len(naive.passed().squares())
    assert (mine[2], theirs[2]) == tuple(discs.bit_count() for discs in position[:2])


@given(st.integers(0, (1 << 64) - 1))
def test_squares_beside_others(discs):
    near = [
        square
        for square in range(64)
        if not discs >> square & 1
        and any(
            discs >> 8 * row + column & 1
            for row in range(max(0, square // 8 - 1), min(8, square // 8 + 2))
            for column in range(max(0, square % 8 - 1), min(8, square % 8 + 2))
        )
    ]
    assert beside(discs) & (1 << 64) - 1 == sum(1 << square for square in near)


# Notation


@given(reached("othello") | set_up())
def test_rows_may_be_apart(position):
    squares, mover = position_text(position).split()
    size = position.SIZE
    assert len(squares) == position.AREA
    cut = "/".join(squares[n * size : (n + 1) * size] for n in range(size))
    rows = cut.replace("/", "\n")
    for same in (f"{squares} {mover}", f"{cut} {mover}", f"{cut}/{mover}", f"{rows}\n{mover}"):
        assert parse_position(same, variant_of(position)) == position
    assert parse_position("----XXOO----OO XX X", "4x4")


def test_passes_need_not_be_written():
    after = parse_position(MUST_PASS + "a3")
    for word in ("pass", "PASS", "ps", "PA", "--", " -- "):
        assert parse_position(f"{MUST_PASS}{word}a3") == after
        assert parse_position(MUST_PASS + word).white is True
    assert parse_position(MUST_PASS).white is False


def test_transcripts_as_the_field_writes_them():
    after = parse_position("f5d6c3d3")
    for text in ("f5-d6-c3-d3", "1. F5 D6 2. C3 D3", "1.f5 2.d6 3.c3 4.d3", "F5, D6, C3, D3"):
        assert parse_position(text) == after
    must_pass = parse_position(MUST_PASS + "--a3")
    assert parse_position("-".join(re.findall("..", MUST_PASS)) + "-pass-a3") == must_pass


def test_drawing():
    assert str(parse_position("b1", "4x4")) == "\n".join(
        ["1 . X . .", "2 . X X .", "3 . X O .", "4 . . . .", "  a b c d", "O to move"]
    )


@pytest.mark.parametrize("white", [False, True])
def test_a_board_without_discs_is_finished(white):
    position = parse_position(f"{'-' * 64} {'XO'[white]}")
    assert outcome(position) == (True, 0) and position.white is white
