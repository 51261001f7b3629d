"""What a search found out: immutable, printable, picklable."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np

from engine.contract import game_function, game_name, module_of

__all__ = ["Batch", "PlainResult", "Result", "TableUse"]


@dataclass(frozen=True, slots=True)
class TableUse:
    """How a search used the transposition table."""

    probes: int
    hits: int
    cutoffs: int
    """Hits that ended the search of a node."""
    stores: int
    overwrites: int
    """Stores for which another position of the same search gave way."""


@dataclass(frozen=True, slots=True)
class Result:
    """What is known of a position.

    *value* is the value for the mover, or None if it was not proven; the truth is always
    within *lower* and *upper*.  Solved weakly, the three are signs: 1 the mover wins, 0
    a draw, -1 he loses.  *nodes*, *seconds* and *table* are those of the proof of the
    value; the line and the scores are found afterwards, with what is in the table.
    """

    position: Any
    value: int | None
    lower: int
    upper: int
    weak: bool
    best_move: int | None
    """A move that keeps the value; if that is not proven, the most promising move."""
    scores: dict[int, int | None] | None
    """The value for the mover of each legal move, if they were asked for."""
    pv: tuple[int, ...]
    """Best play to the end of the game, if the value is proven and the line was asked for."""
    nodes: int
    seconds: float
    table: TableUse
    reason: str
    """Why the search ended: proven, node limit, time limit, stopped, or interrupted."""

    @property
    def proven(self) -> bool:
        return self.value is not None

    @property
    def depth(self) -> int:
        """The plies of the best line."""
        return len(self.pv)

    @property
    def nodes_per_second(self) -> float:
        return self.nodes / self.seconds if self.seconds > 0 else 0.0

    def meaning(self) -> str:
        """The value in words."""
        if self.value is None:
            return f"between {self.lower} and {self.upper} ({self.reason})"
        describe = getattr(module_of(type(self.position)), "describe", None)
        if describe is not None and not self.weak:
            return str(describe(self.position, self.value))
        return ("draw", "the player to move wins", "the player to move loses")[
            (self.value > 0) - (self.value < 0)
        ]

    def line_text(self) -> list[str]:
        """The best line in the game's own notation."""
        play = game_function(type(self.position), "play")
        texts, position = [], self.position
        for move in self.pv:
            texts.append(_move_text(position, move))
            position = play(position, move)
        return texts

    def to_dict(self) -> dict[str, Any]:
        """Plain data, with positions and moves in the game's own notation."""
        best = None if self.best_move is None else _move_text(self.position, self.best_move)
        scores = None
        if self.scores is not None:
            scores = {_move_text(self.position, move): v for move, v in self.scores.items()}
        return {
            "game": game_name(type(self.position)),
            "position": game_function(type(self.position), "position_text")(self.position),
            "value": self.value,
            "proven": self.proven,
            "lower": self.lower,
            "upper": self.upper,
            "weak": self.weak,
            "best_move": best,
            "scores": scores,
            "pv": self.line_text(),
            "depth": self.depth,
            "nodes": self.nodes,
            "seconds": self.seconds,
            "table": {name: getattr(self.table, name) for name in TableUse.__slots__},
            "reason": self.reason,
        }

    def __str__(self) -> str:
        data = self.to_dict()
        lines = [f"value  {'unknown' if self.value is None else self.value}  ({self.meaning()})"]
        if data["scores"]:
            scores = (f"{m}: {'?' if v is None else v}" for m, v in data["scores"].items())
            lines.append(f"scores {', '.join(scores)}")
        if data["best_move"] is not None:
            lines.append(f"best   {data['best_move']}")
        if data["pv"]:
            lines.append(f"line   {' '.join(data['pv'])}")
        rate = f"{self.nodes_per_second:,.0f} per second"
        lines.append(f"nodes  {self.nodes:,} in {self.seconds:.3g} s ({rate})")
        return "\n".join(lines)


def _move_text(position: Any, move: int) -> str:
    return str(game_function(type(position), "move_text")(position, move))


class Batch(Sequence[Result]):
    """The results of many positions: a sequence, and an array for each figure.

    ``values`` (0 where not ``proven``), ``proven``, ``lower``, ``upper``, ``nodes`` and
    ``seconds`` are arrays with one element for each position.
    """

    def __init__(
        self,
        positions: Sequence[Any],
        rows: np.ndarray,
        seconds: np.ndarray,
        build: Callable[[Any, Any, float], Result],
    ):
        self._positions = positions
        self._rows = rows
        self._build = build
        self.proven = rows["lower"] == rows["upper"]
        self.values = np.where(self.proven, rows["lower"], 0)
        self.lower = rows["lower"]
        self.upper = rows["upper"]
        self.nodes = rows["nodes"]
        self.seconds = seconds

    def __len__(self) -> int:
        return len(self._positions)

    @overload
    def __getitem__(self, index: int) -> Result: ...
    @overload
    def __getitem__(self, index: slice) -> list[Result]: ...
    def __getitem__(self, index: int | slice) -> Result | list[Result]:
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(len(self)))]
        return self._build(self._positions[index], self._rows[index], float(self.seconds[index]))

    def __iter__(self) -> Iterator[Result]:
        return map(self.__getitem__, range(len(self)))


@dataclass(frozen=True, slots=True)
class PlainResult:
    """What a plain search found: a value, and the positions that it visited."""

    value: float
    nodes: int
    leaves: int
    seconds: float
