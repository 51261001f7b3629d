"""Programs that search the same work, and the results that they report."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

__all__ = ["DEEPEST", "WIN", "Count", "Found", "Peer", "Program", "Work"]

WIN = 10_000
"""The score of a win in programs that have no scale of their own."""

DEEPEST = {"tictactoe": 9, "connect4": 42}
"""The games, with the plies after which they are over."""


@dataclass(frozen=True, slots=True)
class Work:
    """A game and the depth of its search."""

    game: str
    depth: int


class Found(NamedTuple):
    """The best move and the score that a program finds; None for what it does not report."""

    move: int | None
    score: float | None


class Count(NamedTuple):
    """A program's result, and the positions that it visited."""

    found: Found
    nodes: int


@dataclass(frozen=True, slots=True)
class Program:
    """A package's search, ready to run."""

    name: str
    quickest: bool
    """Whether quicker wins score higher."""
    same: bool
    """Whether it is plain alpha-beta, so that counts have to agree."""
    count: Callable[[Work], Count]
    run: Callable[[Work], Found]


@dataclass(frozen=True, slots=True)
class Peer:
    """A package that may be installed."""

    package: str
    """The name on PyPI."""
    module: str
    """The module to import."""
    install: str
    make: Callable[[], list[Program]]
