"""Kernels as LLVM code that no processor runs yet, from which exports are made."""

from __future__ import annotations

from typing import Any, NamedTuple

from cutnode.compiler.cache import KernelCache
from cutnode.compiler.jit import Kernel
from cutnode.contract.host import Host
from cutnode.contract.linking import PartLibrary
from cutnode.contract.native import KernelCompiler, PartLowering


class _Uncached(KernelCache):
    """A cache that keeps nothing: code for export is made anew each time."""

    def _path(self, signature: Any) -> None:
        return None

    def digest(self, signature: Any) -> str:
        return "exported"


def export_kernels() -> None:
    """Compile kernels only to LLVM code from now on, with calls of a host.

    This cannot be undone: a process that exports does nothing else.
    """
    KernelCompiler.lowering = PartLowering
    Kernel.cache = _Uncached
    Host.called = True


class Part(NamedTuple):
    """The LLVM code of a kernel."""

    symbol: str
    code: PartLibrary
    signature: Any
    """The numba types of its arguments and of its result."""


def part_of(kernel: Kernel, cls: type, evaluation: Any = None) -> Part:
    """Return the code of a kernel for a position class, after :func:`export_kernels`."""
    kernel.specialise(cls, evaluation)
    signature = kernel.signature(cls, evaluation)
    compiled = kernel.dispatcher.overloads[signature.args]
    return Part(compiled.fndesc.llvm_func_name, compiled._asdict()["library"], signature)
