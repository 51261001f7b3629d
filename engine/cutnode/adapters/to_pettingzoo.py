"""A game as a PettingZoo environment whose two agents act one at a time (AEC)."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv

from cutnode.adapters.exported import Exported
from cutnode.contract.errors import CutnodeError
from cutnode.contract.messages import board
from cutnode.contract.text import quoted

AGENTS = ("player_0", "player_1")

RENDER_MODES = ("ansi",)


class Environment(AECEnv):
    """A game for two agents; see :func:`cutnode.adapters.pettingzoo_env`."""

    def __init__(self, exported: Exported, render_mode: str | None = None):
        super().__init__()
        if render_mode is not None and render_mode not in RENDER_MODES:
            raise CutnodeError(
                f"render_mode must be 'ansi' or None, got {quoted(str(render_mode))}"
            )
        self.exported = exported
        self.render_mode = render_mode
        self.metadata = {
            "name": exported.name,
            "render_modes": list(RENDER_MODES),
            "is_parallelizable": False,
        }
        self.possible_agents = list(AGENTS)
        self.agents = list(AGENTS)
        seen = spaces.Box(*exported.range, exported.shape, np.float32)
        mask = spaces.Box(0, 1, (exported.actions,), np.int8)
        self.observation_spaces = {
            agent: spaces.Dict({"observation": seen, "action_mask": mask}) for agent in AGENTS
        }
        self.action_spaces = {agent: spaces.Discrete(exported.actions) for agent in AGENTS}
        self._dice = 0
        self.playing = exported.play()

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Return the observation space of an agent."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """Return the action space of an agent."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin a game; without a *seed*, its dice differ from every earlier game's."""
        self._dice = self._dice + 1 if seed is None else seed
        self.playing = self.exported.play(self._dice)
        self.agents = list(AGENTS)
        self.rewards = dict.fromkeys(AGENTS, 0.0)
        self._cumulative_rewards = dict.fromkeys(AGENTS, 0.0)
        self.terminations = dict.fromkeys(AGENTS, False)
        self.truncations = dict.fromkeys(AGENTS, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in AGENTS}
        self._settle()

    def observe(self, agent: str) -> dict[str, Any]:
        """Return an agent's observation; only the agent to move has legal actions."""
        mask = np.zeros(self.exported.actions, np.int8)
        if agent == self.agent_selection:
            mask[self.exported.legal(self.playing)] = 1
        return {"observation": self.exported.observation(self.playing), "action_mask": mask}

    def step(self, action: Any) -> None:
        """Play an agent's move; an illegal one is an error, and changes nothing."""
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        self.playing.play(int(action))
        self._cumulative_rewards[agent] = 0.0
        self._settle()
        self._accumulate_rewards()

    def _settle(self) -> None:
        """Roll the dice, and determine who is to move, or how the game ended."""
        while self.playing.is_chance():
            self.playing.draw()
        self.agent_selection = AGENTS[self.playing.side]
        ending = self.playing.ending()
        if ending:
            self.rewards = {
                agent: self.exported.payment(self.playing, player)
                for player, agent in enumerate(AGENTS)
            }
            ended = self.truncations if ending == "plies" else self.terminations
            ended.update(dict.fromkeys(AGENTS, True))

    def render(self) -> str | None:
        """Return the board, if the environment has a render mode."""
        if self.render_mode is None:
            gymnasium.logger.warn("rendering needs render_mode='ansi'")
            return None
        return board(self.playing.position)

    def close(self) -> None:
        """Close the environment, which holds no resources."""
