"""The exit codes of commands, the page of help that lists them, and the end by Ctrl-C."""

from __future__ import annotations

import sys
from typing import NoReturn

import click

__all__ = ["BAD_INPUT", "BREAKS_CONTRACT", "EPILOG", "INTERRUPTED", "NOT_PROVEN", "interrupted"]

BAD_INPUT = 2
NOT_PROVEN = 3
"""A limit ended a search before the proof."""
BREAKS_CONTRACT = 4
"""A game does not keep to the contract."""
INTERRUPTED = 130
"""Ctrl-C; what was found until then is printed."""

EPILOG = """\
\b
GAME      the name of a game (`cutnode games` lists them), a module such as
          my_package.my_game, or a path such as my_game.py; a variant may
          follow after a colon: connect4:8x7.
POSITION  in the game's own notation, for instance the columns played; the
          default is the start. Before one that begins with '-', write --.

\b
Exit codes: 0 all done and proven, 1 an unexpected failure, 2 bad input,
3 a limit ended a search before the proof, 4 a game breaks the contract, 130
interrupted (what was found until then is printed).
"""


def interrupted(found: bool = False) -> NoReturn:
    """End after Ctrl-C; *found*: what was found until then is printed already."""
    click.echo(f"cutnode: interrupted{'; this is what was found until then' * found}", err=True)
    sys.exit(INTERRUPTED)
