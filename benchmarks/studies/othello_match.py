"""Othello: a match against rust_reversi, with equal time per move.

    pip install rust_reversi
    python -m benchmarks.studies.othello_match --seconds 0.05 --pairs 20

Each opening is played twice with colours reversed.
"""

from __future__ import annotations

import argparse
import math
import statistics
import time
from typing import Any

from benchmarks.peers.engines import RustReversi
from cutnode import legal_moves, load_game
from cutnode.playing.elo import CONFIDENCE, elo_difference
from cutnode.playing.matches import make_openings, play_game
from cutnode.playing.players import Choice, EnginePlayer

GAME = load_game("othello")
MOST_DEPTH = 60


class RustPlayer:
    """rust_reversi as a player."""

    def __init__(self, seconds: float):
        self.peer = RustReversi()
        self.milliseconds = round(1000 * seconds)

    def new_game(self, seed: int) -> None:
        """Do nothing: no state is kept between games."""

    def choose(self, position: Any) -> Choice:
        moves = legal_moves(position)
        started = time.perf_counter()
        move = moves[0]
        if len(moves) > 1:
            engine = self.peer.engine(MOST_DEPTH)
            move = engine.get_move_with_timeout(self.peer.board(position), self.milliseconds)
        spent = time.perf_counter() - started
        return Choice(move, None, (move,), 0, 0, spent, "time limit")


def main() -> None:
    assert __doc__
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=0.05, help="seconds per move")
    parser.add_argument("--pairs", type=int, default=20, help="pairs of games, one per opening")
    options = parser.parse_args()
    peer = RustPlayer(options.seconds)
    player = EnginePlayer(GAME, seconds=options.seconds)
    player.search(GAME.start())  # compiles
    scores, leads = [], []
    for number, opening in enumerate(make_openings(GAME, options.pairs, 8, 0)):
        points = 0.0
        for first in (True, False):
            players = (player, peer) if first else (peer, player)
            record = play_game(players, opening, seed=number)
            mine = record.score(0 if first else 1)
            points += mine / 2
            value = abs(record.value())
            leads.append(value if mine > 0.5 else -value if mine < 0.5 else 0)
        scores.append(points)
    mean = statistics.fmean(scores)
    error = CONFIDENCE * statistics.pstdev(scores) / math.sqrt(len(scores))
    print(
        f"{2 * options.pairs} games at {1000 * options.seconds:.0f} ms a move: {mean:.3f} +- "
        f"{error:.3f} of the points ({elo_difference(mean):+.0f} Elo), "
        f"{statistics.fmean(leads):+.1f} discs a game"
    )


if __name__ == "__main__":
    main()
