"""How a game's positions encode the board: inferred from positions instead of declared.

``CELLS`` and the rule ``cell`` tell what stands on each cell.  An evaluation that reads whole
bitboards is much faster, and most games have them: a field of the position with a bit for each cell
on which some content stands.  The cell of each bit is found by comparing, in positions of random
games, each bit with each content of each cell.

An evaluation should see a position the same way whichever player moves.  If a field only says who
is to move, and the rules do not depend on it, positions are read as if the first player moved.  If
nothing says who is to move, contents swap owners when the second player moves.  Otherwise the two
players have separate weights.
"""

from __future__ import annotations

import functools
import random
from dataclasses import dataclass
from typing import Any

import numpy as np

from cutnode.contract.bits import WORD, Bits
from cutnode.contract.cells import Cells
from cutnode.contract.derived import legal_moves, same_after_chance
from cutnode.contract.dispatch import defines, game_name, is_plain
from cutnode.contract.errors import GameError
from cutnode.contract.notation import board_of, contents_of
from cutnode.contract.positions import field_kinds
from cutnode.contract.verbs import chance, chance_outcome, moves_again, outcome, play, turn
from cutnode.kernels.learned import NONE, TURN

SAMPLES = 3000
"""Positions used to tell bits and contents apart."""

COMPARED = 200
"""Positions whose moves are compared."""

MOST_MARKS = 2
"""The most bitboards read in addition to the ones of the board's contents."""

MOST_BYTES = 48
"""The most bytes of a position read raw, if its fields are not bitboards."""

EACH_GAME = 12
"""The most positions sampled from one game."""

LONGEST_GAME = 400
"""The plies after which a random game is abandoned."""


Bit = tuple[int, int]
"""A bit: an index into the fields that are read, and the number of the bit in that field."""

Said = tuple[int, dict[int, bool]]
"""The meaning of a bit: a cell, and for each content whether the bit is set if it stands there.

Marks of a cell have negative numbers.
"""


@dataclass(frozen=True)
class BoardReading:
    """How to read the board of a position.

    *meanings* has an entry for each player to move, or just one if the board looks the same to
    both.  For bit *b* of bitboard *n*, ``meanings[side][n, b]`` is a cell and a content, counted
    from 1; for a board read cell by cell, it is ``meanings[side][cell, content]``.  *marks* gives
    the meaning of bits in further bitboards of the same layout: a cell and a bit of a mask.
    """

    cls: Any
    board: Cells
    contents: int
    """The number of contents, including empty cells, which are content 0."""
    fields: tuple[int, ...]
    bytes: int
    side: int
    seen: int
    meanings: tuple[dict[tuple[int, int], tuple[int, int]], ...]
    marks: dict[tuple[int, int], tuple[int, int]]
    raw: tuple[tuple[int, int], ...]
    """Bytes of further fields that are read raw: the number of a field, and its byte."""
    said: dict[Bit, Said]
    """The known meanings of bits that depend on one cell."""

    @property
    def bitboards(self) -> bool:
        """Whether the whole board is read from bitboards."""
        return bool(self.fields) and not self.raw

    def seen_position(self, position: Any) -> Any:
        """Return a position as its board is read: with the first player to move, if that is how."""
        return position if self.seen == NONE else _with(position, self.seen, False)

    @property
    def mark_kinds(self) -> int:
        """The number of bitboards that mark cells."""
        return len({mask for _, mask in self.marks.values()})


def random_game(start: Any, chosen: random.Random) -> list[tuple[Any, int]]:
    """Return the positions of a random game in which a player moves, each with the player, 0 or 1.

    The final position is left out.
    """
    position, side = start, 0
    line: list[tuple[Any, int]] = []
    while not outcome(position)[0] and len(line) < LONGEST_GAME:
        if chance(position):
            outcomes = [chance_outcome(position, n) for n in range(chance(position))]
            odds = [probability for probability, _ in outcomes]
            child = chosen.choices([child for _, child in outcomes], odds)[0]
            side ^= not same_after_chance(position, child)
        else:
            line.append((position, side))
            child = play(position, chosen.choice(legal_moves(position)))
            side ^= not moves_again(position, child)
        position = child
    return line


def sampled_positions(start: Any, count: int, seed: int = 0) -> list[tuple[Any, int]]:
    """Return unfinished positions of random games, each with the player to move, 0 or 1."""
    chosen = random.Random(f"{seed} positions")
    found: list[tuple[Any, int]] = []
    while len(found) < count:
        line = random_game(start, chosen)
        found += chosen.sample(line, min(len(line), EACH_GAME))
    return found[:count]


@functools.lru_cache(16, typed=True)  # positions of two games may be equal
def samples_of(start: Any) -> list[tuple[Any, int]]:
    """Return the positions by which an evaluation is designed: the board, windows, and terms."""
    return sampled_positions(start, SAMPLES)


def require_learnable(start: Any) -> None:
    """Raise :class:`GameError` if no evaluation can be learned, however the board is read."""
    cls: Any = type(start)
    if is_plain(cls):
        raise GameError(
            f"{game_name(cls)} is plain Python, too slow to learn from: put @compiled "
            f"before its rules"
        )
    if outcome(start)[0]:
        raise GameError(f"{game_name(cls)} is over at its start: there is nothing to learn")


def read_board(start: Any) -> BoardReading:
    """Find out how to read the board in positions of the game that begins at *start*.

    :class:`GameError` if the game lacks what this needs.
    """
    cls: Any = type(start)
    board = board_of(cls)
    if board is None:
        raise GameError(
            f"{game_name(cls)} declares no board to learn from: write CELLS = Grid(height, width) "
            f"and the rule cell(position, index), as engine/cutnode/contract/cells.py explains"
        )
    require_learnable(start)
    samples = samples_of(start)
    positions = [position for position, _ in samples]
    sides = np.array([side for _, side in samples], bool)
    field = _side_field(cls, start, positions, sides)
    if field == TURN:
        sides = np.array([turn(position) for position in positions], bool)
    elif field != NONE:
        sides = np.array([position[field] for position in positions], bool)
    relative = field >= 0 and _is_relative(positions[:COMPARED], field)
    if relative:
        seen = [_with(position, field, False) for position in positions]
        contents = np.array([contents_of(position) for position in seen])
    else:
        contents = np.array([contents_of(position) for position in positions])
        if field == NONE:
            contents[sides] = _exchanged(board)[contents[sides]]
    return _reading(cls, board, positions, contents, sides, field, relative)


def _with(position: Any, field: int, value: Any) -> Any:
    return type(position)(*(value if n == field else old for n, old in enumerate(position)))


def _side_field(cls: Any, start: Any, positions: list[Any], sides: Any) -> int:
    """Return the field that says who is to move, ``TURN`` if only ``turn`` does, or ``NONE``."""
    for number, kind in enumerate(field_kinds(cls)):
        if kind is bool:
            values = np.array([bool(position[number]) for position in positions])
            if (values == (sides ^ bool(start[number]))).all():
                return number
    return TURN if defines(cls, "turn") else NONE


def _is_relative(positions: list[Any], field: int) -> bool:
    """Return whether the rules ignore who is to move, so that the board is the mover's view."""
    for position in positions:
        other = _with(position, field, not position[field])
        moves = legal_moves(position)
        if moves != legal_moves(other) or outcome(position) != outcome(other):
            return False
        for move in moves:
            child, same = play(position, move), play(other, move)
            if _with(child, field, False) != _with(same, field, False):
                return False
    return True


def _exchanged(board: Cells) -> Any:
    """Return, for each content, the other player's counterpart."""
    names = [name.split() for name in board.contents.values()]
    found = np.arange(len(names))
    owners = list(dict.fromkeys(name[0] for name in names[1:]))
    if len(owners) == 2:
        for number, name in enumerate(names[1:], 1):
            other = [owners[name[0] == owners[0]], *name[1:]]
            if other in names:
                found[number] = names.index(other)
    return found


def _bit_columns(
    cls: Any, positions: list[Any], kinds: tuple[Any, ...]
) -> dict[tuple[int, int], Any]:
    """Return the values over all positions of each bit that varies, in fields of some *kinds*."""
    found = {}
    for number, kind in enumerate(field_kinds(cls)):
        if kind in kinds:
            values = [int(position[number]) & WORD for position in positions]
            words = np.array(values, np.uint64)
            for bit in range(64):
                column = (words >> np.uint64(bit) & np.uint64(1)).astype(bool)
                if column.any() and not column.all():
                    found[number, bit] = column
    return found


def _reading(
    cls: Any,
    board: Cells,
    positions: list[Any],
    contents: Any,
    sides: Any,
    field: int,
    relative: bool,
) -> BoardReading:
    absolute = field != NONE and not relative
    columns = _bit_columns(cls, positions, (Bits,))
    groups = [~sides, sides] if absolute else [np.ones(len(sides), bool)]
    meanings = [_matched(columns, contents, group) for group in groups]
    side = field if absolute else NONE
    kinds = len(board.contents)
    if columns and all(meaning is not None for meaning in meanings):
        return _by_bitboards(cls, board, kinds, columns, meanings, side)
    if field == NONE:
        raise GameError(
            f"{game_name(cls)} has no bit for each content of each cell, and no field that says "
            f"who is to move: give positions a field of type bool that is True when the second "
            f"player moves, or define turn(position)"
        )
    cells = range(contents.shape[1])
    every = {(number, content): (number, content) for number in cells for content in range(kinds)}
    exchanged = _exchanged(board)
    other = {key: (number, int(exchanged[content])) for key, (number, content) in every.items()}
    varying = _bit_columns(cls, positions, (Bits, int))
    read = sorted({(number, bit // 8) for number, bit in varying})[:MOST_BYTES]
    fields = tuple(sorted({number for number, _ in read}))
    columns = {
        (fields.index(number), bit): column
        for (number, bit), column in varying.items()
        if number in fields
    }
    return BoardReading(
        cls=cls,
        board=board,
        contents=kinds,
        fields=fields,
        bytes=max((byte for _, byte in read), default=-1) + 1,
        side=side,
        seen=field if relative else NONE,
        meanings=(every, other) if absolute else (every,),
        marks={},
        raw=tuple((fields.index(number), byte) for number, byte in read),
        said=_said_of_cells(columns, contents, kinds),
    )


def _said_of_cells(columns: dict[Bit, Any], contents: Any, kinds: int) -> dict[Bit, Said]:
    """Return the meanings of bits that depend on the content of one cell alone."""
    bits = np.array(list(columns.values()), np.float32).T
    found: dict[Bit, Said] = {}
    for cell in range(contents.shape[1]):
        stands = (contents[:, cell, None] == np.arange(kinds)).astype(np.float32)
        total, is_set = stands.sum(axis=0), stands.T @ bits
        for number, at in enumerate(columns):
            counts = is_set[:, number]
            if ((counts == 0) | (counts == total)).all():
                seen = np.flatnonzero(total)
                found.setdefault(at, (cell, {int(n): bool(counts[n]) for n in seen}))
    return found


def _matched(columns: Any, contents: Any, group: Any) -> Any:
    """Return the cell and content of each bit; None if some content has no bit."""
    by_value: dict[bytes, list[tuple[int, int]]] = {}
    for at, column in columns.items():
        by_value.setdefault(_packed(column[group]), []).append(at)
    found: dict[tuple[int, int], tuple[int, int]] = {}
    for number in range(contents.shape[1]):
        there = np.unique(contents[group, number])
        for content in map(int, there[(there > 0) & (len(there) > 1)]):
            stands = contents[group, number] == content
            bits = by_value.get(_packed(stands), [])
            if not bits and len(there) == 2:  # a bit for the only other content does as well
                bits = by_value.get(_packed(~stands), [])
            free = [bit for bit in bits if bit not in found]
            if not free:
                return None
            # If several bits fit, prefer one in a field with other bits for this content.
            about = {field for (field, _), (_, said) in found.items() if said == content}
            found[min(free, key=lambda bit: bit[0] not in about)] = (number, content)
    return _completed(found)


def _packed(column: Any) -> bytes:
    return bytes(np.packbits(column))


def _completed(found: dict[tuple[int, int], tuple[int, int]]) -> Any:
    """Add bits that were never set, if their bitboard has the layout of another.

    Kings, for example, visit few cells in random games.
    """
    fields = sorted({number for number, _ in found})
    layouts: dict[int, dict[int, int]] = {number: {} for number in fields}
    contents: dict[int, set[int]] = {number: set() for number in fields}
    for (number, bit), (place, content) in found.items():
        layouts[number][bit] = place
        contents[number].add(content)
    whole = dict(found)
    for number in fields:
        if len(contents[number]) == 1:
            (content,) = contents[number]
            for other in fields:
                common = layouts[number].keys() & layouts[other].keys()
                if common and all(layouts[number][bit] == layouts[other][bit] for bit in common):
                    for bit, place in layouts[other].items():
                        whole.setdefault((number, bit), (place, content))
    return whole


def _by_bitboards(
    cls: Any, board: Cells, kinds: int, columns: Any, meanings: Any, side: int
) -> BoardReading:
    exchanged = _exchanged(board)
    if len(meanings) == 2:
        meanings[1] = {
            at: (number, int(exchanged[content])) for at, (number, content) in meanings[1].items()
        }
    main = sorted({number for meaning in meanings for number, _ in meaning})
    layout = {bit: cell for (number, bit), (cell, _) in meanings[0].items()}
    alike = all(layout[bit] == cell for (_, bit), (cell, _) in meanings[0].items())
    further = sorted({number for number, bit in columns if number not in main and bit in layout})
    further = further[:MOST_MARKS] if side == NONE and alike else []
    fields = (*main, *further)
    marks = {
        (fields.index(number), bit): (layout[bit], 1 << further.index(number))
        for number, bit in columns
        if number in further and bit in layout
    }
    highest = max(bit for meaning in meanings for _, bit in meaning)
    read = tuple(
        {(fields.index(number), bit): said for (number, bit), said in meaning.items()}
        for meaning in meanings
    )
    contents_said = (read[-1] | read[0]).items()
    what = [(at, cell, content, range(1, kinds)) for at, (cell, content) in contents_said]
    what += [(at, cell, -mask, range(-2, 0)) for at, (cell, mask) in marks.items()]
    return BoardReading(
        cls=cls,
        board=board,
        contents=kinds,
        fields=fields,
        bytes=highest // 8 + 1,
        side=side,
        seen=NONE,
        meanings=read,
        marks=marks,
        raw=(),
        said={at: (cell, {one: one == said for one in every}) for at, cell, said, every in what},
    )
