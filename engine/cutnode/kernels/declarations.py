"""Declarations of search techniques and their parameters; importing them loads no compiler."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

from cutnode.contract.errors import CutnodeError, as_python, require_iterable, require_number, shown

POINTS = {
    "before_moves": ("node", "plan", "search"),
    "rank": ("node", "move", "search"),
    "order": ("position", "move", "child"),
    "after_test": ("node", "child", "value", "search"),
    "before_child": ("node", "child", "decision", "search"),
    "after_child": ("node", "child", "value", "search"),
    "on_cutoff": ("node", "child", "search"),
    "store": ("table", "entry", "search"),
}
"""The points of a node at which hooks of techniques are called, and the hooks' arguments."""

NAME = re.compile(r"[a-z][a-z0-9_]*\Z")
MOST_MEMORY = 1 << 24


@dataclass(frozen=True, slots=True)
class Parameter:
    """A number of a technique, with the range in which it makes sense.

    It is an integer if its default is one.  The memory of a search holds it in the field
    ``TECHNIQUE_NAME``, an int64 or a float64.
    """

    name: str
    default: float
    least: float
    most: float
    about: str
    """What it does, with its unit.  Depths are plies left."""
    measured: str = ""
    """The effect that was measured."""
    margin: bool = False
    """Whether its unit is the game's ``UNIT``; the memory of a search has it in the unit of
    ``evaluate``."""
    least_depth: bool = False
    """Whether it is the least depth at which the technique acts; shallower searches do not use the
    technique at all."""

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not NAME.match(self.name):
            raise CutnodeError(f"a parameter's name must match [a-z][a-z0-9_]*, got {self.name!r}")
        for bound in ("default", "least", "most"):
            number = require_number(getattr(self, bound), f"{bound} of {self.name}")
            object.__setattr__(self, bound, number)
        if not self.least <= self.default <= self.most:
            raise CutnodeError(
                f"default of {self.name} must be from {self.least} to {self.most}, "
                f"got {self.default}"
            )

    @property
    def is_integer(self) -> bool:
        """Whether its values are whole numbers, as its default is."""
        return isinstance(self.default, int)

    @property
    def dtype(self) -> str:
        """The type of its field."""
        return "int64" if self.is_integer or self.margin else "float64"

    def checked(self, value: Any, name: str) -> float:
        """Return a valid value; :class:`CutnodeError` refers to the parameter by *name*."""
        value = as_python(value)
        wrong = isinstance(value, bool) or not isinstance(value, int | float)
        if wrong or not self.least <= value <= self.most or (self.is_integer and value % 1):
            kind = "an integer" if self.is_integer else "a number"
            raise CutnodeError(
                f"{name} must be {kind} from {self.least:g} to {self.most:g}, got {value!r}"
            )
        return int(value) if self.is_integer else float(value)


@dataclass(frozen=True, slots=True, eq=False)
class Technique:
    """A way to search fewer nodes, or better: a name, parameters, and what it does at each node.

    The engine's own techniques are in :mod:`cutnode.kernels.techniques`.  To add one, create such
    an object in a file of your own, with *hooks*: functions decorated with ``@compiled`` that every
    node of the search calls at the points named after them, with the arguments of :data:`POINTS`.
    Machine code is compiled for exactly the techniques in use: a point without a hook costs
    nothing.

    A hook reads its parameters, and keeps what it learns, in the memory of the search: the
    parameter ``depth`` of a technique ``multicut`` is ``search.multicut_depth``, its counter
    ``cutoffs`` is ``search.multicut_cutoffs``, and its memory ``tried`` is the array
    ``search.multicut_tried``.

    ``before_moves(node, plan, search)``
        Returns the plan: unchanged, or one that cuts the node, changes the depth, or tests moves
        (see :mod:`cutnode.kernels.hooks`).
    ``rank(node, move, search)``
        Returns a number to add to the move's ordering score.
    ``order(position, move, child)``
        Returns one as well, on the scale of the game's verb ``order`` and with the same weight.
    ``after_test(node, child, value, search)``
        Receives the score of a test that the plan asked for; returns True to cut the node.
    ``before_child(node, child, decision, search)``
        Returns the decision: unchanged, or one that skips, reduces or extends the move.
    ``after_child(node, child, value, search)``
        Receives the score of a move that was searched.
    ``on_cutoff(node, child, search)``
        Receives the move that cut the node.
    ``store(table, entry, search)``
        Stores an ``Entry`` in the transposition table instead of the search, and returns whether an
        entry of another position is lost: a replacement scheme, as in
        :mod:`cutnode.kernels.replacement`.  Only one technique can have it.
    """

    name: str
    exact: bool
    """Whether it changes only the number of nodes, never the score."""
    about: str
    needs: str = ""
    """A verb or number that the game has to define for the technique to work."""
    unless: tuple[str, ...] = ()
    """Verbs that a game must not define for the technique to work."""
    short: str = ""
    """Its usual abbreviation."""
    former: str = ""
    """An earlier name, still accepted as an alias for one release."""
    source: str = ""
    """Where it was published."""
    parameters: tuple[Parameter, ...] = ()
    memory: Mapping[str, int] = field(default_factory=dict)
    """Arrays of int64: their names and lengths.  They start as zeros."""
    counters: tuple[str, ...] = ()
    """Counters, which the statistics of a search list as ``TECHNIQUE.COUNTER``."""
    estimates: bool = False
    """Whether its hooks need ``node.static_eval``."""
    before_moves: Callable[..., Any] | None = None
    rank: Callable[..., Any] | None = None
    order: Callable[..., Any] | None = None
    after_test: Callable[..., Any] | None = None
    before_child: Callable[..., Any] | None = None
    after_child: Callable[..., Any] | None = None
    on_cutoff: Callable[..., Any] | None = None
    store: Callable[..., Any] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not NAME.match(self.name):
            raise CutnodeError(f"a technique's name must match [a-z][a-z0-9_]*, got {self.name!r}")
        parameters = require_iterable(self.parameters, f"parameters of {self.name}")
        if not all(isinstance(each, Parameter) for each in parameters):
            raise CutnodeError(
                f"parameters of {self.name} must be Parameters, got {shown(self.parameters)}"
            )
        if not isinstance(self.memory, Mapping):
            raise CutnodeError(
                f"memory of {self.name} must be sizes by name, got {shown(self.memory)}"
            )
        names = [*(each.name for each in self.parameters), *self.memory, *self.counters]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise CutnodeError(f"{self.name} uses the name {twice} twice")
        for name in (*self.memory, *self.counters):
            if not isinstance(name, str) or not NAME.match(name):
                raise CutnodeError(f"names in {self.name} must match [a-z][a-z0-9_]*, got {name!r}")
        for name, size in self.memory.items():
            if not isinstance(size, int) or not 0 < size <= MOST_MEMORY:
                raise CutnodeError(
                    f"{name} of {self.name} must hold 1 to {MOST_MEMORY:,} numbers, got {size!r}"
                )
        for point, hook in self.hooks():
            self._check(point, hook)

    def _check(self, point: str, hook: Any) -> None:
        if not callable(hook):
            raise CutnodeError(f"{point} of {self.name} must be a function, got {hook!r}")
        wanted = POINTS[point]
        given = tuple(inspect.signature(hook).parameters)
        if len(given) != len(wanted):
            raise CutnodeError(
                f"{point} of {self.name} must take ({', '.join(wanted)}), got ({', '.join(given)})"
            )

    def hooks(self) -> Iterator[tuple[str, Callable[..., Any]]]:
        """Yield the points at which it has hooks, with the hooks."""
        for point in POINTS:
            hook = getattr(self, point)
            if hook is not None:
                yield point, hook

    def field(self, name: str) -> str:
        """Return the search memory's field that holds a parameter, a counter, or an array."""
        return f"{self.name}_{name}"

    @property
    def key(self) -> str:
        """Its name in table keys: renaming a technique moves no entry, and so changes no search."""
        return self.former or self.name

    def digest(self) -> str:
        """Return a digest of its numbers and its hooks' code."""
        parts: list[Any] = [self.name, self.exact, self.estimates, self.counters]
        parts += [sorted(self.memory.items())]
        parts += [(each.name, each.default, each.margin) for each in self.parameters]
        parts += [(point, hook.__module__, function_digest(hook)) for point, hook in self.hooks()]
        return blake2b(repr(parts).encode(), digest_size=8).hexdigest()


def function_digest(function: Any) -> str:
    """Return a digest of a function's code and constants."""
    code = function.__code__
    constants = [constant for constant in code.co_consts if not hasattr(constant, "co_code")]
    text = repr((code.co_code, constants, code.co_names))
    return blake2b(text.encode(), digest_size=8).hexdigest()
