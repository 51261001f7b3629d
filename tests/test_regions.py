"""Boards of at most 64 squares: neighbours, regions and names of cells, compared with sets."""

from __future__ import annotations

from random import Random

import pytest

from cutnode import Bits, PositionError
from cutnode.contract.regions import (
    cell_text,
    cells_of,
    connected,
    grid,
    neighbours,
    shifted,
    write_regions,
)

BOARDS = ((5, 4), (1, 9), (9, 1), (8, 8), (2, 3), (26, 2), (1, 64))


class Board:
    """A board with the constants of a size."""

    def __init__(self, width, height):
        self.__dict__.update(grid(width, height))

    def places(self, cells):
        return {divmod(cell, self.WIDTH) for cell in range(self.AREA) if cells >> cell & 1}


STEPS = ((0, 1), (0, -1), (1, 0), (-1, 0))


def around(board, places, steps=STEPS):
    found = {(y + down, x + right) for y, x in places for down, right in steps}
    return {(y, x) for y, x in found if 0 <= y < board.HEIGHT and 0 <= x < board.WIDTH}


@pytest.mark.parametrize("size", BOARDS)
def test_neighbours_and_regions(size):
    board, dice = Board(*size), Random(str(size))
    for _ in range(40):
        cells = Bits(dice.getrandbits(board.AREA) & dice.getrandbits(board.AREA))
        places = board.places(cells)
        assert board.places(neighbours(board, cells)) == around(board, places)
        for direction, step in enumerate(STEPS):
            found = board.places(shifted(board, cells, direction))
            assert found == around(board, places, [step])
        buffer = [0] * 64
        regions = buffer[3 : write_regions(board, cells, buffer, 3)]
        alone = places - around(board, places)
        assert set().union(alone, *map(board.places, regions)) == places
        assert sum(region.bit_count() for region in regions) == len(places) - len(alone)
        for region in regions:
            inside = board.places(region)
            assert around(board, inside) & places == inside
            first = region & -region
            assert connected(board, first, cells) == region


def test_start_outside_of_the_cells():
    board = Board(3, 1)
    assert connected(board, 0b001, 0b110) == 0b111


def test_names_of_cells():
    board = Board(4, 12)
    assert [cell_text(board, cell) for cell in (0, 3, 44, 47)] == ["a12", "d12", "a1", "d1"]
    assert cells_of(board, "A12-d1", 2, "a1b1") == [0, 47]
    assert cells_of(board, "d9", 1, "a1") == [15]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a1", "'a1' is not a move; moves are written as in a1b1"),
        ("a1b1c1", "is not a move"),
        ("a1e1", "a1e1: e1 is not on the board, whose cells are a1..d12"),
        ("a0b1", "a0 is not on the board"),
        ("a1b13", "b13 is not on the board"),
        ("²1b1", "is not a move"),
    ],
)
def test_texts_of_other_cells_are_refused(text, words):
    with pytest.raises(PositionError, match="not") as caught:
        cells_of(Board(4, 12), text, 2, "a1b1")
    assert words in str(caught.value)


@pytest.mark.parametrize("size", [(1, 1), (0, 5), (5, 0), (9, 8), (27, 1), (-2, -3)])
def test_other_sizes_are_refused(size):
    with pytest.raises(PositionError, match=f"there is no board of {size[0]}x{size[1]}: "):
        grid(*size)
