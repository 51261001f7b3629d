"""Libraries of machine code: functions are linked into kernels, and kernels find each other.

Numba links the code of every function into each of its callers, again and again on the way up, and
optimises a kernel once more inside each kernel that calls it.  Here a *part*, the code of a plain
function, is kept as it is, and linked once into each kernel that needs it; and kernels call other
kernels through their symbols, as functions of different object files do.

The symbol of a kernel contains the digest of all that affects its code (see
:mod:`cutnode.compiler.cache`), so code from the cache finds the right callee whichever process
compiled it.  Callees have to be loaded first: :meth:`KernelLibrary.needs` lists their symbols.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import llvmlite.binding as llvm
from numba.core import cgutils, codegen


class PartLibrary(codegen.JITCodeLibrary):
    """The code of a function that is linked into kernels: no machine code of its own."""

    def __init__(self, owner: Any, name: str):
        codegen.CodeLibrary.__init__(self, owner, name)
        self._linking_libraries: list[Any] = []
        self._shared_module: Any = None
        self.module: Any = None

    def add_ir_module(self, ir_module: Any) -> None:
        """Parse the code of the function; LLVM optimises it in the kernels that it is part of."""
        self._raise_if_finalized()
        module = llvm.parse_assembly(cgutils.normalize_ir_text(str(ir_module)))
        module.data_layout = self._codegen._data_layout
        if self.module is None:
            self.module = module
        else:
            self.module.link_in(module)

    def finalize(self) -> None:
        self._finalized = True

    def _get_module_for_linking(self) -> Any:
        """Return the code with all that it calls, for a library that is not a kernel's."""
        if self._shared_module is None:
            module = self.module.clone()
            own = [*_exported(module)]
            _link(module, self)
            for name in own:
                module.get_function(name).linkage = "linkonce_odr"
            self._shared_module = module
        return self._shared_module


class KernelCode(NamedTuple):
    """The machine code of a kernel, as it is kept."""

    name: str
    machine_code: bytes
    defines: frozenset[str]
    """Symbols that it defines."""
    needs: frozenset[str]
    """Symbols of the kernels that it calls."""


class KernelLibrary(codegen.JITCodeLibrary):
    """The machine code of a kernel, with all functions that it calls except other kernels."""

    def __init__(self, owner: Any, name: str):
        super().__init__(owner, name)
        self.enable_object_caching()
        self.symbol = ""
        self.needs: frozenset[str] = frozenset()

    def finalize(self) -> None:
        kernels = _link(self._final_module, self)
        self.needs = frozenset(kernel.symbol for kernel in kernels)
        self._linking_libraries: list[Any] = []
        super().finalize()

    def code(self) -> KernelCode:
        """Return what :meth:`load` takes."""
        module = self._final_module
        named = (
            each
            for all_of_kind in (module.functions, module.global_variables)
            for each in all_of_kind
        )
        defines = frozenset(each.name for each in named if not each.is_declaration)
        return KernelCode(self.name, self._get_compiled_object(), defines, self.needs)

    @classmethod
    def load(cls, owner: Any, code: KernelCode) -> KernelLibrary:
        """Return the library of some machine code; :class:`KeyError` if a callee is not loaded."""
        for symbol in code.needs:
            if not owner._engine.is_symbol_defined(symbol):
                raise KeyError(symbol)
        library = cls(owner, code.name)
        library.needs = code.needs
        library._set_compiled_object(code.machine_code)
        library._finalize_final_module()
        owner._engine._defined_symbols |= code.defines
        return library


def linked(libraries: Iterable[PartLibrary]) -> Any:
    """Return one new module with the code of some functions, and of all that they call."""
    seen: set[Any] = set()
    every: list[Any] = []
    for library in libraries:
        if library not in seen:
            every += [library, *_called(library, seen)]
    first, *others = (
        each.module if isinstance(each, PartLibrary) else each._get_module_for_linking()
        for each in every
    )
    module = first.clone()
    for other in others:
        module.link_in(other, preserve=True)
    return module


def _link(module: Any, library: Any) -> list[KernelLibrary]:
    """Link all that a library calls into its module, and return the kernels that it calls.

    While the parts are linked, LLVM must not drop those that nothing calls yet; afterwards it may.
    """
    called = [*_called(library, set())]
    names: list[str] = []
    for part in called:
        if isinstance(part, PartLibrary):
            names += _exported(part.module)
            module.link_in(part.module, preserve=True)
    for name in names:
        module.get_function(name).linkage = "linkonce_odr"
    for other in called:
        if not isinstance(other, PartLibrary | KernelLibrary):
            module.link_in(other._get_module_for_linking(), preserve=True)
    return [each for each in called if isinstance(each, KernelLibrary)]


def _called(library: Any, seen: set[Any]) -> Iterator[Any]:
    """Yield the libraries that a library calls, each before the ones that it calls itself."""
    seen.add(library)
    for callee in library._linking_libraries:
        if callee not in seen:
            seen.add(callee)
            yield callee
            if isinstance(callee, PartLibrary):
                yield from _called(callee, seen)


def _exported(module: Any) -> Iterable[str]:
    for function in module.functions:
        if not function.is_declaration and function.linkage == llvm.Linkage.external:
            yield function.name
