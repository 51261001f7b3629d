"""Tic-tac-toe with rules alone: everything else is left to the defaults of the contract."""

from typing import NamedTuple

from cutnode import Bits, compiled

LINES = tuple(Bits(int(line, 8)) for line in ("7", "70", "700", "111", "222", "444", "421", "124"))


class Position(NamedTuple):
    mine: Bits = Bits(0)
    theirs: Bits = Bits(0)


@compiled
def moves(position, buffer, at):
    for cell in range(9):
        if not (position.mine | position.theirs) & Bits(1 << cell):
            buffer[at] = cell
            at += 1
    return at


@compiled
def play(position, move):
    return Position(position.theirs, position.mine | Bits(1 << move))


@compiled
def outcome(position):
    for line in LINES:
        if position.theirs & line == line:
            return True, -1
    return position.mine | position.theirs == Bits(0o777), 0
