"""Kernels as plain Python: the search of games whose rules are not compiled.

A kernel calls verbs, other kernels and helpers by name.  When numba compiles it for a position
class, these names are bound to the rules of that class.  :func:`interpret` does the same for plain
Python: it copies the kernel, and every function that the kernel calls, with other global names.  So
the same search runs, node for node, only slower, and positions may be any hashable objects.

The copies have constants folded and small functions inlined: see ``cutnode.compiler.folding``.
"""

from __future__ import annotations

import contextlib
import functools
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from pathlib import Path
from types import CodeType, FunctionType, ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from cutnode.compiler.folding import folded
from cutnode.contract import positions
from cutnode.contract.bits import Bits
from cutnode.contract.collection import is_file_of_engine, is_of_engine
from cutnode.contract.dispatch import (
    DERIVED,
    DISPATCHED,
    HOOKED,
    VERBS,
    bind,
    defines,
    game_constant,
    game_name,
)
from cutnode.contract.errors import ContractError, CutnodeError
from cutnode.contract.messages import explained
from cutnode.contract.native import is_compiled

ENGINE = Path(__file__).parents[1]

FRAMES_PER_PLY = 3

Observer = Callable[[Callable[..., Any]], Callable[..., Any]]
"""A wrapper: takes a function, and returns one that is called in its place and calls it."""

_observers: ContextVar[Mapping[Any, Observer] | None] = ContextVar("observers", default=None)


class Interpretable:
    """An object that kernels call by name, and that plain Python runs as a plain function."""

    function: Callable[..., Any]


def interpret(
    function: Callable[..., Any],
    cls: Any,
    techniques: Sequence[Any] = (),
    rules: Callable[[str], Callable[..., Any]] | None = None,
) -> Callable[..., Any]:
    """Return a kernel's function, bound to the rules of a position class and the techniques' hooks.

    *rules* returns the function to call for a verb; by default, it is the game's own.  An error in
    the rules becomes a :class:`ContractError` that says where.
    """
    binding = _binding(cls, tuple(techniques), rules)
    run = binding.observe(function, binding.interpret(function))
    argument = binding.argument
    needed = FRAMES_PER_PLY * game_constant(cls, "MAX_PLIES", 512) + 1000

    def call(*args: Any) -> Any:
        sys.setrecursionlimit(max(sys.getrecursionlimit(), needed))
        try:
            return run(*map(argument, args))
        except CutnodeError:
            raise
        except Exception as error:
            failure = explained(error) or ContractError(
                f"the rules of {game_name(cls)} do not run: {type(error).__name__}: {error}"
                f"{_place(error)}"
            )
            raise failure from error

    return call


def _place(error: Exception) -> str:
    """Return the place of an error outside the engine, for a message; "" if there is none."""
    steps = traceback.extract_tb(error.__traceback__)
    outside = [step for step in steps if not is_file_of_engine(step.filename)]
    if not outside:
        return ""
    return f", in {outside[-1].name} ({Path(outside[-1].filename).name}, line {outside[-1].lineno})"


@contextlib.contextmanager
def observed(observers: Mapping[Any, Observer]) -> Iterator[None]:
    """Observe the searches in plain Python that this thread sets up inside the context.

    *observers* are given by functions of the engine, including kernels and verbs.  All other
    searches are unaffected.
    """
    token = _observers.set(observers)
    try:
        yield
    finally:
        _observers.reset(token)


_bindings: dict[Any, Binding] = {}


def _binding(
    cls: Any, techniques: tuple[Any, ...], rules: Callable[[str], Callable[..., Any]] | None
) -> Binding:
    """Return the binding of a class; a new one if a rule has been redefined since (in a notebook).

    A rule also changes when it is no longer guarded (``cutnode.contract.guarding``).
    """
    if observers := _observers.get():
        return Binding(cls, techniques, observers, rules)
    key = cls, techniques, rules is None
    binding = _bindings.get(key)
    if binding is None or binding.rules != _rules(cls):
        binding = _bindings[key] = Binding(cls, techniques, rules=rules)
    return binding


def _rules(cls: Any) -> list[Any]:
    return [bind(cls, name) for name in VERBS if defines(cls, name)]


class Names:
    """The global names of a module: each gets its meaning for the class when it is first used."""

    def __init__(self, names: Mapping[str, Any], meaning: Callable[[Any], Any]):
        self.meanings = dict(names)
        """The names as the module's functions see them, with the meanings found so far."""
        self._meaning = meaning
        self._found: set[str] = set()

    def get(self, name: str) -> Any:
        """Return the meaning of a name; None if the module does not define it."""
        if name in self.meanings and name not in self._found:
            self._found.add(name)
            self.meanings[name] = self._meaning(self.meanings[name])
        return self.meanings.get(name)


def _names_in(code: CodeType) -> Iterator[str]:
    """Yield the names that a function's code uses, including code inside it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names_in(constant)


class Binding:
    """The meanings of names in the engine's compiled functions for a position class.

    *techniques* are the ones from outside the engine, whose hooks are called.
    """

    def __init__(
        self,
        cls: Any,
        techniques: tuple[Any, ...] = (),
        observers: Mapping[Any, Observer] | None = None,
        rules: Callable[[str], Callable[..., Any]] | None = None,
    ):
        self.cls = cls
        self.given_rule = functools.partial(bind, cls) if rules is None else rules
        self.techniques = techniques
        self.hooks = {hook for technique in techniques for _, hook in technique.hooks()}
        self.observers = observers or {}
        self.rules = _rules(cls)
        self._spaces: dict[str, Names] = {}
        self._copies: dict[Callable[..., Any], FunctionType] = {}
        self._unfolded: list[tuple[Any, FunctionType]] = []

    def interpret(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function whose global names have their meaning for the class, folded."""
        run = self.copy(function)
        while self._unfolded:
            original, copy = self._unfolded.pop()
            copy.__code__ = folded(original, self._space(original.__globals__))
        return run

    def copy(self, function: Any) -> Callable[..., Any]:
        """Return a function whose global names have their meaning for the class."""
        if function not in self._copies:
            space = self._space(function.__globals__)
            self._copies[function] = FunctionType(
                function.__code__,
                space.meanings,
                function.__name__,
                function.__defaults__,
                function.__closure__,
            )
            for name in _names_in(function.__code__):
                space.get(name)
            if not function.__closure__ and function.__name__ != "<lambda>":
                self._unfolded.append((function, self._copies[function]))
        return self._copies[function]

    def argument(self, given: Any) -> Any:
        """Return a caller's argument in the form for plain Python."""
        if isinstance(given, np.ndarray) and given.dtype == np.uint64:
            return memoryview(given)  # type: ignore[arg-type]  # its elements are ints
        if isinstance(given, Interpretable):
            return self._meaning(given.function)
        return given

    def _space(self, names: dict[str, Any]) -> Names:
        """Return the global names of a module."""
        module = names["__name__"]
        if module not in self._spaces:
            self._spaces[module] = Names(names, self._meaning)
        return self._spaces[module]

    def _meaning(self, value: Any) -> Any:
        return self.observe(value, self._unobserved(value))

    def observe(self, original: Any, run: Any) -> Any:
        """Return the function to call for *run*, the meaning of *original*."""
        if self.observers:
            function = original.function if isinstance(original, Interpretable) else original
            if isinstance(function, FunctionType) and function in self.observers:
                return self.observers[function](run)
        return run

    def _unobserved(self, value: Any) -> Any:
        if isinstance(value, Interpretable):
            return self.copy(value.function)
        if not isinstance(value, FunctionType | type | ModuleType):
            return value
        if value in SUBSTITUTES:
            return SUBSTITUTES[value]
        if value in DISPATCHED:
            return self._rule(DISPATCHED[value])
        if value in DERIVED:
            return self.copy(DERIVED[value](self.cls))
        if value in HOOKED:
            return self.copy(HOOKED[value](self.techniques))
        if value in self.hooks:
            return self.copy(value)
        if is_compiled(value) and is_of_engine(value.__module__):
            return self.copy(value)
        return value

    def _rule(self, name: str) -> Callable[..., Any]:
        rule = self.given_rule(name)
        return self.copy(rule) if rule is VERBS[name] else rule


def _pack(words: Any, index: int, position: Any) -> None:
    if isinstance(words, list):
        words[index] = position
    else:
        positions.pack(words, index, position)  # an entry of a table


def _unpack(words: Any, index: int, example: Any) -> Any:
    return words[index] if isinstance(words, list) else positions.unpack(words, index, example)


SUBSTITUTES: dict[Any, Any] = {
    np: SimpleNamespace(int64=int, uint64=int, uint8=int, float64=float, float32=np.float32),
    Bits: int,
    positions.pack: _pack,
    positions.unpack: _unpack,
    positions.width: lambda position: 1,
}
"""Replacements in plain Python: positions are stored as objects, and integers are Python's."""
