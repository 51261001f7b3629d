"""The results of value iteration: the value of a position, and the bounds of all states."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from cutnode.contract.derived import same_after_chance
from cutnode.contract.dispatch import game_name
from cutnode.contract.errors import PositionError
from cutnode.contract.messages import description, move_text, position_text
from cutnode.contract.positions import coerce
from cutnode.contract.text import quoted
from cutnode.contract.verbs import canonical, chance, chance_outcome, moves_again
from cutnode.kernels.value_iteration import slot_of
from cutnode.search.results import PositionResult


@dataclass(frozen=True, slots=True)
class ValueIterationResult(PositionResult):
    """The result of value iteration: the value of a position, and the bounds of all states."""

    position: Any
    """The position."""
    value: float | None
    """The value for the player to move; None if its bounds are not within *tolerance*."""
    lower: float
    """The proven lower bound of the value."""
    upper: float
    """The proven upper bound of the value."""
    tolerance: float
    """The distance of bounds within which a value counts as proven."""
    best_move: int | None
    """The best move; None if chance decides, or the game is over."""
    scores: dict[int, float | None]
    """The value of each legal move, or of each outcome of chance by its index, for the player to
    move here."""
    decisions: int
    """States (classes of equivalent positions) in which a player moves."""
    chances: int
    """States in which chance decides."""
    finished: int
    """States in which the game is over."""
    sweeps: int
    """The most times that the bounds of any one state were computed."""
    updates: int
    """The computations of bounds, over all states."""
    seconds: float
    """Seconds spent."""
    reason: str
    """Why it ended: proven, bounds stay apart, time limit, stopped, or interrupted."""
    states: States = field(repr=False, compare=False)
    """The bounds of all states."""

    @property
    def proven(self) -> bool:
        """Whether the bounds agree within *tolerance*."""
        return self.value is not None

    @property
    def positions(self) -> int:
        """The number of states."""
        return self.decisions + self.chances + self.finished

    @property
    def nodes(self) -> int:  # type: ignore[override]
        """The number of states: an alias of :attr:`positions`."""
        return self.positions

    @property
    def pv(self) -> tuple[int, ...]:  # type: ignore[override]
        """The best move alone, if there is one, as chance decides what follows."""
        return () if self.best_move is None else (self.best_move,)

    def bounds_of(self, position: Any) -> tuple[float, float]:
        """Return the bounds of a reachable position; raise :class:`PositionError` for others."""
        return self.states.bounds_of(position)

    def value_of(self, position: Any) -> float:
        """Return the value of a reachable position for its player to move, mid of its bounds."""
        return sum(self.bounds_of(position)) / 2

    def meaning(self) -> str:
        """Return the value in words."""
        if ending := self.ending():
            return ending
        if self.value is None:
            return f"between {self.lower:.12g} and {self.upper:.12g}: {self.reason}"
        return description(self.position, self.value) or f"within {self.tolerance:g}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, with positions and moves in the game's own notation.

        Scores of outcomes of chance have the positions after them as keys.
        """
        best = None if self.best_move is None else move_text(self.position, self.best_move)
        return self._about() | {
            "value": self.value,
            "proven": self.proven,
            "lower": self.lower,
            "upper": self.upper,
            "tolerance": self.tolerance,
            "best_move": best,
            "scores": self._named_scores(),
            "positions": self.positions,
            "decisions": self.decisions,
            "chances": self.chances,
            "finished": self.finished,
            "sweeps": self.sweeps,
            "updates": self.updates,
            "seconds": self.seconds,
            "reason": self.reason,
        }

    def _named_scores(self) -> dict[str, float | None]:
        if self.best_move is not None:
            return {move_text(self.position, move): v for move, v in self.scores.items()}
        outcomes = ((chance_outcome(self.position, n)[1], v) for n, v in self.scores.items())
        return {position_text(position): v for position, v in outcomes}

    def __str__(self) -> str:
        value = "unknown" if self.value is None else f"{self.value:.12g}"
        lines = [f"value  {value}  ({self.meaning()})"]
        scores = {
            name: "?" if v is None else f"{v:.12g}" for name, v in self._named_scores().items()
        }
        if self.best_move is None:
            lines += [f"then   {value:15}  {name}" for name, value in scores.items()]
        else:
            lines.append(f"scores {', '.join(f'{name}: {v}' for name, v in scores.items())}")
            lines.append(f"best   {self.move_text()}")
        lines.append(
            f"states {self.positions:,}: {self.decisions:,} of a player, {self.chances:,} of "
            f"chance, {self.finished:,} finished"
        )
        updates = self.updates / max(self.positions, 1)
        lines.append(
            f"sweeps {self.sweeps:,} at most, {updates:.1f} of a state, in {self.seconds:.3g} s"
        )
        return "\n".join(lines)


class States:
    """The bounds of the values of all states reachable from *root*."""

    def __init__(self, root: Any, keys: Any, slots: Any, bounds: Any):
        self.root = root
        self._keys, self._slots, self._bounds = keys, slots, bounds

    def __len__(self) -> int:
        return len(self._bounds)

    def bounds_of(self, position: Any) -> tuple[float, float]:
        """Return the bounds of a position for its player to move.

        Raise :class:`PositionError` if it cannot be reached.
        """
        if type(position) is not type(self.root):
            raise PositionError(
                f"these states are of {game_name(type(self.root))}, not {game_name(type(position))}"
            )
        word = canonical(coerce(position))[0]
        state = int(self._slots[slot_of(word, self._keys, self._slots)]) - 1
        if state < 0:
            text, origin = position_text(position), position_text(self.root)
            raise PositionError(f"{quoted(text)} cannot be reached from {quoted(origin)}")
        lower, upper = self._bounds[state].tolist()
        return lower, upper

    def bounds_behind(self, position: Any, child: Any) -> tuple[float, float]:
        """Return the bounds after a move or an outcome of chance, for the mover of *position*."""
        again = same_after_chance if chance(position) else moves_again
        lower, upper = self.bounds_of(child)
        return (lower, upper) if again(position, child) else (-upper, -lower)
