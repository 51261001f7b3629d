"""A comparison of two settings of the engine: nodes, time, agreement, and strength in play.

A setting is a text that :func:`cutnode.playing.players.make_player` accepts, for this version or
another one.  Each setting searches in a process of its own, and the two take turns, so that any
load on the machine affects both.  A match shows which of them plays better.
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

from cutnode.contract.errors import CutnodeError, require_at_least
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
from cutnode.lab.measuring import ABOUT_INTERVALS, FIGURES, note_disagreement, require_workers
from cutnode.lab.plots import GREY, PAGE, PALETTE, set_axes, set_log
from cutnode.lab.provenance import commit_of, game_source, machine
from cutnode.lab.statistics import geometric_mean_ratio, quartiles, share, wilcoxon
from cutnode.lab.study import Column, Progress, Study, no_progress
from cutnode.playing.configurations import version_of
from cutnode.playing.elo import Sprt
from cutnode.playing.levels import LEVELS
from cutnode.playing.matches import Games, MatchResult, make_openings, match
from cutnode.playing.players import RemotePlayer, make_player
from cutnode.runtime.options import check
from cutnode.runtime.running import Limits

MATCH = "match"
"""The name of a sample that is a pair of games: B's mean score, and each game's score and end."""

DEFAULT = "default"
"""The setting that changes nothing."""

COLUMNS = (
    Column("setting"),
    Column("nodes", "nodes visited, summed over positions", ",d"),
    FIGURES["leaves"],
    Column("fewer", "A's nodes / nodes: geometric mean over positions", ",.3f", True),
    Column("fewer_leaves", "A's leaves / leaves: geometric mean over positions", ",.3f", True),
    Column("seconds", "CPU time, summed over positions (median of runs)", ",.4f", timed=True),
    Column("faster", "A's CPU time / CPU time: geometric mean over positions", ",.3f", True, True),
    Column("depth", "mean completed depth in plies", ".1f"),
    Column("value", "share of positions with A's value", ".0%", True),
    Column("move", "share of positions with A's move", ".0%", True),
    Column("elo", "Elo difference from A", "+.0f", True),
    Column("score", "points per game against A", ".3f"),
    Column("games", "games of the match", "d"),
    Column("llr", "SPRT: log-likelihood ratio (LLR) of H1 (elo1) to H0 (elo0)", "+.2f"),
    Column("accepted", "SPRT: accepted hypothesis (elo0, elo1, or neither yet)"),
    FIGURES["rate"],
    Column("p_nodes", "p-value of the node ratio (Wilcoxon signed-rank test)", ".2g"),
    Column("p_seconds", "p-value of the time ratio (Wilcoxon signed-rank test)", ".2g", timed=True),
)

OF_TESTS = {"llr", "accepted"}
OF_MATCHES = {"elo", "score", "games", *OF_TESTS}

CLOCKED = {*LEVELS, "seconds", "level", "strength"}
"""Options of a setting that limit the time of a search, or may do so."""

LIMITING = {*LEVELS, "depth", "nodes", "seconds", "playouts", "level", "strength", "random"}
"""Options of a setting that limit its search."""


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
    """Search positions with two settings, and play a match of *pairs* of games (0: no match).

    *a* and *b* are texts for :func:`cutnode.playing.players.make_player`, or ``default``.  A
    setting without limits of its own gets *depth*, *nodes* and *seconds* for each search, and
    *move_seconds* (by default 0.1) or *move_nodes* for each move of the match.  Each search is
    timed *runs* times, a short one more often, a search with a time limit once.  An opening has
    *plies* random moves, chosen by *seed*, and is played twice, with colours reversed.  With *elo0*
    and *elo1*, an SPRT with error rates *alpha* and *beta* ends the match
    (:class:`~cutnode.playing.elo.Sprt`).  *workers* positions are searched at a time, and then
    as many games are played at a time.  *positions_from* tells readers of the study where the
    positions come from.  :class:`CutnodeError` for arguments that make no sense or that another
    version refuses.
    """
    game = load_game(game) if isinstance(game, str) else game
    texts = list(dict.fromkeys(position_text(position) for position in positions))
    plan = _Plan(game.source, _labelled(a, b), depth, nodes, seconds, runs)
    plan.check(positions)
    if move_seconds is None and move_nodes is None:
        move_seconds = 0.1
    Limits(move_nodes, move_seconds)
    require_at_least(pairs, 0, "pairs")
    require_workers(workers)
    sprt = Sprt.between(elo0, elo1, alpha, beta)
    progress("compiling", 0, len(texts) + pairs)
    players = plan.players()
    each_move = {"seconds": move_seconds, "nodes": move_nodes}
    openings = make_openings(game, pairs, plies, seed) if pairs else []
    texts_of_players = limited(b, **each_move), limited(a, **each_move)
    for text in texts_of_players if pairs else ():
        make_player(game, text)  # report errors before measuring anything
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
        f"{b or DEFAULT} compared with {a or DEFAULT}",
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
    """Return the columns that these settings fill, each marked if it depends on the clock.

    A column depends on the clock if *searchers* or *players* have limits of time.
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
    """Return whether a setting has a limit of its own."""
    return any(part.partition("=")[0].strip() in LIMITING for part in text.split(","))


def is_by_clock(text: str) -> bool:
    """Return whether a player is limited by time, so that its searches are not reproducible."""
    return any(part.partition("=")[0].strip() in CLOCKED for part in text.split(","))


def limited(text: str, **limits: Any) -> str:
    """Return the text of a setting, with *limits* added unless it has its own."""
    parts = [part.strip() for part in text.split(",")]
    parts = [part for part in parts if part not in ("", DEFAULT)]
    if not has_limit(text):
        parts += [f"{name}={limit}" for name, limit in limits.items() if limit is not None]
    return ",".join(parts)


# Searches

Sample = dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Plan:
    """The searches of a comparison: the game, both settings' names and texts, and the limits."""

    game: str
    settings: tuple[tuple[str, str], tuple[str, str]]
    depth: int | None
    nodes: int | None
    seconds: float | None
    runs: int

    def check(self, positions: Sequence[Any]) -> None:
        """Check that positions can be searched like this; :class:`CutnodeError` if not."""
        check("depth", self.depth)
        Limits(self.nodes, self.seconds)
        require_at_least(self.runs, 1, "runs")
        if not positions:
            raise CutnodeError("no positions to search")
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
        """The names of the settings in rows and samples."""
        (first, _), (second, _) = self.settings
        return first, second

    @property
    def texts(self) -> list[str]:
        """The texts of the players that search, with their limits."""
        limits = {"depth": self.depth, "nodes": self.nodes, "seconds": self.seconds}
        return [limited(text, **limits) for _, text in self.settings]

    def players(self) -> list[RemotePlayer]:
        """Start the process of each setting, and wait until both are ready."""
        game = load_game(self.game)
        players = [RemotePlayer(game, text, ready=False) for text in self.texts]
        self.versions(players)
        return players

    def versions(self, players: Sequence[RemotePlayer]) -> dict[str, str]:
        """Return the version of cutnode that each setting runs, by the setting's name."""
        facts = [player.remote.facts for player in players]
        return {name: _about(its) for name, its in zip(self.names, facts, strict=True)}

    def begin(self, players: Sequence[RemotePlayer]) -> Callable[[int, str], list[Sample]]:
        """Return a function of a position's number and text that searches it with both players."""
        game = load_game(self.game)
        warm = False

        def search(number: int, text: str) -> list[Sample]:
            nonlocal warm
            position = game.parse(text)
            if not warm:  # the first access to a table's memory is slow
                for player in players:
                    player.measure(position)
                warm = True
            return self._alternate(players, position, number, text)

        return search

    def _alternate(
        self, players: Sequence[RemotePlayer], position: Any, number: int, text: str
    ) -> list[Sample]:
        """Search a position with both settings alternately, each going first equally often."""
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
    """Return the version of a player, its commit, and its Python and numba, as one line."""
    package = Path(facts["package"])
    root = next((p for p in package.parents[:2] if (p / "pyproject.toml").is_file()), package)
    number, commit = facts["cutnode"], commit_of(root)
    with contextlib.suppress(OSError, ValueError, KeyError):  # prefer a checkout's version
        project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
        number = str(project["project"]["version"])
    parts = [f"cutnode {number}", *([f"commit {commit}"] if commit else [])]
    return ", ".join([*parts, f"Python {facts['python']}", f"numba {facts['numba']}"])


def _sample(runs: Sequence[dict[str, Any]]) -> Sample:
    """Return the sample of a position: the figures of its runs, with the median time."""
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
    """Return the games that a match sample records, in the form that a match resumes from."""
    (first, one), (second, other) = (game.split() for game in told.split(", "))
    return (
        {"result": float(first), "ending": one},
        {"result": 1 - float(second), "ending": other},
    )


class _Comparison:
    """A running comparison; its study has the results so far."""

    def __init__(self, plan: _Plan, study: Study, steps: int):
        self.plan = plan
        self.study = study
        self.steps = steps
        self.match: MatchResult | None = None

    def search(self, texts: Sequence[str], players: list[RemotePlayer], workers: int) -> None:
        """Search positions, and add a sample for each position and setting to the study.

        *players* serve the first worker.  All workers' processes have ended when this returns or
        raises.
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
        """Recall both samples of a position from an interrupted run; return whether it has them."""
        first, second = self.plan.names
        if self.study.recall(setting=second, position=text) is None:  # the later of the two
            return False
        return self.study.recall(setting=first, position=text) is not None

    def play(
        self, game: Game, players: tuple[str, str], openings: Sequence[Any], **options: Any
    ) -> None:
        """Play the match of B against A; *options* are passed to :func:`match`."""
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
        """Add the rows and the notes."""
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
        """Note the conditions that make times less reliable."""
        study, workers = self.study, self.study.settings["workers"]
        searched = [sample for sample in study.samples if sample["setting"] != MATCH]
        long = [sample for sample in searched if sample["nodes"] >= SHORT_NODES]
        elapsed = math.fsum(sample["seconds"] for sample in long)
        waited = math.fsum(sample["seconds"] * sample["waited"] for sample in long)
        if len(long) < len(searched):
            study.add_note(
                f"Searches of fewer than {SHORT_NODES:,} nodes take about as long as the call that "
                f"starts them: compare nodes, not times."
            )
        if workers > 1:
            study.add_note(
                f"Times: {workers} positions were searched at once (each by both settings "
                f"alternately), sharing caches and memory bandwidth."
            )
        if elapsed and waited > BUSY * elapsed:
            study.add_note(
                f"Times: the machine was busy, and searches spent {waited / elapsed:.0%} of the "
                f"time waiting for a core: compare nodes."
            )


# Rows


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
        rows[1] |= _compared(both)
    if played is not None and played.games:
        rows[1] |= _strength(played)
    return rows


def _leaves(samples: Sequence[Sample]) -> dict[str, int]:
    """Return the sum of the samples' leaves, if all samples have counted them."""
    counts = [sample.get("leaves") for sample in samples]
    return {} if None in counts else {"leaves": sum(filter(None, counts))}


def _paired(names: Sequence[str], samples: Sequence[Sample]) -> list[tuple[Sample, Sample]]:
    """Return the two samples of each position that both settings have searched."""
    first, second = (
        {sample["position"]: sample for sample in samples if sample["setting"] == name}
        for name in names
    )
    return [(first[text], second[text]) for text in first if text in second]


def _compared(both: Sequence[tuple[dict[str, Any], dict[str, Any]]]) -> dict[str, Any]:
    """Return the figures that compare B with A."""
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
    """Draw the nodes and times of each position, A on the x axis and B on the y axis."""
    figure.set_label(
        "Nodes and CPU time of each position, A on the x axis and B on the y axis; below the "
        "diagonal B takes less."
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
