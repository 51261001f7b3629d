"""The same trees in other Python packages: agreement of nodes, and CPU time.

    pip install -e '.[peers]'
    python -m benchmarks.studies.peers              # Connect Four 6 and 8 plies deep, tic-tac-toe
    python -m benchmarks.studies.peers --depths 10  # takes more than a minute

A package that is not installed has a row that says how to install it.  If a program visits other
positions, or finds another move or score, the exit code is 1.
"""

from __future__ import annotations

import sys
from typing import Any

import click

from benchmarks.peers.comparison import compare_peers, draw
from cutnode.cli.inputs import names_in, numbers_in
from cutnode.cli.options import integer, option
from cutnode.cli.studies import MEASURED, deliver
from cutnode.contract.errors import CutnodeError


@click.command()
@option("--games", "On these games.", metavar="A,B", default="tictactoe,connect4")
@option("--depths", "Plies of Connect Four.", metavar="N,N", default="6,8")
@option("--packages", "Only these of easyAI, open_spiel, aima3.", metavar="A,B")
@integer("--runs", "Take the median of N times.", most=99, default=3)
@MEASURED
def main(games: str, depths: str, packages: str | None, **options: Any) -> None:
    """Search the same trees with other Python packages."""
    try:
        study = deliver(
            compare_peers,
            draw,
            games=names_in(games),
            depths=numbers_in(depths),
            packages=None if packages is None else names_in(packages),
            **options,
        )
    except CutnodeError as error:
        raise click.ClickException(str(error)) from None
    wrong = [row["program"] for row in study.rows if row.get("agrees") == "NO"]
    if wrong:
        sys.exit(f"not the same work: {', '.join(wrong)}")


if __name__ == "__main__":
    main()
