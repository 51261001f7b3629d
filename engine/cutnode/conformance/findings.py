"""Findings: breaches of the contract, and the verb that each is about."""

from __future__ import annotations

import traceback
from dataclasses import dataclass

from cutnode.contract.dispatch import VERBS
from cutnode.contract.loading import Game
from cutnode.contract.notation import FOR_PEOPLE


@dataclass(frozen=True, slots=True)
class Finding:
    """A breach of the contract by a game."""

    verb: str
    position: str
    """The position where it was seen, in the game's notation; empty if it is about the game."""
    message: str

    def __str__(self) -> str:
        where = f" at {self.position!r}" if self.position else ""
        return f"{self.verb}{where}: {self.message}"


def raising_verb(error: Exception, game: Game) -> str:
    """Return the function of the contract that raised an exception; "" if none did."""
    verbs = {getattr(game.module, name, None): name for name in (*VERBS, *FOR_PEOPLE)}
    codes = {getattr(rule, "__code__", None): name for rule, name in verbs.items()}
    frames = [frame.f_code for frame, _ in traceback.walk_tb(error.__traceback__)]
    return next((codes[code] for code in reversed(frames) if code in codes), "")


def raised(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return f"raises {type(error).__name__}: {lines[0] if lines else ''}"
