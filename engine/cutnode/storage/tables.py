"""Transposition tables in Python: their memory, their files, and their owners.

:mod:`cutnode.kernels.table` describes the layout of entries in memory.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from cutnode.contract.errors import CutnodeError, TableError, require_integer
from cutnode.kernels.expansion import put_back
from cutnode.kernels.graph import GRAPH, Graph
from cutnode.kernels.table import (
    AGE_AT,
    BUCKET_BYTES,
    BUCKET_WORDS,
    BUCKETS,
    COLD,
    ENTRY_WORDS,
    FIRST_AGE,
    HEADER_WORDS,
    HIGHEST,
    SALT,
    WORK_AT,
)
from cutnode.runtime.unpickled import Unpickled
from cutnode.storage.arrays import class_in, identity, read_arrays, write_arrays

BLOCK_WORDS = BUCKET_WORDS << 17
"""The words that are looked through at a time, in :meth:`Table.entries`."""

TABLE_KIND = b"cutnode table\n"


class Table(Unpickled):
    """A transposition table of a given size in MiB, to share between searches.

    The memory is reserved at once and touched as searches need it.  *words* is memory to use
    instead: zeroed or a table's, of the same size, and aligned to a cache line.
    :class:`TableError` if the size is not positive or memory is short.
    """

    def __init__(self, megabytes: int = 256, *, words: np.ndarray | None = None):
        megabytes = require_integer(megabytes, "the size of a table in MiB")
        if megabytes < 1:
            raise TableError(f"a table needs at least 1 MiB, got {megabytes}")
        room = available_megabytes()
        if room is not None and megabytes > room:
            raise TableError(
                f"a table of {megabytes} MiB does not fit: {room} MiB of memory are available"
            )
        self.words = new_words(megabytes) if words is None else words
        self.megabytes = megabytes
        self.entry_words = ENTRY_WORDS
        self.in_use = threading.Lock()
        """The lock that a search with this table holds: only one search at a time."""
        self.owner: type | None = None
        """The class of the stored positions."""
        self.margins: dict[int, tuple[int, int]] | None = None
        """How clearly proof-number searches decided lines, by target: the least value of lines
        that reached it, and the greatest value of the others.  None if unknown."""
        self.forget()

    @property
    def buckets(self) -> int:
        """The number of buckets that fit into the memory."""
        return (len(self.words) - HEADER_WORDS) // BUCKET_WORDS

    def forget(self) -> None:
        """Hide all that is stored from the next search, in constant time."""
        self.words[COLD] = 1
        self.margins = {}

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Hold the table for one search; :class:`CutnodeError` if another has it."""
        if not self.in_use.acquire(blocking=False):
            raise CutnodeError(
                "another search uses this table: wait until it ends, or use another table"
            )
        try:
            yield
        finally:
            self.in_use.release()

    def claim(self, cls: type, entry_words: int = ENTRY_WORDS) -> None:
        """Claim the table for a class of positions; forget entries of another, with other keys."""
        self.lay_out(entry_words)
        if self.owner not in (None, cls):
            self.forget()
        self.owner = cls

    def lay_out(self, entry_words: int) -> None:
        """Clear the region in use if the number of words of an entry changes."""
        if entry_words != self.entry_words:
            self.words[HEADER_WORDS : HEADER_WORDS + int(self.words[HIGHEST]) * BUCKET_WORDS] = 0
            self.entry_words = entry_words
            self.forget()

    def fill(self, sample: int = 64) -> float:
        """Return the share of entries in use by this generation, estimated from a sample."""
        header = self.words[:BUCKET_WORDS].tolist()
        buckets = min(sample, header[BUCKETS])
        entries = self.words[HEADER_WORDS : HEADER_WORDS + buckets * BUCKET_WORDS]
        data = entries[1 :: self.entry_words]
        used = np.count_nonzero(data >= np.uint64(max(header[FIRST_AGE], 1) << AGE_AT))
        return float(used / max(data.size, 1) * header[BUCKETS] / self.buckets)

    def entries(self, work: int) -> np.ndarray:
        """Return the entries of this generation that took *work* or more: rows of key and data.

        A search may be using the table: an entry that it writes at the same moment may come with a
        key that belongs to no position.
        """
        header = self.words[:BUCKET_WORDS].tolist()
        end = HEADER_WORDS + header[BUCKETS] * BUCKET_WORDS
        least = np.uint64(max(header[FIRST_AGE], 1))
        without_age = np.uint64((1 << AGE_AT) - 1)  # the work is the highest part of it
        found = [np.zeros((0, ENTRY_WORDS), np.uint64)]
        for start in range(HEADER_WORDS, end, BLOCK_WORDS):
            pairs = self.words[start : min(start + BLOCK_WORDS, end)].reshape(-1, ENTRY_WORDS)
            rows = pairs[pairs[:, 1] & without_age >= np.uint64(work << WORK_AT)]
            rows = rows[rows[:, 1] >> np.uint64(AGE_AT) >= least]
            rows[:, 0] ^= rows[:, 1] ^ np.uint64(header[SALT])
            rows[:, 1] &= without_age
            found.append(rows)
        return np.concatenate(found)

    def put_back(self, entries: np.ndarray, *, during: bool = False) -> None:
        """Put back what :meth:`entries` returned; *during* a search, where they fit."""
        if not len(entries):
            return
        run = put_back.specialise(Graph)
        run(GRAPH, np.ascontiguousarray(entries).reshape(-1), not during, self.words)
        self.margins = None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the table to a file, which appears only when all of it is written.

        No search may use the table meanwhile.  :class:`GameError` if the rules that filled it are
        not in a file, :class:`CutnodeError` if the file cannot be written.
        """
        words = self.words[: HEADER_WORDS + int(self.words[BUCKETS]) * BUCKET_WORDS]
        front = words[:BUCKET_WORDS].copy()
        front[HIGHEST] = front[BUCKETS]  # leftovers of earlier generations beyond it are not saved
        about = {
            **({} if self.owner is None else identity(self.owner)),
            "megabytes": self.megabytes,
            "entry words": self.entry_words,
        }
        write_arrays(path, TABLE_KIND, about, {"front": front, "words": words})

    @staticmethod
    def load(path: str | os.PathLike[str], *, map: bool = True) -> Table:
        """Load a saved table; searches continue with it as if it had never left memory.

        With *map*, a table that was wholly in use is mapped copy-on-write instead of read.
        :class:`TableError` if the file is not a table, is damaged, or is about a game that is not
        loaded or has other rules now.
        """
        about, arrays = read_arrays(path, TABLE_KIND, TableError, map=True)
        megabytes = about["megabytes"]
        cls = class_in(about, path, TableError) if "class" in about else None
        words = arrays["words"]
        if map and len(words) == megabytes << 17:
            table = Table(megabytes, words=words)
        else:
            table = Table(megabytes)
            table.words[: len(words)] = words
        table.words[: len(arrays["front"])] = arrays["front"]
        table.entry_words = about["entry words"]
        table.owner = cls
        table.margins = None
        return table

    def __repr__(self) -> str:
        return f"Table({self.megabytes})"


@contextlib.contextmanager
def holding(table: Table | int) -> Iterator[Table]:
    """Hold a table for one search: the given one, or a new one of the given size in MiB."""
    table = table if isinstance(table, Table) else Table(table)
    with table.held():
        yield table


def new_words(megabytes: int) -> np.ndarray:
    """Return zeroed memory for a table, aligned to a cache line."""
    try:
        words = np.zeros((megabytes << 17) + BUCKET_WORDS, np.uint64)
    except MemoryError:
        raise TableError(f"no memory for a table of {megabytes} MiB") from None
    skip = -words.ctypes.data % BUCKET_BYTES // 8
    return words[skip : skip + (megabytes << 17)]


def available_megabytes() -> int | None:
    """Return the memory available without swapping, in MiB; None if unknown."""
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) >> 10
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") >> 20
    except (OSError, ValueError, AttributeError):
        return None
