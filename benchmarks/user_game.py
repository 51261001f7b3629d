"""A game as a user writes it first, beside the tuned one of the same rules.

    python benchmarks/user_game.py

``tests/toys/fourinarow.py`` is Connect Four in loops and shifts with the four verbs that a
game must have; ``games/connect4.py`` is what the README's figures are of.  Both are searched
without an estimate, and with techniques that ask for no more verbs.  They have to find the
same values, and without a table at the same nodes (which positions share a place in a table
depends on the game's name), before they are timed.  The ratios are of nodes per CPU second,
and of the time to the first answer with nothing compiled.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from positions import connect4_set

from engine import Searcher, alphabeta, compiled, load_game, minimax, perft, solve_many
from engine.kernels.techniques import choose

WRITTEN = str(Path(__file__).parent.parent / "tests" / "toys" / "fourinarow.py")
GAMES = (WRITTEN, "connect4")
PERFT, MINIMAX, ALPHABETA, EXACT = 9, 9, 12, 16
"""How deep each search goes."""


@compiled
def nothing(position):
    """The same estimate in both games."""
    return 0


def runs(name: str) -> dict[str, Callable[[], tuple[int, int]]]:
    """What is timed, by name: each returns its nodes and its value."""
    start = load_game(name).start()
    techniques = choose(type(load_game(WRITTEN).start()), None, exact=True)

    def counted() -> tuple[int, int]:
        return perft(start, PERFT), 0

    def plain(search: Any, depth: int) -> Callable[[], tuple[int, int]]:
        def run() -> tuple[int, int]:
            result = search(start, depth, evaluation=nothing)
            return result.nodes, result.value

        return run

    def exact(techniques: frozenset[str]) -> Callable[[], tuple[int, int]]:
        engine = Searcher(start, evaluation=nothing, techniques=techniques)

        def run() -> tuple[int, int]:
            engine.clear()
            result = engine.search(start, depth=EXACT)
            return result.nodes, result.value

        return run

    return {
        f"perft {PERFT}": counted,
        f"minimax {MINIMAX}": plain(minimax, MINIMAX),
        f"alpha-beta {ALPHABETA}": plain(alphabeta, ALPHABETA),
        f"no table {EXACT}": exact(techniques - {"table", "enhanced_cutoffs"}),
        f"exact search {EXACT}": exact(techniques),
    }


def first_answer(name: str) -> float:
    """Seconds of a command that has to compile everything."""
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "CUTNODE_CACHE": cache}
        command = [sys.executable, "-m", "engine", "search", name, "--depth", "8"]
        began = time.perf_counter()
        subprocess.run(command, env=environment, check=True, capture_output=True)
        return time.perf_counter() - began


def timed(run: Any) -> float:
    began = time.process_time()
    run()
    return time.process_time() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds

    texts, _, values = connect4_set("L3_R1")
    game = load_game(WRITTEN)
    if solve_many([game.parse(text) for text in texts]).values.tolist() != values:
        sys.exit("the values of L3_R1 are others")

    written, tuned = map(runs, GAMES)
    print(f"{'':16}{'nodes':>12}  {'as written':>10}  {'tuned':>10}  ratio")
    for name in tuned:
        (nodes, value), (wanted, right) = written[name](), tuned[name]()
        if value != right or (nodes != wanted and "exact" not in name):
            sys.exit(f"{name}: {nodes} nodes, value {value}; it should be {wanted}, {right}")
        pairs = [(timed(written[name]), timed(tuned[name])) for _ in range(rounds)]
        slow, fast = (median(seconds) for seconds in zip(*pairs, strict=True))
        slow, fast = nodes / slow / 1e6, wanted / fast / 1e6
        print(f"{name:16}{nodes:>12,}  {slow:>6.1f} M/s  {fast:>6.1f} M/s  {slow / fast:.2f}")
    slow, fast = map(first_answer, GAMES)
    print(f"{'first answer':28}  {slow:>8.1f} s  {fast:>8.1f} s  {slow / fast:.2f}")


if __name__ == "__main__":
    main()
