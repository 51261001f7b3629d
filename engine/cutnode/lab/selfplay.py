"""Games of the engine against itself at several strengths, for reports on a game's rules.

A strength is a number of nodes, or of playouts where a game has no evaluation; 0 stands for random
moves.  All games begin at the start.  They differ because playouts are random, and because the
nodes of each move are drawn from :data:`FACTORS` of the strength.  Two games make a pair, in which
the players change sides; both have the same dice.
"""

from __future__ import annotations

import functools
import itertools
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np

from cutnode.batches.searching import BatchSearcher
from cutnode.contract.derived import legal_moves
from cutnode.contract.dispatch import defines
from cutnode.contract.loading import Game
from cutnode.contract.notation import contents_of
from cutnode.kernels.scores import MOST_ESTIMATE, is_decisive
from cutnode.search.monte_carlo import MonteCarlo
from cutnode.search.record import Record
from cutnode.storage.evaluations import installed_weights

FACTORS = tuple(2 ** (quarter / 4) for quarter in range(-2, 3))
"""The factors of a strength that are the nodes of a move."""

FIRST_NODES, FIRST_PLAYOUTS = 16, 8
"""The nodes, or the playouts, of the weakest player that searches."""

MOST_DOUBLINGS, USUAL_DOUBLINGS = 8, 4
"""The doublings of nodes that are tried at most, and without a limit of time."""

WANTED_PAIRS, LEAST_PAIRS = 12, 2
"""The pairs for which there has to be time before nodes are doubled once more, and the pairs that
are played in any case."""

AT_ONCE = 32
"""The most pairs that are played at the same time."""

TREE_BYTES = 16 << 20
"""The memory for a tree of playouts."""

LEADS, WINNING = 0.6, 0.75
"""The chances of winning from which on a player leads, and from which on a game is decided unless
they fall below again."""


@dataclass(slots=True)
class Played:
    """A game, with the chances of its first player."""

    strengths: tuple[int, int]
    """The strengths of the players of the match, and not by who moved first."""
    pair: int
    plies: int
    choices: list[int]
    """The number of legal moves at each decision."""
    result: float
    """The points of the player who moves first in the game's first position."""
    points: float
    """The points of the first of the two *strengths*."""
    ending: str
    scores: list[float]
    """The score that the player to move sees, from the first player's side."""
    course: list[float] = field(default_factory=list)
    """The first player's chances of winning at each move, by :func:`add_chances`."""

    @property
    def changes(self) -> int | None:
        """The changes of the lead; None if nobody computed scores."""
        if not self.course:
            return None
        leads = [chance > 0.5 for chance in self.course if abs(chance - 0.5) >= LEADS - 0.5]
        return sum(a != b for a, b in itertools.pairwise(leads))

    @property
    def decided(self) -> float | None:
        """The part of the game after which the winner stays ahead; None for draws."""
        if not self.course or self.result == 0.5:
            return None
        of_winner = self.course if self.result > 0.5 else [1 - each for each in self.course]
        open_until = max((at + 1 for at, c in enumerate(of_winner) if c < WINNING), default=0)
        return open_until / len(of_winner)

    @property
    def comeback(self) -> bool:
        """Whether the winner once was as good as lost."""
        sides = {1.0: min, 0.0: max}
        if not self.course or self.result not in sides:
            return False
        worst = sides[self.result](self.course)
        return (worst if self.result == 1.0 else 1 - worst) <= 1 - WINNING


@dataclass(slots=True)
class Use:
    """The moves and the cells of the board that games between the strongest players used."""

    legal: dict[int, str] = field(default_factory=dict)
    """The text of each legal move, where it first occurred."""
    played: set[int] = field(default_factory=set)
    changed: set[int] = field(default_factory=set)
    """The cells whose content changed."""
    placed: set[int] = field(default_factory=set)
    """The contents that came to a cell where they were not before."""
    cells: int = 0

    def add(self, record: Record) -> None:
        """Add a game."""
        text = Game.of(record.position).move_text
        before = contents_of(record.positions[0])
        self.cells = len(before)
        for at, step in enumerate(record.steps):
            position = record.positions[at]
            moves = legal_moves(position)
            for move in moves:
                if move not in self.legal:
                    self.legal[move] = text(position, move)
            if moves:
                self.played.add(step)
            after = contents_of(record.positions[at + 1])
            for cell, (old, new) in enumerate(zip(before, after, strict=True)):
                if old != new:
                    self.changed.add(cell)
                    self.placed.add(new)
            before = after


@dataclass(slots=True)
class _Going:
    """A game that is being played; the player number *first* of the match moves first."""

    match: tuple[int, int]
    pair: int
    first: int
    record: Record
    seed: int
    choices: list[int] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    moved: int = 0
    """The move that has been chosen."""

    @property
    def strength(self) -> int:
        """The strength of the player to move."""
        return self.match[self.first ^ self.record.side]

    def ended(self) -> Played:
        """Return the facts of the finished game."""
        result = self.record.score(0)
        return Played(
            self.match,
            self.pair,
            len(self.record.steps),
            self.choices,
            result,
            1 - result if self.first else result,
            self.record.ending(),
            self.scores,
        )


class Ladder:
    """Matches between neighbours in strength: random moves, then more and more nodes."""

    def __init__(self, game: Game, seed: int):
        self.game, self.seed = game, seed
        self.cls: Any = type(game.start())
        self.decisive = is_decisive(self.cls)
        self.evaluates = defines(self.cls, "evaluate") or installed_weights(self.cls) is not None
        self.unit = "nodes" if self.evaluates else "playouts"
        self.games: list[Played] = []
        self.use = Use()
        self.strengths = [0, FIRST_NODES if self.evaluates else FIRST_PLAYOUTS]
        self.extra: list[tuple[int, int]] = []
        """Matches in addition to the ones between neighbours."""

    def play(self, deadline: float | None, pairs: int | None) -> Iterator[str]:
        """Play pairs of each match alternately; yield the name of each match before it is played.

        Nodes are doubled as long as there is time for games until *deadline*, on the clock
        :func:`time.monotonic`; without one, *pairs* of each match are played.
        """
        seconds: dict[tuple[int, int], float] = {}
        done, size = 0, LEAST_PAIRS
        while pairs is None or done < pairs:
            at = 0
            size = size if pairs is None else min(AT_ONCE, pairs - done)
            while at < len(matches := self.matches()):
                match = matches[at]
                began = time.monotonic()
                expected = seconds.get(match, 0.0) * size
                if deadline is not None and done and began + expected > deadline:
                    return
                yield f"{self.name_of(match)}, {size} pairs"
                self._play_pairs(match, range(done, done + size))
                seconds[match] = (time.monotonic() - began) / size
                at += 1
                if not done and at == len(matches) and self._may_double(seconds, deadline):
                    self.strengths.append(2 * self.strengths[-1])
            if not done and defines(self.cls, "chance") and len(self.strengths) > 3:
                self.extra.append((self.strengths[1], self.strengths[-1]))
            done += size
            if deadline is not None:
                rounds = (deadline - time.monotonic()) / max(sum(seconds.values()), 1e-9)
                size = int(min(max(rounds / 3, 1), AT_ONCE))

    def matches(self) -> list[tuple[int, int]]:
        """Return the matches, by the strengths of their players, the weaker one first."""
        return [(0, 0), *itertools.pairwise(self.strengths), *self.extra]

    def of(self, match: tuple[int, int]) -> list[Played]:
        """Return the games of a match."""
        return [game for game in self.games if game.strengths == match]

    @property
    def strongest(self) -> tuple[int, int]:
        """The match between the strongest players that has games."""
        return max((game.strengths for game in self.games), default=(0, 0))

    def name_of(self, match: tuple[int, int]) -> str:
        """Return the name of a match."""
        if match == (0, 0):
            return "random moves"
        weaker = f"{match[0]:,}" if match[0] else "random"
        return f"{weaker} and {match[1]:,} {self.unit}"

    def _may_double(self, seconds: dict[tuple[int, int], float], deadline: float | None) -> bool:
        """Return whether there is time for pairs of players with twice the nodes."""
        doublings = len(self.strengths) - 2
        if deadline is None:
            return doublings < USUAL_DOUBLINGS
        each = 2 * list(seconds.values())[-1] + sum(seconds.values())
        left = deadline - time.monotonic()
        return doublings < 1 or (doublings < MOST_DOUBLINGS and each * WANTED_PAIRS < left)

    def compile(self) -> None:
        """Search once, so that nothing is compiled during the games."""
        record = Record(self.game.start())
        while record.is_chance():
            record.draw()
        if not record.ending():
            self._choose(self.strengths[1], [_Going((0, 0), 0, 0, record, self.seed)])

    # Play

    @functools.cached_property
    def _searcher(self) -> BatchSearcher:
        return BatchSearcher(self.cls, table=1)

    @functools.cached_property
    def _trees(self) -> MonteCarlo:
        return MonteCarlo(self.cls, memory=TREE_BYTES)

    def _choose(self, strength: int, games: Sequence[_Going]) -> list[tuple[int, float | None]]:
        """Return the move of a strength in each game, and the score that it sees, if any."""
        drawn = [Random(f"{each.seed} {len(each.record.steps)}") for each in games]
        positions = [each.record.position for each in games]
        if not strength:
            return [
                (random.choice(legal_moves(position)), None)
                for random, position in zip(drawn, positions, strict=True)
            ]
        if self.evaluates:
            limits = [round(strength * random.choice(FACTORS)) for random in drawn]
            return self._searched(positions, limits)
        chosen: list[tuple[int, float | None]] = []
        for position, random in zip(positions, drawn, strict=True):
            self._trees.clear()
            seed = random.getrandbits(32)
            result = self._trees.search(position, playouts=strength, seed=seed)
            if result.reason == "interrupted":
                raise KeyboardInterrupt
            chosen.append((result.lines[0].move, result.value))
        return chosen

    def _searched(
        self, positions: Sequence[Any], limits: Sequence[int]
    ) -> list[tuple[int, float | None]]:
        """Search positions, each with its limit of nodes."""
        found: dict[int, tuple[int, float | None]] = {}
        for nodes in set(limits):
            numbers = [number for number, limit in enumerate(limits) if limit == nodes]
            its = [positions[number] for number in numbers]
            rows = self._searcher.search(its, nodes=nodes, cold=True)
            for number, row in zip(numbers, rows, strict=True):
                found[number] = int(row["move"]), float(row["value"])
        return [found[number] for number in range(len(positions))]

    def _play_pairs(self, match: tuple[int, int], numbers: range) -> None:
        """Play pairs of games at the same time, a move of each after the other."""
        going: list[_Going] = []
        for number in numbers:
            random = Random(f"{self.seed} {match} pair {number}")
            dice = random.getrandbits(32)
            for first in (0, 1):
                record = Record(self.game.start(), seed=dice)
                going.append(_Going(match, number, first, record, random.getrandbits(32)))
        is_last = match[1] == self.strengths[-1]
        waiting = list(going)
        while waiting:
            for each in waiting:
                while each.record.is_chance():
                    each.record.draw()
            waiting = [each for each in waiting if not each.record.ending()]
            for strength in set(match):
                movers = [each for each in waiting if each.strength == strength]
                for each, (move, score) in zip(movers, self._choose(strength, movers), strict=True):
                    allowed = each.record.legal_moves()
                    if move not in allowed:  # an illegal repetition, which these searches allow
                        move, score = Random(f"{each.seed} {len(allowed)}").choice(allowed), None
                    each.choices.append(len(allowed))
                    if score is not None:
                        each.scores.append(-score if each.record.side else score)
                    each.moved = move
            for each in waiting:
                each.record.play(each.moved)
        for each in going:
            self.games.append(each.ended())
            if is_last and match not in self.extra:
                self.use.add(each.record)


def add_chances(games: Sequence[Played], decisive: bool) -> None:
    """Add the course of each game: chances of winning by the scores of its moves.

    The chance is the logistic function of a score / a scale, the one that fits the results of these
    games best (least cross entropy); a proven win is certain.
    """
    known = [game for game in games if game.scores]
    scores = np.array([score for game in known for score in game.scores])
    if not len(scores):
        return
    results = np.array([game.result for game in known for _ in game.scores])
    proven = np.abs(scores) > MOST_ESTIMATE if decisive else np.zeros(len(scores), bool)
    open_scores, open_results = scores[~proven], results[~proven]
    most = float(np.abs(open_scores).max(initial=1e-6))
    scales = [most * 2 ** (-at / 2) for at in range(-6, 24)]

    def loss(scale: float) -> float:
        chances = np.clip(_logistic(open_scores / scale), 1e-6, 1 - 1e-6)
        logs = open_results * np.log(chances) + (1 - open_results) * np.log(1 - chances)
        return float(-logs.sum())

    scale = min(scales, key=loss)
    for game in known:
        game.course = chances_of(np.array(game.scores), scale, decisive)


def chances_of(scores: Any, scale: float, decisive: bool = True) -> list[float]:
    """Return chances of winning by scores: logistic, and certain for proven wins and losses."""
    chances = _logistic(scores / scale)
    if decisive:
        chances = np.where(np.abs(scores) > MOST_ESTIMATE, scores > 0, chances)
    found: list[float] = chances.tolist()
    return found


def _logistic(x: Any) -> Any:
    return 1 / (1 + np.exp(-np.clip(x, -30, 30)))
