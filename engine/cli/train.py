"""The command ``cutnode train``.

Exit codes: 0 trained (whether or not it won), 2 bad input, 130 interrupted.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import click

import engine
from engine.cli.exit_codes import interrupted
from engine.cli.options import (
    GAME,
    json_option,
    nodes_option,
    option,
    out_option,
    seconds_option,
    seed_option,
    tablebase_option,
    threads_option,
)

__all__ = ["train"]


GAMES = """\
\b
GAME  as in `cutnode solve --help`.
"""


@click.command(epilog=GAMES)
@GAME
@seconds_option("Play, learn and prove for S seconds.", default=600.0)
@out_option("Where the weights go if they win.  [beside the game, where searches find them]")
@option(
    "--data",
    "Keep the positions that it learns from in FOLDER, and learn from those that are there.",
    metavar="FOLDER",
)
@tablebase_option("Take the results of positions from the tablebase in FOLDER.")
@nodes_option("Search N nodes for each move of its games.", default=400)
@threads_option("Play in N threads.", default=2)
@seed_option("Play other games.")
@json_option("Print a JSON object.")
def train(game: str, out: str | None, as_json: bool, **options: Any) -> None:
    """Learn an evaluation of a game from games that the program plays against itself.

    Any game with a board (CELLS) will do, a file of your own as well. The weights have to win
    against the present evaluation, at equal time, before they are installed; from then on
    searches use them, and --evaluation own is the game's own estimate again.
    """
    from engine.training.training import train as train_game

    loaded = engine.load_game(game)
    result = train_game(loaded, out=out, report=_say, **options)
    click.echo(json.dumps(result.to_dict()) if as_json else result)
    if result.interrupted:
        interrupted(found=True)


def _say(line: str) -> None:
    if sys.stderr.isatty():
        click.echo(line, err=True)
