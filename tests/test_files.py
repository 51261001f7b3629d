"""Files with the same name in several folders are different games, each with its own neighbours."""

import pytest

from cutnode import load_game, perft
from cutnode.compiler.sources import own_sources

NIM = """
from typing import NamedTuple

import random
import helper
from helper import MOST
from cutnode import compiled
{imports}

class Position(NamedTuple):
    left: int = 6


@compiled
def moves(position, buffer, at):
    for count in range(1, min(position.left, helper.most()) + 1):
        buffer[at] = count
        at += 1
    return at


@compiled
def play(position, move):
    return Position(position.left - move)


@compiled
def outcome(position):
    return position.left == 0, -1 if position.left == 0 else 0
"""
HELPER = """
from cutnode import compiled
from deeper.inner import MOST

@compiled
def most():
    return MOST
"""


@pytest.fixture
def folders(tmp_path):
    """Two folders that differ in one number, in a package that a neighbour imports."""
    for number in (1, 2):
        folder = tmp_path / str(number)
        (folder / "deeper").mkdir(parents=True)
        (folder / "same.py").write_text(NIM.format(imports="from deeper import inner"))
        (folder / "helper.py").write_text(HELPER)
        (folder / "random.py").write_text("raise ImportError('the one of Python was meant')")
        (folder / "deeper" / "__init__.py").write_text("")
        (folder / "deeper" / "inner.py").write_text(f"MOST = {number}")
    return [tmp_path / "1", tmp_path / "2"]


def test_two_games_of_one_name(folders):
    first, second = (load_game(folder / "same.py") for folder in folders)
    assert first.module is not second.module
    assert first.name == second.name == "same"
    assert [perft(game.start(), 2) for game in (first, second)] == [1, 4]
    for game, folder in zip((first, second), folders, strict=True):
        assert load_game(game.source) == game
        assert game.module.helper.MOST == game.module.inner.MOST == int(folder.name)
        plain = load_game(folder / "same.py", plain=True)
        assert perft(plain.start(), 2) == perft(game.start(), 2)
        inside = {path for path in own_sources(game.module) if path.is_relative_to(folder)}
        assert {path.name for path in inside} == {"same.py", "helper.py", "__init__.py", "inner.py"}


@pytest.mark.parametrize("name", ["token", "my-game", "2048"])
def test_any_name_of_a_file(tmp_path, name):
    file = tmp_path / f"{name}.py"
    rules = NIM.replace("helper.most()", "3").replace("import helper", "")
    file.write_text(rules.replace("from helper import MOST", "").format(imports=""))
    game = load_game(file)
    assert game.name == name
    assert game.start().left == 6
    assert load_game(game.source) == game
