"""Full expectiminimax on the Royal Game of Ur, Finkel rules, from the start; and solving it.

    python benchmarks/chance.py

Nodes are counted as published: rolls and moves are nodes, a pass is none, and an estimate
stands for the last roll.  The counts have to be those published before anything is timed; the
rate beside them is the one published with them.  ``minimax`` of the engine looks at the last
roll as well, six times as many positions, and finds the same value.  What is solved by value
iteration has to have the published value.  All times are CPU time, medians.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np
from numba import types

from engine import Bits, compiled, iterate, load_game, minimax
from engine.contract import (
    chance,
    chance_outcome,
    evaluate,
    moves,
    moves_again,
    outcome,
    play,
)
from engine.positions import coerce

COUNTS = {
    **{1: 10, 2: 58, 3: 362, 4: 2_622, 5: 21_055, 6: 183_456},
    **{7: 1_697_273, 8: 16_541_998},
}
TIMED = (6, 7, 8)
PUBLISHED_RATE = 8.6e6
VALUES = {"finkel-1": 53.0049839525, "finkel-2": 51.8572907496, "finkel-3": 51.6201102238}
ROUNDS = 5
PASS = 31


@compiled(
    signature=lambda position: types.float64(
        position, types.int64, types.int64, types.int64[::1], types.uint64[::1]
    )
)
def expectiminimax(position, depth, top, buffer, nodes):
    """The value for the player about to roll; ``nodes[0]`` counts as published."""
    nodes[0] += Bits(1)
    over, value = outcome(position)
    if over:
        return float(value)
    if depth == 0:
        return float(evaluate(position))
    expectation = 0.0
    for index in range(chance(position)):
        odds, rolled = chance_outcome(position, index)
        end = moves(rolled, buffer, top)
        if buffer[top] != PASS:
            nodes[0] += Bits(1)
        best = -np.inf
        for at in range(top, end):
            child = play(rolled, buffer[at])
            value = expectiminimax(child, depth - 1, end, buffer, nodes)
            best = max(best, value if moves_again(rolled, child) else -value)
        expectation += odds * best
    return expectation


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
    start = coerce(game.start())
    run = expectiminimax.specialise(type(start))
    buffer, nodes = np.zeros(1000, np.int64), np.zeros(1, np.uint64)

    def published(depth: int) -> tuple[float, int]:
        nodes[0] = 0
        return run(start, depth, 0, buffer, nodes), int(nodes[0])

    for depth, wanted in COUNTS.items():
        if published(depth)[1] != wanted:
            sys.exit(f"depth {depth}: {nodes[0]} nodes, not {wanted}")
    print(f"expectiminimax, full width; published {PUBLISHED_RATE / 1e6:.1f} M nodes/s")
    for depth in TIMED:
        (value, count), seconds = timed(lambda depth=depth: published(depth))
        rate = count / seconds
        print(
            f"  depth {depth}  {count:>11,} nodes  {seconds:8.4f} s  {rate / 1e6:6.1f} M/s  "
            f"{rate / PUBLISHED_RATE:5.1f} of the published  value {value:.6f}"
        )
        result, seconds = timed(lambda depth=depth: minimax(start, depth))
        if abs(result.value - value) > 1e-9:
            sys.exit(f"depth {depth}: minimax finds {result.value}")
        rate = result.nodes / seconds / 1e6
        print(f"  minimax  {result.nodes:>11,} nodes  {seconds:8.4f} s  {rate:6.1f} M/s")

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
