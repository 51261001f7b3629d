"""The common part of learned evaluations: weights that are data, at an address.

One compiled search serves all evaluations of one shape and layout.  Compiled code gets the address
of an evaluation's memory, which begins with the address of the first player's weights and the
offset from there to the second player's.
"""

from __future__ import annotations

import functools
from hashlib import blake2b
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import NativeValue, intrinsic, models, register_model, typeof_impl, unbox

from cutnode.compiler.jit import compiled
from cutnode.contract.addresses import integer_at
from cutnode.contract.dispatch import MAX_VALUE, game_name, value_limit
from cutnode.contract.errors import GameError
from cutnode.contract.native import in_compiled_code, usable_in_compiled_code
from cutnode.contract.verbs import adjust, evaluate, turn
from cutnode.kernels.scores import is_decisive

ROWS, SIDE = range(2)
"""Numbers at the start of the memory: the first player's rows, and the offset to the second's."""

SPARE = 8
"""The words of the memory beyond its contents, which begin at a multiple of 64 bytes."""

MOST_STONES = 1024

NONE = -1
"""No field says who moves: both players share weights."""

TURN = -2
"""The verb ``turn`` says who moves, not a field."""


class Learned:
    """A learned evaluation of positions of class *cls*.

    Its *shape* and its *layout* are compiled in; the layout says where weights begin, for kinds
    that need it.
    """

    name = "learned"
    kind: str
    module: str
    """The module that its compiled code depends on."""
    parts: tuple[str, ...]
    """The names of the arrays from which it is made."""
    file: str = ""
    """The name of the file that it was read from."""

    def __init__(self, cls: Any, shape: Any, layout: tuple[int, ...] = ()):
        self.cls = cls
        self.shape = shape
        self.type = LearnedType(self.kind, shape, layout)
        digest = blake2b(repr(shape).encode(), digest_size=8)
        for part in self.arrays.values():
            digest.update(np.ascontiguousarray(part).tobytes())
        self.meaning = f"{self.kind} {digest.hexdigest()}"
        """The part of table keys that keeps this evaluation's scores apart from any other's."""
        self.address = 0

    @property
    def arrays(self) -> dict[str, Any]:
        """The further arguments from which it is made."""
        return {name: getattr(self, name) for name in self.parts}

    def __call__(self, position: Any) -> int:
        """Return the score of a position, for the mover."""
        raise NotImplementedError

    def _lay_out(self, header: int, parts: list[Any], spare: int = 0) -> list[int]:
        """Make a memory of *header* numbers and the arrays *parts*; return the arrays' addresses.

        Each address is a multiple of 64; *spare* readable bytes follow the last array.
        """
        sizes = [-(-8 * header // 64) * 64, *(-(-part.nbytes // 64) * 64 for part in parts)]
        self.memory = np.zeros((sum(sizes) + spare) // 8 + SPARE, np.uint64)
        base = self.memory.ctypes.data
        self.address = base + -base % 64
        places = [int(place) for place in self.address + np.cumsum(sizes)[: len(parts)]]
        raw = self.memory.view(np.uint8)
        for place, part in zip(places, parts, strict=True):
            raw[place - base : place - base + part.nbytes] = np.frombuffer(part.tobytes(), np.uint8)
        return places

    @property
    def addressed(self) -> list[int]:
        """The numbers of those words of the memory that are addresses in it."""
        raise NotImplementedError

    def relocatable(self) -> tuple[Any, dict[int, int]]:
        """Return the words of the memory, and by the number of a word the offset it refers to.

        Offsets are in bytes from the start; the words themselves are 0.
        """
        first = (self.address - self.memory.ctypes.data) // 8
        words = self.memory[first : first + len(self.memory) - SPARE].copy()
        places = {number: int(words[number]) - self.address for number in self.addressed}
        words[list(places)] = 0
        return words, places

    def _words_at(self, address: int, count: int) -> Any:
        """Return *count* words of the memory, from an address on."""
        first = (address - self.memory.ctypes.data) // 8
        return self.memory[first : first + count]

    def require(self, cls: Any) -> Learned:
        """Return itself; :class:`GameError` if it was learned for another position class."""
        if cls is not self.cls:
            raise GameError(
                f"this evaluation was learned for {game_name(self.cls)}, not for {game_name(cls)}"
            )
        return self

    def completed(self, position: Any, score: int) -> int:
        """Return the weights' *score* plus the game's own estimate, or as the game adjusts it.

        It is clipped to the range of the game's scores.
        """
        own = self.shape.own
        score = score + int(evaluate(position)) if own else int(adjust(position, score))
        most = most_score(self.cls)
        return max(-most, min(score, most))

    def __reduce__(self) -> Any:
        """Give a copy, or one in another process, memory of its own."""
        return type(self), (self.cls, self.shape, *self.arrays.values())

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.cls.__module__}: {self.meaning}>"


def most_score(cls: Any) -> int:
    """Return the largest absolute score of a position class."""
    return MAX_VALUE if is_decisive(cls) else int(value_limit(cls))


def second_moves(position: Any, side: int) -> bool:
    """Return whether to use the second player's weights; the field *side* says who moves."""
    if side == NONE:
        return False
    return bool(turn(position) if side == TURN else position[side])


# In compiled code a learned evaluation is an address.


class LearnedType(types.Type):  # type: ignore[misc]
    """The compiled type of a learned evaluation: its kind, its shape and its layout."""

    def __init__(self, kind: str, shape: Any, layout: tuple[int, ...]):
        self.kind = kind
        self.shape = shape
        self.layout = layout
        places = blake2b(repr(layout).encode(), digest_size=8).hexdigest()
        super().__init__(name=f"{kind} {tuple(shape)} {places}")


@register_model(LearnedType)
class _LearnedModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any):
        super().__init__(manager, kind, ir.IntType(64))


@typeof_impl.register(Learned)
def _typeof_learned(learned: Learned, context: Any) -> types.Type:
    return learned.type


@unbox(LearnedType)
def _unbox_learned(kind: types.Type, learned: Any, c: Any) -> NativeValue:
    address = c.pyapi.object_getattr_string(learned, "address")
    value = c.pyapi.long_as_longlong(address)
    c.pyapi.decref(address)
    return NativeValue(value, is_error=c.pyapi.c_api_error())


@intrinsic
def _address_of(typing: Any, learned: Any) -> Any:
    return types.int64(learned), lambda context, builder, signature, args: args[0]


def address_of(learned: Any) -> int:
    """Return the address of an evaluation's memory."""
    return int(learned.address)


@in_compiled_code(address_of)
def _compiled_address_of(learned: Any) -> Any:
    return lambda learned: _address_of(learned)


@functools.cache
def second_of(side: int) -> Any:
    """Return :func:`second_moves` for compiled code, specialised for the field *side*."""
    says = {NONE: "False", TURN: "turn(position) != 0"}.get(side, f"position[{side}]")
    return usable_in_compiled_code(eval(f"lambda position: {says}", {"turn": turn}))


def rows_of_mover(learned: Any, position: Any) -> int:
    """Return the address of the rows of the player to move."""
    raise NotImplementedError


@in_compiled_code(rows_of_mover)
def _compiled_rows_of_mover(learned: Any, position: Any) -> Any:
    second = second_of(learned.shape.side)
    return lambda learned, position: rows_of_side(learned, second(position))


@compiled
def rows_of_side(learned, second):
    at = address_of(learned)
    rows = integer_at(at + 8 * ROWS)
    return rows + integer_at(at + 8 * SIDE) if second else rows
