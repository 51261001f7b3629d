"""Errors, each with a message that says what to do about it."""

from __future__ import annotations

import operator
from typing import Any

__all__ = [
    "ContractError",
    "CutnodeError",
    "GameError",
    "PositionError",
    "PositionWarning",
    "TableError",
    "require_integer",
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
