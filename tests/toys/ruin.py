"""The gambler's ruin, for two: chance, and play that can go round without end.

Rules: a player tosses a coin or waits for the other to do so.  Heads, six times of ten, light
gets one of dark's chips, and tails dark one of light's, whoever tosses.  Who has all chips wins.
In the variant ``fear`` a toss always costs the player who tosses a chip, so nobody wants to.
Values: 100 a win, -100 a loss.

With k of n chips light wins with odds (1 - r**k) / (1 - r**n), where r = 0.4 / 0.6.

Text: light's chips, who is to move, and perhaps ``toss`` for a coin in the air: ``2 dark toss``.
"""

from __future__ import annotations

from typing import NamedTuple

from engine import Bits, PositionError, compiled, rebuild

CHIPS = 5
MAX_MOVES = 2
MAX_PLIES = 4096
VALUE_LIMIT = 100

TOSS, WAIT = range(2)


class Position(NamedTuple):
    """The chips of light, who is to move, and whether the coin is in the air."""

    chips: int
    second: bool
    tossed: bool

    FEAR = False

    def __str__(self) -> str:
        mover = "dark" if self.second else "light"
        doing = "tosses" if self.tossed else "is to move"
        return f"light has {self.chips} chips, dark {CHIPS - self.chips}; {mover} {doing}"


class Fear(Position):
    """The same where a toss costs a chip."""

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
        return rebuild(position, position.chips, position.second, True)
    return rebuild(position, position.chips, not position.second, False)


@compiled
def outcome(position):
    over = position.chips == 0 or position.chips == CHIPS
    lost = (position.chips == 0) != position.second
    return over, (-100 if lost else 100) if over else 0


@compiled
def key(position):
    word = Bits(position.chips) << Bits(2) | Bits(position.second) << Bits(1)
    return word | Bits(position.tossed)


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
    child = rebuild(position, chips, not position.second, False)
    return (heads if index == 0 else 1.0 - heads), child


def start(variant: str = "") -> Position:
    if variant not in ("", "fear"):
        raise PositionError(f"the ruin has no variant {variant!r}")
    return (Fear if variant else Position)(CHIPS // 2, False, False)


def position_text(position: Position) -> str:
    mover = "dark" if position.second else "light"
    return f"{position.chips} {mover}{' toss' * position.tossed}"


def parse_position(text: str, variant: str = "") -> Position:
    if not text:
        return start(variant)
    chips, _, rest = text.partition(" ")
    mover, _, toss = rest.partition(" ")
    if chips not in [*"012345"] or mover not in ("light", "dark") or toss not in ("", "toss"):
        raise PositionError(f"{text!r} is not the chips of light, who is to move, and a toss")
    position = type(start(variant))(int(chips), mover == "dark", toss == "toss")
    if position.tossed and outcome(position)[0]:
        raise PositionError("nobody tosses after the end")
    if text != position_text(position):
        raise PositionError(f"{text!r} has a blank too many")
    return position


def parse_move(position: Position, text: str) -> int:
    if position.tossed or outcome(position)[0] or text not in ("toss", "wait"):
        raise PositionError(f"{text!r} is not a move")
    return ("toss", "wait").index(text)


def move_text(position: Position, move: int) -> str:
    return ("toss", "wait")[move]
