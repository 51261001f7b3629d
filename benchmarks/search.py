"""The search of limited depth on Connect Four 7x6 from the empty board.

    python benchmarks/search.py

The evaluation is ``cells`` (each stone counts the lines of four through its cell) and a win
is a win whenever it comes, as in published counts.  Plain alpha-beta has to visit exactly
the published nodes before it is timed.  The exact search with everything on is set beside
the best public library that was measured (a Rust one with history ordering): its nodes
over all iterations, and its 1.6 s of depth 18.
"""

from __future__ import annotations

import sys
import time
from statistics import median

from engine import Searcher, alphabeta, load_game

PLAIN = {6: (11_767, 0), 8: (204_037, -1), 10: (2_666_528, 0), 12: (38_298_168, 0)}
PEER = {8: 11_474, 10: 33_839, 12: 97_012, 16: 846_000, 18: 3_100_000}
PEER_SECONDS = 1.6
ROUNDS = 5


def main() -> None:
    start = load_game("connect4").start()
    options = {"evaluation": "cells", "soonest": False}
    print("plain alpha-beta")
    for depth, wanted in PLAIN.items():
        results = [alphabeta(start, depth, **options) for _ in range(ROUNDS)]
        if (results[0].nodes, results[0].value) != wanted:
            sys.exit(f"depth {depth}: {results[0]}, not {wanted}")
        seconds = median(result.seconds for result in results)
        rate = wanted[0] / seconds / 1e6
        print(f"  depth {depth:2}  {wanted[0]:>12,} nodes  {seconds:8.4f} s  {rate:6.1f} M/s")

    print("exact search, everything on")
    engine = Searcher(start, exact=True, **options)
    for depth, peer in PEER.items():
        seconds = []
        for _ in range(ROUNDS):
            engine.clear()
            began = time.process_time()
            result = engine.search(start, depth=depth)
            seconds.append(time.process_time() - began)
        if depth in PLAIN and result.value != PLAIN[depth][1]:
            sys.exit(f"depth {depth}: value {result.value}")
        rate = result.nodes / median(seconds) / 1e6
        print(
            f"  depth {depth:2}  {result.nodes:>12,} nodes  {median(seconds):8.4f} s  "
            f"{rate:6.1f} M/s  {result.nodes / peer:.2f} of the peer's nodes"
        )
    print(f"  depth 18: {median(seconds) / PEER_SECONDS:.2f} of the peer's time")

    calls = 2000
    engine.search(start, depth=1)
    began = time.perf_counter()
    for _ in range(calls):
        engine.search(start, depth=1)
    spent = (time.perf_counter() - began) / calls
    print(f"a search of depth 1: {1e6 * spent:.1f} microseconds")


if __name__ == "__main__":
    main()
