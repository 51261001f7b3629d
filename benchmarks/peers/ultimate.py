"""Ultimate tic-tac-toe: nine boards of tic-tac-toe, where each move chooses the next board.

Rules: X and O take turns to mark an empty cell.  The cell's place in its board is the board in
which the opponent has to move next; if that board is decided (won or full), he may move in any
undecided one.  Three marks in a row win a board, and three boards in a row win the game.  If all
boards are decided without a row, the game is a draw.

Values: 1 a win, 0 a draw, -1 a loss.

Text: as the solver ultimattt writes it: the player to move, the nine boards row by row (``X``,
``O``, ``#`` full, ``.`` open, ``@`` the board to play in), and the cells of each board:
``O;@........;......X../.........`` and so on.

Encoding: nine bits for each board; the first seven boards are in one word, and the last two in
another, which also has the won boards from bit 32 on.  A full board is won by both.  The cells of
decided boards do not matter, and are cleared.  A move is nine times the board plus the cell.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cutnode import (
    NO_MOVE,
    Bits,
    PositionError,
    compiled,
    lowest_index,
    popcount,
    quoted,
    without_lowest,
)

DECISIVE = True
VALUE_LIMIT = 1
UNIT = 100
MAX_MOVES = MAX_PLIES = 81

FULL = Bits(0o777)
LINES = 0o007, 0o070, 0o700, 0o111, 0o222, 0o444, 0o421, 0o124
ANY = 9
"""The number of the board to play in, if it can be chosen."""
BOARDS_AT = 32


def _completing(marks: int) -> int:
    """Return the cells that complete a line of some marks."""
    cells = 0
    for line in LINES:
        missing = line & ~marks
        if missing.bit_count() == 1:
            cells |= missing
    return cells


def _is_line(marks: int) -> bool:
    return any(marks & line == line for line in LINES)


COMPLETING = np.array([_completing(marks) for marks in range(512)], np.uint64)
IS_LINE = np.array([_is_line(marks) for marks in range(512)], np.bool_)


class Position(NamedTuple):
    """The marks of the mover and the opponent, the board to play in, and the player to move."""

    mine: Bits = Bits(0)
    mine_last: Bits = Bits(0)
    theirs: Bits = Bits(0)
    theirs_last: Bits = Bits(0)
    board: int = ANY
    second: bool = False


@compiled
def marks(first, last, board):
    """Return the marks in a board."""
    word = first if board < 7 else last
    return (word >> Bits(9 * (board if board < 7 else board - 7))) & FULL


@compiled
def won(last):
    return last >> Bits(BOARDS_AT)


@compiled
def free(position, board):
    """Return the empty cells of a board."""
    mine = marks(position.mine, position.mine_last, board)
    return FULL & ~(mine | marks(position.theirs, position.theirs_last, board))


@compiled
def open_boards(position):
    """Return the boards in which the mover may play."""
    if position.board != ANY:
        return Bits(1) << Bits(position.board)
    return FULL & ~(won(position.mine_last) | won(position.theirs_last))


@compiled
def write(board, cells, buffer, at):
    while cells:
        buffer[at] = 9 * board + lowest_index(cells)
        cells = without_lowest(cells)
        at += 1
    return at


@compiled
def moves(position, buffer, at):
    boards = open_boards(position)
    while boards:
        board = lowest_index(boards)
        boards = without_lowest(boards)
        at = write(board, free(position, board), buffer, at)
    return at


@compiled
def play(position, move):
    board, cell = move // 9, move % 9
    at = Bits(9 * (board if board < 7 else board - 7))
    mark = Bits(1) << (at + Bits(cell))
    first, last = position.mine, position.mine_last
    others, others_last = position.theirs, position.theirs_last
    if board < 7:
        first |= mark
    else:
        last |= mark
    cells = marks(first, last, board)
    line = IS_LINE[cells]
    if line or cells | marks(others, others_last, board) == FULL:
        # The board is decided.
        left = ~(FULL << at)
        if board < 7:
            first &= left
            others &= left
        else:
            last &= left
            others_last &= left
        bit = Bits(1) << Bits(BOARDS_AT + board)
        last |= bit
        if not line:
            others_last |= bit
    decided = won(last) | won(others_last)
    following = ANY if (decided >> Bits(cell)) & Bits(1) else cell
    return Position(others, others_last, first, last, following, not position.second)


@compiled
def outcome(position):
    mine, theirs = won(position.mine_last), won(position.theirs_last)
    if IS_LINE[theirs & ~mine]:
        return True, -1
    return mine | theirs == FULL, 0


@compiled
def decisive(first, last, others, others_last):
    """Return the boards that win the game for a player, and that he wins with one move."""
    mine, decided = won(last), won(last) | won(others_last)
    boards = Bits(COMPLETING[mine & ~won(others_last)]) & ~decided
    found = Bits(0)
    while boards:
        board = lowest_index(boards)
        own = marks(first, last, board)
        if Bits(COMPLETING[own]) & ~marks(others, others_last, board):
            found |= Bits(1) << Bits(board)
        boards = without_lowest(boards)
    return found


@compiled
def bounds(position, alpha, beta):
    """Decide immediate wins, and boards from which every move leads to one."""
    over, value = outcome(position)
    if over:
        return value, value
    first, last = position.mine, position.mine_last
    others, others_last = position.theirs, position.theirs_last
    mine = decisive(first, last, others, others_last)
    if mine & open_boards(position):
        return 1, 1
    theirs = decisive(others, others_last, first, last)
    decided = won(last) | won(others_last)
    if position.board != ANY:
        sends = free(position, position.board)
        here = Bits(1) << Bits(position.board)
        lost = decided | theirs
        if theirs and not theirs & here and not sends & ~lost:
            return -1, -1
        # Find boards where each of the opponent's moves sends the mover back to a win.
        targets = sends & ~lost & ~here if mine else Bits(0)
        while targets:
            target = lowest_index(targets)
            left = mine & ~(Bits(1) << Bits(target))
            if left and not free(position, target) & ~(decided | left):
                return 1, 1
            targets = without_lowest(targets)
    upper = 1 if IS_LINE[FULL & ~won(others_last)] else 0
    lower = -1 if IS_LINE[FULL & ~won(last)] else 0
    return lower, upper


@compiled
def sensible(position, board, theirs):
    """Return the empty cells of a board that do not send the opponent to an immediate win."""
    cells = free(position, board)
    if theirs and not (theirs >> Bits(board)) & Bits(1):
        decided = won(position.mine_last) | won(position.theirs_last)
        cells &= ~(decided | theirs)
    return cells


@compiled
def candidates(position, buffer, at):
    theirs = decisive(position.theirs, position.theirs_last, position.mine, position.mine_last)
    boards = open_boards(position)
    end = at
    while boards:
        board = lowest_index(boards)
        boards = without_lowest(boards)
        end = write(board, sensible(position, board, theirs), buffer, end)
    return end if end > at else moves(position, buffer, at)


@compiled
def forced(position):
    if position.board == ANY:
        return NO_MOVE
    theirs = decisive(position.theirs, position.theirs_last, position.mine, position.mine_last)
    cells = sensible(position, position.board, theirs)
    if cells and not without_lowest(cells):
        return 9 * position.board + lowest_index(cells)
    return NO_MOVE


@compiled
def plies_left(position):
    total = 0
    boards = FULL & ~(won(position.mine_last) | won(position.theirs_last))
    while boards:
        total += popcount(free(position, lowest_index(boards)))
        boards = without_lowest(boards)
    return total


LINE_WORTH = np.array([0, 20, 60, 0], np.int64)


@compiled
def strength(position, first, last, others, others_last):
    """Count the lines of boards still open to a player, and the boards he wins with one move."""
    mine = won(last) & ~won(others_last)
    against = won(others_last)
    total = 0
    for line in LINES:
        if not against & Bits(line):
            total += int(LINE_WORTH[popcount(mine & Bits(line))])
    boards = FULL & ~(won(last) | against)
    while boards:
        board = lowest_index(boards)
        boards = without_lowest(boards)
        own, other = marks(first, last, board), marks(others, others_last, board)
        if Bits(COMPLETING[own]) & ~other:
            total += 10
    return total


@compiled
def evaluate(position):
    first, last = position.mine, position.mine_last
    others, others_last = position.theirs, position.theirs_last
    score = strength(position, first, last, others, others_last)
    score -= strength(position, others, others_last, first, last)
    return score + (30 if position.board == ANY else 0)


@compiled
def order(position, move, child):
    return -evaluate(child)


def position_text(position: Position) -> str:
    players = "OX" if position.second else "XO"
    mine_won, theirs_won = int(won(position.mine_last)), int(won(position.theirs_last))
    boards, cells = "", []
    for board in range(9):
        state = (mine_won >> board & 1) + 2 * (theirs_won >> board & 1)
        boards += (f"{'@' if board == position.board else '.'}{players}#")[state]
        mine = int(marks(position.mine, position.mine_last, board))
        theirs = int(marks(position.theirs, position.theirs_last, board))
        contents = ((mine >> cell & 1) + 2 * (theirs >> cell & 1) for cell in range(9))
        cells.append("".join(f".{players}"[content] for content in contents))
    return f"{players[0]};{boards};{'/'.join(cells)}"


def parse_position(text: str, variant: str = "") -> Position:
    if not text.strip():
        return Position()
    parts = text.strip().split(";")
    try:
        mover, boards, cells = parts
        groups = cells.split("/")
        if mover not in ("X", "O") or len(boards) != 9 or [len(g) for g in groups] != [9] * 9:
            raise ValueError
    except ValueError:
        raise PositionError(f"{quoted(text)} is no position of ultimate tic-tac-toe") from None
    words = {"X": [0, 0], "O": [0, 0]}
    for board, (state, group) in enumerate(zip(boards, groups, strict=True)):
        if state in ".@":
            for cell, mark in enumerate(group):
                if mark != ".":
                    words[mark][board > 6] |= 1 << 9 * (board % 7) + cell
        for player in "XO" if state == "#" else state if state in "XO" else "":
            words[player][1] |= 1 << BOARDS_AT + board
    other = "XO".replace(mover, "")
    return Position(
        *map(Bits, words[mover]),
        *map(Bits, words[other]),
        boards.find("@") if "@" in boards else ANY,
        mover == "O",
    )
