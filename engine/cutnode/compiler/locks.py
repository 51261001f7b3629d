"""Locks between processes: files of which one process at a time is in charge."""

from __future__ import annotations

import errno
import sys
from typing import BinaryIO

from cutnode.contract.errors import CutnodeError


def lock(file: BinaryIO) -> bool:
    """Keep other processes, and other openings in this one, from locking a file.

    False if one has locked it already.  The lock ends with the file or the process.
    :class:`CutnodeError` if files cannot be locked where it is.
    """
    try:
        if sys.platform == "win32":
            import msvcrt

            file.seek(1 << 40)  # a byte that is never read: a lock keeps readers out, too
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EACCES, errno.EAGAIN, errno.EDEADLK):
            return False
        raise CutnodeError(f"{file.name} cannot be locked: {error.strerror}") from None
    return True
