"""The folder in which compiled kernels are kept between processes, and how files get into it.

Files are written under a temporary name and renamed, so a reader sees a whole file or none.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any


@functools.cache
def cache_directory() -> Path | None:
    """Return the folder of compiled kernels: the first of these that is writable.

    ``$CUTNODE_CACHE``; the user's cache folder; a private folder among the temporary files.  None
    if none is writable: then every process compiles for itself.
    """
    return next((path for path in _cache_candidates() if _is_usable(path)), None)


def _cache_candidates() -> Iterator[Path]:
    chosen = os.environ.get("CUTNODE_CACHE")
    with contextlib.suppress(RuntimeError):  # a user without a home
        if chosen:
            yield Path(chosen)
        elif sys.platform == "win32":
            yield Path(os.environ.get("LOCALAPPDATA") or Path.home()) / "cutnode"
        elif sys.platform == "darwin":
            yield Path("~/Library/Caches/cutnode").expanduser()
        else:
            yield Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "cutnode"
    user = os.getuid() if hasattr(os, "getuid") else "user"
    with contextlib.suppress(FileNotFoundError):  # a system without temporary files
        yield Path(tempfile.gettempdir()) / f"cutnode-{user}"


def _is_usable(directory: Path) -> bool:
    """Return whether *directory* is writable and owned by nobody else (it holds code)."""
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        if hasattr(os, "getuid") and directory.stat().st_uid != os.getuid():
            return False
        with tempfile.TemporaryFile(dir=directory):
            return True
    except OSError:
        return False


def write_whole(path: Path, data: bytes) -> None:
    """Write a file so that other processes see all of it or nothing."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, aside = tempfile.mkstemp(dir=path.parent, prefix=".writing-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.replace(aside, path)
    except BaseException:
        os.unlink(aside)
        raise


def discard(path: Path) -> None:
    """Delete a file, unless another process has it open where that forbids it."""
    with contextlib.suppress(OSError):
        path.unlink()


def read_memo(name: str) -> dict[str, Any]:
    """Return what :func:`write_memo` kept under a name; empty if it is missing or damaged."""
    directory = cache_directory()
    with contextlib.suppress(OSError, ValueError):
        if directory is not None:
            data = (directory / name).read_bytes()
            if data[:SEAL] == _seal(data[SEAL:]):
                return dict(json.loads(data[SEAL:]))
    return {}


def write_memo(name: str, memo: dict[str, Any]) -> None:
    """Keep a dictionary of JSON values in the folder under a *name*, if there is a folder.

    A memo saves work and nothing else: of two processes that write at once, one may lose its news.
    """
    directory = cache_directory()
    if directory is not None:
        data = json.dumps(memo, separators=(",", ":")).encode()
        with contextlib.suppress(OSError):
            write_whole(directory / name, _seal(data) + data)


SEAL = 33


def _seal(data: bytes) -> bytes:
    """Return the line in front of a memo: a checksum."""
    return hashlib.blake2b(data, digest_size=16).hexdigest().encode() + b"\n"
