"""The fingerprint of the search: nodes on fixed positions.

    python benchmarks/signature.py            # compare with signature.txt
    python benchmarks/signature.py --update   # write it

With one thread the same search visits the same nodes, so a change of the code is functional if and
only if these numbers change.  A commit that changes one says why.  A game that signature.txt does
not list yet is printed but not compared.
"""

from __future__ import annotations

import argparse
import functools
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))  # also run as a script

from benchmarks.positions import SETS, connect4_set, ffo_endgames
from cutnode import Searcher, Table, game_names, legal_moves, load_game, solve_many
from cutnode.contract.verbs import play

KEPT = Path(__file__).with_name("signature.txt")
EVERY = 10
DEPTH = 7
DEPTHS = {"clobber": 5, "cram": 5, "go": 4, "hex": 3, "mnk": 3, "nogo": 4, "qubic": 4}
DEPTHS |= {"skirmish": 3, "toads": 16, "ur": 4, "y": 3}
"""The plies of each search; fewer for games with many moves or long turns."""


def solve_nodes(positions: list[Any], values: list[int]) -> int:
    """Return the nodes to solve positions, each from an empty table."""
    batch = solve_many(positions, table=Table(64), cold=True)
    if batch.values.tolist() != values:
        raise ValueError("a position has another value")
    return int(batch.nodes.sum())


def connect4_nodes(name: str) -> int:
    """Return the nodes to solve a tenth of a set of Connect Four."""
    _, positions, values = connect4_set(name, EVERY)
    return solve_nodes(positions, values)


def othello_nodes() -> int:
    """Return the nodes to solve the easy endgames of the FFO test suite."""
    endgames = ffo_endgames(range(1, 20))
    return solve_nodes([e.position for e in endgames], [e.value for e in endgames])


@functools.cache
def searcher(name: str, exact: bool) -> Searcher:
    return Searcher(load_game(name), exact=exact, table=16)


def search_nodes(name: str, exact: bool, depth: int) -> int:
    """Return the nodes to search the start of a game and three of its children."""
    engine, start, nodes = searcher(name, exact), load_game(name).start(), 0
    for position in (start, *(play(start, move) for move in legal_moves(start)[:3])):
        engine.clear()
        nodes += engine.search(position, depth=depth).nodes
    return nodes


def entries() -> dict[str, Callable[[], int]]:
    """Return the functions that count nodes, by the names of their lines."""
    found: dict[str, Callable[[], int]] = {
        f"connect4 solve {name}": functools.partial(connect4_nodes, name) for name in SETS
    }
    found["othello solve FFO 1-19"] = othello_nodes
    for name in game_names():
        depth = DEPTHS.get(name, DEPTH)
        for exact, kind in ((True, "exact"), (False, "selective")):
            task = functools.partial(search_nodes, name, exact, depth)
            found[f"{name} search {kind} {depth}"] = task
    return found


def kept() -> dict[str, int]:
    """Return the numbers in signature.txt."""
    fields = (line.rpartition(" ") for line in KEPT.read_text().splitlines())
    return {name: int(nodes) for name, _, nodes in fields}


def main() -> None:
    assert __doc__
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--update", action="store_true")
    update = parser.parse_args().update
    found = {}
    for name, count in entries().items():
        found[name] = count()
        print(f"{name} {found[name]}", flush=True)
    if update:
        KEPT.write_text("".join(f"{name} {nodes}\n" for name, nodes in found.items()))
        return
    moved = {name: nodes for name, nodes in kept().items() if found.get(name) != nodes}
    if moved:
        sys.exit(f"the signature moved; it was {moved}")


if __name__ == "__main__":
    main()
