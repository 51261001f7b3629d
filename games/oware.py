"""Oware (awari), by the Abapa rules of tournaments.

Rules: each player has a row of six houses, with four seeds in each at first.  A move takes
all seeds of one own house and sows them counter-clockwise, one into each house, skipping the
house they come from.  If the last seed makes two or three in a house of the other, the player
captures these and, going backwards for as long as the other's houses have two or three, their
seeds.  A move that would capture all seeds of the other (a grand slam) is legal and captures
nothing.  If the other has no seeds, a player must give him some when a move can.  With 25
seeds a player has won.  If the player to move has no legal move, and after 50 moves in a row,
of both together, without a capture, each takes the seeds of his own row, and whoever has more
than 24 has won.  (Tournaments leave the end of endless play to the players or to repetition;
a count of moves is a rule that depends on the position alone.)

Values: 1 a win, 0 a draw, -1 a loss.

Variants: the number of moves without a capture that ends the game (default ``50``).

Text: the houses played, 1 the leftmost of the player (``3 6 1``, ``361``), or a board as the
first player, south, sees it, with the captured seeds in brackets, who is to move and, unless
it is 0, the number of moves since the last capture::

    [0] 4 4 4 4 4 4 / 4 4 4 4 4 4 [0] south
    [3] 0 1 0 0 2 0 / 1 0 0 0 0 5 [36] north 12

Encoding: a word for each player, as in ``games/kalah.py``: a byte for each house, from the left
(as the player sees it) in the lowest byte, and then the captured seeds, so sowing goes up::

    mover      byte  0 1 2 3 4 5  6        other     byte  6  5 4 3 2 1 0
               houses . . . . . .  captured          captured  . . . . . .

A move is the number of its house, 0 the leftmost.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np

from cutnode import (
    Bits,
    PositionError,
    compiled,
    is_board,
    legal_moves,
    quoted,
)
from cutnode.contract.bits import WORD, highest_index, mix, random_index
from cutnode.contract.constants import Constant
from cutnode.contract.notation import contents_of, prints_board
from cutnode.contract.variants import variants
from cutnode.games.kalah import (
    HIGH_BITS,
    LOW_BITS,
    ONES,
    cell,  # noqa: F401
    cells,
    move_text,  # noqa: F401
    mover,
    ones,
    parse_houses,
    parse_rows,
    seeds_in,
    total,
    words,
    write_houses,
)

HOUSES = 6
SEEDS = 48
HALF = 24
MAX_MOVES = HOUSES
MOST_QUIET = 255
DECISIVE = True
UNIT = 2

ROW = Bits((1 << 8 * HOUSES) - 1)
FEEDING = Bits(int.from_bytes(bytes(128 - (HOUSES - house) for house in range(HOUSES)), "little"))
"""Added to a row, it sets the high bit of each house whose seeds reach the other's row."""
TWOS = 2 * ONES


def sowing(house: int, seeds: int) -> tuple[int, int, int]:
    """Return what a house with *seeds* seeds adds to the words of the mover and of the other.

    The third number masks the other's houses up to the last seed's, if that is one of them.
    """
    rows = [0] * 2 * HOUSES
    last = house
    for _ in range(seeds):
        last = (last + 1) % len(rows)
        if last == house:
            last = (last + 1) % len(rows)
        rows[last] += 1
    mine, theirs = (int.from_bytes(bytes(row), "little") for row in (rows[:HOUSES], rows[HOUSES:]))
    return mine, theirs, (1 << 8 * max(last - HOUSES + 1, 0)) - 1


SOWN = np.array([sowing(house, seeds) for house in range(HOUSES) for seeds in range(64)], np.uint64)
TO_MOVER, TO_OTHER, WITHIN_REACH = (
    Constant(f"oware.{name}", SOWN[:, column])
    for column, name in enumerate(("to_mover", "to_other", "within_reach"))
)
"""The results of :func:`sowing` for a house and its seeds, at ``64 * house + seeds``."""


@prints_board
class Seeds(NamedTuple):
    """A position: the houses and captured seeds of the mover and of the other."""

    mine: Bits
    theirs: Bits
    second: bool
    """Whether the second player, north, is to move; matters for texts only."""
    quiet: int
    """Moves since the last capture."""


@compiled
def playable(position):
    """Return the high bit of each legal house: with seeds, and feeding the other if it must."""
    houses = position.mine & ROW
    if position.theirs & ROW == Bits(0):
        return (houses + FEEDING) & HIGH_BITS & ROW
    return (houses + LOW_BITS) & HIGH_BITS & ROW


@compiled
def moves(position, buffer, at):
    return write_houses(playable(position), buffer, at)


@compiled
def random_move(position, word):
    return random_index(playable(position), word) >> 3


@compiled
def play(position, move):
    """Sow, by tables, and then capture."""
    seeds = seeds_in(position.mine, move)
    sown = (Bits(move) << Bits(6)) | seeds
    theirs = position.theirs + Bits(TO_OTHER[sown])
    taken = captures(theirs, Bits(WITHIN_REACH[sown]))
    gained = total(taken)
    mine = position.mine ^ (seeds << Bits(8 * move))
    mine += Bits(TO_MOVER[sown]) + (gained << Bits(8 * HOUSES))
    return position._replace(
        mine=theirs ^ taken,
        theirs=mine,
        second=not position.second,
        quiet=(position.quiet + 1) * (gained == Bits(0)),
    )


@compiled
def captures(theirs, reach):
    """Return the captured seeds, in place: in the last house of *reach*, and backwards from there.

    None for a grand slam.
    """
    others = (((theirs ^ TWOS) & ~ONES) + LOW_BITS) & HIGH_BITS & reach
    behind_last_other = Bits(WORD) << Bits(highest_index(others | Bits(1)))
    taken = theirs & reach & behind_last_other
    return taken & -Bits(taken != theirs & ROW)


@compiled
def captured(word):
    """Return the seeds that a player has captured (plus 0: a signed number)."""
    return 0 + seeds_in(word, HOUSES)


@compiled
def outcome(position):
    mine, theirs = captured(position.mine), captured(position.theirs)
    if mine <= HALF and theirs <= HALF:
        if position.quiet < position.LIMIT and playable(position):
            return False, 0
        mine += total(position.mine & ROW)
    return True, (mine > HALF) - (mine < HALF)


@compiled
def key(position):
    """Return a key in which the highest bit tells north's positions from south's."""
    return word_of(position) ^ (Bits(position.second) << Bits(63))


@compiled
def word_of(position):
    """Hash the seeds and the count of quiet moves, whoever is to move."""
    return mix(position.mine | (Bits(position.quiet) << Bits(56))) ^ position.theirs


@compiled
def canonical(position):
    """Return a key that is the same for both players."""
    return word_of(position), 0


# Results known without search


@compiled
def bounds(position, alpha, beta):
    """Bound by what is certain: a player with half of the seeds does not lose."""
    over, value = outcome(position)
    if over:
        return value, value
    lower = 0 if captured(position.mine) == HALF else -1
    upper = 0 if captured(position.theirs) == HALF else 1
    return lower, upper


@compiled
def order(position, move, child):
    """Order by the seeds captured, then by how few seeds the other is left to play with."""
    return 100 * brought(position, child) - total(child.mine & ROW)


@compiled
def brought(position, child):
    """Return the seeds that a move captures."""
    return captured(child.theirs) - captured(position.mine)


# Heuristics for searches that stop before the end of the game


@compiled
def evaluate(position):
    """Return the seeds captured by the mover minus the other's."""
    return captured(position.mine) - captured(position.theirs)


@compiled
def noisy(position, buffer, at):
    """Write the moves that capture."""
    end = at
    for number in range(at, moves(position, buffer, at)):
        move = buffer[number]
        if brought(position, play(position, move)) > 0:
            buffer[end] = move
            end += 1
    return end


# Games of all limits


def _limit(variant: str) -> int:
    """Read the number of moves without a capture that ends the game."""
    if not re.fullmatch("[0-9]{1,9}", variant):
        raise PositionError(
            f"{quoted(variant)} is not a variant; write the moves without a capture that end "
            f"the game, as in 50"
        )
    return int(variant)


VARIANTS = "50", "20"


@variants(
    Seeds,
    usual="50",
    read=_limit,
    about="moves without a capture after which the game ends: 50",
)
def rules(limit: int) -> dict[str, Any]:
    """Return the constants of games that end after *limit* moves without a capture."""
    if not 1 <= limit <= MOST_QUIET:
        raise PositionError(
            f"a game cannot end after {limit} moves without a capture: it can after 1 to "
            f"{MOST_QUIET}"
        )
    return {
        "HOUSES": HOUSES,
        "SEEDS": SEEDS,
        "CELLS": cells(HOUSES, SEEDS),
        "LIMIT": limit,
        "VARIANT": str(limit),
        "MAX_PLIES": limit * (SEEDS // 2 + 1),
    }


Position = rules(50)


# Text


def start(variant: str = "") -> Seeds:
    """Return four seeds in each house; a variant is a limit of moves without a capture, ``50``."""
    row = Bits(4 * ones(HOUSES))
    return rules.of(variant)(row, row, False, 0)


def parse_position(text: str, variant: str = "") -> Seeds:
    """Read the houses played, or a board (see the module's docstring)."""
    position = start(variant)
    return _parse_board(text, position) if is_board(text, "[") else parse_houses(text, position)


def from_cells(contents: list[int], mover: str, start: Seeds) -> Seeds:
    return _parse_board(start.CELLS.text(contents, mover), start)


def position_text(position: Seeds) -> str:
    board = position.CELLS.text(contents_of(position), mover(position))
    return f"{board} {position.quiet}" if position.quiet else board


def caption(position: Seeds) -> str:
    since = f", {position.quiet} since the last capture" if position.quiet else ""
    return f"{mover(position)} to move{since}"


def parse_move(position: Seeds, text: str) -> int:
    if not re.fullmatch(f"[1-{HOUSES}]", text):
        raise PositionError(f"{quoted(text)} is not a house; houses are 1..{HOUSES}")
    if outcome(position)[0]:
        raise PositionError(f"house {text} is played after the game is over")
    if not seeds_in(position.mine, int(text) - 1):
        raise PositionError(f"{mover(position)} has no seeds in house {text}")
    if int(text) - 1 not in legal_moves(position):
        raise PositionError(f"house {text} gives no seeds to the other, who has none")
    return int(text) - 1


def _parse_board(text: str, empty: Seeds) -> Seeds:
    number = "([0-9]{1,9})"
    said = re.fullmatch(
        rf"(.*[^0-9\s,]),?\s*{number}( since the last capture)?", text.strip().lower(), re.DOTALL
    )
    quiet = int(said[2]) if said else 0
    north, south, second = parse_rows(said[1] if said else text, empty)
    if quiet > empty.LIMIT:
        raise PositionError(
            f"{quiet} moves without a capture: the game was over after {empty.LIMIT}"
        )
    return type(empty)(*words(north, south, second), second, quiet)
