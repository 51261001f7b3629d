"""Kayles and Dawson's Kayles: published nimbers, parts, texts."""

from __future__ import annotations

import functools

import pytest
from data import FOLDER, rows
from positions import nimber, texts_of

from cutnode import load_game, solve
from cutnode.contract.verbs import part_key, parts

pytestmark = pytest.mark.once

parse_position, position_text, start = texts_of("kayles")

KAYLES = [int(value) for _, value in rows(FOLDER / "kayles.txt")]
DAWSON = [int(value) for _, value in rows(FOLDER / "dawson.txt")]


@pytest.mark.parametrize("pins", [1, 2, 5, 9, 15, 20, 40, 64])
def test_nimbers(pins):
    assert nimber(load_game(f"kayles:{pins}", plain=True).start()) == KAYLES[pins]


@pytest.mark.parametrize("pins", [*range(2, 20), 34, 49, 54])
def test_nimbers_of_pairs(pins):
    assert nimber(load_game(f"kayles:dawson,{pins}", plain=True).start()) == DAWSON[pins]


@pytest.mark.parametrize("row", ["|||.||", "|.|", "||||.|||", "|||..|||", "||.|||||"])
@pytest.mark.parametrize("rules", ["", "dawson,"])
def test_sums_of_rows(row, rules):
    """The player to move wins unless the nimbers of the rows cancel."""
    values = DAWSON if rules else KAYLES
    sizes = [len(run) for run in row.split(".")]
    total = functools.reduce(int.__xor__, (values[size] for size in sizes))
    position = load_game(f"kayles:{rules}{len(row)}", plain=True).parse(row)
    assert nimber(position) == total
    assert solve(position, engine="alphabeta").value == (1 if total else -1)


def test_parts():
    buffer = [0] * 64
    full = load_game("kayles:64").start()
    assert buffer[: parts(full, buffer, 0)] == [2**64 - 1]
    position = parse_position("|.||.|||", "8")
    assert buffer[: parts(position, buffer, 0)] == [0b1, 0b1100, 0b11100000]
    pairs = parse_position("|.||.|||", "dawson,8")
    assert buffer[: parts(pairs, buffer, 0)] == [0b1100, 0b11100000]


def test_length_is_the_key():
    keys = {part_key(parse_position(row, "5")) for row in ("|||..", ".|||.", "..|||")}
    assert keys == {3}


def test_drawing():
    assert str(parse_position("|||||.|||||", "11")) == "\n".join(
        ["| | | | | . | | | | |", "1 2 3 4 5 6 7 8 9 0 1"]
    )
