"""Recorded games: from their texts to their positions, and to the games' own formats."""

from __future__ import annotations

import re
from collections import deque
from typing import Any

from cutnode.contract.derived import legal_moves, recurs, same_after_chance
from cutnode.contract.dispatch import declared
from cutnode.contract.errors import CutnodeError, GameError, PositionError
from cutnode.contract.loading import Game
from cutnode.contract.messages import chance_text, move_text, position_text
from cutnode.contract.notation import MOVE_PATTERN, contents_of, notation_of
from cutnode.contract.notes import note, notes_to
from cutnode.contract.plies import Ply
from cutnode.contract.text import quoted
from cutnode.contract.verbs import chance, chance_outcome, moves_again, outcome, play, recurrence
from cutnode.playing.records import Recorded, own_text, parse_record, step_of
from cutnode.search.record import is_over
from cutnode.service.failures import Failure
from cutnode.service.games import GameRegistry
from cutnode.service.models import OwnRecord, PlyView, RecordRequest, RecordView

MOST_PLIES = 4000
"""The most plies of a recorded game, variations included."""


class Replay:
    """The positions of a recorded game; :class:`PositionError` if it has an illegal move.

    A variation is cut short there, with a note.
    """

    def __init__(self, game: Game, recorded: Recorded):
        start = game.parse(recorded.start)
        self.positions = [start]
        self.views = [_view(start, None, notation_of(type(start)).player(start) or 0)]
        self.views[0].comment = recorded.comment
        self.line: list[Ply] = []
        """The plies of the game with their variations, as the game writes them."""
        self._later: deque[tuple[int, list[Ply], list[list[Ply]]]] = deque()
        """Variations: the number of the position before, the plies, and where to write them."""
        self._follow(0, _divided(start, recorded.plies), self.line)
        self.end = len(self.views) - 1
        """The number of the last position, without variations."""
        while self._later:
            at, plies, variations = self._later.popleft()
            written: list[Ply] = []
            try:
                self._follow(at, plies, written)
            except PositionError as error:
                note(f"a variation is cut short at {error}")
            if written:
                variations.append(written)

    def _follow(self, at: int, plies: list[Ply], written: list[Ply]) -> None:
        """Play a line from position number *at*, and write its plies without variations."""
        for ply in plies:
            if len(self.views) > MOST_PLIES:
                raise CutnodeError(f"a game may have at most {MOST_PLIES} plies")
            try:
                view, after = _played(self.positions[at], ply, self.views[at])
            except PositionError as error:
                raise PositionError(f"step {len(written) + 1}: {error}") from None
            text = f"chance {view.outcome}" if view.move is None else view.move
            done = Ply(text, ply.mark, ply.comment)
            self._later += [(at, variation, done.variations) for variation in ply.variations]
            view.parent = at
            at = len(self.views)
            self.views.append(view)
            self.positions.append(after)
            written.append(done)

    def value(self) -> float | None:
        """Return the value of the game for the side that began; None if it is not over."""
        if not is_over(self.positions[self.end]):
            return None
        over, value = outcome(self.positions[self.end])
        points = value if over else 0
        return points if self.views[self.end].side == self.views[0].side else -points


def read(registry: GameRegistry, name: str, asked: RecordRequest) -> RecordView:
    """Return a recorded game with the position of each ply; the first is the start."""
    notes: list[str] = []
    recorded, replay = _replayed(registry.game(name), name, asked, notes)
    headers = dict(recorded.headers)
    return RecordView(game=name, notes=notes, headers=headers, plies=replay.views)


def write_own(registry: GameRegistry, name: str, asked: RecordRequest) -> OwnRecord:
    """Return a recorded game in the game's own format; :class:`Failure` (409) if it has none."""
    game = registry.game(name)
    suffix = getattr(game.module, "RECORD_SUFFIX", None)
    if suffix is None:
        raise Failure(409, f"{name} has no format of its own for games", "path.game")
    recorded, replay = _replayed(game, name, asked, [])
    about = {"headers": recorded.headers, "comment": recorded.comment}
    value = replay.value()
    text = own_text(game.module, replay.positions[0], replay.line, ("?", "?"), value, **about)
    return OwnRecord(game=name, text=text, suffix=suffix)


def _replayed(
    game: Game, name: str, asked: RecordRequest, notes: list[str]
) -> tuple[Recorded, Replay]:
    """Return a recorded game and its positions; :class:`Failure` (404) if it cannot be read."""
    try:
        with notes_to(notes.append):
            recorded = parse_record(asked.text, name, game.module)
            return recorded, Replay(game, recorded)
    except GameError:
        raise
    except CutnodeError as error:
        raise Failure(404, str(error), "body.text") from None


def _divided(start: Any, plies: list[Ply]) -> list[Ply]:
    """Return single moves, where a person wrote several in a line."""
    if not plies or " " not in plies[0] or chance(start):
        return plies
    try:
        notation_of(type(start)).parse_move(start, plies[0])
    except PositionError:
        pattern = str(declared(type(start), "MOVE_PATTERN") or MOVE_PATTERN)
        return [Ply(found[0]) for ply in plies for found in re.finditer(pattern, ply)]
    return plies


def _played(position: Any, ply: Ply, before: PlyView) -> tuple[PlyView, Any]:
    """Return the ply and the position to which a step of a record leads."""
    step = step_of(ply)
    if is_over(position):
        raise PositionError(f"{quoted(ply)} is played after the game is over")
    events = chance(position)
    if events:
        if not isinstance(step, int) or step >= events:
            raise PositionError(
                f"{quoted(ply)} is no outcome of chance: write chance 0 to chance {events - 1}"
            )
        after = chance_outcome(position, step)[1]
        again = same_after_chance(position, after)
        own: dict[str, Any] = {"outcome": step, "chance": chance_text(position, step)}
    else:
        move = notation_of(type(position)).parse_move(position, str(ply))
        if move not in legal_moves(position):
            raise PositionError(f"{quoted(ply)} is not a legal move")
        after = play(position, move)
        again = moves_again(position, after)
        cells = enumerate(zip(contents_of(position), contents_of(after), strict=True))
        changed = [cell for cell, (old, new) in cells if old != new]
        own = {"move": move_text(position, move), "changed": changed}
    side = before.side if again else 1 - before.side
    view = _view(after, own, side)
    view.mark, view.comment = ply.mark, ply.comment
    return view, after


def _view(position: Any, step: dict[str, Any] | None, side: int) -> PlyView:
    word = f"{int(recurrence(position)):x}" if recurs(position) else None
    return PlyView(
        position=position_text(position),
        side=side,  # type: ignore[arg-type]
        recurrence=word,
        **(step or {}),
    )
