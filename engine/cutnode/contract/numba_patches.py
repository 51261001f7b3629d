"""The changes inside numba that make kernels compile in three quarters of the time.

All patches of numba are in this module, each with its reason.  They were tested with numba 0.62.0,
the lowest version that the package allows, and 0.68.1.  A patch is skipped if the method that it
replaces takes other arguments than expected, and ``CUTNODE_PLAIN_NUMBA=1`` skips all that only save
time: results are the same, but kernels take longer to compile.
"""

from __future__ import annotations

import contextlib
import inspect
import os
import sys
import threading
from collections.abc import Callable, Iterator
from hashlib import blake2b
from typing import Any

from llvmlite.binding import ffi
from numba import types
from numba.core import compiler_lock, errors, ir
from numba.core.cpu import CPUContext
from numba.core.target_extension import get_local_target
from numba.core.targetconfig import ConfigStack
from numba.core.typeinfer import TypeInferer
from numba.core.types import functions
from numba.core.types.functions import BaseFunction
from numba.core.typing.templates import _OverloadFunctionTemplate
from numba.core.utils import order_by_target_specificity

PLAIN = os.environ.get("CUTNODE_PLAIN_NUMBA") == "1"
"""Whether to skip the patches that only save time."""

APPLIED: set[str] = set()
"""The names of the functions that were replaced."""


def _replaces(owner: type, name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Replace a method by a function that takes the same arguments."""

    def replace(function: Callable[..., Any]) -> Callable[..., Any]:
        replaced = vars(owner).get(name)
        if not PLAIN and _arguments(replaced) == _arguments(function):
            setattr(owner, name, function)
            APPLIED.add(f"{owner.__name__}.{name}")
        return function

    return replace


def _arguments(function: Any) -> list[str] | None:
    return [*inspect.signature(function).parameters] if callable(function) else None


# The result type of a recursive function, from its signature if that declares one.  Numba infers
# the types of the whole function again at each recursive call, which took half the time to compile
# a recursive kernel.

_infer_partially = TypeInferer.return_types_from_partial


@_replaces(TypeInferer, "return_types_from_partial")
def _return_type(self: Any) -> Any:
    variables = (self.typevars[var.name] for var in self._get_return_vars())
    declared = {variable.type for variable in variables if variable.locked}
    return declared.pop() if len(declared) == 1 else _infer_partially(self)


# The function compiled for arguments of these types, whatever the caller's flags.  Numba would
# compile it again for each set of callers' flags: for kernels, for functions that they inline, and
# for functions that they call.

_OF_THE_CALLER = {"forceinline", "no_cfunc_wrapper", "no_cpython_wrapper", "release_gil"}
"""Flags of a caller that do not affect the functions that it calls."""


@_replaces(_OverloadFunctionTemplate, "_get_impl")
def _implementation(self: Any, args: Any, kws: Any) -> Any:
    flags = ConfigStack.top_or_none()
    set_flags = {} if flags is None else flags._values
    shared = frozenset(
        (name, str(value))
        for name, value in set_flags.items()
        if name not in _OF_THE_CALLER and value != flags.options[name].default
    )
    key = self.context, tuple(args), tuple(kws.items()), shared
    found = self._impl_cache.get(key)
    return self._build_impl(key, args, kws) if found is None else found


# Errors of overloads that do not match are formatted only if none matches.  Numba formats each one,
# and tries every overload with and without literal types, even if no argument is a literal.


@_replaces(BaseFunction, "get_call_type")
def _call_type(self: Any, context: Any, args: Any, kws: Any) -> Any:
    depth = self._depth
    self._depth += 1
    failed: list[tuple[Any, bool, errors.NumbaError | None, bool]] = []
    unlit: Any = functions._unlit_non_poison  # type: ignore[attr-defined]
    forms = [False, True] if any(map(_is_constant, (*args, *kws.values()))) else [False]
    target = get_local_target(context)
    for candidate in order_by_target_specificity(target, self.templates, fnkey=self.key[0]):
        template = candidate(context)
        for literally in reversed(forms) if template.prefer_literal else forms:
            try:
                if literally:
                    signature = template.apply(args, kws)
                else:
                    plain = {name: unlit(kind) for name, kind in kws.items()}
                    signature = template.apply(tuple(map(unlit, args)), plain)
            except errors.NumbaError as error:
                failed.append((template, False, error, literally))
                continue
            if signature is not None:
                self._impl_keys[signature.args] = template.get_impl_key(signature)
                self._depth = depth
                return signature
            failed.append((template, True, None, literally))
    self._depth = depth
    wording: Any = functions._ResolutionFailures  # type: ignore[attr-defined]
    failures = wording(context, self, args, kws, depth=depth)
    for template, matched, failure, literally in failed:
        failures.add_error(template, matched, failure or _no_match(template), literally)
    failures.raise_error()


def _is_constant(kind: Any) -> bool:
    return types.unliteral(kind) is not kind


def _no_match(template: Any) -> str:
    cases = getattr(template, "cases", None)
    if cases is None:
        return "No match."
    return "No match for registered cases:\n" + "\n".join(f" * {case}" for case in cases)


# The variables of a statement.  Numba also looks for them inside every constant.


@_replaces(ir.Inst, "_rec_list_vars")
def _variables(self: Any, val: Any) -> list[Any]:
    if isinstance(val, ir.Var):
        return [val]
    if isinstance(val, ir.Inst):
        return val.list_vars()  # type: ignore[no-any-return]
    if isinstance(val, list | tuple):
        return [found for part in val for found in _variables(self, part)]
    if isinstance(val, dict):
        return [found for part in val.values() for found in _variables(self, part)]
    return []


# SciPy, loaded when it is first needed.  Numba imports its linear algebra with the registries, only
# to see whether it is installed: a third of a second, wherever it is.  Numba asks when it compiles
# np.correlate or np.convolve, and gets the same answer then.

_ARRAYS = "numba.np.arraymath"


class _HasBlas:
    """Whether SciPy has the linear algebra that numba calls: found out when it is asked."""

    def __init__(self, check: Callable[[], bool]):
        self.check = check

    def __bool__(self) -> bool:
        return self.check()


@contextlib.contextmanager
def _scipy_left_out() -> Iterator[None]:
    """Import numba's registries in this context without SciPy."""
    from numba.np import linalg  # with the registries, and not before

    ensure = getattr(linalg, "ensure_blas", None)
    if _ARRAYS in sys.modules or not callable(ensure):
        yield
        return
    thread = threading.get_ident()

    def refuse() -> None:
        if threading.get_ident() == thread:
            raise ImportError
        ensure()

    linalg.ensure_blas = refuse
    try:
        yield
    finally:
        linalg.ensure_blas = ensure
        arrays: Any = sys.modules.get(_ARRAYS)
        if arrays is not None and getattr(arrays, "ensure_blas", None) is refuse:
            arrays.ensure_blas = ensure
            arrays._HAVE_BLAS = _HasBlas(arrays._check_blas)


# The registries of what numba can compile, imported once.  Numba imports them again for each
# function.

_load_registries = CPUContext.load_additional_registries
_registries: list[Any] = []


@_replaces(CPUContext, "load_additional_registries")
def _load_additional_registries(self: Any) -> None:
    if _registries:
        for registry in _registries:
            self.install_registry(registry)
        return
    install, installed = self.install_registry, []

    def install_and_note(registry: Any) -> None:
        install(registry)
        installed.append(registry)

    self.install_registry = install_and_note
    try:
        with _scipy_left_out():
            _load_registries(self)
    finally:
        del self.install_registry
    _registries.extend(installed)


# Locks without events.  Numba notifies listeners whenever it takes a lock, to report how long it
# held it, and llvmlite takes its lock for every call of LLVM.


@_replaces(compiler_lock._CompilerLock, "acquire")
def _acquire(self: Any) -> None:
    self._lock.acquire()


@_replaces(compiler_lock._CompilerLock, "release")
def _release(self: Any) -> None:
    self._lock.release()


for taken, given_back in [] if PLAIN else [*getattr(ffi.lib._lock, "_cblist", ())]:
    if taken.__module__.startswith("numba."):
        ffi.unregister_lock_callback(taken, given_back)
        APPLIED.add("llvmlite.binding.ffi.lib._lock")


# The part of a symbol that says which record a function takes.  Numba uses a number that counts
# types in one process.  Code from the cache keeps its symbols: if two records had the same number
# in the processes that compiled them, the second would run the functions of the first.  This patch
# is never skipped.


def _name_of_layout(record: Any) -> tuple[str, tuple[str]]:
    return "Record", (blake2b(record.name.encode(), digest_size=16).hexdigest(),)


types.Record.mangling_args = property(_name_of_layout)
