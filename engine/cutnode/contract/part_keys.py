"""The key of a part of a position: the same wherever the part stands, and for mirror images.

The part is moved to the corner of the board, and the least hash of its images by the symmetries
that the game allows (``PART_IMAGES``) is its key.  Parts of at most 8 rows and columns can also be
turned; longer ones are only mirrored, since a turned one need not fit into 64 bits.  Distinct parts
can share a key by chance: among n parts, with a probability of about n² / 2⁶⁵.
"""

from __future__ import annotations

import functools
from typing import Any

from cutnode.contract.bits import WORD, Bits, bytes_reversed, highest_index, lowest_index, mix
from cutnode.contract.cells import Grid
from cutnode.contract.default_keys import key_of_fields, words_of
from cutnode.contract.dispatch import constant_of, declared, defines, game_constant
from cutnode.contract.errors import GameError
from cutnode.contract.native import in_compiled_code, usable_in_compiled_code
from cutnode.contract.positions import field_kinds

SIDE = 8
"""The most rows and columns of a part that can be turned."""

IMAGES = (1, 4, 8)
"""The numbers of images that a game can allow."""

MIRRORED_COLUMNS, MIRRORED_ROWS, TURNED = 1, 2, 4
"""The bits of an image's number."""


def key_of_part(position: Any) -> int:
    """Return the key of a part by its board, or the key of its fields if no board suits."""
    cls: Any = type(position)
    shape = _shape(cls)
    if shape is None:
        return int(key_of_fields(position))
    return int(least_image(words_of(position), *shape))


@functools.cache
def _shape(cls: Any) -> tuple[int, int, int] | None:
    """Return the columns, the set of fields that are boards, and the number of images.

    Return None if no field is a board of at most 64 cells, or if the game defines no parts, since
    its positions may depend on their place; :class:`GameError` for a wrong ``PART_IMAGES``.
    """
    images = game_constant(cls, "PART_IMAGES", 8)
    if images not in IMAGES:
        raise GameError(f"PART_IMAGES must be 1, 4 or 8, got {images}")
    grid = declared(cls, "CELLS")
    if not (defines(cls, "parts") and isinstance(grid, Grid) and issubclass(cls, tuple)):
        return None
    boards = sum(1 << at for at, kind in enumerate(field_kinds(cls)) if kind is Bits)
    if grid.width * grid.height > 64 or not boards:
        return None
    return grid.width, boards, images


has_images = constant_of(lambda cls: _shape(cls) is not None)
"""Whether parts of a game have a board of which there can be images."""


@in_compiled_code(key_of_part)
def _compiled_key_of_part(position: Any) -> Any:
    shape = _shape(position.instance_class)
    if shape is None:
        return lambda position: key_of_fields(position)
    columns, boards, images = shape
    return lambda position: least_image(words_of(position), columns, boards, images)


@usable_in_compiled_code
def least_image(words: Any, columns: int, boards: int, images: int) -> int:
    """Return the least hash of the images of a part, given the *words* of its fields.

    Bit *i* of *boards* says whether field *i* is a board.
    """
    cells = Bits(0)
    for at in range(len(words)):
        if boards >> at & 1:
            cells |= Bits(words[at])
    if cells == Bits(0):
        return Bits(0)
    full_row = Bits(WORD) >> Bits(64 - columns)
    first_row = lowest_index(cells) // columns
    height = highest_index(cells) // columns + 1 - first_row
    occupied = Bits(0)
    for row in range(first_row, first_row + height):
        occupied |= cells >> Bits(columns * row) & full_row
    first_column = lowest_index(occupied)
    width = highest_index(occupied) + 1 - first_column
    first = Bits(columns * first_row + first_column)
    small = max(width, height) <= SIDE
    least = Bits(WORD)
    for image in range(images if small else min(images, TURNED)):
        hashed = Bits(0 if small else 1)
        for at in range(len(words)):
            word = Bits(words[at])
            if boards >> at & 1:
                word >>= first
                if small:
                    word = small_image(word, columns, height, width, image)
                else:
                    word = mirrored(word, columns, height, width, image)
            hashed = Bits(mix(hashed ^ word))
        if hashed < least:
            least = hashed
    return least


@usable_in_compiled_code
def small_image(word: int, columns: int, height: int, width: int, image: int) -> int:
    """Return an image of a board in the corner, in rows of 8 bits."""
    board = Bits(0)
    row = (Bits(1) << Bits(width)) - Bits(1)
    for y in range(height):
        board |= (Bits(word) >> Bits(columns * y) & row) << Bits(SIDE * y)
    if image & MIRRORED_ROWS:
        board = Bits(bytes_reversed(board)) >> Bits(SIDE * (SIDE - height))
    if image & MIRRORED_COLUMNS:
        board = reversed_rows(board) >> Bits(SIDE - width)
    if image & TURNED:
        board = transposed(board)
    return board


@usable_in_compiled_code
def reversed_rows(board: int) -> int:
    """Return a board of 8 columns with its columns in reverse order."""
    board = Bits(board)
    ones, pairs = Bits(0x5555555555555555), Bits(0x3333333333333333)
    fours = Bits(0x0F0F0F0F0F0F0F0F)
    board = board >> Bits(1) & ones | (board & ones) << Bits(1)
    board = board >> Bits(2) & pairs | (board & pairs) << Bits(2)
    return board >> Bits(4) & fours | (board & fours) << Bits(4)


@usable_in_compiled_code
def transposed(board: int) -> int:
    """Return a board of 8 rows and columns with rows and columns exchanged."""
    board = Bits(board)
    change = (board ^ board >> Bits(7)) & Bits(0x00AA00AA00AA00AA)
    board ^= change ^ change << Bits(7)
    change = (board ^ board >> Bits(14)) & Bits(0x0000CCCC0000CCCC)
    board ^= change ^ change << Bits(14)
    change = (board ^ board >> Bits(28)) & Bits(0x00000000F0F0F0F0)
    return board ^ change ^ change << Bits(28)


@usable_in_compiled_code
def mirrored(word: int, columns: int, height: int, width: int, image: int) -> int:
    """Return a mirror image of a board in the corner, in rows of *columns* bits."""
    board = Bits(word)
    if 0 < image < MIRRORED_COLUMNS + MIRRORED_ROWS:  # one of the two
        row = (Bits(1) << Bits(width)) - Bits(1)
        board = Bits(0)
        for y in range(height):
            line = Bits(word) >> Bits(columns * y) & row
            board |= line << Bits(columns * (height - 1 - y))
    if image & MIRRORED_COLUMNS:
        # A half turn: a board of mirrored rows becomes one of mirrored columns.
        turned = reversed_rows(Bits(bytes_reversed(board)))
        board = turned >> Bits(64 - columns * (height - 1) - width)
    return board
