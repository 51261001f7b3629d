"""Compression of a layer's symbols, to store or send a tablebase: Zstandard, in frames."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from cutnode.contract.extras import extra

FRAME = 1 << 20
"""Bytes compressed at a time."""

LEVEL = 9

LEAST_SAVED = 1 / 8
"""The least fraction of bytes to save; otherwise symbols stay uncompressed and can be mapped."""


def _zstandard() -> Any:
    return extra("zstandard", "compress", "compressed tablebases need")


def _frames(words: Any) -> Iterator[Any]:
    data = memoryview(words).cast("B")
    return (data[at : at + FRAME] for at in range(0, len(data), FRAME))


def compressed(words: Any) -> tuple[Any, Any] | None:
    """Return words as compressed bytes, and the size of each frame; None if it saves too little."""
    compressor = _zstandard().ZstdCompressor(level=LEVEL)
    frames = [compressor.compress(frame) for frame in _frames(words)]
    sizes = np.array([len(frame) for frame in frames], np.int64)
    if sizes.sum() > (1 - LEAST_SAVED) * words.nbytes:
        return None
    return np.frombuffer(b"".join(frames), np.uint8), sizes


def expanded(packed: Any, sizes: Any, count: int) -> Any:
    """Return *count* words from compressed frames; :class:`ValueError` if the sizes do not fit."""
    decompressor = _zstandard().ZstdDecompressor()
    words = np.zeros(count, np.uint64)
    first = 0
    for frame, size in zip(_frames(words), sizes.tolist(), strict=True):
        frame[:] = decompressor.decompress(packed[first : first + size].tobytes())
        first += size
    return words
