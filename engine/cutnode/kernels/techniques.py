"""The techniques of the search, by name, with their parameters: data that a search reads.

An *exact* technique changes the number of nodes that a search visits, never its score: with any set
of exact techniques, the score equals plain minimax at the same depth.  A *selective* technique
searches some lines less deep, or deeper, than the depth; it finds better moves in the same time,
and may change the score.

A technique of your own (see :class:`~cutnode.kernels.declarations.Technique`) is known by its name,
like the engine's, once you have used it.
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

from cutnode.contract.choices import ORDERING
from cutnode.contract.errors import CutnodeError, GameError
from cutnode.contract.text import nearest, quoted
from cutnode.kernels.declarations import Parameter, Technique
from cutnode.kernels.parameters import HISTORY_LIMIT, MOST_DEPTH, PARITY

CHANCE = "chance"


def depth(default: int, about: str, measured: str = "", least: int = 1) -> Parameter:
    """Declare the least depth at which a technique is used."""
    return Parameter("depth", default, least, MOST_DEPTH, about, measured, least_depth=True)


def depth_limit(default: int) -> Parameter:
    """Declare the greatest depth at which a technique is used; 0: never."""
    return Parameter("depth", default, 0, MOST_DEPTH, "up to this depth")


def margin(name: str, default: float, about: str, measured: str = "") -> Parameter:
    """Declare a margin between a score and a bound."""
    return Parameter(name, default, 0, 100, about, measured, margin=True)


def bonus(name: str, default: int, about: str, measured: str = "") -> Parameter:
    """Declare a weight or bonus in move ordering."""
    return Parameter(name, default, 0, 1 << 20, about, measured)


TECHNIQUES = {
    technique.name: technique
    for technique in (
        Technique(
            "order",
            True,
            "search the game's most promising moves first",
            "order",
            parameters=(
                depth(
                    1,
                    "at nodes of at least this depth",
                    "Othello with patterns, where ordering costs as much as a leaf: 3 instead of 1 "
                    "visits nearly twice the nodes of an exact search at depth 10, in 0.6 of the "
                    "time",
                ),
                bonus("weight", 64, "weight of a point of the game's order, in history points"),
                bonus("gain_weight", 16, "weight of a point of a noisy move's gain"),
            ),
        ),
        Technique(
            "hints",
            True,
            "order quiet moves by the game's hints in addition to history",
            "hint",
            parameters=(bonus("weight", 1, "weight of a point of a hint, in history points"),),
        ),
        Technique(
            "table",
            True,
            "remember the scores of positions (transposition table)",
            source='R. Hyatt and T. Mann, "A lockless transposition-table implementation for '
            'parallel search" (2002); both bounds in one entry',
            parameters=(
                depth(1, "at nodes of at least this depth"),
                Parameter(
                    "estimates",
                    0,
                    0,
                    1,
                    "1: in games that define gain, a selective search takes a bound from the table "
                    "as an estimate where the static evaluation contradicts it",
                ),
                Parameter(
                    "shallower",
                    0,
                    0,
                    MOST_DEPTH,
                    "a selective search replaces the bounds of a position with newer ones that "
                    "are at most this many plies shallower",
                    "3 against 0 in chess, 5,000 nodes a move: +24 Elo (-1 to 50), 400 games",
                ),
            ),
        ),
        Technique(
            "frontier",
            True,
            "search the last plies in the order of the game's rules, without the table",
            unless=ORDERING,
            parameters=(depth_limit(2),),
        ),
        Technique("symmetry", True, "share entries between equivalent positions", "canonical"),
        Technique(
            "deepening",
            True,
            "search depth 1, 2, 3 ... and learn a move order (iterative deepening)",
            parameters=(
                Parameter(
                    "parity",
                    PARITY,
                    1,
                    2,
                    "step of reductions, and of deepening to a given depth, in plies: scores of "
                    "odd and even depths differ",
                    "2 instead of 1: a quarter of the nodes in Connect Four at depth 12, two "
                    "thirds in Breakthrough at depth 6",
                ),
            ),
        ),
        Technique(
            "enhanced_cutoffs",
            True,
            "look all children up before searching any (enhanced transposition cutoffs)",
            short="etc",
            former="enhanced",
            source='A. Plaat et al., "Best-first fixed-depth minimax algorithms" (1996)',
            parameters=(depth(4, "at nodes of at least this depth"),),
        ),
        Technique(
            "killers",
            True,
            "try moves that refuted sibling nodes",
            source="S. Akl and M. Newborn (1977)",
            parameters=(
                bonus(
                    "bonus",
                    512,
                    "bonus of the second killer, in history points; the first gets twice as much",
                    "nodes of exact searches, 512 compared with 0 and 1024: 1.01 and 1.00 "
                    "(geometric mean of eight games)",
                ),
            ),
        ),
        Technique(
            "history",
            True,
            "try moves by how often they caused cutoffs elsewhere",
            source="J. Schaeffer (1989)",
            parameters=(
                Parameter(
                    "prior",
                    1,
                    1,
                    HISTORY_LIMIT,
                    "weight of a move's initial score, against the sum of depth * depth of the "
                    "nodes that tried it: with a small one, the first tries decide",
                    "nodes of exact searches compared with 128, where all tries count alike: "
                    "Connect Four 0.98, Domineering 0.99, Breakthrough 0.85, Othello 0.99, Kalah "
                    "0.98, draughts 0.98, Oware 0.96, Qubic and Hex 1.00; 4 and 16 are like 1",
                ),
                Parameter(
                    "bonus",
                    128,
                    1,
                    4096,
                    "least bonus of a cutoff, times depth * depth: a large one favours recent "
                    "cutoffs",
                    "nodes of exact searches, 64 instead of 128: 1.00 (geometric mean of nine "
                    "games, two depths)",
                ),
                Parameter("most", 2048, 1, HISTORY_LIMIT, "largest bonus of a cutoff"),
                Parameter(
                    "eval_weight",
                    0,
                    0,
                    1 << 20,
                    "bonus of a quiet move for each point of the score by which it raises the "
                    "static evaluation",
                ),
            ),
        ),
        Technique(
            "countermoves",
            True,
            "try the move that last refuted the opponent's move",
            source="J. Uiterwijk (1992)",
            parameters=(bonus("bonus", 256, "bonus of the countermove, in history points"),),
        ),
        Technique(
            "continuation_history",
            True,
            "try moves by how often they caused cutoffs after the same preceding moves",
            "pattern",
            former="continuation",
        ),
        Technique(
            "pvs",
            True,
            "search later moves with a null window (principal variation search)",
            source='A. Reinefeld, "An improvement to the scout tree-search algorithm" (1983)',
            parameters=(
                Parameter(
                    "skips",
                    0,
                    0,
                    1,
                    "1: techniques may skip moves at PV nodes, too",
                    "1 against 0, 5,000 nodes a move: +68 Elo (38 to 98) in chess, 300 games; -80 "
                    "(-128 to -34) in Dobutsu, 120 games",
                ),
            ),
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
                    "width on either side, in points of the score; four times wider each time that "
                    "the score falls outside",
                ),
            ),
        ),
        Technique(
            "mate_distance",
            True,
            "cut nodes where any win comes too late to matter (mate-distance pruning)",
            "DECISIVE",
            former="distance",
        ),
        Technique(
            "star1",
            True,
            "leave a chance node that the remaining outcomes cannot change",
            "chance",
            source='B. Ballard, "The *-minimax search procedure for trees containing chance '
            'nodes" (1983)',
            parameters=(
                depth(
                    2,
                    "chance nodes of at least this depth search the likeliest outcomes first",
                    "1 or 3 instead of 2: 3 % fewer or 6 % more nodes in the Royal Game of Ur at "
                    "depth 6, and more time",
                ),
            ),
        ),
        Technique(
            "star2",
            True,
            "probe one move of each outcome before searching any",
            "chance",
            source='T. Hauk, "Search in trees with chance nodes" (2004)',
        ),
        Technique(
            "late_move_reductions",
            False,
            "reduce the depth of late moves (LMR)",
            "evaluate",
            short="lmr",
            former="reduction",
            source='T. Romstad, "An introduction to late move reductions" (2006)',
            parameters=(
                depth(4, "at nodes of at least this depth"),
                Parameter("moves", 2, 1, 255, "number of first moves that are never reduced"),
                Parameter("base", 0.0, -4, 8, "plies: base + log(depth) * log(number) / divisor"),
                Parameter(
                    "divisor",
                    0.75,
                    0.1,
                    16,
                    "see base",
                    "1: 1.5 times the nodes of 0.75; 0.5: 0.8 times, and the exact search's move "
                    "less often",
                ),
                Parameter(
                    "terms",
                    0,
                    0,
                    1,
                    "1: in games that define gain, adjust reductions to the node and the move; 0: "
                    "use the formula alone, and reduce nothing at PV nodes",
                ),
                Parameter(
                    "history", 8192, 1, 1 << 20, "history score that changes a reduction by a ply"
                ),
                margin(
                    "deeper",
                    0.04,
                    "with terms, re-search a ply deeper if the score is above alpha by this margin "
                    "for each ply of reduction, plus six",
                ),
                Parameter(
                    "cut_nodes",
                    1,
                    0,
                    4,
                    "additional plies at expected cut-nodes",
                    "0: 0.14 % more winning probability lost per move, 800 positions of chess at "
                    "60,000 nodes",
                ),
            ),
        ),
        Technique(
            "internal_iterative_reduction",
            False,
            "reduce the depth of nodes without a hash move",
            "evaluate",
            short="iir",
            former="internal",
            parameters=(
                depth(
                    6,
                    "at nodes of at least this depth",
                    "4 instead of 6: 0.6 times the nodes in Connect Four, and the exact search's "
                    "move less often",
                ),
                Parameter(
                    "plies",
                    0,
                    0,
                    4,
                    "plies of reduction, except at expected all-nodes; 0: a step of deepening, at "
                    "all nodes",
                ),
            ),
        ),
        Technique(
            "null_move",
            False,
            "cut a node if even a pass fails high",
            "skip",
            short="nmp",
            former="null",
            source="C. Donninger (1993)",
            parameters=(
                depth(3, "at nodes of at least this depth"),
                Parameter("reduction", 2, 0, 16, "plies of reduction"),
                Parameter("divisor", 4, 1, 64, "plies of depth for each further ply of reduction"),
                margin(
                    "least",
                    0.0,
                    "margin by which the static evaluation must exceed beta, minus slope times the "
                    "depth",
                ),
                margin("slope", 0.0, "see least"),
                Parameter(
                    "surplus",
                    0,
                    0,
                    16,
                    "most additional plies, one for each margin above beta",
                ),
                margin("margin", 2.0, "see surplus"),
                Parameter(
                    "verified",
                    8,
                    1,
                    MOST_DEPTH,
                    "at nodes of at least this depth a search without a pass verifies the cutoff",
                    "289 mates by zugzwang in chess: all found at depth 30 instead of 286; nodes "
                    "at depth 9 in the Bratko-Kopec test: 1.00",
                ),
            ),
        ),
        Technique(
            "probcut",
            False,
            "predict the result of a deep search by a shallow one (ProbCut)",
            "deviation",
            source="M. Buro (1995, and 1997 with several depths)",
            parameters=(
                depth(3, "at nodes of at least this depth", least=2),
                Parameter(
                    "confidence",
                    1.4,
                    0.1,
                    10,
                    "standard deviations by which the shallow score must be beyond the window",
                    "points in Othello, 44 to 200 games: 0.64 (+- 0.10) against no ProbCut at "
                    "100 ms a move, 0.53 (+- 0.05) at 30,000 nodes; 1.0 and 1.8 against 1.4: 0.45 "
                    "and 0.49",
                ),
                Parameter(
                    "levels",
                    1,
                    1,
                    4,
                    "most nested ProbCut searches",
                    "2 against 1: 0.50 (+- 0.06) points in Othello",
                ),
            ),
        ),
        Technique(
            "reverse_futility",
            False,
            "cut nodes near the leaves that are far above beta",
            "UNIT",
            short="rfp",
            former="reverse",
            parameters=(
                depth_limit(4),
                margin(
                    "margin",
                    1.0,
                    "for each ply of depth, and for one more if the static evaluation is not "
                    "improving",
                ),
                margin("less", 0.0, "subtracted from the total margin, which stays at least 0"),
            ),
        ),
        Technique(
            "futility",
            False,
            "skip moves near the leaves that stay far below alpha",
            "UNIT",
            short="fp",
            source="E. Heinz (1998)",
            parameters=(
                depth_limit(3),
                margin("margin", 1.5, "for each ply of depth"),
                Parameter(
                    "reduced_depth",
                    0,
                    0,
                    MOST_DEPTH,
                    "up to this depth after late move reductions, in games that define gain; 0: "
                    "go by the depth before them",
                ),
                margin("reduced_base", 0.4, "at reduced depth 0"),
                margin("reduced_margin", 0.5, "for each ply of reduced depth"),
            ),
        ),
        Technique(
            "see_pruning",
            False,
            "skip moves near the leaves that lose by static exchange evaluation",
            "exchange",
            short="see",
            former="exchange",
            parameters=(
                depth_limit(6),
                margin("noisy_margin", 1.0, "loss allowed to a noisy move, for each ply of depth"),
                margin("quiet_margin", 0.6, "loss allowed to a quiet move, for each ply of depth"),
                Parameter(
                    "reduced",
                    0,
                    0,
                    1,
                    "1: at all depths, and quiet moves by the depth after late move reductions",
                ),
            ),
        ),
        Technique(
            "improving", False, "prune more where the static evaluation is not improving", "gain"
        ),
        Technique(
            "late_move_pruning",
            False,
            "skip late quiet moves near the leaves",
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
                    "moves to search, plus depth * depth; half of that if not improving",
                ),
                Parameter(
                    "cutoffs",
                    25,
                    0,
                    100,
                    "percentage of tested nodes whose late moves cut, above which nothing is "
                    "skipped",
                ),
            ),
        ),
        Technique(
            "razoring",
            False,
            "cut nodes far below alpha if a quiescence search fails low",
            "UNIT",
            source="E. Heinz (1998)",
            parameters=(
                depth_limit(2),
                margin("margin", 2.5, "for each ply of depth"),
            ),
        ),
        Technique(
            "extensions",
            False,
            "extend moves that leave little choice",
            "extension",
            parameters=(
                Parameter(
                    "depth",
                    1,
                    1,
                    MOST_DEPTH,
                    "at nodes of at least this depth; below, they are only never skipped as late "
                    "or futile",
                ),
            ),
        ),
        Technique(
            "singular_extensions",
            False,
            "extend a hash move that is much better than all others",
            "gain",
            short="se",
            former="singular",
            source='T. Anantharaman, M. Campbell and F. Hsu, "Singular extensions: adding '
            'selectivity to brute-force searching" (1990)',
            parameters=(
                # A singular search halves the depth, and the stacks have room for four nested ones.
                depth(7, "at nodes of at least this depth", least=4),
                Parameter("less", 3, 0, 16, "plies by which the move's entry may be shallower"),
                margin("margin", 0.02, "by how much all others must be worse, for each ply"),
                margin(
                    "double",
                    0.0,
                    "by how much more they must be worse for an extension by two plies; 0: never",
                ),
            ),
        ),
        Technique(
            "quiescence",
            False,
            "play noisy moves at the leaves until the position is quiet",
            "noisy",
            short="qs",
            source='L. Harris, "The heuristic search and the game of chess" (1975)',
            parameters=(
                margin("delta", 1.5, "skip moves whose gain is too small by more than this"),
                Parameter(
                    "nodes",
                    8,
                    1,
                    1 << 20,
                    "average nodes of a quiescence search above which they are shortened",
                ),
            ),
        ),
    )
}

FORMER = {technique.former: name for name, technique in TECHNIQUES.items() if technique.former}
"""The current names, by former ones."""

SHORT = {technique.short: name for name, technique in TECHNIQUES.items() if technique.short}
"""The names, by the abbreviations that names of parameters may use."""

OPTIONAL = {"replacement": "cutnode.kernels.replacement"}
"""The engine's techniques that no search uses unless it names them, and the modules with their
hooks: like the user's, they are compiled only into searches that use them."""

REQUIRED = {
    "symmetry": {"table"},
    "enhanced_cutoffs": {"table"},
    "aspiration": {"deepening"},
    "internal_iterative_reduction": {"table", "deepening"},
    "razoring": {"quiescence"},
    "replacement": {"table"},
    "singular_extensions": {"table"},
    "star2": {"star1", "table"},
}
"""Techniques that make no sense without others, and those others."""

WITH_CHANCE = frozenset(
    {
        *("order", "table", "symmetry", "deepening", "killers", "history", "countermoves"),
        *("star1", "star2"),
    }
)
"""The techniques that a search of games of chance can use: none that needs null windows."""

EXACT = frozenset(name for name, technique in TECHNIQUES.items() if technique.exact)

OUTSIDE: dict[str, Technique] = {}
"""Techniques from outside the engine, by name, and optional ones that were asked for."""


def register(technique: Technique) -> Technique:
    """Register a user's technique under its name, and return it.

    It replaces another of the same name; :class:`CutnodeError` if the engine uses the name.
    """
    if any(technique.name in taken for taken in (TECHNIQUES, OPTIONAL, FORMER, SHORT)):
        raise CutnodeError(f"{technique.name} is a technique of the engine: choose another name")
    OUTSIDE[technique.name] = technique
    return technique


def techniques_in(text: str) -> list[Technique]:
    """Return the technique that ``my_idea.py:multicut`` names, or all of the file ``my_idea.py``.

    A function ``order(position, move, child)`` is a technique that orders moves.
    :class:`CutnodeError` if the file defines none.
    """
    from cutnode.contract.files import module_of_file
    from cutnode.contract.loading import named_in_file

    if not text.endswith(".py"):
        found = named_in_file(text, "a technique")
        if not isinstance(found, Technique) and callable(found):
            found = ordering_by(found)
        if not isinstance(found, Technique):
            raise CutnodeError(f"{text} must be a Technique or a function, got {found!r}")
        return [register(found)]
    every = vars(module_of_file(Path(text))).values()
    every = [each for each in every if isinstance(each, Technique)]
    if not every:
        raise CutnodeError(f"{text} defines no Technique")
    return [register(each) for each in every]


@functools.cache
def ordering_by(function: Callable[..., Any]) -> Technique:
    """Return the technique that orders moves by a function of a position, a move and a child."""
    name = f"order_by_{function.__name__}"
    about = "search the moves that a function scores highest first"
    return Technique(name, True, about, order=function)


def reference(name: str) -> str:
    """Return the text by which another process finds a technique.

    :class:`CutnodeError` if no file defines it.
    """
    if name not in OUTSIDE or name in OPTIONAL:
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
    raise CutnodeError(f"the technique {name} is in no file: other processes cannot find it")


def outside(names: Iterable[str]) -> tuple[Technique, ...]:
    """Return the techniques called *names* that are from outside the engine, sorted by name."""
    return tuple(OUTSIDE[name] for name in sorted(names) if name in OUTSIDE)


def fits(cls: Any, technique: Technique) -> bool:
    """Return whether the game of a position class defines what a technique needs."""
    from cutnode.contract.dispatch import defines, game_constant  # the names load no compiler

    needs = technique.needs
    if defines(cls, CHANCE) and technique.name not in WITH_CHANCE:
        return False
    if any(defines(cls, verb) for verb in technique.unless):
        return False
    return not needs or defines(cls, needs) or bool(game_constant(cls, needs, 0))


def technique_of(name: str | Technique) -> Technique:
    """Return a technique by its name; :class:`CutnodeError` if there is none."""
    if isinstance(name, Technique):
        own = optional(name.name) if name.name in OPTIONAL else TECHNIQUES.get(name.name)
        return name if own is name else register(name)
    if not isinstance(name, str):
        raise CutnodeError(f"a technique must be a name or a Technique, got {name!r}")
    if ".py:" in name:
        return techniques_in(name)[0]
    if name in FORMER:
        new = FORMER[name]
        warnings.warn(f"the technique {name} is called {new} now", DeprecationWarning, stacklevel=4)
        return TECHNIQUES[new]
    if name in OPTIONAL:
        return optional(name)
    known = TECHNIQUES | OUTSIDE
    if name not in known:
        names = list(dict.fromkeys((*known, *OPTIONAL)))
        raise CutnodeError(
            f"there is no technique {quoted(name)}"
            + nearest(name, names, f"techniques are {', '.join(names)}")
        )
    return known[name]


def every_technique() -> list[Technique]:
    """Return the engine's techniques, the optional ones last."""
    return [*TECHNIQUES.values(), *map(optional, OPTIONAL)]


def optional(name: str) -> Technique:
    """Return an optional technique of the engine; the first time this loads its code."""
    from cutnode.contract.loading import module_named

    # By its name: an import here would make every kernel depend on the module, and be compiled
    # again after an edit of it.
    if name not in OUTSIDE:
        OUTSIDE[name] = vars(module_named(OPTIONAL[name]))[name.upper()]
    return OUTSIDE[name]


def leave_out(chosen: Iterable[str], names: Iterable[str]) -> frozenset[str]:
    """Return *chosen* without the techniques called *names* and those that need them."""
    out = {technique_of(name).name for name in names}
    return frozenset(name for name in chosen if not ({name} | REQUIRED.get(name, set())) & out)


def choose(
    cls: Any, names: Iterable[str | Technique | EllipsisType] | None, *, exact: bool = False
) -> frozenset[str]:
    """Return the techniques called *names*, or all that suit the game of a position class.

    An ellipsis among the names stands for all that suit it.  *exact* leaves selective techniques
    out; naming one is then an error, as is naming an unknown technique or one that the game does
    not allow.
    """
    return frozenset(in_order(cls, names, exact=exact))


def in_order(
    cls: Any, names: Iterable[str | Technique | EllipsisType] | None, *, exact: bool = False
) -> tuple[str, ...]:
    """Return the techniques of :func:`choose` in the order of *names*.

    An ellipsis stands for the engine's other techniques, in the engine's order; a set has that
    order, too.  A technique comes after those that it needs.
    """
    if names is None:
        return _after_required(usual(cls, exact))
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise CutnodeError(f"techniques must be several names, such as ['table'], got {names!r}")
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
    """Return techniques in the engine's order; others follow, exact before selective, by name."""
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
    """Return the engine's techniques that suit the game of a position class."""
    fitting = [
        name
        for name, technique in TECHNIQUES.items()
        if fits(cls, technique) and (technique.exact or not exact)
    ]
    return [name for name in fitting if REQUIRED.get(name, set()) <= set(fitting)]


def require(cls: Any, technique: Technique, exact: bool) -> None:
    """Raise an error that says why a technique cannot be used, if it cannot."""
    from cutnode.contract.dispatch import defines, game_name

    name = technique.name
    if exact and not technique.exact:
        raise CutnodeError(f"{name} is selective: an exact search does not use it")
    if defines(cls, CHANCE) and name not in WITH_CHANCE:
        raise GameError(f"{game_name(cls)} has chance: a search with chance cannot use {name}")
    against = [verb for verb in technique.unless if defines(cls, verb)]
    if against or not fits(cls, technique):
        why = f"it defines {against[0]}" if against else f"it does not define {technique.needs}"
        raise GameError(f"{game_name(cls)} does not allow {name}: {why}")


# Parameters.


def parameters_of(techniques: Iterable[Technique]) -> Iterator[tuple[str, str, Parameter]]:
    """Yield the dotted name, the field and the declaration of each parameter of techniques."""
    for technique in techniques:
        for parameter in technique.parameters:
            yield f"{technique.name}.{parameter.name}", technique.field(parameter.name), parameter


def find_parameter(name: str) -> tuple[str, Parameter]:
    """Return the full name and the declaration of a parameter.

    *name* is such as ``late_move_reductions.base`` or ``lmr.base``.  :class:`CutnodeError` if there
    is none.
    """
    first, dot, last = name.partition(".") if isinstance(name, str) else ("", "", "")
    if first in OPTIONAL:
        optional(first)
    known = {full: each for full, _, each in parameters_of((TECHNIQUES | OUTSIDE).values())}
    full = f"{SHORT.get(first, first)}{dot}{last}"
    if full not in known:
        raise CutnodeError(
            f"there is no parameter {quoted(str(name))}"
            f"{nearest(full, known, '`cutnode lab parameters` lists them')}"
        )
    return full, known[full]


def checked_parameters(given: Mapping[str, Any], chosen: Iterable[str]) -> dict[str, float]:
    """Return parameters by their full names; :class:`CutnodeError` if one is invalid or unused.

    They must belong to techniques among the *chosen* ones.
    """
    if not isinstance(given, Mapping):
        raise CutnodeError(
            f"parameters must be values by name, as {{'lmr.base': 0.8}}, got {given!r}"
        )
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
    """Return the *values* that are parameters of the techniques called *names*."""
    known = frozenset(names)
    found = {find_parameter(name)[0]: value for name, value in values.items()}
    return {name: value for name, value in found.items() if name.partition(".")[0] in known}
