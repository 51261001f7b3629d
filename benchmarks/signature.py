"""The fingerprint of the search: nodes on fixed positions.

    python benchmarks/signature.py            # compare with signature.txt
    python benchmarks/signature.py --update   # write it

With one thread the same search visits the same nodes, so a change of the code is
functional if and only if these numbers move.  A commit that moves one says why.  A game
that signature.txt does not list yet is printed and not compared.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from othello import GAME, suite
from positions import SETS, connect4_set

from engine import Searcher, Table, game_names, legal_moves, load_game, solve_many
from engine.contract.verbs import play

KEPT = Path(__file__).with_name("signature.txt")
EVERY = 10
DEPTH = 7
DEPTHS = {"skirmish": 3, "ur": 4}
"""The plies of each search; fewer where turns are long."""


def signature() -> dict[str, int]:
    """Nodes by name: to solve a tenth of each set and endgames of Othello, and to search each
    game, both ways."""
    found = {}
    for name in SETS:
        _, positions, values = connect4_set(name, EVERY)
        batch = solve_many(positions, table=Table(64), cold=True)
        if batch.values.tolist() != values:
            sys.exit(f"wrong value in {name}")
        found[f"connect4 solve {name}"] = int(batch.nodes.sum())
    endgames = [(GAME.parse(text), value) for _, text, value, _ in suite(range(1, 20))]
    batch = solve_many([position for position, _ in endgames], table=Table(64), cold=True)
    if batch.values.tolist() != [value for _, value in endgames]:
        sys.exit("wrong value in the FFO endgames")
    found["othello solve FFO 1-19"] = int(batch.nodes.sum())
    for name in game_names():
        start = load_game(name).start()
        depth = DEPTHS.get(name, DEPTH)
        positions = [start, *(play(start, move) for move in legal_moves(start)[:3])]
        for exact in (True, False):
            engine = Searcher(start, exact=exact, table=16)
            nodes = 0
            for position in positions:
                engine.clear()
                nodes += engine.search(position, depth=depth).nodes
            found[f"{name} search {'exact' if exact else 'selective'} {depth}"] = nodes
    return found


def read(text: str) -> dict[str, int]:
    fields = (line.rpartition(" ") for line in text.splitlines())
    return {name: int(nodes) for name, _, nodes in fields}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--update", action="store_true")
    update = parser.parse_args().update
    found = signature()
    text = "".join(f"{name} {nodes}\n" for name, nodes in found.items())
    print(text, end="")
    if update:
        KEPT.write_text(text)
        return
    kept = read(KEPT.read_text())
    moved = {name: nodes for name, nodes in kept.items() if found.get(name) != nodes}
    if moved:
        sys.exit(f"the signature moved; it was {moved}")


if __name__ == "__main__":
    main()
