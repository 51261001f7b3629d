"""The options of searches and proofs, each declared once: see :data:`OPTIONS`.

Python calls, commands, players and the service take their checks, defaults and help texts from
here.  Only the keywords of Python calls are written out again, in :mod:`cutnode.search.options`,
as type checkers need them.  Machine code does not depend on this module, so a help text can
change without a new compilation; and it is quick to import, for the command line.
"""

from __future__ import annotations

import threading
from math import inf
from typing import Any, NamedTuple

from cutnode.contract.choices import (
    DRIVERS,
    MOST_PROOF_SHARE,
    PRIORS,
    PROOF_FORMULAS,
    ROLLOUTS,
    SEARCHES,
    SELECTIONS,
    SOLVERS,
    STYLES,
    TREE_MEMORY,
)
from cutnode.contract.errors import CutnodeError, as_python, shown
from cutnode.contract.stop import DEPTH_IN
from cutnode.kernels.parameters import MOST_DEPTH
from cutnode.runtime.threads import MOST_THREADS


class Option(NamedTuple):
    """An option that Python calls, commands, players and the service share."""

    kind: type
    """The type of its value: a number in its range, a flag, a ``str``, or an event."""
    about: str
    """A sentence about it."""
    default: Any = None
    """Its default; None stands for no value."""
    usual: str = ""
    """Its default in words, if that depends on the game."""
    choices: tuple[str, ...] = ()
    """The values of a ``str``, if only some are allowed."""
    least: float = 0
    most: float = inf
    above: bool = False
    """Whether a number must be above *least*."""
    engine: str = ""
    """The engine that takes it, if only one does."""
    metavar: str = ""
    """Its value in help texts, unless :attr:`placeholder` has another."""

    @property
    def help(self) -> str:
        """Its description in the help of commands and in the service's schema."""
        return (
            f"{self.about.removesuffix('.')} ({self.engine} only)." if self.engine else self.about
        )

    @property
    def preset(self) -> Any:
        """Its default where all options are listed: None if only one engine takes it."""
        return None if self.engine else self.default

    @property
    def ends(self) -> tuple[Any, Any]:
        """Its least and its greatest value; None for no limit."""
        return None if self.least == -inf else self.least, None if self.most == inf else self.most

    @property
    def placeholder(self) -> str:
        """Its value in help texts, such as N for an integer and X for a number."""
        return self.metavar or {int: "N", float: "X"}.get(self.kind, "NAME")

    def fault(self, value: object) -> str:
        """Return which values are allowed if *value* is not one of them, else ""."""
        value = as_python(value)
        if value is None and self.default is None:
            return ""
        if self.choices:
            return "" if value in self.choices else f"one of {', '.join(self.choices)}"
        if self.kind is threading.Event:
            return "" if isinstance(value, self.kind) else "a threading.Event"
        if self.kind in (bool, str):
            return ""
        numbers = int if self.kind is int else (int, float)
        if isinstance(value, bool) or not isinstance(value, numbers):
            return "a whole number" if self.kind is int else "a number"
        enough = value > self.least if self.above else value >= self.least
        if enough and value <= self.most and abs(value) < inf:
            return ""
        if self.most < inf:
            return f"{self.least:g}..{self.most:g}"
        return "positive" if self.above else f"at least {self.least:g}"


TREE_OPTIONS = {
    "selection": Option(
        str,
        "Selection policy.",
        usual="puct where there are priors, else uct",
        choices=SELECTIONS,
        engine="mcts",
    ),
    "priors": Option(
        str,
        "Source of the move priors of PUCT.",
        usual="order if the game has one, else evaluation",
        choices=PRIORS,
        engine="mcts",
    ),
    "exploration": Option(
        float, "Weight of exploration.", usual="1 for uct, 1.5 for puct", engine="mcts"
    ),
    "rave": Option(
        float, "Number of playouts up to which RAVE outweighs their mean.", 0.0, engine="mcts"
    ),
    "minimax": Option(
        float, "Weight of minimax evaluations against playouts.", 0.0, most=1, engine="mcts"
    ),
    "no_solver": Option(
        bool, "Back up results only, as plain MCTS does, and no proofs.", False, engine="mcts"
    ),
    "proof_bias": Option(
        float, "Weight of proof numbers in the selection, as in PN-MCTS.", 0.0, engine="mcts"
    ),
    "proof_formula": Option(
        str,
        "Formula of the bias by proof numbers.",
        PROOF_FORMULAS[0],
        choices=PROOF_FORMULAS,
        engine="mcts",
    ),
    "rollouts": Option(
        str,
        "Rollout policy beyond the tree.",
        usual="policy if the game has it, bounds if it has them and is decisive, else uniform",
        choices=ROLLOUTS,
        engine="mcts",
    ),
    "cut_after": Option(int, "Plies after which a rollout ends with an evaluation.", engine="mcts"),
}
"""The options of Monte Carlo tree search only; :class:`cutnode.MonteCarlo` explains them."""

OPTIONS = {
    "engine": Option(
        str,
        "Alpha-beta, Monte Carlo tree search (mcts), or whichever does better in a trial (auto).",
        SEARCHES[0],
        choices=SEARCHES,
    ),
    # Limits
    "depth": Option(int, "Depth limit in plies.", most=MOST_DEPTH, engine="alphabeta"),
    "playouts": Option(int, "Playout limit.", least=1, engine="mcts"),
    "nodes": Option(int, "Node limit.", least=1),
    "seconds": Option(float, "Time limit in seconds.", above=True, metavar="S"),
    "soft_seconds": Option(float, "Time limit in seconds, between depths.", above=True),
    "stop": Option(threading.Event, "Event that ends the search early."),
    # The search
    "lines": Option(int, "Number of best moves.", 1, least=1),
    "seed": Option(
        int, "Random seed, for the choice among equal moves and for playouts.", least=-inf
    ),
    "evaluation": Option(
        str,
        "Evaluation to use: another of the game's own, a FILE.weights, your own function "
        "(my_file.py:centre), or, in games that define features, a style: "
        f"{', '.join(STYLES)}.",
    ),
    "techniques": Option(
        str,
        "Use only these techniques ('' for none); an ablation adds them in this order. "
        "my_file.py:idea is one of your own, and ... stands for the default ones.",
        metavar="A,B",
    ),
    "exact": Option(bool, "Use only techniques that cannot change the score.", False),
    "driver": Option(
        str,
        "Search driver: an aspiration window (alphabeta), or null windows only, from the last "
        "score (mtdf), from above (sss, for SSS*), or from below (dual, for DUAL*).",
        DRIVERS[0],
        choices=DRIVERS,
    ),
    "soonest": Option(bool, "Score quicker wins higher.", True),
    "depth_in": Option(
        str, "Unit of depth in games where a player can move again.", DEPTH_IN[0], choices=DEPTH_IN
    ),
    "debug": Option(bool, "Check a game of chance during the search.", False),
    "proof_share": Option(
        float,
        "Share of the time and node limits spent on trying a proof.",
        usual="the game's own, or 0",
        most=MOST_PROOF_SHARE,
        engine="alphabeta",
        metavar="PART",
    ),
    **TREE_OPTIONS,
    "reuse": Option(bool, "Keep the part of the last tree that the new position needs.", True),
    # Resources
    "threads": Option(int, "Number of threads.", 1, least=1, most=MOST_THREADS),
    "table": Option(int, "Size of the transposition table in MiB.", 64, least=1),
    "memory": Option(
        int, "Size of the search tree in MiB.", TREE_MEMORY >> 20, least=1, engine="mcts"
    ),
    "tablebase": Option(str, "Answer from the tablebase in FOLDER.", metavar="FOLDER"),
}
"""The options of searches, by their keyword."""

PROOF_OPTIONS = OPTIONS | {
    "engine": Option(
        str,
        "Alpha-beta, proof-number search (pn), the same on sums of parts (sums), or whichever "
        "finishes first (auto).",
        usual="sums if positions fall apart into parts, pn if repetitions are no draws, else "
        "alphabeta",
        choices=SOLVERS,
    ),
    "weak": Option(bool, "Prove only who wins: 1 is the mover, -1 the opponent, 0 nobody.", False),
    "at_least": Option(
        int,
        "Ask only whether the value is at least V: yes, no, or ? if a limit comes first.",
        least=-inf,
        metavar="V",
    ),
}
"""The options of proofs, by their keyword."""


def check(name: str, value: object, its: Option | None = None, **changes: Any) -> None:
    """Raise :class:`CutnodeError` if an option cannot have a value.

    *its* declaration is by default the one of searches, with *changes* such as another *least*.
    """
    option = its or OPTIONS[name]
    fault = (option._replace(**changes) if changes else option).fault(value)
    if fault:
        raise CutnodeError(f"{name} must be {fault}, got {shown(value)}")
