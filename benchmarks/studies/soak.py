"""Mixed engine calls with random stops, for minutes: no wrong value, no leak, no hang.

python -m benchmarks.studies.soak [--minutes 10] [--seed 1] [--threads 2]
python -m benchmarks.studies.soak --variants 200

Each thread holds an engine, for one game after another, and starts searches that are stopped,
cancelled, left running, or ended by limits.  Proven values are compared with known ones, and exact
scores with the scores of a single-threaded engine.

With ``--variants``, a service answers all kinds of requests about one variant after another, and
its memory must stay below the limit that it prints at its start.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import faulthandler
import gc
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Any

from benchmarks.positions import connect4_set, ffo_endgames
from benchmarks.test_memory import resident
from cutnode import CutnodeError, Engine, legal_moves, load_game, perft
from cutnode.contract.verbs import outcome, play
from cutnode.service.failures import Failure
from cutnode.service.questions import KINDS
from cutnode.service.settings import Settings
from cutnode.service.state import Service
from cutnode.service.views import show_position

HANG = 240
"""The seconds after which a call counts as hanging: all have limits of a second or two."""

DEPTHS = {"connect4": 11, "othello": 7, "tictactoe": 9}
"""The deepest exact search of each game, which takes some tenths of a second."""

COUNTS = {"connect4": (7, 823536), "othello": (7, 55092), "tictactoe": (9, 127872)}
"""Perft to some depth from the start, and its result."""


def known_values() -> dict[str, list[tuple[Any, int]]]:
    """Return positions and their values, by game."""
    small = load_game("tictactoe")
    _, positions, values = connect4_set("L2_R1")
    easy = list(zip(positions, values, strict=True))
    endgames = [(endgame.position, endgame.value) for endgame in ffo_endgames(range(80))]
    draws = [(small.parse(text), 0) for text in ("", "5", "1", "15", "51")]
    return {"connect4": easy, "othello": endgames, "tictactoe": draws}


class Wrong(Exception):  # noqa: N818
    """A wrong answer."""


class Soaking:
    """The state shared by all threads: known values, calls made, and failures."""

    def __init__(self) -> None:
        self.until = 0.0
        self.known = known_values()
        self.games = {name: load_game(name) for name in DEPTHS}
        self.lock = threading.Lock()
        self.references = {
            name: Engine(game, table=16, exact=True) for name, game in self.games.items()
        }
        self.scores: dict[tuple[Any, int], int] = {}
        self.done: Counter[str] = Counter()
        self.failures: list[BaseException] = []

    def score(self, name: str, position: Any, depth: int) -> int:
        """Return the exact score of a position, as found by one thread."""
        with self.lock:
            if (position, depth) not in self.scores:
                result = self.references[name].search(position, depth=depth)
                self.scores[position, depth] = result.value
            return self.scores[position, depth]


class Worker:
    """A thread with an engine."""

    def __init__(self, shared: Soaking, seed: int):
        self.shared = shared
        self.random = Random(seed)

    def run(self) -> None:
        try:
            while time.monotonic() < self.shared.until and not self.shared.failures:
                self.hold_an_engine()
        except BaseException as error:
            self.shared.failures.append(error)

    def hold_an_engine(self) -> None:
        random = self.random
        self.name = random.choice(list(DEPTHS))
        threads = random.choice((1, 2, 2, 3))
        table = random.choice((1, 4, 64))
        with Engine(self.shared.games[self.name], table=table, threads=threads, exact=True) as e:
            self.engine = e
            calls = (
                *(self.solve, self.solve, self.search, self.search, self.stopped, self.cancelled),
                *(self.pondered, self.refused, self.counted, self.analysed, self.several),
            )
            for _ in range(random.randrange(5, 40)):
                call: Callable[[], None] = random.choice(calls)
                faulthandler.dump_traceback_later(HANG, exit=True)
                call()
                self.shared.done[call.__name__] += 1
                if random.random() < 0.2:
                    e.new_game()
                if time.monotonic() > self.shared.until:
                    break
            if random.random() < 0.3:
                e.start(self.position())  # close() ends it

    def position(self) -> Any:
        """Return a position in which the game is not over."""
        position = self.shared.games[self.name].start()
        for _ in range(self.random.randrange(12)):
            child = play(position, self.random.choice(legal_moves(position)))
            if outcome(child)[0]:
                break
            position = child
        return position

    def check(self, result: Any, value: int) -> None:
        if result.lower > value or result.upper < value:
            raise Wrong(f"{result.position!r} is {value}, not {result}")

    def check_search(self, position: Any, result: Any) -> None:
        for depth in {1, result.depth} - {0}:
            found = [step.value for step in result.iterations if step.depth == depth]
            if found and found[0] != self.shared.score(self.name, position, depth):
                raise Wrong(f"{position!r} at depth {depth}: {found[0]}, not as one thread says")

    def solve(self) -> None:
        position, value = self.random.choice(self.shared.known[self.name])
        self.check(self.engine.solve(position, seconds=self.random.choice((0.002, 0.1, 1))), value)

    def search(self) -> None:
        position = self.position()
        depth = self.random.randint(1, DEPTHS[self.name])
        nodes = self.random.choice((None, None, 3000, 100_000))
        self.check_search(position, self.engine.search(position, depth=depth, nodes=nodes))

    def stopped(self) -> None:
        known, value = self.random.choice(self.shared.known[self.name])
        handle = self.engine.start(known, "solve")
        time.sleep(self.random.random() * self.random.choice((0, 0.01, 0.3)))
        _ = handle.progress
        handle.stop()
        self.check(handle.wait(HANG), value)
        position = self.position()
        handle = self.engine.start(position, depth=DEPTHS[self.name])
        time.sleep(self.random.random() * self.random.choice((0, 0.01, 0.3)))
        _ = handle.progress
        self.engine.stop()
        self.check_search(position, handle.wait(HANG))

    def cancelled(self) -> None:
        position = self.position()

        async def main() -> None:
            handle = self.engine.start(position, depth=DEPTHS[self.name])
            after = self.random.random() * self.random.choice((0.003, 0.05, 0.5))
            try:
                result = await asyncio.wait_for(handle, after)
                self.check_search(position, result)
            except TimeoutError:
                pass
            async for _ in self.engine.start(position, depth=2):
                pass

        asyncio.run(main())

    def pondered(self) -> None:
        position = self.position()
        handle = self.engine.ponder(position, depth=DEPTHS[self.name], seconds=0.02)
        time.sleep(self.random.random() * 0.05)
        if self.random.random() < 0.5:
            handle.hit()
        else:
            handle.stop()
        self.check_search(position, handle.wait(HANG))

    def refused(self) -> None:
        handle = self.engine.start(self.shared.known[self.name][-1][0], "solve", seconds=1)
        with contextlib.suppress(CutnodeError):
            self.engine.search(self.position(), depth=1)
        handle.stop()
        handle.wait(HANG)

    def counted(self) -> None:
        depth, count = COUNTS[self.name]
        start = self.shared.games[self.name].start()
        if self.engine.perft(start, depth) != count:
            raise Wrong(f"perft {depth} of {self.name}")

    def analysed(self) -> None:
        position, value = self.random.choice(self.shared.known[self.name])
        result = self.engine.analyse(position, seconds=0.5)
        self.check(result, value)
        scores = [score for score in result.scores.values() if score is not None]
        if result.proven and max(scores) != value:
            raise Wrong(f"{position!r}: {result.scores}")

    def several(self) -> None:
        """Let a callback fail, and search again."""

        def fail(step: Any) -> None:
            raise KeyError(step.depth)

        with contextlib.suppress(KeyError):
            self.engine.search(self.position(), depth=4, progress=fail)
        self.search()


VARIANTS = [
    f"mnk:{width}x{height}x{length}"
    for width in range(3, 16)
    for height in range(3, 16)
    for length in range(3, max(width, height) + 1)
]

QUESTIONS = (
    ("search", {"depth": 2}),
    ("search", {"engine": "mcts", "playouts": 20}),
    ("solve", {"nodes": 100}),
    ("move", {"level": "easy"}),
    ("perft", {"depth": 2}),
)


async def ask_about_variants(count: int) -> None:
    """Query a service about variants; fail if it uses more memory than it declares."""
    settings = Settings(prepared=False)
    service = Service(settings)
    service.ready = True
    said: Counter[str] = Counter()
    most = 0.0
    for number, name in enumerate(VARIANTS[:count], 1):
        for kind, asked in QUESTIONS:
            request = KINDS[kind].request.model_validate(asked)
            try:
                await (await service.pool.start(await service.question(kind, name, request))).wait()
                said["answered"] += 1
            except Failure as failure:
                said[str(failure.status_code)] += 1
        show_position(service.registry, name, "")
        most = max(most, resident())
        if number % 10 == 0 or number <= settings.most_games:
            told = ", ".join(f"{times} {answer}" for answer, times in said.items())
            print(f"{resident():7.0f} MiB after {number:3} variants: {told}", flush=True)
    print(f"at most {most:.0f} MiB; {settings.most_memory} MiB were promised")
    if most > settings.most_memory:
        sys.exit("the service takes more memory than it says")
    if said["answered"] != len(QUESTIONS) * min(count, settings.most_games):
        sys.exit("games were refused that fit")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--variants", type=int, metavar="N")
    options = parser.parse_args()
    if options.variants is not None:
        asyncio.run(ask_about_variants(options.variants))
        return
    for name, (depth, count) in COUNTS.items():
        assert perft(load_game(name).start(), depth) == count, name
    began = threading.active_count()
    shared = Soaking()
    for name, engine in shared.references.items():  # compiles
        engine.prepare("search", "solve")
        shared.score(name, shared.games[name].start(), DEPTHS[name])
    shared.until = time.monotonic() + 60 * options.minutes
    workers = [Worker(shared, options.seed + number) for number in range(options.threads)]
    threads = [threading.Thread(target=worker.run, daemon=True) for worker in workers]
    for thread in threads:
        thread.start()
    sizes = []
    while any(thread.is_alive() for thread in threads):
        time.sleep(min(15, 12 * options.minutes))
        sizes.append(resident())
        said = ", ".join(f"{count} {name}" for name, count in shared.done.most_common())
        print(f"{sizes[-1]:7.0f} MiB, {threading.active_count():3} threads: {said}", flush=True)
    faulthandler.cancel_dump_traceback_later()
    if shared.failures:
        raise shared.failures[0]
    for engine in shared.references.values():
        engine.close()
    gc.collect()
    left = threading.active_count() - began
    calls = sum(shared.done.values())
    print(f"{calls:,} calls, {len(shared.scores):,} scores compared; {resident():.0f} MiB and")
    print(f"{left} threads are left; at most {max(sizes):.0f} MiB")
    if left > 2:  # threads of functions that have no engine
        sys.exit("threads were not given back")


if __name__ == "__main__":
    main()
