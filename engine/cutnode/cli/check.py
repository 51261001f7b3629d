"""The command ``cutnode check``."""

from __future__ import annotations

import dataclasses
import json
import sys

import click

import cutnode
from cutnode.cli.exit_codes import BREAKS_CONTRACT, EPILOG
from cutnode.cli.options import GAME, games_option, json_option, seed_option


@click.command(epilog=EPILOG)
@GAME
@games_option("Play N games.", 20)
@seed_option("Play other games.")
@click.option("--rules", is_flag=True, help="Only the rules as plain Python, in a second or two.")
@json_option()
def check(game: str, games: int, seed: int, rules: bool, as_json: bool) -> None:
    """Play a game at random and say what breaks the contract, and where.

    Checks that moves are legal and made once, keys, texts, bounds and all else that a game
    says against plain minimax, and the compiled rules against the same in plain Python.

    A summary of the games and warnings show what only a person can judge: who wins, how long
    games last, whose pieces move. Warnings do not change the exit code.
    """
    from cutnode import conformance

    loaded = cutnode.load_game(game)
    report = conformance.examine(loaded, games=games, seed=seed, compile=not rules)
    if as_json:
        click.echo(json.dumps({"game": loaded.source} | dataclasses.asdict(report)))
        sys.exit(BREAKS_CONTRACT if report.findings else 0)
    for finding in report.findings:
        click.echo(finding)
    for warning in report.warnings:
        click.echo(f"warning: {warning}")
    if report.summary is not None:
        click.echo(report.summary)
    if report.findings:
        count = len(report.findings)
        click.echo(f"{count} finding{'s' * (count > 1)}", err=True)
        sys.exit(BREAKS_CONTRACT)
    click.echo(f"{loaded.name}: nothing found in {games} random games")
