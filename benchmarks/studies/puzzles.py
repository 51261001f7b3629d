"""Verify puzzles by another engine than the one that proved them.

    cutnode puzzles connect4 --count 500 --out connect4.jsonl
    python -m benchmarks.studies.puzzles connect4 connect4.jsonl

The values of all moves are proven again by df-pn (proof numbers) instead of alpha-beta.  A win
within N moves is checked by an exact alpha-beta search to depth 2 N - 1 instead of the search for
forced wins: it has to see the win of the solution within that depth, and none by another move.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from pathlib import Path
from typing import Any

import click

from cutnode import Engine, Table, legal_moves, load_game
from cutnode.contract.verbs import moves_again, outcome, play
from cutnode.kernels.scores import win_distance
from cutnode.search.searcher import Searcher


class Verifier:
    """The engines that verify puzzles of a game."""

    def __init__(self, game: Any, nodes: int):
        self.game = game
        self.nodes = nodes
        self.table = Table(256)
        self.engine: Engine | None = None
        self.searcher: Searcher | None = None

    def verify(self, puzzle: dict[str, Any]) -> bool | None:
        """Return whether a puzzle has exactly one solution; None if the limit left it open."""
        position = self.game.parse(puzzle["position"])
        solution = self.game.parse_move(position, puzzle["solution"])
        if puzzle["within"] is None:
            return self.keeps_alone(position, solution, puzzle["aim"])
        return self.wins_alone(position, solution, puzzle["within"])

    def keeps_alone(self, position: Any, solution: int, aim: str) -> bool | None:
        """Return whether only one move has at least a value, by proof numbers."""
        wanted = 1 if aim == "win" else 0
        signs = {move: self.sign(position, move) for move in legal_moves(position)}
        if None in signs.values():
            return None
        best = max(sign for sign in signs.values() if sign is not None)
        return best == wanted and [m for m in signs if signs[m] == best] == [solution]

    def sign(self, position: Any, move: int) -> int | None:
        """Return the sign of a move's value; None if the limit left it open."""
        child = play(position, move)
        over, value = outcome(child)
        if not over:
            self.engine = self.engine or Engine(child, table=self.table)
            value = self.engine.solve(child, engine="pn", weak=True, nodes=self.nodes).value
            if value is None:
                return None
        sign = (value > 0) - (value < 0)
        return sign if moves_again(position, child) else -sign

    def wins_alone(self, position: Any, solution: int, within: int) -> bool | None:
        """Return whether only one move wins within some moves, by exact alpha-beta."""
        self.searcher = self.searcher or Searcher(position, exact=True, table=self.table)
        others = [move for move in legal_moves(position) if move != solution]
        for moves, wins in (([solution], True), (others, False)):
            self.searcher.clear()
            depth = 2 * within - 1
            found = self.searcher.search(position, depth=depth, moves=moves, nodes=self.nodes)
            if found.reason == "interrupted":
                raise KeyboardInterrupt
            distance = win_distance(found.value) if found.value > 0 else None
            seen = distance is not None and distance <= depth
            if not seen and found.depth < depth and found.reason != "proven":
                return None
            if seen != wins:
                return False
        return True


@click.command()
@click.argument("game")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--nodes", help="Node limit per proof.", default=20_000_000, show_default=True)
def main(game: str, file: Path, nodes: int) -> None:
    """Print how many puzzles are verified, and their kinds and grades."""
    puzzles = [json.loads(line) for line in file.read_text().splitlines()]
    verifier = Verifier(load_game(game), nodes)
    found: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    began = time.process_time()
    with click.progressbar(puzzles, label="proofs") as bar:
        for puzzle in bar:
            answer = verifier.verify(puzzle)
            found[{True: "verified", False: "WRONG", None: "open"}[answer]] += 1
            if not answer:
                click.echo(f"{'open' if answer is None else 'WRONG'}: {puzzle}", err=True)
            soon = "" if puzzle["within"] is None else f" in {puzzle['within']}"
            kinds[f"{puzzle['aim']}{soon}"] += 1
    grades = Counter(puzzle["grade"] for puzzle in puzzles)
    distinct = len({puzzle["position"] for puzzle in puzzles})
    click.echo(f"{len(puzzles)} puzzles, {distinct} distinct: {dict(found)}")
    click.echo(f"kinds {dict(kinds)}, grades {dict(grades)}")
    click.echo(f"{time.process_time() - began:.0f} s of CPU time")


if __name__ == "__main__":
    main()
