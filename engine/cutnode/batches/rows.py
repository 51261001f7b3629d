"""The rows of a batch while it runs, in memory and in its journal."""

from __future__ import annotations

import os
import struct
import threading
from typing import Any

import numpy as np

from cutnode.batches.journal import Journal
from cutnode.contract.stop import CALLED
from cutnode.contract.verbs import NO_MOVE

SPAN = struct.Struct("<QQ")
"""Before the rows of a record of the journal: the number of the first position, and how many."""


class KeptRows:
    """The rows of a batch, in memory and in the journal."""

    def __init__(self, count: int, dtype: np.dtype[Any]):
        self.rows = np.zeros(count, dtype)
        self.rows["reason"] = CALLED
        self.rows["move"] = NO_MOVE
        self.done = 0
        self.journal: Journal | None = None
        self._lock = threading.Lock()

    def open(self, path: str | os.PathLike[str], about: dict[str, Any]) -> None:
        """Take what the journal of this batch holds, and go on with it."""
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
        """Keep rows from a position on: of some that are done, and then of others."""
        count = int(np.count_nonzero(rows["reason"] != CALLED))
        self.rows[first : first + len(rows)] = rows
        with self._lock:
            self.done += count
        if self.journal is not None and count:
            self.journal.append(SPAN.pack(first, count) + rows[:count].tobytes())
