"""How positions of a game hold its board: found by looking at positions, not declared.

``CELLS`` and the rule ``cell`` say what stands where, cell by cell.  An evaluation that reads whole
bitboards is much faster, and most games have them: a field of the position with a bit for each cell
on which some content stands.  Which bit is which cell is found by comparing, in positions of random
games, each bit with each content of each cell.

Positions should look to the mover as they do to the other player when he moves.  Where a field
says no more than who is to move, and rules do not depend on it, all is read as if the first player
moved; where nothing says it, contents change owners after each ply.  Where neither holds, the two
players have weights of their own.
"""

from __future__ import annotations

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
"""Positions that tell bits and contents apart."""

COMPARED = 200
"""Positions whose moves are compared."""

MOST_MARKS = 2
"""Bitboards beside those of what stands on the board that are read, too."""

MOST_BYTES = 48
"""Bytes of a position that are read as they are, where its fields are no bitboards."""

EACH_GAME = 12
"""Positions of a game, at most."""

LONGEST_GAME = 400
"""Plies, after which a random game is left."""


Bit = tuple[int, int]
"""The number of one of the fields that are read, and a bit of it."""

Said = tuple[int, dict[int, bool]]
"""What a bit says: a cell, and for each content whether the bit is set where it stands there.

Marks of a cell are less than 0.
"""


@dataclass(frozen=True)
class BoardReading:
    """How to read the board of a position.

    *meanings* say for each player to move (one, if the board looks the same to both) what is read:
    for bit *b* of bitboard *n*, ``meanings[side][n, b]`` is a cell and a content, from 1 on; of a
    board that is read by cells, ``meanings[side][cell, content]``.  *marks* are what bits of
    further bitboards of the same layout say, each a cell and a bit of a mask.
    """

    cls: Any
    board: Cells
    contents: int
    """The number of contents, with that of empty cells, which is 0."""
    fields: tuple[int, ...]
    bytes: int
    side: int
    seen: int
    meanings: tuple[dict[tuple[int, int], tuple[int, int]], ...]
    marks: dict[tuple[int, int], tuple[int, int]]
    raw: tuple[tuple[int, int], ...]
    """Bytes of further fields that are read as they are: the number of a field, and its byte."""
    said: dict[Bit, Said]
    """What is known of bits that say something of one cell."""

    @property
    def bitboards(self) -> bool:
        """Whether all that stands on the board is read from bitboards."""
        return bool(self.fields) and not self.raw

    def seen_position(self, position: Any) -> Any:
        """A position as its board is read: as if the first player moved, where that is enough."""
        return position if self.seen == NONE else _with(position, self.seen, False)

    @property
    def mark_kinds(self) -> int:
        """So many bitboards mark cells."""
        return len({mask for _, mask in self.marks.values()})


def random_game(start: Any, chosen: random.Random) -> list[tuple[Any, int]]:
    """The positions of a random game in which a player has to move; each with who, 0 or 1.

    Not the last one.
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
    """Positions of random games that go on, each with the number of the player to move, 0 or 1."""
    chosen = random.Random(f"{seed} positions")
    found: list[tuple[Any, int]] = []
    while len(found) < count:
        line = random_game(start, chosen)
        found += chosen.sample(line, min(len(line), EACH_GAME))
    return found[:count]


def require_learnable(start: Any) -> None:
    """:class:`GameError` if no evaluation of the game can be learned, however its board is read."""
    cls: Any = type(start)
    if is_plain(cls):
        raise GameError(
            f"{game_name(cls)} is plain Python, too slow to learn from: put @compiled "
            f"before its rules"
        )
    if outcome(start)[0]:
        raise GameError(f"{game_name(cls)} is over where it starts: there is nothing to learn")


def read_board(start: Any) -> BoardReading:
    """Find out how to read the board of positions of the game that begins at *start*.

    :class:`GameError` says what the game lacks.
    """
    cls: Any = type(start)
    board = board_of(cls)
    if board is None:
        raise GameError(
            f"{game_name(cls)} declares no board to learn from: write CELLS = Grid(height, width) "
            f"and the rule cell(position, index), as engine/cutnode/contract/cells.py explains"
        )
    require_learnable(start)
    samples = sampled_positions(start, SAMPLES)
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
    """The number of the field that says who is to move, or that the game's ``turn`` does."""
    for number, kind in enumerate(field_kinds(cls)):
        if kind is bool:
            values = np.array([bool(position[number]) for position in positions])
            if (values == (sides ^ bool(start[number]))).all():
                return number
    return TURN if defines(cls, "turn") else NONE


def _is_relative(positions: list[Any], field: int) -> bool:
    """Return whether rules do not depend on who is to move: the board is the mover's."""
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
    """For each content that which the other player has in its place."""
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
    """For each bit of fields of some *kinds* that is not always the same, whether it is set."""
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
            f"who is to move: give positions a field of type bool that is True where the second "
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
    """What bits say that are a matter of what stands on one cell."""
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
    """For bits the cell and content that they say; None if not every content has a bit."""
    by_value: dict[bytes, list[tuple[int, int]]] = {}
    for at, column in columns.items():
        by_value.setdefault(_packed(column[group]), []).append(at)
    found: dict[tuple[int, int], tuple[int, int]] = {}
    for number in range(contents.shape[1]):
        there = np.unique(contents[group, number])
        for content in map(int, there[(there > 0) & (len(there) > 1)]):
            stands = contents[group, number] == content
            bits = by_value.get(_packed(stands), [])
            if not bits and len(there) == 2:  # a bit that says that nothing is there does as well
                bits = by_value.get(_packed(~stands), [])
            free = [bit for bit in bits if bit not in found]
            if not free:
                return None
            # Of bits that look alike, one of a field that is about this content.
            about = {field for (field, _), (_, said) in found.items() if said == content}
            found[min(free, key=lambda bit: bit[0] not in about)] = (number, content)
    return _completed(found)


def _packed(column: Any) -> bytes:
    return bytes(np.packbits(column))


def _completed(found: dict[tuple[int, int], tuple[int, int]]) -> Any:
    """The same with bits that were never set, where a bitboard is laid out as another.

    Kings, say, stand on few cells in random games.
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
