"""Saved tables: searches continue as if nothing had happened, and damage is detected."""

from __future__ import annotations

import os
import random
import re
import signal
import struct
import subprocess
import sys
import time
import zlib
from pathlib import Path

import numpy as np
import pytest
from commands import FROM_HERE, printed_by
from hypothesis import given
from hypothesis import strategies as st
from marks import compiled_only
from toys import drops

from cutnode import CutnodeError, GameError, Searcher, Table, TableError, load_game, solve
from cutnode.contract.collection import FOLDER
from cutnode.kernels.table import BUCKETS, HEADER_WORDS
from cutnode.storage.arrays import _meaning, class_in, identity, rules_digest

GAME = load_game("connect4")
NEXT = GAME.parse("4444432655553")
TINY = load_game("tictactoe")


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A table of tic-tac-toe, and its file."""
    table = Table(1)
    solve(TINY.start(), table=table)
    path = tmp_path_factory.mktemp("saved") / "tiny.table"
    table.save(path)
    return table, path


@compiled_only
@pytest.mark.parametrize("mapped", [False, True])
@pytest.mark.parametrize("megabytes", [1, 16])
def test_a_loaded_table_continues_like_the_saved_one(tmp_path, mapped, megabytes):
    """With 1 MiB it is all in use, and mapped; with 16 MiB it grows."""
    path = tmp_path / "some.table"
    table = Table(megabytes)
    solve(GAME.parse("444443"), table=table, nodes=1_000_000)
    table.save(path)
    whole = int(table.words[BUCKETS]) == table.buckets
    assert whole == (megabytes == 1)
    loaded = Table.load(path, map=mapped)
    assert loaded.megabytes == megabytes
    before = path.read_bytes()
    for position in (NEXT, GAME.parse("4455")):
        results = [solve(position, table=each, nodes=300_000) for each in (table, loaded)]
        assert results[0].nodes == results[1].nodes > 0
        assert results[0].table == results[1].table
        assert results[0].pv == results[1].pv
    assert np.array_equal(table.words[HEADER_WORDS:], loaded.words[HEADER_WORDS:])
    assert path.read_bytes() == before


@compiled_only
def test_depth_limited_searches_continue_too(tmp_path):
    table = Table(1)
    searcher = Searcher(GAME, table=table)
    searcher.search(NEXT, depth=8)
    table.save(tmp_path / "some.table")
    loaded = Searcher(GAME, table=Table.load(tmp_path / "some.table"))
    searcher.unlearn()
    assert searcher.search(NEXT, depth=9).nodes == loaded.search(NEXT, depth=9).nodes


def test_an_empty_table_is_saved(tmp_path):
    Table(1).save(tmp_path / "empty.table")
    table = Table.load(tmp_path / "empty.table")
    wanted = solve(TINY.start(), table=Table(1))
    assert solve(TINY.start(), table=table).nodes == wanted.nodes


def test_what_it_knows_is_there(saved):
    _, path = saved
    assert solve(TINY.start(), table=Table.load(path)).nodes < 10


@given(st.integers(0, 1 << 30), st.integers(1, 255))
def test_a_damaged_byte_is_noticed_or_harmless(saved, tmp_path_factory, at, flips):
    table, path = saved
    data = bytearray(path.read_bytes())
    # Half of the time near the beginning of the file, where each byte matters.
    at %= len(data) if at % 2 else 2000
    data[at] ^= flips
    copy = tmp_path_factory.getbasetemp() / "damaged.table"
    copy.write_bytes(data)
    try:
        loaded = Table.load(copy)
    except TableError as error:
        assert any(word in str(error) for word in ("damaged", "is not a", "truncated"))
    else:
        assert np.array_equal(loaded.words, table.words)


def edited_header(edit):
    """Return a function that gives a header a new text and the matching checksum."""

    def edited(data):
        kind, _, rest = data.partition(b"\n")
        length, _ = struct.unpack_from("<2I", rest)
        text = edit(rest[8 : 8 + length])
        return kind + b"\n" + struct.pack("<2I", len(text), zlib.crc32(text)) + text + data[4096:]

    return edited


@pytest.mark.parametrize(
    "edit",
    [
        lambda text: b"[1, 2]",
        lambda text: b"7",
        lambda text: b"[" * 100_000,
        lambda text: b'{"version": 1, "byte order": "little"}',
        lambda text: re.sub(rb'"checksums": \d+', b'"checksums": "many"', text),
        lambda text: re.sub(rb'"arrays": \[.*?\]', b'"arrays": [7]', text),
        lambda text: re.sub(rb'"count": \d+', b'"count": "all"', text),
        lambda text: re.sub(rb'"count": \d+', b'"count": 1' + b"0" * 30, text),
    ],
)
def test_a_header_of_something_else_is_refused(saved, tmp_path, edit):
    path = tmp_path / "edited.table"
    path.write_bytes(edited_header(edit)(saved[1].read_bytes()))
    with pytest.raises(TableError, match=r"edited\.table (is damaged|has format|is truncated)"):
        Table.load(path)


@given(st.integers(0, 1 << 30))
def test_a_truncated_file_is_refused(saved, tmp_path_factory, size):
    _, path = saved
    data = path.read_bytes()
    copy = tmp_path_factory.getbasetemp() / "short.table"
    copy.write_bytes(data[: size % len(data)])
    with pytest.raises(TableError, match=r"is truncated|is not a cutnode table|damaged"):
        Table.load(copy)
    copy.write_bytes(data + b"more")
    with pytest.raises(TableError, match="but should have"):
        Table.load(copy)


def test_foreign_files_are_refused(saved, tmp_path):
    path = tmp_path / "foreign"
    path.write_text("x../.../...\n")
    with pytest.raises(TableError, match="foreign is not a cutnode table"):
        Table.load(path)
    with pytest.raises(CutnodeError, match="must be the path of a file, got 3"):
        Table.load(3)
    with pytest.raises(TableError, match="cannot be read: No such file"):
        Table.load(tmp_path / "none")
    with pytest.raises(CutnodeError, match="cannot be written"):
        saved[0].save(tmp_path / "none" / "file")


def test_tables_of_other_rules_are_refused(saved, tmp_path, monkeypatch):
    _, path = saved
    monkeypatch.setattr("cutnode.storage.arrays.rules_digest", lambda cls, modules: "another")
    with pytest.raises(TableError, match="made by other rules of tictactoe than those that run"):
        Table.load(path)


def test_files_of_before_the_package_was_renamed_are_read():
    """Their headers name modules of the packages ``engine`` and ``games``, as new ones do."""
    assert identity(type(GAME.start()))["class"] == ["games.connect4", "Position7x6"]
    assert class_in(identity(type(GAME.start())), "a", TableError) is type(GAME.start())
    imports = _meaning(FOLDER / "connect4.py").decode().splitlines()
    ours = [line.split()[1] for line in imports if line.startswith("from engine")]
    assert ours and ours == sorted(ours)
    assert "cutnode" not in " ".join(line for line in imports if line.startswith("from "))


@pytest.mark.once
def test_a_game_has_to_be_loaded(tmp_path):
    """A game in its own file, and a program that has not loaded that file."""
    source = Path(TINY.module.__file__).read_text()
    (tmp_path / "mine.py").write_text(source)
    code = """
import sys
from cutnode import Table, load_game, solve
if sys.argv[1] == "save":
    table = Table(1)
    solve(load_game("mine.py").parse("xx./oo./..."), table=table)
    table.save("mine.table")
elif sys.argv[1] == "load":
    load_game("mine.py")
try:
    Table.load("mine.table")
    print("loaded")
except ValueError as error:
    print(error)
"""

    def run(what: str) -> str:
        return printed_by(code, what, folder=tmp_path, NUMBA_DISABLE_JIT="1").strip()

    assert run("save") == "loaded"
    assert run("none") == (
        "mine.table is about 'mine', which is not loaded: call load_game first, or name the game "
        "in the command"
    )
    (tmp_path / "mine.py").write_text(f"# A comment.\n{source}")
    assert run("load") == "loaded"
    (tmp_path / "mine.py").write_text(source.replace("Bits(9)", "Bits(10)"))
    assert run("load") == "mine.table was made by other rules of mine than those that run"


@pytest.mark.parametrize(
    ("name", "digest"),
    [
        ("clobber", "749e5b16469c9fa56ec279fc75735ad1"),
        ("domineering", "62a3600a573eec1df27b798599e0229c"),
        ("draughts", "ab4056e2d007de2bf1c8911a3b83aafa"),
        ("hex", "378addb5fb25072936ebbf2cc97f0aa4"),
    ],
)
def test_files_saved_before_are_still_read(name, digest):
    """If sources change and entries mean the same, ``REWORDED`` has to map the new digest."""
    assert rules_digest(type(load_game(name).start())) == digest


def test_rules_that_mean_nothing_to_another_process():
    with pytest.raises(GameError, match=r"toys\.drops has no key"):
        rules_digest(type(drops.start()))

    class Nowhere(tuple):
        __slots__ = ()

    Nowhere.__module__ = "__main__"
    with pytest.raises(GameError, match="needs its rules in a file"):
        rules_digest(Nowhere)


KILLED = """
import sys
from cutnode import Table, load_game, solve
from cutnode.kernels.table import open_whole
table = Table(64)
solve(load_game("tictactoe").start(), table=table)
open_whole(table.words)
while True:
    print("saving", flush=True)
    table.save(sys.argv[1])
"""


@pytest.mark.once
@compiled_only
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no such signal")
def test_killed_while_saving_the_old_file_stays(saved, tmp_path):
    table, _ = saved
    path = tmp_path / "some.table"
    table.save(path)
    root = Path(__file__).parent.parent
    generator = random.Random(2)
    command = [sys.executable, "-c", KILLED, str(path)]
    with subprocess.Popen(
        command, cwd=root, env=os.environ | FROM_HERE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(generator.random() / 4)
        process.kill()
    assert Table.load(path).megabytes in (1, 64)
