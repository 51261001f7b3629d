"""The command ``cutnode solve``."""

from __future__ import annotations

from typing import Any

import click

from cutnode.cli.completion import complete_file
from cutnode.cli.exit_codes import EPILOG
from cutnode.cli.options import option
from cutnode.cli.proving import PROOF, prove_and_print


@click.command(epilog=EPILOG)
@PROOF
@option(
    "--at-least",
    "Ask only whether the value is at least V: yes, no, or open where a limit comes first.",
    type=int,
    metavar="V",
)
@option(
    "--proof",
    "Write the proof to FILE: an answer to every reply, found by proof numbers within the limits "
    "once more, and verified. `cutnode verify` reads it.",
    metavar="FILE",
    shell_complete=complete_file,
)
def solve(**options: Any) -> None:
    """Prove the value, a best move, and the line of best play.

    Values are for the player to move; `cutnode analyse` gives that of every move as well.

    With --file each line is: position, value (or lower..upper if it is not proven), best
    move, nodes, seconds. With --at-least, yes, no or ? stands in place of the value.

    Games of chance are solved by value iteration over all positions that can be reached. The
    values of all moves or rolls are shown, and with --file the number of positions for nodes.
    """
    prove_and_print("solve", **options)
