"""Positions of a batch that are equal, or equivalent by a symmetry of the game."""

from __future__ import annotations

from typing import Any

import numpy as np

from cutnode.contract.positions import Packed, coerce
from cutnode.contract.verbs import NO_MOVE, canonical_move, original_move
from cutnode.kernels.expansion import canonical_keys


class SymmetryClasses:
    """Classes of positions with the same canonical key."""

    def __init__(self, positions: Packed):
        self.positions = positions
        keys, self.symmetries = keys_of(positions)
        _, firsts, classes = np.unique(keys, return_index=True, return_inverse=True)
        order = np.argsort(firsts)
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        self.firsts = firsts[order]
        """The number of the first position of each class."""
        self.classes = rank[classes]
        """The class of each position."""

    def spread(self, rows: Any) -> Any:
        """Return the rows of all positions, given the rows of the classes."""
        spread = rows[self.classes]
        first = self.firsts[self.classes]
        differing = (self.symmetries != self.symmetries[first]) & (spread["move"] != NO_MOVE)
        fields = {"move", "root_moves"} & set(spread.dtype.names)
        for number in np.flatnonzero(differing).tolist():
            model = int(first[number])
            for name in fields:
                moves = spread[name][number : number + 1]
                for at in zip(*np.nonzero(moves != NO_MOVE), strict=True):
                    moves[at] = self._moved(int(moves[at]), model, number)
        return spread

    def _moved(self, move: int, model: int, number: int) -> int:
        """Return a move of position *model* as the equivalent move of another of its class."""
        move = canonical_move(self.positions[model], move, int(self.symmetries[model]))
        return int(original_move(self.positions[number], move, int(self.symmetries[number])))


def keys_of(positions: Packed) -> tuple[Any, Any]:
    """Return the canonical key of each position, and the symmetry that gives it."""
    keys = np.zeros(len(positions), np.uint64)
    symmetries = np.zeros(len(positions), np.int64)
    run = canonical_keys.specialise(type(positions.example))
    run(coerce(positions.example), positions.words, keys, symmetries)
    return keys, symmetries
