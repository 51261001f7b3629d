"""English draughts: moves by the rules in words, all positions with few pieces, notation."""

from __future__ import annotations

import math
import re
from collections import Counter
from itertools import product
from random import Random

import pytest
from data import FOLDER, rows
from hypothesis import given, settings
from numbering import assert_no_faults_in_layers
from positions import moves_by, order_scores, random_positions, reached

from cutnode import PositionError, legal_moves, load_game
from cutnode.compiler.jit import jit_enabled
from cutnode.contract.positions import coerce
from cutnode.contract.verbs import (
    NO_INDEX,
    check,
    drawn,
    evaluate,
    gain,
    index,
    key,
    layer,
    noisy,
    outcome,
    play,
    position_at,
    recurrence,
    retreat,
    retreats,
    reversible,
)
from cutnode.games import draughts
from cutnode.games.draughts import evaluate_material, start
from cutnode.games.draughts.numbering import LAYER_NAMES, LAYERS

pytestmark = pytest.mark.once

NOTATION = load_game("draughts").notation
parse, text_of, move_text = NOTATION.parse_position, NOTATION.position_text, NOTATION.move_text
parse_move = NOTATION.parse_move

SIZES = ("8x8", "6x6", "4x4")


# Rules


def board_of(position):
    """Return the pieces (``b``, ``B``, ``w``, ``W``) by row and column, from the FEN."""
    board, half = {}, position.WIDTH // 2
    for field in text_of(position).split(":")[1:]:
        for piece in filter(None, field[1:].split(",")):
            if field[0] in "BW":
                row, column = divmod(int(piece.removeprefix("K")) - 1, half)
                letter = field[0] if piece[0] == "K" else field[0].lower()
                board[row, 2 * column + 1 - row % 2] = letter
    return board


def number_of(position, square):
    row, column = square
    return row * position.WIDTH // 2 + column // 2 + 1


def moves_by_words(position):
    """Return all moves by the rules in words: squares, the next board, whether it is a capture."""
    board, size = board_of(position), position.WIDTH
    mine = "wW" if position.second else "bB"
    forward, last = (-1, 0) if position.second else (1, size - 1)

    def on_board(square):
        return 0 <= square[0] < size and 0 <= square[1] < size

    def directions(piece):
        return product((forward, -forward) if piece.isupper() else (forward,), (-1, 1))

    def arrived(square, piece, left):
        return left | {square: piece.upper() if square[0] == last else piece}

    def jumps(square, piece, left):
        for down, right in directions(piece):
            over = square[0] + down, square[1] + right
            to = square[0] + 2 * down, square[1] + 2 * right
            if left.get(over, mine) not in mine and on_board(to) and to not in left:
                after = {where: what for where, what in left.items() if where != over}
                crowned = piece.islower() and to[0] == last
                further = [] if crowned else list(jumps(to, piece, after))
                if not further:
                    yield [to], arrived(to, piece, after)
                for way, board_after in further:
                    yield [to, *way], board_after

    captures, steps = [], []
    for square, piece in board.items():
        if piece in mine:
            left = {where: what for where, what in board.items() if where != square}
            captures += [([square, *way], after) for way, after in jumps(square, piece, left)]
            for down, right in directions(piece):
                to = square[0] + down, square[1] + right
                if on_board(to) and to not in board:
                    steps.append(([square, to], arrived(to, piece, left)))
    return captures or steps, bool(captures)


def assert_moves_by_words(position):
    ways, capture = moves_by_words(position)
    assert outcome(position) == ((False, 0) if ways else (True, -1))
    if not ways:
        return
    assert check(position) == capture
    sign = "x" if capture else "-"
    ends = Counter((way[0], way[-1]) for way, _ in ways)
    listed = legal_moves(position)
    assert len(listed) == len(ways)
    for way, after in ways:
        squares = [str(number_of(position, square)) for square in way]
        move = parse_move(position, sign.join(squares))
        assert move in listed
        assert board_of(play(position, move)) == after
        short = ends[way[0], way[-1]] == 1
        assert move_text(position, move) == sign.join(
            squares[:: len(way) - 1] if short else squares
        )


@settings(max_examples=50)
@given(reached("draughts"))
def test_moves(position):
    assert_moves_by_words(position)


def random_board(dice, size, most):
    """Return any pieces of both sides anywhere, with many kings: more captures than games have."""
    cls = draughts.board.of(size)
    squares = [1 << bit for bit in range(cls.LAST + 1) if cls.BOARD >> bit & 1]
    chosen = dice.sample(squares, dice.randrange(2, most))
    words = [0, 0, 0, 0]
    for square in chosen:
        side, man = dice.random() < 0.6, dice.random() < 0.3
        seen = int(draughts.turned(cls, square)) if side else square
        king = not man or seen & cls.LAST_ROW
        words[2 * side + bool(king)] |= seen
    return coerce(cls(*words, dice.random() < 0.5, 0))


@pytest.mark.parametrize("size", SIZES)
def test_moves_of_any_board(size):
    dice = Random(size)
    for _ in range(300):
        position = random_board(dice, size, {"8x8": 20, "6x6": 12, "4x4": 6}[size])
        if position.their_men | position.their_kings:
            assert_moves_by_words(position)


@pytest.mark.parametrize(
    ("position", "texts"),
    [
        # A man jumps forward only, and is crowned at the end of its move.
        ("B:W6,7,14,15:B1,2", "1x17 1x19 2x9x18 2x11x18"),
        ("B:W6,15,23:B1", "1x26"),
        ("B:W14,22:B1,10", "10x26"),
        ("B:W26,27:B22", "22x31"),
        # A king may return to its starting square, in both directions.
        ("B:W6,7,14,15:BK2", "2x9x18x11x2 2x11x18x9x2"),
        # Paths with the same ends are told apart; others need not be.
        (
            "W:WK31:B10,11,18,19,26,27",
            "31x22x15x6 31x24x15x6 31x22x15x8 31x24x15x8 31x22x15x24x31 31x24x15x22x31",
        ),
        ("W:W32:BK27,18,9", "32x5"),
        # No capture on the edge, or of a piece with another one behind it.
        ("B:W5,6,10:B1,K3", "3-7 3-8"),
    ],
)
def test_examples(position, texts):
    position = parse(position)
    assert {move_text(position, move) for move in legal_moves(position)} == set(texts.split())


# Draws


def test_moves_without_progress():
    """Quiet king moves count; captures and moves of men reset the count."""
    position = parse("B:W32,K29:B1,K5:H7")
    after = {text: play(position, parse_move(position, text)) for text in ("5-9", "1-6")}
    assert {text: child.quiet for text, child in after.items()} == {"5-9": 8, "1-6": 0}
    assert reversible(position, after["5-9"]) and not reversible(position, after["1-6"])
    position = parse("B:W9,K29:BK5:H7")
    assert play(position, parse_move(position, "5x14")).quiet == 0
    assert not drawn(parse("B:WK32:BK1:H79")) and drawn(parse("B:WK32:BK1:H80"))


def test_recurrence_has_no_clock():
    fresh, stale = parse("B:WK32:BK1"), parse("B:WK32:BK1:H70")
    assert recurrence(fresh) == recurrence(stale)
    assert key(fresh) != key(stale)
    assert key(fresh) == key(parse("B:WK32:BK1:H9"))  # it does not matter yet


# All positions with few pieces


COUNTS = [(pieces, int(count)) for pieces, count in rows(FOLDER / "draughts_positions.txt")]


@pytest.mark.parametrize(("pieces", "published"), COUNTS)
def test_counts_of_positions(pieces, published):
    """The mover has either colour, and the board is turned so that he moves up: the same count."""
    sizes = start().LAYER_SIZES
    if pieces in LAYER_NAMES:
        first, second = pieces.split("-")
        assert sizes[LAYER_NAMES.index(pieces)] == published * (1 if first == second else 2)
    else:
        count = int(pieces)
        found = sum(int(n) for sides, n in zip(LAYERS, sizes, strict=True) if sum(sides) == count)
        ways = (math.comb(28, men) * math.comb(32 - men, count - men) for men in range(count + 1))
        assert found + 2 * sum(ways) == published  # including positions with one colour only


def test_names_of_layers():
    assert LAYER_NAMES[:3] == ("1k-1k", "1k-1m", "1m-1m")
    assert "2m1k-1m2k" not in LAYER_NAMES and "1m2k-2m1k" in LAYER_NAMES
    assert len(set(LAYER_NAMES)) == len(LAYERS) == len(start().LAYER_SIZES)


def same(position, other):
    """Return whether positions differ at most in the mover and in the count of plies."""
    return position[:4] == other[:4]


@pytest.mark.parametrize("variant", SIZES)
def test_numbers_of_positions(variant):
    """Some indices of all layers, including the first and last, and positions of random games."""
    dice, example = Random(variant), start(variant)
    for number, size in enumerate(map(int, example.LAYER_SIZES)):
        for wanted in {0, size - 1, *(dice.randrange(size) for _ in range(20))}:
            position = position_at(example, number, wanted)
            assert (layer(position), index(position)) == (number, wanted)
            assert not position.second and position.quiet == 0
    for position in random_positions("draughts", variant):
        over, pieces = outcome(position)[0], len(board_of(position))
        if pieces > 6:
            assert (layer(position), index(position)) == (len(LAYERS), NO_INDEX)
        elif not over:
            assert same(position_at(example, layer(position), index(position)), position)


def test_layers_never_grow():
    for position in random_positions("draughts"):
        for move in legal_moves(position):
            assert layer(play(position, move)) <= layer(position)


def played(position):
    """Return the indices of the positions of the same layer that moves lead to."""
    children = (play(position, move) for move in legal_moves(position))
    numbers = (index(child) for child in children if layer(child) == layer(position))
    return [number for number in numbers if number != NO_INDEX]


def taken_back(position):
    found = [retreat(position, number) for number in moves_by(retreats, position)]
    assert all(layer(before) == layer(position) for before in found)
    return [index(before) for before in found]


@pytest.mark.parametrize(
    ("variant", "name"),
    [
        *(("8x8", "1k-1k"), ("8x8", "1k-1m"), ("8x8", "1m-1m"), ("6x6", "1k-1m")),
        *(("4x4", "2m-1m"), ("4x4", "2k-2k"), ("4x4", "1m1k-1m1k"), ("4x4", "3m-2k")),
    ],
)
def test_steps_taken_back(variant, name):
    """Retreats are the inverse of moves, between all positions of a layer."""
    example, number = start(variant), LAYER_NAMES.index(name)
    forth, back = Counter(), Counter()
    for here in range(int(example.LAYER_SIZES[number])):
        position = position_at(example, number, here)
        assert (layer(position), index(position)) == (number, here)
        if not outcome(position)[0]:
            forth.update((here, there) for there in played(position))
        back.update((there, here) for there in taken_back(position))
    assert forth == back


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.skipif(not jit_enabled(), reason="many positions")
@pytest.mark.parametrize(
    "variant",
    [pytest.param(size, marks=[pytest.mark.long] * (size != "8x8")) for size in SIZES],
)
def test_some_positions_of_all_layers(variant):
    assert_no_faults_in_layers(start(variant), 20_000)


# Estimates


@given(reached("draughts"))
def test_estimates_are_of_both_players(position):
    men, kings, their_men, their_kings, second, quiet = position
    if not men | kings:
        return
    other = type(position)(their_men, their_kings, men, kings, not second, quiet)
    assert evaluate(other) == -evaluate(position)
    assert evaluate_material(other) == -evaluate_material(position)


def test_estimates():
    assert evaluate(start()) == evaluate_material(start()) == 0
    assert evaluate_material(parse("B:W32,K31:B1")) == -140
    assert evaluate(parse("B:W32,K31:B1")) < -140


def test_quiet_positions():
    """Captures are compulsory, so they are not a choice; else only a new king changes much."""
    position = parse("B:W32,21,K1:B26,12,K5")
    assert not check(position)
    assert [move_text(position, move) for move in moves_by(noisy, position)] == ["26-30", "26-31"]
    assert {gain(position, move) for move in moves_by(noisy, position)} == {40}
    position = parse("B:WK6,7,14,15,23:BK2,K22")
    assert check(position)
    gains = {move_text(position, move): gain(position, move) for move in legal_moves(position)}
    assert (gains["2x11x18x27"], gains["2x9x18x27"], gains["2x9x18x11x2"]) == (300, 340, 440)


def test_order():
    """Moves that expose a piece come last, and moves that capture most come first."""
    scores = order_scores(parse("B:W19,24,32:B4,11"))
    assert scores == {"4-8": 0, "11-15": -50, "11-16": -50}
    scores = order_scores(parse("B:WK6,7,14,15,23:BK2,K22"))
    assert max(scores, key=scores.__getitem__) in ("2x9x18x11x2", "2x11x18x9x2")


# Notation


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("W:W21-32:B1-12", "W:W21,22,23,24,25,26,27,28,29,30,31,32:B1,2,3,4,5,6,7,8,9,10,11,12"),
        ("b:bk12,9:w18:h0.", "B:W18:B9,K12"),
        (" W : W 18 , K22 : B 1 ", "W:W18,K22:B1"),
        ("B:W18:B", "B:W18:B"),
        ("W:WK1-3:B12:H80", "W:WK1,K2,K3:B12:H80"),
        ("W:W18,K22:B1,K9,12:H7:F30", "W:W18,K22:B1,K9,12:H7"),
        ("W:W18,K22:B1,K9,12:F30:H7.", "W:W18,K22:B1,K9,12:H7"),
        ("W:W31.:B2.", "W:W31:B2"),
        ("B:WK29-K32:BK1-4,5-6.:H0.:F1.", "B:WK29,K30,K31,K32:BK1,K2,K3,K4,5,6"),
        ('"W:W31:B2"', "W:W31:B2"),
    ],
)
def test_fen(text, written):
    assert text_of(parse(text)) == written


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("W:W31:B2:F", "'F' is not the number of a move, as in F30"),
        ("W:W31:B2:F1:F2", "once each"),
        ("W:W31:B2:G7", "and the move, F, as in"),
        ("W:W31:B1-K3", "'1-K3' is not a piece"),
        ("W:W31:B1\u2013K3", "not a piece"),
        ("W:WK3-1:B2", "'K3-1': squares are 1..32"),
    ],
)
def test_wrong_fens_are_refused(text, reason):
    with pytest.raises(PositionError, match=re.escape(reason)):
        parse(text)


def test_moves_played():
    position = parse("11-15 23-19 8-11")
    assert parse("1. 11-15 1. ... 23-19 2 . 8-11") == position
    assert parse("1. 11-15 23-19 2. 8-11") == parse("1.11-15 23-19 2.8-11") == position
    assert text_of(position) == (
        "W:W19,21,22,24,25,26,27,28,29,30,31,32:B1,2,3,4,5,6,7,9,10,11,12,15"
    )


@pytest.mark.parametrize("result", ["2-0", "1-1", "0-2", "1-0", "0-1", "1/2-1/2", "*", "0-0", ""])
def test_moves_of_portable_draughts_notation(result):
    position = parse("11-15 22-18 15x22")
    for text in (
        f"1. 11-15 22-18 2. 15x22 {result}",
        f"1. 11\u201315 22\u201418 2. 15\u00d722 {result}\r\n",
        f"1. 11-15! $1 {{White: 22-17 is usual}} 22-18?! 2. 15:22 {{1-0}} {result}",
    ):
        assert parse(text) == position
    assert parse(result or " ") == parse("")
    with pytest.raises(PositionError, match=r"'2-0': squares are 1\.\.32"):
        parse("2-0 11-15")


def test_drawing():
    lines = str(parse("W:W18,K22:B1,K9,12:H7")).splitlines()
    assert [line.rstrip() for line in lines] == [
        "1-4     b   .   .   .",
        "5-8   .   .   .   .",
        "9-12    B   .   .   b",
        "13-16 .   .   .   .",
        "17-20   .   w   .   .",
        "21-24 .   W   .   .",
        "25-28   .   .   .   .",
        "29-32 .   .   .   .",
        "white to move, 7 plies without progress",
    ]
