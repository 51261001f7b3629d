"""The command ``cutnode board``."""

from __future__ import annotations

import webbrowser
from urllib.parse import urlencode

import click

from cutnode.cli.options import (
    ALLOW_HOST,
    ANY_GAME,
    MAX_GAMES,
    POSITION,
    SEARCH_TABLE,
    port_option,
    seconds_option,
    tablebase_option,
    threads_option,
)
from cutnode.cli.serve import cores, run_service

EPILOG = """\
\b
GAME      a game, as for `cutnode solve --help`; without it, the page lists
          them.
POSITION  in the game's own notation; the default is the start.
"""


@click.command(epilog=EPILOG)
@ANY_GAME
@POSITION
@port_option("0 for any that is free.", 0)
@ALLOW_HOST
@click.option("--browser/--no-browser", default=True, help="Open the page, or print its address.")
@tablebase_option("Answer from the tablebase in FOLDER; again for another.", multiple=True)
@threads_option("Search with N threads.")
@SEARCH_TABLE
@MAX_GAMES
@seconds_option("No search takes longer.", metavar="MAX", default=600.0)
def board(
    game: str | None,
    position: str | None,
    port: int,
    allow_host: tuple[str, ...],
    browser: bool,
    tablebase: tuple[str, ...],
    threads: int,
    table: int,
    max_games: int,
    seconds: float,
) -> None:
    """Play and analyse a game at a board in the browser, until Ctrl-C.

    Only programs of this machine reach it; `cutnode serve` serves the same page to others.
    """
    from cutnode.contract.loading import load_game

    asked = {}
    if game is not None:
        loaded = load_game(game)
        asked["game"] = f"{loaded.name}:{loaded.variant}" if loaded.variant else loaded.name
        if position is not None:
            asked["position"] = loaded.notation.position_text(loaded.parse(position))

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
        tablebases=tablebase,
        searches=max(2, cores() // threads),
        threads=threads,
        table=table,
        most_games=max_games,
        seconds=seconds,
    )
