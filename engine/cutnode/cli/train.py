"""The command ``cutnode train``: learn weights, prove that weights are stronger, rebuild them."""

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
GAME  see `cutnode solve --help`.

\b
Exit codes: 0 done, whether or not the weights won, 1 an unexpected failure,
2 bad input, 3 rebuilt weights differ, 130 interrupted (the best weights so
far, and with --data the games, are kept).
"""

OPTIONS_OF = {
    "prove": ("seconds", "out", "threads", "seed"),
    "rebuild": ("data",),
}
"""The options that can be combined with each of these."""


@click.command(epilog=EPILOG)
@GAME
@seconds_option("Total time to play, learn and prove, in seconds: at least 60.", default=600.0)
@out_option("File for weights that win.  [default: next to the game, where searches find it]")
@option(
    "--data",
    "Store training positions in FOLDER, and also learn from the positions already there.",
    metavar="FOLDER",
)
@tablebase_option("Take the results of positions from the tablebase in FOLDER.")
@nodes_option("Node limit per move of self-play games.", default=400)
@threads_option("Threads for self-play.", default=2)
@seed_option("Random seed.")
@option(
    "--prove",
    "Do not learn: let the weights in FILE prove in games that they are stronger; if so, install "
    "them.",
    metavar="FILE",
    shell_complete=complete_file,
)
@option(
    "--rebuild",
    "Do not learn: fit weights to the positions in --data again, and compare them with FILE.",
    metavar="FILE",
    shell_complete=complete_file,
)
@json_option("Print a JSON object.")
def train(game: str, prove: str | None, rebuild: str | None, as_json: bool, **options: Any) -> None:
    """Learn an evaluation of a game from self-play.

    It works for any game with a board (CELLS), including one in your own file. The weights are
    installed only if they beat the current evaluation at equal time; searches then use them, and
    --evaluation own selects the game's own evaluation. Weights that have not won yet are kept in
    FILE.unproven.weights, from which the next training continues.
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
    """Return the options that go with one; :class:`CutnodeError` if others are given."""
    if not name:
        return options
    context = click.get_current_context()
    for other in (*options, "prove", "rebuild"):
        chosen = context.get_parameter_source(other) is ParameterSource.COMMANDLINE
        if chosen and other not in (name, *OPTIONS_OF[name]):
            raise CutnodeError(f"--{other} cannot be combined with --{name}")
    if name == "rebuild" and options["data"] is None:
        raise CutnodeError("--rebuild needs --data FOLDER, with the positions to fit to")
    return {other: options[other] for other in OPTIONS_OF[name]}


def _say(line: str) -> None:
    if sys.stderr.isatty():
        click.echo(line, err=True)
