"""Proofs with a journal: killed, damaged, shared by processes, and resumed."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from marks import compiled_only

from cutnode import CutnodeError, GameError, Table, load_game, solve, write_proof
from cutnode.cli.main import main
from cutnode.search import resuming
from cutnode.search.resuming import ProofJournal, split_of

pytestmark = compiled_only

NAME = "connect4:4x9"
GAMES = [
    (NAME, "alphabeta"),
    (NAME, "pn"),
    ("clobber:4x5", "sums"),
    *(
        pytest.param(name, engine, marks=pytest.mark.slow)
        for name, engine in (
            ("kalah:3x3", "alphabeta"),
            ("hex:5x5", "pn"),
            ("domineering:6x6", "auto"),
        )
    ),
]


def start_of(name):
    return load_game(name).start()


@pytest.fixture
def journal(tmp_path, monkeypatch):
    """A file for a journal that keeps small subgoals, too."""
    monkeypatch.setattr(resuming, "SECONDS", 0.05)
    monkeypatch.setattr(resuming, "WORK_SECONDS", 1e-5)
    return tmp_path / "journal"


@pytest.mark.once
@pytest.mark.parametrize(("name", "engine"), GAMES)
def test_a_stopped_proof_is_resumed(name, engine, journal):
    start = start_of(name)
    plain = solve(start, table=16, engine=engine)
    whole = solve(start, table=16, engine=engine, journal=journal.with_name("whole"))
    assert (whole.value, whole.nodes, whole.pv) == (plain.value, plain.nodes, plain.pv)
    first = solve(start, table=16, engine=engine, journal=journal, nodes=plain.nodes // 2)
    again = solve(start, table=16, engine=engine, journal=journal)
    assert (first.value, again.value) == (None, plain.value)
    assert first.nodes + again.nodes < 1.6 * plain.nodes + 3000
    done = solve(start, table=16, engine=engine, journal=journal)
    assert (done.value, done.best_move) == (plain.value, again.best_move)
    assert done.nodes < plain.nodes / 10 + 500


KILLED = """
import sys, time
from cutnode import load_game, solve
from cutnode.search import resuming
resuming.SECONDS, resuming.WORK_SECONDS = 0.02, 1e-5
solve(load_game(sys.argv[1]).start(), table=16, journal=sys.argv[2])
time.sleep(60)
"""


def test_a_killed_proof_is_resumed(journal):
    start = start_of(NAME)
    plain = solve(start, table=16)
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, NAME, str(journal)],
        cwd=Path(__file__).parent.parent,
    )
    try:
        before, size = -1, 0
        while size < 2_000 or size != before:  # a record is whole once the file no longer grows
            assert process.poll() is None
            time.sleep(0.05)
            before, size = size, journal.stat().st_size if journal.exists() else 0
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    with ProofJournal(journal, start) as kept:
        assert kept.restored > 10
    again = solve(start, table=16, journal=journal)
    assert again.value == plain.value
    assert again.nodes < plain.nodes


def test_a_torn_record_is_dropped_and_said(journal):
    start = start_of(NAME)
    value = solve(start, table=16, journal=journal).value
    data = journal.read_bytes()
    with ProofJournal(journal, start) as kept:
        whole = kept.restored
    journal.write_bytes(data[:-5])
    with ProofJournal(journal, start) as kept:
        assert kept.restored < whole
        assert kept.file.damaged > 0
    told = CliRunner().invoke(main, ["solve", NAME, "--journal", str(journal)])
    assert "bytes of unfinished or damaged records dropped" in told.stderr
    assert f"value  {value} " in told.stdout
    with ProofJournal(journal, start) as kept:  # what follows the torn record is found
        assert kept.restored > 0


@pytest.mark.parametrize(
    ("name", "text", "damage", "error"),
    [
        ("connect4:4x8", "", b"", "its game is 'connect4:4x9', not 'connect4:4x8'"),
        (NAME, "12", b"", "its position is "),
        (NAME, "", b"notes", "is not a cutnode journal"),
    ],
)
def test_other_files_are_refused(name, text, damage, error, journal):
    solve(start_of(NAME), table=16, nodes=10_000, journal=journal)
    data = journal.read_bytes()
    journal.write_bytes(damage + data[len(damage) :])
    before = journal.read_bytes()
    with pytest.raises(CutnodeError, match=error):
        solve(load_game(name).parse(text), table=16, journal=journal)
    assert journal.read_bytes() == before


@pytest.mark.parametrize(
    ("name", "value", "nodes"), [("go:3x4", 4, 10_000), ("go:3x4,ko=simple", 4, 10_000)]
)
def test_journals_of_games_with_repetition(name, value, nodes, journal):
    """Stopped several times, in the middle of questions."""
    plain = solve(name, engine="pn", table=16)
    for _ in range(4):
        solve(name, engine="pn", nodes=nodes, table=16, journal=journal)
    resumed = solve(name, engine="pn", table=16, journal=journal)
    assert resumed.value == plain.value == value
    assert resumed.nodes < plain.nodes


def test_games_without_a_journal_say_so(journal):
    with pytest.raises(GameError, match=r"dobutsu has repetition: a journal needs engine=pn"):
        solve("dobutsu", journal=journal)
    early = CliRunner().invoke(main, ["solve", "dobutsu", "--journal", str(journal)])
    assert (early.exit_code, early.stdout) == (2, "")
    with pytest.raises(GameError, match=r"tictactoe is plain Python: a journal needs a compiled"):
        solve(load_game("tictactoe", plain=True).start(), journal=journal)
    refused = CliRunner().invoke(
        main, ["solve", "connect4", "--file", os.devnull, "--journal", str(journal)]
    )
    assert refused.exit_code == 2


@pytest.mark.once
def test_processes_share_a_proof(journal):
    start = start_of(NAME)
    plain = solve(start, table=16)
    with ProofJournal(journal, start) as first:
        helper = solve(start, table=16, journal=journal)  # splits it, and proves the subgoals
        assert helper.value == plain.value
        assert helper.nodes > plain.nodes / 3  # the subgoals count
        assert first.nodes_before <= helper.nodes
        found = first.news()
        assert len(found) > 50
        with pytest.raises(CutnodeError, match="in use: several processes can only share"):
            solve(start, table=16, journal=journal, engine="pn")
    split = split_of(start)
    split.restore(found)
    assert split.proven
    assert split.lower == plain.value
    alone = solve(start, table=16, journal=journal)
    assert alone.nodes < plain.nodes / 2


def test_entries_of_a_table_are_put_back():
    start, table, other = start_of(NAME), Table(16), Table(16)
    solve(start, table=table)
    entries = table.entries(8)
    assert 0 < len(entries) < len(table.entries(0))
    other.claim(type(start))
    other.put_back(entries)
    assert np.isin(entries[:, 0], other.entries(8)[:, 0]).mean() > 0.95
    assert solve(start, table=other).nodes < 2_000


@pytest.mark.slow
def test_a_strategy_is_written_from_a_journal_alone(tmp_path):
    """The table of a long proof is lost; its journal saves more than half of the work."""
    start, journal = start_of("connect4:4x12"), tmp_path / "journal"
    plain = solve(start, weak=True, table=512, journal=journal)
    table = Table(512)
    solve(start, weak=True, table=table, journal=journal)
    limit = int(0.75 * plain.nodes)
    proof = write_proof(
        start, at_least=0, leaf_nodes=100_000, engine="alphabeta", table=table, nodes=limit
    )
    proof.verify()
