"""Errors, each with a message that says what to do about it.

Failures of a game's texts may be collected, so that something can stand in for them.
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
    """A game cannot be found, or does not follow the contract."""


class ContractError(GameError):
    """The rules of a game fail, or do what ``cutnode.contract.verbs`` does not allow."""


class PositionError(CutnodeError):
    """A text is not a position or a move, or a position cannot be searched."""


class PositionWarning(UserWarning):
    """A position is read in another way than it is written; the message says how."""


class TableError(CutnodeError):
    """A transposition table of this size cannot be had."""


def shown(value: Any) -> str:
    """Return the ``repr`` of a value as a message shows it: one line, and not all of a long one."""
    text = re.sub(r"\s*\n\s*", " ", repr(value))
    return text if len(text) <= LONGEST_SHOWN else f"{text[: LONGEST_SHOWN - 3]}..."


def as_python(value: Any) -> Any:
    """Return a scalar of numpy as Python's, whose arithmetic does not overflow; others as given."""
    numpy = sys.modules.get("numpy")  # without it, there are none
    return value.item() if numpy is not None and isinstance(value, numpy.generic) else value


def require_integer(value: Any, what: str) -> int:
    """A whole number; :class:`CutnodeError` that says *what* should be one."""
    try:
        if not isinstance(value, bool):
            return operator.index(value)
    except TypeError:
        pass
    raise CutnodeError(f"{what} is a whole number, not {shown(value)}")


def require_number(value: Any, what: str) -> float:
    """A number; :class:`CutnodeError` that says *what* should be one."""
    value = as_python(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise CutnodeError(f"{what} must be a number, got {shown(value)}")
    return value


def require_callable(value: Any, what: str) -> None:
    """:class:`CutnodeError` if a callback that is given cannot be called."""
    if value is not None and not callable(value):
        raise CutnodeError(f"{what} must be a function, got {shown(value)}")


def require_iterable(value: Any, what: str) -> Iterable[Any]:
    """Several things; :class:`CutnodeError` that says *what* should be."""
    try:
        iter(value)
    except TypeError:
        raise CutnodeError(f"{what} must be iterable, got {shown(value)}") from None
    return value  # type: ignore[no-any-return]


def require_path(value: Any, what: str) -> str:
    """The path of a file; :class:`CutnodeError` that says *what* should be one."""
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
    """Let something stand in for texts that fail; gives the list of what went wrong."""
    failures: list[ContractError] = []
    token = _failures.set(failures)
    try:
        yield failures
    finally:
        _failures.reset(token)


def collected_failures() -> list[ContractError] | None:
    """Return the list of the innermost :func:`forgiving` block; None outside of one."""
    return _failures.get()
