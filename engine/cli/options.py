"""The arguments and options of commands, each declared once.

An option is a function where commands say it in other words or have other defaults.  What only
one command has is declared there, with the helpers at the top of this module.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import click

from engine.cli.inputs import read_positions
from engine.contract.errors import CutnodeError
from engine.contract.stop import DEPTH_IN as UNITS_OF_DEPTH
from engine.kernels.optionality import PRESETS
from engine.search.options import DRIVERS
from engine.search.threads import MOST_THREADS

__all__ = [
    "DEPTH_IN",
    "EVALUATION",
    "EXACT",
    "FILE",
    "GAME",
    "POSITION",
    "SEARCHER",
    "TECHNIQUES",
    "WITHOUT",
    "Option",
    "choice",
    "combined",
    "depth_option",
    "games_option",
    "integer",
    "journal_option",
    "json_option",
    "nodes_option",
    "out_option",
    "plies_option",
    "positions_of_game",
    "positive",
    "seconds_option",
    "seed_option",
    "table_option",
    "text",
    "threads_option",
    "weak_option",
]

Option = Callable[[Callable[..., Any]], Callable[..., Any]]


def combined(*parameters: Option) -> Option:
    """Combine arguments and options into one decorator; the help lists them in this order."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        return functools.reduce(
            lambda inner, parameter: parameter(inner), parameters[::-1], command
        )

    return decorate


def integer(
    name: str,
    help: str,
    *,
    least: int = 1,
    most: int | None = None,
    metavar: str = "N",
    default: int | None = None,
    show_default: bool = True,
    required: bool = False,
) -> Option:
    """An integer from *least* to *most*."""
    return click.option(
        name,
        type=click.IntRange(least, most),
        metavar=metavar,
        default=default,
        show_default=show_default,
        required=required,
        help=help,
    )


def positive(name: str, help: str, *, metavar: str, default: float | None = None) -> Option:
    """A number above 0."""
    kind = click.FloatRange(min=0, min_open=True)
    return click.option(
        name, type=kind, default=default, show_default=True, metavar=metavar, help=help
    )


def text(
    name: str, help: str, *, metavar: str, default: str | None = None, required: bool = False
) -> Option:
    """A text, whose default the help shows if there is any."""
    return click.option(
        name,
        default=default,
        show_default=bool(default),
        required=required,
        metavar=metavar,
        help=help,
    )


def choice(name: str, help: str, values: Sequence[str]) -> Option:
    """One of some words, by default the first."""
    kind = click.Choice(values)
    return click.option(name, type=kind, default=values[0], show_default=True, help=help)


# What is searched

GAME = click.argument("game")
POSITION = click.argument("position", required=False)
FILE = text(
    "--file",
    "Read positions from FILE ('-' is standard input), one per line. What follows a "
    "';', blank lines, and lines that begin with '#' are skipped.",
    metavar="FILE",
)


def seed_option(help: str, default: int | None = 0) -> Option:
    """The seed of all that is random."""
    return click.option(
        "--seed", type=int, default=default, show_default=True, metavar="N", help=help
    )


def games_option(help: str, default: int) -> Option:
    """A number of games to play."""
    return integer("--games", help, default=default)


# How it is searched

DEPTH_IN = choice(
    "--depth-in", "What a ply of depth is where a player can move again.", UNITS_OF_DEPTH
)
DRIVER = choice("--driver", "How a depth is searched: mtdf uses null windows only.", DRIVERS)
EVALUATION = text(
    "--evaluation",
    "Another of the game's estimates than its usual one, or, in games that define features, "
    f"a style: {', '.join(PRESETS)}.",
    metavar="NAME",
)
EXACT = click.option("--exact", is_flag=True, help="Only techniques that cannot change the score.")
TECHNIQUES = text("--techniques", "Only these techniques; '' for none of them.", metavar="A,B")
WITHOUT = text("--without", "Not these techniques.", metavar="A,B")
SEARCHER = combined(EXACT, TECHNIQUES, WITHOUT, DRIVER, EVALUATION, DEPTH_IN)
"""The options of how a position is searched."""


def weak_option(help: str = "Prove only who wins: 1 the mover, 0 nobody, -1.") -> Option:
    """A weak solution: the sign of the value."""
    return click.option("--weak", is_flag=True, help=help)


def depth_option(help: str = "Search N plies deep.", **range_and_default: Any) -> Option:
    """The depth in plies, 0 or more."""
    return integer("--depth", help, **{"least": 0, **range_and_default})


def plies_option(help: str, **range_and_default: Any) -> Option:
    """A number of plies from the position on, 0 or more."""
    return integer("--plies", help, **{"least": 0, **range_and_default})


def nodes_option(help: str = "At most N nodes.", **more: Any) -> Option:
    """A limit of nodes."""
    return integer("--nodes", help, **more)


def seconds_option(
    help: str = "At most S seconds.", *, metavar: str = "S", default: float | None = None
) -> Option:
    """A limit of time."""
    return positive("--seconds", help, metavar=metavar, default=default)


def threads_option(help: str, default: int | None = 1) -> Option:
    """The number of threads."""
    return integer("--threads", help, most=MOST_THREADS, default=default)


def table_option(default: int) -> Option:
    """The size of the table, or of each of several."""
    return integer("--table-mb", "Size of the transposition table in MiB.", default=default)


# What becomes of the results


def json_option(help: str = "One JSON object.") -> Option:
    """Results as JSON."""
    return click.option("--json", "as_json", is_flag=True, help=help)


def journal_option(
    help: str = "Keep what is done in FILE, and go on with it if it is there.",
) -> Option:
    """A file that makes interrupted work go on."""
    return text("--journal", help, metavar="FILE")


def out_option(help: str, *, required: bool = False) -> Option:
    """The file that a command writes."""
    return text("--out", help, metavar="FILE", required=required)


def positions_of_game(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the parameters of a game, and one position or a file of them.

    It is called with the *entries* of :func:`read_positions`, with *file* (None for one position)
    and *as_json*.
    """

    @combined(
        GAME,
        POSITION,
        text("--fen", "The position, written as an option.", metavar="TEXT"),
        FILE,
        json_option("One JSON object per line."),
    )
    @functools.wraps(command)
    def with_entries(
        *, game: str, position: str | None, fen: str | None, file: str | None, **options: Any
    ) -> None:
        if position is not None and fen is not None:
            raise CutnodeError("a position and --fen exclude each other")
        _, entries = read_positions(game, position if fen is None else fen, file)
        command(entries=entries, file=file, **options)

    return with_entries
