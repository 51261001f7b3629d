"""A plugin of pytest: tests that would begin after a time limit are skipped, and listed at the end.

``LATEST_START`` is the last second in which a test may begin, as ``date +%s`` prints it.
"""

import os
import time

import pytest

NO_TIME = "no time was left"


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
