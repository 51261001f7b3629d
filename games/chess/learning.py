"""Training of the small network of chess (``games/chess/network.py``).

The network learns what the sum of features leaves: scores of searches, and results, are foretold
by the logistic function of both together.  So it needs few positions, and all that features
know of end games stays.  Training is gradient descent by parts of the positions in random order,
with a rate for each weight (Adam: D. Kingma and J. Ba, 2015) that falls to 0 by and by.
"""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from numba import njit

from engine.contract.bits import lowest_index, popcount, without_lowest
from engine.contract.counting import NOWHERE
from engine.contract.errors import CutnodeError
from games.chess.boards import board_of
from games.chess.evaluation import FULL_SCALE, PHASES, between, scale_of, worth_of
from games.chess.network import (
    INPUTS,
    MOST_PIECES,
    ONE,
    OUTPUT_ONE,
    UNIT,
    Network,
    flipped,
    quantized,
)
from games.chess.squares import UPSIDE_DOWN

__all__ = ["Examples", "cross_entropy", "examples_of", "foretold", "trained"]

PART = 8192
"""Positions of a step."""

THREADS = 2

RATE = 0.002
MEAN, SQUARE = 0.9, 0.999
"""What a step forgets of the gradients, and of their squares, before it: less this."""

MOST_INPUT = 1.98
MOST_OUTPUT = 127 / OUTPUT_ONE
"""Weights are no further from 0: the sums of those of 32 pieces, and products, have 16 bits."""

assert MOST_PIECES * MOST_INPUT * ONE < 1 << 15


class Examples(NamedTuple):
    """Training examples: of each position an element or a row."""

    inputs: np.ndarray
    """For each view those that are set, of int16: ``(positions, 2, MOST_PIECES)``."""
    count: np.ndarray
    """How many of them."""
    known: np.ndarray
    """The sum of features, not scaled."""
    scales: np.ndarray
    """The share of an advantage that counts, of one of the other player and of the mover."""


class Layers(NamedTuple):
    """The weights of a network, or their gradient: arrays of float32."""

    weights: np.ndarray
    bias: np.ndarray
    outputs: np.ndarray
    shifts: np.ndarray


def examples_of(rows: np.ndarray, position_of: object) -> Examples:
    """The examples of positions, which *position_of* makes of *rows* in compiled code."""
    number = len(rows)
    examples = Examples(
        np.zeros((number, 2, MOST_PIECES), np.int16),
        np.zeros(number, np.int64),
        np.zeros(number, np.float32),
        np.zeros((number, 2), np.float32),
    )
    write_examples(rows, position_of, *examples)
    return examples


@njit(nogil=True, error_model="numpy")
def write_examples(rows, position_of, inputs, count, known, scales):
    for n in range(len(rows)):
        position = position_of(rows[n])
        board = board_of(position)
        known[n] = between(board, worth_of(position, NOWHERE, NOWHERE)) / PHASES
        scales[n, 0] = scale_of(board, False) / FULL_SCALE
        scales[n, 1] = scale_of(board, True) / FULL_SCALE
        flip = flipped(lowest_index(board.kings & board.mine))
        other_flip = flipped(lowest_index(board.kings & board.theirs)) ^ UPSIDE_DOWN
        kinds = board.pawns, board.knights, board.bishops, board.rooks, board.queens, board.kings
        at = 0
        for kind in range(6):
            for theirs in range(2):
                some = kinds[kind] & (board.theirs if theirs else board.mine)
                while some:
                    square = lowest_index(some)
                    some = without_lowest(some)
                    inputs[n, 0, at] = 384 * theirs + 64 * kind + (square ^ flip)
                    inputs[n, 1, at] = 384 - 384 * theirs + 64 * kind + (square ^ other_flip)
                    at += 1
        count[n] = popcount(board.mine | board.theirs)


@njit(nogil=True, fastmath=True, error_model="numpy")
def descend(order, examples, targets, slope, layers, gradient, scores):
    """Add up the gradient of the error by the weights for the positions of *order*.

    Writes their scores, and returns the sum of their errors (cross entropy).
    """
    inputs, count, known, scales = examples
    weights, bias, outputs, shifts = layers
    by_weights, by_bias, by_outputs, by_shifts = gradient
    width, ranges = len(bias), len(shifts)
    sums, active = np.zeros((2, width), np.float32), np.zeros((2, width), np.float32)
    back = np.zeros(width, np.float32)
    none, one = np.float32(0), np.float32(1)
    total = 0.0
    for n in order:
        pieces = count[n]
        chosen = (pieces - 1) * ranges // MOST_PIECES
        out = shifts[chosen]
        for view in range(2):
            for h in range(width):
                sums[view, h] = bias[h]
            for at in range(pieces):
                row = inputs[n, view, at]
                for h in range(width):
                    sums[view, h] += weights[row, h]
            for h in range(width):
                clipped = min(max(sums[view, h], none), one)
                active[view, h] = clipped * clipped
                out += active[view, h] * outputs[chosen, view * width + h]
        score = known[n] + UNIT * out
        scale = scales[n, 1 if score > 0 else 0]
        score *= scale
        scores[n] = score
        expected = 1 / (1 + math.exp(-slope * score))
        target = targets[n]
        total -= target * math.log(expected + 1e-12)
        total -= (1 - target) * math.log(1 - expected + 1e-12)
        by_out = np.float32((expected - target) * slope * scale * UNIT)
        by_shifts[chosen] += by_out
        for view in range(2):
            for h in range(width):
                by_outputs[chosen, view * width + h] += by_out * active[view, h]
                within = sums[view, h] > none and sums[view, h] < one
                change = 2 * sums[view, h] if within else none
                back[h] = by_out * outputs[chosen, view * width + h] * change
                by_bias[h] += back[h]
            for at in range(pieces):
                row = inputs[n, view, at]
                for h in range(width):
                    by_weights[row, h] += back[h]
    return total


@njit(nogil=True, fastmath=True)
def take_step(weights, gradients, mean, square, step, rate, most):
    """Change weights by their gradients, which are 0 then; all are flat."""
    first, second = np.float32(MEAN), np.float32(SQUARE)
    one, tiny = np.float32(1), np.float32(1e-8)
    rate = np.float32(rate / (1 - MEAN**step))
    known = np.float32(1 - SQUARE**step)
    for at in range(len(weights)):
        by = gradients[0][at] + gradients[1][at]
        gradients[0][at] = 0
        gradients[1][at] = 0
        mean[at] = first * mean[at] + (one - first) * by
        square[at] = second * square[at] + (one - second) * by * by
        weights[at] -= rate * mean[at] / (math.sqrt(square[at] / known) + tiny)
        weights[at] = min(max(weights[at], -most), most)


def zeros(width: int, ranges: int) -> Layers:
    shapes = (INPUTS, width), (width,), (ranges, 2 * width), (ranges,)
    return Layers(*(np.zeros(shape, np.float32) for shape in shapes))


def trained(
    examples: Examples,
    targets: np.ndarray,
    slope: float,
    *,
    width: int,
    ranges: int,
    rounds: int,
) -> Network:
    """A network that foretells *targets* well after each position was seen so many *rounds*.

    :class:`CutnodeError` if there are too few.
    """
    if len(targets) < PART:
        raise CutnodeError(f"{len(targets)} positions are too few: {PART} or more teach a network")
    random = np.random.default_rng(0)
    layers = zeros(width, ranges)
    layers.weights[:] = random.uniform(-0.1, 0.1, layers.weights.shape)
    layers.bias[:] = 0.3
    layers.outputs[:] = random.uniform(-0.05, 0.05, 2 * width)
    limits = (MOST_INPUT, MOST_INPUT, MOST_OUTPUT, math.inf)
    means, squares = zeros(width, ranges), zeros(width, ranges)
    gradients = [zeros(width, ranges) for _ in range(THREADS)]
    scores = np.zeros(len(targets))
    steps = rounds * (len(targets) // PART)
    step = 0
    with ThreadPoolExecutor(THREADS) as threads:
        for _ in range(rounds):
            order = random.permutation(len(targets))
            for start in range(0, len(targets) - PART + 1, PART):
                shares = np.array_split(order[start : start + PART], THREADS)
                tasks = [
                    threads.submit(
                        descend, share, examples, targets, slope, layers, gradient, scores
                    )
                    for share, gradient in zip(shares, gradients, strict=True)
                ]
                for task in tasks:
                    task.result()
                rate = RATE * (1 + math.cos(math.pi * step / steps)) / 2
                step += 1
                for at, most in enumerate(limits):
                    flat = [gradient[at].ravel() for gradient in gradients]
                    for each in flat:
                        each /= PART
                    moments = means[at].ravel(), squares[at].ravel()
                    limit = np.float32(most)
                    take_step(layers[at].ravel(), tuple(flat), *moments, step, rate, limit)
    return quantized(*layers)


def floats_of(network: Network) -> Layers:
    """The network in units of 1."""
    width = network.inputs.shape[1]
    return Layers(
        (network.inputs[:INPUTS] / ONE).astype(np.float32),
        (network.inputs[INPUTS] / ONE).astype(np.float32),
        (network.outputs / OUTPUT_ONE).astype(np.float32).reshape(-1, 2 * width),
        (network.shifts / UNIT).astype(np.float32),
    )


def foretold(network: Network, examples: Examples) -> np.ndarray:
    """The scores of positions: features and network together."""
    layers = floats_of(network)
    number = len(examples.count)
    scores = np.zeros(number)
    nothing = zeros(layers.bias.size, layers.shifts.size)
    descend(np.arange(number), examples, np.zeros(number), 0.0, layers, nothing, scores)
    return scores


def cross_entropy(scores: np.ndarray, slope: float, targets: np.ndarray) -> float:
    """The mean cross entropy of what scores foretell, and *targets*."""
    expected = np.clip(1 / (1 + np.exp(-slope * scores)), 1e-12, 1 - 1e-12)
    errors = targets * np.log(expected) + (1 - targets) * np.log(1 - expected)
    return float(-errors.mean())
