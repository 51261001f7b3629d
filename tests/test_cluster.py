"""Cluster work: what is asked of the leaves of a tree, and Dask workers, which may die."""

import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import cutnode
from cutnode import CutnodeError, GameError, Table, analyse, load_game, solve
from cutnode.batches import run_batch
from cutnode.cli.cluster import cluster as cluster_command
from cutnode.cluster import build_tablebase as build_on_cluster
from cutnode.cluster import search_many, solve_many, solve_split
from cutnode.compiler.jit import jit_enabled
from cutnode.contract.derived import legal_moves
from cutnode.contract.positions import Packed
from cutnode.contract.verbs import moves_again, outcome, play
from cutnode.search.splitting import Split
from cutnode.search.top import Top
from cutnode.tablebases.building import build_tablebase
from cutnode.tablebases.tablebase import Tablebase

distributed = pytest.importorskip("distributed")

pytestmark = [
    pytest.mark.skipif(not jit_enabled(), reason="a cluster needs a compiled game"),
    pytest.mark.once,
]

TABLE = Table(16)


def walk(game, plies, rng):
    """Return a position after some random moves, before the game is over."""
    position = game.start()
    for _ in range(plies):
        choices = [play(position, move) for move in legal_moves(position)]
        choices = [child for child in choices if not outcome(child)[0]]
        if not choices:
            break
        position = rng.choice(choices)
    return position


def settle(position, plies, rng, *, weak=False, workers=1):
    """Drive a split without a cluster: answers arrive in any order, and some are lost."""
    top = Top(position, plies, 100_000)
    split = Split(top, weak=weak)
    leaves = Packed(top.words, top.position)
    waiting = []
    while not split.done:
        waiting += split.take(workers - len(waiting))
        waiting += split.take_ahead(workers - len(waiting))
        leaf, asked = waiting.pop(rng.randrange(len(waiting)))
        if rng.random() < 0.1:
            split.put_back(leaf)
            continue
        value = solve(leaves[leaf], table=TABLE).value
        split.take_answer(leaf, *((asked, 99) if value >= asked else (-99, asked - 1)))
        useless = set(split.idle())
        for lost in useless:
            split.put_back(lost)
        waiting = [entry for entry in waiting if entry[0] not in useless]
    return split


def check(position, plies, rng, **options):
    """Check that a split finds the solver's value, and a move that keeps it."""
    split = settle(position, plies, rng, **options)
    weak = options.get("weak", False)
    value = solve(position, table=TABLE, weak=weak).value
    assert (split.lower, split.upper) == (value, value)
    move = split.best_move()
    if move in legal_moves(position):
        child = play(position, move)
        reached = solve(child, table=TABLE, weak=weak).value
        assert (reached if moves_again(position, child) else -reached) == value
    else:
        assert len(split.nodes) == 1  # the game's bounds decide it


@pytest.mark.parametrize(
    "name, positions, most",
    [
        ("tictactoe", 25, 4),
        pytest.param("connect4:4x4", 25, 6, marks=[pytest.mark.slow, pytest.mark.long]),
        pytest.param("kalah:4x3", 60, 8, marks=[pytest.mark.slow, pytest.mark.long]),
        pytest.param("breakthrough:3x4", 60, 7, marks=[pytest.mark.slow, pytest.mark.long]),
        pytest.param("othello:4x4", 30, 6, marks=[pytest.mark.slow, pytest.mark.long]),
    ],
)
def test_a_split_finds_the_value_and_a_move_that_keeps_it(name, positions, most):
    game, rng = load_game(name), random.Random(name)
    for _ in range(positions):
        position = walk(game, rng.randrange(8), rng)
        plies, workers = rng.randint(1, most), rng.choice((1, 1, 2, 7, 50))
        check(position, plies, rng, weak=rng.random() < 0.3, workers=workers)


def test_a_layer_holds_a_class_of_positions_once():
    top = Top(load_game("tictactoe").start(), 9, 100_000)
    sizes = [layer.stop - layer.start for layer in top.layers]
    assert sizes[:4] == [1, 9, 72, 252]  # by key, which ignores symmetry
    assert top.bytes < 200 * len(top.nodes)
    assert len(set(zip(top.keys.tolist(), top.nodes["side"].tolist(), strict=True))) == sum(sizes)


def test_too_many_positions_are_refused():
    with pytest.raises(CutnodeError, match=r"334 positions down to ply 3, more than the 100"):
        Top(load_game("tictactoe").start(), 4, 100)


def test_bounds_that_are_restored_need_not_be_asked_for():
    start = load_game("tictactoe").start()
    first = settle(start, 4, random.Random(1))
    entries = []
    for leaf in range(first.top.leaves.start, first.top.leaves.stop):
        low, high, side = (int(first.nodes[leaf][name]) for name in ("low", "high", "side"))
        lower, upper = (low, high) if side > 0 else (-high, -low)
        entries.append(first.entry(leaf, lower, upper, 0))
    again = Split(Top(start, 4, 100_000))
    assert not again.done
    assert again.share() < 1
    assert again.restore(np.array(entries, np.uint64)) == len(entries)
    assert again.done
    assert again.lower == first.lower


# With workers


def cluster(**options):
    return distributed.LocalCluster(dashboard_address=":0", **options)


@pytest.fixture(scope="module")
def client():
    """Two workers, each in a process of its own."""
    with (
        cluster(n_workers=2, threads_per_worker=1, memory_limit=0) as workers,
        distributed.Client(workers) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def threaded():
    """A worker with two threads in this process."""
    with (
        cluster(n_workers=1, threads_per_worker=2, processes=False) as workers,
        distributed.Client(workers) as client,
    ):
        yield client


@pytest.mark.slow
def test_a_cluster_solves_though_a_worker_is_killed(client, tmp_path):
    start = load_game("tictactoe").start()
    before = client.run(os.getpid)
    killed = []

    def kill_one(progress):
        assert progress.lower <= 0 <= progress.upper
        if progress.answers >= 5 and not killed:
            killed.append(next(iter(before.values())))
            os.kill(killed[0], signal.SIGKILL)

    result = solve_split(
        client, start, plies=5, questions=1, table=16, progress=kill_one, journal=tmp_path / "j"
    )
    assert killed
    assert (result.value, result.reason) == (0, "proven")
    assert result.tasks > 10
    again = solve_split(client, start, plies=5, table=16, journal=tmp_path / "j")
    assert (again.value, again.tasks) == (0, 0)
    assert again.restored >= result.tasks
    assert again.best_move == result.best_move
    here = solve(start, journal=tmp_path / "j")  # the same file
    assert here.value == 0
    assert here.nodes < solve(start, table=16).nodes


@pytest.mark.slow
def test_batches_are_the_same_on_a_cluster(client, tmp_path):
    game, rng = load_game("tictactoe"), random.Random(3)
    positions = [walk(game, 6 + number % 4, rng) for number in range(60)]
    here = run_batch(positions, threads=1, table=16)
    there = solve_many(client, positions, table=16, journal=tmp_path / "batch")
    assert there.reason == "done"
    for name in ("lower", "upper", "move", "nodes"):
        assert here.rows[name].tolist() == there.rows[name].tolist()
    again = run_batch(positions, threads=1, table=16, journal=tmp_path / "batch")  # the cluster's
    assert again.rows.tolist() == there.rows.tolist()
    stop = threading.Event()
    stop.set()
    stopped = solve_many(client, positions, table=16, stop=stop)
    assert (stopped.reason, stopped.done.any()) == ("stopped", False)


@pytest.mark.long
@pytest.mark.slow
def test_layers_though_a_worker_is_killed(client, tmp_path):
    """Small layers on one worker each, large ones on both: the same files as from one process."""
    start = load_game("draughts:4x4").start()
    build_tablebase(start, tmp_path / "here", layers=["1m1k-1m1k"])
    pids = client.run(os.getpid)
    killed = []

    def kill_one(progress):
        if "pass 2" in progress.layer and not killed:
            killed.append(next(iter(pids.values())))
            os.kill(killed[0], signal.SIGKILL)

    there = tmp_path / "there"
    wanted = {"layers": ["1m1k-1m1k"], "large": 500}
    assert build_on_cluster(client, start, there, progress=kill_one, **wanted) == "done"
    assert killed
    one, other = Tablebase.open(tmp_path / "here"), Tablebase.open(there)
    assert one.distances() == other.distances()
    assert list(one.layers()) == list(other.layers())
    assert other.verify().wrong == 0
    assert not list(there.glob("*.pass-*"))
    assert build_on_cluster(client, start, there, **wanted) == "done"


@pytest.mark.slow
def test_layers_resume_where_they_were(client, tmp_path):
    """A driver resumes the work of another one, even in the middle of a layer."""
    start = load_game("draughts:4x4").start()
    stop = threading.Event()

    def stop_in_a_pass(progress):
        if "pass 1" in progress.layer:
            stop.set()

    wanted = {"layers": ["1m1k-1m"], "large": 1}
    reason = build_on_cluster(client, start, tmp_path, stop=stop, progress=stop_in_a_pass, **wanted)
    assert reason == "stopped" and list(tmp_path.glob("*.pass-00000.*"))
    assert build_on_cluster(client, start, tmp_path, **wanted) == "done"
    assert Tablebase.open(tmp_path).verify().wrong == 0
    with pytest.raises(GameError, match="is plain Python: a cluster needs a compiled game"):
        build_on_cluster(client, load_game("draughts:4x4", plain=True).start(), tmp_path)


@pytest.mark.long
@pytest.mark.slow
def test_layers_with_dice(client, tmp_path):
    """Independent layers run at once; each layer waits for the layers it leads to."""
    run = CliRunner().invoke
    arguments = ["tablebase", "ur:finkel-1", "--out", str(tmp_path), "--workers", "1", "--json"]
    result = run(cluster_command, arguments)
    assert result.exit_code == 0, result.output
    assert build_on_cluster(client, load_game("ur:finkel-2").start(), tmp_path / "two") == "done"
    base = Tablebase.open(tmp_path / "two")
    assert base.verify().wrong == 0
    iterated = cutnode.iterate(load_game("ur:finkel-2").start())
    assert base.entry(load_game("ur:finkel-2").start()).value == pytest.approx(iterated.value)


DRIVER = """
import sys
from distributed import Client
from cutnode import load_game
from cutnode.batches import run_batch
from cutnode.cluster import search_many, solve_many, solve_split
with Client(sys.argv[1]) as client:
    start = load_game("tictactoe").start()
    solve_split(client, start, plies=6, questions=1, table=16, journal=sys.argv[2],
                progress=lambda p: print(p.answers, flush=True))
"""


@pytest.mark.slow
def test_a_killed_driver_resumes_with_its_journal(client, tmp_path):
    journal = str(tmp_path / "journal")
    command = [sys.executable, "-c", DRIVER, client.scheduler.address, journal]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as driver:
        for line in driver.stdout:
            if int(line) >= 5:
                driver.send_signal(signal.SIGKILL)
                break
    assert driver.returncode == -signal.SIGKILL
    start = load_game("tictactoe").start()
    result = solve_split(client, start, plies=6, table=16, journal=journal)
    assert result.value == 0
    assert result.restored >= 5
    other = load_game("tictactoe").parse("1")
    with pytest.raises(CutnodeError, match="belongs to another job: its position is"):
        solve_split(client, other, plies=6, journal=journal)


def test_threads_of_a_worker_share_its_table(threaded):
    start = load_game("tictactoe").start()
    result = solve_split(threaded, start, plies=5, questions=3, table=16)
    weak = solve_split(threaded, start, plies=4, table=16, weak=True)
    assert (result.value, weak.value) == (0, 0)
    assert analyse(start).scores[result.best_move] == 0


def test_limits_end_a_split_and_its_answers_are_kept(threaded, tmp_path):
    start = load_game("tictactoe").start()
    stop = threading.Event()
    options = {"plies": 6, "questions": 1, "table": 16, "journal": tmp_path / "journal"}
    part = solve_split(threaded, start, stop=stop, progress=lambda now: stop.set(), **options)
    assert (part.reason, part.value) == ("stopped", None)
    assert part.lower <= 0 <= part.upper
    assert solve_split(threaded, start, seconds=1e-6, **options).reason == "time limit"
    whole = solve_split(threaded, start, **options)
    assert (whole.value, whole.restored) == (0, part.answers)
    deeper = solve_split(threaded, start, **options | {"plies": 7})
    assert (deeper.value, deeper.restored > 0) == (0, True)


def test_what_the_game_decides_needs_no_cluster(threaded):
    game = load_game("tictactoe")
    won = game.parse("1425")
    result = solve_split(threaded, won, plies=3)
    assert (result.value, result.best_move) == (solve(won).value, 2)
    over = play(won, 2)
    assert solve_split(threaded, over, plies=3).best_move is None


def test_bad_input_is_refused(threaded, monkeypatch):
    start = load_game("tictactoe").start()
    for wrong, options, reason in (
        (threaded, {"plies": 0}, "plies must be at least 1, got 0"),
        (threaded, {"plies": 2, "questions": 0}, "questions must be at least 1, got 0"),
        (
            threaded,
            {"plies": 2, "table": 0},
            "the size of a table in MiB must be at least 1, got 0",
        ),
        ("tcp://127.0.0.1:1", {"plies": 2}, "a synchronous distributed.Client, got 'tcp"),
    ):
        with pytest.raises(CutnodeError, match=reason):
            solve_split(wrong, start, **options)
    with pytest.raises(GameError, match="plain Python: a cluster needs a compiled game"):
        solve_split(threaded, load_game("tictactoe", plain=True).start(), plies=2)
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(CutnodeError, match=re.escape("pip install 'cutnode[cluster]'")):
        solve_many(threaded, [start])


def test_the_command(threaded):
    arguments = ["solve", "tictactoe", "--plies", "4", "--table-mb", "16"]
    address = ["--scheduler", threaded.scheduler.address]
    done = CliRunner().invoke(cluster_command, [*arguments, *address, "--json"])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert (found["verb"], found["value"], found["details"]["plies"]) == ("solve", 0, 4)
    both = CliRunner().invoke(cluster_command, [*arguments, *address, "--workers", "1"])
    assert "exclude each other" in str(both.exception)


@pytest.mark.slow
def test_a_worker_with_other_rules_is_refused():
    from cutnode.cluster.worker import SentGame  # needs distributed

    sent = SentGame.of(type(load_game("tictactoe").start()))
    assert (sent.name, sent.sources) == ("tictactoe", ())
    with pytest.raises(
        GameError, match="a worker and the client have different rules of tictactoe"
    ):
        replace(sent, rules="0" * 32).load()
    with pytest.raises(GameError, match="cannot be loaded on a worker: No module named"):
        replace(sent, module="games.nothing").load()


@pytest.mark.long
@pytest.mark.slow
def test_a_game_in_a_file_of_its_own_is_sent_to_the_workers(client, tmp_path):
    path = tmp_path / "heaps_of_mine.py"
    path.write_text(Path(cutnode.__file__).with_name("cli").joinpath("template.py").read_text())
    os.utime(path, (0, 0))
    start = load_game(str(path)).start()
    result = solve_split(client, start, plies=2, table=16)
    assert result.value == solve(start).value
    assert result.tasks > 0


@pytest.mark.slow
@pytest.mark.long
def test_search_many_is_the_same_on_a_cluster(client):
    game, rng = load_game("tictactoe"), random.Random(3)
    positions = [walk(game, 4, rng) for _ in range(20)]
    here = run_batch(positions, "search", depth=5, threads=1, table=16)
    there = search_many(client, positions, depth=5, table=16)
    assert here.values.tolist() == there.values.tolist()
    assert here.nodes.tolist() == there.nodes.tolist()


def running(dask_worker):
    """Return the tasks of this project that run on a worker."""
    return [
        key for plugin in dask_worker.plugins.values() for key in getattr(plugin, "running", ())
    ]


@pytest.mark.slow
@pytest.mark.long
def test_tasks_that_run_end_when_they_are_cancelled(client):
    start = load_game("connect4").start()  # takes far longer than the test
    solve(start, nodes=1)  # compiled here, loaded there
    stop = threading.Event()

    def stop_when_both_run(progress):
        if all(client.run(running).values()):
            stop.set()

    solve_split(client, start, plies=1, table=16, stop=stop, progress=stop_when_both_run)
    deadline = time.monotonic() + 60
    while any(client.run(running).values()):
        assert time.monotonic() < deadline, "tasks keep running that nobody waits for"
        time.sleep(0.02)
