"""The command ``cutnode tree``: the tree that a search visits, as a drawing or as data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

import cutnode
from cutnode.cli.inputs import read_positions, with_techniques
from cutnode.cli.options import (
    GAME,
    POSITION,
    SEARCHER,
    choice,
    depth_option,
    integer,
    nodes_option,
    out_option,
    plies_option,
)
from cutnode.contract.choices import RECORDED_NODES, RECORDED_SEARCHES, TREE_ENDINGS
from cutnode.contract.errors import CutnodeError
from cutnode.contract.text import quoted
from cutnode.storage.files import check_file, write_whole

EPILOG = """\
\b
GAME      a game, as for `cutnode solve --help`.
POSITION  in the game's own notation; the default is the start.

\b
A node shows the move that led to it, its score (exact, or a bound), the
window, the remaining depth, the nodes visited in its subtree, and why the
search went no deeper. All scores are for the player to move at the root.

\b
Exit codes: 0 written, 1 an unexpected failure, 2 bad input or too large a
search, 130 interrupted (nothing is written).
"""


@click.command(epilog=EPILOG)
@GAME
@POSITION
@depth_option(required=True)
@choice("--search", "The full search with its techniques, or a plain one.", RECORDED_SEARCHES)
@SEARCHER
@nodes_option("Give up if the search visits more than N nodes.", default=RECORDED_NODES)
@plies_option("Show N plies of the tree.", default=3)
@integer("--width", "Show at most N children of a node, ...", default=6)
@integer("--size", "... and at most N nodes.", default=120)
@click.option(
    "--format",
    "kind",
    type=click.Choice(list(TREE_ENDINGS)),
    help="Output format; by default it follows from the ending of FILE, or is mermaid.",
)
@out_option("Write to FILE instead of standard output.")
def tree(
    game: str,
    position: str | None,
    kind: str | None,
    out: str | None,
    **options: Any,
) -> None:
    """Draw the tree that a search of N plies visits.

    The page shows as much of it as fits: the principal variation, the nodes near the root, the best
    moves and the largest subtrees come first, and the rest is summarized. The search runs in plain
    Python and visits the same nodes as the compiled one. With iterative deepening, the tree shows
    the last iteration.
    """
    from cutnode.tree.drawing import FORMATS

    if out is not None:
        kind = kind or format_of(out)
        check_file(out)
    _, [(_, start)] = read_positions(game, position, None)
    options = with_techniques(type(start), options)
    if options["search"] != "search" and options["techniques"] is None:
        del options["techniques"]
    written = FORMATS[kind or "mermaid"](cutnode.record_tree(start, **options))
    if out is None:
        click.echo(written, nl=False)
    else:
        write_whole(out, written.encode())


def format_of(file: str) -> str:
    """Return the format for the ending of a file's name."""
    for kind, endings in TREE_ENDINGS.items():
        if Path(file).suffix.lower() in endings:
            return kind
    known = ", ".join(ending for endings in TREE_ENDINGS.values() for ending in endings)
    raise CutnodeError(
        f"the file must end in {known}, got {quoted(file)} (or choose a format with --format?)"
    )
