"""The command ``cutnode serve``."""

from __future__ import annotations

import ipaddress
import os
import sys

import click

from engine.cli.options import (
    integer,
    nodes_option,
    option,
    seconds_option,
    tablebase_option,
    threads_option,
)
from engine.contract.errors import CutnodeError

__all__ = ["serve"]

NEEDED = {"fastapi", "h11", "prometheus_client", "pydantic", "starlette", "uvicorn", "websockets"}


@click.command()
@option(
    "--host",
    "Where to listen. There are no passwords: on other addresses than this machine's own, "
    "all who reach it may ask.",
    metavar="ADDRESS",
    default="127.0.0.1",
)
@integer("--port", "0 for any that is free; it is printed.", least=0, most=65535, default=8000)
@option(
    "--games",
    "Compile these games before it is ready: names, modules or files, with a variant after a "
    "colon; a comma inside a variant is not possible. Others are compiled when they are asked for.",
    metavar="A,B",
    default="",
    show_default=False,
)
@click.option("--only", is_flag=True, help="No other games than these.")
@tablebase_option(
    "Answer from the tablebase in FOLDER; again for one of another game.", multiple=True
)
@integer("--searches", "Search N positions at once; as many as there are cores for.")
@threads_option("Search each with N threads.")
@integer("--queue", "At most N questions wait; others are told to come back.", least=0, default=16)
@integer("--table", "Size of a search's transposition table.", metavar="MIB", default=64)
@integer(
    "--memory",
    "At most so much for all engines together; twice what searches at once need.",
    metavar="MIB",
)
@seconds_option("No search takes longer.", metavar="MAX", default=60.0)
@nodes_option("No search visits more positions.", metavar="MAX")
def serve(
    host: str,
    port: int,
    games: str,
    only: bool,
    tablebase: tuple[str, ...],
    searches: int | None,
    threads: int,
    queue: int,
    table: int,
    memory: int | None,
    seconds: float,
    nodes: int | None,
) -> None:
    """Answer questions about positions over HTTP and WebSocket, until Ctrl-C.

    The address is printed when it is ready; /docs there describes all questions. What it
    may take in memory and how long is said by the options, and holds for all who ask.
    """
    try:
        from engine.service.server import Server, address, listen
        from engine.service.settings import Settings
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in NEEDED:
            raise
        raise CutnodeError(
            f"the service needs {error.name}: pip install 'cutnode[serve]'"
        ) from None

    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    settings = Settings(
        games=tuple(filter(None, games.split(","))),
        only=only,
        tablebases=tablebase,
        searches=searches or max(1, (cores or 1) // threads),
        threads=threads,
        queue=queue,
        table=table,
        memory=memory,
        seconds=seconds,
        nodes=nodes,
    )

    def say(line: str) -> None:
        click.echo(f"cutnode: {line}", err=True)

    if not is_loopback(host):
        say(f"{host} is not this machine alone: all who reach it may ask")
    say(f"{settings.searches} searches at once, engines of at most {settings.room} MiB")
    with listen(host, port) as listening:
        server = Server(
            settings,
            say=lambda game: say(f"compiling {game}"),
            ready=lambda: click.echo(address(listening)),
        )
        server.run([listening])
    if server.failure is not None:
        raise server.failure
    if server.is_busy():
        sys.stdout.flush()
        os._exit(0)  # a compilation cannot be ended in its middle


def is_loopback(host: str) -> bool:
    """Return whether only programs of this machine reach an address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
