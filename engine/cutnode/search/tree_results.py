"""The results of Monte Carlo tree search: immutable, printable, picklable."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from cutnode.contract.dispatch import game_constant, value_limit
from cutnode.contract.messages import move_text
from cutnode.kernels.playouts import ESTIMATE_UNIT
from cutnode.kernels.scores import MOST_ESTIMATE, WIN, final_score, is_decisive, win_distance
from cutnode.kernels.tablebase_scores import FAR
from cutnode.search.results import Iteration, Line, PositionResult, line_text, score_text

SHOWN_MOVES = 8
"""So many root moves are printed."""


def score_of(cls: Any, worth: float, lower: int, upper: int) -> float:
    """Return what a worth is as a score, on the scale of other searches of the game.

    In a ``DECISIVE`` game the estimate whose logistic it is, or a win at an unknown distance if
    bounds prove one; otherwise a value.
    """
    if not is_decisive(cls):
        return float(lower) if lower == upper else worth * value_limit(cls)
    if lower > 0 or upper < 0:
        return float(WIN - FAR if lower > 0 else FAR - WIN)
    if lower == upper:
        return 0.0
    odds = (1 + worth) / (1 - worth) if abs(worth) < 1 else math.copysign(math.inf, worth)
    unit = game_constant(cls, "UNIT", ESTIMATE_UNIT)
    score = unit * (math.log(odds) if 0 < odds < math.inf else math.copysign(math.inf, worth))
    return max(-float(MOST_ESTIMATE), min(score, float(MOST_ESTIMATE)))


def final_value(cls: Any, value: float) -> float:
    """Return the value of a finished game as a score."""
    return float(final_score(value, 0, WIN if is_decisive(cls) else 0, 1))


@dataclass(frozen=True, slots=True)
class RootMove:
    """A move of the root: what playouts that began with it have shown, for the mover."""

    move: int
    visits: int
    worth: float | None
    """The mean of its playouts, from -1 to 1 (see ``cutnode.kernels.playouts``); None without."""
    value: float | None
    """The same as a score."""
    lower: int
    upper: int
    """What is proven of its value."""
    prior: float

    @property
    def proven(self) -> bool:
        """Whether its value is known."""
        return self.lower == self.upper


@dataclass(frozen=True, slots=True)
class TreeStatistics:
    """Counts of a Monte Carlo tree search."""

    playouts: int
    nodes: int
    """Positions visited, in the tree and beyond."""
    tree_size: int
    """Nodes of the tree, those of earlier searches included."""
    settled: int
    """Those of them whose value, or who wins, is proven."""
    kept: int
    """Nodes that the search has taken over from the one before."""
    expansions: int
    rollouts: int
    rollout_plies: int
    cut_off: int
    """Rollouts that an estimate has ended."""
    deepest: int
    """Plies of the longest line in the tree."""
    copies: int
    """Times that the tree was full, and its least visited parts were given up."""
    seconds: float
    fill: float
    """The part of the memory that is in use."""

    @property
    def playouts_per_second(self) -> float:
        """The rate; 0 if no time was measured."""
        return self.playouts / self.seconds if self.seconds > 0 else 0.0

    @property
    def settled_share(self) -> float:
        """The share of the nodes of the tree that are proven."""
        return self.settled / self.tree_size if self.tree_size else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        derived = ("playouts_per_second", "settled_share")
        return asdict(self) | {name: getattr(self, name) for name in derived}


@dataclass(frozen=True, slots=True)
class MonteCarloResult(PositionResult):
    """The result of a Monte Carlo tree search.

    *value* is a score for the mover on the scale of other searches of the game: a value, or in a
    ``DECISIVE`` game an estimate of which the *win_rate* is the logistic function.  *lower* and
    *upper* are what is proven of the value; it is *proven* if they are equal, or if a ``DECISIVE``
    game is won or lost.  *reason* is why the search ended: proven, playout limit, node
    limit, time limit, stopped, or interrupted.
    """

    position: Any
    value: float
    worth: float
    """The mean of playouts, from -1 to 1 (see ``cutnode.kernels.playouts``), of the best move."""
    lower: int
    upper: int
    proven: bool
    decisive: bool
    lines: tuple[Line, ...]
    """The best moves, as many as were asked for; none if the game is over or chance decides."""
    moves: tuple[RootMove, ...]
    """The moves of the root, the best first."""
    iterations: tuple[Iteration, ...]
    statistics: TreeStatistics
    seconds: float
    reason: str
    why: str = ""
    """Why this engine, where ``engine="auto"`` chose it."""

    exact = False

    @property
    def best_move(self) -> int | None:  # type: ignore[override]
        """The first move of the best line; None if there is none."""
        return self.lines[0].move if self.lines else None

    @property
    def pv(self) -> tuple[int, ...]:  # type: ignore[override]
        """The line that was played most, up to the first event of chance."""
        return self.lines[0].pv if self.lines else ()

    @property
    def depth(self) -> int:
        """The plies of that line."""
        return len(self.pv)

    @property
    def playouts(self) -> int:
        """The random games that were played."""
        return self.statistics.playouts

    @property
    def playouts_per_second(self) -> float:
        """The rate of playouts; 0 if no time was measured."""
        return self.statistics.playouts_per_second

    @property
    def nodes(self) -> int:  # type: ignore[override]
        """The positions visited, in the tree and in playouts."""
        return self.statistics.nodes

    @property
    def win_rate(self) -> float | None:
        """The expected points of the mover, a draw half a point; None if values are no wins."""
        return (1 + self.worth) / 2 if self.decisive else None

    def rate_of(self, move: RootMove) -> float | None:
        """Return the expected points of a root move; None without any, or if values are no wins."""
        return (1 + move.worth) / 2 if self.decisive and move.worth is not None else None

    def meaning(self) -> str:
        """Return the score in words."""
        if ending := self.ending():
            return ending
        if not self.proven:
            what = "mean value" if self.win_rate is None else f"{self.win_rate:.1%} of the points,"
            return f"{what} estimated by {self.playouts:,} playouts"
        distance = win_distance(self.value)
        if not self.decisive:
            return "proven"
        if distance is None:
            return "a draw"
        winner = "the player to move" if self.value > 0 else "the other player"
        return f"{winner} wins"

    def value_text(self) -> str:
        """Return the value in a word: the expected points, win, draw or loss, or mean points."""
        if not self.decisive:
            return score_text(self.value)
        if not self.proven:
            return f"{self.win_rate:.1%}"
        return "win" if self.value > 0 else "loss" if self.value < 0 else "draw"

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, with positions and moves in the game's own notation."""
        best = None if self.best_move is None else move_text(self.position, self.best_move)
        return self._about() | {
            "value": self.value,
            "win_rate": self.win_rate,
            "lower": self.lower,
            "upper": self.upper,
            "proven": self.proven,
            "exact": self.exact,
            "best_move": best,
            "lines": [
                {"move": texts[0], "value": line.value, "pv": texts}
                for line in self.lines
                for texts in [line_text(self.position, line.pv)]
            ],
            "moves": [
                asdict(each)
                | {"move": move_text(self.position, each.move), "win_rate": self.rate_of(each)}
                for each in self.moves
            ],
            "depth": self.depth,
            "statistics": self.statistics.to_dict(),
            "playouts": self.playouts,
            "nodes": self.nodes,
            "seconds": self.seconds,
            "reason": self.reason,
            "why": self.why,
        }

    def __str__(self) -> str:
        first = f"{self.value_text()}  ({self.meaning()})"
        if self.decisive:
            known = "proven" if self.proven else f"score {score_text(self.value)}"
            first = f"{self.meaning()}  ({known})"
        lines = [f"value  {first}"]
        for line in self.lines:
            label = "best   " if line is self.lines[0] else "then   "
            lines.append(f"{label}{' '.join(line_text(self.position, line.pv))}")
        if self.moves:
            shown = [
                f"{move_text(self.position, each.move)}: {each.visits:,}"
                for each in self.moves[:SHOWN_MOVES]
            ]
            more = [f"and {len(self.moves) - SHOWN_MOVES} more"] * (len(self.moves) > SHOWN_MOVES)
            lines.append(f"visits {', '.join([*shown, *more])}")
        counts = self.statistics
        lines.append(
            f"tree   {counts.tree_size:,} nodes, {counts.settled_share:.1%} proven  ({self.reason})"
        )
        rate = f"{self.playouts_per_second:,.0f} per second"
        lines.append(f"played {self.playouts:,} playouts in {self.seconds:.3g} s ({rate})")
        if self.why:
            lines.append(f"engine {self.why}")
        return "\n".join(lines)
