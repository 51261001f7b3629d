"""Profiles: the numbers of a search that were tuned, under a name that a game chooses.

A game says ``PROFILE = "tactical"``, or what is different in its own from the default::

    PROFILE = {"order.depth": 3}

The names are those of the parameters of techniques (``cutnode lab parameters`` lists them), and
four of the exact solver's: ``solver.table_plies`` and ``solver.enhanced_plies``, the plies left
from which a node is kept in the table, and looks all its children up there first;
``solver.crowding``, the entries for each bucket of four after which it takes more of the table's
memory, many where what gave way is soon found again; and ``solver.proof_share``, the part of its
limits in which a search tries a proof.  A game that says nothing has the defaults.  What else a
game defines, ``gain`` say, changes no number.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from cutnode.contract.choices import MOST_PROOF_SHARE
from cutnode.contract.dispatch import game_constant, game_name, module_of
from cutnode.contract.errors import CutnodeError, GameError
from cutnode.contract.text import nearest, quoted
from cutnode.kernels.declarations import Parameter, Technique
from cutnode.kernels.parameters import ENHANCED_PLIES, HALF_FULL, TABLE_PLIES, USUAL_MOVES
from cutnode.kernels.techniques import TECHNIQUES, find_parameter, parameters_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """The numbers of a search that are not as their parameters say by default."""

    values: Mapping[str, float] = field(default_factory=dict)
    """By the names of parameters."""

    quiet_leaves: bool = False
    """The numbers presume that quiescence makes the leaves quiet.  A search without it (an exact
    one, say) has those of ``DEFAULT`` in their place."""

    def suited_to(self, techniques: Iterable[str]) -> Profile:
        """The numbers for a search with some techniques."""
        if not self.quiet_leaves or "quiescence" in techniques:
            return self
        kept = {name: value for name, value in self.values.items() if name in OF_THE_GAME}
        return Profile(values=kept)

    def fields(
        self, cls: Any, own: Iterable[Technique], given: Mapping[str, float]
    ) -> dict[str, float]:
        """The numbers of a search by the fields of its memory.

        *own* are techniques besides the engine's, and *given* values that go before the profile's.
        """
        values = {**self.values, **given}
        unit = game_constant(cls, "UNIT", 0)
        return {
            name: scaled(parameter, values.get(full, parameter.default), unit)
            for full, name, parameter in parameters_of([*TECHNIQUES.values(), *own])
        }

    def solver_plies(self, cls: Any) -> tuple[int, int]:
        """The plies from which the solver uses its table, and looks children up."""
        table, enhanced = (self.values.get(name) for name in SOLVER_PLIES)
        return (
            plies_for(cls, TABLE_PLIES) if table is None else int(table),
            plies_for(cls, ENHANCED_PLIES) if enhanced is None else int(enhanced),
        )

    @property
    def crowding(self) -> int:
        """The entries for each bucket after which the solver uses more of the table's memory."""
        return int(self.values.get(CROWDING, HALF_FULL))

    @property
    def proof_share(self) -> float:
        """The part of a search's limits of time and nodes in which it tries a proof."""
        return float(self.values.get(PROOF_SHARE, 0))


SOLVER_PLIES = ("solver.table_plies", "solver.enhanced_plies")
CROWDING = "solver.crowding"
PROOF_SHARE = "solver.proof_share"
SOLVER = {
    **dict.fromkeys(SOLVER_PLIES, Parameter("plies", 1, 0, 512, "")),
    CROWDING: Parameter("crowding", HALF_FULL, 1, 512, ""),
    PROOF_SHARE: Parameter("proof_share", 0.0, 0, MOST_PROOF_SHARE, ""),
}
"""Numbers of the exact solver; the plies are by default what suits ``MAX_MOVES``."""

OF_THE_GAME = ("order.depth", "late_move_reductions.terms")
"""Numbers that say something of the game, whatever its leaves are."""

DEFAULT = Profile()
"""For searches whose leaves are estimated as they are, or played on with moves that nobody
weighs."""

TACTICAL = Profile(
    quiet_leaves=True,
    values={
        "deepening.parity": 1,
        "null_move.reduction": 3,
        "null_move.surplus": 3,
        "null_move.margin": 2.5,
        "reverse_futility.depth": 5,
        "reverse_futility.margin": 0.8,
        "futility.depth": 7,
        "futility.margin": 1.05,
        "see_pruning.quiet_margin": 0.47,
        "razoring.depth": 0,
        "late_move_pruning.depth": 5,
        "late_move_pruning.moves": 5,
        "enhanced_cutoffs.depth": 8,
        "singular_extensions.less": 2,
        "internal_iterative_reduction.depth": 5,
        "late_move_reductions.depth": 3,
        "late_move_reductions.base": 0.6,
        "late_move_reductions.divisor": 2.1,
        "late_move_reductions.terms": 1,
        "quiescence.delta": 1.7,
        "killers.bonus": 8192,
        "countermoves.bonus": 4096,
        "history.prior": 2048,
        "history.bonus": 10,
        "history.most": 3200,
    },
)
"""For games of captures and threats, in which ``gain`` says what moves win: leaves are quiet there,
and scores of odd and even depths alike.

Chosen by what moves of 800 positions of chess lose with 60,000 nodes, as Stockfish 15.1 sees them:
the probability to win falls by 2.0 % on average.  With ``history.bonus`` 4 or 16 in place of 8 by
0.1 % more (20,000 nodes); with 7 for both depths of 5, razoring, and a margin of ``null_move`` half
as wide, by 0.21 % more.  Errors of these differences are 0.1 %.

Then eleven of the numbers were moved to where SPSA by games had taken them: 2,350 pairs of games,
each between both points of a step, with 8,000 nodes a move.  That made +19 Elo (6 to 33) in 1,500
games more."""

FORMER_CONSTANTS = ("TABLE_PLIES", "ENHANCED_PLIES", "ORDER_DEPTH")
"""Names that games gave to entries of their profile until version 0.1."""

PROFILES = {"default": DEFAULT, "tactical": TACTICAL}
"""The profiles that a game can choose by name."""


def scaled(parameter: Parameter, value: float, unit: int) -> float:
    """Return a value as the memory of a search has it."""
    if parameter.margin:
        return int(value * unit)
    return int(value) if parameter.is_integer else value


def plies_for(cls: Any, plies: int) -> int:
    """The plies in which a game has as many lines as one of the usual width has in *plies*."""
    width = max(game_constant(cls, "MAX_MOVES", 256), USUAL_MOVES)
    return next(n for n in range(1, plies + 1) if width**n >= USUAL_MOVES**plies)


def profile_of(cls: Any) -> Profile:
    """The profile that the game of a position class chooses; :class:`GameError` if it is none."""
    for old in FORMER_CONSTANTS:
        if hasattr(module_of(cls), old) or hasattr(cls, old):
            raise GameError(
                f"{game_name(cls)} defines {old}: write it in PROFILE instead, which has "
                f"order.depth, {' and '.join(SOLVER)}"
            )
    chosen = getattr(cls, "PROFILE", getattr(module_of(cls), "PROFILE", DEFAULT))
    if isinstance(chosen, Profile):
        return chosen
    if isinstance(chosen, Mapping):
        return Profile(values={name: value for name, value in _checked(cls, chosen)})
    if isinstance(chosen, str) and chosen in PROFILES:
        return PROFILES[chosen]
    known = f"it is one of {', '.join(PROFILES)}, or a dictionary such as {{'order.depth': 3}}"
    raise GameError(
        f"PROFILE of {game_name(cls)}: there is no {quoted(str(chosen))}"
        f"{nearest(str(chosen), PROFILES, known)}"
    )


def _checked(cls: Any, chosen: Mapping[Any, Any]) -> Iterable[tuple[str, float]]:
    """Yield the entries of a game's profile by their full names."""
    for name, value in chosen.items():
        try:
            if name in SOLVER:
                yield name, SOLVER[name].checked(value, name)
            else:
                full, parameter = find_parameter(name)
                yield full, parameter.checked(value, name)
        except CutnodeError as error:
            raise GameError(f"PROFILE of {game_name(cls)}: {error}") from None
