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
:class:`Shape` whose windows begin in the same places, which are a part of its instructions.
``cutnode.training`` makes them.
"""

from __future__ import annotations

import functools
from typing import Annotated, Any, NamedTuple

import numpy as np
from numba import types

from cutnode.compiler.jit import Evaluator, Position, Words, compiled, kernel
from cutnode.contract.addresses import integer_at, integers_here, sum_of_shorts, words_at
from cutnode.contract.bits import Bits, popcount
from cutnode.contract.derived import most_moves
from cutnode.contract.dispatch import game_name
from cutnode.contract.errors import GameError
from cutnode.contract.native import in_compiled_code, usable_in_compiled_code
from cutnode.contract.positions import unpack, width
from cutnode.contract.simd import broadcast, shorts_of
from cutnode.contract.verbs import MOVES_ROOM, cell, features, moves
from cutnode.kernels.learned import (
    MOST_STONES,
    NONE,
    Learned,
    address_of,
    rows_of_mover,
    second_moves,
)

LANES = 16
"""Windows of a vector."""

FRACTION = 3
"""Bits of weights that are parts of a unit: eighths."""

LEVELS = 256
"""The weights of a term."""

MOVE_COUNT = -1
"""The number of a term, where those of ``features`` begin with 0: how many moves there are."""

HEADER = 3
"""Numbers at the start of the memory; the address of the stages follows."""
STAGES = 2


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
        super().__init__(cls, shape, layout=tuple(map(int, self.first)))
        parts = [self.stages * 2 * self.weights.shape[1], self.added, self.weights]
        # No number of 16 bits leads beyond it, whatever a position has that training did not see.
        stages, rows, weights = self._lay_out(HEADER, parts, spare=2 << 16)
        self._words_at(self.address, HEADER)[:] = rows, self.added[0].nbytes, stages
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
    """The numbers of the terms of a position."""
    raise NotImplementedError


@in_compiled_code(levels_of)
def _compiled_levels_of(patterns: Any, position: Any) -> Any:
    terms = patterns.shape.terms
    levels = [
        f"level({'listed' if number == MOVE_COUNT else f'told[{number}]'}, {float(factor)!r}), "
        for number, factor in terms
    ]
    names = {"level": level, "features": features, "move_count": move_count}
    together = usable_in_compiled_code(eval(f"lambda told, listed: ({''.join(levels)})", names))
    listed = "move_count(position)" if any(n == MOVE_COUNT for n, _ in terms) else "0"
    told = "features(position)" if any(n != MOVE_COUNT for n, _ in terms) else "()"
    text = f"lambda patterns, position: together({told}, {listed})"
    return eval(text, names | {"together": together})


@functools.cache
def seen_by_first(cls: Any, field: int) -> Any:
    """A function that makes of a position one in which a field is cleared; -1: the same."""
    text = "position" if field == NONE else f"position._replace({cls._fields[field]}=False)"
    return usable_in_compiled_code(eval(f"lambda position: {text}"))


def stones_of(patterns: Any, position: Any) -> int:
    """How many bits are set, or cells not empty: the stage of the game depends on it."""
    raise NotImplementedError


def numbers_of(patterns: Any, position: Any) -> tuple[int, ...]:
    """The numbers of all windows and terms of a position."""
    raise NotImplementedError


def begins_of(patterns: Any) -> tuple[int, ...]:
    """Where the weights of each window and term begin."""
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


@in_compiled_code(numbers_of)
def _compiled_numbers_of(patterns: Any, position: Any) -> Any:
    shape = patterns.shape
    row = 2 * LANES * shape.vectors
    totals = [f"total{number}" for number in range(shape.vectors)]
    added = [f"{total} += words_at(row + {2 * LANES * n})" for n, total in enumerate(totals)]
    lines = [
        "def numbers(patterns, position):",
        "    rows = rows_of_mover(patterns, position)",
        f"    {' = '.join(totals)} = broadcast(Bits(0))",
    ]
    for number, field in enumerate(shape.fields):
        lines.append(f"    plane = Bits(position[{field}])")
        for at in range(shape.bytes):
            first = row * 256 * (shape.bytes * number + at)
            byte = f"int(plane >> Bits({8 * at}) & Bits(255))"
            lines += [f"    row = rows + {first} + {row} * {byte}", *(f"    {a}" for a in added)]
    if shape.cells:
        lines += [
            "    seen = seen_by_first(position)",
            f"    rows += {row * shape.first_of_cells}",
            f"    for number in range({shape.cells}):",
            f"        row = rows + {row} * ({shape.contents} * number + int(cell(seen, number)))",
            *(f"        {each}" for each in added),
        ]
    lines.append(f"    found = {' + '.join(f'shorts_of({total})' for total in totals)}")
    more = " + levels_of(patterns, position)" if shape.terms else ""
    lines.append(f"    return found{more}")
    names = {
        "Bits": Bits,
        "broadcast": broadcast,
        "cell": cell,
        "levels_of": levels_of,
        "rows_of_mover": rows_of_mover,
        "seen_by_first": seen_by_first(position.instance_class, shape.seen),
        "shorts_of": shorts_of,
        "words_at": words_at,
    }
    exec("\n".join(lines), names)
    return names["numbers"]


@in_compiled_code(begins_of)
def _compiled_begins_of(patterns: Any) -> Any:
    begins = patterns.layout
    return lambda patterns: begins


@compiled(inline=False)
def pattern_score(patterns, position, slot):
    """The sum of the weights of a position's windows and terms; nothing is kept in a *slot*."""
    stages = integer_at(address_of(patterns) + 8 * STAGES)
    weights = integer_at(stages + 8 * int(stones_of(patterns, position)))
    total = sum_of_shorts(weights, begins_of(patterns), numbers_of(patterns, position))
    return (total + (1 << FRACTION >> 1)) >> FRACTION


Places = Annotated[Any, types.Array(types.int32, 1, "C")]


@kernel
def write_places(example: Position, evaluation: Evaluator, words: Words, found: Places) -> None:
    """Write the places of the weights of all windows of each position packed in *words*.

    A position takes a row of *found*: its number of stones, and a place for each window and term.
    """
    begins = begins_of(evaluation)
    each = 1 + len(begins)
    for number in range(len(found) // each):
        position = unpack(words, number * width(example), example)
        found[number * each] = stones_of(evaluation, position)
        numbers = numbers_of(evaluation, position)
        for at in range(len(begins)):
            found[number * each + 1 + at] = begins[at] + numbers[at]
