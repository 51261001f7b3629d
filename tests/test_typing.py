"""Type checkers see the public names: a user's program and game, checked as installed."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

USER = Path(__file__).parent / "data" / "typing"
FILES = ["script.py", "pile.py"]

pytestmark = pytest.mark.slow


def mistakes():
    """Return the lines that a type checker has to refuse."""
    return {
        f"{name}:{number}"
        for name in FILES
        for number, line in enumerate((USER / name).read_text().splitlines(), 1)
        if "# error: " in line
    }


@pytest.fixture
def folder(tmp_path):
    """A copy of the user's files, away from the sources of cutnode."""
    for name in FILES:
        shutil.copy(USER / name, tmp_path)
    return tmp_path


def output(folder, *command):
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1, done.stdout + done.stderr
    return done.stdout


def test_mypy_finds_the_mistakes_of_a_user_and_no_others(folder):
    pytest.importorskip("mypy")
    told = output(folder, "mypy", "--strict", "--follow-imports=silent", *FILES)
    assert set(re.findall(r"^(\S+:\d+): error", told, re.M)) == mistakes(), told


def test_pyright_finds_the_mistakes_of_a_user_and_no_others(folder):
    pytest.importorskip("basedpyright")
    (folder / "pyrightconfig.json").write_text(json.dumps({"typeCheckingMode": "standard"}))
    command = ("basedpyright", "--pythonpath", sys.executable, "--outputjson", *FILES)
    told = json.loads(output(folder, *command))
    found = {
        f"{Path(each['file']).name}:{each['range']['start']['line'] + 1}"
        for each in told["generalDiagnostics"]
        if each["severity"] == "error"
    }
    assert found == mistakes(), told["generalDiagnostics"]
