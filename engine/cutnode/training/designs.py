"""Designs of pattern evaluations: the layout of their weights, before any weight is known."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from cutnode.contract.dispatch import defines, game_name
from cutnode.contract.errors import GameError
from cutnode.contract.notation import contents_of
from cutnode.contract.verbs import features
from cutnode.kernels.learned import MOST_STONES
from cutnode.kernels.optionality import FEATURES
from cutnode.kernels.patterns import LANES, LEVELS, MOVE_COUNT, Patterns, Shape, counted
from cutnode.training.boards import BoardReading, read_board, samples_of
from cutnode.training.symmetries import symmetries_of
from cutnode.training.windows import BYTE, CONTENTS, MARKS, Symmetry, Window, windows_of

SAMPLES = 2000
SYMMETRY_SAMPLES = 40
"""Positions from which windows and symmetries are found."""

MOST_DIGITS = 12
"""The most digits of a cell that is read together with others; close numbers share a digit."""


MOST_STEPS = 24
"""The most amounts that a term tells apart."""


@dataclass(frozen=True)
class Term:
    """Something that the game counts in a position, with a weight for each of several steps."""

    number: int
    """Its number among the game's ``features``, or ``MOVE_COUNT``."""
    factor: float
    """The factor from an amount to the number of its weight."""
    steps: tuple[int, ...]
    """The first number of each group that shares a weight: close ones, and ones never seen."""


@dataclass(frozen=True)
class Design:
    """The windows on a board, the terms, and the places of their weights.

    Weight 0 is always 0, for lanes of vectors without a window; weight 1 counts in every position.
    """

    reading: BoardReading
    windows: tuple[Window, ...]
    symmetries: tuple[Symmetry, ...]
    digit: tuple[tuple[int, ...], ...]
    """The digit of each content of each cell, for cells that are read together."""
    terms: tuple[Term, ...] = ()

    @property
    def sides(self) -> int:
        return len(self.reading.meanings)

    @cached_property
    def digits(self) -> int:
        return 1 + max(map(max, self.digit))

    def base(self, window: Window) -> int:
        """Return how many contents a window tells apart on a cell."""
        if window.reads == MARKS:
            return int(1 << self.reading.mark_kinds)
        return self.reading.contents if len(window.cells) == 1 else self.digits

    def numbers(self, window: Window) -> int:
        """Return the number of configurations of a window."""
        return 256 if window.reads == BYTE else self.base(window) ** len(window.cells)

    @cached_property
    def shape(self) -> Shape:
        reading = self.reading
        return Shape(
            fields=reading.fields,
            bytes=reading.bytes,
            cells=0 if reading.bitboards else len(reading.board.places),
            contents=0 if reading.bitboards else reading.contents,
            vectors=-(-(len(self.windows) + 1) // LANES),
            side=reading.side,
            seen=reading.seen,
            terms=tuple((term.number, term.factor) for term in self.terms),
        )

    @cached_property
    def starts(self) -> dict[int, int]:
        """The first weight of each window that has weights of its own; at -1, the end of all."""
        found, end = {}, 1 + self.sides
        for number, window in enumerate(self.windows):
            if window.shared == number:
                found[number] = end
                end += self.sides * self.numbers(window)
        found[-1] = end
        return found

    @property
    def size(self) -> int:
        """The number of weights in a stage of the game."""
        return self.starts[-1] + LEVELS * len(self.terms)

    @property
    def first(self) -> Any:
        """The first weight of each lane and of each term."""
        lanes = LANES * self.shape.vectors
        found = np.zeros(lanes + len(self.terms), np.int64)
        found[lanes:] = self.starts[-1] + LEVELS * np.arange(len(self.terms))
        found[0] = 1
        for number, window in enumerate(self.windows):
            found[1 + number] = self.starts[window.shared]
        return found

    @property
    def added(self) -> Any:
        """The amount that each byte, or content of a cell, adds to the numbers of all windows."""
        reading, shape = self.reading, self.shape
        found = np.zeros((self.sides, shape.rows, LANES * shape.vectors), np.uint16)
        places: dict[tuple[str, int], list[tuple[int, int]]] = {}
        for lane, window in enumerate(self.windows, 1):
            if window.reads == BYTE:
                plane, byte = window.cells
                start = 256 * (plane * reading.bytes + byte)
                found[:, start : start + 256, lane] = np.arange(256)
                continue
            for at, cell in enumerate(window.cells):
                factor = self.base(window) ** at
                places.setdefault((window.reads, cell), []).append((lane, factor))
        for side, meaning in enumerate(reading.meanings):
            read = [(said, cell, content, CONTENTS) for said, (cell, content) in meaning.items()]
            read += [(said, cell, mask, MARKS) for said, (cell, mask) in reading.marks.items()]
            for said, cell, content, kind in read:
                rows = self._rows(said)
                for lane, factor in places.get((kind, cell), []):
                    alone = kind == MARKS or len(self.windows[lane - 1].cells) == 1
                    digit = content if alone else self.digit[cell][content]
                    found[side, rows, lane] += np.uint16(digit * factor)
        if self.sides == 2:  # the second player's weights follow the first's
            for lane, window in enumerate(self.windows, 1):
                self._add_to_all(found[1], lane, self.numbers(window))
            self._add_to_all(found[1], 0, 1)
        return found

    def _rows(self, at: tuple[int, int]) -> Any:
        """Return the rows of the table in which a bit is set, or the row of a cell's content."""
        if not self.reading.bitboards:
            number, content = at
            return [self.shape.first_of_cells + number * self.reading.contents + content]
        plane, bit = at
        start = 256 * (plane * self.reading.bytes + bit // 8)
        return start + np.flatnonzero(np.arange(256) >> bit % 8 & 1)

    def _add_to_all(self, table: Any, lane: int, amount: int) -> None:
        """Add to a number whatever stands on the board, in all rows of one byte or cell."""
        first = self.shape.first_of_cells
        rows = slice(first, first + self.reading.contents) if self.shape.cells else slice(256)
        table[rows, lane] += np.uint16(amount)

    @cached_property
    def tied(self) -> Any:
        """For each weight, the first one tied to it: a window turned onto itself reads the same."""
        found = np.arange(self.size)
        for number, window in enumerate(self.windows):
            if window.shared != number or window.reads == BYTE:
                continue
            base, length = self.base(window), len(window.cells)
            numbers = np.arange(base**length)
            least = numbers
            for symmetry in self.symmetries:
                image = [symmetry[cell] for cell in window.cells]
                if set(image) == set(window.cells):
                    order = [window.cells.index(cell) for cell in image]
                    turned = sum(numbers // base**n % base * base**at for n, at in enumerate(order))
                    least = np.minimum(least, turned)
            # The symmetries are a group, so all images have the same smallest image.
            for side in range(self.sides):
                start = self.starts[number] + side * len(numbers)
                found[start : start + len(numbers)] = start + least
        for number, term in enumerate(self.terms):
            start = self.starts[-1] + LEVELS * number
            steps = np.array(term.steps)
            lowest = steps[np.searchsorted(steps, np.arange(LEVELS), side="right") - 1]
            found[start : start + LEVELS] = start + lowest
        return found

    @property
    def read(self) -> Any:
        """The columns written by ``write_places`` for a position that have weights."""
        lanes = LANES * self.shape.vectors
        windows = np.arange(1 + len(self.windows))
        return np.append(windows, lanes + np.arange(len(self.terms)))

    def evaluation(self, stages: Any, weights: Any, *, own: bool = False) -> Patterns:
        """Return the evaluation with these *weights*, int16 of ``(stages, size)``.

        With *own*, the game's own estimate is added to their sum.
        """
        shape = self.shape._replace(own=own)
        return Patterns(
            self.reading.cls, shape, self.added, self.first, stages, weights[:, self.tied]
        )

    def empty(self) -> Patterns:
        """Return an evaluation without knowledge, used to read positions."""
        stages = np.zeros(MOST_STONES + 1, np.int64)
        return self.evaluation(stages, np.zeros((1, self.size), np.int16))


def design_for(start: Any) -> Design:
    """Choose the windows for the board of the game that begins at *start*.

    :class:`GameError` if the game lacks what this needs.
    """
    reading = read_board(start)
    samples = [position for position, _ in samples_of(start)[:SAMPLES]]
    symmetries = symmetries_of(reading, samples[:SYMMETRY_SAMPLES])
    contents = np.array([contents_of(reading.seen_position(each)) for each in samples])
    used = sorted({cell for meaning in reading.meanings for cell, _ in meaning.values()})
    kinds = sorted(
        {content for meaning in reading.meanings for _, content in meaning.values()} | {0}
    )
    cells = len(reading.board.places)
    digit = np.zeros((cells, reading.contents), np.int64)
    if len(kinds) <= MOST_DIGITS:
        digit[:, kinds] = np.arange(len(kinds))
    else:
        for cell in range(cells):
            values = np.sort(contents[:, cell])
            borders = np.unique(values[np.arange(1, MOST_DIGITS) * len(values) // MOST_DIGITS])
            digit[cell] = np.searchsorted(borders, np.arange(reading.contents), side="left")
    digits = tuple(tuple(map(int, row)) for row in digit)
    marks = 1 << reading.mark_kinds
    windows = windows_of(
        reading.board, 1 + int(digit.max()), marks, symmetries, set(used), reading.raw
    )
    if not windows:
        raise GameError(f"the board of {game_name(type(start))} is too small for patterns")
    return Design(reading, tuple(windows), tuple(symmetries), digits)


def with_terms(start: Any, design: Design) -> Design | None:
    """Return the design with terms: the game's ``features`` and the number of legal moves.

    None if no term varies.  In games of chance, moves are not counted, as there may be none before
    a chance event.
    """
    samples = [position for position, _ in samples_of(start)[:SAMPLES]]
    told = np.array([features(position) for position in samples], float)
    terms = {number: told[:, number] for number in range(told.shape[1])}
    by_chance = defines(type(start), "chance")
    if not by_chance and not np.ptp(terms[FEATURES.index("move_count")]):
        terms[MOVE_COUNT] = np.array([counted(position, MOVE_COUNT) for position in samples], float)
    found = [_term(number, amounts) for number, amounts in terms.items() if np.ptp(amounts)]
    return replace(design, terms=tuple(found)) if found else None


def _term(number: int, amounts: Any) -> Term:
    """Return a term for amounts like these, with about as many of them in each step."""
    whole = bool((amounts == np.floor(amounts)).all()) and amounts.max() < LEVELS / 2
    factor = 1.0 if whole else LEVELS / 2 / float(amounts.max())
    levels = np.sort((amounts * factor).astype(int))
    steps = np.unique(levels[np.arange(MOST_STEPS) * len(levels) // MOST_STEPS])
    return Term(number, factor, (0, *(int(step) for step in steps if step > 0)))
