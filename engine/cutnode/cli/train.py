"""The command ``cutnode train``: to learn weights, to prove some, and to make them again."""

from __future__ import annotations

import json
import sys
from typing import Any

import click
from click.core import ParameterSource

import cutnode
from cutnode.cli.completion import complete_file
from cutnode.cli.exit_codes import interrupted
from cutnode.cli.options import (
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
from cutnode.contract.errors import CutnodeError

NOT_THE_SAME = 3

EPILOG = """\
\b
GAME  as in `cutnode solve --help`.

\b
Exit codes: 0 done, whether or not weights won, 1 an unexpected failure, 2 bad
input, 3 weights that were rebuilt are not the same, 130 interrupted (the best
weights until then, and with --data the games, are kept).
"""

OPTIONS_OF = {
    "prove": ("seconds", "out", "threads", "seed"),
    "rebuild": ("data",),
}
"""The options that go with these."""


@click.command(epilog=EPILOG)
@GAME
@seconds_option("Play, learn and prove for S seconds, 60 or more.", default=600.0)
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
@option(
    "--prove",
    "Learn nothing: let the weights in FILE prove that they are stronger, and install them.",
    metavar="FILE",
    shell_complete=complete_file,
)
@option(
    "--rebuild",
    "Learn nothing: fit the weights in FILE again, to the positions in --data, and compare them.",
    metavar="FILE",
    shell_complete=complete_file,
)
@json_option("Print a JSON object.")
def train(game: str, prove: str | None, rebuild: str | None, as_json: bool, **options: Any) -> None:
    """Learn an evaluation of a game from games that the program plays against itself.

    Any game with a board (CELLS) will do, a file of your own as well. The weights have to win
    against the present evaluation, at equal time, before they are installed; from then on
    searches use them, and --evaluation own is the game's own estimate again. Weights that have
    not won yet are in FILE.unproven.weights, where the next training goes on.
    """
    from cutnode.training.acceptance import prove as prove_weights
    from cutnode.training.rebuilding import rebuild as rebuild_weights
    from cutnode.training.training import train as train_game

    given = _options_of("prove" if prove else "rebuild" if rebuild else "", options)
    loaded = cutnode.load_game(game)
    if rebuild is not None:
        rebuilt = rebuild_weights(loaded, rebuild, report=_say, **given)
        click.echo(json.dumps(rebuilt.to_dict()) if as_json else rebuilt)
        sys.exit(0 if rebuilt.same else NOT_THE_SAME)
    if prove is not None:
        result = prove_weights(loaded, prove, report=_say, **given)
    else:
        result = train_game(loaded, report=_say, **given)
    click.echo(json.dumps(result.to_dict()) if as_json else result)
    if result.interrupted:
        interrupted(found=True)


def _options_of(name: str, options: dict[str, Any]) -> dict[str, Any]:
    """Return the options that go with one; :class:`CutnodeError` if there are others."""
    if not name:
        return options
    context = click.get_current_context()
    for other in (*options, "prove", "rebuild"):
        chosen = context.get_parameter_source(other) is ParameterSource.COMMANDLINE
        if chosen and other not in (name, *OPTIONS_OF[name]):
            raise CutnodeError(f"--{other} does not go with --{name}")
    if name == "rebuild" and options["data"] is None:
        raise CutnodeError("say with --data where the positions are that the weights are fitted to")
    return {other: options[other] for other in OPTIONS_OF[name]}


def _say(line: str) -> None:
    if sys.stderr.isatty():
        click.echo(line, err=True)
