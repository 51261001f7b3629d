"""The command ``cutnode design``: a report on a game's rules."""

from __future__ import annotations

from typing import Any

import click

from cutnode.cli.completion import complete_game
from cutnode.cli.options import GAME, pairs_option, seconds_option, seed_option
from cutnode.cli.studies import OUTPUTS, QUIET, deliver

ARGUMENTS = """\
\b
GAME   see `cutnode solve --help`.
OTHER  another game, or the same one with other rules, to compare with.

\b
Example: cutnode design my_game.py --out report.html

\b
Exit codes: 0 measured, 1 an unexpected failure, 2 bad input, 130 interrupted,
143 ended by SIGTERM (the results so far are printed).
"""


@click.command(epilog=ARGUMENTS)
@GAME
@click.argument("other", required=False, shell_complete=complete_game)
@seconds_option("Time after compilation, in seconds; more narrows the intervals.  [default: 60]")
@pairs_option("Play N pairs of games in each match, reproducibly, with no limit of time.")
@seed_option("Random seed.")
@OUTPUTS
@QUIET
def design(**options: Any) -> None:
    """Report on the rules of a game, or compare two sets of rules.

    The report has the number of positions, the exact value if the game can be solved, and from
    games that the engine plays against itself at several strengths: the first player's advantage,
    draws, lengths, choices, what more search wins, when games are decided, and moves and cells that
    nobody uses. It begins with a verdict in a few sentences. GAME and OTHER are names or files.
    """
    from cutnode.lab import design as study

    deliver(study.design, study.draw, resume=False, **options)
