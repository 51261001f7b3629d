"""The searches of other packages, with rules from this folder or with their own."""

from __future__ import annotations

import importlib
from typing import Any

from benchmarks.peers.programs import WIN, Count, Found, Peer, Program, Work
from benchmarks.peers.rules import EMPTY, MUTABLE, RULES, STRIDE, WEIGHTS, WIDTH, State, score_of

__all__ = ["PEERS"]

# easyAI


def _easyai() -> list[Program]:
    easyai: Any = importlib.import_module("easyAI")
    classes = {
        name: type(rules.__name__, (rules, easyai.TwoPlayerGame), {})
        for name, rules in MUTABLE.items()
    }

    def counting(rules: Any) -> Any:
        def make_move(self: Any, move: int) -> None:
            counted.made += 1
            rules.make_move(self, move)

        counted: Any = type(
            f"Counted{rules.__name__}", (rules,), {"make_move": make_move, "made": 0}
        )
        return counted

    def program(name: str, quickest: bool) -> Program:
        search = getattr(easyai, name)

        def run(work: Work, rules: Any = None) -> Found:
            game = (rules or classes[work.game])()
            brain = search(work.depth)
            move = brain(game)
            return Found(int(move), brain.alpha)

        def count(work: Work) -> Count:
            rules = counting(classes[work.game])
            found = run(work, rules)
            return Count(found, 1 + rules.made)

        return Program(f"easyAI {name}", quickest, True, count, run)

    # Negamax adds the remaining plies to the score of a win; the other one does not.
    programs = [program("Negamax", True)]
    if hasattr(easyai, "NonRecursiveNegamax"):
        programs.append(program("NonRecursiveNegamax", False))
    return programs


# OpenSpiel


class Counted:
    """A state of OpenSpiel that counts the moves made from it."""

    def __init__(self, state: Any, made: list[int]):
        self.state = state
        self.made = made

    def clone(self) -> Counted:
        return Counted(self.state.clone(), self.made)

    def apply_action(self, action: int) -> None:
        self.made[0] += 1
        self.state.apply_action(action)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.state, name)


def _openspiel() -> list[Program]:
    pyspiel: Any = importlib.import_module("pyspiel")
    minimax: Any = importlib.import_module("open_spiel.python.algorithms.minimax")
    names = {"tictactoe": "tic_tac_toe", "connect4": "connect_four"}

    def cells(state: Any) -> float:
        """Evaluate for the first player, with 1 for a win."""
        heights = [0] * WIDTH
        balance, sign = 0, 1
        for column in state.history():
            balance += sign * WEIGHTS[column * STRIDE + heights[column]]
            heights[column] += 1
            sign = -sign
        return balance / WIN

    def run(work: Work, made: list[int] | None = None) -> Found:
        game = pyspiel.load_game(names[work.game])
        state = game.new_initial_state()
        score, move = minimax.alpha_beta_search(
            game,
            state=state if made is None else Counted(state, made),
            value_function=cells if work.game == "connect4" else None,
            maximum_depth=work.depth,
        )
        return Found(int(move), score * WIN)

    def count(work: Work) -> Count:
        made = [0]
        return Count(run(work, made), 1 + made[0])

    return [Program("OpenSpiel alpha_beta_search", False, True, count, run)]


# The textbook of S. Russell and P. Norvig


def _aima() -> list[Program]:
    aima: Any = importlib.import_module("aima3.games")

    class Rules:
        """The methods that the textbook's search needs; the first player is maximized."""

        def __init__(self, rules: Any) -> None:
            self.rules = rules
            self.made = 0
            self.actions = rules.moves
            self.result = rules.play

        def to_move(self, state: State) -> int:
            return state.ply % 2

        def terminal_test(self, state: State) -> bool:
            return bool(self.rules.is_lost(state) or self.rules.is_full(state))

        def score(self, state: State) -> int:
            score = score_of(self.rules, state)
            return -score if state.ply % 2 else score

        def count_result(self, state: State, move: int) -> State:
            self.made += 1
            played: State = self.rules.play(state, move)
            return played

    def search(work: Work, game: Rules) -> Found:
        move = aima.alphabeta_cutoff_search(
            EMPTY,
            game,
            cutoff_test=lambda state, depth: depth == work.depth or game.terminal_test(state),
            eval_fn=game.score,
        )
        return Found(int(move), None)

    def run(work: Work) -> Found:
        return search(work, Rules(RULES[work.game]))

    def count(work: Work) -> Count:
        game = Rules(RULES[work.game])
        game.result = game.count_result
        return Count(search(work, game), 1 + game.made)

    return [Program("aima3 alphabeta_cutoff_search", False, True, count, run)]


PEERS = {
    peer.package: peer
    for peer in (
        Peer("easyAI", "easyAI", "pip install easyAI", _easyai),
        Peer("open_spiel", "pyspiel", "pip install open_spiel", _openspiel),
        # It requires all of Jupyter, which its search does not need.
        Peer("aima3", "aima3.games", "pip install tqdm; pip install --no-deps aima3", _aima),
    )
}
"""The packages with a search for any game, by their names on PyPI."""
