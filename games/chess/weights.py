"""The weights of the evaluation of chess: their names, their file, and how they are counted.

A weight belongs to one feature, such as a passed pawn on the fifth row.  It is two numbers, for the
middle game and for the end game, in one word: the one for the end game is in the upper half, so
both are added and multiplied at once.  Weights of *danger* to a king are one number each; their sum
is used in ``games/chess/kings.py``.

Code that counts features calls ``weighed(trace, index, count)``.  The search passes a trace that
records nothing (``NOWHERE``) and costs nothing; the tuner passes an array, and the same code then
records how often each weight counts.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

from cutnode.compiler.jit import compiled
from cutnode.contract.constants import Constant
from cutnode.contract.counting import NOWHERE, NowhereType
from cutnode.contract.errors import GameError
from cutnode.contract.native import in_compiled_code
from cutnode.contract.text import quoted

__all__ = [
    "DANGERS",
    "FEATURES",
    "LINEAR",
    "SIZE",
    "SQUARES",
    "WEIGHTS",
    "WEIGHTS_FILE",
    "add_count",
    "end_of",
    "half_of",
    "middle_of",
    "packed",
    "read_weights",
    "start_of",
    "takes_note",
    "weighed",
    "weights_text",
]

KINDS = ("pawn", "knight", "bishop", "rook", "queen", "king")

FEATURES = {
    **dict.fromkeys(KINDS, 32),
    "tempo": 1,
    "knight mobility": 9,
    "bishop mobility": 14,
    "rook mobility": 15,
    "queen mobility": 28,
    "bishop pair": 1,
    "bishop and pawns of its colour": 1,
    "minor behind a pawn": 1,
    "knight on an outpost": 1,
    "bishop on an outpost": 1,
    "knight near an outpost": 1,
    "rook on an open file": 1,
    "rook on a half-open file": 1,
    "rook on the seventh": 1,
    "space": 1,
    "isolated pawn": 1,
    "isolated pawn on a half-open file": 1,
    "doubled pawn": 1,
    "backward pawn": 1,
    "backward pawn on a half-open file": 1,
    "phalanx": 8,
    "supported pawn": 8,
    "passed pawn": 8,
    "passed pawn with a free square ahead": 8,
    "passed pawn with a safe way": 8,
    "own king near a passed pawn": 8,
    "other king near a passed pawn": 8,
    "shield": 3,
    "storm": 4,
    "closed storm": 4,
    "king on an open file": 1,
    "king on a half-open file": 1,
    "pawn attacks": 3,
    "knight or bishop attacks": 4,
    "rook attacks": 3,
    "king attacks": 1,
    "hanging": 1,
    "push that attacks": 1,
}
"""Features, and how many weights each has: for pieces one for each square of a half board, row by
row from the edge to the middle; for mobility one for each number of squares; for pawns one for each
row or distance."""

DANGERS = {
    "danger": 1,
    "danger without a queen": 1,
    "danger from attackers": 4,
    "danger from attacks": 1,
    "danger of weak squares": 1,
    "danger of safe checks": 4,
    "danger of checks": 1,
    "danger of open files": 1,
    "danger less for defenders": 1,
}
"""The features that add up to the danger that a king is in."""

LINEAR = sum(FEATURES.values())
"""The number of weights with two numbers; danger weights follow them."""

SIZE = LINEAR + sum(DANGERS.values())

WEIGHTS_FILE = Path(__file__).with_name("weights.txt")


def start_of(name: str) -> int:
    """Return the index of a feature's first weight."""
    sizes = FEATURES | DANGERS
    names = list(sizes)
    return sum(sizes[earlier] for earlier in names[: names.index(name)])


def packed(middle: int, end: int) -> int:
    """Pack the two numbers of a weight into one."""
    return middle + (end << 32)


@compiled
def middle_of(worth):
    """Return the number for the middle game: the lower half, with its sign."""
    return ((worth + (1 << 31)) & 0xFFFFFFFF) - (1 << 31)


@compiled
def end_of(worth):
    """Return the number for the end game: the upper half, without what the lower borrowed."""
    return (worth - middle_of(worth)) >> 32


@compiled
def half_of(square):
    """Return the square of a half board: left and right are alike."""
    return 4 * (square >> 3) + min(square & 7, 7 - (square & 7))


# The file


def weights_text(weights: np.ndarray, header: str) -> str:
    """Return the text of a file of weights, ``SIZE`` x 2, below a *header*."""
    lines = [f"# {line}".rstrip() for line in header.splitlines()]
    for name, size in (FEATURES | DANGERS).items():
        rows = np.rint(weights[start_of(name) :][:size]).astype(int)
        texts = [str(a) if name in DANGERS else f"{a}/{b}" for a, b in rows]
        width = 4 if name in KINDS else 8
        lines += ["", name]
        for first in range(0, size, width):
            lines.append("".join(f"{text:>11}" for text in texts[first : first + width]))
    return "\n".join(lines) + "\n"


def read_weights(path: Path = WEIGHTS_FILE) -> np.ndarray:
    """Read a file that :func:`weights_text` wrote: ``SIZE`` x 2, with 0 as the second number of
    danger weights.

    :class:`GameError` says which feature is missing, unknown or has other numbers.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise GameError(f"{quoted(str(path))} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise GameError(f"{quoted(str(path))} is not a file of weights") from None
    found: dict[str, list[tuple[int, int]]] = {}
    rows: list[tuple[int, int]] | None = None
    name = ""
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        if re.fullmatch(r"[-0-9/ ]+", line):
            if rows is None:
                raise GameError(f"{quoted(str(path))} has numbers of no feature in line {number}")
            rows += [numbers_of(path, number, name, word) for word in line.split()]
            continue
        name = line
        if name not in FEATURES | DANGERS or name in found:
            problem = "a second time" if name in found else "which is not a feature"
            raise GameError(f"{quoted(str(path))} has {quoted(name)}, {problem}, in line {number}")
        rows = found[name] = []
    for name, size in (FEATURES | DANGERS).items():
        if len(found.get(name, ())) != size:
            raise GameError(
                f"{quoted(str(path))} has {len(found.get(name, ()))} weights of {quoted(name)}; "
                f"there are {size}"
            )
    return np.array([row for name in FEATURES | DANGERS for row in found[name]], np.int64)


def numbers_of(path: Path, number: int, name: str, word: str) -> tuple[int, int]:
    """Read one weight of a file."""
    form = r"-?\d{1,5}" if name in DANGERS else r"(-?\d{1,5})/(-?\d{1,5})"
    if not re.fullmatch(form, word):
        raise GameError(
            f"{quoted(str(path))} has {quoted(word)} in line {number}; a weight is "
            + ("a number" if name in DANGERS else "two numbers, as in 10/-5")
        )
    middle, _, end = word.partition("/")
    return int(middle), int(end or 0)


def packed_weights(weights: np.ndarray) -> np.ndarray:
    """Return the weights as compiled code reads them, one number each."""
    return weights[:, 0] + (weights[:, 1] << 32)


def of_squares(weights: np.ndarray) -> np.ndarray:
    """Return the worth of each kind of piece on each square of the mover."""
    half = np.array([half_of(square) for square in range(64)])
    return packed_weights(weights)[32 * np.arange(len(KINDS))[:, None] + half].reshape(-1)


_weights = read_weights()
WEIGHTS = Constant("chess.weights", packed_weights(_weights))
SQUARES = Constant("chess.squares", of_squares(_weights))
"""The weights of pieces on squares once more, as ``play`` adds them up."""


# Counting


def add_count(trace: Any, index: int, count: int) -> None:
    """Add to how often a weight counts, if the trace records."""
    if trace is not NOWHERE:
        trace[index] += count


@in_compiled_code(add_count)
def _add_count(trace: Any, index: Any, count: Any) -> Any:
    if isinstance(trace, NowhereType):
        return lambda trace, index, count: None

    def add(trace: Any, index: Any, count: Any) -> None:
        trace[index] += count

    return add


def takes_note(trace: Any) -> bool:
    """Return whether the trace records; compiled code knows it at compile time."""
    return trace is not NOWHERE


@in_compiled_code(takes_note)
def _takes_note(trace: Any) -> Any:
    answer = not isinstance(trace, NowhereType)
    return lambda trace: answer


@compiled
def weighed(trace, index, count):
    """Return a weight times *count*, which is recorded in *trace*."""
    add_count(trace, index, count)
    return WEIGHTS[index] * count
