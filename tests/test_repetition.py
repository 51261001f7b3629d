"""Tests of what a repetition means: a draw, a win, a loss, or no legal move."""

import pytest
from toys.walk import random_walk, start, walk

from cutnode import Board, PositionError, load_game
from cutnode.contract.repetition import RULES

RING = "toys.walk:{}"


def ring(rule, labels=0x76543210):
    """Return a board: a cycle of three nodes, where node 2 also leads to a won end, node 3."""
    edges = 1 << 1 | (1 << 2) << 8 | (1 << 0 | 1 << 3) << 16
    position = walk(rule)(0, edges, labels, 4 << 12)
    return Board(load_game(RING.format(rule)), position)


@pytest.mark.parametrize(
    ("rule", "legal", "value"),
    [("draw", [0, 3], 0), ("illegal", [3], None), ("loss", [0, 3], -2), ("win", [0, 3], 2)],
)
def test_boards_know_what_a_repetition_is(rule, legal, value):
    board = ring(rule)
    board.push(1)
    board.push(2)
    assert board.legal_moves == legal
    if rule == "illegal":
        with pytest.raises(PositionError, match="brings an earlier position back"):
            board.push(0)
        board.push(3)
        assert board.outcome() == 2
        return
    board.push(0)
    assert board.is_game_over() and board.record.ending() == "repetition"
    assert board.outcome() == -value  # for the other player, who is to move now
    assert board.copy() == board
    board.pop()
    assert not board.is_game_over()
