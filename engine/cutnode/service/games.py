"""The games of a service, by the names that clients use."""

from __future__ import annotations

import contextlib
import threading
from typing import Any

from cutnode.contract.collection import game_names
from cutnode.contract.derived import recurs
from cutnode.contract.dispatch import defines, game_constant, game_name, value_limit
from cutnode.contract.errors import CutnodeError, GameError, PositionError
from cutnode.contract.loading import Game, load_game
from cutnode.contract.messages import position_text
from cutnode.contract.repetition import repetition_rule
from cutnode.contract.text import quoted
from cutnode.contract.variants import variants_of
from cutnode.kernels.evaluation import evaluation_names
from cutnode.kernels.optionality import PRESETS
from cutnode.kernels.scores import is_decisive
from cutnode.search.solving import require_solvable
from cutnode.service.failures import Failure
from cutnode.service.models import GameView
from cutnode.storage.evaluations import OWN_NAME
from cutnode.tablebases.tablebase import Tablebase

MOST_NAMES = 2000
"""The most variants that are held: about 100 MiB, if trees of all were drawn."""


class GameRegistry:
    """The games of a service: its own *games* and, unless *only*, the ones that cutnode brings.

    Clients name games, never files or modules, because loading a module runs it.
    :class:`GameError` if one of the *games* cannot be loaded; :class:`CutnodeError` if a folder
    has no tablebase, or if two folders have tablebases of the same game.
    """

    def __init__(self, games: tuple[str, ...], only: bool, folders: tuple[str, ...] = ()):
        self.only = only
        self.given = {title(game): game for game in map(load_game, games)}
        self.modules = {game.name: game.module for game in self.given.values()}
        self.held: dict[str, Game] = {}
        """The variants that clients have named, by name."""
        self.tablebases: dict[Any, Tablebase] = {}
        """The tablebases, by class of positions."""
        for base in map(Tablebase.open, folders):
            if base.cls in self.tablebases:
                raise CutnodeError(
                    f"two of the tablebases are of {game_name(base.cls)}; give one for each game"
                )
            self.tablebases[base.cls] = base
        self._lock = threading.Lock()

    def names(self) -> list[str]:
        """Return the names of the games; unless *only*, clients may also name their variants."""
        return sorted(self.given) if self.only else sorted({*game_names(), *self.modules})

    def game(self, name: str) -> Game:
        """Return the game of a name; :class:`Failure` (404) if there is none.

        Each variant is a class of positions, which is never freed: :class:`Failure` (503) when
        there are too many.
        """
        known = self.given.get(name) or self.held.get(name)
        if known is not None:
            return known
        base, _, variant = name.partition(":")
        allowed = self.names()
        if self.only or base not in allowed:
            raise Failure(
                404, f"unknown game {quoted(name)}; games are {', '.join(allowed)}", "path.game"
            )
        if len(self.held) >= MOST_NAMES:
            raise Failure(503, f"{MOST_NAMES} variants are held, and no more fit")
        try:
            with self._lock:
                module = self.modules.get(base)
                game = load_game(base) if module is None else Game(module)
            game = Game(game.module, variant)
            game.start()
        except (GameError, PositionError) as error:
            raise Failure(404, str(error), "path.game") from None
        self.held[name] = game
        return game

    def views(self) -> list[GameView]:
        """Describe all games, except those whose files are damaged."""
        found = []
        for name in self.names():
            with contextlib.suppress(Failure):
                found.append(self.view(name))
        return found

    def view(self, name: str) -> GameView:
        """Describe a game."""
        game = self.game(name)
        start: Any = game.start()
        cls, solvable = type(start), False
        about = (game.module.__doc__ or "").strip().partition("\n")[0]
        with contextlib.suppress(GameError):
            require_solvable(cls)
            solvable = True
        declared = variants_of(game.module)
        unit = game_constant(cls, "UNIT", 0)
        styles = list(PRESETS) if defines(cls, "features") else []
        return GameView(
            name=name,
            about=about,
            variants="" if declared is None or self.only else declared.about,
            examples=[] if self.only else list(getattr(game.module, "VARIANTS", ())),
            start=position_text(start),
            chance=defines(cls, "chance"),
            solvable=solvable,
            tablebase=cls in self.tablebases,
            decisive=is_decisive(cls),
            limit=int(value_limit(cls)),
            unit=unit or None,
            repetitions=game_constant(cls, "REPETITIONS", 2) if recurs(start) else None,
            repetition=repetition_rule(cls),
            evaluations=sorted({OWN_NAME, *evaluation_names(cls), *styles}),
            record_suffix=getattr(game.module, "RECORD_SUFFIX", ""),
        )


def title(game: Game) -> str:
    """Return the name by which clients refer to a game."""
    return f"{game.name}:{game.variant}" if game.variant else game.name
