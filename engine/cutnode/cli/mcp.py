"""The command ``cutnode mcp``."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Iterator

import click

from cutnode.cli.exit_codes import ENDING
from cutnode.cli.options import (
    MAX_GAMES,
    ONLY,
    SEARCH_TABLE,
    integer,
    nodes_option,
    option,
    seconds_option,
    tablebase_option,
    threads_option,
)
from cutnode.cli.serve import cores, say
from cutnode.contract.extras import extra

EPILOG = """\
\b
For example, Claude Code starts it by itself after
  claude mcp add cutnode -- cutnode mcp
"""


@click.command(epilog=EPILOG)
@option(
    "--games",
    "Offer these games too: modules or files, with an optional variant after a colon (no commas "
    "in variants).",
    metavar="A,B",
    default="",
    show_default=False,
)
@ONLY
@tablebase_option(
    "Answer from the tablebase in FOLDER. Repeatable, for other games.", multiple=True
)
@threads_option("Threads per search.")
@SEARCH_TABLE
@MAX_GAMES
@seconds_option("Time limit of a search, in seconds.", metavar="MAX", default=30.0)
@nodes_option("Node limit of a search.", metavar="MAX")
@integer(
    "--http",
    "Serve streamable HTTP on PORT of this machine until Ctrl-C, for any number of clients; 0 "
    "picks a free port. The address is printed.",
    least=0,
    most=65535,
    metavar="PORT",
)
def mcp(
    games: str,
    only: bool,
    tablebase: tuple[str, ...],
    threads: int,
    table: int,
    max_games: int,
    seconds: float,
    nodes: int | None,
    http: int | None,
) -> None:
    """Offer the engine as tools to language models (MCP).

    By the Model Context Protocol, tools show positions, list and play moves, search, solve,
    analyse, explain and review. The client starts this command, and talks to it over standard
    input and output until it leaves.
    """
    extra("mcp.server.runner", "mcp", "the server needs")
    from cutnode.service.mcp import serve_here, serve_http
    from cutnode.service.settings import Settings

    settings = Settings(
        games=tuple(filter(None, games.split(","))),
        only=only,
        prepared=False,
        tablebases=tablebase,
        searches=max(1, cores() // threads),
        threads=threads,
        table=table,
        most_games=max_games,
        seconds=seconds,
        nodes=nodes,
    )
    if http is not None:
        busy = serve_http(settings, http, click.echo)
    else:
        if sys.stdin.isatty():
            say("waiting for a client on standard input (Model Context Protocol)")
        with leaving_at_once():
            busy = serve_here(settings)
    if busy:
        os._exit(0)  # a running compilation cannot be interrupted


@contextlib.contextmanager
def leaving_at_once() -> Iterator[None]:
    """End the process at a signal in a block: a thread that reads a pipe cannot be interrupted."""

    def leave(number: int, frame: object) -> None:
        os._exit(128 + number)

    numbers = [getattr(signal, name) for name in ("SIGINT", *ENDING) if hasattr(signal, name)]
    before = {number: signal.signal(number, leave) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
