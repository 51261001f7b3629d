"""The command ``cutnode book``: build a book, describe it, look up positions."""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

import click

import cutnode
from cutnode.cli.batch import LIMITS, WEAK, WORK
from cutnode.cli.completion import complete_file
from cutnode.cli.exit_codes import INTERRUPTED, NOT_PROVEN
from cutnode.cli.inputs import position_of
from cutnode.cli.live import progress_bar
from cutnode.cli.options import (
    BEGIN,
    GAME,
    OWN_GAME,
    POSITION,
    json_option,
    out_option,
    plies_option,
)
from cutnode.contract.errors import CutnodeError
from cutnode.storage.files import check_file

if TYPE_CHECKING:
    from cutnode.storage.books import Book


@click.group()
def book() -> None:
    """Build and query books of a game's first positions."""


@book.command()
@GAME
@plies_option("Include all positions after at most N moves.", required=True)
@out_option("File of the book.", required=True)
@BEGIN
@WEAK
@LIMITS
@WORK
def build(
    game: str,
    plies: int,
    out: str,
    start: str | None,
    threads: int | None,
    table_mb: int,
    journal: str | None,
    **limits: Any,
) -> None:
    """Prove the values of all positions after at most N moves, and write them to a file.

    With limits, unproven positions get bounds.
    """
    from cutnode.batches.books import build_book

    check_file(out)
    loaded = cutnode.load_game(game)
    with progress_bar(1) as tell:
        found, reason = build_book(
            loaded,
            plies,
            start=None if start is None else loaded.parse(start),
            journal=journal,
            threads=threads,
            table=table_mb,
            progress=lambda progress: tell(progress.done, progress.total),
            **limits,
        )
    if reason != "done":
        again = "" if journal is None else f"; resume it with --journal {journal}"
        click.echo(f"cutnode: the book is not finished: {reason}{again}", err=True)
        sys.exit(INTERRUPTED)
    found.save(out)
    if sys.stderr.isatty():
        click.echo(f"{len(found):,} positions in {out}", err=True)
    if not found.proven.all():
        sys.exit(NOT_PROVEN)


def opened(file: str, game: str | None) -> Book:
    """Load *game*, if given, and open a book, which must be of that game or variant."""
    from cutnode.contract.dispatch import game_name, module_of
    from cutnode.storage.books import Book

    loaded = None if game is None else cutnode.load_game(game)
    found = Book.load(file)
    if loaded is not None and (
        module_of(found.cls) is not loaded.module
        or (loaded.variant and type(loaded.start()) is not found.cls)
    ):
        raise CutnodeError(f"{file} is about {game_name(found.cls)}, not {game}")
    return found


@book.command()
@click.argument("file", shell_complete=complete_file)
@OWN_GAME
@json_option()
def show(file: str, game: str | None, as_json: bool) -> None:
    """Print a summary of a book."""
    from cutnode.contract.dispatch import game_name

    found = opened(file, game)
    proven = found.proven
    values = Counter(found.lower[proven].tolist())
    data = {
        "game": game_name(found.cls),
        "plies": found.plies,
        "positions": len(found),
        "proven": int(proven.sum()),
        "with a best move": int((found.bests != cutnode.NO_MOVE).sum()),
        "values": {str(value): values[value] for value in sorted(values, reverse=True)},
        "bytes": os.path.getsize(file),
    }
    if as_json:
        click.echo(json.dumps(data))
        return
    for name, value in data.items():
        if isinstance(value, dict):
            value = "  ".join(f"{value}: {count:,}" for value, count in value.items())
        click.echo(f"{name:18}{f'{value:,}' if isinstance(value, int) else value}")


@book.command()
@click.argument("file", shell_complete=complete_file)
@POSITION
@OWN_GAME
@json_option()
def probe(file: str, position: str | None, game: str | None, as_json: bool) -> None:
    """Look up a position: its value for the mover, and a best move.

    The exit code is 3 if it is not in the book.
    """
    from cutnode.contract.messages import move_text

    found = opened(file, game)
    place = position_of(found.cls, position)
    answer = found.answer(place)
    lower, upper, move = answer or (None, None, None)
    best = None if move is None else move_text(place, move)
    if as_json:
        data = {"position": position or "", "lower": lower, "upper": upper, "best_move": best}
        click.echo(json.dumps(data))
    elif answer is None:
        click.echo("not in the book")
    else:
        value = lower if lower == upper else f"{lower}..{upper}"
        click.echo(f"value  {value}\nbest   {best or '-'}")
    if answer is None:
        sys.exit(NOT_PROVEN)
