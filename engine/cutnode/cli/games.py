"""The command ``cutnode games``."""

from __future__ import annotations

import json
from dataclasses import asdict

import click

from cutnode.cli.options import json_option
from cutnode.contract.collection import described, game_names
from cutnode.contract.errors import CutnodeError


@click.command()
@json_option("A JSON object for each game, with some of its variants.")
def games(as_json: bool) -> None:
    """List the games that have a name."""
    names = game_names()
    width = max(map(len, names))
    failures = []
    for name in names:
        try:
            game = described(name)
        except (OSError, SyntaxError) as error:
            failures.append(f"cannot read {name!r}: {type(error).__name__}: {error}")
            continue
        click.echo(json.dumps(asdict(game)) if as_json else f"{name:{width}}  {game.about}")
    if failures:
        raise CutnodeError("\n".join(failures))
