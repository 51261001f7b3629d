"""What people choose by name, and the sizes that a help page shows.

This module imports nothing of the engine, so a command line knows all of it before anything is
loaded.
"""

from __future__ import annotations

from math import inf
from typing import NamedTuple


class Option(NamedTuple):
    """An option that calls, commands, players and the service have in common."""

    kind: type
    """What its value is: ``str`` is one of the *choices*, a number is in its range."""
    about: str
    """What help and the service's schema say of it."""
    usual: str = ""
    """Its default, where that depends on the game."""
    choices: tuple[str, ...] = ()
    least: float = 0
    most: float = inf

    def fault(self, value: object) -> str:
        """Return what its values are, if *value* is none; else ""."""
        if self.choices:
            return "" if value in self.choices else f"one of {', '.join(self.choices)}"
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if self.kind is int:
            is_number = is_number and isinstance(value, int)
        if is_number and self.least <= value <= self.most and value < inf:  # type: ignore[operator]
            return ""
        what = "an integer" if self.kind is int else "a number"
        above = f"{self.least:g} or more" if self.most == inf else None
        return f"{what}, {above or f'from {self.least:g} to {self.most:g}'}"


DRIVERS = ("alphabeta", "mtdf")
"""How a depth is searched: with a window around the last score, or with null windows only,
from the last score on (MTD(f), A. Plaat et al., 1996)."""

ENGINES = ("alphabeta", "mcts")
"""How a position is searched: by alpha-beta, or by Monte Carlo tree search."""

SEARCHES = (*ENGINES, "auto")
"""The same, or by the one of them that does better in a trial."""

SOLVERS = ("alphabeta", "pn", "auto")
"""How a value is proven: by alpha-beta (where play can go round, in memory first), by proof
numbers, or by the one of them that gets there first."""

AIMS = ("moves", "games")
"""What parameters are fitted by: what the moves chosen with them lose, or the games they win."""

STYLES = {
    "balanced": (25, 15, 30, 15, 10, 5),
    "aggressive": (15, 5, 25, 10, 5, 40),
    "economic": (30, 25, 15, 20, 10, 0),
}
"""Styles of play: the weights of :class:`~cutnode.kernels.optionality.Optionality` in order."""

MOST_PROOF_SHARE = 0.9
"""The largest part of its limits in which a search tries a proof."""

MOST_ELO = 2000
"""Sequential tests ask for no larger difference between two players."""

# Monte Carlo tree search

SELECTIONS = ("uct", "puct")
"""How a child is selected: by UCT, or by PUCT, which has priors."""

PRIORS = ("uniform", "order", "evaluation")
"""By what PUCT takes moves for promising before the first playout: by nothing, by the game's
``order``, or by the evaluation of the positions after them.

Of 40 games at 0.1 s a move between ``"evaluation"`` and UCT the first won 39 in chess, which has
no order, and had 0.65 of the points in Kalah; 0.575 in Connect Four and in Breakthrough on 6x6 do
not decide it."""

ROLLOUTS = ("uniform", "order", "bounds")
"""How a playout goes on beyond the tree: at random; mostly by the game's ``order``; or at random
with forced moves, until the game's ``bounds`` say who wins.

Of games at 50 ms a move between ``"bounds"`` and ``"uniform"`` the first won 8 of 10 in Connect
Four, and as many in Breakthrough on 6x6."""

TREE_MEMORY = 512 << 20
"""Bytes for the tree."""

TREE_OPTIONS = {
    "selection": Option(
        *(str, "Selection policy.", "puct where there are priors, else uct", SELECTIONS)
    ),
    "priors": Option(
        *(str, "Source of the move priors of PUCT."),
        *("order if the game has one, else evaluation", PRIORS),
    ),
    "exploration": Option(float, "Weight of exploration.", "1 for uct, 1.5 for puct"),
    "rave": Option(float, "Number of playouts up to which RAVE outweighs them."),
    "minimax": Option(float, "Weight of minimax evaluations against playouts.", most=1),
    "rollouts": Option(*(str, "Rollout policy beyond the tree.", "bounds or uniform", ROLLOUTS)),
    "cut_after": Option(int, "Plies after which a rollout ends with an evaluation."),
}
"""The options of Monte Carlo tree search only; :class:`cutnode.MonteCarlo` explains them."""

# Trees that are recorded

RECORDED_SEARCHES = ("search", "alphabeta", "minimax")
"""The search with its techniques, and the plain references."""

RECORDED_NODES = 100_000
"""A search of more nodes is not recorded unless asked for: it takes seconds."""

TREE_ENDINGS = {
    "mermaid": (".mmd", ".mermaid"),
    "dot": (".dot", ".gv"),
    "json": (".json",),
    "svg": (".svg",),
}
"""The formats of a drawn tree, and the endings of their files."""

# Tablebases and clusters

METRICS = {
    "dtm": "plies to the end of the game",
    "dtc": "plies to the next layer, or to the end of the game",
    "wdl": "none: only win, draw and loss",
}
"""The distances that a tablebase can keep."""

LAYER_MEMORY = 4 << 30
"""Bytes for a layer that is solved."""

LARGE_LAYER = 1 << 24
"""Indices of a layer from which on all workers of a cluster solve it together."""

CLUSTER_POSITIONS = 2_000_000
"""The positions that a cluster's driver expands at most, some 130 bytes each in Connect Four."""
