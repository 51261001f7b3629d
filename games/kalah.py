"""Kalah (the mancala game of stores), with 1 to 7 houses on a side.

Rules: each player has a row of houses with equally many seeds in each, and a store at its
right end.  A move takes all seeds of one own house and sows them counter-clockwise, one
into each house and into the own store, skipping the other store.  If the last seed falls into
the own store, the player moves again.  If it falls into an empty own house, it captures: it
and the seeds of the house opposite go into the own store, if there are any opposite; in the
*empty capture* variant the last seed goes there even alone.  Once a player has no seeds in his
houses after a move (of either player), the other puts the rest into his own store, and the
game is over.

Values: the seeds in the mover's store minus those in the other.

Variants: houses and the seeds in each, ``6x4`` (the usual one), and perhaps the rule of
captures, as in ``6x4,empty``.

Text: the houses played, 1 the leftmost of the player, the one farthest from his own store
(``3 6 1``, ``361``), or a board as the first player, south, sees it, with the stores in
brackets, and who is to move::

    [0] 4 4 4 4 4 4 / 4 4 4 4 4 4 [0] south

Any board may be set up that has all seeds, and none in the houses once the game is over.

Encoding: a word for each player, with a byte for each house, from the left (as the player
sees it) in the lowest byte, and then the store, so sowing goes up::

    mover      byte  0 1 2 3 4 5  6        other     byte  6  5 4 3 2 1 0
               houses . . . . . .  store             store  . . . . . .

Sowing adds 1 in a run of bytes: to the right end of the mover's word, along the other's
without its store, and again into the mover's.  The house opposite house n is house 5 - n.
A move is the number of its house, 0 the leftmost.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np

from cutnode import (
    Bits,
    PositionError,
    compiled,
    count_moves,
    is_board,
    lowest_index,
    play_texts,
    quoted,
    without_lowest,
)
from cutnode.contract.bits import mix, product, random_index
from cutnode.contract.cells import Points, counts
from cutnode.contract.notation import contents_of, prints_board
from cutnode.contract.variants import variants

UNIT = 4

MOST_HOUSES = 7
MOST_SEEDS = 255
"""The most seeds that fit a byte, as a store may have all of them."""

ONES = Bits(0x0101010101010101)
LOW_BITS = Bits(0x7F7F7F7F7F7F7F7F)
HIGH_BITS = Bits(0x8080808080808080)


@prints_board
class Seeds(NamedTuple):
    """A position: the houses and the store of the mover and of the other."""

    mine: Bits
    theirs: Bits
    second: bool
    """Whether the second player, north, is to move; matters for texts and turns only."""


@compiled
def cell(position, index):
    """Return the seeds in a house; for a store, add one more than all seeds to tell it apart."""
    south, north = position.mine, position.theirs
    if position.second:
        south, north = north, south
    house = position.HOUSES - index
    seeds = seeds_in(north, house) if house >= 0 else seeds_in(south, -house - 1)
    in_store = house == position.HOUSES or house == -position.HOUSES - 1
    return 0 + seeds + (position.SEEDS + 1 if in_store else 0)


@compiled
def seeds_in(word, house):
    """Return the seeds in a house, or in the store, which follows the last house."""
    return (word >> Bits(8 * house)) & Bits(255)


@compiled
def ones(count):
    """Return one seed in each of the first *count* houses, up to 7."""
    return ONES & ((Bits(1) << (Bits(8) * Bits(count))) - Bits(1))


@compiled
def total(houses):
    """Return the sum of all bytes."""
    return product(houses, ONES) >> Bits(56)


@compiled
def lead(position):
    """Return the mover's store minus the opponent's (plus 0: a signed number)."""
    mine = seeds_in(position.mine, position.HOUSES)
    return 0 + mine - seeds_in(position.theirs, position.HOUSES)


@compiled
def filled(position):
    """Return the high bit of each of the mover's houses that has seeds."""
    houses = position.mine & position.ROW
    return (((houses & LOW_BITS) + LOW_BITS) | houses) & HIGH_BITS


@compiled
def moves(position, buffer, at):
    return write_houses(filled(position), buffer, at)


@compiled
def random_move(position, word):
    return random_index(filled(position), word) >> 3


@compiled
def write_houses(houses, buffer, at):
    """Write houses, given by the high bits of their bytes, as moves."""
    while houses:
        buffer[at] = lowest_index(houses) >> 3
        houses = without_lowest(houses)
        at += 1
    return at


@compiled
def play(position, move):
    """Sow whole laps around the board, then the rest; then apply the rule of the last seed."""
    size = Bits(position.HOUSES)
    seeds = seeds_in(position.mine, move)
    mine = position.mine ^ (seeds << Bits(8 * move))
    theirs = position.theirs
    if seeds >= position.LAP:
        laps = seeds // position.LAP
        mine += laps * ones(size) + (laps << (Bits(8) * size))
        theirs += laps * ones(size)
        seeds %= position.LAP
    run = Bits(2) * (Bits(move) * position.LAP + seeds)
    mine += Bits(position.RUNS[run])
    theirs += Bits(position.RUNS[run + Bits(1)])
    last = Bits(move) + seeds
    if last >= position.LAP:
        last -= position.LAP
    # Captures and turns by masks: no processor can predict either.
    house = (Bits(8) * last) & Bits(63)
    across = (Bits(8) * (size - Bits(1) - last)) & Bits(63)
    captured = (theirs >> across) & Bits(255)
    alone = (last < size) & ((mine >> house) & Bits(255) == Bits(1))
    taken = every_bit(alone & ((captured != Bits(0)) | position.EMPTY))
    theirs ^= (captured << across) & taken
    mine += (((captured + Bits(1)) << (Bits(8) * size)) - (Bits(1) << house)) & taken
    if mine & position.ROW == Bits(0) or theirs & position.ROW == Bits(0):
        mine, theirs = gathered(position, mine, theirs)
    again = last == size
    change = (mine ^ theirs) & every_bit(not again)
    return position._replace(
        mine=mine ^ change, theirs=theirs ^ change, second=position.second == again
    )


@compiled
def every_bit(flag):
    """Return all bits set if *flag* is, else none."""
    return -Bits(flag)


@compiled
def gathered(position, mine, theirs):
    """Return the words with all seeds in the stores."""
    store = Bits(8 * position.HOUSES)
    return total(mine) << store, total(theirs) << store


@compiled
def outcome(position):
    if position.mine & position.ROW == Bits(0):
        return True, lead(position)
    return False, 0


@compiled
def turn(position):
    return 1 if position.second else 0


@compiled
def key(position):
    """Return a key in which the highest bit tells north's positions from south's."""
    return word_of(position) ^ (Bits(position.second) << Bits(63))


@compiled
def word_of(position):
    """Return a word of the seeds, whoever is to move: exact if the board has few, else a hash.

    The exact word is a 1, then for each house of the mover and of the other as many zeros as it
    has seeds and a 1, and then as many zeros as there are seeds in the mover's store.  The rest
    is in the other store.
    """
    if not position.EXACT:
        return mix(position.mine) ^ position.theirs
    return houses_word(position) << seeds_in(position.mine, position.HOUSES)


@compiled
def houses_word(position):
    """Pack the seeds in houses into a word, as in :func:`word_of`."""
    mine, theirs = position.mine, position.theirs
    first, second = Bits(1), Bits(0)
    for house in range(position.HOUSES):
        first = (first << (seeds_in(mine, house) + Bits(1))) | Bits(1)
        second = (second << (seeds_in(theirs, house) + Bits(1))) | Bits(1)
    length = total(theirs & position.ROW) + Bits(position.HOUSES)
    return (first << length) | second


@compiled
def canonical(position):
    """Return a key that is the same for both players."""
    return word_of(position), 0


@compiled
def settled(position):
    """Return the lead and a key of the houses: the stores count at the end, and only then."""
    if not position.EXACT:
        return lead(position), mix(position.mine & position.ROW) ^ (position.theirs & position.ROW)
    return lead(position), houses_word(position)


# Results known without search


@compiled
def seeds_left(position):
    """Return the seeds in houses."""
    return 0 + total((position.mine + position.theirs) & position.ROW)


@compiled
def bounds(position, alpha, beta):
    """Bound the value: at worst, all remaining seeds go to the other."""
    ahead = lead(position)
    left = seeds_left(position)
    return ahead - left, ahead + left


@compiled
def plies_left(position):
    """Return a bound on the plies left: each move lowers ``steps`` by 1 or more."""
    return steps(position, position.mine + position.theirs)


@compiled
def steps(position, word):
    """Return the sum over all seeds in houses of ``FAR`` plus the houses to their right.

    A move that sows no seed into the store moves seeds to the right.  For each seed that it
    sows there, the seeds sown after it, at most one into each house of the board, gain at most
    m * (m - 1) houses to their right, with m houses on a side: less than the ``FAR`` that is
    lost with the seed.  Captures only lower the sum.
    """
    count = 0
    for house in range(position.HOUSES):
        count += (position.FAR + position.HOUSES - 1 - house) * seeds_in(word, house)
    return count


@compiled
def order(position, move, child):
    """Order moves that move again first, from the right, then by seeds gained and kept at home."""
    if child.second == position.second:
        return 100_000 + move
    return 100 * brought(position, child) + 10 * total(child.theirs & position.ROW) + move


@compiled
def brought(position, child):
    """Return the seeds that a move without another turn brings into the store."""
    return 0 + seeds_in(child.theirs, position.HOUSES) - seeds_in(position.mine, position.HOUSES)


# Heuristics for searches that stop before the end of the game


@compiled
def evaluate(position):
    return lead(position)


@compiled
def noisy(position, buffer, at):
    """Write the moves that move again, and those that bring more than one seed: captures."""
    end = at
    for number in range(at, moves(position, buffer, at)):
        move = buffer[number]
        child = play(position, move)
        if child.second == position.second or brought(position, child) > 1:
            buffer[end] = move
            end += 1
    return end


@compiled
def features(position):
    """Return filled houses, moves that move again, stores, seeds in houses, and seeds to gain."""
    other = position._replace(
        mine=position.theirs, theirs=position.mine, second=not position.second
    )
    store = position.HOUSES
    return (
        *(count_moves(position), count_moves(other)),
        *(moves_to_store(position), moves_to_store(other)),
        *(seeds_in(position.mine, store), seeds_in(other.mine, store)),
        *(0, 0),
        *(total(position.mine & position.ROW), total(other.mine & position.ROW)),
        *(seeds_to_gain(position), seeds_to_gain(other)),
    )


@compiled
def moves_to_store(position):
    """Count the moves whose last seed falls into the mover's store."""
    count = 0
    for house in range(position.HOUSES):
        distance = Bits(position.HOUSES - house)
        count += seeds_in(position.mine, house) % position.LAP == distance
    return count


@compiled
def seeds_to_gain(position):
    """Return the most seeds that a move without another turn would bring into the store."""
    most = 0
    for house in range(position.HOUSES):
        if seeds_in(position.mine, house):
            child = play(position, house)
            if child.second != position.second:
                most = max(most, brought(position, child))
    return most


# Boards of all sizes


def _settings(variant: str) -> tuple[int, int, bool]:
    """Read the houses on a side, the seeds in each, and whether there are empty captures."""
    match = re.fullmatch(r"([0-9]{1,9})x([0-9]{1,9})(,empty)?", variant)
    if not match:
        raise PositionError(
            f"{quoted(variant)} is not a variant; write HOUSESxSEEDS, as in 4x3, "
            f"and with captures of nothing 4x3,empty"
        )
    return int(match[1]), int(match[2]), bool(match[3])


def cells(houses: int, seeds: int) -> Points:
    """Return north's store and houses above south's houses and store, as south sees them."""
    north, south = range(houses + 1), range(1, houses + 2)
    return Points(
        tuple((float(x), float(y)) for y, row in enumerate((north, south)) for x in row),
        contents=counts("seeds", seeds) | {f"[{n}]": f"store {n}" for n in range(seeds + 1)},
        players={"south": "south", "north": "north"},
    )


def runs(houses: int) -> np.ndarray[Any, Any]:
    """Return what less than a lap of seeds adds to both words, by house and number of seeds."""
    lap = 2 * houses + 1
    places = [(1 << 8 * n, 0) for n in range(houses + 1)] + [(0, 1 << 8 * n) for n in range(houses)]
    sown = [
        [places[(house + 1 + n) % lap] for n in range(seeds)]
        for house in range(houses)
        for seeds in range(lap)
    ]
    words = [sum(place[player] for place in run) for run in sown for player in range(2)]
    return np.array(words, np.uint64)


VARIANTS = "6x4", "4x3", "6x4,empty"


@variants(
    Seeds,
    usual="6x4",
    read=_settings,
    about="houses of a player and seeds in each, and perhaps captures of nothing: 4x3 or 4x3,empty",
)
def board(houses: int, seeds: int, empty: bool) -> dict[str, Any]:
    """Return the constants of a board; :class:`PositionError` if no board has that size."""
    everything = 2 * houses * seeds
    if not (1 <= houses <= MOST_HOUSES and seeds >= 1 and everything <= MOST_SEEDS):
        raise PositionError(
            f"there is no board of {houses}x{seeds}: a board has 1 to {MOST_HOUSES} houses on a "
            f"side and 1 seed or more in each, at most {MOST_SEEDS} in all, as in 6x4 or 4x3"
        )
    far = houses * (houses - 1) + 1
    return {
        "HOUSES": houses,
        "SEEDS": everything,
        "CELLS": cells(houses, everything),
        "BEGINNING": Bits(seeds * ones(houses)),
        "LAP": Bits(2 * houses + 1),
        "RUNS": runs(houses),
        "EMPTY": empty,
        "ROW": Bits((1 << 8 * houses) - 1),
        "EXACT": everything + 2 * houses + 1 < 64,
        "VARIANT": f"{houses}x{seeds}{',empty' * empty}",
        "MAX_MOVES": houses,
        "FAR": far,
        "MAX_PLIES": seeds * houses * (2 * far + houses - 1),
    }


Position = board(6, 4, False)


# Text


def start(variant: str = "") -> Seeds:
    """Return the same seeds in each house of a board such as ``6x4`` or ``4x3,empty``."""
    cls = board.of(variant)
    return cls(cls.BEGINNING, cls.BEGINNING, False)


def parse_position(text: str, variant: str = "") -> Seeds:
    """Read the houses played, or a board (see the module's docstring)."""
    empty = start(variant)
    return _parse_board(text, empty) if is_board(text, "[") else parse_houses(text, empty)


def from_cells(contents: list[int], mover: str, start: Seeds) -> Seeds:
    return _parse_board(start.CELLS.text(contents, mover), start)


def position_text(position: Seeds) -> str:
    return position.CELLS.text(contents_of(position), mover(position))


def mover(position: Seeds) -> str:
    return "north" if position.second else "south"


def parse_move(position: Seeds, text: str) -> int:
    if not re.fullmatch("[0-9]", text):
        raise PositionError(f"{quoted(text)} is not a house; houses are 1..{position.HOUSES}")
    if not 1 <= int(text) <= position.HOUSES:
        raise PositionError(f"there is no house {text}; houses are 1..{position.HOUSES}")
    if outcome(position)[0]:
        raise PositionError(f"house {text} is played after the game is over")
    if not seeds_in(position.mine, int(text) - 1):
        raise PositionError(f"{mover(position)} has no seeds in house {text}")
    return int(text) - 1


def move_text(position: Seeds, move: int) -> str:
    return str(move + 1)


def parse_houses(text: str, position: Any) -> Any:
    """Read the houses played, with or without blanks and commas between them."""
    return play_texts(position, re.sub(r"[\s,]", "", text), text)


def _parse_board(text: str, empty: Seeds) -> Seeds:
    north, south, second = parse_rows(text, empty)
    for name, other, seeds, others in (
        ("north", "south", north, south),
        ("south", "north", south, north),
    ):
        if not any(seeds[:-1]) and any(others[:-1]):
            raise PositionError(
                f"{name} has no seeds in houses: the game is over, and the seeds of {other} "
                f"are in the store"
            )
    return type(empty)(*words(north, south, second), second)


def parse_rows(text: str, empty: Any) -> tuple[list[int], list[int], bool]:
    """Read north's seeds and south's, the store last, and whether north is to move.

    *empty* is a position of the board, which has all seeds somewhere.
    """
    example = f"as in {empty.CELLS.text(contents_of(empty), mover(empty))}"
    lines = (" ".join(line.split()) for line in re.split(r"[/\n]", text.lower()))
    said = re.fullmatch("(.*)[ /](north|south)( to move)?", "/".join(filter(None, lines)))
    if not said:
        raise PositionError(f"after the board, say who is to move: south or north, {example}")
    drawn = said[1].split("/")
    if len(drawn) != 2:
        raise PositionError(
            f"the board has {len(drawn)} rows; it has two, north's and south's, {example}"
        )
    number = "([0-9]{1,9})"
    houses, store = " ".join([number] * empty.HOUSES), rf"\[ ?{number} ?\]"
    found = []
    for name, row, pattern in (
        ("north", drawn[0], f"{store} ?{houses}"),
        ("south", drawn[1], f"{houses} ?{store}"),
    ):
        match = re.fullmatch(pattern, row.strip())
        if not match:
            raise PositionError(
                f"{quoted(row)} is not {name}'s row: the seeds of {empty.HOUSES} houses, "
                f"and of the store in brackets, {example}"
            )
        seeds = [int(group) for group in match.groups()]
        found.append(seeds[::-1] if name == "north" else seeds)
    north, south = found
    if sum(north + south) != empty.SEEDS:
        raise PositionError(
            f"{sum(north + south)} seeds are on the board; all houses and stores together "
            f"have {empty.SEEDS}"
        )
    return north, south, said[2] == "north"


def words(north: list[int], south: list[int], second: bool) -> tuple[Bits, Bits]:
    """Return the words of the mover and of the other."""
    mine, theirs = (Bits(int.from_bytes(bytes(seeds), "little")) for seeds in (south, north))
    return (theirs, mine) if second else (mine, theirs)
