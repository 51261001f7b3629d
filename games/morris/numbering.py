"""Numbering of the positions of a morris game, and retreats (moves taken back), for tablebases.

With no man in hand, a layer has the positions with given numbers of men of the two sides on the
board: taking a man leads to an earlier layer.  With men still in hand, a layer is given by the
number of men in both hands, and the numbers of the mover's and the other's on the board.  Only the
small games have these layers (``HAND_LAYERS``); in the large ones, which nobody can store as a
whole, a tablebase begins when all men are put.

Symmetric positions share a number, which is computed from the image in which the men of the side
with more of them are least (R. Gasser, "Solving Nine Men's Morris", 1996, whose index has the same
range of 9,074,932,579).  Two small tables find those men: first their corners are turned into the
least of their images, and then the other points by the turns that leave these corners unchanged,
which form a *group* (most often a trivial one).  The men of the other side are the rank of a set
among the remaining points (``cutnode.contract.subsets``).  Where several turns lead to the same men
of the one side, only the least set of the other's is used, and the other numbers are holes.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from cutnode import Bits, compiled, lowest, lowest_index, popcount, without_lowest
from cutnode.contract.constants import Constant
from cutnode.contract.subsets import binomial, rank_of, set_of_rank
from cutnode.contract.verbs import NO_INDEX
from cutnode.games.morris.board import CORNERS, SYMMETRIES, completing, image, neighbours

FEWEST = 3
"""The fewest men with which a player has not lost."""


@compiled
def layer(position):
    """Return the layer of a position; positions in none have the number after the last."""
    mine, theirs = popcount(position.mine), popcount(position.theirs)
    hands, ahead = position.hand + position.their_hand, position.hand - position.their_hand
    if hands == 0:
        return layer_of(max(mine, theirs), max(min(mine, theirs), FEWEST))
    if not position.HAND_LAYERS or not 0 <= ahead <= 1:
        return position.LAYERS
    side = position.MEN + 1
    return position.BOARD_LAYERS + ((hands - 1) * side + mine) * side + theirs


@compiled
def layer_of(more, fewer):
    """Return the layer of given numbers of men of the two sides, with none in hand."""
    return (more - FEWEST) * (more - FEWEST + 1) // 2 + fewer - FEWEST


@compiled
def index(position):
    """Return the number of a position in its layer, or ``NO_INDEX``.

    With no man in hand, positions in which the mover has fewer men come after the others.
    """
    more, fewer = position.mine, position.theirs
    behind = popcount(more) < popcount(fewer)
    if behind:
        more, fewer = fewer, more
    on_board = position.hand + position.their_hand == 0
    if layer(position) == position.LAYERS or (on_board and popcount(fewer) < FEWEST):
        return NO_INDEX
    number = number_of(position, more, fewer)
    if behind and on_board:
        number += placements(position, popcount(more), popcount(fewer))
    return number


@compiled
def number_of(position, more, fewer):
    """Return the number of a board among all with the same numbers of men."""
    entry = CLASS[position.CLASS_TABLE + (more & CORNERS)]
    group = (entry >> 4) & 0xFFF
    word = image(position, more | (fewer << Bits(32)), entry & 15)
    orbit = ORBIT[ORBIT_TABLE[group] + rest_of(position, word)]
    word = least_image(position, word, orbit & 0xFFFF)
    more, fewer = word & Bits(0xFFFFFFFF), word >> Bits(32)
    men, corners = popcount(more), popcount(more & CORNERS)
    number = BEFORE[slot_of(position, men, corners, group)]
    number += (entry >> 16) * ORBITS[13 * group + men - corners] + (orbit >> 16)
    free = position.BOARD & ~more
    return number * binomial(popcount(free), popcount(fewer)) + rank_of(fewer, free)


@compiled
def rest_of(position, word):
    """Return the points of the first set of a word other than corners, as a number from 0 on."""
    rest = (word >> Bits(12)) & CORNERS
    return rest | ((word >> Bits(20)) & Bits(16)) if position.CENTRE else rest


@compiled
def least_image(position, word, symmetries):
    """Return the least of the images by some symmetries, given as bits."""
    least, left = image(position, word, lowest_index(symmetries)), without_lowest(symmetries)
    while left:
        least = min(least, image(position, word, lowest_index(left)))
        left = without_lowest(left)
    return least


@compiled
def slot_of(position, men, corners, group):
    """Return where ``BEFORE`` has the sets of *men* with *corners* that a group leaves fixed."""
    first = position.BEFORE_TABLE + men * (13 * position.GROUPS + 1)
    return first + corners * position.GROUPS + group - position.FIRST_GROUP


@compiled
def placements(position, more, fewer):
    """Return how many numbers the boards with given numbers of men take, holes included."""
    sets = BEFORE[slot_of(position, more, 13, position.FIRST_GROUP)]
    return sets * binomial(position.SIZE - more, fewer)


@compiled
def position_at(example, layer, index):
    """Return the position of a number, taking its parts from the last one on."""
    hands, mine, theirs = sides_of(example, layer)
    more, fewer = max(mine, theirs), min(mine, theirs)
    behind = mine < theirs
    if hands == 0 and index >= placements(example, more, fewer):
        behind = True
        index -= placements(example, more, fewer)
    sets = binomial(example.SIZE - more, fewer)
    men = set_of_number(example, more, index // sets)
    others = set_of_rank(index % sets, fewer, example.BOARD & ~men)
    if behind:
        men, others = others, men
    return example._replace(
        mine=men,
        theirs=others,
        hand=(hands + 1) >> 1,
        their_hand=hands >> 1,
        second=False,
    )


@compiled
def set_of_number(example, men, number):
    """Return the least set of *men* men, up to symmetry, that has a number."""
    corners, group = 0, example.FIRST_GROUP
    while BEFORE[slot_of(example, men, corners + 1, group)] <= number:
        corners += 1
    while BEFORE[slot_of(example, men, corners, group + 1)] <= number:
        group += 1
    number -= BEFORE[slot_of(example, men, corners, group)]
    row = 13 * group + men - corners
    place = LEAST_CORNERS_TABLE[13 * group + corners] + number // ORBITS[row]
    rest = LEAST_REST[LEAST_REST_TABLE[row] + number % ORBITS[row]]
    return Bits(LEAST_CORNERS[place] | rest)


@compiled
def sides_of(position, layer):
    """Return the men in both hands, the mover's on the board, and the other's on the board."""
    if layer < position.BOARD_LAYERS:
        more = FEWEST
        while layer_of(more + 1, FEWEST) <= layer:
            more += 1
        return 0, more, layer - layer_of(more, FEWEST) + FEWEST
    side = position.MEN + 1
    layer -= position.BOARD_LAYERS
    return layer // (side * side) + 1, layer // side % side, layer % side


# Moves taken back


@compiled
def retreats(position, buffer, at):
    """Write the moves of the other's men on the board that closed no mill, unless a line wins."""
    if position.hand + position.their_hand > 0:
        return at
    empty = position.BOARD & ~(position.mine | position.theirs)
    targets = position.theirs
    if not position.LINE_WINS:
        targets &= ~completing(position, position.theirs)
    flying = position.FLYING and position.their_hand == 0 and popcount(position.theirs) == FEWEST
    if not flying:
        targets &= neighbours(position, empty)
    while targets:
        target = lowest(targets)
        targets ^= target
        sources = empty if flying else neighbours(position, target) & empty
        first = lowest_index(target)
        while sources:
            buffer[at] = first + 32 * lowest_index(sources)
            sources = without_lowest(sources)
            at += 1
    return at


@compiled
def retreat(position, number):
    """Put the man back on the point where the move began."""
    change = (Bits(1) << Bits(number & 31)) | (Bits(1) << Bits(number >> 5))
    return position._replace(
        mine=position.theirs ^ change,
        theirs=position.mine,
        hand=position.their_hand,
        their_hand=position.hand,
        second=not position.second,
    )


# Tables for the boards of three, two and one squares, one after the other


class _Board(NamedTuple):
    """The tables of one board."""

    constants: dict[str, Any]
    classes: list[int]
    """For each set of corners: 65536 times its rank among sets of the same size and group, plus 16
    times the group, plus the symmetry that turns it into its least image."""
    orbits: list[list[int]]
    """For each group and each set of other points: 65536 times its rank among sets of the same
    size, plus a bit for each symmetry of the group that turns it into its least image."""
    least_corners: list[list[int]]
    """The least images of corners, by group and by their number of points, 0 to 12."""
    least_rest: list[list[int]]
    """The least images of other points, by group and by their number of points, 0 to 12."""
    before: list[int]
    """For 0 to 12 men, the number of sets before each number of corners and group, and of all."""


def _images(board: Any, points: list[int]) -> Any:
    """Return the images of all sets of some points, as sets of these: a row for each symmetry."""
    sets = np.arange(1 << len(points))
    found = np.zeros((SYMMETRIES, len(sets)), np.int64)
    for symmetry, (place, point) in itertools.product(range(SYMMETRIES), enumerate(points)):
        turned = points.index(int(image(board, point, symmetry)))
        found[symmetry] |= (sets >> place & 1) << turned
    return found


def _least(images: Any, symmetries: int) -> tuple[Any, Any]:
    """Return the least image by some symmetries (bits), and the symmetries that yield it."""
    chosen = np.array([symmetry for symmetry in range(SYMMETRIES) if symmetries >> symmetry & 1])
    least = images[chosen].min(axis=0)
    return least, ((images[chosen] == least) << chosen[:, None]).sum(axis=0)


def _board(rings: int, first_group: int) -> _Board:
    corners = [1 << bit for bit in range(4 * rings)]
    rest = [1 << bit + 12 for bit in range(4 * rings)] + [1 << 24] * (rings == 1)
    constants = {
        "RINGS": rings,
        "CENTRE": rings == 1,
        "BOARD": Bits(sum(corners + rest)),
        "SIZE": len(corners + rest),
        "FIRST_GROUP": first_group,
    }
    board = SimpleNamespace(**constants)
    least, turns = _least(_images(board, corners), (1 << SYMMETRIES) - 1)
    members = np.unique(least).tolist()
    groups = sorted({int(turns[word]) for word in members})
    least_corners: list[list[int]] = [[] for _ in range(13 * len(groups))]
    for word in members:
        least_corners[13 * groups.index(turns[word]) + popcount(word)].append(word)
    classes = []
    for word, turn in zip(least.tolist(), turns.tolist(), strict=True):
        group = groups.index(turns[word])
        rank = least_corners[13 * group + popcount(word)].index(word)
        classes.append(rank << 16 | first_group + group << 4 | lowest_index(turn))

    orbits, least_rest, rest_images = [], [], _images(board, rest)
    for group in groups:
        least, turns = _least(rest_images, group)
        sets: list[list[int]] = [[] for _ in range(13)]
        for word in np.unique(least).tolist():
            sets[popcount(word)].append(word)
        ranks = {word: rank for words in sets for rank, word in enumerate(words)}
        orbits.append(
            [
                ranks[word] << 16 | turn
                for word, turn in zip(least.tolist(), turns.tolist(), strict=True)
            ]
        )
        least_rest += [
            [sum(rest[place] for place in range(len(rest)) if word >> place & 1) for word in words]
            for words in sets
        ]
    before = []
    for men in range(13):
        counts = [
            len(least_corners[13 * group + count]) * len(least_rest[13 * group + men - count])
            if count <= men
            else 0
            for count, group in itertools.product(range(13), range(len(groups)))
        ]
        before += [0, *itertools.accumulate(counts)]
    constants["GROUPS"] = len(groups)
    return _Board(constants, classes, orbits, least_corners, least_rest, before)


def _boards() -> list[_Board]:
    boards: list[_Board] = []
    for rings in (3, 2, 1):
        boards.append(_board(rings, sum(len(board.orbits) for board in boards)))
        earlier = boards[:-1]
        boards[-1].constants["CLASS_TABLE"] = sum(len(board.classes) for board in earlier)
        boards[-1].constants["BEFORE_TABLE"] = sum(len(board.before) for board in earlier)
    return boards


def _joined(name: str, lists: Iterable[list[int]]) -> tuple[Constant, Constant]:
    """Return lists joined into one, and where each begins."""
    kept = list(lists)
    starts = itertools.accumulate(map(len, kept), initial=0)
    numbers = np.array([number for numbers in kept for number in numbers])
    small = numbers.astype(np.int32) if numbers.max() < 1 << 31 else numbers
    return Constant(f"morris.{name}", small), Constant(f"morris.{name}.starts", list(starts))


_BOARDS = _boards()
BOARDS = {board.constants["RINGS"]: board.constants for board in _BOARDS}
"""The constants of each board."""

CLASS, _ = _joined("classes", (board.classes for board in _BOARDS))
ORBIT, ORBIT_TABLE = _joined("orbits", (words for board in _BOARDS for words in board.orbits))
LEAST_CORNERS, LEAST_CORNERS_TABLE = _joined(
    "corners", (words for board in _BOARDS for words in board.least_corners)
)
LEAST_REST, LEAST_REST_TABLE = _joined(
    "rest", (words for board in _BOARDS for words in board.least_rest)
)
ORBITS = Constant("morris.counts", [len(words) for board in _BOARDS for words in board.least_rest])
BEFORE, _ = _joined("before", (board.before for board in _BOARDS))


def layer_constants(rules: Any) -> dict[str, Any]:
    """Return the layers of a game with ``MEN`` men on a board."""
    pairs = [
        (more, fewer) for more in range(FEWEST, rules.MEN + 1) for fewer in range(FEWEST, more + 1)
    ]
    sizes = [placements(rules, *pair) * (1 + (pair[0] > pair[1])) for pair in pairs]
    names = [f"{more}-{fewer}" for more, fewer in pairs]
    for hands in range(1, 2 * rules.MEN + 1) if rules.HAND_LAYERS else ():
        hand, their_hand = (hands + 1) // 2, hands // 2
        for mine, theirs in itertools.product(range(rules.MEN + 1), repeat=2):
            put, their_put = rules.MEN - hand, rules.MEN - their_hand
            lost = put - mine, their_put - theirs
            possible = min(lost) >= 0 and mine + hand >= FEWEST <= theirs + their_hand
            if rules.LINE_WINS:
                possible = lost == (0, 0)
            size = placements(rules, max(mine, theirs), min(mine, theirs)) if possible else 0
            sizes.append(size)
            names.append(f"{hand}+{mine}-{their_hand}+{theirs}")
    return {
        "BOARD_LAYERS": len(pairs),
        "LAYERS": len(sizes),
        "LAYER_SIZES": np.array(sizes, np.int64),
        "LAYER_NAMES": tuple(names),
    }
