"""Targets of exports: processors, systems, and the C compilers that link for them."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import llvmlite.binding as llvm

from cutnode.contract.errors import CutnodeError
from cutnode.contract.text import nearest, quoted
from cutnode.export.assembly import Processor

WEB = "wasm"
HOST = "host"


class Target(NamedTuple):
    """A system to export for."""

    name: str
    triple: str
    """In LLVM's words."""
    zig: str
    """In the words of ``zig cc``."""
    cpu: str
    features: str = ""
    shared: str = "lib{}.so"
    archive: str = "lib{}.a"
    libraries: tuple[str, ...] = ("-lm",)


TARGETS = {
    target.name: target
    for target in (
        Target("x86_64-linux", "x86_64-unknown-linux-gnu", "x86_64-linux-gnu.2.17", "x86-64"),
        Target("aarch64-linux", "aarch64-unknown-linux-gnu", "aarch64-linux-gnu.2.17", "generic"),
        Target(
            *("x86_64-windows", "x86_64-w64-windows-gnu", "x86_64-windows-gnu", "x86-64"),
            shared="{}.dll",
            libraries=(),
        ),
        Target(
            *("aarch64-macos", "arm64-apple-macosx11.0.0", "aarch64-macos.11.0", "apple-m1"),
            shared="lib{}.dylib",
            libraries=(),
        ),
        Target(
            *(WEB, "wasm32-unknown-unknown", "wasm32-freestanding", "generic"),
            features="+simd128,+bulk-memory,+sign-ext,+nontrapping-fptoint,+mutable-globals",
            libraries=(),
        ),
    )
}

OPTIMISED = ["-O2", "-fPIC", "-fvisibility=hidden", "-DNDEBUG", "-std=gnu11", "-Wall", "-Wextra"]


def target_of(name: str) -> Target:
    """Return a target by its name; ``host`` is this machine.  :class:`CutnodeError` for others."""
    if name == HOST:
        triple = str(llvm.get_default_triple())
        machine, system = triple.partition("-")[0], sys.platform
        machine = {"arm64": "aarch64", "amd64": "x86_64"}.get(machine, machine)
        name = f"{machine}-{ {'darwin': 'macos', 'win32': 'windows'}.get(system, system) }"
        if name in TARGETS:
            return TARGETS[name]
        return Target(name, triple, "", "generic")
    if name not in TARGETS:
        names = [HOST, *TARGETS]
        known = f"targets are {', '.join(names)}"
        raise CutnodeError(f"there is no target {quoted(name)}{nearest(name, names, known)}")
    return TARGETS[name]


def processor_of(target: Target, cpu: str | None) -> Processor:
    """Return the processor to generate code for: the target's least, or a named one.

    ``native`` is the processor of this machine.
    """
    if cpu == "native":
        if target != target_of(HOST):
            raise CutnodeError(f"cpu=native is this machine, not {target.name}")
        return Processor(
            target.triple, llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()
        )
    return Processor(target.triple, cpu or target.cpu, target.features)


class Linker(NamedTuple):
    """The commands that compile C for a target, and pack and link objects."""

    compiler: list[str]
    archiver: list[str]
    web: list[str]

    @classmethod
    def of(cls, target: Target) -> Linker:
        """Return the system's compiler for this machine, or else zig.

        :class:`CutnodeError` if neither is installed.
        """
        compiler = next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)
        archiver = shutil.which("ar")
        if compiler and archiver and target == target_of(HOST):
            return cls([compiler], [archiver, "rcs"], [])
        zig = _zig()
        if zig is None:
            raise CutnodeError(
                f"to link for {target.name} install zig: pip install 'cutnode[export]'"
            )
        compiler_of_zig = [zig, "cc", "-target", target.zig]
        return cls(compiler_of_zig, [zig, "ar", "rcs"], [zig, "wasm-ld"])

    def compile(self, source: Path, folder: Path, options: Sequence[str] = ()) -> Path:
        """Compile a file of C, and return its object."""
        made = folder / f"{source.stem}.o"
        _run([*self.compiler, *OPTIMISED, *options, "-c", str(source), "-o", str(made)])
        return made

    def pack(self, objects: Sequence[Path], archive: Path) -> None:
        """Make a static library."""
        archive.unlink(missing_ok=True)
        _run([*self.archiver, str(archive), *map(str, objects)])

    def link(self, objects: Sequence[Path], library: Path, libraries: Sequence[str]) -> None:
        """Make a shared library."""
        named = []
        if library.suffix == ".dylib":
            named = [f"-Wl,-install_name,@rpath/{library.name}"]
        elif library.suffix == ".dll":
            named = [f"-Wl,--out-implib,{library.with_suffix('.lib')}"]
        parts = [*map(str, objects), *libraries]
        _run([*self.compiler, "-shared", "-s", *named, "-o", str(library), *parts])

    def link_web(self, objects: Sequence[Path], module: Path, exports: Sequence[str]) -> None:
        """Make a module of WebAssembly."""
        _run(
            [*self.web, "--no-entry", "--strip-all", "--gc-sections", "-z", f"stack-size={STACK}"]
            + ["--stack-first", "--export-memory", "--allow-undefined"]
            + [f"--export={name}" for name in exports]
            + ["-o", str(module), *map(str, objects)]
        )


STACK = 4 << 20
"""The bytes of the stack in WebAssembly, on which the longest line of play has to fit."""


def _zig() -> str | None:
    """Return the program of the package ``ziglang``; None if it is not installed."""
    found = importlib.util.find_spec("ziglang")
    if found is None or found.origin is None:
        return shutil.which("zig")
    name = "zig.exe" if os.name == "nt" else "zig"
    return str(Path(found.origin).with_name(name))


def _run(command: list[str]) -> None:
    """Run a command; :class:`CutnodeError` with its last message if it fails."""
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "ZERO_AR_DATE": "1"},
    )
    if done.returncode != 0:
        said = [line for line in done.stderr.splitlines() if line.strip()]
        wrong = next((line for line in said if "error" in line), said[-1] if said else "no message")
        raise CutnodeError(f"{Path(command[0]).name} failed: {wrong}")
