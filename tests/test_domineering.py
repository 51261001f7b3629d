"""Domineering: solved boards, rules, claims about values, symmetry, notation."""

from __future__ import annotations

import functools
from random import Random

import numpy as np
import pytest
from data import FOLDER, rows
from hypothesis import given
from positions import final_value, reached, texts_of

from cutnode import Bits, legal_moves, load_game, solve
from cutnode.compiler.jit import jit_enabled
from cutnode.contract.boards import reversed_bits
from cutnode.contract.verbs import bounds, canonical, canonical_move, key, outcome, play, plies_left
from cutnode.games.domineering import MOST_PREFERRED, dominoes, move_text, upside_down

pytestmark = pytest.mark.once

parse_position, position_text, start = texts_of("domineering")

CLASSES = {"N": (1, 1), "P": (-1, -1), "V": (1, -1), "H": (-1, 1)}
"""The value of moving first, for Vertical and for Horizontal."""

BOARDS = [(board, CLASSES[name]) for board, name in rows(FOLDER / "domineering_boards.txt")]


def cells_of(board):
    width, height = map(int, board.split("x"))
    return width * height


def starts(board, plain):
    """Return the empty board for both beginners; None if one has no room."""
    width, height = map(int, board.split("x"))
    return [
        load_game(f"domineering:{board}{beginner}", plain=plain).start() if room > 1 else None
        for beginner, room in (("", height), (",horizontal", width))
    ]


def check(board, values, plain):
    found = [-1 if empty is None else solve(empty).value for empty in starts(board, plain)]
    assert tuple(found) == values


# Values


@pytest.mark.parametrize(
    ("board", "values"),
    [
        pytest.param(*fact, marks=[pytest.mark.slow] if cells_of(fact[0]) > 12 else [])
        for fact in BOARDS
        if cells_of(fact[0]) <= 16 and "1" not in fact[0]
    ],
)
def test_small_boards(board, values):
    check(board, values, plain=True)


@pytest.mark.parametrize(
    "cells",
    [*range(1, 9), *(pytest.param(n, marks=[pytest.mark.slow, pytest.mark.long]) for n in (9, 10))],
)
def test_boards_of_one_line(cells):
    for board, values in BOARDS:
        if cells_of(board) == cells and (board[:2] == "1x" or board[-2:] == "x1"):
            check(board, values, plain=True)


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.skipif(not jit_enabled(), reason="many nodes")
@pytest.mark.parametrize(
    ("board", "values"),
    [fact for fact in BOARDS if 16 < cells_of(fact[0]) <= 49 or fact[0] == "8x8"],
)
def test_boards(board, values):
    check(board, values, plain=False)


@functools.cache
def winners(width, height):
    """Return whether Horizontal (row 0) or Vertical (1) to move wins, for each set of free cells.

    By the rules alone, from smaller sets of cells to larger ones.
    """
    sets = np.arange(1 << width * height)
    won = np.zeros((2, len(sets)), bool)
    placed = [[], []]
    for cell in range(width * height):
        if (cell + 1) % width:
            placed[0].append(0b11 << cell)
        if cell + width < width * height:
            placed[1].append((1 | 1 << width) << cell)
    sizes = np.bitwise_count(sets)
    for size in range(2, width * height + 1):
        layer = sets[sizes == size]
        for mover in range(2):
            for domino in placed[mover]:
                room = layer[layer & domino == domino]
                won[mover, room] |= ~won[1 - mover, room ^ domino]
    return won


@pytest.mark.parametrize(("width", "height"), [(4, 4), (5, 4), (4, 5), (3, 6), (6, 3), (2, 9)])
def test_bounds_of_any_free_cells(width, height):
    random, cls = Random(width), dominoes.of(f"{width}x{height}")
    won = winners(width, height)
    decided = 0
    for free in random.sample(range(won.shape[1]), 300):
        for vertical in (False, True):
            value = 1 if won[int(vertical), free] else -1
            lower, upper = bounds(cls(Bits(free), vertical), -1, 1)
            assert lower <= value <= upper
            decided += lower == upper
    assert decided > 300


@pytest.mark.parametrize(
    ("text", "decided"),
    [
        ("../.. vertical", 1),  # twins: one domino makes the other place safe
        ("../.. horizontal", 1),
        (".../.../##. vertical", 1),
        ("...../#.#.#/..... vertical", -1),
        ("..#.#/..#.. horizontal", 1),
        ("####/#..#/##.#/##.# vertical", 1),  # an option: the middle of Horizontal's only place
        ("#####/#..#./#..../###.# vertical", 1),  # whole twins take two moves
        ("..../..../..../.... vertical", 0),
    ],
)
def test_what_is_seen_without_search(text, decided):
    board = text.split()[0].split("/")
    lower, upper = bounds(parse_position(text, f"{len(board[0])}x{len(board)}"), -1, 1)
    assert (lower, upper) == ((decided, decided) if decided else (-1, 1))


@pytest.mark.parametrize("variant", ["3x3", "4x3", "3x4,horizontal", "2x5", "4x4"])
def test_all_positions(variant):
    """The bounds claimed for every position of a small board."""
    value_of = functools.cache(
        lambda p: (
            outcome(p)[1]
            if outcome(p)[0]
            else max(-value_of(play(p, move)) for move in legal_moves(p))
        )
    )
    waiting, seen, classes, keys = [start(variant)], set(), {}, {}
    while waiting:
        position = waiting.pop()
        if position in seen:
            continue
        seen.add(position)
        waiting += [play(position, move) for move in legal_moves(position)]
        lower, upper = bounds(position, -1, 1)
        assert lower <= value_of(position) <= upper
        assert keys.setdefault(key(position), position) == position
        assert classes.setdefault(canonical(position)[0], value_of(position)) == value_of(position)
        plies = [plies_left(play(position, move)) for move in legal_moves(position)]
        assert max(plies, default=-1) < plies_left(position)


def test_places_at_the_edge_and_beside_it():
    """The second line scores most, then an even rest of the line; the edge scores least."""
    worth = dominoes.of("8x8").PREFERRED.reshape(8, 8, 2)
    for lines in (worth[:, :7, 0], worth[:7, :, 1].T):
        assert lines.max() == lines[1, 0] < MOST_PREFERRED
        assert lines[[1, 3, 4, 6]].min() > lines[[0, 2, 5, 7]].max()
        assert lines[1:7].min() > lines[[0, 7]].max()
        assert (lines == lines[::-1]).all() and (lines == lines[:, ::-1]).all()


def test_late_positions_of_larger_boards():
    """Holes of all shapes, compared with a search without claims."""
    for text in (
        ".#..#/#...#/..#../#...# vertical",
        ".#..#/#...#/..#../#...# horizontal",
        "#...#/....#/#..##/#.... vertical",
        "#...#/....#/#..##/#.... horizontal",
    ):
        position = parse_position(text, "5x4")
        lower, upper = bounds(position, -1, 1)
        assert lower <= final_value(position) <= upper


# Rules


@given(reached("domineering"))
def test_moves(position):
    """The moves are read off the board as it is drawn."""
    board, mover = position_text(position).split()
    lines = board.split("/")[::-1]
    found = set()
    for row, line in enumerate(lines):
        for column, content in enumerate(line):
            down, right = (-1, 0) if mover == "vertical" else (0, 1)
            y, x = row + down, column + right
            if content == "." and y >= 0 and x < len(line) and lines[y][x] == ".":
                names = "abcdefghijklmnopqrstuvwxyz"
                found.add(f"{names[column]}{row + 1}{names[x]}{y + 1}")
    assert {move_text(position, move) for move in legal_moves(position)} == found
    assert outcome(position) == ((False, 0) if found else (True, -1))


@given(reached("domineering"))
def test_moves_cover_two_cells(position):
    for move in legal_moves(position):
        before, after = (position_text(p).split() for p in (position, play(position, move)))
        changed = [
            n for n, pair in enumerate(zip(before[0], after[0], strict=True)) if len({*pair}) > 1
        ]
        assert len(changed) == 2 and after[0].count("#") == before[0].count("#") + 2
        assert before[1] != after[1]


# Symmetry


@given(reached("domineering"))
def test_mirror_images_are_of_one_class(position):
    board, mover = position_text(position).split()
    lines = board.split("/")
    for symmetry in range(4):
        image = [line[::-1] for line in lines] if symmetry & 2 else lines
        image = image[::-1] if symmetry & 1 else image
        other = parse_position(f"{'/'.join(image)} {mover}", position.VARIANT)
        assert canonical(other)[0] == canonical(position)[0]
        assert bounds(other, -1, 1) != (1, 1) or bounds(position, -1, 1) != (-1, -1)
        moves = [canonical_move(position, move, symmetry) for move in legal_moves(position)]
        assert sorted(moves) == sorted(legal_moves(other))
        assert [canonical_move(other, move, symmetry) for move in moves] == legal_moves(position)


def test_flips():
    empty = start("3x2")
    assert upside_down(empty, 0b000101) == 0b101000
    assert reversed_bits(empty, 0b000001) == 0b100000


# Notation


def test_drawing():
    assert str(parse_position("a2a1", "3x2")) == "\n".join(
        ["2 # . .", "1 # . .", "  a b c", "horizontal to move"]
    )
