"""Self-play games, and the labelled positions that they yield."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cutnode.batches.searching import BatchSearcher
from cutnode.contract.dispatch import defines, game_constant
from cutnode.contract.positions import Packed, as_words, words_each
from cutnode.contract.verbs import MOVES_ROOM, NO_MOVE
from cutnode.kernels.scores import MOST_ESTIMATE, is_decisive
from cutnode.kernels.self_play import ANY_MOVE, STEP, advance, decide, mark_quiet
from cutnode.tablebases.tablebase import Tablebase

AT_ONCE = 512
"""Games played at the same time."""

LONGEST = 400
"""The plies after which a game is adjudicated a draw, or discarded if the game has chance."""

SLIP = 0.04
"""The probability of a random move after the opening."""


@dataclass(frozen=True)
class Labelled:
    """Positions with their labels, a row for each, from the mover's point of view."""

    words: Any
    """The packed positions: uint64 of ``(positions, words of each)``."""
    scores: Any
    """The scores of searches."""
    results: Any
    """The results of the games: the next proven value, or else the value at the end."""
    games: Any
    """The number of each position's game."""
    expected: Any = None
    """The scores as targets of a fit: the odds to win, or points."""
    interrupted: bool = False
    """Whether Ctrl-C ended the games."""

    def __len__(self) -> int:
        return len(self.scores)

    @property
    def count(self) -> int:
        """The number of games."""
        return len(np.unique(self.games))


def moves_player(start: Any) -> Callable[[Any, Any], None]:
    """Return a function that plays the moves of *steps* in games with positions in *words*."""
    cls: Any = type(start)
    run = advance.specialise(cls)
    buffer = np.zeros(game_constant(cls, "MAX_MOVES", 256) + MOVES_ROOM, np.int64)
    return lambda words, steps: run(start, words.reshape(-1), steps, buffer)


def chance_player(start: Any) -> Callable[[Any, Any], None]:
    """Return a function that plays chance events in games with positions in *words*."""
    cls: Any = type(start)
    if not defines(cls, "chance"):
        return lambda words, steps: None
    run = decide.specialise(cls)
    return lambda words, steps: run(start, words.reshape(-1), steps)


def quiet_marker(start: Any) -> Callable[[Any, Any], Any]:
    """Return a function that marks the quiet ones of packed positions, given their best moves."""
    cls: Any = type(start)
    if not (defines(cls, "noisy") or defines(cls, "check")):
        return lambda words, best: np.ones(len(words), bool)
    run = mark_quiet.specialise(cls)
    buffer = np.zeros(game_constant(cls, "MAX_MOVES", 256) + MOVES_ROOM, np.int64)

    def marked(words: Any, best: Any) -> Any:
        quiet = np.zeros(len(words), np.int64)
        flat = np.ascontiguousarray(words).reshape(-1)
        run(start, flat, best.astype(np.int64), quiet, buffer)
        return quiet != 0

    return marked


def play_games(
    start: Any,
    searcher: BatchSearcher,
    *,
    nodes: int,
    longest_opening: int,
    seed: int,
    seconds: float,
    games: int = AT_ONCE,
    tablebase: Tablebase | None = None,
) -> Labelled:
    """Play *games* at once, starting new ones until *seconds* are over; return their positions.

    Each begins with up to *longest_opening* random moves.  Positions whose result is unknown when
    time is up are left out, and so are positions that are not quiet (:func:`quiet_marker`).
    Ctrl-C ends the games as the clock does.
    In games of chance, the positions kept are the ones before the chance event, since searches
    estimate these; the score is of a position after it, which is as good on average.

    A value that a search proves, or that a *tablebase* has, is the result of its position and of
    the positions before it in the game.
    """
    cls: Any = type(start)
    chosen = np.random.default_rng(seed)
    play_moves, let_chance_decide = moves_player(start), chance_player(start)
    each = words_each(cls)
    first = as_words([start])
    steps = np.zeros(games, STEP)
    words = np.zeros((games, each), np.uint64)
    opening = np.zeros(games, np.int64)
    plies = np.zeros(games, np.int64)
    number = np.zeros(games, np.int64)
    steps["over"] = 1
    begun = 0
    most = min(game_constant(cls, "MAX_PLIES", 512), LONGEST)
    has_chance = defines(cls, "chance")
    is_quiet = quiet_marker(start)
    rows: list[Any] = []
    finished: dict[int, int] = {}
    deadline = time.monotonic() + seconds
    interrupted = False

    def note_ends() -> Any:
        over = np.flatnonzero((steps["over"] != 0) | (plies >= most))
        for game in over:
            if plies[game] > 0 and (steps["over"][game] or not has_chance):
                finished[int(number[game])] = (
                    int(steps["value"][game]) if steps["over"][game] else 0
                )
        return over

    try:
        while time.monotonic() <= deadline:
            over = note_ends()
            words[over] = first
            steps["over"][over] = steps["second"][over] = plies[over] = 0
            steps["random"][over] = chosen.integers(1 << 63, size=len(over), dtype=np.uint64)
            opening[over] = chosen.integers(0, longest_opening + 1, size=len(over))
            number[over] = np.arange(begun, begun + len(over))
            begun += len(over)
            before, mover = words.copy(), steps["second"].copy()
            let_chance_decide(words, steps)
            searched = np.flatnonzero((plies >= opening) & (steps["over"] == 0))
            steps["move"] = ANY_MOVE
            if len(searched):
                found = searcher.search(words[searched].reshape(-1), nodes=nodes)
                usable = found["move"] != NO_MOVE
                kept = searched[usable]
                quiet = is_quiet(words[kept], found["move"][usable])
                kept, values = kept[quiet], found["value"][usable][quiet]
                values = np.where(mover[kept] == steps["second"][kept], values, -values)
                # In a game of chance, what a search proves holds only after the chance event.
                proven = found["proven"][usable][quiet] & (not has_chance)
                exact = np.where(proven, values_of(cls, values), np.nan)
                if tablebase is not None:
                    known = values_in(tablebase, Packed(before[kept].reshape(-1), start))
                    exact = np.where(np.isnan(known), exact, known)
                rows.append((before[kept], values, mover[kept], number[kept], exact))
                slips = chosen.random(len(searched)) < SLIP
                steps["move"][searched] = np.where(slips | ~usable, ANY_MOVE, found["move"])
            play_moves(words, steps)
            plies += 1
    except KeyboardInterrupt:
        interrupted = True
    note_ends()
    return replace(labelled(rows, finished, each), interrupted=interrupted)


def values_of(cls: Any, scores: Any) -> Any:
    """Return the values of positions with proven scores."""
    return np.sign(scores) * (np.abs(scores) > MOST_ESTIMATE) if is_decisive(cls) else scores


def values_in(tablebase: Tablebase, positions: Packed) -> Any:
    """Return the values of positions in a tablebase; NaN for positions outside it."""
    entries = map(tablebase.entry, positions)
    return np.array([np.nan if entry is None else entry.value for entry in entries])


def labelled(rows: list[Any], finished: dict[int, int], each: int) -> Labelled:
    """Return the positions with known results, given the values of the *finished* games."""
    if not rows:
        empty = np.zeros(0, np.int64)
        return Labelled(np.zeros((0, each), np.uint64), empty, empty, empty)
    # The positions of each game together, in order.
    columns = [np.concatenate(column) for column in zip(*rows, strict=True)]
    order = np.argsort(columns[3], kind="stable")
    words, scores, second, games, exact = (column[order] for column in columns)
    last = max(int(games.max(initial=-1)), max(finished, default=-1))
    ends = np.full(last + 1, np.nan)
    ends[list(finished)] = list(finished.values())
    signs = np.where(second != 0, -1, 1)
    places = np.where(np.isnan(exact), len(exact), np.arange(len(exact)))
    following = np.minimum.accumulate(places[::-1])[::-1]  # the next proven position
    following = np.minimum(following, len(exact) - 1)
    proven = np.where(games[following] == games, (signs * exact)[following], np.nan)
    results = signs * np.where(np.isnan(proven), ends[games], proven)
    ended = ~np.isnan(results)
    return Labelled(words[ended], scores[ended], results[ended], games[ended])


def random_openings(start: Any, count: int, longest: int, seed: int) -> tuple[Any, Any]:
    """Return packed positions after up to *longest* random moves, and who is to move in each."""
    chosen = np.random.default_rng(seed)
    play_moves, let_chance_decide = moves_player(start), chance_player(start)
    kept: list[Any] = []
    while sum(len(words) for words, _ in kept) < count:  # the start itself is always there
        steps = np.zeros(count, STEP)
        words = np.tile(as_words([start]), (count, 1))
        steps["random"] = chosen.integers(1 << 63, size=count, dtype=np.uint64)
        plies = chosen.integers(0, longest + 1, size=count)
        for ply in range(longest):
            steps["move"] = np.where(ply < plies, ANY_MOVE, NO_MOVE)
            let_chance_decide(words, steps)
            play_moves(words, steps)
        going = steps["over"] == 0
        kept.append((words[going], steps["second"][going]))
    words, second = (np.concatenate(column)[:count] for column in zip(*kept, strict=True))
    return words, second


def compare(
    start: Any,
    searchers: tuple[BatchSearcher, BatchSearcher],
    *,
    pairs: int,
    nodes: tuple[int, int],
    longest_opening: int,
    seed: int,
) -> tuple[int, int, int, int, int]:
    """Play pairs of games, all at the same time, with each opening from both sides.

    *nodes* has the node limit per move of each searcher.  Both games of a pair have the same random
    numbers for chance.

    Return the numbers of pairs in which the first searcher scored 0, 1/2, 1, 3/2 and 2 points.
    """
    words, second = random_openings(start, pairs, longest_opening, seed)
    words, second = np.repeat(words, 2, axis=0), np.repeat(second, 2)
    steps = np.zeros(2 * pairs, STEP)
    steps["second"] = second
    # In every other game the first searcher moves second.
    first_is_second = np.arange(2 * pairs) % 2
    numbers = np.random.default_rng(seed).integers(1 << 63, size=pairs, dtype=np.uint64)
    steps["random"] = np.repeat(numbers, 2)
    play_moves, let_chance_decide = moves_player(start), chance_player(start)
    for _ in range(min(game_constant(type(start), "MAX_PLIES", 512), LONGEST)):
        let_chance_decide(words, steps)
        if steps["over"].all():
            break
        steps["move"] = NO_MOVE
        for number, searcher in enumerate(searchers):
            turn = (steps["second"] ^ first_is_second) == number
            own = np.flatnonzero(turn & (steps["over"] == 0))
            if len(own):
                found = searcher.search(words[own].reshape(-1), nodes=nodes[number])
                steps["move"][own] = np.where(found["move"] == NO_MOVE, ANY_MOVE, found["move"])
        play_moves(words, steps)
    values = np.sign(np.where(steps["over"] != 0, steps["value"], 0))
    points = np.where(first_is_second == 1, -values, values).reshape(-1, 2).sum(axis=1) + 2
    counts = np.bincount(points, minlength=5)
    return tuple(map(int, counts))  # type: ignore[return-value]
