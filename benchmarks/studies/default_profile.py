"""The default search against exact alpha-beta, in games with untuned parameters.

    python -m benchmarks.studies.default_profile --move-seconds 0.05 --pairs 100 --workers 2

The opponent has a table, move ordering, iterative deepening, and principal variation search, all of
them exact.  A technique that loses in one of these games assumes something that games need not
have.  A game is played with its own rules and evaluation, and with the default profile; ``--games``
names other games.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

from benchmarks.positions import DATA
from cutnode.contract.loading import load_game
from cutnode.kernels.techniques import choose
from cutnode.playing.elo import CONFIDENCE, POINTS, elo_difference, mean_and_error
from cutnode.playing.matches import match

TOYS = DATA.parent.parent / "tests" / "toys"

GAMES = (
    "mnk:8x8x5",
    "qubic",
    "hex:7",
    "oware",
    "domineering",
    "y:8",
    *(
        f"{TOYS / name}"
        for name in (
            "dots_and_boxes.py:4x4",
            "amazons.py:6x6",
            "quixo.py",
            "teeko.py",
            "hexapawn.py:6x6",
            "fourinarow.py",
        )
    ),
)
"""Shipped games without their own profile, and toys."""

PLAIN = ("table", "order", "killers", "history", "deepening", "pvs")
"""The opponent's techniques, as far as a game allows them."""


@dataclass(frozen=True)
class Standing:
    """The pairs of games against plain alpha-beta, counted by their points."""

    game: str
    pairs: tuple[int, ...]

    def __str__(self) -> str:
        mean, error = mean_and_error(self.pairs)
        ends = [elo_difference(mean + sign * CONFIDENCE * error) for sign in (-1, 1)]
        elo = f"{elo_difference(mean):+6.0f} ({ends[0]:+.0f} to {ends[1]:+.0f})"
        return f"{self.game:24}  {2 * sum(self.pairs):5}  {mean:.3f}  {elo}"


def play(game: str, limit: str, pairs: int, plies: int, seed: int, workers: int) -> Standing:
    """Play a match of the default search against plain alpha-beta."""
    usual = choose(type(load_game(game).start()), None, exact=True)
    names = "+".join(name for name in PLAIN if name in usual)
    result = match(
        game,
        limit,
        f"techniques={names},{limit}",
        pairs=pairs,
        plies=plies,
        seed=seed,
        processes=workers,
    )
    if result.reason == "interrupted":
        raise KeyboardInterrupt
    return Standing(Path(game).name, result.pairs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--games", nargs="+", default=GAMES, metavar="GAME")
    parser.add_argument("--pairs", type=int, default=100)
    parser.add_argument("--move-seconds", type=float, default=0.05, metavar="S")
    parser.add_argument("--move-nodes", type=int, metavar="N", help="instead of seconds")
    parser.add_argument("--plies", type=int, default=4, help="random moves of an opening")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=1)
    given = parser.parse_args()
    sys.path.append(str(TOYS.parent))  # toys share code
    limit = f"seconds={given.move_seconds}"
    if given.move_nodes is not None:
        limit = f"nodes={given.move_nodes}"
    print(f"default against {', '.join(PLAIN)}; {limit}\n")
    print(f"{'game':24}  games  score     elo (95 %)")
    total = [0] * len(POINTS)
    try:
        for game in given.games:
            standing = play(game, limit, given.pairs, given.plies, given.seed, given.workers)
            total = [a + b for a, b in zip(total, standing.pairs, strict=True)]
            print(standing, flush=True)
    except KeyboardInterrupt:
        print("interrupted")
    if sum(total):
        print(Standing("all", tuple(total)))


if __name__ == "__main__":
    main()
