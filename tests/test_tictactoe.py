"""Tic-tac-toe: published counts of positions, its evaluation, and its notation."""

from __future__ import annotations

import functools

import pytest

from cutnode import legal_moves, load_game, solve_many
from cutnode.contract.verbs import outcome, play
from cutnode.games import tictactoe
from cutnode.games.tictactoe import evaluate

pytestmark = pytest.mark.once

GAME = load_game("tictactoe")
parse_position, position_text, start = GAME.parse, GAME.notation.position_text, GAME.start


@functools.cache
def reachable() -> dict[tictactoe.Position, int]:
    """Return all reachable positions, with the value by minimax."""
    values: dict[tictactoe.Position, int] = {}

    def value(position):
        if position not in values:
            over, final = outcome(position)
            children = [play(position, move) for move in legal_moves(position)]
            values[position] = final if over else max(-value(child) for child in children)
        return values[position]

    value(start())
    return values


def test_reachable_positions():
    assert len(reachable()) == 5478
    assert sum(outcome(position)[0] for position in reachable()) == 958


def test_complete_games():
    """OEIS A061526 (all games) and A061527 (games that the first player wins)."""

    @functools.cache
    def games(position):
        """Return the numbers of games that the mover wins, loses, and draws."""
        over, value = outcome(position)
        if over:
            return (0, 1, 0) if value else (0, 0, 1)
        lost, won, drawn = (
            sum(counts)
            for counts in zip(
                *(games(play(position, move)) for move in legal_moves(position)), strict=True
            )
        )
        return won, lost, drawn

    assert sum(games(start())) == 255_168
    assert games(start()) == (131_184, 77_904, 46_080)


@pytest.mark.parametrize("weak", [False, True])
def test_every_position_is_solved(weak):
    positions = list(reachable())
    batch = solve_many(positions, weak=weak)
    assert batch.proven.all()
    assert batch.values.tolist() == list(reachable().values())


def test_every_position_has_a_text():
    for position in reachable():
        assert parse_position(position_text(position)) == position


def test_evaluation_counts_open_lines():
    lines = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))
    for position in reachable():
        total = 0
        for line in lines:
            mine = sum(position.mine >> cell & 1 for cell in line)
            theirs = sum(position.theirs >> cell & 1 for cell in line)
            if max(mine, theirs) < 3 and not (mine and theirs):
                total += (0, 1, 10)[mine] - (0, 1, 10)[theirs]
        if not outcome(position)[0]:
            assert evaluate(position) == total
