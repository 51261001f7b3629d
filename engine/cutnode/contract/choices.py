"""The names that users choose from, and the sizes that help pages show.

This module imports nothing from the engine, so the command line can use it before anything is
loaded.
"""

from __future__ import annotations

DRIVERS = ("alphabeta", "mtdf", "sss", "dual")
"""The drivers of an iteration: an aspiration window around the last score, or null windows only.

Null windows start at the last score (MTD(f)), above all scores (MTD(+inf), which is SSS*), or below
all (MTD(-inf), DUAL*): A. Plaat, J. Schaeffer, W. Pijls and A. de Bruin, "Best-first fixed-depth
minimax algorithms" (1996)."""

ENGINES = ("alphabeta", "mcts")
"""The engines: alpha-beta, and Monte Carlo tree search."""

SEARCHES = (*ENGINES, "auto")
"""The engines, and ``auto``: the one that does better in a trial."""

SOLVERS = ("alphabeta", "pn", "sums", "auto")
"""The solvers: alpha-beta (in games with cycles, retrograde analysis in memory first), proof
numbers, proof numbers on sums of parts, or the first two alternately until one has a proof (sums
where positions fall apart)."""

USES = ("solve", "search", "mcts", "play", "mate", "perft", "tablebase")
"""The uses of a game for which code can be compiled ahead of time."""

AIMS = ("moves", "games")
"""The objectives of tuning: the loss by the moves that parameters choose, or the games won."""

STYLES = {
    "balanced": (25, 15, 30, 15, 10, 5),
    "aggressive": (15, 5, 25, 10, 5, 40),
    "economic": (30, 25, 15, 20, 10, 0),
}
"""The styles of play, as the weights of :class:`~cutnode.kernels.optionality.Optionality`, in
order."""

MOST_PROOF_SHARE = 0.9
"""The largest share of its limits that a search spends on trying a proof."""

MOST_ELO = 2000
"""The largest Elo difference that a sequential test takes as a hypothesis."""

# Monte Carlo tree search

SELECTIONS = ("uct", "puct")
"""The selection policies: UCT, and PUCT, which has priors."""

PRIORS = ("uniform", "order", "evaluation")
"""The sources of PUCT's priors: none, the game's ``order``, or the evaluation of the positions
after the moves.

In 40 games at 0.1 s a move against UCT, ``"evaluation"`` won 39 in chess, which has no order, and
scored 0.65 of the points in Kalah; its 0.575 in Connect Four and in Breakthrough on 6x6 are
inconclusive."""

PROOF_FORMULAS = ("rank", "max", "sum")
"""The formulas of the bias by proof numbers: ``cutnode.kernels.playout_numbers`` has them."""

ROLLOUTS = ("uniform", "order", "bounds", "policy")
"""The rollout policies beyond the tree: random moves; mostly the best by the game's ``order``; or
random moves, except forced ones, until the game's ``bounds`` say who wins; or moves of the game's
``policy``.

At 50 ms a move ``"bounds"`` won 8 of 10 games against ``"uniform"`` in Connect Four, and 8 of 10
in Breakthrough on 6x6."""

TREE_MEMORY = 512 << 20
"""The size of the tree in bytes."""

# Recorded trees

RECORDED_SEARCHES = ("search", "alphabeta", "minimax")
"""The search with its techniques, and the plain reference searches."""

RECORDED_NODES = 100_000
"""The default node limit of a recorded search: a larger one takes seconds."""

TREE_ENDINGS = {
    "mermaid": (".mmd", ".mermaid"),
    "dot": (".dot", ".gv"),
    "json": (".json",),
    "svg": (".svg",),
}
"""The formats of a drawn tree, with their file suffixes."""

# Tablebases and clusters

METRICS = {
    "dtm": "plies to the end of the game",
    "dtc": "plies to the next layer, or to the end of the game",
    "wdl": "none: only win, draw and loss",
}
"""The distances that a tablebase can store."""

LAYER_MEMORY = 4 << 30
"""The memory in bytes for solving a layer."""

LARGE_LAYER = 1 << 24
"""The size in indices from which all workers of a cluster solve a layer together."""

CLUSTER_POSITIONS = 2_000_000
"""The most positions that a cluster's driver expands: about 130 bytes each in Connect Four."""

# Exports

EXPORTED = ("search", "solve", "mate", "mcts")
"""The parts of an export in addition to the rules: options of ``cutnode export``."""

ORDERING = ("evaluate", "order", "gain", "noisy", "hint", "pattern", "check", "extension")
"""The verbs that tell good moves or good leaves from others."""
