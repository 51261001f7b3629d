"""Boards as text, and how messages quote what a person wrote."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from cutnode.contract.errors import PositionError

LONGEST_QUOTE = 60

CLOSE = 0.66
"""The least similarity of a suggested name: one letter of three wrong, or two of six."""


def is_board(text: str, symbols: str) -> bool:
    """Return whether a text looks like a board: it holds one of the *symbols* or a ``/``."""
    return any(character in f"{symbols}/\n" for character in text.strip().lower())


def parse_board(text: str, width: int, height: int, symbols: str) -> list[str]:
    """Read rows separated by line ends or ``/``, the top row first, and return them.

    Blanks are skipped, and so are rows of column numbers.  Letters may be upper or lower case.
    :class:`PositionError` names the row and column of a wrong symbol.
    """
    return parse_rows(text, [width] * height, symbols)


def parse_rows(text: str, lengths: list[int], symbols: str) -> list[str]:
    """Read rows of different *lengths*, as :func:`parse_board` does."""
    lines = ["".join(line.split()).lower() for line in text.replace("/", "\n").split("\n")]
    rows = [line for line in lines if line and not line.isdigit()]
    if len(rows) != len(lengths):
        size = f" of {lengths[0]}x{len(lengths)}" if len({*lengths}) == 1 else ""
        raise PositionError(
            f"the board has {len(rows)} rows; a board{size} has {len(lengths)}, "
            f"separated by line ends or '/'"
        )
    for number, (row, length) in enumerate(zip(rows, lengths, strict=True), 1):
        for column, symbol in enumerate(row, 1):
            if symbol not in symbols:
                allowed = " ".join(symbols)
                raise PositionError(
                    f"{symbol!r} in row {number} from the top, column {column}: "
                    f"a cell is one of {allowed}"
                )
        if len(row) != length:
            a_row = "a row" if len({*lengths}) == 1 else "it"
            raise PositionError(
                f"row {number} from the top has {len(row)} cells; {a_row} has {length}"
            )
    return rows


def nearest(text: str, names: Iterable[str], otherwise: str = "") -> str:
    """Return the end of a message about an unknown name.

    It asks whether one of *names* was meant, if one is close to *text*; otherwise it is a semicolon
    and *otherwise*, which lists the known names.
    """
    by_lower = {name.lower(): name for name in names}
    near = difflib.get_close_matches(text.lower(), by_lower, n=1, cutoff=CLOSE)
    if near:
        return f" (did you mean {by_lower[near[0]]!r}?)"
    return f"; {otherwise}" if otherwise else ""


def quoted(text: str) -> str:
    """Return a text as a message shows it: in quotes, and cut off if it is long."""
    return repr(text if len(text) <= LONGEST_QUOTE else f"{text[: LONGEST_QUOTE - 3]}...")


def draw_board(rows: list[str], footer: str = "") -> str:
    """Return rows as lines with blanks between cells, and a *footer* (column names) below."""
    lines = [" ".join(row) for row in rows]
    return "\n".join([*lines, footer] if footer else lines)
