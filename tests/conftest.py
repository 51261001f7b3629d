"""Fixtures and settings that all tests share."""

import gc
import os
import signal
import sys
import threading
import time

import pytest
from hypothesis import given, settings
from hypothesis.strategies import booleans

# Most tests are about compiled searches.
os.environ["CUTNODE_TIERS"] = "0"

# The first example may compile, and every run tries the same examples.
settings.register_profile("cutnode", deadline=None, derandomize=True, database=None)
settings.load_profile("cutnode")

# Tests and compiled functions are no garbage: looking for it took a tenth of the time.
gc.set_threshold(20_000)


@pytest.hookimpl(tryfirst=True)
def pytest_unconfigure():
    """Leave little to look through: pytest collects garbage five times at the end."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(trylast=True)
def pytest_sessionstart():
    """Make Hypothesis look for references among all objects now, while there are few."""
    settings(max_examples=1)(given(booleans())(lambda _: None))()


def lines_are_counted():
    """Return whether coverage counts the lines that run."""
    coverage = sys.modules.get("coverage")
    return coverage is not None and coverage.Coverage.current() is not None


if lines_are_counted():
    # Only then: the process that distributes the tests need not import numba.
    from cutnode.compiler import interpreter

    # Count lines as they are written, not as plain Python folds them to be faster.
    interpreter.folded = lambda function, names: function.__code__


def pytest_xdist_auto_num_workers(config):
    """Return two processes for the suite, as most machines have two cores; none for one file."""
    files = {argument.partition("::")[0] for argument in config.args}
    return 0 if len(files) == 1 and files.pop().endswith(".py") else 2


SEARCHING = os.path.join("cutnode", "search", "")
"""The folder of the Python modules that drive searches."""


def waits_for_a_search(thread):
    """Return whether a thread is waiting for a search."""
    frame = sys._current_frames().get(thread)
    if frame is None or frame.f_code.co_filename != threading.__file__:
        return False
    while frame is not None and SEARCHING not in frame.f_code.co_filename:
        frame = frame.f_back
    return frame is not None


@pytest.fixture(autouse=True)
def ctrl_c_interrupts():
    """Make Ctrl-C work as at a terminal: background jobs of a shell and pytest-xdist ignore it."""
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, handler)


@pytest.fixture
def interrupt_soon():
    """A function that sends Ctrl-C to the main thread soon after it begins to wait for a search.

    Without *waiting* it is sent soon in any case, for searches that end at once.
    """
    if not hasattr(signal, "pthread_kill"):
        pytest.skip("no signals to a thread")
    if lines_are_counted():
        pytest.skip("a signal may come while coverage holds its lock, which then is held for ever")
    main = threading.main_thread().ident
    done = threading.Event()

    def interrupt(waiting):
        while waiting and not waits_for_a_search(main) and not done.is_set():
            time.sleep(0.01)
        if not done.wait(0.2):
            signal.pthread_kill(main, signal.SIGINT)

    threads = []

    def begin(waiting=True):
        threads.append(threading.Thread(target=interrupt, args=[waiting]))
        threads[-1].start()

    yield begin
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # so that a late Ctrl-C does not hit another test
    done.set()
    for thread in threads:
        thread.join()


@pytest.fixture
def heard(interrupt_soon):
    """A function that repeats a short call until it returns "interrupted" or raises Ctrl-C.

    Python drops a Ctrl-C that arrives while it frees an object, so it may have to be pressed again.
    """

    def hear(call):
        for _ in range(10):
            interrupt_soon(waiting=False)
            until = time.perf_counter() + 6
            try:
                while time.perf_counter() < until:
                    if call() == "interrupted":
                        return True
            except KeyboardInterrupt:
                return True
        return False

    return hear
