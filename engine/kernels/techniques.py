"""The techniques of the search, by name: data, which a search reads while it runs.

An *exact* technique changes how many nodes a search visits and never its score: with any
set of them the score is that of plain minimax at the same depth.  A *selective* one visits
less, or elsewhere, than the depth says; it finds better moves in the same time and may
change the score.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from engine.contract.dispatch import defines, game_constant, game_name
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


CHANCE = "chance"

TECHNIQUES = {
    technique.name: technique
    for technique in (
        Technique("order", True, "search moves that the game thinks promising first", "order"),
        Technique("table", True, "remember what positions scored"),
        Technique("symmetry", True, "share entries of equivalent positions", "canonical"),
        Technique("deepening", True, "search depth 1, 2, 3 ... and learn an order"),
        Technique("enhanced", True, "look children up before one is searched"),
        Technique("killers", True, "try what refuted a sibling"),
        Technique("history", True, "try what refuted elsewhere, by how often"),
        Technique("countermoves", True, "try what refuted the same move before"),
        Technique("continuation", True, "try what refuted after the same moves", "pattern"),
        Technique("pvs", True, "test that later moves are no better with a null window"),
        Technique("aspiration", True, "start with a narrow window around the last score"),
        Technique("distance", True, "a win that is too late cannot matter", "DECISIVE"),
        Technique(
            "star1", True, "stop at a chance event that other outcomes cannot change", CHANCE
        ),
        Technique("star2", True, "try a move of each outcome before all of them", CHANCE),
        Technique("reduction", False, "search late moves less deep (LMR)"),
        Technique("internal", False, "search a position without a known move less deep"),
        Technique("null", False, "if even a pass is good enough, stop", "skip"),
        Technique("probcut", False, "foretell deep scores by shallow ones", "deviation"),
        Technique("reverse", False, "stop when far above beta near the leaves", "UNIT"),
        Technique("futility", False, "skip quiet moves when far below alpha", "UNIT"),
        Technique(
            "exchange", False, "skip moves that lose by exchanges, near the leaves", "exchange"
        ),
        Technique("improving", False, "prune more where estimates fall", "gain"),
        Technique("late", False, "skip the last moves near the leaves"),
        Technique("razoring", False, "trust quiescence when far below alpha", "UNIT"),
        Technique("extensions", False, "search moves that leave little choice deeper", "extension"),
        Technique("singular", False, "search the only good move deeper", "gain"),
        Technique("quiescence", False, "go on with noisy moves at the leaves", "noisy"),
    )
}

REQUIRED = {
    "symmetry": {"table"},
    "enhanced": {"table"},
    "aspiration": {"deepening"},
    "internal": {"table", "deepening"},
    "singular": {"table"},
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
    """Whether the game of a position class defines what a technique needs."""
    needs = technique.needs
    if defines(cls, CHANCE) and technique.name not in WITH_CHANCE:
        return False
    return not needs or defines(cls, needs) or bool(game_constant(cls, needs, 0))


def technique_of(name: str) -> Technique:
    """A technique by its name; :class:`CutnodeError` if there is none."""
    if not isinstance(name, str):
        raise CutnodeError(f"a technique is a name, not {name!r}")
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
    if names is None:
        return frozenset(
            name
            for name, technique in TECHNIQUES.items()
            if fits(cls, technique) and (technique.exact or not exact)
        )
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise CutnodeError(f"techniques are several names, such as ['table'], not {names!r}")
    chosen = frozenset(names)
    for name in sorted(chosen, key=str):
        technique = technique_of(name)
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
