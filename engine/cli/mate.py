"""The command ``cutnode mate``."""

from __future__ import annotations

import json
import sys
from typing import Any

import click

import engine
from engine.cli.exit_codes import EPILOG, INTERRUPTED, NOT_PROVEN
from engine.cli.options import (
    integer,
    nodes_option,
    positions_of_game,
    seconds_option,
    table_option,
    tablebase_option,
)
from engine.contract.messages import board
from engine.kernels.mate import MOST_MOVES

__all__ = ["mate"]


@click.command(epilog=EPILOG)
@positions_of_game
@integer(
    "--moves", "Look for a win within N moves of the player to move.", most=MOST_MOVES, default=3
)
@click.option("--proof", is_flag=True, help="Print the answers to all replies, once verified.")
@nodes_option()
@seconds_option()
@table_option(64)
@tablebase_option()
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
) -> None:
    """Prove whether the player to move wins by force within N moves, and how.

    The win is the quickest one, and the line that of the longest defence. A proof is a tree: a
    reply and the answer to it, and indented what follows. What is reached in several ways is
    shown once and referred to by a number.

    With --file each line is: position, moves to win (- for no win, ? for not decided), best
    move, nodes, seconds. Each position starts from an empty table.
    """
    prover = engine.Prover(entries[0][1], table=table_mb, tablebase=tablebase)
    width = max(len(text) for text, _ in entries)
    done = True
    for text, start in entries:
        prover.table.forget()
        result = prover.prove(start, moves, proof=proof, nodes=nodes, seconds=seconds)
        if result.proof is not None:
            result.proof.verify()
        if as_json:
            click.echo(json.dumps(result.to_dict() | {"position": text}))
        elif file is None:
            click.echo(f"{board(start)}\n\n{result}")
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
            sys.exit(INTERRUPTED)
        done = done and result.reason == "proven"
    if not done:
        sys.exit(NOT_PROVEN)
