"""The theory of uniform game trees: how much of a tree a search must visit.

In a uniform tree every inner node has *width* children, and all leaves are *depth* plies
below the root.  Node counts include the root and the leaves.  "Alpha-beta" is the textbook
algorithm, with the full window at the root, moves in a fixed order, and no table
(:func:`cutnode.alphabeta`); "random" leaves have independent values without ties.  Counts
are exact integers; expected counts are means over all random trees.

Sources
    Knuth & Moore 1975, "An analysis of alpha-beta pruning", Artificial Intelligence 6.
    Pearl 1982, "The solution for the branching factor of the alpha-beta pruning algorithm
    and its optimality", Communications of the ACM 25 (8).
    Pearl 1984, "Heuristics", on win-loss trees.
    Fuller, Gaschnig & Gillogly 1973, "Analysis of the alpha-beta pruning algorithm".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import exp, lgamma
from typing import NamedTuple

from cutnode.contract.errors import CutnodeError, require_at_least


def leaves(width: int, depth: int) -> int:
    """Return the number of leaves of a uniform tree; minimax without pruning evaluates all."""
    _require_shape(width, depth)
    return int(width**depth)


def nodes(width: int, depth: int) -> int:
    """Return the number of nodes of a uniform tree; minimax without pruning visits all."""
    _require_shape(width, depth)
    return sum(width**ply for ply in range(depth + 1))


def minimal_leaves(width: int, depth: int) -> int:
    """Return the fewest leaves that prove the value of the root (Knuth & Moore 1975).

    Alpha-beta evaluates exactly this number if the best move comes first everywhere.
    """
    _require_shape(width, depth)
    return leaves(width, (depth + 1) // 2) + leaves(width, depth // 2) - 1


class CriticalLevel(NamedTuple):
    """The nodes of each type on one level of the critical tree (means if widths are means)."""

    type1: float
    """PV nodes, searched with an open window."""
    type2: float
    """Cut-nodes, where one refutation is searched."""
    type3: float
    """All-nodes, where all moves are searched."""


def critical_tree(width: int, depth: int) -> list[CriticalLevel]:
    """Return the levels, from the root, of the smallest tree that proves the root's value.

    Node types follow Knuth & Moore 1975.  The first child of a type 1 node is of type 1
    and the others are of type 2; the only child of a type 2 node is of type 3; all children of a
    type 3 node are of type 2.
    """
    _require_shape(width, depth)
    return critical_levels([width] * depth)


def critical_levels(widths: Iterable[float]) -> list[CriticalLevel]:
    """Return the levels of the critical tree, given the (mean) number of children at each level.

    The leaves are the last level.
    """
    levels = [CriticalLevel(1, 0, 0)]
    for width in widths:
        above = levels[-1]
        type2 = above.type1 * (width - 1) + above.type3 * width
        levels.append(CriticalLevel(1, type2, above.type2))
    return levels


def minimal_nodes(width: int, depth: int) -> int:
    """Return the number of nodes of the critical tree.

    Alpha-beta visits exactly this number if the best move comes first everywhere.
    """
    return int(sum(map(sum, critical_tree(width, depth))))


def fixed_point(width: int) -> float:
    """Return Pearl's xi: the root of xi**width + xi = 1 between 0 and 1.

    If leaves are wins with this probability, so is the root of a tree of any depth
    (see :func:`win_loss_tree`).
    """
    _require_shape(width, 0)
    low, high = 0.0, 1.0
    while low < (middle := (low + high) / 2) < high:
        if middle**width + middle < 1:
            low = middle
        else:
            high = middle
    return low


def branching_factor(width: int) -> float:
    """Return the branching factor of alpha-beta on trees with random leaves.

    It is the growth of the leaves per ply in the limit of great depth, xi / (1 - xi) (Pearl 1982).
    """
    xi = fixed_point(width)
    return xi / (1 - xi)


def expected_leaves_of_two_plies(width: int) -> float:
    """Return the mean number of random leaves that alpha-beta evaluates in a tree of depth 2.

    The two-ply case of Fuller, Gaschnig & Gillogly 1973 and of Knuth & Moore 1975.  All leaves of
    the first move are evaluated.  Leaf j of move i is evaluated if each of the j - 1 leaves
    before it is better for the mover than all earlier moves; with x = (j - 1) / width::

        P(i, j) = Gamma(x + 1) * Gamma(i) / Gamma(x + i)
    """
    _require_shape(width, 2)
    return width + sum(
        exp(lgamma(j / width + 1) + lgamma(i) - lgamma(j / width + i))
        for i in range(2, width + 1)
        for j in range(width)
    )


class WinLossTree(NamedTuple):
    """A tree whose leaves are independently wins with a given probability."""

    win: float
    """The probability that the mover at the root wins."""
    leaves: float
    """The mean number of leaves evaluated, if the search of a node stops at the first win."""


def win_loss_tree(width: int, win: float) -> Iterator[WinLossTree]:
    """Yield win-loss trees of depth 0, 1, 2 and so on without end (Pearl 1984).

    A leaf is a win for its mover with probability *win*.  Moves are searched in order until
    one wins::

        p(0) = win    p(d) = 1 - p(d - 1)**width
        E(0) = 1      E(d) = E(d - 1) * (1 + p(d - 1) + ... + p(d - 1)**(width - 1))
    """
    _require_shape(width, 0)
    if not 0 <= win <= 1:
        raise CutnodeError(f"win must be a probability, 0..1, got {win}")
    expected = 1.0
    while True:
        yield WinLossTree(win, expected)
        expected *= sum(win**failed for failed in range(width))
        win = 1 - win**width


def _require_shape(width: int, depth: int) -> None:
    require_at_least(width, 1, "width")
    require_at_least(depth, 0, "depth")
