"""Games from other libraries, and games for them.

``load_game("openspiel:hex(board_size=4)")`` and ``load_game("easyai:my_file.py:MyGame")`` are games
like any other, in plain Python.  The other way, :func:`openspiel_game` and :func:`pettingzoo_env`
make of a game what those libraries play and learn.
"""

from __future__ import annotations

from typing import Any

from cutnode.adapters.exported import Exported
from cutnode.contract.extras import extra
from cutnode.contract.loading import Game

__all__ = ["openspiel_game", "pettingzoo_env"]


def openspiel_game(game: Game | str | Any, *, actions: int | None = None) -> Any:
    """Return a ``pyspiel.Game`` of a game, its name, or a position to begin with.

    Player 0 is to move in the first position.  Actions are the numbers of moves, all below
    *actions*; by default random games say how many there are.  Returns are the values of finished
    games, or 1, 0 and -1 in a ``DECISIVE`` game; a repetition is a draw.  Observation tensors are
    those of :meth:`cutnode.adapters.exported.Exported.observation`.

    OpenSpiel knows the game as ``cutnode_connect4``, say, from now on: ``pyspiel.load_game`` finds
    it in this process.  :class:`CutnodeError` if OpenSpiel is not installed.
    """
    extra("pyspiel", "openspiel", "games for OpenSpiel need")
    from cutnode.adapters.to_openspiel import registered

    return registered(Exported(game, actions))


def pettingzoo_env(
    game: Game | str | Any, *, actions: int | None = None, render_mode: str | None = None
) -> Any:
    """Return a PettingZoo AEC environment of a game, its name, or a position to begin with.

    Agents are ``player_0``, who is to move in the first position, and ``player_1``.  They observe
    a dictionary: ``observation``, as :meth:`cutnode.adapters.exported.Exported.observation`, and
    ``action_mask``, which is 1 for each legal action.  Actions are the numbers of moves, all below
    *actions*; by default random games say how many there are.  Rewards are 0 until the game is
    over, and then its value, or 1, 0 and -1 in a ``DECISIVE`` game.  Dice follow from the seed of
    ``reset``.  With *render_mode* ``"ansi"``, ``render`` returns the board.

    :class:`CutnodeError` if PettingZoo is not installed, or if there is nothing to observe.
    """
    extra("pettingzoo", "pettingzoo", "environments need")
    from cutnode.adapters.to_pettingzoo import Environment

    return Environment(Exported(game, actions), render_mode)
