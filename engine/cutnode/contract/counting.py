"""Counting moves without a buffer to write them to, for use in rules."""

from __future__ import annotations

import operator
from typing import Any

from numba import types
from numba.core.datamodel import models, register_default
from numba.core.imputils import lower_constant
from numba.extending import typeof_impl

from cutnode.contract.native import in_compiled_code, usable_in_compiled_code
from cutnode.contract.verbs import moves, outcome


class Nowhere:
    """A buffer that discards what is written to it; it cannot be read."""

    def __setitem__(self, at: int, move: int) -> None:
        pass


NOWHERE = Nowhere()
"""The buffer to pass to ``moves`` if only the number of moves matters."""


class NowhereType(types.Opaque):  # type: ignore[misc]
    """The compiled type of :data:`NOWHERE`."""

    def __init__(self) -> None:
        super().__init__(name="nowhere")


register_default(NowhereType)(models.OpaqueModel)


@typeof_impl.register(Nowhere)
def _typeof_nowhere(nowhere: Nowhere, context: Any) -> types.Type:
    return NowhereType()


@lower_constant(NowhereType)
def _constant(context: Any, builder: Any, kind: types.Type, value: Any) -> Any:
    return context.get_dummy_value()


@in_compiled_code(operator.setitem)
def _write_nowhere(buffer: Any, at: Any, move: Any) -> Any:
    if isinstance(buffer, NowhereType):
        return lambda buffer, at, move: None
    return None


@usable_in_compiled_code
def count_moves(position: Any) -> int:
    """Return how many legal moves there are; 0 if the game is over.

    For ``features`` and estimates.  The game's ``moves`` must not read its buffer.
    """
    if outcome(position)[0]:
        return 0
    return moves(position, NOWHERE, 0)  # type: ignore[no-any-return]


def listed(position: Any, buffer: Any, at: int) -> int:
    """Return the end of the moves that begin at *at*; *buffer* may be left unwritten.

    Compiled code writes nothing unless the game's ``moves`` reads what it wrote.
    """
    return moves(position, buffer, at)  # type: ignore[no-any-return]


@in_compiled_code(listed)
def _listed_nowhere(position: Any, buffer: Any, at: Any) -> Any:
    return lambda position, buffer, at: moves(position, NOWHERE, at)


usable_in_compiled_code(listed)  # where that does not compile
