"""The Royal Game of Ur by the Finkel, Masters and Blitz rules.

Rules: two players race their pieces along a route and off the board; whoever brings all of them
home first wins.  In the Finkel rules each player enters on his own side, follows the middle row,
which both share, and leaves on his own side.  The squares of the routes, rosettes with a star::

    light    4*  3   2   1           14* 13
    both     5   6   7   8*  9  10  11  12
    dark     4*  3   2   1           14* 13

The player to move rolls four dice that show 0 or 1: the sum is 0 to 4 with probabilities
1, 4, 6, 4, 1 of 16.  One piece, waiting or on the board, then moves by as many squares, and
home only by the exact number (from square 14 by a 1).  A piece cannot move to a square that
holds another of its own side.  In the shared part it captures an opponent's piece, which waits to
enter again; but on the shared rosette (8) a piece is safe.  A piece that moves to a rosette
gives its owner another roll.  Moving is compulsory; without a legal move, as after a 0, the
player passes.

In the Masters rules the route is longer, no piece is safe, and there are three dice: a sum of
0 counts as 4, so 1 to 4 have probabilities 3, 3, 1, 1 of 8.  Light goes home around the right
end in one direction and dark in the other, so squares 5 to 16 are shared.  Light's route; dark's
is its mirror image, so light's 12 is dark's 16, light's 13 dark's 15, and the other way round::

             4*  3   2   1           16* 15
             5   6   7   8*  9  10  11  14
             .   .   .   .           12* 13

The Blitz rules have the route of Masters, no safe squares, four dice, and a capture gives
another roll as well.

Variants: ``finkel`` (the usual one) and ``masters`` with 7 pieces for each player, ``blitz``
with 5; another number, 1 to 7, after a dash: ``finkel-2``.  Options after commas: ``captures``
(they give another roll, as in Blitz) and ``unsafe`` (no square of Finkel is safe).  The rules
follow RoyalUr.net (github.com/RoyalUr/RoyalUr-Java, ``GameSettings``).

Values: 100 a win for the mover, -100 a loss, so the chance of a win is (value + 100) / 200.

Play can last as long as the dice will have it, so no search reaches the end of all lines:
minimax needs a depth, and ``MAX_PLIES`` is just the longest line that a search has room for (a
roll is a ply of it).  Value iteration, ``iterate``, solves the game with few pieces.

Text: light's row with the pieces that wait before it, the shared row, dark's row, and who is to
roll, or what he has rolled.  Pieces are ``l`` and ``d``, and ``-`` is no square::

    7 *...--*. / ...*.... / 7 *...--*. light
    5 *...--l. / ...d.... / 5 *.d.--*. dark 3

Missing pieces are home.  Moves are squares of the route, with ``hand`` for waiting pieces:
``hand-4``, ``9-12``, ``14-home``; and ``pass``.

Encoding: a word for each player.  Bit n is a piece on square n of his own route, and the number
of waiting pieces is counted from bit 20 on: a word of 0 has all pieces home.  Bits shift by the
roll.  A move is the square it starts from, 0 for waiting pieces.

A tablebase has the positions before a roll.  A layer has those in which one player has *a* pieces
left to bring home, and the other *b*.  They are ranked by how many pieces of the mover and of the
other are on shared squares; then by which squares these are, the mover's and the other's together
being a number in base 3; then by the mover's own squares and the other's, as sets counted from the
smallest up.  The index counts ranks from the last down, so that play mostly leads to smaller
numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from math import comb
from typing import Any, NamedTuple

import numpy as np

from cutnode import Bits, PositionError, compiled, lowest_index, popcount, quoted, without_lowest
from cutnode.contract.cells import Points
from cutnode.contract.constants import Constant
from cutnode.contract.notation import contents_of, prints_board
from cutnode.contract.variants import variants
from cutnode.contract.verbs import NO_INDEX

VALUE_LIMIT = 100
MAX_MOVES = 8
MAX_PLIES = 4096
MAX_ACTIONS = 1

PASS = 31
NOT_ROLLED = -1

MOST_PIECES = 7
WAITING = Bits(1 << 20)
"""A piece that waits to enter."""

ROSETTES = Bits(1 << 0 | 1 << 4 | 1 << 9 | 1 << 14 | 1 << 18)
"""The cells with a star."""

FOUR_DICE = (0, (1 / 16, 4 / 16, 6 / 16, 4 / 16, 1 / 16))
THREE_DICE = (1, (3 / 8, 3 / 8, 1 / 8, 1 / 8))
"""The lowest roll, and the probabilities of all rolls from it on."""


@prints_board
class Pieces(NamedTuple):
    """A position: the pieces of the mover and of the other, and the roll."""

    mine: Bits
    theirs: Bits
    roll: int
    """The roll, or -1 before it."""
    second: bool
    """Whether the second player, dark, is to move; matters for texts and turns only."""


@compiled
def cell(position, index):
    """Return 0 for an empty square, 1 and 2 for light's and dark's pieces, 3 for a rosette."""
    light, dark = words(position)
    if (light & position.ROUTE) >> Bits(position.SQUARES[0][index]) & Bits(1):
        return 1
    if (dark & position.ROUTE) >> Bits(position.SQUARES[1][index]) & Bits(1):
        return 2
    return 3 if (ROSETTES >> Bits(index)) & Bits(1) else 0


@compiled
def words(position):
    """Return the words of light and dark."""
    mine, theirs = position.mine, position.theirs
    return (theirs, mine) if position.second else (mine, theirs)


@compiled
def targets(position):
    """Return the squares to which pieces can move with the roll, each from a different one."""
    squares = position.mine & position.ROUTE
    sources = squares | Bits(position.mine >= WAITING)
    blocked = squares | (position.theirs & position.SAFE)
    return (sources << Bits(position.roll)) & position.GOALS & ~blocked


@compiled
def moves(position, buffer, at):
    left = targets(position)
    if left == Bits(0):
        buffer[at] = PASS
        return at + 1
    while left:
        buffer[at] = lowest_index(left) - position.roll
        left = without_lowest(left)
        at += 1
    return at


@compiled
def play(position, move):
    mine, theirs = position.mine, position.theirs
    if move == PASS:
        return handed_over(position, mine, theirs)
    to = move + position.roll
    target = Bits(1) << Bits(to)
    mine -= WAITING if move == 0 else Bits(1) << Bits(move)
    mine |= target & position.ROUTE
    captured = theirs & seen_by_other(position, to) & position.SHARED
    if captured:
        theirs = (theirs ^ captured) + WAITING
    if target & position.ROSETTES or (position.CAPTURES and captured):
        return position._replace(mine=mine, theirs=theirs, roll=NOT_ROLLED)
    return handed_over(position, mine, theirs)


@compiled
def handed_over(position, mine, theirs):
    """Return the position with these words before the other player's roll."""
    second = not position.second
    return position._replace(mine=theirs, theirs=mine, roll=NOT_ROLLED, second=second)


@compiled
def seen_by_other(position, square):
    """Return the bit of a square on the other's route, if it is shared."""
    if position.CROSSED and 11 < square < 17:
        return Bits(1) << Bits(28 - square)
    return Bits(1) << Bits(square)


@compiled
def outcome(position):
    """Check the other player: only the last to move can have brought his last piece home."""
    if position.theirs == Bits(0):
        return True, -100
    return False, 0


@compiled
def turn(position):
    return 1 if position.second else 0


@compiled
def chance(position):
    return position.ROLLS if position.roll < 0 else 0


@compiled
def chance_outcome(position, index):
    roll = position.LEAST + index
    return position.ODDS[index], position._replace(roll=roll)


@compiled
def key(position):
    return word_of(position) | (Bits(position.second) << Bits(49))


@compiled
def word_of(position):
    """Pack all but the player: two words of 23 bits, and the roll."""
    roll = Bits(position.roll + 1)
    return position.mine | (position.theirs << Bits(23)) | (roll << Bits(46))


@compiled
def canonical(position):
    """Return a key that is the same for both players."""
    return word_of(position), 0


# The tablebase: positions before a roll, by the pieces left to bring home


def _shared_patterns() -> tuple[Any, ...]:
    """Number the ways to put pieces of two players on the shared squares.

    A pattern is a number in base 3 with a digit for each square: 1 for a piece of the mover, 2 for
    one of the other.  Return the digits of the sets of squares, the rank of each pattern among
    those with the same numbers of pieces, the patterns in this order (the mover's squares, and from
    bit 12 on the other's), and where those with *m* and *n* pieces begin, at ``13 * m + n``.
    """
    sets = np.arange(1 << MOST_SHARED)
    digits = sum((sets >> square & 1) * 3**square for square in range(MOST_SHARED))
    patterns = np.zeros(1, np.uint32)
    for square in range(MOST_SHARED):
        own, other = np.uint32(1 << square), np.uint32(1 << square + MOST_SHARED)
        patterns = np.concatenate((patterns, patterns | own, patterns | other))
    low = patterns & np.uint32((1 << MOST_SHARED) - 1)
    counts = np.bitwise_count(low) * 13 + np.bitwise_count(patterns ^ low)
    order = np.argsort(counts, kind="stable")
    firsts = np.searchsorted(counts[order], np.arange(13 * 13))
    ranks = np.empty(len(patterns), np.int32)
    ranks[order] = np.arange(len(patterns)) - firsts[counts[order]]
    return digits.astype(np.int32), ranks, patterns[order], firsts.astype(np.int32)


MOST_SHARED = 12
"""The shared squares of Masters and Blitz; the eight of Finkel are the lowest digits."""

_TABLES = _shared_patterns()
DIGITS, PATTERN_RANKS, PATTERNS, PATTERN_FIRSTS = (
    Constant(f"ur.{name}", table)
    for name, table in zip(("digits", "ranks", "patterns", "firsts"), _TABLES, strict=True)
)


@compiled
def pieces_left(position, word):
    """Return the number of a player's pieces that are not home."""
    return popcount(word & position.ROUTE) + (0 + (word >> Bits(20)))


@compiled
def own_squares(position, word):
    """Return the squares of a player that nobody else comes to, side by side."""
    last = Bits(0) if position.CROSSED else (word >> Bits(9)) & Bits(48)
    return (word >> Bits(1)) & Bits(15) | last


@compiled
def shared_squares(position, word, other):
    """Return the shared squares with a player's pieces, side by side, as on the mover's route."""
    squares = (word & position.SHARED) >> Bits(5)
    if position.CROSSED and other:
        middle = squares & Bits(0x7F)
        for square in range(7, 12):
            middle |= ((squares >> Bits(18 - square)) & Bits(1)) << Bits(square)
        return middle
    return squares


@compiled
def layer(position):
    """Return the layer by the pieces left: 1-1, 2-1, 2-2, 3-1, ..."""
    mine, theirs = pieces_left(position, position.mine), pieces_left(position, position.theirs)
    most, least = max(mine, theirs), min(mine, theirs)
    return most * (most - 1) // 2 + least - 1


@compiled
def index(position):
    if position.roll != NOT_ROLLED:
        return NO_INDEX
    mine, theirs = pieces_left(position, position.mine), pieces_left(position, position.theirs)
    squares = shared_squares(position, position.mine, False)
    others = shared_squares(position, position.theirs, True)
    count, other_count = popcount(squares), popcount(others)
    pattern = PATTERN_RANKS[DIGITS[squares] + 2 * DIGITS[others]]
    ways = position.WAYS[mine - count]
    other_ways = position.WAYS[theirs - other_count]
    rank = position.FIRSTS[((mine * 8 + theirs) * 8 + count) * 8 + other_count]
    rank += pattern * ways * other_ways
    rank += position.SET_RANKS[own_squares(position, position.mine)] * other_ways
    rank += position.SET_RANKS[own_squares(position, position.theirs)]
    return position.LAST[mine * 8 + theirs] - rank


@compiled
def position_at(example, layer, index):
    most = 1
    while most * (most + 1) // 2 <= layer:
        most += 1
    least = layer + 1 - most * (most - 1) // 2
    mine, theirs = most, least
    if index > example.LAST[mine * 8 + theirs]:
        mine, theirs = least, most
    rank = example.LAST[mine * 8 + theirs] - index
    at = (mine * 8 + theirs) * 64
    count = mine
    while example.FIRSTS[at + count * 8] > rank:
        count -= 1
    other_count = theirs
    while example.FIRSTS[at + count * 8 + other_count] > rank:
        other_count -= 1
    rank -= example.FIRSTS[at + count * 8 + other_count]
    ways = example.WAYS[mine - count]
    other_ways = example.WAYS[theirs - other_count]
    pattern = PATTERNS[PATTERN_FIRSTS[13 * count + other_count] + rank // (ways * other_ways)]
    rank %= ways * other_ways
    low = Bits((1 << MOST_SHARED) - 1)
    squares = own_word(example, rank // other_ways, Bits(pattern) & low, mine, False)
    others = own_word(example, rank % other_ways, Bits(pattern) >> Bits(MOST_SHARED), theirs, True)
    return example._replace(mine=squares, theirs=others, roll=NOT_ROLLED, second=False)


@compiled
def own_word(example, own, shared, left, other):
    """Return the word of a player with *left* pieces, some on own or *shared* squares."""
    squares = Bits(example.SETS[own])
    word = (squares & Bits(15)) << Bits(1) | (squares & Bits(48)) << Bits(9)
    if example.CROSSED and other:
        word |= (shared & Bits(0x7F)) << Bits(5)
        for square in range(7, 12):
            word |= ((shared >> Bits(square)) & Bits(1)) << Bits(23 - square)
    else:
        word |= shared << Bits(5)
    return word | Bits(left - popcount(word)) << Bits(20)


# Heuristics for searches that stop before the end of the game


@compiled
def evaluate(position):
    """Score 10 for a piece that is home and 1 for one on the board, own minus the opponent's."""
    return cost(position, position.theirs) - cost(position, position.mine)


@compiled
def cost(position, word):
    """Return what is missing until all pieces are home: 9 on the board, 10 waiting."""
    return 9 * popcount(word & position.ROUTE) + 10 * (0 + (word >> Bits(20)))


@compiled
def order(position, move, child):
    """Order another roll first, then what is gained, then the most advanced piece."""
    again = child.second == position.second
    mine, theirs = (child.mine, child.theirs) if again else (child.theirs, child.mine)
    gained = cost(position, position.mine) - cost(position, mine)
    taken = cost(position, theirs) - cost(position, position.theirs)
    return 1000 * again + 20 * (gained + taken) + move


# Rules and numbers of pieces

COLUMNS = ((0, 1, 2, 3, 6, 7), tuple(range(8)), (0, 1, 2, 3, 6, 7))
"""The columns of the squares of each row."""

CELLS = Points(
    tuple((float(x), float(y)) for y, row in enumerate(COLUMNS) for x in row),
    contents={".": "empty", "l": "light piece", "d": "dark piece", "*": "rosette"},
    glyphs={".": "·", "l": "○", "d": "●", "*": "✿"},
    players={"light": "light", "dark": "dark"},
    row_names=("light", "", "dark"),
)

USUAL = {"finkel": 7, "masters": 7, "blitz": 5}
"""The rules, and the pieces of each player."""

OPTIONS = {"finkel": ("captures", "unsafe"), "masters": ("captures",), "blitz": ()}


def _bits(squares: Iterable[int]) -> Bits:
    return Bits(sum(1 << square for square in squares))


def _settings(variant: str) -> tuple[Any, ...]:
    """Read the rules, the number of pieces, and options in alphabetical order."""
    rules, *options = variant.split(",")
    name, dash, number = rules.partition("-")
    if name not in USUAL or (dash and not re.fullmatch("[0-9]{1,9}", number)):
        raise PositionError(
            f"{quoted(variant)} is not a variant; write finkel, masters or blitz, and then "
            f"perhaps the number of pieces and options, as in finkel-2,captures"
        )
    pieces = int(number) if dash else USUAL[name]
    if not 1 <= pieces <= MOST_PIECES:
        raise PositionError(f"each player has 1 to {MOST_PIECES} pieces, not {pieces}")
    for option in options:
        if option not in OPTIONS[name] or options.count(option) > 1:
            allowed = " and ".join(OPTIONS[name]) or "none"
            raise PositionError(
                f"{quoted(option)} is not an option of {name}, or is there twice; "
                f"there are {allowed}"
            )
    return name, pieces, *sorted(options)


def route(finkel: bool, dark: bool) -> tuple[int, ...]:
    """Return the cells of a player's route."""
    cells = (3, 2, 1, 0, *range(6, 13), *((13, 5, 4) if finkel else (18, 19, 13, 5, 4)))
    mirrored = (*range(14, 20), *range(6, 14), *range(6))
    return tuple(mirrored[cell] for cell in cells) if dark else cells


def _ranks(own: int, shared: int, pieces: int) -> dict[str, Any]:
    """Return the constants of the tablebase, by the own and shared squares and pieces of a player.

    ``SETS``: the sets of own squares, the smallest first, and ``SET_RANKS`` their ranks.
    ``WAYS[n]``: how many have at most *n* squares.  ``FIRSTS[((a * 8 + b) * 8 + m) * 8 + n]``: the
    first rank where, with *a* and *b* pieces left, *m* and *n* are on shared squares.
    ``LAST[a * 8 + b]``: the index of rank 0.
    """
    sets = np.array(sorted(range(1 << own), key=lambda word: (word.bit_count(), word)), np.uint64)
    ways = [sum(comb(own, size) for size in range(most + 1)) for most in range(8)]
    firsts, last = np.full((8, 8, 8, 8), 1 << 40), np.full((8, 8), -1)
    sizes, names = [], []
    for a in range(1, pieces + 1):
        for b in range(1, a + 1):
            size = 0
            for mine, theirs in dict.fromkeys(((a, b), (b, a))):
                rank = 0
                for m in range(mine + 1):
                    for n in range(theirs + 1):
                        firsts[mine, theirs, m, n] = rank
                        patterns = comb(shared, m) * comb(max(shared - m, 0), n)
                        rank += patterns * ways[mine - m] * ways[theirs - n]
                size += rank
                last[mine, theirs] = size - 1
            sizes.append(size)
            names.append(f"{a}-{b}")
    return {
        "SETS": sets,
        "SET_RANKS": np.argsort(sets),
        "WAYS": tuple(ways),
        "FIRSTS": firsts.reshape(-1),
        "LAST": last.reshape(-1),
        "LAYER_SIZES": tuple(sizes),
        "LAYER_NAMES": tuple(names),
    }


VARIANTS = "finkel", "masters", "blitz", "finkel-2"


@variants(
    Pieces,
    usual="finkel",
    read=_settings,
    about="finkel, masters or blitz, perhaps a number of pieces and options: finkel-2,captures",
)
def ruleset(name: str, pieces: int, *options: str) -> dict[str, Any]:
    """Return the constants of rules, with a number of pieces and options."""
    finkel = name == "finkel"
    routes = route(finkel, dark=False), route(finkel, dark=True)
    length = len(routes[0])
    least, odds = THREE_DICE if name == "masters" else FOUR_DICE
    dashed = "" if pieces == USUAL[name] else f"-{pieces}"
    return {
        "RULES": name,
        "PIECES": pieces,
        "LENGTH": length,
        "ROUTES": routes,
        "SQUARES": tuple(
            tuple(cells.index(cell) + 1 if cell in cells else 0 for cell in range(20))
            for cells in routes
        ),
        "CROSSED": not finkel,
        "CAPTURES": name == "blitz" or "captures" in options,
        "ROUTE": _bits(range(1, length + 1)),
        "GOALS": _bits(range(1, length + 2)),
        "SHARED": _bits(range(5, 13) if finkel else range(5, 17)),
        "ROSETTES": _bits((4, 8, 14) if finkel else (4, 8, 12, 16)),
        "SAFE": _bits((8,) if finkel and "unsafe" not in options else ()),
        "LEAST": least,
        "ROLLS": len(odds),
        "ODDS": odds,
        "VARIANT": ",".join((name + dashed, *options)),
        **_ranks(6 if finkel else 4, 8 if finkel else 12, pieces),
    }


Position = ruleset("finkel", 7)


# Text


def start(variant: str = "") -> Pieces:
    """Return all pieces waiting, in a variant such as ``masters`` or ``finkel-2,captures``."""
    cls = ruleset.of(variant)
    waiting = Bits(cls.PIECES * WAITING)
    return cls(waiting, waiting, NOT_ROLLED, False)


def mover(position: Pieces) -> str:
    return "dark" if position.second else "light"


def caption(position: Pieces) -> str:
    """State how many pieces wait or are home, and who has rolled what."""
    lines = [
        f"{name}: {word // WAITING} waiting, "
        f"{position.PIECES - word // WAITING - popcount(word & position.ROUTE)} home"
        for name, word in zip(("light", "dark"), words(position), strict=True)
    ]
    rolled = "to roll" if position.roll < 0 else f"has rolled {position.roll}"
    return "\n".join([*lines, f"{mover(position)} {rolled}"])


def chance_text(position: Pieces, index: int) -> str:
    return f"roll of {position.LEAST + index}"


def position_text(position: Pieces) -> str:
    symbols = "".join(CELLS.symbols(contents_of(position)))
    top, middle, bottom = (symbols[row.start : row.stop] for row in CELLS.rows)
    light, dark = (word // WAITING for word in words(position))
    roll = f" {position.roll}" if position.roll >= 0 else ""
    return (
        f"{light} {top[:4]}--{top[4:]} / {middle} / {dark} {bottom[:4]}--{bottom[4:]} "
        f"{mover(position)}{roll}"
    )


def from_cells(contents: list[int], mover: str, start: Pieces) -> Pieces:
    """Return the position before a roll with these pieces; all others wait."""
    symbols = "".join(CELLS.symbols(contents))
    top, middle, bottom = (symbols[row.start : row.stop] for row in CELLS.rows)
    light, dark = (max(start.PIECES - symbols.count(letter), 0) for letter in "ld")
    text = f"{light} {top} / {middle} / {dark} {bottom} {mover}"
    return _parse_board(text, start)


def parse_position(text: str, variant: str = "") -> Pieces:
    """Read a position (see the module's docstring); an empty text is the start."""
    empty = start(variant)
    return _parse_board(text, empty) if text.strip() else empty


def _parse_board(text: str, empty: Pieces) -> Pieces:
    example = f"as in {position_text(empty)}"
    said = re.fullmatch(r"(.*[^a-z])(light|dark)( [0-9]{1,9})?", " ".join(text.lower().split()))
    if not said:
        raise PositionError(
            f"after the board, say who is to roll, {example}, or to move after which roll, "
            f"as in light 2"
        )
    rows = said[1].split("/")
    if len(rows) != 3:
        raise PositionError(f"the board has {len(rows)} rows; it has three, {example}")
    waiting, board = _parse_rows(rows, example)
    found = []
    for player, number, cells in zip(("light", "dark"), waiting, empty.ROUTES, strict=True):
        word = number * WAITING
        for square, at in enumerate(cells, 1):
            if board[at] == player[0]:
                board[at] = "."
                word |= 1 << square
        pieces = number + popcount(word & empty.ROUTE)
        if pieces > empty.PIECES:
            raise PositionError(
                f"{player} has {pieces} pieces, waiting and on the board; there are {empty.PIECES}"
            )
        found.append(Bits(word))
    for (x, y), symbol in zip(CELLS.places, board, strict=True):
        if symbol in "ld":
            player = "light" if symbol == "l" else "dark"
            raise PositionError(f"{player} never comes to row {y + 1:g}, column {x + 1:g}")
    second = said[2] == "dark"
    mine, theirs = found[::-1] if second else found
    position = type(empty)(mine, theirs, NOT_ROLLED, second)
    if mine == 0:
        raise PositionError(f"{mover(position)} has won, so it is the other's turn")
    if said[3]:
        position = position._replace(roll=_parse_roll(said[3].strip(), position))
    return position


def _parse_rows(rows: list[str], example: str) -> tuple[list[int], list[str]]:
    """Return how many pieces of light and dark wait, and the contents of the cells."""
    waiting, board = [], list[str]()
    for name, row, pattern in (
        ("light's", rows[0], "([0-9]) ?([.*ld]{4})-{0,2}([.*ld]{2})"),
        ("the shared", rows[1], "()([.*ld]{8})()"),
        ("dark's", rows[2], "([0-9]) ?([.*ld]{4})-{0,2}([.*ld]{2})"),
    ):
        match = re.fullmatch(pattern, re.sub("(?<=[^0-9]) ", "", row.strip()))
        if not match:
            raise PositionError(
                f"{quoted(row.strip())} is not {name} row: the pieces that wait, if it is a "
                f"player's, and the squares, each one of . * l d, {example}"
            )
        if match[1]:
            waiting.append(int(match[1]))
        board += [*match[2], *match[3]]
    return waiting, board


def _parse_roll(text: str, position: Pieces) -> int:
    if position.theirs == 0:
        raise PositionError(f"{mover(position)} has lost and does not roll")
    most = position.LEAST + position.ROLLS - 1
    if not position.LEAST <= int(text) <= most:
        raise PositionError(f"nobody rolls {text}; a roll is {position.LEAST} to {most}")
    return int(text)


def parse_move(position: Pieces, text: str) -> int:
    if position.theirs == 0:
        raise PositionError(f"{quoted(text)} is played after the game is over")
    if position.roll < 0:
        raise PositionError(f"{quoted(text)} is played before {mover(position)} has rolled")
    if text.lower() == "pass":
        if targets(position):
            raise PositionError(f"{mover(position)} can move and so cannot pass")
        return PASS
    match = re.fullmatch("(hand|[1-9][0-9]?)-(home|[1-9][0-9]?)", text.lower())
    if not match:
        raise PositionError(
            f"{quoted(text)} is not a move; write squares, as in hand-4, 9-12 or "
            f"{position.LENGTH}-home, or pass"
        )
    source = 0 if match[1] == "hand" else int(match[1])
    target = position.LENGTH + 1 if match[2] == "home" else int(match[2])
    if max(source, target - (match[2] == "home")) > position.LENGTH:
        raise PositionError(f"{quoted(text)}: squares are 1..{position.LENGTH}")
    if target - source != position.roll:
        raise PositionError(f"{quoted(text)}: {mover(position)} has rolled {position.roll}")
    if not (position.mine >> source & 1 if source else position.mine >= WAITING):
        where = f"on square {source}" if source else "that waits"
        raise PositionError(f"{quoted(text)}: {mover(position)} has no piece {where}")
    if not targets(position) >> target & 1:
        owner = "an own piece" if position.mine >> target & 1 else "a piece that is safe"
        raise PositionError(f"{quoted(text)}: {owner} is on square {target}")
    return source


def move_text(position: Pieces, move: int) -> str:
    if move == PASS:
        return "pass"
    to = move + position.roll
    return f"{move or 'hand'}-{'home' if to > position.LENGTH else to}"


def describe(position: Pieces, value: float) -> str:
    """State how often the mover wins."""
    if position.theirs == 0:
        return f"{'light' if position.second else 'dark'} has won"
    return f"{mover(position)} wins {(value + 100) / 2:.12g} of 100 games"
