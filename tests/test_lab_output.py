"""What becomes of studies of the laboratory: tables, plots, pages, files, and the same again."""

from __future__ import annotations

import json
import re
import signal
import sys
import threading
from dataclasses import replace
from io import StringIO
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner, Result

from engine import load_game
from engine.cli.main import main
from engine.compiler.jit import jit_enabled
from engine.contract.errors import CutnodeError
from engine.lab import plots
from engine.lab.ablation import ablation, draw
from engine.lab.page import page
from engine.lab.study import INTERRUPTED
from engine.lab.terminal import print_study
from engine.storage.files import write_whole

pytestmark = pytest.mark.skipif(not jit_enabled(), reason="many nodes")

TICTACTOE = load_game("tictactoe")
FEW = ("table", "deepening", "killers", "late_move_reductions")
LAB = ("lab", "ablation", "tictactoe", "--depth", 4, "--techniques", "table,killers", "--runs", 1)


def cutnode(*args: object) -> Result:
    result = CliRunner().invoke(main, [str(arg) for arg in args])
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result


@pytest.fixture(scope="module")
def study():
    """Tic-tac-toe to the end, with a few techniques."""
    return ablation([TICTACTOE.start()], 9, techniques=FEW, runs=1)


# Tables, pages and plots


class Terminal(StringIO):
    def isatty(self):
        return True


def test_narrow_terminal_leaves_columns_out(study, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stdout", Terminal())
    print_study(study)
    lines = re.sub(r"\x1b\[[0-9;]*m", "", sys.stdout.getvalue()).splitlines()
    table = [line for line in lines if line.startswith(" ")]
    assert max(map(len, table)) <= 60
    assert any(line.startswith("(no room for") and "runs" in line for line in lines)
    assert any("549,946" in line for line in table)


def test_page_is_self_contained(study, tmp_path):
    text = page(study, draw)
    assert text.count("<tr>") > len(study.rows)
    assert "549,946" in text and study.machine["processor"] in text
    for loading in ("<script", "<link", "<img", "src=", "@import", 'href="http', "url(http"):
        assert loading not in text


def test_page_escapes_what_it_shows(study):
    text = page(replace(study, about="<b>", settings={"game": "<i>&"}), None)
    assert "<b>" not in text and "<i>" not in text and "&lt;i&gt;&amp;" in text


def test_report_of_the_command(tmp_path):
    file = tmp_path / "report.html"
    assert cutnode(*LAB, "--report", file).exit_code == 0
    text = file.read_text()
    assert text.startswith("<!DOCTYPE html>") and "+ killers" in text


def test_without_matplotlib(study, tmp_path, monkeypatch):
    for place in ("page", "plots"):
        monkeypatch.setattr(f"engine.lab.{place}.can_plot", lambda: False)
    text = page(study, draw)
    assert "<svg" not in text and "Plots were left out" in text
    result = cutnode(*LAB, "--plot", tmp_path / "a.png")
    assert result.exit_code == 2
    assert result.output == "cutnode: plots need matplotlib: pip install 'cutnode[plot]'\n"


@pytest.mark.parametrize("experiment", ["ablation", "depths"])
@pytest.mark.parametrize("kind", plots.PLOTS)
def test_plots(tmp_path, experiment, kind):
    pytest.importorskip("matplotlib")
    file = tmp_path / f"plot.{kind}"
    arguments = ("tictactoe", "--depth", 3, "--techniques", "table,late_move_pruning", "--runs", 1)
    assert cutnode("lab", experiment, *arguments, "--plot", file).exit_code == 0
    data = file.read_bytes()
    assert data.startswith({"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}[kind])
    if kind == "svg":
        assert ElementTree.fromstring(data).tag.endswith("svg")


def test_plot_of_the_same_study_is_the_same(study):
    pytest.importorskip("matplotlib")
    assert plots.plot(study, draw, "svg") == plots.plot(study, draw, "svg")
    text = page(study, draw)
    drawn = text[text.index("<svg") : text.index("</svg>") + 6]
    texts = "".join(ElementTree.fromstring(drawn).itertext())
    assert "+ killers" in texts and "549,946" in texts


def test_files_are_written_whole(tmp_path):
    file = tmp_path / "a.html"
    file.write_text("before")
    write_whole(str(file), b"after")
    assert file.read_bytes() == b"after"
    (tmp_path / "usual").write_text("")
    assert file.stat().st_mode == (tmp_path / "usual").stat().st_mode
    with pytest.raises(CutnodeError, match="cannot be written"):
        write_whole(str(tmp_path), b"")
    assert {path.name for path in tmp_path.iterdir()} == {"a.html", "usual"}


def test_ctrl_c_is_exit_130_with_what_was_measured(monkeypatch):
    main_thread = threading.main_thread().ident
    timer = threading.Timer(0.02, signal.pthread_kill, (main_thread, signal.SIGINT))

    def show(log):
        if log.state[0] == "+ enhanced_cutoffs" and not timer.is_alive():
            timer.start()

    monkeypatch.setattr("engine.cli.following.Log.show", show)
    result = cutnode("lab", "ablation", "tictactoe", "--depth", 9, "--runs", 99, "--json")
    timer.cancel()
    assert result.exit_code == 130
    data = json.loads(result.stdout)
    assert "+ table" in [row["step"] for row in data["rows"]]
    assert not any(row["step"] == "- table" for row in data["rows"])
    assert data["notes"][-1] == INTERRUPTED
