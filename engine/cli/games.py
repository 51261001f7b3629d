"""The command ``cutnode games``."""

from __future__ import annotations

import click

from engine.contract.errors import CutnodeError
from engine.contract.loading import game_names, load_game

__all__ = ["games"]


@click.command()
def games() -> None:
    """List the games that have a name."""
    names = game_names()
    width = max(map(len, names))
    failures = []
    for name in names:
        try:
            about = load_game(name).module.__doc__ or ""
            click.echo(f"{name:{width}}  {about.partition(chr(10))[0]}")
        except CutnodeError as error:
            failures.append(str(error))
    if failures:
        raise CutnodeError("\n".join(failures))
