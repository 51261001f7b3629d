"""A mouse, a cat and cheese on a ring with chords: cycles, double turns, and layers.

Rules: the mouse and the cat alternately step along the ring; the mouse may also take a chord or
stay, and from the burrow (cell 0) it steps twice.  The mouse eats the cheese where it steps, and
wins when all is eaten; the cat wins by stepping on the mouse.  The mouse must not step onto the
cat.  Values: 1 a win for the mover, -1 a loss.

Positions are in a tablebase unless the cat can take the mouse, which the next ply shows.
"""

from __future__ import annotations

from typing import NamedTuple

from cutnode import Bits, compiled, popcount
from cutnode.cells import Grid
from cutnode.contract.verbs import NO_INDEX

CELLS_NUMBER = 9
CHEESE = Bits(1 << 2 | 1 << 5 | 1 << 7)
STEPS = (
    *((1, 8, 4), (2, 0, 6), (3, 1, -1), (4, 2, 8), (5, 3, 0)),
    *((6, 4, -1), (7, 5, 1), (8, 6, -1), (0, 7, 3)),
)
"""The destinations of steps from each cell: forward, back, and along the chord if there is one."""

DECISIVE = True
VALUE_LIMIT = 1
MAX_MOVES = 8
CELLS = Grid(9, 1, contents={".": "empty", "c": "cheese", "M": "mouse", "C": "cat", "@": "both"})

STATES = CELLS_NUMBER * CELLS_NUMBER * 3
LAYERS = ((0b001, 0b010, 0b100), (0b011, 0b101, 0b110), (0b111,))
LAYER_SIZES = tuple(STATES * len(sets) for sets in LAYERS)
LAYER_NAMES = ("one", "two", "three")
PLACE = (0, 0, 1, 0, 2, 1, 2, 0)
"""The place of each set of cheese within its layer."""

MOUSE, MOUSE_AGAIN, CAT = range(3)
STAY = 3


class Position(NamedTuple):
    """The cells of mouse and cat, the cheese, and the turn: 1 after a step from the burrow."""

    mouse: int = 0
    cat: int = 4
    cheese: Bits = CHEESE
    turn_of: int = MOUSE


@compiled
def cell(position, index):
    if position.mouse == index:
        return 4 if position.cat == index else 2
    if position.cat == index:
        return 3
    return 1 if (position.cheese >> Bits(index)) & Bits(1) else 0


@compiled
def moves(position, buffer, at):
    if position.turn_of == CAT:
        buffer[at] = 0
        buffer[at + 1] = 1
        return at + 2
    for number in range(3):
        target = STEPS[position.mouse][number]
        if target >= 0 and target != position.cat:
            buffer[at] = number
            at += 1
    buffer[at] = STAY
    return at + 1


@compiled
def play(position, move):
    if position.turn_of == CAT:
        return position._replace(cat=STEPS[position.cat][move], turn_of=MOUSE)
    target = position.mouse if move == STAY else STEPS[position.mouse][move]
    again = position.turn_of == MOUSE and position.mouse == 0 and move != STAY
    cheese = position.cheese & ~(Bits(1) << Bits(target))
    return position._replace(mouse=target, cheese=cheese, turn_of=MOUSE_AGAIN if again else CAT)


@compiled
def outcome(position):
    if position.cheese == Bits(0):
        return True, -1 if position.turn_of == CAT else 1
    if position.mouse == position.cat:
        return True, 1 if position.turn_of == CAT else -1
    return False, 0


@compiled
def turn(position):
    return 1 if position.turn_of == CAT else 0


@compiled
def reversible(position, child):
    return position.cheese == child.cheese


@compiled
def key(position):
    place = Bits(position.mouse) | Bits(position.cat) << Bits(4)
    return place | position.cheese << Bits(8) | Bits(position.turn_of) << Bits(20)


@compiled
def layer(position):
    return popcount(position.cheese) - 1


@compiled
def caught(position):
    """Return whether the cat can take the mouse."""
    for number in range(2):
        if STEPS[position.cat][number] == position.mouse:
            return position.turn_of == CAT
    return False


@compiled
def index(position):
    if caught(position):
        return NO_INDEX
    cheese = position.cheese
    packed = (
        ((cheese >> Bits(2)) & Bits(1))
        | ((cheese >> Bits(4)) & Bits(2))
        | ((cheese >> Bits(5)) & Bits(4))
    )
    place = PLACE[packed]
    return ((place * 3 + position.turn_of) * 9 + position.mouse) * 9 + position.cat


@compiled
def position_at(example, layer, index):
    place, rest = index // STATES, index % STATES
    packed = Bits(0)
    for number in range(8):
        if popcount(Bits(number)) == layer + 1 and PLACE[number] == place:
            packed = Bits(number)
    cheese = (
        ((packed & Bits(1)) << Bits(2))
        | ((packed & Bits(2)) << Bits(4))
        | ((packed & Bits(4)) << Bits(5))
    )
    turn_of, cells = rest // 81, rest % 81
    position = example._replace(mouse=cells // 9, cat=cells % 9, cheese=cheese, turn_of=turn_of)
    if position.mouse == position.cat:
        return position._replace(mouse=0, cat=0, turn_of=CAT)
    return position


@compiled
def retreats(position, buffer, at):
    """Write the retreats: four times the turn before, plus the step to take back."""
    if position.turn_of == MOUSE:
        buffer[at] = 4 * CAT
        buffer[at + 1] = 4 * CAT + 1
        return at + 2
    if (position.cheese >> Bits(position.mouse)) & Bits(1):
        return at  # the mouse would have eaten it
    for number in range(3):
        origin = STEPS[position.mouse][number]
        if origin < 0:
            continue
        if (origin == 0) == (position.turn_of == MOUSE_AGAIN):
            buffer[at] = 4 * MOUSE + number
            at += 1
        if position.turn_of == CAT:
            buffer[at] = 4 * MOUSE_AGAIN + number
            at += 1
    if position.turn_of == CAT:
        buffer[at] = 4 * MOUSE + STAY
        buffer[at + 1] = 4 * MOUSE_AGAIN + STAY
        at += 2
    return at


@compiled
def retreat(position, number):
    before, step = number // 4, number % 4
    if before == CAT:
        return position._replace(cat=STEPS[position.cat][step], turn_of=CAT)
    origin = position.mouse if step == STAY else STEPS[position.mouse][step]
    return position._replace(mouse=origin, turn_of=before)
