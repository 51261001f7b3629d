"""The theory of uniform game trees: how much of one a search has to see.

In a uniform tree every inner node has *width* children, and all leaves are *depth* plies
below the root.  Nodes are positions visited, the root and the leaves included.  "Alpha-beta"
is the textbook's, with the full window at the root, moves in a fixed order, and no table
(:func:`cutnode.alphabeta`); "random" leaves have independent values without ties.  Counts
are exact integers; expected counts are means over all random trees.

Sources
    Knuth & Moore 1975, "An analysis of alpha-beta pruning", Artificial Intelligence 6.
    Pearl 1982, "The solution for the branching factor of the alpha-beta pruning algorithm
    and its optimality", Communications of the ACM 25 (8).
    Pearl 1984, "Heuristics", on trees of wins and losses.
    Fuller, Gaschnig & Gillogly 1973, "Analysis of the alpha-beta pruning algorithm".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import exp, lgamma
from typing import NamedTuple

from cutnode.contract.errors import CutnodeError


def leaves(width: int, depth: int) -> int:
    """Return the leaves of a uniform tree, all of which minimax without pruning evaluates."""
    _require_shape(width, depth)
    return int(width**depth)


def nodes(width: int, depth: int) -> int:
    """Return the nodes of a uniform tree, all of which minimax without pruning visits."""
    _require_shape(width, depth)
    return sum(width**ply for ply in range(depth + 1))


def minimal_leaves(width: int, depth: int) -> int:
    """Return the fewest leaves that prove the value of the root (Knuth & Moore 1975).

    Alpha-beta evaluates exactly these if the best move comes first everywhere.
    """
    _require_shape(width, depth)
    return leaves(width, (depth + 1) // 2) + leaves(width, depth // 2) - 1


class CriticalLevel(NamedTuple):
    """The nodes of each type on one level of the critical tree; means if widths are means."""

    type1: float
    """On the line of best play: searched with an open window."""
    type2: float
    """A refutation is enough: one move is searched."""
    type3: float
    """To be refuted: all moves are searched."""


def critical_tree(width: int, depth: int) -> list[CriticalLevel]:
    """Return the smallest tree that proves the value of the root, level by level from the root.

    The types of Knuth & Moore 1975: the first child of a node of type 1 is of type 1 and
    the others of type 2; the one child of type 2 is of type 3; all of type 3 are of type 2.
    """
    _require_shape(width, depth)
    return critical_levels([width] * depth)


def critical_levels(widths: Iterable[float]) -> list[CriticalLevel]:
    """Return the critical tree of which the nodes of each level have so many children, or a mean.

    The leaves are the last level.
    """
    levels = [CriticalLevel(1, 0, 0)]
    for width in widths:
        above = levels[-1]
        type2 = above.type1 * (width - 1) + above.type3 * width
        levels.append(CriticalLevel(1, type2, above.type2))
    return levels


def minimal_nodes(width: int, depth: int) -> int:
    """Return the nodes of the critical tree, of all levels.

    Alpha-beta visits exactly these if the best move comes first everywhere.
    """
    return int(sum(map(sum, critical_tree(width, depth))))


def fixed_point(width: int) -> float:
    """Return Pearl's xi: the root of xi**width + xi = 1 between 0 and 1.

    If leaves are won with this probability, so is the root of a tree of any depth
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
    """Return the factor by which the random leaves of alpha-beta grow with one ply more.

    The limit for great depths: xi / (1 - xi) (Pearl 1982).
    """
    xi = fixed_point(width)
    return xi / (1 - xi)


def expected_leaves_of_two_plies(width: int) -> float:
    """Return the random leaves that alpha-beta evaluates on average in a tree of depth 2.

    The case of two plies of Fuller, Gaschnig & Gillogly 1973 and of Knuth & Moore 1975.
    All leaves of the first move are evaluated.  Leaf j of move i is, if each of the j - 1
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
    """A tree whose leaves are wins with some probability, independently of each other."""

    win: float
    """The probability that the mover at the root wins."""
    leaves: float
    """The leaves evaluated on average, where one winning move is enough."""


def win_loss_tree(width: int, win: float) -> Iterator[WinLossTree]:
    """Yield trees of wins and losses of depth 0, 1, 2 and so on without end (Pearl 1984).

    A leaf is won by its mover with probability *win*.  Moves are searched in order until
    one wins::

        p(0) = win    p(d) = 1 - p(d - 1)**width
        E(0) = 1      E(d) = E(d - 1) * (1 + p(d - 1) + ... + p(d - 1)**(width - 1))
    """
    _require_shape(width, 0)
    if not 0 <= win <= 1:
        raise CutnodeError(f"a probability is from 0 to 1, not {win}")
    expected = 1.0
    while True:
        yield WinLossTree(win, expected)
        expected *= sum(win**failed for failed in range(width))
        win = 1 - win**width


def _require_shape(width: int, depth: int) -> None:
    if width < 1:
        raise CutnodeError(f"a tree has a width of 1 or more, not {width}")
    if depth < 0:
        raise CutnodeError(f"a depth is 0 or more, not {depth}")
