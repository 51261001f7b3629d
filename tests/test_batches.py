"""Batches: many positions on all cores, resumed after any interruption."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from commands import FROM_HERE
from hypothesis import given
from hypothesis import strategies as st
from marks import compiled_only

from cutnode import NO_MOVE, CutnodeError, PositionError, Table, legal_moves, load_game, solve_many
from cutnode.batches import BatchProgress, read_positions, read_results, run_batch
from cutnode.cli.batch import batch
from cutnode.compiler.locks import lock
from cutnode.contract.notes import notes_to
from cutnode.contract.positions import Packed, as_words
from cutnode.contract.verbs import canonical, play
from cutnode.runtime.running import Limits
from cutnode.search.solving import ProofSettings
from cutnode.search.spans import Spans, proof_workers
from cutnode.storage.journal import Journal

pytestmark = pytest.mark.once

SETS = Path(__file__).parent.parent / "benchmarks" / "data"
GAME = load_game("connect4")
TINY = load_game("tictactoe")
ABOUT = {"game": "chess", "depth": 3}


def of_set(name: str, count: int) -> Packed:
    lines = (SETS / f"connect4_{name}.txt").read_text().splitlines()
    return read_positions(GAME, lines[: count + 2])


def all_tiny() -> list:
    """Return all positions of tic-tac-toe, including finished ones."""
    seen, layer = {}, [TINY.start()]
    while layer:
        seen |= dict.fromkeys(layer)
        layer = list(dict.fromkeys(play(p, move) for p in layer for move in legal_moves(p)))
    return list(seen)


TINIES = all_tiny()[::7]


# Journals


def journal_of(path: Path, about: dict, *records: bytes) -> list[bytes]:
    """Open a journal, add records, and close it; return what it held before."""
    held: list[bytes] = []
    with Journal(path, about, held.append) as journal:
        for record in records:
            journal.append(record)
    return held


def test_journal_gives_back_what_it_was_given(tmp_path):
    path = tmp_path / "journal"
    assert journal_of(path, ABOUT, b"one", b"", b"three") == []
    assert journal_of(path, ABOUT, b"four") == [b"one", b"", b"three"]
    assert journal_of(path, ABOUT) == [b"one", b"", b"three", b"four"]


@pytest.mark.parametrize("about", [{"game": "chess", "depth": 4}, {"game": "chess"}, {}])
def test_journal_of_another_job_is_refused(tmp_path, about):
    path = tmp_path / "journal"
    journal_of(path, ABOUT, b"one")
    with pytest.raises(CutnodeError, match="belongs to another job: its depth is '3', not"):
        Journal(path, {"game": "chess", **about})
    assert journal_of(path, ABOUT) == [b"one"]


def test_files_that_are_no_journal_stay_as_they_are(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("4455\n")
    with pytest.raises(CutnodeError, match=r"notes\.txt is not a cutnode journal"):
        Journal(path, ABOUT)
    assert path.read_text() == "4455\n"
    with pytest.raises(CutnodeError, match="cannot be opened: "):
        Journal(tmp_path, ABOUT)


def test_one_at_a_time_has_a_journal(tmp_path):
    path = tmp_path / "journal"
    with Journal(path, ABOUT) as journal:
        with pytest.raises(CutnodeError, match="is in use"):
            Journal(path, ABOUT)
        code = f"from cutnode.compiler.locks import lock; print(lock(open({str(path)!r}, 'r+b')))"
        found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert found.stdout.strip() == "False"
        journal.append(b"one")
    with path.open("r+b") as file:
        assert lock(file)
    assert journal_of(path, ABOUT) == [b"one"]


RECORDS = [b"first", b"", bytes(range(64)), b"last"]


@given(st.integers(0, 1000), st.integers(1, 255))
def test_a_damaged_byte_is_noticed_or_costs_a_record(tmp_path_factory, at, flips):
    path = tmp_path_factory.mktemp("journal") / "journal"
    journal_of(path, ABOUT, *RECORDS)
    data = bytearray(path.read_bytes())
    data[at % len(data)] ^= flips
    path.write_bytes(data)
    try:
        held = journal_of(path, ABOUT, b"more")
    except CutnodeError as error:
        assert "is not a cutnode journal" in str(error) or "header" in str(error)
        return
    assert held in [RECORDS[:n] + RECORDS[n + 1 :] for n in range(len(RECORDS))]
    assert journal_of(path, ABOUT) == [*held, b"more"]


@given(st.integers(0, 1000))
def test_a_torn_journal_is_resumed(tmp_path_factory, size):
    path = tmp_path_factory.mktemp("journal") / "journal"
    journal_of(path, ABOUT, *RECORDS)
    path.write_bytes(path.read_bytes()[:size])
    held = journal_of(path, ABOUT, b"more")
    assert held == RECORDS[: len(held)]
    assert journal_of(path, ABOUT) == [*held, b"more"]


# Positions


def test_packed_positions_are_a_sequence():
    packed = Packed.of(TINIES)
    assert list(packed) == TINIES
    assert packed[-1] == TINIES[-1]
    assert list(packed[3:9]) == TINIES[3:9]
    assert list(packed[9:3]) == []
    assert list(packed[::5]) == TINIES[::5]
    assert list(packed.chosen([4, 2])) == [TINIES[4], TINIES[2]]
    assert as_words(packed) is packed.words
    with pytest.raises(IndexError):
        packed[len(TINIES)]


def test_positions_are_read_line_by_line():
    packed = read_positions(TINY, ["# all", "", "x../.../...; a comment", "xo./.../..."])
    assert [str(position) for position in packed] == [
        str(TINY.parse(text)) for text in ("x../.../...", "xo./.../...")
    ]
    with pytest.raises(PositionError, match="here, line 2: "):
        read_positions(TINY, ["", "nonsense"], "here")
    with pytest.raises(PositionError, match="the text holds no positions"):
        read_positions(TINY, [" # none"])


def test_lines_that_cannot_be_read_are_skipped_if_wanted():
    skipped = []
    lines = ["nonsense", "x../.../...", "", "# none", "xx/", "xo./.../...; a comment"]
    packed = read_positions(TINY, lines, "here", skipped)
    assert list(packed) == [TINY.parse("x../.../..."), TINY.parse("xo./.../...")]
    assert [message.partition(": ")[0] for message in skipped] == ["here, line 1", "here, line 5"]
    with pytest.raises(PositionError, match="here holds no positions that can be read: here, line"):
        read_positions(TINY, ["nonsense"], "here", [])


def test_notes_on_lines_are_reported_once():
    stale = "4k3/8/8/8/8/8/8/4K3 w K - 0 1"
    told = []
    with notes_to(told.append):
        read_positions(load_game("chess"), ["", stale, stale.replace("K -", "Q -"), stale], "here")
        read_positions(load_game("chess"), [stale], "there")
    assert told == [
        "here, line 2: castling K is read as -: king or rook is not at home for K "
        "(lines with such notes: 3)",
        "there, line 1: castling K is read as -: king or rook is not at home for K",
    ]


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(1, 5000))), st.integers(1, 4))
def test_spans_are_all_that_is_to_do(gaps, threads):
    todo, at = [], 0
    for gap, size in gaps:
        todo.append((at + gap, at + gap + size))
        at += gap + size
    spans = Spans(todo, threads)
    taken = []
    while (span := spans.take()) is not None:
        taken += range(*span)
    assert taken == [number for first, last in todo for number in range(first, last)]


# Batches


def test_a_batch_finds_what_is_found_one_by_one():
    result = run_batch(TINIES, threads=1)
    wanted = solve_many(TINIES, cold=True, lines=True)
    assert result.reason == "done"
    assert result.done.all() and result.proven.all()
    assert result.values.tolist() == wanted.values.tolist()
    assert result.nodes.tolist() == wanted.nodes.tolist()
    moves = [NO_MOVE if one.best_move is None else one.best_move for one in wanted]
    assert result.moves.tolist() == moves


@compiled_only
def test_nothing_depends_on_threads():
    positions = of_set("L2_R1", 300)
    one, two = (run_batch(positions, threads=threads, table=8) for threads in (1, 2))
    for name in ("lower", "upper", "move", "reason", "nodes"):
        assert one.rows[name].tolist() == two.rows[name].tolist()
    warm = run_batch(positions, threads=2, table=8, cold=False, moves=False)
    assert warm.values.tolist() == one.values.tolist()
    assert (warm.moves == NO_MOVE).all()


@compiled_only
def test_limits_are_for_each_position():
    positions = [GAME.start(), GAME.parse("44444326555535"), *of_set("L3_R1", 4)]
    by_nodes = run_batch(positions, nodes=1000, threads=2, table=8)
    assert [record["reason"] for record in by_nodes.records()][:2] == ["node limit"] * 2
    assert by_nodes.proven.tolist() == [False, False, True, True, True, True]
    assert by_nodes.done.all()
    by_time = run_batch(positions, seconds=0.5, threads=1, table=8, moves=False)
    assert next(record["reason"] for record in by_time.records()) == "time limit"
    assert by_time.proven.tolist()[2:] == [True] * 4


def test_alike_positions_are_done_once():
    texts = "4453", "4435", "4453", "44", "4"
    positions = [GAME.parse(text) for text in texts]
    assert len({canonical(position)[0] for position in positions}) == 3
    result = run_batch(positions, unique=True, nodes=30, threads=1, table=1)
    rows = result.rows
    assert len(set(rows["seconds"].tolist())) == 3
    assert rows[0] == rows[2]
    assert rows[1]["move"] == 6 - rows[0]["move"]
    for position, move in zip(positions, result.moves.tolist(), strict=True):
        assert move in legal_moves(position)


@compiled_only
def test_a_batch_of_searches_is_that_of_an_engine():
    game = load_game("connect4")
    generator, positions = random.Random(3), [game.start()]
    for _ in range(40):
        choices = legal_moves(positions[-1])
        positions.append(
            play(positions[-1], generator.choice(choices)) if choices else game.start()
        )
    one, two = (run_batch(positions, "search", depth=6, threads=n, table=2) for n in (1, 2))
    assert np.array_equal(one.rows, two.rows)
    assert one.rows["depth"].max() == 6
    deeper = run_batch(positions, "search", depth=6, threads=1, table=2, cold=False, exact=True)
    alone = run_batch(positions, "search", depth=6, threads=1, table=2, exact=True)
    assert deeper.nodes.sum() < alone.nodes.sum()


def test_a_stopped_batch_says_what_is_done(tmp_path):
    stop = threading.Event()
    stop.set()
    result = run_batch(TINIES, stop=stop, threads=1, table=1, journal=tmp_path / "journal")
    assert result.reason == "stopped"
    assert not result.done.any()
    assert next(result.records())["reason"] == "not done"
    seen: list[BatchProgress] = []
    result = run_batch(TINIES, threads=1, journal=tmp_path / "journal", progress=seen.append)
    assert result.done.all()
    assert (seen[-1].done, seen[-1].total, seen[-1].restored) == (len(TINIES), len(TINIES), 0)
    assert seen[-1].rate > 0 and seen[-1].left == 0
    again = run_batch(TINIES, threads=1, journal=tmp_path / "journal", progress=seen.append)
    assert seen[-1].restored == len(TINIES)
    assert np.array_equal(again.rows, result.rows)
    with pytest.raises(CutnodeError, match="belongs to another job: its positions is"):
        run_batch(TINIES[::-1], threads=1, journal=tmp_path / "journal")
    with pytest.raises(CutnodeError, match="belongs to another job: its weak is 'False'"):
        run_batch(TINIES, threads=1, weak=True, journal=tmp_path / "journal")


def test_what_is_done_of_a_span_is_kept_once():
    """Results seen so far are handed out at the next look, and the rest at the end, each once."""
    kept = []

    def keep(first, found):
        rows, _ = found
        kept.append((first, rows["lower"].tolist()))

    table, limits = Table(1), Limits()
    (prover,) = proof_workers(TINIES, 1, table, limits, keep, ProofSettings(cold=True))
    prover.do(0, 10)
    assert prover.done == 10
    prover._assign(TINIES[10:20], None)
    prover.first = 10
    prover.task.work()
    prover.memory["current"] = 4
    prover.keep_so_far()
    assert len(kept) == 1
    prover.memory["current"] = 7
    prover.keep_so_far()
    prover.finish(10)
    wanted = solve_many(TINIES[:20], cold=True).values.tolist()
    assert kept == [(0, wanted[:10]), (10, wanted[10:14]), (14, wanted[14:])]
    assert prover.done == 20


KILLED = """
import sys
from cutnode import load_game
from cutnode.batches import read_positions, run_batch
journal, file = sys.argv[1:]
positions = read_positions(load_game("connect4"), open(file).read().splitlines()[:402])
run_batch(positions, threads=2, table=8, nodes=30_000, journal=journal)
"""


@compiled_only
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no such signal")
def test_a_killed_batch_resumes_where_it_was(tmp_path):
    path, root = tmp_path / "journal", Path(__file__).parent.parent
    wanted = run_batch(of_set("L1_R1", 400), threads=2, table=8, nodes=30_000)
    generator = random.Random(4)
    held = 0
    for _ in range(2):
        before = path.stat().st_size if path.exists() else 0
        command = [sys.executable, "-c", KILLED, path, SETS / "connect4_L1_R1.txt"]
        environment = os.environ | FROM_HERE
        with subprocess.Popen(command, cwd=root, env=environment) as process:
            while process.poll() is None and (
                not path.exists() or path.stat().st_size < before + 2000
            ):
                time.sleep(0.005)
            time.sleep(generator.random() / 5)
            process.kill()
        seen: list[BatchProgress] = []
        stop = threading.Event()
        stop.set()
        part = run_batch(
            of_set("L1_R1", 400),
            threads=2,
            table=8,
            nodes=30_000,
            journal=path,
            stop=stop,
            progress=seen.append,
        )
        assert part.done.sum() >= held
        held = int(part.done.sum())
        assert held > 0
    result = run_batch(of_set("L1_R1", 400), threads=1, table=8, nodes=30_000, journal=path)
    assert result.done.all()
    for name in ("lower", "upper", "move", "reason", "nodes"):
        assert result.rows[name].tolist() == wanted.rows[name].tolist()


def test_things_that_are_no_batch():
    for wrong, reason in (
        (lambda: run_batch([], threads=1), "no positions to solve"),
        (lambda: run_batch(7), "positions must be iterable, got 7"),
        (lambda: run_batch(TINIES, threads=1 << 40), "threads must be 1..1024, got"),
        (lambda: run_batch(TINIES, "count"), "task must be 'solve' or 'search', got 'count'"),
        (
            lambda: run_batch(TINIES, depth=3),
            "'depth' is not an option to solve positions: options are",
        ),
        (lambda: run_batch(TINIES, nodes=0), "nodes must be at least 1"),
        (lambda: run_batch(TINIES, table=0), "a table needs at least 1 MiB"),
        (lambda: run_batch(TINIES, threads=0), "threads must be 1..1024, got 0"),
    ):
        with pytest.raises(CutnodeError, match=reason):
            wrong()


# Results


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
@pytest.mark.parametrize("weak", [False, True])
def test_results_come_back_from_files(tmp_path, kind, weak):
    if kind == "parquet":
        pytest.importorskip("pyarrow")
    result = run_batch(iter(TINIES), threads=1, weak=weak, nodes=50)
    assert not result.proven.all()
    path = tmp_path / f"results.{kind}"
    getattr(result, f"to_{kind}")(path)
    found = read_results(path)
    assert np.array_equal(found.rows, result.rows)
    assert list(found.positions) == TINIES
    assert (found.task, found.weak) == ("solve", weak)
    for nonsense in (b"nonsense", bytes(range(256)) * 100):
        path.write_bytes(nonsense)
        with pytest.raises(CutnodeError, match="has no results of a batch") as refused:
            read_results(path)
        assert len(str(refused.value)) < 1000
    with pytest.raises(CutnodeError, match="cannot be read"):
        read_results(tmp_path / f"none.{kind}")


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_damaged_results_are_refused_or_what_they_were(tmp_path, kind):
    if kind == "parquet":
        pytest.importorskip("pyarrow")
    result = run_batch(TINIES, threads=1)
    path = tmp_path / f"results.{kind}"
    getattr(result, f"to_{kind}")(path)
    whole, generator, refused = path.read_bytes(), random.Random(1), 0
    for _ in range(100):
        damaged = bytearray(whole)
        damaged[generator.randrange(len(whole))] ^= 1 << generator.randrange(8)
        path.write_bytes(damaged)
        try:
            found = read_results(path)
        except CutnodeError:
            refused += 1
            continue
        assert np.array_equal(found.rows, result.rows)
        assert list(found.positions) == TINIES
    assert refused > 50


def test_lines_of_json_without_checksums_are_read(tmp_path):
    """Other programs may write such lines."""
    result = run_batch(TINIES, threads=1)
    path = tmp_path / "results.jsonl"
    path.write_text("\n".join(result.json_lines()))
    assert np.array_equal(read_results(path).rows, result.rows)


def test_lines_of_json_are_what_people_read(tmp_path):
    run_batch([TINY.parse("xx./oo./...")], threads=1).to_jsonl(tmp_path / "results.jsonl")
    record = json.loads((tmp_path / "results.jsonl").read_text())
    assert record.pop("seconds") >= 0
    assert len(record.pop("checksum")) == 8
    assert record == {
        "game": "tictactoe",
        "task": "solve",
        "weak": False,
        "position": "xx./oo./...",
        "value": 1,
        "lower": 1,
        "upper": 1,
        "best_move": "3",
        "nodes": 11,
        "reason": "proven",
    }


# The command


def test_the_command_writes_what_was_found(tmp_path):
    positions = tmp_path / "positions.txt"
    positions.write_text("# two\nxx./oo./...\n\nx../.../...  ; a comment\n")
    call = [str(positions), "--threads", "1", "--table-mb", "1"]
    found = CliRunner().invoke(batch, ["tictactoe", *call])
    assert found.exit_code == 0
    records = [json.loads(line) for line in found.stdout.splitlines()]
    assert [(record["value"], record["best_move"]) for record in records] == [(1, "3"), (0, "5")]
    out, journal = tmp_path / "results.jsonl", tmp_path / "journal"
    call += ["--weak", "--nodes", "20", "--journal", str(journal), "--out", str(out)]
    assert CliRunner().invoke(batch, ["tictactoe", *call]).exit_code == 3
    assert read_results(out).values.tolist() == [1, 0]
    for wrong, reason in (
        ([*call, "--depth", "3"], "'depth' is not an option to solve positions"),
        ([*call, "--unique", "--search"], "'weak' is not an option to search positions"),
        ([str(positions), "--out", "results.txt"], r"must end in \.parquet or \.jsonl"),
        ([str(tmp_path / "none")], "cannot be read"),
    ):
        error = CliRunner().invoke(batch, ["tictactoe", *wrong]).exception
        assert isinstance(error, CutnodeError)
        assert re.search(reason, str(error))


# Engines other than alpha-beta

PLAIN = load_game("tictactoe", plain=True)
LATE_COMPILED = TINIES[-150::8]
LATE = [PLAIN.parse(PLAIN.position_text(position)) for position in LATE_COMPILED]


@pytest.mark.parametrize(
    ("task", "positions", "options"),
    [
        ("solve", LATE, {"engine": "pn"}),
        ("search", LATE, {"engine": "mcts", "playouts": 20_000}),
        ("search", LATE[::6], {"engine": "auto", "seconds": 2}),
    ],
    ids=["pn", "mcts", "auto"],
)
def test_engines_prove_what_the_solver_does(task, positions, options, tmp_path):
    journal = tmp_path / "journal"
    result = run_batch(positions, task, table=16, journal=journal, **options)
    assert (result.reason, result.proven.all()) == ("done", True)
    values = [solved.value for solved in solve_many(positions)]
    assert np.sign(result.values).tolist() == values
    again = run_batch(positions, task, table=16, journal=journal, **options)
    assert again.rows.tobytes() == result.rows.tobytes()


def test_playouts_limit_positions_of_a_batch():
    result = run_batch([PLAIN.start()], "search", engine="mcts", playouts=9, table=16)
    assert next(result.records())["reason"] == "playout limit"
    stop = threading.Event()
    stop.set()
    result = run_batch(LATE, "search", engine="mcts", playouts=9, table=16, stop=stop)
    assert (result.reason, result.done.any()) == ("stopped", False)


def test_batches_keep_the_root_moves(tmp_path):
    result = run_batch(LATE, "search", engine="mcts", playouts=50, table=16, threads=1)
    for record, position in zip(result.records(), LATE, strict=True):
        if record["best_move"] is None:
            assert record["moves"] == []
            continue
        assert record["playouts"] <= 50
        assert 0 <= record["win_rate"] <= 1
        texts = [PLAIN.move_text(position, move) for move in legal_moves(position)]
        assert sorted(move["move"] for move in record["moves"]) == sorted(texts)
        assert record["moves"][0]["move"] == record["best_move"]
        assert sum(move["visits"] for move in record["moves"]) >= record["playouts"] - 1
    compiled = run_batch(LATE_COMPILED, "search", engine="mcts", playouts=50, table=16, unique=True)
    for name in ("rows.jsonl", "rows.parquet"):
        if name.endswith(".parquet"):
            pytest.importorskip("pyarrow")
            compiled.to_parquet(tmp_path / name)
        else:
            compiled.to_jsonl(tmp_path / name)
        again = read_results(tmp_path / name)
        assert list(again.records()) == list(compiled.records())


def test_root_moves_of_equivalent_positions():
    game = load_game("connect4:4x4", plain=True)
    positions = [game.parse("12"), game.parse("43")]
    result = run_batch(positions, "search", engine="mcts", playouts=40, table=16, unique=True)
    first, second = ({m["move"]: m["visits"] for m in r["moves"]} for r in result.records())
    assert {str(5 - int(move)): visits for move, visits in first.items()} == second
    assert len(set(first.values())) > 1


@pytest.mark.parametrize(
    ("task", "options", "words"),
    [
        ("solve", {"engine": "mcts"}, "engine must be one of alphabeta, pn, sums, auto, got"),
        ("search", {"engine": "pn"}, "engine must be one of alphabeta, mcts, auto, got 'pn'"),
        (
            "solve",
            {"engine": "pn", "moves": True},
            "'moves' is not an option to solve positions by pn",
        ),
        ("search", {"engine": "mcts", "depth": 3}, "to search positions by mcts: options are cut_"),
        ("search", {"engine": "mcts"}, "a batch by mcts needs a limit: playouts, nodes or seconds"),
        ("search", {"engine": "auto", "nodes": 5}, "engine=auto needs a limit of seconds"),
    ],
)
def test_engines_say_what_does_not_suit_them(task, options, words):
    with pytest.raises(CutnodeError, match=re.escape(words)):
        run_batch(TINIES, task, **options)
