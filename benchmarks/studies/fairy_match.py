"""Breakthrough: a match against Fairy-Stockfish, over paired openings, at equal time.

    python -m benchmarks.studies.fairy_match --evaluation breakthrough.weights --pairs 20
    python -m benchmarks.studies.fairy_match --evaluation own

Fairy-Stockfish is Debian's package of that name, or ``--command``.  Each opening of six random
moves is played twice with sides reversed; every move takes ``--seconds``, and both programs have a
table of 64 MiB and one thread.
"""

from __future__ import annotations

import argparse
import random
from typing import Any

from benchmarks.peers.engines import UciProgram
from cutnode import Searcher, legal_moves, load_game
from cutnode.contract.messages import move_text
from cutnode.contract.verbs import outcome, play
from cutnode.playing.elo import CONFIDENCE, elo_difference, mean_and_error

OPENING = 6
TABLE_MB = 64


def written(position: Any, move: int) -> str:
    """Return a move in UCI notation, which does not mark captures."""
    return move_text(position, move).replace("x", "")


def opening(start: Any, chosen: random.Random) -> list[int]:
    """Return random moves that do not end the game."""
    while True:
        position, line = start, []
        for _ in range(OPENING):
            line.append(chosen.choice(legal_moves(position)))
            position = play(position, line[-1])
            if outcome(position)[0]:
                break
        else:
            return line


def points(searcher: Any, peer: UciProgram, line: list[int], first: bool, seconds: float) -> int:
    """Play a game after an opening; return 1 if the searcher wins it, moving *first* or second."""
    position: Any = load_game("breakthrough").start()
    texts = []
    for move in line:
        texts.append(written(position, move))
        position = play(position, move)
    searcher.clear()
    peer.write("ucinewgame")
    own = (len(texts) % 2 == 0) == first
    while not outcome(position)[0]:
        if own:
            move = searcher.search(position, seconds=seconds).best_move
        else:
            moves = f"position startpos moves {' '.join(texts)}"
            peer.write(moves, f"go movetime {round(1000 * seconds)}")
            *_, answer = peer.read_to("bestmove")
            named = {written(position, each): each for each in legal_moves(position)}
            move = named[answer.split()[1]]
        texts.append(written(position, move))
        position, own = play(position, move), not own
    return int((outcome(position)[1] > 0) == own)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--evaluation", help="own, or a file of weights  [the default of searches]")
    parser.add_argument("--command", default="fairy-stockfish")
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=0.1)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    searcher = Searcher(load_game("breakthrough"), table=TABLE_MB, evaluation=chosen.evaluation)
    peer = UciProgram(chosen.command, TABLE_MB)
    peer.write("setoption name UCI_Variant value breakthrough")
    random_moves = random.Random(chosen.seed)
    counts = [0] * 5
    for number in range(1, chosen.pairs + 1):
        line = opening(load_game("breakthrough").start(), random_moves)
        won = sum(points(searcher, peer, line, first, chosen.seconds) for first in (True, False))
        counts[2 * won] += 1
        print(f"pair {number}: {won} of 2", flush=True)
    peer.close()
    mean, error = mean_and_error(tuple(counts))
    bounds = (min(max(mean + sign * CONFIDENCE * error, 0), 1) for sign in (-1, 1))
    low, high = (elo_difference(bound) for bound in bounds)
    print(
        f"{2 * chosen.pairs * mean:g} of {2 * chosen.pairs} points, {low:+.0f} to {high:+.0f} Elo"
    )


if __name__ == "__main__":
    main()
