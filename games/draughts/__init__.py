"""English draughts (checkers) on boards of 8x8, 6x6 and 4x4 squares.

Rules: as set by the World Checkers Draughts Federation.  Black, with twelve men on the first three
rows, moves first.  A man steps one square diagonally forward, a king in all four directions.
A piece captures an adjacent opposing one by jumping over it to the empty square behind, a man
only forward, and keeps jumping as long as it can; what it jumps over leaves the board.  A player
who can capture must, in any way that he likes.  A man that reaches the last row becomes a king, and
the move ends there.  A player who cannot move has lost.  A game is drawn when a position occurs for
the third time, and after forty moves of each player without a capture or a move of a man.

Each way to capture is a separate move, even if another one takes the same pieces and ends on the
same square (as in perft counts with "duplicates kept").

Values: 1 a win, 0 a draw, -1 a loss.

Variants: ``6x6`` with two rows of men each and ``4x4`` with one; ``8x8`` is the usual board.

Text: squares have the usual numbers::

       1   2   3   4        black
     5   6   7   8
       9  10  11  12
    13  14  15  16
      17  18  19  20
    21  22  23  24
      25  26  27  28
    29  30  31  32          white

Moves are written ``11-15`` and ``22x15``, and with all squares where that is ambiguous:
``22x15x8``.  A position is a FEN of portable draughts notation: who is to move, the pieces of
both sides, ``K`` before a king, and, unless it is 0, the number of plies since the last capture or
move of a man: ``W:W18,K22:B1,K9,12:H7``.

Encoding: a word for the men and one for the kings of each player, *as their owner sees them* from
his own side.  So all rules are written once: a move changes the words of its player, and then the
players change places.  A bit for each square, and one unused (8, 17, 26) after every second row, so
that a step up to the right is +4 everywhere, to the left +5, down to the right -5, to the left
-4::

         34    33    32    31      a man of the owner's is crowned here
      30    29    28    27
         25    24    23    22
      21    20    19    18           white's squares 14, 13 ... have the bits 20, 21,
         16    15    14    13        and 17 has bit 16: 17-14 is +4, 17-13 is +5
      12    11    10     9
          7     6     5     4
       3     2     1     0

Bit n of one player is bit 34 - n of the other.  The number of a step is four times its first
square, plus 0 up to the right, 1 up to the left, 2 down to the right, 3 down to the left.  Captures
are numbered by their paths (``games/draughts/generator.py``).
"""

from __future__ import annotations

import functools
import re
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from cutnode import Bits, PositionError, compiled, play_texts, popcount
from cutnode.contract.bits import mix, product
from cutnode.contract.cells import Grid
from cutnode.contract.notation import contents_of, prints_board
from cutnode.contract.variants import board_size, variants
from cutnode.games.draughts.generator import (
    CAPTURES,
    CHANGE,
    FIRST,
    GROUPS,
    ROWS_OF_MEN,
    TAKEN,
    can_capture,
    capturers,
    down,
    empty_squares,
    end_of_step,
    opponents,
    rows_of,
    turned,
    up,
    write_captures,
    write_steps,
)
from cutnode.games.draughts.notation import DRAWN, fen, mover, moves_in, parse_fen
from cutnode.games.draughts.notation import move_text as move_text
from cutnode.games.draughts.notation import parse_move as parse_move
from cutnode.games.draughts.numbering import LAYER_NAMES as LAYER_NAMES
from cutnode.games.draughts.numbering import LAYERS, MEN_TABLES, placements
from cutnode.games.draughts.numbering import index as index
from cutnode.games.draughts.numbering import layer as layer
from cutnode.games.draughts.numbering import position_at as position_at
from cutnode.games.draughts.numbering import retreat as retreat
from cutnode.games.draughts.numbering import retreats as retreats

DECISIVE = True
VALUE_LIMIT = 1
UNIT = 100
REPETITIONS = 3
MAX_MOVES = 64

MAN, KING = 100, 140

LATE = 16
"""The count of quiet plies from which on it is part of the key.

No search goes deeper than ``DRAWN`` less this.
"""

SCATTER = Bits(0x9E3779B97F4A7C15)
"""An odd number without a pattern: kings times it, plus men, hash both."""


@prints_board
class Pieces(NamedTuple):
    """A position: the men and kings of the mover and of the other, as their owner sees them."""

    men: Bits
    kings: Bits
    their_men: Bits
    their_kings: Bits
    second: bool
    """Whether the second player, white, is to move; matters for texts only."""
    quiet: int
    """Plies since the last capture or move of a man."""


@compiled
def cell(position, index):
    """Return the content of a cell.

    0 an empty square, 1 a black man, 2 a black king, 3 a white man, 4 a white king, 5 no square.
    Squares are the cells whose row and column numbers have an odd sum.
    """
    width = position.WIDTH
    if (index // width + index) & 1 == 0:
        return 5
    square = index >> 1
    black = Bits(1) << Bits(square + square // width)
    white = Bits(1) << Bits(position.LAST - square - square // width)
    mine, theirs = (white, black) if position.second else (black, white)
    if (position.men & mine) | (position.kings & mine):
        return (3 if position.second else 1) + (position.kings & mine != Bits(0))
    if (position.their_men & theirs) | (position.their_kings & theirs):
        return (1 if position.second else 3) + (position.their_kings & theirs != Bits(0))
    return 0


@compiled
def moves(position, buffer, at):
    """Write captures if there are any, else steps: of all pieces up, then of kings down."""
    theirs = opponents(position)
    empty = empty_squares(position, theirs)
    capturing = capturers(position, theirs, empty)
    if capturing:
        return write_captures(position, capturing, empty, buffer, at)
    return write_steps(position, position.men | position.kings, empty, buffer, at)


@compiled
def play(position, move):
    men, kings = position.men, position.kings
    their_men, their_kings = position.their_men, position.their_kings
    if move < CAPTURES:
        source = Bits(1) << Bits(move >> 2)
        change = source | (Bits(1) << Bits(end_of_step(position, move)))
        is_king = kings & source != Bits(0)
        quiet = position.quiet + 1 if is_king else 0
    else:
        change = CHANGE[move - CAPTURES]
        taken = TAKEN[move - CAPTURES]
        their_men &= ~taken
        their_kings &= ~taken
        is_king = move - CAPTURES >= position.KING_PATHS
        quiet = 0
    if is_king:
        kings ^= change
    else:
        men ^= change
        crowned = men & position.LAST_ROW
        men ^= crowned
        kings |= crowned
    return position._replace(
        men=their_men,
        kings=their_kings,
        their_men=men,
        their_kings=kings,
        second=not position.second,
        quiet=quiet,
    )


@compiled
def outcome(position):
    theirs = opponents(position)
    empty = empty_squares(position, theirs)
    pieces = position.men | position.kings
    if (pieces & down(position, empty)) | (position.kings & up(position, empty)):
        return False, 0
    if capturers(position, theirs, empty):
        return False, 0
    return True, -1


@compiled
def word_of(position):
    """Hash the pieces as the mover sees them."""
    mine = product(position.kings, SCATTER) + position.men
    theirs = product(position.their_kings, SCATTER) + position.their_men
    return mix(mix(mine) ^ theirs)


@compiled
def key(position):
    """Return a key in which the highest bit tells white's positions from black's.

    It has the count of quiet plies where a search can come near the limit.
    """
    word = word_of(position) ^ (Bits(position.second) << Bits(63))
    return word if position.quiet < LATE else word ^ mix(Bits(position.quiet))


@compiled
def canonical(position):
    """Return a key that is the same for both players."""
    word = word_of(position)
    return (word if position.quiet < LATE else word ^ mix(Bits(position.quiet))), 0


@compiled
def reversible(position, child):
    return child.quiet > 0


@compiled
def recurrence(position):
    return word_of(position) ^ (Bits(position.second) << Bits(63))


@compiled
def drawn(position):
    return position.quiet >= DRAWN


# Heuristics for searches that stop before the end of the game


@compiled
def evaluate(position):
    """Score material, trades when ahead, squares to step to, and where pieces stand.

    Each of the last won matches of 300 games against material and trades alone, with 3000 nodes a
    move: mobility by 28 Elo, the middle by 24, the guards by 10.  The advance of men gained
    nothing.
    """
    mine, theirs = position.men | position.kings, position.their_men | position.their_kings
    count, other = popcount(mine), popcount(theirs)
    score = evaluate_material(position) + (count - other) * (24 - count - other)
    score += 4 * (popcount(mine & position.CENTRE) - popcount(theirs & position.CENTRE))
    guards, their_guards = position.men & position.GUARDS, position.their_men & position.GUARDS
    score += 6 * (popcount(guards) - popcount(their_guards))

    facing, facing_kings = turned(position, theirs), turned(position, position.their_kings)
    empty = empty_squares(position, facing)
    steps = (up(position, mine) | down(position, position.kings)) & empty
    their_steps = (down(position, facing) | up(position, facing_kings)) & empty
    return score + 3 * (popcount(steps) - popcount(their_steps))


@compiled
def evaluate_material(position):
    men = popcount(position.men) - popcount(position.their_men)
    kings = popcount(position.kings) - popcount(position.their_kings)
    return MAN * men + KING * kings


@compiled
def check(position):
    """Return whether the mover must capture: there is no standing pat then."""
    return can_capture(position)


@compiled
def noisy(position, buffer, at):
    """Write captures or, if there are none, steps that crown a man."""
    theirs = opponents(position)
    empty = empty_squares(position, theirs)
    capturing = capturers(position, theirs, empty)
    if capturing:
        return write_captures(position, capturing, empty, buffer, at)
    return write_steps(position, position.men, empty & position.LAST_ROW, buffer, at)


@compiled
def gain(position, move):
    """Return the value of the pieces taken, and of a new king."""
    if move < CAPTURES:
        target = Bits(1) << Bits(end_of_step(position, move))
        man = position.men & (Bits(1) << Bits(move >> 2))
        return KING - MAN if man and target & position.LAST_ROW else 0
    taken = TAKEN[move - CAPTURES]
    return MAN * popcount(taken) + (KING - MAN) * popcount(taken & position.their_kings)


@compiled
def order(position, move, child):
    """Order by what is taken, and then moves after which the other has nothing to take."""
    return gain(position, move) - 50 * can_capture(child)


# Boards of all sizes

VARIANTS = "8x8", "6x6", "4x4"


@variants(
    Pieces,
    usual="8x8",
    read=functools.partial(board_size, example="6x6"),
    about="the board, 4x4, 6x6 or 8x8: 6x6",
)
def board(width: int, height: int) -> dict[str, Any]:
    """Return the constants of a board; :class:`PositionError` if no board has that size."""
    if width != height or width not in ROWS_OF_MEN:
        raise PositionError(f"there is no board of {width}x{height}: there are 8x8, 6x6 and 4x4")
    half, squares, rows = width // 2, width * width // 2, functools.partial(rows_of, width)
    whole = rows(*range(height))
    inner = sum(rows(n) & rows(n) << 1 & rows(n) >> 1 for n in range(height))
    constants = {
        "WIDTH": width,
        "HALF": half,
        "SQUARES": squares,
        "LAST": whole.bit_length() - 1,
        "RIGHT": Bits(half),
        "LEFT": Bits(half + 1),
        "BOARD": whole,
        "FIRST_ROW": rows(0),
        "MIDDLE": rows(*range(1, height - 1)),
        "UPPER": rows(*range(1, height)),
        "LAST_ROW": rows(height - 1),
        "CENTRE": Bits(rows(half - 1, half) & inner),
        "GUARDS": Bits(rows(0) & 0b101),
        "START": rows(*range(ROWS_OF_MEN[width])),
        "GROUPS": GROUPS[width],
        "KING_PATHS": FIRST[GROUPS[width] + whole.bit_length()],
        "MEN": MEN_TABLES[width],
        "VARIANT": f"{width}x{height}",
        "MAX_PLIES": DRAWN * width * height * ROWS_OF_MEN[width],
        "CELLS": Grid(
            height,
            width,
            contents={
                ".": "empty",
                "b": "black man",
                "B": "black king",
                "w": "white man",
                "W": "white king",
                " ": "no square",
            },
            glyphs={".": "·", "b": "⛂", "B": "⛃", "w": "⛀", "W": "⛁"},
            players={"black": "black", "white": "white"},
            row_names=[f"{n + 1}-{n + half}" for n in range(0, squares, half)],
        ),
    }
    sizes = SimpleNamespace(**constants)
    constants["LAYER_SIZES"] = np.array(
        [placements(sizes, *sides) * (1 + (sides[:2] != sides[2:])) for sides in LAYERS]
    )
    return constants


Position = board(8, 8)


# Text


def start(variant: str = "") -> Pieces:
    """Return the first position of a board of a size such as ``6x6``; the usual one is 8x8."""
    cls = board.of(variant)
    return cls(cls.START, Bits(0), cls.START, Bits(0), False, 0)


def caption(position: Pieces) -> str:
    quiet = f", {position.quiet} plies without progress" if position.quiet else ""
    return f"{mover(position)} to move{quiet}"


def position_text(position: Pieces) -> str:
    return fen(position)


NO_SQUARE = 5
"""The content of a cell on which no piece can stand."""


def from_cells(contents: list[int], mover: str, start: Any) -> Pieces:
    squares: dict[str, list[str]] = {"w": [], "b": []}
    number = 0
    pairs = zip(start.CELLS.symbols(contents), contents_of(start), strict=True)
    for symbol, usual in pairs:
        is_square = usual != NO_SQUARE
        number += is_square
        if symbol.lower() not in squares:
            continue
        if not is_square:
            raise PositionError(f"no piece can stand to the right of square {number}")
        king = "K" if symbol.isupper() else ""
        squares[symbol.lower()].append(f"{king}{number}")
    white, black = (",".join(pieces) for pieces in squares.values())
    return parse_fen(f"{mover[0]}:W{white}:B{black}", start)


def parse_position(text: str, variant: str = "") -> Pieces:
    """Read a FEN, or the moves played, as portable draughts notation writes them."""
    empty = start(variant)
    if ":" in text and not re.match(r"\s*[0-9{*]", text):
        return parse_fen(text, empty)
    return play_texts(empty, moves_in(text), text)
