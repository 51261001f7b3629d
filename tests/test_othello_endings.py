"""Othello endgames: published values, the last squares, stable discs, and scouting."""

from __future__ import annotations

import random
import threading
from dataclasses import replace

import pytest
from data import SETS, rows
from positions import final_value

from cutnode import (
    Searcher,
    Table,
    alphabeta,
    analyse,
    legal_moves,
    load_game,
    lowest_index,
    popcount,
    solve,
    solve_many,
)
from cutnode.compiler.jit import jit_enabled
from cutnode.contract.verbs import INFINITE, bounds, candidates, endgame, outcome, play
from cutnode.games.othello import move_text, parse_position, start
from cutnode.games.othello.discs import empties, flipped
from cutnode.games.othello.endings import LAST, stable, turned_last
from cutnode.runtime.running import UNLIMITED, Limits
from cutnode.search.solving import presearch

pytestmark = pytest.mark.once

SUITE = {
    int(number): (parse_position(board), int(value), best.split())
    for board, number, value, best in rows(SETS / "othello_ffo.txt")
}
needs_compiling = pytest.mark.skipif(not jit_enabled(), reason="takes long in plain Python")
MOVES_OF_1 = {"g8": 18, "h1": 12, "h7": 6, "a2": 6, "a3": 4, "b1": -4, "a4": -22, "g2": -24}


def ended(left, seed, variant=""):
    """Return a position with *left* empty squares, after random moves; None if the game ended."""
    choose = random.Random(seed)
    position = start(variant)
    while empties(position) > left and not outcome(position)[0]:
        position = play(position, choose.choice(legal_moves(position)))
    return None if outcome(position)[0] else position


def endings(lefts, count, variant=""):
    found = (ended(left, seed, variant) for left in lefts for seed in range(2 * count))
    return [position for position in found if position is not None][: count * len(lefts)]


# Published values


@pytest.mark.slow
@needs_compiling
@pytest.mark.parametrize("number", [n for n in SUITE if n < 20])
def test_ffo(number):
    position, value, best = SUITE[number]
    result = solve(position)
    assert result.value == value
    assert move_text(position, result.best_move) in best


@pytest.mark.slow
@needs_compiling
@pytest.mark.parametrize("number", [40, 41, 42, 44])
def test_ffo_of_more_squares(number):
    test_ffo(number)


@pytest.mark.slow
@pytest.mark.long
@needs_compiling
@pytest.mark.parametrize("number", [43, 45, 46, 47, 48, 49])
def test_ffo_of_most_squares(number):
    test_ffo(number)


@pytest.mark.slow
@needs_compiling
def test_the_value_of_every_move():
    position, value, _ = SUITE[1]
    scores = analyse(position).scores
    assert {move_text(position, move): score for move, score in scores.items()} == MOVES_OF_1
    assert max(scores.values()) == value


@pytest.mark.slow
@needs_compiling
def test_who_wins():
    weak = solve_many([position for position, _, _ in SUITE.values()][:10], weak=True)
    for result, (_, value, _) in zip(weak, SUITE.values(), strict=False):
        assert result.value == (value > 0) - (value < 0)


# The last squares


@pytest.mark.parametrize("variant", ["8x8", "6x6", "4x4"])
def test_last_squares(variant):
    for position in endings(range(1, LAST + 1), 6, variant):
        solved, value, nodes = endgame(position, -INFINITE, INFINITE, UNLIMITED)
        assert solved and nodes > 0
        assert value == final_value(position)


def test_last_squares_within_windows():
    for position in endings((3, 5, LAST), 8):
        _, value, _ = endgame(position, -64, 64, UNLIMITED)
        for alpha in range(-64, 64, 7):
            _, found, _ = endgame(position, alpha, alpha + 1, UNLIMITED)
            assert found >= value if value <= alpha else alpha < found <= value


def test_discs_turned_by_the_last_move():
    for position in endings((1,), 8) + endings((1,), 4, "6x6"):
        mine, theirs = position.mine, position.theirs
        square = lowest_index(position.BOARD & ~(mine | theirs))
        assert turned_last(mine, square) == popcount(flipped(mine, theirs, square))
        assert turned_last(theirs, square) == popcount(flipped(theirs, mine, square))


def test_moves_are_candidates_just_above_the_last_squares():
    for position in endings((LAST + 1,), 4):
        buffer = [0] * position.MAX_MOVES
        count = candidates(position, buffer, 0)
        assert sorted(buffer[:count]) == legal_moves(position)


def test_more_squares_are_left_to_the_search():
    assert not endgame(ended(LAST + 1, 1), -64, 64, UNLIMITED)[0]


@pytest.mark.parametrize("variant", ["8x8", "6x6"])
def test_last_squares_stop_at_a_node_limit(variant):
    for position in endings(range(5, LAST + 1), 3, variant):
        whole, value, nodes = endgame(position, -64, 64, UNLIMITED)
        assert whole
        for limit in (nodes, nodes + 1):
            assert endgame(position, -64, 64, limit) == (True, value, nodes)
        for limit in {0, 1, 10, 100, nodes // 2, nodes - 1} & set(range(nodes)):
            solved, _, taken = endgame(position, -64, 64, limit)
            assert not solved
            assert taken <= limit + 50


@pytest.mark.slow
@needs_compiling
def test_proofs_stop_at_the_node_limit_within_the_last_squares():
    table = Table(1)
    for position in endings(range(LAST - 1, LAST + 4), 3):
        value = solve(position, table=table).value
        for limit in range(1, 2_000, 37):
            table.forget()
            result = solve(position, nodes=limit, table=table)
            assert result.nodes <= limit + 50
            assert result.lower <= value <= result.upper
            assert result.value in (None, value)


@pytest.mark.slow
@needs_compiling
def test_values_found_by_the_last_squares_are_stored():
    position, table = ended(LAST + 1, 1), Table(1)
    first, second = solve(position, table=table), solve(position, table=table)
    assert first.nodes > 10 * second.nodes
    assert first.value == second.value


# Stable discs


def test_a_stable_disc_is_never_turned_over():
    choose = random.Random(8)
    found = 0
    for position in endings((4, 12, 20, 30), 15):
        black, white = position.mine, position.theirs
        if position.white:
            black, white = white, black
        safe = stable(black, white), stable(white, black)
        found += any(safe)
        while not outcome(position)[0]:
            position = play(position, choose.choice(legal_moves(position)))
            now = position.mine, position.theirs
            for discs, kept in zip(now[::-1] if position.white else now, safe, strict=True):
                assert discs & kept == kept
    assert found > 20


def test_a_corner_and_its_edge_are_stable():
    position = parse_position("XXXX----" + "-" * 55 + "O X")
    assert stable(position.mine, position.theirs) == 0b1111
    assert stable(position.theirs, position.mine) == 1 << 63


def test_bounds_hold():
    plain = type(load_game("othello", plain=True).start())
    for position in endings((4, 6), 8) + endings((LAST + 1,), 4):
        value = alphabeta(plain(*position)).value
        for alpha in (-20, 0, 20, 40):
            lower, upper = bounds(position, alpha, alpha + 1)
            assert lower <= value <= upper


# Presearch


@pytest.mark.slow
@needs_compiling
def test_scouting_guesses_and_leaves_moves():
    position, value, _ = SUITE[40]
    table = Table(64)
    presearched = presearch([position, start()], table, Limits(nodes=1_000_000))
    assert abs(presearched.guesses[0] - value) < 10
    assert 0 < presearched.nodes[0] <= 100_001
    assert presearched.purpose


@pytest.mark.slow
@needs_compiling
def test_scouting_is_counted_and_limited():
    position, _, _ = SUITE[40]
    result = solve(position, nodes=1_000)
    assert result.value is None and result.reason == "node limit"
    assert result.lower <= 38 <= result.upper
    assert 1_000 <= result.nodes < 1_100  # the last one may have been followed by an endgame search
    other = SUITE[41][0]
    batch = solve_many([position, other], nodes=100_000, cold=True)
    assert all(result.nodes < 101_000 for result in batch)
    assert batch[1].nodes == solve_many([other], nodes=100_000, cold=True)[0].nodes


@pytest.mark.slow
@needs_compiling
def test_what_ends_scouting_ends_the_proof(monkeypatch):
    search = Searcher.search

    def interrupted(engine, position, **limits):
        return replace(search(engine, position, depth=2), reason="interrupted")

    monkeypatch.setattr(Searcher, "search", interrupted)
    result = solve(SUITE[44][0])
    assert result.value is None and result.reason == "interrupted"


@pytest.mark.slow
@needs_compiling
def test_a_batch_that_is_ended_while_it_scouts_proves_nothing_more(monkeypatch):
    search, stop, asked = Searcher.search, threading.Event(), []
    positions = [SUITE[44][0], SUITE[46][0], SUITE[47][0]]

    def stopping(engine, position, **limits):
        asked.append(position)
        stop.set()
        assert limits["stop"].wait(60)
        return search(engine, position, **limits)

    monkeypatch.setattr(Searcher, "search", stopping)
    batch = solve_many(positions, threads=2, stop=stop)
    assert [result.reason for result in batch] == ["stopped"] * 3
    assert len(asked) <= 2


def test_games_without_scouting():
    game = load_game("tictactoe")
    assert presearch([game.start()], Table(1), Limits()) is None
    assert presearch([SUITE[1][0]], Table(1), Limits()) is None
