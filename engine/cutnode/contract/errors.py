"""Errors, each with a message that says what to do about it.

Failures of a game's text functions may be collected, so that substitutes can be printed.
"""

from __future__ import annotations

import contextlib
import operator
import os
import re
import sys
from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from typing import Any

LONGEST_SHOWN = 120
LONGEST_PATH = 4096


class CutnodeError(ValueError):
    """Base class of every error that cutnode raises on purpose."""


class GameError(CutnodeError):
    """A game that cannot be found, or does not follow the contract."""


class ContractError(GameError):
    """Rules of a game that fail, or do what ``cutnode.contract.verbs`` does not allow."""


class PositionError(CutnodeError):
    """A text that is no position or move, or a position that cannot be searched."""


class PositionWarning(UserWarning):
    """A position read differently from how it is written; the message says how."""


class TableError(CutnodeError):
    """A transposition table that cannot be allocated or read."""


def shown(value: Any) -> str:
    """Return the ``repr`` of a value as a message shows it: one line, cut off if it is long."""
    text = re.sub(r"\s*\n\s*", " ", repr(value))
    return text if len(text) <= LONGEST_SHOWN else f"{text[: LONGEST_SHOWN - 3]}..."


def as_python(value: Any) -> Any:
    """Return a numpy scalar as a Python number, whose arithmetic does not overflow.

    Other values are returned as they are.
    """
    numpy = sys.modules.get("numpy")  # without it, there are none
    return value.item() if numpy is not None and isinstance(value, numpy.generic) else value


def require_integer(value: Any, what: str) -> int:
    """Return a whole number; :class:`CutnodeError` says that *what* must be one."""
    try:
        if not isinstance(value, bool):
            return operator.index(value)
    except TypeError:
        pass
    raise CutnodeError(f"{what} must be a whole number, got {shown(value)}")


def require_at_least(value: Any, least: int, what: str) -> int:
    """Return a whole number; :class:`CutnodeError` unless *what* is one of at least *least*."""
    number = require_integer(value, what)
    if number < least:
        raise CutnodeError(f"{what} must be at least {least}, got {number}")
    return number


def require_number(value: Any, what: str) -> float:
    """Return a number; :class:`CutnodeError` says that *what* must be one."""
    value = as_python(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise CutnodeError(f"{what} must be a number, got {shown(value)}")
    return value


def require_callable(value: Any, what: str) -> None:
    """Raise :class:`CutnodeError` for a callback that is neither None nor callable."""
    if value is not None and not callable(value):
        raise CutnodeError(f"{what} must be a function, got {shown(value)}")


def require_iterable(value: Any, what: str) -> Iterable[Any]:
    """Return an iterable; :class:`CutnodeError` says that *what* must be one."""
    try:
        iter(value)
    except TypeError:
        raise CutnodeError(f"{what} must be iterable, got {shown(value)}") from None
    return value  # type: ignore[no-any-return]


def require_path(value: Any, what: str) -> str:
    """Return the path of a file as text; :class:`CutnodeError` says that *what* must be one."""
    path = os.fspath(value) if isinstance(value, str | os.PathLike) else None
    if not isinstance(path, str) or "\0" in path or len(path) > LONGEST_PATH:
        raise CutnodeError(f"{what} must be the path of a file, got {shown(value)}")
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        raise CutnodeError(f"{what} must be the path of a file, got {shown(value)}") from None
    return path


_failures: ContextVar[list[ContractError] | None] = ContextVar("failures", default=None)


@contextlib.contextmanager
def forgiving() -> Iterator[list[ContractError]]:
    """Let substitutes replace texts that fail; yield the list of the failures."""
    failures: list[ContractError] = []
    token = _failures.set(failures)
    try:
        yield failures
    finally:
        _failures.reset(token)


def collected_failures() -> list[ContractError] | None:
    """Return the list of the innermost :func:`forgiving` block; None outside one."""
    return _failures.get()
