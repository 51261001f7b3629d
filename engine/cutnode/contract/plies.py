"""Annotated moves: a ply of a recorded game, with its mark, its comment and its variations."""

from __future__ import annotations

from collections.abc import Sequence

MARKS = ("!", "?", "!!", "??", "!?", "?!")
"""The marks of a move, in the order of PGN's numeric annotations ``$1`` to ``$6``."""


class Ply(str):
    """A step of a recorded game as text, with annotations."""

    mark: str
    """Marks such as ``!?``, and numeric annotations such as ``$14``, with blanks between them."""
    comment: str
    variations: list[list[Ply]]
    """The alternatives to this ply: lines of plies."""

    def __new__(
        cls,
        text: str,
        mark: str = "",
        comment: str = "",
        variations: Sequence[list[Ply]] = (),
    ) -> Ply:
        ply = super().__new__(cls, text)
        ply.mark, ply.comment, ply.variations = mark, comment, [*variations]
        return ply

    def add_comment(self, text: str) -> None:
        """Add a comment, on a line of its own."""
        self.comment = "\n".join(filter(None, (self.comment, text)))

    def add_mark(self, text: str) -> None:
        """Add a mark."""
        self.mark = " ".join(filter(None, (self.mark, text)))
