"""Games that order nothing: does the default search still pay where plain alpha-beta is cheap?

    python -m benchmarks.studies.cheap_games [--times 9]

Six games are taken without their verbs that order moves or know values, as a user first writes
them.  The default exact search starts from an empty table, and its CPU time is divided by the time
of plain alpha-beta to the same depth.  Both times are the least of several runs, and the scores
must agree.
"""

from __future__ import annotations

import argparse
import ast
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cutnode import Engine, alphabeta, load_game
from cutnode.contract.choices import ORDERING

SOLVING = ("bounds", "canonical", "forced", "parts", "part", "part_key", "asymmetry")
ROOT = Path(__file__).parents[2]
GAMES, TOYS = ROOT / "engine/cutnode/games", ROOT / "tests/toys"
CASES = (
    (GAMES / "clobber.py", "5x4", 11),
    (GAMES / "mnk.py", "4x4x4", 11),
    (TOYS / "dots_and_boxes.py", "2x3", 10),
    (TOYS / "amazons.py", "4x4", 6),
    (GAMES / "domineering.py", "5x5", 10),
    (GAMES / "uniform.py", "6x10", 10),
)


def bare(file: Path) -> str:
    """Return the source of a game without the verbs that order moves or know values."""
    source = file.read_text()
    lines: list[str | None] = list(source.splitlines())
    for part in ast.parse(source).body:
        if isinstance(part, ast.FunctionDef) and part.name in (*ORDERING, *SOLVING):
            first = min([part.lineno, *(each.lineno for each in part.decorator_list)])
            lines[first - 1 : part.end_lineno] = [None] * (part.end_lineno - first + 1)
    # It is a verb of sums, which need the others.
    return "\n".join(line for line in lines if line is not None).replace("swapped", "turned")


def timed(call: Callable[[], Any], times: int) -> tuple[float, Any]:
    """Return the least CPU time of some calls, after one to warm up, and the last result."""
    result, least = call(), float("inf")
    for _ in range(times):
        began = time.process_time()
        result = call()
        least = min(least, time.process_time() - began)
    return least, result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--times", type=int, default=9)
    times = parser.parse_args().times
    print(f"{'game':24}{'plain nodes':>14}{'ns':>6}{'nodes':>12}{'ns':>6}{'time':>7}")
    with tempfile.TemporaryDirectory() as folder:
        for file, variant, depth in CASES:
            path = Path(folder, f"bare_{file.name}")
            path.write_text(bare(file))
            start = load_game(f"{path}:{variant}").start()
            plain_time, plain = timed(lambda: alphabeta(start, depth=depth), times)  # noqa: B023
            with Engine(start, table=16, exact=True) as engine:

                def search() -> Any:
                    engine.new_game()
                    return engine.search(start, depth=depth)  # noqa: B023

                spent, found = timed(search, times)
            if found.value != plain.value:
                raise ValueError(f"{file.stem}:{variant}: {found.value}, not {plain.value}")
            each, plain_each = spent / found.nodes * 1e9, plain_time / plain.nodes * 1e9
            print(
                f"{f'{file.stem}:{variant}':24}{plain.nodes:>14,}{plain_each:>6.1f}"
                f"{found.nodes:>12,}{each:>6.1f}{spent / plain_time:>7.2f}"
            )


if __name__ == "__main__":
    main()
