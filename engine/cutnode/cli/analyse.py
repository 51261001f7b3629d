"""The command ``cutnode analyse``."""

from __future__ import annotations

from typing import Any

import click

from cutnode.cli.exit_codes import EPILOG
from cutnode.cli.proving import PROOF, prove_and_print


@click.command(epilog=EPILOG)
@PROOF
def analyse(**options: Any) -> None:
    """Prove the value of every move.

    It does what `cutnode solve` does, with all moves in place of a best one. Limits are for all
    moves of a position together; ? is a value that is not proven.

    With --file each line is: position, value, best move, nodes, seconds, and MOVE:VALUE for
    each move.
    """
    prove_and_print("analyse", **options)
