"""Locks between processes: files that one process at a time can lock."""

from __future__ import annotations

import errno
import sys
from typing import BinaryIO

from cutnode.contract.errors import CutnodeError


def lock(file: BinaryIO) -> bool:
    """Lock a file against other processes, and against other handles in this one.

    Return False if another one holds the lock.  Closing the file or ending the process releases it.
    :class:`CutnodeError` if files cannot be locked in its place.
    """
    try:
        if sys.platform == "win32":
            import msvcrt

            file.seek(1 << 40)  # a byte that nobody reads, as a lock keeps readers out, too
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EACCES, errno.EAGAIN, errno.EDEADLK):
            return False
        raise CutnodeError(f"{file.name} cannot be locked: {error.strerror}") from None
    return True
