"""The command ``cutnode warm``."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import click

from cutnode.cli.completion import complete_game
from cutnode.cli.exit_codes import BAD_INPUT, BREAKS_CONTRACT
from cutnode.cli.options import json_option, workers_option
from cutnode.contract.choices import USES
from cutnode.contract.errors import ContractError

if TYPE_CHECKING:
    from cutnode.playing.warming import WarmKernel

EPILOG = """\
\b
GAMES     names, modules or files, with an optional variant, as in
          `cutnode solve --help`; by default all that come with cutnode.

\b
Exit codes: 0 all done, 1 an unexpected failure, 2 bad input, 4 a game breaks
the contract, 130 interrupted (code compiled until then is kept).
"""


@click.command(epilog=EPILOG)
@click.argument("games", nargs=-1, shell_complete=complete_game)
@click.option(
    "--for",
    "uses",
    help=f"Compile only for these uses: {', '.join(USES)}.  [default: all that a game allows]",
    metavar="A,B",
)
@workers_option("Compile in N processes at once.  [default: one per core]")
@json_option("Print a JSON object for each kernel.")
def warm(games: tuple[str, ...], uses: str | None, workers: int | None, as_json: bool) -> None:
    """Compile games ahead of time, for an image, CI or a service.

    The code goes into the cache, from which later commands load it. Each kernel is printed once,
    and the seconds to compile it, or to load it if it was in the cache before.
    """

    def show(kernel: WarmKernel) -> None:
        click.echo(json.dumps(kernel._asdict()) if as_json else line_of(kernel))

    chosen = None if uses is None else list(filter(None, uses.split(",")))
    if failure := compile_ahead(games, show, uses=chosen, workers=workers):
        sys.exit(failure)


def compile_ahead(
    games: Sequence[str],
    show: Callable[[WarmKernel], None],
    *,
    uses: Sequence[str] | None = None,
    workers: int | None = None,
) -> int:
    """Compile games ahead of time, call *show* with each kernel, and return the exit code.

    A game that does not compile is reported on standard error, and the others are compiled.
    """
    from cutnode.playing.warming import WarmKernel, warming

    code = 0
    for each in warming(games, uses, workers):
        if isinstance(each, WarmKernel):
            show(each)
            continue
        click.echo(f"cutnode: {each.game}: {' '.join(str(each.error).split())}", err=True)
        code = BREAKS_CONTRACT if isinstance(each.error, ContractError) else code or BAD_INPUT
    return code


def line_of(kernel: WarmKernel) -> str:
    """Return a line about a kernel: game, kernel, what was done, and how long that took."""
    done = "compiled" if kernel.compiled else "loaded"
    return f"{kernel.game:14}  {kernel.kernel:19}  {done:8}  {kernel.seconds:6.1f} s"
