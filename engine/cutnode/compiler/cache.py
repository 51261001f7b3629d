"""The cache of compiled kernels, one file for each kernel and position type.

Numba's own cache checks a single source file, so an edited game could keep running its old rules.
Here the name of a file contains a digest of everything that can affect the binary: the sources of
the engine's ``contract``, ``compiler`` and ``kernels``; the sources of the game and the kernel (the
file and every module that it imports from its own package, or that is not an installed one; for a
game that is a package, every file in its folder); the versions of Python, numba and LLVM; the
processor; and numba's settings.  An edit anywhere else in the engine recompiles nothing.

If a source was edited after the process began, the code that runs may not match it; then nothing is
loaded or kept.  Files carry a checksum, and are written under a temporary name and renamed, so a
reader sees a whole file or none.  While one process compiles a kernel, others wait for it.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import hashlib
import importlib.util
import itertools
import os
import pickle
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import llvmlite
import numba
from numba.core import compiler, config, serialize
from numba.core.utils import _dynamic_module

from cutnode.compiler.diagnosis import require_results
from cutnode.compiler.locks import lock
from cutnode.contract.collection import is_of_engine
from cutnode.contract.errors import CutnodeError
from cutnode.contract.files import INSTALLED, imported_by
from cutnode.contract.numba_patches import PLAIN

KEPT_VERSIONS = 8
"""Cache files to keep for each kernel of a game; older ones are deleted."""

LOOK_SECONDS = 0.05
MOST_LOOKS = 2_000
"""Seconds between two looks at another process's compilation, and the looks after which to stop
waiting: that process may have been suspended."""

ENGINE = Path(__file__).parents[1]
COMPILED = ("contract", "compiler", "kernels")
"""The folders of the engine whose sources can end up in machine code."""

# Numba puts functions made from text, such as the calls of hooks, into a module without a file.
# Code that refers to one of them can only be loaded where that module can be imported.
sys.modules.setdefault(_dynamic_module.__name__, _dynamic_module)

STARTED = time.time_ns()
"""The time before which a source must have been edited last to be sure that it is what runs."""


class KernelCache:
    """The part of numba's cache protocol that a dispatcher uses, for one kernel and game.

    *techniques* are the ones from outside the engine whose hooks the kernel calls.
    """

    def __init__(self, kernel: Any, cls: type, evaluation: Any, techniques: tuple[Any, ...]):
        self.kernel = kernel
        self.cls = cls
        self.evaluation = evaluation
        self.techniques = techniques

    def load_overload(self, signature: Any, target: Any) -> Any:
        target.refresh()
        path = self._path(signature)
        if path is not None:
            with contextlib.suppress(Exception):
                data = path.read_bytes()
                if data[:32] == hashlib.blake2b(data[32:], digest_size=32).digest():
                    payload = pickle.loads(data[32:])
                    return compiler.CompileResult._rebuild(target, *payload)
        require_results(self.cls)
        for callee in self.kernel.callees():
            callee.specialise(self.cls, self.evaluation, self.techniques)
        if not self.kernel.quiet:
            announce(f"compiling {self._subject()}")
        return None

    def is_kept(self, signature: Any) -> bool:
        """Return whether there is a file of the machine code."""
        path = self._path(signature)
        return path is not None and path.exists()

    def save_overload(self, signature: Any, result: Any) -> None:
        path = self._path(signature)
        if path is None:
            return
        data = serialize.dumps(result._reduce())
        data = hashlib.blake2b(data, digest_size=32).digest() + data
        with contextlib.suppress(OSError):
            _write_whole(path, data)
            versions = path.parent.glob(f"{path.name.split('-')[0]}-*")
            newest = sorted(versions, key=lambda old: old.stat().st_mtime, reverse=True)
            for old in newest[KEPT_VERSIONS:]:
                old.unlink()

    @contextlib.contextmanager
    def turn(self, signature: Any) -> Iterator[None]:
        """Wait while another process compiles the same code, which is then only loaded.

        Callees are compiled inside, and their callers never: so no two wait for each other.
        """
        path = self._path(signature)
        if path is None or path.exists():
            yield
            return
        guard = path.with_name(f".{path.name}.lock")
        with contextlib.ExitStack() as held:
            with contextlib.suppress(OSError, CutnodeError):  # without a lock, both compile
                path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                held.callback(_discard, guard)
                file = held.enter_context(guard.open("ab"))
                for look in range(MOST_LOOKS):
                    if lock(file) or path.exists():
                        break
                    if look == 0:
                        announce(f"waiting for another process to compile {self._subject()}")
                    time.sleep(LOOK_SECONDS)
            yield

    def _subject(self) -> str:
        return f"{self.kernel.function.__name__} for {_game_name(self.cls)}"

    def _path(self, signature: Any) -> Path | None:
        """Return the file of the machine code; None if it cannot be kept."""
        directory = cache_directory()
        modules = [self.kernel.function.__module__]
        if self.evaluation is not None:
            modules.append(self.evaluation.module)
        for technique in self.techniques:
            modules += sorted({hook.__module__ for _, hook in technique.hooks()})
        sources = _sources_digest(self.cls, modules)
        if directory is None or sources is None:
            return None
        name = self.kernel.name
        # Types are pickled as references to modules, so the name of the module matters as well.
        modules.append(self.cls.__module__)
        parts = (name, str(signature), self.cls.__qualname__, *modules, sources, *_platform())
        digest = hashlib.blake2b("\0".join(parts).encode(), digest_size=16).hexdigest()
        return directory / _game_name(self.cls) / f"{name}-{digest}.code"


def announce(message: str) -> None:
    """Tell a user at a terminal why there is a wait; silent if stderr is not one."""
    if sys.stderr is not None and sys.stderr.isatty():
        print(f"cutnode: {message} (once) ...", file=sys.stderr, flush=True)


def _game_name(cls: type) -> str:
    return cls.__module__.rpartition(".")[2] + "." + cls.__name__


def _platform() -> list[str]:
    from numba.core.registry import cpu_target

    settings = ("BOUNDSCHECK", "OPT", "DEBUGINFO_DEFAULT", "LOOP_VECTORIZE", "SLP_VECTORIZE")
    return [
        sys.version,
        numba.__version__,
        llvmlite.__version__,
        repr(cpu_target.target_context.codegen().magic_tuple()),
        repr([getattr(config, name, None) for name in settings]),
        str(PLAIN),
    ]


@functools.cache
def cache_directory() -> Path | None:
    """Return the folder of compiled kernels: the first of these that is writable.

    ``$CUTNODE_CACHE``; the user's cache folder; a private folder among the temporary files.  None
    if none is writable: then every process compiles for itself.
    """
    return next((path for path in _cache_candidates() if _is_usable(path)), None)


def _cache_candidates() -> Iterator[Path]:
    chosen = os.environ.get("CUTNODE_CACHE")
    with contextlib.suppress(RuntimeError):  # a user without a home
        if chosen:
            yield Path(chosen)
        elif sys.platform == "win32":
            yield Path(os.environ.get("LOCALAPPDATA") or Path.home()) / "cutnode"
        elif sys.platform == "darwin":
            yield Path("~/Library/Caches/cutnode").expanduser()
        else:
            yield Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "cutnode"
    user = os.getuid() if hasattr(os, "getuid") else "user"
    with contextlib.suppress(FileNotFoundError):  # a system without temporary files
        yield Path(tempfile.gettempdir()) / f"cutnode-{user}"


def _is_usable(directory: Path) -> bool:
    """Return whether *directory* is writable and owned by nobody else (it holds code)."""
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        if hasattr(os, "getuid") and directory.stat().st_uid != os.getuid():
            return False
        with tempfile.TemporaryFile(dir=directory):
            return True
    except OSError:
        return False


def _write_whole(path: Path, data: bytes) -> None:
    """Write a file so that other processes see all of it or nothing."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, aside = tempfile.mkstemp(dir=path.parent, prefix=".writing-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.replace(aside, path)
    except BaseException:
        os.unlink(aside)
        raise


def _discard(path: Path) -> None:
    """Delete a file, unless another process has it open where that forbids it."""
    with contextlib.suppress(OSError):
        path.unlink()


def _sources_digest(cls: type, modules: list[str]) -> str | None:
    """Return a digest of the sources of a class and *modules*; None if they are not reliable.

    Types defined in ``__main__`` (a script, a notebook) or inside functions have no importable name
    by which a later process could find them, so code compiled for them is not kept.
    """
    module = sys.modules.get(cls.__module__)
    if module is None or "__main__" in (cls.__module__, *modules):
        return None
    if getattr(module, cls.__qualname__, None) is not cls:
        return None
    sources = {path for folder in COMPILED for path in (ENGINE / folder).glob("*.py")}
    sources.update(Path(str(sys.modules[m].__file__)) for m in modules if is_of_engine(m))
    digest = hashlib.blake2b(digest_size=16)
    try:
        sources.update(own_sources(module), *(own_sources(sys.modules[m]) for m in modules))
        for path in sorted(sources):
            stat = path.stat()
            if stat.st_mtime_ns > STARTED:
                return None
            digest.update(_file_digest(path, stat.st_mtime_ns, stat.st_size))
    except (OSError, SyntaxError):
        return None
    return digest.hexdigest()


@functools.cache
def _file_digest(path: Path, mtime_ns: int, size: int) -> bytes:
    return hashlib.blake2b(path.read_bytes(), digest_size=16).digest()


def own_sources(module: ModuleType, seen: set[str] | None = None) -> Iterator[Path]:
    """Yield the files, other than ours, that the compiled code of a game or kernel depends on."""
    seen = set() if seen is None else seen
    if module.__name__ in seen or not getattr(module, "__file__", None):
        return
    is_game = not seen
    seen.add(module.__name__)
    path = Path(str(module.__file__))
    yield path
    if path.name == "__init__.py" and (is_game or "." in module.__name__):
        yield from (p for p in path.parent.rglob("*") if p.is_file() and p.suffix != ".pyc")
    for name in _imports(path, path.stat().st_mtime_ns, module.__package__ or ""):
        imported = imported_by(module, name)
        if imported is not None and _is_own_code(imported, module):
            yield from own_sources(imported, seen)


@functools.cache
def _imports(path: Path, mtime_ns: int, package: str) -> tuple[str, ...]:
    """Yield the names of the modules that a source file imports, anywhere in it."""
    return tuple(_imported(path, package))


def _imported(path: Path, package: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from itertools.accumulate(alias.name.split("."), "{}.{}".format)
        elif isinstance(node, ast.ImportFrom):
            name = "." * node.level + (node.module or "")
            with contextlib.suppress(ImportError):
                name = importlib.util.resolve_name(name, package)
                yield name
                yield from (f"{name}.{alias.name}" for alias in node.names)


def _is_own_code(module: ModuleType, importer: ModuleType) -> bool:
    """Return whether a module is the game author's: not installed, not Python's, not ours."""
    origin = str(getattr(module, "__file__", None))
    name = module.__name__
    top = name.partition(".")[0]
    if not origin.endswith(".py") or is_of_engine(name) or top in sys.stdlib_module_names:
        return False
    if top in {"cutnode", importer.__name__.partition(".")[0]}:
        return True
    return not INSTALLED & set(Path(origin).parts)
