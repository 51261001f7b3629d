"""Which engine suits a game: proofs of positions, and matches at equal time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.contract.dispatch import defines
from engine.contract.errors import CutnodeError
from engine.contract.loading import Game
from engine.contract.messages import position_text
from engine.contract.verbs import outcome
from engine.lab.measuring import INTERRUPTED
from engine.lab.plots import COLUMN, PALETTE, Dot, draw_dots, ends_of, mark_reference
from engine.lab.provenance import game_source
from engine.lab.study import Column, Progress, Study, no_progress
from engine.playing.matches import MatchResult, match
from engine.runtime.running import Limits
from engine.search.game_solver import GameSolver
from engine.storage.tables import Table

__all__ = ["draw", "engines"]

PROVERS = ("alphabeta", "pn", "auto")
"""The engines that prove values."""

PLAYERS = ("mcts",)
"""The engines that play against alpha-beta."""

NARROWEST = 50
"""A plot of Elo shows at least so much on both sides of 0."""

COLUMNS = (
    Column("engine"),
    Column("proven", "positions whose value it proved", "d", timed=True),
    Column(
        "nodes",
        "positions visited in proofs, and in those that it gave up",
        ",d",
        timed=True,
    ),
    Column("seconds", "the same in seconds by the clock", ".3f", timed=True),
    Column(
        "score",
        "points a game against alpha-beta at equal time",
        ".3f",
        timed=True,
    ),
    Column("elo", "the same in Elo", "+.0f", interval=True, timed=True),
    Column("games", "games of the match", "d", timed=True),
)


def engines(
    game: Game,
    positions: Sequence[Any],
    *,
    seconds: float = 1.0,
    pairs: int = 10,
    move_seconds: float = 0.05,
    table_mb: int = 256,
    seed: int = 0,
    positions_from: str = "",
    progress: Progress = no_progress,
) -> Study:
    """Prove positions with each engine, and play matches of *pairs* of games at equal time.

    A proof has so many *seconds*, and a move so many *move_seconds*.  In games of chance nothing is
    proven by search, and only matches are played.  *pairs* 0: no matches.
    """
    for position in positions:
        if outcome(position)[0]:
            text = position_text(position)
            raise CutnodeError(f"the game is over in {text}: there is nothing to prove")
    if pairs < 0:
        raise CutnodeError(f"a number of pairs is at least 0, not {pairs}")
    cls = type(game.start())
    provers = () if defines(cls, "chance") else PROVERS
    players = PLAYERS if pairs else ()
    study = Study(
        "engines",
        "Which engine suits the game: proofs, and matches at equal time",
        {
            "game": game_source(cls),
            "positions": [position_text(position) for position in positions],
            "positions_from": positions_from,
            "seconds": seconds,
            "pairs": pairs,
            "move_seconds": move_seconds,
            "table_mb": table_mb,
            "seed": seed,
        },
        COLUMNS,
        progress=progress,
    )
    steps = len(provers) * len(positions) + len(players)
    try:
        for name in provers:
            begun = len(study.rows) * len(positions)
            _add_proofs(study, cls, name, positions, Limits(seconds=seconds))
            progress(name, begun + len(positions), steps)
        for name in players:
            progress(f"match of {name}", steps - len(players), steps)
            study.add_row(_match(game, name, pairs, move_seconds, seed))
    except KeyboardInterrupt:
        study.add_note(INTERRUPTED)
    return study


def _add_proofs(
    study: Study, cls: Any, name: str, positions: Sequence[Any], limits: Limits
) -> None:
    """Prove positions from nothing, each within the limits; add samples and their row."""
    table = Table(study.settings["table_mb"])
    solver = GameSolver(cls, table)
    solver.prepare(name)
    samples: list[dict[str, Any]] = []
    for position in positions:
        key = {"engine": name, "position": position_text(position)}
        sample = study.recall(**key)
        if sample is None:
            table.forget()
            result = solver.solve(position, weak=False, limits=limits, engine=name)
            if result.reason == "interrupted":
                raise KeyboardInterrupt
            proof = {"proven": result.proven, "value": result.value}
            sample = key | proof | {"nodes": result.nodes, "seconds": result.seconds}
            study.add_sample(sample)
        samples.append(sample)
    totals = {
        figure: sum(sample[figure] for sample in samples)
        for figure in ("proven", "nodes", "seconds")
    }
    study.add_row({"engine": name} | totals)


def _match(game: Game, name: str, pairs: int, seconds: float, seed: int) -> dict[str, Any]:
    """Play a match against alpha-beta's search."""
    limit = f"seconds={seconds:g}"
    result: MatchResult = match(game, f"engine={name},{limit}", limit, pairs=pairs, seed=seed)
    if result.reason == "interrupted":
        raise KeyboardInterrupt
    figures = ("score", "elo", "elo_low", "elo_high", "games")
    data = result.to_dict()
    return {"engine": name} | {key: data[key] for key in figures if data[key] is not None}


def draw(study: Study, figure: Any) -> None:
    """Draw the time of proofs, and below the Elo of matches with its interval."""
    proofs = [row for row in study.rows if row["engine"] in PROVERS]
    matches = [row for row in study.rows if row["engine"] in PLAYERS]
    panels = [rows for rows in (proofs, matches) if rows]
    figure.set_label(
        "Positions proven, and the seconds that took; Elo in matches against alpha-beta at equal "
        "time, with 95 % intervals."
    )
    heights = [1 + len(rows) for rows in panels]
    figure.set_size_inches(COLUMN, 0.3 + 0.28 * sum(heights))
    grid = figure.subplots(len(panels), 1, squeeze=False, gridspec_kw={"height_ratios": heights})[
        :, 0
    ]
    for rows, axes in zip(panels, grid, strict=True):
        if rows is proofs:
            count = len(study.settings["positions"])
            names = [f"{row['engine']}: {row.get('proven', 0)} of {count}" for row in rows]
            seconds = [row.get("seconds") for row in rows]
            dots = [Dot(*dot, PALETTE["blue"]) for dot in zip(names, seconds, strict=True)]
            draw_dots(axes, dots, numbers=False)
            axes.set_title("Proofs: positions proven, seconds")
        else:
            draw_dots(
                axes,
                [Dot(r["engine"], r.get("elo"), PALETTE["blue"], ends_of(r, "elo")) for r in rows],
                log=False,
            )
            mark_reference(axes, 0)
            low, high = axes.get_xlim()
            axes.set_xlim(min(low, -NARROWEST), max(high, NARROWEST))
            axes.set_title("Matches against alpha-beta: Elo")
