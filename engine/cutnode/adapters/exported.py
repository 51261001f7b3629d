"""A game as other libraries expect it: two players, bounded actions, arrays to observe."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt

from cutnode.contract.bits import Bits
from cutnode.contract.cells import Grid
from cutnode.contract.derived import legal_moves
from cutnode.contract.dispatch import defines, game_constant, game_name, value_limit
from cutnode.contract.errors import CutnodeError, GameError, require_integer
from cutnode.contract.loading import Game
from cutnode.contract.notation import board_of, contents_of
from cutnode.contract.positions import coerce, field_kinds
from cutnode.contract.verbs import NO_MOVE, chance
from cutnode.kernels.scores import is_decisive
from cutnode.search.board import given_position
from cutnode.search.record import Record

SAMPLE = 2000
"""The positions of random games from which the largest move is estimated."""

FEW_ACTIONS = 256
"""The number of actions above which the estimate is rounded up to a power of two, as the sample may
miss the largest move."""

WORD_BITS = 64

Observation = npt.NDArray[np.float32]


class Playing(Record):
    """A game in progress that another library plays."""

    def __deepcopy__(self, memo: Any) -> Playing:
        """Return an independent copy, which shares the immutable positions."""
        copy = Playing(self.positions[0], seed=self.seed, plies=self.plies)
        for name in ("positions", "steps", "sides", "_runs", "_words"):
            setattr(copy, name, list(getattr(self, name)))
        return copy


class Exported:
    """A game from a given position, for other libraries.

    The players are 0, who moves first, and 1.  Their actions are the numbers of moves, all below
    *actions*; by default that bound is estimated from random games.
    """

    def __init__(self, game: Game | str | Any, actions: int | None = None):
        self.from_start = isinstance(game, str | Game)
        self.start = coerce(given_position(game))
        self.cls: Any = type(self.start)
        self.name = game_name(self.cls)
        self.has_chance = defines(self.cls, "chance")
        self.longest = game_constant(self.cls, "MAX_PLIES", 512)
        self.most = 1.0 if is_decisive(self.cls) else value_limit(self.cls)
        """The largest absolute value of a payoff."""
        if actions is None:
            self.actions = _actions(self.start)
        else:
            self.actions = require_integer(actions, "actions")
            if not 0 < self.actions <= NO_MOVE:
                raise CutnodeError(f"actions must be 1..{NO_MOVE}, got {actions}")

    def play(self, seed: int = 0) -> Playing:
        """Return a new game whose dice are seeded with *seed*."""
        return Playing(self.start, seed=seed)

    def legal(self, playing: Playing) -> list[int]:
        """Return the legal actions in ascending order; none at the end or at a chance node."""
        actions = sorted(playing.legal_moves())
        if actions and actions[-1] >= self.actions:
            raise CutnodeError(
                f"{self.name} has move {actions[-1]}, not below actions={self.actions}: "
                f"set a larger number of actions"
            )
        return actions

    def payment(self, playing: Playing, player: int) -> float:
        """Return a player's payoff at the end: 1, 0 or -1 in a decisive game, else the value."""
        value = playing.value() if playing.ending() else 0.0
        if is_decisive(self.cls):
            value = math.copysign(1, value) if value else 0
        return float(value if player == 0 else -value)

    @functools.cached_property
    def most_outcomes(self) -> int:
        """The largest number of chance outcomes in a position of random games."""
        if not self.has_chance:
            return 0
        counts = (int(chance(position)) for position in _random_positions(self.start))
        return max(counts, default=1)

    @property
    def range(self) -> tuple[float, float]:
        """The least and the greatest number in an observation."""
        return (0.0, 1.0) if self.observed == "cells" else (-math.inf, math.inf)

    @functools.cached_property
    def observed(self) -> str:
        """The content of :meth:`observation`: ``cells``, ``fields``, or "" if there is neither."""
        if board_of(self.cls):
            return "cells"
        numbers = (isinstance(value, int | float) for value in _fields(self.start).values())
        return "fields" if _fields(self.start) and all(numbers) else ""

    @functools.cached_property
    def shape(self) -> tuple[int, ...]:
        """The shape of an observation."""
        return self.observation(self.play()).shape

    def observation(self, playing: Playing) -> Observation:
        """Return the observation of a position.

        For a board it is a stack of planes: one for each possible content of a cell, with 1 where a
        cell has it, and a last plane filled with the number of the player to move.  The planes of a
        grid have its height and width; the planes of any other board are rows of all its cells.
        Without a board it is a row of the position's fields (``Bits`` as 64 numbers, lowest bit
        first) and, last, the number of the player to move.
        """
        if self.observed == "cells":
            return _planes(playing)
        if self.observed == "fields":
            return _row(playing)
        raise CutnodeError(
            f"{self.name} has nothing to observe: it has neither CELLS nor numeric fields"
        )


def _planes(playing: Playing) -> Observation:
    """Return a position's cells as planes."""
    board = board_of(type(playing.position))
    assert board is not None
    contents = np.array(contents_of(playing.position))
    planes = np.zeros((len(board.contents) + 1, len(contents)), np.float32)
    planes[contents, np.arange(len(contents))] = 1
    planes[-1] = playing.side
    if isinstance(board, Grid):
        return planes.reshape(-1, board.height, board.width)
    return planes


def _row(playing: Playing) -> Observation:
    """Return a position's fields as a row."""
    parts = [_numbers(*field) for field in zip(*_typed(playing.position), strict=True)]
    return np.array([*(number for part in parts for number in part), playing.side], np.float32)


def _numbers(value: Any, kind: Any) -> list[float]:
    if kind is Bits:
        return [float(int(value) >> bit & 1) for bit in range(WORD_BITS)]
    return [float(value)]


def _typed(position: Any) -> tuple[list[Any], list[Any]]:
    """Return the values of a position's fields, and their types."""
    fields = _fields(position)
    try:
        kinds = list(field_kinds(type(position)))
    except (GameError, AttributeError):  # in plain Python, fields can have any type
        kinds = [type(value) for value in fields.values()]
    return list(fields.values()), kinds


def _fields(position: Any) -> dict[str, Any]:
    if hasattr(position, "_asdict"):
        return dict(position._asdict())
    return dict(getattr(position, "__dict__", {}))


def _random_positions(start: Any) -> Iterator[Any]:
    """Yield the positions of random games."""
    random, met = Random(0), 0
    while met < SAMPLE:
        playing = Playing(start, seed=met)
        while not playing.ending():
            met += 1
            yield playing.position
            if playing.is_chance():
                playing.draw()
            else:
                playing.play(random.choice(playing.legal_moves()))
        if met == 0:
            return


def _actions(start: Any) -> int:
    """Return a bound above all moves seen in random games."""
    moves = (move for position in _random_positions(start) for move in legal_moves(position))
    count = max(moves, default=0) + 1
    return count if count <= FEW_ACTIONS else min(1 << (count - 1).bit_length(), NO_MOVE)
