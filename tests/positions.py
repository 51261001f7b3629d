"""Positions of random games, and what a game's verbs say about them."""

from __future__ import annotations

import contextlib
import functools
import itertools
from random import Random

from hypothesis import strategies as st

from cutnode import PositionError, legal_moves, load_game
from cutnode.contract.notation import board_of, notation_of
from cutnode.contract.verbs import (
    NO_MOVE,
    bounds,
    candidates,
    canonical,
    chance,
    chance_outcome,
    forced,
    key,
    moves_again,
    order,
    outcome,
    part,
    part_key,
    parts,
    play,
)

GAME = load_game("connect4")
EMPTY = GAME.start()
"""The first position of Connect Four, which takes millions of nodes to solve."""
SEARCHED = GAME.parse("52677675164321472411331752454")
"""A position with value 0, proven after about a hundred nodes."""
LATE = GAME.parse("2252576253462244111563365343671351441")
"""A position with value -1 and five free cells."""

FALL_APART = ("clobber:4x3", "cram:4x3", "kayles:10", "kayles:dawson,12", "nogo:4x3", "toads:4,2,3")
"""Small games whose positions fall apart."""

VARIANTS = {
    "breakthrough": ("", "6x6", "5x5", "4x4", "2x4", "2x8", "8x4", "3x7", "7x5"),
    "chess": ("",),
    "clobber": ("", "4x3", "1x9", "9x2", "8x8"),
    "connect4": ("", "5x4", "4x5", "8x7", "9x6", "10x5", "3x7"),
    "cram": ("", "4x4", "1x9", "7x3", "8x8"),
    "dobutsu": ("", "vanish"),
    "domineering": ("", "4x3", "5x5,horizontal", "2x20", "9x9"),
    "draughts": ("", "6x6", "4x4"),
    "go": ("", "3x3,komi=0.5,suicide=yes", "1x6,ko=simple", "4x3,ko=situational", "1x1", "9x9"),
    "hex": ("", "4", "1", "6x3", "9", "13"),
    "kalah": ("", "6x4,empty", "4x3", "3x2,empty", "1x1", "2x6", "7x18", "1x127,empty", "6x6"),
    "kayles": ("", "1", "7", "64", "dawson,2", "dawson,15"),
    "mnk": ("", "3x3x3", "5x4x4", "1x6x2", "8x8x5", "19x19x5", "7x13x4"),
    "morris": ("", "nine-5", "lasker", "morabaraba", "six", "six-4,flying", "three"),
    "nogo": ("", "3x3", "1x9", "4x5", "8x8"),
    "othello": ("", "6x6", "4x4"),
    "oware": ("", "1", "7", "255"),
    "qubic": ("",),
    "skirmish": ("", "5x5", "4x4"),
    "tictactoe": ("",),
    "toads": ("", "2,1,2", "3,2,3", "1,1,0", "30,4,30"),
    "uniform": ("", "3x3,incremental", "5x4,ordered=60,noise=30,seed=7", "4x5,ordered"),
    "ur": (
        *("", "finkel-1", "finkel-2,captures", "finkel-3,unsafe", "finkel-4,captures,unsafe"),
        *("masters", "masters-2", "masters-3,captures", "blitz", "blitz-7"),
    ),
    "y": ("", "2", "4", "5", "8", "19"),
}
"""The variants of each shipped game in which tests play random games."""

LONGEST = 150
"""The number of plies after which a random game is left unfinished."""


def texts_of(name):
    """Return ``parse_position``, ``position_text`` and ``start`` of a shipped game."""
    texts = load_game(name).notation
    return texts.parse_position, texts.position_text, texts.start


def following(position):
    """Return the positions after all chance outcomes or all moves; none if the game is over."""
    if outcome(position)[0]:
        return []
    if chance(position):
        return [chance_outcome(position, index)[1] for index in range(chance(position))]
    return [play(position, move) for move in legal_moves(position)]


def random_step(position, dice):
    """Return the position after a random move or a random chance outcome."""
    if chance(position):
        return chance_outcome(position, dice.randrange(chance(position)))[1]
    return play(position, dice.choice(legal_moves(position)))


@functools.cache
def random_positions(name, *variants):
    """Return the positions of three random games of each variant, the earliest first."""
    dice, found = Random(name), []
    for variant in 3 * (variants or VARIANTS[name]):
        position = load_game(f"{name}:{variant}").start()
        for ply in range(LONGEST):
            found.append((ply, position))
            if outcome(position)[0]:
                break
            position = random_step(position, dice)
    return [position for _, position in sorted(found, key=lambda pair: pair[0])]


def reached(name, *variants):
    """A strategy: positions of a shipped game reached by random play."""
    return st.deferred(lambda: st.sampled_from(random_positions(name, *variants)))


def final_value(position):
    """Return the value of a position by the rules alone, in a game without chance."""
    over, value = outcome(position)
    if over:
        return value
    return max(
        final_value(child) if moves_again(position, child) else -final_value(child)
        for child in following(position)
    )


def all_positions(start):
    """Return the sets of positions that can be reached from one, by the number of moves."""
    found = [{start}]
    while found[-1]:
        found.append({play(p, move) for p in found[-1] for move in legal_moves(p)})
    return found


def values_as_claimed(start):
    """Return the values of all positions that can be reached from one, by the rules alone.

    The players must move alternately, and no position may come back.  Assert the claims of bounds,
    candidates, forced, key and canonical about each.
    """
    values, classes, keys = {}, {}, {}
    for layer in reversed(all_positions(start)):
        for position in layer - values.keys():
            over, value = outcome(position)
            children = {move: play(position, move) for move in legal_moves(position)}
            if not over:
                value = max(-values[child] for child in children.values())
            values[position] = value
            lower, upper = bounds(position, -1, 1)
            assert lower <= value <= upper
            assert keys.setdefault(key(position), position) == position
            assert classes.setdefault(canonical(position)[0], value) == value
            if lower < upper:
                good = moves_by(candidates, position)
                assert max(-values[children[move]] for move in good) == value
                assert forced(position) == NO_MOVE or [forced(position)] == good
    return values


def moves_by(verb, position):
    """Return the moves that a verb such as ``noisy`` writes into a buffer."""
    buffer = [0] * 256
    return buffer[: verb(position, buffer, 0)]


def order_scores(position):
    """Return the score that ``order`` gives each legal move, by the text of the move."""
    move_text = notation_of(type(position)).move_text
    return {
        move_text(position, move): order(position, move, play(position, move))
        for move in legal_moves(position)
    }


def any_boards(game, count, dice):
    """Return positions with any contents of the cells that the game accepts, for both players."""
    start, found = game.start(), []
    cells = board_of(type(start))
    while len(found) < count:
        contents = dice.choices(range(len(cells.contents)), k=len(cells.places))
        mover = dice.choice([*cells.players]) if cells.players else ""
        with contextlib.suppress(PositionError):
            found.append(game.module.from_cells(contents, mover, start))
    return found


def nimber(position):
    """Return the nimber of a position of an impartial game, by the nimbers of its parts."""
    known = {}

    def of_sum(position):
        buffer, total = [0] * 64, 0
        for mask in buffer[: parts(position, buffer, 0)]:
            piece = part(position, mask)
            word = part_key(piece)
            if word not in known:
                others = {of_sum(play(piece, move)) for move in legal_moves(piece)}
                known[word] = next(n for n in itertools.count() if n not in others)
            total ^= known[word]
        return total

    return of_sum(position)
