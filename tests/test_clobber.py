"""Clobber: solved boards, rules, parts and their keys."""

from __future__ import annotations

import pytest
from data import FOLDER, rows
from hypothesis import given
from positions import reached, texts_of

from cutnode import legal_moves, load_game, solve
from cutnode.compiler.jit import jit_enabled
from cutnode.contract.verbs import outcome, part_key, parts, swapped
from cutnode.games.clobber import move_text

pytestmark = pytest.mark.once

parse_position, position_text, start = texts_of("clobber")

BOARDS = rows(FOLDER / "clobber_boards.txt")
VALUES = {"N": 1, "P": -1}
PLAIN = 12
"""The most cells of a board to solve in plain Python."""
COMPILED = ("2x8", "3x6", "4x4", "4x5", "5x5")


def cells_of(board):
    width, height = map(int, board.split("x"))
    return width * height


def turned(board):
    return "x".join(board.split("x")[::-1])


@pytest.mark.parametrize(("board", "kind"), [row for row in BOARDS if cells_of(row[0]) <= PLAIN])
def test_small_boards(board, kind):
    for size in {board, turned(board)}:
        full = load_game(f"clobber:{size}", plain=True).start()
        assert solve(full, engine="alphabeta").value == VALUES[kind]


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.skipif(not jit_enabled(), reason="many nodes")
@pytest.mark.parametrize(("board", "kind"), [row for row in BOARDS if row[0] in COMPILED])
def test_boards(board, kind):
    assert solve(start(board), engine="sums").value == VALUES[kind]


@pytest.mark.parametrize("pairs", range(1, 6))
def test_rows(pairs):
    """The first player wins rows of n pairs, except for 3 of them (arXiv:2509.08985)."""
    board = load_game(f"clobber:{2 * pairs}x1", plain=True).start()
    assert solve(board, engine="alphabeta").value == (-1 if pairs == 3 else 1)


@given(reached("clobber"))
def test_moves(position):
    """The moves are read off the board as it is drawn."""
    board, mover = position_text(position).split()
    lines = board.split("/")[::-1]
    names = "abcdefghijklmnopqrstuvwxyz"
    stones = {
        (x, y): stone
        for y, line in enumerate(lines)
        for x, stone in enumerate(line)
        if stone != "."
    }
    found = {
        f"{names[x]}{y + 1}{names[x + right]}{y + up + 1}"
        for (x, y), stone in stones.items()
        for right, up in ((1, 0), (-1, 0), (0, 1), (0, -1))
        if stone == mover and stones.get((x + right, y + up), mover) != mover
    }
    assert {move_text(position, move) for move in legal_moves(position)} == found
    assert outcome(position) == ((False, 0) if found else (True, -1))


def test_parts():
    position = parse_position("xo.xx/...o./oo.x. x", "5x3")
    buffer = [0] * 64
    masks = buffer[: parts(position, buffer, 0)]
    assert masks == [0b00011, 0b01000_01000_11000]


@pytest.mark.parametrize(
    "other",
    [
        "..../..xo/...x x",
        "xo../.x../.... x",
        "..../.ox./.x.. x",
        ".x../.ox./.... x",
        "..../.xo./.ox. o",
    ],
)
def test_keys_of_parts(other):
    """A part has the same key anywhere on the board, turned and mirrored, for both colours."""
    key = part_key(parse_position("xo../.x../.... x", "4x3"))
    same = other.count("o") == 1
    assert (part_key(parse_position(other, "4x3")) == key) == same


def test_colours_exchanged():
    position = parse_position("xo../.x../.... x", "4x3")
    assert position_text(swapped(position)) == "xo../.x../.... o"
    assert part_key(swapped(position)) == part_key(parse_position("ox../.o../.... x", "4x3"))
