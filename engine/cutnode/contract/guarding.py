"""Guards for rules in plain Python, which detect a rule that changes the position it is given.

A search keeps positions and comes back to them, so a rule that changes one in place silently
produces wrong values.  A :class:`Guard` compares the fields, the hash and the text of a position
before and after the first calls of a rule; within :func:`guarding`, it does so at every call.
"""

from __future__ import annotations

import contextlib
import functools
import typing
from collections import deque
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from enum import Enum
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from cutnode.contract.bits import Bits
from cutnode.contract.errors import ContractError

FIRST_CALLS = 500
"""The calls of a rule that are guarded; a position of many parts counts as several calls."""

PARTS = 1000
"""The parts of a position, such as numbers in a list, that count as one more call."""

LONGEST = 40
"""The most characters of a value in a message."""

SCALARS = frozenset({int, float, complex, bool, str, bytes, type(None), Bits})

_looking: ContextVar[bool] = ContextVar("looking", default=False)
"""Whether a guard is looking at a position, whose class may call rules for its text."""

_all_calls: ContextVar[bool] = ContextVar("all_calls", default=False)


class ChangedPositionError(ContractError):
    """A rule that changed the position it was given."""

    def __init__(self, game: str, verb: str, change: str):
        self.verb = verb
        way_out = "change and return a copy" if verb == "play" else "work on a copy"
        self.change = f"it changes the position it is given ({change}): {way_out}"
        super().__init__(f"{game}.{verb} breaks the contract: {self.change}")


@contextlib.contextmanager
def guarding() -> Iterator[None]:
    """Guard every call of a plain rule that this thread makes within the block."""
    token = _all_calls.set(True)
    try:
        yield
    finally:
        _all_calls.reset(token)


@functools.cache
def is_scalar(cls: Any) -> bool:
    """Return whether positions of a class are tuples of scalars, which nothing can change."""
    if not issubclass(cls, tuple) or not hasattr(cls, "_fields"):
        return False
    try:
        return SCALARS.issuperset(typing.get_type_hints(cls).values())
    except Exception:  # annotations can be anything
        return False


def needs_no_guard(cls: Any) -> bool:
    """Return whether no rule can change positions of a class, or only copies of them.

    States of other libraries are copied before they are changed (``cutnode.adapters``).
    """
    return is_scalar(cls) or ":" in cls.__module__


def guard(cls: Any, rule: Callable[..., Any], verb: str) -> Callable[..., Any]:
    """Return the function to call for a plain rule: a guard, or the rule after enough calls."""
    if needs_no_guard(cls):
        return rule
    guarded = _guard(rule, verb)
    return guarded if guarded.left > 0 or _all_calls.get() else rule


def by_position(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """Return a function of a position, guarded as rules are."""
    return lambda position, *args: guard(type(position), function, name)(position, *args)


class Guard:
    """A stand-in for a rule, which raises an error if the rule changes the position."""

    def __init__(self, rule: Callable[..., Any], verb: str):
        self.rule = rule
        self.verb = verb
        self.left = FIRST_CALLS

    def __call__(self, position: Any, *args: Any) -> Any:
        if (self.left <= 0 and not _all_calls.get()) or _looking.get():
            return self.rule(position, *args)
        before, parts = _look(position)
        answer = self.rule(position, *args)
        after, _ = _look(position)
        self.left -= 1 + parts // PARTS
        if before != after and (change := _change(before, after)):
            raise ChangedPositionError(type(position).__module__, self.verb, change)
        return answer


_guard = functools.lru_cache(1000)(Guard)


def _look(position: Any) -> tuple[dict[str, Any], int]:
    """Return the image of a position, and the number of its parts."""
    image = _Image()
    token = _looking.set(True)
    try:
        return image.of_position(position), image.parts
    finally:
        _looking.reset(token)


class _Image:
    """A copy of the contents of a position, in values that can be compared."""

    def __init__(self) -> None:
        self.parts = 0
        self.seen: dict[int, int] = {}

    def of_position(self, position: Any) -> dict[str, Any]:
        """Return the fields of a position, its hash and its text."""
        if hasattr(position, "_fields"):
            fields = dict(zip(position._fields, position, strict=True))
        else:
            fields = attributes_of(position)
        found = {name: self.of(value) for name, value in fields.items()}
        return found | {"hash": _attempt(hash, position), "text": _text(position)}

    def of(self, value: Any) -> Any:
        kind = type(value)
        if kind in SCALARS or isinstance(value, type | ModuleType | FunctionType | Enum):
            return value
        if id(value) in self.seen:
            return "again", self.seen[id(value)]
        self.seen[id(value)] = len(self.seen)
        if isinstance(value, list | tuple | deque | set | frozenset):
            self.parts += len(value)
            if isinstance(value, set | frozenset) or SCALARS.issuperset(map(type, value)):
                return set(value) if isinstance(value, set | frozenset) else list(value)
            return [self.of(part) for part in value]
        if isinstance(value, dict):
            self.parts += len(value)
            return [(self.of(name), self.of(part)) for name, part in value.items()]
        if isinstance(value, np.ndarray) and value.dtype.kind != "O":
            self.parts += value.size // 8
            return value.shape, value.tobytes()
        if isinstance(value, bytearray):
            return bytes(value)
        fields = attributes_of(value)
        return {name: self.of(part) for name, part in fields.items()} if fields else _text(value)


def attributes_of(value: Any) -> dict[str, Any]:
    """Return the attributes of an object itself, not of its class."""
    slots = [
        name
        for cls in type(value).__mro__
        for name in _names(getattr(cls, "__slots__", ()))
        if name not in ("__dict__", "__weakref__") and hasattr(value, name)
    ]
    return {name: getattr(value, name) for name in slots} | getattr(value, "__dict__", {})


def _names(slots: Any) -> tuple[str, ...]:
    return (slots,) if isinstance(slots, str) else tuple(slots)


def _text(value: Any) -> str:
    """Return the text of an object whose class defines one, else "".

    The text of a board that the engine draws (``notation.prints_board``) is left out too: it says
    no more than the fields.
    """
    cls: Any = type(value)
    plain = cls.__str__ is object.__str__ and cls.__repr__ is object.__repr__
    drawn = getattr(cls.__str__, "__module__", "") == "cutnode.contract.notation"
    return "" if plain or drawn else str(_attempt(str, value))


def _attempt(function: Callable[[Any], Any], value: Any) -> Any:
    try:
        return function(value)
    except Exception as error:  # a failure before and after is no change
        return type(error).__name__


def _change(before: dict[str, Any], after: dict[str, Any]) -> str:
    """Return in words what differs; "" if only cached attributes do.

    An attribute counts as cached if it was missing or None, or is private, as long as the hash and
    the text of the position stay the same.
    """
    names = [
        name
        for name in dict.fromkeys([*before, *after])
        if before.get(name) != after.get(name) and name not in ("hash", "text")
    ]
    kept = [name for name in names if before.get(name) is None or name.startswith("_")]
    if len(kept) == len(names) and all(before[name] == after[name] for name in ("hash", "text")):
        return ""
    return ", ".join(
        f"{name} was {_short(before.get(name))}, is now {_short(after.get(name))}"
        for name in (names or ["text"])[:2]
    )


def _short(value: Any) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."
