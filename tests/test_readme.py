"""What the README shows is true: its examples run, its game is the game."""

from __future__ import annotations

import doctest
import re
import shlex
from pathlib import Path

import click
import pytest

from engine import load_game, solve
from engine.cli.main import OWN_COMMANDS, main
from engine.conformance import check

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()


def test_the_tour_runs() -> None:
    failures, examples = doctest.testfile(str(ROOT / "README.md"), module_relative=False)
    assert examples > 5
    assert failures == 0


def test_the_game_shown_is_the_game() -> None:
    rules = next(b for b in re.findall(r"```python\n(.*?)```", README, re.S) if "LINES" in b)
    assert rules in (ROOT / "games" / "tictactoe.py").read_text()


def test_the_prototype_shown_is_a_game(tmp_path: Path) -> None:
    source = next(b for b in re.findall(r"```python\n(.*?)```", README, re.S) if "heap, count" in b)
    (tmp_path / "readme_game.py").write_text(source)
    game = load_game(str(tmp_path / "readme_game.py"))
    assert check(game, games=2) == []
    assert solve(game.start()).value == 1  # 3 xor 4 xor 5 is not 0
    assert solve(game.parse("first=1 second=2 third=3")).value == -1


@pytest.mark.parametrize("path", re.findall(r"`((?:engine|games|benchmarks)/[\w/.]*)`", README))
def test_paths_exist(path: str) -> None:
    assert (ROOT / path).exists()


PAGES = [(ROOT / "engine" / "docs" / name).read_text() for name in ("json.md", "terminal.md")]
WRITTEN = "\n".join([README, *PAGES])
COMMANDS = sorted(set(re.findall(r"\bcutnode ((?:[a-z]+ )[^`#|\n]*?)(?:\s*[#|].*|`|\n)", WRITTEN)))


@pytest.mark.parametrize("line", [c for c in COMMANDS if c.split()[0] in OWN_COMMANDS])
def test_commands_have_the_options_shown(line: str) -> None:
    """Parsed as the shell would, and not run."""
    command: click.Command = main
    words = shlex.split(line)
    while isinstance(command, click.Group):
        found = command.get_command(click.Context(command), words.pop(0))
        assert found is not None
        command = found
    if words != ["--help"]:
        command.make_context(command.name, words)
