"""The positions that calls are given: by the name of a game, as a game, a board, or themselves."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from cutnode.contract.dispatch import defines
from cutnode.contract.errors import GameError, PositionError
from cutnode.contract.loading import Game, load_game
from cutnode.contract.text import quoted
from cutnode.search.board import Board


def given_position(given: Any, text: str | None = None) -> Any:
    """Return the position that is meant.

    *given* is the name of a game or a :class:`Game`, which stand for their start or for the
    position that *text* is in the game's notation, or a :class:`Board` or a position.
    :class:`GameError` if it is none of these, :class:`PositionError` if the text is no position.
    """
    if isinstance(given, str | os.PathLike):
        given = load_game(given)
    if isinstance(given, Game):
        return given.start() if text is None else _of_game(given, text)
    if text is not None:
        raise PositionError(
            f"a text such as {quoted(str(text))} goes with the game whose notation it is in, "
            f"not with a position"
        )
    if isinstance(given, Board):
        return given.position
    if isinstance(given, type) or not defines(type(given), "moves"):
        raise GameError(
            f"{quoted(repr(given))} is no position: give a game's name, a game that load_game "
            f"returns, a Board, or a position"
        )
    return given


def _of_game(game: Game, said: Any) -> Any:
    """Return the position of a game that a text says, or that is given after all."""
    if isinstance(said, Board):
        said = said.position
    return said if type(said) is type(game.start()) else game.parse(said)


def given_history(given: Any, history: Iterable[Any]) -> Iterable[Any]:
    """Return the *history* that is given, else that of a :class:`Board`."""
    return given.history if isinstance(given, Board) and not history else history


def class_of(game: Any) -> Any:
    """Return the position class that is meant: itself, or that of :func:`given_position`."""
    if isinstance(game, type) and defines(game, "moves"):
        return game
    return type(given_position(game))
