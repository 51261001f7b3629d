"""Tablebases: positions per second for each way to solve a layer, bytes, and time per probe."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
import pytest

from benchmarks.compiled import look_up_entries
from benchmarks.conftest import Measure
from cutnode import CutnodeError, load_game
from cutnode.contract.positions import coerce, pack
from cutnode.tablebases.layer_tables import Directory
from cutnode.tablebases.solving import LayerWork, Settings, solve_layers
from cutnode.tablebases.spaces import Space, enumerated, indexed
from cutnode.tablebases.tablebase import Tablebase

slow = pytest.mark.slow

PROBES = 100_000


def solved(space: Space, *layers: str) -> Tablebase:
    """Solve layers of a game, and the layers that they lead to, with one thread."""
    directory, settings = Directory(len(space.sizes), space.keys), Settings()
    wanted = [space.number_of(layer) for layer in layers] or range(len(space.sizes))

    def solve(number: int) -> Any:
        return LayerWork(space, number, directory, settings).solve()

    solve_layers(space, directory, wanted, solve)
    return Tablebase(space, directory, metric="dtm", name="benchmark")


def numbers(base: Tablebase) -> tuple[int, Any]:
    stats = base.stats()
    return stats["positions"], [stats.get(name) for name in ("wins", "draws", "losses", "longest")]


@pytest.mark.parametrize(
    "name, layers, longest",
    [
        pytest.param("chess", ("KRvK",), 32, marks=slow),
        ("draughts", ("2k-1k",), None),
        pytest.param("draughts", ("2m-2m",), 109, marks=slow),
        ("ur:finkel-2", (), None),
    ],
)
def test_layers(measure: Measure, name: str, layers: tuple[str, ...], longest: int | None) -> None:
    """Retrograde analysis by retreats, and value iteration; nodes are positions."""
    space = indexed(coerce(load_game(name).start()))

    def task() -> tuple[int, Any]:
        base = solved(space, *layers)
        assert longest in (None, base.stats().get("longest"))
        return numbers(base)

    measure(task, task()[1], rounds=3)


def test_enumerated(measure: Measure) -> None:
    """Retrograde analysis by a list of all moves, after enumerating the positions."""
    root = coerce(load_game("connect4:4x4").start())

    def task() -> tuple[int, Any]:
        space = enumerated(root, 1 << 20)
        assert space is not None
        return numbers(solved(space))

    measure(task, [19_341, 45_079, 16_121, 13], nodes=80_541, rounds=3)


@pytest.fixture(scope="module")
def rooks() -> Tablebase:
    return solved(indexed(coerce(load_game("chess").start())), "KRvK")


def test_verification(measure: Measure, rooks: Tablebase) -> None:
    def task() -> tuple[int, Any]:
        result = rooks.verify()
        return result.compared, result.wrong

    measure(task, 0, rounds=3)


@pytest.mark.parametrize("caller", ["compiled", "python"])
def test_probes(measure: Measure, rooks: Tablebase, caller: str) -> None:
    """Entries of random positions of a layer; nodes are probes."""
    example = rooks.space.example
    number = rooks.space.number_of("KRvK")
    dice = np.random.default_rng(1)
    found = []
    while len(found) < 1000:
        place = int(dice.integers(rooks.space.sizes[number]))
        with contextlib.suppress(CutnodeError):  # not every index has a position
            found.append(rooks.position_at("KRvK", place))
    if caller == "python":

        def ask() -> tuple[int, Any]:
            entries = [rooks.entry(position) for position in found]
            return len(found), sum(entry.value for entry in entries if entry is not None)

        measure(ask, ask()[1], nodes=1000)
        return
    each = len(example)
    words = np.zeros(PROBES * each, np.uint64)
    for at in range(PROBES):
        pack(words, at * each, found[at % len(found)])
    go = look_up_entries.specialise(type(example))

    def task() -> tuple[int, Any]:
        return PROBES, go(example, rooks.directory.numbers, words, PROBES)

    measure(task, task()[1], nodes=PROBES)
