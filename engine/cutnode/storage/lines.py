"""Files of positions: one on each line, in the notation of a game."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

from cutnode.contract.errors import CutnodeError, PositionError
from cutnode.contract.loading import Game
from cutnode.contract.notes import note, notes_to


def positions_in(
    game: Game, lines: Iterable[str], source: str, skipped: list[str] | None = None
) -> Iterator[tuple[str, Any]]:
    """Yield each position with its text.

    Blank lines and lines that begin with ``#`` are skipped, and so is the text after a ``;``,
    unless the game declares ``SEMICOLONS``.  A :class:`PositionError` names the first bad line of
    *source* and what is wrong with it.  If *skipped* is a list, bad lines are skipped instead, and
    these messages are added to the list.  If some positions were not read as written, one note
    after the last position says so.
    """
    notes: dict[int, str] = {}
    found, whole = False, getattr(game.module, "SEMICOLONS", False)
    for number, line in enumerate(lines, 1):
        text = line.partition(";")[0].strip()
        if not text:
            continue
        try:
            with notes_to(partial(notes.setdefault, number)):
                position = game.parse(line if whole else text)
        except CutnodeError as error:
            if text.startswith("#"):  # a comment, as no position of the game could be read from it
                continue
            message = f"{source}, line {number}: {error}"
            if skipped is None:
                raise PositionError(message) from None
            skipped.append(message)
            continue
        found = True
        yield text, position
    if not found:
        unread = f" that can be read: {skipped[0]}" if skipped else ""
        raise PositionError(f"{source} holds no positions{unread}")
    if notes:
        first, *others = notes
        more = f" (lines with such notes: {len(notes):,})" if others else ""
        note(f"{source}, line {first}: {notes[first]}{more}")
