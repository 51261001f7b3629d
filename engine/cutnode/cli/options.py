"""The arguments and options of commands, each declared once.

An option is a function where commands say it in other words or have other defaults.  What only
one command has is declared there, with the helpers at the top of this module.
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
from cutnode.contract.choices import (
    DRIVERS,
    MOST_ELO,
    MOST_PROOF_SHARE,
    SEARCHES,
    SOLVERS,
    STYLES,
    TREE_OPTIONS,
    Option,
)
from cutnode.contract.errors import CutnodeError
from cutnode.contract.stop import DEPTH_IN as UNITS_OF_DEPTH
from cutnode.runtime.threads import MOST_THREADS

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

SHORT = {
    **{"depth": "-d", "engine": "-e", "file": "-f", "json": "-j", "lines": "-l", "nodes": "-n"},
    **{"out": "-o", "seconds": "-s", "threads": "-t"},
}
"""The options that have a short name, which is the same in all commands."""


def combined(*parameters: Decorator) -> Decorator:
    """Combine arguments and options into one decorator; the help lists them in this order."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        return functools.reduce(
            lambda inner, parameter: parameter(inner), parameters[::-1], command
        )

    return decorate


def named(name: str) -> tuple[str, ...]:
    """Return the names of an option: its short one, where it has one, and the long one."""
    short = SHORT.get(name.removeprefix("--"))
    return (name,) if short is None else (short, name)


def option(name: str, help: str, **settings: Any) -> Decorator:
    """An option whose default the help shows; *settings* are those of ``click.option``."""
    return click.option(*named(name), help=help, **{"show_default": True, **settings})


def integer(
    name: str, help: str, *, least: int = 1, most: int | None = None, **settings: Any
) -> Decorator:
    """An integer from *least* to *most*."""
    return option(name, help, **{"type": click.IntRange(least, most), "metavar": "N", **settings})


class Finite(click.FloatRange):
    """A number of a range, which is neither ``nan`` nor ``inf``."""

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
    """One of some words, by default the first."""
    return option(name, help, type=click.Choice(values), default=values[0])


# What is searched

GAME = click.argument("game", shell_complete=complete_game)
ANY_GAME = click.argument("game", required=False, shell_complete=complete_game)
"""A game that need not be named."""

POSITION = click.argument("position", required=False)
SKIP_BAD = click.option(
    "--skip-bad",
    is_flag=True,
    help="Skip lines of FILE that cannot be read; list and count them on standard error.",
)
FILE = combined(
    option(
        "--file",
        "Read positions from FILE ('-' is standard input), or from a set that comes with the game "
        "(`sampled`), one per line. What follows a ';', blank lines, and lines that begin with '#' "
        "are skipped.",
        metavar="FILE",
        shell_complete=complete_file,
    ),
    SKIP_BAD,
)


def sprt_options(player: str, other: str) -> Decorator:
    """A sequential test of a player's strength against another's."""
    return combined(
        *(
            option(
                name,
                f"Stop when {player} is surely {than}ELO better than {other}.",
                type=Finite(-MOST_ELO, MOST_ELO),
                metavar="ELO",
            )
            for name, than in (("--elo0", "not "), ("--elo1", ""))
        ),
        *(
            option(
                name,
                f"Odds to accept {accepted} wrongly.",
                type=Finite(0, 0.5, min_open=True, max_open=True),
                metavar="P",
                default=0.05,
            )
            for name, accepted in (("--alpha", "elo1"), ("--beta", "elo0"))
        ),
    )


def seed_option(help: str, default: int | None = 0) -> Decorator:
    """The seed of all that is random."""
    return option("--seed", help, type=int, default=default, metavar="N")


def games_option(help: str, default: int) -> Decorator:
    """A number of games to play."""
    return integer("--games", help, default=default)


def pairs_option(help: str, **settings: Any) -> Decorator:
    """A number of pairs of games to play, each opening with both sides."""
    return integer("--pairs", help, **settings)


OWN_GAME = option(
    "--game",
    "The game, if it is one in a file of yours.",
    metavar="GAME",
    shell_complete=complete_game,
)
"""A file or folder names its game; one in a file of its own has to be loaded first."""

BEGIN = click.option("--from", "start", metavar="POSITION", help="Begin here, not at the start.")


def tolerance_option(help: str, **settings: Any) -> Decorator:
    """How close expected values have to be, in games of chance."""
    return positive("--tolerance", help, **{"metavar": "X", **settings})


# How it is searched

DEPTH_IN = choice(
    "--depth-in", "What a ply of depth is where a player can move again.", UNITS_OF_DEPTH
)
DRIVER = choice("--driver", "How a depth is searched: mtdf uses null windows only.", DRIVERS)
EVALUATION = option(
    "--evaluation",
    "Another of the game's estimates than its usual one, a FILE.weights, a function of yours as "
    "my_file.py:centre, or, in games that define features, a style: "
    f"{', '.join(STYLES)}.",
    metavar="NAME",
    shell_complete=complete_evaluation,
)
EXACT = click.option("--exact", is_flag=True, help="Only techniques that cannot change the score.")
TECHNIQUES = option(
    "--techniques",
    "Only these techniques, in this order in an ablation; '' for none of them; my_file.py:idea "
    "for one of yours, and ... for those that are usual.",
    metavar="A,B",
    shell_complete=complete_techniques,
)
WITHOUT = option(
    "--without", "Not these techniques.", metavar="A,B", shell_complete=complete_techniques
)
ORDER = option(
    "--order",
    "Search moves first that a function of yours thinks promising, as my_file.py:order.",
    metavar="FILE:NAME",
    shell_complete=complete_file,
)
SET = click.option(
    "--set",
    "parameters",
    metavar="NAME=VALUE",
    multiple=True,
    help="Give a parameter of a technique a value, as lmr.base=0.8 (`cutnode lab parameters` "
    "lists them); @FILE for those that `cutnode lab tune` found.  Can be repeated.",
    shell_complete=complete_parameter,
)
CHOSEN = combined(EXACT, TECHNIQUES, WITHOUT, ORDER, SET)
"""The techniques of a search, and their numbers."""
ENGINE = choice(
    "--engine", "Alpha-beta, Monte Carlo tree search, or what a trial shows to be better.", SEARCHES
)
PLAYOUTS = integer("--playouts", "At most N playouts (mcts).", show_default=False)


def choice_or_number(name: str, its: Option) -> Decorator:
    """An option that the table of its kind describes."""
    help = f"{its.about}  [{its.usual}]" if its.usual else its.about
    flag = f"--{name.replace('_', '-')}"
    if its.kind is int:
        return integer(flag, help, least=int(its.least))
    if its.choices:
        return option(flag, help, type=click.Choice(its.choices))
    most = its.most if math.isfinite(its.most) else None
    return option(flag, help, type=Finite(its.least, most), metavar="X")


TREE = combined(*(choice_or_number(name, its) for name, its in TREE_OPTIONS.items()))
"""The options of Monte Carlo tree search."""
PROOF_SHARE = option(
    "--proof-share",
    "The part of the limits of time and nodes in which a proof is tried (alphabeta).  "
    "[what the game says, or 0]",
    type=Finite(0, MOST_PROOF_SHARE),
    metavar="PART",
    show_default=False,
)
SEARCHER = combined(CHOSEN, DRIVER, EVALUATION, DEPTH_IN)
"""The options of how a position is searched."""


SOLVER = choice("--engine", "How values are proven.", SOLVERS)
TASK_ENGINE = choice(
    "--engine",
    "How values are proven (not mcts) or searched (not pn).",
    tuple(dict.fromkeys((*SOLVERS, *SEARCHES))),
)


def weak_option(help: str = "Prove only who wins: 1 the mover, 0 nobody, -1.") -> Decorator:
    """A weak solution: the sign of the value."""
    return click.option("--weak", is_flag=True, help=help)


def depth_option(help: str = "Search N plies deep.", **settings: Any) -> Decorator:
    """The depth in plies, 0 or more."""
    return integer("--depth", help, **{"least": 0, **settings})


def plies_option(help: str, **settings: Any) -> Decorator:
    """A number of plies from the position on, 0 or more."""
    return integer("--plies", help, **{"least": 0, **settings})


def positions_option(help: str, **settings: Any) -> Decorator:
    """A number of positions."""
    return integer("--positions", help, **settings)


def workers_option(help: str, **settings: Any) -> Decorator:
    """A number of processes that work at the same time."""
    return integer("--workers", help, **settings)


def nodes_option(help: str = "At most N nodes.", **settings: Any) -> Decorator:
    """A limit of nodes."""
    return integer("--nodes", help, **settings)


def seconds_option(help: str = "At most S seconds.", **settings: Any) -> Decorator:
    """A limit of time."""
    return positive("--seconds", help, **{"metavar": "S", **settings})


def threads_option(help: str, default: int | None = 1) -> Decorator:
    """The number of threads."""
    return integer("--threads", help, most=MOST_THREADS, default=default)


def memory_option(help: str, default: int) -> Decorator:
    """How much memory may be taken, in MiB."""
    return integer("--memory-mb", help, default=default)


def tablebase_option(
    help: str = "Answer from the tablebase in FOLDER.", **settings: Any
) -> Decorator:
    """The folder of a tablebase."""
    return option("--tablebase", help, metavar="FOLDER", shell_complete=complete_folder, **settings)


def table_option(default: int) -> Decorator:
    """The size of the table, or of each of several."""
    return integer("--table-mb", "Size of the transposition table in MiB.", default=default)


# A service

SEARCH_TABLE = integer(
    "--table", "Size of a search's transposition table.", metavar="MIB", default=64
)


def port_option(help: str, default: int) -> Decorator:
    """The port where a service listens."""
    return integer("--port", help, least=0, most=65535, default=default)


ALLOW_HOST = option(
    "--allow-host",
    "Answer requests that name HOST, such as a proxy's name; * for any. Repeat it for others.",
    metavar="HOST",
    multiple=True,
    show_default=False,
)

MAX_GAMES = integer(
    "--max-games",
    "Hold at most N compiled games; each variant is a game. Answer the rest with 503.",
    default=16,
)


# What becomes of the results


def json_option(help: str = "One JSON object.") -> Decorator:
    """Results as JSON."""
    return click.option(*named("--json"), "as_json", is_flag=True, help=help)


PROGRESS = click.option(
    "--progress", "told", is_flag=True, help="Print progress to stderr even when it is no terminal."
)
"""Signs of life for a log; a terminal has them in any case."""


def journal_option(
    help: str = "Keep what is done in FILE, and go on with it if it is there.",
) -> Decorator:
    """A file that makes interrupted work go on."""
    return option("--journal", help, metavar="FILE", shell_complete=complete_file)


def out_option(help: str, **settings: Any) -> Decorator:
    """The file that a command writes."""
    return option("--out", help, metavar="FILE", shell_complete=complete_file, **settings)


def positions_of_game(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the parameters of a game, and one position or a file of them.

    It is called with the *entries* of :func:`read_positions`, with *file* (None for one position)
    and *as_json*.
    """

    @combined(
        GAME,
        POSITION,
        option("--fen", "The position, written as an option.", metavar="TEXT"),
        FILE,
        json_option("One JSON object per line."),
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
