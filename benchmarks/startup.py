"""From process start to the first answer: with a warm cache, and compiling from nothing.

python benchmarks/startup.py [--rounds 5]
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time

COMMAND = [sys.executable, "-m", "engine", "solve", "connect4", "4455", "--json"]


def answer(cache: str) -> float:
    """Seconds until the command has answered, rightly."""
    started = time.perf_counter()
    environment = {**os.environ, "CUTNODE_CACHE": cache}
    output = subprocess.run(COMMAND, env=environment, check=True, capture_output=True, text=True)
    if '"value": 18' not in output.stdout:
        sys.exit(f"wrong: {output.stdout}")
    return time.perf_counter() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as cache:
        print(f"cold  {answer(cache):6.2f} s")
        warm = [answer(cache) for _ in range(rounds)]
    print(f"warm  {statistics.median(warm):6.2f} s (median of {rounds}, least {min(warm):.2f})")


if __name__ == "__main__":
    main()
