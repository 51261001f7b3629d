"""A summary of random games, to show mistakes that no program can detect.

Only a person knows whether the right player wins and whether games last as long as they should.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from cutnode.conformance.sample import Line, Sample
from cutnode.contract.derived import legal_moves
from cutnode.contract.dispatch import defines
from cutnode.contract.guarding import attributes_of
from cutnode.contract.notation import board_of
from cutnode.contract.verbs import chance, outcome
from cutnode.search.record import is_over

OPENING = 2
"""Moves of the opening to draw."""

PLAYERS = ("first", "second")

COMPARED = ("key", "canonical", "bounds", "settled", "part_key")
"""Verbs whose number of comparisons is reported."""


@dataclass(frozen=True)
class Summary:
    """Statistics of random games, for a person to judge."""

    games: int
    shortest: int
    longest: int
    mean_plies: float
    mean_moves: float
    """The mean number of legal moves in a position."""
    most_moves: int
    """The most legal moves in any position."""
    wins: tuple[int, int]
    """Games won by the first player and by the second."""
    draws: int
    unfinished: int
    """Games that neither ``outcome`` nor ``drawn`` ended."""
    won_by_last_move: int
    """Games won by the player who made the last move."""
    moves: tuple[int, int]
    """Moves made by the first player and by the second."""
    constant_fields: tuple[str, ...]
    """Fields that never changed."""
    compared: dict[str, int]
    """How often the answers of a verb were compared with others, or with values."""
    opening: str
    """A drawing of the first positions of a game."""

    @classmethod
    def of(cls, sample: Sample) -> Summary:
        """Return the summary of a sample of at least one game."""
        lines = sample.lines
        plies = [len(line.moves) for line in lines]
        ends = [_winner(line) for line in lines]
        movers = [side for line in lines for side in _movers(line)]
        met = [p for line in lines for p in line.positions if not outcome(p)[0] and not chance(p)]
        counts = [len(legal_moves(position)) for position in met] or [0]
        kind = type(lines[0].positions[0])
        return cls(
            games=len(lines),
            shortest=min(plies),
            longest=max(plies),
            mean_plies=statistics.fmean(plies),
            mean_moves=statistics.fmean(counts),
            most_moves=max(counts),
            wins=(ends.count(0), ends.count(1)),
            draws=ends.count(-1),
            unfinished=ends.count(None),
            won_by_last_move=sum(
                winner in (0, 1) and [winner] == _movers(line)[-1:]
                for line, winner in zip(lines, ends, strict=True)
            ),
            moves=(movers.count(0), movers.count(1)),
            constant_fields=tuple(_constant_fields(lines)),
            compared={
                verb: sample.compared[verb]
                for verb in COMPARED
                if verb == "key" or defines(kind, verb)
            },
            opening=drawn_opening(sample),
        )

    def __str__(self) -> str:
        return "\n".join(f"{name:9} {text}" for name, text in self._rows())

    def _rows(self) -> Iterator[tuple[str, str]]:
        plies = f"{self.shortest} to {self.longest} plies, {self.mean_plies:.1f} on average"
        yield "games", f"{self.games} at random, of {plies}"
        first, second = self.moves
        by = f"the first player made {first:,}, the second {second:,}"
        yield "moves", f"{self.mean_moves:.1f} on average, at most {self.most_moves}; {by}"
        unfinished = f", {self.unfinished} without an end" if self.unfinished else ""
        yield "wins", f"first {self.wins[0]}, second {self.wins[1]}, draws {self.draws}{unfinished}"
        if decided := sum(self.wins):
            yield "last move", f"its player won {self.won_by_last_move} of {decided} decided games"
        if self.constant_fields:
            yield "fields", f"never changed: {', '.join(self.constant_fields)}"
        compared = (f"{verb} {count:,} times" for verb, count in self.compared.items())
        yield "compared", ", ".join(compared)
        first_line, *others = self.opening.splitlines()
        yield "opening", first_line
        for line in others:
            yield "", line


def _winner(line: Line) -> int | None:
    """Return the player who won, -1 for a draw, or None if the game has no end."""
    end, side = line.positions[-1], line.sides[-1]
    if not is_over(end):
        return None
    _, value = outcome(end)
    return -1 if value == 0 else side if value > 0 else 1 - side


def _movers(line: Line) -> list[int]:
    """Return the player of each move."""
    pairs = zip(line.sides, line.moves, strict=False)
    return [side for side, move in pairs if move is not None]


def _constant_fields(lines: list[Line]) -> list[str]:
    """Return the fields that are the same in all positions."""
    met = [position for line in lines for position in line.positions]
    return [
        name
        for name in getattr(met[0], "_fields", attributes_of(met[0]))
        if all(_same(getattr(position, name), getattr(met[0], name)) for position in met)
    ]


def _same(value: Any, other: Any) -> bool:
    return bool(np.all(value == other))


def drawn_opening(sample: Sample) -> str:
    """Return a drawing of the first positions of a random game, with their texts."""
    line = max(sample.lines, key=lambda line: len(line.moves))
    notation = sample.game.notation
    parts = []
    for number, position in enumerate(line.positions[: OPENING + 1]):
        where = "start"
        if number > 0:
            move, mover = line.moves[number - 1], PLAYERS[line.sides[number - 1]]
            made = "chance" if move is None else f"move {_move_text(sample, line, number - 1)}"
            where = f"after {made} of the {mover} player" if move is not None else "after chance"
        parts.append(f"{where}: {sample.text(position)}")
        board = board_of(type(position))
        if board is not None:
            parts.append(notation.draw(position))
    return "\n".join(parts)


def _move_text(sample: Sample, line: Line, number: int) -> str:
    move = line.moves[number]
    assert move is not None
    try:
        return sample.game.notation.move_text(line.positions[number], move)
    except Exception:  # reported elsewhere
        return str(move)
