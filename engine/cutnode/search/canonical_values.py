"""Canonical values of positions under normal play, and tables of them.

A position is the sum of its parts, and a part is worth what its moves lead to:
:func:`cutnode.kernels.sums.sum_form` computes both at once.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from cutnode.cgt.memory import Memory as Forms
from cutnode.cgt.values import Value, rebuilt
from cutnode.compiler.memory import Memory
from cutnode.contract.derived import require_moves
from cutnode.contract.dispatch import game_constant, game_name, is_plain
from cutnode.contract.errors import CutnodeError, require_callable
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
from cutnode.search.sums import require_sums
from cutnode.storage.arrays import class_in, identity, read_arrays, write_arrays

KIND = b"cutnode values\n"

MEANING = ("contract/bits.py", "contract/part_keys.py", "kernels/forms.py")
"""The engine's modules on which a file of values depends, in addition to the game."""

FORM_BYTES = 64 << 20
"""The memory of a table for canonical forms."""


class ValueTable(Unpickled):
    """The canonical values of parts of a *game*'s positions.

    *game* is a position, or a game or its name, which may have a variant.  Each call of
    :func:`value_of` that uses the table adds to it, and the next one takes known values from it; so
    does the solver of sums (:func:`cutnode.solve` with ``values``).  About a million parts are
    kept, in at most 100 MiB.  :class:`GameError` if the game has no canonical values.
    """

    def __init__(self, game: Any):
        cls = class_of(game)
        require_sums(cls)
        self.cls: Any = cls
        self.memory = Memory(cls, sum_dtype(cls))
        self.memory["plies"] = game_constant(cls, "MAX_PLIES", 512)
        self.forms = Forms(FORM_BYTES)
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

    def require(self, cls: Any) -> None:
        """Raise :class:`CutnodeError` if the table is not about positions of a class."""
        if cls is not self.cls:
            raise CutnodeError(
                f"the table has values of {game_name(self.cls)}, not {game_name(cls)}"
            )

    def value(
        self, position: Any, limits: Limits, look: Callable[[], None] = lambda: None
    ) -> Value:
        """Return the value of a position; *look* is called every now and then.

        :class:`CutnodeError` if it is too large, or a limit is reached first.
        """
        self.require(type(position))
        require_moves(position)
        if not self.in_use.acquire(blocking=False):
            raise CutnodeError(
                "another search uses this table: wait until it ends, or use another table"
            )
        try:
            return self._value(coerce(position), limits, look)
        finally:
            self.in_use.release()

    def _value(self, position: Any, limits: Limits, look: Callable[[], None]) -> Value:
        memory, forms = self.memory, self.forms
        memory.clear(("stop", "formed", "depth"))
        memory["form_limit"] = limits.nodes or 0
        forms.words[TOP] = 0  # an error in the rules may have come between pushes
        compute = sum_form.specialise(self.cls)
        clock = Clock(limits.seconds)
        call = KernelCall(lambda: compute(position, 0, memory.argument, forms.words), memory, clock)
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
            raise CutnodeError(f"no value of {position_text(position)} yet: {reason}, {looked}")
        most = (
            f"forms have filled their memory of {FORM_BYTES >> 20} MiB"
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
        """Copy all values to a thread's memory and its empty array of forms, if there is room."""
        self._keep(self._first, [self._nodes(), *self._entries()], memory, forms)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the table to a file, which appears only when all of it is written."""
        keys, values = self._entries()
        arrays = {"nodes": self._nodes(), "keys": keys, "values": values}
        write_arrays(path, KIND, {**identity(self.cls, MEANING), "first": self._first}, arrays)

    @staticmethod
    def load(path: str | os.PathLike[str]) -> ValueTable:
        """Load a table from a file.

        :class:`CutnodeError` if the file has no values, is damaged, or is about a game that is not
        loaded or has other rules now.
        """
        about, arrays = read_arrays(path, KIND, CutnodeError, map=False)
        table = ValueTable(class_in(about, path, CutnodeError, MEANING))
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
    if values is not None and not isinstance(values, ValueTable):
        raise CutnodeError(f"values must be a ValueTable, got {values!r}")
    table = ValueTable(type(position)) if values is None else values

    def look() -> None:
        if progress is not None:
            progress(table.positions)

    return table.value(position, limits, look)
