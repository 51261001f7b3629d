"""The command ``cutnode mate``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

import cutnode
from cutnode.cli.boards import drawn
from cutnode.cli.exit_codes import EPILOG, NOT_PROVEN, interrupted
from cutnode.cli.live import live
from cutnode.cli.options import (
    PROGRESS,
    integer,
    nodes_option,
    positions_of_game,
    seconds_option,
    table_option,
    tablebase_option,
)
from cutnode.cli.output import json_of_win
from cutnode.kernels.parameters import MOST_MOVES

if TYPE_CHECKING:
    from cutnode.search.handles import Progress
    from cutnode.search.proofs import ForcedWin


@click.command(epilog=EPILOG)
@positions_of_game
@integer(
    "--moves", "Look for a win within N moves by the player to move.", most=MOST_MOVES, default=3
)
@click.option("--proof", is_flag=True, help="Verify the proof tree, and print it.")
@nodes_option()
@seconds_option()
@table_option(64)
@tablebase_option()
@PROGRESS
def mate(
    entries: list[tuple[str, Any]],
    file: str | None,
    as_json: bool,
    moves: int,
    proof: bool,
    nodes: int | None,
    seconds: float | None,
    table_mb: int,
    tablebase: str | None,
    told: bool,
) -> None:
    """Prove whether the player to move wins within N moves.

    The win is the quickest one, and the line shows the longest defence. A proof is a tree: each
    reply with the answer to it, and the continuation indented below. A position reached in several
    ways is shown once, and then referred to by a number.

    With --file, each line is: position, moves to win (- for no win, ? for undecided), best move,
    nodes, seconds. Each position starts with an empty table.
    """

    prover = cutnode.Prover(entries[0][1], table=table_mb, tablebase=tablebase)
    width = max(len(text) for text, _ in entries)
    done = True
    for text, start in entries:
        prover.table.forget()
        if file is None and not as_json:
            click.echo(f"{drawn(start)}\n")
        limits = {"nodes": nodes, "seconds": seconds}
        result = prove(prover, start, moves, told=told, proof=proof, **limits)
        if result.proof is not None:
            result.proof.verify()
        if as_json:
            click.echo(json_of_win(result, text))
        elif file is None:
            click.echo(result)
        else:
            found = result.moves if result.moves is not None else "-" if result.proven else "?"
            best = result.line_text()[0] if result.pv else "-"
            spent = f"{result.nodes:>12}  {result.seconds:>10.6f}"
            click.echo(f"{text:{width}}  {found:>2}  {best:>5}  {spent}")
        if result.proof is not None and not as_json:
            click.echo(f"proof  {len(result.proof):,} positions, verified\n")
            for line in result.proof.lines():
                click.echo(f"  {line}")
        if result.reason == "interrupted":
            interrupted(found=True)
        done = done and result.reason == "proven"
    if not done:
        sys.exit(NOT_PROVEN)


def prove(
    prover: cutnode.Prover, start: Any, moves: int, *, told: bool, **options: Any
) -> ForcedWin:
    """Look for a win and show progress; the depth shown is the plies proven to hold no win."""
    from cutnode.kernels.clock import Clock
    from cutnode.search.handles import Progress

    clock, refuted = Clock(None), 0

    def note(done: int, nodes: int) -> None:
        nonlocal refuted
        refuted = done

    def look() -> Progress:
        nodes, seconds = int(prover.memory["nodes"]), clock.elapsed()
        depth = max(2 * refuted - 1, 0)
        return Progress(depth, None, None, None, (), nodes, seconds, prover.table.fill())

    with live(start, look, told=told):
        prover.prepare()
        clock = Clock(None)
        return prover.prove(start, moves, progress=note, **options)
