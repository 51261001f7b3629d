"""The command ``cutnode new``."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from cutnode.contract.errors import CutnodeError
from cutnode.contract.text import quoted


@click.command(epilog="\b\nFILE      a new file such as my_game.py; nothing is overwritten.")
@click.argument("file")
def new(file: str) -> None:
    """Write a small game to FILE, which passes `cutnode check`, to be replaced by yours."""
    path = Path(file)
    taken = path.stem in {*sys.stdlib_module_names, "cutnode", "numba", "numpy"}
    if path.suffix != ".py" or not path.stem.isidentifier() or taken:
        raise CutnodeError(f"{quoted(file)} is not a name for a game: write one such as my_game.py")
    template = Path(__file__).with_name("template.py").read_text()
    try:
        with path.open("x") as target:
            target.write(template)
    except FileExistsError:
        raise CutnodeError(f"{file} is there already") from None
    except OSError as error:
        raise CutnodeError(f"{file} cannot be written: {error.strerror}") from None
    click.echo(f"{file}: a game of Nim. Try: cutnode check {file}; cutnode solve {file}")
