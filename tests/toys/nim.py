"""Nim on up to eight heaps, and its misere form: C. Bouton's theory says who wins.

Rules: players alternately take one or more stones from one heap; the player who takes the last
stone wins, or loses in the misere form.  Values: 1 a win, -1 a loss.

Text, of a position and of a variant: the sizes of the heaps, up to 15 each, and ``misere`` for the
misere form: ``3/5/7``, ``3/5/7 misere``.  A move is sixteen times a heap plus the stones taken.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from cutnode import Bits, PositionError, compiled, quoted

HEAPS = 8
MOST = 15
MAX_MOVES = MAX_PLIES = HEAPS * MOST
DECISIVE = True
VALUE_LIMIT = 1


class Position(NamedTuple):
    heaps: Bits
    """Four bits for each heap, the first heap lowest."""
    misere: bool


@compiled
def stones_of(position, heap):
    return 0 + (position.heaps >> Bits(4 * heap)) & Bits(15)


@compiled
def moves(position, buffer, at):
    for heap in range(HEAPS):
        for count in range(1, stones_of(position, heap) + 1):
            buffer[at] = 16 * heap + count
            at += 1
    return at


@compiled
def play(position, move):
    taken = Bits(move % 16) << Bits(4 * (move // 16))
    return Position(position.heaps - taken, position.misere)


@compiled
def outcome(position):
    if position.heaps == 0:
        return True, 1 if position.misere else -1
    return False, 0


def start(variant: str = "") -> Position:
    return parse_position(variant or "3/5/7")


def parse_position(text: str, variant: str = "") -> Position:
    if not text.strip():
        return start(variant)
    match = re.fullmatch(r"([0-9]{1,2}(?:/[0-9]{1,2})*)( misere)?", text.strip())
    heaps = [int(heap) for heap in match[1].split("/")] if match else []
    if not match or len(heaps) > HEAPS or max(heaps) > MOST:
        raise PositionError(f"{quoted(text)} is not up to {HEAPS} heaps of 0 to {MOST}: 3/5/7")
    word = sum(stones << 4 * heap for heap, stones in enumerate(heaps))
    return Position(Bits(word), bool(match[2]))


def position_text(position: Position) -> str:
    last = max(1, (position.heaps.bit_length() + 3) // 4)
    heaps = (str(stones_of(position, heap)) for heap in range(last))
    return "/".join(heaps) + " misere" * position.misere
