"""Boards as the terminal can show them: in colour, with glyphs, with a legend."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cutnode.contract.cells import Look


def look_of_terminal(cls: Any) -> Look:
    """Return how boards of a position class are drawn on standard output.

    Plain where it is no terminal; without colours where ``NO_COLOR`` is set or the terminal is a
    dumb one; and with glyphs where its encoding has them.
    """
    from cutnode.contract.notation import board_of

    cells = board_of(cls)
    if cells is None or not sys.stdout.isatty():
        return {}
    colours = "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"
    return {"colours": colours, "glyphs": _can_encode("".join(cells.glyphs.values()))}


def drawn(position: Any) -> str:
    """Return a board, and in a terminal what its symbols mean."""
    from cutnode.contract.messages import board
    from cutnode.contract.notation import board_of, contents_of

    look, cells = look_of_terminal(type(position)), board_of(type(position))
    text = board(position, **look)
    legend = cells.legend(contents_of(position), **look) if cells and look else ""
    return f"{text}\n\n{legend}" if legend else text


def _can_encode(text: str) -> bool:
    try:
        text.encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
