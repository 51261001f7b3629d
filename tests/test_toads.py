"""Toads and Frogs: classes of strips, rules on the strip that is drawn, parts."""

from __future__ import annotations

import pytest
from data import FOLDER, rows
from hypothesis import given
from positions import reached, texts_of

from cutnode import legal_moves, load_game, solve
from cutnode.contract.verbs import evaluate, outcome, part_key, parts, play, swapped

pytestmark = pytest.mark.once

parse_position, position_text, start = texts_of("toads")

STRIPS = rows(FOLDER / "toads_strips.txt")
CLASSES = {"N": (1, 1), "P": (-1, -1), "L": (1, -1), "R": (-1, 1)}
"""The value of moving first, for Left and for Right."""


@pytest.mark.parametrize(
    ("strip", "kind"),
    [
        pytest.param(*row, marks=[pytest.mark.slow] if sum(map(int, row[0].split(","))) > 7 else [])
        for row in STRIPS
    ],
)
def test_strips(strip, kind):
    first = load_game(f"toads:{strip}", plain=True).start()
    found = [solve(seen, engine="alphabeta").value for seen in (first, swapped(first))]
    assert tuple(found) == CLASSES[kind]


def moves_of(strip, mover):
    """Return the strips after each move of a player, by the number of the cell."""
    if mover == "right":
        mirror = strip[::-1].translate(str.maketrans("TF", "FT"))
        return {
            len(strip) + 1 - cell: after[::-1].translate(str.maketrans("TF", "FT"))
            for cell, after in moves_of(mirror, "left").items()
        }
    return {
        at + 1: strip[:at] + after + strip[at + len(before) :]
        for at in range(len(strip))
        for before, after in (("T.", ".T"), ("TF.", ".FT"))
        if strip.startswith(before, at)
    }


@given(reached("toads"))
def test_moves(position):
    strip, mover = position_text(position).split()
    game = load_game("toads").notation
    found = {
        int(game.move_text(position, move)): position_text(play(position, move)).split()[0]
        for move in legal_moves(position)
    }
    assert found == moves_of(strip, mover)
    assert outcome(position) == ((False, 0) if found else (True, -1))


@given(reached("toads"))
def test_the_other_player_sees_the_mirror_image(position):
    strip, mover = position_text(position).split()
    assert position_text(swapped(position)) == f"{strip} {'left' if mover == 'right' else 'right'}"
    assert evaluate(swapped(position)) == -evaluate(position)
    mirror = strip[::-1].translate(str.maketrans("TF", "FT"))
    other = parse_position(f"{mirror} {'left' if mover == 'right' else 'right'}", position.VARIANT)
    assert part_key(other) == part_key(position)


@pytest.mark.parametrize(
    ("strip", "masks"),
    [
        ("TTT..FFF", [0b11111111]),
        ("..TTFF..", []),  # blocked for ever
        ("T.TTFF.F", [0b00000011, 0b11000000]),
        ("T.F#T.F#", [0b00000111, 0b01110000]),
        ("TF.TTFF.", [0b00000111]),
        ("T..F..T.", [0b11111111]),
        ("F.T.F.T.", [0b11111110]),
        ("F..T..T.", [0b11111000]),
    ],
)
def test_parts(strip, masks):
    for mover in ("left", "right"):
        position = parse_position(f"{strip} {mover}", "3,2,3")
        buffer = [0] * 64
        found = buffer[: parts(position, buffer, 0)]
        if mover == "right":
            found = [int(f"{mask:08b}"[::-1], 2) for mask in found]
        assert sorted(found) == masks


def test_keys_of_parts():
    def key(strip):
        return part_key(parse_position(strip, "3,2,3"))

    assert key("T.F##### left") == key("###T.F## left") == key("###T.F## right")
    assert key("TF.##### left") == key("#####.TF right") != key(".TF##### left")
    assert key("T.FT.### left") != key(".TF.T### left")
