"""Profiles: the numbers of a search that were tuned, under a name that a game chooses.

A game says ``PROFILE = "tactical"``, or what is different in its own from the default::

    PROFILE = {"order_depth": 3}

A game that says nothing has ``DEFAULT``.  What else a game defines, ``gain`` say, changes no
number.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from engine.contract.dispatch import game_constant, game_name, module_of
from engine.contract.errors import GameError
from engine.contract.text import nearest, quoted
from engine.kernels.parameters import ENHANCED_PLIES, PARITY, TABLE_PLIES, USUAL_MOVES

__all__ = [
    "DEFAULT",
    "MARGINS",
    "NUMBERS",
    "PROFILES",
    "TACTICAL",
    "Profile",
    "plies_for",
    "profile_of",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """The tuned numbers of a search.  Depths are plies left."""

    quiet_leaves: bool = False
    """The numbers presume that quiescence makes the leaves quiet.  A search without it (an exact
    one, say) has those of ``DEFAULT`` in their place."""

    parity: int = PARITY
    """Depth is reduced, and deepened to a depth that is given, by multiples of this."""

    null_reduction: int = 2
    null_surplus: int = 0
    """A pass is searched so many plies less deep, and a quarter of the depth less; and a ply less
    for each margin that the static evaluation is above beta, at most ``null_surplus``."""

    razoring_depth: int = 2
    reverse_depth: int = 4
    futility_depth: int = 3
    late_depth: int = 3
    """The depths up to which margins, and the number of a move, prune."""

    enhanced_depth: int = 4
    """Nodes of at least this depth look their children up before one is searched."""

    reduction_depth: int = 4
    reduction_moves: int = 2
    """At nodes of at least this depth, moves after so many are searched less deep."""

    reduction_base: float = 0.0
    reduction_divisor: float = 0.75
    """The reduction in plies: ``base + log(depth) * log(number) / divisor``.  Divisor 1: 1.5 times
    the nodes of 0.75; 0.5: 0.8 times, and fewer of the exact search's moves."""

    reduction_terms: int = 0
    """1: what is known of the node and the move changes reductions, in games that define ``gain``.
    0, and in all others: they are as above outside the principal variation, and none in it."""

    history_share: int = 8192
    cut_reduction: int = 1
    """Of those terms: so much of a move's history is worth a ply, and where a cutoff is expected
    so many plies more are saved."""

    history_bonus: int = 1
    """The bonus of a cutoff for the history of its move, times the depth squared."""

    order_depth: int = 1
    """A node with at least this depth asks the game how promising moves look (``order``).  A game
    in which that costs as much as a leaf has more: in Othello, with patterns, 3 instead of 1
    visits nearly twice the nodes of an exact search at depth 10, in 0.6 of the time."""

    reverse_margin: float = 1.0
    futility_margin: float = 1.5
    razoring_margin: float = 2.5
    """In ``UNIT`` of the game, as all margins; these for each ply of depth."""

    null_margin: float = 2.0
    """See ``null_reduction``."""

    delta_margin: float = 1.5
    """Quiescence skips moves that gain so much too little."""

    noisy_margin: float = 1.0
    quiet_margin: float = 0.6
    """Moves that lose more by exchanges, for each ply of depth, are skipped."""

    singular_margin: float = 0.02
    """A move is singular if all others are worse by this for each ply of depth."""

    table_plies: int | None = None
    enhanced_plies: int | None = None
    """The plies left from which a node of the exact solver is kept in the table, and looks all its
    children up there first.  None: what suits ``MAX_MOVES``."""

    def suited_to(self, techniques: Iterable[str]) -> Profile:
        """The numbers for a search with some techniques."""
        if not self.quiet_leaves or "quiescence" in techniques:
            return self
        return replace(
            DEFAULT,
            order_depth=self.order_depth,
            reduction_terms=self.reduction_terms,
            **{f"{name}_margin": getattr(self, f"{name}_margin") for name in MARGINS},
        )

    def solver_plies(self, cls: Any) -> tuple[int, int]:
        """``table_plies`` and ``enhanced_plies`` for a position class."""
        table, enhanced = self.table_plies, self.enhanced_plies
        return (
            plies_for(cls, TABLE_PLIES) if table is None else table,
            plies_for(cls, ENHANCED_PLIES) if enhanced is None else enhanced,
        )


MARGINS = tuple(
    field.name.removesuffix("_margin")
    for field in fields(Profile)
    if field.name.endswith("_margin")
)
"""Names of the margins; the memory of a search has them in the unit of ``evaluate``."""

NUMBERS = tuple(field.name for field in fields(Profile) if field.type == "int")
"""The other numbers that the memory of a search has a field for."""

DEFAULT = Profile()
"""For searches whose leaves are estimated as they are, or played on with moves that nobody
weighs."""

TACTICAL = Profile(
    quiet_leaves=True,
    parity=1,
    null_reduction=3,
    null_surplus=3,
    reverse_depth=5,
    futility_depth=7,
    razoring_depth=0,
    late_depth=5,
    enhanced_depth=8,
    reduction_depth=3,
    reduction_base=0.5,
    reduction_divisor=2.0,
    reduction_terms=1,
    history_bonus=8,
)
"""For games of captures and threats, in which ``gain`` says what moves win: leaves are quiet there,
and scores of odd and even depths alike.

Chosen by what moves of 800 positions of chess lose with 60,000 nodes, as Stockfish 15.1 sees them:
the probability to win falls by 2.0 % on average.  Without ``cut_reduction`` by 0.14 % more, with
``history_bonus`` 4 or 16 by 0.1 % more (20,000 nodes); with 7 for both depths of 5, razoring, and a
margin for ``null_surplus`` half as wide, by 0.21 % more.  Errors of these differences are 0.1 %."""

FORMER_CONSTANTS = ("TABLE_PLIES", "ENHANCED_PLIES", "ORDER_DEPTH")
"""Names that games gave to entries of their profile until version 0.1."""

PROFILES = {"default": DEFAULT, "tactical": TACTICAL}
"""The profiles that a game can choose by name."""


def plies_for(cls: Any, plies: int) -> int:
    """The plies in which a game has as many lines as one of the usual width has in *plies*."""
    width = max(game_constant(cls, "MAX_MOVES", 256), USUAL_MOVES)
    return next(n for n in range(1, plies + 1) if width**n >= USUAL_MOVES**plies)


def profile_of(cls: Any) -> Profile:
    """The profile that the game of a position class chooses; :class:`GameError` if it is none."""
    for old in FORMER_CONSTANTS:
        if hasattr(module_of(cls), old) or hasattr(cls, old):
            raise GameError(
                f"{game_name(cls)} defines {old}: write PROFILE = {{{old.lower()!r}: ...}} instead"
            )
    chosen = getattr(cls, "PROFILE", getattr(module_of(cls), "PROFILE", DEFAULT))
    if isinstance(chosen, Profile):
        return chosen
    names: Iterable[str] = PROFILES
    if isinstance(chosen, Mapping):
        names = [field.name for field in fields(Profile)]
        wrong = next((name for name in chosen if name not in names), None)
        if wrong is None:
            return replace(DEFAULT, **chosen)
        chosen = wrong
    elif isinstance(chosen, str) and chosen in PROFILES:
        return PROFILES[chosen]
    raise GameError(
        f"PROFILE of {game_name(cls)}: there is no {quoted(str(chosen))}"
        f"{nearest(str(chosen), names)}; it is one of {', '.join(PROFILES)}, or a dictionary "
        f"of numbers of engine.kernels.profiles.Profile"
    )
