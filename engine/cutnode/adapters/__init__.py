"""Games from other libraries, and games for them.

``load_game("openspiel:hex(board_size=4)")`` and ``load_game("easyai:my_file.py:MyGame")`` return
games like any other, in plain Python.  In the other direction, :func:`openspiel_game` and
:func:`pettingzoo_env` turn a game into an object that those libraries can play and learn.
"""

from __future__ import annotations

from typing import Any

from cutnode.adapters.exported import Exported
from cutnode.contract.extras import extra
from cutnode.contract.loading import Game

__all__ = ["openspiel_game", "pettingzoo_env"]


def openspiel_game(game: Game | str | Any, *, actions: int | None = None) -> Any:
    """Return a ``pyspiel.Game`` for a game, its name, or a position to begin with.

    Player 0 moves first.  Actions are the numbers of moves, all below *actions*; by default that
    bound is estimated from random games.  Returns are the values of finished games, or 1, 0 and -1
    in a ``DECISIVE`` game; a repetition is a draw.  For observation tensors, see
    :meth:`cutnode.adapters.exported.Exported.observation`.

    This registers the game with OpenSpiel, as ``cutnode_connect4`` for example:
    ``pyspiel.load_game`` finds it in this process.  :class:`CutnodeError` if OpenSpiel is not
    installed.
    """
    extra("pyspiel", "openspiel", "games for OpenSpiel need")
    from cutnode.adapters.to_openspiel import registered

    return registered(Exported(game, actions))


def pettingzoo_env(
    game: Game | str | Any, *, actions: int | None = None, render_mode: str | None = None
) -> Any:
    """Return a PettingZoo AEC environment for a game, its name, or a position to begin with.

    The agents are ``player_0``, who moves first, and ``player_1``.  They observe a dictionary:
    ``observation``, as :meth:`cutnode.adapters.exported.Exported.observation` returns it, and
    ``action_mask``, with 1 for each legal action.  Actions are the numbers of moves, all below
    *actions*; by default that bound is estimated from random games.  Rewards are 0 until the game
    is over, and then its value, or 1, 0 and -1 in a ``DECISIVE`` game.  ``reset`` seeds the dice.
    With *render_mode* ``"ansi"``, ``render`` returns the board.

    :class:`CutnodeError` if PettingZoo is not installed, or if there is nothing to observe.
    """
    extra("pettingzoo", "pettingzoo", "environments need")
    from cutnode.adapters.to_pettingzoo import Environment

    return Environment(Exported(game, actions), render_mode)
