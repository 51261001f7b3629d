"""The solved layers of a tablebase in memory, and the directory by which kernels find them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cutnode.contract.dispatch import defines, game_constant, value_limit
from cutnode.kernels.retrograde import DRAWN, HOLE
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

    *symbols* are words of 64 bits, with a spare one at the end.  *meanings* are integers (codes of
    :mod:`cutnode.kernels.retrograde`, or points), or for floats the lowest value and the step
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


def packed(cls: Any, size: int, bits: int, symbols: Callable[[int, int], Any], memory: Any) -> Any:
    """Return symbols packed; *symbols* returns them from one index to another, as uint64.

    They are written over *memory* if they fit.  *memory* is the array that they are made from, and
    packed symbols never overtake the part still to be read.
    """
    go = pack_symbols.specialise(cls)
    needed = size * bits // 64 + 2
    words = memory[: len(memory) * memory.itemsize // 8 * 8 // memory.itemsize].view(np.uint64)
    words = words[:needed] if len(words) >= needed else np.zeros(needed, np.uint64)
    for first in range(0, size, PART):
        go(symbols(first, min(first + PART, size)), first, bits, words)
    words[(size * bits + 63) // 64 :] = 0
    return words


def code_counts(codes: Any) -> dict[int, int]:
    """Return the number of positions with each code; draws count as code 0."""
    counts = np.zeros(1 << 16, np.int64)
    part = 1 << 22
    for first in range(0, len(codes), part):
        symbols = codes[first : first + part].astype(np.int64) - HOLE
        counts += np.bincount(symbols, minlength=1 << 16)
    counts[-HOLE] += counts[DRAWN - HOLE]
    counts[DRAWN - HOLE] = counts[0] = 0
    return {int(code) + HOLE: int(counts[code]) for code in np.flatnonzero(counts)}


def table_of_codes(cls: Any, number: int, name: str, codes: Any, metric: str) -> LayerTable:
    """Pack the codes of a solved layer in the same memory, which overwrites them."""
    counts = code_counts(codes)
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
    symbols = packed(
        cls,
        len(codes),
        bits,
        lambda first, end: lookup[codes[first:end].astype(np.int64) - HOLE],
        codes,
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
    return LayerTable(number, name, len(codes), bits, symbols, integers, counts=about)


def table_of_values(
    cls: Any, number: int, name: str, values: Any, error: float, step: float
) -> LayerTable:
    """Pack the values of a solved layer in the same memory, which overwrites them.

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
    words = packed(cls, len(values), bits, symbols, values)
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
