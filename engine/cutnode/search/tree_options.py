"""The options of Monte Carlo tree search, and the checks of their values."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from typing import Any, TypedDict

from cutnode.contract.choices import PRIORS, ROLLOUTS, SELECTIONS, TREE_MEMORY
from cutnode.contract.dispatch import defines
from cutnode.contract.errors import CutnodeError, require_integer
from cutnode.kernels.evaluation import AnyEvaluation
from cutnode.kernels.scores import is_decisive
from cutnode.search.options import SearchOptions, _Options
from cutnode.tablebases.tablebase import Tablebase

EXPLORATION = {"uct": 1.0, "puct": 1.5}
"""The weight of exploration, by selection."""

GREED = 0.9
"""Rollouts by order take the best move with this probability, and any other time a random one."""


class AutoKeywords(TypedDict, total=False):
    """Keywords of both alpha-beta and Monte Carlo tree search, and of the memory of the latter."""

    evaluation: AnyEvaluation
    tablebase: Tablebase | str | os.PathLike[str] | None
    memory: int


class TreeKeywords(AutoKeywords, total=False):
    """Keywords of Monte Carlo tree search; their defaults are those of :class:`TreeOptions`."""

    selection: str | None
    priors: str | None
    exploration: float | None
    rave: float
    minimax: float
    rollouts: str | None
    cut_after: int | None
    reuse: bool


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AutoOptions(_Options):
    """The options of an :class:`~cutnode.search.trials.AutoSearcher`."""

    evaluation: AnyEvaluation = None
    tablebase: Tablebase | str | os.PathLike[str] | None = None
    memory: int = TREE_MEMORY


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TreeOptions(_Options):
    """The options of a :class:`~cutnode.search.monte_carlo.MonteCarlo`, which explains them.

    :class:`CutnodeError` says what is wrong with a value.
    """

    evaluation: AnyEvaluation = None
    tablebase: Tablebase | str | os.PathLike[str] | None = None
    memory: int = TREE_MEMORY
    selection: str | None = None
    priors: str | None = None
    exploration: float | None = None
    rave: float = 0.0
    minimax: float = 0.0
    rollouts: str | None = None
    cut_after: int | None = None
    reuse: bool = True

    def __post_init__(self) -> None:
        require_integer(self.memory, "the memory of a tree in bytes")
        choices = {"selection": SELECTIONS, "priors": PRIORS, "rollouts": ROLLOUTS}
        for name, known in choices.items():
            chosen = getattr(self, name)
            if chosen is not None and chosen not in known:
                raise CutnodeError(f"{name} is one of {', '.join(known)}, not {chosen!r}")
        if self.selection == "uct" and self.priors is not None:
            raise CutnodeError("priors are of PUCT: say selection='puct', or leave it out")
        for name, most in (("exploration", math.inf), ("rave", math.inf), ("minimax", 1)):
            number = getattr(self, name)
            if number is None and name == "exploration":
                continue
            if not _is_number(number) or not 0 <= number <= most or number == math.inf:
                limit = "0 or more" if most == math.inf else f"from 0 to {most}"
                raise CutnodeError(f"{name} is a number, {limit}, not {number!r}")
        if self.cut_after is not None:
            if require_integer(self.cut_after, "a length of rollouts") < 0:
                raise CutnodeError(f"rollouts are cut off after 0 plies or more: {self.cut_after}")

    def selection_for(self, cls: Any, estimates: bool) -> str:
        """Return how children are selected in a game; *estimates*: whether it has any."""
        has_priors = self.priors is not None or self.priors_for(cls, estimates) != "uniform"
        return self.selection or ("puct" if has_priors else "uct")

    def priors_for(self, cls: Any, estimates: bool) -> str:
        """Return what PUCT goes by before the first playout in a game."""
        usual = "evaluation" if estimates else "uniform"
        return self.priors or ("order" if defines(cls, "order") else usual)

    def rollouts_for(self, cls: Any) -> str:
        """Return how playouts go on beyond the tree in a game."""
        usual = "bounds" if defines(cls, "bounds") and is_decisive(cls) else "uniform"
        return self.rollouts or usual

    def exploration_for(self, selection: str) -> float:
        """Return the weight of exploration, of a selection."""
        return EXPLORATION[selection] if self.exploration is None else float(self.exploration)


def _is_number(number: Any) -> bool:
    return isinstance(number, int | float) and not isinstance(number, bool) and number == number


def check_limits(options: SearchOptions) -> None:
    """:class:`CutnodeError` if the options of a search do not suit one of playouts."""
    if options.depth is not None:
        raise CutnodeError(
            "a depth does not limit Monte Carlo tree search: playouts, nodes, seconds, or stop do"
        )
