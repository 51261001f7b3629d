"""The rules of a compiled game as functions of Python, for searches that run as plain Python.

Compiling a search takes seconds, compiling the rules of a small game a fraction of one.  So the
first search of a game can run its kernels as plain Python (:mod:`cutnode.compiler.interpreter`)
with only the rules compiled: every verb becomes a kernel of its own, which calls the rule.  The
rules then mean the same as in the compiled search, also where 64 bits overflow or ``Bits`` and
``int`` mix, and rules that do not compile are reported in the same words.

A kernel converts what its rule returns as the search kernels would: a key becomes a word.  Where
they need not agree, it does not compile or raises an error: if a rule returns ``Bits`` in place of
an ``int``, a number in place of a truth value, or a number beyond :data:`MOST`.
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import numpy as np
from numba import types
from numba.core.errors import TypingError

from cutnode.compiler.interpreter import interpret
from cutnode.compiler.jit import Kernel, Numbers, Position, Techniques
from cutnode.contract import verbs
from cutnode.contract.bits import Bits
from cutnode.contract.dispatch import VERBS, bind, defines
from cutnode.contract.native import in_compiled_code
from cutnode.contract.positions import position_type

MOST = 1_000_000
"""The greatest number that a rule may return to a search in plain Python."""


def as_plain_python(kernel: Kernel, cls: Any) -> Callable[..., Any]:
    """Return a kernel as plain Python for a compiled game, which calls the compiled rules.

    Raise :class:`CutnodeError` if the rules do not compile, or not to what the kernels expect.
    """
    return interpret(kernel.function, cls, rules=lambda name: _rule(cls, name))


def _rule(cls: Any, name: str) -> Callable[..., Any]:
    """Return the function of Python for a verb: compiled, unless the game does not define it."""
    if not defines(cls, name) and name != "key":
        return bind(cls, name)
    run = _kernel(name).specialise(cls)
    return _Listing(run) if "buffer" in inspect.signature(VERBS[name]).parameters else run


class _Listing(threading.local):
    """A compiled rule that writes moves, called with a list in place of an array.

    Each thread has an array of its own.
    """

    def __init__(self, run: Callable[..., int]):
        self.run = run
        self.room = np.zeros(0, np.int64)

    def __call__(self, position: Any, buffer: list[int], at: int) -> int:
        if len(self.room) < len(buffer):
            self.room = np.zeros(len(buffer), np.int64)
        end = self.run(position, self.room, at)
        if not at <= end <= len(buffer):
            raise OverflowError(f"a rule wrote moves from {at} to {end}")
        buffer[at:end] = self.room[at:end].tolist()
        return end


# Results


def whole(answer: Any) -> int:
    """Return a whole number that a rule returned."""
    return int(answer)


def truth(answer: Any) -> bool:
    """Return a truth value that a rule returned."""
    return bool(answer)


def real(answer: Any) -> float:
    """Return a float that a rule returned."""
    return float(answer)


def word(answer: Any) -> int:
    """Return a key that a rule returned."""
    return Bits(answer)


@in_compiled_code(whole)
def _compiled_whole(answer: Any) -> Any:
    if not isinstance(answer, types.Integer | types.Boolean) or answer == types.uint64:
        raise TypingError(f"a whole number is {answer}")

    def checked(answer: Any) -> Any:
        number = np.int64(answer)
        if number > MOST or number < -MOST:
            raise OverflowError
        return number

    return checked


@in_compiled_code(truth)
def _compiled_truth(answer: Any) -> Any:
    if not isinstance(answer, types.Boolean):
        raise TypingError(f"a truth value is {answer}")
    return lambda answer: answer


@in_compiled_code(real)
def _compiled_real(answer: Any) -> Any:
    if not isinstance(answer, types.Float):
        raise TypingError(f"a float is {answer}")
    return lambda answer: answer


@in_compiled_code(word)
def _compiled_word(answer: Any) -> Any:
    return lambda answer: Bits(answer)


# Kernels

_PARTS: dict[str, tuple[str, Callable[[Any], types.Type]]] = {
    "int": ("whole", lambda cls: types.int64),
    "bool": ("truth", lambda cls: types.boolean),
    "float": ("real", lambda cls: types.float64),
    "word": ("word", lambda cls: types.uint64),
    "Any": ("", position_type),
}
"""For each annotation of a result: the function that converts it, and its compiled type."""

_RESULTS = {
    "key": "word",
    "recurrence": "word",
    "canonical": "tuple[word, int]",
    "settled": "tuple[int, word]",
}
"""The results of verbs that return words, in the notation of annotations."""

_ARGUMENTS = {"buffer": Numbers, "word": Bits}
"""The annotations of arguments, where they follow from the name."""

_kernels: dict[str, Kernel] = {}


def _kernel(name: str) -> Kernel:
    """Return the kernel that calls the rule of a verb."""
    if name not in _kernels:
        _kernels[name] = _made(name)
    return _kernels[name]


def _made(name: str) -> Kernel:
    contract = inspect.signature(VERBS[name])
    result = _RESULTS.get(name, contract.return_annotation)
    parts = result.removeprefix("tuple[").removesuffix("]").split(", ")
    is_tuple = parts != [result]
    call = ", ".join(contract.parameters)
    given = [f"{_PARTS[part][0]}(answer{f'[{at}]' * is_tuple})" for at, part in enumerate(parts)]
    lines = (
        f"def {name}({call}):",
        f"    answer = verbs.{name}({call})",
        f"    return {', '.join(given)}",
    )
    space: dict[str, Any] = {"__name__": __name__, "verbs": verbs}
    space |= {"whole": whole, "truth": truth, "real": real, "word": word}
    exec("\n".join(lines), space)
    function = space[name]
    function.__annotations__ = {
        parameter.name: _ARGUMENTS.get(
            parameter.name, int if parameter.annotation == "int" else Position
        )
        for parameter in contract.parameters.values()
    }
    function.__annotations__["return"] = Annotated[Any, _type_of(parts, is_tuple)]
    return Kernel(function, quiet=True)


def _type_of(parts: Sequence[str], is_tuple: bool) -> Callable[..., types.Type]:
    def resolve(cls: Any, evaluation: Any, techniques: Techniques) -> types.Type:
        kinds = [_PARTS[part][1](cls) for part in parts]
        return types.Tuple(kinds) if is_tuple else kinds[0]

    return resolve
