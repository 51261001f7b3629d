"""Engines held by programs: handles, asyncio, pondering, refusals, and released resources."""

from __future__ import annotations

import asyncio
import copy
import os
import pickle
import subprocess
import sys
import threading
import time
from functools import partial

import pytest
from positions import EMPTY, GAME, LATE, SEARCHED
from toys import race

from cutnode import (
    CutnodeError,
    Engine,
    GameError,
    PositionError,
    Progress,
    Table,
    analyse,
    legal_moves,
    load_game,
    minimax,
    perft,
    search,
    solve,
)
from cutnode.contract.verbs import play

PATIENCE = 20


@pytest.fixture(scope="module")
def shared():
    with Engine(GAME, table=16) as engine:
        yield engine


@pytest.fixture
def engine(shared):
    shared.new_game()
    return shared


# Blocking calls


def test_all_calls(engine):
    assert engine.solve(LATE).value == solve(LATE).value == -1
    assert engine.analyse(LATE).scores == analyse(LATE).scores
    assert engine.solve(LATE, weak=True).value == -1
    result = engine.search(EMPTY, depth=4)
    assert (result.depth, result.reason) == (4, "depth limit")
    assert engine.evaluate(EMPTY) == engine.search(EMPTY, depth=0).value
    assert engine.perft(EMPTY, 5) == 16807


def test_a_proof_is_remembered_until_a_new_game(engine):
    first = engine.solve(SEARCHED)
    assert (first.value, first.nodes > 5) == (0, True)
    assert engine.solve(SEARCHED).nodes <= 2
    engine.new_game()
    assert engine.solve(SEARCHED).nodes == first.nodes


def test_a_search_builds_on_the_last(engine):
    first = engine.search(EMPTY, depth=9)
    assert engine.search(EMPTY, depth=9).nodes < first.nodes
    engine.new_game()
    assert engine.search(EMPTY, depth=9).nodes == first.nodes


def test_a_game_of_chance():
    start = load_game("toys.race", plain=True).start()
    with Engine(start, table=1) as engine:
        assert engine.search(start, depth=2).depth == 2
        assert isinstance(engine.evaluate(start), float)
        with pytest.raises(GameError, match="has chance: iterate"):
            engine.solve(start)
        with pytest.raises(GameError, match="has chance: iterate"):
            engine.start(start, "solve")


@pytest.mark.parametrize("threads", [2, 3])
def test_threads_count_lines_together(threads):
    game = load_game("tictactoe")
    with Engine(game, table=1, threads=threads) as engine:
        for depth in range(10):
            assert engine.perft(game.start(), depth) == perft(game.start(), depth)
        wanted = perft(game.start(), 9, finished=True)
        assert engine.perft(game.start(), 9, finished=True) == wanted == 255168
        assert engine.perft(game.parse("14253"), 3, finished=True) == 1
        assert engine.perft(game.parse("14253"), 3) == 0


def test_two_engines_at_once():
    with Engine(GAME, table=8) as one, Engine(GAME, table=8) as other:
        handles = [one.start(EMPTY, depth=9), other.start(EMPTY, depth=9)]
        first, second = (handle.wait() for handle in handles)
        assert (first.value, first.nodes) == (second.value, second.nodes)


def test_threads_search_together():
    with Engine(GAME, table=4, exact=True) as alone:
        wanted = {depth: alone.search(EMPTY, depth=depth).value for depth in (6, 13)}
    assert wanted[6] == minimax(EMPTY, 6).value
    for threads in (2, 3, 4):
        with Engine(GAME, table=4, threads=threads, exact=True) as engine:
            for depth in wanted:
                result = engine.search(EMPTY, depth=depth, seed=7)
                assert result.value == wanted[depth]
                assert result.nodes >= result.iterations[-1].nodes
                engine.new_game()
            assert engine.search(EMPTY, nodes=50_000).nodes <= 50_000


@pytest.mark.parametrize(
    ("name", "depth"), [pytest.param("chess", 6, marks=pytest.mark.slow), ("breakthrough:5x5", 10)]
)
def test_threads_share_an_exact_search(name, depth):
    game = load_game(name)
    with Engine(game, table=4, exact=True) as alone:
        wanted = alone.search(game.start(), depth=depth).value
    for threads in (2, 4):
        with Engine(game, table=4, threads=threads, exact=True) as engine:
            assert engine.search(game.start(), depth=depth).value == wanted


@pytest.mark.slow
def test_threads_and_a_small_table():
    """Threads that wait in the middle of it constantly replace entries."""
    position = GAME.parse("4435")
    with Engine(GAME, table=1, exact=True) as alone:
        wanted = alone.search(position, depth=14).value
    value = solve(SEARCHED).value
    with Engine(GAME, table=1, threads=4, exact=True) as engine:
        for _ in range(20):
            assert engine.search(position, depth=14).value == wanted
            assert engine.solve(SEARCHED).value == value
            engine.new_game()


def test_threads_search_a_game_of_chance_together():
    start = race.Position()
    with Engine(race.Position(), table=1, exact=True, threads=3) as engine:
        assert engine.search(start, depth=6).value == pytest.approx(minimax(start, 6).value)


# Handles


def test_a_handle(engine):
    handle = engine.start(EMPTY, depth=6)
    result = handle.wait(PATIENCE)
    assert result.value == engine.search(EMPTY, depth=6).value
    assert not handle.running
    assert tuple(handle.iterations) == result.iterations
    progress = handle.progress
    assert isinstance(progress, Progress)
    assert (progress.depth, progress.value) == (6, result.value)
    assert (progress.line, progress.nodes) == (result.pv, result.nodes)
    assert handle.wait() is result


def test_another_thread_works_meanwhile(engine):
    """The compiled search releases Python's lock."""
    handle = engine.start(EMPTY, depth=60)
    looks, until = [], time.perf_counter() + PATIENCE
    while len(set(looks)) <= 10 and time.perf_counter() < until:
        looks.append(handle.progress.nodes)
    assert handle.running
    assert looks == sorted(looks) and len(set(looks)) > 10
    handle.stop()
    result = handle.wait(PATIENCE)
    assert (result.reason, result.depth > 3) == ("stopped", True)
    assert result.best_move in legal_moves(EMPTY)
    assert engine.search(EMPTY, depth=3).reason == "depth limit"


def test_waiting_only_so_long(engine):
    handle = engine.start(EMPTY, "solve")
    with pytest.raises(TimeoutError, match="still running after 0"):
        handle.wait(0.1)
    progress = handle.progress
    assert progress.lower < progress.upper and progress.nodes > 0
    handle.stop()
    result = handle.wait(PATIENCE)
    assert (result.reason, result.value) == ("stopped", None)
    assert (handle.progress.lower, handle.progress.upper) == (result.lower, result.upper)


def test_a_stop_is_never_lost(engine):
    """However soon after the start it comes."""
    for kind in ("search", "solve", "analyse"):
        for _ in range(20):
            handle = engine.start(EMPTY, kind)
            handle.stop()
            assert handle.wait(PATIENCE).reason == "stopped"
    handle = engine.start(EMPTY)
    engine.stop()
    assert handle.wait(PATIENCE).reason == "stopped"
    handle.stop()  # stopping a finished one stops no other
    assert engine.search(EMPTY, depth=9).reason == "depth limit"
    engine.stop()
    assert engine.search(EMPTY, depth=9).reason == "depth limit"


def test_a_stop_event_ends_a_search(engine):
    stop = threading.Event()
    handle = engine.start(EMPTY, stop=stop)
    stop.set()
    assert handle.wait(PATIENCE).reason == "stopped"
    assert engine.solve(EMPTY, stop=stop).reason == "stopped"


def test_callbacks(engine):
    seen = []
    handle = engine.start(EMPTY, depth=5, progress=seen.append)
    assert handle.wait(PATIENCE).iterations == tuple(seen)

    def fail(iteration):
        raise KeyError(iteration.depth)

    with pytest.raises(KeyError, match="1"):
        engine.search(EMPTY, depth=5, progress=fail)
    handle = engine.start(EMPTY, depth=5, progress=fail)
    with pytest.raises(KeyError, match="1"):
        handle.wait(PATIENCE)
    assert engine.search(EMPTY, depth=5).depth == 5


@pytest.mark.parametrize("kind", ["search", "solve"])
def test_interrupt_keeps_the_best(engine, kind, interrupt_soon):
    interrupt_soon()
    result = engine.start(EMPTY, kind).wait()
    assert (result.reason, result.nodes > 0) == ("interrupted", True)
    interrupt_soon()
    options = {"depth": 60} if kind == "search" else {}
    assert getattr(engine, kind)(EMPTY, **options).reason == "interrupted"


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_interrupt_is_heard_between_short_proofs(engine, heard):
    assert heard(lambda: engine.solve(LATE).reason)
    assert engine.solve(LATE).value == -1


def test_pondering(engine):
    handle = engine.ponder(EMPTY, seconds=0.1)
    with pytest.raises(TimeoutError):
        handle.wait(0.3)
    until = time.perf_counter() + PATIENCE
    while handle.progress.depth <= 3 and time.perf_counter() < until:
        time.sleep(0.01)
    handle.hit()
    result = handle.wait(PATIENCE)
    assert (result.reason, result.depth > 3) == ("time limit", True)
    handle = engine.ponder(play(EMPTY, 3), soft_seconds=0.1)
    time.sleep(0.2)
    assert handle.running
    handle.stop()  # another move was played
    assert handle.wait(PATIENCE).reason == "stopped"
    assert engine.search(play(EMPTY, 2), depth=4).depth == 4


# asyncio


def test_asyncio(engine):
    async def main():
        stop, depths = threading.Event(), []

        async def tick():
            while len(depths) < 3:  # the event loop runs during the search
                await asyncio.sleep(0.01)
            stop.set()

        ticking = asyncio.create_task(tick())
        told = {"stop": stop, "progress": lambda iteration: depths.append(iteration.depth)}
        result = await asyncio.wait_for(engine.search_async(EMPTY, depth=60, **told), PATIENCE)
        await ticking
        assert (result.reason, result.depth > 3) == ("stopped", True)
        assert (await engine.solve_async(LATE)).value == -1
        assert (await engine.analyse_async(LATE)).scores == analyse(LATE).scores

    asyncio.run(main())


def test_iterations_in_asyncio(engine):
    async def main():
        handle = engine.start(EMPTY, depth=7)
        depths = [iteration.depth async for iteration in handle]
        assert depths == [1, 3, 5, 7]
        assert [iteration async for iteration in handle] == handle.iterations
        assert (await handle).depth == 7

        def fail(iteration):
            raise KeyError(iteration.depth)

        with pytest.raises(KeyError):
            async for _ in engine.start(EMPTY, depth=7, progress=fail):
                pass

    asyncio.run(main())


def test_cancelling_ends_the_search(engine):
    async def main():
        task = asyncio.create_task(engine.search_async(EMPTY, depth=60))
        await asyncio.sleep(0.1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert engine.search(EMPTY, depth=3).depth == 3  # it is free again
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(engine.start(EMPTY, "solve"), 0.1)
        assert engine.search(EMPTY, depth=3).depth == 3
        task = asyncio.create_task(engine.search_async(EMPTY, stop=threading.Event()))
        await asyncio.sleep(0.1)
        task.cancel()
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert engine.search(EMPTY, depth=3).depth == 3

    asyncio.run(main())


# Refusals


def test_one_search_at_a_time(engine):
    handle = engine.start(EMPTY)
    for call in (
        lambda: engine.search(EMPTY, depth=1),
        lambda: engine.solve(LATE),
        lambda: engine.start(EMPTY),
        lambda: engine.perft(EMPTY, 1),
        engine.new_game,
    ):
        with pytest.raises(CutnodeError, match="already searching"):
            call()
    handle.stop()
    handle.wait(PATIENCE)
    assert engine.search(EMPTY, depth=1).depth == 1


def test_engines_that_share_a_table_take_turns():
    table = Table(4)
    with Engine(GAME, table=table) as one, Engine(GAME, table=table) as other:
        handle = one.start(EMPTY)
        with pytest.raises(CutnodeError, match="another search uses this engine's table"):
            other.search(EMPTY, depth=1)
        for call in (solve, partial(search, depth=1)):
            with pytest.raises(CutnodeError, match="another search uses this table"):
                call(EMPTY, table=table)
        handle.stop()
        handle.wait(PATIENCE)
        assert other.search(EMPTY, depth=1).depth == 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda engine: engine.search(EMPTY), "a search needs a limit"),
        (lambda engine: engine.search(EMPTY, depth=64), "depth must be 0..63"),
        (lambda engine: engine.start(EMPTY, depth=64), "depth must be 0..63"),
        (lambda engine: engine.start(EMPTY, moves=[9]), "legal moves, at least one, got 9"),
        (lambda engine: engine.start(EMPTY, "solve", nodes=0), "at least 1"),
        (lambda engine: engine.start(EMPTY, "think"), "got 'think'"),
        (lambda engine: engine.start(EMPTY, stop=7), "stop must be a threading.Event"),
        (lambda engine: engine.perft(EMPTY, -1), "depth must be at least 0"),
        (lambda engine: engine.solve(load_game("tictactoe").start()), "is for connect4"),
        (lambda engine: engine.evaluate(7), "is for connect4, not 7"),
        (lambda engine: Engine(GAME, threads=0), "threads must be 1..1024, got 0"),
        (lambda engine: Engine(GAME, threads=1 << 40), "threads must be 1..1024, got"),
        (lambda engine: Engine(GAME, table=0), "at least 1 MiB"),
        (lambda engine: Engine("conect4"), "unknown game 'conect4' (did you mean 'connect4'"),
        (
            lambda engine: Engine(GAME, book=3),
            "book must be a Book, such as Book.load returns, got 3",
        ),
        (lambda engine: solve(EMPTY, table="64"), "size of a table in MiB must be a whole number"),
        (lambda engine: solve(EMPTY, table=0), "a table needs at least 1 MiB, got 0"),
        (lambda engine: engine.search(EMPTY, depth=1, history=[7]), "history must be earlier"),
        (lambda engine: engine.start(EMPTY, depth=1, history=[7]), "got '7'"),
    ],
)
def test_what_is_refused(engine, call, message):
    with pytest.raises((CutnodeError, PositionError)) as error:
        call(engine)
    assert message in str(error.value)
    assert engine.search(EMPTY, depth=1).depth == 1


def test_options_that_do_not_exist(engine):
    with pytest.raises(TypeError, match=r"search\(\) takes nodes, .* no option 'dept'"):
        engine.start(EMPTY, dept=3)
    with pytest.raises(TypeError, match=r"solve\(\) takes nodes, .* no option 'depth'"):
        engine.start(EMPTY, "solve", depth=3)
    assert engine.search(EMPTY, depth=1).depth == 1


# Accepted and returned values


CLOSING = f"""
import os, threading, time
from cutnode import CutnodeError, Engine, load_game

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") >> 20

threads = threading.active_count()
engine = Engine(load_game("connect4"), table=64)
start = load_game("connect4").start()
engine.search(start, depth=8)
handle = engine.start(start)
engine.table.words[:] = 1
before = resident()
assert threading.active_count() > threads
engine.close()
engine.close()
assert handle.wait({PATIENCE}).reason == "stopped"
patient = time.monotonic() + {PATIENCE}
while before - resident() <= 50 and time.monotonic() < patient:
    time.sleep(0.01)  # the thread of the search lets go of the table a little later
assert before - resident() > 50, (before, resident())
assert threading.active_count() == threads
for call in (
    lambda: engine.search(start, depth=1),
    lambda: engine.start(start),
    lambda: engine.evaluate(start),
    lambda: engine.table,
    engine.new_game,
):
    try:
        call()
        raise SystemExit("a closed engine answers")
    except CutnodeError as error:
        assert "this engine is closed" in str(error)
engine.stop()
assert "closed" in repr(engine)
"""


@pytest.mark.once
def test_memory_is_stated_and_given_back():
    table = Table(1)
    assert Engine.room(GAME, table=table) == Engine.room(GAME, table=1) >= 1
    assert Engine.room(GAME, table=64, threads=2) >= 64
    with Engine(GAME, table=64) as engine:
        assert engine.megabytes == Engine.room(GAME, table=64)
    # What a process has done before may keep memory: measure a fresh one.
    subprocess.run([sys.executable, "-W", "error", "-c", CLOSING], check=True, timeout=300)


def test_threads_of_a_forgotten_engine_end():
    threads = threading.active_count()
    engine = Engine(GAME, table=1)
    engine.start(EMPTY, depth=3).wait(PATIENCE)
    del engine
    ended = time.perf_counter() + PATIENCE
    while threading.active_count() > threads and time.perf_counter() < ended:
        time.sleep(0.01)
    assert threading.active_count() == threads


def test_a_callback_cannot_close(engine):
    with pytest.raises(CutnodeError, match="a callback cannot close"):
        engine.search(EMPTY, depth=3, progress=lambda iteration: engine.close())
    assert engine.search(EMPTY, depth=3).depth == 3


def test_a_callback_cannot_wait_for_its_search(engine):
    begun = threading.Event()
    handle = engine.start(
        EMPTY, depth=30, progress=lambda iteration: begun.wait() and handle.wait()
    )
    begun.set()
    with pytest.raises(CutnodeError, match="a callback cannot wait"):
        handle.wait(PATIENCE)
    assert engine.search(EMPTY, depth=3).depth == 3


@pytest.mark.parametrize("copy", [copy.copy, copy.deepcopy, pickle.dumps])
def test_an_engine_is_not_copied(engine, copy):
    with pytest.raises(TypeError, match="Engine objects cannot be pickled or copied"):
        copy(engine)


def of_child(work):
    """Return the exit code of a forked process that runs *work*; 0 if nothing fails."""
    child = os.fork()
    if child == 0:
        try:
            work()
        except BaseException:
            os._exit(1)
        os._exit(0)
    return os.waitpid(child, 0)[1]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_search_is_not_in_a_forked_process():
    engine = Engine(GAME, table=1)
    handle = engine.start(EMPTY)

    def work():
        with pytest.raises(CutnodeError, match="in the parent process"):
            handle.wait()
        engine.close()

    assert of_child(work) == 0
    engine.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_process_has_threads_of_its_own(engine):
    wanted = engine.start(EMPTY, depth=5).wait(PATIENCE).value

    def work():
        assert engine.start(EMPTY, depth=5).wait(PATIENCE).value == wanted

    assert of_child(work) == 0
