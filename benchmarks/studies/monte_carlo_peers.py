"""Playouts per second compared with OpenSpiel's Monte Carlo tree search in C++.

    python -m benchmarks.studies.monte_carlo_peers [--rounds 5]

Both search the first position with UCT, the same exploration constant (rewards are from -1 to 1 in
both), uniform rollouts to the end of the game, one thread, and the same limit of playouts.
OpenSpiel's ``MCTSBot`` makes one rollout at each leaf (``RandomRolloutEvaluator``), and, as here, a
node gets children on its second visit.  It is timed with and without its solver, and the ratio is
relative to the faster of the two.  A search may end when the first position is proven, so playouts
are counted, not assumed: ours proves tic-tac-toe after some hundred thousand playouts, most of
which end at proven nodes without a rollout.  Ours always has its solver, and evaluates the game's
``bounds`` at each new node, which is part of its time.

Validation, before timing: both programs count the same lines of play, their estimates of the first
position agree, and both find an immediate win, or the only defence, in positions that have one.

Oware ends by repetition in OpenSpiel, and here after 50 moves without a capture; in chess, rollouts
here do not look for repetitions.  Random games have the same length, though: 104 (standard error 2)
plies and 105 (2), 335 (16) and 343 (15).

Games with different lines of play are left out: in OpenSpiel's English draughts each jump of a
capture is a separate move, and so is the removal of a man in its Nine Men's Morris (whose games are
drawn after 200 turns).  OpenSpiel has no Royal Game of Ur.

Times.  CPU time of the process.  The programs alternate, and each figure is the median of the
rounds, with the quickest and the slowest as the spread.
"""

from __future__ import annotations

import argparse
import importlib
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from cutnode import load_game, perft
from cutnode.search.monte_carlo import MonteCarlo

EXPLORATION = 2.0
OPTIONS: Any = {
    "selection": "uct",
    "exploration": EXPLORATION,
    "rollouts": "uniform",
    "memory": 1 << 30,
}
TOLERANCE = 0.1
"""The most that estimates of the best first move may differ, out of 2: the trees differ."""


class Work(NamedTuple):
    """A game that both programs have."""

    game: str
    peer: str
    """The name in OpenSpiel."""
    playouts: int
    depth: int
    """The depth to which lines of play are counted."""
    forced: tuple[tuple[str, str], ...]
    """Positions by the moves played, with the move that wins at once or is the only defence."""
    points: bool = False
    """Whether values are points here but only wins and losses in OpenSpiel, so not comparable."""


WORKS = (
    Work("tictactoe", "tic_tac_toe", 1_000_000, 6, (("1425", "3"), ("5192", "3"))),
    Work("connect4", "connect_four", 300_000, 6, (("112233", "4"), ("11223", "4"))),
    Work("breakthrough", "breakthrough", 50_000, 3, ()),
    Work("breakthrough:6x6", "breakthrough(rows=6,columns=6)", 100_000, 4, ()),
    Work("othello", "othello", 10_000, 5, (), points=True),
    Work("kalah", "mancala", 50_000, 7, (), points=True),
    Work("hex:11x11", "hex(board_size=11)", 5_000, 2, ()),
    Work("y:11", "y(board_size=11)", 20_000, 2, ()),
    Work("mnk:15x15x5", "gomoku", 10_000, 2, ()),
    Work("oware", "oware", 50_000, 7, ()),
    Work("chess", "chess", 1_000, 4, ()),
    Work("go:9x9,komi=7.5,ko=simple", "go(board_size=9)", 3_000, 2, (), points=True),
)


class Row(NamedTuple):
    """The playouts per CPU second of the rounds."""

    cutnode: list[float]
    solving: list[float]
    plain: list[float]

    @property
    def ratio(self) -> float:
        fastest = max(statistics.median(self.solving), statistics.median(self.plain))
        return statistics.median(self.cutnode) / fastest


def bot(pyspiel: Any, game: Any, playouts: int, *, solve: bool, seed: int = 1) -> Any:
    """Return OpenSpiel's search, with memory for the whole tree."""
    evaluator = pyspiel.RandomRolloutEvaluator(1, seed)
    return pyspiel.MCTSBot(game, evaluator, EXPLORATION, playouts, 4096, solve, seed, False)


def lines(state: Any, depth: int) -> int:
    """Count the lines of play to a depth in OpenSpiel, without those that end earlier."""
    if depth == 0:
        return 1
    return (
        0
        if state.is_terminal()
        else sum(lines(state.child(action), depth - 1) for action in state.legal_actions())
    )


def validate(work: Work, pyspiel: Any) -> None:
    """Raise :class:`SystemExit` if the programs do not search the same game."""
    game, peer = load_game(work.game), pyspiel.load_game(work.peer)
    counts = perft(game.start(), work.depth), lines(peer.new_initial_state(), work.depth)
    if counts[0] != counts[1]:
        sys.exit(f"{work.game}: lines of {work.depth} plies are {counts[0]} and {counts[1]}")
    own = MonteCarlo(game, **OPTIONS)
    result = own.search(game.start(), playouts=work.playouts)
    root = bot(pyspiel, peer, work.playouts, solve=True).mcts_search(peer.new_initial_state())
    best = max(root.children, key=lambda child: child.explore_count)
    worths = result.worth, best.total_reward / best.explore_count
    if abs(worths[0] - worths[1]) > TOLERANCE and not work.points:
        sys.exit(f"{work.game}: the best move is worth {worths[0]:.3f} and {worths[1]:.3f}")
    for moves, only in work.forced:
        state = peer.new_initial_state()
        for move in moves:
            state.apply_action(int(move) - 1)
        own.clear()
        found = own.search(game.parse(moves), playouts=2000).line_text()[0]
        theirs = str(bot(pyspiel, peer, 2000, solve=True).step(state) + 1)
        if not only == found == theirs:
            sys.exit(f"{work.game} {moves}: {only} is the only move, not {found} and {theirs}")
    print(
        f"{work.game}: {counts[0]:,} lines of {work.depth} plies in both, the best move is worth "
        f"{worths[0]:.3f} and {worths[1]:.3f}"
    )


def rate(call: Callable[[], int]) -> float:
    """Return a search's playouts per CPU second."""
    started = time.process_time()
    playouts = call()
    return playouts / (time.process_time() - started)


def compare(work: Work, pyspiel: Any, rounds: int) -> Row:
    """Time all programs alternately."""
    game, peer = load_game(work.game), pyspiel.load_game(work.peer)
    own = MonteCarlo(game, **OPTIONS)
    row = Row([], [], [])
    for number in range(rounds + 1):

        def search(seed: int = number) -> int:
            own.clear()
            return own.search(game.start(), playouts=work.playouts, seed=seed).playouts

        def theirs(solve: bool, seed: int = number) -> int:
            found = bot(pyspiel, peer, work.playouts, solve=solve, seed=seed + 1)
            return int(found.mcts_search(peer.new_initial_state()).explore_count)

        rates = rate(search), rate(lambda: theirs(True)), rate(lambda: theirs(False))
        if number:  # the first round warms up
            for rates_of, found in zip(row, rates, strict=True):
                rates_of.append(found)
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--games", nargs="*", default=[work.game for work in WORKS])
    options = parser.parse_args()
    works = [work for work in WORKS if work.game in options.games]
    try:
        pyspiel = importlib.import_module("pyspiel")
    except ModuleNotFoundError:
        sys.exit("OpenSpiel is not installed: pip install open_spiel")
    for work in works:
        validate(work, pyspiel)
    print(f"{'game':18}{'playouts/s':>12}{'OpenSpiel':>11}{'solving':>10}{'ratio':>7}")
    for work in works:
        row = compare(work, pyspiel, options.rounds)
        medians = [statistics.median(rates) for rates in row]
        print(
            f"{work.game:18}{medians[0]:12,.0f}{medians[2]:11,.0f}{medians[1]:10,.0f}"
            f"{row.ratio:7.1f}   ({min(row.cutnode):,.0f} to {max(row.cutnode):,.0f})"
        )


if __name__ == "__main__":
    main()
