"""A board to play on, and the conversion of arguments to positions.

A call takes the name of a game, a game, a board, or a position.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any, Self

from cutnode.contract.dispatch import defines
from cutnode.contract.errors import CutnodeError, GameError, PositionError, shown
from cutnode.contract.loading import Game, load_game
from cutnode.contract.notebook import position_html
from cutnode.contract.text import quoted
from cutnode.contract.verbs import chance
from cutnode.search.record import Record


class Board:
    """A game in progress: a position with its history, to which moves are pushed.

    *game* is a game's name or the result of :func:`load_game`.  *position* is where to begin: a
    position, or a text in the game's notation; by default, the game's start.  *seed* determines
    the outcomes of chance.

    ::

        board = Board("connect4")
        board.push("4")
        board.push(search(board, depth=8).move)

    A board stands for its position wherever a function takes one.  Searches also take its history
    into account, so that repetitions count as the rules say.
    """

    def __init__(self, game: str | os.PathLike[str] | Game, position: Any = None, *, seed: int = 0):
        self.game = load_game(game) if isinstance(game, str | os.PathLike) else game
        if not isinstance(self.game, Game):
            raise CutnodeError(f"a board needs a game or its name, got {shown(game)}")
        if position is None:
            position = self.game.start()
        elif isinstance(position, str):
            position = self.game.parse(position)
        elif isinstance(position, Board):
            position = position.position
        if type(position) is not type(self.game.start()):
            raise PositionError(f"{position!r} is not a position of {self.game.source}")
        self.record = Record(position, seed=seed)

    @property
    def position(self) -> Any:
        """The current position."""
        return self.record.position

    @property
    def text(self) -> str:
        """The current position in the game's notation."""
        return self.game.position_text(self.position)

    @property
    def turn(self) -> int:
        """The player to move: 0 for the first, 1 for the second.

        If the game does not tell who is to move, 0 is the player who was to move when the board
        was made.
        """
        player = self.game.notation.player(self.position)
        return self.record.side if player is None else player

    @property
    def legal_moves(self) -> list[int]:
        """The legal moves, without illegal repetitions; none at the end, or if chance decides."""
        return self.record.legal_moves()

    @property
    def moves(self) -> list[int]:
        """The moves played, and the indices of the outcomes of chance between them."""
        return list(self.record.steps)

    @property
    def history(self) -> list[Any]:
        """The positions before the current one, oldest first."""
        return self.record.positions[:-1]

    def push(self, move: int | str) -> None:
        """Play a legal move, given as its number or in the game's notation.

        Raise :class:`PositionError` if it is illegal, the game is over, or chance decides.
        """
        if reason := self.record.ending():
            raise PositionError(f"the game is over ({reason}): {move!r} cannot be played")
        if self.is_chance():
            raise PositionError("chance decides here: call roll(), or roll(index)")
        self.record.play(self.game.legal_move(self.position, move))

    def pop(self) -> int:
        """Take back the last move or outcome of chance, and return it.

        Raise :class:`IndexError` if there is none.
        """
        if not self.record.steps:
            raise IndexError("there is no move to take back")
        step = self.record.steps[-1]
        self.record.take_back()
        return step

    def is_chance(self) -> bool:
        """Return whether chance, such as dice, decides what happens next."""
        return self.record.is_chance()

    def roll(self, index: int | None = None) -> int:
        """Draw an outcome of chance, or take the outcome *index*; return its index.

        Raise :class:`PositionError` if there is no such outcome.
        """
        if index is None and self.is_chance():
            return self.record.draw()
        number = 0 if index is None else index
        self.record.meet(number)
        return number

    def move_text(self, move: int) -> str:
        """Return a move in the game's notation."""
        return self.game.move_text(self.position, move)

    def is_game_over(self) -> bool:
        """Return whether the game is over by its rules, by repetition, or by its length limit."""
        return bool(self.record.ending())

    def outcome(self) -> float | None:
        """Return the value of a finished game for the player to move; None if it is not over."""
        if not self.is_game_over():
            return None
        value = self.record.value()
        return value if self.record.side == 0 else -value

    def copy(self) -> Self:
        """Return a copy of the board, with its moves."""
        other = type(self)(self.game, self.record.positions[0], seed=self.record.seed)
        for before, step in zip(self.record.positions, self.record.steps, strict=False):
            (other.record.meet if chance(before) > 0 else other.record.play)(step)
        return other

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Board):
            return NotImplemented
        ours, others = self.record.positions, other.record.positions
        return type(self.position) is type(other.position) and ours == others

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        return self.game.draw(self.position)

    def __repr__(self) -> str:
        return f"Board({self.game.source!r}, {self.text!r})"

    def _repr_html_(self) -> str:
        return position_html(self.position)


def given_position(given: Any, text: str | None = None) -> Any:
    """Return the position that the arguments of a call mean.

    *given* is a position, a :class:`Board`, or the name of a game or a :class:`Game`, which mean
    the game's start, or the position that *text* describes in the game's notation.
    Raise :class:`GameError` if it is none of these, and :class:`PositionError` if *text* is not a
    position.
    """
    if isinstance(given, str | os.PathLike):
        given = load_game(given)
    if isinstance(given, Game):
        return given.start() if text is None else _of_game(given, text)
    if text is not None:
        raise PositionError(
            f"the text {quoted(str(text))} needs the game whose notation it is in, not a position"
        )
    if isinstance(given, Board):
        return given.position
    if isinstance(given, type) or not defines(type(given), "moves"):
        raise GameError(
            f"{quoted(repr(given))} is not a position: pass a game's name, a game from load_game, "
            f"a Board, or a position"
        )
    return given


def _of_game(game: Game, said: Any) -> Any:
    """Return the position of a game that a text describes, or the position that was passed."""
    if isinstance(said, Board):
        said = said.position
    return said if type(said) is type(game.start()) else game.parse(said)


def given_history(given: Any, history: Iterable[Any]) -> Iterable[Any]:
    """Return the given *history*, or the history of a :class:`Board` if there is none."""
    return given.history if isinstance(given, Board) and not history else history


def class_of(game: Any) -> Any:
    """Return a position class: *game* itself, or the class of its :func:`given_position`."""
    if isinstance(game, type) and defines(game, "moves"):
        return game
    return type(given_position(game))
