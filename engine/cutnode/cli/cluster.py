"""The commands ``cutnode cluster ...``: work on a Dask cluster from a shell.

The exit codes are the same as for ``cutnode solve``.
"""

from __future__ import annotations

import contextlib
import functools
import logging
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import click

import cutnode
from cutnode.cli.boards import drawn
from cutnode.cli.exit_codes import NOT_PROVEN, interrupted
from cutnode.cli.options import (
    GAME,
    POSITION,
    combined,
    integer,
    journal_option,
    json_option,
    option,
    plies_option,
    seconds_option,
    table_option,
    weak_option,
    workers_option,
)
from cutnode.cli.output import json_of_proof
from cutnode.cli.tablebase import SOLVED, solve_and_print
from cutnode.contract.choices import CLUSTER_POSITIONS, LARGE_LAYER
from cutnode.contract.errors import CutnodeError
from cutnode.contract.text import quoted

if TYPE_CHECKING:
    from cutnode.cluster.driver import SplitProgress

EPILOG = """\
\b
GAME and POSITION: see `cutnode solve --help`. The workers need the same
version of cutnode; a game in a file of its own is sent to them.

\b
Exit codes: 0 proven, 1 an unexpected failure, 2 bad input, 3 a limit ended
the search before the proof, 4 a game breaks the contract, 130 interrupted
(the results so far are printed).
"""


SCHEDULER = combined(
    option(
        "--scheduler",
        "Address of a running cluster's scheduler, such as tcp://scheduler:8786.",
        metavar="ADDRESS",
    ),
    workers_option(
        "Without --scheduler, start N workers here, of one thread each.  [default: one per core]"
    ),
)


@click.group(epilog=EPILOG)
def cluster() -> None:
    """Solve a position or a game on many machines (Dask)."""


@cluster.command(epilog=EPILOG)
@GAME
@POSITION
@plies_option(
    "Split after N choices; see engine/docs/howto/cluster.md for good values.",
    least=1,
    required=True,
)
@SCHEDULER
@journal_option("Keep answers in FILE, and resume from them.")
@weak_option()
@seconds_option()
@integer(
    "--questions",
    "Questions per task.  [default: as many as take a tenth of a second]",
)
@integer(
    "--most-positions",
    "Limit of positions in the driver, about 130 bytes each.",
    default=CLUSTER_POSITIONS,
)
@table_option(256)
@json_option()
def solve(
    game: str,
    position: str | None,
    scheduler: str | None,
    workers: int | None,
    as_json: bool,
    table_mb: int,
    **search: Any,
) -> None:
    """Prove the value of a hard position, and a best move, by thousands of tasks.

    This program expands the tree to a ply, and workers answer questions about the positions there.
    A worker that dies does no harm; if this program ends, the same command with its journal
    resumes the proof.
    """
    from cutnode.cluster.driver import solve_split

    start = cutnode.load_game(game).parse(position or "")
    with connected(scheduler, workers) as client, status_line() as progress:
        result = solve_split(client, start, table=table_mb, progress=progress, **search)
    if as_json:
        click.echo(json_of_proof("solve", result, position))
    else:
        click.echo(f"{drawn(start)}\n\n{result}")
        click.echo(
            f"tasks  {result.tasks:,}, {result.cancelled:,} more cancelled, {result.restored:,} "
            f"answers from the journal; {result.busy:.3g} s of work"
        )
    if result.reason == "interrupted":
        interrupted(found=True)
    if not result.proven:
        sys.exit(NOT_PROVEN)


@cluster.command()
@GAME
@SOLVED
@SCHEDULER
@integer(
    "--large", "Solve layers of N or more indices by all workers together.", default=LARGE_LAYER
)
def tablebase(scheduler: str | None, workers: int | None, large: int, **options: Any) -> None:
    """Solve every position of a game, and keep the results in a folder.

    The folder is the same as for `cutnode tablebase build`, and every worker must reach it by the
    same path. Workers may join, leave and die; if this program ends, this command or
    `cutnode tablebase build` resumes the work.
    """
    from cutnode.cluster.layers import build_tablebase

    with connected(scheduler, workers) as client:
        solve_and_print(functools.partial(build_tablebase, client, large=large), 1, **options)


@contextlib.contextmanager
def connected(scheduler: str | None, workers: int | None) -> Iterator[Any]:
    """Connect a client to a running cluster, or to one started here."""
    from cutnode.cluster.tasks import require_distributed

    distributed = require_distributed()
    if scheduler is not None and workers is not None:
        raise CutnodeError("--scheduler and --workers exclude each other")
    with contextlib.ExitStack() as stack:
        if scheduler is None:
            here = distributed.LocalCluster(
                n_workers=workers,
                threads_per_worker=1,
                dashboard_address=":0",
                memory_limit=0,
                silence_logs=logging.ERROR,
            )
            client = distributed.Client(stack.enter_context(here))
        else:
            try:
                client = distributed.Client(scheduler)
            except (OSError, ValueError) as error:
                raise CutnodeError(
                    f"cannot connect to a scheduler at {quoted(scheduler)}: {error}"
                ) from None
        yield stack.enter_context(client)


@contextlib.contextmanager
def status_line() -> Iterator[Callable[[SplitProgress], None] | None]:
    """Show the progress of the proof on standard error, if it is a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console

    with Console(stderr=True).status("expanding the top of the tree") as status:
        yield lambda now: status.update(
            f"value {now.lower}..{now.upper}, asking if >= {now.asked}; "
            f"{now.answers:,} answers, {now.in_flight} tasks on {now.threads} threads, "
            f"{now.nodes:,} nodes, {now.seconds:.0f} s"
        )
