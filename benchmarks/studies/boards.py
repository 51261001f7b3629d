"""Proofs of whole boards: openings and puzzles of Hex, first positions of Domineering and of sums.

    python -m benchmarks.studies.boards hex --sizes 4 5 6 7 [--seconds 60]
    python -m benchmarks.studies.boards puzzles [--seconds 60]
    python -m benchmarks.studies.boards domineering --sizes 6x6 7x7 8x8 [--seconds 600]
    python -m benchmarks.studies.boards sums --sizes clobber:4x6 cram:5x7 nogo:4x5 [--seconds 600]

Alpha-beta and df-pn solve each position from an empty table, within the time limit; of games that
fall apart, the solver of sums finds who wins and, in impartial games, the nimber.  Only half of the
openings of a board are solved; the other half is the same turned by 180 degrees.  All answers are
compared with published ones in ``tests/data``, if there are any.  Times are CPU time.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any, Literal

from cutnode import Table, load_game, solve

DATA = Path(__file__).parents[2] / "tests" / "data"
ENGINES: tuple[Literal["alphabeta", "pn"], ...] = ("alphabeta", "pn")
MEGABYTES = 1024


def rows(name: str) -> list[list[str]]:
    """Return the fields of the lines of a data file."""
    lines = (DATA / name).read_text().splitlines()
    return [
        [field.strip() for field in line.split(";")] for line in lines if line and line[0] != "#"
    ]


def published(board: str) -> tuple[int | None, int | None]:
    """Return the published value and nimber of a game's first position; None if it has none."""
    game, _, size = board.partition(":")
    name = {"cram": "cram_nimbers", "kayles": "kayles"}.get(game, f"{game}_boards")
    known = dict(rows(f"{name}.txt"))
    found = known.get(size, known.get("x".join(size.split("x")[::-1])))
    if found is None:
        return None, None
    return (1 if found not in ("P", "0") else -1), int(found) if found.isdigit() else None


class Effort:
    """The effort of one engine for some positions."""

    def __init__(self, engine: Literal["alphabeta", "pn", "sums"], seconds: float):
        self.engine, self.seconds = engine, seconds
        self.proven = self.nodes = 0
        self.time = 0.0
        self.open: list[str] = []

    def ask(
        self, name: str, position: Any, expected: int | None, nimber: int | None = None
    ) -> None:
        """Prove who wins; :class:`SystemExit` if it is not the *expected* player.

        If a *nimber* is given, prove it as well.
        """
        if not self.time:  # compile, or load
            solve(position, weak=True, engine=self.engine, nodes=1)
        began = time.process_time()
        table = Table(MEGABYTES)
        result = solve(
            position,
            weak=nimber is None,
            engine=self.engine,
            table=table,
            seconds=self.seconds,
        )
        self.time += time.process_time() - began
        self.nodes += result.nodes
        if not result.proven or (nimber is not None and result.nimber is None):
            self.open.append(name)
        elif expected is not None and (result.value, result.nimber) != (expected, nimber):
            answer = f"{result.value} with the nimber {result.nimber}"
            sys.exit(f"{name} is {expected} with {nimber}, not {answer} as {self.engine} says")
        else:
            self.proven += 1

    def show(self, what: str) -> None:
        unknown = f"; open: {' '.join(self.open)}" if self.open else ""
        asked = self.proven + len(self.open)
        print(
            f"{what:12} {self.engine:9} {self.proven:3} of {asked:3} proven, "
            f"{self.nodes:13,} nodes, {self.time:8.1f} s{unknown}",
            flush=True,
        )


def hex_openings(size: str, seconds: float) -> None:
    """Solve the position after each first move of a board."""
    known = {variant: text.replace("/", "") for variant, text in rows("hex_openings.txt")}
    game = load_game(f"hex:{size}")
    empty = game.start()
    moves = game.legal_moves(empty)
    for engine in ENGINES:
        found = Effort(engine, seconds)
        for move in moves[: (len(moves) + 1) // 2]:
            winner = known[size][move] if size in known else ""
            expected = None if not winner else -1 if winner == "W" else 1
            found.ask(game.move_text(empty, move), game.play(empty, move), expected)
        found.show(f"hex:{size}")


def hex_puzzles(size: str, seconds: float) -> None:
    """Solve the puzzles of a board."""
    game = load_game(f"hex:{size}")
    for engine in ENGINES:
        found = Effort(engine, seconds)
        for board, text, winner, _ in rows("hex_puzzles.txt"):
            if board == size:
                expected = 1 if text[-1] == winner else -1
                found.ask(text, game.parse(text), expected)
        found.show(f"puzzles {size}")


def domineering(size: str, seconds: float) -> None:
    """Solve the empty board with Vertical to begin."""
    classes = dict(rows("domineering_boards.txt"))
    game = load_game(f"domineering:{size}")
    known = classes.get(size)
    expected = None if known is None else 1 if known in "VN" else -1
    for engine in ENGINES:
        found = Effort(engine, seconds)
        found.ask(size, game.start(), expected)
        found.show(size)


def sums(board: str, seconds: float) -> None:
    """Solve the first position of a game that falls apart, such as ``clobber:4x6``."""
    found = Effort("sums", seconds)
    found.ask(board, load_game(board).start(), *published(board))
    found.show(board)


PARTS = {
    "hex": (hex_openings, ["4", "5", "6"]),
    "puzzles": (hex_puzzles, ["3", "4", "5", "6", "7"]),
    "domineering": (domineering, ["6x6", "7x7", "8x8", "9x7", "7x9", "10x7"]),
    "sums": (sums, ["clobber:3x8", "clobber:4x6", "clobber:5x5", "cram:5x7", "nogo:4x5"]),
}


def main() -> None:
    assert __doc__
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--sizes", nargs="*")
    parser.add_argument("--seconds", type=float, default=60)
    options = parser.parse_args()
    measure, usual = PARTS[options.part]
    for size in options.sizes or usual:
        measure(size, options.seconds)


if __name__ == "__main__":
    main()
