"""New processes: what they load, and how fast they answer."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.conftest import Measure

WRITTEN = str(Path(__file__).parent.parent / "tests" / "toys" / "fourinarow.py")

FIRST_ANSWER = """
from cutnode import Engine, load_game
game = load_game("connect4")
with Engine(game) as engine:
    print(engine.solve(game.parse("44444326555535")).value)
"""


def answer(*arguments: str, cache: Path | None = None) -> str:
    """Return the last line that a new Python process prints."""
    environment = dict(os.environ)
    if cache is not None:
        environment["CUTNODE_CACHE"] = str(cache)
    command = [sys.executable, *arguments]
    ran = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    return ran.stdout.strip().rpartition("\n")[2]


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("-c", "print(1)"), "1"),
        (("-c", "import cutnode; print(1)"), "1"),
        (("-c", "import cutnode.games.tictactoe; print(1)"), "1"),
        (("-c", FIRST_ANSWER), "2"),
        (("-m", "cutnode", "show", "connect4", "4455"), "moves  1 2 3 4 5 6 7"),
    ],
    ids=["python alone", "import cutnode", "import rules", "first answer", "cutnode show"],
)
def test_warm(measure: Measure, arguments: tuple[str, ...], line: str) -> None:
    """With everything already compiled."""
    measure(lambda: (None, answer(*arguments)), line, nodes=None, rounds=9)


def test_warm_solve(measure: Measure) -> None:
    """The first command of the README."""
    command = ("-m", "cutnode", "solve", "connect4", "4455", "--json")

    def task() -> tuple[None, bool]:
        return None, '"value": 18' in answer(*command)

    measure(task, True, nodes=None, rounds=9)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["connect4", WRITTEN], ids=["tuned", "as written"])
def test_cold(measure: Measure, tmp_path: Path, name: str) -> None:
    """From an empty cache to the first answer of a search, which compiles the kernels."""
    rounds = iter(range(100))

    def task() -> tuple[None, bool]:
        command = ("-m", "cutnode", "search", name, "--depth", "8", "--json")
        return None, '"depth": 8' in answer(*command, cache=tmp_path / str(next(rounds)))

    measure(task, True, nodes=None, rounds=1)
