"""The commands ``cutnode serve`` and ``cutnode board``."""

from __future__ import annotations

import ipaddress
import os
import sys
import webbrowser
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

import click

from cutnode.cli.completion import complete_file
from cutnode.cli.options import (
    ALLOW_HOST,
    ANY_GAME,
    MAX_GAMES,
    ONLY,
    POSITION,
    SEARCH_TABLE,
    integer,
    nodes_option,
    option,
    port_option,
    seconds_option,
    tablebase_option,
    threads_option,
)
from cutnode.cli.warm import compile_ahead, line_of
from cutnode.contract.errors import CutnodeError
from cutnode.contract.extras import extra

NEEDED = {
    *("fastapi", "fastapi_offline", "h11", "prometheus_client"),
    *("pydantic", "starlette", "uvicorn", "websockets"),
}


@click.command()
@option(
    "--host",
    "Address to listen on. There is no authentication: on an address other than this machine's "
    "own, anyone who can reach it can use the service.",
    metavar="ADDRESS",
    default="127.0.0.1",
)
@ALLOW_HOST
@port_option("Port to listen on; 0 picks a free one, which is printed.", 8000)
@option(
    "--games",
    "Compile these games at startup: names, modules or files, with an optional variant after a "
    "colon (no commas in variants). Other games are compiled on first use.",
    metavar="A,B",
    default="",
    show_default=False,
)
@ONLY
@click.option(
    "--warm",
    is_flag=True,
    help="Before listening, compile on all cores everything that requests about the games of "
    "--games can need, or about all games that come with cutnode.",
)
@option(
    "--cors",
    "Allow browser requests from pages of ORIGIN (https://HOST:PORT, or * for all). Can be "
    "repeated.",
    metavar="ORIGIN",
    multiple=True,
    show_default=False,
)
@tablebase_option(
    "Answer from the tablebase in FOLDER. Repeatable, for other games.", multiple=True
)
@integer("--searches", "Run at most N searches at once.  [default: one for every --threads cores]")
@threads_option("Threads per search.")
@integer(
    "--queue",
    "Queue at most N requests; answer the rest with 503 and Retry-After.",
    least=0,
    default=16,
)
@SEARCH_TABLE
@integer(
    "--memory",
    "Memory limit for all engines together.  [default: twice what the searches at once need]",
    metavar="MIB",
)
@MAX_GAMES
@seconds_option("Time limit of a search, in seconds.", metavar="MAX", default=60.0)
@nodes_option("Node limit of a search.", metavar="MAX")
def serve(
    host: str,
    allow_host: tuple[str, ...],
    port: int,
    games: str,
    only: bool,
    warm: bool,
    cors: tuple[str, ...],
    tablebase: tuple[str, ...],
    searches: int | None,
    threads: int,
    queue: int,
    table: int,
    memory: int | None,
    max_games: int,
    seconds: float,
    nodes: int | None,
) -> None:
    """Serve searches over HTTP and WebSocket until Ctrl-C.

    The address is printed once the service is ready. It shows a board in a browser, and /docs
    there documents the API. The limits of time and memory apply to all clients.
    """
    named = tuple(filter(None, games.split(",")))
    if warm and (failure := compile_ahead(named, lambda kernel: say(line_of(kernel)))):
        sys.exit(failure)
    if not is_loopback(host):
        say(f"listening on {host}: anyone who can reach this machine can use the service")
    run_service(
        host,
        port,
        click.echo,
        hosts=allow_host,
        games=named,
        only=only,
        cors=cors,
        tablebases=tablebase,
        searches=searches or max(1, cores() // threads),
        threads=threads,
        queue=queue,
        table=table,
        memory=memory,
        most_games=max_games,
        seconds=seconds,
        nodes=nodes,
    )


def run_service(
    host: str,
    port: int,
    ready: Callable[[str], None],
    *,
    hosts: tuple[str, ...],
    **settings: Any,
) -> None:
    """Run a service until Ctrl-C; *ready* is called with its address once it answers.

    The service answers requests that name *host* or one of *hosts*; the *settings* are fields of
    :class:`cutnode.service.settings.Settings`.
    """
    try:
        from cutnode.service.hosts import is_wildcard
        from cutnode.service.listening import address, listen
        from cutnode.service.server import Server
        from cutnode.service.settings import GAME_MEGABYTES, PROGRAM_MEGABYTES, Settings
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing in NEEDED:
            extra(missing, "serve", "the service needs")
        raise

    limits = Settings(hosts=(host, *hosts), **settings)
    say(
        f"{limits.searches} searches at once; at most about {limits.most_memory} MiB: "
        f"{PROGRAM_MEGABYTES} for the program, {limits.room} for engines, and {GAME_MEGABYTES} for "
        f"each of {limits.most_games} compiled games (--max-games)"
    )
    named = ("any address" if is_wildcard(each) else each for each in limits.hosts)
    names = ", ".join(dict.fromkeys(("localhost", *named)))
    say(f"allowed hosts: {names} (--allow-host adds others)")
    with listen(host, port) as listening:
        server = Server(
            limits,
            say=lambda game: say(f"compiling {game}"),
            ready=lambda: ready(address(listening)),
        )
        server.run([listening])
    if server.failure is not None:
        raise server.failure
    if server.is_busy():
        sys.stdout.flush()
        os._exit(0)  # a running compilation cannot be interrupted


def say(line: str) -> None:
    """Print a line for the operator on standard error."""
    click.echo(f"cutnode: {line}", err=True)


def cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def is_loopback(host: str) -> bool:
    """Return whether only programs on this machine can reach an address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


EPILOG = """\
\b
GAME      a game, as in `cutnode solve --help`; without it, the page lists
          all games.
POSITION  in the game's own notation; by default the starting position.
"""


@click.command(epilog=EPILOG)
@ANY_GAME
@POSITION
@port_option("Port to listen on; 0 picks a free one.", 0)
@ALLOW_HOST
@click.option(
    "--browser/--no-browser", default=True, help="Open the page, or only print its address."
)
@option(
    "--puzzles",
    "Open the puzzles of GAME in FILE, which `cutnode puzzles --out FILE.jsonl` wrote.",
    metavar="FILE",
    shell_complete=complete_file,
)
@tablebase_option("Answer from the tablebase in FOLDER. Repeatable.", multiple=True)
@threads_option("Threads per search.")
@SEARCH_TABLE
@MAX_GAMES
@seconds_option("Time limit of a search, in seconds.", metavar="MAX", default=600.0)
def board(
    game: str | None,
    position: str | None,
    port: int,
    allow_host: tuple[str, ...],
    browser: bool,
    puzzles: str | None,
    tablebase: tuple[str, ...],
    threads: int,
    table: int,
    max_games: int,
    seconds: float,
) -> None:
    """Play and analyse a game in the browser until Ctrl-C.

    Only programs on this machine can reach it; `cutnode serve` serves the same page to others.
    """
    from cutnode.cli.puzzles import read_puzzles
    from cutnode.contract.loading import load_game

    asked = {}
    if game is not None:
        loaded = load_game(game)
        asked["game"] = f"{loaded.name}:{loaded.variant}" if loaded.variant else loaded.name
        if position is not None:
            asked["position"] = loaded.notation.position_text(loaded.parse(position))

    offered: list[dict[str, Any]] = []
    if puzzles is not None:
        if game is None:
            raise CutnodeError("--puzzles needs a GAME: name the game of the puzzles")
        offered = read_puzzles(puzzles, loaded)
        asked["puzzles"] = str(len(offered))

    def ready(address: str) -> None:
        page = f"{address}/#{urlencode(asked)}" if asked else address
        click.echo(page)
        if browser:
            webbrowser.open(page)

    run_service(
        "127.0.0.1",
        port,
        ready,
        hosts=allow_host,
        games=() if game is None else (game,),
        prepared=False,
        puzzles=tuple(offered),
        tablebases=tablebase,
        searches=max(2, cores() // threads),
        threads=threads,
        table=table,
        most_games=max_games,
        seconds=seconds,
    )
