"""The techniques of the search, by name: data, which a search reads while it runs.

An *exact* technique changes how many nodes a search visits and never its score: with any
set of them the score is that of plain minimax at the same depth.  A *selective* one visits
less, or elsewhere, than the depth says; it finds better moves in the same time and may
change the score.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from engine.contract.errors import CutnodeError, GameError
from engine.contract.text import nearest, quoted

__all__ = ["EXACT", "TECHNIQUES", "Technique", "choose", "leave_out"]


@dataclass(frozen=True, slots=True)
class Technique:
    """One way to search less."""

    name: str
    exact: bool
    about: str
    needs: str = ""
    """A verb or number that the game has to define for it."""
    former: str = ""
    """Its name before it got its published one: an alias, for one release."""

    @property
    def key(self) -> str:
        """Its name in the keys of tables: a new name moves no entry, and so changes no search."""
        return self.former or self.name


CHANCE = "chance"

TECHNIQUES = {
    technique.name: technique
    for technique in (
        Technique("order", True, "search moves that the game thinks promising first", "order"),
        Technique("table", True, "remember what positions scored (transposition table)"),
        Technique("symmetry", True, "share entries of equivalent positions", "canonical"),
        Technique("deepening", True, "search depth 1, 2, 3 ... and learn an order"),
        Technique(
            "enhanced_cutoffs", True, "look children up before one is searched", former="enhanced"
        ),
        Technique("killers", True, "try what refuted a sibling"),
        Technique("history", True, "try what refuted elsewhere, by how often"),
        Technique("countermoves", True, "try what refuted the same move before"),
        Technique(
            "continuation_history",
            True,
            "try what refuted after the same moves",
            "pattern",
            former="continuation",
        ),
        Technique(
            "pvs", True, "search later moves with a null window (principal variation search)"
        ),
        Technique("aspiration", True, "start with a narrow window around the last score"),
        Technique(
            "mate_distance",
            True,
            "a win that is too late cannot matter",
            "DECISIVE",
            former="distance",
        ),
        Technique(
            "star1", True, "stop at a chance event that other outcomes cannot change", "chance"
        ),
        Technique("star2", True, "try a move of each outcome before all of them", "chance"),
        Technique(
            "late_move_reductions", False, "search late moves less deep (LMR)", former="reduction"
        ),
        Technique(
            "internal_iterative_reduction",
            False,
            "search a position without a hash move less deep",
            former="internal",
        ),
        Technique("null_move", False, "if even a pass is good enough, stop", "skip", former="null"),
        Technique(
            "probcut", False, "say what deep searches would by shallow ones (ProbCut)", "deviation"
        ),
        Technique(
            "reverse_futility",
            False,
            "stop when far above beta near the leaves",
            "UNIT",
            former="reverse",
        ),
        Technique("futility", False, "skip quiet moves when far below alpha", "UNIT"),
        Technique(
            "see_pruning",
            False,
            "skip moves that lose by exchanges, near the leaves",
            "exchange",
            former="exchange",
        ),
        Technique("improving", False, "prune more where estimates fall", "gain"),
        Technique("late_move_pruning", False, "skip the last moves near the leaves", former="late"),
        Technique("razoring", False, "trust quiescence when far below alpha", "UNIT"),
        Technique("extensions", False, "search moves that leave little choice deeper", "extension"),
        Technique(
            "singular_extensions",
            False,
            "search the only good move deeper",
            "gain",
            former="singular",
        ),
        Technique("quiescence", False, "go on with noisy moves at the leaves", "noisy"),
    )
}

FORMER = {technique.former: name for name, technique in TECHNIQUES.items() if technique.former}
"""Former names, and what they are called now."""

REQUIRED = {
    "symmetry": {"table"},
    "enhanced_cutoffs": {"table"},
    "aspiration": {"deepening"},
    "internal_iterative_reduction": {"table", "deepening"},
    "singular_extensions": {"table"},
    "star2": {"star1", "table"},
}
"""Techniques that make no sense without others."""

WITH_CHANCE = frozenset(
    {
        *("order", "table", "symmetry", "deepening", "killers", "history", "countermoves"),
        *("star1", "star2"),
    }
)
"""Those that a search of games of chance can use: none that needs null windows."""

EXACT = frozenset(name for name, technique in TECHNIQUES.items() if technique.exact)


def fits(cls: Any, technique: Technique) -> bool:
    """Return whether the game of a position class defines what a technique needs."""
    from engine.contract.dispatch import defines, game_constant  # the names load no compiler

    needs = technique.needs
    if defines(cls, CHANCE) and technique.name not in WITH_CHANCE:
        return False
    return not needs or defines(cls, needs) or bool(game_constant(cls, needs, 0))


def technique_of(name: str) -> Technique:
    """A technique by its name; :class:`CutnodeError` if there is none."""
    if not isinstance(name, str):
        raise CutnodeError(f"a technique is a name, not {name!r}")
    if name in FORMER:
        new = FORMER[name]
        warnings.warn(f"the technique {name} is called {new} now", DeprecationWarning, stacklevel=4)
        return TECHNIQUES[new]
    if name not in TECHNIQUES:
        raise CutnodeError(
            f"there is no technique {quoted(name)}{nearest(name, TECHNIQUES)}; "
            f"techniques are {', '.join(TECHNIQUES)}"
        )
    return TECHNIQUES[name]


def leave_out(chosen: Iterable[str], names: Iterable[str]) -> frozenset[str]:
    """Techniques without those called *names*, and without what makes no sense then."""
    out = {technique_of(name).name for name in names}
    return frozenset(name for name in chosen if not ({name} | REQUIRED.get(name, set())) & out)


def choose(cls: Any, names: Iterable[str] | None, *, exact: bool = False) -> frozenset[str]:
    """The techniques called *names*, or all that suit the game of a position class.

    *exact* leaves selective ones out; asked for by name they are an error then, as are
    ones that the game does not allow and names that are none.
    """
    from engine.contract.dispatch import defines, game_name

    if names is None:
        return frozenset(
            name
            for name, technique in TECHNIQUES.items()
            if fits(cls, technique) and (technique.exact or not exact)
        )
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise CutnodeError(f"techniques are several names, such as ['table'], not {names!r}")
    chosen = frozenset(technique_of(name).name for name in sorted(names, key=str))
    for name in sorted(chosen):
        technique = TECHNIQUES[name]
        if exact and not technique.exact:
            raise CutnodeError(f"{name} is selective: an exact search does not use it")
        if defines(cls, CHANCE) and name not in WITH_CHANCE:
            raise GameError(f"{game_name(cls)} has chance: a search with chance has no {name}")
        if not fits(cls, technique):
            raise GameError(
                f"{game_name(cls)} does not allow {name}: it does not define {technique.needs}"
            )
    for name, others in REQUIRED.items():
        if name in chosen and not others <= chosen:
            missing = ", ".join(sorted(others - chosen))
            raise CutnodeError(f"{name} makes no sense without {missing}")
    return chosen
