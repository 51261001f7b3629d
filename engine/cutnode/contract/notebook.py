"""The display of positions and results in notebooks: a board, and beside it a table."""

from __future__ import annotations

import contextlib
from html import escape
from typing import Any, TypeVar

from cutnode.contract.messages import board

P = TypeVar("P")

BOARD = (
    '<pre style="margin: 0; line-height: 1.3; white-space: pre; text-align: left; '
    "font-family: ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace\">{}</pre>"
)
BESIDE = '<div style="display: flex; gap: 2.5em; align-items: flex-start">{}</div>'
TABLE = "<table>{}</table>"
ROW = (
    '<tr><th style="text-align: left; vertical-align: top">{}</th>'
    '<td style="text-align: left; font-family: monospace; white-space: pre-wrap">{}</td></tr>'
)


LABEL = 7
"""So many characters of a line of a result, as text, are what the rest is called."""


class InNotebooks:
    """A result: it has a position, and as text it is lines that begin with a label."""

    __slots__ = ()

    position: Any

    def _repr_html_(self) -> str:
        return BESIDE.format(position_html(self.position) + lines_html(str(self)))


def lines_html(text: str) -> str:
    """A table of lines of text, the first characters of which are their label."""
    rows = ((line[:LABEL].strip(), line[LABEL:]) for line in text.splitlines())
    return TABLE.format("".join(ROW.format(escape(name), escape(line)) for name, line in rows))


def position_html(position: Any) -> str:
    """A position as its game draws it."""
    return BOARD.format(escape(board(position)))


def shows_board(position: P) -> P:
    """Return the same position; notebooks show the board of its class, unless it says otherwise."""
    cls: Any = type(position)
    if not hasattr(cls, "_repr_html_"):
        with contextlib.suppress(TypeError):  # a class of Python's own
            cls._repr_html_ = position_html
    return position
