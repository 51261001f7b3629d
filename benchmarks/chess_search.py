"""Chess: counting, the search from the start, tactics, and mates with proof.

    python benchmarks/chess_search.py                           # all of it
    python benchmarks/chess_search.py --parts tactics --nodes 1000000 --suites bratko_kopec
    python benchmarks/chess_search.py --parts perft search --peer stockfish # beside a peer

Everything is on one core and from an empty table, and times are of the CPU.  A position of a
suite is solved if its best move is found when the limit is reached; a mate, if its distance is
found.  A mate is proven by ``prove_win``, beside an exact search as deep; the proof is verified by
the rules alone.  A peer is the command of a program that speaks UCI (and counts with ``go
perft``, as Stockfish does); it is asked the same, by its own clock.
"""

from __future__ import annotations

import argparse
import re
import shlex
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from engine import Iteration, Prover, Searcher, load_game, perft
from engine.kernels.scores import win_distance
from games.chess.notation import operations_in

GAME = load_game("chess")
DATA = Path(__file__).parent / "data"
SUITES = ("bratko_kopec", "silent_but_deadly", "mates")
PARTS = ("perft", "search", "tactics", "proofs")

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
KIWIPETE = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"
PERFT = {
    "start": (START, {5: 4_865_609, 6: 119_060_324}),
    "kiwipete": (KIWIPETE, {4: 4_085_603, 5: 193_690_690}),
}
"""Published: https://www.chessprogramming.org/Perft_Results."""

TO_DEPTH_10 = {
    "Stockfish 11": 19_000,
    "Ethereal 12": 46_000,
    "Toga II": 149_000,
    "black_numba": 640_000,
    "VICE": 20_700_000,
}
"""Nodes of other programs to depth 10 from the start."""

T = TypeVar("T")


def timed(
    task: Callable[[], T], rounds: int, clock: Callable[[], float] = time.process_time
) -> tuple[T, float]:
    """What a task returns, and the median of the times that it took."""
    spent = []
    for _ in range(rounds):
        started = clock()
        answer = task()
        spent.append(clock() - started)
    return answer, statistics.median(spent)


# Counting


def counting(rounds: int, peer: Peer | None) -> None:
    print("perft")
    for name, (fen, counts) in PERFT.items():
        position = GAME.parse(fen)
        for depth, wanted in counts.items():
            what = f"{name:9}depth {depth}  "
            ways: dict[str, Callable[[], int]] = {
                "last moves counted": lambda: perft(position, depth),  # noqa: B023
                "all moves made": lambda: perft(position, depth, bulk=False),  # noqa: B023
            }
            if peer is not None:
                ways[peer.name] = lambda: peer.perft(fen, depth)  # noqa: B023
            for way, task in ways.items():
                if (leaves := task()) != wanted:
                    sys.exit(f"perft {depth} of {name} is {leaves}, not {wanted} ({way})")
                clock = time.perf_counter if peer and way == peer.name else time.process_time
                told(f"{what}{way:20}", leaves, timed(task, rounds, clock)[1], "leaves")


def told(what: str, count: int, seconds: float, kind: str = "nodes", beside: str = "") -> None:
    rate = count / seconds / 1e6
    print(f"  {what}{count:>15,} {kind}{seconds:9.4f} s{rate:8.2f} M/s{beside}", flush=True)


# The search from the start


def deepened(engine: Searcher, depth: int) -> tuple[list[Iteration], list[float]]:
    """The depths from 1 on from the start, and the CPU seconds until each was completed.

    They go on to a depth, and for at least a second.
    """
    engine.clear()
    spent: list[float] = []
    enough = threading.Event()

    def note(iteration: Iteration) -> None:
        spent.append(time.process_time() - started)
        if iteration.depth >= depth and spent[-1] >= 1:
            enough.set()

    started = time.process_time()
    result = engine.search(GAME.start(), stop=enough, progress=note)
    return list(result.iterations), spent


def from_the_start(depth: int, hash_size: int, rounds: int, peer: Peer | None) -> None:
    engine = Searcher(GAME, table=hash_size)
    engine.search(GAME.start(), depth=1)
    played = [deepened(engine, depth) for _ in range(rounds)]
    iterations = played[0][0]
    if any(each[0][-1].nodes != iterations[-1].nodes for each in played):
        sys.exit("the same search twice takes not the same nodes")
    seconds = [
        statistics.median(times) for times in zip(*(each[1] for each in played), strict=True)
    ]
    theirs = peer.depths(START, depth) if peer else {}
    peer_name = peer.name if peer else ""
    print("from the start")
    for iteration, spent in zip(iterations, seconds, strict=True):
        best = GAME.module.move_text(GAME.start(), iteration.lines[0].move)
        beside = ""
        if iteration.depth in theirs:
            nodes, longer = theirs[iteration.depth]
            ratio = iteration.nodes / nodes
            beside = f"   {peer_name}{nodes:>13,} nodes{longer:8.3f} s, {ratio:.2f} of its nodes"
        what = f"depth {iteration.depth:2}  {best:5}{iteration.value:+6}"
        told(what, iteration.nodes, spent, beside=beside)
    within = max((i.depth for i, s in zip(iterations, seconds, strict=True) if s <= 1), default=0)
    print(f"  in a second of CPU time: depth {within}")
    nodes = next((i.nodes for i in iterations if i.depth == 10), None)
    if nodes is not None:
        ratios = (f"{nodes / count:.2f} of {name}'s" for name, count in TO_DEPTH_10.items())
        print(f"  to depth 10: {nodes:,} nodes, {', '.join(ratios)}")


# Tactics


def tactics(suites: list[str], limits: dict[str, Any], hash_size: int) -> None:
    """Every position from an empty table, to a limit."""
    engine = Searcher(GAME, table=hash_size)
    engine.search(GAME.start(), depth=1)
    limit = ", ".join(f"{value:,} {name}" for name, value in limits.items())
    print(f"tactics, {limit} a position")
    for name in suites:
        failed = []
        count, nodes, spent = 0, 0, 0.0
        mates: dict[str, list[bool]] = {}
        for label, position, best, distance in suite(name):
            engine.clear()
            started = time.process_time()
            result = engine.search(position, **limits)
            spent += time.process_time() - started
            nodes += result.nodes
            count += 1
            if distance:
                plies = win_distance(result.value) if result.value > 0 else None
                solved = plies == 2 * distance - 1
                mates.setdefault(label.partition(".")[0], []).append(solved)
                found = f"mate in {(plies + 1) / 2:.0f}" if plies else f"{result.value:+}"
            else:
                solved = result.best_move in best
                found = GAME.module.move_text(position, result.best_move)
            if not solved:
                failed.append(f"{label} ({found})")
        told(f"{name}: {count - len(failed)} of {count}", nodes, spent)
        for kind, outcomes in mates.items():
            print(f"    {kind}: {sum(outcomes)} of {len(outcomes)}")
        if failed:
            print(f"    not {', '.join(failed)}")


def suite(name: str) -> Iterator[tuple[str, Any, list[int], int]]:
    """Names, positions, best moves and distances of mates (in moves; 0: not a mate)."""
    for line in (DATA / f"chess_{name}.epd").read_text().splitlines():
        if not line.startswith("#"):
            position = GAME.parse(line)
            facts = operations_in(line)
            best = [GAME.module.parse_move(position, text) for text in facts.get("bm", ())]
            yield facts["id"][0], position, best, int(facts.get("dm", ("0",))[0])


def proofs(hash_size: int) -> None:
    """Every mate of the suite with its proof, and by an exact search as deep."""
    prover = Prover(GAME, table=hash_size)
    engine = Searcher(GAME, table=hash_size, exact=True)
    engine.search(GAME.start(), depth=1)
    kinds: dict[str, list[tuple[Any, int]]] = {}
    for label, position, _, distance in suite("mates"):
        kinds.setdefault(label.partition(".")[0], []).append((position, distance))
    print("mates, each from an empty table")
    for kind, mates in kinds.items():
        proven = found = answers = nodes = beside = 0
        proving = building = verifying = searching = 0.0
        for position, distance in mates:
            plies = 2 * distance - 1
            prover.table.forget()
            result, spent = timed(lambda: prover.prove(position, distance), 1)  # noqa: B023
            nodes, proving = nodes + result.nodes, proving + spent
            result, spent = timed(lambda: prover.prove(position, distance, proof=True), 1)  # noqa: B023
            building += spent
            if result.proof is not None:
                verifying += timed(result.proof.verify, 1)[1]
                answers += len(result.proof)
                proven += result.moves == distance
            engine.clear()
            searched, spent = timed(lambda: engine.search(position, depth=plies), 1)  # noqa: B023
            beside, searching = beside + searched.nodes, searching + spent
            found += searched.value > 0 and win_distance(searched.value) == plies
        told(f"{kind}: {proven:3} of {len(mates):3} proven", nodes, proving)
        told(f"       {found:3} by exact search", beside, searching)
        print(
            f"    the proofs: {answers:,} answers, found in {building:.2f} s, "
            f"verified in {verifying:.2f} s"
        )


# A peer


class Peer:
    """A program that speaks UCI, by pipes and with as little between as can be."""

    def __init__(self, command: str, hash_size: int):
        self.pipe = subprocess.Popen(
            shlex.split(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.tell("uci")
        names = [line for line in self.hear("uciok") if line.startswith("id name ")]
        self.name = names[0].removeprefix("id name ").strip() if names else command
        self.tell(f"setoption name Hash value {hash_size}")
        self.ready()

    def tell(self, text: str) -> None:
        assert self.pipe.stdin
        self.pipe.stdin.write(f"{text}\n")
        self.pipe.stdin.flush()

    def hear(self, last: str) -> Iterator[str]:
        """The lines that it writes, to one that begins as *last* does."""
        assert self.pipe.stdout
        for line in self.pipe.stdout:
            yield line
            if line.startswith(last):
                return
        sys.exit("the peer ended before its time")

    def ready(self) -> None:
        self.tell("isready")
        list(self.hear("readyok"))

    def perft(self, fen: str, depth: int) -> int:
        self.tell(f"position fen {fen}")
        self.tell(f"go perft {depth}")
        *_, line = self.hear("Nodes searched")
        return int(line.split()[-1])

    def depths(self, fen: str, depth: int) -> dict[int, tuple[int, float]]:
        """Nodes and seconds until each depth was completed."""
        self.tell("ucinewgame")
        self.tell(f"position fen {fen}")
        self.ready()
        self.tell(f"go depth {depth}")
        found = {}
        for line in self.hear("bestmove"):
            facts = dict(re.findall(r"\b(depth|nodes|time) (\d+)", line))
            if line.startswith("info") and len(facts) == 3 and "bound" not in line:
                found[int(facts["depth"])] = int(facts["nodes"]), int(facts["time"]) / 1000
        return found

    def stop(self) -> None:
        self.tell("quit")
        self.pipe.wait(10)


def main() -> None:
    assert __doc__
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--depth", type=int, default=14, help="at least, from the start")
    parser.add_argument("--suites", nargs="+", choices=SUITES, default=SUITES)
    parser.add_argument("--nodes", type=int, help="for each position (200,000)")
    parser.add_argument("--seconds", type=float, help="for each position")
    parser.add_argument("--hash", type=int, default=64, help="MiB of the table")
    parser.add_argument("--peer", help="a command, such as stockfish")
    options = parser.parse_args()
    limits = {"nodes": options.nodes, "seconds": options.seconds}
    limits = {name: limit for name, limit in limits.items() if limit} or {"nodes": 200_000}
    peer = Peer(options.peer, options.hash) if options.peer else None
    if "perft" in options.parts:
        counting(options.rounds, peer)
    if "search" in options.parts:
        from_the_start(options.depth, options.hash, options.rounds, peer)
    if "tactics" in options.parts:
        tactics(options.suites, limits, options.hash)
    if "proofs" in options.parts:
        proofs(options.hash)
    if peer is not None:
        peer.stop()


if __name__ == "__main__":
    main()
