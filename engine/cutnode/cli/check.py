"""The commands for authors of games: ``cutnode games``, ``cutnode new``, ``cutnode check``."""

from __future__ import annotations

import dataclasses
import json
import sys
from dataclasses import asdict
from pathlib import Path

import click

import cutnode
from cutnode.cli.exit_codes import BREAKS_CONTRACT, EPILOG
from cutnode.cli.options import GAME, games_option, json_option, seed_option
from cutnode.contract.collection import described, game_names
from cutnode.contract.errors import CutnodeError
from cutnode.contract.text import quoted


@click.command(epilog=EPILOG)
@GAME
@games_option("Play N games.", 20)
@seed_option("Random seed.")
@click.option(
    "--rules", is_flag=True, help="Check only the rules, as plain Python, in a second or two."
)
@json_option()
def check(game: str, games: int, seed: int, rules: bool, as_json: bool) -> None:
    """Test the rules of a game in random games.

    It reports what breaks the contract, and where: moves must be legal and generated once, and
    keys, texts, bounds and everything else that a game claims must agree with plain minimax, and
    the compiled rules with the same rules in plain Python.

    A summary of the games, and warnings, show what only a person can judge: who wins, how long
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


@click.command()
@json_option("Print a JSON object for each game, with some of its variants.")
def games(as_json: bool) -> None:
    """List the games that come with cutnode."""
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


@click.command(epilog="\b\nFILE      a new file such as my_game.py; nothing is overwritten.")
@click.argument("file")
def new(file: str) -> None:
    """Write a small game to FILE, for you to turn into your own.

    It passes `cutnode check`.
    """
    path = Path(file)
    taken = path.stem in {*sys.stdlib_module_names, "cutnode", "numba", "numpy"}
    if path.suffix != ".py" or not path.stem.isidentifier() or taken:
        raise CutnodeError(
            f"{quoted(file)} is not a name for a game: choose one such as my_game.py"
        )
    template = Path(__file__).with_name("template.py").read_text()
    try:
        with path.open("x") as target:
            target.write(template)
    except FileExistsError:
        raise CutnodeError(f"{file} already exists") from None
    except OSError as error:
        raise CutnodeError(f"{file} cannot be written: {error.strerror}") from None
    click.echo(f"{file}: a game of Nim. Try: cutnode check {file}; cutnode solve {file}")
