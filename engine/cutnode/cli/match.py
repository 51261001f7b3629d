"""The command ``cutnode match``.

Exit codes: 0 played, 2 bad input, 130 interrupted (the result so far is printed).
"""

from __future__ import annotations

import json
import textwrap
from typing import TYPE_CHECKING, Any

import click

import cutnode
from cutnode.cli.completion import complete_player
from cutnode.cli.exit_codes import interrupted
from cutnode.cli.inputs import read_positions
from cutnode.cli.live import progress_bar
from cutnode.cli.options import (
    FILE,
    GAME,
    PROGRESS,
    integer,
    json_option,
    option,
    pairs_option,
    plies_option,
    seed_option,
    sprt_options,
)
from cutnode.cli.output import json_of_match
from cutnode.cli.play import PLAYED
from cutnode.playing.elo import Sprt
from cutnode.runtime.options import TREE_OPTIONS
from cutnode.runtime.processes import ProcessEndedError
from cutnode.storage.files import check_file, write_whole

if TYPE_CHECKING:
    from cutnode.playing.matches import MatchResult

TREE = ", ".join(
    name if its.kind is bool else f"{name}={its.placeholder}" for name, its in TREE_OPTIONS.items()
)

PLAYERS = """\
\b
GAME  as in `cutnode solve --help`.
A     a player: `random`, or settings separated by commas:
        level=NAME    easy, medium, hard or expert
        strength=N    0 (errs most) to 100 (not at all)
        depth=N, nodes=N, seconds=S
                      the limits of an engine
        evaluation=NAME, techniques=X+Y, without=X+Y, exact, driver=NAME,
        table=MIB, tablebase=FOLDER
                      the options of `cutnode search`, for example
                      evaluation=my_file.py:centre
        set=NAME=X+NAME=X
                      parameters of techniques, for example
                      set=lmr.base=0.8
{tree}
        engine=auto   alphabeta or mcts, whichever wins a trial before the
                      first game, with seconds=S, table=MIB, memory=MIB,
                      evaluation=NAME
        path=FOLDER, python=FILE, game=FILE
                      run in a separate process: the version in a checkout,
                      the version in a virtual environment, other rules
B     another player, or the same.
""".format(
    tree=textwrap.fill(
        "engine=mcts   Monte Carlo tree search, with playouts=N, nodes=N, seconds=S, memory=MIB, "
        f"{TREE}: the options of `cutnode search`",
        width=74,
        initial_indent=" " * 8,
        subsequent_indent=" " * 22,
    )
)


@click.command(epilog=PLAYERS + PLAYED)
@GAME
@click.argument("a", shell_complete=complete_player)
@click.argument("b", shell_complete=complete_player)
@pairs_option("Play N pairs of games.  [default: 50, or the number of positions in FILE]")
@plies_option("Begin each pair after N random moves.", default=4)
@FILE
@integer("--most-plies", "Call a game of N moves a draw.  [default: the game's MAX_PLIES]")
@seed_option("Random seed.")
@sprt_options("A", "B")
@integer("--processes", "Play N pairs at a time, with the same result.", most=256, default=1)
@option("--record", "Write the games to FILE, a JSON object per line.", metavar="FILE")
@PROGRESS
@json_option("Print a JSON object.")
def match(
    game: str,
    a: str,
    b: str,
    file: str | None,
    elo0: float | None,
    elo1: float | None,
    alpha: float,
    beta: float,
    record: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Let A play against B, and report the Elo difference.

    Each opening is played twice: A moves first once, and B moves first once. With --elo0 and
    --elo1, the match ends as soon as a sequential test (SPRT) is decided. Games limited by depth
    or nodes are reproducible.
    """
    sprt = Sprt.between(elo0, elo1, alpha, beta)
    if record is not None:
        check_file(record)
    loaded, entries = read_positions(game, None, file, [] if options.pop("skip_bad") else None)
    openings = None if file is None else [position for _, position in entries]
    failure = None
    total = options["pairs"] or len(openings or range(50))
    with progress_bar(total, told=options.pop("told")) as progress:
        try:
            result = cutnode.match(
                loaded,
                a,
                b,
                openings=openings,
                sprt=sprt,
                progress=lambda now: progress(sum(now.pairs), label=tally(now)),
                **options,
            )
        except ProcessEndedError as error:
            result, failure = error.result, error
    if record is not None:
        lines = (json.dumps(facts) + "\n" for facts in result.records)
        write_whole(record, "".join(lines).encode())
    click.echo(json_of_match(result, loaded.start()) if as_json else result)
    if failure is not None:
        raise failure
    if result.reason == "interrupted":
        interrupted(found=True)


def tally(now: MatchResult) -> str:
    """Return the score so far, in a few words."""
    return f"{now.wins} won, {now.draws} drawn, {now.losses} lost, pairs"
