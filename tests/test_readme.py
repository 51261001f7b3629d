"""The README is true: its examples run, and its game is a game."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest
from test_docs import assert_has_options, shown_commands

from cutnode import load_game, solve
from cutnode.conformance import check

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()


def test_the_tour_runs() -> None:
    failures, examples = doctest.testfile(str(ROOT / "README.md"), module_relative=False)
    assert examples > 10
    assert failures == 0


def test_the_game_shown_is_a_game(tmp_path: Path) -> None:
    source = next(b for b in re.findall(r"```python\n(.*?)```", README, re.S) if "Nim" in b)
    (tmp_path / "readme_game.py").write_text(source)
    game = load_game(str(tmp_path / "readme_game.py"))
    assert solve(game).value == 1
    assert solve(game, "left=20").value == -1
    plain = load_game(str(tmp_path / "readme_game.py"), plain=True)
    assert check(plain, games=2) == []
    assert solve(plain).nodes == solve(game).nodes


@pytest.mark.parametrize("path", re.findall(r"\]\(([\w/.]+)\)", README))
def test_links_lead_somewhere(path: str) -> None:
    assert (ROOT / path).exists()


@pytest.mark.parametrize("line", shown_commands(README))
def test_commands_have_the_options_shown(line: str) -> None:
    assert_has_options(line)
