"""The legal moves of a position, for Python."""

from __future__ import annotations

from typing import Any

from engine.contract.dispatch import game_constant, module_of
from engine.contract.errors import ContractError
from engine.contract.messages import contract_violation
from engine.contract.stop import MOVES
from engine.contract.verbs import MOVES_ROOM, chance, moves, outcome

__all__ = ["legal_moves"]


def legal_moves(position: Any) -> list[int]:
    """Return the legal moves, in the game's order; none if it is over or if chance decides.

    :class:`ContractError` if they are more than ``MAX_MOVES``.
    """
    if outcome(position)[0] or chance(position) > 0:
        return []
    most = game_constant(type(position), "MAX_MOVES", 256)
    buffer: list[int] = [0] * most
    try:
        return buffer[: _end(position, moves(position, buffer, 0))]
    except IndexError:
        if moves(position, [0] * (most + MOVES_ROOM), 0) <= most:
            raise
    raise contract_violation(position, MOVES)


def _end(position: Any, end: Any) -> int:
    """Return the place after the last move; :class:`ContractError` if a rule returned none."""
    if isinstance(end, bool) or not hasattr(end, "__index__"):
        raise ContractError(
            f"{module_of(type(position)).__name__}.moves returns {end!r}: it has to return where "
            f"the next move would be written, the last value of its parameter 'at'"
        )
    return int(end)
