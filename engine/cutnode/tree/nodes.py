"""The nodes of a searched tree, in the form in which they are shown."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Unsearched:
    """Moves of a node that were not searched, with the reason."""

    reason: str
    moves: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Node:
    """A position as the search saw it; scores are for the player to move at the root."""

    move: str
    """The move that led here, in the game's notation: "" at the root, ``null move`` for a null
    move, ``roll of 2 (0.375)`` for an outcome of chance and its probability."""
    position: str
    player: str
    """``max``, ``min`` or ``chance``."""
    ply: int
    depth: int
    """The remaining depth, in plies."""
    window: tuple[float | None, float | None]
    """Alpha and beta; None for an infinite bound."""
    value: float
    bound: str
    """The kind of *value*: ``exact``, or a ``lower`` or ``upper`` bound; ``none`` if only one move
    was tried (Star2), and it did not raise alpha."""
    kind: str
    """The node type found by the search: ``pv`` (score inside the window), ``cut`` (failed high),
    ``all`` (failed low), ``chance``, or ``leaf`` (no move was searched)."""
    best: str | None
    """The best move, if known."""
    principal: bool
    """Whether the node is on the principal variation."""
    reason: str
    """Why the search ended at this node."""
    notes: tuple[str, ...]
    """How the node was searched: reduced, extended, searched again."""
    nodes: int
    """The nodes visited in this subtree, over all searches of the node."""
    searches: int
    children: tuple[Node, ...]
    """The children that are shown, in the order in which they were first searched."""
    more: int
    """The number of children that were searched but are not shown."""
    more_nodes: int
    """The nodes visited in the children that are not shown."""
    unsearched: tuple[Unsearched, ...]

    def walk(self) -> Iterable[Node]:
        """Yield the node and all its shown descendants, parents first."""
        yield self
        for child in self.children:
            yield from child.walk()
