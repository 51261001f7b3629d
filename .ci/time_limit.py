"""A plugin of pytest for a run with a time limit.

``FIRST`` names the files to begin with.  ``LATEST_START`` is the last second in which a test may
begin, as ``date +%s`` prints it: later tests are skipped, and listed at the end.
"""

import os
import time
from pathlib import Path

import pytest

NO_TIME = "no time was left"


def pytest_collection_modifyitems(config, items):
    first = [Path(config.rootpath, file) for file in os.environ["FIRST"].split()]
    items.sort(key=lambda item: first.index(item.path) if item.path in first else len(first))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    if time.time() > float(os.environ["LATEST_START"]):
        pytest.skip(NO_TIME)


def pytest_terminal_summary(terminalreporter):
    skipped = terminalreporter.getreports("skipped")
    late = [report.nodeid for report in skipped if NO_TIME in str(report.longrepr)]
    if late:
        terminalreporter.section(f"NOT RUN: {len(late)} tests, as {NO_TIME}")
        terminalreporter.write_line("\n".join(late))
