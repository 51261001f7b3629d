"""All endings with three and four men: their numbering for a tablebase, and retreats.

A layer is one material, whoever has which men: ``KQvKR`` has all positions with a queen against a
rook.  It comes after the layers to which captures and promotions lead.  An index is

    ((side * kings + pair of kings) * squares of one man + his) * squares of the other + his

where *side* is 1 if the mover has the weaker men (with the same men on both sides there is none),
and the men come in the order of their names; for two men of a kind the pairs of squares are
numbered.  The board is seen by the mover.  Symmetric positions share an index: the pair of kings
determines how the board is turned.  Without pawns that leaves 462 pairs of the mover's king and the
other, with the mover's on one of ten squares::

    . . . . . . . .
    . . . . . . . .
    . . . . . . . .
    . . . . . . . .
    . . . x . . . .
    . . x x . . . .
    . x x x . . . .
    x x x x . . . .

and where both kings are on the diagonal from a1 to h8, the lower index of the position and of its
reflection counts.  With pawns only left and right are symmetric, and there are 1806 pairs.

The last indices of ``KPvKP`` are the positions in which a pawn that has just made a double step may
be captured en passant.  Positions with castling rights have no index, and no index leads to one.
"""

from __future__ import annotations

import itertools

import numpy as np

from cutnode.compiler.jit import compiled
from cutnode.contract.bits import (
    Bits,
    bytes_reversed,
    lowest,
    lowest_index,
    popcount,
    without_lowest,
)
from cutnode.contract.constants import Constant
from cutnode.contract.verbs import NO_INDEX
from cutnode.games.chess.attacks import (
    between,
    bishop_attacks,
    king_attacks,
    knight_attacks,
    pawn_attacks,
    rook_attacks,
)
from cutnode.games.chess.boards import pawn_attacks_down, sides
from cutnode.games.chess.exchange import kind_at
from cutnode.games.chess.generator import (
    BISHOP,
    KING,
    KNIGHT,
    PAWN,
    QUEEN,
    ROOK,
    passant_is_safe,
)
from cutnode.games.chess.squares import ALL, LAST_ROW, UPSIDE_DOWN

__all__ = [
    "LAYER_NAMES",
    "LAYER_SIZES",
    "ending_at",
    "index",
    "layer",
    "retreats",
    "taken_back",
]

NO_LAYER = -1

LETTERS = "PNBRQ"
MEN_AT_MOST = 4

Material = tuple[tuple[int, ...], tuple[int, ...]]
"""The men of both sides without the kings, the stronger ones first."""


def materials() -> list[Material]:
    """Return the materials of all layers in order."""
    kinds = range(QUEEN, PAWN - 1, -1)
    pairs = list(itertools.combinations_with_replacement(kinds, 2))
    found: list[Material] = [((), ())]
    found += [((kind,), ()) for kind in kinds]
    found += [(pair, ()) for pair in pairs]
    found += [((strong,), (weak,)) for strong, weak in pairs]
    return sorted(found, key=lambda sides: (sum(map(len, sides)), sum(sides, ()).count(PAWN)))


def name_of(material: Material) -> str:
    strong, weak = ("".join(LETTERS[kind] for kind in side) for side in material)
    return f"K{strong}vK{weak}"


MATERIALS = materials()
LAYER_NAMES = tuple(map(name_of, MATERIALS))
PAWNS_ON_BOTH_SIDES = MATERIALS.index(((PAWN,), (PAWN,)))

MINE, THEIRS, NOBODY = 0, 5, 10
"""Added to the kind of a man of the mover's or of the other's; and the number of no man."""


def material_numbers() -> list[int]:
    """Return for two men, in any order, the layer, the side, and whether they are exchanged.

    The number is four times the layer plus twice the side plus one for an exchange.
    """
    numbers = [0] * 121
    for layer, (strong, weak) in enumerate(MATERIALS):
        for side in (1, 0):
            owners = (THEIRS, MINE) if side else (MINE, THEIRS)
            men = [kind + owners[0] for kind in strong] + [kind + owners[1] for kind in weak]
            men += [NOBODY] * (2 - len(men))
            if side and strong == weak:
                continue
            numbers[11 * men[1] + men[0]] = 4 * layer + 2 * side + 1
            numbers[11 * men[0] + men[1]] = 4 * layer + 2 * side
    return numbers


def turn_square(square: int, symmetry: int) -> int:
    """Return the square after a symmetry: files reversed (1), rows (2), then both exchanged (4)."""
    square ^= 7 * (symmetry & 1) ^ 56 * (symmetry >> 1 & 1)
    return (square >> 3 | square << 3) & 63 if symmetry & 4 else square


def king_pairs(pawns: bool) -> tuple[list[tuple[int, int]], list[int]]:
    """Return the pairs of kings, and for any two squares the number of the pair and the symmetry.

    The number is eight times the pair's number plus the symmetry, or -1 for kings next to each
    other.  The last pairs without pawns have both kings on the diagonal.
    """
    pairs: list[tuple[int, int]] = []
    for mine, other in itertools.product(range(64), repeat=2):
        row, file = divmod(mine, 8)
        beside = max(abs(row - other // 8), abs(file - other % 8)) < 2
        if file < 4 and not beside:
            below = row < file or (row == file and other // 8 <= other % 8)
            if pawns or (row < 4 and below):
                pairs.append((mine, other))
    if not pawns:
        pairs.sort(key=on_diagonal)
    numbers = [-1] * 4096
    for number, pair in enumerate(pairs):
        for symmetry in range(1 if pawns else 7, -1, -1):
            # The symmetries that turn a board to the pair are the inverses of those from it.
            mine, other = (turned_back(square, symmetry) for square in pair)
            numbers[64 * mine + other] = 8 * number + symmetry
    return pairs, numbers


def turned_back(square: int, symmetry: int) -> int:
    if symmetry & 4:
        square = (square >> 3 | square << 3) & 63
    return turn_square(square, symmetry & 3)


def on_diagonal(pair: tuple[int, int]) -> bool:
    return all(square % 9 == 0 for square in pair)


PAIRS, NUMBERS = king_pairs(pawns=False)
PAWN_PAIRS, PAWN_NUMBERS = king_pairs(pawns=True)
PAWNLESS = len(PAIRS)
DIAGONAL = sum(not on_diagonal(pair) for pair in PAIRS)
"""The first pair of kings without pawns that has both on the diagonal."""

FIELDS = 8


def layouts() -> list[list[int]]:
    """Return for each layer the parts of its indices.

    These are the number of sides, of pairs of kings, of squares of the first man and of the second,
    what is subtracted from their squares, and the men if the mover has the stronger ones.
    """
    found = []
    for strong, weak in MATERIALS:
        men = [kind + MINE for kind in strong] + [kind + THEIRS for kind in weak]
        men += [NOBODY] * (2 - len(men))
        ranges = [1 if man == NOBODY else 48 if man % 5 == PAWN else 64 for man in men]
        lowest = [8 if size == 48 else 0 for size in ranges]
        if men[0] == men[1] != NOBODY:
            ranges = [ranges[0] * (ranges[0] - 1) // 2, 1]
        kings = PAWN_PAIRS if PAWN in strong + weak else PAIRS
        found.append([1 if strong == weak else 2, len(kings), *ranges, *lowest, *men])
    return found


PASSANT_SQUARES = 16
"""Two for each file of the capturing pawn: the other pawn is to its left or to its right."""

LAYOUTS = layouts()
PASSANTS = LAYOUTS[PAWNS_ON_BOTH_SIDES][1] * 48 * 48
"""The first index of positions with a capture en passant."""

LAYER_SIZES = tuple(
    layout[0] * layout[1] * layout[2] * layout[3]
    + (layout[1] * PASSANT_SQUARES if layer == PAWNS_ON_BOTH_SIDES else 0)
    for layer, layout in enumerate(LAYOUTS)
)

MATERIAL = Constant("chess.endings.material", np.array(material_numbers()))
LAYOUT = Constant("chess.endings.layout", np.array(LAYOUTS).ravel())
KINGS = Constant("chess.endings.kings", np.array(NUMBERS + PAWN_NUMBERS, np.int16))
KING_SQUARES = Constant("chess.endings.squares", np.array(PAIRS + PAWN_PAIRS, np.int8).ravel())
TWO = [(low, high) for high in range(64) for low in range(high)]
PAIR_SQUARES = Constant("chess.endings.pairs", np.array(TWO, np.int8).ravel())


# Index and position


@compiled
def layer(position):
    """Return the number of the material, or none with more men or a castling right."""
    men = men_of(position)
    if position.castling or popcount(men) > MEN_AT_MOST - 2:
        return NO_LAYER
    return MATERIAL[material_of(position, lowest(men), men ^ lowest(men))] >> 2


@compiled
def men_of(position):
    """Return all men but the kings."""
    return (position.mine | position.theirs) & ~position.kings


@compiled
def material_of(position, first, second):
    return 11 * man_on(position, first) + man_on(position, second)


@compiled
def man_on(position, bit):
    """Return the kind of a man and who has it; nobody if there is none."""
    if bit == Bits(0):
        return NOBODY
    return kind_at(position, bit) + (THEIRS if position.theirs & bit else MINE)


@compiled
def index(position):
    men = men_of(position)
    if position.castling or popcount(men) > MEN_AT_MOST - 2:
        return NO_INDEX
    first = lowest(men)
    second = men ^ first
    material = MATERIAL[material_of(position, first, second)]
    board = 4096 if position.pawns else 0
    mine = lowest_index(position.kings & position.mine)
    kings = KINGS[board + 64 * mine + lowest_index(position.kings & position.theirs)]
    if kings < 0:
        return NO_INDEX
    symmetry, kings = kings & 7, kings >> 3
    one, two = turned_square(first, symmetry), turned_square(second, symmetry)
    if material & 1:
        one, two = two, one
    if position.passant:
        to_the_right = 1 if two > one else 0
        return PASSANTS + PASSANT_SQUARES * kings + 2 * (one & 7) + to_the_right
    number = numbered(material, kings, one, two)
    if kings >= DIAGONAL and board == 0:
        return min(number, numbered(material, kings, reflected(one), reflected(two)))
    return number


@compiled
def turned_square(bit, symmetry):
    """Return the square of a man after a symmetry; 0 if there is none."""
    square = lowest_index(bit) ^ (7 * (symmetry & 1)) ^ (28 * (symmetry & 2))
    square = reflected(square) if symmetry & 4 else square
    return square if bit else 0


@compiled
def reflected(square):
    """Return the square with row and file exchanged."""
    return ((square >> 3) | (square << 3)) & 63


@compiled
def numbered(material, kings, one, two):
    at = FIELDS * (material >> 2)
    one -= LAYOUT[at + 4]
    two -= LAYOUT[at + 5]
    if LAYOUT[at + 6] == LAYOUT[at + 7]:
        low, high = min(one, two), max(one, two)
        one, two = ((high * (high - 1)) >> 1) + low, 0
    kings += ((material >> 1) & 1) * LAYOUT[at + 1]
    return (kings * LAYOUT[at + 2] + one) * LAYOUT[at + 3] + two


@compiled
def divided(number, size):
    """Return quotient and remainder."""
    quotient = number // Bits(size)
    return quotient, 0 + (number - quotient * Bits(size))


@compiled
def ending_at(example, layer, index):
    """Return the position of an index, without sums; if there is none, one with castling rights."""
    if layer == PAWNS_ON_BOTH_SIDES and index >= PASSANTS:
        return passant_at(example, index - PASSANTS)
    at = FIELDS * layer
    rest, two = divided(Bits(index), LAYOUT[at + 3])
    rest, one = divided(rest, LAYOUT[at + 2])
    side, kings = divided(rest, LAYOUT[at + 1])
    first, second = LAYOUT[at + 6], LAYOUT[at + 7]
    if first == second:
        one, two = PAIR_SQUARES[2 * one], PAIR_SQUARES[2 * one + 1]
    if side:
        first, second = exchanged(first), exchanged(second)
    one += LAYOUT[at + 4]
    two += LAYOUT[at + 5]
    board = 0 if LAYOUT[at + 4] + LAYOUT[at + 5] == 0 else PAWNLESS
    return set_out(example, 2 * (board + kings), first, one, second, two, Bits(0))


@compiled
def exchanged(man):
    """Return the other player's man of the same kind."""
    if man == NOBODY:
        return man
    return man + THEIRS if man < THEIRS else man - THEIRS


@compiled
def passant_at(example, number):
    """Return the position with a pawn that may be captured en passant."""
    kings = number // PASSANT_SQUARES
    one = 32 + ((number >> 1) & 7)
    two = one + 1 if number & 1 else one - 1
    passed = Bits(1) << Bits(two + 8)
    position = set_out(
        example, 2 * (PAWNLESS + kings), PAWN + MINE, one, PAWN + THEIRS, two & 63, passed
    )
    king = lowest_index(position.kings & position.mine)
    occupied = position.mine | position.theirs
    way = passed | passed << Bits(8)
    beside = sides(Bits(1) << Bits(one)) & position.pawns & position.theirs
    if beside and not occupied & way and passant_is_safe(position, king, occupied, one, two + 8):
        return position
    return position._replace(castling=ALL)


@compiled
def set_out(example, kings, first, one, second, two, passant):
    """Return the position with kings on the squares of a pair, and at most two other men."""
    mine = Bits(1) << Bits(KING_SQUARES[kings])
    theirs = Bits(1) << Bits(KING_SQUARES[kings + 1])
    kings = mine | theirs
    left = Bits(0) if first == NOBODY else Bits(1) << Bits(one)
    right = Bits(0) if second == NOBODY else Bits(1) << Bits(two)
    several = (kings & (left | right)) | (left & right)
    mine |= (left if first < THEIRS else Bits(0)) | (right if second < THEIRS else Bits(0))
    theirs |= (left if first >= THEIRS else Bits(0)) | (right if second >= THEIRS else Bits(0))
    position = example._replace(
        mine=mine,
        theirs=theirs,
        pawns=of_kind(PAWN, first, left, second, right),
        knights=of_kind(KNIGHT, first, left, second, right),
        bishops=of_kind(BISHOP, first, left, second, right),
        rooks=of_kind(ROOK, first, left, second, right),
        queens=of_kind(QUEEN, first, left, second, right),
        kings=kings,
        castling=Bits(0),
        passant=passant,
        clock=0,
        ply=0,
    )
    if several or exposed(position):
        return position._replace(castling=ALL)
    return position


@compiled
def of_kind(kind, first, left, second, right):
    found = left if first == kind or first == kind + THEIRS else Bits(0)
    return found | (right if second == kind or second == kind + THEIRS else Bits(0))


@compiled
def exposed(position):
    """Return whether the mover could capture the other king, which is not legal."""
    king = position.kings & position.theirs
    occupied = position.mine | position.theirs
    return attackers_of(position, position.mine, king, pawn_attacks_down(king), occupied)


@compiled
def attackers_of(position, men, king, pawn_squares, occupied):
    """Return the *men*, and the pawns on some squares, that attack a king of the other player's."""
    square = lowest_index(king)
    found = position.pawns & pawn_squares
    if position.knights:
        found |= seen_by(KNIGHT, square, occupied) & position.knights
    if position.bishops | position.queens:
        found |= seen_by(BISHOP, square, occupied) & (position.bishops | position.queens)
    if position.rooks | position.queens:
        found |= seen_by(ROOK, square, occupied) & (position.rooks | position.queens)
    return found & men


@compiled
def seen_by(kind, square, occupied):
    """Return where a man of a kind other than a pawn can go."""
    if kind == KNIGHT:
        return knight_attacks(square)
    if kind == KING:
        return king_attacks(square)
    found = Bits(0)
    if kind != ROOK:
        found = bishop_attacks(square, occupied)
    if kind != BISHOP:
        found |= rook_attacks(square, occupied)
    return found


# Retreats: a man of the other player goes back

MARKED_PASSANT = 1 << 12
"""Part of a retreat to a position in which a pawn might have been captured en passant."""

FOURTH_ROW = Bits(0xFF << 24)
FIRST_STEP = Bits(0xFF << 48)
"""The row where the other player's pawns begin."""


@compiled
def retreats(position, buffer, at):
    """Write retreats without captures and promotions, which lead to other layers.

    A number is the square of a man plus 64 times the square from which it came, as the mover sees
    them.
    """
    if position.passant:
        pawn = position.passant >> Bits(8)
        return write_retreats(position, pawn, PAWN, pawn << Bits(16), buffer, at)
    men = position.theirs
    while men:
        man = lowest(men)
        men ^= man
        kind = kind_at(position, man)
        at = write_retreats(position, man, kind, origins_of(position, man, kind), buffer, at)
    return at


@compiled
def origins_of(position, man, kind):
    """Return the squares from which a man of the other player's may have come without a capture."""
    occupied = position.mine | position.theirs
    if kind != PAWN:
        return seen_by(kind, lowest_index(man), occupied) & ~occupied
    one = (man << Bits(8)) & ~occupied & ~LAST_ROW
    two = (one << Bits(8)) & ~occupied & FIRST_STEP
    taker = sides(man) & position.pawns & position.mine
    if two and taker and can_pass(position, lowest_index(taker), lowest_index(man) + 8):
        return one  # a double step could be answered en passant now: another position
    return one | two


@compiled
def can_pass(position, taker, target):
    """Return whether the mover's pawn may capture another en passant, on the square *target*."""
    king = lowest_index(position.kings & position.mine)
    return passant_is_safe(position, king, position.mine | position.theirs, taker, target)


@compiled(inline=False)
def write_retreats(position, man, kind, origins, buffer, at):
    """Write retreats to squares from which the man and those behind it do not attack the king."""
    king = position.kings & position.mine
    square, above = lowest_index(king), pawn_attacks(king)
    occupied = (position.mine | position.theirs) ^ man
    origins &= ~(above if kind == PAWN else seen_by(kind, square, occupied))
    others = attackers_of(position, position.theirs ^ man, king, above, occupied)
    while others:
        origins &= between(square, lowest_index(others))
        others = without_lowest(others)
    while origins:
        origin = lowest_index(origins)
        origins = without_lowest(origins)
        number = (origin << 6) | lowest_index(man)
        buffer[at] = number
        at += 1
        if position.pawns & position.mine and may_pass_before(position, number):
            buffer[at] = MARKED_PASSANT | number
            at += 1
    return at


@compiled
def may_pass_before(position, number):
    """Return whether the other player may have passed up a capture en passant."""
    pawn = position.pawns & position.mine & FOURTH_ROW
    before = moved_back(position, number)
    takers = sides(pawn) & before.pawns & before.theirs
    behind = pawn >> Bits(8) | pawn >> Bits(16)
    if takers == Bits(0) or (before.mine | before.theirs) & behind:
        return False
    taker = lowest_index(takers) ^ UPSIDE_DOWN
    return can_pass(turned_over(before), taker, (lowest_index(pawn) - 8) ^ UPSIDE_DOWN)


@compiled
def moved_back(position, number):
    """Return the board with a man of the other player's moved back, still seen by the mover."""
    man = Bits(1) << Bits(number & 63)
    both = man | (Bits(1) << Bits((number >> 6) & 63))
    return position._replace(
        theirs=position.theirs ^ both,
        pawns=position.pawns ^ (both if position.pawns & man else Bits(0)),
        knights=position.knights ^ (both if position.knights & man else Bits(0)),
        bishops=position.bishops ^ (both if position.bishops & man else Bits(0)),
        rooks=position.rooks ^ (both if position.rooks & man else Bits(0)),
        queens=position.queens ^ (both if position.queens & man else Bits(0)),
        kings=position.kings ^ (both if position.kings & man else Bits(0)),
    )


@compiled
def turned_over(position):
    """Return the board as the other player sees it, without an en passant square."""
    return position._replace(
        mine=bytes_reversed(position.theirs),
        theirs=bytes_reversed(position.mine),
        pawns=bytes_reversed(position.pawns),
        knights=bytes_reversed(position.knights),
        bishops=bytes_reversed(position.bishops),
        rooks=bytes_reversed(position.rooks),
        queens=bytes_reversed(position.queens),
        kings=bytes_reversed(position.kings),
        passant=Bits(0),
        clock=0,
        ply=position.ply ^ 1,
    )


@compiled
def taken_back(position, number):
    """Return the position before a retreat, without sums."""
    before = turned_over(moved_back(position, number))
    if number < MARKED_PASSANT:
        return before
    return before._replace(passant=(before.pawns & before.theirs) << Bits(8))
