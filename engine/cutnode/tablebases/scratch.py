"""Arrays of a layer that is being solved: in memory as far as that is allowed, else on disk."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from cutnode.contract.errors import CutnodeError

PART = 1 << 20
"""Numbers of an array that are treated at a time, where copies are made."""


class Scratch:
    """Room for arrays: so many bytes of *memory*, and past that files in *folder*, if one is given.

    A file is mapped into memory, so that the system keeps there what it has room for.  It has no
    name, and goes with its array or its process, however that ends.
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
                f"{needed / 2**20:,.0f} MiB of memory are needed, and {self.memory / 2**20:,.0f} "
                f"are left of what is allowed"
            )
        try:
            with tempfile.TemporaryFile(dir=self.folder) as file:
                reserve(file, needed)
                return np.memmap(file, dtype, "r+", shape=(size,))
        except OSError as error:
            raise CutnodeError(
                f"{needed / 2**20:,.0f} MiB cannot be had in {self.folder}: {error.strerror}"
            ) from None


def reserve(file: BinaryIO, size: int) -> None:
    """Give a file a size, and all of it room on the disk: OSError if there is not that much."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file.fileno(), 0, size)
        return
    zeros = bytes(PART)
    for part in parts(size):
        file.write(zeros[: part.stop - part.start])
    file.flush()


def parts(size: int) -> list[slice]:
    """Return the parts of arrays of a size, one after the other."""
    return [slice(first, min(first + PART, size)) for first in range(0, size, PART)]
