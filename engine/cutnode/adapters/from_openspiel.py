"""Games of OpenSpiel: ``openspiel:breakthrough(rows=5,columns=4)``.

A game must be a sequential zero-sum game of perfect information for two players, with or without
dice.  Its moves are OpenSpiel's actions, and its values are the returns for the player to move.

**Equal positions.**  A state of OpenSpiel may depend on the whole history: draws by repetition,
counters of quiet moves, earlier boards.  A game does not declare whether its text shows all of
this.  So two positions are equal only if the same steps led to them, except in the games of
:data:`SHOWN`: there they are equal if they look alike, with the same numbers of moves and chance
outcomes played and the same player to move.  This finds transpositions, and makes proofs much
shorter.
"""

from __future__ import annotations

import importlib
import math
import sys
from collections.abc import Hashable
from types import ModuleType
from typing import Any

from cutnode.adapters.states import Rules, adapted_game
from cutnode.contract.dispatch import MAX_VALUE
from cutnode.contract.errors import ContractError, GameError
from cutnode.contract.extras import extra
from cutnode.contract.text import nearest, quoted
from cutnode.contract.verbs import NO_MOVE

SHOWN = frozenset(
    {
        *("breakthrough", "clobber", "connect_four", "dots_and_boxes", "gomoku", "havannah", "hex"),
        *("mancala", "mnk", "nim", "othello", "pentago", "pig", "tic_tac_toe", "y"),
    }
)
"""Games whose future depends only on the text, the numbers of steps and the player to move."""

IN_TENSOR = frozenset({"dots_and_boxes"})
"""Games of :data:`SHOWN` whose observation tensor has what the text lacks: who owns a box."""

MOST_ROOM = 1 << 25
"""The most moves to reserve room for along a line of play; longer lines are cut short."""

PREFIX = "openspiel:"

EXAMPLE = f"{PREFIX}tic_tac_toe"


def adapted(name: str) -> ModuleType:
    """Return the game that OpenSpiel calls *name*, which may have parameters.

    :class:`GameError` if there is none, or if no search here supports its kind.
    """
    game = _load(name)
    module = sys.modules.get(_name(game))
    if module is None:
        _require_searchable(game)
        module = adapted_game(OpenSpielRules(game))
    return module


def _load(name: str) -> Any:
    """Return OpenSpiel's own object for a game."""
    pyspiel = extra("pyspiel", "openspiel", "games of OpenSpiel need")
    short = name.partition("(")[0]
    if short.startswith("python_"):
        importlib.import_module("open_spiel.python.games")
    names = pyspiel.registered_names()
    if not short:
        raise GameError(f"an OpenSpiel game needs a name, as in {EXAMPLE}")
    if short not in names:
        known = f"it has {', '.join(names)}"
        raise GameError(f"OpenSpiel has no game {quoted(short)}{nearest(short, names, known)}")
    try:
        return pyspiel.load_game(name)
    except Exception as error:
        raise GameError(f"OpenSpiel cannot load {quoted(name)}: {_first_line(error)}") from None


def _name(game: Any) -> str:
    """Return the engine's name for a game, with the parameters that differ from the defaults."""
    return PREFIX + str(game).removesuffix("()")


def _require_searchable(game: Any) -> None:
    """Raise :class:`GameError`, with the reason, if no search here supports a game of OpenSpiel."""
    kind = game.get_type()
    limit = max(abs(game.min_utility()), abs(game.max_utility()))
    for is_wrong, reason in (
        (kind.dynamics != kind.Dynamics.SEQUENTIAL, "players move at the same time"),
        (
            kind.information != kind.Information.PERFECT_INFORMATION,
            "it is a game of imperfect information",
        ),
        (game.num_players() != 2, f"it has {game.num_players()} players, not 2"),
        (
            kind.chance_mode == kind.ChanceMode.SAMPLED_STOCHASTIC,
            "it does not give the probabilities of chance outcomes",
        ),
        (kind.reward_model != kind.RewardModel.TERMINAL, "it has rewards before the end"),
        (
            kind.utility not in (kind.Utility.ZERO_SUM, kind.Utility.CONSTANT_SUM)
            or game.utility_sum() != 0,
            "it is not a zero-sum game",
        ),
        (not limit <= MAX_VALUE, f"its returns reach {limit:g}, more than {MAX_VALUE}"),
        (
            game.num_distinct_actions() > NO_MOVE,
            f"it has {game.num_distinct_actions()} actions, more than {NO_MOVE}",
        ),
    ):
        if is_wrong:
            raise GameError(f"{_name(game)} cannot be searched: {reason}")


class OpenSpielRules(Rules):
    """The rules of an OpenSpiel game."""

    players = ("player 0", "player 1")

    def __init__(self, game: Any):
        kind = game.get_type()
        self.game = game
        self.name = _name(game)
        self.about = f"{kind.long_name}, by the rules of OpenSpiel."
        self.has_chance = kind.chance_mode != kind.ChanceMode.DETERMINISTIC
        self.shown = kind.short_name in SHOWN
        self.in_tensor = kind.short_name in IN_TENSOR
        limit = math.ceil(max(-game.min_utility(), game.max_utility()))
        most, longest = game.num_distinct_actions(), _longest(game, self.has_chance)
        self.constants = {
            "MAX_MOVES": most,
            "MAX_PLIES": min(longest, MOST_ROOM // most),
            "VALUE_LIMIT": limit,
            "DECISIVE": limit == 1 and not self.has_chance,
        }

    def start(self) -> Any:
        return self.game.new_initial_state()

    def after(self, state: Any, step: int) -> Any:
        return state.child(step)

    def moves(self, state: Any) -> list[int]:
        return state.legal_actions()  # type: ignore[no-any-return]

    def mover(self, state: Any) -> int | None:
        player = state.current_player()
        return player if player >= 0 else None

    def value(self, state: Any, player: int) -> float | None:
        if not state.is_terminal():
            return None
        value: float = state.player_return(player)
        if value == (whole := round(value)):
            return whole
        if self.has_chance:
            return value
        raise ContractError(
            f"{self.name} cannot be searched: returns must be whole numbers, got {value:g}"
        )

    def odds(self, state: Any) -> list[tuple[int, float]]:
        return state.chance_outcomes() if self.has_chance and state.is_chance_node() else []

    def identity(self, state: Any, steps: tuple[int, ...]) -> Hashable:
        if not self.shown:
            return steps
        seen = tuple(state.observation_tensor(0)) if self.in_tensor else str(state)
        moves = sum(step.player >= 0 for step in state.full_history()) if self.has_chance else 0
        return len(steps), moves, state.current_player(), seen

    def text(self, state: Any, step: int) -> str:
        return state.action_to_string(state.current_player(), step)  # type: ignore[no-any-return]

    def board(self, state: Any) -> str:
        return str(state)


def _longest(game: Any, has_chance: bool) -> int:
    """Return the length of the longest line of play, including chance outcomes."""
    moves: int = game.max_game_length()
    if not has_chance:
        return moves
    try:
        return moves + int(game.max_chance_nodes_in_history())
    except Exception:  # games written in Python need not define it
        return 2 * moves + 1


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]
