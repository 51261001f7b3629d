"""The command ``cutnode verify``."""

from __future__ import annotations

import click

import cutnode
from cutnode.cli.completion import complete_file
from cutnode.cli.exit_codes import EPILOG
from cutnode.cli.options import OWN_GAME, POSITION
from cutnode.contract.errors import CutnodeError

FILE = """\
\b
FILE      proofs as `cutnode solve` and `cutnode mate` write them.

"""


@click.command(epilog=FILE + EPILOG)
@click.argument("file", shell_complete=complete_file)
@POSITION
@OWN_GAME
def verify(file: str, position: str | None, game: str | None) -> None:
    """Check the proofs in a file by nothing but the rules of the game.

    Those of values that `cutnode solve --proof FILE` wrote, and those of wins that
    `cutnode mate --proof --json` printed. Each line is: game, position, what is proven, and
    how many positions have an answer. POSITION is what has to be proven, by default any.
    """
    from cutnode.contract.dispatch import game_name
    from cutnode.contract.messages import position_text

    loaded = None if game is None else cutnode.load_game(game)
    proofs = cutnode.read_proofs(file, loaded)
    for proof in proofs:
        proven = proof.position
        if position is not None and cutnode.Game.of(proven).parse(position) != proven:
            raise CutnodeError(f"{file} is a proof of {position_text(proven)}, not of {position}")
        try:
            proof.verify()
        except CutnodeError as error:
            raise CutnodeError(f"{file}: {error}") from None
        about = f"{game_name(type(proven))}  {position_text(proven)}"
        click.echo(f"{about}  {proof.claim()}: {len(proof):,} positions, verified")
