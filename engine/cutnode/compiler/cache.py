"""The cache of compiled kernels, one file for each kernel and position type.

Numba's own cache checks a single source file, so an edited game could keep running its old rules.
Here the name of a file contains a digest of everything that can affect the binary: the sources
(see :mod:`cutnode.compiler.sources`), the versions of Python, numba and LLVM, the processor, and
numba's settings.

If a source was edited after the process began, the code that runs may not match it; then nothing is
loaded or kept.  Files carry a checksum.  While one process compiles a kernel, others wait for it.
"""

from __future__ import annotations

import contextlib
import hashlib
import pickle
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import llvmlite
import numba
from numba.core import compiler, config, serialize
from numba.core.utils import _dynamic_module

from cutnode.compiler.diagnosis import require_results
from cutnode.compiler.directory import cache_directory, discard, write_whole
from cutnode.compiler.locks import lock
from cutnode.compiler.progress import Compilation, announce
from cutnode.compiler.sources import sources_digest
from cutnode.contract.errors import CutnodeError
from cutnode.contract.linking import KernelCode, KernelLibrary
from cutnode.contract.numba_patches import PLAIN

KEPT_VERSIONS = 8
"""Cache files to keep for each kernel of a game; older ones are deleted."""

LOOK_SECONDS = 0.05
MOST_LOOKS = 2_000
"""Seconds between two looks at another process's compilation, and the looks after which to stop
waiting: that process may have been suspended."""

# Numba puts functions made from text, such as the calls of hooks, into a module without a file.
# Code that refers to one of them can only be loaded where that module can be imported.
sys.modules.setdefault(_dynamic_module.__name__, _dynamic_module)


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
        """Load a kernel, after all kernels that it calls; return None if it must be compiled."""
        target.refresh()
        path = self._path(signature)
        if path is None or not path.exists():
            require_results(self.cls)
        for callee in self.kernel.callees(self.cls):
            callee.specialise(self.cls, self.evaluation, self.techniques)
        if path is not None:
            with contextlib.suppress(Exception):
                data = path.read_bytes()
                if data[:32] == hashlib.blake2b(data[32:], digest_size=32).digest():
                    return _loaded(target, *pickle.loads(data[32:]))
        if not self.kernel.quiet:
            self.compilation.begin()
        return None

    def is_kept(self, signature: Any) -> bool:
        """Return whether there is a file of the machine code."""
        path = self._path(signature)
        return path is not None and path.exists()

    def save_overload(self, signature: Any, result: Any) -> None:
        path = self._path(signature)
        if path is None:
            return
        data = serialize.dumps(_parts(result))
        data = hashlib.blake2b(data, digest_size=32).digest() + data
        with contextlib.suppress(OSError):
            write_whole(path, data)
            versions = path.parent.glob(f"{path.name.split('-')[0]}-*")
            newest = sorted(versions, key=lambda old: old.stat().st_mtime, reverse=True)
            for old in newest[KEPT_VERSIONS:]:
                old.unlink()

    @contextlib.contextmanager
    def turn(self, signature: Any) -> Iterator[None]:
        """Wait while another process compiles the same code, which is then only loaded.

        Callees are compiled inside, and their callers never: so no two wait for each other.
        """
        self.compilation = Compilation(self.kernel.function.__name__, _game_name(self.cls))
        with self.compilation, self._guard(signature):
            yield

    @contextlib.contextmanager
    def _guard(self, signature: Any) -> Iterator[None]:
        path = self._path(signature)
        if path is None or path.exists():
            yield
            return
        guard = path.with_name(f".{path.name}.lock")
        with contextlib.ExitStack() as held:
            with contextlib.suppress(OSError, CutnodeError):  # without a lock, both compile
                path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                held.callback(discard, guard)
                file = held.enter_context(guard.open("ab"))
                for look in range(MOST_LOOKS):
                    if lock(file) or path.exists():
                        break
                    if look == 0:
                        subject = f"{self.compilation.kernel} for {self.compilation.game}"
                        announce(f"waiting for another process to compile {subject}")
                    time.sleep(LOOK_SECONDS)
            yield

    def digest(self, signature: Any) -> str:
        """Return the digest of all that affects the machine code.

        If the code cannot be kept, this is a number that no other code has.
        """
        path = self._path(signature)
        return uuid4().hex if path is None else path.stem.rpartition("-")[2]

    def _path(self, signature: Any) -> Path | None:
        """Return the file of the machine code; None if it cannot be kept."""
        directory = cache_directory()
        modules = [self.kernel.function.__module__]
        if self.evaluation is not None:
            modules.append(self.evaluation.module)
        for technique in self.techniques:
            modules += sorted({hook.__module__ for _, hook in technique.hooks()})
        sources = sources_digest(self.cls, modules)
        if directory is None or sources is None:
            return None
        name = self.kernel.name
        # Types are pickled as references to modules, so the name of the module matters as well.
        modules.append(self.cls.__module__)
        parts = (name, str(signature), self.cls.__qualname__, *modules, sources, *_platform())
        digest = hashlib.blake2b("\0".join(parts).encode(), digest_size=16).hexdigest()
        return directory / _game_name(self.cls) / f"{name}-{digest}.code"


def _parts(result: Any) -> tuple[Any, ...]:
    """Return what is kept of a compiled kernel."""
    fields = result._asdict()
    function = fields["fndesc"]
    function.typemap = function.calltypes = None
    environments = result._find_referenced_environments()
    code: KernelCode = fields["library"].code()
    return code, function, fields["environment"], fields["signature"], environments


def _loaded(
    target: Any, code: KernelCode, function: Any, own: Any, signature: Any, environments: list[Any]
) -> Any:
    """Return the compiled kernel that :func:`_parts` took apart."""
    library = KernelLibrary.load(target.codegen(), code)
    library.symbol = function.mangled_name
    entry = target.get_executable(library, function, own)
    for environment in environments:
        library.codegen.set_env(environment.env_name, environment)
    return compiler.compile_result(
        typing_context=target.typing_context,
        target_context=target,
        entry_point=entry,
        library=library,
        signature=signature,
        objectmode=False,
        fndesc=function,
        environment=own,
    )


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
