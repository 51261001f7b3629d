"""Games in plain Python: against easyAI with the same rules, and against compiled code.

    pip install easyAI
    python benchmarks/prototype.py

Textbook alpha-beta of the same depth has to visit the same nodes in all three; times are CPU
time, the median of some rounds, and ratios to easyAI.  easyAI's game calls the same
functions, so what differs is the search alone.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import time
from pathlib import Path
from statistics import median
from typing import Any

from engine import alphabeta, load_game
from engine.contract.dispatch import is_plain

WIN = 10_000
PROTOTYPE = Path(__file__).parent.parent / "tests" / "toys" / "drops.py"


def easyai_game(rules: Any) -> Any:
    """A game of easyAI with the rules of a prototype; counts the moves made."""
    easyai = importlib.import_module("easyAI")

    class Game(easyai.TwoPlayerGame):
        def __init__(self) -> None:
            self.players = None
            self.current_player = 1
            self.line = [rules.start()]
            self.buffer = [0] * rules.MAX_MOVES
            self.made = 0
            self.evaluate = getattr(rules, "evaluate", lambda position: 0)

        def possible_moves(self) -> list[int]:
            return self.buffer[: rules.moves(self.line[-1], self.buffer, 0)]

        def make_move(self, move: int) -> None:
            self.made += 1
            self.line.append(rules.play(self.line[-1], move))

        def unmake_move(self, move: int) -> None:
            self.line.pop()

        def is_over(self) -> bool:
            return rules.outcome(self.line[-1])[0]

        def scoring(self) -> int:
            over, value = rules.outcome(self.line[-1])
            return WIN * value if over else self.evaluate(self.line[-1])

        def copy(self) -> Any:
            return self  # moves are taken back

    return Game()


def measure(name: str, depth: int, rounds: int) -> None:
    plain = load_game(name, plain=True)
    brain = importlib.import_module("easyAI").Negamax(depth)
    found: dict[str, int] = {}

    def peer() -> None:
        game = easyai_game(plain.module)
        brain(game)
        found["easyAI"] = 1 + game.made

    def prototype() -> None:
        found["plain Python"] = alphabeta(plain.start(), depth).nodes

    programs = {"easyAI": peer, "plain Python": prototype}
    game = load_game(name)
    if not is_plain(type(game.start())):

        def compiled() -> None:
            found["compiled"] = alphabeta(game.start(), depth).nodes

        programs["compiled"] = compiled
    times: dict[str, list[float]] = {program: [] for program in programs}
    for number in range(rounds + 1):
        for program, run in programs.items():
            started = time.process_time()
            run()
            if number:  # the first compiles
                times[program].append(time.process_time() - started)
    if len(set(found.values())) > 1:
        sys.exit(f"not the same tree: {found}")
    base = median(times["easyAI"])
    print(f"{plain.name.removesuffix('_plain')}, depth {depth}: {found['easyAI']:,} nodes")
    for program, spent in times.items():
        print(f"  {program:13} {median(spent) * 1000:9.2f} ms  {median(spent) / base:7.4f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    for name, depth in ((str(PROTOTYPE), 8), ("tictactoe", 7)):
        measure(name, depth, rounds)


if __name__ == "__main__":
    main()
