"""Skirmish, a game of tactics: elements, ore, and units that take time to build.

Rules: two players face each other over a small board, the first at the bottom, the second
at the top.  Each has a base, which never moves and takes 5 hits, three units, one of each
element, and 2 gold.  A unit takes 3 hits.  Players have turns of two actions; the first
turn of the game has one.  An action is one of these:

* *move* a unit one cell up, down, left or right, to a cell that is empty;
* *attack* with a unit what is next to it in one of these four directions.  An attack does
  1 hit to a unit, or 2 if the attacker's element beats the target's: fire beats grass,
  grass beats water, water beats fire.  It does 1 hit to a base.  A unit with no hits left
  is taken from the board;
* *mine* with a unit that stands on a crystal: an ore from there becomes a gold.  A crystal
  has 3 ore;
* *build* a unit, of any element, for 2 gold.  It appears at the beginning of the second turn
  that its owner has after this one, in the owner's spawn zone, the row of the base: in the
  leftmost empty cell.  If there is none, it waits for one until the beginning of another
  turn.  No more than two units are built at a time, and they appear in order;
* *end* the turn, and lose the rest of it.

Each unit may act as often as there are actions.  Whoever brings down the enemy's base wins at
once.  When all turns are over, the player wins whose base and units on the board have more
hits left together; equal is a draw.

Hints: a unit falls in one turn to a neighbour that beats it, so keep away from what beats
you and send what beats the others.  Ore is short, and crystals between the players go to
whoever comes first.  A unit ordered now arrives when the front is elsewhere.  Enemies that
fill the spawn zone keep new units out.

Values: 1 a win, 0 a draw, -1 a loss.

Variants: boards of ``6x6`` (the usual one, 30 turns each), ``5x5`` (25) and ``4x4`` (8).

Text: the actions, such as ``b1-a1 c2xc3 mine b2 build fire end``, or a board and the rest of
the position.  Rows are separated by line ends or ``/``, the top row first; an empty cell is
``.``, others are a letter, a capital for the first player, and the hits left: ``f``, ``w``,
``g`` for units and ``b`` for the base.  Then the ore of each crystal in the same order, the
gold of the first and the second player, what they build with the turns until it appears (``-``
for nothing), the actions left, and the turns left, this one included, of which the first
player has the even ones::

    .f3b5g3../..w3.../....../....../..W3.../.F3B5G3.. ore=333333 gold=2,0 build=-,w1
    actions=2 turns=9

Encoding: boards have a bit for each cell, the first player's left corner the lowest, row by
row: the two players' units, the units of fire and of water (others are of grass), and two
planes each for the hits left of units and the ore left of crystals, the ones and the twos.
*mine* and *theirs* change places with the turn; cells do not.  A queue has four bits for each
unit, the next in the lowest: its element, counted from 1, and four times the turns until it
appears.  A move is four times the cell of a unit plus its direction; higher numbers are the
cell where a unit mines, an element to build, and the end of the turn.
"""

from __future__ import annotations

import itertools
import re
from typing import Any, NamedTuple

from cutnode import (
    Bits,
    PositionError,
    compiled,
    count_moves,
    is_board,
    lowest,
    lowest_index,
    play_texts,
    popcount,
    quoted,
    without_lowest,
)
from cutnode.contract.bits import mix
from cutnode.contract.cells import Grid
from cutnode.contract.notation import contents_of, prints_board
from cutnode.contract.variants import variants

DECISIVE = True
UNIT = 100

ACTIONS = 2
MAX_ACTIONS = ACTIONS
HITS = 3
BASE_HITS = 5
ORE = 3
GOLD = 2
COST = 2
DELAY = 2
QUEUE = 2

ELEMENTS = ("fire", "water", "grass")
PLAYERS = ("first", "second")
UP, RIGHT, LEFT, DOWN = range(4)

UNITS = {
    f"{name}{hits}{f'+{ore}' * (ore > 0)}": f"{player} {element} {hits}, ore {ore}"
    for player, letters in zip(PLAYERS, ("FWG", "fwg"), strict=True)
    for element, name in zip(ELEMENTS, letters, strict=True)
    for hits in range(1, HITS + 1)
    for ore in range(ORE + 1)
}
BASES = {
    f"{name}{hits}": f"{player} base {hits}"
    for player, name in zip(PLAYERS, "Bb", strict=True)
    for hits in range(BASE_HITS + 1)
}
CRYSTALS = {f"+{ore}": f"crystal {ore}" for ore in range(1, ORE + 1)}
CONTENTS = {".": "empty"} | UNITS | BASES | CRYSTALS
FIRST_BASE = 1 + len(UNITS)
FIRST_CRYSTAL = len(UNITS) + len(BASES)


@prints_board
class Field(NamedTuple):
    """A position: what both players have, the mover first, and the time left."""

    mine: Bits
    theirs: Bits
    fire: Bits
    water: Bits
    hits: Bits
    """Units with 1 or 3 hits left."""
    more_hits: Bits
    """Units with 2 or 3 hits left."""
    ore: Bits
    more_ore: Bits
    my_base: int
    """Hits left of the mover's base."""
    their_base: int
    my_gold: int
    their_gold: int
    my_queue: Bits
    their_queue: Bits
    actions: int
    """Actions left in this turn."""
    turns: int
    """Turns left of both players, this one included."""


@compiled
def turn(position):
    return position.turns & 1


# Cells


@compiled
def cell(position, index):
    """Return the number of a unit, a base or a crystal in :data:`CONTENTS`."""
    row, column = position.SIZE - 1 - index // position.SIZE, index % position.SIZE
    bit = Bits(1) << Bits(row * position.SIZE + column)
    mover, ore = turn(position), ore_of(position, bit)
    for player in range(2):
        if position.BASES[player] & bit:
            hits = position.my_base if player == mover else position.their_base
            return FIRST_BASE + (BASE_HITS + 1) * player + hits
    if not (position.mine | position.theirs) & bit:
        return FIRST_CRYSTAL + ore if ore else 0
    player = mover if position.mine & bit else 1 - mover
    element = 0 if position.fire & bit else 1 if position.water & bit else 2
    unit = len(ELEMENTS) * player + element
    return 1 + (ORE + 1) * (HITS * unit + hits_of(position, bit) - 1) + ore


@compiled
def ore_of(position, cells):
    """Return the ore left in some cells."""
    return popcount(cells & position.ore) + 2 * popcount(cells & position.more_ore)


@compiled
def neighbours(position, cells):
    """Return the cells next to some cells, in any direction."""
    beside = ((cells << Bits(1)) & position.NOT_LEFT) | ((cells >> Bits(1)) & position.NOT_RIGHT)
    return (beside | (cells << position.ROW_UP) | (cells >> position.ROW_UP)) & position.BOARD


@compiled
def base_of(position, player):
    """Return the cell of a player's base, 0 being the first player."""
    return position.BASES[player]


@compiled
def empty_cells(position):
    return position.BOARD & ~(
        position.mine | position.theirs | position.BASES[0] | position.BASES[1]
    )


@compiled
def targets(position):
    """Return the targets that the mover may attack, wherever they are."""
    return position.theirs | base_of(position, 1 - turn(position))


# Actions


@compiled
def moves(position, buffer, at):
    """Write moves and attacks, up, right, left, down; then mining, building, and the end."""
    at = write_steps(position, empty_cells(position) | targets(position), buffer, at)
    miners = position.mine & (position.ore | position.more_ore)
    while miners:
        buffer[at] = position.MINE + lowest_index(miners)
        miners = without_lowest(miners)
        at += 1
    if can_build(position.my_gold, position.my_queue):
        for element in range(3):
            buffer[at] = position.BUILD + element
            at += 1
    buffer[at] = position.END
    return at + 1


@compiled
def can_build(gold, queue):
    return gold >= COST and length(queue) < QUEUE


@compiled
def length(queue):
    """Return how many units are in a queue."""
    return (queue > Bits(0)) + (queue > Bits(15))


@compiled
def write_steps(position, ends, buffer, at):
    """Write the moves and attacks that go to some cells."""
    mine, row = position.mine, position.SIZE
    at = write((mine << position.ROW_UP) & ends, UP, row, buffer, at)
    at = write((mine << Bits(1)) & position.NOT_LEFT & ends, RIGHT, 1, buffer, at)
    at = write((mine >> Bits(1)) & position.NOT_RIGHT & ends, LEFT, -1, buffer, at)
    return write((mine >> position.ROW_UP) & ends, DOWN, -row, buffer, at)


@compiled
def write(ends, direction, step, buffer, at):
    while ends:
        buffer[at] = 4 * (lowest_index(ends) - step) + direction
        ends = without_lowest(ends)
        at += 1
    return at


@compiled
def end_of(position, move):
    """Return the cell to which a move or an attack goes."""
    return Bits(1) << Bits((move >> 2) + position.STEPS[move & 3])


@compiled
def play(position, move):
    if move == position.END:
        return next_turn(position)
    if move < position.MINE:
        begin, end = Bits(1) << Bits(move >> 2), end_of(position, move)
        if end & targets(position):
            return acted(attacked(position, begin, end))
        return acted(moved(position, begin, end))
    if move < position.BUILD:
        return acted(mined(position, Bits(1) << Bits(move - position.MINE)))
    return acted(ordered(position, Bits(move - position.BUILD + 1)))


@compiled
def shifted(board, begin, end):
    """Return a board with the content of one cell moved to another."""
    return board ^ (begin | end) if board & begin else board


@compiled
def moved(position, begin, end):
    return position._replace(
        mine=position.mine ^ (begin | end),
        fire=shifted(position.fire, begin, end),
        water=shifted(position.water, begin, end),
        hits=shifted(position.hits, begin, end),
        more_hits=shifted(position.more_hits, begin, end),
    )


@compiled
def beaten(position, units):
    """Return the cells of units whose elements some *units* beat."""
    grass = ~(position.fire | position.water)
    found = grass if units & position.fire else Bits(0)
    found |= position.fire if units & position.water else Bits(0)
    return found | (position.water if units & grass else Bits(0))


@compiled
def attacked(position, begin, end):
    """Attack one cell from another: two planes of bits, minus 1 or 2."""
    theirs, fire, water = position.theirs, position.fire, position.water
    hits, more_hits = position.hits, position.more_hits
    if not theirs & end:
        return position._replace(their_base=position.their_base - 1)
    if end & beaten(position, begin):
        falls = not (hits & more_hits & end)
        more_hits &= ~end
    else:
        falls = not (more_hits & end)
        more_hits ^= end & ~hits
        hits ^= end
    if falls:
        gone = ~end
        theirs, fire, water = theirs & gone, fire & gone, water & gone
        hits, more_hits = hits & gone, more_hits & gone
    return position._replace(theirs=theirs, fire=fire, water=water, hits=hits, more_hits=more_hits)


@compiled
def mined(position, cell):
    more_ore = position.more_ore ^ (cell & ~position.ore)
    return position._replace(
        ore=position.ore ^ cell, more_ore=more_ore, my_gold=position.my_gold + 1
    )


@compiled
def ordered(position, element):
    """Return the position with one more unit in the queue, of an element counted from 1."""
    entry = element | Bits(4 * DELAY)
    queue = position.my_queue | entry << Bits(4 * length(position.my_queue))
    return position._replace(my_gold=position.my_gold - COST, my_queue=queue)


@compiled
def acted(position):
    """Take one action away; after the last one, begin the next turn."""
    if position.actions == 1:
        return next_turn(position)
    return position._replace(actions=position.actions - 1)


@compiled
def exchanged(position, turns):
    """Return the position seen by the other player, with all actions."""
    return position._replace(
        mine=position.theirs,
        theirs=position.mine,
        my_base=position.their_base,
        their_base=position.my_base,
        my_gold=position.their_gold,
        their_gold=position.my_gold,
        my_queue=position.their_queue,
        their_queue=position.my_queue,
        actions=ACTIONS,
        turns=turns,
    )


@compiled
def next_turn(position):
    """Begin the other's turn: what he builds is a turn nearer, and appears if it is due."""
    position = exchanged(position, position.turns - 1)
    if position.turns == 0 or position.my_queue == Bits(0):
        return position
    queue = position.my_queue
    for number in range(QUEUE):
        if queue & (Bits(12) << Bits(4 * number)):
            queue -= Bits(4) << Bits(4 * number)
    mine, fire, water = position.mine, position.fire, position.water
    hits, more_hits = position.hits, position.more_hits
    room = empty_cells(position) & position.ZONES[turn(position)]
    while queue and room and not queue & Bits(12):
        cell, element = lowest(room), queue & Bits(3)
        mine |= cell
        hits |= cell
        more_hits |= cell
        fire |= cell if element == Bits(1) else Bits(0)
        water |= cell if element == Bits(2) else Bits(0)
        room = without_lowest(room)
        queue >>= Bits(4)
    return position._replace(
        mine=mine, fire=fire, water=water, hits=hits, more_hits=more_hits, my_queue=queue
    )


# The end


@compiled
def hits_of(position, units):
    """Return the hits left of all units together."""
    return popcount(units & position.hits) + 2 * popcount(units & position.more_hits)


@compiled
def outcome(position):
    if position.their_base == 0:
        return True, 1
    if position.my_base == 0:
        return True, -1
    if position.turns > 0:
        return False, 0
    ahead = position.my_base - position.their_base
    ahead += hits_of(position, position.mine) - hits_of(position, position.theirs)
    return True, (1 if ahead > 0 else 0) - (1 if ahead < 0 else 0)


@compiled
def bounds(position, alpha, beta):
    """Decide finished games, and bases that fall in this turn to units next to them."""
    over, value = outcome(position)
    if over:
        return value, value
    if position.their_base <= position.actions:
        if neighbours(position, base_of(position, 1 - turn(position))) & position.mine:
            return 1, 1
    return -1, 1


@compiled
def plies_left(position):
    return ACTIONS * (position.turns - 1) + position.actions


@compiled
def key(position):
    """Hash words that hold all fields, mixed one after the other.

    A board's 36 bits leave 28 for numbers.  Crystals are in the middle rows, so one of their two
    planes fits above the other.
    """
    numbers = Bits(position.turns) | Bits(position.actions) << Bits(7)
    numbers |= Bits(position.my_base) << Bits(9) | Bits(position.their_base) << Bits(12)
    numbers |= Bits(position.my_gold) << Bits(15) | Bits(position.their_gold) << Bits(20)
    queues = position.my_queue | position.their_queue << Bits(8)
    word = mix(position.mine | numbers << Bits(36))
    word = mix(word ^ (position.theirs | queues << Bits(36)))
    word = mix(word ^ (position.ore | position.more_ore << Bits(32)))
    for board in (position.fire, position.water, position.hits, position.more_hits):
        word = mix(word ^ board)
    return word


# Heuristics


@compiled
def evaluate(position):
    """Score hits, bases, gold, what is built, and how far units are, own minus the other's."""
    player = turn(position)
    mine = strength(position, player, position.mine, position.my_queue)
    theirs = strength(position, 1 - player, position.theirs, position.their_queue)
    matches = matching(position, position.mine, position.theirs)
    matches -= matching(position, position.theirs, position.mine)
    wealth = 60 * (position.my_base - position.their_base)
    wealth += 32 * (position.my_gold - position.their_gold)
    return mine - theirs + wealth + 6 * matches + 10 * position.actions


@compiled
def strength(position, player, units, queue):
    """Return the worth of a player's units on the board and in the queue."""
    total = 10 * popcount(units) + 30 * hits_of(position, units)
    total += 8 * popcount(units & (position.ore | position.more_ore))
    total += 80 * length(queue)
    for around in position.NEAR[1 - player]:
        total += 6 * popcount(units & around)
    return total


@compiled
def matching(position, units, others):
    """Count the pairs of a unit and another one that it beats."""
    fire, water = position.fire, position.water
    grass = ~(fire | water)
    pairs = popcount(units & fire) * popcount(others & grass)
    pairs += popcount(units & water) * popcount(others & fire)
    return pairs + popcount(units & grass) * popcount(others & water)


@compiled
def order(position, move, child):
    """Order attacks, kills first; then mining and building, then moves forward; the end last."""
    if move == position.END:
        return -100
    if move >= position.MINE:
        return 20
    end = end_of(position, move)
    if end & position.theirs:
        beats = end & beaten(position, Bits(1) << Bits(move >> 2))
        left = hits_of(position, end) - (2 if beats else 1)
        return 300 - 50 * max(left, 0) + (10 if beats else 0)
    if end & base_of(position, 1 - turn(position)):
        return 200 - 10 * position.their_base
    forward = (1 if move & 3 == UP else 0) - (1 if move & 3 == DOWN else 0)
    return 10 * forward * (1 if turn(position) == 0 else -1)


@compiled
def noisy(position, buffer, at):
    """Write attacks."""
    return write_steps(position, targets(position), buffer, at)


@compiled
def skip(position):
    """Always allow a null move: ending the turn is an action."""
    return True, next_turn(position)


@compiled
def features(position):
    """Return actions, units to build, hits, cells held or next to units, gold and ore, attacks."""
    other = exchanged(position, position.turns + 1)
    return (
        *(count_moves(position), count_moves(other)),
        *(units_to_build(position), units_to_build(other)),
        *(material(position), material(other)),
        *(territory(position), territory(other)),
        *(resources(position), resources(other)),
        *(threat(position), threat(other)),
    )


@compiled
def units_to_build(position):
    """Return how many units the mover's gold and queue allow."""
    return min(position.my_gold // COST, QUEUE - length(position.my_queue))


@compiled
def material(position):
    """Return the hits left of the base and of units, including those in the queue."""
    hits = position.my_base + hits_of(position, position.mine)
    return hits + HITS * length(position.my_queue)


@compiled
def territory(position):
    """Count the cells where the mover has a unit or can have one with an action."""
    near = neighbours(position, position.mine) & empty_cells(position)
    return popcount(position.mine | near)


@compiled
def resources(position):
    """Return gold plus the ore under units."""
    return position.my_gold + ore_of(position, position.mine)


@compiled
def threat(position):
    """Return the hits of all attacks that the mover could begin with."""
    grass = ~(position.fire | position.water)
    total = hits_from(position, position.mine & position.fire, grass)
    total += hits_from(position, position.mine & position.water, position.fire)
    return total + hits_from(position, position.mine & grass, position.water)


@compiled
def hits_from(position, units, prey):
    """Return the hits of all attacks of *units*, which beat targets in the cells *prey*."""
    row, ends = position.ROW_UP, targets(position)
    total = 0
    for cells in (ends, position.theirs & prey):
        total += popcount((units << row) & cells) + popcount((units >> row) & cells)
        total += popcount((units << Bits(1)) & position.NOT_LEFT & cells)
        total += popcount((units >> Bits(1)) & position.NOT_RIGHT & cells)
    return total


# Boards


class Map(NamedTuple):
    """The first player's half of a board; the second's is its mirror image."""

    size: int
    base: str
    units: str
    """One unit of each element."""
    crystals: str
    turns: int


MAPS = {
    "6x6": Map(6, "c1", "b1 c2 d1", "b2 e2 f3", 60),
    "5x5": Map(5, "c1", "b1 c2 d1", "b2 e2 c3", 50),
    "4x4": Map(4, "b1", "a1 b2 c1", "d2", 16),
}

COLUMNS = "abcdef"

VARIANTS = "6x6", "5x5", "4x4"


@variants(
    Field,
    usual="6x6",
    read=str,
    about="the board, 4x4, 5x5 or 6x6: 5x5",
)
def board(size: str) -> dict[str, Any]:
    """Return the constants of a board; :class:`PositionError` if no board has that name."""
    if size not in MAPS:
        raise PositionError(f"{quoted(size)} is not a board; boards are {', '.join(MAPS)}")
    chart = MAPS[size]
    side = chart.size
    row = (1 << side) - 1
    column = sum(1 << side * number for number in range(side))
    base, *units = (cell_bit(name, side) for name in f"{chart.base} {chart.units}".split())
    crystals = sum(cell_bit(name, side) for name in chart.crystals.split())
    cells = side * side
    return {
        "SIZE": side,
        "BOARD": Bits(row * column),
        "ROW_UP": Bits(side),
        "NOT_LEFT": Bits(row * column & ~column),
        "NOT_RIGHT": Bits(row * column & ~(column << side - 1)),
        "STEPS": (side, 1, -1, -side),
        "BASES": (Bits(base), Bits(mirrored(base, side))),
        "NEAR": (
            tuple(nearer_than(base, distance, side) for distance in range(1, 2 * side - 1)),
            tuple(
                nearer_than(mirrored(base, side), distance, side)
                for distance in range(1, 2 * side - 1)
            ),
        ),
        "ZONES": (Bits(row), Bits(row << side * (side - 1))),
        "UNITS": tuple(map(Bits, units)),
        "CRYSTALS": Bits(crystals | mirrored(crystals, side)),
        "TURNS": chart.turns,
        "MINE": 4 * cells,
        "BUILD": 5 * cells,
        "END": 5 * cells + len(ELEMENTS),
        "VARIANT": size,
        "CELLS": Grid(
            side,
            side,
            contents=CONTENTS,
            players={player: player for player in PLAYERS},
            row_names="654321"[-side:],
            column_names=COLUMNS[:side],
        ),
        # Each pair of neighbours is at most one move, as no unit moves to another of its own side.
        "MAX_MOVES": 2 * (cells - side) + 2 * len(chart.crystals.split()) + 4,
        "MAX_PLIES": ACTIONS * chart.turns - 1,
    }


def cell_bit(name: str, side: int) -> int:
    """Return the bit of a cell by its name, such as b2."""
    return 1 << side * (int(name[1]) - 1) + COLUMNS.index(name[0])


def nearer_than(bit: int, distance: int, side: int) -> Bits:
    """Return the cells from which a unit needs fewer than *distance* moves to some cell."""
    row, column = divmod(bit.bit_length() - 1, side)
    cells = (divmod(cell, side) for cell in range(side * side))
    near = (abs(y - row) + abs(x - column) < distance for y, x in cells)
    return Bits(sum(is_near << cell for cell, is_near in enumerate(near)))


def mirrored(cells: int, side: int) -> int:
    """Return cells with the rows in reverse order."""
    rows = [cells >> side * number & (1 << side) - 1 for number in range(side)]
    return sum(row << side * number for number, row in enumerate(reversed(rows)))


Position = board("6x6")


# Text

MOVE = r"[a-z]\d[-x][a-z]\d|mine\s+[a-z]\d|build\s+[a-z]+|end"
ALLOWED = "b2-b3 (a move), b2xb3 (an attack), mine b2, build fire, end"


def start(variant: str = "") -> Field:
    """Return the first position on a board such as ``5x5``; the usual one is 6x6."""
    cls = board.of(variant)
    fire, water, grass = (Bits(unit | mirrored(unit, cls.SIZE)) for unit in cls.UNITS)
    units = Bits(fire | water | grass)
    first = Bits(sum(cls.UNITS))
    return cls(
        *(first, Bits(units ^ first), fire, water, units, units, cls.CRYSTALS, cls.CRYSTALS),
        *(BASE_HITS, BASE_HITS, GOLD, GOLD, Bits(0), Bits(0), 1, cls.TURNS),
    )


def parse_position(text: str, variant: str = "") -> Field:
    """Read the actions played, or a position (see the module's docstring)."""
    first = start(variant)
    return _parse_board(text, first) if is_board(text, ".=") else _parse_moves(text, first)


def position_text(position: Field) -> str:
    """Return the board in rows, and then the rest."""
    symbols = position.CELLS.symbols(contents_of(position))
    units = [symbol.partition("+")[0] or "." for symbol in symbols]
    rows = ("".join(units[row.start : row.stop]) for row in position.CELLS.rows)
    ore = (str(ore_of(position, 1 << cell)) for cell in crystals_read(position))
    (_, *first), (_, *second) = possessions(position)
    queues = (
        "".join(f"{ELEMENTS[element][0]}{turns}" for element, turns in entries(queue)) or "-"
        for _, queue in (first, second)
    )
    return (
        f"{'/'.join(rows)} ore={''.join(ore)} gold={first[0]},{second[0]} "
        f"build={','.join(queues)} actions={position.actions} turns={position.turns}"
    )


def from_cells(contents: list[int], mover: str, start: Field) -> Field:
    """Return the position of these cells at the first turn of a player, without gold."""
    symbols = [symbol.partition("+") for symbol in start.CELLS.symbols(contents)]
    units = [unit or "." for unit, _, _ in symbols]
    rows = ("".join(units[row.start : row.stop]) for row in start.CELLS.rows)
    ore = ""
    for cell, (_, _, number) in zip(itertools.chain(*cells_read(start)), symbols, strict=True):
        if start.CRYSTALS >> cell & 1:
            ore += number or "0"
        elif number:
            raise PositionError(f"there is no crystal on {cell_name(start, cell)}")
    turns = start.TURNS - (PLAYERS.index(mover) != start.TURNS % 2)
    actions = 1 if turns == start.TURNS else ACTIONS
    rest = f"ore={ore} gold=0,0 build=-,- actions={actions} turns={turns}"
    return _parse_board(f"{'/'.join(rows)} {rest}", start)


def mover(position: Field) -> str:
    return PLAYERS[turn(position)]


def caption(position: Field) -> str:
    """State what both players have, and what is left of the turn and of the game."""
    lines = []
    for player, (base, gold, queue) in zip(PLAYERS, possessions(position), strict=True):
        building = (f"{ELEMENTS[element]} in {turns}" for element, turns in entries(queue))
        lines.append(
            f"{player}: base {base}, gold {gold}, building {', '.join(building) or 'nothing'}"
        )
    actions = f"{position.actions} action{'s' * (position.actions != 1)}"
    return "\n".join([*lines, f"{mover(position)} to move: {actions}, {position.turns} turns left"])


def cells_read(position: Field) -> list[range]:
    """Return the cells of each row, the top row first."""
    size = position.SIZE
    return [range(size * row, size * (row + 1)) for row in reversed(range(size))]


def crystals_read(position: Field) -> list[int]:
    """Return the cells with crystals, in the same order."""
    return [cell for row in cells_read(position) for cell in row if position.CRYSTALS >> cell & 1]


def possessions(position: Field) -> list[tuple[int, int, int]]:
    """Return the hits left of the base, the gold and the queue of the first and second player."""
    both = [
        (position.my_base, position.my_gold, position.my_queue),
        (position.their_base, position.their_gold, position.their_queue),
    ]
    return both[::-1] if turn(position) else both


def entries(queue: int) -> list[tuple[int, int]]:
    """Return the build queue: elements, counted from 0, and turns until they appear."""
    parts = (queue >> 4 * number for number in range(length(queue)))
    return [((part & 3) - 1, part >> 2 & 3) for part in parts]


def cell_name(position: Field, cell: int) -> str:
    return f"{COLUMNS[cell % position.SIZE]}{cell // position.SIZE + 1}"


def cell_number(position: Field, name: str) -> int:
    column, row = COLUMNS.find(name[0]), int(name[1]) - 1
    if not (0 <= column < position.SIZE and 0 <= row < position.SIZE):
        last = f"{COLUMNS[position.SIZE - 1]}{position.SIZE}"
        raise PositionError(f"{name} is not on the board, whose cells are a1..{last}")
    return position.SIZE * row + column


def parse_move(position: Field, text: str) -> int:
    """Read an action such as ``b2-b3``, ``b2xb3``, ``mine b2``, ``build fire`` or ``end``."""
    words = " ".join(text.lower().split())
    if not re.fullmatch(MOVE, words, re.ASCII):
        raise PositionError(f"{quoted(text)} is not an action; write one as in {ALLOWED}")
    if outcome(position)[0]:
        raise PositionError(f"{words} is played after the game is over")
    if words == "end":
        return position.END
    if words.startswith("build"):
        return _parse_build(position, words.removeprefix("build "))
    name = words[-2:] if words.startswith("mine") else words[:2]
    cell = cell_number(position, name)
    if not position.mine >> cell & 1:
        raise PositionError(f"{words}: {mover(position)} has no unit on {name}")
    if not words.startswith("mine"):
        return _parse_step(position, words, cell)
    if not position.CRYSTALS >> cell & 1:
        names = (cell_name(position, cell) for cell in crystals_read(position))
        raise PositionError(f"{words}: there is no crystal; crystals are {', '.join(names)}")
    if not ore_of(position, 1 << cell):
        raise PositionError(f"{words}: the crystal has no ore left")
    return position.MINE + cell


def _parse_step(position: Field, text: str, begin: int) -> int:
    name = text[-2:]
    end = cell_number(position, name)
    bit = 1 << end
    if not neighbours(position, Bits(1 << begin)) & bit:
        raise PositionError(f"{text}: units move and attack one cell up, down, left or right")
    if text[2] == "x" and not targets(position) & bit:
        raise PositionError(f"{text}: there is nothing to attack on {name}")
    if text[2] == "-" and not empty_cells(position) & bit:
        raise PositionError(f"{text}: {name} is not empty; an attack is written {text[:2]}x{name}")
    return 4 * begin + position.STEPS.index(end - begin)


def _parse_build(position: Field, element: str) -> int:
    if element not in ELEMENTS:
        raise PositionError(f"{quoted(element)} is not an element: {', '.join(ELEMENTS)}")
    if position.my_gold < COST:
        raise PositionError(f"build {element}: a unit costs {COST} gold, not {position.my_gold}")
    if not can_build(position.my_gold, position.my_queue):
        raise PositionError(
            f"build {element}: {QUEUE} units are built already, and no more at once"
        )
    return position.BUILD + ELEMENTS.index(element)


def move_text(position: Field, move: int) -> str:
    if move == position.END:
        return "end"
    if move >= position.BUILD:
        return f"build {ELEMENTS[move - position.BUILD]}"
    if move >= position.MINE:
        return f"mine {cell_name(position, move - position.MINE)}"
    end = end_of(position, move)
    sign = "x" if end & targets(position) else "-"
    return f"{cell_name(position, move >> 2)}{sign}{cell_name(position, lowest_index(end))}"


def _parse_moves(text: str, position: Field) -> Field:
    return play_texts(
        position, re.findall(rf"(?:{MOVE})(?![^\s,])|[^\s,]+", text.lower()), text, what="action"
    )


def _parse_board(text: str, first: Field) -> Field:
    match = re.fullmatch(
        r"(.*)\sore=(\d*)\s+gold=(\d{1,2}),(\d{1,2})\s+build=([\w-]*),([\w-]*)"
        r"\s+actions=(\d)\s+turns=(\d{1,3})",
        text.strip(),
        re.DOTALL | re.ASCII,
    )
    if not match:
        raise PositionError(
            f"after the board write ore, gold, build, actions and turns, as in "
            f"{position_text(first)}"
        )
    drawn, ore, *numbers = match.groups()
    gold = list(map(int, numbers[:2]))
    queues = [_parse_queue(queue) for queue in numbers[2:4]]
    actions, turns = map(int, numbers[4:])
    if not 0 <= turns <= first.TURNS:
        raise PositionError(f"turns={turns}: there are 0 to {first.TURNS} turns left")
    allowed = {0: (ACTIONS,), first.TURNS: (1,)}.get(turns, range(1, ACTIONS + 1))
    if actions not in allowed:
        wanted = " or ".join(map(str, allowed))
        raise PositionError(f"actions={actions}: with {turns} turns left there are {wanted}")
    cells = crystals_read(first)
    if len(ore) != len(cells) or not set(ore) <= set("0123"):
        names = ", ".join(cell_name(first, cell) for cell in cells)
        raise PositionError(f"ore={ore}: a digit from 0 to {ORE} for each crystal, {names}")
    found = _parse_rows(drawn, first)
    wealth = sum(gold) + sum(map(int, ore)) + COST * sum(length(queue) for queue in queues)
    wealth += COST * popcount(found["F"] | found["W"] | found["G"])
    wealth += COST * popcount(found["f"] | found["w"] | found["g"])
    most = 2 * GOLD + ORE * len(cells) + 2 * COST * len(ELEMENTS)
    if wealth > most:
        raise PositionError(
            f"gold, ore and units, at {COST} each, are worth {wealth}; in all there are {most}"
        )
    players = [
        (found["F"] | found["W"] | found["G"], found["B"], gold[0], queues[0]),
        (found["f"] | found["w"] | found["g"], found["b"], gold[1], queues[1]),
    ]
    (mine, my_base, *my_means), (theirs, their_base, *their_means) = (
        players[::-1] if turns & 1 else players
    )
    (my_gold, my_queue), (their_gold, their_queue) = my_means, their_means
    planes = [
        sum(1 << cell for cell, digit in zip(cells, ore, strict=True) if int(digit) & plane)
        for plane in (1, 2)
    ]
    return type(first)(
        *map(Bits, (mine, theirs, found["F"] | found["f"], found["W"] | found["w"])),
        *map(Bits, (found["1"], found["2"], *planes)),
        *(my_base, their_base, my_gold, their_gold, Bits(my_queue), Bits(their_queue)),
        *(actions, turns),
    )


def _parse_queue(text: str) -> int:
    letters = "".join(element[0] for element in ELEMENTS)
    pairs = re.findall(rf"([{letters}])([0-{DELAY}])", text.lower())
    if len(pairs) > QUEUE or len(text) != (2 * len(pairs) or 1):
        raise PositionError(
            f"{quoted(text)} is not what a player builds: - for nothing, or for each of at most "
            f"{QUEUE} units f, w or g and the turns until it appears, 0 to {DELAY}"
        )
    if sorted(pairs, key=lambda pair: pair[1]) != pairs:
        raise PositionError(f"{quoted(text)}: what appears first is written first")
    built = ((letters.index(letter) + 1 | 4 * int(turns)) for letter, turns in pairs)
    return sum(entry << 4 * number for number, entry in enumerate(built))


def _parse_rows(text: str, first: Field) -> dict[str, int]:
    """Return the cells of each letter, the hits left of the bases, and the two planes of hits."""
    rows = [row for row in ("".join(row.split()) for row in re.split(r"[/\n]", text)) if row]
    if len(rows) != first.SIZE:
        raise PositionError(
            f"the board has {len(rows)} rows; this one has {first.SIZE}, separated by '/'"
        )
    found = dict.fromkeys("FWGBfwgb12", 0)
    for row, cells in zip(rows, cells_read(first), strict=True):
        tokens = re.findall(r"\.|[a-zA-Z]\d|.", row, re.ASCII)
        if len(tokens) != first.SIZE:
            raise PositionError(f"row {quoted(row)} has {len(tokens)} cells, not {first.SIZE}")
        for token, cell in zip(tokens, cells, strict=True):
            _put(token, cell, first, found)
    if found["B"] == found["b"] == 0:
        raise PositionError("both bases are down: the game ended with the first of them")
    return found


def _put(token: str, cell: int, first: Field, found: dict[str, int]) -> None:
    """Add the content of a cell to *found*."""
    name, letter = cell_name(first, cell), token[0]
    for base, cells in zip("Bb", first.BASES, strict=True):
        if (cells >> cell & 1) != (letter == base):
            player = PLAYERS["Bb".index(base)]
            where = cell_name(first, lowest_index(cells))
            raise PositionError(
                f"{quoted(token)} on {name}: {player}'s base, {base}, is on {where}"
            )
    if letter in "Bb":
        if len(token) < 2 or int(token[1]) > BASE_HITS:
            raise PositionError(f"{quoted(token)}: a base has 0 to {BASE_HITS} hits left")
        found[letter] = int(token[1])
    elif letter in found and letter.isalpha():
        if len(token) < 2 or not 1 <= int(token[1]) <= HITS:
            raise PositionError(f"{quoted(token)} on {name}: a unit has 1 to {HITS} hits left")
        found[letter] |= 1 << cell
        for plane in (1, 2):
            found[str(plane)] |= (int(token[1]) & plane > 0) << cell
    elif token != ".":
        raise PositionError(
            f"{quoted(token)} on {name}: a cell is . or one of F W G f w g with its hits left"
        )
