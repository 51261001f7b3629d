"""Failures of a game's texts that are collected, so that something can stand in for them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar

from cutnode.contract.errors import ContractError

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
