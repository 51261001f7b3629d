"""Dots and boxes on a row of two or more boxes: extra turns, and fields of every kind but one.

Rules: players alternately draw the lines of a row of boxes; a player who completes a box owns it
and draws again.  Values: the mover's boxes minus the opponent's.

Text: a letter for each line, a capital if it is drawn, then the lead of the first player, and the
player to move, as in ``AbCdEfg +0 2``.

Encoding of the lines of two boxes::

     --0--  --1--
    4      5      6
     --2--  --3--
"""

from __future__ import annotations

import re
from string import ascii_lowercase
from typing import Any, NamedTuple

from cutnode import Bits, PositionError, compiled, popcount
from cutnode.cells import variants

MAX_ACTIONS = 1


class Drawn(NamedTuple):
    """The lines drawn, the lead of the mover in boxes, and whether he is the first player."""

    lines: Bits
    lead: int
    first: bool


@compiled
def moves(position, buffer, at):
    for line in range(position.LINES):
        if not position.lines & (Bits(1) << Bits(line)):
            buffer[at] = line
            at += 1
    return at


@compiled
def boxes(position, lines):
    complete = 0
    for box in range(position.BOXES):
        edges = position.EDGES << Bits(box)
        complete += lines & edges == edges
    return complete


@compiled
def play(position, move):
    lines = position.lines | (Bits(1) << Bits(move))
    won = boxes(position, lines) - boxes(position, position.lines)
    if won > 0:
        return position._replace(lines=lines, lead=position.lead + won)
    return position._replace(lines=lines, lead=-position.lead, first=not position.first)


@compiled
def outcome(position):
    over = popcount(position.lines) == position.LINES
    return over, position.lead if over else 0


@compiled
def settled(position):
    return position.lead, position.lines


@compiled
def turn(position):
    return 0 if position.first else 1


@compiled
def bounds(position, alpha, beta):
    free = position.BOXES - boxes(position, position.lines)
    return position.lead - free, position.lead + free


@compiled
def order(position, move, child):
    return child.lead if child.first == position.first else -child.lead


@compiled
def plies_left(position):
    return position.LINES - popcount(position.lines)


@compiled
def evaluate(position):
    return position.lead


def _boxes(variant: str) -> int:
    if variant not in ("2", "3", "4"):
        raise PositionError(f"{variant!r} is not a number of boxes from 2 to 4")
    return int(variant)


@variants(Drawn, usual="2", read=_boxes)
def row(count: int) -> dict[str, Any]:
    """Return the constants for a row of *count* boxes."""
    lines = 3 * count + 1
    return {
        "BOXES": count,
        "LINES": lines,
        "EDGES": Bits(1 | 1 << count | 1 << 2 * count | 1 << 2 * count + 1),
        "MAX_MOVES": lines,
        "MAX_PLIES": lines,
        "VARIANT": str(count),
    }


def start(variant: str = "") -> Drawn:
    return row.of(variant)(Bits(0), 0, True)


def letters(position: Drawn) -> str:
    return "".join(
        letter.upper() if position.lines >> line & 1 else letter
        for line, letter in enumerate(ascii_lowercase[: position.LINES])
    )


def position_text(position: Drawn) -> str:
    lead = position.lead if position.first else -position.lead
    return f"{letters(position)} {lead:+d} {2 - position.first}"


def parse_position(text: str, variant: str = "") -> Drawn:
    empty = start(variant)
    match = re.fullmatch(r"([A-Za-z]+) ([+-][0-9]) ([12])", text)
    if not match or match[1].lower() != ascii_lowercase[: empty.LINES]:
        raise PositionError(f"{text!r} is not {empty.LINES} letters, a lead and a player")
    lines = Bits(sum(1 << line for line, letter in enumerate(match[1]) if letter.isupper()))
    complete, lead = boxes(empty, lines), int(match[2])
    if abs(lead) > complete or (complete - lead) % 2 or match[2] == "-0":
        raise PositionError(f"{complete} boxes are complete: the lead is not {match[2]}")
    return type(empty)(lines, lead if match[3] == "1" else -lead, match[3] == "1")


def move_text(position: Drawn, move: int) -> str:
    return ascii_lowercase[move]
