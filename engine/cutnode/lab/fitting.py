"""Files and options of the programs that fit the weights of a game's evaluation."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import numpy as np

from cutnode.contract.errors import CutnodeError
from cutnode.storage.files import write_whole


class FileCommands(click.Group):
    """A group whose commands report problems with files in one line."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except (OSError, CutnodeError) as error:
            raise click.ClickException(str(error)) from None


FOLDER = click.argument("folder", type=click.Path(file_okay=False, path_type=Path))


def weights_option(usual: Path) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The option ``--weights FILE``, by default the *usual* file."""
    return click.option(
        "--weights",
        type=click.Path(dir_okay=False, path_type=Path),
        default=usual,
        help="The file of weights, by default the one that the game uses.",
    )


def write_rows(path: Path, rows: np.ndarray[Any, Any]) -> None:
    """Write rows to a file of numpy, completely or not at all."""
    file = io.BytesIO()
    np.save(file, rows)
    write_whole(str(path), file.getvalue())


def read_rows(path: Path, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """Read the rows of a file; :class:`CutnodeError` if they are not of the *dtype*."""
    try:
        rows: Any = np.load(path)
    except (ValueError, EOFError):
        rows = None
    if getattr(rows, "dtype", None) != dtype:
        raise CutnodeError(f"{path} is not a file of positions")
    return rows  # type: ignore[no-any-return]
