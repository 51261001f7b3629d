"""The memory of kernels: named numbers and arrays that Python can read and write as well."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from cutnode.contract.dispatch import is_plain
from cutnode.contract.native import for_kernel, records
from cutnode.contract.positions import unpack


class Memory:
    """The zeroed memory that a kernel works in, with the fields of a structured dtype.

    ``words[name]`` is a field as a mutable sequence, with one element if it is a number.
    ``argument`` is the kernel's argument: a record, or an object with attributes if the kernel is
    *interpreted*, as it is for a position class *cls* whose rules are plain Python.
    """

    def __init__(self, cls: Any, dtype: np.dtype[Any], interpreted: bool = False):
        self.words: dict[str, Any]
        self.argument: Any
        self.record: Any
        """The memory with fields as attributes, for plain functions of the engine."""
        if interpreted or is_plain(cls):
            fields = {name: _plain_field(dtype[name]) for name in dtype.names or ()}
            self.argument = self.record = SimpleNamespace(**fields)
            self.words = {
                name: value if isinstance(value, list) else _Number(self.record, name)
                for name, value in fields.items()
            }
        else:
            memory = records(1, dtype)
            self.argument, self.record = for_kernel(memory), memory[0]
            self.words = _Fields(memory.view(np.ndarray))
        self._blocks: dict[Sequence[str], Any] = {}

    def __getitem__(self, name: str) -> Any:
        """Return a number."""
        return self.words[name][0]

    def __setitem__(self, name: str, value: float) -> None:
        self.words[name][0] = value

    def position(self, name: str, example: Any) -> Any:
        """Return the position packed in a field; *example* is any position of its class."""
        words = self.words[name]
        return words[0] if isinstance(words, list) else unpack(words, 0, example)

    def fill(self, name: str, value: int) -> None:
        """Set every element of a field."""
        words = self.words[name]
        words[:] = [value] * len(words) if isinstance(words, list) else value

    def numbers(self, names: tuple[str, ...]) -> dict[str, int]:
        """Return the values of integer fields, by name."""
        block = self._block(names)
        if block is None:
            return {name: int(self.words[name][0]) for name in names}
        return dict(zip(names, block.tolist(), strict=True))

    def clear(self, names: tuple[str, ...]) -> None:
        """Set integer fields to zero."""
        block = self._block(names)
        if block is None:
            for name in names:
                self.words[name][0] = 0
        else:
            block[:] = 0

    def _block(self, names: tuple[str, ...]) -> Any:
        """Return adjacent integer fields as one array, to access at once; None if not adjacent."""
        if names not in self._blocks:
            self._blocks[names] = None
            fields = [self.words[name] for name in names]
            if all(isinstance(field, np.ndarray) and field.dtype == np.int64 for field in fields):
                places = [field.ctypes.data for field in fields]
                if places == list(range(places[0], places[0] + 8 * len(places), 8)):
                    block = np.lib.stride_tricks.as_strided(fields[0], (len(places),), (8,))
                    self._blocks[names] = block
        return self._blocks[names]


def _plain_field(dtype: np.dtype[Any]) -> Any:
    zero = 0.0 if dtype.base.kind == "f" else 0
    return [zero] * dtype.shape[0] if dtype.shape else zero


class _Fields(dict[str, Any]):
    """The fields of a record as arrays, made when they are first used: a kernel has a hundred."""

    __slots__ = ("memory",)

    def __init__(self, memory: np.ndarray):
        super().__init__()
        self.memory = memory

    def __missing__(self, name: str) -> Any:
        field = self[name] = self.memory[name].reshape(-1)
        return field


class _Number:
    """An attribute of an object, as a sequence of one element."""

    __slots__ = ("name", "owner")

    def __init__(self, owner: Any, name: str):
        self.owner = owner
        self.name = name

    def __getitem__(self, index: int) -> Any:
        return getattr(self.owner, self.name)

    def __setitem__(self, index: int | slice, value: Any) -> None:
        setattr(self.owner, self.name, value)
