"""The same trees searched by other Python packages: agreement of node counts, and CPU time.

Work.  Tic-tac-toe from the empty board to the end, and Connect Four from the empty board to some
depths, with the evaluation ``cells`` (each stone counts the lines of four through its cell).  Plain
alpha-beta with the full window, moves in natural order, and no table visits the same positions in
every program, so the counts show whether programs do the same work.  A count is the number of
positions visited, including the root; a position is counted when it is made.  Each program also
has to find the same move, and the same score if it reports one.

Wins.  Some programs score all wins the same, others prefer quicker ones, which changes the cutoffs.
Each program is compared with cutnode under its own convention.

Peers.  Packages without these games get rules in plain Python (``rules.py``).  The timed search is
the package's own, without counting.  OpenSpiel has both games in C++; its alpha-beta in C++ is not
part of the package on PyPI, so its search runs in Python.

Times.  CPU time of the process.  The programs alternate, and each figure is the median of its
rounds; short searches are repeated within a round.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Iterable, Iterator, Sequence
from importlib import metadata
from importlib.util import find_spec
from statistics import median
from typing import Any

from benchmarks.peers.packages import PEERS
from benchmarks.peers.programs import DEEPEST, WIN, Count, Found, Peer, Program, Work
from cutnode.contract.derived import legal_moves
from cutnode.contract.errors import CutnodeError
from cutnode.contract.loading import load_game
from cutnode.contract.verbs import play
from cutnode.lab.plots import GREY, PAGE, PALETTE, Dot, draw_dots, mark_reference
from cutnode.lab.study import INTERRUPTED, Column, Progress, Study, no_progress
from cutnode.search.api import alphabeta
from cutnode.search.searcher import Searcher

__all__ = ["compare_peers", "draw", "reference"]

SHORTEST = 0.02
"""The least CPU seconds of a round, in which searches are repeated."""

BASELINE = "cutnode alphabeta"
"""The program to compare times with, under the same convention for wins."""

COLUMNS = (
    Column("game"),
    Column("depth", "plies", "d"),
    Column("program", "package and search"),
    Column("wins", "flat: all wins score the same; quickest: quicker wins score higher"),
    Column("nodes", "positions visited", ",d"),
    Column("agrees", "whether nodes, move and score equal cutnode's alpha-beta"),
    Column("ms", "CPU time in milliseconds, median", ",.3f", timed=True),
    Column("least", "CPU time in milliseconds, fastest round", ",.3f", timed=True),
    Column("most", "CPU time in milliseconds, slowest round", ",.3f", timed=True),
    Column("rate", "thousand nodes per CPU second", ",.0f", timed=True),
    Column("ratio", f"CPU time relative to {BASELINE}", ",.1f", timed=True),
    Column("note"),
)


def compare_peers(
    games: Iterable[str] = ("tictactoe", "connect4"),
    depths: Iterable[int] = (6, 8),
    *,
    packages: Iterable[str] | None = None,
    runs: int = 3,
    progress: Progress = no_progress,
) -> Study:
    """Search the same trees with other packages: nodes, agreement, and CPU time.

    *depths* are for Connect Four.  *packages* are names in :data:`PEERS`, by default all; a package
    that is not installed has a row that says how to install it.
    """
    chosen = _packages(packages)
    works = list(_works(games, depths))
    if runs < 1:
        raise CutnodeError(f"a comparison has at least 1 run, not {runs}")
    programs = _cutnode()
    missing: list[dict[str, Any]] = []
    for peer in chosen:
        found, reason = _load(peer)
        programs += found
        if reason:
            missing.append({"program": peer.package, "note": reason})
    study = Study(
        name="peers",
        about="The same trees in other packages: plain alpha-beta, moves in natural order",
        settings={
            "game": ", ".join(dict.fromkeys(work.game for work in works)),
            "depths": [work.depth for work in works if work.game == "connect4"],
            "packages": [_label(peer.package) for peer in chosen],
            "runs": runs,
        },
        columns=COLUMNS,
        notes=[
            "Connect Four is evaluated by the lines of four through each stone; tic-tac-toe is "
            "searched to the end.",
            "cutnode search: all techniques that leave scores as they are; another algorithm, "
            "so only its score has to agree.",
        ],
        progress=progress,
    )
    try:
        for done, work in enumerate(works):
            progress(f"{work.game}, depth {work.depth}", done, len(works))
            for row in _compare(work, programs, runs):
                study.add_row(row)
    except KeyboardInterrupt:
        study.add_note(INTERRUPTED)
    for row in missing:
        study.add_row(row)
    if any(row.get("agrees") == "NO" for row in study.rows):
        study.add_note("A program disagrees: its times are for different work.")
    return study


def _packages(names: Iterable[str] | None) -> list[Peer]:
    if names is None:
        return list(PEERS.values())
    chosen = list(dict.fromkeys(names))
    for name in chosen:
        if name not in PEERS:
            raise CutnodeError(f"there is no peer {name!r}; peers are {', '.join(PEERS)}")
    return [PEERS[name] for name in chosen]


def _works(games: Iterable[str], depths: Iterable[int]) -> Iterator[Work]:
    for game in dict.fromkeys(games):
        if game not in DEEPEST:
            raise CutnodeError(f"peers are compared on {', '.join(DEEPEST)}, not on {game!r}")
        if game == "tictactoe":
            yield Work(game, DEEPEST[game])
            continue
        for depth in dict.fromkeys(depths):
            if not 1 <= depth < DEEPEST[game]:
                raise CutnodeError(
                    f"a depth of this comparison is 1..{DEEPEST[game] - 1}, not {depth}"
                )
            yield Work(game, depth)


def _load(peer: Peer) -> tuple[list[Program], str]:
    """Return the programs of a package, or why there are none."""
    try:
        importlib.import_module(peer.module)
        return peer.make(), ""
    except Exception as error:
        if find_spec(peer.module.partition(".")[0]) is None:
            return [], f"not installed: {peer.install}"
        return [], f"does not import: {type(error).__name__}: {error}"


def _label(package: str) -> str:
    try:
        return f"{package} {metadata.version(package)}"
    except metadata.PackageNotFoundError:
        return package


def _compare(work: Work, programs: Sequence[Program], runs: int) -> list[dict[str, Any]]:
    """Count with each program, then time them alternately."""
    references = {quickest: reference(work, quickest) for quickest in (False, True)}
    counts: list[Count] = []
    failed: list[dict[str, Any]] = []
    able: list[Program] = []
    for program in programs:
        try:
            counts.append(program.count(work))
            able.append(program)
        except Exception as error:
            row = {"game": work.game, "depth": work.depth, "program": program.name}
            failed.append(row | {"note": f"failed: {type(error).__name__}: {error}"})
    programs = able
    agrees = [
        _agreement(program, count, references[program.quickest])
        for program, count in zip(programs, counts, strict=True)
    ]
    repeats = [_repeats(program, work) for program in programs]
    spent: list[list[float]] = [[] for _ in programs]
    for _ in range(runs):
        for program, count, times, often in zip(programs, counts, spent, repeats, strict=True):
            started = time.process_time()
            for _ in range(often):
                found = program.run(work)
            times.append((time.process_time() - started) / often * 1e3)
            if found != count.found:
                raise CutnodeError(f"{program.name} found {found} and, counting, {count.found}")
    baselines = {
        program.quickest: median(times)
        for program, times in zip(programs, spent, strict=True)
        if program.name == BASELINE
    }
    return [
        {
            "game": work.game,
            "depth": work.depth,
            "program": program.name,
            "wins": "quickest" if program.quickest else "flat",
            "nodes": count.nodes,
            "agrees": agreement,
            "ms": median(times),
            "least": min(times),
            "most": max(times),
            "rate": count.nodes / median(times),
            "ratio": median(times) / baselines[program.quickest],
        }
        for program, count, agreement, times in zip(programs, counts, agrees, spent, strict=True)
    ] + failed


def _repeats(program: Program, work: Work) -> int:
    """Return how many searches fit into a round."""
    started = time.process_time()
    program.run(work)
    spent = time.process_time() - started
    return max(1, round(SHORTEST / max(spent, 1e-5)))


def _agreement(program: Program, count: Count, reference: Count) -> str:
    """Say whether a program did the same as cutnode's textbook alpha-beta."""
    (move, score), (best, expected) = count.found, reference.found
    same = score is None or expected is None or _plain(score) == _plain(expected)
    if program.same:
        same &= count.nodes == reference.nodes and move in (best, None)
    return "yes" if same else "NO"


def _plain(score: float) -> float:
    """Return a score in the form shared by all programs: only the winner, no rounding errors."""
    return max(-WIN, min(round(score, 6), WIN))


# cutnode


def reference(work: Work, quickest: bool) -> Count:
    """Return the counts of textbook alpha-beta, and the first of the best moves."""
    start, options = load_game(work.game).start(), _options(work, quickest)
    result = alphabeta(start, work.depth, **options)
    children = {move: play(start, move) for move in legal_moves(start)}
    scores = {
        move: -alphabeta(child, work.depth - 1, **options).value for move, child in children.items()
    }
    best = max(scores, key=lambda move: scores[move])
    return Count(Found(best, result.value), result.nodes)


def _options(work: Work, quickest: bool) -> dict[str, Any]:
    return {"evaluation": "cells" if work.game == "connect4" else None, "soonest": quickest}


def _cutnode() -> list[Program]:
    def plain(quickest: bool) -> Program:
        def count(work: Work) -> Count:
            start = load_game(work.game).start()
            result = alphabeta(start, work.depth, **_options(work, quickest))
            return Count(Found(None, result.value), result.nodes)

        return Program(BASELINE, quickest, True, count, lambda work: count(work).found)

    engines: dict[str, Searcher] = {}

    def search(work: Work) -> Count:
        start = load_game(work.game).start()
        if work.game not in engines:
            engines[work.game] = Searcher(start, exact=True, **_options(work, True))
        engines[work.game].clear()
        result = engines[work.game].search(start, depth=work.depth)
        return Count(Found(None, result.value), result.nodes)

    every = Program("cutnode search", True, False, search, lambda work: search(work).found)
    return [plain(False), plain(True), every]


def draw(study: Study, figure: Any) -> None:
    """Plot CPU time relative to cutnode's on a logarithmic axis, with a panel for each tree."""
    rows = [row for row in study.rows if "ratio" in row]
    works = list(dict.fromkeys((row["game"], row["depth"]) for row in rows))
    figure.set_size_inches(PAGE, 0.6 + 1.5 * len(works))
    figure.set_label("CPU time relative to cutnode's alpha-beta: median, least and most.")
    grid = figure.subplots(len(works), 1, sharex=True, squeeze=False)
    for work, axes in zip(works, grid[:, 0], strict=True):
        dots = [
            Dot(
                f"{row['program']} ({row['wins']})",
                row["ratio"],
                PALETTE["blue"] if row["program"].startswith("cutnode") else GREY,
                (row["least"] / row["ms"] * row["ratio"], row["most"] / row["ms"] * row["ratio"]),
            )
            for row in rows
            if (row["game"], row["depth"]) == work
        ]
        draw_dots(axes, dots)
        mark_reference(axes, 1)
        axes.set_title(f"{work[0]}, depth {work[1]}")
    grid[-1, 0].set_xlim(right=max(row["ratio"] for row in rows) * 5)  # for its number
    grid[-1, 0].set_xlabel("CPU time relative to cutnode's alpha-beta, from the least to the most")
