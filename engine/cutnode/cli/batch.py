"""The command ``cutnode batch``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

import cutnode
from cutnode.cli.completion import complete_file
from cutnode.cli.exit_codes import NOT_PROVEN, interrupted
from cutnode.cli.inputs import read_lines, tell_skipped
from cutnode.cli.live import progress_bar
from cutnode.cli.options import (
    DEPTH_IN,
    EVALUATION,
    EXACT,
    GAME,
    PLAYOUTS,
    PROGRESS,
    SKIP_BAD,
    TASK_ENGINE,
    TREE,
    combined,
    depth_option,
    journal_option,
    nodes_option,
    out_option,
    seconds_option,
    table_option,
    tablebase_option,
    threads_option,
    weak_option,
)
from cutnode.contract.errors import CutnodeError
from cutnode.storage.files import check_file

if TYPE_CHECKING:
    from cutnode.batches.results import BatchResult
    from cutnode.contract.loading import Game

OUT = ".parquet", ".jsonl"
"""The endings of files that results can be written to."""

LIMITS = combined(
    nodes_option("Node limit per position."),
    seconds_option("Time limit per position, in seconds."),
)
WORK = combined(
    threads_option("Threads, which share the table.  [default: one per processor]", None),
    table_option(256),
    journal_option(),
)
WEAK = weak_option("Prove only the winner.")


@click.command()
@GAME
@click.argument("file", shell_complete=complete_file)
@SKIP_BAD
@click.option(
    "--solve", "task", flag_value="solve", default="solve", help="Prove values (default)."
)
@click.option("--search", "task", flag_value="search", help="Search as deep as the limits allow.")
@TASK_ENGINE
@depth_option()
@PLAYOUTS
@LIMITS
@WEAK
@EVALUATION
@EXACT
@DEPTH_IN
@TREE
@tablebase_option("Probe the tablebase in FOLDER, at the positions and during the search.")
@click.option("--warm", is_flag=True, help="Keep the tables from one position to the next.")
@click.option("--unique", is_flag=True, help="Process equivalent positions only once.")
@WORK
@out_option("Write to FILE.parquet or FILE.jsonl.  [default: JSON Lines to standard output]")
@PROGRESS
def batch(
    game: str,
    file: str,
    skip_bad: bool,
    task: str,
    warm: bool,
    unique: bool,
    threads: int | None,
    table_mb: int,
    journal: str | None,
    out: str | None,
    told: bool,
    **options: Any,
) -> None:
    """Solve or search all positions of FILE on all cores.

    FILE has one position per line, as for `cutnode solve --file`; - is standard input. With a
    journal, an interrupted batch can be resumed. Each position starts with an empty table, unless
    --warm is given: then proofs of similar positions are faster, and node counts depend on the
    number of threads.
    """
    if out is not None:
        if not out.endswith(OUT):
            raise CutnodeError(f"a file of results must end in {' or '.join(OUT)}, got {out}")
        check_file(out)
    from cutnode.batches.running import run_batch

    loaded = cutnode.load_game(game)
    positions = read_batch(loaded, file, [] if skip_bad else None)
    context = click.get_current_context()
    chosen = {
        name: value
        for name, value in options.items()
        if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
    }
    with progress_bar(len(positions), told=told) as tell:
        result = run_batch(
            positions,
            task,
            journal=journal,
            threads=threads,
            table=table_mb,
            cold=not warm,
            unique=unique,
            progress=lambda progress: tell(progress.done),
            **chosen,
        )
    write(result, out)
    if sys.stderr.isatty():
        done, proven = int(result.done.sum()), int(result.proven.sum())
        rate = f"{result.nodes.sum() / result.seconds:,.0f} nodes per second"
        click.echo(
            f"{done:,} of {len(result):,} positions, {proven:,} proven, in "
            f"{result.seconds:.3g} s ({rate})",
            err=True,
        )
    if result.reason == "interrupted":
        interrupted(found=True)
    if task == "solve" and not result.proven.all():
        sys.exit(NOT_PROVEN)


def read_batch(game: Game, file: str, skipped: list[str] | None) -> Any:
    """Read the positions of a file, packed; see :func:`cutnode.cli.inputs.read_positions`."""
    from cutnode.batches.results import read_positions

    source, lines = read_lines(file)
    positions = read_positions(game, lines, source, skipped)
    tell_skipped(source, skipped)
    return positions


def write(result: BatchResult, out: str | None) -> None:
    """Write the results of all positions to a file, or to standard output."""
    if out is None:
        for line in result.json_lines():
            click.echo(line)
    elif out.endswith(".parquet"):
        result.to_parquet(out)
    else:
        result.to_jsonl(out)
