"""The size of a game: its positions and lines of play, counted or estimated."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Any

import numpy as np

from cutnode.compiler.memory import Memory
from cutnode.contract.derived import require_moves
from cutnode.contract.dispatch import game_constant, is_plain
from cutnode.contract.positions import coerce, pack, words_each
from cutnode.contract.verbs import MOVES_ROOM
from cutnode.kernels.walks import WALKS, WINDOW, step
from cutnode.lab.statistics import student_quantile

MOST_TRIES = 100
"""The most orders of moves that are tried for each walk and each ply before."""

@dataclass(frozen=True, slots=True)
class Population:
    """The estimates of a population of walks, by ply, in natural logarithms (-inf for none)."""

    positions: np.ndarray[Any, Any]
    half: np.ndarray[Any, Any]
    """Positions estimated with the parents that half of the tries found: more than all."""
    lines: np.ndarray[Any, Any]


class Walks:
    """Populations of random walks from a position to the end of the game."""

    def __init__(self, start: Any):
        require_moves(start)
        self.start, self.cls = coerce(start), type(start)
        self.plies = game_constant(self.cls, "MAX_PLIES", 512)
        self.run = step.specialise(self.cls)

    def population(self, walks: int, tries: int, seed: int) -> Population:
        """Walk to the ends of the games.

        At each ply, walks are drawn again by their weights, so that they all stand for as many
        positions (sequential Monte Carlo, or "go with the winners": D. Aldous and U. Vazirani,
        1994).
        """
        cls, room, each = self.cls, self.plies + 2, words_each(self.cls)
        random = np.random.default_rng(seed)
        memory = Memory(cls, WALKS)
        memory["random"] = np.uint64(random.integers(1 << 63))
        moved, sides = np.zeros((2, walks, room), np.int64)
        words, others = _words(cls, walks, room * each)
        odds, parents = np.zeros(walks), np.ones((walks, 2), np.int64)
        buffer = np.zeros(game_constant(cls, "MAX_MOVES", 256) + MOVES_ROOM, np.int64)
        scratch = np.zeros(room, np.int64), others, np.zeros(room + tries * room, np.uint64), buffer
        for way in words:
            pack(way, 0, self.start)
        scale, lines, half = 0.0, np.zeros(walks), np.zeros(walks)
        found = [(0.0, 0.0, 0.0)]
        for ply in range(self.plies):
            memory["ply"], memory["tries"] = ply, tries * min(ply, WINDOW)
            self.run(self.start, memory.argument, moved, sides, words, odds, parents, *scratch)
            alive = odds > 0
            if not alive.any():
                break
            weights = np.where(alive, 1 / np.where(alive, odds, 1) / parents[:, 1], 0)
            lines += np.log(parents[:, 1])
            half += np.log(parents[:, 1] / parents[:, 0])
            scale += math.log(weights.mean())
            found.append((scale, scale + _log_mean(weights, half), scale + _log_mean(weights, lines)))
            kept = _drawn_again(weights, random)
            moved, sides, lines, half = moved[kept], sides[kept], lines[kept], half[kept]
            words = [words[at][:] for at in kept] if isinstance(words, list) else words[kept]
        return Population(*np.array(found).T)


def _log_mean(weights: np.ndarray[Any, Any], logarithms: np.ndarray[Any, Any]) -> float:
    """Return the logarithm of the weighted mean of numbers, given their logarithms."""
    most = logarithms.max()
    return float(most + math.log(np.average(np.exp(logarithms - most), weights=weights)))


def _drawn_again(weights: np.ndarray[Any, Any], random: np.random.Generator) -> np.ndarray[Any, Any]:
    """Return the numbers of walks drawn by their weights (systematic resampling)."""
    count = len(weights)
    places = (np.arange(count) + random.random()) / count
    return np.searchsorted(np.cumsum(weights / weights.sum()), places).clip(0, count - 1)


def _words(cls: Any, walks: int, size: int) -> tuple[Any, Any]:
    """Return the room for the packed positions of walks, and for those of one more."""
    if is_plain(cls):
        return [[None] * size for _ in range(walks)], [None] * size
    return np.zeros((walks, size), np.uint64), np.zeros(size, np.uint64)
