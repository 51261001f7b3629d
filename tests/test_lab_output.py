"""Output of the laboratory's studies: tables, plots, pages, files, and repetitions."""

from __future__ import annotations

import csv
import gzip
import json
import os
import re
import signal
import sys
import threading
from dataclasses import replace
from io import StringIO
from pathlib import Path
from xml.etree import ElementTree

import jsonschema_rs
import numpy as np
import pytest
from commands import run_cutnode
from marks import compiled_only

from cutnode import load_game
from cutnode.cli.following import following
from cutnode.cli.lab import lab
from cutnode.contract.errors import CutnodeError
from cutnode.lab import plots
from cutnode.lab.ablation import ablation, draw
from cutnode.lab.files import (
    Journal,
    extract_files,
    read_study,
    study_schema,
    write_study,
)
from cutnode.lab.page import page
from cutnode.lab.study import (
    EXPERIMENTS,
    INTERRUPTED,
    Column,
    Follower,
    Study,
    drawing_of,
    plain,
    repeat,
)
from cutnode.lab.tables import latex_table, markdown_table
from cutnode.lab.terminal import print_study
from cutnode.storage.files import check_file, write_whole

pytestmark = [compiled_only, pytest.mark.once]

ROOT = Path(__file__).parent.parent
TICTACTOE = load_game("tictactoe")
SOME = [TICTACTOE.parse(text) for text in ("", "5", "1", "2", "15", "12")]
FEW = ("table", "deepening", "killers", "late_move_reductions")
LAB = ("lab", "ablation", "tictactoe", "--depth", 4, "--techniques", "table,killers", "--runs", 1)


@pytest.fixture(scope="module")
def study():
    """Tic-tac-toe to the end, with a few techniques."""
    return ablation([TICTACTOE.start()], 9, techniques=FEW, runs=1)


@pytest.fixture(scope="module")
def several():
    """A study of several positions, so that figures have intervals."""
    return ablation(SOME, 4, techniques=("table", "killers"), runs=1, workers=1)


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
    assert run_cutnode(*LAB, "--out", file).exit_code == 0
    text = file.read_text()
    assert text.startswith("<!DOCTYPE html>") and "+ killers" in text


def test_without_matplotlib(study, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    text = page(study, draw)
    assert "<svg" not in text and "No plot, because" in text
    result = run_cutnode(*LAB, "--out", tmp_path / "a.png")
    assert result.exit_code == 2
    assert result.output == "cutnode: plots need matplotlib: pip install 'cutnode[plot]'\n"


@pytest.mark.parametrize(
    ("experiment", "kind"), [*(("ablation", kind) for kind in plots.PLOTS), ("depths", "svg")]
)
def test_plots(tmp_path, experiment, kind):
    pytest.importorskip("matplotlib")
    file = tmp_path / f"plot.{kind}"
    arguments = ("tictactoe", "--depth", 3, "--techniques", "table,late_move_pruning", "--runs", 1)
    arguments += ("--positions", 5)
    assert run_cutnode("lab", experiment, *arguments, "--out", file).exit_code == 0
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


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")
def test_only_files_are_replaced(tmp_path):
    """Neither a device, which root could replace, nor a link."""
    pipe, link, file = tmp_path / "pipe", tmp_path / "link", tmp_path / "file"
    os.mkfifo(pipe)
    link.symlink_to(file)
    read = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    for path in (pipe, link):
        check_file(path)
        write_whole(path, b"new")
    reader.join()
    assert read == [b"new"] and pipe.is_fifo()
    assert link.is_symlink() and file.read_bytes() == b"new"
    write_whole(link, b"newer")
    assert file.read_bytes() == b"newer"
    assert {path.name for path in tmp_path.iterdir()} == {"pipe", "link", "file"}


def test_ctrl_c_is_exit_130_with_what_was_measured(monkeypatch):
    def show(log):
        if log.state[0] == "+ enhanced_cutoffs":
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr("cutnode.cli.following.Log.show", show)
    result = run_cutnode("lab", "ablation", "tictactoe", "--depth", 6, "--runs", 1, "--json")
    assert result.exit_code == 130
    data = json.loads(result.stdout)
    assert "+ table" in [row["step"] for row in data["rows"]]
    assert not any(row["step"] == "- table" for row in data["rows"])
    assert data["notes"][-1] == INTERRUPTED


# Formats


def test_json_is_as_its_schema_says(several, tmp_path):
    valid = jsonschema_rs.validator_for(study_schema())
    valid.validate(json.loads(run_cutnode(*LAB, "--json").stdout))
    valid.validate(several.to_dict())
    assert not valid.is_valid(several.to_dict() | {"rows": [3]})


def test_every_form_is_printed(several, tmp_path):
    file = tmp_path / "a.json"
    write_study(several, str(file))

    def printed(*options):
        result = run_cutnode("lab", "show", file, *options)
        assert result.exit_code == 0
        return result.stdout

    assert json.loads(printed("--format", "json")) == json.loads(printed("--json"))
    assert printed("--format", "csv") == several.to_csv()
    assert printed("--format", "table") == printed()
    assert "\\begin{table}" in printed("--format", "latex")
    chosen = printed("--format", "markdown", "--columns", "nodes,step")
    assert "\n| nodes | step |\n| ---: | --- |\n" in chosen
    result = run_cutnode("lab", "show", file, "--columns", "node")
    assert "unknown column 'node' (did you mean 'nodes'?)" in result.output


def test_what_is_written_is_read_back(several, tmp_path):
    for suffix in (".json", ".jsonl", ".html"):
        file = tmp_path / f"a{suffix}"
        write_study(several, str(file))
        assert read_study(file).to_dict() == several.to_dict()
    packed = tmp_path / "a.json.gz"
    packed.write_bytes(gzip.compress((tmp_path / "a.json").read_bytes()))
    assert read_study(packed).to_dict() == several.to_dict()


def test_parquet_has_rows_and_settings(several, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    rows, samples = tmp_path / "rows.parquet", tmp_path / "a.samples.parquet"
    write_study(several, str(rows))
    write_study(several, str(samples))
    table = parquet.read_table(rows)
    assert table["nodes"].to_pylist() == [row["nodes"] for row in several.rows]
    assert table["gain_low"].null_count < len(several.rows)
    about = json.loads(table.schema.metadata[b"cutnode_study"])
    assert about["settings"]["depth"] == 4
    assert parquet.read_table(samples).num_rows == len(several.samples)


def test_samples_are_a_table_of_their_own(several, tmp_path):
    file, lines = tmp_path / "a.samples.csv", tmp_path / "a.samples.jsonl"
    write_study(several, str(file))
    write_study(several, str(lines))
    rows = list(csv.DictReader(file.read_text().splitlines()))
    assert [int(row["nodes"]) for row in rows] == [row["nodes"] for row in several.samples]
    assert [json.loads(line) for line in lines.read_text().splitlines()] == plain(several.samples)
    assert set(several.sample_table().to_columns()) >= {"step", "position", "nodes", "value"}


def test_latex_escapes_and_aligns():
    columns = (
        Column("a_b", "5 % & more"),
        Column("x", "", ",.1f", interval=True),
        Column("p", "", ".1g"),
    )
    row = {"a_b": "~#{x}", "x": -1234.5, "x_low": -2.0, "x_high": 3.0, "p": 2e-7}
    text = latex_table(Study("a b", "50 %", {"game": "x_y"}, columns, [row, {"a_b": "-"}]))
    assert "\\caption{50 \\%: x\\_y.}" in text and "\\label{tab:a-b}" in text
    assert "{@{}lr@{~}lr@{}}" in text
    assert "a\\_b & \\multicolumn{2}{c}{x} & p \\\\" in text
    assert (
        "\\textasciitilde{}\\#\\{x\\} & $-$1,234.5 & ($-$2.0--3.0) & 2$\\cdot10^{-7}$ \\\\" in text
    )
    assert "- &  &  &  \\\\" in text


GLYPHS = {
    **dict.fromkeys("il.,", 295) | dict.fromkeys(" -f", 354) | dict.fromkeys("rst()", 414),
    **dict.fromkeys("cez", 472) | dict.fromkeys("kvxy", 561) | dict.fromkeys("bdhnpu", 590),
    **{"m": 885, "w": 767, "%": 885, "+": 826},
}
"""The widths in Computer Modern at 8 points, in thousandths; all other characters have 531."""


def latex_sizes(text):
    """Return the width of each table in a text, in points, and its number of lines."""
    for kinds, table in re.findall(r"tabular\}\{@\{\}(.*?)@\{\}\}(.*?)\\end", text, re.DOTALL):
        body = [line[:-3].split(" & ") for line in table.splitlines() if line.endswith("\\\\")][1:]
        widths = [
            max(
                sum(GLYPHS.get(each, 531) for each in re.sub(r"[\\$]", "", cell)) for cell in column
            )
            for column in zip(*body, strict=True)
        ]
        gaps = 8 * (len(widths) - 1) - 5 * kinds.count("@")
        yield sum(widths) * 8 / 1000 + gaps, len(body) + 1


def test_latex_of_the_default_ablation_fits_a_page():
    study = ablation(SOME[:2], 2, runs=1)
    assert len(study.rows) == 27 and len(study.columns) == 17
    text = latex_table(study)
    assert text.count("(part 1 of 4)") == text.count("(part 4 of 4)") == 1
    assert "\\label{tab:ablation-4}" in text and "\\footnotesize" in text
    assert text.count("\nsearch & ") == 4  # each part begins with the names of rows
    sizes = list(latex_sizes(text))
    assert len(sizes) == 4
    assert all(180 < width <= 345 and 9.5 * lines <= 450 for width, lines in sizes)
    assert "longtable" not in text and "\\begin{table}" in text


def test_latex_of_few_columns_stays_one_table(study):
    text = latex_table(study.selected(["step", "nodes", "gain"]))
    assert "part 1" not in text and "footnotesize\n" not in text


def test_latex_of_many_rows_breaks_over_pages(study):
    text = latex_table(replace(study, rows=study.rows * 10))
    assert "\\begin{longtable}" in text and "\\begin{table}" not in text
    assert "\\usepackage{booktabs,longtable}" in text


def test_latex_wraps_long_texts():
    columns = Column("name"), Column("about")
    text = latex_table(Study("a", "b", {}, columns, [{"name": "x", "about": "word " * 60}]))
    assert "{@{}lp{170pt}@{}}" in text


def test_markdown_escapes(study):
    text = markdown_table(replace(study, about="a|b <c>", notes=["*d*"]))
    assert "a\\|b \\<c\\>" in text and "\\*d\\*" in text
    assert "| alpha-beta |" in text


def test_numbers_that_json_lacks_are_null():
    study = Study("a", "b", {}, (Column("x"),), [{"x": float("inf"), "y": np.int64(3)}])
    assert study.to_dict()["rows"] == [{"x": None, "y": 3}]


def test_figures_are_plain():
    written = [plots.number_text(x) for x in (10_000, 0.05, 2_500_000, 1, 0.00012, 3e12)]
    assert written == ["10,000", "0.05", "2,500,000", "1", "0.00012", "3·$10^{12}$"]


def test_no_line_hides_another():
    from matplotlib.figure import Figure

    axes = Figure().subplots()
    x = (1, 2, 3)
    lines = [
        plots.Line("a", x, (1, 10, 100)),
        plots.Line("b", x, (1, 10, 100)),
        plots.Line("c", x, (9, 9, 9)),
    ]
    plots.draw_lines(axes, lines)
    a, b, c = axes.get_lines()
    assert a.get_linewidth() > b.get_linewidth() == c.get_linewidth()
    assert len({tuple(line.get_xdata()) for line in (a, b, c)}) == 3
    assert len({line.get_marker() for line in (a, b, c)}) == 3
    assert [text.get_text() for text in axes.texts] == ["c", "a", "b"]


# During measurement


class Watching(Follower):
    """A follower that notes what is measured, and ends the process after some samples."""

    def __init__(self, journal, most):
        self.journal, self.most, self.measured = journal, most, []

    def begin(self, study):
        self.journal.begin(study)

    def row(self, row):
        self.journal.row(row)

    def sample(self, sample):
        self.journal.sample(sample)
        self.measured.append((sample["step"], sample["position"]))
        if len(self.measured) == self.most:
            raise SystemExit

    def recall(self, key):
        return self.journal.recall(key)


def test_a_killed_study_is_resumed(several, tmp_path):
    file = tmp_path / "a.jsonl"
    options = {"techniques": ("table", "killers"), "runs": 1, "workers": 1}
    first = Watching(Journal(str(file)), 20)
    with pytest.raises(SystemExit):
        ablation(SOME, 4, progress=first, **options)
    with file.open("a") as cut:
        cut.write('{"sample": {"st')
    assert len(read_study(file).samples) == 20 and read_study(file).stopped
    with pytest.raises(CutnodeError, match="has an interrupted study: resume it with --resume"):
        Journal(str(file))
    rest = Watching(Journal(str(file), resume=True), 1000)
    again = ablation(SOME, 4, progress=rest, **options)
    twice = set(first.measured) & set(rest.measured)
    assert {step for step, _ in twice} <= {"minimax"} and len(first.measured) == 20
    assert [row["nodes"] for row in again.rows] == [row["nodes"] for row in several.rows]
    assert len(again.samples) == len(several.samples)
    with pytest.raises(CutnodeError, match="cannot be resumed: its setting 'depth' differs"):
        ablation(SOME, 3, progress=Journal(str(file), resume=True), **options)


def test_the_command_resumes(tmp_path):
    file = tmp_path / "a.jsonl"
    first = run_cutnode(*LAB, "--out", file, "--json")
    text = file.read_text()
    file.write_text(text[: len(text) // 2])
    assert "an interrupted study" in run_cutnode(*LAB, "--out", file).output
    again = run_cutnode(*LAB, "--out", file, "--resume", "--json")
    nodes = [[row["nodes"] for row in json.loads(run.stdout)["rows"]] for run in (first, again)]
    assert nodes[0] == nodes[1]
    assert not read_study(file).stopped


def test_the_command_resumes_without_bad_lines(tmp_path):
    lines, file = tmp_path / "positions.txt", tmp_path / "a.jsonl"
    lines.write_text("1\nnonsense\n5\n")
    command = (*LAB, "--file", lines, "--skip-bad", "--out", file)
    first = run_cutnode(*command, "--json")
    text = file.read_text()
    file.write_text(text[: len(text) // 2])
    again = run_cutnode(*command, "--resume", "--json")
    assert first.exit_code == again.exit_code == 0
    nodes = [[row["nodes"] for row in json.loads(run.stdout)["rows"]] for run in (first, again)]
    assert nodes[0] == nodes[1] and not read_study(file).stopped
    said = read_study(file).settings["positions_from"]
    assert said == f"{lines} without 1 unreadable lines"
    lines.write_text("1\nnonsense\nnor this\n5\n")
    other = run_cutnode(*command, "--resume", "--json")
    assert other.exit_code == 2 and "its setting 'positions_from' differs" in other.stderr


def test_signs_of_life_in_a_log(monkeypatch):
    monkeypatch.setattr("cutnode.cli.following.EVERY", 0)
    lines = run_cutnode(*LAB).stderr.splitlines()
    assert lines[-1].startswith("cutnode: - killers, ") and "samples" in lines[-1]
    assert run_cutnode(*LAB, "--quiet").stderr == ""


def test_a_terminal_shows_rows_as_they_come(several, monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    with following([], quiet=False) as progress:
        progress.begin(several)
        monkeypatch.setattr("cutnode.cli.following.REFRESH", 0)
        progress("+ killers", 3, 5)
        progress.row(several.rows[-1])
    shown = sys.stderr.getvalue()
    assert "+ table" in shown and "+ killers, 3 of 5" in shown


# Repetition


def test_the_same_again(several, tmp_path):
    file = tmp_path / "a.html"
    write_study(several, str(file))
    result = run_cutnode("lab", "rerun", file)
    assert result.exit_code == 0
    assert "All 7 rows and " in result.stdout and "are the same, apart from times." in result.stdout


def test_what_differs_is_said(several, tmp_path):
    file = tmp_path / "a.json"
    data = json.loads(json.dumps(several.to_dict()))
    data["rows"][3]["nodes"] += 1
    data["samples"][-1]["value"] = 7
    data["machine"] |= {"numba": "0.1", "processor": "another"}
    file.write_text(json.dumps(data))
    result = run_cutnode("lab", "rerun", file, "--json")
    assert result.exit_code == 1
    again = json.loads(result.stdout)
    assert [row["row"] for row in again["rows"] if row["same"] != "yes"] == ["+ table", "samples"]
    told = "\n".join(again["notes"])
    last = several.samples[-1]
    assert f"Differs: + table: nodes {several.rows[3]['nodes']:,}, recorded" in told
    assert f"Differs: - killers, {last['position']}: value {last['value']}, recorded 7" in told
    assert "recorded: 0.1." in told and "recorded: another." in told


def test_all_experiments_can_be_repeated():
    commands = set(lab.commands) - {"parameters", "rerun", "sample", "show"}
    assert commands | {"design"} == EXPERIMENTS.keys()
    for name in EXPERIMENTS:
        assert drawing_of(Study(name, "", {}, ()))


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        ("depths", "tictactoe", "--depth", 3),
        ("minimal", "tictactoe", "--depths", 3),
        pytest.param(
            ("theory", "--models", "ordered", "--widths", 2, "--depths", 2, "--trees", 2),
            marks=pytest.mark.long,
        ),
        ("deviation", "tictactoe", "--depth", 3, "--games", 30),
        ("engines", "tictactoe", "1592", "--pairs", 1, "--seconds", 5),  # enough for all proofs
    ],
)
def test_every_study_is_the_same_again(words, tmp_path):
    file = tmp_path / "a.html"
    assert run_cutnode("lab", *words, "--out", file).exit_code == 0
    result = run_cutnode("lab", "rerun", file)
    assert (result.exit_code, "are the same, apart from times." in result.stdout) == (0, True)


def test_files_of_the_user_are_kept(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    source = (ROOT / "games" / "tictactoe.py").read_text()
    (tmp_path / "my_rows.py").write_text(source)
    study = Study("depths", "a", {"game": "my_rows.py", "evaluation": "no.py:f"}, (Column("x"),))
    assert study.files.keys() == {"my_rows.py"}
    write_study(study, "a.html")
    (tmp_path / "my_rows.py").unlink()
    result = run_cutnode("lab", "rerun", "a.html")
    assert result.exit_code == 2
    assert result.output.startswith("cutnode: the study needs my_rows.py: ")
    assert run_cutnode("lab", "show", "a.html", "--extract", ".").exit_code == 0
    assert (tmp_path / "my_rows.py").read_text() == source
    assert "it exists" in run_cutnode("lab", "show", "a.html", "--extract", ".").output


def test_extracted_files_stay_in_their_folder(tmp_path):
    texts = {path: {"text": path} for path in ("../../a.py", "/b.py", "c/d.py")}
    extract_files(Study("a", "b", {}, (), files=texts, run={"command": "c"}), str(tmp_path))
    found = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.py")}
    assert found == {"a.py", "b.py", "c/d.py"}


def test_notebooks_show_formatted_figures(several):
    assert "<td>1.00</td>" in several._repr_html_() and " to " in several._repr_html_()


LINK = "data:application/gzip;base64,"
DAMAGED = {
    "<html>": "it is not a page of cutnode's laboratory",
    f'<a id="cutnode-study" href="{LINK}H4sI">': "the study in the page is damaged",
    '{"a": 1}': "it is not a study of cutnode's laboratory",
    '{"cutnode_study": 2}': "it has format 2, and this cutnode reads 1",
    '{"cutnode_study": 1}': "its 'name' is missing or damaged",
    '{"study": {"cutnode_study": 1}}\nx\n{}': "line 2 is damaged",
    "no": "it is neither JSON nor a page of cutnode's laboratory, or is truncated",
    "": "it is neither JSON nor a page of cutnode's laboratory, or is truncated",
}


@pytest.mark.parametrize(("text", "message"), DAMAGED.items())
def test_damaged_files(tmp_path, text, message):
    file = tmp_path / "a.json"
    file.write_text(text)
    for command in ("show", "rerun"):
        result = run_cutnode("lab", command, file)
        assert result.exit_code == 2
        assert result.output == f"cutnode: {file} cannot be read: {message}\n"


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("depth", "3", "a depth must be a whole number, got '3'"),
        ("positions", [3], "a position must be given as text, got 3"),
        ("game", "nogame", "unknown game 'nogame'"),
        ("colour", 1, "the study has a setting 'colour', which ablation does not have"),
    ],
)
def test_damaged_settings(several, name, value, message):
    with pytest.raises(CutnodeError, match=re.escape(message)):
        repeat(replace(several, settings=several.settings | {name: value}))
