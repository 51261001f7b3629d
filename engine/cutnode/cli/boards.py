"""The commands ``cutnode show`` and ``cutnode perft``, and boards for the terminal."""

from __future__ import annotations

import math
import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cutnode.contract.cells import Look
import functools
import time

import click

import cutnode
from cutnode.cli.exit_codes import EPILOG
from cutnode.cli.options import depth_option, positions_of_game
from cutnode.cli.output import json_of_count, json_of_position, outcomes_of


def look_of_terminal(cls: Any) -> Look:
    """Return how to draw boards of a position class on standard output.

    The board is plain unless standard output is a terminal, has no colours if ``NO_COLOR`` is set
    or the terminal is dumb, and has glyphs if the encoding can write them.
    """
    from cutnode.contract.notation import board_of

    cells = board_of(cls)
    if cells is None or not sys.stdout.isatty():
        return {}
    colours = "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"
    return {"colours": colours, "glyphs": _can_encode("".join(cells.glyphs.values()))}


def drawn(position: Any) -> str:
    """Return a board, and in a terminal a legend of its symbols."""
    from cutnode.contract.messages import board
    from cutnode.contract.notation import board_of, contents_of

    look, cells = look_of_terminal(type(position)), board_of(type(position))
    text = board(position, **look)
    legend = cells.legend(contents_of(position), **look) if cells and look else ""
    return f"{text}\n\n{legend}" if legend else text


def _can_encode(text: str) -> bool:
    try:
        text.encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


@click.command(epilog=EPILOG)
@positions_of_game
def show(entries: list[tuple[str, Any]], file: str | None, as_json: bool) -> None:
    """Print a position: the board, its text, and the legal moves."""
    from cutnode.contract.messages import move_text, position_text
    from cutnode.contract.verbs import outcome
    from cutnode.search.record import is_over

    for number, (text, shown) in enumerate(entries):
        if as_json:
            click.echo(json_of_position(shown, text))
        else:
            line = position_text(shown)
            moves = [move_text(shown, move) for move in cutnode.legal_moves(shown)]
            click.echo("\n" * (number > 0) + f"{drawn(shown)}\n\ntext   {line}")
            why = "the game is over" if outcome(shown)[0] else "chance decides"
            click.echo(f"moves  {' '.join(moves) or f'none: {why}'}")
            for event in outcomes_of(shown):
                click.echo(
                    f"       {event['outcome']}, with probability {event['probability']:.3g}"
                )
            if moves and is_over(shown):
                click.echo("over   a draw by the rules, whatever is played")


@click.command(epilog=EPILOG)
@positions_of_game
@depth_option("Count lines of N moves.", most=math.inf, required=True)
@click.option("--divide", is_flag=True, help="Also print the count below each move.")
@click.option("--finished", is_flag=True, help="Also count lines that end the game earlier.")
@click.option("--no-bulk", is_flag=True, help="Make the last moves, instead of only counting them.")
def perft(
    entries: list[tuple[str, Any]],
    file: str | None,
    as_json: bool,
    depth: int,
    divide: bool,
    finished: bool,
    no_bulk: bool,
) -> None:
    """Count the lines of exactly N moves, to test the rules."""
    from cutnode.contract.messages import move_text
    from cutnode.contract.verbs import play

    count_lines = functools.partial(cutnode.perft, finished=finished, bulk=not no_bulk)
    width = max(len(text) for text, _ in entries)
    for text, start in entries:
        cutnode.perft(start, 0)  # compiles, so that the clock times only the counting
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
