"""A technique that takes the game's own order of noisy moves back, for studies of move ordering.

A search without the technique ``order`` still tries noisy moves first, by what they win, in a game
that defines ``gain``.  With :data:`UNORDERED` it knows nothing about moves beforehand but the order
in which the game lists them, as in J. Schaeffer's experiments of 1989.  Moves that earlier nodes
have made promising (hash moves, killers, history) still come first.
"""

from __future__ import annotations

from typing import Any

from cutnode.compiler.jit import compiled
from cutnode.contract.dispatch import defines
from cutnode.contract.verbs import gain
from cutnode.kernels.declarations import Technique
from cutnode.kernels.parameters import NOISY_BONUS
from cutnode.kernels.techniques import leave_out

ORDER = "order"
"""The technique that searches the game's most promising moves first."""


@compiled
def rank(node, move, search):  # type: ignore[no-untyped-def]
    """Return what a noisy move's score loses: all that it has for being noisy."""
    won = gain(node.position, move)
    return -(search.order_gain_weight * won + NOISY_BONUS) if won > 0 else 0


UNORDERED = Technique(
    "unordered",
    exact=True,
    about="search noisy moves in no order of their own",
    needs="gain",
    rank=rank,
)


def without_order(cls: Any, techniques: frozenset[str]) -> frozenset[str | Technique]:
    """Return techniques for a search that does not know the game's own order of moves."""
    unordered = {UNORDERED} if defines(cls, "gain") else set()
    return leave_out(techniques, [ORDER]) | unordered
