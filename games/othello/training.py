"""Training of the pattern evaluation: self-play games, and a fit to their positions.

::

    python -m cutnode.games.othello.training play FOLDER --games 20000 --untrained
    python -m cutnode.games.othello.training fit FOLDER
    python -m cutnode.games.othello.training play FOLDER --games 100000 --seed 1
    python -m cutnode.games.othello.training fit FOLDER

``play`` adds files of labelled positions to a folder, one for each thousand games, so it can be
interrupted at any time; ``fit`` finds weights for all positions of a folder and writes them,
with a report next to them.

A game begins with a random number of plies that are partly random; the last of them always is,
since a search looks at positions after any move.  Then both sides play the best move of a search of
small depth and, when few squares are empty, the move that looks best, or another.  All positions
with few empty squares are solved; those before them, back to the end of the opening, get the value
of the first solved one.

The fit is linear least squares with a penalty (ridge) for weights that differ from the next
stage's, by conjugate gradients.  So configurations that are rare at one stage get the weights of
the next, and those that are rare everywhere get weights near zero.

This module is older than ``cutnode train``, which learns any game, and is kept because it made the
shipped weights, bit for bit, from 597,000 games, and ``cutnode train`` cannot make them.  The
windows of ``cutnode train`` have at most 20,000 configurations, the patterns here 59,049; it has
three stages, here there are fifteen, and the numbers of moves count.  Its code reads any board: an
estimate of its 74 windows takes 106 ns, one of the 46 here, with the moves of both players, 60 (the
best of seven runs over 100,000 positions of random games).
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from zlib import crc32

import click
import numpy as np
from numba import njit

from cutnode import Bits, lowest_index, popcount, without_lowest
from cutnode.games.othello import Position
from cutnode.games.othello.discs import difference, flipped, reach
from cutnode.games.othello.endings import (
    last_four,
    last_one,
    last_three,
    last_two,
    odd_squares,
    stable,
)
from cutnode.games.othello.patterns import (
    DISCS,
    MINE_MOVES,
    MIRRORED,
    PATTERNS,
    SIZE,
    STAGES,
    STARTS,
    THEIR_MOVES,
    UNIT,
    WEIGHTS_FILE,
    numbers,
    occurrences,
    packed,
    read_weights,
    stage_of,
    weighed,
)
from cutnode.lab.deviation import FOLDER, FileCommands, read_rows, weights_option, write_rows
from cutnode.storage.files import write_whole

LABELLED = np.dtype([("mine", "<u8"), ("theirs", "<u8"), ("value", "i1")])
"""A position, and the disc difference of the game, or its exact value, for the mover."""

CHUNK = 1000
"""Games per file."""

HELD_OUT = 20
"""One file in this many is for validation."""

PLAYED = "played.txt"
"""A line for each file: the seed, and how its games were played."""

LIMIT = 1_000_000
"""More than every score."""

CORNERS = Position.CORNERS

ROOM = 40
"""The most moves of a position for which a buffer has room."""


def untrained() -> np.ndarray:
    """Return weights that know only mobility and corners, for the first games."""
    weights = np.zeros((STAGES, SIZE))
    moves = np.arange(THEIR_MOVES - MINE_MOVES)
    weights[:, MINE_MOVES:THEIR_MOVES] = moves
    weights[:, THEIR_MOVES:DISCS] = -moves
    corner = np.arange(3 ** len(PATTERNS["corner 3x3"]))
    diagonal = corner // 3**4 % 3  # the X square, when the corner is empty
    weights[:, corner] = np.select(
        [corner % 3 == 1, corner % 3 == 2, diagonal == 1, diagonal == 2], [8, -8, -4, 4], 0
    )
    return packable(weights)


def packable(weights: np.ndarray) -> np.ndarray:
    """Return weights of discs as whole units, 16 bits each."""
    return np.clip(np.rint(UNIT * weights), -32768, 32767).astype(np.int16)


# Play


@njit(nogil=True, error_model="numpy")
def played(mine, theirs, square):
    """Return the discs of the next mover and of the other, after a move."""
    turned = flipped(mine, theirs, square)
    return theirs ^ turned, mine | turned | (Bits(1) << Bits(square))


@njit(nogil=True, error_model="numpy")
def insert(entry, buffer, at, end):
    """Insert an entry into ``buffer[at:end]``, which is in order."""
    while end > at and buffer[end - 1] > entry:
        buffer[end] = buffer[end - 1]
        end -= 1
    buffer[end] = entry


@njit(nogil=True, error_model="numpy")
def ranked(mine, theirs, squares, buffer, at):
    """Write the moves to ``buffer[at:]``, those that leave few replies first; return the end.

    An entry is ``64 * rank + square``.
    """
    end = at
    odd = odd_squares(~(mine | theirs))
    while squares:
        square = lowest_index(squares)
        squares = without_lowest(squares)
        replies = reach(*played(mine, theirs, square))
        rank = 2 * (popcount(replies) + popcount(replies & CORNERS)) + 1
        insert(64 * (rank - (odd >> Bits(square) & Bits(1))) + square, buffer, at, end)
        end += 1
    return end


@njit(nogil=True, error_model="numpy")
def scored(weights, mine, theirs, squares, buffer, at):
    """Write moves as :func:`ranked` does, ordered by the weights of the positions after them."""
    end = at
    while squares:
        square = lowest_index(squares)
        squares = without_lowest(squares)
        insert(64 * weighed(weights, *played(mine, theirs, square)) + square, buffer, at, end)
        end += 1
    return end


@njit(nogil=True, error_model="numpy")
def solve(mine, theirs, alpha, beta, buffer):
    """Return the exact value if it is between *alpha* and *beta*, else a bound.

    The position has an empty square.
    """
    free = ~(mine | theirs)
    empties = popcount(free)
    if empties < 4:
        if empties == 3:
            return last_three(mine, theirs, free, 64, alpha, beta)[0]
        if empties == 2:
            return last_two(mine, theirs, free, 64, alpha, beta)[0]
        return last_one(mine, theirs, free, 64, alpha)
    if empties == 4:
        return last_four(mine, theirs, free, 64, alpha, beta)[0]
    if alpha >= 2 * empties:
        most = 64 - 2 * popcount(stable(theirs, mine))
        if most <= alpha:
            return most
    squares = reach(mine, theirs)
    if squares == Bits(0):
        if reach(theirs, mine) == Bits(0):
            return difference(mine, theirs, 64)
        return -solve(theirs, mine, -beta, -alpha, buffer)
    best = -65
    start = ROOM * empties
    for n in range(start, ranked(mine, theirs, squares, buffer, start)):
        square = buffer[n] & 63
        other, after = played(mine, theirs, square)
        low = max(alpha, best)
        if n == start:
            value = -solve(other, after, -beta, -low, buffer)
        else:
            value = -solve(other, after, -low - 1, -low, buffer)
            if low < value < beta:
                value = -solve(other, after, -beta, -value, buffer)
        best = max(best, value)
        if best >= beta:
            break
    return best


@njit(nogil=True, error_model="numpy")
def search(weights, mine, theirs, depth, alpha, beta, buffer):
    """Return the score of a search to a depth of one or more, in units."""
    squares = reach(mine, theirs)
    if squares == Bits(0):
        if reach(theirs, mine) == Bits(0):
            return UNIT * difference(mine, theirs, 64)
        return -search(weights, theirs, mine, depth, -beta, -alpha, buffer)
    best = -LIMIT
    start = ROOM * depth
    if depth == 1:
        while squares:
            square = lowest_index(squares)
            squares = without_lowest(squares)
            best = max(best, -weighed(weights, *played(mine, theirs, square)))
            if best >= beta:
                break
        return best
    if depth == 2:
        end = ranked(mine, theirs, squares, buffer, start)
    else:
        end = scored(weights, mine, theirs, squares, buffer, start)
    for n in range(start, end):
        square = buffer[n] & 63
        other, after = played(mine, theirs, square)
        low = max(alpha, best)
        value = low + 1
        if n > start:
            value = -search(weights, other, after, depth - 1, -low - 1, -low, buffer)
        if n == start or low < value < beta:
            value = -search(weights, other, after, depth - 1, -beta, -low, buffer)
        best = max(best, value)
        if best >= beta:
            break
    return best


@njit(nogil=True, error_model="numpy")
def best_move(weights, mine, theirs, depth, buffer):
    """Return the best move by a search to a depth."""
    best, chosen = -LIMIT, -1
    start = ROOM * 64
    end = scored(weights, mine, theirs, reach(mine, theirs), buffer, start)
    if depth == 1:
        return buffer[start] & 63
    for n in range(start, end):
        square = buffer[n] & 63
        other, after = played(mine, theirs, square)
        value = best + 1
        if n > start:
            value = -search(weights, other, after, depth - 1, -best - 1, -best, buffer)
        if n == start or value > best:
            value = -search(weights, other, after, depth - 1, -LIMIT, -best, buffer)
        if value > best:
            best, chosen = value, square
    return chosen


@njit(nogil=True, error_model="numpy")
def random_move(squares):
    for _ in range(np.random.randint(0, popcount(squares))):
        squares = without_lowest(squares)
    return lowest_index(squares)


@njit(nogil=True, error_model="numpy")
def play_games(weights, games, depth, solved, seed, found):
    """Write the labelled positions of some games to *found*, and return their number.

    *found* has room for 60 records for each game.
    """
    np.random.seed(seed)
    buffer = np.zeros(ROOM * 65, np.int64)
    count = 0
    for _ in range(games):
        mine, theirs, colour = Bits(0x0000000810000000), Bits(0x0000001008000000), 1
        opening = np.random.randint(8, 22 if np.random.random() < 0.2 else 50)
        ply, pending = 0, count
        while True:
            squares = reach(mine, theirs)
            if squares == Bits(0):
                mine, theirs, colour = theirs, mine, -colour
                squares = reach(mine, theirs)
                if squares == Bits(0):
                    break
            empties = 64 - popcount(mine | theirs)
            if ply >= opening:
                found[count].mine = mine
                found[count].theirs = theirs
                found[count].value = colour
                count += 1
                if empties <= solved:
                    value = colour * solve(mine, theirs, -64, 64, buffer)
                    pending = label(found, pending, count, value)
            if ply < opening:
                at_random = ply < 6 or ply == opening - 1 or np.random.random() < 0.15
                ahead = 2
            elif empties <= solved:
                at_random, ahead = np.random.random() < 0.15, 1
            else:
                at_random, ahead = False, depth
            if at_random:
                square = random_move(squares)
            else:
                square = best_move(weights, mine, theirs, ahead, buffer)
            mine, theirs = played(mine, theirs, square)
            colour, ply = -colour, ply + 1
        label(found, pending, count, colour * difference(mine, theirs, 64))
    return count


@njit(nogil=True, error_model="numpy")
def label(found, first, end, value):
    """Turn the movers' colours into values, *value* being the one for colour 1; return *end*."""
    for n in range(first, end):
        found[n].value *= value
    return end


def play_chunks(
    folder: Path, weights: np.ndarray, games: int, depth: int, solved: int, seed: int
) -> None:
    """Add chunks of games to a folder; existing ones are not played again.

    The folder's ``played.txt`` says how each was played.
    """
    folder.mkdir(parents=True, exist_ok=True)
    flat = weights.reshape(-1)
    how = f"depth {depth}, solved from {solved} empty squares, weights {crc32(flat):08x}"
    room = np.zeros(60 * CHUNK, LABELLED)
    began = time.monotonic()
    for number, first in enumerate(range(0, games, CHUNK)):
        path = folder / f"games-{seed}-{number:05}.npy"
        if not path.exists():
            size = min(CHUNK, games - first)
            count = play_games(flat, size, depth, solved, 100_000 * seed + number, room)
            write_rows(path, room[:count])
            with open(folder / PLAYED, "a") as file:
                file.write(f"games-{seed}: {how}\n")
            print(f"{path.name}: {count} positions, {time.monotonic() - began:.0f} s", flush=True)


# Fit

FIRST = np.repeat(STARTS[:-1], [len(occurrences(p)) for p in PATTERNS.values()])
"""Where the weights of each slot begin."""


@njit(nogil=True, error_model="numpy")
def indices(mine, theirs, found):
    """Write the indices of a position's weights within its stage to *found*."""
    words = numbers(mine, theirs)
    slots = len(FIRST)
    for slot in range(slots):
        word = words[slot // 16][slot // 4 % 4]
        found[slot] = FIRST[slot] + (word >> Bits(16 * (slot % 4)) & Bits(0xFFFF))
    found[slots] = MINE_MOVES + popcount(reach(mine, theirs))
    found[slots + 1] = THEIR_MOVES + popcount(reach(theirs, mine))
    found[slots + 2] = DISCS + popcount(mine | theirs)


@njit(nogil=True, error_model="numpy")
def residuals(positions, weights, share):
    """Return how far the weights of one stage are from the values of positions, times *share*.

    The first result is, for each weight, the sum over all positions in which it occurs; the second
    is the sum of squares.
    """
    places = np.zeros(len(FIRST) + 3, np.int64)
    found, squares = np.zeros(SIZE), 0.0
    for n in range(len(positions)):
        indices(positions[n].mine, positions[n].theirs, places)
        amount = share * positions[n].value
        for place in places:
            amount -= weights[place]
        for place in places:
            found[place] += amount
        squares += amount * amount
    return found, squares


@njit(nogil=True, error_model="numpy")
def counted(positions):
    """Count the positions in which each weight of a stage occurs."""
    places = np.zeros(len(FIRST) + 3, np.int64)
    found = np.zeros(SIZE)
    for n in range(len(positions)):
        indices(positions[n].mine, positions[n].theirs, places)
        for place in places:
            found[place] += 1
    return found


def folded(amounts: np.ndarray) -> np.ndarray:
    """Return the mean of a configuration's amount and of its mirror image's."""
    return (amounts + amounts[MIRRORED]) / 2


def fit_stage(positions: np.ndarray, prior: np.ndarray, penalty: float, steps: int) -> np.ndarray:
    """Return the weights of a stage, in discs: least squares, with a penalty for leaving *prior*.

    By conjugate gradients, preconditioned by how often configurations occur.
    """
    scale = 1 / (folded(counted(positions)) + penalty)
    change = np.zeros(SIZE)
    gradient = folded(residuals(positions, prior, 1.0)[0])
    ahead = scale * gradient
    direction, slope = ahead, gradient @ ahead
    for _ in range(steps):
        if slope < 1e-6:
            break
        image = penalty * direction - folded(residuals(positions, direction, 0.0)[0])
        length = slope / (direction @ image)
        change += length * direction
        gradient = gradient - length * image
        ahead = scale * gradient
        slope, before = gradient @ ahead, slope
        direction = ahead + slope / before * direction
    return prior + change


def fit_stages(positions: np.ndarray, penalty: float, steps: int) -> np.ndarray:
    """Return the weights of all stages, in discs, fitted from the last to the first.

    A stage learns from positions that have up to two discs fewer or more than its own.
    """
    weights = np.zeros((STAGES, SIZE))
    discs = np.bitwise_count(positions["mine"] | positions["theirs"])
    prior = np.zeros(SIZE)
    for stage in reversed(range(STAGES)):
        first = 4 * stage + 4
        near = positions[(discs >= first - 2) & (discs < first + 6)]
        prior = weights[stage] = fit_stage(near, prior, penalty, steps)
    return weights


def errors(positions: np.ndarray, weights: np.ndarray) -> Iterator[tuple[int, float, float]]:
    """Yield for each stage the number of positions and two errors, as root mean squares.

    The first is the deviation of values from their mean, the second from the estimate of the
    weights (in units).
    """
    discs = np.bitwise_count(positions["mine"] | positions["theirs"])
    stages = np.array([stage_of(count) for count in range(65)])[discs]
    for stage in range(STAGES):
        own = positions[stages == stage]
        if len(own):
            squares = residuals(own, weights[stage] / UNIT, 1.0)[1]
            yield len(own), float(own["value"].std()), float(np.sqrt(squares / len(own)))
        else:
            yield 0, np.nan, np.nan


LEARNT = np.dtype([("mine", "<u8"), ("theirs", "<u8"), ("value", "<f4")])


def distinct(chunks: list[np.ndarray]) -> np.ndarray:
    """Return each position once, with the mean of its values."""
    positions = np.concatenate(chunks)
    keys = position_keys(positions)
    order = np.argsort(keys, kind="stable")
    starts = np.flatnonzero(np.diff(keys[order], prepend=keys[order[:1]] ^ np.uint64(1)))
    found = np.zeros(len(starts), LEARNT)
    for name in ("mine", "theirs"):
        found[name] = positions[name][order[starts]]
    counts = np.diff(starts, append=len(order))
    found["value"] = np.add.reduceat(positions["value"][order].astype(float), starts) / counts
    return found


def position_keys(positions: np.ndarray) -> np.ndarray:
    """Return words that tell nearly all positions apart."""
    words = positions["mine"] * np.uint64(0x9E3779B97F4A7C15)
    return (words ^ words >> np.uint64(29)) * np.uint64(0xBF58476D1CE4E5B9) + positions["theirs"]


def read_positions(folder: Path) -> tuple[np.ndarray, np.ndarray, int]:
    """Return positions to learn from, others to validate with, and the number of files."""
    paths = sorted(folder.glob("games-*.npy"))
    if len(paths) < 2:
        raise click.ClickException(f"{folder} has fewer than two files of games; play some first")
    chunks = [read_rows(path, LABELLED) for path in paths]
    held = distinct([chunk for n, chunk in enumerate(chunks) if n % HELD_OUT == 0])
    learnt = distinct([chunk for n, chunk in enumerate(chunks) if n % HELD_OUT])
    return learnt, held[~np.isin(position_keys(held), position_keys(learnt))], len(paths)


def report(weights: np.ndarray, held: np.ndarray) -> list[str]:
    """Report the error of weights (in units), as lines of a text."""
    lines = [
        "Error of held-out positions, in discs (root mean square): of the mean value, of",
        "mobility and corners alone, of the weights.",
        "",
        " discs  positions   mean  mobility  weights",
    ]
    rows = zip(errors(held, untrained()), errors(held, weights), strict=True)
    for stage, ((count, spread, before), (_, _, after)) in enumerate(rows):
        first = 4 * stage + 4
        lines.append(f"{first:3}-{first + 3:2} {count:10} {spread:6.2f} {before:9.2f} {after:8.2f}")
    return lines


@click.group(cls=FileCommands)
def main() -> None:
    """Train the pattern evaluation of Othello."""


WEIGHTS = weights_option(WEIGHTS_FILE)


@main.command()
@FOLDER
@WEIGHTS
@click.option("--games", default=20_000, type=click.IntRange(1), help="Number of games.")
@click.option(
    "--depth", default=4, type=click.IntRange(1, 20), help="Search depth of both players, in plies."
)
@click.option(
    "--solved",
    default=12,
    type=click.IntRange(1, 20),
    help="Solve positions with at most this many empty squares.",
)
@click.option(
    "--seed",
    default=0,
    type=click.IntRange(0, 40_000),
    help="Random seed; files of other seeds are kept.",
)
@click.option("--untrained", "first", is_flag=True, help="Play by mobility and corners alone.")
def play(
    folder: Path, weights: Path, games: int, depth: int, solved: int, seed: int, first: bool
) -> None:
    """Play games, and write their positions to files in FOLDER."""
    if not first and not weights.exists():
        raise click.ClickException(f"there are no weights {weights}; fit them, or play --untrained")
    play_chunks(folder, untrained() if first else read_weights(weights), games, depth, solved, seed)


@main.command()
@FOLDER
@WEIGHTS
@click.option(
    "--penalty",
    default=25.0,
    type=click.FloatRange(0, min_open=True),
    help="Penalty for weights that differ from the next stage's, in occurrences.",
)
@click.option("--steps", default=20, type=click.IntRange(1), help="Conjugate gradient steps.")
def fit(folder: Path, weights: Path, penalty: float, steps: int) -> None:
    """Fit weights to the positions in FOLDER, and write them and a report."""
    learnt, held, files = read_positions(folder)
    played = Counter((folder / PLAYED).read_text().splitlines())
    found = packable(fit_stages(learnt, penalty, steps))
    lines = [
        f"Weights {crc32(found):08x}: {files} files of {CHUNK} games, {len(learnt) + len(held)}",
        f"distinct positions; a penalty of {penalty:g}, {steps} steps.",
        *("", *(f"{files} x {how}" for how, files in sorted(played.items())), ""),
        *report(found, held),
    ]
    text = "\n".join(lines) + "\n"
    write_whole(str(weights), packed(found))
    write_whole(str(weights.with_suffix(".txt")), text.encode())
    print(text)


if __name__ == "__main__":
    main()
