"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from engine.contract import stop as limits
from engine.kernels.optionality import PRESETS
from engine.search.threads import MOST_THREADS

__all__ = [
    "DEPTH_IN",
    "EVALUATION",
    "EXACT",
    "FILE",
    "TECHNIQUES",
    "WITHOUT",
    "nodes_option",
    "seconds_option",
    "table_mb",
    "threads_option",
]

Option = Callable[[Callable[..., Any]], Callable[..., Any]]

DEPTH_IN = click.option(
    "--depth-in",
    type=click.Choice(limits.DEPTH_IN),
    default="turns",
    show_default=True,
    help="What a ply of depth is where a player can move again.",
)
EVALUATION = click.option(
    "--evaluation",
    metavar="NAME",
    help="Another of the game's estimates than its usual one, or, in games that define features, "
    f"a style: {', '.join(PRESETS)}.",
)
EXACT = click.option("--exact", is_flag=True, help="Only techniques that cannot change the score.")
TECHNIQUES = click.option(
    "--techniques", metavar="A,B", help="Only these techniques; '' for none of them."
)
WITHOUT = click.option("--without", metavar="A,B", help="Not these techniques.")
FILE = click.option(
    "--file",
    metavar="FILE",
    help="Read positions from FILE ('-' is standard input), one per line. What follows a "
    "';', blank lines, and lines that begin with '#' are skipped.",
)


def nodes_option(help: str = "At most N nodes.") -> Option:
    """A limit of nodes, 1 or more."""
    return click.option("--nodes", type=click.IntRange(min=1), metavar="N", help=help)


def seconds_option(help: str = "At most S seconds.") -> Option:
    """A limit of time, more than 0."""
    seconds = click.FloatRange(min=0, min_open=True)
    return click.option("--seconds", type=seconds, metavar="S", help=help)


def threads_option(help: str, default: int | None = 1) -> Option:
    """The number of threads; *default* None: it is not said which number that is."""
    return click.option(
        "--threads",
        type=click.IntRange(1, MOST_THREADS),
        default=default,
        show_default=default is not None,
        metavar="N",
        help=help,
    )


def table_mb(default: int) -> Option:
    """The size of the table, or of each of several."""
    return click.option(
        "--table-mb",
        type=click.IntRange(min=1),
        default=default,
        show_default=True,
        metavar="N",
        help="Size of the transposition table in MiB.",
    )
