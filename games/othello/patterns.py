"""The evaluation of Othello: patterns of squares, each configuration with a weight of its own.

After Logistello (M. Buro, "Improving heuristic mini-max search by supervised learning", 2002).
The squares of a pattern, an edge say, are read as a number of base 3: a square is empty (0),
the mover's (1) or the other's (2).  The number is the index of a weight.  A pattern occurs in
two, four or eight places, which share weights, and a pattern that looks the same from its other
end has equal weights for both readings.  The score is the sum of the weights of all 46
occurrences, of the number of the mover's moves, of the other's moves, and of discs, at a stage
of the game: 15 stages of four discs.

Each number is a sum over squares, and so over the eight rows of the board.  A table has, for each
row and each of its 256 contents, what they add to all the numbers, in 16 bits each, four in a
word, twelve words; so the numbers are 16 entries of the table, added as vectors.
"""

from __future__ import annotations

import io
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from cutnode import Bits, GameError, compiled, popcount, quoted
from cutnode.contract.constants import Constant
from cutnode.contract.simd import load_words, words_of
from cutnode.games.othello.discs import reach

__all__ = ["PATTERNS", "SIZE", "STAGES", "UNIT", "pattern_score", "pattern_value", "stage_of"]

UNIT = 128
"""One disc, in scores and weights."""

STAGES = 15
"""Stages of the game, of four discs each."""


def squares(text: str) -> tuple[int, ...]:
    return tuple("abcdefgh".index(name[0]) + 8 * (int(name[1]) - 1) for name in text.split())


PATTERNS = {
    "corner 3x3": squares("a1 b1 c1 a2 b2 c2 a3 b3 c3"),
    "edge and X": squares("b2 a1 b1 c1 d1 e1 f1 g1 h1 g2"),
    "corner 2x5": squares("a1 b1 c1 d1 e1 a2 b2 c2 d2 e2"),
    "row 2": squares("a2 b2 c2 d2 e2 f2 g2 h2"),
    "row 3": squares("a3 b3 c3 d3 e3 f3 g3 h3"),
    "row 4": squares("a4 b4 c4 d4 e4 f4 g4 h4"),
    "diagonal of 7": squares("a2 b3 c4 d5 e6 f7 g8"),
    "diagonal of 6": squares("a3 b4 c5 d6 e7 f8"),
    "diagonal of 5": squares("a4 b5 c6 d7 e8"),
    "diagonal of 4": squares("a5 b6 c7 d8"),
    "diagonal of 8": squares("a1 b2 c3 d4 e5 f6 g7 h8"),
}
"""One occurrence of each pattern, its squares from the lowest digit of the number to the highest.

Four occurrences fill a word; the corner of 2x5 has eight, and the longest diagonal, which is
the last for this reason, has two.
"""


def images(pattern: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Return the pattern in the eight symmetries of the board."""
    found = []
    for across, down, turned in np.ndindex(2, 2, 2):
        image = []
        for square in pattern:
            column, row = square % 8 ^ 7 * across, square // 8 ^ 7 * down
            image.append(8 * column + row if turned else 8 * row + column)
        found.append(tuple(image))
    return found


def occurrences(pattern: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Return where the pattern occurs: once for each set of squares."""
    return list({frozenset(image): image for image in reversed(images(pattern))}.values())[::-1]


def mirrored(pattern: tuple[int, ...]) -> np.ndarray:
    """Return for each number of the pattern the number read from its other end, if it has any."""
    numbers = np.arange(3 ** len(pattern))
    found = numbers
    for image in images(pattern):
        if set(image) == set(pattern) and image != pattern:
            places = [pattern.index(square) for square in image]
            found = sum(numbers // 3**place % 3 * 3**n for n, place in enumerate(places))
    return found


WORDS = 12
"""Words that hold the numbers of all occurrences."""

SLOTS = [place for pattern in PATTERNS.values() for place in occurrences(pattern)]


def contributions() -> np.ndarray:
    """Return the words that a row of the mover's discs adds: 8 rows x 256 contents x WORDS."""
    table = np.zeros((8, 256, WORDS), np.uint64)
    for slot, place in enumerate(SLOTS):
        for digit, square in enumerate(place):
            contents = np.arange(256) >> square % 8 & 1 == 1
            table[square // 8, contents, slot // 4] += np.uint64(3**digit << 16 * (slot % 4))
    return table.reshape(-1)


CONTRIBUTIONS = Constant("othello.contributions", contributions())

STARTS = np.cumsum([0, *(3 ** len(pattern) for pattern in PATTERNS.values())])
MOST_MOVES = 64
SIZE = int(STARTS[-1]) + 2 * MOST_MOVES + 65
"""Weights of a stage: of the patterns one after the other, of the mover's moves (by their
number), of the other's, and of the number of discs (the player who moves last gains by it)."""

CORNER, EDGE, BLOCK, ROW_2, ROW_3, ROW_4, LINE_7, LINE_6, LINE_5, LINE_4, LINE_8 = map(
    int, STARTS[:-1]
)
MINE_MOVES = int(STARTS[-1])
THEIR_MOVES = MINE_MOVES + MOST_MOVES
DISCS = THEIR_MOVES + MOST_MOVES

MIRRORED = np.arange(SIZE)
"""For each weight of a stage the equal one, of the pattern read from its other end."""
for _start, _pattern in zip(STARTS[:-1], PATTERNS.values(), strict=True):
    MIRRORED[_start : _start + 3 ** len(_pattern)] = _start + mirrored(_pattern)

KEPT = np.flatnonzero(np.arange(SIZE) <= MIRRORED)
"""The weights of a stage that a file has: one of two that are equal."""

WEIGHTS_FILE = Path(__file__).with_name("weights.npz")


def packed(weights: np.ndarray) -> bytes:
    """Return a file of weights, ``STAGES`` x ``SIZE`` of int16."""
    kept = weights[:, KEPT]
    file = io.BytesIO()
    np.savez_compressed(file, weights=kept - np.concatenate([0 * kept[:1], kept[:-1]]))
    return file.getvalue()


def read_weights(path: Path = WEIGHTS_FILE) -> np.ndarray:
    """Read the weights that :func:`packed` wrote; :class:`GameError` if a file has none."""
    try:
        with np.load(path) as file:
            kept = np.cumsum(file["weights"], axis=0, dtype=np.int16)
    except (ValueError, KeyError, TypeError, EOFError, BadZipFile):
        raise GameError(f"{quoted(str(path))} is not a file of weights") from None
    if kept.shape != (STAGES, len(KEPT)):
        raise GameError(f"{quoted(str(path))} has weights of other patterns")
    places = np.zeros(SIZE, np.int64)
    places[KEPT] = places[MIRRORED[KEPT]] = np.arange(len(KEPT))
    return kept[:, places]


WEIGHTS = Constant("othello.weights", read_weights().reshape(-1))


@compiled
def numbers(mine, theirs):
    """Return the numbers of all occurrences, in the order of ``SLOTS``: twelve words of four."""
    a, b, c = half_numbers(mine)
    d, e, f = half_numbers(theirs)
    return words_of(a + d + d), words_of(b + e + e), words_of(c + f + f)


@compiled
def half_numbers(discs):
    """Return what discs would add to the numbers as the mover's: three vectors of words."""
    at = Bits(WORDS) * (discs & Bits(255))
    a = load_words(CONTRIBUTIONS, at)
    b = load_words(CONTRIBUTIONS, at + Bits(4))
    c = load_words(CONTRIBUTIONS, at + Bits(8))
    for row in range(1, 8):
        discs >>= Bits(8)
        at = Bits(WORDS) * (Bits(256 * row) + (discs & Bits(255)))
        a += load_words(CONTRIBUTIONS, at)
        b += load_words(CONTRIBUTIONS, at + Bits(4))
        c += load_words(CONTRIBUTIONS, at + Bits(8))
    return a, b, c


@compiled
def two(weights, first, word):
    """Return the weights of the two lower numbers in a word, of a pattern beginning at *first*."""
    low = Bits(0xFFFF)
    return weights[first + (word & low)] + weights[first + (word >> Bits(16) & low)]


@compiled
def four(weights, first, word):
    """Return the weights of the four numbers in a word."""
    return two(weights, first, word) + two(weights, first, word >> Bits(32))


@compiled
def weighed(weights, mine, theirs):
    """Return the sum of the weights of a position, given as the mover's discs and the other's."""
    discs = popcount(mine | theirs)
    first = Bits(SIZE) * Bits(stage_of(discs))
    (a, b, c, d), (e, f, g, h), (i, j, k, m) = numbers(mine, theirs)
    return (
        four(weights, first + Bits(CORNER), a)
        + four(weights, first + Bits(EDGE), b)
        + four(weights, first + Bits(BLOCK), c)
        + four(weights, first + Bits(BLOCK), d)
        + four(weights, first + Bits(ROW_2), e)
        + four(weights, first + Bits(ROW_3), f)
        + four(weights, first + Bits(ROW_4), g)
        + four(weights, first + Bits(LINE_7), h)
        + four(weights, first + Bits(LINE_6), i)
        + four(weights, first + Bits(LINE_5), j)
        + four(weights, first + Bits(LINE_4), k)
        + two(weights, first + Bits(LINE_8), m)
        + weights[first + Bits(MINE_MOVES) + Bits(popcount(reach(mine, theirs)))]
        + weights[first + Bits(THEIR_MOVES) + Bits(popcount(reach(theirs, mine)))]
        + weights[first + Bits(DISCS) + Bits(discs)]
    )


@compiled
def stage_of(discs):
    """Return the stage of positions with *discs* discs, as if at least 4 and at most 63."""
    return (max(4, min(63, discs)) - 4) >> 2


@compiled(inline=False)
def pattern_score(position):
    """Return an estimate of the value for the mover of a position of 8x8 squares.

    ``UNIT`` is a disc; an estimate may exceed all values.  One copy of the code serves all calls:
    copies at each take no less time, and a sixth more to compile.
    """
    return weighed(WEIGHTS, position.mine, position.theirs)


@compiled
def pattern_value(position):
    """Return the same in whole discs."""
    return max(-64, min(64, (pattern_score(position) + UNIT // 2) >> 7))
