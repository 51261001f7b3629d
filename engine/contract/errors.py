"""Errors, each with a message that says what to do about it."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

__all__ = [
    "ContractError",
    "CutnodeError",
    "GameError",
    "PositionError",
    "PositionWarning",
    "TableError",
    "require_callable",
    "require_integer",
    "require_iterable",
    "require_number",
]


class CutnodeError(ValueError):
    """Base class of every error that cutnode raises on purpose."""


class GameError(CutnodeError):
    """A game cannot be found, or does not follow the contract."""


class ContractError(GameError):
    """The rules of a game fail, or do what ``engine.contract.verbs`` does not allow."""


class PositionError(CutnodeError):
    """A text is not a position or a move, or a position cannot be searched."""


class PositionWarning(UserWarning):
    """A position is read in another way than it is written; the message says how."""


class TableError(CutnodeError):
    """A transposition table of this size cannot be had."""


def require_integer(value: Any, what: str) -> int:
    """A whole number; :class:`CutnodeError` that says *what* should be one."""
    try:
        if not isinstance(value, bool):
            return operator.index(value)
    except TypeError:
        pass
    raise CutnodeError(f"{what} is a whole number, not {value!r}")


def require_number(value: Any, what: str) -> float:
    """A number; :class:`CutnodeError` that says *what* should be one."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise CutnodeError(f"{what} must be a number, got {value!r}")
    return value


def require_callable(value: Any, what: str) -> None:
    """:class:`CutnodeError` if a callback that is given cannot be called."""
    if value is not None and not callable(value):
        raise CutnodeError(f"{what} must be a function, got {value!r}")


def require_iterable(value: Any, what: str) -> Iterable[Any]:
    """Several things; :class:`CutnodeError` that says *what* should be."""
    if not isinstance(value, Iterable):
        raise CutnodeError(f"{what} must be iterable, got {value!r}")
    return value
