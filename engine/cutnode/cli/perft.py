"""The command ``cutnode perft``."""

from __future__ import annotations

import functools
import sys
import time
from typing import Any

import click

import cutnode
from cutnode.cli.exit_codes import EPILOG
from cutnode.cli.options import depth_option, positions_of_game
from cutnode.cli.output import json_of_count


@click.command(epilog=EPILOG)
@positions_of_game
@depth_option("Count N moves deep.", required=True)
@click.option("--divide", is_flag=True, help="Also count behind each move.")
@click.option("--finished", is_flag=True, help="Count lines that end the game earlier, too.")
@click.option("--no-bulk", is_flag=True, help="Make the last moves, too, instead of counting them.")
def perft(
    entries: list[tuple[str, Any]],
    file: str | None,
    as_json: bool,
    depth: int,
    divide: bool,
    finished: bool,
    no_bulk: bool,
) -> None:
    """Count the lines of exactly N moves, a test of the rules."""
    from cutnode.contract.messages import move_text
    from cutnode.contract.verbs import play

    count_lines = functools.partial(cutnode.perft, finished=finished, bulk=not no_bulk)
    width = max(len(text) for text, _ in entries)
    for text, start in entries:
        cutnode.perft(start, 0)  # compiles, so that the clock sees only the counting
        started = time.perf_counter()
        behind = {
            move: count_lines(play(start, move), depth - 1)
            for move in (cutnode.legal_moves(start) if divide and depth > 0 else ())
        }
        lines = sum(behind.values())
        if not behind:
            lines = count_lines(start, depth)
        seconds = time.perf_counter() - started
        if as_json:
            click.echo(json_of_count(start, text, depth, lines, behind, seconds))
        else:
            click.echo(lines if file is None else f"{text:{width}}  {lines}")
            for move, count in behind.items():
                click.echo(f"  {move_text(start, move)}: {count}")
        if sys.stderr.isatty():
            rate = f"{lines / seconds:,.0f} per second"
            click.echo(f"{lines:,} lines in {seconds:.3g} s ({rate})", err=True)
