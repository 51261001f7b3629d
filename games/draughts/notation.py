"""Texts of draughts: positions as FENs of portable draughts notation, and moves by squares."""

from __future__ import annotations

import bisect
import re
from typing import Any

from cutnode import Bits, PositionError, legal_moves, lowest_index, popcount, quoted
from cutnode.contract.verbs import outcome
from cutnode.games.draughts.generator import (
    CAPTURES,
    CHANGE,
    FIRST,
    NEXT,
    can_capture,
    end_of_step,
)

__all__ = ["DRAWN", "EXAMPLE", "fen", "move_text", "mover", "moves_in", "parse_fen", "parse_move"]

DRAWN = 80
"""The plies without a capture or a move of a man after which a game is drawn."""

MOST_PIECES = 12
"""The most pieces of a player."""

EXAMPLE = "B:W18,K22:B1,K9,12"

PRINTED = str.maketrans("\u2010\u2011\u2012\u2013\u2014\u2212\u00d7", "------x")
"""Dashes and capture signs as printed in books."""

NOT_MOVES = re.compile(
    r"\{[^}]*\}|\$[0-9]+|(?<=[0-9])[!?]+|(?<!\S)[0-9]+(?:\s*\.+)+"
    r"|(?<!\S)(?:\*|[0-2]-[0-2]|1/2-1/2)\s*$"
)
"""Comments, annotations, move numbers, and the result, ``2-0``, which is not a move."""


def mover(position: Any) -> str:
    return "white" if position.second else "black"


def _number(position: Any, bit: int, white: bool) -> int:
    """Return the usual number of the square that a player sees as *bit*."""
    count = bit - bit // (position.WIDTH + 1)
    return position.SQUARES - count if white else count + 1


def _bit(position: Any, number: int, white: bool) -> int:
    count = position.SQUARES - number if white else number - 1
    return count + count // position.WIDTH


def _numbers(position: Any, squares: int, white: bool) -> list[int]:
    bits = (n for n in range(position.LAST + 1) if squares >> n & 1)
    return [_number(position, bit, white) for bit in bits]


# Positions


def fen(position: Any) -> str:
    """Return the FEN of a position, white first."""
    sides = [(position.men, position.kings), (position.their_men, position.their_kings)]
    if not position.second:
        sides.reverse()
    fields = [mover(position)[0].upper()]
    for letter, (men, kings) in zip("WB", sides, strict=True):
        pieces = [(number, "") for number in _numbers(position, men, letter == "W")]
        pieces += [(number, "K") for number in _numbers(position, kings, letter == "W")]
        fields.append(letter + ",".join(f"{king}{number}" for number, king in sorted(pieces)))
    return ":".join([*fields, f"H{position.quiet}"] if position.quiet else fields)


def parse_fen(text: str, empty: Any) -> Any:
    """Read a FEN; *empty* is any position of the class.

    A dot may end each field, and the move number, ``F30``, is skipped.
    """
    joined = re.sub(r"\s", "", text.translate(PRINTED)).upper().strip('"')
    fields = [field.removesuffix(".") for field in joined.split(":")]
    if fields[0] not in ("B", "W"):
        raise PositionError(f"{quoted(text)} does not begin with who is to move, as in {EXAMPLE}")
    given = {field[:1]: field for field in fields[1:]}
    if len(given) < len(fields) - 1 or not {"B", "W"} <= given.keys() <= {*"BWHF"}:
        raise PositionError(
            f"{quoted(text)} does not have the pieces of white, W, and of black, B, once each, "
            f"and perhaps the plies without progress, H, and the move, F, as in {EXAMPLE}:H7:F30"
        )
    pieces = _parse_pieces(given, empty)
    squares = [number for _, number, _ in pieces]
    twice = next((number for number in squares if squares.count(number) > 1), None)
    if twice is not None:
        raise PositionError(f"two pieces are on square {twice}")
    words = {(side, king): Bits(0) for side in "BW" for king in (False, True)}
    for side, number, king in pieces:
        square = Bits(1 << _bit(empty, number, side == "W"))
        if square & empty.LAST_ROW and not king:
            raise PositionError(f"a man on square {number} has become a king: K{number}")
        words[side, king] = Bits(words[side, king] | square)
    for side, name in (("B", "black"), ("W", "white")):
        count = popcount(words[side, False]) + popcount(words[side, True])
        if count > MOST_PIECES:
            raise PositionError(f"{name} has {count} pieces; a player has {MOST_PIECES} at most")
        if not count and side != fields[0]:
            raise PositionError(f"{name} has no pieces, so it is {name}'s turn")
    mine, theirs = fields[0], "BW"[fields[0] == "B"]
    men, kings = words[mine, False], words[mine, True]
    their_men, their_kings = words[theirs, False], words[theirs, True]
    quiet = _parse_quiet(given.get("H", "H0"))
    if not re.fullmatch("F[0-9]{1,9}", number := given.get("F", "F1")):
        raise PositionError(f"{quoted(number)} is not the number of a move, as in F30")
    return type(empty)(men, kings, their_men, their_kings, mine == "W", quiet)


def _parse_pieces(given: dict[str, str], empty: Any) -> list[tuple[str, int, bool]]:
    """Return the pieces of both sides: the side, the square, and whether it is a king.

    ``1-4`` are four men, and ``K1-4`` and ``K1-K4`` four kings.
    """
    found = []
    for side in "BW":
        for text in filter(None, given[side][1:].split(",")):
            match = re.fullmatch(r"(K?)([0-9]{1,9})(?:-\1?([0-9]{1,9}))?", text)
            if not match:
                raise PositionError(f"{quoted(text)} is not a piece; write its square, 12 or K12")
            low, high = int(match[2]), int(match[3] or match[2])
            if not 1 <= low <= high <= empty.SQUARES:
                raise PositionError(f"{quoted(text)}: squares are 1..{empty.SQUARES}")
            found += [(side, number, bool(match[1])) for number in range(low, high + 1)]
    return found


def _parse_quiet(text: str) -> int:
    if not re.fullmatch("H[0-9]{1,9}", text) or int(text[1:]) > DRAWN:
        raise PositionError(f"{quoted(text)} is not a number of plies, H0 to H{DRAWN}")
    return int(text[1:])


# Moves


def _squares(position: Any, move: int) -> list[int]:
    """Return the numbers of the squares where a move begins, jumps to, and ends."""
    if move < CAPTURES:
        bits = [move >> 2, end_of_step(position, move)]
    else:
        path = move - CAPTURES
        group = bisect.bisect_right(FIRST, path) - 1
        source = (group - position.GROUPS) % (position.LAST + 1)
        ways = (number for number in range(FIRST[group], path + 1) if NEXT[number] > path)
        bits = [source, *(lowest_index(CHANGE[number] ^ 1 << source) for number in ways)]
    return [_number(position, bit, position.second) for bit in bits]


def move_text(position: Any, move: int) -> str:
    squares = _squares(position, move)
    if move < CAPTURES:
        return "-".join(map(str, squares))
    ways = [_squares(position, other) for other in legal_moves(position)]
    same = [way for way in ways if (way[0], way[-1]) == (squares[0], squares[-1])]
    return "x".join(map(str, squares if len(same) > 1 else (squares[0], squares[-1])))


def moves_in(text: str) -> list[str]:
    """Return the moves of a line such as ``1. 11-15 23-19 2-0``, without the rest of its text."""
    return re.findall(r"[^\s,]+", NOT_MOVES.sub(" ", text.translate(PRINTED)))


def parse_move(position: Any, text: str) -> int:
    """Read a move, given by its first and last square or by all of them."""
    said = text.strip().translate(PRINTED)
    if not re.fullmatch("[0-9]{1,9}([-xX:][0-9]{1,9})+", said):
        raise PositionError(f"{quoted(text)} is not a move; write squares, as in 11-15 or 22x15")
    squares = [int(number) for number in re.findall("[0-9]+", said)]
    wrong = [number for number in squares if not 1 <= number <= position.SQUARES]
    if wrong:
        raise PositionError(f"{quoted(text)}: squares are 1..{position.SQUARES}, not {wrong[0]}")
    if outcome(position)[0]:
        raise PositionError(f"{quoted(text)} is played after the game is over")
    ways = {move: _squares(position, move) for move in legal_moves(position)}
    found = [move for move, way in ways.items() if squares in (way, [way[0], way[-1]])]
    if len(found) == 1:
        return found[0]
    if found:
        some = " or ".join(move_text(position, move) for move in found[:4])
        raise PositionError(f"{quoted(text)} is ambiguous: {some}")
    player = mover(position)
    if squares[0] not in _numbers(position, position.men | position.kings, position.second):
        raise PositionError(f"{quoted(text)}: {player} has no piece on {squares[0]}")
    must = " and has to capture" * can_capture(position)
    some = ", ".join(move_text(position, move) for move in list(ways)[:8])
    raise PositionError(f"{quoted(text)} is not a move that {player} can make{must}: {some}")
