"""What a technique of the search is, and what its numbers are; no compiler is loaded for it."""

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
}
"""The points of a node at which techniques are asked, and the arguments of their hooks."""

NAME = re.compile(r"[a-z][a-z0-9_]*\Z")
MOST_MEMORY = 1 << 24


@dataclass(frozen=True, slots=True)
class Parameter:
    """A number of a technique, with the range in which it makes sense.

    It is an integer if its default is one.  The memory of a search has it in the field
    ``TECHNIQUE_NAME``, an int64 or a float64.
    """

    name: str
    default: float
    least: float
    most: float
    about: str
    """What it does, with its unit.  Depths are plies left."""
    measured: str = ""
    """What was measured of it."""
    margin: bool = False
    """It is in ``UNIT`` of the game; the memory of a search has it in that of ``evaluate``."""
    least_depth: bool = False
    """The technique does nothing at nodes of less depth, so nothing in searches less deep."""

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not NAME.match(self.name):
            raise CutnodeError(f"a parameter's name is small letters and _, not {self.name!r}")
        for bound in ("default", "least", "most"):
            number = require_number(getattr(self, bound), f"{bound} of {self.name}")
            object.__setattr__(self, bound, number)
        if not self.least <= self.default <= self.most:
            raise CutnodeError(
                f"{self.name} is from {self.least} to {self.most}: {self.default} is no default"
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
        """Return a value that fits; :class:`CutnodeError` calls the parameter by *name*."""
        value = as_python(value)
        wrong = isinstance(value, bool) or not isinstance(value, int | float)
        if wrong or not self.least <= value <= self.most or (self.is_integer and value % 1):
            kind = "an integer" if self.is_integer else "a number"
            raise CutnodeError(
                f"{name} is {kind} from {self.least:g} to {self.most:g}, not {value!r}"
            )
        return int(value) if self.is_integer else float(value)


@dataclass(frozen=True, slots=True, eq=False)
class Technique:
    """One way to search less, or better: a name, its numbers, and what it does at each node.

    The engine's own are in :mod:`cutnode.kernels.techniques`.  One of yours is such an object in a
    file of yours, with *hooks*: functions under ``@compiled`` that every node of the search calls
    at points that bear their names, with the arguments of :data:`POINTS`.  Machine code is made for
    just the techniques at hand: a point where none has a hook costs nothing.

    A hook reads its own numbers, and keeps what it learns, in the memory of the search: the
    parameter ``depth`` of a technique ``multicut`` is ``search.multicut_depth``, its counter
    ``cutoffs`` is ``search.multicut_cutoffs``, and its memory ``tried`` the array
    ``search.multicut_tried``.

    ``before_moves(node, plan, search)``
        Returns the plan: as it is, or one that cuts, changes the depth, or tests moves (see
        :mod:`cutnode.kernels.hooks`).
    ``rank(node, move, search)``
        Returns what is added to the score by which moves are ordered.
    ``order(position, move, child)``
        The same, as the game's verb ``order`` says it, and of the same weight.
    ``after_test(node, child, value, search)``
        Is told of a test that the plan asked for; True if no more are wanted: the node is cut.
    ``before_child(node, child, decision, search)``
        Returns the decision: as it is, or one that skips the move, reduces, or extends it.
    ``after_child(node, child, value, search)``
        Is told the score of a move that was searched.
    ``on_cutoff(node, child, search)``
        Is told of the move that cut the node.
    """

    name: str
    exact: bool
    """It changes how many nodes are visited and never the score."""
    about: str
    needs: str = ""
    """A verb or number that the game has to define for it."""
    short: str = ""
    """Its usual abbreviation."""
    former: str = ""
    """Its name before it got its published one: an alias, for one release."""
    source: str = ""
    """Where it was published."""
    parameters: tuple[Parameter, ...] = ()
    memory: Mapping[str, int] = field(default_factory=dict)
    """Arrays of int64 by name, with their lengths; zero until the search learns."""
    counters: tuple[str, ...] = ()
    """Counts of a search, which its statistics have as ``TECHNIQUE.COUNTER``."""
    estimates: bool = False
    """Its hooks ask for ``node.static_eval``."""
    before_moves: Callable[..., Any] | None = None
    rank: Callable[..., Any] | None = None
    order: Callable[..., Any] | None = None
    after_test: Callable[..., Any] | None = None
    before_child: Callable[..., Any] | None = None
    after_child: Callable[..., Any] | None = None
    on_cutoff: Callable[..., Any] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not NAME.match(self.name):
            raise CutnodeError(f"a technique's name is small letters and _, not {self.name!r}")
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
            raise CutnodeError(f"{self.name} has two numbers called {twice}")
        for name in (*self.memory, *self.counters):
            if not isinstance(name, str) or not NAME.match(name):
                raise CutnodeError(f"a name of {self.name} is small letters and _, not {name!r}")
        for name, size in self.memory.items():
            if not isinstance(size, int) or not 0 < size <= MOST_MEMORY:
                raise CutnodeError(
                    f"{name} of {self.name} has 1 to {MOST_MEMORY:,} numbers, not {size!r}"
                )
        for point, hook in self.hooks():
            self._check(point, hook)

    def _check(self, point: str, hook: Any) -> None:
        if not callable(hook):
            raise CutnodeError(f"{point} of {self.name} is a function, not {hook!r}")
        wanted = POINTS[point]
        given = tuple(inspect.signature(hook).parameters)
        if len(given) != len(wanted):
            raise CutnodeError(
                f"{point} of {self.name} takes ({', '.join(wanted)}), not ({', '.join(given)})"
            )

    def hooks(self) -> Iterator[tuple[str, Callable[..., Any]]]:
        """Yield its hooks, with their points."""
        for point in POINTS:
            hook = getattr(self, point)
            if hook is not None:
                yield point, hook

    def field(self, name: str) -> str:
        """The field of the memory of a search that has a parameter, a counter, or a memory."""
        return f"{self.name}_{name}"

    @property
    def key(self) -> str:
        """Its name in the keys of tables: a new name moves no entry, and so changes no search."""
        return self.former or self.name

    def digest(self) -> str:
        """What tells it from another of its name: its numbers, and the code of its hooks."""
        parts: list[Any] = [self.name, self.exact, self.estimates, self.counters]
        parts += [sorted(self.memory.items())]
        parts += [(each.name, each.default, each.margin) for each in self.parameters]
        parts += [(point, hook.__module__, function_digest(hook)) for point, hook in self.hooks()]
        return blake2b(repr(parts).encode(), digest_size=8).hexdigest()


def function_digest(function: Any) -> str:
    """What tells a function from another of its name: its code and constants."""
    code = function.__code__
    constants = [constant for constant in code.co_consts if not hasattr(constant, "co_code")]
    text = repr((code.co_code, constants, code.co_names))
    return blake2b(text.encode(), digest_size=8).hexdigest()
