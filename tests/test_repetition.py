"""Tests of what a repetition means: a draw, a win, a loss, or no legal move."""

import pytest
from toys.walk import walk

from cutnode import Board, PositionError, Searcher, load_game, minimax, solve
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


def naive(walk, rule, line):
    """Return a value by the rule alone, over whole lines of play; *line* has the nodes so far."""
    after = [[n for n in range(8) if walk.edges >> 8 * at + n & 1] for at in range(8)]
    labels = [walk.labels >> 4 * at & 15 for at in range(8)]
    most = 2

    def value(line):
        if not after[line[-1]]:
            return (walk.values >> 4 * line[-1] & 15) - 2
        words, found = [labels[at] for at in line], []
        for node in after[line[-1]]:
            word = labels[node]
            stays = rule != "draw" and word == words[-1]
            if after[node] and word in words and not stays:
                if rule != "illegal":
                    found.append({"draw": 0, "loss": -most, "win": most}[rule])
            else:
                found.append(-value([*line, node]))
        return max(found, default=-most)

    return value(line)


def checked(game, rule, seeds):
    """Compare solvers with the naive search on random graphs; return how many differ by rule."""
    wrong = []
    searcher = Searcher(game, exact=True, table=1)
    for seed in seeds:
        position = game.module.random_walk(seed, rule)
        if not position.edges & 0xFF:
            continue
        value = naive(position, rule, [0])
        found = {
            "alphabeta": solve(position).value,
            "pn": solve(position, engine="pn").value,
            "search": searcher.search(position, depth=30).value,
            "minimax": minimax(position, depth=30).value,
        }
        wrong += [(seed, name, value, got) for name, got in found.items() if got != value]
    return wrong


@pytest.mark.parametrize("rule", RULES)
def test_plain_searches_follow_the_rule(rule):
    assert checked(load_game(RING.format(rule), plain=True), rule, range(10)) == []
