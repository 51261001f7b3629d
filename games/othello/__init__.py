"""Othello (Reversi), on boards of 8x8, 6x6 and 4x4 squares.

Rules: black begins.  A move places a disc on an empty square and flips all discs of the
opponent that lie in a line, along the row, the column or a diagonal, between it and another
own disc; it must flip at least one.  A player who cannot move passes, and only then.
The game is over when neither can move.

Values: the mover's discs minus the other's at the end; empty squares count for the winner.

Variants: ``8x8`` (the usual one), ``6x6`` and ``4x4``, with the four discs of the beginning in
the middle, black on the diagonal that goes up to the right.

Text: a1 is the square at the top left, and the row below is 2.  A position is written in the
OBF format of position files (the squares in the order a1, b1, ..., black ``X``, white ``O``,
empty ``-``, then a blank and who is to move; anything after a ``;`` is ignored)::

    ---------------------------OX------XO--------------------------- X

or as a board of several lines; or as a transcript, the squares played (``f5d6c3``, ``f5 D6 c3``,
``f5-d6``, ``1. f5 d6``), in which passes may be omitted (``pass``, ``ps``, ``pa`` and ``--`` are
accepted).  Boards may use ``x``, ``X`` and ``*`` for black, ``o`` and ``O`` for white, ``-`` and
``.`` for empty squares.  Any discs may be set up; if neither player can move, as without discs,
the game is over.

Encoding: a word for each player, the mover's first; see ``cutnode.games.othello.discs``.  A move is
its square, and 64 a pass.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from cutnode import Bits, PositionError, compiled, legal_moves, lowest_index, mix, popcount, quoted
from cutnode.contract.bits import bytes_reversed
from cutnode.contract.cells import STONES, Grid
from cutnode.contract.notation import contents_of, prints_board
from cutnode.contract.variants import variants
from cutnode.games.othello.discs import PASS, empties, final_value, flipped, mobility, write
from cutnode.games.othello.endings import bounds, candidates, endgame, forced, order, scout  # noqa: F401
from cutnode.games.othello.midgame import deviation  # noqa: F401
from cutnode.games.othello.patterns import pattern_value

PROFILE = {"solver.table_plies": 20, "solver.enhanced_plies": 22, "order.depth": 3}
"""The solver stores positions from 10 empty squares on, as ``endgame`` leaves no fewer, and looks
children up from 11 (a pass is a ply).  The move order evaluates every child, as at a leaf."""

UNIT = 6
"""In discs.  Of 60 positions, searched 8 plies deep with :func:`evaluate_mobility`, it loses 0.17
discs to save 18 % of the nodes; 4 saves 38 % and loses 0.23, none loses 0.10.  With patterns, 4
and 6 play alike, and none scores 0.39 against them."""

FEW_DISCS = 12
"""Positions with more discs are hardly ever symmetric to others of the same search.

In an exact search of 12 plies from the start, symmetry leaves 55 thousand nodes of 146 thousand;
after two moves there is nothing to gain."""


@prints_board
class Discs(NamedTuple):
    """A position: the discs of the mover and of the other."""

    mine: Bits
    theirs: Bits
    white: bool
    """Whether white is to move; matters for texts only."""


# The rules


@compiled
def cell(position, index):
    """Return 0 for an empty square, 1 for a black disc, 2 for a white one."""
    disc = Bits(1) << Bits(8 * (index // position.SIZE) + index % position.SIZE)
    if not (position.mine | position.theirs) & disc:
        return 0
    return 2 if (position.mine & disc != Bits(0)) == position.white else 1


@compiled
def moves(position, buffer, at):
    squares = mobility(position)
    if squares == Bits(0):
        buffer[at] = PASS
        return at + 1
    return write(squares, buffer, at)


@compiled
def play(position, move):
    mine, theirs = position.mine, position.theirs
    if move != PASS:
        turned = flipped(mine, theirs, move)
        mine |= turned | (Bits(1) << Bits(move))
        theirs ^= turned
    return position._replace(mine=theirs, theirs=mine, white=not position.white)


@compiled
def outcome(position):
    if mobility(position) or mobility(passed(position)):
        return False, 0
    return True, final_value(position)


@compiled
def passed(position):
    """Return the same discs with the other to move."""
    return position._replace(mine=position.theirs, theirs=position.mine, white=not position.white)


@compiled
def key(position):
    """Hash the discs and the side to move.

    They are hashed twice: otherwise a bit for white would look like one more of the other's discs.
    """
    return mix(word_of(position.mine, position.theirs)) ^ Bits(position.white)


@compiled
def word_of(mine, theirs):
    """Hash the discs."""
    return mix(mine) ^ theirs


@compiled
def plies_left(position):
    """Return a bound on the plies left: a move fills a square, and no two passes are adjacent."""
    return 2 * empties(position)


# Equivalent positions


@compiled
def canonical(position):
    """Return a key without colours and, while there are few discs, without the board's rotation."""
    if popcount(position.mine | position.theirs) <= FEW_DISCS:
        return least_image(position)
    return word_of(position.mine, position.theirs), 0


@compiled(inline=False)
def least_image(position):
    """Return the least of the keys of the eight images of the board, and the image that has it."""
    least, symmetry = word_of(position.mine, position.theirs), 0
    for number in range(1, 8):
        mine = image(position, position.mine, number)
        word = word_of(mine, image(position, position.theirs, number))
        if word < least:
            least, symmetry = word, number
    return least, symmetry


@compiled
def image(position, discs, symmetry):
    """Reverse the columns, the rows, and exchange both: a bit of *symmetry* for each, in order."""
    if symmetry & 1:
        discs = mirror(discs) >> Bits(8 - position.SIZE)
    if symmetry & 2:
        discs = bytes_reversed(discs) >> Bits(8 * (8 - position.SIZE))
    if symmetry & 4:
        discs = transpose(discs)
    return discs


@compiled
def mirror(discs):
    """Exchange left and right of the frame: reverse the bits of each row."""
    discs = pairs_exchanged(discs, Bits(1), Bits(0x5555555555555555))
    discs = pairs_exchanged(discs, Bits(2), Bits(0x3333333333333333))
    return pairs_exchanged(discs, Bits(4), Bits(0x0F0F0F0F0F0F0F0F))


@compiled
def pairs_exchanged(discs, distance, low):
    """Exchange the bits of *low* with those at a *distance* above them."""
    return ((discs >> distance) & low) | ((discs & low) << distance)


@compiled
def transpose(discs):
    """Exchange columns and rows: in blocks of 2x2 squares, then of 4x4, then of all."""
    discs = exchanged(discs, Bits(7), Bits(0x00AA00AA00AA00AA))
    discs = exchanged(discs, Bits(14), Bits(0x0000CCCC0000CCCC))
    return exchanged(discs, Bits(28), Bits(0x00000000F0F0F0F0))


@compiled
def exchanged(discs, distance, low):
    """Exchange bits as :func:`pairs_exchanged` does, and leave all others where they are."""
    different = (discs ^ (discs >> distance)) & low
    return discs ^ different ^ (different << distance)


@compiled
def canonical_move(position, move, symmetry):
    if move == PASS:
        return move
    return lowest_index(image(position, Bits(1) << Bits(move), symmetry))


@compiled
def original_move(position, move, symmetry):
    """Invert a symmetry: with columns and rows exchanged, so are their reversals."""
    if symmetry & 4:
        symmetry = 4 | ((symmetry & 1) << 1) | ((symmetry >> 1) & 1)
    return canonical_move(position, move, symmetry)


# Heuristics for searches that stop before the end of the game


@compiled
def evaluate_mobility(position):
    """In discs: choices now and later, corners and what gives them away; discs at the end."""
    mine, theirs = position.mine, position.theirs
    empty = position.BOARD & ~(mine | theirs)
    choices = popcount(mobility(position)) - popcount(mobility(passed(position)))
    later = popcount(beside(theirs) & empty) - popcount(beside(mine) & empty)
    corners = popcount(mine & position.CORNERS) - popcount(theirs & position.CORNERS)
    risky = beside(empty & position.CORNERS) & position.BOARD
    risks = popcount(mine & risky) - popcount(theirs & risky)
    lead = popcount(mine) - popcount(theirs)
    left = popcount(empty)
    score = 2 * choices + later + 12 * corners - 4 * risks
    estimate = (score * left + lead * (position.AREA - left)) // position.AREA
    return max(-position.AREA, min(position.AREA, estimate))


@compiled
def evaluate(position):
    """Evaluate by patterns on the usual board, by mobility on the small ones."""
    if position.SIZE == 8:
        return pattern_value(position)
    return evaluate_mobility(position)


@compiled
def beside(discs):
    """Return the squares of the frame next to any of some squares, in any direction."""
    row = discs | ((discs & NOT_LAST) << Bits(1)) | ((discs & NOT_FIRST) >> Bits(1))
    return (row | (row << Bits(8)) | (row >> Bits(8))) & ~discs


NOT_FIRST, NOT_LAST = Bits(0xFEFEFEFEFEFEFEFE), Bits(0x7F7F7F7F7F7F7F7F)
"""All columns of the frame but the first, and all but the last."""


@compiled
def features(position):
    """Return moves, discs, corners, and empty squares next to discs of the other."""
    mine, theirs = position.mine, position.theirs
    empty = position.BOARD & ~(mine | theirs)
    return (
        *(popcount(mobility(position)), popcount(mobility(passed(position)))),
        *(0, 0),
        *(popcount(mine), popcount(theirs)),
        *(popcount(mine & position.CORNERS), popcount(theirs & position.CORNERS)),
        *(0, 0),
        *(popcount(beside(theirs) & empty), popcount(beside(mine) & empty)),
    )


# Boards of all sizes

COLUMNS = "abcdefgh"


def _size(variant: str) -> int:
    """Read the side of a board."""
    match = re.fullmatch(r"([0-9]{1,9})x\1", variant)
    if not match:
        raise PositionError(f"{quoted(variant)} is not a board size: 8x8, 6x6 or 4x4")
    return int(match[1])


VARIANTS = "8x8", "6x6", "4x4"


@variants(
    Discs,
    usual="8x8",
    read=_size,
    about="the board, 4x4, 6x6 or 8x8: 6x6",
)
def board(size: int) -> dict[str, Any]:
    """Return the constants of a board; :class:`PositionError` if no board has that size.

    There are no more moves than ``MAX_MOVES``: of every 11 squares at most 8 allow a move.  A move
    flips a disc next to it, in one of four lines, as the square on the disc's other side in a line
    is not empty; so there is one such disc for four moves.  And it needs an own disc at the other
    end, which serves eight.
    """
    if size not in (4, 6, 8):
        raise PositionError(f"there is no board of {size}x{size}: a board is 8x8, 6x6 or 4x4")
    area, last = size * size, size - 1
    return {
        "SIZE": size,
        "AREA": area,
        "BOARD": Bits(sum((1 << size) - 1 << 8 * row for row in range(size))),
        "CORNERS": Bits(sum(1 << square for square in (0, last, 8 * last, 9 * last))),
        "VARIANT": f"{size}x{size}",
        "CELLS": Grid(
            size,
            size,
            contents={".": "empty", "X": "black disc", "O": "white disc"},
            glyphs={symbol.upper(): glyph for symbol, glyph in STONES.items()},
            players={"X": "black (X)", "O": "white (O)"},
            row_names="12345678"[:size],
            column_names=COLUMNS[:size],
        ),
        "VALUE_LIMIT": area,
        "MAX_MOVES": 8 * area // 11,
        "MAX_PLIES": 2 * area,
    }


Position = board(8)


# Text

BLACK, WHITE, EMPTY = "x*", "o", "-."
"""The symbols of a black disc, a white disc, and an empty square."""


def start(variant: str = "") -> Discs:
    """Return the first position of a board of a size such as ``6x6``; the usual one is 8x8."""
    cls = board.of(variant)
    low = 9 * (cls.SIZE // 2 - 1)
    return cls(Bits(1 << low + 1 | 1 << low + 8), Bits(1 << low | 1 << low + 9), False)


def parse_position(text: str, variant: str = "") -> Discs:
    """Read a board or a transcript (see the module's docstring)."""
    empty = start(variant)
    said = text.partition(";")[0].strip().lower()
    said = re.sub(r"\b[0-9]{1,2}\.(?=\s*[a-h])|(?<=[0-9s])-(?=[a-hp])", " ", said)
    is_transcript = not re.search("[xo*.]", said)
    return _parse_moves(said, empty) if is_transcript else _parse_board(said, empty)


def from_cells(contents: list[int], mover: str, start: Discs) -> Discs:
    return _parse_board(f"{''.join('-xo'[content] for content in contents)} {mover.lower()}", start)


def position_text(position: Discs) -> str:
    return f"{''.join('-XO'[content] for content in contents_of(position))} {mover(position)}"


def mover(position: Discs) -> str:
    return "XO"[position.white]


def parse_move(position: Discs, text: str) -> int:
    """Read a square such as ``f5``, or ``pass``."""
    said = text.lower()
    passes = said in ("pass", "ps", "pa", "--")
    if not passes and not re.fullmatch("[a-h][1-8]", said):
        raise PositionError(f"{quoted(text)} is not a move: a square such as f5, or pass")
    move = PASS if passes else COLUMNS.index(said[0]) + 8 * (int(said[1]) - 1)
    if not passes and not position.BOARD >> move & 1:
        last = f"{COLUMNS[position.SIZE - 1]}{position.SIZE}"
        raise PositionError(f"{text} is not on the board, whose squares are a1..{last}")
    if outcome(position)[0]:
        raise PositionError(f"{text} is played after the game is over")
    allowed = mobility(position)
    choices = [COLUMNS[n & 7] + str((n >> 3) + 1) for n in range(64) if allowed >> n & 1]
    where = f"{mover(position)} can move to {' '.join(choices)}"
    if passes:
        if choices:
            raise PositionError(f"{mover(position)} must not pass: {where}")
    elif (position.mine | position.theirs) >> move & 1:
        raise PositionError(f"{text}: there is a disc already")
    elif not choices:
        raise PositionError(f"{text}: {mover(position)} cannot move and has to pass")
    elif not allowed >> move & 1:
        raise PositionError(f"{text}: {mover(position)} turns nothing over there; {where}")
    return move


def move_text(position: Discs, move: int) -> str:
    return "pass" if move == PASS else f"{COLUMNS[move & 7]}{(move >> 3) + 1}"


def _parse_moves(text: str, position: Discs) -> Discs:
    found = re.findall(r"pass|ps|pa|--|[a-z][0-9]|[^\s,]+", text)
    for number, move in enumerate(found, 1):
        try:
            position = play_text(position, move)
        except PositionError as error:
            raise PositionError(f"move {number} of {quoted(text)}: {error}") from None
    return position


def play_text(position: Discs, text: str) -> Discs:
    """Return the position after a move; a pass before a square may be omitted."""
    if re.fullmatch("[a-h][1-8]", text.lower()) and legal_moves(position) == [PASS]:
        position = play(position, PASS)
    return play(position, parse_move(position, text))


def _parse_board(text: str, empty: Discs) -> Discs:
    size, area = empty.SIZE, empty.AREA
    said = re.fullmatch(r"(.*)[\s/]([xo*])(\s+to\s+move)?", text, re.DOTALL)
    if not said:
        raise PositionError(
            f"after the squares, say who is to move: X (black) or O (white), as in "
            f"{position_text(empty)}"
        )
    lines = ["".join(line.split()) for line in re.split(r"[/\n]", said[1])]
    lines = [line for line in lines if line not in ("", COLUMNS[:size])]
    if len(lines) > 1:
        lines = [line.removeprefix(str(number)) for number, line in enumerate(lines, 1)]
    for row, line in enumerate(lines):
        for at, symbol in enumerate(line):
            if symbol not in BLACK + WHITE + EMPTY:
                where = row * size + at if row else at
                raise PositionError(
                    f"{quoted(symbol)} on {_square(where, size)}: "
                    f"a square is one of X * (black), O (white), - . (empty)"
                )
    cells = "".join(lines)
    if len(cells) == area - 1:
        raise PositionError(
            f"there are {area - 1} squares, and a board of {size}x{size} has {area}; "
            f"or it is not said who is to move"
        )
    if len(cells) != area:
        raise PositionError(
            f"there are {len(cells)} squares; a board of {size}x{size} has {area}, "
            f"row by row from a1"
        )
    if len(lines) > 1:
        for number, line in enumerate(lines, 1):
            if len(lines) != size or len(line) != size:
                raise PositionError(
                    f"row {number} of {len(lines)} has {len(line)} squares; "
                    f"there are {size} rows of {size}"
                )
    black, white = (
        Bits(sum(1 << 8 * (n // size) + n % size for n, cell in enumerate(cells) if cell in side))
        for side in (BLACK, WHITE)
    )
    if said[2] in WHITE:
        return type(empty)(white, black, True)
    return type(empty)(black, white, False)


def _square(number: int, size: int) -> str:
    """Return the name of a square by its number in the text of a board."""
    row, column = divmod(number, size)
    return f"{COLUMNS[column]}{row + 1}" if row < size else f"place {number + 1}"
