"""The arguments and options of commands, each declared once.

The options of searches and proofs come from :mod:`cutnode.runtime.options`.  An option is a
function if its help or default differs between commands.  A command declares its own options
itself, with the helpers at the top of this module.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import click

from cutnode.cli.completion import (
    complete_evaluation,
    complete_file,
    complete_folder,
    complete_game,
    complete_parameter,
    complete_techniques,
)
from cutnode.cli.inputs import read_positions
from cutnode.contract.choices import MOST_ELO, SEARCHES, SOLVERS
from cutnode.contract.errors import CutnodeError
from cutnode.runtime.options import OPTIONS, PROOF_OPTIONS, TREE_OPTIONS, Option

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

SHORT = {
    **{"depth": "-d", "engine": "-e", "file": "-f", "json": "-j", "lines": "-l", "nodes": "-n"},
    **{"out": "-o", "seconds": "-s", "threads": "-t"},
}
"""Short names by option, the same in all commands."""


def combined(*parameters: Decorator) -> Decorator:
    """Combine arguments and options into one decorator; the help lists them in this order."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        return functools.reduce(
            lambda inner, parameter: parameter(inner), parameters[::-1], command
        )

    return decorate


def named(name: str) -> tuple[str, ...]:
    """Return the names of an option: the short one, if any, and the long one."""
    short = SHORT.get(name.removeprefix("--"))
    return (name,) if short is None else (short, name)


def option(name: str, help: str, **settings: Any) -> Decorator:
    """An option whose help shows its default; ``click.option`` takes the *settings*."""
    return click.option(*named(name), help=help, **{"show_default": True, **settings})


def integer(
    name: str, help: str, *, least: int = 1, most: int | None = None, **settings: Any
) -> Decorator:
    """An integer from *least* to *most*."""
    return option(name, help, **{"type": click.IntRange(least, most), "metavar": "N", **settings})


class Finite(click.FloatRange):
    """A number within a range, and neither ``nan`` nor ``inf``."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{value} is not a finite number.", param, ctx)
        return number


def positive(name: str, help: str, **settings: Any) -> Decorator:
    """A number above 0."""
    return option(name, help, type=Finite(min=0, min_open=True), **settings)


def choice(name: str, help: str, values: Sequence[str]) -> Decorator:
    """One of *values*, by default the first."""
    return option(name, help, type=click.Choice(values), default=values[0])


FLAGS = {"table": "--table-mb", "memory": "--memory-mb"}
"""The long names of options that differ from their keywords."""

COMPLETED = {
    **{"evaluation": complete_evaluation, "techniques": complete_techniques},
    **{"tablebase": complete_folder},
}
"""The functions that complete the values of options."""


def declared(name: str, help: str = "", *, its: Option | None = None, **settings: Any) -> Decorator:
    """An option of :data:`OPTIONS`, or *its* declaration elsewhere.

    A command can give another *help*, range (*least* and *most*) and *settings*.
    """
    its = its or OPTIONS[name]
    its = its._replace(**{end: settings.pop(end) for end in ("least", "most") if end in settings})
    flag, help = FLAGS.get(name, f"--{name.replace('_', '-')}"), help or its.help
    if its.kind is bool:
        return click.option(flag, is_flag=True, help=help, **settings)
    least, most = its.ends
    kind: Any = its.kind
    if its.choices:
        kind = click.Choice(its.choices)
    elif its.kind is float:
        kind = Finite(least, most, min_open=its.above)
    elif its.kind is int and least is not None:
        kind = click.IntRange(least, most)
    given = {"type": kind, "shell_complete": COMPLETED.get(name)}
    if not its.choices:
        given["metavar"] = its.placeholder
    if its.preset is not None:
        given["default"] = its.preset
    usual = f"{help}  [default: {its.usual}]" if its.usual else help
    return option(flag, usual, **{**given, **settings})


# Games and positions

GAME = click.argument("game", shell_complete=complete_game)
ANY_GAME = click.argument("game", required=False, shell_complete=complete_game)
"""An optional game."""

POSITION = click.argument("position", required=False)
SKIP_BAD = click.option(
    "--skip-bad",
    is_flag=True,
    help="Skip lines of FILE that cannot be read; list and count them on stderr.",
)
FILE = combined(
    option(
        "--file",
        "Read positions, one per line, from FILE ('-' for standard input) or from a set that comes "
        "with the game (such as `sampled`). Ignore blank lines, lines that begin with '#', and "
        "text after a ';'.",
        metavar="FILE",
        shell_complete=complete_file,
    ),
    SKIP_BAD,
)


def sprt_options(player: str, other: str) -> Decorator:
    """The options of a sequential probability ratio test (SPRT) of two players."""
    return combined(
        *(
            option(
                name,
                f"SPRT: {hypothesis}, the lead of {player} over {other} in Elo.",
                type=Finite(-MOST_ELO, MOST_ELO),
                metavar="ELO",
            )
            for name, hypothesis in (("--elo0", "H0"), ("--elo1", "H1"))
        ),
        *(
            option(
                name,
                f"SPRT: type {error} error rate.",
                type=Finite(0, 0.5, min_open=True, max_open=True),
                metavar="P",
                default=0.05,
            )
            for name, error in (("--alpha", "I"), ("--beta", "II"))
        ),
    )


def seed_option(help: str, default: int | None = 0) -> Decorator:
    """The random seed."""
    return declared("seed", help, default=default)


def games_option(help: str, default: int) -> Decorator:
    """The number of games to play."""
    return integer("--games", help, default=default)


def pairs_option(help: str, **settings: Any) -> Decorator:
    """The number of game pairs to play, each from one opening with both colours."""
    return integer("--pairs", help, **settings)


OWN_GAME = option(
    "--game",
    "The file or module of the game, if it is your own.",
    metavar="GAME",
    shell_complete=complete_game,
)
"""Data files name their game, but a user's own game has to be loaded before they are read."""

BEGIN = click.option(
    "--from", "start", metavar="POSITION", help="Begin from POSITION instead of the start."
)


def tolerance_option(help: str, **settings: Any) -> Decorator:
    """The tolerance of expected values in games of chance."""
    return positive("--tolerance", help, **{"metavar": "X", **settings})


# Searches

DEPTH_IN = declared("depth_in")
DRIVER = declared("driver")
EVALUATION = declared("evaluation")
EXACT = declared("exact")
TECHNIQUES = declared("techniques")
WITHOUT = option(
    "--without", "Leave out these techniques.", metavar="A,B", shell_complete=complete_techniques
)
ORDER = option(
    "--order",
    "Order moves by your own function, such as my_file.py:order.",
    metavar="FILE:NAME",
    shell_complete=complete_file,
)
SET = click.option(
    "--set",
    "parameters",
    metavar="NAME=VALUE",
    multiple=True,
    help="Set a parameter of a technique, such as lmr.base=0.8 (`cutnode lab parameters` lists "
    "them), or with @FILE those that `cutnode lab tune` found. Repeatable.",
    shell_complete=complete_parameter,
)
CHOSEN = combined(EXACT, TECHNIQUES, WITHOUT, ORDER, SET)
"""The techniques of a search, and their parameters."""
ENGINE = declared("engine")
PLAYOUTS = declared("playouts")
TREE = combined(*map(declared, TREE_OPTIONS))
"""The options of Monte Carlo tree search."""
PROOF_SHARE = declared("proof_share")
SEARCHER = combined(CHOSEN, DRIVER, EVALUATION, DEPTH_IN)
"""The options that configure a searcher."""


SOLVER = declared("engine", its=PROOF_OPTIONS["engine"])
AT_LEAST = declared("at_least", its=PROOF_OPTIONS["at_least"])
TASK_ENGINE = choice(
    "--engine",
    "Engine to prove with (not mcts) or to search with (not pn or sums).",
    tuple(dict.fromkeys((*SOLVERS, *SEARCHES))),
)


def weak_option(help: str = "") -> Decorator:
    """A weak solution: the sign of the value."""
    return declared("weak", help, its=PROOF_OPTIONS["weak"])


def depth_option(help: str = "Search N plies deep.", **settings: Any) -> Decorator:
    """The depth in plies."""
    return declared("depth", help, **settings)


def plies_option(help: str, **settings: Any) -> Decorator:
    """A number of plies after the position, 0 or more."""
    return integer("--plies", help, **{"least": 0, **settings})


def positions_option(help: str, **settings: Any) -> Decorator:
    """The number of positions."""
    return integer("--positions", help, **settings)


def workers_option(help: str, **settings: Any) -> Decorator:
    """The number of processes that work in parallel."""
    return integer("--workers", help, **settings)


nodes_option = functools.partial(declared, "nodes")
seconds_option = functools.partial(declared, "seconds")
tablebase_option = functools.partial(declared, "tablebase")


def threads_option(help: str, default: int | None = 1) -> Decorator:
    """The number of threads."""
    return declared("threads", help, default=default)


def memory_option(help: str, default: int) -> Decorator:
    """The memory limit in MiB."""
    return declared("memory", help, default=default)


def table_option(default: int) -> Decorator:
    """The size of the transposition table, or of each one."""
    return declared("table", default=default)


# The service

SEARCH_TABLE = integer(
    "--table", "Size of a search's transposition table.", metavar="MIB", default=64
)


def port_option(help: str, default: int) -> Decorator:
    """The port that a service listens on."""
    return integer("--port", help, least=0, most=65535, default=default)


ALLOW_HOST = option(
    "--allow-host",
    "Accept requests whose Host header is HOST, such as a proxy's name; * accepts any. Repeatable.",
    metavar="HOST",
    multiple=True,
    show_default=False,
)

ONLY = click.option("--only", is_flag=True, help="Offer only the games of --games.")

MAX_GAMES = integer(
    "--max-games",
    "Hold at most N compiled games, counting each variant, and refuse requests for more.",
    default=16,
)


# Results


def json_option(help: str = "Print one JSON object.") -> Decorator:
    """A flag for results as JSON."""
    return click.option(*named("--json"), "as_json", is_flag=True, help=help)


PROGRESS = click.option(
    "--progress",
    "told",
    is_flag=True,
    help="Print progress to stderr even when it is not a terminal.",
)
"""Progress for a log; a terminal shows it in any case."""


def journal_option(
    help: str = "Record finished work in FILE; if it exists, resume from it.",
) -> Decorator:
    """The journal from which interrupted work is resumed."""
    return option("--journal", help, metavar="FILE", shell_complete=complete_file)


def out_option(help: str, **settings: Any) -> Decorator:
    """The file that a command writes."""
    return option("--out", help, metavar="FILE", shell_complete=complete_file, **settings)


def positions_of_game(command: Callable[..., None]) -> Callable[..., None]:
    """Add the parameters for a game and one position, or a file of positions, to a command.

    The command is called with the *entries* of :func:`read_positions`, with *file* (None for one
    position) and *as_json*.
    """

    @combined(
        GAME,
        POSITION,
        option("--fen", "The position, in place of POSITION.", metavar="TEXT"),
        FILE,
        json_option("Print one JSON object per line."),
    )
    @functools.wraps(command)
    def with_entries(
        *,
        game: str,
        position: str | None,
        fen: str | None,
        file: str | None,
        skip_bad: bool,
        **options: Any,
    ) -> None:
        if position is not None and fen is not None:
            raise CutnodeError("a position and --fen exclude each other")
        asked = position if fen is None else fen
        _, entries = read_positions(game, asked, file, [] if skip_bad else None)
        command(entries=entries, file=file, **options)

    return with_entries
