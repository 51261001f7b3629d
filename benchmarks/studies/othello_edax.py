"""Othello: endgames proven here and by Edax (R. Delorme, C), in turns on the same machine.

    python -m benchmarks.studies.othello_edax ./lEdax-x86-64-v3 --numbers 40-44 --times 3

EDAX is the program; its weights lie in ``data/eval.dat`` in its folder.  Both programs prove the
values of endgames of the FFO test suite, or of a file in Edax's format (``.obf``), in one thread
from an empty table, and the values must be right.  Edax proves them at level 60: at its usual level
it stops early where there are more than 23 empty squares.  Times are processor time; Edax's include
its start, a tenth of a second.
"""

from __future__ import annotations

import argparse
import re
import statistics
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.positions import ffo_endgames
from cutnode import Table, load_game, solve

SQUARES = 64

TOTAL = re.compile(r"(\d+) nodes in .*?cpu = +(\d+):([\d.]+)\)")


class Spent(NamedTuple):
    """The nodes and the processor time of all positions."""

    nodes: int
    seconds: float


def read_line(line: str) -> tuple[Any, int]:
    """Return the position and the value of a line in Edax's format, best move first."""
    found = re.match(r"([XO-]{64}) ([XO]); *\S+?:([+-]\d+)", line)
    if found is None:
        raise SystemExit(f"no position with a value: {line.strip()}")
    squares, side, value = found.groups()
    rows = [squares[at : at + 8] for at in range(0, SQUARES, 8)]
    text = "/".join(rows).translate(str.maketrans("XO-", "xo."))
    return load_game("othello").parse(f"{text} {side.lower()}"), int(value)


def written(position: Any, value: int) -> str:
    """Return a line in Edax's format."""
    own, other = "OX" if position.white else "XO"
    squares = (
        own if position.mine >> at & 1 else other if position.theirs >> at & 1 else "-"
        for at in range(SQUARES)
    )
    return f"{''.join(squares)} {own}; a1:{value:+d};\n"


def ask_edax(program: Path, endgames: Path) -> Spent:
    """Return what Edax needs for a file of endgames; :class:`SystemExit` if a value is wrong."""
    command = [program, "-solve", endgames, "-n-tasks", "1", "-level", "60", "-v"]
    try:
        ran = subprocess.run(command, capture_output=True, text=True, cwd=program.parent)
    except OSError as error:
        raise SystemExit(f"{program} does not run: {error.strerror}") from None
    output = ran.stdout + ran.stderr
    total = TOTAL.search(output)
    if total is None or "Erroneous score" in output:
        raise SystemExit(f"Edax does not prove the values:\n{output.strip()}")
    nodes, minutes, seconds = total.groups()
    return Spent(int(nodes), 60 * int(minutes) + float(seconds))


def ask_here(endgames: list[tuple[Any, int]], table: Table) -> Spent:
    """Return what the solver here needs; :class:`SystemExit` if a value is wrong."""
    nodes, seconds = 0, 0.0
    for position, value in endgames:
        table.forget()
        began = time.process_time()
        result = solve(position, table=table)
        seconds += time.process_time() - began
        nodes += result.nodes
        if result.value != value:
            raise SystemExit(f"{position}\nis worth {value:+d}, not {result.value:+d}")
    return Spent(nodes, seconds)


def numbers_of(text: str) -> range:
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("edax", type=Path, help="the program")
    parser.add_argument("--numbers", type=numbers_of, default="40-44", help="of the FFO suite")
    parser.add_argument("--file", type=Path, help="endgames in Edax's format instead")
    parser.add_argument("--times", type=int, default=3, help="pairs of runs")
    given = parser.parse_args()
    if given.file:
        endgames = [read_line(line) for line in given.file.read_text().splitlines() if line]
    else:
        endgames = [(each.position, each.value) for each in ffo_endgames(given.numbers)]
    if not endgames:
        raise SystemExit("no endgames: the FFO suite here has numbers 1 to 19 and 40 to 49")
    table = Table(256)
    ask_here(endgames[:1], table)  # compiles
    print(f"{'':9}{'nodes':>14}{'seconds':>9}{'Edax':>14}{'seconds':>9}{'time':>7}")
    ratios = []
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "endgames.obf")
        file.write_text("".join(written(*endgame) for endgame in endgames))
        for number in range(given.times):
            peer, here = ask_edax(given.edax.resolve(), file), ask_here(endgames, table)
            ratios.append(here.seconds / peer.seconds)
            print(
                f"run {number + 1:<5}{here.nodes:14,}{here.seconds:9.2f}{peer.nodes:14,}"
                f"{peer.seconds:9.2f}{ratios[-1]:7.2f}",
                flush=True,
            )
    print(
        f"{len(endgames)} endgames: {here.nodes / peer.nodes:.2f} of Edax's nodes, "
        f"{statistics.median(ratios):.2f} of its time"
    )


if __name__ == "__main__":
    main()
