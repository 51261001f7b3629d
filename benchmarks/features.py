"""What the contract's unused features cost a simple game: nothing.

    python benchmarks/features.py

Textbook alpha-beta of the engine takes games with extra turns, chance, free moves and
repetition.  Beside it runs the same search written for games without any of them.  On
Connect Four both have to visit the same nodes; what is printed is the ratio of their CPU
times, the median of pairs, and how far the pairs lie apart.
"""

from __future__ import annotations

import argparse
import sys
import time
from statistics import median

from engine import alphabeta, load_game
from engine.compiler.jit import Evaluator, Position, kernel
from engine.compiler.memory import Memory
from engine.contract.verbs import INFINITE, moves, outcome, play
from engine.kernels.evaluation import estimate, evaluation_of
from engine.kernels.reference import PlainMemory, alphabeta_node, plain_dtype
from engine.kernels.scores import WIN, final_score, limited


@kernel
def bare_node(
    position: Position,
    evaluation: Evaluator,
    alpha: int,
    beta: int,
    depth: int,
    ply: int,
    top: int,
    plain: PlainMemory,
) -> int:
    """Textbook alpha-beta for players who take turns, and nothing else."""
    plain.nodes += 1
    over, value = outcome(position)
    if over:
        plain.leaves += 1
        return final_score(value, ply, plain.win, plain.step)
    if depth == 0 or ply >= plain.plies:
        plain.leaves += 1
        return limited(estimate(evaluation, position), plain.win)
    best = -INFINITE
    end = moves(position, plain.moves, top)
    for at in range(top, end):
        child = play(position, plain.moves[at])
        value = -bare_node(child, evaluation, -beta, -alpha, depth - 1, ply + 1, end, plain)
        if value > best:
            best = value
            if best > alpha:
                alpha = best
                if alpha >= beta:
                    break
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--depth", type=int, default=10)
    parser.add_argument("--pairs", type=int, default=15)
    options = parser.parse_args()
    start = load_game("connect4").start()
    cls, evaluation = type(start), evaluation_of(type(start), "cells")
    kernels = {
        "bare": (bare_node.specialise(cls, evaluation), (0, 0)),
        "contract": (alphabeta_node.specialise(cls, evaluation), (0, 0, 0, 0)),
    }
    wanted = alphabeta(start, options.depth, evaluation="cells").nodes
    ratios = []
    for number in range(options.pairs):
        spent = {}
        for name in sorted(kernels, reverse=number % 2 == 1):
            run, zeros = kernels[name]
            memory = Memory(cls, plain_dtype(cls))
            memory.words["plies"][0] = 42
            memory.words["win"][0], memory.words["step"][0] = WIN, 1
            started = time.process_time()
            run(start, evaluation, -INFINITE, INFINITE, options.depth, *zeros, memory.argument)
            spent[name] = time.process_time() - started
            if memory.numbers(["nodes"])["nodes"] != wanted:
                sys.exit(f"{name} does not visit {wanted:,} nodes")
        ratios.append(spent["contract"] / spent["bare"])
    low, high = sorted(ratios)[len(ratios) // 4], sorted(ratios)[-1 - len(ratios) // 4]
    print(f"{wanted:,} nodes: ratio {median(ratios):.3f} (half of the pairs {low:.3f}..{high:.3f})")


if __name__ == "__main__":
    main()
