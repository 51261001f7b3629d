"""The texts of a game: its own functions for people, and a default for each one it leaves out.

A game may define no text functions at all.  Its positions are then written as the board that it
declares (see :mod:`cutnode.contract.cells`), or by their fields (``mine=5 theirs=0``), and read
from these or from the moves played from the start; its moves are written as their numbers.

The engine calls a :class:`Notation`, never the game's module.
"""

from __future__ import annotations

import ast
import contextlib
import dataclasses
import re
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any, TypeVar, Unpack

from cutnode.contract.cells import Cells, Look
from cutnode.contract.dispatch import declared, defines, game_constant, module_of
from cutnode.contract.errors import ContractError, GameError, PositionError, as_python
from cutnode.contract.guarding import attributes_of, by_position
from cutnode.contract.positions import coerce, field_kinds, fitted
from cutnode.contract.text import quoted
from cutnode.contract.variants import variants_of
from cutnode.contract.verbs import MOVES_ROOM, cell, chance, moves, outcome, play, turn

FOR_PEOPLE = {
    "start": ("variant",),
    "parse_position": ("text", "variant"),
    "position_text": ("position",),
    "parse_move": ("position", "text"),
    "move_text": ("position", "move"),
    "chance_text": ("position", "index"),
    "mover": ("position",),
    "caption": ("position",),
    "record_text": ("start", "moves", "about"),
    "parse_record": ("text",),
    "from_cells": ("contents", "mover", "start"),
    "describe": ("position", "value"),
    "winning_line": ("position",),
}
"""The functions that a game may define in plain Python, with their parameters."""

T = TypeVar("T")

SEEN_MOVES = 8
"""The moves searched for one that shows which pieces are the mover's."""

MOVE_PATTERN = r"[^\s,]+"
"""The default regular expression for a move in a line of moves."""


@dataclasses.dataclass(frozen=True, slots=True)
class Notation:
    """The notation of a game: how positions and moves are written and read."""

    module: ModuleType

    def _own(self, name: str) -> Callable[..., Any] | None:
        function = getattr(self.module, name, None)
        if not callable(function):
            return None
        return by_position(function, name) if FOR_PEOPLE[name][0] == "position" else function

    def start(self, variant: str = "") -> Any:
        """Return the first position of a variant."""
        own = self._own("start")
        return _drawn(own(variant) if own else self._first(variant))

    def _first(self, variant: str) -> Any:
        boards = variants_of(self.module)
        if variant and boards is None:
            name = self.module.__name__.rpartition(".")[2]
            raise PositionError(f"{name} has no variant {quoted(variant)}")
        cls = boards.of(variant) if boards else getattr(self.module, "Position", None)
        if not isinstance(cls, type):
            raise GameError(
                f"{self.module.__name__} has no start: define a class Position whose fields have "
                f"defaults, or start(variant)"
            )
        return _first(cls)

    def position_text(self, position: Any) -> str:
        """Return one line that :meth:`parse_position` reads back."""
        if own := self._own("position_text"):
            return _text(own(position), self.module, "position_text")
        cells = board_of(type(position))
        if cells is None or not self.sets_up:
            return fields_text(position)
        return cells.text(contents_of(position), self.mover(position))

    def mover(self, position: Any) -> str:
        """Return the name of the player to move; "" if the game does not say.

        Without ``mover``, ``turn`` says which of the board's players it is.
        """
        if mover := self._own("mover"):
            return str(mover(position))
        cells = board_of(type(position))
        if cells is None or not cells.players or not defines(type(position), "turn"):
            return ""
        return list(cells.players)[int(turn(position))]

    def player(self, position: Any) -> int | None:
        """Return the player to move, 0 or 1; None if the game does not say.

        ``turn`` or ``mover`` say so, or else whose pieces the moves bring to new cells.
        """
        cls = type(position)
        if defines(cls, "turn"):
            return int(turn(position))
        cells = board_of(cls)
        if cells is None:
            return None
        if mover := self.mover(position):
            names = list(cells.players) or cells.sides
            return names.index(mover) if mover in names else None
        before, owners = contents_of(position), cells.owners
        for move in _legal(position)[:SEEN_MOVES]:
            after = contents_of(play(position, move))
            came = {owners[new] for old, new in zip(before, after, strict=True) if old != new}
            came -= {None}
            if len(came) == 1:
                return came.pop()
        return None

    def draw(self, position: Any, **look: Unpack[Look]) -> str:
        """Return a drawing of the position: its board, or its fields."""
        cells = board_of(type(position))
        if cells is None:
            return fields_text(position, "\n")
        if look.get("colours", False):
            look["marked"] = {*look.get("marked", ()), *self.winning_line(position)}
        return cells.draw(contents_of(position), self.caption(position), **look)

    def caption(self, position: Any) -> str:
        """Return the text below the drawing of a board; by default it says who is to move."""
        if own := self._own("caption"):
            return str(own(position))
        cells = board_of(type(position))
        mover = self.mover(position) if cells and cells.players else ""
        return f"{mover} to move" if mover else ""

    def winning_line(self, position: Any) -> list[int]:
        """Return the cells that won the game, such as a row of stones.

        They are empty unless a player has won, the game has a board, and defines ``winning_line``.
        """
        own = self._own("winning_line")
        over, value = outcome(position)
        if own is None or not over or value == 0 or board_of(type(position)) is None:
            return []
        return sorted(map(int, own(position)))

    def parse_position(self, text: str, variant: str = "") -> Any:
        """Read a position; :class:`PositionError` says what is wrong with the text.

        A blank text is the start, without a call of the game's own ``parse_position``.
        """
        if not text.strip():
            return self.start(variant)
        if own := self._own("parse_position"):
            return _drawn(_made(own(text, variant), self.module, "parse_position"))
        start = self.start(variant)
        cells = board_of(type(start))
        if cells and self.sets_up and cells.is_board(text):
            return self.set_up(*cells.read(text, self.position_text(start)), start)
        if "=" in text:
            return self._parse_fields(text.strip(), start)
        pattern = str(declared(type(start), "MOVE_PATTERN") or MOVE_PATTERN)
        return coerce(play_texts(start, re.findall(pattern, text.strip()), text))

    @property
    def sets_up(self) -> bool:
        """Whether the game makes positions from boards: it defines ``from_cells``."""
        return self._own("from_cells") is not None

    def set_up(self, contents: list[int], mover: str, start: Any) -> Any:
        """Return the position with these contents of cells; :class:`PositionError` if none has.

        *mover* is the name of the player to move, where players have names; *start* is the first
        position of the variant.
        """
        from_cells = self._own("from_cells")
        if from_cells is None:
            raise PositionError(f"{self.module.__name__} has no from_cells: give it as text")
        return coerce(_made(from_cells(contents, mover, start), self.module, "from_cells"))

    def move_text(self, position: Any, move: int) -> str:
        """Return a move as :meth:`parse_move` reads it."""
        own = self._own("move_text")
        return _text(own(position, move), self.module, "move_text") if own else str(move)

    def parse_move(self, position: Any, text: str) -> int:
        """Read a legal move; :class:`PositionError` for any other text."""
        if own := self._own("parse_move"):
            return own(position, text)  # type: ignore[no-any-return]
        known = {self.move_text(position, move): move for move in _legal(position)}
        if text not in known:
            some = ", ".join(list(known)[:8]) + ", ..." * (len(known) > 8)
            raise PositionError(f"{quoted(text)} is not a legal move; {some or 'there are none'}")
        return known[text]

    def chance_text(self, position: Any, index: int) -> str:
        """Return an outcome of chance in words, such as a roll of dice; by default its number."""
        own = self._own("chance_text")
        return str(own(position, index) if own else f"outcome {index + 1} of {chance(position)}")

    def describe(self, position: Any, value: float) -> str:
        """Return a value in words; "" if the game has none and names no players."""
        if own := self._own("describe"):
            return str(own(position, value))
        cells = board_of(type(position))
        if cells is None or not cells.players:
            return ""
        if value == 0:
            return "a draw"
        first, second = cells.players
        mover = self.mover(position)
        if mover not in (first, second):
            return ""
        winner = second if (mover == first) == (value < 0) else first
        verb = "has won" if outcome(position)[0] else "wins"
        margin = "" if game_constant(type(position), "DECISIVE", 0) else f" by {abs(value):g}"
        return f"{cells.players[winner]} {verb}{margin}"

    def _parse_fields(self, text: str, start: Any) -> Any:
        """Read ``name=value ...`` for all fields, and try the rules on the position."""
        names = _field_names(start)
        parts = re.split(rf"(?:^|\s+)({'|'.join(map(re.escape, names))})=", text)
        given = dict(zip(parts[1::2], parts[2::2], strict=True))
        if parts[0] or list(given) != names or len(parts) != 2 * len(names) + 1:
            raise PositionError(
                f"{quoted(text)} is not a position; write all fields, as in {fields_text(start)}"
            )
        try:
            values = {name: _literal(name, value.strip()) for name, value in given.items()}
            position = _in_range(type(start)(**values))
            hash(position)
            outcome(position)
            _legal(position)
        except PositionError:
            raise
        except Exception as error:
            raise PositionError(
                f"{quoted(text)} is not a position: {type(error).__name__}: {error}"
            ) from None
        return position


def _literal(name: str, text: str) -> Any:
    """Read the value of a field as a Python literal; :class:`ValueError` if it is not one."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        raise ValueError(
            f"{name}={text} cannot be read: a field must be a number, a text or a tuple of these; "
            f"for others define position_text and parse_position"
        ) from None


def _text(written: Any, module: ModuleType, name: str) -> str:
    """Return the text that a game's function returned; :class:`ContractError` if it is None."""
    if written is None:
        raise ContractError(
            f"{module.__name__}.{name} must return a text, got None (is a return missing?)"
        )
    return str(written)


def _made(position: Any, module: ModuleType, name: str) -> Any:
    """Return the position that a game's function made; :class:`GameError` if it is not one."""
    if module_of(type(position)) is not module:
        missing = " (is a return missing?)" if position is None else ""
        raise GameError(
            f"{module.__name__}.{name} must return a position of the game, "
            f"got {position!r}{missing}"
        )
    return position


def notation_of(cls: type) -> Notation:
    """Return the notation of the game of a position class."""
    return Notation(module_of(cls))


def play_texts(position: Any, moves: Iterable[str], text: str, *, what: str = "move") -> Any:
    """Return the position after *moves*, each in the game's notation, which make up *text*.

    :class:`PositionError` says which move of the text is wrong, and why; *what* is what the message
    calls a move.
    """
    parse_move = notation_of(type(position)).parse_move
    for number, move in enumerate(moves, 1):
        try:
            position = play(position, parse_move(position, move))
        except PositionError as error:
            raise PositionError(f"{what} {number} of {quoted(text.strip())}: {error}") from None
    return position


def _drawn(position: Any) -> Any:
    """Return the same position; ``str`` gives its board now, unless its class has its own."""
    with contextlib.suppress(TypeError):  # a class of Python's own
        prints_board(type(position))
    return position


def prints_board(cls: type[T]) -> type[T]:
    """Let ``str`` of a class's positions give the board, unless the class has its own."""
    drawn: Any = cls
    if drawn.__str__ is object.__str__:
        drawn.__str__ = board_text
    return cls


def board_of(cls: type) -> Cells | None:
    """Return the board that a game declares by ``CELLS`` and ``cell``; None if it has none."""
    board = declared(cls, "CELLS")
    return board if isinstance(board, Cells) and defines(cls, "cell") else None


def contents_of(position: Any) -> list[int]:
    """Return the content of each cell of the board."""
    board = board_of(type(position))
    count = len(board.places) if board else 0
    return [_content(cell(position, index), index, board) for index in range(count)]


def _content(content: Any, index: int, board: Any) -> int:
    """Return a content as an ``int``; :class:`ContractError` if the board has no such content."""
    if not hasattr(content, "__index__") or not 0 <= content < len(board.contents):
        raise ContractError(
            f"cell must return the number of a content of CELLS, 0 to {len(board.contents) - 1}; "
            f"got {content!r} for cell {index}"
        )
    return int(content)


def board_text(position: Any, **look: Unpack[Look]) -> str:
    """Return a drawing of the position, or its ``str`` if its class defines one."""
    cls: Any = type(position)
    if cls.__str__ in (board_text, object.__str__):
        return notation_of(cls).draw(position, **look)
    return str(position)


def fields_text(position: Any, separator: str = " ") -> str:
    """Return the fields by name, or else the attributes, or else the position's ``repr``."""
    try:
        names = _field_names(position)
    except PositionError:
        cls: Any = type(position)
        shows_itself = cls.__repr__ is not object.__repr__
        names = [] if shows_itself else list(attributes_of(position))
    if not names:
        return " ".join(repr(position).split())
    return separator.join(f"{name}={as_python(getattr(position, name))!r}" for name in names)


def _field_names(position: Any) -> list[str]:
    if dataclasses.is_dataclass(position):
        return [field.name for field in dataclasses.fields(position)]
    if hasattr(position, "_fields"):
        return list(position._fields)
    raise PositionError(
        f"positions of class {type(position).__name__} cannot be read from text: make it a "
        f"NamedTuple or a dataclass, or define position_text and parse_position"
    )


def _first(cls: type) -> Any:
    """Return ``cls()``; :class:`GameError` names the fields without a default."""
    missing = [f for f in getattr(cls, "_fields", ()) if f not in cls._field_defaults]  # type: ignore[attr-defined]
    if missing:
        raise GameError(
            f"{cls.__module__} has no start: give {', '.join(missing)} of {cls.__name__} a "
            f"default, or define start(variant)"
        )
    try:
        return coerce(cls())
    except TypeError as error:
        message = f"{cls.__module__} has no start, and {cls.__name__}() fails: {error}"
        raise GameError(message) from None


def _in_range(position: Any) -> Any:
    """Return a position with fields of their types; :class:`PositionError` if one does not fit."""
    try:
        field_kinds(type(position))
    except GameError:  # fields of plain rules can be of any type
        return position
    return fitted(position)


def _legal(position: Any) -> list[int]:
    """Return the legal moves as the rules list them, unchecked."""
    if outcome(position)[0] or chance(position) > 0:
        return []
    buffer = [0] * (game_constant(type(position), "MAX_MOVES", 256) + MOVES_ROOM)
    return buffer[: moves(position, buffer, 0)]
