"""The Royal Game of Ur by the Finkel, Masters and Blitz rules.

Rules: two players race their pieces along a route and off the board; who brings all of them
home first wins.  In the Finkel rules each enters on the own side, goes along the middle row,
which both share, and leaves on the own side.  The squares of the routes, rosettes with a star::

    light    4*  3   2   1           14* 13
    both     5   6   7   8*  9  10  11  12
    dark     4*  3   2   1           14* 13

The player to move rolls four dice that show 0 or 1: the sum is 0 to 4 with probabilities
1, 4, 6, 4, 1 of 16.  One piece, waiting or on the board, then moves on as many squares, and
home only by the exact number (from square 14 by a 1).  A piece cannot move to a square that
holds another of its own.  It captures an opponent's piece in the shared part, which waits to
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
are those of RoyalUr.net (github.com/RoyalUr/RoyalUr-Java, ``GameSettings``).

Values: 100 a win for the mover, -100 a loss, so the odds of a win are (value + 100) / 200.

Play can go on for as long as the dice will have it, so no search reaches the end of all lines:
minimax needs a depth, and ``MAX_PLIES`` is just the longest line that a search has room for (a
roll is a ply of it).  Value iteration, ``iterate``, solves the game with few pieces.

Text: light's row with the pieces that wait before it, the shared row, dark's row, and who is to
roll, or has rolled what.  Pieces are ``l`` and ``d``, and ``-`` is no square::

    7 *...--*. / ...*.... / 7 *...--*. light
    5 *...--l. / ...d.... / 5 *.d.--*. dark 3

Pieces that are not there are home.  Moves are squares of the route, ``hand`` for pieces that
wait: ``hand-4``, ``9-12``, ``14-home``; and ``pass``.

Encoding: a word for each player, seen by the mover.  Bit n is a piece on square n of the own
route, and the number that waits is counted from bit 20 on: a word of 0 has all pieces home.
Bits shift by the roll.  A move is the square it starts from, 0 for pieces that wait.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from engine import Bits, PositionError, compiled, lowest_index, popcount, quoted, without_lowest
from engine.contract.cells import Points
from engine.contract.notation import contents_of, prints_board
from engine.contract.variants import variants

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
"""The lowest roll, and the odds of that one and the next."""


@prints_board
class Pieces(NamedTuple):
    """A position: the pieces of the mover, and of the other, and what is rolled."""

    mine: Bits
    theirs: Bits
    roll: int
    """-1 before it."""
    second: bool
    """Whether the second player, dark, is to move; only texts and turns depend on it."""


@compiled
def cell(position, index):
    """0 an empty square, 1 a piece of light's, 2 one of dark's, 3 an empty rosette."""
    light, dark = words(position)
    if (light & position.ROUTE) >> Bits(position.SQUARES[0][index]) & Bits(1):
        return 1
    if (dark & position.ROUTE) >> Bits(position.SQUARES[1][index]) & Bits(1):
        return 2
    return 3 if (ROSETTES >> Bits(index)) & Bits(1) else 0


@compiled
def words(position):
    """The words of light and dark."""
    mine, theirs = position.mine, position.theirs
    return (theirs, mine) if position.second else (mine, theirs)


@compiled
def targets(position):
    """The squares that pieces can move to with the roll, each from another."""
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
    """The position with these words before the other player's roll."""
    second = not position.second
    return position._replace(mine=theirs, theirs=mine, roll=NOT_ROLLED, second=second)


@compiled
def seen_by_other(position, square):
    """The bit of a square on the other's route, if it is shared."""
    if position.CROSSED and 11 < square < 17:
        return Bits(1) << Bits(28 - square)
    return Bits(1) << Bits(square)


@compiled
def outcome(position):
    """Only who has just moved can have brought the last piece home."""
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
    """All but the player: two words of 23 bits, and the roll."""
    roll = Bits(position.roll + 1)
    return position.mine | (position.theirs << Bits(23)) | (roll << Bits(46))


@compiled
def canonical(position):
    """Players do not matter."""
    return word_of(position), 0


# What helps a search that has to stop before the end of the game


@compiled
def evaluate(position):
    """10 for a piece that is home and 1 for one on the board, own minus the opponent's."""
    return cost(position, position.theirs) - cost(position, position.mine)


@compiled
def cost(position, word):
    """The steps missing until all pieces are home."""
    return 9 * popcount(word & position.ROUTE) + 10 * (0 + (word >> Bits(20)))


@compiled
def order(position, move, child):
    """Another roll first, then what is gained, then the piece that is farthest on."""
    again = child.second == position.second
    mine, theirs = (child.mine, child.theirs) if again else (child.theirs, child.mine)
    gained = cost(position, position.mine) - cost(position, mine)
    taken = cost(position, theirs) - cost(position, position.theirs)
    return 1000 * again + 20 * (gained + taken) + move


# Rules and numbers of pieces

COLUMNS = ((0, 1, 2, 3, 6, 7), tuple(range(8)), (0, 1, 2, 3, 6, 7))
"""Where the squares of each row are."""

CELLS = Points(
    tuple((float(x), float(y)) for y, row in enumerate(COLUMNS) for x in row),
    contents={".": "empty", "l": "light piece", "d": "dark piece", "*": "rosette"},
    row_names=("light", "", "dark"),
)

USUAL = {"finkel": 7, "masters": 7, "blitz": 5}
"""The rules, and the pieces of each player."""

OPTIONS = {"finkel": ("captures", "unsafe"), "masters": ("captures",), "blitz": ()}


def _bits(squares: Iterable[int]) -> Bits:
    return Bits(sum(1 << square for square in squares))


def _settings(variant: str) -> tuple[Any, ...]:
    """The rules, the number of pieces, and options in alphabetical order."""
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
    """The cells of a player's route."""
    cells = (3, 2, 1, 0, *range(6, 13), *((13, 5, 4) if finkel else (18, 19, 13, 5, 4)))
    mirrored = (*range(14, 20), *range(6, 14), *range(6))
    return tuple(mirrored[cell] for cell in cells) if dark else cells


@variants(Pieces, usual="finkel", read=_settings)
def ruleset(name: str, pieces: int, *options: str) -> dict[str, Any]:
    """The constants of rules, with a number of pieces and options."""
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
    }


Position = ruleset("finkel", 7)


# Text


def start(variant: str = "") -> Pieces:
    """All pieces wait, in a variant such as ``masters`` or ``finkel-2,captures``."""
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


def position_text(position: Pieces) -> str:
    symbols = "".join(CELLS.symbols(contents_of(position)))
    top, middle, bottom = (symbols[row.start : row.stop] for row in CELLS.rows)
    light, dark = (word // WAITING for word in words(position))
    roll = f" {position.roll}" if position.roll >= 0 else ""
    return (
        f"{light} {top[:4]}--{top[4:]} / {middle} / {dark} {bottom[:4]}--{bottom[4:]} "
        f"{mover(position)}{roll}"
    )


def parse_position(text: str, variant: str = "") -> Pieces:
    """Read a position (see the module's text); an empty text is the start."""
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
    """The numbers of pieces that wait for light and dark, and the contents of the cells."""
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
