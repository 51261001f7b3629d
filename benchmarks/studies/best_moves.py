"""How often players choose a best move, in positions that can be solved.

    python -m benchmarks.studies.best_moves connect4 positions.txt nodes=300000 \\
        nodes=300000,evaluation=own

A best move keeps the proven value of the position; a sound one at least does not turn a win into a
draw or a loss, or a draw into a loss.  Players are described as in ``cutnode match``.  The file has
one position a line; text after a blank is ignored, and ``#`` begins a comment.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from cutnode import Table, analyse, load_game, make_player


def sign(value: int) -> int:
    return (value > 0) - (value < 0)


@click.command()
@click.argument("game")
@click.argument("positions", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("players", nargs=-1, required=True)
@click.option("--count", help="Use N positions of the file.", default=300, show_default=True)
def main(game: str, positions: Path, players: tuple[str, ...], count: int) -> None:
    """Print each player's share of best moves and of sound moves."""
    table, chosen = Table(256), load_game(game)
    lines = [
        line.split()[0]
        for line in positions.read_text().splitlines()
        if line.strip() and not line.startswith("#")
    ]
    solved: list[tuple[Any, dict[int, int]]] = []
    with click.progressbar([chosen.parse(line) for line in lines[:count]], label="proofs") as bar:
        for position in bar:
            scores = analyse(position, table=table).scores or {}
            solved.append((position, {move: int(score or 0) for move, score in scores.items()}))
    for configuration in players:
        player, best, sound = make_player(chosen, configuration), 0, 0
        player.new_game(0)
        for position, scores in solved:
            value, most = scores[player.choose(position).move], max(scores.values())
            best += value == most
            sound += sign(value) == sign(most)
        total = len(solved)
        click.echo(
            f"{configuration}: best {best / total:.1%}, sound {sound / total:.1%} of {total}"
        )


if __name__ == "__main__":
    main()
