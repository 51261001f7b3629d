"""The one decorator for compiled code, and the cache of what it compiled.

``@compiled`` marks a plain function as usable inside compiled code.  From Python it stays
the plain function; inside a kernel it is compiled for the types at hand and inlined.
Rules of a game and all helpers of the engine are such functions.

``@compiled(signature=...)`` makes a *kernel*: machine code that Python calls.  The
signature is a function of the position's type, so one source serves every game and
exactly one specialisation exists for each position type::

    @compiled(signature=lambda position: types.int64(position, types.int64))
    def perft(position, depth): ...

    perft.specialise(Position)      # compiled, or loaded from the cache
    perft(position, depth)

Kernels may call themselves and each other.  Why the flags are what they are:

* ``nogil``: other threads search the same table, watch the clock and take Ctrl-C.
* ``error_model="numpy"``: no test for division by zero on the hot path.
* ``boundscheck`` is left to ``NUMBA_BOUNDSCHECK=1``, which one test run sets.
* no ``fastmath``: values are integers, and probabilities must not depend on the build.
* ``forceinline`` for the plain functions: small rules inlined into a search measured
  20 % faster than called ones.  ``inline=False`` keeps a large one out of line.
* one explicit signature, then no more: numba gives a recursive kernel that is called
  with a literal a second signature, and such a kernel crashes when its caller is loaded
  from a cache.

The cache.  numba's own cache looks at one source file, so an edited game would go on
running its old rules.  Here one file holds one kernel for one position type, and its
name contains a digest of everything that can end up in the binary: the sources of the
engine, the sources of the game and of the kernel (its file and every module that it
imports from its own package or from outside the installed ones; for a game that is a
package, every file in its folder), the versions of Python, numba and LLVM, the
processor, and numba's settings.  The sources of the engine are the files of its own folder
and, for a kernel of one of its packages, those of that folder.  Sources edited since the
process began may not be those that run: nothing is loaded or kept then.  Files are written
aside and renamed, so a reader sees a whole file or none, and carry a checksum.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import hashlib
import importlib.util
import inspect
import itertools
import os
import pickle
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, TypeVar, overload

import llvmlite
import numba
from numba import types
from numba.core import compiler, config, serialize
from numba.core.typeinfer import TypeInferer
from numba.extending import typeof_impl

from engine.contract import is_plain
from engine.diagnosis import diagnose, require_positions
from engine.errors import CutnodeError
from engine.interpreted import Interpretable, interpret
from engine.native import usable_in_compiled_code
from engine.positions import position_type

__all__ = ["STARTED", "Kernel", "cache_directory", "compiled", "jit_enabled", "own_sources"]

KEPT_VERSIONS = 8
"""Cache files kept for each kernel of a game; the oldest are deleted."""

_specialising = threading.RLock()

STARTED = time.time_ns()
"""Sources older than this are as they were when they were imported."""

F = TypeVar("F", bound=Callable[..., Any])


def jit_enabled() -> bool:
    """False under ``NUMBA_DISABLE_JIT=1``, when kernels run as plain Python."""
    return not config.DISABLE_JIT


@overload
def compiled(function: F, /) -> F: ...
@overload
def compiled(*, inline: bool = True) -> Callable[[F], F]: ...
@overload
def compiled(*, signature: Callable[..., Any]) -> Callable[[Callable[..., Any]], Kernel]: ...
def compiled(function: Any = None, /, *, inline: bool = True, signature: Any = None) -> Any:
    """Mark a function for compiled code, or make a kernel (see the module's text)."""
    if signature is not None:
        return lambda function: Kernel(function, signature)
    if function is not None:
        return usable_in_compiled_code(function, inline)
    return functools.partial(usable_in_compiled_code, inline=inline)


class Kernel(Interpretable):
    """Machine code that Python calls: one source, one specialisation for a position type.

    A kernel that estimates positions has a signature of the types of the position and of
    the evaluation, and one specialisation for each pair.
    """

    def __init__(self, function: Callable[..., Any], signature: Callable[..., Any]):
        self.__doc__ = function.__doc__
        self.function = function
        self.name = f"{function.__module__}.{function.__qualname__}"
        self._signature = signature
        self._estimates = len(inspect.signature(signature).parameters) == 2
        self._ready: dict[Any, Callable[..., Any]] = {}
        self.dispatcher = numba.njit(nogil=True, error_model="numpy", _nrt=False)(function)
        if jit_enabled():
            self.dispatcher._can_compile = False

    def __call__(self, *args: Any) -> Any:
        return self.dispatcher(*args)

    def specialise(self, cls: type, evaluation: Any = None) -> Callable[..., Any]:
        """The machine code for positions of class *cls*: loaded, or compiled and kept.

        For rules in plain Python it is plain Python, too.

        It takes arguments of just the types of the signature, in a seventh of the time
        that numba needs to look at them.  :class:`GameError` if the rules of the game do
        not compile.
        """
        if is_plain(cls):
            return interpret(self.function, cls)
        kind = evaluation.type if self._estimates else None
        ready = self._ready.get((cls, kind))  # without waiting for what others compile
        if ready is not None:
            return ready
        with _specialising:
            if (cls, kind) not in self._ready:
                self._ready[cls, kind] = self._specialise(cls, evaluation if kind else None)
            return self._ready[cls, kind]

    def _specialise(self, cls: type, evaluation: Any) -> Callable[..., Any]:
        position = position_type(cls)
        self.dispatcher._cache = _Cache(self, cls, evaluation)
        self.dispatcher._can_compile = True
        try:
            signature = (position, evaluation.type) if evaluation else (position,)
            return self.dispatcher.compile(self._signature(*signature))  # type: ignore[no-any-return]
        except CutnodeError:
            raise
        except Exception as error:
            raise diagnose(cls, error) from error
        finally:
            self.dispatcher._can_compile = False

    def callees(self) -> set[Kernel]:
        """The kernels that this one calls, itself or through plain functions of the engine."""
        found: set[Kernel] = set()
        seen: set[Any] = set()
        waiting = [self.function]
        while waiting:
            function = waiting.pop()
            seen.add(function)
            for name in function.__code__.co_names:
                called = function.__globals__.get(name)
                if isinstance(called, Kernel):
                    found.add(called)
                elif isinstance(called, FunctionType) and called not in seen:
                    waiting.append(called)
        return found - {self}


_infer_partially = TypeInferer.return_types_from_partial


def _return_type(inferer: Any) -> Any:
    """What a function that calls itself returns: as its signature says, if it does.

    Numba infers the types of the whole function once more at each such call; to take the
    declared type instead halves the time that a recursive kernel needs to compile.
    """
    variables = (inferer.typevars[var.name] for var in inferer._get_return_vars())
    declared = {variable.type for variable in variables if variable.locked}
    return declared.pop() if len(declared) == 1 else _infer_partially(inferer)


TypeInferer.return_types_from_partial = _return_type


@typeof_impl.register(Kernel)
def _typeof_kernel(kernel: Kernel, context: Any) -> types.Type:
    return types.Dispatcher(kernel.dispatcher)


class _Cache:
    """The part of numba's cache protocol that a dispatcher uses, for one kernel and game."""

    def __init__(self, kernel: Kernel, cls: type, evaluation: Any):
        self.kernel = kernel
        self.cls = cls
        self.evaluation = evaluation

    def load_overload(self, signature: Any, target: Any) -> Any:
        target.refresh()
        path = self._path(signature)
        if path is not None:
            with contextlib.suppress(Exception):
                data = path.read_bytes()
                if data[:32] == hashlib.blake2b(data[32:], digest_size=32).digest():
                    payload = pickle.loads(data[32:])
                    return compiler.CompileResult._rebuild(target, *payload)
        require_positions(self.cls)
        for callee in self.kernel.callees():
            callee.specialise(self.cls, self.evaluation)
        announce(f"compiling {self.kernel.function.__name__} for {_game_name(self.cls)}")
        return None

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

    def _path(self, signature: Any) -> Path | None:
        """Where the machine code is kept; None when it cannot be."""
        directory = cache_directory()
        modules = [self.kernel.function.__module__]
        if self.evaluation is not None:
            modules.append(self.evaluation.module)
        sources = _sources_digest(self.cls, modules)
        if directory is None or sources is None:
            return None
        name = self.kernel.name
        parts = (name, str(signature), self.cls.__qualname__, sources, *_platform())
        digest = hashlib.blake2b("\0".join(parts).encode(), digest_size=16).hexdigest()
        return directory / _game_name(self.cls) / f"{name}-{digest}.code"


def announce(message: str) -> None:
    """Tell a person at a terminal why there is a wait; silent in a pipe."""
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
    ]


@functools.cache
def cache_directory() -> Path | None:
    """Where compiled kernels are kept: the first of these that can be written to.

    ``$CUTNODE_CACHE``; the user's cache folder; a private folder among the temporary
    files.  None, and every process compiles for itself, when none can be.
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
    """Whether we can write to *directory*, and nobody else owns it (it holds code)."""
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


def _sources_digest(cls: type, modules: list[str]) -> str | None:
    """A digest of the sources of a class and *modules*; None if they are not surely known.

    Types of ``__main__`` (a script, a notebook) and of functions have no importable name
    under which a later process could find them, so what is compiled for them is not kept.
    """
    module = sys.modules.get(cls.__module__)
    if module is None or "__main__" in (cls.__module__, *modules):
        return None
    if getattr(module, cls.__qualname__, None) is not cls:
        return None
    folders = {Path(__file__).parent}
    folders.update(Path(str(sys.modules[m].__file__)).parent for m in modules if _is_ours(m))
    sources = {path for folder in folders for path in folder.glob("*.py")}
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
    """The files that the compiled code of a game (or kernel) can depend on, besides ours."""
    seen = set() if seen is None else seen
    if module.__name__ in seen or not getattr(module, "__file__", None):
        return
    is_game = not seen
    seen.add(module.__name__)
    path = Path(str(module.__file__))
    yield path
    if path.name == "__init__.py" and (is_game or "." in module.__name__):
        yield from (p for p in path.parent.rglob("*") if p.is_file() and p.suffix != ".pyc")
    for name in _imports(path, module.__package__ or ""):
        imported = sys.modules.get(name)
        if imported is not None and _is_own_code(imported, module):
            yield from own_sources(imported, seen)


def _imports(path: Path, package: str) -> Iterator[str]:
    """The names of the modules that a source file imports, anywhere in it."""
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


def _is_ours(name: str) -> bool:
    """Whether a module is part of the engine."""
    return name.partition(".")[0] == "engine"


def _is_own_code(module: ModuleType, importer: ModuleType) -> bool:
    """Whether a module is the game author's: neither installed apart, nor Python's, nor ours."""
    origin = getattr(module, "__file__", None)
    top = module.__name__.partition(".")[0]
    if not origin or _is_ours(top) or top in sys.stdlib_module_names:
        return False
    if top in {"games", importer.__name__.partition(".")[0]}:
        return True
    return not {"site-packages", "dist-packages"} & set(Path(origin).parts)
