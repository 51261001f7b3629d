"""The gambler's ruin for two: chance, and play that can cycle forever.

Rules: a player tosses a coin or waits for the opponent to do so.  On heads, six times out of ten,
light gets one of dark's chips; on tails, dark gets one of light's, whoever tosses.  The player with
all the chips wins.  In the variant ``fear`` a toss always costs the tossing player a chip, so
neither wants to.  Values: 100 a win, -100 a loss.

With k of n chips, light wins with probability (1 - r**k) / (1 - r**n), where r = 0.4 / 0.6.
"""

from __future__ import annotations

from typing import NamedTuple

from cutnode import PositionError, compiled

CHIPS = 5
MAX_MOVES = 2
MAX_PLIES = 4096
VALUE_LIMIT = 100

TOSS, WAIT = range(2)


class Position(NamedTuple):
    """Light's chips, the player to move, and whether the coin is in the air."""

    chips: int
    second: bool
    tossed: bool

    FEAR = False


class Fear(Position):
    """A position of the variant in which a toss costs a chip."""

    __slots__ = ()
    FEAR = True
    VARIANT = "fear"


@compiled
def moves(position, buffer, at):
    buffer[at] = TOSS
    buffer[at + 1] = WAIT
    return at + 2


@compiled
def play(position, move):
    if move == TOSS:
        return position._replace(tossed=True)
    return position._replace(second=not position.second)


@compiled
def outcome(position):
    over = position.chips == 0 or position.chips == CHIPS
    lost = (position.chips == 0) != position.second
    return over, (-100 if lost else 100) if over else 0


@compiled
def turn(position):
    return 1 if position.second else 0


@compiled
def chance(position):
    return 2 if position.tossed else 0


@compiled
def chance_outcome(position, index):
    heads = 0.6
    if position.FEAR:
        heads = 1.0 if position.second else 0.0
    chips = position.chips + 1 - 2 * index
    child = position._replace(chips=chips, second=not position.second, tossed=False)
    return (heads if index == 0 else 1.0 - heads), child


def start(variant: str = "") -> Position:
    if variant not in ("", "fear"):
        raise PositionError(f"the ruin has no variant {variant!r}")
    return (Fear if variant else Position)(CHIPS // 2, False, False)


def move_text(position: Position, move: int) -> str:
    return ("toss", "wait")[move]
