"""The command ``cutnode tree``: the tree that a search visited, as a drawing or as data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from engine.cli.inputs import chosen_techniques, read_positions
from engine.cli.options import (
    GAME,
    POSITION,
    SEARCHER,
    choice,
    depth_option,
    integer,
    nodes_option,
    option,
    plies_option,
)
from engine.contract.errors import CutnodeError
from engine.contract.text import quoted
from engine.kernels.parameters import MOST_DEPTH
from engine.storage.files import check_file, write_whole
from engine.tree.drawing import FORMATS
from engine.tree.recording import MOST_NODES, SEARCHES, record_tree

__all__ = ["tree"]

EPILOG = """\
\b
GAME      a game, as for `cutnode solve --help`.
POSITION  in the game's own notation; the default is the start.

\b
A node shows the move that led to it, its score (exact, or a bound), the
window, the depth left, the nodes visited there and below, and why the search
went no further. All scores are for the player to move at the root.

\b
Exit codes: 0 written, 1 an unexpected failure, 2 bad input or too large a
search, 130 interrupted (nothing is written).
"""


@click.command(epilog=EPILOG)
@GAME
@POSITION
@depth_option(most=MOST_DEPTH, required=True)
@choice("--search", "The search with its techniques, or a plain one.", SEARCHES)
@SEARCHER
@nodes_option("Give up a search of more than N nodes.", default=MOST_NODES)
@plies_option("Show N plies of the tree.", default=3)
@integer("--width", "Show at most N children of a node, ...", default=6)
@integer("--size", "... and at most N nodes.", default=120)
@click.option(
    "--format",
    "kind",
    type=click.Choice(list(FORMATS)),
    help="What to write; by default what the ending of the file says, or mermaid.",
)
@option("--output", "Write to FILE, not to standard output.", metavar="FILE")
def tree(
    game: str,
    position: str | None,
    techniques: str | None,
    without: str | None,
    kind: str | None,
    output: str | None,
    **options: Any,
) -> None:
    """Draw the tree that a search of N plies visits, as far as it fits a page.

    The search runs in plain Python, node for node as compiled. With deepening, the tree is
    that of the last iteration. Shown first are the line of best play, what is near the root,
    best moves, and what took most nodes; the rest is summed up.
    """
    if output is not None:
        kind = kind or format_of(output)
        check_file(output)
    _, [(_, start)] = read_positions(game, position, None)
    if options["search"] == "search" or techniques is not None or without is not None:
        options["techniques"] = chosen_techniques(
            type(start), techniques, without, options["exact"]
        )
    write, _ = FORMATS[kind or "mermaid"]
    written = write(record_tree(start, **options))
    if output is None:
        click.echo(written, nl=False)
    else:
        write_whole(output, written.encode())


def format_of(file: str) -> str:
    """Return the format that the ending of a file's name means."""
    for kind, (_, endings) in FORMATS.items():
        if Path(file).suffix.lower() in endings:
            return kind
    known = ", ".join(ending for _, endings in FORMATS.values() for ending in endings)
    raise CutnodeError(
        f"a tree is a file that ends in {known}, not {quoted(file)}; or say --format"
    )
