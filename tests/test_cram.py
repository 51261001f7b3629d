"""Cram: published nimbers, solved boards, rules."""

from __future__ import annotations

import pytest
from data import FOLDER, rows
from hypothesis import given
from positions import nimber, reached, texts_of

from cutnode import legal_moves, load_game, solve
from cutnode.compiler.jit import jit_enabled
from cutnode.contract.verbs import outcome
from cutnode.games.cram import move_text

pytestmark = pytest.mark.once

parse_position, position_text, start = texts_of("cram")

NIMBERS = [(board, int(value)) for board, value in rows(FOLDER / "cram_nimbers.txt")]
DAWSON = [int(value) for _, value in rows(FOLDER / "dawson.txt")]
"""Nimbers of rows, which are rows of pins in Dawson's Kayles."""


def cells_of(board):
    width, height = map(int, board.split("x"))
    return width * height


@pytest.mark.parametrize(
    ("board", "value"),
    [
        pytest.param(*fact, marks=[pytest.mark.slow] if cells_of(fact[0]) > 15 else [])
        for fact in NIMBERS
        if cells_of(fact[0]) <= 18
    ],
)
def test_nimbers(board, value):
    assert nimber(load_game(f"cram:{board}", plain=True).start()) == value


@pytest.mark.parametrize("cells", range(2, 15))
def test_rows(cells):
    for board in (f"{cells}x1", f"1x{cells}"):
        assert nimber(load_game(f"cram:{board}", plain=True).start()) == DAWSON[cells]


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.skipif(not jit_enabled(), reason="many nodes")
@pytest.mark.parametrize(
    ("board", "value"), [fact for fact in NIMBERS if fact[0] in ("3x8", "4x6", "5x5")]
)
def test_boards(board, value):
    assert solve(start(board), engine="sums").value == (1 if value else -1)


@given(reached("cram"))
def test_moves(position):
    """The moves are read off the board as it is drawn."""
    lines = position_text(position).split("/")[::-1]
    free = {(x, y) for y, line in enumerate(lines) for x, mark in enumerate(line) if mark == "."}
    names = "abcdefghijklmnopqrstuvwxyz"
    found = {f"{names[x]}{y + 1}{names[x + 1]}{y + 1}" for x, y in free if (x + 1, y) in free}
    found |= {f"{names[x]}{y + 1}{names[x]}{y}" for x, y in free if (x, y - 1) in free}
    assert {move_text(position, move) for move in legal_moves(position)} == found
    assert outcome(position) == ((False, 0) if found else (True, -1))


def test_drawing():
    assert str(parse_position("a2b2", "3x2")) == "\n".join(["2 # # .", "1 . . .", "  a b c"])
