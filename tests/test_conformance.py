"""Every game follows the contract."""

from __future__ import annotations

import pytest

from engine import load_game
from engine.conformance import check


@pytest.mark.parametrize("name", ["tictactoe", "connect4:4x4"])
def test_game_conforms(name: str) -> None:
    assert check(load_game(name)) == []
