"""Positions that benchmarks share, with their published values."""

from __future__ import annotations

import functools
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from cutnode import legal_moves, load_game
from cutnode.contract.verbs import play
from cutnode.games.chess.notation import operations_in

DATA = Path(__file__).parent / "data"

SETS = ("L3_R1", "L2_R1", "L2_R2", "L1_R1")
"""The public sets of Connect Four, the easiest first."""

CHESS_START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
KIWIPETE = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"


def lines(name: str) -> list[str]:
    """Return the lines of a data file without its comments."""
    text = (DATA / name).read_text()
    return [line for line in text.splitlines() if line and not line.startswith("#")]


@functools.cache
def connect4_set(name: str, every: int = 1) -> tuple[list[str], list[Any], list[int]]:
    """Return the texts, positions and values of a Connect Four set, taking one in *every* lines."""
    fields = [line.split(";") for line in lines(f"connect4_{name}.txt")[::every]]
    texts = [text.strip() for text, _ in fields]
    game = load_game("connect4")
    return texts, [game.parse(text) for text in texts], [int(value) for _, value in fields]


class Endgame(NamedTuple):
    """An Othello endgame of the FFO test suite."""

    number: int
    position: Any
    value: int
    best: list[str]


@functools.cache
def ffo_endgames(numbers: Sequence[int]) -> list[Endgame]:
    """Return the endgames of the FFO test suite with these numbers."""
    game = load_game("othello")
    found = []
    for line in lines("othello_ffo.txt"):
        text, number, value, best = (field.strip() for field in line.split(";"))
        if int(number) in numbers:
            found.append(Endgame(int(number), game.parse(text), int(value), best.split()))
    return found


class Problem(NamedTuple):
    """A chess problem: the best moves, or the number of moves to mate (0: not a mate)."""

    name: str
    position: Any
    best: list[int]
    mate: int


def chess_suite(name: str) -> Iterator[Problem]:
    """Yield the problems of a chess suite."""
    game = load_game("chess")
    for line in lines(f"chess_{name}.epd"):
        position, facts = game.parse(line), operations_in(line)
        best = [game.module.parse_move(position, text) for text in facts.get("bm", ())]
        yield Problem(facts["id"][0], position, best, int(facts.get("dm", ("0",))[0]))


@functools.cache
def random_positions(name: str, count: int, plies: int) -> list[Any]:
    """Return positions after *plies* random plies, in which the game is not over."""
    game, chooser = load_game(name), random.Random(1)
    found: list[Any] = []
    while len(found) < count:
        position = game.start()
        for _ in range(plies):
            moves = legal_moves(position)
            if not moves:
                break
            position = play(position, chooser.choice(moves))
        if legal_moves(position):
            found.append(position)
    return found
