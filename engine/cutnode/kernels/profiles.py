"""Profiles: tuned parameters of a search, under a name that a game chooses.

A game sets ``PROFILE = "tactical"``, or lists the parameters in which it differs from the default::

    PROFILE = {"order.depth": 3}

The names are the parameters of techniques (``cutnode lab parameters`` lists them), and four of the
exact solver: ``solver.table_plies`` and ``solver.enhanced_plies``, the plies left from which a node
is kept in the table, and from which it first looks all its children up there; ``solver.crowding``,
the entries per bucket of four after which the solver uses more of the table's memory (high values
suit games where a replaced entry is soon found again); and ``solver.proof_share``, the part of its
limits for which a search attempts a proof.  A game without a profile has the defaults.  Other
definitions of a game, such as ``gain``, change no parameter.
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
    """The parameters of a search that differ from their defaults."""

    values: Mapping[str, float] = field(default_factory=dict)
    """Values by the names of parameters."""

    quiet_leaves: bool = False
    """Whether the values assume that a quiescence search makes the leaves quiet.  A search without
    one (such as an exact search) uses ``DEFAULT`` instead."""

    def suited_to(self, techniques: Iterable[str]) -> Profile:
        """Return the profile for a search with the given techniques."""
        if not self.quiet_leaves or "quiescence" in techniques:
            return self
        kept = {name: value for name, value in self.values.items() if name in OF_THE_GAME}
        return Profile(values=kept)

    def fields(
        self, cls: Any, own: Iterable[Technique], given: Mapping[str, float]
    ) -> dict[str, float]:
        """Return the parameters of a search by the fields of its memory.

        *own* are techniques in addition to the engine's; *given* values override the profile's.
        """
        values = {**self.values, **given}
        unit = game_constant(cls, "UNIT", 0)
        return {
            name: scaled(parameter, values.get(full, parameter.default), unit)
            for full, name, parameter in parameters_of([*TECHNIQUES.values(), *own])
        }

    def solver_plies(self, cls: Any) -> tuple[int, int]:
        """Return the plies left from which the solver uses its table, and looks children up."""
        table, enhanced = (self.values.get(name) for name in SOLVER_PLIES)
        return (
            plies_for(cls, TABLE_PLIES) if table is None else int(table),
            plies_for(cls, ENHANCED_PLIES) if enhanced is None else int(enhanced),
        )

    @property
    def crowding(self) -> int:
        """The entries per bucket after which the solver uses more of the table's memory."""
        return int(self.values.get(CROWDING, HALF_FULL))

    @property
    def proof_share(self) -> float:
        """The part of a search's time and node limits for which it attempts a proof."""
        return float(self.values.get(PROOF_SHARE, 0))


SOLVER_PLIES = ("solver.table_plies", "solver.enhanced_plies")
CROWDING = "solver.crowding"
PROOF_SHARE = "solver.proof_share"
SOLVER = {
    **dict.fromkeys(SOLVER_PLIES, Parameter("plies", 1, 0, 512, "")),
    CROWDING: Parameter("crowding", HALF_FULL, 1, 512, ""),
    PROOF_SHARE: Parameter("proof_share", 0.0, 0, MOST_PROOF_SHARE, ""),
}
"""Parameters of the exact solver; the plies depend by default on ``MAX_MOVES``."""

OF_THE_GAME = ("order.depth", "late_move_reductions.terms")
"""Parameters that depend on the game, whatever its leaves are."""

DEFAULT = Profile()
"""The default: for searches that estimate leaves as they are, or whose quiescence search has noisy
moves without a ``gain``."""

TACTICAL = Profile(
    quiet_leaves=True,
    values={
        "table.estimates": 1,
        "table.shallower": 3,
        "pvs.skips": 1,
        "deepening.parity": 1,
        "null_move.reduction": 3,
        "null_move.divisor": 3,
        "null_move.surplus": 7,
        "null_move.margin": 0.93,
        "null_move.least": 1.1,
        "null_move.slope": 0.1,
        "reverse_futility.depth": 6,
        "reverse_futility.margin": 0.64,
        "reverse_futility.less": 0.64,
        "futility.depth": 7,
        "futility.margin": 1.05,
        "futility.reduced_depth": 12,
        "futility.reduced_base": 0.38,
        "futility.reduced_margin": 0.45,
        "see_pruning.noisy_margin": 0.98,
        "see_pruning.quiet_margin": 0.45,
        "see_pruning.reduced": 1,
        "razoring.depth": 0,
        "late_move_pruning.depth": 6,
        "late_move_pruning.moves": 7,
        "enhanced_cutoffs.depth": 8,
        "extensions.depth": 9,
        "singular_extensions.less": 2,
        "singular_extensions.double": 0.09,
        "internal_iterative_reduction.depth": 3,
        "internal_iterative_reduction.plies": 2,
        "late_move_reductions.depth": 3,
        "late_move_reductions.base": 0.66,
        "late_move_reductions.divisor": 2.4,
        "late_move_reductions.terms": 1,
        "quiescence.delta": 1.75,
        "killers.bonus": 8192,
        "countermoves.bonus": 5000,
        "history.prior": 2048,
        "history.bonus": 55,
        "history.most": 2900,
        "history.eval_weight": 135,
    },
)
"""For games of captures and threats that define ``gain``: their leaves are quiet, and scores of odd
and even depths are alike.

The values were chosen to lose the least winning probability with the moves for 800 chess positions,
with 60,000 nodes and by the judgement of Stockfish 15.1: 2.0 % on average.  With ``history.bonus``
4 or 16 in place of 8 it is 0.1 % more (20,000 nodes); with 7 for both depths of 5, razoring, and
half the margin of ``null_move``, 0.21 % more.  The errors of these differences are 0.1 %.

Then eleven of the values were moved to where SPSA had taken them by games: 2,350 pairs of games,
each between both points of a step, with 8,000 nodes a move.  This gained +19 Elo (6 to 33) in 1,500
further games.

Pruning by the depth after reductions, double extensions and ``history.eval_weight`` came later,
with the values of Stockfish 15.1 on our scale.  SPSA then moved 17 of all values: 1,880 pairs with
6,000 nodes a move.  In 600 games with 5,000 nodes this gained +16 Elo (-8 to 40).

``table.estimates``, ``reverse_futility.less`` and the conditions and reductions of the null move
bring the search's nodes nearer to the proportions of Stockfish 15.1 with the same evaluation, which
has 38 % in quiescence: 43 % instead of 61 % (60 openings, 20,000 nodes each).  In 250 games with
6,000 nodes this gained +32 Elo (-1 to 66).

``pvs.skips`` and ``table.shallower`` follow Stockfish, too.  Together they gained +15 Elo (-20 to
50) in 160 games with 30,000 nodes; the parameters' own figures are for 5,000."""

FORMER_CONSTANTS = ("TABLE_PLIES", "ENHANCED_PLIES", "ORDER_DEPTH")
"""Constants that games defined until version 0.1, and that are entries of the profile now."""

PROFILES = {"default": DEFAULT, "tactical": TACTICAL}
"""The profiles that a game can choose by name."""


def scaled(parameter: Parameter, value: float, unit: int) -> float:
    """Return a parameter's value in the unit and type of the search's memory."""
    if parameter.margin:
        return int(value * unit)
    return int(value) if parameter.is_integer else value


def plies_for(cls: Any, plies: int) -> int:
    """Return the plies in which a game has as many lines as one of usual width in *plies*."""
    width = max(game_constant(cls, "MAX_MOVES", 256), USUAL_MOVES)
    return next(n for n in range(1, plies + 1) if width**n >= USUAL_MOVES**plies)


def profile_of(cls: Any) -> Profile:
    """Return the profile that a position class's game chooses; :class:`GameError` if invalid."""
    for old in FORMER_CONSTANTS:
        if old in vars(module_of(cls)) or hasattr(cls, old):
            raise GameError(
                f"{game_name(cls)} defines {old}, which is now an entry of PROFILE: "
                f"order.depth, {' or '.join(SOLVER)}"
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
