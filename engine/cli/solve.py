"""The command ``cutnode solve``."""

from __future__ import annotations

import itertools
import json
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import click
from click.core import ParameterSource

import engine
from engine.cli.exit_codes import EPILOG, INTERRUPTED, NOT_PROVEN
from engine.cli.options import (
    SOLVER,
    integer,
    memory_option,
    nodes_option,
    positions_of_game,
    seconds_option,
    table_option,
    tablebase_option,
    threads_option,
    tolerance_option,
    weak_option,
)
from engine.cli.progress import progress_bar
from engine.contract.dispatch import defines
from engine.contract.errors import CutnodeError
from engine.contract.messages import board
from engine.search.loops import has_loops
from engine.search.results import Result
from engine.storage.tables import Table
from engine.tablebases.tablebase import Tablebase

__all__ = ["solve"]

WITHOUT_CHANCE = (
    *("all_moves", "weak", "engine", "nodes", "threads", "table_mb", "cold"),
    *("tablebase", "memory_mb"),
)
WITH_CHANCE = ("positions", "tolerance")
"""Options of how a game without chance is solved, and one with chance."""


@click.command(epilog=EPILOG)
@positions_of_game
@click.option("--all", "all_moves", is_flag=True, help="Prove the value of every move as well.")
@weak_option()
@SOLVER
@nodes_option("At most N nodes for a position.")
@seconds_option("At most S seconds for a position.")
@threads_option("Search with N threads: all on one position, or each with a part of a file.")
@table_option(256)
@tablebase_option()
@memory_option("Where play can go round: solve at most so many MiB of positions in memory.", 512)
@click.option("--cold", is_flag=True, help="Start each position of a file with an empty table.")
@integer(
    "--positions",
    "With chance: keep at most N positions, some 200 bytes each.",
    default=10_000_000,
)
@tolerance_option("With chance: how close the bounds of a value have to be.", default=1e-9)
def solve(
    entries: list[tuple[str, Any]],
    file: str | None,
    as_json: bool,
    all_moves: bool,
    table_mb: int,
    cold: bool,
    positions: int,
    tolerance: float,
    memory_mb: int,
    tablebase: str | None,
    **search: Any,
) -> None:
    """Prove the value, a best move, and the line of best play.

    Values are for the player to move. At a terminal the value of every move is shown as
    well; elsewhere, and for files, only with --all.

    With --file each line is: position, value (or lower..upper if it is not proven), best
    move, nodes, seconds; with --all also the values of all moves.

    Games of chance are solved by value iteration over all positions that can be reached. The
    values of all moves or rolls are shown, and with --file the number of positions for nodes.
    """
    has_chance = defines(type(entries[0][1]), "chance")
    refuse_options(has_chance)
    if has_chance:
        limits = {"positions": positions, "tolerance": tolerance, "seconds": search["seconds"]}
        solve_by_iteration(entries, as_json=as_json, lines=file is not None, limits=limits)
        return
    table = Table(table_mb)
    started = time.perf_counter()
    results: Iterator[Result]
    if file is not None:
        known = Tablebase.of(tablebase, type(entries[0][1]))
        one_by_one = all_moves or known is not None or has_loops(type(entries[0][1]))
        if one_by_one:
            search |= {"tablebase": known, "memory": memory_mb << 20}
        results = solve_file(
            [entry for _, entry in entries], table, all_moves, one_by_one, cold, search
        )
    else:
        start = entries[0][1]
        if not as_json:
            click.echo(f"{board(start)}\n")
        scored = all_moves or (sys.stdout.isatty() and not as_json)
        search |= {"tablebase": tablebase, "memory": memory_mb << 20}
        results = iter([(engine.analyse if scored else engine.solve)(start, table=table, **search)])

    width = max(len(text) for text, _ in entries)
    solved, nodes, interrupted = 0, 0, False
    for (text, _), result in zip(entries, results, strict=False):
        if result.reason == "interrupted":
            interrupted = True
            if file is not None and not result.nodes:
                continue  # its turn never came
        if as_json:
            click.echo(json.dumps(result.to_dict() | {"position": text}))
        elif file is None:
            click.echo(result)
        else:
            click.echo(f"{text:{width}}  {one_line(result)}")
        solved += result.reason == "proven" if all_moves else result.proven
        nodes += result.nodes

    if file is not None and sys.stderr.isatty():
        seconds = time.perf_counter() - started
        click.echo(
            f"{solved:,} of {len(entries):,} positions solved, "
            f"{nodes:,} nodes in {seconds:.3g} s ({nodes / seconds:,.0f} per second)",
            err=True,
        )
    if interrupted:
        sys.exit(INTERRUPTED)
    if solved < len(entries):
        sys.exit(NOT_PROVEN)


def refuse_options(has_chance: bool) -> None:
    """Fail if an option was given that says nothing about how such a game is solved."""
    ctx = click.get_current_context()
    game = ctx.params["game"]
    refused = WITHOUT_CHANCE if has_chance else WITH_CHANCE
    for option in ctx.command.params:
        name = option.name or ""
        if name in refused and ctx.get_parameter_source(name) != ParameterSource.DEFAULT:
            kind = "a game of chance" if has_chance else "no game of chance"
            raise CutnodeError(f"{game} is {kind}: {option.opts[0]} does not apply")


def solve_by_iteration(
    entries: list[tuple[str, Any]], *, as_json: bool, lines: bool, limits: dict[str, Any]
) -> None:
    """Solve positions of a game of chance, and print what was found."""
    width = max(len(text) for text, _ in entries)
    proven = 0
    for text, start in entries:
        result = engine.iterate(start, **limits)
        data = result.to_dict()
        if as_json:
            click.echo(json.dumps(data | {"position": text}))
        elif not lines:
            click.echo(f"{board(start)}\n\n{result}")
        else:
            value = (
                f"{result.lower:.9g}..{result.upper:.9g}"
                if result.value is None
                else f"{result.value:.9g}"
            )
            click.echo(
                f"{text:{width}}  {value:>14}  {data['best_move'] or '-':>8}  "
                f"{result.positions:>12}  {result.seconds:>10.6f}"
            )
        proven += result.proven
        if result.reason == "interrupted":
            sys.exit(INTERRUPTED)
    if proven < len(entries):
        sys.exit(NOT_PROVEN)


def solve_file(
    positions: list[Any],
    table: Table,
    all_moves: bool,
    one_by_one: bool,
    cold: bool,
    search: dict[str, Any],
) -> Iterator[Result]:
    """Yield the results of many positions in order; stop early if interrupted."""
    if not one_by_one:
        with progress_bar(len(positions)) as progress:
            batch = engine.solve_many(
                positions, table=table, cold=cold, lines=True, progress=progress, **search
            )
        yield from itertools.islice(batch, len(batch) - 1)
        yield replace(batch[-1], reason=batch.reason) if batch.reason else batch[-1]
        return
    # At a terminal the lines show the progress, and a bar would get between them.
    with progress_bar(len(positions), wanted=not sys.stdout.isatty()) as progress:
        for done, position in enumerate(positions, 1):
            if cold:
                table.forget()
            prove = engine.analyse if all_moves else engine.solve
            result = prove(position, table=table, **search)
            progress(done)
            yield result
            if result.reason == "interrupted":
                return


def one_line(result: Result) -> str:
    """Format a result among others: value, best move, nodes, seconds, and scores if any."""
    data = result.to_dict()
    value = result.value if result.proven else f"{result.lower}..{result.upper}"
    best = data["best_move"] or "-"
    line = f"{value:>8}  {best:>4}  {result.nodes:>12}  {result.seconds:>10.6f}"
    for move, score in (data["scores"] or {}).items():
        line += f"  {move}:{'?' if score is None else score}"
    return line
