"""A journal: a file of records that survives the death of the process that writes it.

A journal belongs to one job, which its header describes.  Records are only appended, each in one
system call and with a checksum.  A killed process loses at most the record that it was writing;
a crash of the computer may lose the last seconds.  Opening a journal again for the same job
returns all complete records.  Several processes can append to a *shared* journal, and read what
the others append.

The file, with all numbers in little-endian order::

    "cutnode journal\\n"   the kind of file
    2 words of 32 bits    the length of the header, and its CRC-32
    the header            JSON: the job, and the version of this format
    for each record:
        4 bytes           a mark, by which the next record is found after a damaged one
        2 words           the length of the record, and the CRC-32 of length and record
        the record        bytes, whose meaning is up to the owner
"""

from __future__ import annotations

import json
import mmap
import os
import struct
import threading
import time
import zlib
from collections.abc import Callable, Mapping
from typing import Any, BinaryIO

from cutnode.compiler.locks import lock
from cutnode.contract.errors import CutnodeError
from cutnode.contract.text import quoted
from cutnode.storage.files import header, read_header

VERSION = 1
KIND = b"cutnode journal\n"
MARK = b"\xc7\xf1Rj"
FRAME = struct.Struct("<4sII")

HEADER_SECONDS = 5.0
"""The longest wait, in seconds, for another process to write the header of a shared journal."""

SYNC_SECONDS = 2.0
"""The least interval between two calls of fsync, in seconds."""


class Journal:
    """The journal of a job, open for more records.

    *about* describes the job as JSON data: everything that its records depend on.  *take* is
    called with each complete record already in the file.  A missing file is created.  Only one
    journal may have the file open at a time, unless all are *shared*; several threads may append to
    it.

    :class:`CutnodeError` if the file is not a journal, belongs to another job (the message says
    how it differs), is in use, or cannot be written.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        about: Mapping[str, Any],
        take: Callable[[bytes], None] | None = None,
        *,
        shared: bool = False,
    ):
        self.path = os.fspath(path)
        self.shared = shared
        self.first = True
        """Whether no other process had the file open."""
        self.damaged = 0
        """The bytes of damaged records that were skipped when the file was opened."""
        self.restored = 0
        """The records that the file held when it was opened."""
        self._lock = threading.Lock()
        self._synced = time.monotonic()
        self._dirty = False
        self._end = self._records = 0
        try:
            flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0) | shared * os.O_APPEND
            handle = os.open(self.path, flags, 0o666)
            self._file: BinaryIO = os.fdopen(handle, "r+b", buffering=0)
        except OSError as error:
            raise self._broken(f"cannot be opened: {error.strerror}") from None
        try:
            self._open({"version": VERSION, **about}, take)
        except BaseException:
            self._file.close()
            raise

    def _open(self, about: Mapping[str, Any], take: Callable[[bytes], None] | None) -> None:
        self.first = lock(self._file)
        if not (self.first or self.shared):
            raise self._broken("is in use: another process is writing to it")
        front = header(KIND, about)
        if self._begin(front):
            return
        self._file.seek(0)
        try:
            self._check(read_header(self._file, KIND), json.loads(json.dumps(about)))
        except ValueError as reason:
            raise self._broken(str(reason)) from None
        self._end = self._file.tell()
        self.restored = self.read(take)
        self.damaged += os.fstat(self._file.fileno()).st_size - self._end
        if not self.shared:
            self._file.truncate(self._end)

    def _begin(self, front: bytes) -> bool:
        """Write the header if the file is new, or was truncated within its header."""
        patience = time.monotonic() + HEADER_SECONDS
        while True:
            self._file.seek(0)
            start = b""
            while more := self._file.read(len(front) - len(start)):
                start += more
            whole = os.fstat(self._file.fileno()).st_size == len(start) < len(front)
            if not (whole and front.startswith(start)):
                return False
            if self.first:
                self._end = 0
                self._file.truncate(0)
                self._write(front)
                return True
            if time.monotonic() > patience:
                raise self._broken("is in use, and has no header yet")
            time.sleep(0.01)  # the process that created the file is about to write it

    def read(self, take: Callable[[bytes], None] | None) -> int:
        """Pass to *take* the complete records appended since the last call; return their number.

        In a shared journal they include the records appended here.
        """
        before = self._records
        with self._lock:
            if os.fstat(self._file.fileno()).st_size > self._end:
                with mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                    self._restore(data, take)
        return self._records - before

    def _check(self, found: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
        """Raise :class:`ValueError` if the header found in the file belongs to another job."""
        for name in sorted({*found, *wanted}, key=lambda name: (name != "game", name)):
            if found.get(name) != wanted.get(name):
                was, now = (quoted(str(of.get(name))) for of in (found, wanted))
                raise ValueError(f"belongs to another job: its {name} is {was}, not {now}")

    def _restore(self, data: mmap.mmap, take: Callable[[bytes], None] | None) -> None:
        """Pass the complete records to *take*; the file will end after the last of them."""
        at = self._end
        while 0 <= at < len(data):
            record = _record_at(data, at)
            if record is None:
                at = data.find(MARK, at + 1)
                continue
            self.damaged += at - self._end
            at += FRAME.size + len(record)
            self._end = at
            self._records += 1
            if take is not None:
                take(record)

    def append(self, record: bytes) -> None:
        """Append a record, which survives a kill of this process; :meth:`sync` puts it on disk."""
        check = zlib.crc32(record, zlib.crc32(struct.pack("<I", len(record))))
        with self._lock:
            self._write(FRAME.pack(MARK, len(record), check) + record)

    def _write(self, data: bytes) -> None:
        try:
            self._file.seek(self._end)
            if self._file.write(data) != len(data):
                raise OSError(None, "no space left on the device")
        except OSError as error:
            if not self.shared:
                self._file.truncate(self._end)
            raise self._broken(f"cannot be written: {error.strerror}") from None
        if not self.shared or self._end == 0:
            self._end += len(data)
        self._dirty = True

    def sync(self, *, now: bool = False) -> bool:
        """Flush the records to disk, if *now* or if the last flush was some seconds ago.

        Return whether it did.
        """
        if not self._dirty or not (now or time.monotonic() - self._synced >= SYNC_SECONDS):
            return False
        self._dirty = False
        try:
            os.fsync(self._file.fileno())
        except OSError as error:
            raise self._broken(f"cannot be written: {error.strerror}") from None
        self._synced = time.monotonic()
        return True

    def close(self) -> None:
        """Flush all records to disk, and close the file so that others can open it."""
        if not self._file.closed:
            self.sync(now=True)
            self._file.close()

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    def _broken(self, what: str) -> CutnodeError:
        return CutnodeError(f"the journal {self.path} {what}")


def _record_at(data: mmap.mmap, at: int) -> bytes | None:
    """Return the complete record that begins at an offset; None if there is none."""
    start = at + FRAME.size
    if start > len(data):
        return None
    mark, length, check = FRAME.unpack(data[at:start])
    if mark != MARK or start + length > len(data):
        return None
    record = data[start : start + length]
    if zlib.crc32(record, zlib.crc32(struct.pack("<I", length))) != check:
        return None
    return record
