"""Nine Men's Morris, and its relatives with three, six, ten and twelve men.

Rules: first the players, white first, alternately put their men on empty points; then they move
one man along a line to the next point.  Three men in a line are a mill.  A player who closes one
takes a man of the other's from the board, one that is in no mill unless all are (only one man even
for two mills at once).  With three men left, and none in hand, a player may move to any empty point
(*fly*).  A player with fewer than three men, or without a move, has lost.  A game is drawn when a
position occurs for the third time.

Variants:

* ``nine``, the usual one, on three squares whose sides are joined in the middle;
* ``lasker``: the same board with ten men, which may move before all are put;
* ``morabaraba``: twelve men, and the corners are joined too; a full board is a draw;
* ``six``: six men on two squares, without flying;
* ``three``: three men on the points and lines of Noughts and Crosses; three in a line win.

A dash and another number of men may follow (``six-4``, 3 to 12), and then ``,flying`` or
``,walking``: whether players with three men may fly.

Values: 1 a win, 0 a draw, -1 a loss.

Text: points have a letter for the column and a number for the row::

    7 .-----.-----.
    6 | .---.---. |
    5 | | .-.-. | |
    4 .-.-.   .-.-.
    3 | | .-.-. | |
    2 | .---.---. |
    1 .-----.-----.
      a b c d e f g

Moves are written ``d2``, ``d2-d3`` and, with a capture, ``d2-d3xa7``.  A board is written row by
row, with who is to move and, unless there are none, the men that white and black have in hand::

    .../.../.../....../.../.../... white 9 9
    w../.../.../b....w/.../b../.bw black

Encoding: a bit for each point (``games/morris/board.py``), for the men of the mover and of the
other.  A move is the target point, plus 32 times the source point, plus 1024 times the point of
the man that is taken; 31 stands for the hand, and for nothing taken.
"""

from __future__ import annotations

import itertools
import re
from types import SimpleNamespace
from typing import Any, NamedTuple

from cutnode import (
    Bits,
    PositionError,
    compiled,
    legal_moves,
    lowest,
    lowest_index,
    popcount,
    quoted,
    without_lowest,
)
from cutnode.contract.cells import Points
from cutnode.contract.constants import Constant
from cutnode.contract.notation import contents_of, play_texts, prints_board
from cutnode.contract.variants import variants
from cutnode.games.morris.board import SYMMETRIES, completing, image, neighbours, quarter_turned
from cutnode.games.morris.numbering import BOARDS, FEWEST, layer_constants
from cutnode.games.morris.numbering import index as index
from cutnode.games.morris.numbering import layer as layer
from cutnode.games.morris.numbering import position_at as position_at
from cutnode.games.morris.numbering import retreat as retreat
from cutnode.games.morris.numbering import retreats as retreats

DECISIVE = True
VALUE_LIMIT = 1
UNIT = 100
REPETITIONS = 3
MAX_MOVES = 256

NOTHING = HAND = 31


def _turned() -> list[int]:
    """Return the points that 0 to 31 become, for each board and symmetry; 25 to 31 stay."""
    found = []
    for constants in BOARDS.values():
        board = SimpleNamespace(**constants)
        for symmetry in range(SYMMETRIES):
            for point in range(25):
                found.append(lowest_index(image(board, 1 << point, symmetry)))
            found += range(25, 32)
    return found


TURNED = Constant("morris.turned", _turned())

INVERSE = tuple(
    next(
        other
        for other in range(SYMMETRIES)
        if all(TURNED[32 * other + TURNED[32 * number + point]] == point for point in range(24))
    )
    for number in range(SYMMETRIES)
)
"""The inverse of each symmetry."""


@prints_board
class Men(NamedTuple):
    """A position: the men of the mover and of the other, on the board and in hand."""

    mine: Bits
    theirs: Bits
    hand: int
    their_hand: int
    second: bool
    """Whether the second player, black, is to move; only texts depend on it."""


@compiled
def cell(position, index):
    """Return 0 for an empty point, 1 for a white man, 2 for a black man."""
    point = Bits(1) << Bits(position.POINTS[index])
    if position.mine & point:
        return 2 if position.second else 1
    if position.theirs & point:
        return 1 if position.second else 2
    return 0


@compiled
def empty_points(position):
    return position.BOARD & ~(position.mine | position.theirs)


@compiled
def flies(position):
    """Return whether the mover may move to any point."""
    return position.FLYING and position.hand == 0 and popcount(position.mine) == FEWEST


@compiled
def removable(position):
    """Return the men that the mover may take with a mill; none where a line wins."""
    if position.LINE_WINS:
        return Bits(0)
    alone = position.theirs & ~completing(position, position.theirs)
    return alone if alone else position.theirs


@compiled
def moves(position, buffer, at):
    """Write the moves that put a man from the hand, then the moves of men on the board."""
    empty, prey = empty_points(position), removable(position)
    if position.hand > 0:
        at = write(position, HAND, empty, position.mine, prey, buffer, at)
        if not position.EARLY:
            return at
    flying = flies(position)
    sources = position.mine
    if not flying:
        sources &= neighbours(position, empty)
    while sources:
        source = lowest(sources)
        sources ^= source
        targets = empty if flying else neighbours(position, source) & empty
        others = position.mine ^ source
        at = write(position, lowest_index(source), targets, others, prey, buffer, at)
    return at


@compiled
def write(position, source, targets, others, prey, buffer, at):
    """Write the moves of a man to *targets*, with *others* as the rest; mills come last."""
    closing = Bits(0)
    if prey:
        closing = completing(position, others) & targets
    quiet = targets ^ closing
    while quiet:
        buffer[at] = lowest_index(quiet) + 32 * source + 1024 * NOTHING
        quiet = without_lowest(quiet)
        at += 1
    return write_closing(source, closing, prey, buffer, at)


@compiled
def write_closing(source, closing, prey, buffer, at):
    while closing:
        first = lowest_index(closing) + 32 * source
        closing = without_lowest(closing)
        left = prey
        while left:
            buffer[at] = first + 1024 * lowest_index(left)
            left = without_lowest(left)
            at += 1
    return at


@compiled
def point_at(number):
    """Return the point that a part of a move names; none for 31."""
    return Bits(number != NOTHING) << Bits(number)


@compiled
def play(position, move):
    source, removed = (move >> 5) & 31, move >> 10
    mine = (position.mine & ~point_at(source)) | point_at(move & 31)
    return position._replace(
        mine=position.theirs & ~point_at(removed),
        theirs=mine,
        hand=position.their_hand,
        their_hand=position.hand - (source == HAND),
        second=not position.second,
    )


@compiled
def outcome(position):
    if position.LINE_WINS:
        if position.theirs & completing(position, position.theirs):
            return True, -1
    elif popcount(position.mine) + position.hand < FEWEST:
        return True, -1
    empty = empty_points(position)
    if empty == Bits(0):
        return True, 0
    if position.hand == 0 and not flies(position):
        if neighbours(position, position.mine) & empty == Bits(0):
            return True, -1
    return False, 0


@compiled
def word_of(position, men):
    """Pack *men* (the other's from bit 32 on) and the men in hand into a word."""
    return men | (Bits(position.hand) << Bits(26)) | (Bits(position.their_hand) << Bits(58))


@compiled
def men_of(position):
    return position.mine | (position.theirs << Bits(32))


@compiled
def key(position):
    """Return the whole position in a word; its highest bit tells black's from white's."""
    return word_of(position, men_of(position)) | (Bits(position.second) << Bits(63))


@compiled
def canonical(position):
    """Return the least of the sixteen symmetric images, whoever is to move."""
    men = men_of(position)
    least, symmetry = men, 0
    for number in range(0, SYMMETRIES, 4):
        turned = image(position, men, number)
        for turns in range(4):
            if turned < least:
                least, symmetry = turned, number + turns
            turned = quarter_turned(turned)
    return word_of(position, least), symmetry


@compiled
def canonical_move(position, move, symmetry):
    return moved(move, 32 * symmetry + position.TURNS)


@compiled
def original_move(position, move, symmetry):
    return moved(move, 32 * INVERSE[symmetry] + position.TURNS)


@compiled
def moved(move, row):
    """Return a move with its points transformed by a row of ``TURNED``."""
    target, source, removed = move & 31, (move >> 5) & 31, move >> 10
    return TURNED[row + target] + 32 * TURNED[row + source] + 1024 * TURNED[row + removed]


@compiled
def reversible(position, child):
    """Return whether a move is one on the board that takes nothing."""
    same_hand = position.hand == child.their_hand
    return same_hand and popcount(position.theirs) == popcount(child.mine)


# Heuristics for searches that stop before the end of the game


@compiled
def evaluate(position):
    """Score men, the points that they can reach, and mills that can be closed at once."""
    empty = empty_points(position)
    score = evaluate_material(position)
    score += 5 * popcount(neighbours(position, position.mine) & empty)
    score -= 5 * popcount(neighbours(position, position.theirs) & empty)
    score += 20 * popcount(completing(position, position.mine) & empty)
    return score - 20 * popcount(completing(position, position.theirs) & empty)


@compiled
def evaluate_material(position):
    mine = popcount(position.mine) + position.hand
    return 100 * (mine - popcount(position.theirs) - position.their_hand)


@compiled
def noisy(position, buffer, at):
    """Write the moves that close a mill."""
    empty, prey = empty_points(position), removable(position)
    if prey == Bits(0):
        return at
    targets = completing(position, position.mine) & empty
    if position.hand > 0:
        at = write_closing(HAND, targets, prey, buffer, at)
        if not position.EARLY:
            return at
    flying = flies(position)
    sources = position.mine
    if not flying:
        sources &= neighbours(position, targets)
    while sources:
        source = lowest(sources)
        sources ^= source
        near = targets if flying else neighbours(position, source) & targets
        closing = completing(position, position.mine ^ source) & near
        at = write_closing(lowest_index(source), closing, prey, buffer, at)
    return at


@compiled
def gain(position, move):
    """Return the value of the man taken, if any."""
    return 100 if move >> 10 != NOTHING else 0


@compiled
def order(position, move, child):
    """Order mills first, then points where the other would close one, then busy points."""
    target = point_at(move & 31)
    score = gain(position, move)
    if completing(position, position.theirs) & target:
        score += 50
    return score + popcount(neighbours(position, target) & position.BOARD)


# Rules and boards

RULES = {
    "nine": {"RINGS": 3, "MEN": 9},
    "lasker": {"RINGS": 3, "MEN": 10, "EARLY": True},
    "morabaraba": {"RINGS": 3, "MEN": 12, "DIAGONALS": True},
    "six": {"RINGS": 2, "MEN": 6, "FLYING": False, "HAND_LAYERS": True},
    "three": {"RINGS": 1, "MEN": 3, "FLYING": False, "HAND_LAYERS": True, "LINE_WINS": True},
}
"""The differences from the usual rules."""

USUAL = {
    "DIAGONALS": False,
    "EARLY": False,
    "FLYING": True,
    "HAND_LAYERS": False,
    "LINE_WINS": False,
}


def _settings(variant: str) -> tuple[str, int, bool]:
    """Return the game, the men of each player, and whether they fly."""
    match = re.fullmatch("([a-z]+)(?:-([0-9]{1,9}))?(?:,(flying|walking))?", variant)
    if not match or match[1] not in RULES:
        raise PositionError(
            f"{quoted(variant)} is not a variant; write {', '.join(RULES)}, and then perhaps the "
            f"number of men, and flying or walking, as in six-4,flying"
        )
    rules = USUAL | RULES[match[1]]
    men, flying = int(match[2] or rules["MEN"]), bool(rules["FLYING"])
    most = 3 if rules["LINE_WINS"] else 12 if rules["RINGS"] == 3 else 8
    if not FEWEST <= men <= most:
        raise PositionError(f"{match[1]} is played with {FEWEST} to {most} men, not {men}")
    return match[1], men, match[3] == "flying" if match[3] else flying


def _places(rings: int) -> dict[tuple[int, int], int]:
    """Return the points by column and row, from the top left."""
    last, found = 2 * rings, {}
    for ring, side in itertools.product(range(rings), range(4)):
        low, high = ring, last - ring
        corners = [(low, low), (high, low), (high, high), (low, high)]
        (x, y), (next_x, next_y) = corners[side], corners[(side + 1) % 4]
        found[x, y] = 4 * ring + side
        found[(x + next_x) // 2, (y + next_y) // 2] = 12 + 4 * ring + side
    if rings == 1:
        found[1, 1] = 24
    return found


VARIANTS = "nine", "six", "three"


@variants(
    Men,
    usual="nine",
    read=_settings,
    about="three, six, nine, lasker or morabaraba, and perhaps a number of men: six-4",
)
def ruleset(name: str, men: int, flying: bool) -> dict[str, Any]:
    """Return the constants of a game with a number of men."""
    changed = {**USUAL, **RULES[name], "MEN": men, "FLYING": flying}
    dashed = "" if men == RULES[name]["MEN"] else f"-{men}"
    usual = (USUAL | RULES[name])["FLYING"]
    option = "" if flying == usual else ",flying" if flying else ",walking"
    rules = SimpleNamespace(**{**changed, **BOARDS[changed["RINGS"]]})
    places = _places(rules.RINGS)
    ordered = sorted(places, key=lambda place: place[::-1])
    points = tuple(places[place] for place in ordered)
    lines = tuple(
        (a, b)
        for (a, first), (b, second) in itertools.combinations(enumerate(points), 2)
        if neighbours(rules, Bits(1 << first)) >> second & 1
    )
    return {
        **vars(rules),
        **layer_constants(rules),
        "POINTS": points,
        "NAMES": tuple(f"{'abcdefg'[x]}{2 * rules.RINGS + 1 - y}" for x, y in ordered),
        "TURNS": 32 * SYMMETRIES * list(BOARDS).index(rules.RINGS),
        "VARIANT": f"{name}{dashed}{option}",
        "CELLS": Points(
            tuple((float(x), float(y)) for x, y in ordered),
            lines,
            contents={".": "empty", "w": "white man", "b": "black man"},
            glyphs={".": "·", "w": "○", "b": "●"},
            players={"white": "white", "black": "black"},
            row_names="7654321"[7 - 2 * rules.RINGS - 1 :],
            column_names="abcdefg"[: 2 * rules.RINGS + 1],
        ),
    }


Position = ruleset("nine", 9, True)


# Text


def start(variant: str = "") -> Men:
    """Return the empty board of a variant such as ``six`` or ``nine-5``."""
    cls = ruleset.of(variant)
    return cls(Bits(0), Bits(0), cls.MEN, cls.MEN, False)


def mover(position: Men) -> str:
    return "black" if position.second else "white"


def hands(position: Men) -> tuple[int, int]:
    """Return the men that white and black have in hand."""
    mine, theirs = position.hand, position.their_hand
    return (theirs, mine) if position.second else (mine, theirs)


def caption(position: Men) -> str:
    white, black = hands(position)
    left = f", white has {white} and black {black} men in hand" if white + black else ""
    return f"{mover(position)} to move{left}"


def position_text(position: Any) -> str:
    white, black = hands(position)
    board = position.CELLS.text(contents_of(position), mover(position))
    return f"{board} {white} {black}" if white + black else board


def from_cells(contents: list[int], mover: str, start: Any) -> Men:
    """Return the position with these men on the board, and none in hand."""
    return parse_position(start.CELLS.text(contents, mover), start.VARIANT)


def parse_position(text: str, variant: str = "") -> Men:
    """Read a board (see the module's text), or the moves played."""
    empty: Any = start(variant)
    if not empty.CELLS.is_board(text):
        return play_texts(empty, re.findall(r"[^\s,]+", text), text)
    said = re.fullmatch(r"(.*[a-z])\s+([0-9]{1,9})\s+([0-9]{1,9})\s*", text, re.DOTALL | re.I)
    contents, player = empty.CELLS.read(said[1] if said else text, position_text(empty))
    white_hand, black_hand = (int(said[2]), int(said[3])) if said else (0, 0)
    white, black = (
        Bits(sum(1 << empty.POINTS[n] for n, content in enumerate(contents) if content == side))
        for side in (1, 2)
    )
    for name, men, hand in (("white", white, white_hand), ("black", black, black_hand)):
        count = popcount(men) + hand
        if count > empty.MEN:
            raise PositionError(f"{name} has {count} men, on the board and in hand, of {empty.MEN}")
    second = player == "black"
    mine, theirs = ((white, white_hand), (black, black_hand))[:: -1 if second else 1]
    position = type(empty)(mine[0], theirs[0], mine[1], theirs[1], second)
    if empty.LINE_WINS and mine[0] & completing(empty, mine[0]):
        raise PositionError(f"{player} has three men in a line, and has won before")
    other = popcount(theirs[0]) + theirs[1]
    if other < FEWEST:
        raise PositionError(f"{mover(position._replace(second=not second))} has {other} men")
    return position


def move_text(position: Any, move: int) -> str:
    names = dict(zip(position.POINTS, position.NAMES, strict=True))
    target, source, removed = move & 31, move >> 5 & 31, move >> 10
    text = names[target] if source == HAND else f"{names[source]}-{names[target]}"
    return text if removed == NOTHING else f"{text}x{names[removed]}"


def parse_move(position: Any, text: str) -> int:
    match = re.fullmatch("(?:([a-g][1-7])-?)?([a-g][1-7])(?:x([a-g][1-7]))?", text.lower())
    if not match:
        raise PositionError(f"{quoted(text)} is not a move; write d2, d2-d3 or d2-d3xa7")
    points = dict(zip(position.NAMES, position.POINTS, strict=True))
    for name in filter(None, match.groups()):
        if name not in points:
            raise PositionError(f"{quoted(text)}: there is no point {name} on the board")
    if outcome(position)[0]:
        raise PositionError(f"{quoted(text)} is played after the game is over")
    source, target, removed = (points[name] if name else NOTHING for name in match.groups())
    move = target + 32 * source + 1024 * removed
    known = legal_moves(position)
    if move in known:
        return move
    raise PositionError(f"{quoted(text)}: {why_not(position, source, target, removed, known)}")


def why_not(position: Any, source: int, target: int, removed: int, known: list[int]) -> str:
    """Say what is wrong with a move."""
    player = mover(position)
    if source == HAND and position.hand == 0:
        return f"{player} has no man in hand; write where a man comes from, as in d2-d3"
    if source != HAND and position.hand > 0 and not position.EARLY:
        return f"{player} has to put all men first"
    if source != HAND and not position.mine >> source & 1:
        return f"{player} has no man there"
    if (position.mine | position.theirs) >> target & 1:
        return "the point is taken"
    same = [move for move in known if move & 1023 == target + 32 * source]
    if not same:
        return "there is no line between the points"
    if same[0] >> 10 == NOTHING:
        return "that closes no mill, so nothing is taken"
    some = " or ".join(move_text(position, move) for move in same[:9])
    return f"a mill takes a man of the other's, one in no mill if there is one: {some}"
