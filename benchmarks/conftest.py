"""The fixture of all benchmarks: it checks an answer, times it, and reports nodes."""

from __future__ import annotations

import json
import math
import resource
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from benchmarks.peers.engines import UciProgram

BASELINE = Path(__file__).with_name("baseline.json")

ROUND_SECONDS = 0.01
"""The approximate duration of a round, in which short tasks are repeated."""

ALL_SECONDS = 1.0
FEWEST_ROUNDS, MOST_ROUNDS = 5, 50
"""The bounds for the number of rounds, which last about ``ALL_SECONDS`` of CPU time together."""


class CpuClock:
    """A clock for CPU seconds of this process and its finished children, without excluded time."""

    def __init__(self) -> None:
        self.excluded = 0.0

    def __call__(self) -> float:
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        used = time.process_time() + children.ru_utime + children.ru_stime
        return used - self.excluded

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Exclude the time spent within a ``with`` statement."""
        started = self()
        yield
        self.excluded += self() - started


CLOCK = CpuClock()


def read_baseline() -> dict[str, int]:
    """Return the nodes of each benchmark, by the names of its file and itself."""
    return dict(json.loads(BASELINE.read_text())) if BASELINE.exists() else {}


class Row(NamedTuple):
    """A line of the table that is printed at the end."""

    group: str
    compared: bool
    """Whether the rows of a group do the same work."""
    name: str
    nodes: int | None
    rounds: int
    least: float
    median: float


ROWS = pytest.StashKey[list[Row]]()
FOUND = pytest.StashKey[dict[str, int]]()
"""The nodes for the baseline."""


class Measure:
    """Run a task that returns ``(nodes, answer)``, check both, and time it.

    The result must equal *answer*.  The node count must equal *nodes*, if it is published, or else
    the baseline; with None, for other programs, it is not compared.  *rounds* limits the
    repetitions of a long task.
    """

    def __init__(self, benchmark: Any, request: pytest.FixtureRequest):
        self.benchmark = benchmark
        self.config = request.config
        self.name = request.node.name
        self.key = f"{request.path.stem}::{self.name}"
        self.clock = CLOCK

    def __call__(
        self,
        task: Callable[[], tuple[int | None, Any]],
        answer: Any,
        *,
        nodes: int | None = -1,
        group: str = "",
        rounds: int | None = None,
    ) -> None:
        benchmark = self.benchmark
        benchmark.group = group or self.name.partition("[")[0].removeprefix("test_")
        counted, found = task() if benchmark.enabled else benchmark(task)
        assert found == answer
        if nodes == -1:
            self.check_baseline(counted)
        elif nodes is not None:
            assert counted == nodes
        benchmark.extra_info["nodes"] = counted
        if not benchmark.enabled:
            return
        iterations = 1
        if rounds is None:
            started = self.clock()
            task()  # warm: the first call may have compiled
            spent = max(self.clock() - started, 1e-7)
            iterations = math.ceil(ROUND_SECONDS / spent)
            rounds = math.ceil(ALL_SECONDS / (iterations * spent))
            rounds = min(max(rounds, FEWEST_ROUNDS), MOST_ROUNDS)
        benchmark.pedantic(task, rounds=rounds, iterations=iterations)
        stats = benchmark.stats.stats
        if counted:
            benchmark.extra_info["M nodes/s"] = round(counted / stats.median / 1e6, 3)
        row = Row(benchmark.group, bool(group), self.name, counted, rounds, stats.min, stats.median)
        self.config.stash[ROWS].append(row)

    def check_baseline(self, counted: int | None) -> None:
        assert counted is not None
        if self.config.getoption("update_baseline"):
            self.config.stash[FOUND][self.key] = counted
        else:
            assert counted == read_baseline().get(self.key), "see --update-baseline"


@pytest.fixture
def measure(benchmark: Any, request: pytest.FixtureRequest) -> Measure:
    return Measure(benchmark, request)


@pytest.fixture(scope="session")
def uci(request: pytest.FixtureRequest) -> Iterator[UciProgram]:
    """The chess program of ``--uci``, which is timed by the wall clock."""
    program = UciProgram(request.config.getoption("uci"))
    yield program
    program.close()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("benchmarks of cutnode")
    group.addoption("--update-baseline", action="store_true", help="write the nodes found")
    group.addoption("--uci", default="stockfish", help="a chess program to compare with")


def pytest_configure(config: pytest.Config) -> None:
    config.stash[ROWS] = []
    config.stash[FOUND] = {}
    if not config.getoption("benchmark_compare"):
        config.option.benchmark_quiet = True  # the table below also has nodes


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        foreign = "uci" in getattr(item, "fixturenames", ())  # its CPU time is not ours
        timer = time.perf_counter if foreign else CLOCK
        item.add_marker(pytest.mark.benchmark(timer=timer))


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Print nodes and CPU times, and ratios to the first row with the same work."""
    rows = config.stash[ROWS]
    if not rows:
        return
    width = max(len(row.name) for row in rows)
    write = terminalreporter.write_line
    head = f"{'nodes':>13}{'rounds':>8}{'least':>12}{'median':>12}{'M nodes/s':>11}{'ratio':>8}"
    write("")
    write(f"{'CPU time, ms':{width}}{head}")
    for group in dict.fromkeys(row.group for row in rows):
        members = [row for row in rows if row.group == group]
        write(group)
        for row in members:
            nodes = f"{row.nodes:13,}" if row.nodes else " " * 13
            rate = f"{row.nodes / row.median / 1e6:11.2f}" if row.nodes else " " * 11
            ratio = f"{row.median / members[0].median:8.2f}" if row.compared else ""
            times = f"{1e3 * row.least:12,.4f}{1e3 * row.median:12,.4f}"
            write(f"{row.name:{width}}{nodes}{row.rounds:8}{times}{rate}{ratio}")


def pytest_sessionfinish(session: pytest.Session) -> None:
    found = session.config.stash[FOUND]
    if found:
        counts = dict(sorted({**read_baseline(), **found}.items()))
        BASELINE.write_text(json.dumps(counts, indent=1) + "\n")
