"""Positions as values: their compiled type, and how flat buffers store them.

A position is an immutable ``NamedTuple`` whose fields are 64-bit scalars.  A search passes
positions by value and stores those it will need later in an array of 64-bit words,
``width(position)`` words each, because array views and allocations inside a node cost more than the
search itself.
"""

from __future__ import annotations

import functools
import itertools
import operator
import struct
import typing
from collections.abc import Iterable, Sequence
from typing import Any, overload

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from cutnode.contract import named_tuples as named_tuples  # for what compiled code can do with them
from cutnode.contract.bits import WORD, Bits
from cutnode.contract.constants import Constant
from cutnode.contract.dispatch import is_foreign, is_plain, no_position
from cutnode.contract.errors import GameError, PositionError
from cutnode.contract.native import attribute_in_compiled_code, in_compiled_code

_SCALARS: dict[Any, types.Type] = {
    Bits: types.uint64,
    int: types.int64,
    bool: types.boolean,
    float: types.float64,
}


_RANGES = {bool: (0, 1), Bits: (0, WORD), int: (-(1 << 63), (1 << 63) - 1)}
"""The least and the greatest value of a field, by its annotation."""


@functools.cache
def _fields(cls: Any) -> dict[str, Any]:
    """Return the names and annotations of a position's fields; :class:`GameError` if unusable."""
    if not (isinstance(cls, type) and issubclass(cls, tuple) and hasattr(cls, "_fields")):
        if isinstance(cls, type) and is_foreign(cls):
            raise no_position(cls)
        raise GameError(
            f"a position of compiled rules must be a NamedTuple, got a {_annotation(cls)}: write "
            f"class {_annotation(cls)}(NamedTuple)"
        )
    try:
        hints = typing.get_type_hints(cls)
    except Exception as error:
        raise GameError(
            f"the annotations of {cls.__qualname__} cannot be read: {type(error).__name__}: {error}"
        ) from None
    fields = {name: hints.get(name) for name in cls._fields}
    for name, kind in fields.items():
        if kind not in _SCALARS:
            raise GameError(
                f"{cls.__qualname__}.{name} is annotated {_annotation(kind)}; "
                f"a field of a compiled position must be Bits, int, bool or float"
            )
    return fields


def _annotation(kind: Any) -> str:
    """Return an annotation, approximately as it was written."""
    return kind.__qualname__ if isinstance(kind, type) else str(kind)


def field_kinds(cls: Any) -> tuple[Any, ...]:
    """Return the annotations of a position's fields, each Bits, int, bool or float."""
    return tuple(_fields(cls).values())


@functools.cache
def position_type(cls: Any) -> types.Type:
    """Return the compiled type of a position class, from its annotations."""
    fields = _fields(cls)
    for name, value in constants_of(cls).items():
        _make_readable(name)
        if isinstance(value, np.ndarray):
            _array(cls, name)  # code that is loaded from the cache needs it
    kinds = [_SCALARS[kind] for kind in fields.values()]
    found = named_tuples.FIELDS[cls] = types.BaseTuple.from_types(kinds, cls)
    return found


def constants_of(cls: type) -> dict[str, Any]:
    """Return the constants of a position class: public attributes that are data, not fields."""
    found = {}
    for base in reversed(cls.__mro__):
        for name, value in vars(base).items():
            if isinstance(value, int | float | tuple | np.ndarray) and name[0] != "_":
                found[name] = value
    return found


_readable: set[str] = set()


def _make_readable(name: str) -> None:
    """Let compiled code read ``position.name``, a compile-time constant of its class."""
    if name in _readable:
        return
    _readable.add(name)

    @attribute_in_compiled_code(types.BaseNamedTuple, name)
    def read(position: Any) -> Any:
        if name in position.fields:
            index = position.fields.index(name)
            return lambda position: position[index]
        cls = position.instance_class
        constant = getattr(cls, name)
        if isinstance(constant, np.ndarray):
            constant = _array(cls, name)
        return lambda position: constant


@functools.cache
def _array(cls: type, name: str) -> Constant:
    """Return a constant array of a position class, as compiled code reads it."""
    return Constant(f"{cls.__module__}.{cls.__qualname__}.{name}", getattr(cls, name))


def coerce(position: Any) -> Any:
    """Return the position with every field of exactly its annotated type (see :func:`fitted`).

    Positions of plain rules are returned unchanged.
    """
    return position if is_plain(type(position)) else fitted(position)


def fitted(position: Any) -> Any:
    """Return the position with every field of exactly its annotated type.

    :class:`PositionError` names a field whose value has another type or is out of range.
    """
    cls: Any = type(position)
    fields = zip(_fields(cls).items(), position, strict=True)
    return cls(*(_fitting(cls, name, kind, value) for (name, kind), value in fields))


def _fitting(cls: type, name: str, kind: Any, value: Any) -> Any:
    """Return a value as the type of its field; :class:`PositionError` if it does not fit."""
    try:
        if kind is float:
            return float(value)
        number = int(value) if isinstance(value, np.bool_) else operator.index(value)
    except (TypeError, ValueError, OverflowError):
        raise PositionError(
            f"{cls.__qualname__}.{name} is annotated {kind.__name__}, got {value!r}"
        ) from None
    low, high = _RANGES[kind]
    if not low <= number <= high:
        way_out = "" if number < 0 or kind is bool else ": use two fields"
        raise PositionError(
            f"{cls.__qualname__}.{name} must be from {low} to {high} ({kind.__name__}), "
            f"got {value!r}{way_out}"
        )
    return kind(number)


def rebuild(position: Any, *fields: Any) -> Any:
    """Return a position of the same class as *position* with these *fields*, in order.

    Rules use it to make positions when one file has several position classes (one for each size
    of board); if there is only one, ``Position(...)`` is enough.
    """
    return type(position)(*fields)


def width(position: Any) -> int:
    """Return the number of words that :func:`pack` writes."""
    return len(position)


def pack(words: Any, index: int, position: Any) -> None:
    """Write *position* to ``words[index : index + width(position)]`` (uint64)."""
    cls: Any = type(position)
    kinds = _fields(cls).values()
    for offset, word in enumerate(map(to_word, position, kinds)):
        words[index + offset] = word


def unpack(words: Any, index: int, example: Any) -> Any:
    """Return the position stored at *index*; *example* is any position of its class."""
    cls: Any = type(example)
    kinds = _fields(cls).values()
    return cls(*(_from_word(int(words[index + at]), kind) for at, kind in enumerate(kinds)))


def words_each(cls: Any) -> int:
    """Return how many words a stored position of a class takes."""
    return 1 if is_plain(cls) else len(_fields(cls))


class Packed(Sequence[Any]):
    """Positions of one class, stored in an array: in Connect Four 16 bytes each.

    *words* come from :func:`as_words`; *example* is any position of the class.  Slices share the
    array.
    """

    __slots__ = ("example", "words")

    def __init__(self, words: Any, example: Any):
        self.words = words
        self.example = example

    @classmethod
    def of(cls, positions: Sequence[Any]) -> Packed:
        """Pack one or more positions."""
        return (
            positions if isinstance(positions, Packed) else cls(as_words(positions), positions[0])
        )

    def __len__(self) -> int:
        return len(self.words) // words_each(type(self.example))

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> Packed: ...
    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            start, end, step = index.indices(len(self))
            if step != 1:
                return self.chosen(range(start, end, step))
            each = words_each(type(self.example))
            return Packed(self.words[start * each : max(start, end) * each], self.example)
        if not -len(self) <= index < len(self):
            raise IndexError(f"index {index} is out of range for {len(self)} positions")
        index %= len(self)
        if isinstance(self.words, list):
            return self.words[index]
        return unpack(self.words, index * words_each(type(self.example)), self.example)

    def chosen(self, numbers: Any) -> Packed:
        """Return the positions with these indices."""
        if isinstance(self.words, list):
            return Packed([self.words[number] for number in numbers], self.example)
        rows = self.words.reshape(len(self), words_each(type(self.example)))
        return Packed(rows[np.asarray(numbers, np.int64)].reshape(-1), self.example)


def class_of_all(positions: Sequence[Any]) -> Any:
    """Return the class of some positions; :class:`PositionError` if they have several."""
    if isinstance(positions, Packed):
        return type(positions.example)
    cls: Any = type(positions[0])
    for position in positions:
        if type(position) is not cls:
            raise PositionError(
                f"positions of one batch must be of one class, got {cls.__name__} "
                f"and {type(position).__name__}"
            )
    return cls


def as_words(positions: Sequence[Any]) -> Any:
    """Return positions of one class, stored one after the other in an array of uint64.

    For plain rules, return a list of the positions.
    """
    if isinstance(positions, Packed):
        return positions.words
    cls = class_of_all(positions)
    if is_plain(cls):
        return list(positions)
    values: Iterable[Any] = itertools.chain.from_iterable(positions)
    kinds = _fields(cls).values()
    if any(kind is not Bits for kind in kinds):
        values = map(to_word, values, itertools.cycle(kinds))
    try:
        return np.fromiter(values, np.uint64, len(positions) * len(kinds))
    except OverflowError:
        for position in positions:
            coerce(position)  # it names the field
        raise


def to_word(value: Any, kind: Any) -> int:
    if kind is float:
        return int.from_bytes(struct.pack("<d", value), "little")
    word = int(kind(value))
    if not -(1 << 63) <= word <= WORD:
        raise OverflowError(f"{word} does not fit into 64 bits")
    return word & WORD


def _from_word(word: int, kind: Any) -> Any:
    if kind is float:
        return struct.unpack("<d", word.to_bytes(8, "little"))[0]
    if kind is int and word >> 63:
        return word - (1 << 64)
    return kind(word)


@intrinsic
def _rebuild(typing: Any, position: Any, fields: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        given = zip(cgutils.unpack_tuple(builder, args[1]), fields, position, strict=True)
        values = [context.cast(builder, value, old, new) for value, old, new in given]
        return context.make_tuple(builder, position, values)

    return position(position, fields), generate


@in_compiled_code(rebuild)
def _compiled_rebuild(position: Any, *fields: Any) -> Any:
    return lambda position, *fields: _rebuild(position, fields)


@in_compiled_code(width)
def _compiled_width(position: Any) -> Any:
    count = len(position)
    return lambda position: count


def as_word(builder: Any, value: Any) -> Any:
    """Reinterpret a 64-bit (or narrower) scalar as a word."""
    i64 = ir.IntType(64)
    if isinstance(value.type, ir.DoubleType):
        return builder.bitcast(value, i64)
    return value if value.type == i64 else builder.zext(value, i64)


def _as_scalar(context: Any, builder: Any, word: Any, kind: Any) -> Any:
    """Undo :func:`as_word`."""
    wanted = context.get_value_type(kind)
    if isinstance(wanted, ir.DoubleType):
        return builder.bitcast(word, wanted)
    return word if wanted == word.type else builder.trunc(word, wanted)


def _cell(context: Any, builder: Any, words: Any, array: Any, index: Any, at: int) -> Any:
    data = context.make_array(words)(context, builder, array).data
    return builder.gep(data, [builder.add(index, ir.Constant(index.type, at))])


@intrinsic
def _pack(typing: Any, words: Any, index: Any, position: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        for at, value in enumerate(cgutils.unpack_tuple(builder, args[2])):
            cell = _cell(context, builder, words, args[0], args[1], at)
            builder.store(as_word(builder, value), cell)
        return context.get_dummy_value()

    return types.void(words, types.intp, position), generate


@intrinsic
def _unpack(typing: Any, words: Any, index: Any, example: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        values = []
        for at, kind in enumerate(example):
            cell = _cell(context, builder, words, args[0], args[1], at)
            values.append(_as_scalar(context, builder, builder.load(cell), kind))
        return context.make_tuple(builder, example, values)

    return example(words, types.intp, example), generate


@in_compiled_code(pack)
def _compiled_pack(words: Any, index: Any, position: Any) -> Any:
    return lambda words, index, position: _pack(words, index, position)


@in_compiled_code(unpack)
def _compiled_unpack(words: Any, index: Any, example: Any) -> Any:
    return lambda words, index, example: _unpack(words, index, example)
