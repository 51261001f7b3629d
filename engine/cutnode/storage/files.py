"""Files that appear complete or not at all."""

from __future__ import annotations

import codecs
import contextlib
import errno
import json
import os
import struct
import tempfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from cutnode.contract.errors import CutnodeError

_NUMBERS = struct.Struct("<II")
_LONGEST_HEADER = 1 << 24


def check_file(path: str | os.PathLike[str]) -> None:
    """Raise :class:`CutnodeError` if a file cannot be written, before anything is computed."""
    target = Path(path)
    if target.is_dir():
        raise CutnodeError(f"{path} cannot be written: it is a folder")
    if _is_device(target):
        if not os.access(target, os.W_OK):
            raise CutnodeError(f"{path} cannot be written: {os.strerror(errno.EACCES)}")
        return
    folder = Path(os.path.realpath(target)).parent if target.is_symlink() else target.parent
    if not folder.is_dir():
        raise CutnodeError(f"{path} cannot be written: there is no folder {str(folder)!r}")
    if not os.access(folder, os.W_OK):
        raise CutnodeError(f"{path} cannot be written: no permission to write in {str(folder)!r}")


@contextlib.contextmanager
def writing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file to write; it replaces the old one when all of it is on the disk.

    Until then others see the old file, even if the process is killed.  A link stays, and the file
    that it leads to is replaced.  Devices such as ``/dev/null`` and pipes are written directly.
    """
    try:
        if _is_device(path):
            with open(path, "wb") as file:
                yield file
            return
        target = os.path.realpath(path)
        handle, aside = tempfile.mkstemp(dir=Path(target).parent, prefix=".writing-")
        try:
            with os.fdopen(handle, "wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            mask = os.umask(0)
            os.umask(mask)
            os.chmod(aside, 0o666 & ~mask)  # like any new file: others may read it
            os.replace(aside, target)
        except BaseException:
            os.unlink(aside)
            raise
    except OSError as error:
        raise CutnodeError(f"{path} cannot be written: {error.strerror}") from None


def _is_device(path: str | os.PathLike[str]) -> bool:
    """Return whether a path is neither a file nor a folder, and so cannot be replaced."""
    return os.path.exists(path) and not (os.path.isfile(path) or os.path.isdir(path))


def write_whole(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file that appears complete or not at all."""
    with writing(path) as file:
        file.write(data)


def decoded(data: bytes) -> str:
    """Return the text of a file, with ``\\n`` as the line ending.

    It is read as UTF-8, or as UTF-16 if it begins with a byte order mark, or else as Windows-1252.
    """
    is_wide = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        text = data.decode("utf-16" if is_wide else "utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("cp1252", "replace")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def header(kind: bytes, about: Mapping[str, Any]) -> bytes:
    """Return the first bytes of a file: its *kind*, and a header as JSON with a checksum."""
    text = json.dumps(about, sort_keys=True).encode()
    return kind + _NUMBERS.pack(len(text), zlib.crc32(text)) + text


def read_header(file: BinaryIO, kind: bytes) -> dict[str, Any]:
    """Read a file's header; the text of a :class:`ValueError` is to follow the file's name."""
    if _read(file, len(kind)) != kind:
        raise ValueError(f"is not a {kind.decode().strip()}")
    numbers = _read(file, _NUMBERS.size)
    if len(numbers) < _NUMBERS.size:
        raise ValueError("is truncated in its header")
    length, check = _NUMBERS.unpack(numbers)
    text = _read(file, min(length, _LONGEST_HEADER))
    if len(text) != length or zlib.crc32(text) != check:
        raise ValueError("is damaged in its header")
    try:
        found = json.loads(text)
    except RecursionError:
        found = None
    if not isinstance(found, dict):
        raise ValueError("is damaged in its header")
    return found


def _read(file: BinaryIO, size: int) -> bytes:
    """Read *size* bytes, or fewer if the file ends."""
    data = b""
    while len(data) < size:
        more = file.read(size - len(data))
        if not more:
            break
        data += more
    return data
