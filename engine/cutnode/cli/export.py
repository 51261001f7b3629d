"""The command ``cutnode export``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from cutnode.cli.completion import complete_game
from cutnode.cli.options import json_option
from cutnode.contract.choices import EXPORTED

EPILOG = """\
\b
GAMES     names, modules or files, with an optional variant, as in
          `cutnode solve --help`.

\b
Targets:  host, x86_64-linux, aarch64-linux, x86_64-windows, aarch64-macos,
          and wasm for the web. All but the host's need zig:
          pip install 'cutnode[export]'

\b
Exit codes: 0 all done, 1 an unexpected failure, 2 bad input, 4 a game breaks
the contract, 130 interrupted.
"""

ABOUT = {
    "search": "Export the search, with the game's evaluation and levels.",
    "solve": "Export the exact solver.",
    "mate": "Export the search for forced wins.",
    "mcts": "Export Monte Carlo tree search.",
}


def part_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add an option for each part of an export."""
    for part in reversed(EXPORTED):
        command = click.option(f"--{part}", is_flag=True, help=ABOUT[part])(command)
    return command


@click.command(epilog=EPILOG)
@click.argument("games", nargs=-1, required=True, shell_complete=complete_game)
@click.option(
    "--to",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="The folder for the package; of several games, one folder in it for each.",
)
@click.option(
    "--page",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Write the board as a page of static files, with the engine of each game.",
)
@part_options
@click.option(
    "--target", default="host", show_default=True, metavar="A,B", help="The systems to export for."
)
@click.option(
    "--cpu",
    metavar="NAME",
    help="The least processor, such as x86-64-v3, or native.  [default: any of the target]",
)
@click.option("--name", help="The name of the library and of its functions.  [default: the game's]")
@json_option("Print a JSON object for each game.")
def export(
    games: tuple[str, ...],
    folder: Path | None,
    page: Path | None,
    target: str,
    cpu: str | None,
    name: str | None,
    as_json: bool,
    **parts: bool,
) -> None:
    """Write a game with its engine as a package for C or the web.

    The package needs neither Python nor cutnode. Without an option for a part
    all parts are exported that the game can have.
    """
    from cutnode.contract.loading import load_game
    from cutnode.export import packages

    if folder is None and page is None:
        raise click.UsageError("give --to FOLDER for packages, or --page FOLDER for a page")
    if name is not None and len(games) > 1:
        raise click.UsageError("--name is for one game")
    chosen = [part for part in EXPORTED if parts[part]]
    if page is not None and chosen and "search" not in chosen:
        raise click.UsageError("a page needs --search, by which its board analyses and plays")
    loaded = [load_game(game) for game in games]
    if folder is not None:
        for game in loaded:
            place = folder if len(games) == 1 else folder / packages.name_of(game)
            made = packages.export(
                game, place, parts=chosen, targets=target.split(","), cpu=cpu, name=name
            )
            files = [str(file) for file in made.files]
            if as_json:
                click.echo(json.dumps({"game": game.source, "name": made.name, "files": files}))
            else:
                for file in made.files:
                    click.echo(f"{file.stat().st_size:>10,}  {file}")
    if page is not None:
        from cutnode.export.page import write_page

        write_page(loaded, page, parts=chosen)
        click.echo(f"{page / 'index.html'}")
