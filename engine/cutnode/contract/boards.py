"""Boards of more than 64 cells: several words of a position as one long number.

The fields of a position are 64-bit scalars.  A game whose boards may need more bits declares two
constants of its position classes: ``BOARDS``, the number of boards with which a position begins,
and ``WORDS``, the number of words in each.  :func:`fields` makes such a class::

    @functools.cache
    def stones(words):
        return fields("Stones", ("mine", "theirs"), words, second=bool)

The rules then see a board as one number, whose bit *n* is cell *n*, and are the same for all
sizes of board::

    @compiled
    def play(position, move):
        mine = board(position, 0) | single(position, move)
        return remade(position, board(position, 1), mine, not position.second)

In plain Python such a number is an ``int``.  In compiled code it is an LLVM integer of that many
bits (a board of one word is unsigned, like any :class:`~cutnode.contract.bits.Bits`, so small
boards cost nothing extra).  ``&``, ``|``, ``^``, ``~``, ``==``, ``!=``, shifts, truth tests, and
``popcount``, ``lowest``, ``without_lowest`` and ``lowest_index`` work on it.  :func:`constant`
makes constants.  As with words, mask what a shift moves beyond the board.
"""

from __future__ import annotations

import operator
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.imputils import lower_constant
from numba.extending import intrinsic, models, register_model, typeof_impl

from cutnode.contract.bits import (
    WORD,
    Bits,
    high_product,
    lowest,
    lowest_index,
    mix,
    nth_index,
    popcount,
    without_lowest,
)
from cutnode.contract.native import (
    in_compiled_code,
    operators_in_compiled_code,
    usable_in_compiled_code,
)

EACH = 64
"""The number of bits in a word."""


class LongBits(int):
    """A constant of more than one word."""

    words: int

    def __new__(cls, value: int, words: int) -> LongBits:
        made = super().__new__(cls, value)
        made.words = words
        return made

    def __reduce__(self) -> Any:
        return LongBits, (int(self), self.words)


def constant(value: int, words: int) -> Any:
    """Return a constant board of *words* words, into which all its bits must fit."""
    return Bits(value) if words == 1 else LongBits(value, words)


def fields(name: str, boards: tuple[str, ...], words: int, **others: type) -> Any:
    """Make a ``NamedTuple`` that begins with *boards*, each of *words* words.

    A board of one word is a field of its own name, such as ``mine``; the words of a longer one are
    ``mine0``, ``mine1`` and so on from the lowest.  *others* are further fields and their types.
    """
    of_boards = [
        f"{board}{number}" if words > 1 else board for board in boards for number in range(words)
    ]
    made = NamedTuple(name, [(field, Bits) for field in of_boards] + list(others.items()))  # type: ignore[misc]
    made.BOARDS = len(boards)  # type: ignore[attr-defined]
    made.WORDS = words  # type: ignore[attr-defined]
    return made


def board(position: Any, number: int) -> int:
    """Return a board of a position; the first one is number 0."""
    words = position.WORDS
    parts = position[number * words : (number + 1) * words]
    return sum(int(part) << EACH * at for at, part in enumerate(parts))


def remade(position: Any, *values: Any) -> Any:
    """Return a position of the same class with these boards and then its other fields."""
    words = []
    for value in values[: position.BOARDS]:
        words += [Bits(int(value) >> EACH * at & WORD) for at in range(position.WORDS)]
    return type(position)(*words, *values[position.BOARDS :])


def single(position: Any, index: int) -> int:
    """Return the board with a single cell."""
    return 1 << int(index)


def word(cells: int, number: int) -> int:
    """Return a word of a board; the lowest one is number 0."""
    return int(cells) >> EACH * int(number) & WORD


def reversed_bits(position: Any, cells: int) -> int:
    """Return a board with its ``AREA`` bits in reverse order."""
    return int(f"{cells:0{position.AREA}b}"[::-1], 2)


def write(position: Any, cells: int, buffer: Any, at: int) -> int:
    """Write the numbers of cells to a buffer, as ``moves`` does; return the end."""
    for number in range(position.WORDS):
        part = word(cells, number)
        while part:
            buffer[at] = 64 * number + lowest_index(part)
            part = without_lowest(part)
            at += 1
    return at


usable_in_compiled_code(write)


def key_of_stones(position: Any, mine: int, theirs: int) -> int:
    """Return the key of two boards: side by side if each has at most 32 bits, else a hash.

    A board of the position has ``AREA`` bits.
    """
    if position.AREA <= 32:
        return word(mine, 0) | (word(theirs, 0) << Bits(32))
    hashed: int = Bits(0)
    for number in range(position.WORDS):
        hashed = mix(mix(hashed ^ word(mine, number)) ^ word(theirs, number))
    return hashed


usable_in_compiled_code(key_of_stones)


def random_cell(position: Any, cells: int, random: int) -> int:
    """Return one of some cells, chosen by a random word as for ``random_move``."""
    left = int(high_product(random, Bits(popcount(cells))))
    for number in range(position.WORDS):
        part = word(cells, number)
        count = popcount(part)
        if left < count:
            return 64 * number + nth_index(part, left)
        left -= count
    return 0


usable_in_compiled_code(random_cell)


def random_cells(position: Any, cells: int, count: int, random: int) -> int:
    """Return *count* of some cells, chosen by a random word; all choices are equally likely.

    Of seven random subsets, it takes the one whose size is nearest to *count* and adds or removes
    cells, so it is fastest if *count* is half of the cells.
    """
    a, b, c = (
        cells & random_bits(position, random, 0),
        cells & random_bits(position, random, 1),
        cells & random_bits(position, random, 2),
    )
    chosen, extra = nearer(
        nearer(
            nearer(sized(a, count), sized(b, count)),
            nearer(sized(c, count), sized(a ^ b, count)),
        ),
        nearer(
            nearer(sized(a ^ c, count), sized(b ^ c, count)),
            sized(a ^ b ^ c, count),
        ),
    )
    drawn = 3 * position.WORDS
    while extra != 0:
        among = chosen if extra > 0 else cells & ~chosen
        chosen ^= single(position, random_cell(position, among, mix(random ^ Bits(drawn))))
        extra += -1 if extra > 0 else 1
        drawn += 1
    return chosen


def random_bits(position: Any, random: int, number: int) -> int:
    """Return a board of random bits; *number* tells boards of the same word apart."""
    at = position.WORDS * number
    drawn = wide(position, mix(random ^ Bits(at)))
    for place in range(1, position.WORDS):
        drawn |= wide(position, mix(random ^ Bits(at + place))) << EACH * place
    return drawn


def sized(cells: int, count: int) -> tuple[int, int]:
    """Return some cells, and their number minus *count*."""
    return cells, popcount(cells) - count


def nearer(one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
    """Return whichever of two :func:`sized` sets is nearer to the wanted size."""
    return other if abs(other[1]) < abs(one[1]) else one


usable_in_compiled_code(random_bits)
usable_in_compiled_code(sized)
usable_in_compiled_code(nearer)
usable_in_compiled_code(random_cells)


def wide(position: Any, low: int) -> int:
    """Return the board with this lowest word and no other bits."""
    return low


def narrow(cells: int) -> int:
    """Return the number of which :func:`wide` made a board, as an ``int`` also if compiled."""
    return int(cells)


def scratch(position: Any) -> Any:
    """Return memory for ``SCRATCH`` boards of a position, valid until the function returns.

    Compiled, it is on the stack and must be written before it is read.
    """
    return [0] * position.SCRATCH


# Compiled: an integer of LLVM


class _BoardType(types.Type):  # type: ignore[misc]
    def __init__(self, words: int):
        self.words = words
        super().__init__(name=f"board of {words} words")


class _ScratchType(types.Type):  # type: ignore[misc]
    def __init__(self, element: types.Type):
        self.element = element
        super().__init__(name=f"scratch of {element}")


@register_model(_BoardType)
class _BoardModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any):
        super().__init__(manager, kind, ir.IntType(EACH * kind.words))


@register_model(_ScratchType)
class _ScratchModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any):
        super().__init__(manager, kind, manager.lookup(kind.element).get_value_type().as_pointer())


@typeof_impl.register(LongBits)
def _typeof_long_bits(value: LongBits, context: Any) -> types.Type:
    return _BoardType(value.words)


@lower_constant(_BoardType)
def _constant(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    return ir.Constant(ir.IntType(EACH * kind.words), int(value))


def _type_for(words: int) -> types.Type:
    return types.uint64 if words == 1 else _BoardType(words)


def _class_of(position: Any) -> Any:
    return position.instance_class


def _joined(builder: Any, parts: list[Any]) -> Any:
    """Join words, the lowest first, to one number."""
    kind = ir.IntType(EACH * len(parts))
    total = builder.zext(parts[0], kind) if len(parts) > 1 else parts[0]
    for at, part in enumerate(parts[1:], 1):
        high = builder.shl(builder.zext(part, kind), ir.Constant(kind, EACH * at))
        total = builder.or_(total, high)
    return total


def _words(builder: Any, value: Any) -> list[Any]:
    """Split a number into words, the lowest first."""
    kind, i64 = value.type, ir.IntType(EACH)
    if kind.width <= EACH:
        return [value]
    shifts = range(0, kind.width, EACH)
    return [builder.trunc(builder.lshr(value, ir.Constant(kind, s)), i64) for s in shifts]


@intrinsic(prefer_literal=True)
def _board(typing: Any, position: Any, number: Any) -> Any:
    if not isinstance(number, types.IntegerLiteral):
        return None
    words = _class_of(position).WORDS
    at = number.literal_value * words

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _joined(builder, cgutils.unpack_tuple(builder, args[0])[at : at + words])

    return _type_for(words)(position, number), generate


@intrinsic
def _remade(typing: Any, position: Any, values: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        scalars: list[Any] = []
        for kind, value in zip(values, cgutils.unpack_tuple(builder, args[1]), strict=True):
            if isinstance(kind, _BoardType):
                scalars += [(part, types.uint64) for part in _words(builder, value)]
            else:
                scalars.append((value, kind))
        cast = [
            context.cast(builder, value, kind, wanted)
            for (value, kind), wanted in zip(scalars, position, strict=True)
        ]
        return context.make_tuple(builder, position, cast)

    return position(position, values), generate


@intrinsic
def _single(typing: Any, position: Any, index: Any) -> Any:
    words = _class_of(position).WORDS

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        i64 = ir.IntType(EACH)
        low = builder.and_(args[1], ir.Constant(i64, EACH - 1))
        bit = builder.shl(ir.Constant(i64, 1), low)
        if words == 1:
            return bit
        high, none = builder.lshr(args[1], ir.Constant(i64, 6)), ir.Constant(i64, 0)
        parts = [
            builder.select(builder.icmp_unsigned("==", high, ir.Constant(i64, at)), bit, none)
            for at in range(words)
        ]
        return _joined(builder, parts)

    return _type_for(words)(position, types.uint64), generate


@intrinsic
def _wide(typing: Any, position: Any, low: Any) -> Any:
    kind = _type_for(_class_of(position).WORDS)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _joined(builder, [args[1], *[ir.Constant(args[1].type, 0)] * (words - 1)])

    words = _class_of(position).WORDS
    return kind(position, types.uint64), generate


def _unary(name: str, result: types.Type | None = None) -> Any:
    """Return an intrinsic for an LLVM function of a board; by default the *result* is a board."""

    @intrinsic
    def call(typing: Any, cells: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            kind = args[0].type
            extra = [ir.Constant(ir.IntType(1), 0)] if name == "llvm.cttz" else []
            function = cgutils.get_or_insert_function(
                builder.module,
                ir.FunctionType(kind, [kind, *(constant.type for constant in extra)]),
                f"{name}.i{kind.width}",
            )
            found = builder.call(function, [args[0], *extra])
            short = result is not None and kind.width > EACH
            return builder.trunc(found, ir.IntType(EACH)) if short else found

        return (result or cells)(cells), generate

    return call


_popcount = _unary("llvm.ctpop", types.int64)
_lowest_index = _unary("llvm.cttz", types.int64)
_reversed = _unary("llvm.bitreverse")


def _built(build: Any, result: types.Type | None = None) -> Any:
    """Return an intrinsic of a board from *build*, which writes its LLVM code."""

    @intrinsic
    def one(typing: Any, cells: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return build(builder, args[0])

        return (result or cells)(cells), generate

    return one


_lowest = _built(lambda builder, cells: builder.and_(cells, builder.neg(cells)))
_without_lowest = _built(
    lambda builder, cells: builder.and_(cells, builder.sub(cells, ir.Constant(cells.type, 1)))
)
_inverted = _built(lambda builder, cells: builder.not_(cells))
_any = _built(
    lambda builder, cells: builder.icmp_unsigned("!=", cells, ir.Constant(cells.type, 0)),
    types.boolean,
)


def _shift(instruction: str) -> Any:
    @intrinsic
    def shift(typing: Any, cells: Any, count: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return getattr(builder, instruction)(args[0], builder.zext(args[1], args[0].type))

        return cells(cells, types.uint64), generate

    return shift


def _comparison(sign: str) -> Any:
    @intrinsic
    def compare(typing: Any, a: Any, b: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.icmp_unsigned(sign, *args)

        return types.boolean(a, a), generate

    return compare


@intrinsic
def _word(typing: Any, cells: Any, number: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = args[0].type
        places = builder.mul(builder.zext(args[1], kind), ir.Constant(kind, EACH))
        return builder.trunc(builder.lshr(args[0], places), ir.IntType(EACH))

    return types.uint64(cells, types.uint64), generate


@intrinsic
def _scratch(typing: Any, position: Any) -> Any:
    cls = _class_of(position)
    element = _type_for(cls.WORDS)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        size = ir.Constant(ir.IntType(EACH), cls.SCRATCH)
        return cgutils.alloca_once(builder, ir.IntType(EACH * cls.WORDS), size=size)

    return _ScratchType(element)(position), generate


@intrinsic
def _read(typing: Any, memory: Any, index: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load(builder.gep(args[0], [args[1]]))

    return memory.element(memory, types.uint64), generate


@intrinsic
def _write(typing: Any, memory: Any, index: Any, value: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.store(args[2], builder.gep(args[0], [args[1]]))
        return context.get_dummy_value()

    return types.void(memory, types.uint64, memory.element), generate


@in_compiled_code(board)
def _compiled_board(position: Any, number: Any) -> Any:
    return lambda position, number: _board(position, number)


@in_compiled_code(remade)
def _compiled_remade(position: Any, *values: Any) -> Any:
    return lambda position, *values: _remade(position, values)


@in_compiled_code(single)
def _compiled_single(position: Any, index: Any) -> Any:
    return lambda position, index: _single(position, Bits(index))


@in_compiled_code(wide)
def _compiled_wide(position: Any, low: Any) -> Any:
    return lambda position, low: _wide(position, Bits(low))


@in_compiled_code(narrow)
def _compiled_narrow(cells: Any) -> Any:
    if isinstance(cells, _BoardType):
        return lambda cells: np.int64(_word(cells, Bits(0)))
    return lambda cells: np.int64(cells)


@in_compiled_code(scratch)
def _compiled_scratch(position: Any) -> Any:
    return lambda position: _scratch(position)


@in_compiled_code(operator.getitem)
def _compiled_getitem(memory: Any, index: Any) -> Any:
    if isinstance(memory, _ScratchType):
        return lambda memory, index: _read(memory, Bits(index))
    return None


@in_compiled_code(operator.setitem)
def _compiled_setitem(memory: Any, index: Any, value: Any) -> Any:
    if isinstance(memory, _ScratchType):
        return lambda memory, index, value: _write(memory, Bits(index), value)
    return None


@in_compiled_code(word)
def _compiled_word(cells: Any, number: Any) -> Any:
    if isinstance(cells, _BoardType):
        return lambda cells, number: _word(cells, Bits(number))
    return lambda cells, number: Bits(cells)


@in_compiled_code(reversed_bits)
def _compiled_reversed_bits(position: Any, cells: Any) -> Any:
    unused = _class_of(position).WORDS * EACH - _class_of(position).AREA
    return lambda position, cells: _reversed(cells) >> Bits(unused)


def _of_board(function: Any, compiled: Any) -> None:
    """Let compiled code call a function of a board."""

    def choose(cells: Any) -> Any:
        return (lambda cells: compiled(cells)) if isinstance(cells, _BoardType) else None

    in_compiled_code(function)(choose)


for _function, _compiled in (
    (popcount, _popcount),
    (lowest_index, _lowest_index),
    (lowest, _lowest),
    (without_lowest, _without_lowest),
    (operator.invert, _inverted),
    (bool, _any),
):
    _of_board(_function, _compiled)

operators_in_compiled_code(_BoardType, {"and_": "and_", "or_": "or_", "xor": "xor"})


def _of_two(symbol: Any, compiled: Any, *, shift: bool) -> None:
    def choose(a: Any, b: Any) -> Any:
        if isinstance(a, _BoardType) and (isinstance(b, types.Integer) if shift else a == b):
            return (lambda a, b: compiled(a, Bits(b))) if shift else lambda a, b: compiled(a, b)
        return None

    in_compiled_code(symbol)(choose)


for _symbols, _instruction in (
    ((operator.lshift, operator.ilshift), "shl"),
    ((operator.rshift, operator.irshift), "lshr"),
):
    for _symbol in _symbols:
        _of_two(_symbol, _shift(_instruction), shift=True)
for _symbol, _sign in ((operator.eq, "=="), (operator.ne, "!="), (operator.lt, "<")):
    _of_two(_symbol, _comparison(_sign), shift=False)
