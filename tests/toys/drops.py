"""Four in a row on four columns of four, as a prototype: plain Python, ordinary objects.

Rules: players alternately drop a stone into a column; the first with four in a row wins,
horizontally, vertically or diagonally.  Values as in Connect Four: a point for each stone that the
winner has left, including the winning one.

Text: the columns played, counted from 1, as in ``1123``, or ``-``.
"""

from __future__ import annotations

from dataclasses import dataclass

from cutnode import PositionError, play_texts

SIZE = 4
MAX_MOVES = SIZE
MAX_PLIES = SIZE * SIZE
DIRECTIONS = ((1, 0), (0, 1), (1, 1), (1, -1))


@dataclass(frozen=True)
class Board:
    """The stones of each column from the bottom, ``x`` or ``o``, and the columns played."""

    columns: tuple[str, ...] = ("",) * SIZE
    played: str = ""

    def __eq__(self, other):
        return self.columns == other.columns

    def __hash__(self):
        return hash(self.columns)

    def __str__(self):
        rows = range(SIZE - 1, -1, -1)
        return "\n".join(" ".join((c + "." * SIZE)[row] for c in self.columns) for row in rows)


def player(position):
    return "xo"[len(position.played) % 2]


def moves(position, buffer, at):
    for column, stones in enumerate(position.columns):
        if len(stones) < SIZE:
            buffer[at] = column
            at += 1
    return at


def play(position, move):
    columns = list(position.columns)
    columns[move] += player(position)
    return Board(tuple(columns), position.played + str(move + 1))


def has_four(position, stone):
    cells = {
        (x, y)
        for x, column in enumerate(position.columns)
        for y, s in enumerate(column)
        if s == stone
    }
    return any(
        all((x + n * dx, y + n * dy) in cells for n in range(4))
        for x, y in cells
        for dx, dy in DIRECTIONS
    )


def outcome(position):
    played = len(position.played)
    if has_four(position, "ox"[played % 2]):
        return True, -((SIZE * SIZE - played) // 2 + 1)
    return played == SIZE * SIZE, 0


def evaluate(position):
    """Count stones in the two middle columns."""
    middle = position.columns[1] + position.columns[2]
    mine = middle.count(player(position))
    return 2 * mine - len(middle)


def start(variant=""):
    if variant:
        raise PositionError(f"there is no variant {variant!r}")
    return Board()


def parse_position(text, variant=""):
    return play_texts(start(variant), text.removeprefix("-"), text)


def position_text(position):
    return position.played or "-"


def move_text(position, move):
    return str(move + 1)
