"""Dobutsu shogi ("animal chess", "let's catch the lion"), on a board of 3 columns and 4 rows.

Rules: each player has a lion, an elephant, a giraffe and a chick.  A man moves one cell, to one
that is empty or holds a man of the other player, which is captured.  The lion goes in all
directions, the elephant diagonally, the giraffe up, down and to the sides, the chick straight
ahead.  A chick that moves to the last row becomes a hen, which goes in all directions but
diagonally back.  A captured man changes sides: it goes into the hand of its captor (a hen as a
chick), who may drop it on any empty cell instead of moving.  A chick dropped on the last row stays
a chick, and two chicks may stand in a column.

Whoever takes the lion wins, and so does a player who brings his own lion to the last row where it
cannot be taken at once; where it can, the game continues.  A lion may be left to be taken.  A
player without a move loses.  (https://en.wikipedia.org/wiki/D%C5%8Dbutsu_sh%C5%8Dgi; the first
player loses in 78 plies, T. Tanaka, "An analysis of a board game Doubutsu Shogi", IPSJ SIG
Technical Report 2009-GI-22.)

Variants: ``drops``, the usual one, and ``vanish``, where captured men do not come back.

Values: 1 a win, 0 a draw, -1 a loss.

Text: the player to move, ``S`` (sente, who begins, below) or ``G`` (gote, above), the rows from the
top, and the men in hand.  Capital letters are sente's men, small letters gote's: ``L`` lion, ``E``
elephant, ``G`` giraffe, ``C`` chick, ``R`` hen, and ``-`` an empty cell, or an empty hand::

    S/gle/-c-/-C-/ELG/-
    G/-le/g--/-cG/EL-/c

or the moves from the start: ``b3xb2 b1b2`` (columns from ``a`` at the left, rows from 1 at the top;
the ``x`` of a capture may be omitted), and ``C*c1`` for a chick dropped on c1.

Encoding: a word for each player, as he sees the board.  Cells are numbered from his own side::

     9 10 11     the last row
     6  7  8
     3  4  5
     0  1  2

so steps ahead are +2, +3 and +4, and cell n is cell 11 - n to the other player: nothing is turned
when the turn changes.  A word consists of four boards of 16 bits, which say where men can go, and
above the twelve cells of three of them is the number of men in hand::

    bits  0..11    those that go straight ahead       lion  giraffe  chick  hen
    bits 12..13        elephants in hand
    bits 16..27    those that go diagonally ahead     lion  elephant        hen
    bits 28..29        giraffes in hand
    bits 32..43    those that go aside and back       lion  giraffe         hen
    bits 44..45        chicks in hand
    bits 48..59    those that go diagonally back      lion  elephant

At the start the first board is ``1 << 1 | 1 << 2 | 1 << 4``: lion, giraffe and chick.  A move is
16 times its direction plus its target cell; the eight directions are followed by drops of
elephants, giraffes and chicks.
"""

from __future__ import annotations

import itertools
import math
import re
from typing import Any, NamedTuple

import numpy as np

from cutnode import (
    Bits,
    PositionError,
    compiled,
    lowest_index,
    play_texts,
    popcount,
    quoted,
    without_lowest,
)
from cutnode.contract.cells import Grid
from cutnode.contract.constants import Constant
from cutnode.contract.notation import contents_of, prints_board
from cutnode.contract.variants import variants
from cutnode.contract.verbs import NO_INDEX

DECISIVE = True
VALUE_LIMIT = 1
UNIT = 100
MAX_MOVES = 77
"""The most retreats; there are at most 38 moves."""

BOARD = Bits(0xFFF)
LEFT, RIGHT = Bits(0o3333), Bits(0o6666)
"""The cells where steps to the left, or to the right, can end."""
LAST_ROW = Bits(0o7000)

STEPS = (3, 2, 4, -1, 1, -3, -4, -2)
"""Steps to the next cell: ahead, diagonally ahead, aside, and back in the reverse order."""
ABILITIES = (0, 1, 1, 2, 2, 2, 3, 3)
"""The board of the men that can go in each direction."""

FOUR = Bits(1 | 1 << 16 | 1 << 32 | 1 << 48)
"""The first cell in all four boards."""
BOARDS = Bits(BOARD * FOUR)
HANDS = Bits(3 << 12 | 3 << 28 | 3 << 44)

LION = FOUR
ELEPHANT = Bits(1 << 16 | 1 << 48)
GIRAFFE = Bits(1 | 1 << 32)
CHICK = Bits(1)
HEN = Bits(1 | 1 << 16 | 1 << 32)
MEN = (LION, ELEPHANT, GIRAFFE, CHICK, HEN)
LETTERS = "LEGCR"

HALF = 64
"""Moves from here on are in the last four directions."""
DROPS = 128
"""Moves from here on are drops."""


@prints_board
class Men(NamedTuple):
    """A position: the men of the mover and of the other, each as he sees them."""

    mine: Bits
    theirs: Bits
    second: bool
    """Whether gote is to move; matters for texts only."""


def step(cell: int, direction: int) -> int | None:
    """Return the cell next to one in a direction, if there is one."""
    row, column = divmod(cell, 3)
    up, aside = divmod(STEPS[direction] + 1, 3)
    row, column = row + up, column + aside - 1
    return 3 * row + column if 0 <= row < 4 and 0 <= column < 3 else None


def attackers(target: int) -> int:
    """Return the men that attack a cell, each where it has to stand: a word of a player."""
    return sum(
        1 << 16 * ABILITIES[direction] + cell
        for direction, cell in itertools.product(range(8), range(12))
        if step(cell, direction) == target
    )


ATTACKERS = Constant("dobutsu.attackers", np.array([attackers(n) for n in range(12)], np.uint64))


@compiled
def ahead(word):
    return word & BOARD


@compiled
def slanting(word):
    return (word >> Bits(16)) & BOARD


@compiled
def aside(word):
    return (word >> Bits(32)) & BOARD


@compiled
def backwards(word):
    return (word >> Bits(48)) & BOARD


@compiled
def occupied(word):
    return ahead(word) | slanting(word)


@compiled
def lion(word):
    return ahead(word) & backwards(word)


@compiled
def man_on(word, cell):
    """Return the abilities of the man on a cell, 0 if there is none."""
    return (word >> Bits(cell)) & FOUR


@compiled
def turned(word):
    """Return the men on the board as the other player sees them: each board in reverse order."""
    word = pairs_exchanged(word & BOARDS, Bits(8), Bits(0x00FF00FF00FF00FF))
    word = pairs_exchanged(word, Bits(4), Bits(0x0F0F0F0F0F0F0F0F))
    word = pairs_exchanged(word, Bits(2), Bits(0x3333333333333333))
    return pairs_exchanged(word, Bits(1), Bits(0x5555555555555555)) >> Bits(4)


@compiled
def pairs_exchanged(word, distance, low):
    """Exchange the bits of *low* with those at a *distance* above them."""
    return ((word >> distance) & low) | ((word & low) << distance)


@compiled
def other_lion(position):
    """Return the cell of the other lion, as the mover sees it."""
    return 11 - lowest_index(lion(position.theirs))


# The rules


@compiled
def cell(position, index):
    """Return 0 for an empty cell, 1 to 5 for a man of sente's, 6 to 10 for one of gote's."""
    below, above = position.mine, position.theirs
    if position.second:
        below, above = above, below
    place = 3 * (3 - index // 3) + index % 3
    man = man_on(below, place)
    if man:
        return 1 + kind_of(man)
    man = man_on(above, 11 - place)
    return 6 + kind_of(man) if man else 0


@compiled
def kind_of(man):
    """Return the number of a man in ``MEN``."""
    kind = 0
    kind = 1 if man == ELEPHANT else kind
    kind = 2 if man == GIRAFFE else kind
    kind = 3 if man == CHICK else kind
    return 4 if man == HEN else kind


@compiled
def steps_on(word):
    """Return where steps ahead, ahead-left, ahead-right and left end: four boards."""
    ends = (ahead(word) << Bits(3)) & BOARD
    ends |= ((slanting(word) << Bits(2)) & LEFT) << Bits(16)
    ends |= ((slanting(word) << Bits(4)) & RIGHT) << Bits(32)
    ends |= ((aside(word) >> Bits(1)) & LEFT) << Bits(48)
    return ends & ~(occupied(word) * FOUR)


@compiled
def steps_back(word):
    """Return where steps right, back, back-left and back-right end: four boards."""
    ends = (aside(word) << Bits(1)) & RIGHT
    ends |= (aside(word) >> Bits(3)) << Bits(16)
    ends |= ((backwards(word) >> Bits(4)) & LEFT) << Bits(32)
    ends |= ((backwards(word) >> Bits(2)) & RIGHT) << Bits(48)
    return ends & ~(occupied(word) * FOUR)


@compiled
def moves(position, buffer, at):
    """Write moves, those that take the lion first."""
    on, back = steps_on(position.mine), steps_back(position.mine)
    prey = FOUR << Bits(other_lion(position))
    at = write(on & prey, 0, buffer, at)
    at = write(back & prey, HALF, buffer, at)
    at = write(on & ~prey, 0, buffer, at)
    at = write(back & ~prey, HALF, buffer, at)
    if position.mine & HANDS:
        cells = empty(position.mine, position.theirs)
        for kind in range(3):
            if in_hand(position.mine, kind):
                at = write(cells, DROPS + 16 * kind, buffer, at)
    return at


@compiled
def empty(mine, theirs):
    """Return the empty cells as the owner of the first word sees them."""
    return BOARD & ~(occupied(mine) | turned(occupied(theirs)))


@compiled
def in_hand(word, kind):
    """Return how many elephants (0), giraffes (1) or chicks (2) are in hand."""
    return 0 + ((word >> Bits(12 + 16 * kind)) & Bits(3))


@compiled
def write(ends, base, buffer, at):
    while ends:
        buffer[at] = base + lowest_index(ends)
        ends = without_lowest(ends)
        at += 1
    return at


@compiled
def play(position, move):
    mine, theirs = position.mine, position.theirs
    direction, target = move >> 4, move & 15
    if move >= DROPS:
        kind = direction - 8
        mine = (mine - from_hand(kind)) | (dropped(kind) << Bits(target))
    else:
        source = target - STEPS[direction]
        man = man_on(mine, source)
        mine ^= man << Bits(source)
        if man == CHICK and target >= 9:
            man = HEN
        mine |= man << Bits(target)
        taken = man_on(theirs, 11 - target)
        if taken:
            theirs ^= taken << Bits(11 - target)
            if position.DROPS:
                mine += to_hand(taken)
    return position._replace(mine=theirs, theirs=mine, second=not position.second)


@compiled
def from_hand(kind):
    """Return one elephant (0), giraffe (1) or chick (2) in hand."""
    return Bits(1) << Bits(12 + 16 * kind)


@compiled
def to_hand(man):
    """Return a captured man as one in hand; nothing for the lion."""
    if man == LION:
        return Bits(0)
    if man == ELEPHANT:
        return from_hand(0)
    return from_hand(1) if man == GIRAFFE else from_hand(2)


@compiled
def dropped(kind):
    """Return a dropped man as one on the board."""
    if kind == 0:
        return ELEPHANT
    return GIRAFFE if kind == 1 else CHICK


@compiled
def outcome(position):
    """Return a loss if the lion is taken, theirs is safe on the last row, or there is no move."""
    mine = position.mine
    if lion(mine) == Bits(0):
        return True, -1
    if lion(position.theirs) & LAST_ROW and not takes_lion(position):
        return True, -1
    if mine & HANDS == Bits(0) and popcount(occupied(mine)) > 4:
        if steps_on(mine) | steps_back(mine) == Bits(0):
            return True, -1
    return False, 0


@compiled
def takes_lion(position):
    """Return whether the mover can take the lion."""
    return position.mine & Bits(ATTACKERS[other_lion(position)]) != Bits(0)


@compiled
def key(position):
    """Pack the whole position into a word; the highest bit tells gote's positions from sente's."""
    word = word_of(position, position.mine, position.theirs)
    return word | (Bits(position.second) << Bits(63))


@compiled
def word_of(position, mine, theirs):
    """Pack three boards that tell men apart, one of the other's men, and the mover's hand."""
    other = turned(theirs)
    men = mine | other
    third = (men ^ (men >> Bits(16))) & (BOARD << Bits(32))
    rest = men & (BOARD | BOARD << Bits(16) | HANDS)
    return rest | third | (occupied(other) << Bits(48))


@compiled
def reversible(position, child):
    """Return whether a move can be undone: drops bring captured men back, unless they vanish."""
    if position.DROPS:
        return True
    men = popcount(occupied(position.mine)) + popcount(occupied(position.theirs))
    return men == popcount(occupied(child.mine)) + popcount(occupied(child.theirs))


# Exact bounds and heuristics for search


@compiled
def bounds(position, alpha, beta):
    """Decide finished games, and positions in which the lion can be taken."""
    over, value = outcome(position)
    if over:
        return value, value
    return (1, 1) if takes_lion(position) else (-1, 1)


@compiled
def check(position):
    """Return whether the other player threatens to take the lion."""
    return position.theirs & Bits(ATTACKERS[11 - lowest_index(lion(position.mine))]) != Bits(0)


@compiled
def evaluate(position):
    """Score men on the board and in hand, and 5 for each cell to go to, own minus theirs."""
    return strength(position.mine) - strength(position.theirs)


@compiled
def strength(word):
    men = 250 * popcount(elephants_of(word)) + 300 * popcount(giraffes_of(word))
    men += 100 * popcount(chicks_of(word)) + 250 * popcount(chicks_of(word) & slanting(word))
    held = 250 * in_hand(word, 0) + 300 * in_hand(word, 1) + 100 * in_hand(word, 2)
    return men + held + 5 * (popcount(steps_on(word)) + popcount(steps_back(word)))


@compiled
def noisy(position, buffer, at):
    """Write captures."""
    mine = position.mine
    taken = occupied(turned(position.theirs)) * FOUR
    at = write(steps_on(mine) & taken, 0, buffer, at)
    return write(steps_back(mine) & taken, HALF, buffer, at)


@compiled
def gain(position, move):
    """Return what the other player loses by a capture, plus what the mover has in hand for it."""
    if move >= DROPS:
        return 0
    return worth(man_on(position.theirs, 11 - (move & 15)))


@compiled
def worth(man):
    if man == Bits(0):
        return 0
    if man == LION:
        return 10000
    if man == CHICK:
        return 200
    if man == HEN:
        return 450
    return 500 if man == ELEPHANT else 600


@compiled
def order(position, move, child):
    """Order captures first and drops last."""
    return gain(position, move) - (50 if move >= DROPS else 0)


# Equivalent positions


@compiled
def mirror(word):
    """Exchange left and right."""
    left = FOUR * Bits(0o1111)
    middle = FOUR * Bits(0o2222) | HANDS
    return (word & middle) | ((word & left) << Bits(2)) | ((word >> Bits(2)) & left)


@compiled
def canonical(position):
    """Return the smaller key of a position and its mirror image, the same for both players."""
    word = word_of(position, position.mine, position.theirs)
    image = word_of(position, mirror(position.mine), mirror(position.theirs))
    return (image, 1) if image < word else (word, 0)


MIRRORED = (0, 2, 1, 4, 3, 5, 7, 6, 8, 9, 10)
"""The directions, and drops, with left and right exchanged."""


@compiled
def canonical_move(position, move, symmetry):
    if symmetry == 0:
        return move
    direction, target = move >> 4, move & 15
    return 16 * MIRRORED[direction] + target + 2 - 2 * (target % 3)


# Tablebase: lions first, then elephants, giraffes and chicks on the remaining cells


def lion_pairs() -> list[tuple[int, int]]:
    """Return the cells of both lions, as the mover sees them, where the game can continue.

    They are not next to each other, nor is the other's on the last row: then the mover takes it at
    once, or has lost.  Of two mirror images one is kept; pairs that are their own come last.
    """
    pairs = [
        (mine, theirs)
        for mine, theirs in itertools.product(range(12), range(3, 12))
        if max(abs(mine // 3 - theirs // 3), abs(mine % 3 - theirs % 3)) > 1
    ]
    columns = [(mine % 3, theirs % 3) for mine, theirs in pairs]
    first = [pair for pair, found in zip(pairs, columns, strict=True) if found < (1, 1)]
    return first + [pair for pair, found in zip(pairs, columns, strict=True) if found == (1, 1)]


def triangle(count: int) -> int:
    """Return the number of pairs among *count*."""
    return count * (count - 1) // 2


def places(count: int, cells: int) -> int:
    """Return how many ways there are to put *count* identical men on cells."""
    return (1, cells, triangle(cells))[count]


def first_places(count: int, cells: int) -> int:
    """Return the first number of these ways; see :func:`places_of`."""
    return (triangle(cells) + cells, triangle(cells), 0)[count]


PAIRS = lion_pairs()
OWN_IMAGES = sum((mine % 3, theirs % 3) != (1, 1) for mine, theirs in PAIRS)
"""The first of the pairs of lions that are their own mirror images."""


def lions_numbered() -> list[int]:
    """Return for two cells the number of the pair, with a lowest bit that tells mirror images."""
    numbers = [-1] * 144
    for number, (mine, theirs) in enumerate(PAIRS):
        images = ((mine, theirs, 0), (mine + 2 - 2 * (mine % 3), theirs + 2 - 2 * (theirs % 3), 1))
        for left, right, mirrored in images[: 2 if number < OWN_IMAGES else 1]:
            numbers[12 * left + right] = 2 * number + mirrored
    return numbers


COUNTS = tuple(tuple(counts)[::-1] for counts in itertools.product(range(3), repeat=3))
"""The numbers of elephants, giraffes and chicks on the board that play can lead to."""

FIELDS = 5


def numbering(drops: bool) -> list[tuple[int, ...]]:
    """Return for each of ``COUNTS`` the first index, a correction, and the arrangements by kind.

    An index is ``((lions * elephants + e) * giraffes + g) * chicks + c``, where e, g and c number
    the arrangements of a kind on the remaining cells; these numbers do not begin with 0, for which
    the correction makes up.
    """
    found, start = [], 0
    for counts in COUNTS:
        sizes, firsts, cells = [], [], 10
        for kind, count in enumerate(counts):
            bits = (2 if drops else min(count, 1)) + (count if kind == 2 else 0)
            sizes.append(places(count, cells) << bits)
            firsts.append(first_places(count, cells) << bits)
            cells -= count
        _, giraffes, chicks = sizes
        correction = (firsts[0] * giraffes + firsts[1]) * chicks + firsts[2]
        found.append((start, correction, *sizes))
        start += len(PAIRS) * math.prod(sizes) if drops else 0
    return found


NUMBERS = Constant("dobutsu.numbers", np.array([numbering(True), numbering(False)]).ravel())
LIONS = Constant("dobutsu.lions", np.array(lions_numbered()))
TWO = [(low, high) for high in range(11) for low in range(high)]
LOW = Constant("dobutsu.low", np.array([low for low, _ in TWO]))
HIGH = Constant("dobutsu.high", np.array([high for _, high in TWO]))
LION_CELLS = Constant("dobutsu.lion_cells", np.array(PAIRS).ravel())


@compiled
def layer(position):
    """Return the number of ``COUNTS`` if men vanish, else 0."""
    if position.DROPS:
        return 0
    men = position.mine | turned(position.theirs)
    return counts_number(elephants_of(men), giraffes_of(men), chicks_of(men))


@compiled
def counts_number(elephants, giraffes, chicks):
    return popcount(elephants) + 3 * popcount(giraffes) + 9 * popcount(chicks)


@compiled
def elephants_of(men):
    return backwards(men) & ~ahead(men)


@compiled
def giraffes_of(men):
    return aside(men) & ~slanting(men)


@compiled
def chicks_of(men):
    """Return chicks and hens."""
    return ahead(men) & ~backwards(men) & ~giraffes_of(men)


@compiled
def index(position):
    """Return the number of a position; none where the mover can take the lion, or has lost."""
    mine, theirs = position.mine, position.theirs
    if takes_lion(position) or lion(mine) == Bits(0):
        return NO_INDEX
    lions = LIONS[12 * lowest_index(lion(mine)) + other_lion(position)]
    if lions < 0:
        return NO_INDEX
    if lions & 1:
        mine, theirs = mirror(mine), mirror(theirs)
    number = number_of(position, lions >> 1, mine, theirs)
    if lions >> 1 >= OWN_IMAGES:
        return min(number, number_of(position, lions >> 1, mirror(mine), mirror(theirs)))
    return number


@compiled
def number_of(position, lions, mine, theirs):
    other = turned(theirs)
    men = mine | other
    owned = occupied(other)
    elephants, giraffes, chicks = elephants_of(men), giraffes_of(men), chicks_of(men)
    hens = chicks & slanting(men)
    at = position.NUMBERING + FIELDS * counts_number(elephants, giraffes, chicks)

    cells = BOARD & ~lion(men)
    e = arrangement(position, elephants, owned | hands(mine, theirs, 0), cells)
    cells &= ~elephants
    g = arrangement(position, giraffes, owned | hands(mine, theirs, 1), cells)
    cells &= ~giraffes
    c = arrangement(position, chicks, owned | hands(mine, theirs, 2), cells)
    c = (c << popcount(chicks)) | of_two(chicks, hens)
    number = (lions * NUMBERS[at + 2] + e) * NUMBERS[at + 3] + g
    return number * NUMBERS[at + 4] + c + NUMBERS[at] - NUMBERS[at + 1]


@compiled
def hands(mine, theirs, kind):
    """Return bits above the board for men in hand; the other player's, which are set, come last."""
    bits = (Bits(1) << Bits(in_hand(theirs, kind))) - Bits(1)
    return bits << Bits(12 + in_hand(mine, kind))


@compiled
def of_two(men, some):
    """Return two bits: which of two men are among *some*.  Men in hand follow those on board."""
    men |= Bits(3 << 12)
    low, high = lowest_index(men), lowest_index(without_lowest(men))
    return (0 + ((some >> Bits(low)) & Bits(1))) | ((0 + ((some >> Bits(high)) & Bits(1))) << 1)


@compiled
def arrangement(position, men, owned, cells):
    """Return where two identical men are, among the remaining *cells*, and whose they are.

    Unless men change sides, the owner of the first determines the owner of the second.
    """
    shift = owner_bits(position, popcount(men))
    return (places_of(men, cells) << shift) | (of_two(men, owned) & ((1 << shift) - 1))


@compiled
def owner_bits(position, count):
    return 2 if position.DROPS else min(count, 1)


@compiled
def places_of(men, cells):
    """Number pairs of places: (0, 1), (0, 2), (1, 2), (0, 3), ...; the last place is the hand."""
    men |= Bits(3 << 12)
    low, high = lowest_index(men), lowest_index(without_lowest(men))
    a = popcount(cells & ((Bits(1) << Bits(low)) - Bits(1)))
    b = popcount(cells & ((Bits(1) << Bits(high)) - Bits(1)))
    return ((b * (b - 1)) >> 1) + a


@compiled
def position_at(example, layer, index):
    counts = counts_at(example, layer, index)
    at = example.NUMBERING + FIELDS * counts
    rest = Bits(index - NUMBERS[at])
    rest, c = divided(rest, NUMBERS[at + 4])
    rest, g = divided(rest, NUMBERS[at + 3])
    lions, e = divided(rest, NUMBERS[at + 2])
    chicks = counts // 9
    giraffes = counts // 3 - 3 * chicks
    elephants = counts - 3 * giraffes - 9 * chicks

    mine, theirs = Bits(0), Bits(0)
    hens = c & ((1 << chicks) - 1)
    mine, theirs = put_two(example, mine, theirs, 2, chicks, c >> chicks, hens)
    mine, theirs = put_two(example, mine, theirs, 1, giraffes, g, 0)
    mine, theirs = put_two(example, mine, theirs, 0, elephants, e, 0)
    mine, theirs = with_lions(mine, theirs, 0 + 2 * lions)
    theirs = turned(theirs) | (theirs & HANDS)
    return example._replace(mine=mine, theirs=theirs, second=False)


@compiled
def with_lions(mine, theirs, at):
    """Return the men with both lions of a pair."""
    my_lion, other = LION_CELLS[at], LION_CELLS[at + 1]
    for cell in (min(my_lion, other), max(my_lion, other)):
        mine, theirs = opened(mine, cell), opened(theirs, cell)
    return mine | (LION << Bits(my_lion)), theirs | (LION << Bits(other))


@compiled
def counts_at(example, layer, index):
    """Return the number of ``COUNTS`` of an index."""
    if not example.DROPS:
        return layer
    low, high = 0, len(COUNTS)
    while high - low > 1:
        middle = (low + high) >> 1
        if NUMBERS[FIELDS * middle] <= index:
            low = middle
        else:
            high = middle
    return low


@compiled
def put_two(position, mine, theirs, kind, count, number, hens):
    """Invert :func:`arrangement`, on cells from which the other men's are left out.

    Each man that is put on the board inserts a cell between the cells of the men put before.
    """
    shift = owner_bits(position, count)
    owners, place = number & ((1 << shift) - 1), number >> shift
    if not position.DROPS:
        owners |= (1 - owners) << 1
    low = LOW[place] if count == 2 else place
    high = HIGH[place] if count == 2 else 0
    mine, theirs = put(position, mine, theirs, kind, count > 0, low, owners & 1, hens & 1)
    return put(position, mine, theirs, kind, count > 1, high, owners >> 1, hens >> 1)


@compiled
def put(position, mine, theirs, kind, on_board, cell, owner, hen):
    if on_board:
        man = (HEN if hen else dropped(kind)) << Bits(cell)
        mine, theirs = opened(mine, cell), opened(theirs, cell)
    else:
        man = from_hand(kind) if position.DROPS else Bits(0)
    if owner:
        return mine, theirs + man
    return mine + man, theirs


@compiled
def opened(word, cell):
    """Return the men with an empty cell inserted before those from a cell on."""
    before = ((Bits(1) << Bits(cell)) - Bits(1)) * FOUR
    return (word & (before | HANDS)) | ((word & ~before & BOARDS) << Bits(1))


@compiled
def divided(number, size):
    """Return quotient and remainder."""
    quotient = number // Bits(size)
    return quotient, 0 + (number - quotient * Bits(size))


# Retreats: a man of the other player goes back, and perhaps returns what it captured

TAKEN = 128
"""For each of these a retreat returns a man: elephant, giraffe, chick or hen."""
PROMOTED = 5 * TAKEN
"""Retreats from here on undo a promotion."""
DROPPED = 2 * PROMOTED
"""Retreats from here on undo a drop."""


@compiled
def retreats(position, buffer, at):
    """Write the retreats of the other player, who made the last move, as he sees the board."""
    word = position.theirs
    free = empty(word, position.mine) * FOUR
    chicks = ahead(word) & ~aside(word) & ~slanting(word)
    hens = ahead(word) & aside(word) & slanting(word) & ~backwards(word)
    down = ((ahead(word) & ~(chicks & LAST_ROW)) >> Bits(3)) & BOARD
    down |= ((slanting(word) & LEFT) >> Bits(2)) << Bits(16)
    down |= ((slanting(word) & RIGHT) >> Bits(4)) << Bits(32)
    down |= ((aside(word) & LEFT) << Bits(1)) << Bits(48)
    up = (aside(word) & RIGHT) >> Bits(1)
    up |= ((aside(word) << Bits(3)) & BOARD) << Bits(16)
    up |= (((backwards(word) & LEFT) << Bits(4)) & BOARD) << Bits(32)
    up |= (((backwards(word) & RIGHT) << Bits(2)) & BOARD) << Bits(48)
    down &= free
    up &= free
    promoted = ((hens & LAST_ROW) >> Bits(3)) & free
    for taken in range(5):
        if taken == 0 or (position.DROPS and in_hand(word, min(taken - 1, 2))):
            at = write(down, TAKEN * taken, buffer, at)
            at = write(up, TAKEN * taken + HALF, buffer, at)
            at = write(promoted, PROMOTED + TAKEN * taken, buffer, at)
    if position.DROPS:
        at = write(elephants_of(word), DROPPED, buffer, at)
        at = write(giraffes_of(word), DROPPED + 16, buffer, at)
        at = write(chicks, DROPPED + 32, buffer, at)
    return at


@compiled
def retreat(position, number):
    mine, theirs = position.mine, position.theirs
    direction, cell = (number >> 4) & 7, number & 15
    if number >= DROPPED:
        theirs ^= dropped(direction) << Bits(cell)
        theirs += from_hand(direction)
    else:
        target = cell + STEPS[direction]
        man = man_on(theirs, target)
        theirs ^= man << Bits(target)
        if number >= PROMOTED:
            man = CHICK
            number -= PROMOTED
        theirs |= man << Bits(cell)
        taken = number >> 7
        if taken:
            theirs -= from_hand(min(taken - 1, 2))
            man = HEN if taken == 4 else dropped(taken - 1)
            mine |= man << Bits(11 - target)
    return position._replace(mine=theirs, theirs=mine, second=not position.second)


# The two rule sets


def _drops(variant: str) -> bool:
    if variant not in ("drops", "vanish"):
        raise PositionError(f"{quoted(variant)} is not a variant; there are drops and vanish")
    return variant == "drops"


VARIANTS = "drops", "vanish"


@variants(
    Men,
    usual="drops",
    read=_drops,
    about="drops, or vanish, where men that are taken do not come back: vanish",
)
def rules(drops: bool) -> dict[str, Any]:
    """Return the constants of the usual rules, or of those where captured men vanish."""
    sizes = [len(PAIRS) * math.prod(sizes) for _, _, *sizes in numbering(drops)]
    names = [f"{e} elephants, {g} giraffes, {c} chicks" for e, g, c in COUNTS]
    return {
        "DROPS": drops,
        "NUMBERING": 0 if drops else FIELDS * len(COUNTS),
        "LAYER_SIZES": (sum(sizes),) if drops else tuple(sizes),
        "LAYER_NAMES": ("all",) if drops else tuple(names),
        "VARIANT": "drops" if drops else "vanish",
    }


Position = rules(True)


# Text

PLAYERS = {"S": "sente (S)", "G": "gote (G)"}
NAMES = ("lion", "elephant", "giraffe", "chick", "hen")

CELLS = Grid(
    4,
    3,
    contents={
        "-": "empty",
        **{letter: f"sente {name}" for letter, name in zip(LETTERS, NAMES, strict=True)},
        **{letter.lower(): f"gote {name}" for letter, name in zip(LETTERS, NAMES, strict=True)},
    },
    players=PLAYERS,
    row_names="1234",
    column_names="abc",
)

MOVE_PATTERN = r"[a-cA-C][1-4][xX]?[a-cA-C][1-4]|[cegCEG]\*[a-cA-C][1-4]|[^\s,]+"


def start(variant: str = "") -> Men:
    """Return the first position of a variant, ``drops`` (the usual one) or ``vanish``."""
    return _parse_board("S/gle/-c-/-C-/ELG/-", rules.of(variant))


def mover(position: Men) -> str:
    return "SG"[position.second]


def hands_text(position: Men) -> str:
    """Return the men in hand: sente's as capital letters, then gote's as small ones."""
    below, above = position.mine, position.theirs
    if position.second:
        below, above = above, below
    large, small = (
        "".join(LETTERS[1 + kind] * in_hand(word, kind) for kind in (2, 0, 1))
        for word in (below, above)
    )
    return large + small.lower() or "-"


def caption(position: Men) -> str:
    """Name the men in hand, and who is to move."""
    return f"in hand: {hands_text(position)}\n{PLAYERS[mover(position)]} to move"


def position_text(position: Men) -> str:
    board = "".join(CELLS.symbols(contents_of(position)))
    rows = "/".join(board[row.start : row.stop] for row in CELLS.rows)
    return f"{mover(position)}/{rows}/{hands_text(position)}"


def from_cells(contents: list[int], mover: str, start: Men) -> Men:
    """Return the position with these men; missing ones are in the hand of the player who waits."""
    symbols = CELLS.symbols(contents)
    held = ""
    if start.DROPS:
        men = "".join(symbols).upper().replace("R", "C")
        held = "".join(letter * (2 - men.count(letter)) for letter in "CEG")
    rows = "/".join("".join(symbols[row.start : row.stop]) for row in CELLS.rows)
    held = held.lower() if mover == "S" else held
    return _parse_board(f"{mover}/{rows}/{held or '-'}", type(start))


def parse_position(text: str, variant: str = "") -> Men:
    """Read a board or the moves from the start (see the module's docstring)."""
    if "/" in text or "\n" in text.strip():
        return _parse_board(text, rules.of(variant))
    return play_texts(start(variant), re.findall(MOVE_PATTERN, text), text)


def _parse_board(text: str, cls: Any) -> Men:
    example = "as in S/gle/-c-/-C-/ELG/-"
    parts = ["".join(part.split()) for part in re.split("[/\n]", text.strip())]
    if len(parts) != 6:
        raise PositionError(
            f"the text has {len(parts)} parts, not 6: who is to move, four rows and the men in "
            f"hand, {example}"
        )
    side = parts[0].upper()
    if side not in PLAYERS:
        raise PositionError(f"{quoted(parts[0])} is not a player: S or G, {example}")
    board = _parse_rows(parts[1:5], example)
    held = "" if parts[5] == "-" else parts[5]
    for letter in held:
        if letter not in "CEGceg":
            raise PositionError(
                f"{letter!r} is no man in hand, which are C E G of sente's and c e g of gote's, "
                f"or - for none"
            )
    _refuse_numbers("".join(board.values()), held, cls)
    words = [_word(board, held, below) for below in (True, False)]
    mine, theirs = words if side == "S" else words[::-1]
    if not lion(theirs):
        waiting = PLAYERS["G" if side == "S" else "S"]
        raise PositionError(f"{waiting} has no lion, and would not have moved")
    return cls(Bits(mine), Bits(theirs), side == "G")


def _parse_rows(rows: list[str], example: str) -> dict[int, str]:
    """Return the letters of the cells that are not empty, as sente numbers them."""
    board = {}
    for number, row in enumerate(rows, 1):
        if len(row) != 3:
            raise PositionError(f"row {number} has {len(row)} cells, not 3, {example}")
        for column, letter in enumerate(row):
            if letter not in CELLS.contents:
                raise PositionError(
                    f"{letter!r} in row {number}: a cell is - or one of {LETTERS} (sente's) or "
                    f"{LETTERS.lower()} (gote's)"
                )
            if letter != "-":
                board[3 * (4 - number) + column] = letter
    return board


def _refuse_numbers(board: str, held: str, cls: Any) -> None:
    """Raise if play cannot lead to these numbers of men."""
    for letter, player in (("L", "sente"), ("l", "gote")):
        if board.count(letter) > 1:
            raise PositionError(f"{player} has {board.count(letter)} lions; a player has one")
    men = board.replace("R", "C").replace("r", "c") + held
    if cls.DROPS:
        for letter, name in zip("EGC", ("elephants", "giraffes", "chicks and hens"), strict=True):
            count = men.upper().count(letter)
            if count != 2:
                raise PositionError(f"{count} {name} on the board and in hand; there are two")
        return
    if held:
        raise PositionError(f"{quoted(held)} in hand, but men that are taken vanish")
    for letter in "EGCegc":
        if men.count(letter) > 1:
            name = dict(zip(LETTERS, NAMES, strict=True))[letter.upper()]
            raise PositionError(f"{men.count(letter)} men {letter}: a player has one {name}")


def _word(board: dict[int, str], held: str, below: bool) -> int:
    """Return the word of a player."""
    word = 0
    for place, letter in board.items():
        if letter.isupper() == below:
            word |= MEN[LETTERS.index(letter.upper())] << (place if below else 11 - place)
    for letter in held:
        if letter.isupper() == below:
            word += from_hand("EGC".index(letter.upper()))
    return word


def _place(position: Men, name: str) -> int:
    """Return the number of a cell to the mover."""
    place = 3 * (4 - int(name[1])) + "abc".index(name[0])
    return 11 - place if position.second else place


def _name(position: Men, place: int) -> str:
    if position.second:
        place = 11 - place
    return f"{'abc'[place % 3]}{4 - place // 3}"


def move_text(position: Men, move: int) -> str:
    direction, target = move >> 4, move & 15
    if move >= DROPS:
        return f"{'EGC'[direction - 8]}*{_name(position, target)}"
    taken = "x" * bool(man_on(position.theirs, 11 - target))
    return f"{_name(position, target - STEPS[direction])}{taken}{_name(position, target)}"


def parse_move(position: Men, text: str) -> int:
    """Read a move such as ``b3b2``, ``b3xb2`` or ``C*c1``; an ``x`` requires a capture."""
    match = re.fullmatch(r"([a-c][1-4])(x?)([a-c][1-4])|([egc])\*([a-c][1-4])", text.lower())
    if not match:
        raise PositionError(
            f"{quoted(text)} is not a move; moves are written as in b3b2, and drops as in C*c1"
        )
    if outcome(position)[0]:
        raise PositionError(f"{text} is played after the game is over")
    source, takes, target, dropped, cell = match.groups()
    if dropped:
        return _parse_drop(position, text, "egc".index(dropped), cell)
    begin, end = _place(position, source), _place(position, target)
    man = man_on(position.mine, begin)
    if not man:
        raise PositionError(f"{text}: {PLAYERS[mover(position)]} has no man on {source}")
    if man_on(position.mine, end):
        raise PositionError(f"{text}: {PLAYERS[mover(position)]} has a man on {target} already")
    for direction in range(8):
        if step(begin, direction) == end and man >> 16 * ABILITIES[direction] & 1:
            if takes and not man_on(position.theirs, 11 - end):
                raise PositionError(f"{text}: there is nothing to take on {target}")
            return 16 * direction + end
    name = NAMES[MEN.index(man)]
    raise PositionError(f"{text}: the {name} on {source} does not go to {target}")


def _parse_drop(position: Men, text: str, kind: int, cell: str) -> int:
    place = _place(position, cell)
    if not in_hand(position.mine, kind):
        raise PositionError(f"{text}: {PLAYERS[mover(position)]} has no {NAMES[1 + kind]} in hand")
    if not empty(position.mine, position.theirs) >> place & 1:
        raise PositionError(f"{text}: {cell} is not empty")
    return DROPS + 16 * kind + place
