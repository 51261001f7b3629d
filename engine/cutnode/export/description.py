"""The description of a game in its exported engine: board, levels, and the texts of moves."""

from __future__ import annotations

import json
from random import Random
from typing import Any, NamedTuple

import numpy as np

from cutnode.contract.derived import legal_moves
from cutnode.contract.dispatch import defines, game_constant, value_limit
from cutnode.contract.loading import Game
from cutnode.contract.messages import chance_text, move_text
from cutnode.contract.positions import coerce, words_each
from cutnode.contract.verbs import chance
from cutnode.explaining.points import odds_scale
from cutnode.kernels.scores import is_decisive
from cutnode.playing.board_layout import board_layout
from cutnode.playing.levels import LEVELS
from cutnode.search.record import Record

LEAST_SAMPLE, LARGEST_SAMPLE = 2_000, 20_000
"""The positions of random games from which texts of moves are taken: at least, and at most.

In between, sampling ends when half of the positions have shown no new move.
"""


class Texts(NamedTuple):
    """The texts of moves, and of outcomes of chance, that depend on nothing else but the mover."""

    moves: dict[int, tuple[str, str]] | None
    """By move, the text for the first player and the second; None if a text depends on more."""
    outcomes: list[str] | None
    """By outcome; None if there is no chance, or a text depends on the position."""


def texts_of(game: Game) -> Texts:
    """Return the texts of moves that random games show."""
    start = coerce(game.start())
    moves: dict[int, list[str | None]] | None = {}
    outcomes: dict[int, str] | None = {} if defines(type(start), "chance") else None
    random, met, number, newest = Random(0), 0, 0, 0
    while met < min(max(LEAST_SAMPLE, 2 * newest), LARGEST_SAMPLE):
        record = Record(start, seed=number)
        number += 1
        if record.ending() or (moves is None and outcomes is None):
            break
        while not record.ending():
            position = record.position
            met += 1
            if record.is_chance():
                outcomes = _outcomes(outcomes, position)
                record.draw()
                continue
            legal = legal_moves(position)
            if moves is not None:
                known = len(moves)
                if not _note(moves, position, legal, record.side):
                    moves = None
                elif len(moves) > known:
                    newest = met
            record.play(random.choice(legal))
    texts = None if moves is None else {move: _both(*moves[move]) for move in sorted(moves)}
    named = [outcomes[index] for index in sorted(outcomes)] if outcomes else None
    return Texts(texts, named)


def _note(moves: dict[int, list[str | None]], position: Any, legal: list[int], side: int) -> bool:
    """Note the texts of moves; return whether other positions agree."""
    for move in legal:
        known = moves.setdefault(move, [None, None])
        text = move_text(position, move)
        if known[side] not in (None, text):
            return False
        known[side] = text
    return True


def _both(first: str | None, second: str | None) -> tuple[str, str]:
    """Return the texts for both players; if one was not seen, the other stands for it."""
    return first or second or "", second or first or ""


def _outcomes(known: dict[int, str] | None, position: Any) -> dict[int, str] | None:
    for index in range(chance(position)):
        text = chance_text(position, index)
        if known is None or known.setdefault(index, text) != text:
            return None
    return known


def texts_for_c(texts: Texts) -> Any:
    """Return the texts of moves as ``cutnode_move_text`` reads them.

    The number of moves; for each, in order, the move and the places of its two texts; the texts.
    """
    moves = texts.moves or {}
    blob = bytearray()
    places: dict[str, int] = {}
    rows: list[int] = [len(moves)]
    begin = 4 * (1 + 3 * len(moves))
    for move, both in moves.items():
        rows.append(move)
        for text in both:
            if text not in places:
                places[text] = begin + len(blob)
                blob += text.encode() + b"\0"
            rows.append(places[text])
    return np.frombuffer(np.array(rows, np.uint32).tobytes() + bytes(blob), np.uint8)


def about(game: Game, parts: list[str], texts: Texts) -> str:
    """Return a JSON text about a game and its export; ``engine.h`` and the web package read it."""
    start = coerce(game.start())
    cls: Any = type(start)
    described = {
        "format": 1,
        "game": f"{game.name}:{game.variant}" if game.variant else game.name,
        "about": (game.module.__doc__ or "").strip().partition("\n")[0],
        "words": words_each(cls),
        "mostMoves": game_constant(cls, "MAX_MOVES", 256),
        "mostPlies": game_constant(cls, "MAX_PLIES", 512),
        "decisive": is_decisive(cls),
        "valueLimit": value_limit(cls),
        "unit": game_constant(cls, "UNIT", 0) or None,
        "oddsScale": odds_scale(cls),
        "repetitions": game_constant(cls, "REPETITIONS", 2) if defines(cls, "reversible") else None,
        "chance": defines(cls, "chance"),
        "turns": defines(cls, "turn"),
        "parts": ["rules", *parts],
        "levels": {
            name: {"depth": level.depth, "seconds": level.seconds} for name, level in LEVELS.items()
        },
        "moveTexts": texts.moves is not None,
        "outcomeTexts": texts.outcomes,
        "board": board_layout(cls),
    }
    return json.dumps(described, ensure_ascii=False, separators=(",", ":"))
