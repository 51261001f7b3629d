"""Connect Four: published counts and values, symmetry, evaluation, bounds and notation."""

from __future__ import annotations

import functools
from random import Random

import pytest
from data import FOLDER, SETS, rows
from hypothesis import given
from positions import reached, texts_of

from cutnode import Bits, Table, legal_moves, load_game, solve, solve_many
from cutnode.compiler.jit import jit_enabled
from cutnode.contract.verbs import (
    INFINITE,
    bounds,
    canonical,
    evaluate,
    key,
    outcome,
    play,
    plies_left,
)
from cutnode.games.connect4 import describe

pytestmark = pytest.mark.once

parse_position, position_text, start = texts_of("connect4")

MIRRORED = str.maketrans("1234567", "7654321")


def drawn(position):
    return position_text(position).split("/")


def level(start, plies):
    """Return the distinct positions after a number of plies."""
    positions = {start}
    for _ in range(plies):
        positions = {play(p, move) for p in positions for move in legal_moves(p)}
    return positions


# Counts


@pytest.mark.parametrize(
    ("plies", "count", "reflected"),
    [(2, 49, 25), (5, 4263, 2144), pytest.param(6, 16422, 8231, marks=pytest.mark.slow)],
)
def test_distinct_positions(plies, count, reflected):
    """After some plies (OEIS A212693), and up to reflection."""
    positions = level(start(), plies)
    assert len(positions) == len({key(p) for p in positions}) == count
    assert len({canonical(p)[0] for p in positions}) == reflected


@pytest.mark.parametrize(("size", "count"), [("1x4", 5), ("2x4", 179), ("3x4", 6000)])
def test_positions_of_small_boards(size, count):
    """J. Tromp's table of legal positions."""
    seen, layer = set(), {start(size)}
    while layer:
        seen |= layer
        layer = {play(p, move) for p in layer for move in legal_moves(p)}
    assert len(seen) == len({key(p) for p in seen}) == count


# Values


@functools.cache
def exact_value(position):
    over, value = outcome(position)
    if over:
        return value
    return max(-exact_value(play(position, move)) for move in legal_moves(position))


@pytest.mark.parametrize("size", ["4x4", "5x4", "4x5", "5x5", "8x3", "7x5", "6x6", "5x7"])
def test_bounds_hold_near_the_end(size):
    """Random games on boards of any parity, with up to eight empty cells."""
    dice = Random(size)
    for _ in range(12):
        position = start(size)
        while plies_left(position) > 8 and not outcome(position)[0]:
            position = play(position, dice.choice(legal_moves(position)))
        while not outcome(position)[0]:
            lower, upper = bounds(position, -INFINITE, INFINITE)
            assert lower <= exact_value(position) <= upper
            position = play(position, dice.choice(legal_moves(position)))


@pytest.mark.skipif(not jit_enabled(), reason="many nodes")
@pytest.mark.parametrize("name", ["L3_R1", "L2_R1", "L2_R2", "L1_R1"])
def test_public_sets(name):
    facts = rows(SETS / f"connect4_{name}.txt")[:: 40 if name == "L2_R2" else 10]
    positions = [parse_position(text) for text, _ in facts]
    mirrored = [parse_position(text.translate(MIRRORED)) for text, _ in facts]
    values = [int(value) for _, value in facts]
    table = Table(16)
    assert solve_many(positions, table=table, cold=True).values.tolist() == values
    weak = solve_many(positions, table=table, cold=True, weak=True)
    assert weak.values.tolist() == [(value > 0) - (value < 0) for value in values]
    table.forget()
    solve_many(positions, table=table)
    again = solve_many(positions, table=table)
    reflected = solve_many(mirrored, table=table)
    assert reflected.values.tolist() == values
    assert reflected.nodes.sum() < 1.1 * again.nodes.sum()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["L3_R1", "L2_R1", "L2_R2", "L1_R1"])
def test_whole_public_sets(name):
    facts = rows(SETS / f"connect4_{name}.txt")
    batch = solve_many([parse_position(text) for text, _ in facts], cold=True)
    assert batch.values.tolist() == [int(value) for _, value in facts]


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.skipif(not jit_enabled(), reason="many nodes")
def test_another_board():
    facts = rows(FOLDER / "values" / "connect4.txt")
    assert {variant for variant, _, _ in facts} == {"9x5"}
    batch = solve_many([parse_position(text, "9x5") for _, text, _ in facts], cold=True)
    assert batch.values.tolist() == [int(value) for _, _, value in facts]


LARGEST = "7x7", "8x6"
"""Boards solved weakly only: half a minute and three minutes, on two cores."""


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("variant", LARGEST)
def test_largest_boards(variant):
    winner = dict(rows(FOLDER / "connect4_boards.txt"))[variant]
    assert solve(start(variant), table=Table(4096), threads=2, weak=True).value == int(winner)


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize(
    ("variant", "winner"),
    [
        (variant, winner)
        for variant, winner in rows(FOLDER / "connect4_boards.txt")
        if variant not in ("7x6", *LARGEST)
    ],
)
def test_empty_boards(variant, winner):
    table = Table(256)
    result = solve(start(variant), table=table, weak=True)
    assert result.value == int(winner)
    exact = solve(start(variant), table=table)
    assert (exact.value > 0) - (exact.value < 0) == int(winner)
    assert len(exact.pv) == plies_to_the_end(start(variant), exact.value)


def plies_to_the_end(empty, value):
    """Return the number of plies to the end of the game, from the value of the empty board."""
    cells = len(empty.CELLS.places)
    if value == 0:
        return cells
    own = [ply for ply in range(1, cells + 1) if (ply % 2 == 1) == (value > 0)]
    return own[-abs(value)]


@pytest.mark.slow
@pytest.mark.long
def test_first_moves():
    """Scores of the seven columns for the first player (P. Pons, blog.gamesolver.org)."""
    table = Table(512)
    second = [parse_position(str(column)) for column in range(1, 8)]
    values = [-solve(position, table=table).value for position in second]
    assert values == [-2, -1, 0, 1, 0, -1, -2]


# Rules


@given(reached("connect4"))
def test_lines_of_four(position):
    """The end of the game is found by looking at every line of four cells."""
    cells = drawn(position)
    height, width = len(cells), len(cells[0])
    lines = {"x": False, "o": False}
    for row in range(height):
        for column in range(width):
            for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
                far = row + 3 * down, column + 3 * right
                if far[0] < height and 0 <= far[1] < width:
                    line = {cells[row + n * down][column + n * right] for n in range(4)}
                    if len(line) == 1 and line != {"."}:
                        lines[line.pop()] = True
    full = not any("." in row for row in cells)
    assert outcome(position)[0] == (lines["x"] or lines["o"] or full)
    assert (outcome(position)[1] < 0) == (lines["x"] or lines["o"])


@given(reached("connect4"))
def test_evaluation_counts_windows(position):
    cells = drawn(position)
    height, width = len(cells), len(cells[0])
    mover = "xo"[sum(row.count("x") + row.count("o") for row in cells) % 2]
    total = 0
    for row in range(height):
        for column in range(width):
            for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
                far = row + 3 * down, column + 3 * right
                if far[0] < height and 0 <= far[1] < width:
                    line = [cells[row + n * down][column + n * right] for n in range(4)]
                    mine = line.count(mover)
                    theirs = 4 - mine - line.count(".")
                    if not (mine and theirs) and mine + theirs < 4:
                        weight = {0: 0, 1: 1, 2: 10, 3: 100}[mine + theirs]
                        total += weight if mine else -weight
    if not outcome(position)[0]:
        assert evaluate(position) == total


# Texts


def test_results_name_the_game():
    assert solve(parse_position("1212121")).to_dict()["game"] == "connect4"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "draw"),
        ("44444326555535", "first player (x) wins in 13 moves, with stone 39"),
        ("121212", "first player (x) wins in 1 move, with stone 7"),
        ("1212121", "first player (x) has won"),
    ],
)
def test_values_in_words(text, words):
    position = parse_position(text)
    value = 0 if text == "" else solve(position).value
    assert describe(position, value) == words


def test_values_in_words_agree_with_the_line():
    """The winner, the stone and the number of moves in words agree with the line of play."""
    facts = rows(SETS / "connect4_L3_R1.txt")[::50]
    for text, _ in facts:
        result = solve(parse_position(text))
        if result.value != 0:
            own_moves = (len(result.pv) + 1) // 2
            stone = len(text) + len(result.pv)
            moves = "1 move" if own_moves == 1 else f"{own_moves} moves"
            assert result.meaning().endswith(f" wins in {moves}, with stone {stone}")


@pytest.mark.parametrize("size", [(1, 1), (1, 63), (32, 1), (3, 3), (12, 4), (4, 15)])
def test_odd_boards_play(size):
    position = start("{}x{}".format(*size))
    while not outcome(position)[0]:
        position = play(position, legal_moves(position)[0])
    assert Bits(position.mine & position.theirs) == 0


def test_a_line_end_makes_no_board():
    parse = load_game("connect4").parse
    assert parse("4455\n") == parse("\n 4455 \r\n") == parse("4455")
