"""The size of a game: its positions and lines of play, counted or estimated."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean, stdev
from typing import Any

import numpy as np

from cutnode.compiler.memory import Memory
from cutnode.contract.cells import Cells
from cutnode.contract.derived import legal_moves, require_moves
from cutnode.contract.dispatch import declared, defines, game_constant, is_plain
from cutnode.contract.notation import board_of
from cutnode.contract.positions import as_words, coerce, unpack, words_each
from cutnode.contract.verbs import MOVES_ROOM, chance, chance_outcome, key, outcome, play
from cutnode.kernels.clock import Clock
from cutnode.kernels.enumeration import enumerate_positions
from cutnode.kernels.walks import WALKS, WINDOW, step
from cutnode.lab.statistics import student_quantile
from cutnode.search.loops import has_loops
from cutnode.tablebases.spaces import StoppedError, enumerated

MOST_COUNTED, MOST_BYTES = 4_000_000, 256 << 20
"""The most positions that are counted one by one, and the memory for them."""

PILOT, PILOTS = (16, 3), 2
"""The walks of the first population, and their tries; it and the next show how long others take."""

MOST_WALKS, MOST_TRIES = 1_000, 100
"""The most walks of a population, and the most orders of moves tried for each walk at a ply, in
units of the plies before it (:data:`WINDOW` at most)."""

POPULATIONS, MOST_POPULATIONS = 10, 100
"""The number of populations that are planned for the time, and the most that are made."""

USUAL = 200, 30
"""The walks of a population, and their tries, without a limit of time."""

MOST_MISSED = math.log(30)
"""The factor by which the second half of the tries may lower an estimate of positions, in natural
logarithms; beyond it too few parents are found for an estimate."""

FIRST_COUNTED, FIRST_SECONDS = 5_000, 0.1
"""The positions that are counted from the start on to check estimates, and the part of the time."""

MET, MOST_MET, MOST_APART = 50, 18.0, 1.0
"""The meetings of walks of different populations that count positions after a ply; the estimates,
in natural logarithms, beyond which walks are not compared, as they hardly meet; and the power of 10
by which an estimate may be higher than such a count."""

SLACK = 0.02
"""The error of the check, as a power of 10, in addition to twice the interval."""

LN10 = math.log(10)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number as a power of 10, and the ends of its 95 % interval."""

    figure: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Size:
    """The size of a game, as far as it is known."""

    counted: int | None = None
    """The number of positions that can be reached."""
    classes: int | None = None
    """The same, where equivalent positions count once."""
    more_than: int = 0
    """A number of positions that there are more of."""
    at_most: float | None = None
    """An upper bound of positions as a power of 10, if a position is its board: each
    content in each cell, with either player to move."""
    positions: Estimate | None = None
    lines: Estimate | None = None
    """The lines of play that can be begun, of any length."""
    by_ply: tuple[tuple[Estimate | None, Estimate], ...] = ()
    """Positions and lines after each number of plies."""
    walks: int = 0
    checked: int = 0
    """The plies for which the estimates agree with counts."""
    endless: bool = False
    """Whether there are no estimates because random games reach the limit of plies."""


def compile_sizes(start: Any) -> None:
    """Compile what :func:`size_of` needs for the game of a position."""
    enumerate_positions.specialise(type(start))
    if not has_loops(type(start)):
        step.specialise(type(start))


def size_of(start: Any, deadline: float | None, most: int, seed: int) -> Size:
    """Return the size of the game from a position.

    Positions are counted if there are at most *most* and it takes no longer than until *deadline*
    (on the clock :func:`time.monotonic`; None for no limit).
    """
    cls: Any = type(start)
    size = Size()
    if not has_loops(cls):
        half = None if deadline is None else (time.monotonic() + deadline) / 2
        size = _checked(_estimated(Walks(start), half, seed), start, deadline)
    board = board_of(cls)
    if board is not None and declared(cls, "from_cells") is not None:
        size = replace(size, at_most=_log_of_boards(board))
        if size.positions is not None and size.positions.figure > _log_of_boards(board):
            size = replace(size, positions=None)
    most = min(most, MOST_COUNTED, MOST_BYTES // (8 * (words_each(cls) + 3)))
    if size.positions is not None and size.positions.low > math.log10(most):
        return size
    try:
        counted = classes = _counted(start, most, deadline, True)
        if counted is not None and defines(cls, "canonical"):
            classes = _counted(start, most, deadline, False)
    except StoppedError as stopped:
        if str(stopped) == "interrupted":
            raise KeyboardInterrupt from None
        return size
    if counted is None:
        return replace(size, more_than=most)
    return replace(size, counted=counted, classes=classes)


def _checked(size: Size, start: Any, deadline: float | None) -> Size:
    """Return estimates without positions if they differ from counts of the first plies."""
    if size.positions is None:
        return size
    left = math.inf if deadline is None else FIRST_SECONDS * (deadline - time.monotonic())
    counts = _first_counts(start, time.monotonic() + left)
    for ply, count in enumerate(counts[: len(size.by_ply)]):
        estimate = size.by_ply[ply][0]
        if estimate is None or abs(estimate.figure - math.log10(count)) > (
            estimate.high - estimate.low + SLACK
        ):
            lines_only = tuple((None, lines) for _, lines in size.by_ply)
            return replace(size, positions=None, by_ply=lines_only)
    return replace(size, checked=len(counts) - 1)


def _first_counts(start: Any, deadline: float) -> list[int]:
    """Return the numbers of positions after 0, 1, 2 ... plies."""
    counts, now = [1], [start]
    while now and sum(counts) < FIRST_COUNTED:
        found: dict[int, Any] = {}
        for position in now:
            if time.monotonic() > deadline:
                return counts
            following = (
                [chance_outcome(position, event)[1] for event in range(chance(position))]
                if not outcome(position)[0] and chance(position) > 0
                else [play(position, move) for move in legal_moves(position)]
            )
            for child in following:
                found.setdefault(int(key(child)), child)
        if found:
            counts.append(len(found))
        now = list(found.values())
    return counts


def _log_of_boards(board: Cells) -> float:
    """Return the number of ways to fill a board, with either player to move, as a power of 10."""
    return math.log10(2) + len(board.places) * math.log10(len(board.contents))


def _counted(start: Any, most: int, deadline: float | None, apart: bool) -> int | None:
    """Return the number of positions; None if there are more than *most*."""
    left = None if deadline is None else max(0.01, deadline - time.monotonic())
    space = enumerated(start, most, clock=Clock(left), apart=apart)
    return None if space is None else sum(space.sizes)


def _estimated(walks: Walks, deadline: float | None, seed: int) -> Size:
    """Return estimates of the numbers of positions and lines; neither if time is too short."""
    found: list[Population] = []
    count, tries = USUAL if deadline is None else PILOT
    number = 0
    while number < POPULATIONS or (deadline is not None and number < MOST_POPULATIONS):
        began = time.monotonic()
        population = walks.population(count, tries, seed + number, deadline)
        if population is None:
            break
        if population.endless:
            return Size(endless=True)
        number += 1
        if number <= PILOTS and deadline is not None:
            now = time.monotonic()
            each = max(now - began, 1e-6) / (count * tries)
            room = max(0.0, deadline - now) / POPULATIONS / each
            tries = int(min(max(room / PILOT[0], PILOT[1]), MOST_TRIES))
            count = int(min(max(room / tries, PILOT[0]), MOST_WALKS))
            found = []  # the smallest populations are the worst
        found.append(population)
    if not found:
        return Size()
    plies = max(len(each.lines) for each in found)
    by_ply = tuple(
        _of_populations(
            [
                [row[ply] if ply < len(row) else -math.inf for row in rows]
                for rows in zip(*map(_logarithms, found), strict=True)
            ],
            walks.counts_positions,
        )
        for ply in range(plies)
    )
    totals = [
        [_log_sum(row) for row in rows] for rows in zip(*map(_logarithms, found), strict=True)
    ]
    positions, lines = _of_populations(totals, walks.counts_positions)
    if positions is not None:
        positions = _widened(positions, _excess(found, [each for each, _ in by_ply]))
    return Size(positions=positions, lines=lines, by_ply=by_ply, walks=count * len(found))


def _excess(found: Sequence[Population], by_ply: Sequence[Estimate | None]) -> float:
    """Return by how much estimates exceed two bounds of positions, as a power of 10.

    Walks of different populations are independent.  If they meet in one of n pairs, there are about
    n positions, or more if some are likelier than others: so this also shows whether all are
    equally likely, as they should be.  And if they are, the logarithm of their number is their
    entropy, at most the sum of the entropies of their bits.
    """
    excess = 0.0
    most = max((each.figure for each in by_ply if each is not None), default=0.0)
    for ply, estimate in enumerate(by_ply):
        known = [each.bits[ply] for each in found if ply < len(each.bits)]
        if known and estimate is not None and estimate.figure > most - 1:
            excess = max(excess, estimate.figure - _entropy(np.mean(known, axis=0)) / LN10)
    for ply in range(max(len(each.keys) for each in found)):
        counters = [Counter(each.keys[ply]) for each in found if ply < len(each.keys)]
        together = sum(counters, Counter())
        met = (_squares(together) - sum(map(_squares, counters))) / 2
        sizes = [each.total() for each in counters]
        pairs = (sum(sizes) ** 2 - sum(size**2 for size in sizes)) / 2
        estimate = by_ply[ply]
        if met >= MET and estimate is not None:
            excess = max(excess, estimate.figure - math.log10(pairs / met))
    return excess


def _squares(counter: Counter[int]) -> int:
    return sum(count * count for count in counter.values())


def _widened(estimate: Estimate, excess: float) -> Estimate | None:
    """Return an estimate with a lower end for an *excess*; None if it is too large."""
    if excess > MOST_APART:
        return None
    return replace(estimate, low=max(0.0, estimate.low - excess))


def _of_populations(
    logarithms: Sequence[Sequence[float]], counts_positions: bool
) -> tuple[Estimate | None, Estimate]:
    """Return the estimates from populations: of positions, and of lines.

    Parents that were missed make the count of positions too high.  The second half of the tries
    lowered it by a factor; the estimate is lower by as much again, and the interval covers both
    none of that and twice as much, in addition to the spread of populations.
    """
    (middle, reach), (before, _), (lines, reach_of_lines) = map(_log_of_mean, logarithms)
    missed = max(0.0, before - middle)
    all_lines = _estimate(lines, reach_of_lines)
    if not counts_positions or missed > MOST_MISSED:
        return None, all_lines
    return _estimate(middle - missed, reach + missed), all_lines


def _estimate(middle: float, reach: float) -> Estimate:
    """Return an estimate from natural logarithms; there is at least one position, and line."""
    return Estimate(middle / LN10, max(0.0, (middle - reach) / LN10), (middle + reach) / LN10)


def _log_of_mean(logarithms: Sequence[float]) -> tuple[float, float]:
    """Return the logarithm of the mean of numbers, and the reach of its 95 % interval."""
    most = max(logarithms)
    if most == -math.inf:
        return most, 0.0
    parts = [math.exp(each - most) for each in logarithms]
    mean = fmean(parts)
    if len(parts) < 2:
        return most + math.log(mean), LN10
    error = stdev(parts) / math.sqrt(len(parts)) / mean
    return most + math.log(mean), student_quantile(0.975, len(parts) - 1) * error


def _log_sum(logarithms: Sequence[float]) -> float:
    """Return the logarithm of a sum of numbers, given their logarithms."""
    most = max(logarithms)
    return float(most + math.log(sum(math.exp(each - most) for each in logarithms)))


@dataclass(frozen=True, slots=True)
class Population:
    """The estimates of a population of walks, by ply, as natural logarithms."""

    positions: tuple[float, ...]
    half: tuple[float, ...]
    """Positions estimated with the parents that half of the tries found: more than all."""
    lines: tuple[float, ...]
    keys: tuple[list[int], ...]
    """The keys of the walks' positions after each ply, as long as there are not too many."""
    bits: tuple[np.ndarray[Any, Any], ...]
    """How often each bit of the walks' positions is 1, after each ply."""
    endless: bool = False
    """Whether a walk reached the limit of plies."""


def _logarithms(population: Population) -> tuple[tuple[float, ...], ...]:
    return population.positions, population.half, population.lines


class Walks:
    """Populations of random walks from a position to the end of the game."""

    def __init__(self, start: Any):
        require_moves(start)
        self.start, self.cls = coerce(start), type(start)
        self.plies = game_constant(self.cls, "MAX_PLIES", 512)
        self.counts_positions = not defines(self.cls, "chance")
        """Whether parents are looked for: chance seldom lets moves be played in another order."""
        self.run = step.specialise(self.cls)

    def population(
        self, walks: int, tries: int, seed: int, deadline: float | None = None
    ) -> Population | None:
        """Walk to the ends of the games; return None if this takes longer than until *deadline*.

        At each ply, walks are drawn again by their weights, so that they all stand for as many
        positions (sequential Monte Carlo, or "go with the winners": D. Aldous and U. Vazirani,
        1994).
        """
        cls, room, each = self.cls, self.plies + 3, words_each(self.cls)
        random = np.random.default_rng(seed)
        memory = Memory(cls, WALKS)
        memory["random"] = int(random.integers(1 << 63))
        played = np.zeros((2 * walks, room), np.int64)
        words, others = _words(cls, walks, room * each)
        odds, parents = np.zeros(walks), np.ones((walks, 2), np.int64)
        buffer = np.zeros(game_constant(cls, "MAX_MOVES", 256) + MOVES_ROOM, np.int64)
        scratch = np.zeros(room, np.int64), others, np.zeros(room + tries * room, np.uint64), buffer
        for way in words:
            way[:each] = as_words([self.start])
        scale, lines, half = 0.0, np.zeros(walks), np.zeros(walks)
        found, keys, bits = [(0.0, 0.0, 0.0)], [[0] * walks], [np.zeros(1)]
        tries = tries if self.counts_positions else 0
        for ply in range(self.plies + 1):
            if deadline is not None and time.monotonic() > deadline:
                return None
            memory["ply"], memory["tries"] = ply, tries * min(ply, WINDOW)
            self.run(self.start, memory.argument, played, words, odds, parents, *scratch)
            alive = odds > 0
            if not alive.any():
                break
            weights = np.where(alive, 1 / np.where(alive, odds, 1) / parents[:, 1], 0)
            lines += np.log(parents[:, 1])
            half += np.log(parents[:, 1] / parents[:, 0])
            scale += math.log(weights.mean())
            found.append(
                (scale, scale + _log_mean(weights, half), scale + _log_mean(weights, lines))
            )
            kept = _drawn_again(weights, random)
            lines, half, used = lines[kept], half[kept], (ply + 2) * each
            _copy(played.reshape(walks, -1), kept, 2 * room)
            _copy(words, kept, used)
            if not isinstance(words, list):
                row = np.ascontiguousarray(words[:, used - each : used]).view(np.uint8)
                bits.append(np.unpackbits(row, axis=1).mean(axis=0))
            if self.counts_positions and scale < MOST_MET and len(keys) == ply + 1:
                at = (ply + 1) * each
                keys.append([int(key(self._position(way, at))) for way in words])
        positions, half_found, all_lines = zip(*found, strict=True)
        return Population(
            positions,
            half_found,
            all_lines,
            tuple(keys),
            tuple(bits),
            len(found) > self.plies + 1,
        )

    def _position(self, words: Any, at: int) -> Any:
        """Return the position packed at an index of a walk's words."""
        return words[at] if isinstance(words, list) else unpack(words, at, self.start)


def _copy(rows: Any, kept: Any, end: int) -> None:
    """Replace rows by the *kept* ones, up to a column."""
    if isinstance(rows, list):
        rows[:] = [rows[at][:] for at in kept]
    else:
        rows[:, :end] = rows[kept, :end]


def _log_mean(weights: np.ndarray[Any, Any], logarithms: np.ndarray[Any, Any]) -> float:
    """Return the logarithm of the weighted mean of numbers, given their logarithms."""
    most = logarithms.max()
    return float(most + math.log(np.average(np.exp(logarithms - most), weights=weights)))


def _entropy(ones: np.ndarray[Any, Any]) -> float:
    """Return the sum of the entropies of bits, given how often each is 1."""
    ones = ones[(ones > 0) & (ones < 1)]
    return float(-(ones * np.log(ones) + (1 - ones) * np.log(1 - ones)).sum())


def _drawn_again(
    weights: np.ndarray[Any, Any], random: np.random.Generator
) -> np.ndarray[Any, Any]:
    """Return the numbers of walks drawn by their weights (systematic resampling)."""
    count = len(weights)
    places = (np.arange(count) + random.random()) / count
    return np.searchsorted(np.cumsum(weights / weights.sum()), places).clip(0, count - 1)


def _words(cls: Any, walks: int, size: int) -> tuple[Any, Any]:
    """Return room for the packed positions of walks, and of one more."""
    if is_plain(cls):
        return [[None] * size for _ in range(walks)], [None] * size
    return np.zeros((walks, size), np.uint64), np.zeros(size, np.uint64)
