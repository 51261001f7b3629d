"""The decorators for compiled code, ``@compiled`` and ``@kernel``.

``@compiled`` marks a plain function as usable inside compiled code.  From Python it stays
the plain function; inside a kernel it is compiled for the types at hand and inlined.
Rules of a game and all helpers of the engine are such functions.

``@kernel`` makes a *kernel*: machine code that Python calls, and that may call itself.  Its types
follow from its annotations, so one source serves every game, with exactly one specialisation for
each position class::

    @kernel
    def perft(position: Position, depth: int, memory: PerftMemory) -> int: ...

    perft.specialise(cls)           # compiled, or loaded from the cache
    perft(position, depth, memory)

An annotation is ``Position``, ``Evaluator``, a scalar (``int``, ``float``, ``bool``, ``Bits``), a
``NamedTuple`` of scalars, or an ``Annotated`` alias that names a numba type, or a function that
returns one for a position class: see ``record`` and ``Words``.  A kernel without ``Position``,
``Evaluator`` and such functions has a single specialisation, which all games share.

The reasons for the flags:

* ``nogil``: other threads search with the same table, watch the clock and handle Ctrl-C.
* ``error_model="numpy"``: no test for division by zero on the hot path.
* ``boundscheck`` is left to ``NUMBA_BOUNDSCHECK=1``, which one test run sets.
* ``pipeline_class``: see :mod:`cutnode.contract.native`.
* no ``fastmath``: values are integers, and probabilities must not depend on the build.
* ``forceinline`` for plain functions: a search with small rules inlined measured 20 % faster than
  with calls.  ``inline=False`` keeps a large one out of line.
* a single explicit signature: numba gives a recursive kernel that is called with a literal a second
  signature, and such a kernel crashes when its caller is loaded from a cache.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import threading
import typing
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Annotated, Any, TypeVar, overload

import numba
import numpy as np
from numba import types
from numba.core import config
from numba.extending import typeof_impl

from cutnode.compiler.cache import KernelCache
from cutnode.compiler.diagnosis import diagnose
from cutnode.compiler.every_game import EveryGame
from cutnode.compiler.interpreter import Interpretable, interpret
from cutnode.contract.bits import Bits
from cutnode.contract.dispatch import DERIVED, is_plain
from cutnode.contract.errors import CutnodeError, require_callable
from cutnode.contract.native import KernelCompiler, usable_in_compiled_code
from cutnode.contract.numba_patches import uncoloured
from cutnode.contract.positions import position_type

_specialising = threading.RLock()

F = TypeVar("F", bound=Callable[..., Any])


def jit_enabled() -> bool:
    """Return False under ``NUMBA_DISABLE_JIT=1``, when kernels run as plain Python."""
    return not config.DISABLE_JIT


Techniques = tuple[Any, ...]
"""Techniques from outside the engine, with hooks that kernels call."""

Resolver = Callable[[type, Any, Techniques], types.Type]
"""A function that returns the type of an argument for a position class, an evaluation, and
techniques."""


def record(dtype: Callable[[Any], np.dtype[Any]]) -> Resolver:
    """Return the type of a record whose layout depends on the position class."""
    return lambda cls, evaluation, techniques: numba.from_dtype(dtype(cls))


def record_for_techniques(dtype: Callable[[Any, Techniques], np.dtype[Any]]) -> Resolver:
    """Return the type of a record whose layout also depends on the user's techniques."""
    return lambda cls, evaluation, techniques: numba.from_dtype(dtype(cls, techniques))


def records(dtype: Callable[[Any], np.dtype[Any]]) -> Resolver:
    """Return the type of an array of such records."""
    return lambda cls, evaluation, techniques: types.Array(numba.from_dtype(dtype(cls)), 1, "C")


def _position(cls: type, evaluation: Any, techniques: Techniques) -> types.Type:
    return position_type(cls)


def _evaluator(cls: type, evaluation: Any, techniques: Techniques) -> types.Type:
    return evaluation.type


Position = Annotated[Any, _position]
"""A position of the class for which a kernel is specialised."""

Evaluator = Annotated[Any, _evaluator]
"""The evaluation for which a kernel is specialised."""

Words = Annotated[Any, types.uint64[::1]]
"""An array of 64-bit words: packed positions, or a table."""

Numbers = Annotated[Any, types.int64[::1]]

_SCALARS: dict[Any, types.Type] = {
    int: types.int64,
    float: types.float64,
    bool: types.boolean,
    Bits: types.uint64,
    type(None): types.void,
}


def _argument_type(hint: Any, cls: type, evaluation: Any, techniques: Techniques) -> types.Type:
    """Return the compiled type that an annotation means."""
    if hint in _SCALARS:
        return _SCALARS[hint]
    if isinstance(hint, type):
        return position_type(hint)  # of a NamedTuple
    (meaning,) = hint.__metadata__
    return meaning if isinstance(meaning, types.Type) else meaning(cls, evaluation, techniques)


@overload
def compiled(function: F, /) -> F: ...
@overload
def compiled(*, inline: bool = True) -> Callable[[F], F]: ...
def compiled(function: Any = None, /, *, inline: bool = True) -> Any:
    """Mark a function as usable in compiled code: a rule of a game, or a helper of rules.

    From Python it stays the plain function.  Inside a search it is compiled for the types at hand,
    and inlined unless *inline* is false, which suits large functions.  It may use numbers, tuples,
    loops, constants of its module and other such functions.  If a function does not compile, the
    first search that needs it raises a :class:`ContractError` that names it.
    """
    if function is not None:
        require_callable(function, "what @compiled is put before")
        return usable_in_compiled_code(function, inline)
    return functools.partial(usable_in_compiled_code, inline=inline)


def kernel(function: Callable[..., Any]) -> Kernel:
    """Make a kernel, whose types follow from its annotations (see the module's docstring)."""
    return Kernel(function)


class Kernel(Interpretable):
    """Machine code that Python calls: one source, with a specialisation for each position class.

    A kernel with an ``Evaluator`` among its arguments has one for each pair of a position class
    and an evaluation; one whose types depend on neither has a single one.  A *quiet* one compiles
    in no time that a user would notice.
    """

    cache = KernelCache

    def __init__(self, function: Callable[..., Any], *, quiet: bool = False):
        self.quiet = quiet
        self.__doc__ = function.__doc__
        self.function = function
        self.name = f"{function.__module__}.{function.__qualname__}"
        self._ready: dict[Any, Callable[..., Any]] = {}
        self._compiler: type[KernelCompiler] = type(function.__name__, (KernelCompiler,), {})
        self.dispatcher = numba.njit(
            nogil=True,
            error_model="numpy",
            _nrt=False,
            no_cfunc_wrapper=True,
            pipeline_class=self._compiler,
        )(function)
        if jit_enabled():
            self.dispatcher._can_compile = False

    @functools.cached_property
    def _hints(self) -> dict[str, Any]:
        """The annotations of the arguments in their order, and last the result's."""
        return typing.get_type_hints(self.function, include_extras=True)

    @functools.cached_property
    def _estimates(self) -> bool:
        return Evaluator in self._hints.values()

    @functools.cached_property
    def _is_shared(self) -> bool:
        """Whether all games share the code: no type depends on the position class."""
        return all(
            isinstance(hint, type)
            or hint in _SCALARS
            or isinstance(hint.__metadata__[0], types.Type)
            for hint in self._hints.values()
        )

    def signature(self, cls: type, evaluation: Any = None, techniques: Techniques = ()) -> Any:
        """Return the numba signature for a position class, from the annotations."""
        *arguments, result = (
            _argument_type(hint, cls, evaluation, techniques) for hint in self._hints.values()
        )
        return result(*arguments)

    def __call__(self, *args: Any) -> Any:
        return self.dispatcher(*args)

    def specialise(
        self, cls: type, evaluation: Any = None, techniques: Techniques = ()
    ) -> Callable[..., Any]:
        """Return the machine code for positions of class *cls*: load it, or compile and keep it.

        *techniques* are the ones from outside the engine whose hooks it calls.  For rules in plain
        Python it is plain Python as well.

        It takes arguments of exactly the signature's types: a call costs a seventh of the time that
        numba needs to inspect them.  :class:`GameError` if the rules of the game do not compile.
        """
        if is_plain(cls):
            return interpret(self.function, cls, techniques)
        if self._is_shared:
            cls, techniques = EveryGame, ()
        kind = evaluation.type if self._estimates else None
        key = cls, kind, techniques
        ready = self._ready.get(key)  # without waiting for compilations by other threads
        if ready is not None:
            return ready
        with _specialising:
            if key not in self._ready:
                self._ready[key] = self._specialise(cls, evaluation if kind else None, techniques)
            return self._ready[key]

    def is_ready(self, cls: type, evaluation: Any = None, techniques: Techniques = ()) -> bool:
        """Return whether :meth:`specialise` need not compile anything for the same arguments."""
        if is_plain(cls):
            return True
        if self._is_shared:
            cls, techniques = EveryGame, ()
        kind = evaluation.type if self._estimates else None
        if (cls, kind, techniques) in self._ready:
            return True
        cache = self.cache(self, cls, evaluation if kind else None, techniques)
        return cache.is_kept(self.signature(cls, evaluation, techniques))

    def _specialise(self, cls: type, evaluation: Any, techniques: Techniques) -> Callable[..., Any]:
        cache = self.dispatcher._cache = self.cache(self, cls, evaluation, techniques)
        self.dispatcher._can_compile = True
        try:
            signature = self.signature(cls, evaluation, techniques)
            self._compiler.digest = cache.digest(signature)
            with cache.turn(signature), _without_garbage_collection(), uncoloured():
                return self.dispatcher.compile(signature)  # type: ignore[no-any-return]
        except CutnodeError:
            raise
        except Exception as error:
            raise diagnose(cls, error, evaluation, techniques) from error
        finally:
            self.dispatcher._can_compile = False

    def callees(self, cls: type) -> list[Kernel]:
        """Return the kernels that this one calls for a class, directly or by other functions."""
        found: list[Kernel] = []
        seen: set[Any] = set()
        waiting = [self.function]
        while waiting:
            function = waiting.pop()
            seen.add(function)
            for name in function.__code__.co_names:
                called = function.__globals__.get(name)
                if isinstance(called, FunctionType) and called in DERIVED:
                    called = DERIVED[called](cls)
                if isinstance(called, Kernel) and called not in (self, *found):
                    found.append(called)
                elif isinstance(called, FunctionType) and called not in seen:
                    waiting.append(called)
        return found


@contextlib.contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """Switch garbage collection off: numba makes millions of objects, of which few are garbage.

    Collection would take a tenth of numba's time.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        # Move all to the oldest generation: the next collection would walk through it.
        gc.freeze()
        gc.unfreeze()
        gc.enable()


@typeof_impl.register(Kernel)
def _typeof_kernel(kernel: Kernel, context: Any) -> types.Type:
    return types.Dispatcher(kernel.dispatcher)
