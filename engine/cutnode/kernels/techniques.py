"""The techniques of the search, by name, with their numbers: data, which a search reads as it runs.

An *exact* technique changes how many nodes a search visits and never its score: with any
set of them the score is that of plain minimax at the same depth.  A *selective* one visits
less, or elsewhere, than the depth says; it finds better moves in the same time and may
change the score.

A technique of your own (see :class:`~cutnode.kernels.declarations.Technique`) is known by its name
from when it is first given, like the engine's.
"""

from __future__ import annotations

import functools
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from pathlib import Path
from types import EllipsisType
from typing import Any

from cutnode.contract.errors import CutnodeError, GameError
from cutnode.contract.text import nearest, quoted
from cutnode.kernels.declarations import Parameter, Technique
from cutnode.kernels.parameters import HISTORY_LIMIT, MOST_DEPTH, PARITY

CHANCE = "chance"


def depth(default: int, about: str, measured: str = "", least: int = 1) -> Parameter:
    """Declare the depth from which a technique is used."""
    return Parameter("depth", default, least, MOST_DEPTH, about, measured, least_depth=True)


def depth_limit(default: int) -> Parameter:
    """Declare the depth up to which a technique is used; 0: not at all."""
    return Parameter("depth", default, 0, MOST_DEPTH, "up to this depth")


def margin(name: str, default: float, about: str, measured: str = "") -> Parameter:
    """Declare a margin between a score and a bound."""
    return Parameter(name, default, 0, 100, about, measured, margin=True)


def bonus(name: str, default: int, about: str, measured: str = "") -> Parameter:
    """Declare the worth of something in the order of moves."""
    return Parameter(name, default, 0, 1 << 20, about, measured)


TECHNIQUES = {
    technique.name: technique
    for technique in (
        Technique(
            "order",
            True,
            "search moves that the game thinks promising first",
            "order",
            parameters=(
                depth(
                    1,
                    "nodes of at least this depth ask the game how promising moves look",
                    "Othello with patterns, where that costs as much as a leaf: 3 instead of 1 "
                    "visits nearly twice the nodes of an exact search at depth 10, in 0.6 of the "
                    "time",
                ),
                bonus("weight", 64, "the worth of a point of it beside history scores"),
                bonus("gain_weight", 16, "the worth of a point of a noisy move's gain"),
            ),
        ),
        Technique(
            "table",
            True,
            "remember what positions scored (transposition table)",
            source='R. Hyatt and T. Mann, "A lockless transposition-table implementation for '
            'parallel search" (2002); both bounds in one entry',
            parameters=(depth(1, "nodes of at least this depth probe and store"),),
        ),
        Technique("symmetry", True, "share entries of equivalent positions", "canonical"),
        Technique(
            "deepening",
            True,
            "search depth 1, 2, 3 ... and learn an order",
            parameters=(
                Parameter(
                    "parity",
                    PARITY,
                    1,
                    2,
                    "plies by which depth is reduced, and deepened to a depth that is given: "
                    "scores of odd and even depths differ",
                    "2 instead of 1: a quarter of the nodes in Connect Four at depth 12, two "
                    "thirds in Breakthrough at depth 6",
                ),
            ),
        ),
        Technique(
            "enhanced_cutoffs",
            True,
            "look children up before one is searched",
            short="etc",
            former="enhanced",
            source='A. Plaat et al., "Best-first fixed-depth minimax algorithms" (1996)',
            parameters=(depth(4, "at nodes of at least this depth"),),
        ),
        Technique(
            "killers",
            True,
            "try what refuted a sibling",
            source="S. Akl and M. Newborn (1977)",
            parameters=(
                bonus(
                    "bonus",
                    512,
                    "the worth of the second beside history scores; the first has twice that",
                    "nodes of exact searches, 512 beside 0 and 1024: 1.01 and 1.00 (geometric "
                    "mean of eight games)",
                ),
            ),
        ),
        Technique(
            "history",
            True,
            "try what refuted elsewhere, by how often",
            source="J. Schaeffer (1989)",
            parameters=(
                Parameter(
                    "prior",
                    1,
                    1,
                    HISTORY_LIMIT,
                    "what is presumed of a move counts as much as nodes of so many squares of "
                    "depth where it was tried: with a small one its first tries say how good it "
                    "is",
                    "nodes of exact searches beside 128, where all tries count alike: Connect Four "
                    "0.98, Domineering 0.99, Breakthrough 0.85, Othello 0.99, Kalah 0.98, draughts "
                    "0.98, Oware 0.96, Qubic and Hex 1.00; 4 and 16 are like 1",
                ),
                Parameter(
                    "bonus",
                    128,
                    1,
                    4096,
                    "the least bonus of a cutoff for its move, times the depth squared: with a "
                    "large one what happened lately counts",
                    "nodes of exact searches, 64 instead of 128: 1.00 (geometric mean of nine "
                    "games, two depths)",
                ),
                Parameter("most", 2048, 1, HISTORY_LIMIT, "the bonus of one cutoff at most"),
            ),
        ),
        Technique(
            "countermoves",
            True,
            "try what refuted the same move before",
            source="J. Uiterwijk (1992)",
            parameters=(bonus("bonus", 256, "the worth of such a move beside history scores"),),
        ),
        Technique(
            "continuation_history",
            True,
            "try what refuted after the same moves",
            "pattern",
            former="continuation",
        ),
        Technique(
            "pvs",
            True,
            "search later moves with a null window (principal variation search)",
            source='A. Reinefeld, "An improvement to the scout tree-search algorithm" (1983)',
        ),
        Technique(
            "aspiration",
            True,
            "start with a narrow window around the last score",
            parameters=(
                depth(4, "from this depth on"),
                Parameter(
                    "window",
                    16,
                    1,
                    8000,
                    "the width on either side, in points of the score; four times wider each time "
                    "that the score lies outside",
                ),
            ),
        ),
        Technique(
            "mate_distance",
            True,
            "a win that is too late cannot matter",
            "DECISIVE",
            former="distance",
        ),
        Technique(
            "star1",
            True,
            "stop at a chance event that other outcomes cannot change",
            "chance",
            source='B. Ballard, "The *-minimax search procedure for trees containing chance '
            'nodes" (1983)',
            parameters=(
                depth(
                    2,
                    "events of at least this depth take the likeliest outcome first",
                    "1 or 3 instead of 2: 3 % fewer or 6 % more nodes in the Royal Game of Ur at "
                    "depth 6, and more time",
                ),
            ),
        ),
        Technique(
            "star2",
            True,
            "try a move of each outcome before all of them",
            "chance",
            source='T. Hauk, "Search in trees with chance nodes" (2004)',
        ),
        Technique(
            "late_move_reductions",
            False,
            "search late moves less deep (LMR)",
            "evaluate",
            short="lmr",
            former="reduction",
            source='T. Romstad, "An introduction to late move reductions" (2006)',
            parameters=(
                depth(4, "at nodes of at least this depth"),
                Parameter("moves", 2, 1, 255, "moves that are never reduced"),
                Parameter("base", 0.0, -4, 8, "plies in base + log(depth) * log(number) / divisor"),
                Parameter(
                    "divisor",
                    0.75,
                    0.1,
                    16,
                    "see base",
                    "1: 1.5 times the nodes of 0.75; 0.5: 0.8 times, and fewer of the exact "
                    "search's moves",
                ),
                Parameter(
                    "terms",
                    0,
                    0,
                    1,
                    "1: what is known of the node and the move changes reductions, in games that "
                    "define gain; 0: they are as the formula says outside the principal "
                    "variation, and none in it",
                ),
                Parameter(
                    "history", 8192, 1, 1 << 20, "so much of a move's history is worth a ply"
                ),
                Parameter(
                    "cut_nodes",
                    1,
                    0,
                    4,
                    "plies more where a cutoff is expected",
                    "0: 0.14 % of the probability to win more lost a move, 800 positions of chess "
                    "at 60,000 nodes",
                ),
            ),
        ),
        Technique(
            "internal_iterative_reduction",
            False,
            "search a position without a hash move less deep",
            "evaluate",
            short="iir",
            former="internal",
            parameters=(
                depth(
                    6,
                    "at nodes of at least this depth",
                    "4 instead of 6: 0.6 times the nodes in Connect Four, and fewer of the exact "
                    "search's moves",
                ),
            ),
        ),
        Technique(
            "null_move",
            False,
            "if even a pass is good enough, stop",
            "skip",
            short="nmp",
            former="null",
            source="C. Donninger (1993)",
            parameters=(
                depth(3, "at nodes of at least this depth"),
                Parameter(
                    "reduction", 2, 0, 16, "plies that are saved, and a quarter of the depth"
                ),
                Parameter(
                    "surplus",
                    0,
                    0,
                    16,
                    "at most so many plies more, one for each margin above beta",
                ),
                margin("margin", 2.0, "see surplus"),
                Parameter(
                    "verified",
                    8,
                    1,
                    MOST_DEPTH,
                    "at nodes of at least this depth a search without a pass verifies the cutoff",
                    "289 mates by zugzwang in chess: all found at depth 30 instead of 286; nodes "
                    "at depth 9 of the Bratko-Kopec test: 1.00",
                ),
            ),
        ),
        Technique(
            "probcut",
            False,
            "say what deep searches would by shallow ones (ProbCut)",
            "deviation",
            source="M. Buro (1995, and 1997 with several depths)",
            parameters=(
                depth(3, "at nodes of at least this depth", least=2),
                Parameter(
                    "confidence",
                    1.4,
                    0.1,
                    10,
                    "standard deviations by which the shallow score is beyond the window",
                    "points in Othello, 44 to 200 games: 0.64 (+- 0.10) beside no ProbCut at "
                    "100 ms a move, 0.53 (+- 0.05) at 30,000 nodes; 1.0 and 1.8 beside 1.4: 0.45 "
                    "and 0.49",
                ),
                Parameter(
                    "levels",
                    1,
                    1,
                    4,
                    "so many such searches are one inside the other at most",
                    "2 beside 1: 0.50 (+- 0.06) points in Othello",
                ),
            ),
        ),
        Technique(
            "reverse_futility",
            False,
            "stop when far above beta near the leaves",
            "UNIT",
            short="rfp",
            former="reverse",
            parameters=(
                depth_limit(4),
                margin("margin", 1.0, "for each ply of depth"),
            ),
        ),
        Technique(
            "futility",
            False,
            "skip quiet moves when far below alpha",
            "UNIT",
            short="fp",
            source="E. Heinz (1998)",
            parameters=(
                depth_limit(3),
                margin("margin", 1.5, "for each ply of depth"),
            ),
        ),
        Technique(
            "see_pruning",
            False,
            "skip moves that lose by exchanges, near the leaves",
            "exchange",
            short="see",
            former="exchange",
            parameters=(
                depth_limit(6),
                margin("noisy_margin", 1.0, "what a noisy move may lose for each ply of depth"),
                margin("quiet_margin", 0.6, "what a quiet one may"),
            ),
        ),
        Technique("improving", False, "prune more where estimates fall", "gain"),
        Technique(
            "late_move_pruning",
            False,
            "skip the last moves near the leaves",
            "evaluate",
            short="lmp",
            former="late",
            parameters=(
                depth_limit(3),
                Parameter(
                    "moves",
                    4,
                    1,
                    255,
                    "moves that are searched, and depth * depth; half as many where estimates fall",
                ),
                Parameter(
                    "cutoffs",
                    25,
                    0,
                    100,
                    "percent of tested nodes whose late moves cut; with more, nothing is skipped",
                ),
            ),
        ),
        Technique(
            "razoring",
            False,
            "trust quiescence when far below alpha",
            "UNIT",
            source="E. Heinz (1998)",
            parameters=(
                depth_limit(2),
                margin("margin", 2.5, "for each ply of depth"),
            ),
        ),
        Technique("extensions", False, "search moves that leave little choice deeper", "extension"),
        Technique(
            "singular_extensions",
            False,
            "search the only good move deeper",
            "gain",
            short="se",
            former="singular",
            source='T. Anantharaman, M. Campbell and F. Hsu, "Singular extensions: adding '
            'selectivity to brute-force searching" (1990)',
            parameters=(
                # A test halves the depth, and the stacks have room for four inside one another.
                depth(7, "at nodes of at least this depth", least=4),
                Parameter("less", 3, 0, 16, "its entry is at most so many plies shallower"),
                margin("margin", 0.02, "all others are worse by this for each ply of depth"),
            ),
        ),
        Technique(
            "quiescence",
            False,
            "go on with noisy moves at the leaves",
            "noisy",
            short="qs",
            source='L. Harris, "The heuristic search and the game of chess" (1975)',
            parameters=(
                margin("delta", 1.5, "moves that gain so much too little are skipped"),
                Parameter(
                    "nodes",
                    8,
                    1,
                    1 << 20,
                    "nodes that a quiet search may take on average: if it is more, all get shorter",
                ),
            ),
        ),
    )
}

FORMER = {technique.former: name for name, technique in TECHNIQUES.items() if technique.former}
"""Former names, and what they are called now."""

SHORT = {technique.short: name for name, technique in TECHNIQUES.items() if technique.short}
"""Abbreviations, as names of parameters may have them."""

REQUIRED = {
    "symmetry": {"table"},
    "enhanced_cutoffs": {"table"},
    "aspiration": {"deepening"},
    "internal_iterative_reduction": {"table", "deepening"},
    "razoring": {"quiescence"},
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

OUTSIDE: dict[str, Technique] = {}
"""Techniques that are not the engine's, by name."""


def register(technique: Technique) -> Technique:
    """Make a technique of one's own known by its name, and return it.

    Another one of its name is known no more; :class:`CutnodeError` if the name is one of ours.
    """
    if technique.name in TECHNIQUES or technique.name in FORMER or technique.name in SHORT:
        raise CutnodeError(f"{technique.name} is a technique of the engine: call yours otherwise")
    OUTSIDE[technique.name] = technique
    return technique


def techniques_in(text: str) -> list[Technique]:
    """The techniques that ``my_idea.py:multicut`` means, or ``my_idea.py``: all of a file.

    A function ``order(position, move, child)`` is one that orders moves.  :class:`CutnodeError` if
    the file defines none.
    """
    from cutnode.contract.files import module_of_file
    from cutnode.contract.loading import named_in_file

    if not text.endswith(".py"):
        found = named_in_file(text, "a technique")
        if not isinstance(found, Technique) and callable(found):
            found = ordering_by(found)
        if not isinstance(found, Technique):
            raise CutnodeError(f"{text} is no Technique, nor a function, but {found!r}")
        return [register(found)]
    every = vars(module_of_file(Path(text))).values()
    every = [each for each in every if isinstance(each, Technique)]
    if not every:
        raise CutnodeError(f"{text} defines no Technique")
    return [register(each) for each in every]


@functools.cache
def ordering_by(function: Callable[..., Any]) -> Technique:
    """The technique of ordering moves by a function of a position, a move and a child."""
    name = f"order_by_{function.__name__}"
    about = "search moves first that a function thinks promising"
    return Technique(name, True, about, order=function)


def reference(name: str) -> str:
    """The text by which another process finds a technique.

    :class:`CutnodeError` if it is in no file.
    """
    if name not in OUTSIDE:
        return name
    technique = OUTSIDE[name]
    for _, hook in technique.hooks():
        module = sys.modules.get(hook.__module__)
        file = getattr(module, "__file__", None)
        for known, value in vars(module).items() if file else ():
            if value is technique or (value is technique.order and value is not None):
                path = Path(str(file))
                here = path.is_relative_to(Path.cwd())
                return f"{os.path.relpath(path) if here else path}:{known}"
    raise CutnodeError(f"the technique {name} is in no file, where other processes would find it")


def outside(names: Iterable[str]) -> tuple[Technique, ...]:
    """The techniques among those called *names* that are not the engine's, by name."""
    return tuple(OUTSIDE[name] for name in sorted(names) if name in OUTSIDE)


def fits(cls: Any, technique: Technique) -> bool:
    """Return whether the game of a position class defines what a technique needs."""
    from cutnode.contract.dispatch import defines, game_constant  # the names load no compiler

    needs = technique.needs
    if defines(cls, CHANCE) and technique.name not in WITH_CHANCE:
        return False
    return not needs or defines(cls, needs) or bool(game_constant(cls, needs, 0))


def technique_of(name: str | Technique) -> Technique:
    """A technique by its name; :class:`CutnodeError` if there is none."""
    if isinstance(name, Technique):
        return name if TECHNIQUES.get(name.name) is name else register(name)
    if not isinstance(name, str):
        raise CutnodeError(f"a technique is a name, or a Technique, not {name!r}")
    if ".py:" in name:
        return techniques_in(name)[0]
    if name in FORMER:
        new = FORMER[name]
        warnings.warn(f"the technique {name} is called {new} now", DeprecationWarning, stacklevel=4)
        return TECHNIQUES[new]
    known = TECHNIQUES | OUTSIDE
    if name not in known:
        raise CutnodeError(
            f"there is no technique {quoted(name)}"
            + nearest(name, known, f"techniques are {', '.join(known)}")
        )
    return known[name]


def leave_out(chosen: Iterable[str], names: Iterable[str]) -> frozenset[str]:
    """Techniques without those called *names*, and without what makes no sense then."""
    out = {technique_of(name).name for name in names}
    return frozenset(name for name in chosen if not ({name} | REQUIRED.get(name, set())) & out)


def choose(
    cls: Any, names: Iterable[str | Technique | EllipsisType] | None, *, exact: bool = False
) -> frozenset[str]:
    """The techniques called *names*, or all that suit the game of a position class.

    An ellipsis among the names stands for all that suit it.  *exact* leaves selective ones out;
    asked for by name they are an error then, as are ones that the game does not allow and names
    that are none.
    """
    return frozenset(in_order(cls, names, exact=exact))


def in_order(
    cls: Any, names: Iterable[str | Technique | EllipsisType] | None, *, exact: bool = False
) -> tuple[str, ...]:
    """Return the techniques of :func:`choose` in the order of *names*.

    An ellipsis stands where the engine's others come, in the engine's order, as does a set.  A
    technique comes after those that it needs.
    """
    if names is None:
        return _after_required(usual(cls, exact))
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise CutnodeError(f"techniques are several names, such as ['table'], not {names!r}")
    given: list[Any] = []
    for each in names:
        whole_file = isinstance(each, str) and each.endswith(".py")
        given += techniques_in(each) if whole_file else [each]
    named = [None if is_rest(each) else technique_of(each).name for each in given]
    for name in sorted(filter(None, named)):
        require(cls, technique_of(name), exact)
    found: list[str] = []
    for name in named:
        others = (each for each in usual(cls, exact) if each not in named)
        found += others if name is None else [name]
    for name, needed in REQUIRED.items():
        if name in found and not needed <= set(found):
            missing = ", ".join(sorted(needed - set(found)))
            raise CutnodeError(f"{name} makes no sense without {missing}")
    return _after_required(_sorted(found) if isinstance(names, Set) else found)


def _sorted(names: Iterable[str]) -> list[str]:
    """Return techniques in the engine's order, those from outside last, selective ones behind."""
    places = {name: place for place, name in enumerate(TECHNIQUES)}

    def rank(name: str) -> tuple[int, bool, str]:
        return places.get(name, len(places)), not technique_of(name).exact, name

    return sorted(names, key=rank)


def _after_required(names: Iterable[str]) -> tuple[str, ...]:
    """Return techniques in their order, but each after those that it needs."""
    waiting = list(dict.fromkeys(names))
    found: list[str] = []
    while waiting:
        ready = (name for name in waiting if not REQUIRED.get(name, set()) & set(waiting))
        found.append(next(ready))
        waiting.remove(found[-1])
    return tuple(found)


def is_rest(name: Any) -> bool:
    """Return whether a name stands for all techniques that suit a game."""
    return name is ... or name == "..."


def usual(cls: Any, exact: bool) -> list[str]:
    """The engine's techniques that suit the game of a position class."""
    fitting = [
        name
        for name, technique in TECHNIQUES.items()
        if fits(cls, technique) and (technique.exact or not exact)
    ]
    return [name for name in fitting if REQUIRED.get(name, set()) <= set(fitting)]


def require(cls: Any, technique: Technique, exact: bool) -> None:
    """An error that says why a technique cannot be used, if it cannot."""
    from cutnode.contract.dispatch import defines, game_name

    name = technique.name
    if exact and not technique.exact:
        raise CutnodeError(f"{name} is selective: an exact search does not use it")
    if defines(cls, CHANCE) and name not in WITH_CHANCE:
        raise GameError(f"{game_name(cls)} has chance: a search with chance has no {name}")
    if not fits(cls, technique):
        raise GameError(
            f"{game_name(cls)} does not allow {name}: it does not define {technique.needs}"
        )


# Their numbers.


def parameters_of(techniques: Iterable[Technique]) -> Iterator[tuple[str, str, Parameter]]:
    """Yield the parameters of techniques, each after its dotted name and its field."""
    for technique in techniques:
        for parameter in technique.parameters:
            yield f"{technique.name}.{parameter.name}", technique.field(parameter.name), parameter


def find_parameter(name: str) -> tuple[str, Parameter]:
    """A parameter by a name such as ``late_move_reductions.base`` or ``lmr.base``, after the first.

    :class:`CutnodeError` if there is none.
    """
    known = {full: each for full, _, each in parameters_of((TECHNIQUES | OUTSIDE).values())}
    first, dot, last = name.partition(".") if isinstance(name, str) else ("", "", "")
    full = f"{SHORT.get(first, first)}{dot}{last}"
    if full not in known:
        raise CutnodeError(
            f"there is no parameter {quoted(str(name))}"
            f"{nearest(full, known, '`cutnode lab parameters` lists them')}"
        )
    return full, known[full]


def checked_parameters(given: Mapping[str, Any], chosen: Iterable[str]) -> dict[str, float]:
    """Return parameters by their full names; :class:`CutnodeError` if one is of no use or range.

    They have to be of techniques among those that are *chosen*.
    """
    if not isinstance(given, Mapping):
        raise CutnodeError(f"parameters are values by name, as {{'lmr.base': 0.8}}, not {given!r}")
    checked: dict[str, float] = {}
    names = frozenset(chosen)
    for name, value in given.items():
        full, parameter = find_parameter(name)
        if full.partition(".")[0] not in names:
            raise CutnodeError(
                f"{name} changes nothing: the search does not use {full.partition('.')[0]}"
            )
        checked[full] = parameter.checked(value, name)
    return checked


def parameters_for(names: Iterable[str], values: Mapping[str, float]) -> dict[str, float]:
    """Return those of some values that are parameters of the techniques called *names*."""
    known = frozenset(names)
    found = {find_parameter(name)[0]: value for name, value in values.items()}
    return {name: value for name, value in found.items() if name.partition(".")[0] in known}
