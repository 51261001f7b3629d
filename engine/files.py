"""Files that others see whole or not at all, and files that one process at a time may write."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from engine.errors import CutnodeError

__all__ = ["check_file", "lock", "write_whole", "writing"]


def check_file(path: str | os.PathLike[str]) -> None:
    """See before anything is measured that a file can be written."""
    target = Path(path)
    folder = target.parent
    if target.is_dir():
        raise CutnodeError(f"{path} cannot be written: it is a folder")
    if not folder.is_dir():
        raise CutnodeError(f"{path} cannot be written: there is no folder {str(folder)!r}")
    if not os.access(folder, os.W_OK):
        raise CutnodeError(f"{path} cannot be written: {str(folder)!r} does not allow it")


@contextlib.contextmanager
def writing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file to write, which takes its place when all of it is written and on the disk.

    Until then others see the old one, also if the process is killed.
    """
    try:
        handle, aside = tempfile.mkstemp(dir=Path(path).parent, prefix=".writing-")
        try:
            with os.fdopen(handle, "wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            mask = os.umask(0)
            os.umask(mask)
            os.chmod(aside, 0o666 & ~mask)  # as any new file: others may read it
            os.replace(aside, path)
        except BaseException:
            os.unlink(aside)
            raise
    except OSError as error:
        raise CutnodeError(f"{path} cannot be written: {error.strerror}") from None


def write_whole(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file so that others see all of it or nothing."""
    with writing(path) as file:
        file.write(data)


def lock(file: BinaryIO) -> bool:
    """Keep other processes, and other openings in this one, from locking a file.

    False if one has locked it already.  The lock ends with the file or the process.
    """
    try:
        if sys.platform == "win32":
            import msvcrt

            file.seek(1 << 40)  # a byte that nobody reads: there a lock keeps readers out, too
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
