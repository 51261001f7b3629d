"""The display of positions and results in notebooks: a board, with a table to its right."""

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
"""The width of the label that begins each line of a result's text."""


class InNotebooks:
    """A result with a position; each line of its text begins with a label."""

    __slots__ = ()

    position: Any

    def _repr_html_(self) -> str:
        return BESIDE.format(position_html(self.position) + lines_html(str(self)))


def lines_html(text: str) -> str:
    """Return a table of lines of text, whose first characters are their labels."""
    rows = ((line[:LABEL].strip(), line[LABEL:]) for line in text.splitlines())
    return TABLE.format("".join(ROW.format(escape(name), escape(line)) for name, line in rows))


def position_html(position: Any) -> str:
    """Return a position as its game draws it."""
    return BOARD.format(escape(board(position)))


def shows_board(position: P) -> P:
    """Return the same position; notebooks show its board unless its class has its own display."""
    cls: Any = type(position)
    if not hasattr(cls, "_repr_html_"):
        with contextlib.suppress(TypeError):  # a class of Python's own
            cls._repr_html_ = position_html
    return position
