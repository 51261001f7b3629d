"""The documentation is true: its examples run, and its commands have the options they use."""

from __future__ import annotations

import doctest
import os
import re
import shlex
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import click
import pytest
from commands import FROM_HERE, run_cutnode
from test_service import running

import cutnode
from cutnode.cli.main import main
from cutnode.contract.dispatch import VERBS
from cutnode.kernels.techniques import OPTIONAL, TECHNIQUES
from cutnode.lab import read_study
from cutnode.lab.literature import entries
from cutnode.service.settings import Settings

pytestmark = pytest.mark.once

ROOT = Path(__file__).parent.parent
PAGES = ROOT / "engine" / "docs"

sys.path.append(str(PAGES))
from pages import GAMES, INSERTS, MEASURED, contract_page, groups  # noqa: E402

TEXTS = {path.relative_to(PAGES).as_posix(): path.read_text() for path in PAGES.rglob("*.md")}
FENCE = re.compile(r'^```(\w*)(?: title="(.*?)")?\n(.*?)^```', re.M | re.S)

SLOW = {
    *("explanation/monte_carlo.md", "explanation/search.md", "explanation/sums.md"),
    *("howto/asyncio.md", "howto/cluster.md", "howto/compare.md", "howto/dataframes.md"),
    *("howto/evaluation.md", "howto/long_proofs.md", "howto/other_games.md", "howto/prove.md"),
    *("howto/sums.md", "howto/tablebases.md", "howto/techniques.md", "howto/values.md"),
}
LONG = {"explanation/proof_numbers.md"}
"""Pages that start processes, or run code that takes long to compile."""

NEEDS = {
    "howto/adapters.md": "pyspiel",
    "howto/cluster.md": "distributed",
    "howto/dataframes.md": "pandas",
    "howto/other_libraries.md": "easyAI pettingzoo pyspiel",
    "howto/papers.md": "pandas",
    "howto/serve.md": "fastapi",
}
"""The optional modules that a page needs."""


def fences(text: str, language: str) -> list[tuple[str, str]]:
    """Return the titles and the texts of the blocks in a language."""
    return [(title, code) for found, title, code in FENCE.findall(text) if found == language]


def marks_of(page: str) -> list[pytest.MarkDecorator]:
    """Return the marks of the examples of a page."""
    slow = [pytest.mark.slow] if page in SLOW | LONG else []
    return [*slow, pytest.mark.long] if page in LONG else slow


EXAMPLES = [
    pytest.param(page, marks=marks_of(page))
    for page, text in sorted(TEXTS.items())
    if ">>>" in text
]


@pytest.fixture
def url() -> Iterator[str]:
    ready = threading.Event()
    games = ("connect4", "tictactoe")
    with running(Settings(games=games, searches=2), ready=ready.set) as (_, url):
        assert ready.wait(120)
        yield url


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A working folder; modules loaded from it are forgotten afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    known = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - known:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[name]


@pytest.mark.parametrize("page", EXAMPLES)
def test_examples_run(
    page: str, here: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The examples run with the files that the page shows in the current folder."""
    for module in NEEDS.get(page, "").split():
        pytest.importorskip(module, exc_type=ImportError)
    monkeypatch.delenv("CUTNODE_TIERS")  # small questions are answered as readers see it
    text = TEXTS[page]
    for title, code in fences(text, "python"):
        if title:
            (here / title).write_text(code)
            os.utime(here / title, (0, 0))  # older than this process, so that its code is kept
    known = {"url": request.getfixturevalue("url")} if page == "howto/serve.md" else {}
    test = doctest.DocTestParser().get_doctest(text, known, page, page, 0)
    assert doctest.DocTestRunner(verbose=False).run(test).failed == 0
    for _, code in fences(text, "console"):
        assert_prints(code)


def assert_prints(code: str) -> None:
    """Run the commands of a terminal session, and compare their output."""
    for command, expected in re.findall(r"^\$ cutnode (.*)\n((?:(?!\$ ).*\n)*)", code, re.M):
        printed = run_cutnode(*shlex.split(command)).output
        same = doctest.OutputChecker().check_output(expected, printed, doctest.ELLIPSIS)
        assert same, f"{command} printed:\n{printed}"


def shown_commands(text: str) -> list[str]:
    """Return the commands that a page shows, without the program's name."""
    blocks = [code for language in ("", "sh", "console") for _, code in fences(text, language)]
    lines = [line for block in blocks for line in re.findall(r"^(?:\$ )?cutnode (.*)", block, re.M)]
    lines += re.findall(r"`cutnode ([^`\n]+)`", text)
    shown = {line for line in lines if line.islower() or "-" in line}
    return sorted({re.sub(r" +(#|\| ).*", "", line) for line in shown})


def assert_has_options(line: str) -> None:
    """Check that a command line has only known options; it is parsed as in a shell, but not run."""
    command: click.Command = main
    words = shlex.split(line)
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        found = command.get_command(click.Context(command), words.pop(0))
        assert found is not None
        command = found
    known = {name for option in command.params for name in (*option.opts, *option.secondary_opts)}
    options = {word.partition("=")[0] for word in words if re.match(r"--?[a-z]", word)}
    assert options <= known | {"--help", "-h", "--version"}


@pytest.mark.parametrize("line", sorted({c for t in TEXTS.values() for c in shown_commands(t)}))
def test_commands_have_the_options_shown(line: str) -> None:
    assert_has_options(line)


PUBLIC = re.compile(
    r"cutnode(\.(adapters|batches|cells|cgt|cluster|conformance|games(\.\w+)*|hooks|tablebases))?"
    r"|cutnode\.lab(\.(compare|depths|design|statistics|tuning))?"
)
"""The modules that pages import from; experiments are modules of the laboratory."""


def imported(text: str) -> set[str]:
    """Return the modules of cutnode that examples import."""
    begin = r"^(?:>>> |\.\.\. )?\s*"
    lines = re.findall(rf"{begin}import (.*)", text, re.M)
    lines += re.findall(rf"{begin}from (\S+) import", text, re.M)
    return {module for line in lines for module in re.findall(r"\bcutnode[\w.]*", line)}


@pytest.mark.parametrize("page", ["README.md", *sorted(TEXTS)])
def test_examples_import_public_modules_only(page: str) -> None:
    text = TEXTS.get(page) or (ROOT / page).read_text()
    assert {name for name in imported(text) if not PUBLIC.fullmatch(name)} == set()


def test_files_to_start_from_import_public_modules_only() -> None:
    folders = (ROOT / "tests" / "data" / "typing", ROOT / "tests" / "toys" / "techniques")
    files = [path for folder in folders for path in sorted(folder.rglob("*.py"))]
    files.append(ROOT / "engine" / "cutnode" / "cli" / "template.py")
    assert len(files) > 3
    names = {name for path in files for name in imported(path.read_text())}
    assert {name for name in names if not PUBLIC.fullmatch(name)} == set()


def test_stability_names_the_public_modules() -> None:
    named = re.findall(r"`(cutnode\.[a-z]+)`", TEXTS["reference/stability.md"].split("## May")[0])
    wanted = ("adapters", "batches", "cells", "cgt", "cluster", "conformance", "games", "hooks")
    assert named == [f"cutnode.{name}" for name in (*wanted, "lab", "tablebases")]


def test_every_name_stands_in_the_reference_once() -> None:
    shown = [
        name
        for page, text in TEXTS.items()
        if page.startswith("reference/api/")
        for name in re.findall(r"^::: cutnode\.(\w+)$", text, re.M)
    ]
    assert sorted(shown) == sorted(set(cutnode.__all__) - {"__version__"})
    assert "cutnode.__version__" in TEXTS["reference/api/errors.md"]


@pytest.mark.parametrize(
    "name", sorted(set(cutnode.__all__) - {"LEVELS", "NO_MOVE", "__version__"})
)
def test_every_name_has_a_docstring(name: str) -> None:
    """So does every public function, class and property of a class."""
    value = getattr(cutnode, name)
    value = cutnode.search.api.search if isinstance(value, ModuleType) else value
    members = vars(value).items() if isinstance(value, type) else ()
    bare = [
        member
        for member, its in members
        if not member.startswith("_")
        and (callable(its) or isinstance(its, property | classmethod | staticmethod))
        and not (its.__doc__ or "").strip()
    ]
    assert bare == []
    words = (value.__doc__ or "").split()
    assert len(words) > 3
    assert words[0].rstrip("s") not in ("dict()", "int(", value.__name__)


def test_every_verb_stands_in_the_contract() -> None:
    listed = [name for names in groups().values() for name in names]
    assert sorted(listed) == sorted(VERBS)
    written = TEXTS["reference/contract.md"]
    assert written == contract_page(), "write it with python engine/docs/pages.py"
    assert re.findall(r"^### (\w+) ", written, re.M) == listed
    assert ":::" not in written


def test_techniques_and_parameters_are_listed() -> None:
    for name in (*TECHNIQUES, *OPTIONAL):
        assert f"| `{name}` |" in INSERTS["techniques"]()
    assert INSERTS["sources"]().count("\n") > 10
    assert "| `late_move_reductions.base` | 0 | -4 to 8 |" in INSERTS["parameters"]()


def test_every_game_has_a_page() -> None:
    assert GAMES.keys() == set(cutnode.game_names())


@pytest.mark.slow
def test_the_site_is_built_without_warnings(tmp_path: Path) -> None:
    """It has a section for every command."""
    config = PAGES.parent / "mkdocs.yml"
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--config-file", str(config)]
    environment = os.environ | FROM_HERE | {"NO_MKDOCS_2_WARNING": "1"}
    subprocess.run([*command, "--site-dir", str(tmp_path)], env=environment, check=True)
    page = (tmp_path / "reference" / "command_line.html").read_text()
    sections = set(re.findall(r'<h\d id="cutnode-([\w-]+)"', page))
    assert sections >= set(main.list_commands(click.Context(main)))


def test_measured_results_are_those_of_the_entries() -> None:
    """The data of the page of published results are a run of the command with all entries."""
    study = read_study(str(MEASURED))
    expected = [
        (entry.name, each.of) for entry in entries() for each in (*entry.results, *entry.values)
    ]
    assert [(row["entry"], row["of"]) for row in study.rows] == expected
    assert not study.stopped
    page = INSERTS["literature"]()
    assert all(f"### {entry.name}: {entry.title}" in page for entry in entries())
