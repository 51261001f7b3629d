"""The command ``cutnode check``."""

from __future__ import annotations

import sys

import click

import engine
from engine.cli.exit_codes import BREAKS_CONTRACT, EPILOG
from engine.cli.options import GAME, games_option, seed_option

__all__ = ["check"]


@click.command(epilog=EPILOG)
@GAME
@games_option("Play N games.", 20)
@seed_option("Play other games.")
@click.option("--rules", is_flag=True, help="Only the rules as plain Python, in a second or two.")
def check(game: str, games: int, seed: int, rules: bool) -> None:
    """Play a game at random and say what breaks the contract, and where.

    Checks that moves are legal and made once, keys, texts, bounds and all else that a game
    says against plain minimax, and the compiled rules against the same in plain Python.
    """
    from engine import conformance

    loaded = engine.load_game(game)
    findings = conformance.check(loaded, games=games, seed=seed, compile=not rules)
    for finding in findings:
        click.echo(finding)
    if findings:
        count = len(findings)
        click.echo(f"{count} finding{'s' * (count > 1)}", err=True)
        sys.exit(BREAKS_CONTRACT)
    click.echo(f"{loaded.name}: nothing found in {games} random games")
