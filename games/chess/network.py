"""A small network that estimates a position of chess, in hundredths of a pawn.

Its inputs are the pieces on their squares as each player sees them: from his side, and with
the files in the opposite order where his king stands on the right half.  Both views have the same
first layer, a row of weights for each input.  What the rows of a view's pieces add up to is clipped
and squared, and the output is a sum of that of both, with weights that depend on how many pieces
are left.

All is made anew for each position: rows of 16-bit numbers are vectors, and adding those of
all pieces costs less than a position that carries the sums along.

Such networks are those of Stockfish 12 and later, after Y. Nasu's for shogi (2018); pieces seen
from both sides, the square of the clipped sum and weights for numbers of pieces are the usual
choice of open-source programs.  The weights are our own (``network.npz``; ``tuning.py network``
makes them).
"""

from __future__ import annotations

import io
import zlib
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import BadZipFile

import numpy as np

from engine.compiler.jit import compiled
from engine.contract.bits import Bits, lowest_index, popcount, without_lowest
from engine.contract.constants import Constant
from engine.contract.errors import GameError
from engine.contract.vectors import Vectors, clip, dot
from engine.storage.files import write_whole
from games.chess.squares import UPSIDE_DOWN

__all__ = [
    "INPUTS",
    "MOST_PIECES",
    "NETWORK_FILE",
    "ONE",
    "OUTPUT_ONE",
    "UNIT",
    "VECTORS",
    "Network",
    "flipped",
    "network_score",
    "quantized",
    "read_network",
    "write_network",
]

NETWORK_FILE = Path(__file__).with_name("network.npz")

INPUTS = 768
"""A piece of six kinds and of two players on each square."""

ONE = 255
"""A neuron that is fully active."""

OUTPUT_ONE = 64
"""A weight of 1 of the output."""

UNIT = 400
"""Hundredths of a pawn of an output of 1."""

MOST_PIECES = 32


class Network(NamedTuple):
    """Whole numbers: weights of 1 are ``ONE`` in the first layer, ``OUTPUT_ONE`` in the output."""

    inputs: np.ndarray
    """A row for each input, and a last one that is always added."""
    outputs: np.ndarray
    """For each range of numbers of pieces a row for the mover's view, and one for the other."""
    shifts: np.ndarray
    """What is added to the score in each range."""
    note: str
    """How it was made."""


def read_network(path: Path) -> Network:
    """The network in a file; :class:`GameError` if it is none."""
    try:
        with np.load(io.BytesIO(path.read_bytes())) as data:
            network = Network(data["inputs"], data["outputs"], data["shifts"], data["note"].item())
    except (OSError, ValueError, KeyError, EOFError, TypeError, BadZipFile, zlib.error) as error:
        raise GameError(f"{path} is not a network: {error}") from None
    width = network.inputs.shape[-1]
    shapes = (INPUTS + 1, width), (2 * len(network.shifts), width)
    if (network.inputs.shape, network.outputs.shape) != shapes:
        raise GameError(f"{path} is not a network: its layers do not fit")
    return network


def write_network(path: Path, network: Network) -> None:
    """Write a network to a file, whole or not at all."""
    file = io.BytesIO()
    np.savez_compressed(file, **(network._asdict() | {"note": np.array(network.note)}))
    write_whole(str(path), file.getvalue())


_network = read_network(NETWORK_FILE)
VECTORS = Vectors("chess.network.inputs", _network.inputs)
OUTPUTS = Vectors("chess.network.outputs", _network.outputs)
SHIFTS = Constant("chess.network.shifts", _network.shifts)
RANGES = len(_network.shifts)


@compiled
def network_score(board):
    """The output of the network, for the mover."""
    mine, theirs, kings = board.mine, board.theirs, board.kings
    flip = flipped(lowest_index(kings & mine))
    other_flip = flipped(lowest_index(kings & theirs)) ^ UPSIDE_DOWN
    own, other = VECTORS[INPUTS], VECTORS[INPUTS]
    # The number of a kind, bit by bit: one loop for all pieces is the sooner left.
    first, second = board.knights | board.rooks | kings, board.bishops | board.rooks
    third = board.queens | kings
    some = mine | theirs
    count = popcount(some)
    while some:
        square = lowest_index(some)
        some = without_lowest(some)
        kind = bit(first, square) | bit(second, square) << 1 | bit(third, square) << 2
        row, opposite = kind << 6, 384 * bit(theirs, square)
        own = own + VECTORS[row + opposite + (square ^ flip)]
        other = other + VECTORS[row + 384 - opposite + (square ^ other_flip)]
    chosen = (count - 1) * RANGES // MOST_PIECES
    own, other = clip(own, ONE), clip(other, ONE)
    # The product of a number and its weight has 16 bits, if the weight has 8.
    total = dot(own * OUTPUTS[2 * chosen], own) + dot(other * OUTPUTS[2 * chosen + 1], other)
    return total * UNIT // (ONE * ONE * OUTPUT_ONE) + SHIFTS[chosen]


@compiled
def flipped(king):
    """The mirroring of squares that brings a king to the left half."""
    return 7 if king & 4 else 0


@compiled
def bit(board, square):
    return int(board >> Bits(square) & Bits(1))


def quantized(weights: Any, bias: Any, outputs: Any, shifts: Any) -> Network:
    """The network of whole numbers nearest to one of floats.

    *weights* are ``(INPUTS, width)``, *outputs* ``(ranges, 2 * width)``, in units of 1.
    """
    inputs = np.rint(np.vstack([weights, bias]) * ONE).astype(np.int16)
    rows = np.clip(np.rint(outputs * OUTPUT_ONE), -127, 127).astype(np.int16)
    rows = rows.reshape(-1, weights.shape[1])
    return Network(inputs, rows, np.rint(shifts * UNIT).astype(np.int32), "")
