"""Records of EPD: a position and what is known about it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from cutnode import PositionError
from cutnode.games.chess import Position, parse_position, position_text
from cutnode.games.chess.notation import operations_in, parse_move

__all__ = ["Record", "parse_record"]

MOVES = ("am", "bm", "pm", "pv", "sm")
"""The operations whose operands are moves."""


@dataclass(frozen=True, slots=True)
class Record:
    """A position with its operations, such as ``bm`` (best moves) and ``id``.

    Its ``str`` is the record as text; counters are kept in the operations only.
    """

    position: Position
    operations: dict[str, tuple[str, ...]]
    """The operands of each operation, as they are written, without quotes."""
    best: tuple[int, ...] = ()
    """The moves of ``bm``, any of which is best."""
    avoid: tuple[int, ...] = ()
    """The moves of ``am``, none of which is good."""

    @property
    def name(self) -> str:
        """The text of ``id``, or nothing."""
        return " ".join(self.operations.get("id", ()))

    def __str__(self) -> str:
        fields = " ".join(position_text(self.position).split()[:4])
        return " ".join([fields, *(_written(*item) for item in self.operations.items())])


def parse_record(text: str) -> Record:
    """Read a line of EPD; :class:`PositionError` says what is wrong with it.

    FEN with its counters is accepted, too.
    """
    operations = operations_in(text)
    position = parse_position(text)
    best, avoid = (_moves(position, operations, name) for name in ("bm", "am"))
    return Record(position, operations, best, avoid)


def _moves(
    position: Position, operations: dict[str, tuple[str, ...]], name: str
) -> tuple[int, ...]:
    try:
        return tuple(parse_move(position, text) for text in operations.get(name, ()))
    except PositionError as error:
        raise PositionError(f"{name}: {error}") from None


def _written(name: str, operands: tuple[str, ...]) -> str:
    """Return an operation as text, quoting all but moves and numbers."""
    plain = name in MOVES or all(re.fullmatch(r"[+-]?\d+", operand) for operand in operands)
    return " ".join([name, *(o if plain else f'"{o}"' for o in operands)]) + ";"
