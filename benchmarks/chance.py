"""Full expectiminimax on the Royal Game of Ur, Finkel rules, from the start; and solving it.

    python benchmarks/chance.py

What is timed is ``minimax`` of the engine, with depth in actions.  Positions before a roll and
after it are nodes; where the depth ends, an estimate stands for the next roll.  The published
counts leave out the positions after a roll that only allows a pass.  Those are counted apart,
and both together have to be the nodes of ``minimax`` before anything is timed.  Rates are of
published nodes, beside the rate that was published with them.  What is solved by value
iteration has to have the published value.  All times are CPU time, medians.
"""

from __future__ import annotations

import functools
import sys
import time
from collections.abc import Callable
from statistics import median
from typing import Any

from engine import iterate, legal_moves, load_game, minimax
from engine.contract.verbs import chance, chance_outcome, outcome, play

COUNTS = {
    **{1: 10, 2: 58, 3: 362, 4: 2_622, 5: 21_055, 6: 183_456},
    **{7: 1_697_273, 8: 16_541_998},
}
TIMED = (6, 7, 8)
PUBLISHED_RATE = 8.6e6
VALUES = {"finkel-1": 53.0049839525, "finkel-2": 51.8572907496, "finkel-3": 51.6201102238}
ROUNDS = 5
PASS = 31


@functools.cache
def passes(position: Any, depth: int) -> int:
    """The rolls that only allow a pass, among all of *depth* moves from a position before a roll.

    With the players exchanged there are as many, so both are looked at once.
    """
    if depth == 0 or outcome(position)[0]:
        return 0
    count = 0
    for index in range(chance(position)):
        _, rolled = chance_outcome(position, index)
        moves = legal_moves(rolled)
        after = [play(rolled, move)._replace(second=False) for move in moves]
        count += (moves == [PASS]) + sum(passes(child, depth - 1) for child in after)
    return count


def timed(task: Callable[[], Any]) -> tuple[Any, float]:
    """What a task gives, and the seconds it takes."""
    answer, seconds = task(), []
    for _ in range(ROUNDS):
        began = time.process_time()
        task()
        seconds.append(time.process_time() - began)
    return answer, median(seconds)


def main() -> None:
    game = load_game("ur")
    start = game.start()
    for depth, wanted in COUNTS.items():
        nodes = minimax(start, depth, depth_in="actions").nodes
        if nodes != wanted + passes(start, depth):
            sys.exit(f"depth {depth}: {nodes} nodes, not {wanted} + {passes(start, depth)}")
    print(f"expectiminimax, full width; published {PUBLISHED_RATE / 1e6:.1f} M nodes/s")
    for depth in TIMED:
        result, seconds = timed(lambda depth=depth: minimax(start, depth, depth_in="actions"))
        rate = COUNTS[depth] / seconds
        print(
            f"  depth {depth}  {COUNTS[depth]:>11,} nodes and {passes(start, depth):>9,} passes  "
            f"{seconds:8.4f} s  {rate / 1e6:6.1f} M/s  {rate / PUBLISHED_RATE:5.1f} of the "
            f"published  value {result.value:.6f}"
        )

    print("value iteration")
    for variant, wanted in VALUES.items():
        first = game.module.start(variant)
        iterate(first, seconds=1e-3)  # compiles
        began = time.process_time()
        result = iterate(first)
        seconds = time.process_time() - began
        if not result.proven or abs((result.value + 100) / 2 - wanted) > 1e-9:
            sys.exit(f"{variant}: {result}")
        print(
            f"  {variant}  {result.positions:>11,} states  {result.sweeps} sweeps at most  "
            f"{seconds:8.4f} s  {result.updates / seconds / 1e6:6.1f} M updates/s"
        )


if __name__ == "__main__":
    main()
