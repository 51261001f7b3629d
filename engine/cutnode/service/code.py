"""The compiled code of a service: which games it holds, and how many it may hold.

Machine code is never freed, so a service that compiled whatever clients name would grow
without bound.  A variant counts as a game, and so does a game with another evaluation.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from cutnode.contract.dispatch import game_name
from cutnode.service.failures import Failure
from cutnode.service.questions import Question


class CompiledCode:
    """The compiled code of at most *most* games, by game."""

    def __init__(self, most: int):
        self.most = most
        self._games: dict[tuple[Any, str | None], _Held] = {}

    def __contains__(self, question: Question) -> bool:
        game = self._games.get(_game(question))
        return game is not None and question.code in game.codes

    @property
    def count(self) -> int:
        """The number of games that are compiled, or being compiled for the first time."""
        return len(self._games)

    def claim(self, question: Question) -> None:
        """Reserve room for the game of a question; :class:`Failure` (503) if there is none."""
        if _game(question) not in self._games and self.count >= self.most:
            raise Failure(
                503,
                f"{self.count} games are compiled or compiling ({', '.join(self._names())}), and "
                f"no more fit; "
                f"start the service with a higher --max-games to allow more",
            )
        self._games.setdefault(_game(question), _Held()).compiling += 1

    def settle(self, question: Question, *, compiled: bool) -> None:
        """Record the code of a claimed question; forget its game if it has none."""
        game = self._games[_game(question)]
        game.compiling -= 1
        if compiled:
            game.codes.add(question.code)
        if not game.codes and not game.compiling:
            del self._games[_game(question)]

    def names(self) -> list[str]:
        """Return the names of the compiled games, with a chosen evaluation in brackets."""
        return self._names(ready=True)

    def _names(self, *, ready: bool = False) -> list[str]:
        return sorted(
            game_name(cls) if evaluation is None else f"{game_name(cls)} [{evaluation}]"
            for (cls, evaluation), game in self._games.copy().items()
            if game.codes or not ready
        )


@dataclass(slots=True)
class _Held:
    """The code of a game, and how many compilations of more code are running."""

    codes: set[tuple[Any, ...]] = field(default_factory=set)
    compiling: int = 0


def _game(question: Question) -> tuple[Any, str | None]:
    return question.key.cls, question.key.evaluation
