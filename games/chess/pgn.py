"""Records of games of chess: Portable Game Notation, its export format."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence

from engine.contract.errors import PositionError
from engine.contract.text import quoted

__all__ = ["read_pgn", "write_pgn"]

ROSTER = ("Event", "Site", "Date", "Round", "White", "Black", "Result")
"""The tags that every game has, in this order."""

RESULTS = ("1-0", "0-1", "1/2-1/2", "*")
LINE = 79
MOST_CHARACTERS = 1_000_000

TAG = re.compile(r'\[\s*(\w+)\s*"((?:[^"\\]|\\.)*)"\s*\]')
SKIPPED = re.compile(r"\{[^}]*\}|;[^\n]*|^%[^\n]*|\$[0-9]+", re.MULTILINE)
"""Comments, lines of a program's own, and numeric annotations."""


def write_pgn(tags: Mapping[str, str], moves: Sequence[str], *, number: int, black: bool) -> str:
    """Return a game as text: *tags*, and the moves in short algebraic notation.

    *number* is that of the first move, and *black* whether it is black's.
    """
    tags = {"Result": "*"} | dict(tags)
    names = [*ROSTER, *(name for name in tags if name not in ROSTER)]
    lines = [f'[{name} "{_escaped(tags.get(name, "?"))}"]' for name in names]
    words = []
    for ply, move in enumerate(moves, start=2 * number + black):
        if ply % 2 == 0:
            words.append(f"{ply // 2}.")
        elif not words:
            words.append(f"{ply // 2}...")
        words.append(move)
    words.append(tags["Result"])
    text = textwrap.fill(" ".join(words), LINE, break_long_words=False, break_on_hyphens=False)
    return "\n".join([*lines, "", text, ""])


def read_pgn(text: str) -> tuple[dict[str, str], list[str]]:
    """Return the tags and the moves of the only game of a text, without comments and variations.

    :class:`PositionError` if there is none, or more than one.
    """
    if len(text) > MOST_CHARACTERS:
        raise PositionError(f"a record of a game is longer than {MOST_CHARACTERS:,} characters")
    tags = {name: re.sub(r"\\(.)", r"\1", value) for name, value in TAG.findall(text)}
    movetext = _without_variations(SKIPPED.sub(" ", TAG.sub(" ", text)))
    words = re.sub(r"(?<!\S)[0-9]+\s*\.+", " ", movetext).split()
    ends = [at for at, word in enumerate(words) if word in RESULTS]
    if ends and ends[0] < len(words) - 1:
        raise PositionError("it holds more than one game: write one to a file of its own")
    moves = words[: ends[0]] if ends else words
    if not tags and not moves:
        raise PositionError("it holds no game in PGN")
    return tags, moves


def _without_variations(text: str) -> str:
    """Return what is outside of parentheses; :class:`PositionError` if they do not match."""
    kept, depth = [], 0
    for part in re.split(r"([()])", text):
        if part == "(":
            depth += 1
        elif part == ")":
            depth -= 1
        elif depth == 0:
            kept.append(part)
        if depth < 0:
            break
    if depth:
        raise PositionError(f"the parentheses of {quoted(' '.join(text.split()))} do not match")
    return " ".join(kept)


def _escaped(value: str) -> str:
    return " ".join(value.split()).replace("\\", "\\\\").replace('"', '\\"')
