"""Games written for easyAI: ``easyai:my_file.py:MyGame``, ``easyai:easyAI.games:TicTacToe``.

The file or module is followed by the name of a ``TwoPlayerGame``, or of any function that makes one
from a list of two players.  A move's number is its index in ``possible_moves()``.  At the end of a
game, the first of ``lose()``, ``win()`` and the sign of ``scoring()`` to decide says who has won;
before the end, ``scoring()`` is the evaluation.  A game may lack any of the three.

Two positions are equal if all attributes of the game and of its players are equal.  A class may
declare constants of the contract, such as ``MAX_MOVES`` or ``MAX_PLIES``, and ``REPEATS = True`` if
positions can repeat, which is then a draw.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import pickle
import sys
from collections.abc import Callable, Hashable
from pathlib import Path
from types import FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from cutnode.adapters.states import Rules, adapted_game
from cutnode.contract.errors import GameError
from cutnode.contract.extras import extra
from cutnode.contract.files import module_of_file
from cutnode.contract.text import nearest, quoted
from cutnode.kernels.scores import MOST_ESTIMATE

PREFIX = "easyai:"

EXAMPLE = f"{PREFIX}my_file.py:MyGame"

CONSTANTS = ("MAX_MOVES", "MAX_PLIES", "REPETITION", "REPETITIONS", "PROFILE", "UNIT")
"""The constants that a class may declare."""

LEAVES = (bool, int, float, complex, str, bytes, type(None), type, FunctionType, MethodType)
"""The types whose values never change."""


def adapted(name: str) -> ModuleType:
    """Return the game for an easyAI class; :class:`GameError` if the class makes none."""
    extra("easyAI", "easyai", "games for easyAI need")
    source, _, called = name.rpartition(":")
    if not source or not called:
        raise GameError(f"an easyAI game needs a file or module, and a name, as in {EXAMPLE}")
    make = _named(source, called)
    module = sys.modules.get(f"{PREFIX}{name}")
    if module is None or module.Position.RULES.make is not make:
        module = adapted_game(EasyAIRules(f"{PREFIX}{name}", make))
    return module


def _named(source: str, called: str) -> Any:
    """Return the object with a name in a module or a file."""
    if source.endswith(".py"):
        module = module_of_file(Path(source))
    else:
        try:
            module = importlib.import_module(source)
        except Exception as error:
            raise GameError(f"cannot load {source!r}: {type(error).__name__}: {error}") from None
    make = getattr(module, called, None)
    if not callable(make):
        names = [name for name, value in vars(module).items() if _is_game(value)]
        some = nearest(called, names, f"it has {', '.join(names) or 'none'}")
        raise GameError(f"{source} has no game {quoted(called)}{some}")
    return make


def _is_game(value: Any) -> bool:
    return isinstance(value, type) and issubclass(value, sys.modules["easyAI"].TwoPlayerGame)


class EasyAIRules(Rules):
    """The rules of an easyAI game."""

    players = ("player 1", "player 2")

    def __init__(self, name: str, make: Any):
        self.name = name
        self.make = make
        game = self._made()
        cls = type(game)
        self.copies = _copies(game)
        self.about = next(iter((cls.__doc__ or "").strip().splitlines()), f"{cls.__name__}.")
        self.can_repeat = bool(getattr(cls, "REPEATS", False))
        self.has_estimates = callable(getattr(game, "scoring", None))
        declared = {name: getattr(cls, name) for name in CONSTANTS if hasattr(cls, name)}
        self.constants = {"VALUE_LIMIT": 1, "DECISIVE": True, **declared}

    def start(self) -> Any:
        return _State(self._made(), self.copies)

    def _made(self) -> Any:
        human = sys.modules["easyAI"].Human_Player
        try:
            game = self.make([human(), human()])
        except Exception as error:
            raise GameError(
                f"{self.name} cannot make a game for two players: {type(error).__name__}: {error}"
            ) from error
        needed = ("possible_moves", "make_move", "is_over")
        lacks = [name for name in needed if not hasattr(game, name)]
        if getattr(game, "current_player", None) not in (1, 2):
            lacks.append("current_player, 1 or 2")
        if lacks:
            raise GameError(f"{self.name} does not make an easyAI game: it has no {lacks[0]}")
        return game

    def after(self, state: _State, step: int) -> _State:
        game = state.copy()
        game.make_move(state.moves[step])
        game.switch_player()
        return _State(game, self.copies)

    def moves(self, state: _State) -> list[int]:
        return list(range(len(state.moves)))

    def mover(self, state: _State) -> int | None:
        return int(state.game.current_player) - 1

    def value(self, state: _State, player: int) -> float | None:
        return state.value

    def estimate(self, state: _State) -> int:
        score: float = state.game.scoring()
        return max(-MOST_ESTIMATE, min(round(score), MOST_ESTIMATE))

    def identity(self, state: _State, steps: tuple[int, ...]) -> Hashable:
        return _frozen(state.copy())

    def text(self, state: _State, step: int) -> str:
        return str(state.moves[step])

    def board(self, state: _State) -> str:
        shown = io.StringIO()
        with contextlib.redirect_stdout(shown):
            state.game.show()
        return shown.getvalue()


Copies = tuple[Callable[[Any], Any], Callable[[Any], Any]]
"""Two functions: one saves a game, and the other restores a game from what was saved."""


class _State:
    """A game as it is after a move, with its verdict and its moves.

    ``is_over()`` and ``scoring()`` may change a game.  So the copy from which the next moves are
    made is saved before either is called.
    """

    __slots__ = ("_kept", "_restore", "game", "moves", "value")

    def __init__(self, game: Any, copies: Copies):
        keep, self._restore = copies
        self._kept = keep(game)
        self.game = game
        self.value: int | None = _verdict(game) if game.is_over() else None
        self.moves: list[Any] = [] if self.value is not None else list(game.possible_moves())

    def copy(self) -> Any:
        """Return the game as it was after the move."""
        return self._restore(self._kept)


def _verdict(game: Any) -> int:
    """Return the value of a finished game for the player to move: 1, 0 or -1."""
    for name, value in (("lose", -1), ("win", 1)):
        if hasattr(game, name) and getattr(game, name)():
            return value
    score = game.scoring() if hasattr(game, "scoring") else 0
    return int(score > 0) - int(score < 0)


def _copies(game: Any) -> Copies:
    """Return how to copy a game: by ``pickle`` if possible, as that takes a fifth of the time."""
    cls: Any = type(game)
    if cls.copy is sys.modules["easyAI"].TwoPlayerGame.copy and not hasattr(cls, "__deepcopy__"):
        with contextlib.suppress(Exception):
            pickle.loads(pickle.dumps(game))
            return pickle.dumps, pickle.loads
    return _copy, _copy


def _copy(game: Any) -> Any:
    return game.copy()


def _frozen(value: Any, within: tuple[int, ...] = ()) -> Hashable:
    """Return a key that is equal only for values that are equal in all their parts.

    *within* has the ids of the objects that contain the value.
    """
    cls = type(value)
    if cls is int or cls is str:
        return value  # type: ignore[no-any-return]
    if isinstance(value, LEAVES):
        return cls, value
    if id(value) in within:
        return cls, within.index(id(value))
    within = (*within, id(value))
    if isinstance(value, list | tuple):
        return cls, *[_frozen(part, within) for part in value]
    if isinstance(value, set | frozenset):
        return cls, frozenset(_frozen(part, within) for part in value)
    if isinstance(value, dict):
        parts = (part for item in value.items() for part in item)
        return cls, *[_frozen(part, within) for part in parts]
    if isinstance(value, np.ndarray):
        if value.dtype.hasobject:
            return cls, value.shape, _frozen(value.tolist(), within)
        return cls, value.shape, value.dtype.str, value.tobytes()
    if isinstance(value, np.generic):
        return cls, value.item()
    if hasattr(value, "__dict__"):
        return cls, _frozen(vars(value), within)
    return cls, value
