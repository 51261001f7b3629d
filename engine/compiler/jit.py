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
"""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable
from types import FunctionType
from typing import Any, TypeVar, overload

import numba
from numba import types
from numba.core import config
from numba.core.typeinfer import TypeInferer
from numba.extending import typeof_impl

from engine.compiler.cache import KernelCache
from engine.compiler.diagnosis import diagnose
from engine.compiler.interpreter import Interpretable, interpret
from engine.contract.dispatch import is_plain
from engine.contract.errors import CutnodeError
from engine.contract.native import usable_in_compiled_code
from engine.contract.positions import position_type

__all__ = ["Kernel", "compiled", "jit_enabled"]

_specialising = threading.RLock()

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
        self.dispatcher._cache = KernelCache(self, cls, evaluation)
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
