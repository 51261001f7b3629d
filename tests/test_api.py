"""The public functions: results, limits, interruptions, batches, and errors."""

from __future__ import annotations

import dataclasses
import importlib
import json
import pickle
import subprocess
import sys
import threading
from pathlib import Path
from typing import get_type_hints

import numpy as np
import pytest
from marks import compiled_only
from positions import EMPTY, GAME, LATE, SEARCHED
from toys import duel, race

import cutnode
from cutnode import (
    CutnodeError,
    GameError,
    PositionError,
    Table,
    TableError,
    alphabeta,
    analyse,
    legal_moves,
    load_game,
    minimax,
    perft,
    search,
    solve,
    solve_many,
)
from cutnode.batches import search_many
from cutnode.compiler.jit import jit_enabled
from cutnode.runtime.options import OPTIONS
from cutnode.runtime.threads import SHARED_WORKERS
from cutnode.search.options import (
    AutoKeywords,
    AutoOptions,
    ProofKeywords,
    ProofOptions,
    ProvingKeywords,
    QuestionKeywords,
    QuestionOptions,
    SearcherKeywords,
    SearcherOptions,
    SearchKeywords,
    SearchOptions,
    TreeKeywords,
    TreeOptions,
)
from cutnode.search.solving import table_for


@pytest.fixture(scope="module")
def table():
    return Table(64)


# Results


def test_result_is_immutable():
    result = solve(LATE)
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.value = 0
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.table.probes = 0


@pytest.mark.parametrize("position", [LATE, load_game("tictactoe").start()])
def test_result_is_pickled(position):
    result = analyse(position)
    again = pickle.loads(pickle.dumps(result))
    assert again == result
    assert type(again.position) is type(result.position)


def test_result_as_plain_data():
    result = analyse(LATE)
    data = json.loads(json.dumps(result.to_dict()))
    assert data["game"] == "connect4"
    assert data["position"] == GAME.notation.position_text(LATE)
    assert (data["value"], data["proven"], data["lower"], data["upper"]) == (-1, True, -1, -1)
    assert data["scores"] == {"6": -1, "7": -2}
    assert (data["best_move"], data["pv"]) == ("6", result.line_text())
    assert data["depth"] == result.depth == len(result.pv)
    assert data["reason"] == "proven"


def test_name_of_a_variant():
    for name, text in (("toys.boxes", "ABCDEFG +2 1"), ("connect4:5x4", "1212121")):
        game = load_game(name, plain=True)
        assert solve(game.parse(text)).to_dict()["game"] == name


def test_result_prints():
    lines = str(analyse(LATE)).splitlines()
    assert lines[0] == "value  -1  (first player (x) wins in 2 moves, with stone 41)"
    assert lines[1] == "scores 6: -1, 7: -2"
    assert lines[2] == "best   6"
    assert lines[3].startswith("line   6 ")
    assert lines[4].startswith("nodes  ")


def test_result_counts_the_table():
    use = solve(SEARCHED).table
    assert use.probes >= use.hits >= use.cutoffs >= 0
    assert use.probes >= use.stores >= use.overwrites >= 0
    assert use.stores > 0


@compiled_only
def test_fields_may_be_plain_integers():
    """Positions made by hand accept any integers that fit, and return them as ``Bits``."""
    by_hand = type(LATE)(*map(int, LATE))
    result = solve(by_hand)
    assert result.value == -1
    assert all(type(field) is cutnode.Bits for field in result.position)


# Limits


@compiled_only
@pytest.mark.parametrize("nodes", [1, 2, 1000])
def test_node_limit(nodes, table):
    table.forget()
    result = solve(EMPTY, nodes=nodes, table=table)
    assert (result.reason, result.proven, result.value) == ("node limit", False, None)
    assert nodes <= result.nodes <= nodes + 1
    assert result.lower <= 1 <= result.upper and result.lower < result.upper
    assert result.best_move in legal_moves(EMPTY)
    assert result.pv == ()
    assert ": node limit" in result.meaning()
    table.forget()
    again = solve(EMPTY, nodes=nodes, table=table)
    assert (again.nodes, again.lower, again.upper) == (result.nodes, result.lower, result.upper)


@compiled_only
def test_bounds_grow_tighter_with_nodes(table):
    widths = []
    for nodes in (1, 10_000, 1_000_000):
        table.forget()
        result = solve(EMPTY, nodes=nodes, table=table)
        assert result.lower <= 1 <= result.upper
        widths.append(result.upper - result.lower)
    assert widths == sorted(widths, reverse=True)
    assert widths[0] > widths[-1]


@compiled_only
def test_node_limit_of_threads_is_for_all_together(table):
    result = solve(EMPTY, nodes=10_000, threads=2, table=table)
    assert result.reason == "node limit"
    assert result.nodes <= 10_010


@compiled_only
@pytest.mark.parametrize("threads", [1, 2])
def test_time_limit(threads, table):
    table.forget()
    solve(EMPTY, nodes=1, table=table)  # compiles
    table.forget()
    result = solve(EMPTY, seconds=0.2, threads=threads, table=table)
    assert (result.reason, result.nodes > 0) == ("time limit", True)
    assert result.lower <= 1 <= result.upper


@compiled_only
def test_stop_from_another_thread(table):
    stop = threading.Event()
    table.forget()
    threading.Timer(0.1, stop.set).start()
    result = solve(EMPTY, stop=stop, table=table)
    assert (result.reason, result.proven) == ("stopped", False)
    assert analyse(EMPTY, stop=stop, table=table).scores == dict.fromkeys(range(7))


@compiled_only
@pytest.mark.parametrize("threads", [1, 2])
def test_interrupt(threads, table, interrupt_soon):
    table.forget()
    interrupt_soon()
    result = solve(EMPTY, threads=threads, table=table)
    assert (result.reason, result.proven) == ("interrupted", False)
    assert result.lower <= 1 <= result.upper
    table.forget()
    assert solve(SEARCHED, table=table).value == 0


@compiled_only
def test_interrupted_count(interrupt_soon):
    perft(EMPTY, 1)  # compiles
    interrupt_soon()
    with pytest.raises(KeyboardInterrupt):
        perft(EMPTY, 20)


@compiled_only
def test_searches_at_the_same_time():
    """Threads of the caller, each with its own table, do not disturb each other."""
    alone = solve(SEARCHED, table=Table(1)).nodes
    found = []

    def work():
        found.extend(solve(SEARCHED, table=Table(1)).nodes for _ in range(20))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [alone] * 80


def test_searches_without_a_table_do_not_share_one():
    with table_for(None) as one, table_for(None) as other:
        assert one is not other
    with table_for(one) as again:
        assert again is one


@compiled_only
@pytest.mark.parametrize(
    "reason",
    [
        lambda: solve(LATE).reason,
        lambda: solve_many([LATE, SEARCHED]).reason,
        lambda: minimax(LATE) and None,
        lambda: search(LATE, depth=30, table=1).reason,
        lambda: search_many([LATE], depth=3, table=1) and None,
    ],
)
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_interrupt_is_heard_between_short_calls(reason, heard):
    reason()  # compiles
    assert heard(reason)


@compiled_only
def test_a_callback_that_fails_ends_the_search():
    def fail(done):
        raise LookupError

    with pytest.raises(LookupError):
        solve_many([EMPTY], progress=fail)
    assert len(SHARED_WORKERS._idle) == len(SHARED_WORKERS._threads)
    assert solve(LATE).value == -1


# Analysis


@compiled_only
def test_limits_of_an_analysis_are_for_all_of_it(table):
    table.forget()
    proof = solve(SEARCHED, table=table)
    table.forget()
    whole = analyse(SEARCHED, table=table)
    assert whole.nodes > proof.nodes  # the other moves count as well
    table.forget()
    part = analyse(SEARCHED, nodes=proof.nodes + 1, table=table)
    assert part.value == whole.value
    assert part.reason == "node limit"
    assert part.scores[part.best_move] == part.value
    assert None in part.scores.values()
    known = {move: score for move, score in part.scores.items() if score is not None}
    assert known.items() <= whole.scores.items()


# Batches


def test_batch_is_a_sequence_of_results():
    positions = [LATE, SEARCHED, GAME.parse("1212121")]
    batch = solve_many(positions, lines=True)
    assert len(batch) == 3
    assert [result.value for result in batch] == batch.values.tolist() == [-1, 0, -18]
    assert batch[-1].position == positions[-1]
    assert [result.value for result in batch[1:]] == [0, -18]
    assert batch[0].pv == solve(LATE).pv
    assert batch.proven.all()
    assert (batch.lower == batch.upper).all()
    assert batch.nodes.sum() == sum(result.nodes for result in batch)
    assert (batch.seconds >= 0).all() and isinstance(batch.seconds, np.ndarray)
    with pytest.raises(IndexError):
        batch[3]


def test_batch_without_lines():
    batch = solve_many([LATE])
    assert (batch[0].best_move, batch[0].pv) == (None, ())


@compiled_only
@pytest.mark.parametrize("threads", [1, 2])
def test_limits_of_a_batch_are_for_each_position(threads):
    positions = [EMPTY, LATE, EMPTY, SEARCHED]
    batch = solve_many(positions, cold=True, nodes=1000, threads=threads)
    assert batch.proven.tolist() == [False, True, False, True]
    assert [r.reason for r in batch] == ["node limit", "proven", "node limit", "proven"]
    batch = solve_many(positions, cold=True, seconds=0.2, threads=threads)
    assert [r.reason for r in batch] == ["time limit", "proven", "time limit", "proven"]


@compiled_only
def test_interrupted_batch_keeps_what_is_proven(interrupt_soon):
    solve(LATE)  # compiles
    interrupt_soon()
    batch = solve_many([LATE, EMPTY, EMPTY, SEARCHED], cold=True, table=Table(64))
    reasons = [result.reason for result in batch]
    assert reasons == ["proven", *["interrupted"] * 3]
    assert batch.reason == "interrupted"
    assert batch.lower[1] <= 1 <= batch.upper[1]
    assert batch.nodes[2:].tolist() == [0, 0]
    assert (batch.lower[2:] > -30).all() and (batch.upper[2:] < 30).all()


def test_progress_of_a_batch():
    seen: list[int] = []
    positions = [LATE] * 20
    solve_many(positions, progress=seen.append)
    assert seen == sorted(seen)
    assert all(0 <= done <= 20 for done in seen)


# Errors


def test_invalid_limits():
    for wrong in ({"nodes": 0}, {"seconds": 0}, {"seconds": float("nan")}, {"threads": 0}):
        for function in (solve, analyse):
            with pytest.raises(CutnodeError, match=r"at least 1|must be positive|1\.\.1024"):
                function(LATE, **wrong)
        with pytest.raises(CutnodeError, match=r"at least 1|must be positive|1\.\.1024"):
            solve_many([LATE], **wrong)


def test_invalid_batches():
    with pytest.raises(CutnodeError, match="no positions"):
        solve_many([])
    other = load_game("connect4:5x4").start()
    for threads in (1, 2) if jit_enabled() else (1,):
        with pytest.raises(PositionError, match="positions of one batch must be of one class"):
            solve_many([LATE, other], threads=threads)
    with pytest.raises(GameError, match="unknown game '44'"):
        solve_many([LATE, "44"])


def test_table_of_no_size():
    with pytest.raises(TableError, match="at least 1 MiB"):
        Table(0)
    with pytest.raises(TableError, match="does not fit"):
        Table(1 << 40)


@pytest.mark.parametrize("function", [solve, analyse, minimax, alphabeta])
@pytest.mark.parametrize("thing", [None, 7, "4455", (1, 2)])
def test_things_that_are_no_position(function, thing):
    with pytest.raises(GameError, match=r"is not a position: pass|unknown game '4455'"):
        function(thing)


def test_games_that_the_solver_does_not_take():
    with pytest.raises(GameError, match=r"toys\.race has chance"):
        solve(race.Position())
    with pytest.raises(GameError, match=r"toys\.duel has repetition"):
        solve_many([duel.Position()])


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("plain", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_longer_than_the_game_said(tmp_path, plain):
    source = Path(load_game("tictactoe").module.__file__).read_text()
    path = tmp_path / "short_tictactoe.py"
    path.write_text(source.replace("MAX_MOVES = MAX_PLIES = 9", "MAX_MOVES, MAX_PLIES = 9, 4"))
    with pytest.raises(GameError, match="longer than MAX_PLIES = 4"):
        solve(load_game(str(path), plain=plain).start())


# The public interface


def test_every_name_is_where_the_package_says():
    for name, module in cutnode._HOMES.items():
        home = importlib.import_module(module)
        called = home.search if name == "search" else getattr(cutnode, name)
        assert called is getattr(home, name), name
    assert callable(cutnode.search)  # a package that can be called


def in_a_new_process(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.parametrize("first", ["import cutnode.search", "from cutnode import search"])
def test_search_is_a_package_and_can_be_called(first):
    code = f"""
{first}
import types
import cutnode
from cutnode.search import results
print(isinstance(cutnode.search, types.ModuleType), callable(cutnode.search))
print(cutnode.search.results is results)
"""
    assert in_a_new_process(code) == ["True", "True", "True"]
    result = cutnode.search(LATE, depth=2, lines=2)
    assert (result.depth, len(result.lines)) == (2, 2)
    assert result.value == cutnode.search.api.search(LATE, depth=2).value


def test_keywords_are_those_of_options():
    """Type checkers know the keywords of the functions and of the table of options."""
    for keywords, kind in (
        (AutoKeywords, AutoOptions),
        (ProofKeywords, ProofOptions),
        (QuestionKeywords, QuestionOptions),
        (SearcherKeywords, SearcherOptions),
        (SearchKeywords, SearchOptions),
        (TreeKeywords, TreeOptions),
    ):
        hints = get_type_hints(keywords)
        defaults = {field.name: field.default for field in dataclasses.fields(kind) if field.init}
        assert hints.keys() == defaults.keys()
        for name in hints.keys() & kind.declared.keys():
            its = kind.declared[name]
            if its.choices or its.kind is not str:
                assert hints[name] == (its.kind if its.default is not None else its.kind | None)
                assert defaults[name] == (its.default << 20 if name == "memory" else its.default)
    assert get_type_hints(ProvingKeywords)["proof_share"] == OPTIONS["proof_share"].kind | None
    with pytest.raises(TypeError, match=r"search\(\) takes nodes, .*; there is no option 'dept'"):
        cutnode.Searcher(LATE, table=1).search(LATE, dept=8)
    with pytest.raises(TypeError, match=r"solve\(\) takes at_least, .* no option 'depth'"):
        solve(LATE, depth=8)
