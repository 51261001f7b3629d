"""Minimax over the verbs in plain Python: the reference for everything else."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cutnode.contract.derived import is_free_move, legal_moves, same_after_chance
from cutnode.contract.repetition import needs_line, value_of_repetition
from cutnode.contract.verbs import (
    chance,
    chance_outcome,
    drawn,
    evaluate,
    moves_again,
    outcome,
    play,
    recurrence,
    reversible,
)
from cutnode.kernels.reference import or_lost, score_by_rule
from cutnode.kernels.scores import final_score, limited

TO_THE_END = 1 << 30
"""A depth that no game reaches."""

AFFORDABLE = 1000
"""The most nodes that plain Python may visit for one value."""


class UnaffordableError(Exception):
    """A value takes more nodes than allowed."""


@dataclass
class Minimax:
    """Minimax over the verbs, the reference for everything else.

    *known* keeps exact values of positions; it must be None in games where a value depends
    on the line of play.
    """

    nodes_left: int = AFFORDABLE
    known: dict[Any, float] | None = None
    win: int = 0
    """The score of a win (see ``cutnode.kernels.scores``); 0 for plain values."""
    step: int = 1
    """Whether quicker wins score higher."""

    def value(
        self,
        position: Any,
        depth: int = TO_THE_END,
        line: tuple[int, ...] = (),
        ply: int = 0,
        actions: int = 0,
    ) -> float:
        """Return the value for the mover; *line* has the recurrences that play could repeat."""
        if self.known is not None and position in self.known:
            return self.known[position]
        self.nodes_left -= 1
        if self.nodes_left < 0:
            raise UnaffordableError
        over, value = outcome(position)
        if over:
            best = float(final_score(value, ply, self.win, self.step))
        elif ply > 0 and drawn(position):
            best = 0.0
        elif depth == 0:
            best = float(limited(evaluate(position), self.win))
        elif chance(position):
            best = sum(
                probability * self._of_event(position, child, depth, ply, actions)
                for probability, child in chance_outcomes(position)
            )
        else:
            moves = legal_moves(position)
            best = max(self.of_move(position, move, depth, line, ply, actions) for move in moves)
            best = float(or_lost(position, best, ply, self))
        if self.known is not None:
            self.known[position] = best
        return best

    def of_move(
        self,
        position: Any,
        move: int,
        depth: int = TO_THE_END,
        line: tuple[int, ...] = (),
        ply: int = 0,
        actions: int = 0,
    ) -> float:
        """Return the value of a move for the player who makes it."""
        child = play(position, move)
        line = (*line, recurrence(position)) if reversible(position, child) else ()
        if not outcome(child)[0] and repeats(child, line):
            self.nodes_left -= 1
            return float(score_by_rule(value_of_repetition(position), ply + 1, self))
        is_free = is_free_move(position, move, child, actions, True)
        deeper, taken = (depth, actions + 1) if is_free else (depth - 1, 0)
        value = self.value(child, deeper, line, ply + 1, taken)
        return value if moves_again(position, child) else -value

    def _of_event(self, position: Any, child: Any, depth: int, ply: int, actions: int) -> float:
        value = self.value(child, depth, (), ply + 1, actions)
        return value if same_after_chance(position, child) else -value


def repeats(position: Any, line: Sequence[int]) -> bool:
    """Return whether a position repeats one of the *line* that leads to it."""
    if not line:
        return False
    word = recurrence(position)
    return word in line and not (needs_line(position) and word == line[-1])


def chance_outcomes(position: Any) -> list[tuple[float, Any]]:
    return [chance_outcome(position, index) for index in range(chance(position))]


def children(position: Any) -> list[Any]:
    if outcome(position)[0]:
        return []
    if chance(position):
        return [child for _, child in chance_outcomes(position)]
    return [play(position, move) for move in legal_moves(position)]


def same_value(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9)
