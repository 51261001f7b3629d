"""A board and its attacks as one player sees them, so that every term is written once."""

from __future__ import annotations

from typing import NamedTuple

from cutnode.compiler.jit import compiled
from cutnode.contract.bits import Bits, bytes_reversed
from cutnode.games.chess.squares import ALL, NOT_A, NOT_H

__all__ = [
    "Attacks",
    "Board",
    "board_of",
    "fill_down",
    "fill_up",
    "pawn_attacks_down",
    "sides",
    "turned",
    "turned_attacks",
]


class Board(NamedTuple):
    """The pieces of a player, of the other, and of each kind."""

    mine: Bits
    theirs: Bits
    pawns: Bits
    knights: Bits
    bishops: Bits
    rooks: Bits
    queens: Bits
    kings: Bits


class Attacks(NamedTuple):
    """The attacks of a player's pieces: of each kind, of any, and of at least two."""

    pawns: Bits
    knights: Bits
    bishops: Bits
    rooks: Bits
    queens: Bits
    king: Bits
    any: Bits
    twice: Bits


@compiled
def board_of(position):
    return Board(
        position.mine,
        position.theirs,
        position.pawns,
        position.knights,
        position.bishops,
        position.rooks,
        position.queens,
        position.kings,
    )


@compiled
def turned(board):
    """Return the board as the other player sees it."""
    return Board(
        bytes_reversed(board.theirs),
        bytes_reversed(board.mine),
        bytes_reversed(board.pawns),
        bytes_reversed(board.knights),
        bytes_reversed(board.bishops),
        bytes_reversed(board.rooks),
        bytes_reversed(board.queens),
        bytes_reversed(board.kings),
    )


@compiled
def turned_attacks(attacks):
    return Attacks(
        bytes_reversed(attacks.pawns),
        bytes_reversed(attacks.knights),
        bytes_reversed(attacks.bishops),
        bytes_reversed(attacks.rooks),
        bytes_reversed(attacks.queens),
        bytes_reversed(attacks.king),
        bytes_reversed(attacks.any),
        bytes_reversed(attacks.twice),
    )


@compiled
def sides(squares):
    """Return the squares to the left and right of some squares."""
    return (squares & NOT_A) >> Bits(1) | (squares & NOT_H) << Bits(1)


@compiled
def pawn_attacks_down(pawns):
    """Return the squares that pawns going down attack, and whence pawns going up attack them."""
    return (pawns & NOT_A) >> Bits(9) | (pawns & NOT_H) >> Bits(7)


@compiled
def fill_up(squares):
    """Return some squares and all above them."""
    squares |= squares << Bits(8) & ALL
    squares |= squares << Bits(16) & ALL
    return squares | (squares << Bits(32) & ALL)


@compiled
def fill_down(squares):
    """Return some squares and all below them."""
    squares |= squares >> Bits(8)
    squares |= squares >> Bits(16)
    return squares | squares >> Bits(32)
