"""A gamble: random trees of decisions and chance, with repetition, drawn from a number.

Rules: a position is a place of a random graph, and what happens there follows from the
number of the graph and the place: the game is over, or a player moves (of three moves at
most), or chance decides, once or twice.  Every hundredth graph has events with many outcomes,
almost all of which never happen.  Values: any numbers from -100 to 100, often just these
two.  The variant ``decisive`` has the same graphs, and only who wins, and how soon, matters.
"""

from __future__ import annotations

from typing import NamedTuple

from cutnode import Bits, PositionError, compiled, mix, quoted

MAX_MOVES = 3
MAX_PLIES = 500
MAX_ACTIONS = 1
GRAPHS = 1000
PLACES = 48
EVENTS = 2
MANY = 66
"""The outcomes of events of every hundredth graph, of which three may happen."""


class Gamble(NamedTuple):
    """The graph, the place, the player to move, and the events still to come."""

    graph: int
    place: int
    mover: int
    events: int


class Position(Gamble):
    """Values as they are."""

    __slots__ = ()
    VALUE_LIMIT = 100.0


class Decisive(Gamble):
    """Who wins, and how soon."""

    __slots__ = ()
    VARIANT = "decisive"
    DECISIVE = True
    VALUE_LIMIT = 100.0


@compiled
def likely(position, purpose):
    """A random word for a purpose, the same each time."""
    place = Bits(position.graph) << Bits(20) | Bits(position.place) << Bits(10)
    who = Bits(position.events) << Bits(4) | Bits(position.mover)
    return mix(mix(place | who) ^ Bits(purpose))


@compiled
def number(position, purpose):
    """A random value: one of the ends in two of five times."""
    word = integer(likely(position, purpose) % Bits(1000))
    if word < 200:
        return -100.0
    if word < 400:
        return 100.0
    return (word - 700) / 3


@compiled
def integer(word):
    return int(word)


@compiled
def moves(position, buffer, at):
    for move in range(1 + integer(likely(position, 1) % Bits(3))):
        buffer[at] = move
        at += 1
    return at


@compiled
def step(position, purpose):
    """Return where a move leads, or chance."""
    word = likely(position, purpose)
    mover = 1 - position.mover if word % Bits(4) else position.mover
    place = integer((word >> Bits(8)) % Bits(PLACES))
    if position.events > 0:
        return position._replace(place=place, mover=mover, events=position.events - 1)
    most = Bits(1) if has_many(position) else Bits(EVENTS)
    events = integer(min((word >> Bits(40)) % Bits(EVENTS + 1), most))
    return position._replace(place=place, mover=mover, events=events)


@compiled
def play(position, move):
    return step(position, 10 + move)


@compiled
def outcome(position):
    if position.events == 0 and likely(position, 2) % Bits(8) == Bits(0):
        return True, number(position, 3)
    return False, 0.0


@compiled
def turn(position):
    return position.mover


@compiled
def reversible(position, child):
    return position.graph % 2 == 1 and position.events == 0 and child.events == 0


@compiled
def has_many(position):
    return position.graph % 100 == 99


@compiled
def share(position, index):
    """What an outcome weighs among the others."""
    if has_many(position) and index % (MANY // 3) != 0:
        return 0
    return 1 if index == 0 else integer(likely(position, 20 + index) % Bits(4))


@compiled
def chance(position):
    if position.events == 0:
        return 0
    return MANY if has_many(position) else 1 + integer(likely(position, 4) % Bits(4))


@compiled
def chance_outcome(position, index):
    total = 0
    for other in range(chance(position)):
        total += share(position, other)
    return share(position, index) / total, step(position, 200 + index)


@compiled
def evaluate(position):
    return number(position, 5)


def start(variant: str = "") -> Gamble:
    if variant not in ("", "decisive"):
        raise PositionError(f"a gamble has no variant {quoted(variant)}")
    return Decisive(0, 0, 0, 2) if variant else Position(0, 0, 0, 2)
