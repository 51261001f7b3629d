"""Files that others see whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from engine.errors import CutnodeError

__all__ = ["check_file", "write_whole"]


def check_file(path: str) -> None:
    """See before anything is measured that a file can be written."""
    target = Path(path)
    folder = target.parent
    if target.is_dir():
        raise CutnodeError(f"{path} cannot be written: it is a folder")
    if not folder.is_dir():
        raise CutnodeError(f"{path} cannot be written: there is no folder {str(folder)!r}")
    if not os.access(folder, os.W_OK):
        raise CutnodeError(f"{path} cannot be written: {str(folder)!r} does not allow it")


def write_whole(path: str, data: bytes) -> None:
    """Write a file so that others see all of it or nothing."""
    folder = Path(path).parent
    try:
        handle, aside = tempfile.mkstemp(dir=folder, prefix=".writing-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            mask = os.umask(0)
            os.umask(mask)
            os.chmod(aside, 0o666 & ~mask)  # as any new file: others may read it
            os.replace(aside, path)
        except BaseException:
            os.unlink(aside)
            raise
    except OSError as error:
        raise CutnodeError(f"{path} cannot be written: {error.strerror}") from None
