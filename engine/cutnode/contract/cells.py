"""The board of a game, declared once: where its cells lie, and what can stand on them.

A game with a board says so at module level, or for each variant on the position class::

    CELLS = Grid(3, 3, contents={".": "empty", "x": "first player", "o": "second player"})

    @compiled
    def cell(position, index):
        # 0, 1 or 2: the number of the content of a cell, in the order of ``contents``
        ...

Cells are numbered from 0, row by row from the top, each row from the left.  From the declaration
and :func:`cell` the engine derives the drawing of a position, with colours in a terminal, and its
text: the letters of the rows with ``/`` between them.  Reading boards takes one more function::

    def from_cells(contents, mover, start):
        # the position with these contents, a number for each cell
        ...

*start* is the first position of the variant; raise :class:`PositionError`, which says what is
wrong, for an impossible board.  If the board does not show who is to move, ``players`` names both
players, and the game's ``mover(position)`` returns one of these names, which is written after the
board (by default ``turn`` says whose turn it is).  ``caption(position)`` returns a text below the
drawing, for a game whose cells do not show everything.

Boards and drawings highlight how a game was won if the game says so.  ``Grid.runs`` finds rows of
stones, and ``Hexagons.chain`` a chain between edges::

    def winning_line(position):
        return CELLS.runs({n for n in range(9) if position.theirs >> n & 1}, 3)

A symbol may have a glyph, for screens that can show it: ``glyphs={"x": "●", "o": "○"}``.

Symbols can be longer than a letter, such as the numbers of :func:`counts`; a text then has blanks
between them, and the game itself has to read it.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypedDict, Unpack

from cutnode.contract.errors import GameError, PositionError
from cutnode.contract.text import is_board, parse_rows, quoted

Place = tuple[float, float]
"""The centre of a cell: its distance to the right, and down."""

COLOURS = ("2", "1;31", "1;34", "1;33", "1;32", "1;35", "1;36")
"""The ANSI styles in which a terminal shows contents; the first, for empty cells, is faint."""

MARKS = {".": "empty", "x": "first player", "o": "second player"}

_AROUND = ((1, 0), (-1, 0), (0.5, 1), (-0.5, 1), (0.5, -1), (-0.5, -1))
"""The steps from a hexagon to its neighbours."""

STONES = {".": "·", "x": "●", "o": "○"}
"""Glyphs of games that are played with stones of two colours."""


LONGEST_LEGEND = 16
"""The most contents that a legend explains: more are numbers that explain themselves."""


LEGEND_WIDTH = 79
"""The most columns that a line of a legend takes."""


class Look(TypedDict, total=False):
    """How a board is drawn for people; by default as plain text."""

    colours: bool
    """Whether to use the colours of a terminal (ANSI)."""
    glyphs: bool
    """Whether to draw the glyphs of symbols that have one."""
    marked: Collection[int]
    """Cells to highlight, such as the cells of the last move, if there are colours."""


def counts(name: str, most: int) -> dict[str, str]:
    """Return the contents of cells that hold 0 to *most* things called *name*."""
    return {"0": "empty"} | {str(count): f"{name} {count}" for count in range(1, most + 1)}


@dataclass(frozen=True, kw_only=True)
class Cells:
    """A board of any shape: its cells and their contents."""

    contents: Mapping[str, str] = field(default_factory=lambda: dict(MARKS))
    """The symbol and the name of each content, empty cells first.

    Contents whose names begin with the same word, such as ``white``, share a colour.
    """
    glyphs: Mapping[str, str] = field(default_factory=dict)
    """The Unicode character drawn in place of a symbol, by symbol.

    Symbols without a glyph are drawn as they are; texts of positions contain symbols only.
    :class:`GameError` if a key is not the symbol of a content.
    """
    players: Mapping[str, str] = field(default_factory=dict)
    """The name of each player in texts, if these say who is to move, and its name in messages."""
    row_names: Sequence[str] = ()
    """The names of the rows from the top, drawn before them."""
    column_names: Sequence[str] = ()
    """The names of the columns from the left, drawn below the board."""

    def __post_init__(self) -> None:
        if not isinstance(self.players, Mapping):
            raise GameError(
                f"players of a board must be a dictionary, as in {{'x': 'first', 'o': 'second'}}, "
                f"got {self.players!r}"
            )
        unknown = ", ".join(map(repr, self.glyphs.keys() - self.contents.keys()))
        if unknown:
            raise GameError(
                f"glyphs must stand for symbols of contents, {', '.join(self.contents)}, "
                f"got {unknown}"
            )

    @property
    def places(self) -> tuple[Place, ...]:
        """The places of the cells, in the order of their numbers."""
        raise NotImplementedError

    @property
    def rows(self) -> list[range]:
        """The cells of each row, the top row first."""
        lengths = [len(list(row)) for _, row in itertools.groupby(y for _, y in self.places)]
        return [range(end - length, end) for length, end in _ends(lengths)]

    @property
    def sides(self) -> list[str]:
        """The first words of the names of the players' pieces, the first player's first."""
        words = (_side(symbol, name) for symbol, name in self.contents.items())
        found = list(dict.fromkeys(filter(None, words)))[:2]
        players = [player.partition(" ")[0] for player in self.players.values()]
        return players if set(players) == set(found) else found

    @property
    def owners(self) -> list[int | None]:
        """The player, 0 or 1, who owns the piece of each content; None if nobody does."""
        sides = self.sides
        words = [_side(symbol, name) for symbol, name in self.contents.items()]
        return [sides.index(word) if word in sides else None for word in words]

    def symbols(self, contents: Sequence[int]) -> list[str]:
        """Return the symbol of each content."""
        known = tuple(self.contents)
        return [known[content] for content in contents]

    def text(self, contents: Sequence[int], mover: str = "") -> str:
        """Return a board as one line: rows with ``/`` between them, and the player to move."""
        symbols = self.symbols(contents)
        gap = " " * (max(map(len, self.contents)) > 1)
        rows = f"{gap}/{gap}".join(gap.join(symbols[row.start : row.stop]) for row in self.rows)
        return f"{rows} {mover}" if self.players else rows

    def draw(self, contents: Sequence[int], caption: str = "", **look: Unpack[Look]) -> str:
        """Return a drawing of a board: a line for each row, and a caption."""
        colours, marked = look.get("colours", False), look.get("marked", ())
        symbols, styles = self._shown(self.symbols(contents), look), self._styles()
        width = max(map(len, symbols))
        places = self.places
        left = min(x for x, _ in places)
        names = self._names_of_rows()
        margin = max(map(len, names)) + 1 if any(names) else 0
        lines = []
        for name, row in zip(names, self.rows, strict=True):
            line, end = name.ljust(margin), 0
            for cell in row:
                column = round((width + 1) * (places[cell][0] - left))
                symbol = symbols[cell].rjust(width)
                if colours:
                    style = styles[contents[cell]] + ";7" * (cell in marked)
                    symbol = f"\x1b[{style}m{symbol}\x1b[0m"
                line += " " * (column - end) + symbol
                end = column + width
            lines.append(line)
        if self.column_names:
            last = self.rows[-1]
            right = places[last[0]][0] - left if len(last) == len(self.column_names) else 0
            indent = " " * (margin + round((width + 1) * right))
            lines.append(indent + " ".join(name.rjust(width) for name in self.column_names))
        return "\n".join([*lines, caption] if caption else lines)

    def legend(self, contents: Sequence[int], **look: Unpack[Look]) -> str:
        """Return lines that explain the symbols on a board; "" if there are none, or too many."""
        standing = sorted({*contents} - {0})
        if len(self.contents) > LONGEST_LEGEND:
            return ""
        styles, names = self._styles(), tuple(self.contents.values())
        lines, end = [""], 0
        symbols = self._shown(self.symbols(standing), look)
        for content, symbol in zip(standing, symbols, strict=True):
            if symbol.isspace():
                continue
            width = len(symbol) + len(names[content]) + 3
            if end + width > LEGEND_WIDTH:
                lines.append("")
                end = 0
            if look.get("colours", False):
                symbol = f"\x1b[{styles[content]}m{symbol}\x1b[0m"
            lines[-1] += "  " * (end > 0) + f"{symbol} {names[content]}"
            end += width
        return "\n".join(lines)

    def _shown(self, symbols: Sequence[str], look: Look) -> list[str]:
        if not look.get("glyphs", False):
            return [*symbols]
        return [self.glyphs.get(symbol, symbol) for symbol in symbols]

    def _names_of_rows(self) -> Sequence[str]:
        return self.row_names or [""] * len(self.rows)

    def _styles(self) -> list[str]:
        """Return the style of each content in a terminal; contents of one owner share a style."""
        owners = [name.partition(" ")[0] for name in self.contents.values()]
        known = list(dict.fromkeys(owners))
        return [COLOURS[known.index(owner) % len(COLOURS)] for owner in owners]

    def is_board(self, text: str) -> bool:
        """Return whether a text looks like a board rather than a line of moves."""
        letters = "".join(self.contents).lower()
        used = set("".join(text.lower().split()))
        return is_board(text, letters[0]) or (bool(used) and used <= set(letters))

    def read(self, text: str, example: str) -> tuple[list[int], str]:
        """Return the contents of a board and the player to move; *example* is a valid text."""
        mover = ""
        if self.players:
            text, mover = self._read_mover(text, example)
        lines = ["".join(line.split()).lower() for line in re.split(r"[/\n]", text)]
        lines = [line for line in lines if line and line != "".join(self.column_names).lower()]
        names = self._names_of_rows()
        if len(lines) == len(names):
            lines = [line.removeprefix(name) for line, name in zip(lines, names, strict=True)]
            if self.players and len(lines[-1]) == len(self.rows[-1]) - 1:
                raise PositionError(
                    f"the last row is too short, or the player to move is missing: "
                    f"{' or '.join(self.players)}"
                )
        known = [letter.lower() for letter in self.contents]
        lengths = [len(row) for row in self.rows]
        cells = "".join(parse_rows("/".join(lines), lengths, "".join([*known[1:], known[0]])))
        return [known.index(letter) for letter in cells], mover

    def _read_mover(self, text: str, example: str) -> tuple[str, str]:
        names = "|".join(map(re.escape, self.players))
        said = re.fullmatch(rf"(.*)[\s/]({names})(\s+to\s+move)?\s*", text, re.DOTALL | re.I)
        if not said:
            raise PositionError(
                f"after the board, say who is to move: {' or '.join(self.players)}, "
                f"as in {quoted(example)}"
            )
        return said[1], next(name for name in self.players if name.lower() == said[2].lower())


def _side(symbol: str, name: str) -> str:
    """Return the first word of a piece's name, ``white`` of ``white king``; "" if not a piece."""
    side, _, kind = name.partition(" ")
    return "" if not symbol.strip() or not kind or kind.isdigit() else side


@dataclass(frozen=True)
class Grid(Cells):
    """Rows and columns of squares."""

    height: int
    width: int

    @property
    def places(self) -> tuple[Place, ...]:
        return tuple((float(x), float(y)) for y in range(self.height) for x in range(self.width))

    def runs(self, cells: Collection[int], length: int) -> set[int]:
        """Return the *cells* in unbroken rows, columns or diagonals of *length* or more."""
        found = set()
        for cell in cells:
            column = cell % self.width
            for right, down in ((1, 0), (0, 1), (1, 1), (-1, 1)):
                far = column + right * (length - 1)
                line = [cell + (right + down * self.width) * n for n in range(length)]
                if 0 <= far < self.width and all(each in cells for each in line):
                    found.update(line)
        return found


@dataclass(frozen=True)
class Hexagons(Cells):
    """Rows of hexagons, each half a cell to a side of the row above.

    A row that is longer than the one above begins to the left of it, any other to the right:
    ``Hexagons((3, 4, 5, 4, 3))`` is a hexagon, and ``Hexagons((11,) * 11)`` the rhombus of Hex.
    """

    lengths: tuple[int, ...]
    edges: Sequence[tuple[int | None, Sequence[int]]] = ()
    """The edges that stones connect: the player who owns each, 0 or 1, or None if both do, and its
    cells from one end to the other."""

    @property
    def places(self) -> tuple[Place, ...]:
        found, left = [], 0.0
        for y, (above, length) in enumerate(itertools.pairwise((0, *self.lengths))):
            left += 0 if y == 0 else -0.5 if length > above else 0.5
            found += [(left + x, float(y)) for x in range(length)]
        return tuple(found)

    def chain(self, cells: Collection[int], edges: Iterable[Sequence[int]]) -> set[int]:
        """Return a shortest chain of *cells* that touches two or three *edges*; empty without one.

        It is the union of shortest paths from the edges to a cell where they meet.
        """
        places = self.places
        numbers = {place: cell for cell, place in enumerate(places)}
        ways: list[dict[int, list[int]]] = []
        for edge in edges:
            paths = {cell: [cell] for cell in edge if cell in cells}
            queue = [*paths]
            for cell in queue:
                x, y = places[cell]
                for right, down in _AROUND:
                    other = numbers.get((x + right, y + down), -1)
                    if other in cells and other not in paths:
                        paths[other] = [*paths[cell], other]
                        queue.append(other)
            ways.append(paths)
        met = set.intersection(*map(set, ways))
        chains = ({cell for paths in ways for cell in paths[meeting]} for meeting in met)
        return min(chains, key=len, default=set())


@dataclass(frozen=True)
class Triangles(Cells):
    """A triangle of triangles: one in the first row, and two more in each row below it."""

    side: int

    @property
    def places(self) -> tuple[Place, ...]:
        rows = range(self.side)
        return tuple((float(x - y), float(y)) for y in rows for x in range(2 * y + 1))


@dataclass(frozen=True)
class Points(Cells):
    """Points and the lines between them, such as the board of Nine Men's Morris.

    The *coordinates*, to the right and down, are listed row by row from the top, each row from the
    left; *lines* are pairs of indices of points.
    """

    coordinates: tuple[Place, ...]
    lines: tuple[tuple[int, int], ...] = ()

    @property
    def places(self) -> tuple[Place, ...]:
        return self.coordinates


def _ends(lengths: list[int]) -> list[tuple[int, int]]:
    return list(zip(lengths, itertools.accumulate(lengths), strict=True))
