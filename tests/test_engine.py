"""Engines: limits, several lines, ties, statistics, and errors."""

from __future__ import annotations

import json
import math
import pickle
import signal
import sys
import threading

import pytest
from marks import compiled_only

from cutnode import (
    CutnodeError,
    Evaluation,
    GameError,
    PositionError,
    Searcher,
    Table,
    legal_moves,
    load_game,
    minimax,
    search,
)
from cutnode.contract.dispatch import module_of
from cutnode.contract.verbs import play
from cutnode.kernels.parameters import HALF_FULL
from cutnode.kernels.profiles import DEFAULT, TACTICAL, profile_of
from cutnode.kernels.scores import MOST_ESTIMATE, WIN
from cutnode.kernels.techniques import EXACT, TECHNIQUES, choose, leave_out
from cutnode.search import deepening

GAME = load_game("connect4")
EMPTY = GAME.start()
SMALL = load_game("tictactoe")


@pytest.fixture(scope="module")
def shared():
    return Searcher(EMPTY, table=16)


@pytest.fixture
def engine(shared):
    shared.clear()
    return shared


@pytest.fixture(scope="module")
def exact():
    return Searcher(SMALL, table=1, exact=True)


# Results


def test_wins_are_counted_from_the_root(exact):
    exact.clear()
    result = exact.search(SMALL.parse("1425"), depth=5)  # 3 completes the row at once
    assert (result.value, result.best_move, result.pv) == (WIN - 1, 2, (2,))
    assert result.proven
    assert result.meaning() == "the player to move wins in 1 ply"
    result = exact.search(SMALL.parse("14253"), depth=5)
    assert (result.value, result.lines, result.depth) == (-WIN, (), 0)
    assert result.meaning() == "the game is over: the player to move has lost"
    assert (result.reason, result.best_move, result.pv) == ("proven", None, ())


def test_losses_are_put_off(exact):
    exact.clear()
    result = exact.search(SMALL.parse("1593"), depth=9)  # two ways to lose
    wanted = minimax(SMALL.parse("1593"), 9)
    assert result.value == wanted.value
    assert MOST_ESTIMATE < abs(result.value) <= WIN or result.value == 0


def test_draw_is_proven_to_the_end(exact):
    exact.clear()
    result = exact.search(SMALL.start(), depth=9)
    assert (result.value, result.proven, result.exact) == (0, True, True)
    assert result.meaning() == "proven"
    assert len(result.pv) == 9


def test_proof_ends_a_search_early(exact):
    exact.clear()
    result = exact.search(SMALL.parse("1425"), depth=30)
    assert (result.reason, result.depth < 30) == ("proven", True)


def test_result_as_plain_data(exact):
    exact.clear()
    result = exact.search(SMALL.parse("5"), depth=4, lines=2)
    data = json.loads(json.dumps(result.to_dict()))
    assert data["best_move"] == data["lines"][0]["move"] == data["lines"][0]["pv"][0]
    assert [line["value"] for line in data["lines"]] == [line.value for line in result.lines]
    assert data["statistics"]["nodes"] == data["nodes"] == result.nodes
    assert [step["depth"] for step in data["iterations"]] == [2, 4]
    assert pickle.loads(pickle.dumps(result)) == result
    text = str(result)
    assert text.startswith(f"value  {result.value}  (estimated 4 plies deep)\nbest ")
    assert "depth  4  (depth limit)" in text


def test_statistics_add_up(engine):
    count = engine.search(EMPTY, depth=7).statistics
    assert count.nodes == count.leaves + count.interior + count.table_cutoffs + (
        count.enhanced_cutoffs + count.distance_cutoffs
    )
    assert count.first_cutoffs <= count.cutoffs == count.cut_nodes
    assert count.hits <= count.probes
    assert count.deepest >= count.depth == 7
    assert 1 < count.effective_branching < 7
    assert 0 < count.first_cutoff_rate <= 1
    assert 0 < count.fill < 1


# Limits


def test_same_limits_same_nodes(engine):
    first = engine.search(EMPTY, depth=6)
    engine.clear()
    again = engine.search(EMPTY, depth=6)
    assert (first.nodes, first.value, first.pv) == (again.nodes, again.value, again.pv)
    other = search(EMPTY, depth=6, table=Table(16))
    assert (other.nodes, other.value, other.pv) == (first.nodes, first.value, first.pv)


@compiled_only
def test_node_limit_twice(engine):
    found = []
    for _ in range(2):
        engine.clear()
        found.append(engine.search(EMPTY, nodes=100_000))
    assert found[0].reason == "node limit"
    assert found[0].nodes == 100_000
    assert [f.pv for f in found] == [found[0].pv] * 2
    assert [f.depth for f in found] == [found[0].depth] * 2


def test_one_node_is_not_enough(engine):
    result = engine.search(EMPTY, nodes=1)
    assert (result.depth, result.reason, result.nodes) == (0, "node limit", 1)
    assert result.best_move in legal_moves(EMPTY) and not result.proven


def test_depth_zero_is_an_estimate(engine):
    result = engine.search(GAME.parse("4"), depth=0)
    assert (result.depth, result.value) == (0, engine.estimate(GAME.parse("4")))


@compiled_only
@pytest.mark.parametrize("limit", ["seconds", "soft_seconds"])
def test_time_limit(engine, limit):
    result = engine.search(EMPTY, **{limit: 0.1})
    assert (result.reason, result.depth > 0) == ("time limit", True)
    assert result.best_move in legal_moves(EMPTY)


def after_depth(depth, end):
    """Return the progress of a search that *end* ends, from another thread, after *depth*."""

    def look(iteration):
        if iteration.depth > depth:
            threading.Thread(target=end).start()

    return look


@compiled_only
def test_stop(engine):
    stop = threading.Event()
    result = engine.search(EMPTY, stop=stop, progress=after_depth(3, stop.set))
    assert (result.reason, result.depth > 3) == ("stopped", True)
    assert engine.search(EMPTY, depth=5, stop=stop).reason == "stopped"
    assert engine.search(EMPTY, depth=5).reason == "depth limit"


@compiled_only
def test_stop_by_a_call(engine):
    result = engine.search(EMPTY, depth=60, progress=after_depth(3, engine.stop))
    assert result.reason == "stopped"
    assert engine.search(EMPTY, depth=5).reason == "depth limit"


@compiled_only
@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="no signals to a thread")
def test_interrupt_keeps_the_best(engine):
    main = threading.main_thread().ident
    press = after_depth(3, lambda: signal.pthread_kill(main, signal.SIGINT))
    result = engine.search(EMPTY, depth=60, progress=press)
    assert (result.reason, result.depth > 3) == ("interrupted", True)


def test_progress(engine):
    seen = []
    result = engine.search(EMPTY, depth=5, progress=seen.append)
    assert tuple(seen) == result.iterations
    assert [step.depth for step in seen] == [1, 3, 5]
    assert [step.nodes for step in seen] == sorted(step.nodes for step in seen)


# Lines and ties


def test_lines_are_the_best_moves():
    engine = Searcher(SMALL, table=1, exact=True)
    position = SMALL.parse("15")
    scores = {move: -minimax(play(position, move), 4).value for move in legal_moves(position)}
    result = engine.search(position, depth=5, lines=3)
    assert [line.value for line in result.lines] == sorted(scores.values(), reverse=True)[:3]
    assert all(scores[line.move] == line.value for line in result.lines)
    assert len({line.move for line in result.lines}) == 3
    everything = engine.search(position, depth=5, lines=100)
    assert {line.move: line.value for line in everything.lines} == scores


def test_ties_are_broken_by_a_seed():
    engine = Searcher(SMALL, table=1, exact=True)
    start = SMALL.start()
    wanted = minimax(start, 2).value
    ties = {m for m in legal_moves(start) if -minimax(play(start, m), 1).value == wanted}
    chosen = {seed: engine.search(start, depth=2, seed=seed).best_move for seed in range(30)}
    assert set(chosen.values()) == ties
    early = SMALL.parse("1")
    proven = {engine.search(early, depth=20, seed=seed).best_move for seed in range(8)}
    assert proven == {4}  # only the centre draws
    engine.clear()
    assert engine.search(start, depth=2, seed=7).best_move == chosen[7]
    assert engine.search(start, depth=2).value == wanted


def test_lines_that_are_told_are_whole(engine):
    """Where the table answers for a move, its line continues with legal moves from the table."""
    position = GAME.parse("44")
    told = []
    result = engine.search(position, depth=7, lines=7, progress=told.append)
    for iteration in told:
        for line in iteration.lines:
            assert len(line.pv) == iteration.depth
            here = position
            for move in line.pv:
                assert move in legal_moves(here)
                here = play(here, move)
    assert told[-1].lines == result.lines
    engine.clear()
    assert engine.search(position, depth=7, lines=7).nodes == result.nodes


@compiled_only
@pytest.mark.parametrize("after", [0, math.inf])
def test_lines_are_told_as_they_are_while_time_is_short(engine, monkeypatch, after):
    monkeypatch.setattr(deepening, "EXTENDED_AFTER", after)
    position = GAME.parse("44")
    engine.search(position, depth=7)
    told = []
    result = engine.search(position, depth=7, seconds=60, progress=told.append)
    short = [line for line in told[-1].lines if len(line.pv) < 7]
    assert bool(short) == (after > 0)
    assert [len(line.pv) for line in result.lines] == [7]


# Restricted root moves, bounds, and depths that are not completed


def test_moves_to_choose_from(exact):
    exact.clear()
    position = SMALL.start()
    result = exact.search(position, depth=9, moves=[7, 1], lines=3)
    assert sorted(line.move for line in result.lines) == [1, 7]
    result = exact.search(position, depth=9, moves=(move for move in (7, 7)))
    assert result.best_move == 7
    wins = SMALL.parse("1425")  # 3 wins, but may not be chosen here
    result = exact.search(wins, depth=5, moves=[5, 8])
    assert result.best_move in (5, 8) and result.value < WIN - 1
    assert exact.search(wins, depth=5).best_move == 2


def test_ties_are_among_the_moves_to_choose_from(exact):
    exact.clear()
    chosen = {
        exact.search(SMALL.start(), depth=2, moves=[0, 2, 8], seed=seed).best_move
        for seed in range(20)
    }
    assert len(chosen) > 1 and chosen <= {0, 2, 8}


@pytest.mark.parametrize(("moves", "named"), [([], "none"), ([3, 9, -1], "-1, 9")])
def test_moves_that_are_not_legal(exact, moves, named):
    with pytest.raises(PositionError, match=f"at least one, got {named}$"):
        exact.search(SMALL.start(), depth=2, moves=moves)


@compiled_only
def test_bounds_are_told(engine):
    seen, done = [], []
    position = EMPTY
    for _ in range(16):
        result = engine.search(position, depth=8, bounds=seen.append, progress=done.append)
        position = play(position, result.best_move)
    assert {told.bound for told in seen} <= {1, -1} and seen
    assert {told.bound for told in done} == {0}
    assert all(told.lines[0].value == told.value and not told.proven for told in seen)


@compiled_only
def test_an_interrupted_depth_may_find_a_better_move():
    """So the nodes of an incomplete depth are not wasted."""
    engine = Searcher(GAME, table=4)
    position = GAME.parse("12")
    whole = engine.search(position, depth=12)
    better = 0
    for nodes in range(200, whole.nodes, whole.nodes // 60):
        engine.clear()
        result = engine.search(position, nodes=nodes)
        last = result.iterations[-1]
        if result.best_move != last.lines[0].move:
            better += 1
            assert result.reason == "node limit" and result.lines[0].value == result.value
            engine.clear()
            assert engine.search(position, nodes=nodes).lines == result.lines
    assert better


@compiled_only
def test_a_stop_ends_a_search_at_once(engine):
    def stop(iteration):
        if iteration.depth == 6:
            threading.Timer(0.1, engine.stop).start()

    result = engine.search(EMPTY, depth=60, progress=stop)
    assert result.reason == "stopped" and result.depth > 4
    assert engine.search(EMPTY, depth=4).reason == "depth limit"


# Errors


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"techniques": ["tabel"]}, "there is no technique 'tabel' (did you mean 'table'"),
        (
            {"techniques": ["null_move"]},
            "connect4 does not allow null_move: it does not define skip",
        ),
        ({"techniques": ["frontier"]}, "does not allow frontier: it defines evaluate"),
        ({"techniques": ["futility"]}, "does not allow futility: it does not define UNIT"),
        ({"techniques": ["symmetry"]}, "symmetry makes no sense without table"),
        ({"techniques": ["late_move_pruning"], "exact": True}, "late_move_pruning is selective"),
        ({"evaluation": "cell"}, "no evaluation 'cell' (did you mean 'cells'"),
        ({"driver": "negascout"}, "driver must be one of alphabeta, mtdf, sss, dual, got "),
        ({"table": 0}, "at least 1 MiB"),
        ({"table": "64"}, "the size of a table in MiB must be a whole number"),
        ({"techniques": "table"}, "techniques must be several names"),
        ({"techniques": [7]}, "a technique must be a name or a Technique, got 7"),
        ({"evaluation": 7}, "evaluation must be a name or a compiled function, got 7"),
    ],
)
def test_invalid_engines(options, message):
    with pytest.raises(CutnodeError) as error:
        Searcher(EMPTY, **options)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({}, "a search needs a limit"),
        ({"depth": -1}, "depth must be 0..63, got -1"),
        ({"depth": 64}, "depth must be 0..63, got 64"),
        ({"nodes": 0}, "at least 1"),
        ({"seconds": 0.0}, "must be positive"),
        ({"seconds": float("nan")}, "must be positive"),
        ({"soft_seconds": float("inf")}, "must be positive"),
        ({"depth": "3"}, "depth must be a whole number, got '3'"),
        ({"depth": 2.5}, "depth must be a whole number, got 2.5"),
        ({"nodes": 1e6}, "nodes must be a whole number"),
        ({"depth": 1, "lines": True}, "lines must be a whole number"),
        ({"depth": 1, "stop": 7}, "stop must be a threading.Event"),
        ({"soft_seconds": -1.0}, "must be positive"),
        ({"depth": 1, "lines": 0}, "lines must be at least 1"),
    ],
)
def test_invalid_limits(engine, limits, message):
    with pytest.raises(CutnodeError) as error:
        engine.search(EMPTY, **limits)
    assert message in str(error.value)


def test_positions_of_another_game(engine):
    with pytest.raises(
        GameError,
        match=r"searcher is for connect4 \(Position7x6\), not connect4:5x4 \(Position5x4\)",
    ):
        engine.search(load_game("connect4:5x4").start(), depth=1)


@compiled_only
def test_two_threads_cannot_use_an_engine(engine):
    stop, began = threading.Event(), threading.Event()

    def search():
        engine.search(EMPTY, depth=60, stop=stop, progress=lambda iteration: began.set())

    thread = threading.Thread(target=search)
    thread.start()
    try:
        assert began.wait(60)
        with pytest.raises(CutnodeError, match="busy"):
            engine.search(EMPTY, depth=1)
    finally:
        stop.set()
        thread.join()


def test_evaluation_that_no_other_process_finds():
    with pytest.raises(GameError, match="is not a function at the top level of a module"):
        Evaluation(lambda position: 0)


# Techniques


@compiled_only
def test_table_of_two_games_keeps_them_apart():
    table = Table(1)
    normal, other = SMALL.start(), GAME.parse("444444")
    engines = [Searcher(p, table=table, exact=True) for p in (normal, other)]
    for _ in range(2):
        for engine, position in zip(engines, (normal, other), strict=True):
            found = engine.search(position, depth=4)
            assert found.value == minimax(position, 4).value


@pytest.mark.slow
@pytest.mark.long
@compiled_only
def test_lines_by_null_windows_with_selective_techniques():
    """The root skips nothing, as it has to return a move."""
    game = load_game("breakthrough")
    text = "ooo.oo../.o.oo.oo/o.....o./.oxoox../......../xx.x...x/.xx.xxx./..xxxx.x x"
    engine = Searcher(game.start(), driver="mtdf", table=4)
    for depth in (1, 2, 3):
        result = engine.search(game.parse(text), depth=depth, seed=1)
        assert result.best_move in legal_moves(game.parse(text))


def test_techniques_of_a_game():
    cls = type(EMPTY)
    assert {"order", "symmetry", "mate_distance"} <= choose(cls, None)
    assert not {"null_move", "futility", "quiescence"} & choose(cls, None)
    assert choose(cls, None, exact=True) == choose(cls, None) & EXACT
    assert choose(cls, []) == frozenset()
    assert all(technique.about for technique in TECHNIQUES.values())


def test_leaving_out_takes_what_depends():
    chosen = choose(type(EMPTY), None)
    assert chosen - leave_out(chosen, ["table"]) == {
        "table",
        "symmetry",
        "enhanced_cutoffs",
        "internal_iterative_reduction",
    }
    with pytest.raises(CutnodeError, match="did you mean 'killers'"):
        leave_out(chosen, ["killer"])


def test_former_names_of_techniques_are_aliases():
    with pytest.warns(DeprecationWarning, match="distance is called mate_distance now"):
        assert choose(type(EMPTY), ["table", "distance"]) == {"table", "mate_distance"}
    with pytest.warns(DeprecationWarning, match="enhanced is called enhanced_cutoffs now"):
        assert leave_out({"table", "enhanced_cutoffs"}, ["enhanced"]) == {"table"}


def test_profile_is_what_the_game_says(monkeypatch):
    game, cls = module_of(type(EMPTY)), type(EMPTY)
    assert profile_of(cls).crowding == game.PROFILE["solver.crowding"]
    assert profile_of(cls).proof_share == game.PROFILE["solver.proof_share"]
    monkeypatch.delattr(game, "PROFILE")
    assert profile_of(cls) == DEFAULT
    assert DEFAULT.crowding == HALF_FULL
    assert DEFAULT.proof_share == 0
    monkeypatch.setattr(game, "PROFILE", "tactical", raising=False)
    assert profile_of(cls) == TACTICAL
    assert TACTICAL.suited_to({"quiescence"}) == TACTICAL
    assert TACTICAL.suited_to({"table"}).values == {"late_move_reductions.terms": 1}
    monkeypatch.setattr(game, "PROFILE", {"order.depth": 3, "solver.enhanced_plies": 20})
    assert profile_of(cls).solver_plies(cls) == (10, 20)
    assert Searcher(EMPTY, ready=False).words["order_depth"][0] == 3
    for wrong in ("tactica", {"order.dept": 3}, 3):
        monkeypatch.setattr(game, "PROFILE", wrong)
        with pytest.raises(GameError, match="PROFILE of connect4: there is no"):
            profile_of(cls)


@compiled_only
def test_selective_search_finds_the_win():
    """It is deeper than an exact search of as many nodes, and right where it matters."""
    engine = Searcher(EMPTY, table=16)
    position = GAME.parse("44455554221")
    assert engine.search(position, depth=12).best_move in legal_moves(position)
    exact = Searcher(EMPTY, table=16, exact=True)
    assert engine.search(EMPTY, depth=12).nodes < exact.search(EMPTY, depth=12).nodes


def test_repetition_is_a_draw():
    duel = load_game("toys.duel", plain=True)
    engine = Searcher(duel, table=1)
    assert engine.search(duel.module.Position(0, 2, False), depth=20).value == 0


@pytest.mark.parametrize("thing", [None, 7, object, sys])
def test_things_that_are_no_game(thing):
    with pytest.raises(GameError, match="is not a position: pass a game's name"):
        Searcher(thing)
