"""Othello: depth 12 from the start, the FFO endgame suite, counting, and matches with a peer.

    python benchmarks/othello.py                        # all but a match
    python benchmarks/othello.py --ffo 1-19             # these endgames; '' for none
    python benchmarks/othello.py --peer rust_reversi    # and the same search there, and a match
    (pip install rust_reversi)

Everything is on one core and from an empty table, and its answers are seen to be right before
it is timed.  The evaluation that both programs have counts the mover's moves; the peer
counts the plies below the children of the root, so its depth 12 is depth 13 here.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

from engine import (
    Evaluation,
    Searcher,
    Table,
    compiled,
    legal_moves,
    load_game,
    perft,
    popcount,
    solve,
)
from engine.kernels.techniques import choose
from engine.playing.elo import elo_difference
from engine.playing.matches import make_openings, play_game
from engine.playing.players import Choice, EnginePlayer
from games.othello.discs import mobility

GAME = load_game("othello")
DATA = Path(__file__).parent / "data" / "othello_ffo.txt"

PERFT = {8: 390_216, 9: 3_005_288, 10: 24_571_284 - 228}
"""Published (A. Bik), passes counted as plies; without one in the 228 games of 9 moves."""

PLIES = {8: -7, 10: -8, 12: -9}
"""Depths of the peer, and the scores that both programs have to find."""

MOST_DEPTH = 60
WIN = 10_000

T = TypeVar("T")


@compiled
def count_moves(position):
    """The peer's evaluation."""
    return popcount(mobility(position))


def timed(task: Callable[[], T], rounds: int) -> tuple[T, float]:
    """What a task returns, and the median of its CPU times."""
    spent = []
    for _ in range(rounds):
        started = time.process_time()
        answer = task()
        spent.append(time.process_time() - started)
    return answer, statistics.median(spent)


def counting(rounds: int) -> None:
    start = GAME.start()
    print("perft")
    for depth, wanted in PERFT.items():
        leaves, seconds = timed(lambda depth=depth: perft(start, depth), rounds)  # type: ignore[misc]
        if leaves != wanted:
            sys.exit(f"perft {depth} is {leaves}, not {wanted}")
        rate = leaves / seconds / 1e6
        print(f"  depth {depth:2}{leaves:>14,} leaves{seconds:9.4f} s{rate:8.1f} M/s")


def from_the_start(rounds: int) -> None:
    """The search with everything on, without ProbCut, and exact."""
    start = GAME.start()
    usual = choose(type(start), None)
    exact = choose(type(start), None, exact=True)
    sets = {"all": usual, "no ProbCut": usual - {"probcut"}, "exact": exact}
    print("from the start")
    for name, techniques in sets.items():
        engine = Searcher(start, techniques=techniques)
        for depth in (12, 16) if name == "exact" else (12, 16, 20):

            def task(engine: Searcher = engine, depth: int = depth) -> Any:
                engine.clear()
                return engine.search(start, depth=depth)

            engine.search(start, depth=1)
            result, seconds = timed(task, rounds)
            print(
                f"  {name:12}depth {depth:2}{result.nodes:>14,} nodes{seconds:9.4f} s"
                f"{result.nodes / seconds / 1e6:8.1f} M/s  score {result.value:+d}"
            )


def endgames(numbers: range) -> None:
    print("FFO endgames")
    table = Table(256)
    nodes, seconds = 0, 0.0
    solve(GAME.parse(next(suite(range(1, 2)))[1]), table=table)
    for number, text, value, best in suite(numbers):
        position = GAME.parse(text)
        table.forget()
        result, spent = timed(lambda: solve(position, table=table), 1)  # noqa: B023
        move = GAME.module.move_text(position, result.best_move)
        if result.value != value or move not in best:
            sys.exit(
                f"FFO {number} is {value} by {' or '.join(best)}, not {result.value} by {move}"
            )
        told(f"{number:2}  {value:+3d} {move}", result.nodes, spent)
        nodes, seconds = nodes + result.nodes, seconds + spent
    if nodes:
        told("together  ", nodes, seconds)


def told(what: str, nodes: int, seconds: float) -> None:
    print(f"  {what}{nodes:>15,} nodes{seconds:9.3f} s{nodes / seconds / 1e6:8.1f} M/s")


def suite(wanted: range) -> Iterable[tuple[int, str, int, list[str]]]:
    """Number, position, exact value and best moves of endgames."""
    for line in DATA.read_text().splitlines():
        if not line.startswith("#"):
            text, number, value, best = (field.strip() for field in line.split(";"))
            if int(number) in wanted:
                yield int(number), text, int(value), best.split()


# The peer


class Peer:
    """rust_reversi, the alpha-beta search of a package in Rust, as a player."""

    def __init__(self, seconds: float):
        import rust_reversi

        self.package = rust_reversi
        self.milliseconds = round(1000 * seconds)

    def board(self, position: Any) -> Any:
        turns = self.package.Turn
        board = self.package.Board()
        turn = turns.WHITE if position.white else turns.BLACK
        board.set_board(self.mirrored(position.mine), self.mirrored(position.theirs), turn)
        return board

    @staticmethod
    def mirrored(word: int) -> int:
        """Its highest bit is a1."""
        return int(f"{word:064b}"[::-1], 2)

    def engine(self, depth: int) -> Any:
        evaluator = self.package.LegalNumEvaluator()
        return self.package.AlphaBetaSearch(evaluator, depth, WIN)

    def score(self, position: Any, depth: int) -> int:
        return int(self.engine(depth).get_search_score(self.board(position)))

    def new_game(self, seed: int) -> None:
        pass

    def choose(self, position: Any) -> Choice:
        moves = legal_moves(position)
        started = time.perf_counter()
        move = moves[0]
        if len(moves) > 1:
            engine = self.engine(MOST_DEPTH)
            move = engine.get_move_with_timeout(self.board(position), self.milliseconds)
        spent = time.perf_counter() - started
        return Choice(move, None, (move,), 0, 0, spent, "time limit")


def beside_peer(peer: Peer, rounds: int) -> None:
    """The same question to both: how many moves has the mover, so many plies on?"""
    start = GAME.start()
    counted = Evaluation(count_moves)
    exact, usual = (Searcher(start, exact=each, evaluation=counted) for each in (True, False))
    print("as many plies as the peer, by moves counted")
    for depth, score in PLIES.items():
        found, theirs = timed(lambda depth=depth: peer.score(start, depth), rounds)  # type: ignore[misc]

        def task(engine: Searcher, depth: int = depth) -> Any:
            engine.clear()
            return engine.search(start, depth=depth + 1)

        usual.search(start, depth=1)
        ours, seconds = timed(lambda: task(exact), rounds)
        if not found == ours.value == score:
            sys.exit(f"depth {depth}: the peer finds {found}, cutnode {ours.value}, not {score}")
        _, less = timed(lambda: task(usual), rounds)
        print(
            f"  depth {depth:2}  peer{theirs:9.4f} s  exact{seconds:9.4f} s{seconds / theirs:6.2f}"
            f"  all techniques{less:9.4f} s{less / theirs:6.2f}"
        )


def play_peer(peer: Peer, seconds: float, pairs: int) -> None:
    """Both have so many seconds for each move, and both begin each opening once."""
    player = EnginePlayer(GAME, seconds=seconds)
    player.search(GAME.start())
    scores, discs = [], []
    for number, opening in enumerate(make_openings(GAME, pairs, 8, 0)):
        points = 0.0
        for first in (True, False):
            players = (player, peer) if first else (peer, player)
            record = play_game(players, opening, seed=number)
            mine = record.score(0 if first else 1)
            points += mine / 2
            value = record.value()
            lead = abs(value) if mine > 0.5 else -abs(value) if mine < 0.5 else 0
            discs.append(lead)
        scores.append(points)
    mean = statistics.fmean(scores)
    error = 1.96 * statistics.pstdev(scores) / math.sqrt(len(scores))
    print(
        f"{2 * pairs} games at {1000 * seconds:.0f} ms a move: {mean:.3f} +- {error:.3f} of the "
        f"points ({elo_difference(mean):+.0f} Elo), {statistics.fmean(discs):+.1f} discs a game"
    )


def numbers_in(text: str) -> range:
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1) if text else range(0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--ffo", default="1-19", metavar="A-B", help="these endgames")
    parser.add_argument("--peer", choices=["rust_reversi"])
    parser.add_argument("--seconds", type=float, default=0.05, help="for each move of a match")
    parser.add_argument("--pairs", type=int, default=20, help="of games with the peer")
    options = parser.parse_args()
    counting(options.rounds)
    from_the_start(options.rounds)
    endgames(numbers_in(options.ffo))
    if options.peer:
        peer = Peer(options.seconds)
        beside_peer(peer, options.rounds)
        if options.pairs:
            play_peer(peer, options.seconds, options.pairs)


if __name__ == "__main__":
    main()
