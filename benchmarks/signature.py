"""The fingerprint of the search: nodes on fixed positions.

    python benchmarks/signature.py            # compare with signature.txt
    python benchmarks/signature.py --update   # write it

With one thread the same search visits the same nodes, so a change of the code is
functional if and only if this number moves.  A commit that moves it says why.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from positions import SETS, connect4_set

from engine import Table, solve_many

KEPT = Path(__file__).with_name("signature.txt")
EVERY = 10


def signature() -> str:
    """A line for each set: its name, and the nodes of a tenth of its positions."""
    lines = []
    for name in SETS:
        _, positions, values = connect4_set(name, EVERY)
        batch = solve_many(positions, table=Table(64), cold=True)
        if batch.values.tolist() != values:
            sys.exit(f"wrong value in {name}")
        lines.append(f"connect4 {name} {batch.nodes.sum()}")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--update", action="store_true")
    found = signature()
    print(found, end="")
    if parser.parse_args().update:
        KEPT.write_text(found)
    elif found != KEPT.read_text():
        sys.exit(f"the signature moved; it was\n{KEPT.read_text()}")


if __name__ == "__main__":
    main()
