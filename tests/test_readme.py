"""What the README shows is true: its examples run, its game is the game."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()


def test_the_tour_runs() -> None:
    failures, examples = doctest.testfile(str(ROOT / "README.md"), module_relative=False)
    assert examples > 5
    assert failures == 0


def test_the_game_shown_is_the_game() -> None:
    rules = next(b for b in re.findall(r"```python\n(.*?)```", README, re.S) if "LINES" in b)
    assert rules in (ROOT / "games" / "tictactoe.py").read_text()


@pytest.mark.parametrize("path", re.findall(r"`((?:engine|games|benchmarks)/[\w/.]*)`", README))
def test_paths_exist(path: str) -> None:
    assert (ROOT / path).exists()
