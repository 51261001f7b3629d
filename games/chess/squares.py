"""The squares of a chess board, seen by the player to move.

A square is a number: its file, from 0 for a, plus eight times its row.  Row 0 is the one next to
the mover, so white's squares are numbered as they are written (a1 is 0, h8 is 63), and black's
upside down: rules are written once, for a player who goes up.  A set of squares is a word with a
bit for each.
"""

from __future__ import annotations

from cutnode.contract.bits import Bits

__all__ = [
    "ALL",
    "DARK",
    "FILES",
    "FIRST_ROW",
    "LAST_ROW",
    "NOT_A",
    "NOT_H",
    "THIRD_ROW",
    "UPSIDE_DOWN",
]

ALL = Bits((1 << 64) - 1)

FILES = tuple(Bits(0x0101010101010101 << file) for file in range(8))
NOT_A = Bits(ALL ^ FILES[0])
NOT_H = Bits(ALL ^ FILES[7])

FIRST_ROW = Bits(0xFF)
THIRD_ROW = Bits(0xFF << 16)
LAST_ROW = Bits(0xFF << 56)

DARK = Bits(0xAA55AA55AA55AA55)
"""The squares of one colour, dark ones for white and light ones for black."""

UPSIDE_DOWN = 56
"""Exclusive or with it turns a square of one player into the same square of the other."""
