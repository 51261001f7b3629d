"""A game as an OpenSpiel game in Python, for the algorithms of that library."""

from __future__ import annotations

import re
import zlib
from typing import Any

import numpy as np
import pyspiel
from open_spiel.python.observation import IIGObserverForPublicInfoGame

from cutnode.adapters.exported import Exported
from cutnode.contract.messages import board, chance_text, move_text, position_text
from cutnode.contract.verbs import chance, chance_outcome

PREFIX = "cutnode_"

Chances = list[tuple[int, float]]


def registered(exported: Exported) -> Any:
    """Return the OpenSpiel version of a game, and register it by its name."""
    kind = pyspiel.GameType(
        short_name=_short_name(exported),
        long_name=exported.name,
        dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
        chance_mode=(
            pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC
            if exported.has_chance
            else pyspiel.GameType.ChanceMode.DETERMINISTIC
        ),
        information=pyspiel.GameType.Information.PERFECT_INFORMATION,
        utility=pyspiel.GameType.Utility.ZERO_SUM,
        reward_model=pyspiel.GameType.RewardModel.TERMINAL,
        max_num_players=2,
        min_num_players=2,
        provides_information_state_string=True,
        provides_information_state_tensor=False,
        provides_observation_string=True,
        provides_observation_tensor=bool(exported.observed),
        parameter_specification={},
    )
    info = pyspiel.GameInfo(
        num_distinct_actions=exported.actions,
        max_chance_outcomes=exported.most_outcomes,
        num_players=2,
        min_utility=-exported.most,
        max_utility=exported.most,
        utility_sum=0.0,
        max_game_length=exported.longest,
    )

    class CutnodeGame(pyspiel.Game):
        """A game of cutnode."""

        def __init__(self, params: Any = None):
            super().__init__(kind, info, params or {})

        def new_initial_state(self) -> Any:
            return CutnodeState(self, exported)

        def max_chance_nodes_in_history(self) -> int:
            return exported.longest if exported.has_chance else 0

        def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> Any:
            if iig_obs_type is None or (
                iig_obs_type.public_info and not iig_obs_type.perfect_recall
            ):
                return Observer(exported, params)
            return IIGObserverForPublicInfoGame(iig_obs_type, params)

    pyspiel.register_game(kind, CutnodeGame)
    return CutnodeGame()


def _short_name(exported: Exported) -> str:
    """Return the game's name in OpenSpiel, made of letters, digits and ``_``."""
    name = PREFIX + re.sub(r"\W+", "_", exported.name).strip("_")
    if exported.from_start:
        return name
    return f"{name}_{zlib.crc32(position_text(exported.start).encode()):08x}"


class CutnodeState(pyspiel.State):
    """A state: the game played so far."""

    def __init__(self, game: Any, exported: Exported):
        super().__init__(game)
        self.exported = exported
        self.playing = exported.play()

    def current_player(self) -> int:
        if self.playing.ending():
            return int(pyspiel.PlayerId.TERMINAL)
        return int(pyspiel.PlayerId.CHANCE) if self.playing.is_chance() else self.playing.side

    def _legal_actions(self, player: int) -> list[int]:
        return self.exported.legal(self.playing)

    def chance_outcomes(self) -> Chances:
        position = self.playing.position
        odds = [chance_outcome(position, index)[0] for index in range(chance(position))]
        return [(index, probability) for index, probability in enumerate(odds) if probability > 0]

    def _apply_action(self, action: int) -> None:
        if self.playing.is_chance():
            self.playing.meet(action)
        else:
            self.playing.play(action)

    def _action_to_string(self, player: int, action: int) -> str:
        if player == pyspiel.PlayerId.CHANCE:
            return chance_text(self.playing.position, action)
        return move_text(self.playing.position, action)

    def is_terminal(self) -> bool:
        return bool(self.playing.ending())

    def returns(self) -> list[float]:
        return [self.exported.payment(self.playing, player) for player in (0, 1)]

    def __str__(self) -> str:
        return board(self.playing.position)


class Observer:
    """An observer of states, as ``open_spiel.python.observation`` expects it."""

    def __init__(self, exported: Exported, params: Any):
        if params:
            raise ValueError(f"observations take no parameters, got {params}")
        self.exported = exported
        shape = exported.shape if exported.observed else (0,)
        self.tensor = np.zeros(int(np.prod(shape)), np.float32)
        self.dict = {"observation": self.tensor.reshape(shape)}

    def set_from(self, state: CutnodeState, player: int) -> None:
        """Observe a state."""
        if self.exported.observed:
            self.dict["observation"][:] = self.exported.observation(state.playing)

    def string_from(self, state: CutnodeState, player: int) -> str:
        """Return a state as text."""
        return position_text(state.playing.position)
