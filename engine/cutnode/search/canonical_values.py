"""Canonical values of positions under normal play, and tables of them.

A position is the sum of its parts, and a part is worth what its moves lead to:
:func:`cutnode.kernels.sums.sum_form` computes both at once.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from cutnode.cgt.memory import Memory as Forms
from cutnode.cgt.values import Value, rebuilt
from cutnode.compiler.memory import Memory
from cutnode.contract.derived import require_moves
from cutnode.contract.dispatch import defines, game_constant, game_name, is_plain, value_limit
from cutnode.contract.errors import (
    CutnodeError,
    GameError,
    require_at_least,
    require_callable,
    shown,
)
from cutnode.contract.messages import contract_violation, position_text
from cutnode.contract.positions import coerce
from cutnode.contract.stop import MOVES, NODES, PLIES
from cutnode.kernels.clock import Clock
from cutnode.kernels.forms import FREE, MOST_TERMS, NO_FORM, TOP, first_node
from cutnode.kernels.sums import KEPT, keep_values, sum_dtype, sum_form
from cutnode.runtime.running import KernelCall, Limits, run
from cutnode.runtime.unpickled import Unpickled
from cutnode.search.board import class_of, given_position
from cutnode.search.solving import lines_too_long
from cutnode.storage.arrays import class_in, identity, read_arrays, write_arrays

UNSUITED = ("chance", "turn", "reversible", "drawn", "settled")
"""The verbs of games that are no sums of their parts."""

KIND = b"cutnode values\n"

MEANING = (
    *(f"contract/{name}.py" for name in ("bits", "default_keys", "part_keys")),
    "kernels/forms.py",
)
"""The engine's modules on which a file of values depends, in addition to the game."""


class UnknownValueError(CutnodeError):
    """A value that is too large, or not known within the limits; *reason* says which."""

    def __init__(self, message: str, reason: str):
        super().__init__(message)
        self.reason = reason


class ValueTable(Unpickled):
    """The canonical values of parts of a *game*'s positions.

    *game* is a position, or a game or its name, which may have a variant.  *megabytes* is the
    memory for canonical forms in MiB, which is touched as it is needed; about a million parts are
    kept, in 16 MiB more.

    Each call of :func:`value_of` that uses the table adds to it, and the next one takes known
    values from it; so does the solver of sums (:func:`cutnode.solve` with ``values``).
    :class:`GameError` if the game has no canonical values.
    """

    def __init__(self, game: Any, megabytes: int = 64):
        cls = class_of(game)
        require_sums(cls)
        require_at_least(megabytes, 1, "megabytes")
        self.cls: Any = cls
        self.memory = Memory(cls, sum_dtype(cls))
        self.memory["plies"] = game_constant(cls, "MAX_PLIES", 512)
        self.compute = sum_form.specialise(cls)  # compiles before a clock runs
        self.megabytes = megabytes
        self.forms = Forms(megabytes << 20)
        self.in_use = threading.Lock()
        """The lock that a call with this table holds: only one at a time."""

    @property
    def positions(self) -> int:
        """The positions that the last call, or the one that runs, has looked at."""
        return int(self.memory["formed"])

    def __len__(self) -> int:
        return len(self._entries()[0])

    def __repr__(self) -> str:
        return f"<values of {game_name(self.cls)}: {len(self):,} parts>"

    def value(
        self, position: Any, limits: Limits, look: Callable[[], None] = lambda: None
    ) -> Value:
        """Return the value of a position; *look* is called every now and then.

        :class:`CutnodeError` if it is too large, or a limit is reached first.
        """
        require_values(self, type(position))
        require_moves(position)
        with self.held():
            return self._value(coerce(position), limits, look)

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Hold the table for one call; :class:`CutnodeError` if another has it."""
        if not self.in_use.acquire(blocking=False):
            raise CutnodeError(
                "another search uses this table: wait until it ends, or use another table"
            )
        try:
            yield
        finally:
            self.in_use.release()

    def _value(self, position: Any, limits: Limits, look: Callable[[], None]) -> Value:
        memory, forms = self.memory, self.forms
        memory.clear(("stop", "formed", "depth"))
        memory["form_limit"] = limits.nodes or 0
        forms.words[TOP] = 0  # an error in the rules may have come between pushes
        question = position, 0, memory.argument, forms.words
        clock = Clock(limits.seconds)
        call = KernelCall(lambda: self.compute(*question), memory, clock)
        reason = run([call], limits.stops, look=look)
        if reason == "interrupted":
            raise KeyboardInterrupt
        if memory["stop"] == MOVES:
            raise contract_violation(memory.position("violation", position), MOVES)
        if memory["stop"] == PLIES:
            raise lines_too_long(self.cls)
        form = int(call.answer)
        if form != NO_FORM:
            return rebuilt(forms.nodes(form))
        if memory["stop"] == NODES:
            reason = "node limit"
        looked = f"{self.positions:,} positions looked at"
        if reason:
            raise UnknownValueError(
                f"no value of {position_text(position)} yet: {reason}, {looked}", reason
            )
        most = (
            f"forms have filled their memory of {self.megabytes} MiB"
            if forms.is_half_full
            else f"a part's has more than {int(forms.words[MOST_TERMS]):,} terms"
        )
        raise CutnodeError(f"the value of {position_text(position)} is too large: {most}, {looked}")

    def _entries(self) -> tuple[Any, Any]:
        """Return the keys and the forms of the known parts."""
        entries = np.asarray(self.memory.words["values"], np.uint64).reshape(-1, 2)
        known = entries[entries[:, 1] >= KEPT]
        return known[:, 0].copy(), known[:, 1] - np.uint64(KEPT)

    @property
    def _first(self) -> int:
        return int(first_node(self.forms.words))

    def _nodes(self) -> Any:
        """Return the nodes of all forms."""
        return self.forms.words[self._first : int(self.forms.words[FREE])]

    def lend(self, memory: Memory, forms: Any) -> None:
        """Copy all values to a thread's memory and its empty array of forms.

        The array must be at least as large as this table's.
        """
        with self.held():
            self._keep(self._first, [self._nodes(), *self._entries()], memory, forms)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the table to a file, which appears only when all of it is written."""
        about = {
            **identity(self.cls, MEANING),
            "megabytes": self.megabytes,
            "first": self._first,
        }
        with self.held():
            keys, values = self._entries()
            arrays = {"nodes": self._nodes().copy(), "keys": keys, "values": values}
        write_arrays(path, KIND, about, arrays)

    @staticmethod
    def load(path: str | os.PathLike[str]) -> ValueTable:
        """Load a table from a file.

        :class:`CutnodeError` if the file has no values, is damaged, or is about a game that is not
        loaded or has other rules now.
        """
        about, arrays = read_arrays(path, KIND, CutnodeError, map=False)
        table = ValueTable(class_in(about, path, CutnodeError, MEANING), about["megabytes"])
        given = [arrays[name] for name in ("nodes", "keys", "values")]
        if is_plain(table.cls):
            given = [array.tolist() for array in given]
        table._keep(about["first"], given, table.memory, table.forms.words)
        return table

    def _keep(self, first: int, arrays: list[Any], memory: Memory, forms: Any) -> None:
        """Copy nodes, keys and values, as they are in a file, to a memory."""
        if is_plain(self.cls):
            arrays = [array.tolist() for array in arrays]
        keep_values.specialise(self.cls)(first, *arrays, memory.argument, forms)


def require_values(values: ValueTable | None, cls: Any) -> None:
    """Raise :class:`CutnodeError` if *values* are not about positions of a class."""
    if values is None:
        return
    if not isinstance(values, ValueTable):
        raise CutnodeError(f"values must be a ValueTable, got {shown(values)}")
    if values.cls is not cls:
        raise CutnodeError(f"the values are of {game_name(values.cls)}, not {game_name(cls)}")


def require_sums(cls: Any) -> None:
    """Raise :class:`GameError` if positions of a game are no games of normal play."""
    given = next((name for name in ("parts", "swapped") if defines(cls, name)), None)
    if given is None:
        raise GameError(
            f"{game_name(cls)} defines neither parts nor swapped: only games of normal play, in "
            f"which whoever cannot move loses, have canonical values"
        )
    for name in UNSUITED:
        if defines(cls, name):
            raise GameError(
                f"{game_name(cls)} defines {given} and {name}: sums need normal play, without "
                f"chance, extra turns, cycles, draws or scores"
            )
    if value_limit(cls) != 1:
        raise GameError(
            f"{game_name(cls)} defines {given}, so its VALUE_LIMIT must be 1, got "
            f"{value_limit(cls):g}: whoever cannot move loses"
        )


def value_of(
    position: Any,
    text: str | None = None,
    *,
    nodes: int | None = None,
    seconds: float | None = None,
    stop: threading.Event | None = None,
    values: ValueTable | None = None,
    progress: Callable[[int], None] | None = None,
) -> Value:
    """Return the canonical value of a position of normal play; Left is the player to move.

    *position* and *text* are as for :func:`solve`.  The game must define the verb ``parts`` or
    ``swapped``; a player without a move loses.  An impartial position is worth a nimber.

    *nodes* and *seconds* limit the search, and the event *stop* ends it; *progress* is called every
    now and then with the number of positions looked at.  Known *values* are taken from a table, and
    added to it.

    Raise :class:`GameError` if the game has no canonical values, :class:`PositionError` if *text*
    is not a position, and :class:`CutnodeError` if the value is too large or a limit is reached.
    """
    position = given_position(position, text)
    limits = Limits(nodes, seconds, stop)
    require_callable(progress, "progress")
    require_values(values, type(position))
    table = ValueTable(type(position)) if values is None else values

    def look() -> None:
        if progress is not None:
            progress(table.positions)

    return table.value(position, limits, look)
