"""Chess endings: indices, symmetries, layers, retreats, published counts of positions."""

from __future__ import annotations

import re
from random import Random

import numpy as np
import pytest
from data import FOLDER, rows
from marks import compiled_only
from numbering import (
    assert_legally_reached,
    assert_no_faults,
    assert_numbered,
    assert_taken_back,
    entry_at,
    entry_of,
    following,
    preceding,
)

from cutnode import legal_moves, load_game
from cutnode.compiler.jit import Position, kernel
from cutnode.contract.positions import coerce
from cutnode.contract.verbs import index, layer, play, position_at
from cutnode.games.chess import LAYER_NAMES, LAYER_SIZES, parse_position, position_text, set_up
from cutnode.games.chess.endings import LAYOUTS, PASSANTS
from cutnode.games.chess.notation import placement_of

pytestmark = pytest.mark.once

EXAMPLE = load_game("chess").start()
PAWNS = LAYER_NAMES.index("KPvKP")

COUNTS = [
    (name, mover == "second", sum(map(int, counts)))
    for name, mover, *counts in rows(FOLDER / "chess_endings.txt")
]
TWICE = {"KQQvK", "KRRvK", "KBBvK", "KPPvK"}
"""Endings whose published counts distinguish two men of the same kind."""


def some(number, count, seed=1):
    """Return positions of random indices of a layer."""
    dice, found = Random(seed), []
    while len(found) < count:
        position = entry_at(EXAMPLE, (number, dice.randrange(LAYER_SIZES[number])))
        found += [position] * (position is not None)
    return found


def passants(count):
    """Return positions with a possible capture en passant."""
    dice, found = Random(2), []
    while len(found) < count:
        position = entry_at(EXAMPLE, (PAWNS, dice.randrange(PASSANTS, LAYER_SIZES[PAWNS])))
        found += [position] * (position is not None)
    return found


# Indices


def test_layers():
    """Layers come after the layers with fewer men, and the layers with fewer pawns."""
    assert LAYER_NAMES[0] == "KvK"
    assert len({*LAYER_NAMES}) == len(LAYER_SIZES) == 36
    men = [(len(name), name.count("P")) for name in LAYER_NAMES]
    assert men == sorted(men)
    for text, name in [
        ("8/8/8/3k4/8/8/8/KQ6 w - - 0 1", "KQvK"),
        ("8/8/8/3k4/8/8/8/KQ6 b - - 0 1", "KQvK"),
        ("8/8/8/3kn3/8/8/8/K5b1 w - - 0 1", "KBNvK"),
        ("8/8/8/3kn3/8/8/8/K5R1 b - - 0 1", "KRvKN"),
        ("8/8/8/3k4/8/8/8/K7 b - - 0 1", "KvK"),
    ]:
        assert LAYER_NAMES[layer(parse_position(text))] == name


@pytest.mark.parametrize("number", range(len(LAYER_NAMES)), ids=LAYER_NAMES)
def test_indices(number):
    """Indices of random positions, whose hash and other sums must be right, too."""
    for position in some(number, 4):
        assert position == set_up(placement_of(position))
        assert assert_numbered(position) == position


def test_indices_with_a_capture_in_passing():
    for position in passants(10):
        assert position == set_up(placement_of(position))
        without = position._replace(passant=0)
        assert entry_of(without)[0] == PAWNS and index(without) < PASSANTS
        taken = [child for child in following(position) if layer(child) < PAWNS]
        assert [LAYER_NAMES[layer(child)] for child in taken].count("KPvK") == 1


@pytest.mark.parametrize(
    "text",
    [
        "4k3/8/8/8/8/8/8/4K2R w K - 0 1",
        "r3k3/8/8/8/8/8/8/4K3 w q - 0 1",
        "4k3/8/8/8/8/8/PP6/2B1K3 w - - 0 1",
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    ],
)
def test_positions_that_are_in_no_layer(text):
    """Positions with five men, or with castling rights."""
    assert layer(parse_position(text)) == index(parse_position(text)) == -1


def images(text):
    """Return the texts of all images of a position, also with the players exchanged.

    They have mirrored files and, without pawns, mirrored ranks and exchanged ranks and files.
    """
    board, mover, *rest = text.split()
    for digit in "2345678":
        board = board.replace(digit, "1" * int(digit))
    found = {(tuple(board.split("/")), mover)}
    found |= {(tuple(row[::-1] for row in rows), mover) for rows, mover in found}
    found |= {
        (tuple(row.swapcase() for row in rows[::-1]), "wb"[mover == "w"]) for rows, mover in found
    }
    if "p" not in board.lower():
        found |= {(rows[::-1], mover) for rows, mover in found}
        found |= {(tuple(map("".join, zip(*rows, strict=True))), mover) for rows, mover in found}
    return [" ".join([board_text(rows), mover, *rest]) for rows, mover in found]


def board_text(rows):
    return re.sub("1+", lambda ones: str(len(ones[0])), "/".join(rows))


@pytest.mark.parametrize("number", range(len(LAYER_NAMES)), ids=LAYER_NAMES)
def test_images_have_one_index(number):
    for position in some(number, 2, seed=3):
        if not position.passant:
            for text in images(position_text(position)):
                assert entry_of(parse_position(text)) == entry_of(position)


@pytest.mark.parametrize(
    "text",
    [
        "8/8/8/3k4/8/Q7/8/KQ6 w - - 0 1",
        "8/8/8/3k4/8/8/Q7/KQ6 b - - 0 1",
        "8/8/8/3k2B1/6B1/8/8/K7 b - - 0 1",
        "8/8/8/3k4/8/8/1N1R4/K7 b - - 0 1",
        "8/8/8/3k4/8/1N6/8/K2R4 b - - 0 1",
        "8/8/3k4/8/3K4/8/8/6R1 w - - 0 1",
    ],
)
def test_images_of_kings_on_a_diagonal(text):
    found = {entry_of(parse_position(image)) for image in images(text)}
    assert len(found) == 1 and (-1, -1) not in found


@compiled_only
@pytest.mark.parametrize(
    ("name", "second", "wanted"),
    [
        pytest.param(*count, id="-".join(map(str, count[:2])), marks=pytest.mark.slow)
        for count in COUNTS
    ],
)
def test_published_counts(name, second, wanted):
    """Legal positions for a material and a player to move."""
    number = LAYER_NAMES.index(name)
    layout = LAYOUTS[number]
    half = layout[1] * layout[2] * layout[3]
    start = half if second and layout[0] == 2 else 0
    count_positions.specialise(type(EXAMPLE))
    found = count_positions(coerce(EXAMPLE), number, start, start + half)
    if name in TWICE:
        assert 0 <= 2 * found - wanted < 600
    else:
        assert found == wanted


@kernel
def count_positions(example: Position, number: int, start: int, end: int) -> int:
    found = 0
    for wanted in range(start, end):
        position = position_at(example, number, wanted)
        found += layer(position) == number and index(position) == wanted
    return found


# Moves backwards


@pytest.mark.parametrize("name", ["KQvK", "KPvK", "KBNvK", "KRvKP"])
def test_moves_backwards(name):
    for position in some(LAYER_NAMES.index(name), 2):
        assert_taken_back(position)
        assert_legally_reached(position)


def test_moves_backwards_with_captures_in_passing():
    for position in (*passants(3), *some(PAWNS, 2)):
        assert_taken_back(position)
        assert_legally_reached(position)


def test_two_steps_that_allow_a_capture_lead_elsewhere():
    position = parse_position("8/8/8/8/1p6/8/P3K3/6k1 w - - 0 1")
    (after,) = (child for child in following(position) if child.passant)
    assert entry_of(position) in map(entry_of, preceding(after))
    assert entry_of(position) not in map(entry_of, preceding(after._replace(passant=0)))
    assert entry_of(after) in map(entry_of, preceding(play(after, quiet_move(after))))


def quiet_move(position):
    """Return a move of the king."""
    (king,) = (n for n in range(64) if position.kings & position.mine & 1 << n)
    return next(move for move in legal_moves(position) if move & 63 == king)


@compiled_only
@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("number", range(len(LAYER_NAMES)), ids=LAYER_NAMES)
def test_compiled_moves_backwards(number):
    size = LAYER_SIZES[number]
    indices = np.random.default_rng(1).integers(0, size, 3000)
    if number == PAWNS:
        indices = np.concatenate([indices, np.arange(PASSANTS, size)])
    assert assert_no_faults(EXAMPLE, number, indices) > 1000
