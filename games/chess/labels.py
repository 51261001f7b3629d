"""Labelled positions of chess, in files of rows, and labels by Stockfish's evaluation.

A search of a few hundred nodes is an uncertain label: it is shallow and prunes much.  Stockfish's
evaluation (its network, version 12 or later) is a better one, and takes microseconds.  It also
holds where noisy moves win something, so positions after random moves can be learned from, too:
searches evaluate many of their kind.
"""

from __future__ import annotations

import contextlib
import subprocess
import threading
from collections.abc import Iterator
from typing import IO

import numpy as np
from numba import njit

from cutnode import CutnodeError
from cutnode.contract.bits import Bits
from cutnode.contract.counting import NOWHERE
from cutnode.games.chess import MAX_MOVES, Position, check, moves, noisy, play
from cutnode.games.chess.boards import Board, turned
from cutnode.games.chess.evaluation import standing
from cutnode.games.chess.notation import LETTERS, Placement, fen

BOARD = ("mine", "theirs", "pawns", "knights", "bishops", "rooks", "queens", "kings")

LABELLED = np.dtype(
    [
        *((name, "<u8") for name in BOARD),
        ("score", "<i2"),
        ("later", "<i2"),
        ("result", "i1"),
        ("game", "<i4"),
    ]
)
"""A position, the score of the search, and the result of the game: 2 for a win of the mover, 1 for
a draw, and ``UNKNOWN`` if it is of no game."""

UNKNOWN = -1

MOST_STEPS = 6
"""The most random moves from a position of a game to one that is of no game."""

NOISY_SHARE = 3
"""One random move in this many is noisy, if there are noisy moves."""

EVALUATION = "NNUE evaluation"
"""The start of the line with an evaluation, in pawns as white sees it."""

MOST_EVALUATION = 3000
"""The largest label."""


@njit
def start_like():
    """Return an example of a position, for its type."""
    none = Bits(0)
    return Position(
        none, none, none, none, none, none, none, none, none, none,
        np.int64(0), np.int64(0), np.int64(0), none,
    )  # fmt: skip


@njit(nogil=True, error_model="numpy")
def position_of(row):
    """Return the position of a row; castling and the past are unknown."""
    board = Board(
        Bits(row["mine"]),
        Bits(row["theirs"]),
        Bits(row["pawns"]),
        Bits(row["knights"]),
        Bits(row["bishops"]),
        Bits(row["rooks"]),
        Bits(row["queens"]),
        Bits(row["kings"]),
    )
    placed = standing(board, NOWHERE) - standing(turned(board), NOWHERE)
    return Position(
        board.mine,
        board.theirs,
        board.pawns,
        board.knights,
        board.bishops,
        board.rooks,
        board.queens,
        board.kings,
        Bits(0),
        Bits(0),
        0,
        0,
        placed,
        Bits(0),
    )


def rows_nearby(rows: np.ndarray, times: int, seed: int) -> np.ndarray:
    """Return rows of positions up to ``MOST_STEPS`` random moves away, *times* from each.

    Positions in check, where the search never evaluates, and those without moves are left out.
    """
    found = np.zeros(times * len(rows), LABELLED)
    random = np.random.default_rng(seed).integers(0, 1 << 30, (len(found), 2 * MOST_STEPS + 1))
    return found[: write_nearby(rows, random, found)]


@njit(nogil=True, error_model="numpy")
def write_nearby(rows, random, found):
    count = 0
    buffer = np.zeros(MAX_MOVES, np.int64)
    for number in range(len(found)):
        row = rows[number % len(rows)]
        position = position_of(row)
        steps = 1 + random[number, 2 * MOST_STEPS] % MOST_STEPS
        some = 1
        for step in range(steps):
            some = 0
            if random[number, 2 * step] % NOISY_SHARE == 0:
                some = noisy(position, buffer, 0)
            if some == 0:
                some = moves(position, buffer, 0)
            if some == 0:
                break
            position = play(position, buffer[random[number, 2 * step + 1] % some])
        if some == 0 or check(position) or moves(position, buffer, 0) == 0:
            continue
        new = found[count]
        new["mine"], new["theirs"] = position.mine, position.theirs
        new["pawns"], new["knights"] = position.pawns, position.knights
        new["bishops"], new["rooks"] = position.bishops, position.rooks
        new["queens"], new["kings"] = position.queens, position.kings
        new["result"], new["game"] = UNKNOWN, row["game"]
        count += 1
    return count


def fens(rows: np.ndarray) -> Iterator[str]:
    """Yield the positions of rows in FEN, with their movers as white."""
    for mine, _, *kinds in rows[[*BOARD]].tolist():
        pieces = {}
        for letter, squares in zip(LETTERS, kinds, strict=True):
            while squares:
                square = squares.bit_length() - 1
                squares ^= 1 << square
                pieces[square] = letter.upper() if mine >> square & 1 else letter
        yield fen(Placement(pieces, False, (), None, 0, 1))


def evaluations(engine: str, rows: np.ndarray) -> np.ndarray:
    """Return the evaluation of each row by *engine*, a Stockfish, in hundredths of its pawns.

    :class:`CutnodeError` if there is no such program, or it does not evaluate every position.
    """
    try:
        process = subprocess.Popen(
            [engine], stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
        )
    except OSError as error:
        raise CutnodeError(
            f"{engine} cannot be started ({error.strerror}): install Stockfish 12 or later, or "
            "name it with --engine"
        ) from None
    with process:
        assert process.stdin is not None and process.stdout is not None
        asker = threading.Thread(target=ask, args=(process.stdin, rows))
        asker.start()
        lines = (line for line in process.stdout if line.startswith(EVALUATION))
        try:
            found = [round(100 * float(line.removeprefix(EVALUATION).split()[0])) for line in lines]
        finally:
            process.kill()  # an interruption does not wait for the other answers
            asker.join()
    if len(found) != len(rows):
        raise CutnodeError(
            f"{engine} evaluated {len(found)} of {len(rows)} positions: it must be Stockfish 12 or "
            "later with its network"
        )
    return np.clip(found, -MOST_EVALUATION, MOST_EVALUATION)


def ask(questions: IO[str], rows: np.ndarray) -> None:
    """Ask an engine for its evaluation of each row, then to end."""
    with contextlib.suppress(BrokenPipeError), questions:  # answers are too few if it ends early
        for text in fens(rows):
            questions.write(f"position fen {text}\neval\n")
        questions.write("quit\n")
