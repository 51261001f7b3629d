"""Evaluations that are learned: patterns of cells, each configuration with a weight of its own.

The tradition is that of Logistello (M. Buro, "Improving heuristic mini-max search by supervised
learning", 2002), for any game with a board.  A *window* is some cells, a line or a block; what
stands on them is read as a number, and the number is the index of a weight.  The score is the sum
of the weights of all windows, at a *stage* of the game: by how many bits of the bitboards are set,
or how many cells are not empty.

What a game counts in a position can be beside them: the numbers of its ``features``, or how many
moves there are.  Each of these *terms* is a number of 0 to 255, with a weight for each.

The numbers of all windows are sums over the board, 16 bits each, sixteen in a vector.  So a table
has, for each byte of the position's bitboards and its 256 contents (or for each cell and what
stands there), what it adds to all numbers, and a score takes a few vectors of additions before the
weights are looked up.

Weights are data, as those of an optionality: one compiled search plays with all evaluations of one
:class:`Shape`.  ``engine.training`` makes them.
"""

from __future__ import annotations

import functools
from typing import Annotated, Any, NamedTuple

import numpy as np
from numba import types

from engine.compiler.jit import Evaluator, Position, Words, compiled, kernel
from engine.contract.addresses import integer_at, integers_here, short_at, words_at
from engine.contract.bits import Bits, popcount
from engine.contract.derived import most_moves
from engine.contract.dispatch import game_name
from engine.contract.errors import GameError
from engine.contract.native import in_compiled_code, usable_in_compiled_code
from engine.contract.positions import unpack, width
from engine.contract.simd import words_of
from engine.contract.verbs import MOVES_ROOM, cell, features, moves
from engine.kernels.learned import (
    MOST_STONES,
    NONE,
    Learned,
    address_of,
    rows_of_mover,
    second_moves,
)

__all__ = [
    "FRACTION",
    "LANES",
    "LEVELS",
    "MOVE_COUNT",
    "Patterns",
    "Shape",
    "counted",
    "pattern_score",
    "write_places",
]

LANES = 16
"""Windows of a vector."""

FRACTION = 3
"""Bits of weights that are parts of a unit: eighths."""

LEVELS = 256
"""The weights of a term."""

MOVE_COUNT = -1
"""The number of a term, where those of ``features`` begin with 0: how many moves there are."""

HEADER = 4
"""Numbers at the start of the memory; the address of the stages and of the first weights follow."""
STAGES, FIRST = range(2, HEADER)


class Shape(NamedTuple):
    """What compiled code knows of an evaluation: how to read positions, and how much there is."""

    fields: tuple[int, ...]
    """The fields of the position that are read byte by byte: all its bitboards, as a rule."""
    bytes: int
    """The bytes of each that are read."""
    cells: int
    """The cells that are read one by one: all or, where there are bitboards, none."""
    contents: int
    """So many things can stand on one."""
    vectors: int
    """Vectors that hold the numbers of all windows."""
    side: int
    """The field that says who moves, or :data:`TURN`, if the players have weights of their own."""
    seen: int
    """The field that is cleared before cells are read: all is seen as by the first player."""
    own: bool = False
    """Whether the game's own ``evaluate`` is a part of the score."""
    terms: tuple[tuple[int, float], ...] = ()
    """What is counted: numbers of ``features``, and what each is multiplied by."""

    @property
    def sides(self) -> int:
        """How many players have weights of their own: both, or one for both."""
        return 1 if self.side == NONE else 2

    @property
    def rows(self) -> int:
        """The rows of the table of what is added."""
        return self.first_of_cells + self.cells * self.contents

    @property
    def first_of_cells(self) -> int:
        """The first row for what stands on cells, after those for bytes."""
        return len(self.fields) * self.bytes * 256


class Patterns(Learned):
    """A learned evaluation of the positions of a class, by patterns.

    *added* are what bytes or cells add to the numbers of windows, uint16 of ``(sides, rows, 16 *
    vectors)``; *first* is where the weights of each window begin, and then those of each term;
    *stages* says for each number of
    stones which row of the *weights*, int16 of ``(stages, size)``, counts.  :class:`GameError`
    if they do not belong together.
    """

    kind = "patterns"
    module = __name__
    parts = ("added", "first", "stages", "weights")

    def __init__(self, cls: Any, shape: Shape, added: Any, first: Any, stages: Any, weights: Any):
        numbers = LANES * shape.vectors
        fits = added.shape == (shape.sides, shape.rows, numbers)
        fits = fits and first.shape == (numbers + len(shape.terms),)
        if not fits or len(stages) != MOST_STONES + 1 or not 0 <= stages.max() < len(weights):
            raise GameError("the parts of a learned evaluation do not belong together")
        if (shape.cells or 64 * len(shape.fields)) > MOST_STONES:
            raise GameError(f"{game_name(cls)} has positions of more than {MOST_STONES} stones")
        if int(first.min()) < 0 or int(first.max()) >= weights.shape[1]:
            raise GameError("a learned evaluation has windows without weights")
        self.added, self.first = added.astype(np.uint16), first.astype(np.int64)
        self.stages, self.weights = stages.astype(np.int64), weights.astype(np.int16)
        super().__init__(cls, shape)
        parts = [
            self.stages * 2 * self.weights.shape[1],
            2 * self.first,
            self.added,
            self.weights,
        ]
        # No number of 16 bits leads beyond it, whatever a position has that training did not see.
        stages, first, rows, weights = self._lay_out(HEADER, parts, spare=2 << 16)
        self._words_at(self.address, HEADER)[:] = rows, self.added[0].nbytes, stages, first
        # What the stages say is an address, so that nothing is added in the search.
        self._words_at(stages, MOST_STONES + 1)[:] += np.uint64(weights)

    def numbers(self, position: Any) -> tuple[int, Any]:
        """Return the stage of a position, and the places of the weights of all its windows.

        Those of terms follow.
        """
        shape = self.shape
        side = int(second_moves(position, shape.side))
        terms, whole = shape.terms, position
        planes = [int(position[field]) for field in shape.fields]
        rows = [
            256 * (shape.bytes * number + at) + (plane >> 8 * at & 255)
            for number, plane in enumerate(planes)
            for at in range(shape.bytes)
        ]
        stones = sum(plane.bit_count() for plane in planes)
        if shape.cells:
            position = seen_by_first(type(position), shape.seen)(position)
            contents = [int(cell(position, number)) for number in range(shape.cells)]
            stones = sum(content != 0 for content in contents)
            first = shape.first_of_cells
            rows += [first + shape.contents * at + content for at, content in enumerate(contents)]
        numbers = self.added[side, rows].sum(axis=0, dtype=np.int64)
        levels = [level(counted(whole, number), factor) for number, factor in terms]
        return int(self.stages[stones]), self.first + np.append(numbers, np.array(levels, np.int64))

    def __call__(self, position: Any) -> int:
        stage, places = self.numbers(position)
        total = int(self.weights[stage, places].sum(dtype=np.int64))
        score = (total + (1 << FRACTION >> 1)) >> FRACTION
        return self.completed(position, score)


def vectors_of(patterns: Any) -> int:
    """The vectors of numbers of an evaluation."""
    return int(patterns.shape.vectors)


@in_compiled_code(vectors_of)
def _compiled_vectors_of(patterns: Any) -> Any:
    count = patterns.shape.vectors
    return lambda patterns: count


@compiled
def level(amount, factor):
    """The number of a term: an amount in a unit of its own, from 0 to 255."""
    return max(0, int(min(amount * factor, LEVELS - 1.0)))


def counted(position: Any, number: int) -> float:
    """One of the ``features`` of a position, or how many moves there are."""
    return move_count(position) if number == MOVE_COUNT else features(position)[number]


def move_count(position: Any) -> int:
    """How many moves a position has."""
    return int(moves(position, [0] * (most_moves(position) + MOVES_ROOM), 0))


@in_compiled_code(move_count)
def _compiled_move_count(position: Any) -> Any:
    return lambda position: moves(position, integers_here(most_moves(position) + MOVES_ROOM), 0)


def levels_of(patterns: Any, position: Any) -> Any:
    """The numbers of the terms of a position, and a 0."""
    raise NotImplementedError


@in_compiled_code(levels_of)
def _compiled_levels_of(patterns: Any, position: Any) -> Any:
    terms = patterns.shape.terms
    levels = [
        f"level({'listed' if number == MOVE_COUNT else f'told[{number}]'}, {float(factor)!r}), "
        for number, factor in terms
    ]
    names = {"level": level, "features": features, "move_count": move_count}
    together = usable_in_compiled_code(eval(f"lambda told, listed: ({''.join(levels)}0,)", names))
    listed = "move_count(position)" if any(n == MOVE_COUNT for n, _ in terms) else "0"
    told = "features(position)" if any(n != MOVE_COUNT for n, _ in terms) else "()"
    text = f"lambda patterns, position: together({told}, {listed})"
    return eval(text, names | {"together": together})


def terms_of(patterns: Any) -> int:
    """How many terms an evaluation has."""
    return len(patterns.shape.terms)


@in_compiled_code(terms_of)
def _compiled_terms_of(patterns: Any) -> Any:
    count = len(patterns.shape.terms)
    return lambda patterns: count


@functools.cache
def seen_by_first(cls: Any, field: int) -> Any:
    """A function that makes of a position one in which a field is cleared; -1: the same."""
    text = "position" if field == NONE else f"position._replace({cls._fields[field]}=False)"
    return usable_in_compiled_code(eval(f"lambda position: {text}"))


def stones_of(patterns: Any, position: Any) -> int:
    """How many bits are set, or cells not empty: the stage of the game depends on it."""
    raise NotImplementedError


def vector_of(patterns: Any, position: Any, rows: int) -> Any:
    """The sum of the rows that a position's bytes or cells have in a table at an address."""
    raise NotImplementedError


@in_compiled_code(stones_of)
def _compiled_stones_of(patterns: Any, position: Any) -> Any:
    shape = patterns.shape
    if not shape.cells:
        terms = " + ".join(f"popcount(position[{field}])" for field in shape.fields)
        return eval(f"lambda patterns, position: {terms}", {"popcount": popcount})
    cells = shape.cells
    seen = seen_by_first(position.instance_class, shape.seen)

    def counted(patterns, position):
        position = seen(position)
        stones = 0
        for number in range(cells):
            stones += cell(position, number) != 0
        return stones

    return counted


@in_compiled_code(vector_of)
def _compiled_vector_of(patterns: Any, position: Any, rows: Any) -> Any:
    shape = patterns.shape
    row = 2 * LANES * shape.vectors
    size, cells, contents = shape.bytes, shape.cells, shape.contents
    seen = seen_by_first(position.instance_class, shape.seen)

    def by_bytes(plane, rows):
        total = words_at(rows + row * int(plane & Bits(255)))
        for number in range(1, size):
            plane >>= Bits(8)
            total += words_at(rows + row * (256 * number + int(plane & Bits(255))))
        return total

    def by_cells(position, rows):
        position = seen(position)
        total = words_at(rows + row * int(cell(position, 0)))
        for number in range(1, cells):
            total += words_at(rows + row * (contents * number + int(cell(position, number))))
        return total

    terms = [
        f"by_bytes(Bits(position[{field}]), rows + {row * 256 * size * number})"
        for number, field in enumerate(shape.fields)
    ]
    if cells:
        terms.append(f"by_cells(position, rows + {row * shape.first_of_cells})")
    names = {"by_bytes": by_bytes, "by_cells": by_cells, "Bits": Bits}
    usable_in_compiled_code(by_bytes)
    usable_in_compiled_code(by_cells)
    return eval(f"lambda patterns, position, rows: {' + '.join(terms)}", names)


@compiled
def four_weights(word, first, weights):
    """The sum of the weights of the four numbers in a word."""
    total = short_at(weights + integer_at(first) + 2 * int(word & Bits(0xFFFF)))
    total += short_at(weights + integer_at(first + 8) + 2 * int(word >> Bits(16) & Bits(0xFFFF)))
    total += short_at(weights + integer_at(first + 16) + 2 * int(word >> Bits(32) & Bits(0xFFFF)))
    return total + short_at(weights + integer_at(first + 24) + 2 * int(word >> Bits(48)))


@compiled(inline=False)
def pattern_score(patterns, position, slot):
    """The sum of the weights of a position's windows and terms; nothing is kept in a *slot*."""
    at = address_of(patterns)
    first = integer_at(at + 8 * FIRST)
    weights = integer_at(integer_at(at + 8 * STAGES) + 8 * int(stones_of(patterns, position)))
    rows = rows_of_mover(patterns, position)
    total = 1 << FRACTION >> 1
    for vector in range(vectors_of(patterns)):
        a, b, c, d = words_of(vector_of(patterns, position, rows + 2 * LANES * vector))
        start = first + 8 * LANES * vector
        total += four_weights(a, start, weights) + four_weights(b, start + 32, weights)
        total += four_weights(c, start + 64, weights) + four_weights(d, start + 96, weights)
    levels = levels_of(patterns, position)
    start = first + 8 * LANES * vectors_of(patterns)
    for term in range(terms_of(patterns)):
        total += short_at(weights + integer_at(start + 8 * term) + 2 * levels[term])
    return total >> FRACTION


Places = Annotated[Any, types.Array(types.int32, 1, "C")]


@kernel
def write_places(example: Position, evaluation: Evaluator, words: Words, found: Places) -> None:
    """Write the places of the weights of all windows of each position packed in *words*.

    A position takes a row of *found*: its number of stones, and a place for each window and term.
    """
    lanes = LANES * vectors_of(evaluation)
    each = 1 + lanes + terms_of(evaluation)
    first = integer_at(address_of(evaluation) + 8 * FIRST)
    for number in range(len(found) // each):
        position = unpack(words, number * width(example), example)
        rows = rows_of_mover(evaluation, position)
        at = number * each
        found[at] = stones_of(evaluation, position)
        for vector in range(vectors_of(evaluation)):
            four = words_of(vector_of(evaluation, position, rows + 2 * LANES * vector))
            for n in range(LANES):
                place = LANES * vector + n
                begin = integer_at(first + 8 * place) >> 1
                number_of_lane = int(four[n >> 2] >> Bits(16 * (n & 3)) & Bits(0xFFFF))
                found[at + 1 + place] = begin + number_of_lane
        levels = levels_of(evaluation, position)
        for term in range(terms_of(evaluation)):
            begin = integer_at(first + 8 * (lanes + term)) >> 1
            found[at + 1 + lanes + term] = begin + levels[term]
