"""The changes inside numba that make kernels compile in three quarters of the time.

All patches of numba are in this module, each with its reason.  They were tested with numba 0.62.0,
the lowest version that the package allows, and 0.68.1.  A patch is skipped if the method that it
replaces takes other arguments than expected, and ``CUTNODE_PLAIN_NUMBA=1`` skips all that only save
time: results are the same, but kernels take longer to compile.
"""

from __future__ import annotations

import contextlib
import inspect
import logging
import os
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from hashlib import blake2b
from types import SimpleNamespace
from typing import Any

from llvmlite.binding import ffi
from numba import types
from numba.core import (
    base,
    byteflow,
    compiler_lock,
    errors,
    ir,
    lowering,
    postproc,
    ssa,
    transforms,
    typeinfer,
)
from numba.core.cpu import CPUContext
from numba.core.target_extension import get_local_target
from numba.core.targetconfig import ConfigStack
from numba.core.typeinfer import TypeInferer
from numba.core.types import functions
from numba.core.types.functions import BaseFunction
from numba.core.typing import typeof
from numba.core.typing.templates import _OverloadFunctionTemplate
from numba.core.utils import order_by_target_specificity

PLAIN = os.environ.get("CUTNODE_PLAIN_NUMBA") == "1"
"""Whether to skip the patches that only save time."""

APPLIED: set[str] = set()
"""The names of the functions that were replaced."""


def _replaces(owner: Any, name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Replace a method, or a function of a module, by one that takes the same arguments."""

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
    candidates = self.templates
    if len(candidates) > 1 or getattr(candidates[0], "metadata", None):
        target = get_local_target(context)
        candidates = order_by_target_specificity(target, candidates, fnkey=self.key[0])
    for candidate in candidates:
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

_WITHOUT_VARIABLES = {str, int, float, bool, type(None), ir.Loc}


@_replaces(ir.Inst, "_rec_list_vars")
def _variables(self: Any, val: Any) -> list[Any]:
    kind = type(val)
    if kind is ir.Var:
        return [val]
    if kind in _WITHOUT_VARIABLES:
        return []
    if isinstance(val, ir.Inst):
        return val.list_vars()  # type: ignore[no-any-return]
    if isinstance(val, list | tuple):
        return [found for part in val for found in _variables(self, part)]
    if isinstance(val, dict):
        return [found for part in val.values() for found in _variables(self, part)]
    return []


# The lifetimes of variables, which tell when to release a reference.  Numba computes them after
# many passes.  Rules hold no references; of a generator, lifetimes are the state.


def without_lifetimes(function: Any) -> None:
    """Let numba compute no lifetimes while it compiles a function, given by its identity."""
    function.without_lifetimes = True


_process = postproc.PostProcessor.run


@_replaces(postproc.PostProcessor, "run")
def _run(self: Any, emit_dels: bool = False, extend_lifetimes: bool = False) -> None:
    code = self.func_ir
    if emit_dels or code.is_generator or not hasattr(code.func_id, "without_lifetimes"):
        _process(self, emit_dels, extend_lifetimes)
        return
    code.blocks = transforms.canonicalize_cfg(code.blocks)
    code.generator_info = None


# The name of a record type, written once.  Numba writes it again for each error message, most of
# which nobody reads, and the record of a search has a hundred fields.

_write_record = types.Record.__repr__


@_replaces(types.Record, "__repr__")
def _record(self: Any) -> str:
    written = vars(self).get("_written")
    if written is None:
        written = self._written = _write_record(self)
    return str(written)


# Whether an implementation takes a location.  Numba inspects its signature for each call.


@_replaces(base, "_has_loc")
def _takes_location(fn: Any) -> bool:
    try:
        return _locations[fn]
    except (KeyError, TypeError):
        takes = "loc" in inspect.signature(fn).parameters
        with contextlib.suppress(TypeError):
            _locations[fn] = takes
        return takes


_locations: weakref.WeakKeyDictionary[Any, bool] = weakref.WeakKeyDictionary()


# Messages without colours.  Where colorama is installed, numba colours the message of every error,
# and types are found by trying and failing thousands of times.


class _NoColours(errors._ColorScheme):  # type: ignore[name-defined]
    def _same(self, msg: str) -> str:
        return msg

    code = errmsg = filename = indicate = highlight = reset = _same


@contextlib.contextmanager
def uncoloured() -> Iterator[None]:
    """Let numba write messages without colours."""
    kept = errors._termcolor_inst, typeof._termcolor  # type: ignore[attr-defined]
    if not PLAIN:
        plain = _NoColours()
        errors._termcolor_inst = typeof._termcolor = plain  # type: ignore[attr-defined]
    try:
        yield
    finally:
        errors._termcolor_inst, typeof._termcolor = kept  # type: ignore[attr-defined]


# The contexts of errors, which say what numba was doing.  There are hundreds of thousands, of which
# few see an error, and a generator for each takes longer than a plain object.


class _Context:
    __slots__ = ("args", "fmt_", "kwargs")

    def __init__(self, fmt_: str, args: Any, kwargs: Any):
        self.fmt_, self.args, self.kwargs = fmt_, args, kwargs

    def __enter__(self) -> None:
        loc = self.kwargs.get("loc")
        if loc is not None and not loc.filename.startswith(_numba_path):
            _locations_seen.update(self.kwargs)

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if isinstance(error, errors.NumbaError):
            error.add_context(_message(self.fmt_, self.args, self.kwargs))


_locations_seen: Any = errors.loc_info  # type: ignore[attr-defined]
_new_error_context: Any = errors.new_error_context  # type: ignore[attr-defined]
_numba_path: str = errors._numba_path  # type: ignore[attr-defined]
_message: Any = errors._format_msg  # type: ignore[attr-defined]


@_replaces(errors, "new_error_context")
def _error_context(fmt_: str, *args: Any, **kwargs: Any) -> Any:
    return _Context(fmt_, args, kwargs)


for module in (lowering, typeinfer):
    if not PLAIN and vars(module).get("new_error_context") is _new_error_context:
        module.new_error_context = _error_context


# Logs of the passes that nobody asked for: a hundred thousand lines.

for module in (byteflow, ssa):
    if not PLAIN and not module._logger.isEnabledFor(logging.DEBUG):
        module._logger = SimpleNamespace(debug=lambda *line: None)


# Blocks without a variable stay as they are when that variable is renamed.  Numba rewrites all
# blocks twice for each variable that is assigned several times.

_run_ssa: Any = vars(ssa).get("_run_ssa")
_rewrite_blocks: Any = vars(ssa).get("_run_block_rewrite")
_names_in_blocks: threading.local = threading.local()


@_replaces(ssa, "_run_ssa")
def _ssa(blocks: Any) -> Any:
    _names_in_blocks.of = {}
    try:
        return _run_ssa(blocks)
    finally:
        del _names_in_blocks.of


@_replaces(ssa, "_run_block_rewrite")
def _rewrite_blocks_with_the_variable(blocks: Any, states: Any, handler: Any) -> Any:
    names = getattr(_names_in_blocks, "of", None)
    if names is None:
        return _rewrite_blocks(blocks, states, handler)
    for block in blocks.values():
        if block not in names:
            names[block] = {
                variable.name for statement in block.body for variable in statement.list_vars()
            }
    name = states["varname"]
    with_it = {label: block for label, block in blocks.items() if name in names[block]}
    written = _rewrite_blocks(with_it, states, handler)
    for label, block in written.items():
        names[block] = names[blocks[label]]
    return {label: written.get(label, block) for label, block in blocks.items()}


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
