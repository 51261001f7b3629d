"""The rows of a batch while it runs, in memory and in its journal."""

from __future__ import annotations

import os
import struct
import threading
from typing import Any

import numpy as np

from cutnode.contract.stop import CALLED
from cutnode.contract.verbs import NO_MOVE
from cutnode.storage.journal import Journal

SPAN = struct.Struct("<QQ")
"""The header of a journal record: the number of the first position, and the number of rows."""


class KeptRows:
    """The rows of a batch, in memory and in its journal."""

    def __init__(self, count: int, dtype: np.dtype[Any]):
        self.rows = np.zeros(count, dtype)
        self.rows["reason"] = CALLED
        self.rows["move"] = NO_MOVE
        self.done = 0
        self.journal: Journal | None = None
        self._lock = threading.Lock()

    def open(self, path: str | os.PathLike[str], about: dict[str, Any]) -> None:
        """Open the journal of this batch, and restore its rows."""
        self.journal = Journal(path, about, self._restore)
        self.done = int(np.count_nonzero(self.rows["reason"] != CALLED))

    def _restore(self, record: bytes) -> None:
        first, count = SPAN.unpack_from(record)
        self.rows[first : first + count] = np.frombuffer(record, self.rows.dtype, offset=SPAN.size)

    def todo(self) -> list[tuple[int, int]]:
        """Return the spans that are not done."""
        missing = np.diff(self.rows["reason"] == CALLED, prepend=False, append=False)
        edges = np.flatnonzero(missing).tolist()
        return list(zip(edges[::2], edges[1::2], strict=True))

    def put(self, first: int, rows: Any) -> None:
        """Store the rows of positions from *first*: done ones, then ones that are not done."""
        count = int(np.count_nonzero(rows["reason"] != CALLED))
        self.rows[first : first + len(rows)] = rows
        with self._lock:
            self.done += count
        if self.journal is not None and count:
            self.journal.append(SPAN.pack(first, count) + rows[:count].tobytes())
