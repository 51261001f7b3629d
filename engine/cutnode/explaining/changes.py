"""The changes on the board by a move, in words: pieces placed, moved, captured and turned over."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cutnode.contract.cells import LONGEST_LEGEND, Cells, Grid
from cutnode.contract.dispatch import defines
from cutnode.contract.notation import board_of, contents_of
from cutnode.contract.verbs import gain, play

MOST_CELLS = 4
"""The most cells that a description names; beyond, it counts them."""


@dataclass(frozen=True, slots=True)
class Changes:
    """The cells that a move changes."""

    cells: tuple[tuple[int, int, int], ...]
    """The index of each changed cell, its content before, and after."""
    words: tuple[str, ...]
    """The changes in words, such as ``"moves a white knight from g1 to f3"``."""
    gain: int
    """The material or points won at first sight, by the game's ``gain``; 0 if it has none."""


def changes_of(position: Any, move: int) -> Changes:
    """Return what a move changes."""
    won = int(gain(position, move)) if defines(type(position), "gain") else 0
    board = board_of(type(position))
    if board is None:
        return Changes((), (), won)
    before, after = contents_of(position), contents_of(play(position, move))
    changed = tuple(
        (cell, old, new)
        for cell, (old, new) in enumerate(zip(before, after, strict=True))
        if old != new
    )
    return Changes(changed, tuple(_words(board, changed)), won)


def cell_name(board: Cells, cell: int) -> str:
    """Return the name of a cell: its column and row where both have names, else its place."""
    rows = board.rows
    row = next(number for number, each in enumerate(rows) if cell in each)
    column = cell - rows[row].start
    if board.row_names and board.column_names and isinstance(board, Grid):
        return f"{board.column_names[column]}{board.row_names[row]}"
    if len(board.column_names) == len(rows[row]):
        row_name = board.row_names[row] if board.row_names else row + 1
        return f"column {board.column_names[column]}, row {row_name}"
    return f"row {row + 1}, cell {column + 1}"


def _words(board: Cells, changed: tuple[tuple[int, int, int], ...]) -> list[str]:
    """Describe changes: what moved, what was placed, what was taken, and the rest by counts."""
    names = list(board.contents.values())
    owners = board.owners
    left = {cell: old for cell, old, new in changed if old and not new}
    came = {cell: (old, new) for cell, old, new in changed if new}
    if all(owners[each] is None for cells in changed for each in cells[1:]):
        return _become(board, names, changed)
    words = []
    for cell, (old, new) in list(came.items()):
        source = next((place for place, piece in left.items() if piece == new), None)
        if source is None:
            continue
        where = f"from {cell_name(board, source)} to {cell_name(board, cell)}"
        words.append(f"moves {_a(names[new])} {where}")
        if old:
            words.append(f"captures {_a(names[old])}")
        del left[source], came[cell]
    placed = {cell: new for cell, (old, new) in came.items() if not old}
    turned = {cell: pair for cell, pair in came.items() if pair[0]}
    words += _listed(board, names, placed, "places", "on")
    by_pair: dict[tuple[int, int], list[int]] = {}
    for cell, pair in turned.items():
        by_pair.setdefault(pair, []).append(cell)
    for (old, new), cells in by_pair.items():
        where = _places(board, cells)
        words.append(
            f"turns {_many(names[old], len(cells))} into {_many(names[new], len(cells))} ({where})"
        )
    words += _listed(board, names, left, "removes", "from")
    return words


def _listed(
    board: Cells, names: list[str], pieces: dict[int, int], verb: str, where: str
) -> list[str]:
    """Describe pieces that came or went, by kind."""
    kinds: dict[int, list[int]] = {}
    for cell, piece in pieces.items():
        kinds.setdefault(piece, []).append(cell)
    return [
        f"{verb} {_many(names[piece], len(cells))} {where} {_places(board, cells)}"
        for piece, cells in kinds.items()
    ]


def _places(board: Cells, cells: list[int]) -> str:
    if len(cells) > MOST_CELLS:
        return f"{len(cells)} cells"
    return ", ".join(cell_name(board, cell) for cell in cells)


def _become(board: Cells, names: list[str], changed: tuple[tuple[int, int, int], ...]) -> list[str]:
    """Describe cells that belong to nobody by what they hold afterwards."""
    if len(names) > LONGEST_LEGEND:
        return [f"changes {len(changed)} cells"]
    kinds: dict[int, list[int]] = {}
    for cell, _, new in changed:
        kinds.setdefault(new, []).append(cell)
    return [f"makes {_places(board, cells)} {names[new]}" for new, cells in kinds.items()]


def _piece(name: str) -> str:
    """Return the name of a piece; a player's name alone stands for his stone."""
    return f"stone of the {name}" if name.endswith("player") else name


def _a(name: str) -> str:
    """Return a piece with its indefinite article."""
    name = _piece(name)
    return f"{'an' if name[:1] in 'aeiou' else 'a'} {name}"


def _many(name: str, count: int) -> str:
    if count == 1:
        return _a(name)
    piece = _piece(name)
    return f"{count} stones{piece.removeprefix('stone')}" if piece != name else f"{count} {name}s"
