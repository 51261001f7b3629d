"""Learned evaluations: patterns of cells, with a weight for each configuration.

They follow Logistello (M. Buro, "Improving heuristic mini-max search by supervised learning",
2002), for any game with a board.  A *window* is a set of cells, such as a line or a block; its
contents are read as a number, which is the index of a weight.  The score is the sum of the weights
of all windows, at a *stage* of the game: the number of set bits of the bitboards, or of cells that
are not empty.

*Terms* can be added: the numbers of the game's ``features``, or the number of moves.  Each is a
number from 0 to 255, with a weight for each value.

The numbers of all windows are sums over the board, 16 bits each, sixteen in a vector.  For each
byte of the position's bitboards and its 256 contents (or for each cell and its contents), a table
holds what it adds to all numbers; a score takes a few vector additions before the weights are
looked up.

Weights are data, as in an optionality: one compiled search serves all evaluations of one
:class:`Shape` whose windows' weights begin in the same places, which are compiled in.
``cutnode.training`` learns them.
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
    ROWS,
    Learned,
    address_of,
    rows_of_mover,
    second_moves,
)

LANES = 16
"""The number of windows in a vector."""

FRACTION = 3
"""Fractional bits of weights: they are in eighths."""

LEVELS = 256
"""The number of weights of a term."""

MOVE_COUNT = -1
"""The term that is the number of moves; terms from 0 on are the numbers of ``features``."""

HEADER = 3
"""Numbers at the start of the memory; the address of the stages follows."""
STAGES = 2


class Shape(NamedTuple):
    """The shape of an evaluation, as compiled code knows it: how to read positions, and sizes."""

    fields: tuple[int, ...]
    """The fields of the position to read byte by byte: usually all its bitboards."""
    bytes: int
    """The number of bytes to read of each field."""
    cells: int
    """The number of cells to read one by one: all, or 0 where there are bitboards."""
    contents: int
    """The number of different contents of a cell."""
    vectors: int
    """The number of vectors that hold the numbers of all windows."""
    side: int
    """The field that says who moves, or ``TURN``; ``NONE`` if both players share weights."""
    seen: int
    """The field to clear before reading cells, so that they are seen as by the first player."""
    own: bool = False
    """Whether the game's own ``evaluate`` is added to the score."""
    terms: tuple[tuple[int, float], ...] = ()
    """The terms: an index into ``features`` or ``MOVE_COUNT``, and a factor, for each."""

    @property
    def sides(self) -> int:
        """The number of sets of weights: 2 if each player has weights of his own, else 1."""
        return 1 if self.side == NONE else 2

    @property
    def rows(self) -> int:
        """The number of rows of the table *added*."""
        return self.first_of_cells + self.cells * self.contents

    @property
    def first_of_cells(self) -> int:
        """The first row for the contents of cells, after the rows for bytes."""
        return len(self.fields) * self.bytes * 256


class Patterns(Learned):
    """A learned evaluation of the positions of a class, by patterns.

    *added* is what bytes or cells add to the numbers of windows, a uint16 array of shape ``(sides,
    rows, 16 * vectors)``; *first* is where the weights of each window begin, followed by the same
    for each term; *stages* gives for each number of stones the row of *weights*, an int16 array of
    shape ``(stages, size)``, to use.  :class:`GameError` if they do not fit together.
    """

    kind = "patterns"
    module = __name__
    parts = ("added", "first", "stages", "weights")

    def __init__(self, cls: Any, shape: Shape, added: Any, first: Any, stages: Any, weights: Any):
        numbers = LANES * shape.vectors
        fits = added.shape == (shape.sides, shape.rows, numbers)
        fits = fits and first.shape == (numbers + len(shape.terms),)
        if not fits or len(stages) != MOST_STONES + 1 or not 0 <= stages.max() < len(weights):
            raise GameError("the parts of a learned evaluation do not fit together")
        if (shape.cells or 64 * len(shape.fields)) > MOST_STONES:
            raise GameError(f"{game_name(cls)} has positions of more than {MOST_STONES} stones")
        if int(first.min()) < 0 or int(first.max()) >= weights.shape[1]:
            raise GameError("a learned evaluation has windows without weights")
        self.added, self.first = added.astype(np.uint16), first.astype(np.int64)
        self.stages, self.weights = stages.astype(np.int64), weights.astype(np.int16)
        super().__init__(cls, shape, layout=tuple(map(int, self.first)))
        parts = [self.stages * 2 * self.weights.shape[1], self.added, self.weights]
        # With this spare room no 16-bit number leads out of the memory, not even for a position
        # with contents unknown to training.
        stages, rows, weights = self._lay_out(HEADER, parts, spare=2 << 16)
        self._words_at(self.address, HEADER)[:] = rows, self.added[0].nbytes, stages
        # Turn the stages into addresses, so that the search has nothing to add.
        self._words_at(stages, MOST_STONES + 1)[:] += np.uint64(weights)

    @property
    def addressed(self) -> list[int]:
        stages = (int(self._words_at(self.address, HEADER)[STAGES]) - self.address) // 8
        return [ROWS, STAGES, *range(stages, stages + MOST_STONES + 1)]

    def numbers(self, position: Any) -> tuple[int, Any]:
        """Return the stage of a position, and the places of its weights: windows, then terms."""
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
    """Return the number of a term: an amount times its factor, from 0 to 255."""
    return max(0, int(min(amount * factor, LEVELS - 1.0)))


def counted(position: Any, number: int) -> float:
    """Return one of the ``features`` of a position, or its number of moves."""
    return move_count(position) if number == MOVE_COUNT else features(position)[number]


def move_count(position: Any) -> int:
    """Return the number of moves of a position."""
    return int(moves(position, [0] * (most_moves(position) + MOVES_ROOM), 0))


@in_compiled_code(move_count)
def _compiled_move_count(position: Any) -> Any:
    return lambda position: moves(position, integers_here(most_moves(position) + MOVES_ROOM), 0)


def levels_of(patterns: Any, position: Any) -> Any:
    """Return the numbers of the terms of a position."""
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
    """Return a function that clears a field of a position; with ``NONE`` it changes nothing."""
    text = "position" if field == NONE else f"position._replace({cls._fields[field]}=False)"
    return usable_in_compiled_code(eval(f"lambda position: {text}"))


def stones_of(patterns: Any, position: Any) -> int:
    """Return how many bits are set, or cells not empty: the stage of the game depends on it."""
    raise NotImplementedError


def numbers_of(patterns: Any, position: Any) -> tuple[int, ...]:
    """Return the numbers of all windows and terms of a position."""
    raise NotImplementedError


def begins_of(patterns: Any) -> tuple[int, ...]:
    """Return where the weights of each window and term begin."""
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
    """Return the sum of the weights of a position's windows and terms; *slot* is unused."""
    stages = integer_at(address_of(patterns) + 8 * STAGES)
    weights = integer_at(stages + 8 * int(stones_of(patterns, position)))
    total = sum_of_shorts(weights, begins_of(patterns), numbers_of(patterns, position))
    return (total + (1 << FRACTION >> 1)) >> FRACTION


Places = Annotated[Any, types.Array(types.int32, 1, "C")]


@kernel
def write_places(example: Position, evaluation: Evaluator, words: Words, found: Places) -> None:
    """Write the places of the weights of all windows of each position packed in *words*.

    Each position fills a row of *found*: its number of stones, and a place for each window and
    term.
    """
    begins = begins_of(evaluation)
    each = 1 + len(begins)
    for number in range(len(found) // each):
        position = unpack(words, number * width(example), example)
        found[number * each] = stones_of(evaluation, position)
        numbers = numbers_of(evaluation, position)
        for at in range(len(begins)):
            found[number * each + 1 + at] = begins[at] + numbers[at]
