"""Programs can ask how far a compilation is, and which kernels became ready."""

import sys
import threading
from pathlib import Path

import pytest
from marks import compiled_only

import cutnode
from cutnode.compiler import cache, directory, progress
from cutnode.compiler.jit import Position, kernel
from cutnode.games.tictactoe import Position as Noughts
from cutnode.kernels.solver import search_node
from cutnode.search.board import class_of

pytestmark = compiled_only


@pytest.fixture
def counts(tmp_path, monkeypatch):
    """The file of functions' counts, in an empty folder."""
    monkeypatch.setattr(directory, "cache_directory", lambda: tmp_path)
    return lambda: directory.read_memo(progress.MEMO)


def test_listeners_are_told_what_became_ready(counts):
    @kernel
    def one(position: Position) -> int:
        return 1

    done = []
    with progress.listening(done.append):
        one.specialise(Noughts)
        one.specialise(Noughts)
    (found,) = done
    assert (found.kernel, found.game, found.compiled) == ("one", "tictactoe.Position", True)
    assert found.seconds > 0
    assert counts() == {"one": 0, "one tictactoe.Position": 0}


def test_progress_counts_functions_and_knows_the_last_number(counts, monkeypatch):
    made = [100]
    monkeypatch.setattr(progress, "functions_compiled", lambda: made[0])

    def seen(game):
        """Return what was shown before any of seven functions, and after all."""
        with progress.Compilation("two", game) as work:
            assert progress.running() is None  # it may be in the cache
            work.begin()
            before = str(progress.running())
            made[0] += 7
            after = str(progress.running())
        assert progress.running() is None
        return before.removeprefix(f"compiling two for {game}: "), after.rpartition(": ")[2]

    assert seen("tictactoe.Position") == ("0 functions", "7 functions")
    assert seen("tictactoe.Position") == ("0 of 7 functions", "7 of 7 functions")
    assert seen("chess.Position") == ("0 of 7 functions", "7 of 7 functions")
    assert [*counts()] == ["two tictactoe.Position", "two", "two chess.Position"]


def test_failed_compilation_is_not_counted(counts):
    with pytest.raises(ZeroDivisionError), progress.Compilation("three", "a.Position") as work:
        work.begin()
        raise ZeroDivisionError
    assert progress.running() is None
    assert counts() == {}


def test_compilation_may_begin_again(counts):
    with progress.Compilation("four", "a.Position") as work:
        work.begin()
        work.begin()
    assert progress.running() is None


def test_counts_have_a_limit(counts, monkeypatch):
    monkeypatch.setattr(progress, "MOST_REMEMBERED", 4)
    for number in range(5):
        with progress.Compilation(f"kernel{number}", "a.Position") as work:
            work.begin()
    assert [*counts()] == ["kernel3", "kernel3 a.Position", "kernel4", "kernel4 a.Position"]


@pytest.mark.slow
def test_another_thread_sees_the_functions_grow(tmp_path, counts, monkeypatch):
    monkeypatch.setattr(cache, "cache_directory", lambda: tmp_path)
    path = tmp_path / "fresh.py"  # compiled by no other test
    path.write_text(Path(sys.modules[Noughts.__module__].__file__).read_text())
    fresh = class_of(cutnode.load_game(path))
    seen, over = [], threading.Event()

    def watch():
        while not over.wait(0.01):
            now = progress.running()
            if now is not None:
                seen.append(now.functions)

    thread = threading.Thread(target=watch)
    thread.start()
    search_node.specialise(fresh)
    over.set()
    thread.join()
    assert seen == sorted(seen)
    assert seen[-1] > 10
