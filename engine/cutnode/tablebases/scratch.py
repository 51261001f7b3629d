"""Arrays of a layer that is being solved: in memory up to a limit, and beyond it on disk."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from cutnode.contract.errors import CutnodeError

PART = 1 << 20
"""Elements of an array processed at a time where that makes copies."""


class Scratch:
    """Room for arrays: *memory* bytes, and beyond that files in *folder*, if one is given.

    A file is mapped, so the system keeps as much of it in memory as it has room for.  It has no
    name, so it disappears with its array or its process, however that ends.
    """

    def __init__(self, memory: int, folder: Path | None = None):
        self.memory = memory
        self.folder = folder

    def zeros(self, size: int, dtype: Any) -> Any:
        """Return an array of zeros; :class:`CutnodeError` if there is no room for it."""
        needed = size * np.dtype(dtype).itemsize
        if needed <= self.memory or needed == 0:
            self.memory -= needed
            return np.zeros(size, dtype)
        if self.folder is None:
            raise CutnodeError(
                f"{needed / 2**20:,.0f} MiB of memory are needed, but only "
                f"{self.memory / 2**20:,.0f} MiB of the limit are left"
            )
        try:
            with tempfile.TemporaryFile(dir=self.folder) as file:
                reserve(file, needed)
                return np.memmap(file, dtype, "r+", shape=(size,))
        except OSError as error:
            raise CutnodeError(
                f"cannot reserve {needed / 2**20:,.0f} MiB in {self.folder}: {error.strerror}"
            ) from None


def reserve(file: BinaryIO, size: int) -> None:
    """Set the size of a file and reserve all of it on the disk; OSError if it does not fit."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file.fileno(), 0, size)
        return
    zeros = bytes(PART)
    for part in parts(size):
        file.write(zeros[: part.stop - part.start])
    file.flush()


def parts(size: int) -> list[slice]:
    """Return the parts of an array of a size, in order."""
    return [slice(first, min(first + PART, size)) for first in range(0, size, PART)]
