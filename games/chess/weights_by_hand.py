"""The weights for the first games of the tuner: guesses, by hand."""

from __future__ import annotations

import numpy as np

from cutnode.games.chess.weights import DANGERS, FEATURES, KINDS, SIZE, start_of

__all__ = ["first_weights"]

VALUES = {
    "pawn": (85, 100),
    "knight": (330, 310),
    "bishop": (345, 330),
    "rook": (470, 530),
    "queen": (1000, 980),
    "king": (0, 0),
}

GUESSES = {
    "tempo": (15, 10),
    "bishop pair": (25, 50),
    "bishop and pawns of its colour": (-3, -5),
    "minor behind a pawn": (6, 2),
    "knight on an outpost": (25, 15),
    "bishop on an outpost": (15, 5),
    "knight near an outpost": (8, 2),
    "rook on an open file": (25, 10),
    "rook on a half-open file": (12, 5),
    "rook on the seventh": (10, 20),
    "space": (2, 0),
    "isolated pawn": (-8, -10),
    "isolated pawn on a half-open file": (-6, -4),
    "doubled pawn": (-5, -15),
    "backward pawn": (-6, -6),
    "backward pawn on a half-open file": (-8, -4),
    "king on an open file": (-15, 0),
    "king on a half-open file": (-8, 0),
    "king attacks": (10, 25),
    "hanging": (25, 20),
    "push that attacks": (12, 10),
    "danger": (-20, 0),
    "danger without a queen": (-250, 0),
    "danger from attacks": (12, 0),
    "danger of weak squares": (25, 0),
    "danger of checks": (25, 0),
    "danger of open files": (25, 0),
    "danger less for defenders": (-8, 0),
}

ROWS = {
    "phalanx": ([0, 3, 6, 10, 25, 60, 100, 0], [0, 0, 3, 8, 20, 50, 80, 0]),
    "supported pawn": ([0, 0, 10, 10, 15, 35, 80, 0], [0, 0, 5, 6, 12, 30, 60, 0]),
    "passed pawn": ([0, 0, 0, 10, 25, 50, 80, 0], [0, 5, 10, 25, 45, 70, 100, 0]),
    "passed pawn with a free square ahead": (
        [0, 0, 0, 3, 6, 10, 15, 0],
        [0, 0, 0, 8, 15, 30, 40, 0],
    ),
    "passed pawn with a safe way": ([0, 0, 0, 3, 6, 12, 20, 0], [0, 0, 0, 8, 20, 60, 90, 0]),
    "own king near a passed pawn": ([0] * 8, [3, 2, 0, -2, -4, -5, -6, -6]),
    "other king near a passed pawn": ([0] * 8, [-12, -6, 0, 4, 7, 9, 10, 10]),
    "shield": ([16, 8, 2], [0, 0, 0]),
    "storm": ([0, -14, -8, -3], [0, 0, 0, 0]),
    "closed storm": ([0, 12, 4, 0], [0, -3, 0, 0]),
    "pawn attacks": ([45, 60, 60], [30, 30, 30]),
    "knight or bishop attacks": ([3, 20, 40, 40], [8, 20, 30, 30]),
    "rook attacks": ([2, 15, 40], [10, 18, 20]),
    "danger from attackers": ([35, 25, 20, 15], [0] * 4),
    "danger of safe checks": ([150, 110, 170, 140], [0] * 4),
}


def first_weights() -> np.ndarray:
    """Return the weights, ``SIZE`` x 2, as a file has them."""
    weights = np.zeros((SIZE, 2))
    for name in FEATURES | DANGERS:
        at = start_of(name)
        if name in KINDS:
            weights[at : at + 32] = [
                on_square(name, row, file) for row in range(8) for file in range(4)
            ]
        elif name.endswith("mobility"):
            size = FEATURES[name]
            good = (np.arange(size) / (size - 1)) ** 0.6 - 0.6
            weights[at : at + size] = good[:, None] * (70, 90)
        elif name in GUESSES:
            weights[at] = GUESSES[name]
        else:
            weights[at : at + len(ROWS[name][0])] = np.transpose(ROWS[name])
    return weights


def on_square(name: str, row: int, file: int) -> tuple[float, float]:
    """Return the worth of a piece on a square of the half board; files count from the edge."""
    middle, end = VALUES[name]
    centre = file + min(row, 7 - row) - 3
    if name == "pawn":
        return (middle + 2 * row + file * (row > 1) * 2, end + 2 * row) if 0 < row < 7 else (0, 0)
    if name == "king":
        return (-12 * row - 8 * file if row else -8 * file * (file > 1)), 10 * centre
    share = {"knight": 8, "bishop": 3, "rook": 1, "queen": 1}[name]
    home = -6 if row == 0 and name in ("knight", "bishop") else 0
    return middle + share * centre + home, end + share * centre
