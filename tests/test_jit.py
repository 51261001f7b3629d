"""Compiled code is cached between processes, and never outlives its source.

Each test runs the driver below in separate processes, with its own cache and a tiny game.
"""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any, NamedTuple

import numpy as np
import pytest
from numba import types
from numba.core import registry

import cutnode
from cutnode.compiler import cache, directory, sources
from cutnode.compiler.jit import (
    Evaluator,
    Kernel,
    Numbers,
    Position,
    Words,
    compiled,
    jit_enabled,
    kernel,
    record,
    records,
)
from cutnode.contract.bits import Bits
from cutnode.contract.errors import GameError
from cutnode.contract.linking import KernelCode, KernelLibrary

pytestmark = pytest.mark.skipif(not jit_enabled(), reason="nothing is compiled")

ROOT = Path(cutnode.__file__).parents[2]

HELPER = """
STEP = 1
"""

GAME = """
from typing import NamedTuple

from cutnode import Bits, compiled
from tiny_helper import STEP

BASE = 100


class Position(NamedTuple):
    stones: Bits


@compiled
def evaluate(position):
    return BASE + STEP * position.stones
"""

KERNELS = """
import numpy as np

from cutnode.contract.verbs import evaluate
from cutnode.compiler.jit import Position, compiled, kernel


@kernel
def total(position: Position, times: int, start: int) -> int:
    \"\"\"A kernel that calls itself.\"\"\"
    if times == 0:
        return start
    return total(position, times - 1, start + np.int64(evaluate(position)))


@compiled
def from_zero(position, times):
    return total(position, times, 0)


@kernel
def caller(position: Position, times: int) -> int:
    return from_zero(position, times)


@kernel
def product(first: int, second: int) -> int:
    return first * second


@kernel
def multiplier(position: Position, times: int) -> int:
    return product(np.int64(evaluate(position)), times)
"""

DRIVER = """
import importlib
import json
import sys

from cutnode import Bits
from cutnode.compiler import cache
from cutnode.compiler.directory import cache_directory
from cutnode.compiler.progress import listening

game, cls, kernel, loud, wait = json.loads(sys.argv[1])
announced = []
if not loud:
    cache.announce = announced.append


def prepared(done):
    if done.compiled:
        announced.append(f"compiling {done.kernel} for {done.game}")


position = getattr(importlib.import_module(game), cls)(Bits(5))
kernel = getattr(importlib.import_module("tiny_kernels"), kernel)
if wait:
    print("ready", flush=True)
    sys.stdin.readline()
with listening(prepared):
    kernel.specialise(type(position))
answer = kernel(position, 3, 0) if kernel.name.endswith("total") else kernel(position, 3)
directory = cache_directory()
print(json.dumps([int(answer), announced, directory and str(directory)]))
"""

ANSWER = 3 * 105
"""The tiny game's answer as it is written above."""

COMPILED = ["compiling total for tiny_game.Position"]
WAITED = ["waiting for another process to compile total for tiny_game.Position"]


class Project:
    """A folder with a tiny game, its kernels, and a cache."""

    def __init__(self, folder):
        self.folder = folder
        self.cache = folder / "cache"
        self.environment = {
            **os.environ,
            "CUTNODE_CACHE": str(self.cache),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONPATH": os.pathsep.join([str(folder), str(ROOT / "engine")]),
        }
        self.write("tiny_helper.py", HELPER)
        self.write("tiny_game.py", GAME)
        self.write("tiny_kernels.py", KERNELS)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def start(
        self,
        game="tiny_game",
        cls="Position",
        kernel="total",
        loud=False,
        wait=False,
        stderr=subprocess.PIPE,
    ):
        arguments = json.dumps([game, cls, kernel, loud, wait])
        return subprocess.Popen(
            [sys.executable, "-W", "error", "-c", DRIVER, arguments],
            cwd=self.folder,
            env=self.environment,
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
        )

    def finish(self, process):
        output, errors = process.communicate("\n", timeout=120)
        assert process.returncode == 0, errors
        answer, announced, directory = json.loads(output.splitlines()[-1])
        return SimpleNamespace(
            answer=answer, announced=announced, directory=directory, errors=errors
        )

    def run(self, **options):
        return self.finish(self.start(**options))

    def kept(self):
        """Return the files of kernels in the cache with their modification times."""
        files = (path for path in self.cache.rglob("*") if path.is_file())
        return {path: path.stat().st_mtime_ns for path in files if path.suffix != ".json"}


@pytest.fixture
def project(tmp_path):
    return Project(tmp_path)


# Loading


def test_what_one_process_compiled_is_loaded_until_its_source_is_edited(project):
    first = project.run()
    kept = project.kept()
    second = project.run()
    assert (first.answer, first.announced) == (ANSWER, COMPILED)
    assert (second.answer, second.announced) == (ANSWER, [])
    assert len(kept) == 1
    assert project.kept() == kept
    project.write("tiny_game.py", GAME.replace("100", "200"))
    project.write("tiny_helper.py", HELPER.replace("1", "2"))
    edited = project.run()
    assert (edited.answer, edited.announced) == (3 * 210, COMPILED)
    project.write("tiny_game.py", GAME)
    project.write("tiny_helper.py", HELPER)
    restored = project.run()
    assert (restored.answer, restored.announced) == (ANSWER, [])


@pytest.mark.slow
def test_caller_of_a_recursive_kernel_is_loaded(project):
    first = project.run(kernel="caller")
    assert first.answer == ANSWER
    assert sorted(message.split()[1] for message in first.announced) == ["caller", "total"]
    for name in ("caller", "total"):
        again = project.run(kernel=name)
        assert (again.answer, again.announced) == (ANSWER, [])


@pytest.mark.slow
def test_games_share_the_code_that_depends_on_none(project):
    project.write("other_game.py", GAME.replace("BASE = 100", "BASE = 200"))
    first = project.run(kernel="multiplier")
    assert sorted(message.split()[1:4] for message in first.announced) == [
        ["multiplier", "for", "tiny_game.Position"],
        ["product", "for", "every_game.EveryGame"],
    ]
    second = project.run(game="other_game", kernel="multiplier")
    assert second.announced == ["compiling multiplier for other_game.Position"]
    assert (first.answer, second.answer) == (ANSWER, 3 * 205)
    assert project.run(kernel="multiplier").announced == []


@pytest.mark.slow
def test_callees_and_callers_that_different_processes_compiled(project):
    """A caller finds its callee by a symbol that is the same whichever process compiled it."""
    project.run(kernel="total")
    assert project.run(kernel="caller").announced == ["compiling caller for tiny_game.Position"]
    for lost in ("total", "caller", "total"):
        [path] = project.cache.rglob(f"tiny_kernels.{lost}-*.code")
        path.unlink()
        again = project.run(kernel="caller")
        assert again.announced == [f"compiling {lost} for tiny_game.Position"]
        assert again.answer == ANSWER


@pytest.mark.slow
def test_processes_that_race_and_are_killed(project):
    """Whatever the killed leave behind, the others find the right code."""
    for pause in (0, 0.2, 0.4, 0.8):
        kernels = ["caller", "total", "caller"]
        first, *others = [project.start(kernel=kernel, wait=True) for kernel in kernels]
        for process in (first, *others):
            assert process.stdout.readline() == "ready\n"
        for process in (first, *others):
            process.stdin.write("\n")
            process.stdin.flush()
        time.sleep(pause)
        first.kill()
        first.communicate()
        assert [project.finish(process).answer for process in others] == [ANSWER] * 2
        for path in [*project.cache.rglob("*.code")][:1]:
            path.unlink()
    assert project.run(kernel="caller").answer == ANSWER


def test_code_is_not_loaded_before_its_callees():
    owner = registry.cpu_target.target_context.codegen()
    code = KernelCode("orphan", b"", frozenset(), frozenset({"no such symbol"}))
    with pytest.raises(KeyError, match="no such symbol"):
        KernelLibrary.load(owner, code)


@pytest.mark.slow
def test_one_source_under_two_names(project):
    """Code refers to its classes by module, so a caller needs callees from its own module."""
    project.write("others/tiny_game.py", GAME)
    assert project.run(kernel="total").answer == ANSWER
    again = project.run(game="others.tiny_game", kernel="caller")
    assert again.answer == ANSWER
    assert sorted(message.split()[1] for message in again.announced) == ["caller", "total"]


@pytest.mark.slow
def test_constants_are_those_of_the_process_that_loads(project):
    constant = 'Constant("tiny.steps", [int(os.environ["STEP"])] * 200_000)'
    text = GAME.replace("from typing", "import os\n\nfrom typing", 1)
    imports = "import Bits, compiled\nfrom cutnode.contract.constants import Constant"
    text = text.replace("import Bits, compiled", imports)
    text = text.replace("BASE = 100", f"BASE = 100\nSTEPS = {constant}")
    text = text.replace("STEP * position", "STEPS[199_999] * position")
    project.write("tiny_game.py", text)
    for step, announced in ((1, COMPILED), (1, []), (7, [])):
        project.environment["STEP"] = str(step)
        run = project.run()
        assert (run.answer, run.announced) == (3 * (100 + 5 * step), announced)
    (code,) = project.kept()
    assert code.stat().st_size < 100_000


@pytest.mark.slow
def test_of_two_processes_at_once_one_compiles(project):
    processes = [project.start(wait=True) for _ in range(2)]
    for process in processes:
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        process.stdin.write("\n")
        process.stdin.flush()
    runs = [project.finish(process) for process in processes]
    assert [run.answer for run in runs] == [ANSWER, ANSWER]
    announced = [run.announced for run in runs]
    announced.remove(COMPILED)
    assert announced in ([WAITED], [[]])  # nothing, if it came when all was done
    assert [path.suffix for path in project.kept()] == [".code"]
    assert project.run().announced == []


def test_another_process_is_not_waited_for_for_ever(monkeypatch, tmp_path):
    monkeypatch.setattr(cache, "MOST_LOOKS", 2)
    monkeypatch.setattr(cache.KernelCache, "_path", lambda kept, signature: tmp_path / "a.code")
    announced = []
    monkeypatch.setattr(cache, "announce", announced.append)
    waiting = cache.KernelCache(SimpleNamespace(function=len), Pair, None, ())
    with waiting.turn(None), waiting.turn(None):
        assert [path.name for path in tmp_path.iterdir()] == [".a.code.lock"]
    assert announced == ["waiting for another process to compile len for test_jit.Pair"]
    assert not [*tmp_path.iterdir()]


@pytest.mark.slow
def test_damaged_file_is_compiled_again(project):
    project.run()
    [path] = project.kept()
    whole = path.read_bytes()
    middle = len(whole) // 2
    changed = whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :]
    for damaged in (b"", whole[:middle], changed):
        path.write_bytes(damaged)
        again = project.run()
        assert (again.answer, again.announced) == (ANSWER, COMPILED)
    assert project.run().announced == []


@pytest.mark.slow
def test_oldest_versions_are_deleted(project):
    project.run()
    [path] = project.kept()
    old = [path.with_name(f"tiny_kernels.total-{number}.code") for number in range(12)]
    other = path.with_name("tiny_kernels.caller-0.code")
    for age, file in enumerate([other, *old]):
        file.touch()
        os.utime(file, (time.time() - 1000 - age,) * 2)
    path.unlink()
    project.run()
    assert set(project.kept()) == {path, other, *old[: cache.KEPT_VERSIONS - 1]}


# Edited sources


def test_edit_after_the_import_is_not_taken_for_what_runs(project):
    for edit in ("def half_wri", GAME.replace("100", "200")):
        project.write("tiny_game.py", GAME)
        process = project.start(wait=True)
        assert process.stdout.readline() == "ready\n"
        project.write("tiny_game.py", edit)
        assert project.finish(process).answer == ANSWER
    assert project.run().answer == 3 * 205


CLASSES = """
import tiny_game
from cutnode import compiled


def sized(step):
    constants = {"__slots__": (), "__module__": __name__, "STEP": step}
    return type("Sized", (tiny_game.Position,), constants)


One = sized(1)
Two = sized(2)


@compiled
def evaluate(position):
    return position.STEP * position.stones
"""


@pytest.mark.long
@pytest.mark.slow
def test_classes_of_one_name_are_not_taken_for_each_other(project):
    project.write("tiny_sizes.py", CLASSES)
    for _ in range(2):
        assert project.run(game="tiny_sizes", cls="One").answer == 15
        assert project.run(game="tiny_sizes", cls="Two").answer == 30


RECORDS = """
import sys
from typing import Annotated, NamedTuple

import numpy as np

from cutnode.compiler.jit import Position, kernel, record


class Short(NamedTuple):
    SIZE = 1
    stones: int = 0


class Long(NamedTuple):
    SIZE = 1000
    stones: int = 0


def layout(cls):
    return np.dtype([("before", np.int64, (cls.SIZE,)), ("number", np.int64)])


@kernel
def number_in(memory: Annotated[object, record(layout)], depth: int) -> int:
    return memory.number if depth == 0 else number_in(memory, depth - 1)


@kernel
def read(position: Position, memory: Annotated[object, record(layout)]) -> int:
    return number_in(memory, 3)


def main():
    for cls in map(globals().get, sys.argv[1:]):
        memory = np.zeros(1, layout(cls))
        memory["number"] = cls.SIZE
        print(read.specialise(cls)(cls(), memory[0]))
"""


@pytest.mark.slow
def test_layouts_that_two_processes_compiled_are_not_taken_for_each_other(project):
    project.write("tiny_records.py", RECORDS)
    for sizes in ({"Short": 1}, {"Long": 1000}, {"Short": 1, "Long": 1000}):
        output = subprocess.check_output(
            [sys.executable, "-c", "import tiny_records; tiny_records.main()", *sizes],
            cwd=project.folder,
            env=project.environment,
            timeout=120,
        )
        assert [int(line) for line in output.split()] == [*sizes.values()]


PACKAGE = {
    "tiny/__init__.py": "SCALE = 1\n",
    "tiny/deep/__init__.py": "",
    "tiny/deep/numbers.py": "STEP = 1\n",
    "tiny/rules.py": GAME.replace(
        "from tiny_helper import STEP",
        "import tiny.deep.numbers\nSTEP = tiny.deep.numbers.STEP * tiny.SCALE",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("place", ["", "site-packages"], ids=["own", "installed"])
@pytest.mark.parametrize("name", ["tiny/__init__.py", "tiny/deep/numbers.py"])
def test_edit_of_another_module_of_the_package_changes_the_answer(project, place, name):
    project.environment["PYTHONPATH"] += os.pathsep + str(project.folder / place)
    for file, text in PACKAGE.items():
        project.write(Path(place, file), text)
    assert project.run(game="tiny.rules").answer == ANSWER
    project.write(Path(place, name), PACKAGE[name].replace("1", "2"))
    assert project.run(game="tiny.rules").answer == 3 * 110


@pytest.mark.slow
def test_edit_of_a_data_file_of_a_package_changes_the_answer(project):
    read = 'from pathlib import Path\nBASE = int(Path(__file__).with_name("base.txt").read_text())'
    project.write("tiny/__init__.py", GAME.replace("BASE = 100", read))
    project.write("tiny/base.txt", "100")
    assert project.run(game="tiny").answer == ANSWER
    project.write("tiny/base.txt", "200")
    assert project.run(game="tiny").answer == 3 * 205


def installed_engine(project):
    """A copy of the engine that the project uses instead of this one."""
    installed = project.folder / "installed"
    source = ROOT / "engine" / "cutnode"
    shutil.copytree(source, installed / "cutnode", ignore=shutil.ignore_patterns("__*__"))
    project.environment["PYTHONPATH"] = os.pathsep.join([str(project.folder), str(installed)])
    return installed


@pytest.mark.once
def test_edit_of_the_engine_recompiles_only_what_it_can_change(project):
    installed = installed_engine(project)
    assert project.run().announced == COMPILED
    rooms = {path.name for path in (installed / "cutnode").iterdir() if path.is_dir()}
    assert {"kernels", "service", "lab", "cli"} < rooms - set(sources.FOR_ALL)
    for room in rooms - set(sources.FOR_ALL):
        for source in (installed / "cutnode" / room).glob("*.py"):
            source.write_text(source.read_text() + "# A comment.\n")
    assert project.run().announced == []
    verbs = installed / "cutnode" / "contract" / "verbs.py"
    verbs.write_text(verbs.read_text() + "# A comment.\n")
    assert project.run().announced == COMPILED


# The place of the cache


def below_a_file(folder):
    """Return a path at which nobody can create a directory, not even root."""
    (folder / "file").touch()
    return str(folder / "file" / "folder")


@pytest.mark.slow
def test_read_only_installation_and_home_do_not_matter(project):
    installed = installed_engine(project)
    sources = sorted(installed.rglob("*"))
    for path in [installed, *sources]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    temporary = project.folder / "temporary"
    temporary.mkdir()
    nowhere = below_a_file(project.folder)
    del project.environment["CUTNODE_CACHE"]
    project.environment.update(
        HOME=nowhere,
        LOCALAPPDATA=nowhere,
        XDG_CACHE_HOME=nowhere,
        TMPDIR=str(temporary),
        TEMP=str(temporary),
    )
    try:
        assert project.run().answer == ANSWER
        again = project.run()
        assert (again.answer, again.announced) == (ANSWER, [])
        assert Path(again.directory).parent == temporary
        assert sorted(installed.rglob("*")) == sources
    finally:
        for path in [installed, *sources]:
            path.chmod(0o755)


@pytest.mark.slow
def test_without_a_usable_directory_each_process_compiles(project):
    nowhere = below_a_file(project.folder)
    project.write("tiny_helper.py", f"{HELPER}import tempfile\ntempfile.tempdir = {nowhere!r}\n")
    project.environment["CUTNODE_CACHE"] = nowhere
    for _ in range(2):
        result = project.run()
        assert (result.answer, result.announced) == (ANSWER, COMPILED)
        assert result.directory is None


@pytest.fixture
def cache_directory(monkeypatch):
    """Return the function as in a process that has not called it yet."""
    monkeypatch.delenv("CUTNODE_CACHE", raising=False)
    return directory.cache_directory.__wrapped__


def test_chosen_directory_comes_first(cache_directory, monkeypatch, tmp_path):
    monkeypatch.setenv("CUTNODE_CACHE", str(tmp_path / "a" / "b"))
    assert cache_directory() == tmp_path / "a" / "b"


@pytest.mark.skipif(sys.platform in {"darwin", "win32"}, reason="other folders there")
def test_cache_folder_of_the_user_is_the_default(cache_directory, monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert cache_directory() == tmp_path / "home" / ".cache" / "cutnode"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert cache_directory() == tmp_path / "cache" / "cutnode"


@pytest.mark.skipif(sys.platform == "win32", reason="users are not numbers there")
def test_user_without_a_home_has_a_cache_among_the_temporary_files(
    cache_directory, monkeypatch, tmp_path
):
    import pwd

    def unknown(user):
        raise KeyError(user)

    monkeypatch.setattr(pwd, "getpwuid", unknown)
    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(directory.tempfile, "tempdir", str(tmp_path))
    assert cache_directory().parent == tmp_path


def test_no_temporary_directory_is_no_error(cache_directory, monkeypatch, tmp_path):
    def none():
        raise FileNotFoundError("no usable temporary directory")

    for name in ("HOME", "LOCALAPPDATA", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, below_a_file(tmp_path))
    monkeypatch.setattr(directory.tempfile, "gettempdir", none)
    assert cache_directory() is None


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="files have no owners there")
def test_directory_of_another_user_is_not_used(cache_directory, monkeypatch, tmp_path):
    monkeypatch.setenv("CUTNODE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(directory.tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(os, "getuid", lambda: tmp_path.stat().st_uid + 1)
    assert cache_directory() is None


# Notices


def test_silent_in_a_pipe(project):
    assert project.run(loud=True).errors == ""
    assert len(project.kept()) == 1


@pytest.mark.once
def test_terminal_shows_the_progress_once(project):
    pty = pytest.importorskip("pty")

    def seen():
        main, terminal = pty.openpty()
        process = project.start(loud=True, stderr=terminal)
        os.close(terminal)
        assert project.finish(process).answer == ANSWER
        os.set_blocking(main, False)
        try:
            return os.read(main, 1000).decode()
        except OSError:
            return ""
        finally:
            os.close(main)

    first, *others = seen().strip("\r").split("\r")
    assert first == "cutnode: compiling total for tiny_game.Position: 0 functions (once)"
    assert others[-1].isspace()  # it disappears
    assert seen() == ""
    (path,) = project.kept()
    path.unlink()
    assert "total for tiny_game.Position: 0 of 2 functions (once)" in seen()


# Signatures

SIGNATURES = """
import importlib
import json
import pkgutil

import cutnode
from cutnode import kernels as kernels_package
from cutnode.compiler import jit
from cutnode.compiler.progress import listening
from cutnode.search.api import alphabeta, perft, solve
from cutnode.kernels.evaluation import OWN
from cutnode.search.api import search
from cutnode.games.connect4 import Position

announced = []
names = [found.name for found in pkgutil.iter_modules(kernels_package.__path__)]
modules = [importlib.import_module(f"cutnode.kernels.{name}") for name in names]
values = [value for module in modules for value in vars(module).values()]
kernels = {value for value in values if isinstance(value, jit.Kernel)}
others = tuple(f"cutnode.kernels.{name}." for name in ("chance", "networks", "patterns"))
kernels = {kernel for kernel in kernels if not kernel.name.startswith(others)}
for kernel in kernels:
    with listening(lambda done: announced.append(done.kernel) if done.compiled else None):
        kernel.specialise(Position, OWN)
position = cutnode.load_game("connect4").parse("444444113355")
solve(position)
alphabeta(position, 3, evaluation=OWN)
perft(position, 2)
search(position, depth=2, evaluation=OWN)
signatures = {kernel.name: list(map(str, kernel.dispatcher.signatures)) for kernel in kernels}
print(json.dumps([announced, signatures]))
"""


@pytest.mark.slow
@pytest.mark.long
def test_each_kernel_has_one_signature_for_a_position_class(project):
    def run():
        command = [sys.executable, "-W", "error", "-c", SIGNATURES]
        output = subprocess.check_output(command, env=project.environment, timeout=300)
        return json.loads(output)

    announced, signatures = run()
    assert {"cutnode.kernels.solver.search_node", "cutnode.kernels.solver.solve_batch"} <= set(
        signatures
    )
    assert len(announced) == len(signatures)
    assert {len(found) for found in signatures.values()} == {1}
    assert run() == [[], signatures]


# The decorator


def test_compiled_function_stays_itself_to_python():
    def double(x):
        return 2 * x

    assert compiled(double) is double
    assert compiled(inline=False)(double) is double


def test_kernel_is_not_compiled_for_other_arguments():
    @kernel
    def one(position: Position) -> int:
        """Do nothing useful."""
        return 1

    assert isinstance(one, Kernel)
    assert one.__doc__ == "Do nothing useful."
    with pytest.raises(TypeError, match="No matching definition"):
        one(np.int64(1))
    with pytest.raises(GameError, match="a position must come from a game, got one of type int"):
        one.specialise(int)


class Pair(NamedTuple):
    first: int
    second: Bits


def test_rules_may_count_from_the_end_of_an_array():
    @compiled
    def last_of(numbers, count):
        return numbers[-count]

    @kernel
    def before_the_end(numbers: Numbers, count: int) -> int:
        return last_of(numbers, count + 1)

    assert before_the_end.specialise(Pair)(np.arange(5), 2) == 2


def test_types_of_a_kernel_follow_from_its_annotations():
    @kernel
    def every(
        position: Position,
        evaluation: Evaluator,
        number: int,
        real: float,
        answer: bool,
        word: Bits,
        pair: Pair,
        words: Words,
        numbers: Numbers,
        memory: Annotated[Any, record(lambda cls: np.dtype([(cls.__name__, np.int64)]))],
        several: Annotated[Any, records(lambda cls: np.dtype([("bits", np.uint64)]))],
    ) -> None:
        """Do nothing useful."""

    evaluation = SimpleNamespace(type=types.int8)
    found = every.signature(Pair, evaluation)
    pair = types.BaseTuple.from_types([types.int64, types.uint64], Pair)
    assert found.return_type == types.void
    assert found.args[:9] == (
        *(pair, types.int8, types.int64, types.float64, types.boolean, types.uint64, pair),
        *(types.uint64[::1], types.int64[::1]),
    )
    memory, several = found.args[9:]
    assert list(memory.fields) == ["Pair"]
    assert list(several.dtype.fields) == ["bits"]
