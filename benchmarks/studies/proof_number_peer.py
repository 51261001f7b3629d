"""Ultimate tic-tac-toe: df-pn here and in ultimattt (N. Elhage, Rust) on the same positions.

    python -m benchmarks.studies.proof_number_peer PROGRAM data/selfplay-1s-positions.txt --from 30

PROGRAM is the ultimattt program; its repository has files of positions, one a line.  For each
position, both programs decide whether the mover wins, in one thread from an empty table.  Nodes are
expanded nodes, and seconds are processor time, which includes starting a process for ultimattt.
Two rules of its endgame analysis (at commit 9193fbb) are too strong: it discards moves in a board
where the opponent threatens to win the game, as if they could not stop him there; and it counts on
a win in a board to which it sends the opponent, as if he could not stop it.  So answers can differ;
a line says where.
"""

from __future__ import annotations

import argparse
import math
import re
import resource
import statistics
import subprocess
import time
from pathlib import Path
from typing import Any

from cutnode import Table, load_game
from cutnode.runtime.running import Limits
from cutnode.search.proof_numbers import ProofNumberSolver
from cutnode.search.solving import Resources

GAME = Path(__file__).parents[1] / "peers" / "ultimate.py"
WON_OR_NOT = 0, 1
"""Bounds of a value that leave a yes-or-no question."""


def ask_peer(program: str, text: str, mebibytes: int) -> tuple[bool, int, float]:
    """Return ultimattt's answer, its nodes, and its processor time."""
    command = [
        program,
        "analyze",
        "--engine=dfpn",
        "--limit=0s",
        f"--table-mem={mebibytes}Mi",
        text,
    ]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    found = re.search(r"result=(True|False).*?\bmid=(\d+)", output, re.DOTALL)
    if found is None:
        raise SystemExit(f"ultimattt has no answer: {output}")
    return found[1] == "True", int(found[2]), seconds


def ask_here(solver: ProofNumberSolver, position: Any) -> tuple[bool, int, float]:
    """Return the answer, nodes and processor time of the solver here."""
    solver.table.forget()
    began = time.process_time()
    result = solver.solve(position, weak=True, limits=Limits(), known=WON_OR_NOT, line=0)
    return result.value == 1, result.nodes, time.process_time() - began


def main() -> None:
    assert __doc__
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("positions", type=Path)
    parser.add_argument("--from", type=int, default=30, dest="first", metavar="PLY")
    parser.add_argument("--table", type=int, default=256, metavar="MIB")
    options = parser.parse_args()
    game = load_game(str(GAME))
    solver = ProofNumberSolver(Resources(type(game.start()), Table(options.table)))
    lines = options.positions.read_text().splitlines()[options.first :]
    ratios, rates = [], []
    for text in filter(None, lines):
        ours = ask_here(solver, game.parse(text))
        theirs = ask_peer(options.program, text, options.table)
        differ = "" if ours[0] == theirs[0] else "  ANSWERS DIFFER"
        print(f"{text}  {'won' if ours[0] else 'not won'}{differ}")
        for name, (_, nodes, seconds) in (("here", ours), ("ultimattt", theirs)):
            print(
                f"    {name:9} {nodes:11,} nodes {seconds:8.2f} s {nodes / seconds:12,.0f} nodes/s"
            )
        if not differ:
            ratios.append(math.log(theirs[2] / ours[2]))
            rates.append(math.log(ours[1] / ours[2] * theirs[2] / theirs[1]))
    if ratios:
        proofs, speed = (math.exp(statistics.mean(each)) for each in (ratios, rates))
        print(
            f"{len(ratios)} proofs: here {proofs:.1f} times as fast, {speed:.1f} times the nodes/s"
        )


if __name__ == "__main__":
    main()
