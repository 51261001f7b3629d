"""Programs that search the same trees, and their results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

__all__ = ["DEEPEST", "WIN", "Count", "Found", "Peer", "Program", "Work"]

WIN = 10_000
"""A win in the programs that have no scale of their own."""

DEEPEST = {"tictactoe": 9, "connect4": 42}
"""The games, and the plies after which they are over."""


@dataclass(frozen=True, slots=True)
class Work:
    """A game, and how deep it is searched."""

    game: str
    depth: int


class Found(NamedTuple):
    """The best move and the score that a program finds; None for what it does not report."""

    move: int | None
    score: float | None


class Count(NamedTuple):
    """What a program found, and the positions that it visited."""

    found: Found
    nodes: int


@dataclass(frozen=True, slots=True)
class Program:
    """A search of some package, ready to run."""

    name: str
    quickest: bool
    """Whether quicker wins count more."""
    same: bool
    """Whether it is plain alpha-beta, so that counts have to agree."""
    count: Callable[[Work], Count]
    run: Callable[[Work], Found]


@dataclass(frozen=True, slots=True)
class Peer:
    """A package that may be installed."""

    package: str
    """Its name on PyPI."""
    module: str
    """The module to import."""
    install: str
    make: Callable[[], list[Program]]
