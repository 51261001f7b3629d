"""Tuning of the evaluation of chess: self-play games, and a fit to their positions.

::

    python -m cutnode.games.chess.tuning first
    python -m cutnode.games.chess.tuning play FOLDER --games 5000
    python -m cutnode.games.chess.tuning fit FOLDER
    python -m cutnode.games.chess.tuning play FOLDER --games 5000 --seed 1
    python -m cutnode.games.chess.tuning fit FOLDER
    python -m cutnode.games.chess.tuning label FOLDER LABELLED
    python -m cutnode.games.chess.tuning network LABELLED --all --share 0

``first`` writes weights by hand.  ``play`` adds files of labelled positions to a folder, one for
every ``CHUNK`` games, so it can be interrupted at any time; ``fit`` finds weights for all positions
of a folder and writes them, with a report as header; ``label`` copies a folder's positions, adds
random ones near them, and labels all by Stockfish's evaluation (``games/chess/labels.py``);
``network`` trains the network that takes the weights' place, as ``cutnode train`` does for all
games; ``report`` measures how well weights predict results.  Specific to chess are the features,
whose weights cannot be learned like a network's, and how games are played and ended.

A game begins with some random moves, from the start or from a position of another game, after
which neither side is far ahead.  Then both sides play the best move of a search with a limit of
nodes, until the game is over or surely won: hundreds of games at once, a ply of each in one batch.
Only quiet positions are kept: not in check, the best move is not noisy, and noisy moves win nothing
(quiescence search).  Each has a label: the score of its search, and a small share of the game's
result.  A result depends on many moves, and with a larger share of it weights play worse (a share
of 0.8 lost 76 Elo to a share of 0.4, and that 36 to 0.1, at 1500 nodes a move).  A network can
learn from later scores of the game as well.

The fit is logistic regression (P. Österlund's method for Texel, 2014): it finds the most likely
weights, with the expected score a logistic function of the evaluation.  The evaluation itself
records which features it counts in a position.
"""

from __future__ import annotations

import json
import math
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

import click
import numpy as np
from numba import njit

from cutnode import NO_MOVE, CutnodeError
from cutnode.batches import BatchSearcher
from cutnode.contract.positions import as_words, pack, unpack, width
from cutnode.games.chess import (
    MAX_MOVES,
    REPETITIONS,
    Position,
    check,
    drawn,
    moves,
    noisy,
    outcome,
    play,
    recurrence,
    start,
)
from cutnode.games.chess.boards import board_of
from cutnode.games.chess.evaluation import (
    FULL_SCALE,
    PHASES,
    evaluate,
    phase_of,
    scale_of,
    worth_of,
)
from cutnode.games.chess.kings import DANGER_END, DANGER_UNIT, MOST_DANGER
from cutnode.games.chess.labels import (
    BOARD,
    LABELLED,
    UNKNOWN,
    evaluations,
    position_of,
    rows_nearby,
    start_like,
)
from cutnode.games.chess.planes import opponent_planes, planes
from cutnode.games.chess.weights import (
    LINEAR,
    SIZE,
    WEIGHTS,
    WEIGHTS_FILE,
    read_weights,
    weights_text,
)
from cutnode.games.chess.weights_by_hand import first_weights
from cutnode.kernels.learned import MOST_STONES
from cutnode.kernels.networks import MOST_WIDTH, Network
from cutnode.lab.deviation import FOLDER, FileCommands, read_rows, weights_option, write_rows
from cutnode.storage.evaluations import (
    evaluation_recipe,
    installed_file,
    load_evaluation,
    save_evaluation,
)
from cutnode.storage.files import write_whole
from cutnode.training.fitting import Course, logistic_slope, require_jax
from cutnode.training.models import NetworkModel, models_for
from cutnode.training.objectives import Examples

CHUNK = 512
"""Games per file, half of which are played at a time."""

MOST_PIECES, RANGES = 32, 8
"""The most pieces, and the number of ranges of pieces with network outputs of their own."""

HELD_OUT = 10
"""One game in this many is for validation."""

PLAYED = "played.txt"
"""A line for each file: how its games were played."""

MOST_LATER, LATER_SHARE = 1500, 0.9
"""The limit of scores in later results, and the factor by which each ply discounts them."""

EVEN = 400
"""The most that a side may be ahead where a game begins."""

WON, SURELY = 1000, 6
"""A game is over with this score or more for this many plies in a row."""

LONGEST = 300
"""The ply after which a game is drawn."""


# Play


@njit(nogil=True, error_model="numpy")
def step(words, choices):
    """Play a move in each parked position, and park the position after it in its place.

    Return for each whether the move was quiet (not in check, and not noisy), whether the game
    is over, its value for the next mover then, and the word that identifies repetitions.
    """
    count = len(choices)
    like = start_like()
    each = width(like)
    quiet_move, over = np.zeros(count, np.bool_), np.zeros(count, np.bool_)
    value, word = np.zeros(count, np.int64), np.zeros(count, np.uint64)
    buffer = np.zeros(2 * MAX_MOVES, np.int64)
    for n in range(count):
        position = unpack(words, n * each, like)
        quiet_move[n] = not check(position)
        for at in range(noisy(position, buffer, 0)):
            if buffer[at] == choices[n]:
                quiet_move[n] = False
        child = play(position, choices[n])
        pack(words, n * each, child)
        ended, value[n] = outcome(child)
        over[n] = ended or drawn(child)
        word[n] = recurrence(child)
    return quiet_move, over, value, word


@njit(nogil=True, error_model="numpy")
def wander(words, steps, random):
    """Play *steps* random moves in each parked position, as long as there are any."""
    like = start_like()
    each = width(like)
    buffer = np.zeros(2 * MAX_MOVES, np.int64)
    for n in range(len(steps)):
        position = unpack(words, n * each, like)
        for at in range(steps[n]):
            if drawn(position):
                break
            count = moves(position, buffer, 0)
            if count == 0:
                break
            position = play(position, buffer[random[n, at] % count])
        pack(words, n * each, position)


def play_games(
    searcher: BatchSearcher, begun: np.ndarray, nodes: int
) -> tuple[np.ndarray, np.ndarray]:
    """Play games from parked positions to their ends, a move of each at a time.

    Return rows of ``LABELLED``, with games numbered from 0, and the parked positions of the rows.
    A game that begins where a side is too far ahead has none.
    """
    count, each = begun.shape
    words = begun.copy()
    rows = np.zeros((count, LONGEST), LABELLED)
    kept = np.zeros((count, LONGEST), bool)
    parked = np.zeros((count, LONGEST, each), np.uint64)
    before = np.zeros((count, LONGEST), np.uint64)
    length, ahead = np.zeros(count, int), np.zeros(count, int)
    result = np.ones(count, int)
    """Results for the player to move at ``length``."""
    alive = np.arange(count)
    for ply in range(LONGEST):
        if not len(alive):
            break
        here = words[alive]
        best = searcher.search(here, nodes=nodes)
        score = best["value"]
        length[alive] = ply
        going = best["move"] != NO_MOVE
        if ply == 0:
            going &= np.abs(score) <= EVEN
        ahead[alive] = np.where(np.abs(score) >= WON, ahead[alive] + 1, 0)
        sure = ahead[alive] == SURELY
        result[alive[sure]] = np.where(score[sure] > 0, 2, 0)
        going &= ~sure
        alive, here, best, score = alive[going], here[going], best[going], score[going]
        if not len(alive):
            break
        parked[alive, ply] = here
        for at, name in enumerate(BOARD):
            rows[name][alive, ply] = here[:, at]
        rows["score"][alive, ply] = score
        after = here.reshape(-1).copy()
        quiet_move, over, value, word = step(after, best["move"].copy())
        words[alive] = after.reshape(-1, each)
        kept[alive, ply] = quiet_move & (np.abs(score) < 2 * WON)
        before[alive, ply] = word
        over |= (before[alive, : ply + 1] == word[:, None]).sum(axis=1) >= REPETITIONS
        length[alive] = ply + 1
        result[alive] = 1 + value
        alive = alive[~over]
    for game in range(count):
        number = length[game]
        if not number:
            continue
        own = rows[game, :number]
        same = (number - np.arange(number)) % 2 == 0
        own["result"] = np.where(same, result[game], 2 - result[game])
        own["game"] = game
        later = (result[game] - 1.0) * MOST_LATER
        for ply in reversed(range(number)):
            later = -later
            own["later"][ply] = round(later)
            now = min(max(int(own["score"][ply]), -MOST_LATER), MOST_LATER)
            later = LATER_SHARE * later + (1 - LATER_SHARE) * now
    return rows[kept], parked[kept]


def play_chunks(folder: Path, games: int, nodes: int, seed: int) -> None:
    """Play games to files of *folder* that do not exist yet.

    Half of the games of a file begin with random moves, the others with a few more random moves
    from positions of these.
    """
    folder.mkdir(parents=True, exist_ok=True)
    searcher = BatchSearcher(Position, table=4)
    known = crc32(WEIGHTS.array), searcher.tasks[0].searcher.evaluation.meaning
    how = f"{nodes} nodes a move, weights {known[0]:08x}, {known[1]}"
    began = time.monotonic()
    for number in range(-(-games // CHUNK)):
        path = folder / f"games-{seed}-{number:05}.npy"
        if path.exists():
            continue
        searcher.clear()
        random = np.random.default_rng([seed, number])
        half = CHUNK // 2
        begun = np.tile(as_words([start()]), half)
        wander(begun, random.integers(4, 15, half), random.integers(0, 1 << 30, (half, 15)))
        found, parked = play_games(searcher, begun.reshape(half, -1), nodes)
        begun = parked[random.integers(0, len(parked), half)].reshape(-1)
        wander(begun, random.integers(1, 5, half), random.integers(0, 1 << 30, (half, 5)))
        others, _ = play_games(searcher, begun.reshape(half, -1), nodes)
        others["game"] += half
        rows = np.concatenate([found, others])
        rows["game"] += number * CHUNK
        write_rows(path, rows)
        with open(folder / PLAYED, "a", encoding="utf-8") as file:
            file.write(f"games-{seed}: {how}\n")
        print(f"{path.name}: {len(rows)} positions, {time.monotonic() - began:.0f} s", flush=True)


# Features


@njit(nogil=True, error_model="numpy")
def quiescence(position, alpha, beta, buffer, top):
    """Return the value within a window when only noisy moves are played, and players may stop."""
    best = evaluate(position)
    if best >= beta:
        return best
    end = noisy(position, buffer, top)
    for at in range(top, end):
        child = play(position, buffer[at])
        value = -quiescence(child, -beta, -max(alpha, best), buffer, end)
        best = max(best, value)
        if best >= beta:
            break
    return best


@njit(nogil=True, error_model="numpy")
def quiet(rows):
    """Return for each row whether noisy moves win nothing."""
    found = np.zeros(len(rows), np.bool_)
    buffer = np.zeros(64 * MAX_MOVES, np.int64)
    for n in range(len(rows)):
        position = position_of(rows[n])
        static = evaluate(position)
        found[n] = quiescence(position, static, static + 1, buffer, 0) <= static
    return found


class Features(NamedTuple):
    """Features of positions: how often each weight applies, and how sums are tapered.

    The weights that count in position *n* are ``index[ends[n] : ends[n + 1]]``, each
    ``count`` times: below ``LINEAR`` the mover's minus the other's, then the danger to the other
    player's king, and from ``SIZE`` on the danger to the mover's.
    """

    ends: np.ndarray
    index: np.ndarray
    count: np.ndarray
    phase: np.ndarray
    """The share of the middle game."""
    scales: np.ndarray
    """The share of an advantage that counts, for the other player's and for the mover's."""


@njit(nogil=True, error_model="numpy")
def counted(rows, ends, index, count, phase, scales):
    """Write the features of positions to arrays with enough room."""
    mine, theirs = np.zeros(SIZE, np.int64), np.zeros(SIZE, np.int64)
    at = 0
    for n in range(len(rows)):
        position = position_of(rows[n])
        board = board_of(position)
        mine[:] = 0
        theirs[:] = 0
        worth_of(position, mine, theirs)
        phase[n] = phase_of(board) / PHASES
        scales[n, 0] = scale_of(board, False) / FULL_SCALE
        scales[n, 1] = scale_of(board, True) / FULL_SCALE
        for place in range(2 * SIZE - LINEAR):
            if place < LINEAR:
                times = mine[place] - theirs[place]
            else:
                times = mine[place] if place < SIZE else theirs[place - SIZE + LINEAR]
            if times:
                index[at] = place
                count[at] = times
                at += 1
        ends[n + 1] = at
    return at


MOST_FEATURES = 120
"""More features than a position has, on average."""


def features_of(rows: np.ndarray) -> Features:
    """Return the features of labelled positions."""
    number = len(rows)
    room = MOST_FEATURES * number + 2 * SIZE
    features = Features(
        np.zeros(number + 1, np.int64),
        np.zeros(room, np.int16),
        np.zeros(room, np.int8),
        np.zeros(number),
        np.zeros((number, 2)),
    )
    used = counted(rows, *features)
    return features._replace(index=features.index[:used].copy(), count=features.count[:used].copy())


# Fit


@njit(nogil=True, error_model="numpy")
def scored(features, weights, slope, targets, scores, gradient):
    """Write the scores of positions, and the gradient of their error by weights.

    Return the mean cross entropy of the expected scores and their *targets*.
    """
    ends, index, count, phase, scales = features
    number = len(ends) - 1
    dangers = SIZE - LINEAR
    gradient[:] = 0
    total = 0.0
    for n in range(number):
        middle, end, danger, other = 0.0, 0.0, 0.0, 0.0
        for at in range(ends[n], ends[n + 1]):
            place, times = index[at], count[at]
            if place < LINEAR:
                middle += times * weights[place, 0]
                end += times * weights[place, 1]
            elif place < SIZE:
                danger += times * weights[place, 0]
            else:
                other += times * weights[place - dangers, 0]
        within, other_within = 0 < danger < MOST_DANGER, 0 < other < MOST_DANGER
        danger = min(max(danger, 0.0), float(MOST_DANGER))
        other = min(max(other, 0.0), float(MOST_DANGER))
        middle += (danger * danger - other * other) / DANGER_UNIT
        end += (danger - other) / DANGER_END
        score = phase[n] * middle + (1 - phase[n]) * end
        scale = scales[n, 1 if score > 0 else 0]
        score *= scale
        scores[n] = score
        expected = 1 / (1 + math.exp(-slope * score))
        target = targets[n]
        total -= target * math.log(expected + 1e-12)
        total -= (1 - target) * math.log(1 - expected + 1e-12)
        by_score = slope * (expected - target) * scale / number
        by_middle, by_end = by_score * phase[n], by_score * (1 - phase[n])
        by_danger = within * (by_middle * 2 * danger / DANGER_UNIT + by_end / DANGER_END)
        by_other = other_within * (by_middle * 2 * other / DANGER_UNIT + by_end / DANGER_END)
        for at in range(ends[n], ends[n + 1]):
            place, times = index[at], count[at]
            if place < LINEAR:
                gradient[place, 0] += times * by_middle
                gradient[place, 1] += times * by_end
            elif place < SIZE:
                gradient[place, 0] += times * by_danger
            else:
                gradient[place - dangers, 0] -= times * by_other
    return total / number


def error_of(features: Features, weights: np.ndarray, slope: float, targets: np.ndarray) -> float:
    """Return the mean cross entropy of the predictions of weights."""
    scores, gradient = np.zeros(len(targets)), np.zeros((SIZE, 2))
    return float(scored(features, weights, slope, targets, scores, gradient))


def fit_weights(
    features: Features,
    targets: np.ndarray,
    prior: np.ndarray,
    slope: float,
    steps: int,
    penalty: float,
    rate: float = 2.0,
) -> np.ndarray:
    """Return the most likely weights, starting from *prior*, with a *penalty* for leaving it.

    Gradient descent with a rate for each weight (Adam: D. Kingma and J. Ba, 2015) that falls
    to 0 gradually.
    """
    weights = prior.astype(float)
    scores, gradient = np.zeros(len(targets)), np.zeros((SIZE, 2))
    mean, square = np.zeros((SIZE, 2)), np.zeros((SIZE, 2))
    for step in range(1, steps + 1):
        scored(features, weights, slope, targets, scores, gradient)
        gradient += penalty * (weights - prior)
        mean = 0.9 * mean + 0.1 * gradient
        square = 0.99 * square + 0.01 * gradient**2
        ahead = mean / (1 - 0.9**step) / (np.sqrt(square / (1 - 0.99**step)) + 1e-12)
        weights -= rate * (1 - (step - 1) / steps) * ahead
    return weights


def in_pawns(weights: np.ndarray, features: Features) -> np.ndarray:
    """Scale weights so that an end game pawn is worth 100 on average, given where pawns stand."""
    pawns = np.zeros(32)
    chosen = features.index < 32
    np.add.at(pawns, features.index[chosen], np.abs(features.count[chosen].astype(float)))
    factor = 100 * pawns.sum() / (pawns @ weights[:32, 1])
    found = weights * factor
    found[LINEAR:] = weights[LINEAR:] * math.sqrt(factor)
    return found


# Files


def files_of(folder: Path) -> list[Path]:
    """Return the files of games in a folder."""
    paths = sorted(folder.glob("games-*.npy"))
    if not paths:
        raise click.ClickException(f"{folder} has no files of games; play some first")
    return paths


def read_positions(folder: Path, everything: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Return the positions of a folder, and which of them are for validation.

    They are quiet unless it is *everything*.
    """
    rows = np.concatenate([read_rows(path, LABELLED) for path in files_of(folder)])
    rows = rows if everything else rows[quiet(rows)]
    return rows, rows["game"] % HELD_OUT == 0


def targets_of(rows: np.ndarray, slope: float, share: float, later: float = 0.0) -> np.ndarray:
    """Return the target scores of positions: a share of the result, the rest from the search.

    *later* is the share of later scores in that rest.  Unknown results have no share.
    """
    shares = np.where(rows["result"] == UNKNOWN, 0, share)
    expected = 1 / (1 + np.exp(-slope * rows["score"].astype(float)))
    afterwards = 1 / (1 + np.exp(-slope * rows["later"].astype(float)))
    scored = later * afterwards + (1 - later) * expected
    return shares * rows["result"] / 2 + (1 - shares) * scored


def slope_of(scores: np.ndarray, rows: np.ndarray) -> float:
    """Return the slope of the logistic function that predicts the results of rows from scores."""
    known = rows["result"] != UNKNOWN
    return logistic_slope(scores[known].astype(float), rows["result"][known] / 2)


@click.group(cls=FileCommands)
def main() -> None:
    """Tune the evaluation of chess."""


WEIGHTS_OPTION = weights_option(WEIGHTS_FILE)


@main.command("first")
@WEIGHTS_OPTION
def write_first(weights: Path) -> None:
    """Write weights by hand."""
    write_whole(str(weights), weights_text(first_weights(), "Weights by hand.").encode())


@main.command("play")
@FOLDER
@click.option("--games", default=5000, type=click.IntRange(1), help="Number of games.")
@click.option("--nodes", default=2000, type=click.IntRange(1), help="Nodes per move.")
@click.option("--seed", default=0, type=click.IntRange(0), help="Random seed.")
def play_command(folder: Path, games: int, nodes: int, seed: int) -> None:
    """Play games with the installed evaluation, and write their positions to files in FOLDER."""
    play_chunks(folder, games, nodes, seed)


@main.command()
@FOLDER
@WEIGHTS_OPTION
@click.option("--share", default=0.1, type=click.FloatRange(0, 1), help="Share of game results.")
@click.option("--penalty", default=3e-9, type=click.FloatRange(0), help="L2 penalty, from start.")
@click.option("--steps", default=400, type=click.IntRange(1), help="Gradient descent steps.")
def fit(folder: Path, weights: Path, share: float, penalty: float, steps: int) -> None:
    """Fit weights to the positions in FOLDER, starting from those by hand."""
    rows, validates = read_positions(folder)
    learnt, held = rows[~validates], rows[validates]
    played = (folder / PLAYED).read_text(encoding="utf-8").splitlines()
    prior = first_weights()
    slope = slope_of(learnt["score"], learnt)
    features = features_of(learnt)
    found = fit_weights(features, targets_of(learnt, slope, share), prior, slope, steps, penalty)
    found = in_pawns(found, features)
    header = [
        f"{len(played)} files of {CHUNK} games, {len(learnt)} quiet positions; {steps} steps, a",
        f"penalty of {penalty:g}, {share:g} of the result in labels.",
        *("", *(f"{played.count(how)} x {how}" for how in dict.fromkeys(played)), ""),
        *report_of(held, {"by hand": prior, "these": np.rint(found)}),
    ]
    write_whole(str(weights), weights_text(found, "\n".join(header)).encode())
    print("\n".join(header))


@main.command()
@FOLDER
@click.argument("labelled", type=click.Path(file_okay=False, path_type=Path))
@click.option("--engine", default="stockfish", help="The Stockfish whose evaluation is the label.")
@click.option(
    "--times", default=5, type=click.IntRange(0), help="Random positions for each position."
)
def label(folder: Path, labelled: Path, engine: str, times: int) -> None:
    """Label the positions in FOLDER, and positions near them, in files in LABELLED.

    The evaluations are scaled to predict the results of games as well as the scores in FOLDER do.
    """
    if labelled.resolve() == folder.resolve():
        raise click.ClickException(f"{labelled} has the games: LABELLED must be another folder")
    paths = files_of(folder)
    lines = (folder / PLAYED).read_text(encoding="utf-8").splitlines()
    labelled.mkdir(parents=True, exist_ok=True)
    how = f"Stockfish's evaluation of {1 + times} x: "
    for path in paths:
        if (labelled / path.name).exists():
            continue
        played = read_rows(path, LABELLED)
        rows = np.concatenate([played, rows_nearby(played, times, crc32(path.name.encode()))])
        found = evaluations(engine, rows)
        scale = slope_of(found[: len(played)], played) / slope_of(played["score"], played)
        rows["score"] = np.rint(scale * found)
        rows["later"] = rows["score"]
        write_rows(labelled / path.name, rows)
        print(f"{path.name}: {len(rows)} positions", flush=True)
    write_whole(str(labelled / PLAYED), "".join(f"{how}{line}\n" for line in lines).encode())


@main.command("network")
@FOLDER
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Output file; by default the one that the game loads.",
)
@click.option(
    "--width", default=MOST_WIDTH, type=click.IntRange(16, MOST_WIDTH), help="Neurons per view."
)
@click.option("--own", is_flag=True, help="Learn the residual of the features, and add it.")
@click.option("--rounds", default=6, type=click.IntRange(1), help="Passes over all positions.")
@click.option("--share", default=0.1, type=click.FloatRange(0, 1), help="Share of game results.")
@click.option("--later", default=0.5, type=click.FloatRange(0, 1), help="Share of later scores.")
@click.option("--all", "everything", is_flag=True, help="Learn from positions in exchanges, too.")
@click.option("--seed", default=0, type=click.IntRange(0), help="Random seed.")
@click.option(
    "--begin",
    type=click.Path(exists=True, dir_okay=False),
    help="Continue training the network in this file.",
)
def train_network(
    folder: Path,
    out: Path | None,
    width: int,
    own: bool,
    rounds: int,
    share: float,
    later: float,
    everything: bool,
    seed: int,
    begin: str | None,
) -> None:
    """Train a network with the positions in FOLDER."""
    require_jax()
    networks = (each for each in models_for(start()) if isinstance(each, NetworkModel))
    (model,) = (each for each in networks if each.own == own)
    model = replace(model, shape=model.shape._replace(width=width))
    network = None if begin is None else load_evaluation(begin, Position)
    if network is not None and (not isinstance(network, Network) or network.shape != model.shape):
        raise CutnodeError(f"{begin} is not of a network of {width} neurons such as this")
    rows, held = read_positions(folder, everything)
    slope = slope_of(rows["score"][~held], rows[~held])
    targets = targets_of(rows, slope, share, later).astype(np.float32)
    table = np.clip((np.arange(MOST_STONES + 1) - 1) * RANGES // MOST_PIECES, 0, RANGES - 1)
    stages = table[np.bitwise_count(rows["mine"] | rows["theirs"])].astype(np.int32)
    known = slope * estimates(rows) if own else np.zeros(len(rows), np.float32)
    examples = Examples(PositionInputs(rows), stages, known, targets, held)
    layers = None if network is None else model.layers(network, 1 / slope)
    fitted = model.fit(examples, Course(True, seed, rounds), count=RANGES, known=layers)
    played = (folder / PLAYED).read_text(encoding="utf-8").splitlines()
    recipe = {
        "positions": len(rows),
        "rounds": rounds,
        "results": share,
        "later": later,
        "seed": seed,
        **({} if begin is None else {"began with": evaluation_recipe(begin)}),
        "files": {how: played.count(how) for how in dict.fromkeys(played)},
        "error": fitted.error,
        "error of features": cross_entropy(estimates(rows[held]), slope, targets[held]),
    }
    path = out or installed_file(Position)
    save_evaluation(path, model.evaluation(fitted, table, 1 / slope), recipe)
    print(json.dumps(recipe, indent=2))


class PositionInputs:
    """The network inputs of labelled positions, a row of bytes for each.

    They are made when indexed: all of them take almost three times the memory of the positions.
    """

    def __init__(self, rows: np.ndarray):
        self.rows = rows
        self.shape = len(rows), 8 * len(planes(start()) + opponent_planes(start()))

    def __getitem__(self, chosen: Any) -> np.ndarray:
        rows = self.rows[chosen]
        found = np.zeros((len(rows), self.shape[1] // 8), np.uint64)
        write_inputs(rows, found)
        return found.view(np.uint8)


@njit(nogil=True, error_model="numpy")
def write_inputs(rows, found):
    for n in range(len(rows)):
        position = position_of(rows[n])
        boards, others = planes(position), opponent_planes(position)
        for at in range(len(boards)):
            found[n, at] = boards[at]
            found[n, len(boards) + at] = others[at]


def estimates(rows: np.ndarray) -> np.ndarray:
    """Return what the features say of labelled positions."""
    found = np.zeros(len(rows), np.float32)
    write_estimates(rows, found)
    return found


@njit(nogil=True, error_model="numpy")
def write_estimates(rows, found):
    for n in range(len(rows)):
        found[n] = evaluate(position_of(rows[n]))


def cross_entropy(scores: np.ndarray, slope: float, targets: np.ndarray) -> float:
    """Return the mean cross entropy of the predictions from *scores*, given *targets*."""
    expected = np.clip(1 / (1 + np.exp(-slope * scores)), 1e-12, 1 - 1e-12)
    errors = targets * np.log(expected) + (1 - targets) * np.log(1 - expected)
    return float(-errors.mean())


@main.command()
@FOLDER
@WEIGHTS_OPTION
def report(folder: Path, weights: Path) -> None:
    """Report how well weights predict the results of held-out games in FOLDER."""
    rows, validates = read_positions(folder)
    held = rows[validates]
    print("\n".join(report_of(held, {"by hand": first_weights(), "these": read_weights(weights)})))


def report_of(held: np.ndarray, all_weights: dict[str, np.ndarray]) -> list[str]:
    """Return lines that say how far results are from the predictions of weights."""
    features, results = features_of(held), held["result"] / 2
    lines = [f"Results of {len(held)} positions of held-out games (cross entropy, mean square):"]
    for name, weights in all_weights.items():
        scores, gradient = np.zeros(len(held)), np.zeros((SIZE, 2))
        scored(features, weights.astype(float), 0.004, results, scores, gradient)
        slope = logistic_slope(scores, results)
        expected = 1 / (1 + np.exp(-slope * scores))
        entropy = error_of(features, weights.astype(float), slope, results)
        square = np.mean((expected - results) ** 2)
        lines.append(f"  weights {name}: {entropy:.4f}, {square:.4f}, a slope of {slope:.5f}")
    return lines


if __name__ == "__main__":
    main()
