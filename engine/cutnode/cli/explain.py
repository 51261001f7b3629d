"""The command ``cutnode explain``."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import click

from cutnode.cli.boards import drawn
from cutnode.cli.exit_codes import EPILOG, interrupted
from cutnode.cli.live import live
from cutnode.cli.options import (
    PROGRESS,
    nodes_option,
    positions_of_game,
    seconds_option,
    table_option,
    tablebase_option,
)
from cutnode.cli.output import json_of_explanation
from cutnode.contract.errors import CutnodeError

if TYPE_CHECKING:
    from cutnode.explaining.explanations import Explanation
    from cutnode.search.handles import Progress

MOVE = """\
\b
MOVE      the move to explain, in the game's own notation.

"""

WIDTH = 88
"""The most columns of the text."""


@click.command(epilog=MOVE + EPILOG)
@positions_of_game
@click.argument("move", required=False)
@nodes_option()
@seconds_option("Time limit in seconds.  [default: 2 if there is no other limit]")
@table_option(64)
@tablebase_option()
@PROGRESS
def explain(
    entries: list[tuple[str, Any]],
    file: str | None,
    as_json: bool,
    move: str | None,
    nodes: int | None,
    seconds: float | None,
    table_mb: int,
    tablebase: str | None,
    told: bool,
) -> None:
    """Explain a position, or MOVE in it: who is ahead, and why.

    The verdict is followed by the moves that keep it, by what the opponent threatens, and by the
    best move, MOVE (or a tempting wrong move), and the line that refutes it. Each claim says
    whether it is proven or how deep it was estimated. Write "" as POSITION for the start.

    Example: cutnode explain tictactoe "x../.o./..x" 3
    """
    from cutnode.explaining.judging import Judge

    if move is not None and file is not None:
        raise CutnodeError("MOVE and --file exclude each other: a file has many positions")
    judge = Judge(entries[0][1], table=table_mb, tablebase=tablebase)
    for number, (text, start) in enumerate(entries):
        if file is None and not as_json:
            click.echo(f"{drawn(start)}\n")
        limits = {"nodes": nodes, "seconds": seconds}
        result = _explained(judge, start, move, told, limits)
        if as_json:
            click.echo(json_of_explanation(result, text))
        else:
            if file is not None:
                click.echo("\n" * (number > 0) + text)
            for sentence in result.sentences():
                click.echo(textwrap.fill(sentence, WIDTH, subsequent_indent="  "))
        if result.reason == "interrupted":
            interrupted(found=True)


def _explained(
    judge: Any, start: Any, move: str | None, told: bool, limits: dict[str, Any]
) -> Explanation:
    """Explain a position, and show progress."""
    from cutnode.explaining.explanations import explain
    from cutnode.kernels.clock import Clock
    from cutnode.search.handles import Progress

    clock = Clock(None)

    def look() -> Progress:
        return Progress(0, None, None, None, (), 0, clock.elapsed(), judge.table.fill())

    with live(start, look, told=told):
        return explain(start, move, judge=judge, **limits)
