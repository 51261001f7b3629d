"""A gamble: random graphs of decisions and chance, with repetition, generated from a number.

Rules: a position is a place in a random graph, and the numbers of the graph and the place determine
what happens there: the game is over, or a player moves (with at most three moves), or chance
decides, once or twice.  Every hundredth graph has events with many outcomes, almost all of which
are impossible.  Values: any numbers from -100 to 100, often exactly these two.  In the variant
``decisive``, with the same graphs, only the winner and the distance to the win matter.
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
"""The number of outcomes of events in every hundredth graph; three of them are possible."""


class Gamble(NamedTuple):
    """The graph, the place, the player to move, and the events still to come."""

    graph: int
    place: int
    mover: int
    events: int


class Position(Gamble):
    """A gamble for the values as they are."""

    __slots__ = ()
    VALUE_LIMIT = 100.0


class Decisive(Gamble):
    """A gamble in which only the winner and the distance to the win matter."""

    __slots__ = ()
    VARIANT = "decisive"
    DECISIVE = True
    VALUE_LIMIT = 100.0


@compiled
def likely(position, purpose):
    """Return a reproducible random word for a purpose."""
    place = Bits(position.graph) << Bits(20) | Bits(position.place) << Bits(10)
    who = Bits(position.events) << Bits(4) | Bits(position.mover)
    return mix(mix(place | who) ^ Bits(purpose))


@compiled
def number(position, purpose):
    """Return a random value: in two of five cases, one of the extremes."""
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
    """Return the position after a move or a chance outcome."""
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
    """Return the weight of an outcome, relative to the others."""
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
