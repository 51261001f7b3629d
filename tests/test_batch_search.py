"""Searches of many positions in one call give the same results as one search after another."""

from __future__ import annotations

import random
import threading

import numpy as np
import pytest

from cutnode import (
    NO_MOVE,
    CutnodeError,
    Engine,
    GameError,
    PositionError,
    legal_moves,
    load_game,
)
from cutnode.batches import BatchSearcher, run_batch, search_many
from cutnode.compiler.jit import jit_enabled
from cutnode.contract.positions import as_words
from cutnode.contract.stop import CALLED, NODES, RUNNING, TIME
from cutnode.contract.verbs import chance, chance_outcome, outcome, play
from cutnode.kernels.clock import Clock
from cutnode.runtime.running import KernelLoop

parse_position = load_game("connect4").notation.parse_position
GAME = load_game("connect4")


def some(count=12):
    """Return positions of random games, one of which is over."""
    found = []
    for seed in range(count - 1):
        position, generator = GAME.start(), random.Random(seed)
        for _ in range(seed):
            choices = legal_moves(position)
            if choices:
                position = play(position, generator.choice(choices))
        found.append(position)
    return [*found, parse_position("1121212")]


POSITIONS = some()


@pytest.fixture(scope="module")
def engine():
    return Engine(GAME, table=1, proof_share=0)


@pytest.mark.parametrize("limits", [{"depth": 6}, {"depth": 7}, {"nodes": 300}, {"depth": 0}])
def test_what_is_found_is_what_an_engine_finds(engine, limits):
    found = search_many(POSITIONS, table=1, cold=True, **limits)
    for position, row in zip(POSITIONS, found, strict=True):
        engine.new_game()
        single = engine.search(position, **limits)
        move = NO_MOVE if single.best_move is None else single.best_move
        assert (row["value"], row["move"]) == (single.value, move)
        assert (row["depth"], row["nodes"]) == (single.depth, single.nodes)
        assert row["proven"] == single.proven
        ends = {"node limit": NODES, "proven": RUNNING, "depth limit": RUNNING}
        assert row["reason"] == ends[single.reason]


@pytest.mark.skipif(not jit_enabled(), reason="plain Python runs on one thread")
def test_threads_and_parked_positions_change_nothing():
    searcher = BatchSearcher(GAME, table=2, threads=2)
    one = search_many(POSITIONS, table=1, cold=True, depth=6)
    assert (searcher.search(POSITIONS, depth=6, cold=True) == one).all()
    assert (searcher.search(as_words(POSITIONS), depth=6, cold=True) == one).all()
    assert len(searcher.search([], depth=6)) == 0
    # With warm tables, positions benefit from earlier searches.
    searcher.search(POSITIONS, depth=6)
    again = searcher.search(POSITIONS, depth=6)
    assert again["nodes"].sum() < one["nodes"].sum() / 2


def test_a_batch_is_ended_by_time_and_from_outside():
    searcher = BatchSearcher(GAME, table=1)
    found = searcher.search(POSITIONS[:3], seconds=0.001, cold=True)
    assert (found["move"] != NO_MOVE).all()
    stop = threading.Event()
    stop.set()
    found = searcher.search(POSITIONS[:3] * 1000, stop=stop)
    assert found["reason"][-1] == CALLED and found["move"][-1] == NO_MOVE
    assert (searcher.search(POSITIONS[:3], depth=4)["reason"] == RUNNING).all()


def test_a_stop_that_the_kernel_took_back_is_sent_again():
    memory, control = {"stop": RUNNING}, {"current": 0, "stop_at": -1}
    task = KernelLoop(memory, control, Clock(1e-9))
    task.look()
    assert (memory["stop"], control["stop_at"]) == (TIME, 0)
    memory["stop"] = RUNNING  # it took the stop for one that belongs to an earlier position
    task.look()
    assert (memory["stop"], control["stop_at"]) == (TIME, 0)
    task.stop()
    task.look()
    assert (memory["stop"], control["stop_at"]) == (CALLED, -1)


def test_what_cannot_be_searched_is_said():
    searcher = BatchSearcher(GAME, table=1)
    for arguments in ({}, {"depth": 64}, {"nodes": 0}):
        with pytest.raises(CutnodeError):
            searcher.search(POSITIONS, **arguments)
    with pytest.raises(CutnodeError):
        search_many([], depth=4)
    with pytest.raises(PositionError):
        search_many([POSITIONS[0], load_game("tictactoe").start()], depth=4)
    with pytest.raises(GameError):
        searcher.search([load_game("tictactoe").start()], depth=4)
    with pytest.raises(CutnodeError):
        searcher.search(np.zeros(5), depth=4)
    with pytest.raises(CutnodeError):
        BatchSearcher(GAME, threads=0)
    with pytest.raises(CutnodeError):
        BatchSearcher(GAME, driver="mtdf")


@pytest.mark.parametrize("limits", [{"depth": 3}, {"nodes": 60}, {"depth": 0}])
def test_games_of_chance_have_floats(limits):
    """At a chance node there is a score but no move."""
    game = load_game("toys.race")
    generator = random.Random(7)
    position, positions = game.start(), []
    while not outcome(position)[0]:
        positions.append(position)
        count = chance(position)
        position = (
            chance_outcome(position, generator.randrange(count))[1]
            if count
            else play(position, generator.choice(legal_moves(position)))
        )
    found = search_many([*positions, position], table=1, cold=True, **limits)
    assert found["value"].dtype == np.float64
    for at, row in zip([*positions, position], found, strict=True):
        single = Engine(game, table=1).search(at, **limits)
        move = NO_MOVE if single.best_move is None else single.best_move
        assert (row["value"], row["move"]) == (single.value, move)
        assert (row["depth"], row["nodes"]) == (single.depth, single.nodes)
        assert row["proven"] == single.proven
        assert (move == NO_MOVE) == bool(chance(at) or at == position)


def test_batches_in_files_are_for_whole_scores(tmp_path):
    with pytest.raises(GameError, match="race is a game of chance: batches are for other games"):
        run_batch([load_game("toys.race").start()], task="search", depth=1)
