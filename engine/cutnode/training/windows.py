"""Windows on a board: groups of cells that a pattern evaluation reads together.

They follow from the places of the cells.  *Lines* are cells in a row, in each direction in which a
cell has a neighbour; *blocks* are rectangles of cells, as near to a square as their number allows.
The number of contents of a cell limits the size of a window, which has at most
:data:`MOST_NUMBERS` configurations.  Windows that a symmetry maps onto each other share their
weights.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cutnode.contract.cells import Cells

MOST_NUMBERS = 20_000
"""The most configurations of a window; each has a weight in each stage of the game."""

MOST_WINDOWS = 95
"""The most windows: more make an evaluation too slow."""

LONGEST = 8
"""The most cells of a line."""


CONTENTS, MARKS, BYTE = "contents", "marks", "byte"


@dataclass(frozen=True)
class Window:
    """Cells that are read together, in the order of the first window with the same weights."""

    cells: tuple[int, ...]
    shared: int
    """The number of the first window with the same weights."""
    reads: str = CONTENTS
    """The thing read: the contents of the cells, marks on them, or a byte of the position.

    For a byte, *cells* are the number of its field and its own number.
    """


Place = tuple[float, float]
Symmetry = tuple[int, ...]
"""The image of each cell."""


def directions(board: Cells) -> list[Place]:
    """Return the steps from a cell to its neighbours, one of each opposite pair."""
    places = board.places
    steps = {
        (round(x - a, 3), round(y - b, 3)) for a, b in places for x, y in places if (a, b) < (x, y)
    }
    lengths = {step: math.hypot(*step) for step in steps}
    nearest = min(lengths.values(), default=1)
    return sorted(step for step, length in lengths.items() if length < 1.45 * nearest)


def lines(board: Cells, longest: int) -> list[tuple[int, ...]]:
    """Return lines of at most *longest* cells; longer rows are split, with overlaps of half."""
    at = {(round(x, 3), round(y, 3)): number for number, (x, y) in enumerate(board.places)}
    found = []
    for dx, dy in directions(board):
        for x, y in at:
            if (round(x - dx, 3), round(y - dy, 3)) in at:
                continue
            row = []
            place = (x, y)
            while place in at:
                row.append(at[place])
                place = round(place[0] + dx, 3), round(place[1] + dy, 3)
            if len(row) >= 3:
                found += stretches(row, longest)
    return found


def stretches(row: list[int], longest: int) -> list[tuple[int, ...]]:
    if len(row) <= longest:
        return [tuple(row)]
    steps = -(-(len(row) - longest) // max(longest // 2, 1))
    starts = [round(n * (len(row) - longest) / steps) for n in range(steps + 1)]
    return [tuple(row[start : start + longest]) for start in starts]


def blocks(board: Cells, most: int) -> list[tuple[int, ...]]:
    """Return blocks of at most *most* cells, two or three cells wide or high."""
    at = {(round(x, 3), round(y, 3)): number for number, (x, y) in enumerate(board.places)}
    steps = directions(board)
    if len(steps) < 2 or most < 4:
        return []
    first = steps[0]
    second = next(step for step in steps[1:] if abs(step[0] * first[1] - step[1] * first[0]) > 0.1)
    straight = [step for step in steps if 0 in step]
    if len(straight) == 2:
        first, second = straight
    low = min(math.isqrt(most), 3)
    shapes = {(low, min(most // low, 4)), (min(most // low, 4), low)}
    found = []
    for width, height in sorted(shapes):
        for x, y in at:
            places = [
                (
                    round(x + a * first[0] + b * second[0], 3),
                    round(y + a * first[1] + b * second[1], 3),
                )
                for b in range(height)
                for a in range(width)
            ]
            if all(place in at for place in places):
                found.append(tuple(at[place] for place in places))
    return found


def automorphisms(board: Cells) -> list[Symmetry]:
    """Return the rotations and reflections that map the board's cells onto themselves."""
    places = [(x, y) for x, y in board.places]
    middle = [(min(c) + max(c)) / 2 for c in zip(*places, strict=True)]
    centred = [(round(x - middle[0], 3), round(y - middle[1], 3)) for x, y in places]
    at = {place: number for number, place in enumerate(centred)}
    found = []
    for across, down, turned in itertools.product((1, -1), (1, -1), (False, True)):
        images = [(across * x + 0.0, down * y + 0.0) for x, y in centred]
        images = [(y, x) if turned else (x, y) for x, y in images]
        if all(image in at for image in images):
            found.append(tuple(at[image] for image in images))
    return list(dict.fromkeys(found))


def windows_of(
    board: Cells,
    digits: int,
    marks: int,
    symmetries: list[Symmetry],
    cells: set[int],
    raw: Sequence[tuple[int, int]] = (),
) -> list[Window]:
    """Return the windows for a board with *digits* contents on each of the used *cells*.

    *marks* is the number of values of a cell's marks, 1 if there are none; each of the *raw* bytes
    is a window of its own.
    """
    most = max(1, int(math.log(MOST_NUMBERS) / math.log(max(digits, 2))))
    chosen = lines(board, min(most, LONGEST))
    share = len(cells) / len(board.places)
    chosen += [block for block in blocks(board, int(most / share)) if len(cells & {*block}) <= most]
    found = [Window(byte, number, BYTE) for number, byte in enumerate(raw)]
    found = _shared(chosen, symmetries, cells, CONTENTS, found)
    if marks > 1:
        longest = max(1, int(math.log(MOST_NUMBERS) / math.log(marks)))
        found = _shared(lines(board, min(longest, LONGEST)), symmetries, cells, MARKS, found)
    return _fewer(found)


def _shared(
    chosen: list[tuple[int, ...]],
    symmetries: list[Symmetry],
    cells: set[int],
    reads: str,
    found: list[Window],
) -> list[Window]:
    """Return windows *found* before, then new ones with their images; no set of cells twice."""
    known: set[Any] = set()
    for window in chosen:
        window = tuple(number for number in window if number in cells)
        if len(window) < 1 or frozenset(window) in known:
            continue
        first = len(found)
        for symmetry in symmetries:
            image = tuple(symmetry[number] for number in window)
            if frozenset(image) not in known:
                known.add(frozenset(image))
                found.append(Window(image, first, reads))
    return found


def importance(group: list[Window]) -> tuple[bool, int]:
    """Return a key that puts first what to keep: marks, bytes, then windows with more cells."""
    return group[0].reads == CONTENTS, -len(group[0].cells)


def _fewer(found: list[Window]) -> list[Window]:
    """Return at most ``MOST_WINDOWS`` windows: the most important, and always whole groups."""
    groups: dict[int, list[Window]] = {}
    for window in found:
        groups.setdefault(window.shared, []).append(window)
    kept: list[Window] = []
    for group in sorted(groups.values(), key=importance):
        if len(kept) + len(group) <= MOST_WINDOWS:
            first = len(kept)
            kept += [Window(window.cells, first, window.reads) for window in group]
    return kept
