"""The command ``cutnode show``."""

from __future__ import annotations

from typing import Any

import click

import cutnode
from cutnode.cli.boards import drawn
from cutnode.cli.exit_codes import EPILOG
from cutnode.cli.options import positions_of_game
from cutnode.cli.output import json_of_position, outcomes_of


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
