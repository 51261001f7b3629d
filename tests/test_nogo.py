"""NoGo: solved boards, rules compared with sets of blocks, parts."""

from __future__ import annotations

import pytest
from data import FOLDER, rows
from hypothesis import given
from positions import reached, texts_of

from cutnode import legal_moves, load_game, solve
from cutnode.compiler.jit import jit_enabled
from cutnode.contract.verbs import (
    asymmetry,
    evaluate,
    outcome,
    part_key,
    parts,
    play,
    swapped,
)
from cutnode.games.nogo import move_text

pytestmark = pytest.mark.once

parse_position, position_text, start = texts_of("nogo")

BOARDS = rows(FOLDER / "nogo_boards.txt")
VALUES = {"N": 1, "P": -1}
COMPILED = ("1x13", "2x6", "3x4", "4x4")


def cells_of(board):
    width, height = map(int, board.split("x"))
    return width * height


@pytest.mark.parametrize(
    ("board", "kind"),
    [
        pytest.param(*row, marks=[pytest.mark.slow] if cells_of(row[0]) > 8 else [])
        for row in BOARDS
        if cells_of(row[0]) <= 9
    ],
)
def test_small_boards(board, kind):
    empty = load_game(f"nogo:{board}", plain=True).start()
    assert solve(empty, engine="alphabeta").value == VALUES[kind]


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.skipif(not jit_enabled(), reason="many nodes")
@pytest.mark.parametrize(("board", "kind"), [row for row in BOARDS if row[0] in COMPILED])
def test_boards(board, kind):
    assert solve(start(board), engine="sums").value == VALUES[kind]


def drawn(position):
    """Return what stands on each cell of the board, by column and row, and the player to move."""
    board, mover = position_text(position).split()
    lines = board.split("/")[::-1]
    return {(x, y): mark for y, line in enumerate(lines) for x, mark in enumerate(line)}, mover


def around(place):
    x, y = place
    return {(x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)}


def all_alive(board):
    """Return whether each block has a liberty."""
    reached = {place for place, mark in board.items() if mark == "."}
    while grown := {
        place
        for place, mark in board.items()
        if place not in reached
        and any(near in reached and board[near] in (".", mark) for near in around(place))
    }:
        reached |= grown
    return reached == board.keys()


@given(reached("nogo"))
def test_moves(position):
    """A move is legal if every block on the board that is drawn then has a liberty."""
    board, mover = drawn(position)
    found = {
        f"{'abcdefghijklmnopqrstuvwxyz'[x]}{y + 1}"
        for (x, y), mark in board.items()
        if mark == "." and all_alive(board | {(x, y): mover})
    }
    assert {move_text(position, move) for move in legal_moves(position)} == found
    assert outcome(position) == ((False, 0) if found else (True, -1))


@given(reached("nogo"))
def test_estimates_are_of_both_players(position):
    assert evaluate(swapped(position)) == -evaluate(position)
    mine, theirs = (len(legal_moves(seen)) for seen in (position, swapped(position)))
    assert evaluate(position) == mine - theirs


def test_boards_with_an_odd_and_an_even_side_have_no_asymmetry():
    assert asymmetry(parse_position("x.../..../.... o", "4x3")) == 0


@given(reached("nogo", "5x5", "4x4", "7x3"))
def test_asymmetry_is_0_only_where_the_negative_is_the_board_turned(position):
    board, _ = drawn(position)
    across, up = (max(place[axis] for place in board) for axis in (0, 1))
    colours = str.maketrans("xo", "ox")
    turned = {(across - x, up - y): mark.translate(colours) for (x, y), mark in board.items()}
    assert (asymmetry(position) == 0) == (board == turned)
    assert asymmetry(swapped(position)) == asymmetry(position)


@given(reached("nogo"))
def test_forbidden_cells_stay_forbidden(position):
    legal = [set(legal_moves(seen)) for seen in (position, swapped(position))]
    for move in legal[0]:
        child = play(position, move)
        assert set(legal_moves(swapped(child))) <= legal[0]
        assert set(legal_moves(child)) <= legal[1]


@pytest.mark.parametrize(
    ("text", "masks"),
    [
        (".xo./.xo./.xo. x", [0b0011_0011_0011, 0b1100_1100_1100]),
        (".xo./.x../.xo. x", [0b1111_1111_1111]),  # the middle is a liberty of x, too
        (".xx./oooo/.xx. x", [0b1111_1111_1111]),
        ("..##/###./##.. o", [0b0000_0000_0011, 0b1100_1000_0000]),
        ("x.o#/####/#x.. x", [0b1110_0000_0000]),  # nobody may take the first empty cell
    ],
)
def test_parts(text, masks):
    buffer = [0] * 64
    position = parse_position(text, "4x3")
    assert sorted(buffer[: parts(position, buffer, 0)]) == sorted(masks)


@pytest.mark.parametrize("other", ["x###/.###/.### x", "####/#..o/#### o", "####/#..x/#### x"])
def test_keys_of_parts(other):
    """A part has the same key anywhere on the board, turned and mirrored, for both colours."""
    key = part_key(parse_position("x..#/####/#### x", "4x3"))
    assert part_key(parse_position(other, "4x3")) == key
    assert part_key(swapped(parse_position(other, "4x3"))) != key
