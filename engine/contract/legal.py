"""The legal moves of a position, for Python."""

from __future__ import annotations

from random import Random
from typing import Any

from engine.contract.dispatch import game_constant, module_of
from engine.contract.errors import ContractError
from engine.contract.messages import breach, contract_violation
from engine.contract.stop import MOVES
from engine.contract.verbs import MOVES_ROOM, NO_MOVE, chance, moves, outcome, play

__all__ = ["end_of", "is_move", "legal_moves", "require_moves"]

LOOKED_AT = 200
"""Plies of the random game in which moves are looked at before the first search of a game."""

_seen: set[Any] = set()


def legal_moves(position: Any) -> list[int]:
    """Return the legal moves, in the game's order; none if it is over or if chance decides.

    :class:`ContractError` if they are more than ``MAX_MOVES``, or one is no move.
    """
    if outcome(position)[0] or chance(position) > 0:
        return []
    most = game_constant(type(position), "MAX_MOVES", 256)
    buffer: list[int] = [0] * most
    try:
        listed = buffer[: end_of(position, moves(position, buffer, 0))]
        if not all(map(is_move, listed)):
            raise _no_move(position, listed)
        return listed
    except IndexError:
        if moves(position, [0] * (most + MOVES_ROOM), 0) <= most:
            raise
    raise contract_violation(position, MOVES)


def require_moves(position: Any) -> None:
    """:class:`ContractError` if a search would meet a number that is no move.

    Compiled searches do not look at each.  So the moves here are looked at, and before the first
    search of a game those of a random game.
    """
    legal, cls = legal_moves(position), type(position)
    if cls in _seen:
        return
    random = Random(0)
    try:
        for _ in range(LOOKED_AT):
            if not legal:
                break
            position = play(position, random.choice(legal))
            legal = legal_moves(position)
    except ContractError:
        raise
    except Exception:  # a rule that fails there: a search may never come there
        pass
    _seen.add(cls)


def is_move(number: Any) -> bool:
    """Return whether a number can be a move."""
    return hasattr(number, "__index__") and 0 <= number < NO_MOVE


def _no_move(position: Any, listed: list[Any]) -> ContractError:
    wrong = next(move for move in listed if not is_move(move))
    return breach(position, f"moves: they are numbers in range({NO_MOVE}), not {wrong!r}")


def end_of(position: Any, end: Any) -> int:
    """Return the place after the last move; :class:`ContractError` if a rule returned none."""
    if isinstance(end, bool) or not hasattr(end, "__index__"):
        raise ContractError(
            f"{module_of(type(position)).__name__}.moves returns {end!r}: it has to return where "
            f"the next move would be written, the last value of its parameter 'at'"
        )
    return int(end)
