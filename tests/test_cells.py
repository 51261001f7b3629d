"""Boards declared once: drawings, texts, colours, and contents."""

import random
import re
import unicodedata

import numpy as np
import pytest

from cutnode import GameError, PositionError, game_names, legal_moves, load_game
from cutnode.compiler.jit import jit_enabled
from cutnode.contract.cells import Grid, Hexagons, Points, Triangles, counts
from cutnode.contract.messages import board, description
from cutnode.contract.notation import board_of, contents_of, notation_of
from cutnode.contract.positions import coerce, position_type
from cutnode.contract.verbs import cell, chance, chance_outcome, outcome, play

pytestmark = pytest.mark.once

GAMES = [
    *(name for name in game_names() if name != "uniform"),
    *("kalah:1x127", "othello:4x4", "skirmish:4x4", "ur:masters"),
]
PIECES = {".": "empty", "N": "white knight", "n": "black knight", "P": "white pawn"}


def reached(game, count=60):
    """Return positions of random games."""
    choices, position = random.Random(1), game.start()
    for _ in range(count):
        yield coerce(position)
        if outcome(position)[0]:
            position = game.start()
        elif chance(position):
            _, position = chance_outcome(position, choices.randrange(chance(position)))
        else:
            position = play(position, choices.choice(legal_moves(position)))


def test_symbols_stand_below_each_other():
    assert counts("seeds", 2) == {"0": "empty", "1": "seeds 1", "2": "seeds 2"}
    cells = Grid(2, 2, contents=counts("seeds", 12), row_names="ab", column_names="cd")
    assert cells.draw([0, 12, 3, 0], "white to move").splitlines() == [
        "a  0 12",
        "b  3  0",
        "   c  d",
        "white to move",
    ]
    assert cells.draw([0, 1, 3, 0]).splitlines() == ["a 0 1", "b 3 0", "  c d"]
    assert cells.text([0, 12, 3, 0]) == "0 12 / 3 0"


@pytest.mark.parametrize(
    ("cells", "lines"),
    [
        (Hexagons((2, 3, 2)), [" . .", ". . .", " . ."]),
        (Hexagons((2, 2)), [". .", " . ."]),
        (Triangles(2), ["  .", ". . ."]),
        (Points(((0, 0), (2, 0), (1, 1))), [".   .", "  ."]),
    ],
)
def test_boards_of_other_shapes(cells, lines):
    contents = [0] * len(cells.places)
    assert cells.draw(contents).splitlines() == lines
    assert cells.read(cells.text(contents), "") == (contents, "")


def test_one_owner_has_one_colour():
    lines = Grid(1, 4, contents=PIECES).draw([0, 1, 2, 3], colours=True).split(" ")
    assert lines == [
        "\x1b[2m.\x1b[0m",
        "\x1b[1;31mN\x1b[0m",
        "\x1b[1;34mn\x1b[0m",
        "\x1b[1;31mP\x1b[0m",
    ]


def test_glyphs_marks_and_legends_are_for_people():
    cells = Grid(1, 4, contents=PIECES, glyphs={"N": "♘", "n": "♞"})
    assert cells.draw([0, 1, 2, 3], glyphs=True) == ". ♘ ♞ P"
    assert cells.text([0, 1, 2, 3]) == ".NnP"
    lines = cells.draw([0, 1, 2, 3], colours=True, marked=[1]).split(" ")
    assert lines[1:3] == ["\x1b[1;31;7mN\x1b[0m", "\x1b[1;34mn\x1b[0m"]
    assert cells.draw([0, 1, 2, 3], marked=[1]) == ". N n P"
    assert cells.legend([3, 0, 1, 1], glyphs=True) == "♘ white knight  P white pawn"
    assert cells.legend([0, 2], colours=True) == "\x1b[1;34mn\x1b[0m black knight"
    assert cells.legend([0, 0]) == ""
    chess = load_game("chess").start()
    lines = board_of(type(chess)).legend(contents_of(chess)).splitlines()
    assert len(lines) == 3 and max(map(len, lines)) < 80
    kalah = load_game("kalah").start()
    assert board_of(type(kalah)).legend(contents_of(kalah)) == ""


def test_glyphs_of_nothing_are_refused():
    with pytest.raises(GameError, match=r"glyphs must stand for symbols of contents, .* got 'X'"):
        Grid(1, 2, glyphs={"X": "●"})


def test_runs_and_chains_of_cells():
    cells = Grid(3, 4)
    assert cells.runs({0, 1, 2, 4, 8, 3}, 3) == {0, 1, 2, 3, 4, 8}
    assert cells.runs({1, 6, 11, 4, 7}, 3) == {1, 6, 11}  # no line wraps into the next row
    assert cells.runs({3, 6, 9}, 3) == {3, 6, 9}
    assert cells.runs(set(range(12)), 5) == set()
    assert Grid(4, 1).runs({0, 1, 2}, 3) == {0, 1, 2}
    assert Grid(2, 1).runs({1}, 1) == {1}
    rhombus = Hexagons((3, 3, 3))
    top, bottom = range(3), range(6, 9)
    assert rhombus.chain({0, 3, 6, 1, 4, 5, 8}, [top, bottom]) in ({0, 3, 6}, {1, 3, 6})
    assert rhombus.chain({0, 4, 8, 2}, [top, bottom]) == set()
    triangle = Hexagons((1, 2, 3))
    sides = [(0, 1, 3), (0, 2, 5), (3, 4, 5)]
    assert triangle.chain({1, 2, 4, 5}, sides) in ({1, 4, 5}, {1, 2, 4}, {2, 4, 1}, {1, 2, 5})
    assert len(triangle.chain(set(range(6)), sides)) == 3


@pytest.mark.parametrize(
    ("name", "moves", "line"),
    [
        ("tictactoe", "1 4 2 5 3", {0, 1, 2}),
        ("connect4:5x4", "1 2 1 2 1 2 1", {0, 5, 10, 15}),
        ("mnk:5x5x3", "a1 a2 b1 b2 c1", {20, 21, 22}),
        ("qubic", "111 112 222 113 333 121 444", {0, 21, 42, 63}),
        ("hex:3", "b2 a1 b1 c3 a3", {1, 4, 6}),
        ("y:3", "a1 b2 a2 b3 a3", {0, 1, 3}),
        ("tictactoe", "1 4 2 5", set()),
    ],
)
def test_winning_lines(name, moves, line):
    game = load_game(name)
    position = game.parse(moves)
    assert set(game.notation.winning_line(position)) == line
    assert game.notation.draw(position, colours=True).count(";7m") == len(line)


def test_columns_of_a_rhombus_are_named_below_its_last_row():
    cells = Hexagons((2, 2), row_names="12", column_names="ab")
    assert cells.draw([0] * 4).splitlines() == ["1 . .", "2  . .", "   a b"]


@pytest.mark.parametrize("name", GAMES)
def test_boards_of_games(name):
    game = load_game(name)
    cells = board_of(type(game.start()))
    for position in reached(game):
        drawn, coloured = board(position), board(position, colours=True)
        assert drawn == str(position) != coloured
        assert all(symbol in coloured for symbol in cells.symbols(contents_of(position)))


@pytest.mark.parametrize("name", GAMES)
def test_positions_are_set_up_cell_by_cell(name):
    """Men in hand and the like, which cells do not show, need not come back."""
    game, found = load_game(name), 0
    notation = notation_of(type(game.start()))
    for position in reached(game):
        if outcome(position)[0]:
            continue
        contents, mover = contents_of(position), notation.mover(position)
        try:
            made = notation.set_up(contents, mover, game.start())
        except PositionError as error:
            assert re.fullmatch("(white|black) has [0-2] men", str(error))  # others are in hand
            continue
        assert (contents_of(made), notation.mover(made)) == (contents, mover)
        found += 1
    assert found > 5
    cells, choices = board_of(type(made)), random.Random(1)
    for symbols in (2, len(cells.contents)):
        for _ in range(30):
            contents = choices.choices(range(symbols), k=len(cells.places))
            try:
                notation.set_up(contents, choices.choice([*cells.players, mover]), game.start())
            except PositionError as error:
                assert "\n" not in str(error)


@pytest.mark.parametrize("name", GAMES)
def test_glyphs_stand_for_contents_and_tell_them_apart(name):
    cells = board_of(type(load_game(name).start()))
    assert cells.glyphs.keys() <= cells.contents.keys()
    shown = [cells.glyphs.get(symbol, symbol) for symbol in cells.contents]
    assert len({*shown}) == len(shown)
    assert all(unicodedata.east_asian_width(glyph) not in "WF" for glyph in cells.glyphs.values())


@pytest.mark.slow
@pytest.mark.skipif(not jit_enabled(), reason="nothing is compiled")
@pytest.mark.parametrize("name", GAMES)
def test_compiled_cells(name):
    import numba

    game = load_game(name)
    cls = type(game.start())
    count = len(board_of(cls).places)

    def fill(position, contents):
        for index in range(len(contents)):
            contents[index] = cell(position, index)

    compiled_fill = numba.njit(fill)
    compiled_fill.compile((position_type(cls), numba.int64[::1]))
    for position in reached(game):
        contents = np.zeros(count, np.int64)
        compiled_fill(position, contents)
        assert contents.tolist() == contents_of(position)


def test_values_in_words_follow_from_the_players():
    kalah, oware, tictactoe = map(load_game, ("kalah", "oware", "tictactoe"))
    assert description(kalah.start(), -3) == "north wins by 3"
    assert description(oware.start(), 1) == "south wins"
    assert description(oware.start(), 0) == "a draw"
    assert description(tictactoe.start(), 1) is None
