"""The work of a tuning's processes: which moves settings choose, and who wins their games."""

from __future__ import annotations

import functools
import json
import math
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, pstdev
from typing import Any

from cutnode.contract.derived import legal_moves
from cutnode.contract.dispatch import game_constant
from cutnode.contract.loading import load_game
from cutnode.kernels.scores import MOST_ESTIMATE, is_decisive
from cutnode.playing.elo import expected_score
from cutnode.playing.matches import play_game
from cutnode.playing.players import Choice, EnginePlayer
from cutnode.search.record import Record
from cutnode.search.searcher import Searcher
from cutnode.storage.tables import Table

REFERENCE = 100
"""The nodes of a reference search (of all moves), as a multiple of a judged search's nodes."""

DEEPER = 2
"""The most plies that a reference search goes deeper than a judged one."""

UNIT_ELO = 100.0
"""The worth of a game's ``UNIT``, in Elo."""

DECISIVE_UNITS = 40
"""The lead, in units, at which scores are clipped: a won game."""

WINNING_UNITS = 5
"""The lead, in units, with which a player counts as winning."""

AGREED = 3
"""The number of consecutive scores, of each player, that must agree on the winner of a game."""

TABLE_MB = 16

Point = Mapping[str, float]
"""Parameter values, by the parameters' full names."""


@dataclass(frozen=True, slots=True)
class Task:
    """A task for some positions.

    ``reference`` judges all their moves, ``moves`` lets one setting choose a move, and ``games``
    plays two settings against each other, a pair of games from each position.
    """

    kind: str
    numbers: tuple[int, ...]
    """The numbers of the positions."""
    points: tuple[Point, ...] = ({},)
    """The settings."""
    seed: int = 0
    """The random seed of games."""


Answers = Callable[[Iterable[Task]], Iterable[list[dict[str, Any]]]]
"""A function that answers tasks, each with a sample for each position."""


class Lead:
    """An adjudicator, which ends a game early when both players' scores agree on the winner."""

    def __init__(self, cls: Any):
        unit = float(game_constant(cls, "UNIT", 0))
        # Without a unit only proven scores decide.
        proven = MOST_ESTIMATE + 1 if is_decisive(cls) else math.inf
        self.least = WINNING_UNITS * unit or proven
        self._leaders = deque[int](maxlen=AGREED), deque[int](maxlen=AGREED)

    def __call__(self, record: Record, choice: Choice) -> bool:
        """Take a player's choice into account; return whether the game is decided."""
        value = choice.value or 0.0
        lead = value if record.side == 0 else -value
        self._leaders[record.side].append((lead >= self.least) - (lead <= -self.least))
        return self.winner() != 0

    def winner(self) -> int:
        """Return 1 if side 0 is winning, -1 if side 1 is, 0 if that is unclear."""
        said = [*self._leaders[0], *self._leaders[1]]
        return sum(said) // len(said) if abs(sum(said)) == 2 * AGREED else 0

    def score(self, record: Record) -> float:
        """Return the score of side 0 in a game that was adjudicated or is over."""
        winner = self.winner()
        return 0.5 + 0.5 * winner if winner else record.score(0)


@dataclass(frozen=True, slots=True)
class Judge:
    """Everything a process needs to search positions and to play from them."""

    game: str
    nodes: int
    positions: tuple[str, ...]

    def begin(self) -> Callable[[Task], list[dict[str, Any]]]:
        """Return a function that answers a task with a sample for each position."""
        game = load_game(self.game)
        cls = type(game.start())
        table = Table(TABLE_MB)

        @functools.cache
        def judges() -> tuple[Searcher, Searcher]:
            return Searcher(cls, table=table), Searcher(cls, table=table, exact=True)

        def search(searcher: Searcher, position: Any, nodes: int, **options: Any) -> Any:
            searcher.clear()
            result = searcher.search(position, nodes=nodes, **options)
            if result.reason == "interrupted":
                raise KeyboardInterrupt
            return result

        def refer(position: Any) -> dict[str, Any]:
            usual, exact = judges()
            depth = search(usual, position, self.nodes).depth
            lines, most = len(legal_moves(position)), REFERENCE * self.nodes
            result = search(exact, position, most, depth=depth + DEEPER, lines=lines)
            judged = "exact"
            if result.depth <= depth and not result.proven:
                result = search(usual, position, most, depth=depth + DEEPER, lines=lines)
                judged = "usual"
            scores = {str(line.move): line.value for line in result.lines}
            facts = {"judge": judged, "deeper": result.depth - depth}
            return facts | {"scores": json.dumps(scores)}

        def choose(searcher: Searcher, position: Any) -> dict[str, Any]:
            result = search(searcher, position, self.nodes)
            return {"move": result.move, "depth": result.depth}

        def play(players: Sequence[EnginePlayer], position: Any, seed: int) -> dict[str, Any]:
            """Return the first player's mean score over two games, one on each side.

            Both games have the same seed, so settings that make no difference score 0.5.
            """
            scores = []
            for first in (0, 1):
                lead, order = Lead(cls), (players[first], players[1 - first])
                record = play_game(order, position, seed=seed, until=lead)
                score = lead.score(record)
                scores.append(1 - score if first else score)
            return {"score": fmean(scores)}

        def answer(task: Task) -> list[dict[str, Any]]:
            positions = [game.parse(self.positions[number]) for number in task.numbers]
            if task.kind == "games":
                players = [
                    EnginePlayer(cls, nodes=self.nodes, table=table, parameters=dict(point))
                    for point in task.points
                ]
                return [play(players, position, task.seed) for position in positions]
            if task.kind == "reference":
                return [refer(position) for position in positions]
            [point] = task.points
            searcher = Searcher(cls, table=table, parameters=dict(point))
            return [choose(searcher, position) for position in positions]

        return answer


def map_locally(judge: Judge) -> Answers:
    """Return a function that answers tasks in this process."""
    answer = functools.cache(judge.begin)
    return lambda tasks: (answer()(task) for task in tasks)


def losses_of(cls: Any, references: Sequence[dict[str, Any]]) -> list[dict[int, float]]:
    """Return, for each position, each move's loss compared with the best, in points per game."""
    scores = [
        {int(move): float(value) for move, value in json.loads(reference["scores"]).items()}
        for reference in references
    ]
    unit = float(game_constant(cls, "UNIT", 0)) or spread(scores)
    points = [{move: points_of(value / unit) for move, value in each.items()} for each in scores]
    return [{move: max(each.values()) - value for move, value in each.items()} for each in points]


def points_of(units: float) -> float:
    """Return the expected points per game of a lead in units."""
    return expected_score(UNIT_ELO * min(max(units, -DECISIVE_UNITS), DECISIVE_UNITS))


def spread(scores: Sequence[Mapping[int, float]]) -> float:
    """Return the mean standard deviation of the scores of a position's moves; 1 if it is 0."""
    estimates = [
        [value for value in each.values() if abs(value) <= MOST_ESTIMATE] for each in scores
    ]
    apart = [pstdev(each) for each in estimates if len(each) > 1]
    return (fmean(apart) if apart else 0.0) or 1.0
