"""The nodes of a tree that a search visited, as they are shown."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Unsearched:
    """Moves of a node that were not searched, and the reason."""

    reason: str
    moves: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Node:
    """A position as the search saw it; scores are for the player to move at the root."""

    move: str
    """The move that led here, in the game's notation: "" at the root, ``null move`` for a pass that
    was tried, ``roll of 2 (0.375)`` for an outcome of chance and its probability."""
    position: str
    player: str
    """``max``, ``min`` or ``chance``."""
    ply: int
    depth: int
    """The plies left."""
    window: tuple[float | None, float | None]
    """Alpha and beta; None where there is no bound."""
    value: float
    bound: str
    """The kind of *value*: ``exact``, a ``lower`` or an ``upper`` bound; ``none``: only one move
    was tried, which fell short."""
    kind: str
    """The type of node that it turned out to be: ``pv`` inside the window, ``cut`` if it was too
    good for the player who moves to be allowed, ``all`` if no move was good enough; ``chance``;
    ``leaf``: no move was searched."""
    best: str | None
    """The best move, if one is known to be."""
    principal: bool
    """True on the line of best play."""
    reason: str
    """Why the search went no further here."""
    notes: tuple[str, ...]
    """How the node was searched: reduced, extended, again."""
    nodes: int
    """Visited here and below, by all searches of the node."""
    searches: int
    children: tuple[Node, ...]
    """Those that are shown, in the order in which they were searched first."""
    more: int
    """Children that were searched and are not shown, ..."""
    more_nodes: int
    """... and the nodes visited there."""
    unsearched: tuple[Unsearched, ...]

    def walk(self) -> Iterable[Node]:
        """The node and all that are shown below it, parents first."""
        yield self
        for child in self.children:
            yield from child.walk()
