"""Two settings of the engine beside each other: nodes, time, agreement, and strength in play.

A setting is a text as :func:`cutnode.playing.players.make_player` takes it, of this version or of
another one.  Each is searched in a process of its own, by turns with the other, so that what
disturbs the machine disturbs both; and a match says which of them plays better.
"""

from __future__ import annotations

import contextlib
import math
import tomllib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from queue import SimpleQueue
from statistics import fmean
from typing import Any

from cutnode.contract.errors import CutnodeError, require_integer
from cutnode.contract.loading import Game, load_game
from cutnode.contract.messages import position_text
from cutnode.contract.text import quoted
from cutnode.contract.verbs import outcome
from cutnode.lab.laboratory import (
    BUSY,
    ENOUGH,
    LONGEST,
    MOST_RUNS,
    SHORT_NODES,
    same_value,
    with_interval,
)
from cutnode.lab.measuring import ABOUT_INTERVALS, FIGURES, note_disagreement
from cutnode.lab.plots import GREY, PAGE, PALETTE, set_axes, set_log
from cutnode.lab.provenance import commit_of, game_source, machine
from cutnode.lab.statistics import geometric_mean_ratio, quartiles, share, wilcoxon
from cutnode.lab.study import Column, Progress, Study, no_progress
from cutnode.playing.configurations import version_of
from cutnode.playing.elo import Sprt
from cutnode.playing.levels import LEVELS
from cutnode.playing.matches import Games, MatchResult, make_openings, match
from cutnode.playing.players import RemotePlayer, make_player
from cutnode.runtime.processes import MOST_PROCESSES
from cutnode.runtime.running import Limits
from cutnode.search.options import check_depth

MATCH = "match"
"""The name of samples that are pairs of games: B's mean score, its score and the end of each."""

DEFAULT = "default"
"""The setting that changes nothing."""

COLUMNS = (
    Column("setting"),
    Column("nodes", "positions visited, all positions together", ",d"),
    Column("leaves", "leaves visited: positions where a line ended", ",d"),
    Column("fewer", "times fewer nodes than A: geometric mean over positions", ",.3f", True),
    Column("fewer_leaves", "times fewer leaves than A: geometric mean", ",.3f", True),
    Column("seconds", "CPU time, of each position the median of the runs", ",.4f", timed=True),
    Column(
        "faster", "times less CPU time than A: geometric mean over positions", ",.3f", True, True
    ),
    Column("depth", "plies that were completed, mean", ".1f"),
    Column("value", "share of positions with the value that A has", ".0%", True),
    Column("move", "share of positions with the move that A has", ".0%", True),
    Column("elo", "Elo in play against A", "+.0f", True),
    Column("score", "points a game in play against A", ".3f"),
    Column("games", "games of the match", "d"),
    Column("llr", "logarithm of the likelihood ratio of elo1 and elo0 (SPRT)", "+.2f"),
    Column("accepted", "what the test accepts: elo0, elo1, or neither yet"),
    FIGURES["rate"],
    Column("p_nodes", "Wilcoxon's test: chance of such nodes if none had fewer", ".2g"),
    Column(
        "p_seconds", "Wilcoxon's test: chance of such times if none was faster", ".2g", timed=True
    ),
)

OF_TESTS = {"llr", "accepted"}
OF_MATCHES = {"elo", "score", "games", *OF_TESTS}

CLOCKED = {*LEVELS, "seconds", "level", "strength"}
"""Settings that limit the time of a search, perhaps among others."""

LIMITING = {*LEVELS, "depth", "nodes", "seconds", "playouts", "level", "strength", "random"}
"""Settings that say themselves how far to search."""


def compare(
    game: Game | str,
    a: str,
    b: str,
    positions: Sequence[Any],
    *,
    depth: int | None = None,
    nodes: int | None = None,
    seconds: float | None = None,
    runs: int = 3,
    pairs: int = 10,
    move_seconds: float | None = None,
    move_nodes: int | None = None,
    plies: int = 4,
    seed: int = 0,
    elo0: float | None = None,
    elo1: float | None = None,
    alpha: float = 0.05,
    beta: float = 0.05,
    workers: int = 1,
    positions_from: str = "",
    progress: Progress = no_progress,
) -> Study:
    """Search positions with two settings, and let them play *pairs* of games; 0: none.

    *a* and *b* are texts for :func:`cutnode.playing.players.make_player`, or ``default``.  The
    limits *depth*, *nodes* and *seconds* are those of each search, and *move_seconds* (0.1) or
    *move_nodes* of each move in play, where a setting has none of its own.  A search is timed
    *runs* times, a short one more often, one with a limit of time once.  An opening has *plies*
    random moves, by *seed*, and is played twice; with *elo0* and *elo1* a sequential test ends
    the match, with odds of error *alpha* and *beta* (:class:`~cutnode.playing.elo.Sprt`).  So many
    *workers* are busy at a time, with positions and games of their own.  *positions_from* is for
    whoever reads the study.  :class:`CutnodeError` says what makes no sense, or what another
    version refuses.
    """
    game = load_game(game) if isinstance(game, str) else game
    texts = list(dict.fromkeys(position_text(position) for position in positions))
    plan = _Plan(game.source, _labelled(a, b), depth, nodes, seconds, runs)
    plan.check(positions)
    if move_seconds is None and move_nodes is None:
        move_seconds = 0.1
    Limits(move_nodes, move_seconds)
    if require_integer(pairs, "a number of pairs") < 0:
        raise CutnodeError(f"a number of pairs is at least 0, not {pairs}")
    if not 1 <= require_integer(workers, "a number of workers") <= MOST_PROCESSES:
        raise CutnodeError(f"a comparison has 1..{MOST_PROCESSES} workers, not {workers}")
    sprt = None
    if elo0 is not None and elo1 is not None:
        sprt = Sprt(elo0, elo1, alpha, beta)
    elif elo0 is not None or elo1 is not None:
        raise CutnodeError("a test needs elo0 and elo1")
    progress("compiling", 0, len(texts) + pairs)
    players = plan.players()
    each_move = {"seconds": move_seconds, "nodes": move_nodes}
    openings = make_openings(game, pairs, plies, seed) if pairs else []
    texts_of_players = limited(b, **each_move), limited(a, **each_move)
    for text in texts_of_players if pairs else ():
        make_player(game, text)  # an error shows before anything is measured
    settings = {
        "game": game_source(type(game.start())),
        "a": a,
        "b": b,
        "positions": texts,
        "positions_from": positions_from,
        "depth": depth,
        "nodes": nodes,
        "seconds": seconds,
        "runs": runs,
        "pairs": pairs,
        "move_seconds": move_seconds,
        "move_nodes": move_nodes,
        "plies": plies,
        "seed": seed,
        "elo0": elo0,
        "elo1": elo1,
        "alpha": alpha,
        "beta": beta,
        "workers": workers,
    }
    study = Study(
        "compare",
        f"{b or DEFAULT} beside {a or DEFAULT}",
        {name: value for name, value in settings.items() if value is not None},
        _columns(settings, plan.texts, texts_of_players),
        machine=machine() | plan.versions(players),
        progress=progress,
    )
    work = _Comparison(plan, study, len(texts) + pairs)
    with study.kept():
        work.search(texts, players, workers)
        if pairs:
            work.play(game, texts_of_players, openings, seed=seed, sprt=sprt, processes=workers)
    work.sum_up()
    return study


def _columns(
    settings: dict[str, Any], searchers: Sequence[str], players: Sequence[str]
) -> tuple[Column, ...]:
    """Return the columns that make sense, and whether they depend on the clock.

    That depends on the limits of *searchers* and *players*.
    """
    by_clock = any(map(is_by_clock, searchers))
    unused = set() if settings["depth"] is None else {"depth"}
    unused |= {"faster", "p_seconds"} if by_clock else set()
    unused |= set() if settings["pairs"] else OF_MATCHES
    unused |= OF_TESTS if settings["elo0"] is None else set()

    def is_timed(column: Column) -> bool:
        if column.name in OF_MATCHES:
            return any(map(is_by_clock, players))
        return column.timed or (by_clock and column.name != "setting")

    return tuple(
        replace(column, timed=is_timed(column)) for column in COLUMNS if column.name not in unused
    )


def _labelled(a: str, b: str) -> tuple[tuple[str, str], tuple[str, str]]:
    """Return the name and the text of each setting."""
    return (f"A: {a or DEFAULT}", a), (f"B: {b or DEFAULT}", b)


def has_limit(text: str) -> bool:
    """Return whether a setting says itself how far to search."""
    return any(part.partition("=")[0].strip() in LIMITING for part in text.split(","))


def is_by_clock(text: str) -> bool:
    """Return whether a player with some limits is limited by time, so that it may vary."""
    return any(part.partition("=")[0].strip() in CLOCKED for part in text.split(","))


def limited(text: str, **limits: Any) -> str:
    """Return the text of a player with a setting, and with limits unless it has its own."""
    parts = [part.strip() for part in text.split(",")]
    parts = [part for part in parts if part not in ("", DEFAULT)]
    if not has_limit(text):
        parts += [f"{name}={limit}" for name, limit in limits.items() if limit is not None]
    return ",".join(parts)


# Searches

Sample = dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Plan:
    """Searches of a game with both settings: their names and texts, and how far they go."""

    game: str
    settings: tuple[tuple[str, str], tuple[str, str]]
    depth: int | None
    nodes: int | None
    seconds: float | None
    runs: int

    def check(self, positions: Sequence[Any]) -> None:
        """:class:`CutnodeError` for what makes no sense."""
        check_depth(self.depth)
        Limits(self.nodes, self.seconds)
        if self.runs < 1:
            raise CutnodeError(f"a search has at least 1 run, not {self.runs}")
        if not positions:
            raise CutnodeError("there are no positions to search")
        for _, text in self.settings:
            version_of(text)
        if self.depth is None and self.nodes is None and self.seconds is None:
            for name, text in self.settings:
                if not has_limit(text):
                    raise CutnodeError(f"{name} needs a limit: a depth, nodes or seconds")
        for position in positions:
            if outcome(position)[0]:
                raise CutnodeError(
                    f"the game is over in {quoted(position_text(position))}: there is nothing to "
                    f"search"
                )

    @property
    def names(self) -> tuple[str, str]:
        """What rows and samples call the settings."""
        (first, _), (second, _) = self.settings
        return first, second

    @property
    def texts(self) -> list[str]:
        """The players that search, with their limits."""
        limits = {"depth": self.depth, "nodes": self.nodes, "seconds": self.seconds}
        return [limited(text, **limits) for _, text in self.settings]

    def players(self) -> list[RemotePlayer]:
        """Start the process of each setting, and wait until both are ready."""
        game = load_game(self.game)
        players = [RemotePlayer(game, text, ready=False) for text in self.texts]
        self.versions(players)
        return players

    def versions(self, players: Sequence[RemotePlayer]) -> dict[str, str]:
        """Return which version plays by the name of each setting."""
        facts = [player.remote.facts for player in players]
        return {name: _about(its) for name, its in zip(self.names, facts, strict=True)}

    def begin(self, players: Sequence[RemotePlayer]) -> Callable[[int, str], list[Sample]]:
        """Return the function that searches a position, given with its number, by both players."""
        game = load_game(self.game)
        warm = False

        def search(number: int, text: str) -> list[Sample]:
            nonlocal warm
            position = game.parse(text)
            if not warm:  # the memory of a table is slow when it is touched first
                for player in players:
                    player.measure(position)
                warm = True
            return self._by_turns(players, position, number, text)

        return search

    def _by_turns(
        self, players: Sequence[RemotePlayer], position: Any, number: int, text: str
    ) -> list[Sample]:
        """Search a position with both settings, by turns, each beginning as often as the other."""
        found: list[list[dict[str, Any]]] = [[], []]
        least = 1 if any(map(is_by_clock, self.texts)) else self.runs
        most = max(least, MOST_RUNS) if least > 1 else 1
        turn, spent = number, 0.0
        while True:
            for which in (0, 1) if turn % 2 == 0 else (1, 0):
                found[which].append(players[which].measure(position))
            turn += 1
            count = len(found[0])
            spent += found[0][-1]["cpu"] + found[1][-1]["cpu"]
            enough = count >= least and (spent > 2 * ENOUGH or count == most)
            if enough or spent > 2 * LONGEST:
                break
        return [
            {"setting": name, "position": text} | _sample(runs)
            for name, runs in zip(self.names, found, strict=True)
        ]


def _about(facts: dict[str, str]) -> str:
    """Return which version a player is of, in a line."""
    package = Path(facts["package"])
    root = next((p for p in package.parents[:2] if (p / "pyproject.toml").is_file()), package)
    number, commit = facts["cutnode"], commit_of(root)
    with contextlib.suppress(OSError, ValueError, KeyError):  # a checkout may have gone on
        project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
        number = str(project["project"]["version"])
    parts = [f"cutnode {number}", *([f"commit {commit}"] if commit else [])]
    return ", ".join([*parts, f"Python {facts['python']}", f"numba {facts['numba']}"])


def _sample(runs: Sequence[dict[str, Any]]) -> Sample:
    """Return what was measured of a position in several runs."""
    spent = [run["cpu"] for run in runs]
    low, middle, high = quartiles(spent)
    sample = {name: runs[0][name] for name in ("nodes", "depth", "value", "move", "reason")}
    sample |= {"leaves": runs[0]["leaves"]} if "leaves" in runs[0] else {}
    sample |= {"seconds": middle, "runs": len(runs)}
    if len(runs) > 1:
        sample |= {"seconds_low": low, "seconds_high": high}
    elapsed = math.fsum(run["seconds"] for run in runs)
    return sample | {"waited": max(0.0, 1 - math.fsum(spent) / elapsed) if elapsed else 0.0}


def _games_of(told: str) -> Games:
    """Return the games of a sample of a match, as the match takes those that were played."""
    (first, one), (second, other) = (game.split() for game in told.split(", "))
    return (
        {"result": float(first), "ending": one},
        {"result": 1 - float(second), "ending": other},
    )


class _Comparison:
    """A comparison that runs: what was found so far is in its study."""

    def __init__(self, plan: _Plan, study: Study, steps: int):
        self.plan = plan
        self.study = study
        self.steps = steps
        self.match: MatchResult | None = None

    def search(self, texts: Sequence[str], players: list[RemotePlayer], workers: int) -> None:
        """Search positions, and add a sample of each and each setting to the study.

        *players* are those of the first worker.  When this is left, the processes of all have
        ended.
        """
        study, plan = self.study, self.plan
        waiting = [(number, text) for number, text in enumerate(texts) if not self._recall(text)]
        study.progress("searches", len(texts) - len(waiting), self.steps)
        every = [players]
        idle: SimpleQueue[Callable[[int, str], list[Sample]]] = SimpleQueue()
        pool = ThreadPoolExecutor(workers)

        def search(task: tuple[int, str]) -> list[Sample]:
            searching = idle.get()
            try:
                return searching(*task)
            finally:
                idle.put(searching)

        try:
            while len(every) < min(workers, len(waiting)):
                every.append(plan.players())
            for both in every:
                idle.put(plan.begin(both))
            known = len(texts) - len(waiting)
            for done, found in enumerate(pool.map(search, waiting), known + 1):
                for sample in found:
                    study.add_sample(sample)
                study.progress("searches", done, self.steps)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            for both in every:
                for player in both:
                    player.remote.close()

    def _recall(self, text: str) -> bool:
        """Take the samples of a position that an interrupted run left, if it has both."""
        first, second = self.plan.names
        if self.study.recall(setting=second, position=text) is None:  # it was the later one
            return False
        return self.study.recall(setting=first, position=text) is not None

    def play(
        self, game: Game, players: tuple[str, str], openings: Sequence[Any], **options: Any
    ) -> None:
        """Let B play against A; *options* are those of a match."""
        searched = self.steps - len(openings)

        def hear(result: MatchResult) -> None:
            self.match = result
            self.study.progress("match", searched + sum(result.pairs), self.steps)

        self.study.progress("match", searched, self.steps)
        texts = [position_text(opening) for opening in openings]

        def keep(number: int, games: Games) -> None:
            first, second = games[0]["result"], 1 - games[1]["result"]
            told = [
                f"{score:g} {facts['ending']}"
                for score, facts in zip((first, second), games, strict=True)
            ]
            self.study.add_sample(
                {"setting": MATCH, "position": texts[number], "pair": number}
                | {"score": (first + second) / 2, "games": ", ".join(told)}
            )

        recalled = {
            number: _games_of(sample["games"])
            for number in range(len(openings))
            if (sample := self.study.recall(setting=MATCH, pair=number)) is not None
        }
        result = match(
            game,
            *players,
            openings=openings,
            known=recalled,
            keep=keep,
            progress=hear,
            **options,
        )
        hear(result)
        if result.reason == "interrupted":
            raise KeyboardInterrupt

    def sum_up(self) -> None:
        """Add the rows, and notes."""
        plan, study, played = self.plan, self.study, self.match
        for row in _rows(plan, study.samples, played):
            study.add_row({name: row[name] for name in study.fields if name in row})
        for name in plan.names:
            study.add_note(f"{name} is {study.machine[name]}.")
        if played is not None and played.games:
            _, *lines = str(played).splitlines()
            told = "; ".join(" ".join(line.split()) for line in lines)
            study.add_note(f"Match of {played.player} against {played.opponent}: {told}.")
        if len(study.settings["positions"]) > 1:
            study.add_note(ABOUT_INTERVALS)
            for figure, its in (("fewer", "p_nodes"), ("faster", "p_seconds")):
                note_disagreement(study, figure, its)
        self._note_times()

    def _note_times(self) -> None:
        """Note under which conditions times were taken, where they are not the best."""
        study, workers = self.study, self.study.settings["workers"]
        searched = [sample for sample in study.samples if sample["setting"] != MATCH]
        long = [sample for sample in searched if sample["nodes"] >= SHORT_NODES]
        elapsed = math.fsum(sample["seconds"] for sample in long)
        waited = math.fsum(sample["seconds"] * sample["waited"] for sample in long)
        if len(long) < len(searched):
            study.add_note(
                f"Searches of less than {SHORT_NODES:,} nodes are as short as the call that starts "
                f"them: compare their nodes, not their times."
            )
        if workers > 1:
            study.add_note(
                f"Times: {workers} positions were searched at once, each by both settings in turn, "
                f"and shared caches and memory."
            )
        if elapsed and waited > BUSY * elapsed:
            study.add_note(
                f"Times: the machine was busy, and searches waited for a core "
                f"{waited / elapsed:.0%} of the time: compare nodes."
            )


# What is made of it


def _rows(
    plan: _Plan, samples: Sequence[dict[str, Any]], played: MatchResult | None
) -> list[dict[str, Any]]:
    both = _paired(plan.names, samples)
    rows: list[dict[str, Any]] = [{"setting": name} for name in plan.names]
    for row, its in zip(rows, zip(*both, strict=True), strict=False):
        row["nodes"] = sum(sample["nodes"] for sample in its)
        row |= _leaves(its)
        row["seconds"] = math.fsum(sample["seconds"] for sample in its)
        if row["seconds"]:
            row["rate"] = row["nodes"] / row["seconds"] / 1e6
        row["depth"] = fmean(sample["depth"] for sample in its)
    if both:
        rows[1] |= _beside(both)
    if played is not None and played.games:
        rows[1] |= _strength(played)
    return rows


def _leaves(samples: Sequence[Sample]) -> dict[str, int]:
    """Return the leaves of all samples, if all have counted them."""
    counts = [sample.get("leaves") for sample in samples]
    return {} if None in counts else {"leaves": sum(filter(None, counts))}


def _paired(names: Sequence[str], samples: Sequence[Sample]) -> list[tuple[Sample, Sample]]:
    """Return the samples of both settings for each position that both have searched."""
    first, second = (
        {sample["position"]: sample for sample in samples if sample["setting"] == name}
        for name in names
    )
    return [(first[text], second[text]) for text in first if text in second]


def _beside(both: Sequence[tuple[dict[str, Any], dict[str, Any]]]) -> dict[str, Any]:
    """Return the figures of B beside A."""
    row: dict[str, Any] = {}
    for name, figure in (("fewer", "nodes"), ("fewer_leaves", "leaves"), ("faster", "seconds")):
        a, b = ([pair[which].get(figure, 0) for pair in both] for which in (0, 1))
        if min(*a, *b) > 0:
            row |= with_interval(name, geometric_mean_ratio(a, b))
            if len(both) > 1:
                logarithms = [[math.log(number) for number in numbers] for numbers in (a, b)]
                row[f"p_{figure}"] = wilcoxon(*logarithms)
    same_values = [same_value(a["value"], b["value"]) for a, b in both]
    same_move = [a["move"] == b["move"] for a, b in both]
    return (
        row | with_interval("value", share(same_values)) | with_interval("move", share(same_move))
    )


def _strength(result: MatchResult) -> dict[str, Any]:
    data = result.to_dict()
    names = ("elo", "elo_low", "elo_high", "score", "games")
    row = {name: data[name] for name in names if data[name] is not None}
    if result.sprt is None:
        return row
    return row | {"llr": data["sprt"]["llr"], "accepted": data["sprt"]["accepted"] or "neither"}


def draw(study: Study, figure: Any) -> None:
    """Draw the nodes and the times of each position, A to the right and B upwards."""
    figure.set_label(
        "Nodes and CPU time of each position, by A to the right and by B upwards; below the line "
        "B takes less."
    )
    figure.set_size_inches(PAGE, 3.5)
    names = [row["setting"] for row in study.rows]
    panels = {"nodes": "Nodes", "seconds": "CPU time in seconds"}
    for axes, (name, title) in zip(figure.subplots(1, 2), panels.items(), strict=True):
        pairs = [
            (a[name], b[name])
            for a, b in _paired(names, study.samples)
            if min(a[name], b[name]) > 0
        ]
        if pairs:
            ends = min(map(min, pairs)) / 1.3, max(map(max, pairs)) * 1.3
            axes.plot(ends, ends, color=GREY, linewidth=0.8, zorder=0)
            axes.plot(*zip(*pairs, strict=True), "o", color=PALETTE["blue"], alpha=0.6, mew=0)
            axes.set(xlim=ends, ylim=ends)
            for axis in "xy":
                set_log(axes, axis)
            axes.set_aspect("equal")
        set_axes(axes, title=title, x=names[0], y=names[1])
        axes.grid(axis="x")
