"""The command ``cutnode show``."""

from __future__ import annotations

import json
from typing import Any

import click

import engine
from engine.cli.exit_codes import EPILOG
from engine.cli.options import positions_of_game
from engine.contract.messages import board, move_text, position_text
from engine.contract.verbs import outcome
from engine.search.record import is_over

__all__ = ["show"]


@click.command(epilog=EPILOG)
@positions_of_game
def show(entries: list[tuple[str, Any]], file: str | None, as_json: bool) -> None:
    """Print a position: the board, its text, and the legal moves."""
    for number, (text, shown) in enumerate(entries):
        line = position_text(shown)
        moves = [move_text(shown, move) for move in engine.legal_moves(shown)]
        if as_json:
            data = {"position": text, "board": line, "moves": moves, "over": is_over(shown)}
            click.echo(json.dumps(data))
        else:
            click.echo("\n" * (number > 0) + f"{board(shown, colours=True)}\n\ntext   {line}")
            why = "the game is over" if outcome(shown)[0] else "chance decides"
            click.echo(f"moves  {' '.join(moves) or f'none: {why}'}")
            if moves and is_over(shown):
                click.echo("over   a draw by the rules, whatever is played")
