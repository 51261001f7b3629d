"""Tests of what a repetition means: a draw, a win, a loss, or no legal move."""

from types import SimpleNamespace

import pytest
from toys.walk import walk

from cutnode import Board, GameError, PositionError, Searcher, load_game, minimax, solve
from cutnode.contract.repetition import RULES, repetition_rule
from cutnode.search.line_proofs import LineProof
from cutnode.search.monte_carlo import MonteCarlo

GAME = "toys.walk:{}"
MOST = 2


def naive(graph, rule):
    """Return the value of a graph by the rule alone, over whole lines of play."""
    after = [[n for n in range(8) if graph.edges >> 8 * at + n & 1] for at in range(8)]
    labels = [graph.labels >> 4 * at & 15 for at in range(8)]

    def word(at, second):
        return labels[at], second and graph.counts

    def value(at, second, words):
        if not after[at]:
            return (graph.values >> 4 * at & 15) - 2
        found = []
        same = bool(graph.again >> at & 1)
        for node in after[at]:
            mover = second if same else not second
            now = word(node, mover)
            stays = rule != "draw" and now == words[-1]
            if not after[node] or stays or now not in words:
                below = value(node, mover, [*words, now])
                found.append(below if same else -below)
            elif rule != "illegal":
                found.append({"draw": 0, "loss": -MOST, "win": MOST}[rule])
        return max(found, default=-MOST)

    return value(graph.at, graph.second, [word(graph.at, graph.second)])


def graphs(game, rule, seeds):
    """Yield random graphs and their values."""
    for seed in seeds:
        position = game.module.random_walk(seed, rule)
        yield position, naive(position, rule)


def wrong_values(game, rule, seeds):
    """Return what solvers find on random graphs, where it is not the value."""
    wrong, searcher = [], Searcher(game, exact=True, table=1)
    for seed, (position, value) in zip(seeds, graphs(game, rule, seeds), strict=True):
        found = {
            "alphabeta": solve(position).value,
            "pn": solve(position, engine="pn").value,
            "search": searcher.search(position, depth=30).value,
            "minimax": minimax(position).value,
        }
        wrong += [(seed, name, value, got) for name, got in found.items() if got != value]
    return wrong


@pytest.mark.parametrize("rule", RULES)
def test_plain_searches_follow_the_rule(rule):
    assert wrong_values(load_game(GAME.format(rule), plain=True), rule, range(60)) == []


def test_compiled_searches_follow_the_rule():
    assert wrong_values(load_game(GAME.format("illegal")), "illegal", range(150)) == []


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
def test_all_searches_follow_the_rule(rule):
    assert wrong_values(load_game(GAME.format(rule)), rule, range(2500)) == []


@pytest.mark.parametrize("rule", RULES)
def test_tree_searches_prove_by_the_rule(rule):
    game, proven = load_game(GAME.format(rule), plain=True), 0
    for position, value in graphs(game, rule, range(40)):
        found = MonteCarlo(game, memory=4 << 20).search(position, playouts=3000, seed=1)
        assert not found.proven or found.value == value, position
        proven += found.proven
    assert proven >= 30
