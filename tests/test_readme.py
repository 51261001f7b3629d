"""README and CONTRIBUTING are true: examples run, paths exist, each test file has a subject."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest
from test_docs import assert_has_options, shown_commands

from cutnode import load_game, solve
from cutnode.conformance import check

pytestmark = pytest.mark.once

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text()
TESTS = {path.name for path in (ROOT / "tests").glob("test_*.py")}


def named_paths(text: str) -> set[str]:
    """Return the paths that a page links to or names; NAME and X stand for any name."""
    linked = re.findall(r"\]\(([\w/.]+)\)", text)
    named = re.findall(r"`((?:engine|games|tests|benchmarks|\.ci)/[\w./]*)`", text)
    run = re.findall(r"\b((?:tests|benchmarks|engine)/[\w/]+\.\w+)", text)
    return {path for path in {*linked, *named, *run} if not re.search(r"NAME|_X", path)}


def test_the_tour_runs() -> None:
    failures, examples = doctest.testfile(str(ROOT / "README.md"), module_relative=False)
    assert examples > 10
    assert failures == 0


def test_the_game_shown_is_a_game(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CUTNODE_TIERS")  # it is small enough for first answers
    source = next(b for b in re.findall(r"```python\n(.*?)```", README, re.S) if "Nim" in b)
    (tmp_path / "readme_game.py").write_text(source)
    game = load_game(str(tmp_path / "readme_game.py"))
    assert solve(game).value == 1
    assert solve(game, "left=20").value == -1
    plain = load_game(str(tmp_path / "readme_game.py"), plain=True)
    assert check(plain, games=2) == []
    assert solve(plain).nodes == solve(game).nodes


@pytest.mark.parametrize("path", sorted(named_paths(README) | named_paths(CONTRIBUTING)))
def test_named_paths_exist(path: str) -> None:
    assert (ROOT / path).exists()


def test_every_test_file_has_a_subject() -> None:
    """By its name, or in the table of CONTRIBUTING."""
    table = set(re.findall(r"`(test_\w+\.py)`", CONTRIBUTING))
    assert table - {"test_lab_sweep.py", "test_chess_uci.py"} <= TESTS
    sources = [*(ROOT / "engine" / "cutnode").rglob("*"), *(ROOT / "games").rglob("*")]
    modules = {path.stem for path in sources if path.is_dir() or path.suffix == ".py"}
    wholes = {
        path.stem
        for path in (*(ROOT / "engine" / "cutnode").glob("*"), *(ROOT / "games").glob("*"))
    }
    unnamed = {
        name
        for name in TESTS - table
        if name[5:-3] not in modules and name[5:-3].partition("_")[0] not in wholes
    }
    assert unnamed == set()


@pytest.mark.parametrize("line", shown_commands(README))
def test_commands_have_the_options_shown(line: str) -> None:
    assert_has_options(line)
