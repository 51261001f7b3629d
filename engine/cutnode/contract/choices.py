"""The choices that people make by name, and the sizes that a help page shows.

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
"""How a depth is searched: with an aspiration window around the last score, or with null windows
only, starting from the last score (MTD(f), A. Plaat et al., 1996)."""

ENGINES = ("alphabeta", "mcts")
"""How a position is searched: by alpha-beta, or by Monte Carlo tree search."""

SEARCHES = (*ENGINES, "auto")
"""The same, or whichever of them does better in a trial."""

SOLVERS = ("alphabeta", "pn", "auto")
"""How a value is proven: by alpha-beta (in memory first, if play has cycles), by proof numbers, or
by whichever of them finishes first."""

AIMS = ("moves", "games")
"""The targets of a fit: what the moves chosen with the parameters lose, or the games they win."""

STYLES = {
    "balanced": (25, 15, 30, 15, 10, 5),
    "aggressive": (15, 5, 25, 10, 5, 40),
    "economic": (30, 25, 15, 20, 10, 0),
}
"""Styles of play: the weights of :class:`~cutnode.kernels.optionality.Optionality` in order."""

MOST_PROOF_SHARE = 0.9
"""The largest share of a search's limits that may go to a proof."""

MOST_ELO = 2000
"""The largest Elo difference that a sequential test accepts."""

# Monte Carlo tree search

SELECTIONS = ("uct", "puct")
"""How a child is selected: by UCT, or by PUCT, which uses priors."""

PRIORS = ("uniform", "order", "evaluation")
"""The priors that PUCT gives moves before their first playout: equal ones, or by the game's
``order``, or by the evaluation of the positions after them.

In 40 games at 0.1 s a move against UCT, ``"evaluation"`` won 39 in chess, which has no order, and
scored 0.65 of the points in Kalah; 0.575 in Connect Four and in Breakthrough on 6x6 decides
nothing."""

ROLLOUTS = ("uniform", "order", "bounds")
"""How a playout continues beyond the tree: at random; mostly by the game's ``order``; or at random
with forced moves, until the game's ``bounds`` say who wins.

At 50 ms a move, ``"bounds"`` won 8 of 10 games against ``"uniform"`` in Connect Four, and 8 of 10
in Breakthrough on 6x6."""

TREE_MEMORY = 512 << 20
"""The memory for the tree, in bytes."""

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

# Recorded trees

RECORDED_SEARCHES = ("search", "alphabeta", "minimax")
"""The search with its techniques, and the plain reference searches."""

RECORDED_NODES = 100_000
"""The default limit of a recorded search, in nodes: a larger one takes seconds."""

TREE_ENDINGS = {
    "mermaid": (".mmd", ".mermaid"),
    "dot": (".dot", ".gv"),
    "json": (".json",),
    "svg": (".svg",),
}
"""The file suffixes of each format of a drawn tree."""

# Tablebases and clusters

METRICS = {
    "dtm": "plies to the end of the game",
    "dtc": "plies to the next layer, or to the end of the game",
    "wdl": "none: only win, draw and loss",
}
"""The distances that a tablebase can store."""

LAYER_MEMORY = 4 << 30
"""The memory for solving a layer, in bytes."""

LARGE_LAYER = 1 << 24
"""The indices from which on a layer is solved by all workers of a cluster together."""

CLUSTER_POSITIONS = 2_000_000
"""The most positions that a cluster's driver expands, some 130 bytes each in Connect Four."""
