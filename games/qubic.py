"""Qubic: four in a row in a cube of 4x4x4 cells.

Rules: two players alternately put stones of their colour on empty cells; the first player is x.
Whoever first has four in one of the 76 lines wins: 48 along the edges of the cube, 24 diagonals of
planes and 4 of the cube.  A full cube is a draw.

Values: 1 a win, 0 a draw, -1 a loss.

Text: moves of three digits, 1 to 4 each, for the layer, the row and the column (``111 444``; the
blanks may be left out), or a board: the four rows from the top, of all layers side by side,
separated by line ends or ``/``, ``x`` the first player, ``o`` the second, ``.`` empty.

Encoding: one bit for each cell, ``16 * row + 4 * layer + column``, in the order of the drawing::

     0  1  2  3     4  5  6  7     8  9 10 11    12 13 14 15
    16 17 18 19    20 21 22 23    24 25 26 27    28 29 30 31
    32 33 34 35    36 37 38 39    40 41 42 43    44 45 46 47
    48 49 50 51    52 53 54 55    56 57 58 59    60 61 62 63

A line is four cells with a step between them, one of 13: 1 along a row, 16 along a column, 4 from
layer to layer, and their sums and differences.  ``STARTS`` has the first cells of the lines of a
step.  Step 21 has one line, 0 21 42 63, a diagonal of the cube.

A *four* here is a line that lacks one stone.  O. Patashnik showed that the first player wins
("Qubic: 4x4x4 tic-tac-toe", 1980); the 192 symmetries are from R. Silver, "The group of
automorphisms of the game of 3-dimensional ticktacktoe", 1967.
"""

from __future__ import annotations

import itertools
import re
from typing import NamedTuple

import numpy as np

from cutnode import (
    NO_MOVE,
    Bits,
    PositionError,
    compiled,
    lowest,
    lowest_index,
    mix,
    popcount,
    quoted,
    without_lowest,
)
from cutnode.contract.boards import write
from cutnode.contract.cells import STONES, Points
from cutnode.contract.simd import broadcast, load_words, union, words_of
from cutnode.contract.stones import cell as cell
from cutnode.contract.stones import free_cells, images, require_free, stones_of
from cutnode.contract.stones import moves as moves
from cutnode.contract.stones import plies_left as plies_left
from cutnode.contract.stones import random_move as random_move

DECISIVE = True
VALUE_LIMIT = 1
UNIT = 100
FULL = Bits((1 << 64) - 1)
FOCUS = 3
"""With 10,000 nodes each, 29 of 30 positions of four stones are proven at 3, and 15 at 1."""

MOST_FOURS = 10
"""The most fours in a sequence before the last one."""
MOST_LOOKS = 200
"""The most positions that the search for a sequence visits."""

EARLY = 4
"""With at most this many stones a position is compared with its images."""

CELLS = Points(
    tuple((float(5 * (n // 4 % 4) + n % 4), float(n // 16)) for n in range(64)), glyphs=STONES
)
MOVE_PATTERN = r"[1-4]{3}|[^\s,]+"

DIRECTIONS = [d for d in itertools.product((-1, 0, 1), repeat=3) if d > (0, 0, 0)]
"""Rows down, layers and columns to the right: one of each pair of opposite directions."""


def starts(direction: tuple[int, ...]) -> int:
    """Return the first cells of the lines of a direction."""
    first = [range(4) if step == 0 else (0,) if step > 0 else (3,) for step in direction]
    return sum(
        1 << 16 * row + 4 * layer + column for row, layer, column in itertools.product(*first)
    )


DISTANCES = [16 * row + 4 * layer + column for row, layer, column in DIRECTIONS]
STEPS = np.array(DISTANCES + [1] * 3, np.uint64)
STARTS = np.array([starts(direction) for direction in DIRECTIONS] + [0] * 3, np.uint64)
"""Padded to sixteen with directions that have no lines: four are handled at a time."""


def symmetries() -> list[list[int]]:
    """Return the cell to which each symmetry takes each cell.

    The axes are permuted, each may be reversed, and on all of them alike the inner cells may be
    exchanged with the outer ones, or with each other, or both.
    """
    alike = ((0, 1, 2, 3), (1, 0, 3, 2), (0, 2, 1, 3), (1, 3, 0, 2))
    found = []
    for axes in itertools.permutations(range(3)):
        for turned in itertools.product((False, True), repeat=3):
            for places in alike:
                cells = []
                for at in itertools.product(range(4), repeat=3):
                    to = [places[at[axis]] for axis in axes]
                    row, layer, column = (
                        3 - t if r else t for t, r in zip(to, turned, strict=True)
                    )
                    cells.append(16 * row + 4 * layer + column)
                found.append(cells)
    return found


SYMMETRIES = symmetries()
INVERSES = [sorted(range(64), key=cells.__getitem__) for cells in SYMMETRIES]


class Stones(NamedTuple):
    """The stones of the player to move, and of the other."""

    mine: Bits = Bits(0)
    theirs: Bits = Bits(0)


class Position(Stones):
    """A position, with the constants of the game."""

    __slots__ = ()

    BOARDS, WORDS = 2, 1
    BOARD, NONE = FULL, Bits(0)
    MAX_MOVES = MAX_PLIES = 64
    IMAGES = np.array(SYMMETRIES, np.int16).ravel()
    ORIGINALS = np.array(INVERSES, np.int16).ravel()


@compiled
def play(position, move):
    return position._replace(mine=position.theirs, theirs=position.mine | (Bits(1) << Bits(move)))


@compiled(inline=False)
def has_line(stones):
    found = broadcast(Bits(0))
    for at in range(0, len(STEPS), 4):
        step = load_words(STEPS, at)
        pairs = broadcast(stones)
        pairs &= pairs >> step
        found |= pairs & (pairs >> (step + step)) & load_words(STARTS, at)
    return union(found) != Bits(0)


@compiled
def outcome(position):
    if has_line(position.theirs):
        return True, -1
    return free_cells(position) == Bits(0), 0


@compiled
def key(position):
    return mix(position.mine) ^ position.theirs


# Results known without search


@compiled
def line_cells(stones, at):
    """Return the cells of lines of four directions, each shifted to the line's first cell."""
    step = load_words(STEPS, at)
    first = broadcast(stones)
    return first, first >> step, first >> (step + step), first >> (step + step + step)


@compiled
def open_lines(own, empty, at):
    """Return the lines of four directions with one, two and three own stones, and no other."""
    a, b, c, d = line_cells(own, at)
    odd_front, odd_back, front, back = a ^ b, c ^ d, a & b, c & d
    odd, two_apart = odd_front ^ odd_back, odd_front & odd_back
    two_together = (front ^ back) & ~(odd_front | odd_back)
    step = load_words(STEPS, at)
    free = broadcast(own | empty)
    free &= free >> step
    free &= (free >> (step + step)) & load_words(STARTS, at)
    odd &= free
    three = odd & (front | back)
    return odd & ~three, (two_apart | two_together) & free, three


@compiled(inline=False)
def winning_cells(own, empty):
    """Return the cells on which a player completes a line."""
    found = broadcast(Bits(0))
    for at in range(0, len(STEPS), 4):
        step, start = load_words(STEPS, at), load_words(STARTS, at)
        a, b, c, d = line_cells(own, at)
        front, back = a & b & start, c & d & start
        behind = (front & d) | ((front & c) << step)
        found |= (b & back) | ((a & back) << step) | (behind << (step + step))
    return union(found) & empty


@compiled(inline=False)
def four_cells(own, empty):
    """Return the cells that make a four, and those that make two, to be completed on two cells."""
    once, twice = broadcast(Bits(0)), broadcast(Bits(0))
    for at in range(0, len(STEPS), 4):
        step = load_words(STEPS, at)
        _, cells, _ = open_lines(own, empty, at)
        cells |= cells << step
        cells |= cells << (step + step)
        twice |= once & cells
        once |= cells
    a, b, c, d = words_of(once)
    more = union(twice) | (a & b) | ((a | b) & c) | ((a | b | c) & d)
    return (a | b | c | d) & empty, more & empty


@compiled
def bounds(position, alpha, beta):
    """Decide positions by a line to complete, two of the opponent's, a win by fours, or no room."""
    mine, theirs = position.mine, position.theirs
    if has_line(theirs):
        return -1, -1
    empty = free_cells(position)
    if not empty:
        return 0, 0
    if winning_cells(mine, empty):
        return 1, 1
    threats = winning_cells(theirs, empty)
    if without_lowest(threats):
        return -1, -1
    if winning_fours(mine, theirs)[0]:
        return 1, 1
    if not threats and not answers(mine, theirs, empty):
        return -1, -1
    return 0 if not has_line(theirs | empty) else -1, 0 if not has_line(mine | empty) else 1


@compiled(inline=False)
def winning_fours(mine, theirs):
    """Return whether a sequence of fours wins, and the cells of which the opponent needs one first.

    The mover completes no line now, and the opponent threatens one at most.  Each four leaves him
    one answer; the last move makes two fours or more.  If it were the opponent's turn, he would
    lose by all moves but those on cells of the sequence, and those that make a four of his, now or
    with his answers: no other move could stop the mover, or gain the turn.  (Threat sequences:
    L. V. Allis and P. Schoo, "Qubic solved again", 1992.)
    """
    own, other = mine, theirs
    tried, answered = Bits(0), Bits(0)  # cells of the sequence, 6 bits each, the last one lowest
    length, looks = 0, 0
    left = FULL
    while True:
        looks += 1
        empty = FULL & ~(own | other)
        threat = winning_cells(other, empty)
        allowed = empty if not threat else Bits(0) if without_lowest(threat) else threat
        fours, doubles = four_cells(own, empty)
        if doubles & allowed:
            last = lowest(doubles & allowed)
            ends = winning_cells(own | last, empty & ~last)
            return True, last | ends | needed(mine, theirs, tried, answered, length)
        fours_left = fours & allowed & left
        if fours_left and length < MOST_FOURS and looks < MOST_LOOKS:
            four = lowest(fours_left)
            # The order of two fours that do not need each other does not matter.
            left = FULL if threat else ~(fours & (four | (four - Bits(1))))
            answer = winning_cells(own | four, empty & ~four)
            own, other = own | four, other | answer
            tried = (tried << Bits(6)) | Bits(lowest_index(four))
            answered = (answered << Bits(6)) | Bits(lowest_index(answer))
            length += 1
            continue
        if length == 0:
            return False, Bits(0)
        four = Bits(1) << (tried & Bits(63))
        own ^= four
        other ^= Bits(1) << (answered & Bits(63))
        left = ~(four | (four - Bits(1)))
        tried, answered = tried >> Bits(6), answered >> Bits(6)
        length -= 1


@compiled(inline=False)
def needed(mine, theirs, tried, answered, length):
    """Return the cells of a sequence of fours, and those where the other's answers make a four."""
    found = Bits(0)
    for number in range(length, -1, -1):
        fours, _ = four_cells(theirs, FULL & ~(mine | theirs))
        found |= fours
        if number > 0:
            shift = Bits(6 * (number - 1))
            mine |= Bits(1) << ((tried >> shift) & Bits(63))
            theirs |= Bits(1) << ((answered >> shift) & Bits(63))
    return found | mine | theirs


@compiled(inline=False)
def answers(mine, theirs, empty):
    """Return the cells that may meet a threat to win by fours; all if there is none.

    Nobody completes a line now.  The mover loses unless he makes a four or takes one of the cells
    that each such threat needs.
    """
    threatened, found = winning_fours(theirs, mine)
    if not threatened:
        return empty
    found &= empty
    fours, _ = four_cells(mine, empty)
    _, doubles = four_cells(theirs, empty)
    while doubles:
        threat = lowest(doubles)
        doubles = without_lowest(doubles)
        found &= threat | winning_cells(theirs | threat, empty & ~threat) | fours
    return found


@compiled
def candidates(position, buffer, at):
    """Write the cell that the opponent needs for a line, else the answers to threats, or all."""
    mine, theirs, empty = position.mine, position.theirs, free_cells(position)
    threats = winning_cells(theirs, empty)
    cells = threats if threats else answers(mine, theirs, empty)
    return write(position, cells if cells else empty, buffer, at)


@compiled
def forced(position):
    """Return the cell that the opponent needs for a line, if there is one.

    Where bounds do not decide, the opponent has one such cell at most, and the mover none.
    """
    threats = winning_cells(position.theirs, free_cells(position))
    return lowest_index(threats) if threats else NO_MOVE


# Heuristics for searches that stop before the end of the game


@compiled
def evaluate(position):
    """Count lines without a stone of the other: 1, 8 and 64 for lacking three, two and one."""
    empty = free_cells(position)
    return 8 + strength(position.mine, empty) - strength(position.theirs, empty)


@compiled(inline=False)
def strength(own, empty):
    total = 0
    for at in range(0, len(STEPS), 4):
        one, two, three = open_lines(own, empty, at)
        total += 64 * popcounts(three) + 8 * popcounts(two) + popcounts(one)
    return total


@compiled
def popcounts(words):
    a, b, c, d = words_of(words)
    return popcount(a) + popcount(b) + popcount(c) + popcount(d)


@compiled
def order(position, move, child):
    """Order fours first, as they leave no choice, and then by the evaluation."""
    four = winning_cells(child.theirs, free_cells(child)) != Bits(0)
    return (1000 if four else 0) - evaluate(child)


@compiled
def noisy(position, buffer, at):
    """Write the moves that complete or block a line; if there are none, those that make fours."""
    mine, theirs, empty = position.mine, position.theirs, free_cells(position)
    lines = winning_cells(mine, empty) | winning_cells(theirs, empty)
    fours, _ = four_cells(mine, empty)
    return write(position, lines if lines else fours, buffer, at)


@compiled
def check(position):
    return winning_cells(position.theirs, free_cells(position)) != Bits(0)


# Equivalent positions


@compiled
def canonical(position):
    """Return the smallest key of all images with few stones; later, images are hardly met."""
    least, found = key(position), 0
    if popcount(position.mine | position.theirs) <= EARLY:
        for symmetry in range(1, 192):
            mine = images(position, position.mine, symmetry)
            theirs = images(position, position.theirs, symmetry)
            word = mix(mine) ^ theirs
            if word < least:
                least, found = word, symmetry
    return least, found


@compiled
def canonical_move(position, move, symmetry):
    return int(position.IMAGES[64 * symmetry + move])


@compiled
def original_move(position, move, symmetry):
    return int(position.ORIGINALS[64 * symmetry + move])


# Text


def parse_move(position: Position, text: str) -> int:
    """Read a layer, a row and a column, as in ``111``."""
    if not re.fullmatch("[1-4]{3}", text):
        raise PositionError(
            f"{quoted(text)} is not a cell; cells are a layer, a row and a column, 111 to 444"
        )
    layer, row, column = (int(digit) - 1 for digit in text)
    return require_free(position, 16 * row + 4 * layer + column, text)


def move_text(position: Position, move: int) -> str:
    return f"{move // 4 % 4 + 1}{move // 16 + 1}{move % 4 + 1}"


def winning_line(position: Position) -> set[int]:
    found: set[int] = set()
    for step, firsts in zip(DISTANCES, STARTS, strict=False):
        for first in range(64):
            line = range(first, first + 4 * step, step)
            if int(firsts) >> first & 1 and all(position.theirs >> n & 1 for n in line):
                found.update(line)
    return found


def from_cells(contents: list[int], mover: str, start: Position) -> Position:
    mine, theirs, more = stones_of(contents, range(64))
    if has_line(Bits(mine)):
        raise PositionError(f"{'xo'[more]} is to move but has four in a row already")
    return Position(Bits(mine), Bits(theirs))
