"""The command ``cutnode search``."""

from __future__ import annotations

import json
import sys
from typing import Any

import click

import engine
from engine.cli.exit_codes import EPILOG, INTERRUPTED
from engine.cli.inputs import chosen_techniques
from engine.cli.options import (
    SEARCHER,
    depth_option,
    integer,
    nodes_option,
    positions_of_game,
    seconds_option,
    seed_option,
    table_option,
    tablebase_option,
    threads_option,
)
from engine.contract.messages import board
from engine.contract.verbs import outcome
from engine.playing.record import is_over
from engine.search.results import score_text

__all__ = ["search"]


@click.command(epilog=EPILOG)
@positions_of_game
@depth_option("At most N plies deep.")
@nodes_option()
@seconds_option("At most S seconds; 1 if no limit is given.")
@integer("--lines", "N best moves.", default=1, show_default=False)
@SEARCHER
@seed_option("Choose among equal moves by N.", None)
@threads_option("Search each position with N threads.")
@table_option(64)
@tablebase_option("Answer from the tablebase in FOLDER, and end lines where they come to it.")
@click.option("--statistics", is_flag=True, help="Print what the search counted.")
@click.option("--debug", is_flag=True, help="Check a game of chance while it is searched.")
def search(
    entries: list[tuple[str, Any]],
    file: str | None,
    as_json: bool,
    depth: int | None,
    nodes: int | None,
    seconds: float | None,
    lines: int,
    exact: bool,
    techniques: str | None,
    without: str | None,
    driver: str,
    evaluation: str | None,
    depth_in: str,
    seed: int | None,
    threads: int,
    table_mb: int,
    tablebase: str | None,
    statistics: bool,
    debug: bool,
) -> None:
    """Find the best move as deep as limits allow, with the game's estimates.

    Scores are for the player to move. Each position starts from an empty table.
    """
    if depth is None and nodes is None and seconds is None:
        seconds = 1.0
    engine_of_game = engine.Engine(
        entries[0][1],
        table=table_mb,
        threads=threads,
        evaluation=evaluation,
        techniques=chosen_techniques(type(entries[0][1]), techniques, without, exact),
        exact=exact,
        driver=driver,
        depth_in=depth_in,
        debug=debug,
        tablebase=tablebase,
    )
    width = max(len(text) for text, _ in entries)
    for text, start in entries:
        engine_of_game.new_game()
        result = engine_of_game.search(
            start, depth=depth, nodes=nodes, seconds=seconds, lines=lines, seed=seed
        )
        data = result.to_dict()
        if as_json:
            click.echo(json.dumps(data | {"position": text}))
        elif file is None:
            drawn = is_over(start) and not outcome(start)[0]
            note = "\na draw by the rules; if play goes on:" * drawn
            click.echo(f"{board(start)}\n{note}\n{result}")
        else:
            best = data["best_move"] or "-"
            click.echo(
                f"{text:{width}}  {score_text(result.value):>8}  {best:>4}  {result.depth:>3}  "
                f"{result.nodes:>12}  {result.seconds:>10.6f}"
            )
        if statistics and not as_json:
            for name, value in data["statistics"].items():
                number = f"{value:,}" if isinstance(value, int) else f"{value:.4g}"
                click.echo(f"  {name.replace('_', ' '):24}{number:>16}")
        if result.reason == "interrupted":
            sys.exit(INTERRUPTED)
