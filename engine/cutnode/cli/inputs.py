"""Reading the input of commands: positions from files and arguments, and lists."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import cutnode
from cutnode.contract.collection import position_sets
from cutnode.contract.errors import CutnodeError
from cutnode.kernels.techniques import in_order, leave_out
from cutnode.storage.files import decoded

if TYPE_CHECKING:
    from cutnode.contract.loading import Game


def with_techniques(cls: Any, options: dict[str, Any]) -> dict[str, Any]:
    """Return *options*, with those in :data:`CHOSEN` turned into techniques and parameters."""
    given = dict(options)
    names, without, order = (given.pop(name) for name in ("techniques", "without", "order"))
    chosen: list[str] | None = None
    if (names, without, order) != (None, None, None):
        every = in_order(cls, None if names is None else names_in(names), exact=given["exact"])
        if order is not None:
            [own] = in_order(cls, [order])
            every = tuple(own if name == "order" else name for name in every)
            every = every if own in every else (*every, own)
        left = leave_out(every, names_in(without or ""))
        chosen = [name for name in every if name in left]
    return given | {"techniques": chosen, "parameters": parameters_in(given["parameters"])}


def parameters_in(texts: Iterable[str]) -> dict[str, float]:
    """Return the parameters in texts such as ``lmr.base=0.8``.

    ``@FILE`` stands for the parameters that a study of ``cutnode lab tune`` found.
    """
    found: dict[str, float] = {}
    for text in texts:
        if text.startswith("@"):
            found |= tuned_in(text.removeprefix("@"))
            continue
        name, _, value = text.partition("=")
        try:
            number = float(value)
        except ValueError:
            raise CutnodeError(f"{text!r} is not NAME=VALUE, such as lmr.base=0.8") from None
        found[name.strip()] = int(number) if number.is_integer() else number
    return found


def tuned_in(path: str) -> dict[str, float]:
    """Return the parameters in the file of a tuning study."""
    from cutnode.lab.files import read_study
    from cutnode.lab.tuning import tuned_parameters

    study = read_study(path)
    try:
        return tuned_parameters(study)
    except CutnodeError as error:
        raise CutnodeError(f"{path}: {error}") from None


def names_in(text: str) -> list[str]:
    """Return the names in a list such as ``table,killers``."""
    return [name.strip() for name in text.split(",") if name.strip()]


def numbers_in(text: str) -> list[int]:
    """Return the numbers in a list such as ``4,6,8``."""
    try:
        return [int(number) for number in names_in(text)]
    except ValueError:
        raise CutnodeError(f"{text!r} is not a list of numbers such as 4,6,8") from None


def read_positions(
    name: str, position: str | None, file: str | None, skipped: list[str] | None = None
) -> tuple[Game, list[tuple[str, Any]]]:
    """Return the game, and its positions with the texts that they were read from.

    *file* is a path, or names one of the game's sets of positions, with or without the game's name
    before it.  The whole file is read before anything is solved, so an error in it shows at once.
    If *skipped* is a list, lines that cannot be read are skipped, reported, and added to it.
    """
    game = cutnode.load_game(name)
    if file is None:
        return game, [(position or "", game.parse(position or ""))]
    if position is not None:
        raise CutnodeError("a position and --file exclude each other")
    from cutnode.storage.lines import positions_in  # it needs the compiler

    source, lines = read_lines(_path_of(file, game.name))
    entries = list(positions_in(game, lines, source, skipped))
    tell_skipped(source, skipped)
    return game, entries


def tell_skipped(source: str, skipped: list[str] | None) -> None:
    """Print the skipped lines, and their number, to standard error."""
    for message in skipped or ():
        click.echo(f"cutnode: skipped {' '.join(message.split())}", err=True)
    if skipped:
        lines = "1 line" if len(skipped) == 1 else f"{len(skipped):,} lines"
        click.echo(f"cutnode: skipped {lines} of {source}", err=True)


def _path_of(name: str, game: str) -> str:
    """Return the path of a file, or of one of a game's sets of positions.

    An existing file takes precedence, so a set never hides one.
    """
    if name == "-" or Path(name).exists():
        return name
    sets = position_sets(game)
    found = sets.get(name.removeprefix(f"{game}/"))
    if found is None and sets:
        raise CutnodeError(
            f"{name} cannot be read: {os.strerror(errno.ENOENT)}; the sets of {game} are "
            f"{', '.join(sets)}"
        )
    return name if found is None else str(found)


def position_of(cls: Any, text: str | None) -> Any:
    """Return the position that a text denotes in a class's game; by default the start."""
    return cutnode.Game.of(cls).parse(text or "")


def read_lines(file: str) -> tuple[str, list[str]]:
    """Return the name and the lines of a text file, ``-`` for standard input."""
    source = "standard input" if file == "-" else file
    try:
        with click.open_file(file, "rb") as stream:
            data = stream.read()
        return source, decoded(data).split("\n")
    except OSError as error:
        raise CutnodeError(f"{source} cannot be read: {error.strerror}") from None
