"""Machine code is compiled anew when a source is edited on which it depends, and only then."""

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from marks import compiled_only

import cutnode
from cutnode.compiler import directory, sources
from cutnode.games.connect4 import Position
from cutnode.kernels import monte_carlo, search, solver

KERNELS = sorted(sources.KERNELS.glob("[!_]*.py"))


@pytest.fixture
def digest_after_edit(monkeypatch):
    """A function that returns the digest for modules as if a file, if any, were edited."""
    digest_of = sources._digest_of

    def digest(modules, edited=None):
        names = [module if isinstance(module, str) else module.__name__ for module in modules]
        with monkeypatch.context() as patch:
            patch.setattr(
                sources,
                "_digest_of",
                lambda path, stat: "edited" if path == edited else digest_of(path, stat),
            )
            return sources.sources_digest(Position, names)

    return digest


def affected(digest, modules, edited):
    return digest(modules) != digest(modules, sources.KERNELS / f"{edited}.py")


def test_edit_recompiles_the_kernels_that_import_it(digest_after_edit):
    assert not affected(digest_after_edit, [solver], "monte_carlo")
    assert affected(digest_after_edit, [monte_carlo], "monte_carlo")
    assert affected(digest_after_edit, [solver], "table")
    assert affected(digest_after_edit, [search], "quiescence")
    assert affected(digest_after_edit, [solver], "__init__")


@pytest.mark.parametrize("room", sources.FOR_ALL)
def test_edit_below_the_kernels_recompiles_all(room):
    assert {*(sources.ENGINE / room).glob("*.py")} <= sources._sources(solver)


IMPORTING = """
import importlib, json, sys

import cutnode.compiler.jit

found = {}
for name in sys.argv[1:]:
    for loaded in [name for name in sys.modules if name.startswith("cutnode.kernels.")]:
        del sys.modules[loaded]
    importlib.import_module(f"cutnode.kernels.{name}")
    found[name] = [name for name in sys.modules if name.startswith("cutnode.kernels.")]
print(json.dumps(found))
"""


@pytest.mark.slow
def test_kernels_depend_on_what_python_loads_for_them():
    """An edit of any module in the folder recompiles exactly the kernels that load it."""
    names = [path.stem for path in KERNELS]
    loaded = json.loads(subprocess.check_output([sys.executable, "-c", IMPORTING, *names]))
    for name in names:
        module = importlib.import_module(f"cutnode.kernels.{name}")
        depends = {path.stem for path in sources._sources(module) & {*KERNELS}}
        assert depends == {other.removeprefix("cutnode.kernels.") for other in loaded[name]}, name


# What is read of the author's files


@pytest.fixture
def kernels_of(tmp_path, monkeypatch):
    """A function that returns the names of the kernels on which a module of a text depends."""
    monkeypatch.syspath_prepend(tmp_path)
    made = iter(range(1000))

    def kernels(text):
        name = f"own_file_{next(made)}"
        (tmp_path / f"{name}.py").write_text(text)
        __import__(name)
        paths = sources._sources(sys.modules.pop(name))
        return {path.stem for path in paths if path.parent == sources.KERNELS} - {"__init__"}

    return kernels


@pytest.mark.parametrize(
    "text",
    [
        "from cutnode.kernels.table import probe",
        "def late():\n    from cutnode.kernels.table import probe",
        "if not __name__:\n    import cutnode.kernels.table",
    ],
)
def test_author_may_import_a_kernel(kernels_of, text):
    assert {"table", "parameters"} <= kernels_of(text)


def test_rules_depend_on_no_kernel(kernels_of):
    assert (
        kernels_of("from cutnode import Bits, compiled\nimport numpy as np\nimport math") == set()
    )


def test_names_of_the_package_and_of_hooks_are_followed(kernels_of):
    assert kernels_of("from cutnode import Technique") == {"declarations"}
    assert {"hooks", "quiescence"} <= kernels_of("import cutnode.hooks")
    assert {"hooks", "quiescence"} <= kernels_of("from cutnode.hooks import quiet_score")


@pytest.mark.parametrize(
    "text",
    [
        "import cutnode",
        "from cutnode import *",
        "from cutnode import kernels",
        "import importlib",
        "import click",
    ],
)
def test_what_is_not_told_may_be_any_kernel(kernels_of, text):
    assert kernels_of(text) == {path.stem for path in KERNELS}


def test_shipped_games_depend_on_no_kernel():
    for name in cutnode.game_names():
        module = cutnode.load_game(name).module
        assert not [p for p in sources._sources(module) if p.parent == sources.KERNELS], name


# The memo


@pytest.fixture
def memo(tmp_path, monkeypatch):
    """A folder for the memo, and a function that forgets what this process has read."""
    monkeypatch.setattr(directory, "cache_directory", lambda: tmp_path)

    def forget():
        monkeypatch.setattr(sources, "_known", {})
        monkeypatch.setattr(sources, "_news", {})
        sources._memo.cache_clear()
        sources._files_of_engine.cache_clear()

    forget()
    yield tmp_path / sources.MEMO, forget
    sources._memo.cache_clear()


def digest():
    return sources.sources_digest(Position, ["cutnode.kernels.solver"])


def test_memo_spares_reading(memo, monkeypatch):
    file, forget = memo
    found = digest()
    assert file.is_file()
    forget()
    data = file.read_bytes()
    monkeypatch.setattr(Path, "read_bytes", lambda path: data if path == file else 1 / 0)
    assert digest() == found


def test_damaged_memo_is_written_again(memo):
    file, forget = memo
    found = digest()
    whole = file.read_bytes()
    for data in (b"", whole[:-1], whole.replace(b"kernels.table", b"kernels.taxle")):
        file.write_bytes(data)
        forget()
        assert digest() == found
        forget()
        assert {*map(str, KERNELS)} & sources._memo().keys()


def test_memo_keeps_what_another_process_added(memo):
    directory.write_memo(sources.MEMO, {"other.py": [[0, 0, 0], "", None]})
    digest()
    assert "other.py" in directory.read_memo(sources.MEMO)


def test_memo_has_a_limit(memo, monkeypatch):
    monkeypatch.setattr(sources, "MOST_REMEMBERED", 10)
    found = digest()
    assert len(directory.read_memo(sources.MEMO)) == 10
    _, forget = memo
    forget()
    assert digest() == found


def test_edited_or_fresh_source_is_read(memo, tmp_path):
    path = tmp_path / "own.py"
    path.write_text("import one")
    digests = [sources._digest_of(path, path.stat())]
    assert not sources._news  # too young to tell it from the next edit by its time
    old = path.stat().st_mtime_ns - 10 * sources.SETTLED_NS
    for text in ("import one", "import two"):
        path.write_text(text)
        os.utime(path, ns=(old, old))
        assert [*sources._imports(path, "")] == [text.split()[1], f"{text.split()[1]}.*"]
        digests.append(sources._digest_of(path, path.stat()))
    assert digests[0] == digests[1] != digests[2]
    assert [*sources._news] == [str(path)]


# What reaches machine code

COMPILING = """
import json, sys

import cutnode
from cutnode.compiler import sources
from cutnode.contract import native
from cutnode.games.tictactoe import Position
from cutnode.kernels.evaluation import OWN
from cutnode.kernels.search import search_root
from cutnode.kernels.solver import solve_batch

files = set()
run_pass = native.PartLowering.run_pass


def lowered(step, state):
    files.add(state.func_id.filename)
    return run_pass(step, state)


def called(frame, event, argument):
    if event == "call":
        files.add(frame.f_code.co_filename)


native.PartLowering.run_pass = lowered
found = []
for kernel in (solve_batch, search_root):
    files.clear()
    sys.setprofile(called)
    kernel.specialise(Position, OWN)
    sys.setprofile(None)
    modules = sys.modules[Position.__module__], sys.modules[kernel.function.__module__]
    known = {str(path) for path in sources._sources(*modules)}
    reached = {file for file in files if file.startswith(str(sources.KERNELS))}
    found.append([len(reached), sorted(reached - known)])
print(json.dumps(found))
"""


@compiled_only
@pytest.mark.slow
def test_all_that_runs_or_is_compiled_for_a_kernel_is_in_its_digest(tmp_path):
    """Typing functions run while a kernel compiles, and what they choose is compiled."""
    output = subprocess.check_output(
        [sys.executable, "-c", COMPILING],
        env={**os.environ, "CUTNODE_CACHE": str(tmp_path)},
        timeout=300,
    )
    for count, missing in json.loads(output):
        assert count > 5
        assert missing == []
