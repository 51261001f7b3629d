"""Dispatch: a verb finds its game by the class of the position it is given.

Compiled code dispatches at compile time, so a search is as specialised as one written by hand for
the game; plain Python dispatches at run time.  There is no registry: the module that defines the
position class is the game.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Sequence
from numbers import Real
from types import ModuleType
from typing import Any

from numba import types
from numba.core import config

from cutnode.contract.collection import COLLECTION, is_of_engine
from cutnode.contract.errors import GameError
from cutnode.contract.guarding import guard, needs_no_guard
from cutnode.contract.native import in_compiled_code, is_compiled
from cutnode.contract.numbering import numbering

PLAIN_COPY = "_plain"
"""The suffix of a module's name that makes the name of its plain copy."""

MOST_PLIES = 126
"""The most plies of a line of search, including extensions and quiescence search."""

GREATEST = 1_000_000
"""The greatest constant of a game: arrays are made with as many elements."""

MAX_VALUE = 32000
"""The largest absolute value."""


def module_of(cls: type) -> ModuleType:
    """Return the game of a position class: the module that defines it."""
    try:
        return sys.modules[cls.__module__]
    except KeyError:
        raise GameError(f"the module {cls.__module__!r} of {cls!r} is not loaded") from None


def game_name(cls: type) -> str:
    """Return the name of a position class's game, with its variant, as a person writes it."""
    name, variant = module_of(cls).__name__, getattr(cls, "VARIANT", "")
    name = name.removeprefix(f"{COLLECTION}.")
    if getattr(module_of(cls), "PLAIN", False):
        name = name.removesuffix(PLAIN_COPY)
    return f"{name}:{variant}" if variant else name


def declared(cls: type, name: str) -> Any:
    """Return what a position class, or else its game's module, declares as *name*, or None."""
    return getattr(cls, name, getattr(module_of(cls), name, None))


def game_constant(cls: type, name: str, default: int) -> int:
    """Return a constant of the game of *cls*; :class:`GameError` if it is out of range."""
    number = getattr(cls, name, getattr(module_of(cls), name, default))
    if not hasattr(number, "__index__") or not 0 <= number <= GREATEST:
        raise GameError(
            f"{name} of {game_name(cls)} must be a whole number from 0 to {GREATEST}, "
            f"got {number!r}"
        )
    return int(number)


def longest_line(cls: type) -> int:
    """Return the most plies that a search follows a line of play in the game of *cls*."""
    return min(game_constant(cls, "MAX_PLIES", 512), MOST_PLIES)


def value_limit(cls: Any) -> float:
    """Return the ``VALUE_LIMIT`` of the game of a position class."""
    limit = getattr(cls, "VALUE_LIMIT", getattr(module_of(cls), "VALUE_LIMIT", MAX_VALUE))
    if not isinstance(limit, Real) or not 0 < float(limit) <= MAX_VALUE:
        raise GameError(
            f"VALUE_LIMIT of {game_name(cls)} must be a number above 0 and at most {MAX_VALUE}, "
            f"got {limit!r}"
        )
    return float(limit)


def defines(cls: type, name: str) -> bool:
    """Return whether the game of *cls* has its own version of a verb."""
    return callable(getattr(module_of(cls), name, None))


VERBS: dict[str, Callable[..., Any]] = {}
"""The verbs by name; their signatures are the contract."""

DISPATCHED: dict[Callable[..., Any], str] = {}
"""The names of the verbs by the functions that dispatch on a position's class."""

REQUIRED = frozenset({"moves", "play", "outcome"})
"""The verbs that every game defines."""


def is_plain(cls: Any) -> bool:
    """Return whether the rules of a position class run as plain Python."""
    return runs_plainly(module_of(cls))


@functools.cache
def runs_plainly(module: ModuleType) -> bool:
    """Return whether the rules of a game run as plain Python.

    They do if none is compiled, if the module says ``PLAIN = True``, or if compilation is
    disabled (``NUMBA_DISABLE_JIT=1``).  :class:`GameError` if only some are compiled.
    """
    rules = {name: getattr(module, name, None) for name in VERBS}
    missing = [name for name, rule in rules.items() if callable(rule) and not is_compiled(rule)]
    if not any(map(callable, rules.values())):
        return False
    if config.DISABLE_JIT or getattr(module, "PLAIN", False):
        return True
    if missing and any(map(is_compiled, rules.values())):
        raise GameError(
            f"{module.__name__} is only partly compiled: put @compiled before {', '.join(missing)}"
        )
    return bool(missing)


def is_foreign(cls: type) -> bool:
    """Return whether a class belongs to Python, numpy or the engine, and not to a game."""
    module = cls.__module__
    moves = getattr(module_of(cls), "moves", None)
    is_game = callable(moves) and moves not in DISPATCHED
    known = is_of_engine(module) or module.partition(".")[0] in {"numpy", *sys.stdlib_module_names}
    return known and not is_game


def no_position(cls: type) -> GameError:
    """Return the error for an argument of a class that is no position class."""
    return GameError(f"a position must come from a game, got one of type {cls.__name__}")


def bind(cls: type, name: str) -> Callable[..., Any]:
    """Return the function of a verb for positions of *cls*; :class:`GameError` if there is none."""
    default = VERBS[name]
    if getattr(module_of(cls), name, None) in DISPATCHED:
        raise no_position(cls)
    if not defines(cls, name):
        if name == "key" and is_plain(cls):
            return numbering(cls, not defines(cls, "reversible"))
        if name not in REQUIRED:
            return default
        if is_foreign(cls):
            raise no_position(cls)
        raise GameError(f"game {cls.__module__} does not define {name}(...)")
    rule: Callable[..., Any] = getattr(module_of(cls), name)
    parameters, given = _parameters(default), _parameters(rule)
    if len(given) != len(parameters):
        raise GameError(
            f"{cls.__module__}.{name} takes {len(given)} parameters; "
            f"the contract is {name}({', '.join(parameters)})"
        )
    return guard(cls, rule, name) if is_plain(cls) else rule


@functools.lru_cache(1000)
def _parameters(rule: Callable[..., Any]) -> tuple[str, ...]:
    return tuple(inspect.signature(rule).parameters)


def verb(default: Callable[..., Any]) -> Any:
    """Make a verb: dispatch on the position's class, with *default* where it is optional."""
    name = default.__name__
    VERBS[name] = default
    call = ", ".join(_parameters(default))
    modules = sys.modules
    kept: dict[type, tuple[ModuleType, dict[str, Any], Any, Callable[..., Any]]] = {}

    @functools.wraps(default)
    def dispatched(position: Any, *args: Any) -> Any:
        cls = type(position)
        if cls in kept:
            module, names, rule, bound = kept[cls]
            if modules.get(cls.__module__) is module and names.get(name) is rule:
                return bound(position, *args)
        bound = bind(cls, name)
        if needs_no_guard(cls):
            module = module_of(cls)
            rule = vars(module).get(name)
            is_missing = rule is None and bound is default and name != "key"  # which may be numbers
            if is_missing or bound is rule:
                kept[cls] = module, vars(module), rule, bound
        return bound(position, *args)

    @functools.wraps(default)
    def specialised(position: Any, *args: Any) -> Any:
        if not isinstance(position, types.BaseNamedTuple):
            return None
        rule = bind(position.instance_class, name)
        if rule is default:
            return default
        if not is_compiled(rule):
            raise GameError(f"{rule.__module__}.{name} is not compiled: put @compiled before it")
        # numba binds a verb's parameters by name, but a rule may name them as it likes.
        return eval(f"lambda {call}: rule({call})", {"rule": rule})

    in_compiled_code(dispatched)(specialised)
    DISPATCHED[dispatched] = name
    return dispatched


HOOKED: dict[Callable[..., Any], Callable[[Sequence[Any]], Callable[..., Any]]] = {}
"""For each function that calls hooks of techniques, how to make it for a list of techniques."""

DERIVED: dict[Callable[..., Any], Callable[[type], Callable[..., Any]]] = {}
"""For each function derived from what a game defines, how to make it for a position class."""


def derived(make: Callable[[type], Callable[..., Any]]) -> Any:
    """Make a function of a position from *make*, which returns the function for a class."""
    made: Callable[[Any], Callable[..., Any]] = functools.cache(make)

    def bound(position: Any, *args: Any) -> Any:
        return made(type(position))(position, *args)

    functools.update_wrapper(bound, make)
    DERIVED[bound] = made

    def specialised(position: Any, *args: Any) -> Any:
        return make(position.instance_class)

    in_compiled_code(bound)(specialised)
    return bound


def constant_of(find: Callable[[type], Any]) -> Any:
    """Make a function of a position that returns what *find* says of its class, a constant."""

    def make(cls: type) -> Callable[..., Any]:
        found = find(cls)
        return lambda position: found

    return derived(make)
