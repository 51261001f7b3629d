"""The positions of a tablebase: those that the game numbers, or all that can be reached."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from cutnode.compiler.memory import Memory
from cutnode.contract.dispatch import declared, defines, game_constant, game_name, is_plain
from cutnode.contract.errors import CutnodeError, GameError
from cutnode.contract.messages import position_text
from cutnode.contract.positions import coerce, words_each
from cutnode.contract.text import quoted
from cutnode.contract.verbs import index, layer
from cutnode.kernels.clock import Clock
from cutnode.kernels.enumeration import REACHED, enumerate_positions
from cutnode.kernels.tablebase import position_numbered
from cutnode.runtime.running import KernelCall, run

FIRST_ROOM = 1 << 14
MOST_POSITIONS = 1 << 30


class StoppedError(Exception):
    """Work on a tablebase was stopped before it was done; what was saved is kept."""


class Space:
    """Positions by layer and index.

    *sizes* has the number of indices of each layer, and *names* its name.  If positions are
    enumerated, *keys* has their canonical keys, sorted, and *words* their fields.  *example* is any
    position of the class.
    """

    def __init__(
        self,
        example: Any,
        sizes: Sequence[int],
        names: Sequence[str],
        keys: Any = None,
        words: Any = None,
    ):
        self.cls: Any = type(example)
        self.example = example
        self.sizes = [int(size) for size in sizes]
        self.names = list(names)
        self.keys = keys
        self.words = np.zeros(0, np.uint64) if words is None else words

    @property
    def is_enumerated(self) -> bool:
        return self.keys is not None

    @functools.cached_property
    def room(self) -> int:
        """``MAX_MOVES``, which is also where the second list of moves begins in a buffer."""
        return game_constant(self.cls, "MAX_MOVES", 256)

    def buffer(self) -> Any:
        """Return room for two lists of moves."""
        return np.zeros(2 * self.room, np.int64)

    def position(self, at: int, number: int) -> Any:
        """Return the position at an index of a layer."""
        if isinstance(self.words, list):  # positions of rules in plain Python
            return self.words[number]
        return position_numbered(self.example, at, number, self.words)

    def stuck(self, at: int, number: int) -> str:
        """Return the message that a position has no moves although the game is not over."""
        text = quoted(position_text(self.position(at, number)))
        return f"{game_name(self.cls)}: position {text} has no moves, but the game is not over"

    def number_of(self, name: str) -> int:
        """Return the number of the layer with a name; :class:`CutnodeError` if there is none."""
        if name in self.names:
            return self.names.index(name)
        few = ", ".join(self.names[:8]) + (", ..." if len(self.names) > 8 else "")
        raise CutnodeError(
            f"{game_name(self.cls)} has no layer {quoted(name)}; there are {len(self.names)}: {few}"
        )

    def first_layer(self, position: Any) -> int:
        """Return the layer in which a position has its index.

        :class:`CutnodeError` if it has no index.
        """
        if self.is_enumerated:
            return 0
        if index(position) < 0:
            raise CutnodeError(
                f"the first position of {game_name(self.cls)} has no index: name the layers to "
                f"solve, from {self.names[0]} to {self.names[-1]}"
            )
        return int(layer(position))


def indexed(example: Any) -> Space:
    """Return the positions of a game with indices; :class:`GameError` if its layers are wrong."""
    cls: Any = type(example)
    name = game_name(cls)
    missing = [verb for verb in ("position_at",) if not defines(cls, verb)]
    sizes = declared(cls, "LAYER_SIZES")
    if sizes is None:
        missing.append("LAYER_SIZES")
    if missing:
        raise GameError(f"{name} defines index, so it must also define {' and '.join(missing)}")
    try:
        sizes = np.asarray(sizes)
    except ValueError:
        sizes = np.zeros((0, 0))
    if sizes.ndim != 1 or sizes.dtype.kind not in "iu" or len(sizes) == 0 or sizes.min() < 0:
        raise GameError(
            f"LAYER_SIZES of {name} must be a tuple with the number of indices of each layer"
        )
    names = declared(cls, "LAYER_NAMES")
    if names is None:
        names = [str(number) for number in range(len(sizes))]
    if len(names) != len(sizes) or len(set(names)) != len(names):
        raise GameError(
            f"LAYER_NAMES of {name} must be {len(sizes)} different names, one for each of "
            f"LAYER_SIZES"
        )
    return Space(coerce(example), sizes.tolist(), names)


def enumerated(
    root: Any,
    most: int,
    stops: Sequence[Any] = (),
    clock: Clock | None = None,
    *,
    apart: bool = False,
) -> Space | None:
    """Return all positions that can be reached from one; None if there are more than *most*.

    Of equivalent positions it has one, or all if they are *apart*.  :class:`StoppedError` if it was
    stopped early.
    """
    cls: Any = type(root)
    root = coerce(root)
    memory = Memory(cls, REACHED)
    memory["apart"] = int(apart)
    memory["most"] = game_constant(cls, "MAX_MOVES", 256)
    go = enumerate_positions.specialise(cls)
    each = words_each(cls)
    buffer = np.zeros(memory["most"], np.int64)
    room = FIRST_ROOM
    keys = np.empty(0, np.uint64)
    words: Any = [] if is_plain(cls) else np.empty(0, np.uint64)
    while True:
        room = max(2 * room, int(memory["positions"] + 2 * memory["most"]))
        keys, words = longer(keys, room), longer(words, room * each)
        slots = np.zeros(1 << (2 * room - 1).bit_length(), np.int32)
        memory["indexed"] = 0
        call = functools.partial(go, root, memory.argument, keys, slots, words, buffer)
        reason = run([KernelCall(call, memory, clock)], stops)
        if reason:
            raise StoppedError(reason)
        found = int(memory["positions"])
        if found > min(most, MOST_POSITIONS):
            return None
        if memory["expanded"] == found:
            break
    del slots
    order = np.argsort(keys[:found])
    keys = keys[:found][order]
    if defines(cls, "position_of"):
        return Space(root, [found], ["all"], keys, keys)
    if is_plain(cls):
        return Space(root, [found], ["all"], keys, [words[number] for number in order])
    rows = words[: found * each].reshape(found, each)
    return Space(root, [found], ["all"], keys, rows[order].reshape(-1))


def longer(array: Any, size: int) -> Any:
    """Return an array or a list extended to *size*; new elements of an array are undefined."""
    if isinstance(array, list):
        return array + [None] * (size - len(array))
    result = np.empty(size, array.dtype)
    result[: len(array)] = array
    return result
