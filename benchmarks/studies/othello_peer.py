"""Othello: endgames proven here and by Edax (R. Delorme, C), in turns on the same machine.

    python -m benchmarks.studies.othello_peer ./lEdax-x86-64-v3 --numbers 40-44 --times 3

EDAX is the program; its weights lie in ``data/eval.dat`` in its folder.  Both programs prove the
values of endgames of the FFO test suite, or of a file of lines in OBF, in one thread from an empty
table, and the values must be right.  Edax runs at level 60, because at its usual level it proves
nothing where there are more than 24 empty squares.  Times are processor time; Edax's include its
start, a tenth of a second.
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
from cutnode import CutnodeError, Table, load_game, solve

TOTAL = re.compile(r"(\d+) nodes in .*?cpu = +(\d+):([\d.]+)\)")


class Spent(NamedTuple):
    """The nodes and the processor time of all positions."""

    nodes: int
    seconds: float


def endgame(line: str) -> tuple[Any, int]:
    """Return the position and the value of a line such as ``--XO... X; A2:+38; C7:+36``."""
    value = re.search(r";[^;:]*:([+-]\d+)", line)
    if value is None:
        raise SystemExit(f"a position needs its best move and value, as in 'X; A2:+38;': {line}")
    return load_game("othello").parse(line), int(value[1])


def endgames_in(file: Path) -> list[tuple[Any, int]]:
    """Return the endgames of a file in OBF; :class:`SystemExit` if it cannot be read."""
    try:
        return [endgame(line) for line in file.read_text().splitlines() if line.strip()]
    except (OSError, CutnodeError) as error:
        raise SystemExit(f"{file}: {error}") from None


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
    found = re.fullmatch(r"(\d+)(?:-(\d+))?", text)
    if found is None:
        raise argparse.ArgumentTypeError(f"must be like 40 or 40-44, got {text!r}")
    return range(int(found[1]), int(found[2] or found[1]) + 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("edax", type=Path, help="the program")
    parser.add_argument("--numbers", type=numbers_of, default="40-44", help="of the FFO suite")
    parser.add_argument("--file", type=Path, help="endgames in OBF instead, with values")
    parser.add_argument("--times", type=int, default=3, help="pairs of runs")
    given = parser.parse_args()
    if given.file:
        endgames = endgames_in(given.file)
    else:
        endgames = [(each.position, each.value) for each in ffo_endgames(given.numbers)]
    if not endgames:
        raise SystemExit("no endgames: the FFO suite here has numbers 1 to 19 and 40 to 49")
    if given.times < 1:
        raise SystemExit(f"--times must be at least 1, got {given.times}")
    table = Table(256)
    ask_here(endgames[:1], table)  # compiles
    print(f"{'':9}{'nodes':>14}{'seconds':>9}{'Edax':>14}{'seconds':>9}{'time':>7}")
    ratios = []
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "endgames.obf")
        text = load_game("othello").module.position_text
        file.write_text("".join(f"{text(at)}; a1:{value:+d};\n" for at, value in endgames))
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
