"""Endings of suicide chess with one man each: a player who loses his man wins.

Rules: men move as in chess, but captures are compulsory, and kings are ordinary men; pawns can
promote to kings, too.  A player without a move draws, as both have the same number of men; in the
variant ``giveaway`` he wins.  Values: 1 a win, -1 a loss.

Squares are seen by the mover, with a1 0, h1 7 and h8 63, so that the pawns of both go up: every
move turns the board upside down.  A move is 64 times the man's kind after the move, plus its
square.  A pawn that has to be captured en passant is put on the square where that capture ends.
Layers are pairs of kinds, pairs with pawns last, and indices tell who has which kind.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from cutnode import Bits, PositionError, compiled, lowest_index, quoted, without_lowest
from cutnode.cells import Grid, variants
from cutnode.contract.verbs import NO_INDEX

DECISIVE = True
VALUE_LIMIT = 1
MAX_MOVES = 27
MAX_PLIES = 1000

KINDS, PAWN, TAKEN = "KQRBNP", 5, 64
STEPS = (
    *((0, 1), (1, 0), (0, -1), (-1, 0), (1, -1), (-1, -1), (-1, 1), (1, 1)),
    *((1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2)),
)
CAPTURES = (0, 8), (0, 8), (0, 4), (4, 8), (8, 16), (6, 8)
"""The range of the steps with which each kind captures; queens, rooks and bishops repeat them."""
FOURTH_ROW, END_ROWS = Bits(0xFF << 24), Bits(0xFF << 56 | 0xFF)

NAMES = {n: f"mover {n}" for n in KINDS} | {n.lower(): f"other {n}" for n in KINDS}
CELLS = Grid(8, 8, contents={".": "empty", **NAMES})

LAYERS = tuple((one, two) for two in range(6) for one in range(two + 1))
LAYER_NAMES = tuple(f"{KINDS[one]}v{KINDS[two]}" for one, two in LAYERS)
LAYER_SIZES = tuple(4096 if one == two else 8192 for one, two in LAYERS)


class Men(NamedTuple):
    """A position: the squares and the kinds of the mover's man and the opponent's man."""

    mine: int = 9
    theirs: int = 54
    kind: int = PAWN
    other: int = PAWN


@compiled
def cell(position, index):
    square = index ^ 56
    if square == position.mine:
        return 1 + position.kind
    return 7 + position.other if square == position.theirs else 0


@compiled
def attacked(kind, square, other):
    """Return the squares where a man captures; *other* blocks its lines."""
    found = Bits(0)
    for number in range(CAPTURES[kind][0], CAPTURES[kind][1]):
        right, up = STEPS[number]
        column, row = square % 8 + right, square // 8 + up
        while 0 <= column < 8 and 0 <= row < 8:
            found |= Bits(1) << Bits(8 * row + column)
            if not 1 <= kind <= 3 or 8 * row + column == other:
                break
            column, row = column + right, row + up
    return found


@compiled
def targets(position):
    """Return the squares to which the mover's man can go."""
    theirs = Bits(1) << Bits(position.theirs)
    found = attacked(position.kind, position.mine, position.theirs)
    if found & theirs or position.kind != PAWN:
        return theirs if found & theirs else found
    one = (Bits(1) << Bits(position.mine + 8)) & ~theirs
    return one | ((one << Bits(8)) & FOURTH_ROW & ~theirs)


@compiled
def moves(position, buffer, at):
    left = targets(position)
    while left:
        target = lowest_index(left)
        left = without_lowest(left)
        promotes = position.kind == PAWN and target >= 56
        for kind in range(5) if promotes else range(position.kind, position.kind + 1):
            buffer[at] = 64 * kind + target
            at += 1
    return at


@compiled
def play(position, move):
    kind, square, theirs = move >> 6, move & 63, position.theirs
    beside = theirs // 8 == square // 8 and abs(theirs - square) == 1
    if kind == PAWN == position.other and beside and square == position.mine + 16:
        square -= 8
    mine = TAKEN if square == theirs else theirs ^ 56
    return position._replace(mine=mine, theirs=square ^ 56, kind=position.other, other=kind)


@compiled
def outcome(position):
    if position.mine == TAKEN:
        return True, 1
    stuck = targets(position) == Bits(0)
    return stuck, position.STALEMATE if stuck else 0


@compiled
def reversible(position, child):
    return position.kind != PAWN


@compiled
def layer(position):
    one, two = min(position.kind, position.other), max(position.kind, position.other)
    return two * (two + 1) // 2 + one


@compiled
def index(position):
    mine = Bits(position.kind == PAWN) << Bits(position.mine)
    theirs = Bits(position.other == PAWN) << Bits(position.theirs)
    if position.mine == position.theirs or (mine | theirs) & END_ROWS:
        return NO_INDEX
    return 4096 * (position.kind > position.other) + 64 * position.mine + position.theirs


@compiled
def position_at(example, layer, index):
    kind, other = LAYERS[layer]
    if index >= 4096:
        kind, other = other, kind
    return example._replace(mine=index // 64 % 64, theirs=index % 64, kind=kind, other=other)


@variants(Men, usual="suicide", read=str)
def rules(name: str) -> dict[str, Any]:
    if name not in ("suicide", "giveaway"):
        raise PositionError(f"{quoted(name)} is not suicide or giveaway")
    return {"STALEMATE": int(name == "giveaway"), "VARIANT": name}


Position = rules("suicide")
