"""Tic-tac-toe and Connect Four in plain Python, for packages that have no games.

Positions are bitboards in integers, with an incremental evaluation: about as fast as such rules
can be.  Some packages need immutable positions, others need moves that are made and taken back.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from benchmarks.peers.programs import WIN

__all__ = [
    "EMPTY",
    "MUTABLE",
    "RULES",
    "STRIDE",
    "WEIGHTS",
    "WIDTH",
    "State",
    "has_four",
    "score_of",
]

LINES = (0o007, 0o070, 0o700, 0o111, 0o222, 0o444, 0o421, 0o124)
"""The lines of tic-tac-toe, three cells each."""

WIDTH, HEIGHT, STRIDE = 7, 6, 7
"""The board of Connect Four; cell (column, row) is bit column * STRIDE + row."""


def _weights() -> tuple[int, ...]:
    """Return the number of lines of four through each cell."""
    weights = [0] * (WIDTH * STRIDE)
    for right, up in ((0, 1), (1, 0), (1, 1), (1, -1)):
        for column in range(WIDTH):
            for row in range(HEIGHT):
                line = [(column + right * step, row + up * step) for step in range(4)]
                if all(x < WIDTH and 0 <= y < HEIGHT for x, y in line):
                    for x, y in line:
                        weights[x * STRIDE + y] += 1
    return tuple(weights)


WEIGHTS = _weights()


def has_four(stones: int) -> bool:
    for step in (1, STRIDE, STRIDE + 1, STRIDE - 1):
        pairs = stones & stones >> step
        if pairs & pairs >> 2 * step:
            return True
    return False


class State(NamedTuple):
    """A position of either game, for packages that need immutable positions."""

    mine: int
    theirs: int
    ply: int
    balance: int
    """Connect Four's evaluation, for the player to move."""
    heights: tuple[int, ...]
    """Connect Four's columns."""


EMPTY = State(0, 0, 0, 0, (0,) * WIDTH)


class TicTacToe:
    """The rules of tic-tac-toe, on states."""

    @staticmethod
    def moves(state: State) -> list[int]:
        filled = state.mine | state.theirs
        return [cell for cell in range(9) if not filled >> cell & 1]

    @staticmethod
    def play(state: State, move: int) -> State:
        return State(state.theirs, state.mine | 1 << move, state.ply + 1, 0, ())

    @staticmethod
    def is_lost(state: State) -> bool:
        """Return whether the last player to move has won."""
        theirs = state.theirs
        return any(theirs & line == line for line in LINES)

    @staticmethod
    def is_full(state: State) -> bool:
        return state.ply == 9


class ConnectFour:
    """The rules of Connect Four, on states."""

    @staticmethod
    def moves(state: State) -> list[int]:
        return [column for column, height in enumerate(state.heights) if height < HEIGHT]

    @staticmethod
    def play(state: State, move: int) -> State:
        heights = state.heights
        height = heights[move]
        cell = move * STRIDE + height
        return State(
            state.theirs,
            state.mine | 1 << cell,
            state.ply + 1,
            -state.balance - WEIGHTS[cell],
            (*heights[:move], height + 1, *heights[move + 1 :]),
        )

    @staticmethod
    def is_lost(state: State) -> bool:
        return has_four(state.theirs)

    @staticmethod
    def is_full(state: State) -> bool:
        return state.ply == WIDTH * HEIGHT


RULES: dict[str, Any] = {"tictactoe": TicTacToe, "connect4": ConnectFour}


def score_of(rules: Any, state: State) -> int:
    """Return the score of a position where a line of play ends, for the player to move."""
    if rules.is_lost(state):
        return -WIN
    return 0 if rules.is_full(state) else state.balance


class MutableTicTacToe:
    """The methods that easyAI needs; moves are made and taken back."""

    def __init__(self, players: Any = None) -> None:
        self.players = players
        self.current_player = 1
        self.marks = [0, 0, 0]

    def possible_moves(self) -> list[int]:
        filled = self.marks[1] | self.marks[2]
        return [cell for cell in range(9) if not filled >> cell & 1]

    def make_move(self, move: int) -> None:
        self.marks[self.current_player] |= 1 << move

    def unmake_move(self, move: int) -> None:
        self.marks[self.current_player] &= ~(1 << move)

    def lose(self) -> bool:
        theirs = self.marks[3 - self.current_player]
        return any(theirs & line == line for line in LINES)

    def is_over(self) -> bool:
        return self.marks[1] | self.marks[2] == 0o777 or self.lose()

    def scoring(self) -> int:
        return -WIN if self.lose() else 0

    def ttentry(self) -> Any:
        return tuple(self.marks)

    def ttrestore(self, entry: Any) -> None:
        self.marks = list(entry)


class MutableConnectFour:
    """The methods that easyAI needs, for Connect Four."""

    def __init__(self, players: Any = None) -> None:
        self.players = players
        self.current_player = 1
        self.stones = [0, 0, 0]
        self.heights = [0] * WIDTH
        self.left = WIDTH * HEIGHT
        self.balance = 0  # the evaluation, for player 1

    def possible_moves(self) -> list[int]:
        return [column for column, height in enumerate(self.heights) if height < HEIGHT]

    def make_move(self, move: int) -> None:
        cell = move * STRIDE + self.heights[move]
        self.heights[move] += 1
        self.left -= 1
        self.stones[self.current_player] |= 1 << cell
        self.balance += WEIGHTS[cell] if self.current_player == 1 else -WEIGHTS[cell]

    def unmake_move(self, move: int) -> None:
        self.heights[move] -= 1
        cell = move * STRIDE + self.heights[move]
        self.left += 1
        self.stones[self.current_player] ^= 1 << cell
        self.balance -= WEIGHTS[cell] if self.current_player == 1 else -WEIGHTS[cell]

    def lose(self) -> bool:
        return has_four(self.stones[3 - self.current_player])

    def is_over(self) -> bool:
        return self.left == 0 or self.lose()

    def scoring(self) -> int:
        if self.lose():
            return -WIN
        if self.left == 0:
            return 0
        return self.balance if self.current_player == 1 else -self.balance

    def ttentry(self) -> Any:
        return tuple(self.stones), tuple(self.heights), self.left, self.balance

    def ttrestore(self, entry: Any) -> None:
        stones, heights, self.left, self.balance = entry
        self.stones, self.heights = list(stones), list(heights)


MUTABLE: dict[str, Any] = {"tictactoe": MutableTicTacToe, "connect4": MutableConnectFour}
