"""Othello on boards of 4x4 to 8x8 squares."""

from __future__ import annotations

from typing import NamedTuple

from engine import (
    Bits,
    compiled,
    lowest_index,
    mix,
    rebuild,
    without_lowest,
)
from games.othello.discs import ALL, PASS, empties, final_value, flipped, mobility, reach
from games.othello.endgame import bounds, candidates, endgame, forced, order
from games.othello.midgame import deviation, evaluate_mobility

VALUE_LIMIT = 64
MAX_MOVES = 60
MAX_PLIES = 120
TABLE_PLIES, ENHANCED_PLIES = 14, 20


class Discs(NamedTuple):
    """A position: the discs of the mover and of the other."""

    mine: Bits
    theirs: Bits
    white: bool
    """Whether white is to move; only texts depend on it."""


class Position(Discs):
    __slots__ = ()
    BOARD = ALL
    AREA = 64


@compiled
def moves(position, buffer, at):
    squares = mobility(position)
    if squares == Bits(0):
        buffer[at] = PASS
        return at + 1
    while squares:
        buffer[at] = lowest_index(squares)
        squares = without_lowest(squares)
        at += 1
    return at


@compiled
def play(position, move):
    mine, theirs = position.mine, position.theirs
    if move != PASS:
        turned = flipped(mine, theirs, move)
        mine |= turned | (Bits(1) << Bits(move))
        theirs ^= turned
    return rebuild(position, theirs, mine, not position.white)


@compiled
def outcome(position):
    if mobility(position) or reach(position.theirs, position.mine) & position.BOARD:
        return False, 0
    return True, final_value(position)


@compiled
def key(position):
    return mix(mix(position.mine) ^ position.theirs) ^ (Bits(position.white) << Bits(63))


@compiled
def canonical(position):
    return mix(mix(position.mine) ^ position.theirs), 0


@compiled
def plies_left(position):
    return 2 * empties(position)


def start(variant: str = "") -> Position:
    return Position(Bits((1 << 28) | (1 << 35)), Bits((1 << 27) | (1 << 36)), False)


def parse_position(text: str, variant: str = "") -> Position:
    board, mover = text.split()[:2]
    x = Bits(sum(1 << n for n, c in enumerate(board) if c == "X"))
    o = Bits(sum(1 << n for n, c in enumerate(board) if c == "O"))
    return Position(o, x, True) if mover[0] == "O" else Position(x, o, False)


def position_text(position: Discs) -> str:
    symbols = "OX" if position.white else "XO"
    cells = (
        symbols[0] if position.mine >> n & 1 else symbols[1] if position.theirs >> n & 1 else "-"
        for n in range(64)
    )
    return "".join(cells) + " " + symbols[0]


def move_text(position: Discs, move: int) -> str:
    return "pass" if move == PASS else "abcdefgh"[move % 8] + str(move // 8 + 1)


def parse_move(position: Discs, text: str) -> int:
    return PASS if text == "pass" else "abcdefgh".index(text[0]) + 8 * (int(text[1]) - 1)
