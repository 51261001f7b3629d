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
"""The files that results can be written to, by their endings."""

LIMITS = combined(
    nodes_option("At most N nodes for a position."),
    seconds_option("At most S seconds for a position."),
)
WORK = combined(
    threads_option(
        "Work with N threads, which share the table's size; all processors by default.", None
    ),
    table_option(256),
    journal_option(),
)
WEAK = weak_option("Prove only who wins.")


@click.command()
@GAME
@click.argument("file", shell_complete=complete_file)
@SKIP_BAD
@click.option(
    "--solve", "task", flag_value="solve", default="solve", help="Prove values (default)."
)
@click.option("--search", "task", flag_value="search", help="Search as deep as limits allow.")
@TASK_ENGINE
@depth_option()
@PLAYOUTS
@LIMITS
@WEAK
@EVALUATION
@EXACT
@DEPTH_IN
@TREE
@tablebase_option("Answer from the tablebase in FOLDER, and end lines where they come to it.")
@click.option("--warm", is_flag=True, help="Build on what was found of other positions.")
@click.option("--unique", is_flag=True, help="Do equivalent positions once.")
@WORK
@out_option("Write FILE.parquet or FILE.jsonl; JSON lines to standard output if not given.")
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

    FILE has a position in each line, as `cutnode solve --file` takes it; - is standard input.
    What is interrupted goes on where it was if it has a journal. Each position starts from an
    empty table unless --warm; then proofs of alike positions are quicker, and node counts
    depend on the threads.
    """
    if out is not None:
        if not out.endswith(OUT):
            raise CutnodeError(f"results are written to a file {' or '.join(OUT)}, not {out}")
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
    """Write what was found of all positions to a file, or to standard output."""
    if out is None:
        for line in result.json_lines():
            click.echo(line)
    elif out.endswith(".parquet"):
        result.to_parquet(out)
    else:
        result.to_jsonl(out)
