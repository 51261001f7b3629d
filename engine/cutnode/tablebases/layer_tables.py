"""The solved layers of a tablebase in memory, and the directory by which kernels find them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from cutnode.contract.dispatch import defines, game_constant, value_limit
from cutnode.kernels.codes import DRAWN, HOLE, Codes, read_codes
from cutnode.kernels.tablebase import ENTRY, MOST_BITS, pack_symbols

PART = 1 << 20
"""Symbols packed at a time: a multiple of 64."""

DISTANCES, POINTS, CHANCES = "distances", "points", "chances"
"""The kinds of tablebase: win, draw and loss with distances; values in points; expected values."""


def kind_of(cls: Any) -> str:
    """Return the kind of tablebase that fits a game."""
    if defines(cls, "chance"):
        return CHANCES
    if game_constant(cls, "DECISIVE", 0) or value_limit(cls) == 1:
        return DISTANCES
    return POINTS


@dataclass(frozen=True, slots=True)
class LayerTable:
    """A solved layer: a symbol for each index, packed, and what the symbols mean.

    *symbols* are words of 64 bits, with a spare one at the end, in an array, or
    :class:`PackedSymbols` until they are in a directory or a file.  *meanings* are integers (codes
    of :mod:`cutnode.kernels.retrograde`, or points), or for floats the lowest value and the step
    between values.  *error* is the largest error of a value.  *counts* has statistics of the layer:
    ``positions``, ``wins``, ``draws``, ``losses``, ``longest`` if there are distances, and
    ``codes``, the number of positions with each code.
    """

    number: int
    name: str
    size: int
    bits: int
    symbols: Any
    meanings: Any
    error: float = 0.0
    counts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def farthest(self) -> int:
        """The longest distance in the layer, 0 if none is known."""
        return int(self.counts.get("longest", 0))


class PackedSymbols:
    """Symbols of *bits* bits each, which are packed part by part where they are needed.

    *symbols* returns them from one index to another, as uint64, made from the array *memory*.
    """

    dtype = np.dtype(np.uint64)

    def __init__(
        self, cls: Any, size: int, bits: int, symbols: Callable[[int, int], Any], memory: Any
    ):
        self._pack = pack_symbols.specialise(cls)
        self._size, self._bits, self._symbols, self._memory = size, bits, symbols, memory

    def __len__(self) -> int:
        """Return the number of words; there is a spare one at the end."""
        return self._size * self._bits // 64 + 2

    def parts(self) -> Iterator[Any]:
        """Yield the words, in arrays of a multiple of a MiB but for the last."""
        for first in range(0, max(self._size, 1), 8 * PART):
            end = min(first + 8 * PART, self._size)
            words = np.zeros((end - first) * self._bits // 64 + 2, np.uint64)
            self._write(first, end, words)
            yield words if end == self._size else words[:-2]

    def array(self) -> Any:
        """Return all words, written over the memory that they are made from if they fit there.

        Packed symbols never overtake the part still to be read.
        """
        words = self._memory[: self._memory.nbytes // 8 * 8 // self._memory.itemsize]
        words = words.view(np.uint64)[: len(self)]
        if len(words) < len(self):
            words = np.zeros(len(self), np.uint64)
        self._write(0, self._size, words)
        return words

    def _write(self, first: int, end: int, words: Any) -> None:
        for start in range(first, end, PART):
            symbols = self._symbols(start, min(start + PART, end))
            self._pack(symbols, start - first, self._bits, words)
        words[((end - first) * self._bits + 63) // 64 :] = 0


def codes_in(cls: Any, codes: Codes, first: int, end: int) -> Any:
    """Return the codes from one index to another."""
    found = np.zeros(end - first, np.int64)
    read_codes.specialise(cls)(codes, first, found)
    return found


def code_counts(cls: Any, size: int, codes: Codes) -> dict[int, int]:
    """Return the number of positions with each code; draws count as code 0."""
    counts = np.zeros(1 << 16, np.int64)
    for first in range(0, size, PART):
        symbols = codes_in(cls, codes, first, min(first + PART, size)) - HOLE
        counts += np.bincount(symbols, minlength=1 << 16)
    counts[-HOLE] += counts[DRAWN - HOLE]
    counts[DRAWN - HOLE] = counts[0] = 0
    return {int(code) + HOLE: int(counts[code]) for code in np.flatnonzero(counts)}


def table_of_codes(
    cls: Any, number: int, name: str, size: int, codes: Codes, metric: str
) -> LayerTable:
    """Return the table of a solved layer; to hold its symbols at once overwrites the codes."""
    counts = code_counts(cls, size, codes)
    if metric == "wdl":
        meanings = sorted({(code > 0) - (code < 0) for code in counts}) or [0]
        wanted = {code: meanings.index((code > 0) - (code < 0)) for code in counts}
    else:
        meanings = sorted(counts) or [0]
        wanted = {code: place for place, code in enumerate(meanings)}
    lookup = np.zeros(1 << 16, np.uint64)
    for code, symbol in wanted.items():
        lookup[code - HOLE] = symbol
    lookup[[0, DRAWN - HOLE]] = wanted.get(0, 0)
    bits = (len(meanings) - 1).bit_length()
    symbols = PackedSymbols(
        cls,
        size,
        bits,
        lambda first, end: lookup[codes_in(cls, codes, first, end) - HOLE],
        codes.near if len(codes.filled) == 0 else np.zeros(0, np.uint8),
    )
    wins = sum(count for code, count in counts.items() if code > 0)
    losses = sum(count for code, count in counts.items() if code < 0)
    about = {
        "positions": sum(counts.values()),
        "wins": wins,
        "draws": counts.get(0, 0),
        "losses": losses,
        "codes": {str(code): count for code, count in sorted(counts.items())},
    }
    if metric not in ("points", "wdl"):
        about["longest"] = max((abs(code) - 1 for code in counts if code), default=0)
    integers = np.array(meanings, np.int64)
    return LayerTable(number, name, size, bits, symbols, integers, counts=about)


def table_of_values(
    cls: Any, number: int, name: str, values: Any, error: float, step: float
) -> LayerTable:
    """Return the table of a solved layer; to hold its symbols at once overwrites the values.

    Each value is rounded to the lowest value plus a multiple of a step.
    """
    known = np.isfinite(values)
    lowest = float(np.min(values, where=known, initial=np.inf)) if known.any() else 0.0
    highest = float(np.max(values, where=known, initial=-np.inf)) if known.any() else 0.0
    step = max(step, (highest - lowest) / ((1 << MOST_BITS) - 2)) or 1.0
    bits = int((highest - lowest) / step + 1).bit_length()

    def symbols(first: int, end: int) -> Any:
        part = np.nan_to_num(values[first:end], nan=lowest)
        return np.rint((part - lowest) / step).astype(np.uint64)

    about = {"positions": int(known.sum())}
    scale = np.array([lowest, step])
    words = PackedSymbols(cls, len(values), bits, symbols, values)
    return LayerTable(number, name, len(values), bits, words, scale, error + step, about)


class Directory:
    """The addresses of a tablebase's layers, as kernels take them (``numbers``)."""

    def __init__(self, layers: int, keys: Any = None):
        self.numbers = np.zeros(layers * ENTRY, np.int64)
        self.layers: dict[int, LayerTable] = {}
        self._kept: list[Any] = [keys]
        if keys is not None:
            self.numbers[3:5] = len(keys), keys.ctypes.data

    def add(self, table: LayerTable) -> None:
        """Add a layer, so that kernels find it."""
        if isinstance(table.symbols, PackedSymbols):
            table = replace(table, symbols=table.symbols.array())
        self.layers[table.number] = table
        error = int(np.float64(table.error).view(np.int64))
        at = table.number * ENTRY
        self.numbers[at : at + 4] = (
            table.symbols.ctypes.data,
            table.bits,
            table.meanings.ctypes.data,
            table.size,
        )
        self.numbers[at + 5] = error
