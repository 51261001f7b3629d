"""Go on boards of at most 81 points, by area scoring.

Rules: two players, black first, alternately put a stone on an empty point, or pass.  Neighbouring
stones of one colour in rows and columns are a *chain*, and the empty points next to it its
*liberties*.  A move first takes chains of the other colour that have no liberty left.  Suicide, a
move whose own chain then has none, is illegal; in variants with ``suicide=yes`` it takes the chain
off the board, unless that is a single stone and nothing would change.  Two consecutive passes end
the game, and all stones on the board count as alive: the *area* of a player is his stones and the
empty points from which only his stones can be reached (J. Tromp and B. Taylor, "The game of Go",
the *logical rules*).

Repetition, by ``ko``: ``positional`` (superko: no move but a pass may bring an earlier board back;
the usual rule), ``situational`` (no move but a pass may bring a board back that another move of the
same player has left: natural situational superko), or ``simple`` (a player may not take back a
single stone at once, and longer cycles are a draw).

Values: the area of the mover minus the other's, less komi for black, which may be negative.  Where
komi is not a whole number, values are in half points.  In variants with ``goal=win`` only who wins
counts: 1 or -1, and 0 for a draw.

Text: a move by its point (``C3``; columns from ``A`` at the left without ``I``, rows from 1 at the
bottom) or ``pass``.  A board has rows from the top, separated by line ends or ``/``, of ``x``
black, ``o`` white and ``.`` empty; then who is to move, ``x`` or ``o``; then perhaps ``ko C3``, the
point that may not be retaken now, and ``pass`` after one pass, ``pass pass`` after two.  A variant
is a size, columns and then rows, and perhaps options: ``5x5``, or
``9x9,komi=6.5,ko=situational,suicide=yes``.  Records of games are in SGF
(:mod:`cutnode.games.go.sgf`).

Encoding: one bit for each point, row by row from the top, on large boards in several words
(:mod:`cutnode.contract.boards`).  A move is the number of a bit, and the bit after the last point
is the pass.  On the board of 4x3::

    0  1  2  3
    4  5  6  7
    8  9 10 11     12 pass

All that is asked of chains is found by filling: stones next to a liberty, and then the stones of
their colour next to these.
"""

from __future__ import annotations

import functools
import re
from typing import Any

from cutnode import (
    Bits,
    PositionError,
    compiled,
    lowest,
    lowest_index,
    mix,
    popcount,
    quoted,
    without_lowest,
)
from cutnode.contract.boards import (
    board,
    constant,
    fields,
    key_of_stones,
    random_cell,
    remade,
    scratch,
    single,
    write,
)
from cutnode.contract.cells import STONES, Points
from cutnode.contract.notation import play_texts
from cutnode.contract.regions import DOWN, LEFT, RIGHT, UP, connected, neighbours, shifted
from cutnode.contract.stones import EARLY, images, mirrored, unmirrored
from cutnode.contract.variants import board_size, variants
from cutnode.games.go import sgf

COLUMNS = "ABCDEFGHJKLMNOPQRST"
MOST_POINTS = 81
NO_POINT = -1
PACKED = 25
"""The most points of a board whose positions fit into a word."""


@functools.cache
def stones(words: int) -> Any:
    """Return the fields: the stones of the mover and of the other, and what else matters.

    ``ko`` is the point that the mover may not retake, or -1; ``passes`` counts the last moves that
    were passes; ``second`` says that white is to move.
    """
    return fields("Stones", ("mine", "theirs"), words, ko=int, passes=int, second=bool)


@compiled
def cell(position, index):
    """Return 0 for an empty point, 1 for black, 2 for white."""
    place = single(position, index)
    if not (board(position, 0) | board(position, 1)) & place:
        return 0
    return 1 if (board(position, 0) & place == place) != position.second else 2


@compiled
def breathing(position, own, empty):
    """Return the stones of the chains of *own* that have a liberty among *empty* points."""
    return connected(position, own & neighbours(position, empty), own)


@compiled
def has_liberty(position, place, mine, theirs):
    """Return whether a stone of *mine* on an empty point has a liberty, after what it takes."""
    empty = position.BOARD & ~(mine | theirs | place)
    near = neighbours(position, place)
    if near & empty:
        return True
    around = neighbours(position, empty)
    own = near & mine
    if own & around or connected(position, own, mine) & around:
        return True
    shut = near & theirs & ~around
    if not shut:
        return False
    touched = connected(position, shut, theirs)
    return touched != connected(position, touched & around, touched)


@compiled
def open_chains(position, own, empty):
    """Return the stones of the chains with a stone that has two liberties of its own."""
    a, b = shifted(position, empty, LEFT), shifted(position, empty, RIGHT)
    c, d = shifted(position, empty, UP), shifted(position, empty, DOWN)
    return connected(position, own & (a & b | c & d | (a | b) & (c | d)), own)


@compiled(inline=False)
def places(position):
    """Return the points on which the mover may put a stone."""
    mine, theirs = board(position, 0), board(position, 1)
    empty = position.BOARD & ~(mine | theirs)
    found = empty & neighbours(position, empty)
    left = empty & ~found
    if left:  # next to a chain with two liberties there is another one
        found |= left & neighbours(position, open_chains(position, mine, empty))
        kept = open_chains(position, theirs, empty)
        left &= ~found & neighbours(position, mine | theirs & ~kept)
    while left:
        place = lowest(left)
        left = without_lowest(left)
        if has_liberty(position, place, mine, theirs) or (
            position.SUICIDE and neighbours(position, place) & mine
        ):
            found |= place
    if position.ko >= 0:
        found &= ~single(position, position.ko)
    return found


@compiled
def moves(position, buffer, at):
    return write(position, places(position) | position.PASSING, buffer, at)


@compiled
def random_move(position, word):
    return random_cell(position, places(position) | position.PASSING, word)


@compiled
def eyes(position, mine, theirs):
    """Return the empty points whose neighbours are all *mine*, and likely to remain so.

    Stones of the other player on two of the diagonals, on one at an edge, make a false eye.
    """
    up, down = shifted(position, theirs, UP), shifted(position, theirs, DOWN)
    a, b = shifted(position, up, LEFT), shifted(position, up, RIGHT)
    c, d = shifted(position, down, LEFT), shifted(position, down, RIGHT)
    false = a & b | c & d | (a | b) & (c | d) | (a | b | c | d) & position.EDGE
    return position.BOARD & ~(theirs | mine | neighbours(position, position.BOARD & ~mine) | false)


@compiled(inline=False)
def policy(position, word):
    """Draw a move that fills no own eye and is no suicide; pass if there is none.

    Mostly, take a chain in atari if there is one, or else save one.
    """
    mine, theirs = board(position, 0), board(position, 1)
    empty = position.BOARD & ~(mine | theirs)
    left = empty & ~eyes(position, mine, theirs)
    if position.ko >= 0:
        left &= ~single(position, position.ko)
    if not position.SIMPLE and popcount(left) < 4 and word >> Bits(63):
        return position.AREA  # else a ko without a ban would be retaken until the longest game ends
    if word & Bits(7):
        taking = left & neighbours(position, in_atari(position, theirs, empty))
        if taking:
            return random_cell(position, taking, word)
        saving = left & neighbours(position, in_atari(position, mine, empty))
        if saving:
            move = random_cell(position, saving, word)
            if neighbours(position, single(position, move)) & empty:
                return move
    while left:
        move = random_cell(position, left, word)
        place = single(position, move)
        if has_liberty(position, place, mine, theirs):
            return move
        left &= ~place
        word = mix(word)
    return position.AREA


@compiled(inline=False)
def play(position, move):
    mine, theirs = board(position, 0), board(position, 1)
    if move == position.AREA:
        return remade(position, theirs, mine, NO_POINT, position.passes + 1, not position.second)
    place = single(position, move)
    mine |= place
    ko = NO_POINT
    empty = position.BOARD & ~(mine | theirs)
    near = neighbours(position, place)
    around = neighbours(position, empty)
    taken = near & theirs & ~around
    if taken:
        taken = connected(position, taken, theirs)
        taken &= ~connected(position, taken & around, taken)
    if taken:
        theirs &= ~taken
        if position.SIMPLE and not without_lowest(taken) and not near & mine:
            if near & (empty | taken) == taken:
                ko = lowest_index(taken)
    elif position.SUICIDE and not near & empty:
        own = connected(position, place, mine)
        if not neighbours(position, own) & empty:
            mine &= ~own
    return remade(position, theirs, mine, ko, 0, not position.second)


@compiled
def lead(position, points):
    """Return a difference of areas after komi, in the unit of values."""
    komi = position.KOMI
    return points * position.SCALE + (komi if position.second else -komi)


@compiled
def after_komi(position, points):
    """Return the value of a difference of areas."""
    value = lead(position, points)
    if position.DECISIVE:
        return 1 if value > 0 else -1 if value < 0 else 0
    return value


@compiled
def outcome(position):
    return (True, after_komi(position, area(position))) if position.passes > 1 else (False, 0)


@compiled(inline=False)
def area(position):
    """Return the area of the mover minus the other's."""
    mine, theirs = board(position, 0), board(position, 1)
    empty = position.BOARD & ~(mine | theirs)
    own, others = connected(position, mine, empty), connected(position, theirs, empty)
    return popcount(own & ~others) - popcount(others & ~own)


@compiled
def key(position):
    mine, theirs = board(position, 0), board(position, 1)
    return key_with(position, mine, theirs, position.ko, position.second)


@compiled
def key_with(position, mine, theirs, ko, second):
    """Return the key of a position with these stones, ko and player to move."""
    passes, point, white = Bits(position.passes), Bits(ko + 1), Bits(second)
    stones = key_of_stones(position, mine, theirs)
    if position.AREA <= PACKED:
        return stones | point << Bits(PACKED) | passes << Bits(57) | white << Bits(59)
    return mix(mix(stones) ^ (point | passes << Bits(8) | white << Bits(10)))


# Repetition


@compiled
def reversible(position, child):
    return True


@compiled
def recurrence(position):
    """Return the board by colours, in situational superko with whoever left it, by move or pass."""
    if position.RULE == 2:
        return key(position)
    mine, theirs = board(position, 0), board(position, 1)
    if position.second:
        mine, theirs = theirs, mine
    word = key_of_stones(position, mine, theirs)
    if position.RULE == 1:
        word = mix(mix(word) ^ Bits(2 * (position.passes > 0) + position.second))
    return word


@compiled
def progress(position):
    return popcount(board(position, 0)), popcount(board(position, 1))


# Results known without search


@compiled(inline=False)
def secure(position, own, others):
    """Return a lower bound for a player's points minus the other's, plus the points of the board.

    He need only pass for the rest of the game.  Then chains live that have two regions without own
    stones around them, each of which no other chain than such ones surrounds, and whose empty
    points (all its points, where suicide can empty them) are liberties of the chain: D. Benson,
    "Life in the game of Go" (1976).  The other player cannot fill the last point of such a region,
    so a region of one point is an own one, and in a larger one there is a point of nobody.
    """
    empty = position.BOARD & ~(own | others)
    left = position.BOARD & ~own
    regions = scratch(position)
    count = 0
    while left:
        region = connected(position, lowest(left), left)
        left &= ~region
        regions[count] = region
        count += 1
    if count < 2:
        return 0
    alive = own
    points = 0
    while True:
        once, twice = position.NONE, position.NONE
        points = 0
        for number in range(count):
            region = regions[number]
            around = neighbours(position, region) & own
            if around & ~alive:
                continue
            needed = region if position.SUICIDE else region & empty
            kept = False
            while around:
                chain = connected(position, lowest(around), own)
                around &= ~chain
                if not needed & ~neighbours(position, chain):
                    twice |= once & chain
                    once |= chain
                    kept = True
            if kept:
                points += 1 if without_lowest(region) else 2
        if twice == alive:
            break
        alive = twice
    return 2 * popcount(alive) + points if alive else 0


@compiled
def bounds(position, alpha, beta):
    """Bound the value by what is unconditionally alive, and by a pass that ends the game.

    Where cycles are drawn, a player can make one by suicide whatever the other owns.
    """
    if position.passes > 1:
        value = after_komi(position, area(position))
        return value, value
    mine, theirs = board(position, 0), board(position, 1)
    lower = after_komi(position, secure(position, mine, theirs) - position.AREA)
    upper = after_komi(position, position.AREA - secure(position, theirs, mine))
    if position.SUICIDE and position.RULE == 2:
        return min(lower, 0), max(upper, 0)
    if position.passes == 1:
        lower = max(lower, after_komi(position, area(position)))
    return lower, upper


# Heuristics for searches that stop before the end of the game


@compiled(inline=False)
def evaluate(position):
    """Estimate areas: both spread to empty neighbours, and points that both reach are neutral."""
    mine, theirs = board(position, 0), board(position, 1)
    empty = position.BOARD & ~(mine | theirs)
    while True:
        own = neighbours(position, mine) & empty
        others = neighbours(position, theirs) & empty
        empty &= ~(own | others)
        if not own | others:
            break
        mine |= own & ~others
        theirs |= others & ~own
    return lead(position, popcount(mine) - popcount(theirs))


@compiled(inline=False)
def in_atari(position, own, empty):
    """Return the stones of the chains that have a single liberty."""
    found = position.NONE
    left = own & neighbours(position, empty) & ~open_chains(position, own, empty)
    while left:
        chain = connected(position, lowest(left), own)
        left &= ~chain
        if not without_lowest(neighbours(position, chain) & empty):
            found |= chain
    return found


@compiled(inline=False)
def order(position, move, child):
    """Order by captures, then by stones in atari, then by liberties and the distance to edges."""
    if move == position.AREA:
        return 1000 if position.passes else -1000
    mine, theirs = board(child, 1), board(child, 0)
    empty = child.BOARD & ~(mine | theirs)
    captured = popcount(board(position, 1)) - popcount(theirs)
    threatened = popcount(in_atari(child, theirs, empty)) - 2 * popcount(
        in_atari(child, mine, empty)
    )
    own, others = neighbours(child, mine) & empty, neighbours(child, theirs) & empty
    liberties = popcount(own) - popcount(others)
    inner = popcount(neighbours(position, single(position, move)))
    return 64 * captured + 16 * threatened + 2 * liberties + 3 * inner


# Equivalent positions


@compiled
def canonical_move(position, move, symmetry):
    return mirrored(position, move, symmetry) if move < position.AREA else move


@compiled
def original_move(position, move, symmetry):
    return unmirrored(position, move, symmetry) if move < position.AREA else move


@compiled(inline=False)
def canonical(position):
    """Return the smallest key of all images with few stones, or on boards of few points.

    Colours matter only if there is komi.
    """
    mine, theirs, ko = board(position, 0), board(position, 1), position.ko
    second = position.second and position.COLOURED
    least, found = key_with(position, mine, theirs, ko, second), 0
    if position.AREA <= PACKED or popcount(mine | theirs) <= EARLY:
        for symmetry in range(1, position.SYMMETRIES):
            other = key_with(
                position,
                images(position, mine, symmetry),
                images(position, theirs, symmetry),
                mirrored(position, ko, symmetry) if ko >= 0 else NO_POINT,
                second,
            )
            if other < least:
                least, found = other, symmetry
    return least, found


# Boards of all sizes

KO = "positional", "situational", "simple"
YES_NO = "no", "yes"
GOALS = "points", "win"
CHOICES = {"ko": KO, "suicide": YES_NO, "goal": GOALS}
OPTIONS = f"komi=2.5, {', '.join(f'{n}={v}' for n, values in CHOICES.items() for v in values)}"


def settings(text: str) -> tuple[int, ...]:
    """Read columns, rows, komi in half points, and the numbers of the other choices."""
    size, *options = text.split(",")
    width, height = board_size(size, example="5x5")
    komi, given = 0, dict.fromkeys(CHOICES, 0)
    seen = set()
    for option in options:
        name, _, value = option.partition("=")
        choices = CHOICES.get(name, ())
        if name in seen:
            raise PositionError(f"{name} is given twice in {quoted(text)}")
        seen.add(name)
        if name == "komi" and re.fullmatch(r"-?[0-9]{1,3}(\.[05])?", value):
            komi = int(2 * float(value))
        elif value in choices:
            given[name] = choices.index(value)
        else:
            raise PositionError(
                f"{quoted(option)} is not an option of Go; after the size there may be {OPTIONS}"
            )
    return width, height, komi, *given.values()


VARIANTS = "5x5", "4x4", "7x7", "9x9,komi=6.5"


@variants(
    stones,
    usual="5x5",
    read=settings,
    about="columns and rows, and perhaps komi, ko (positional, situational or simple), suicide and "
    "goal (points or win): 5x5 or 9x9,komi=6.5,ko=situational,suicide=yes",
)
def rules(width: int, height: int, komi: int, ko: int, suicide: int, goal: int) -> dict[str, Any]:
    """Return the constants of a variant; :class:`PositionError` if no board has that size.

    *komi* is in half points; *ko*, *suicide* and *goal* are numbers of their choices.
    """
    area = width * height
    if not (1 <= width <= 19 and 1 <= height <= 19 and area <= MOST_POINTS):
        raise PositionError(
            f"there is no board of {width}x{height}: a board has 1 to 19 columns and rows, and at "
            f"most {MOST_POINTS} points, as in 9x9 or 1x10"
        )
    if abs(komi) > 2 * area:
        raise PositionError(f"komi must be {-area} to {area} on this board, got {komi / 2:g}")
    words = -(-(area + 1) // 64)
    ends = (1 << width) - 1
    ends |= ends << area - width
    scale = 1 + komi % 2
    full = (1 << area) - 1
    left = sum(1 << width * row for row in range(height))
    chosen = [f"komi={komi / 2:g}"] * (komi != 0) + [f"ko={KO[ko]}"] * (ko > 0)
    chosen += ["suicide=yes"] * suicide + ["goal=win"] * goal
    return {
        "WIDTH": width,
        "HEIGHT": height,
        "AREA": area,
        "SCRATCH": area,
        "NONE": constant(0, words),
        "BOARD": constant(full, words),
        "PASSING": constant(1 << area, words),
        "NOT_LEFT": constant(full & ~left, words),
        "NOT_RIGHT": constant(full & ~(left << width - 1), words),
        "EDGE": constant(left | left << width - 1 | ends, words),
        "SYMMETRIES": 8 if width == height else 4,
        "SCALE": scale,
        "KOMI": komi * scale // 2,
        "COLOURED": komi != 0,
        "RULE": ko,
        "SIMPLE": ko != 1,
        "SUICIDE": bool(suicide),
        "DECISIVE": goal == 1,
        "REPETITION": "draw" if KO[ko] == "simple" else "illegal",
        "WORDS": words,
        "VARIANT": ",".join([f"{width}x{height}", *chosen]),
        "CELLS": Points(
            tuple((float(x), float(y)) for y in range(height) for x in range(width)),
            tuple((n, n + 1) for n in range(area) if (n + 1) % width)
            + tuple((n, n + width) for n in range(area - width)),
            contents={".": "empty", "x": "black stone", "o": "white stone"},
            glyphs=STONES,
            players={"x": "black (x)", "o": "white (o)"},
            row_names=[str(row) for row in range(height, 0, -1)],
            column_names=COLUMNS[:width],
        ),
        "VALUE_LIMIT": 1 if goal else area * scale + abs(komi) * scale // 2,
        "MAX_MOVES": area + 1,
        "MAX_PLIES": 1000,
    }


Position = rules(5, 5, 0, 0, 0, 0)


# Text

MOVE_PATTERN = r"[a-hj-tA-HJ-T][0-9]{1,2}|(?i:pass)|[^\s,]+"


def start(variant: str = "") -> Any:
    """Return the empty board of a variant."""
    cls = rules.of(variant)
    return cls(*[Bits(0)] * 2 * cls.WORDS, NO_POINT, 0, False)


def mover(position: Any) -> str:
    return "xo"[position.second]


def point_of(position: Any, text: str) -> int:
    """Return the number of a point such as ``C3``; :class:`PositionError` if there is none."""
    match = re.fullmatch("([a-hj-t])([0-9]{1,2})", text.lower())
    last = f"{COLUMNS[position.WIDTH - 1]}{position.HEIGHT}"
    if not match:
        raise PositionError(f"{quoted(text)} is not a move; moves are points, A1..{last}, or pass")
    column, row = COLUMNS.lower().index(match[1]), int(match[2])
    if not (column < position.WIDTH and 1 <= row <= position.HEIGHT):
        raise PositionError(f"{text} is not on the board, whose points are A1..{last}")
    return position.WIDTH * (position.HEIGHT - row) + column


def parse_move(position: Any, text: str) -> int:
    """Read a point such as ``C3``, or ``pass``."""
    move = position.AREA if text.lower() == "pass" else point_of(position, text)
    if position.passes > 1:
        raise PositionError(f"{text} is played after the game is over")
    if move == position.AREA or places(position) >> move & 1:
        return move
    if (board(position, 0) | board(position, 1)) >> move & 1:
        raise PositionError(f"there is a stone on {text} already")
    if move == position.ko:
        raise PositionError(f"{text} would retake a ko at once")
    raise PositionError(f"a stone on {text} would have no liberty")


def move_text(position: Any, move: int) -> str:
    if move == position.AREA:
        return "pass"
    return f"{COLUMNS[move % position.WIDTH]}{position.HEIGHT - move // position.WIDTH}"


def caption(position: Any) -> str:
    ko = f", not on {move_text(position, position.ko)} (ko)" if position.ko >= 0 else ""
    passed = ("", ", after a pass", ", after two passes")[position.passes]
    return f"{mover(position)} to move{ko}{passed}"


def position_text(position: Any) -> str:
    contents = [cell(position, index) for index in range(position.AREA)]
    ko = f" ko {move_text(position, position.ko)}" if position.ko >= 0 else ""
    return position.CELLS.text(contents, mover(position)) + ko + " pass" * position.passes


def parse_position(text: str, variant: str = "") -> Any:
    """Read a board (see the module's docstring), or the moves played."""
    empty = start(variant)
    match = re.fullmatch(r"(.*?)(?:\s+ko\s+(\S+))?((?:\s+pass){0,2})\s*", text, re.DOTALL | re.I)
    if match is None or not empty.CELLS.is_board(match[1]):
        return play_texts(empty, re.findall(MOVE_PATTERN, text.strip()), text)
    position = from_cells(*empty.CELLS.read(match[1], position_text(empty)), empty)
    ko = point_of(empty, match[2]) if match[2] else NO_POINT
    if ko >= 0 and not (position.SIMPLE and is_ko(position, ko)):
        raise PositionError(f"no stone can have been taken in a ko on {match[2]}")
    return position._replace(ko=ko, passes=len(match[3].split()))


def is_ko(position: Any, point: int) -> bool:
    """Return whether a stone of the mover on a point would take one stone and be single itself."""
    mine, theirs = board(position, 0), board(position, 1)
    empty = position.BOARD & ~(mine | theirs)
    place = single(position, point)
    near = neighbours(position, place)
    taken = near & ~breathing(position, theirs, empty & ~place)
    return bool(place & empty and not near & ~theirs and taken and not without_lowest(taken))


def from_cells(contents: list[int], mover: str, start: Any) -> Any:
    empty, black, white = (
        sum(1 << n for n, content in enumerate(contents) if content == wanted)
        for wanted in range(3)
    )
    for colour in (black, white):
        if dead := colour & ~breathing(start, colour, empty):
            raise PositionError(
                f"the chain of {move_text(start, lowest_index(dead))} has no liberty"
            )
    mine, theirs = (white, black) if mover == "o" else (black, white)
    return remade(start, mine, theirs, NO_POINT, 0, mover == "o")


def describe(position: Any, value: float) -> str:
    if value == 0:
        return "a draw"
    winner = "black" if (value > 0) != position.second else "white"
    verb = "has won" if position.passes > 1 else "wins"
    by = "" if position.DECISIVE else f" by {abs(value) / position.SCALE:g}"
    return f"{winner} {verb}{by}"


# Records

RECORD_SUFFIX = ".sgf"
OWN_FACTS = {"GM", "FF", "CA", "AP", "SZ", "KM", "RU", "PL", "C", *sgf.SETUP}
"""The properties of the first node that are written from the game itself."""
RULES_OF_NAMES = {"nz": "ko=situational,suicide=yes"}
"""The options of variants for names of rules in records; other names mean the usual ones."""


def record_text(start: Any, moves: list[str], about: dict[str, Any]) -> str:
    """Return a game in SGF, from whatever position it began with."""
    size = f"{start.WIDTH}" if start.WIDTH == start.HEIGHT else f"{start.WIDTH}:{start.HEIGHT}"
    chosen = f"ko={KO[start.RULE]},suicide={YES_NO[start.SUICIDE]}"
    facts = {"GM": "1", "FF": "4", "CA": "UTF-8", "AP": "cutnode", "SZ": size}
    facts |= {"KM": f"{start.KOMI / start.SCALE:g}", "RU": chosen, "DT": str(about["date"])}
    facts |= zip(("PW", "PB") if start.second else ("PB", "PW"), about["players"], strict=True)
    value = about["value"]
    if value is not None:
        black = -value if start.second else value
        points = "" if start.DECISIVE else f"{abs(value) / start.SCALE:g}"
        facts["RE"] = "0" if value == 0 else f"{'B' if black > 0 else 'W'}+{points}"
    headers = about.get("headers", {})
    facts |= {name: text for name, text in headers.items() if name not in OWN_FACTS}
    if comment := about.get("comment", ""):
        facts["C"] = comment
    root = "".join(f"{name}[{sgf.escaped(text)}]" for name, text in facts.items())
    places = {
        move_text(start, n): sgf.point_text(n % start.WIDTH, n // start.WIDTH)
        for n in range(start.AREA)
    }
    for name, content in (("AB", 1), ("AW", 2)):
        stones = [n for n in range(start.AREA) if cell(start, n) == content]
        points = "".join(f"[{places[move_text(start, n)]}]" for n in stones)
        root += f"{name}{points}" if stones else ""
    root += "PL[W]" if start.second else ""
    return f"(;{root}\n{sgf.nodes_text(moves, places, start.second)})\n"


def parse_record(text: str) -> tuple[str, list[Any], dict[str, Any]]:
    """Return the first position of a game in SGF, its moves, and its variant, facts and comment."""
    tree = sgf.read_tree(text)
    root = tree.nodes[0]
    if root.get("GM", ["1"])[0].strip() != "1":
        raise PositionError(f"GM[{root['GM'][0]}] is another game; Go is GM[1]")
    size = sgf.size_of(root)
    komi = root.get("KM", ["0"])[0].strip() or "0"
    if not re.fullmatch(r"-?[0-9]{1,3}(\.[0-9]{0,4})?", komi) or float(komi) * 2 % 1:
        raise PositionError(f"komi must be a number in steps of 0.5, got KM[{komi}]")
    named = root.get("RU", [""])[0].strip().lower()
    named = named if named.startswith("ko=") else RULES_OF_NAMES.get(named, "")
    variant = ",".join(filter(None, [f"{size[0]}x{size[1]}", f"komi={float(komi):g}", named]))
    empty = start(variant)
    contents = [0] * empty.AREA
    for name, content in (("AB", 1), ("AW", 2)):
        for point in root.get(name, []):
            column, row = sgf.read_point(point, *size)
            contents[row * size[0] + column] = content
    player = root.get("PL", [""])[0].strip()[:1].upper() or sgf.first_mover(tree)
    before = "xo"[player == "W" or (not player and "HA" in root)]
    first = from_cells(contents, before, empty)
    tree.nodes[0] = {name: texts for name, texts in root.items() if name not in sgf.SETUP}
    moves = sgf.line_of(tree, size, COLUMNS, before == "o")
    headers = {name: texts[0] for name, texts in root.items() if name not in OWN_FACTS}
    said = "" if first == empty else position_text(first)
    comment = "" if sgf.moves_of(root) else "\n".join(root.get("C", []))
    return said, moves, {"headers": headers, "comment": comment, "variant": empty.VARIANT}
