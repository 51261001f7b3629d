"""Games as users write them, compared with what is known about all their positions."""

from __future__ import annotations

from functools import reduce
from itertools import combinations_with_replacement
from operator import xor
from random import Random

import pytest
from data import FOLDER, rows
from toys import kayles

from cutnode import Searcher, legal_moves, load_game, perft, solve_many
from cutnode.compiler.jit import jit_enabled
from cutnode.contract.verbs import outcome, play

pytestmark = pytest.mark.once

connect4 = load_game("connect4").notation
fourinarow = load_game("toys.fourinarow").notation

COMPILED = pytest.param(False, marks=[pytest.mark.slow, pytest.mark.long])
"""The same in compiled code: three kernels for each of these games."""

needs_jit = pytest.mark.skipif(not jit_enabled(), reason="many nodes")


def values(positions):
    return solve_many(positions).values.tolist()


def searched_values(positions, depth):
    """Return the winners, by a search of limited depth that is deep enough."""
    engine = Searcher(positions[0], exact=True)
    found = []
    for position in positions:
        value = engine.search(position, depth=depth).value
        found.append((value > 0) - (value < 0))
    return found


# Nim


def bouton(heaps, misere):
    """A player who moves from heaps with a sum of 0 (without carry) loses, in the misere form too,
    unless all heaps have one stone (C. Bouton, "Nim, a game with a complete mathematical theory",
    1901)."""
    loses = reduce(xor, heaps, 0) == 0
    if misere and max(heaps, default=0) <= 1:
        loses = not loses
    return -1 if loses else 1


def nim_positions(most, heaps, plain):
    """Return positions of *heaps* heaps with up to *most* stones, in both forms, and values."""
    facts, nim = [], load_game("toys.nim", plain=plain)
    for stones in combinations_with_replacement(range(most + 1), heaps):
        text = "/".join(map(str, stones))
        facts.append((nim.parse(text), bouton(stones, False)))
        facts.append((nim.parse(f"{text} misere"), bouton(stones, True)))
    return zip(*facts, strict=True)


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize(
    ("most", "heaps", "plain"),
    [(3, 3, True), pytest.param(7, 4, False, marks=[needs_jit, pytest.mark.slow])],
)
def test_nim(most, heaps, plain):
    positions, wanted = nim_positions(most, heaps, plain)
    assert values(positions) == list(wanted)


@pytest.mark.slow
@pytest.mark.long
def test_nim_by_search():
    positions, wanted = nim_positions(2, 3, plain=False)
    assert searched_values(positions, depth=6) == list(wanted)


# Kayles

GRUNDY = [int(value) for _, value in rows(FOLDER / "kayles.txt")]


def test_grundy_values_of_rows():
    """Each is the least value that no move leads to: a row becomes two, whose values are xored."""
    for pins in range(1, kayles.MOST + 1):
        reached = set()
        for move in legal_moves(kayles.start(str(pins))):
            left = kayles.position_text(play(kayles.start(str(pins)), move)).split(".")
            reached.add(reduce(xor, (GRUNDY[len(row)] for row in left)))
        assert GRUNDY[pins] == min(set(range(len(reached) + 1)) - reached)


@pytest.mark.parametrize("plain", [True, COMPILED])
def test_kayles(plain):
    """Single rows and pairs of rows: the mover loses if their Grundy values cancel."""
    random = Random(0)
    pins = 8 if plain or not jit_enabled() else 16
    texts = ["|" * count for count in range(1, pins + 1)]
    texts += ["".join(random.choices("|.", (3, 1), k=pins)) for _ in range(300)]
    # Chance rarely finds lost positions: equal rows, or a row that cancels two others.
    texts += [f"{'|' * count}.{'|' * count}" for count in range(1, pins // 2)]
    texts += ["|.||.|||", "|.|||||||.|||", "||||.||", "|||||.||||"]
    wanted = [-1 if reduce(xor, (GRUNDY[len(row)] for row in text.split("."))) == 0 else 1
              for text in texts]  # fmt: skip
    assert wanted.count(-1) > 20
    game = load_game("toys.kayles", plain=plain)
    positions = [game.parse(text) for text in texts]
    assert values(positions) == wanted


# Domineering

CLASSES = {
    # Values for the mover if Vertical begins, and if Horizontal does.
    "V": (1, -1),
    "H": (-1, 1),
    "N": (1, 1),
    "P": (-1, -1),
}
BOARDS = [(size, CLASSES[name]) for size, name in rows(FOLDER / "domineering.txt")]


def cells(size):
    return int(size[0]) * int(size[2])


def domineering_boards(boards, plain):
    return [
        load_game(f"toys.domineering:{size} {mover}", plain=plain).start()
        for size, _ in boards
        for mover in "vh"
    ]


def check_boards(boards, plain=False):
    positions = domineering_boards(boards, plain)
    wanted = [value for _, both in boards for value in both]
    assert values(positions) == wanted


def test_small_boards_of_domineering():
    check_boards([fact for fact in BOARDS if cells(fact[0]) <= 12], plain=True)


@pytest.mark.long
@pytest.mark.slow
@needs_jit
def test_domineering():
    check_boards([fact for fact in BOARDS if 12 < cells(fact[0]) <= 36])


@pytest.mark.slow
@pytest.mark.long
@needs_jit
def test_large_boards_of_domineering():
    check_boards([fact for fact in BOARDS if cells(fact[0]) > 36])


@pytest.mark.slow
@pytest.mark.long
@needs_jit
def test_domineering_by_search():
    boards = [fact for fact in BOARDS if cells(fact[0]) <= 16]
    positions = domineering_boards(boards, plain=False)
    assert searched_values(positions, depth=9) == [value for _, both in boards for value in both]


# Connect Four as a user writes it, and as tuned


def random_games(seed, games):
    random = Random(seed)
    for _ in range(games):
        columns, position = "", fourinarow.start()
        while not outcome(position)[0]:
            move = random.choice(legal_moves(position))
            columns += fourinarow.move_text(position, move)
            position = play(position, move)
            yield columns, position


def test_both_have_the_same_rules():
    for columns, position in random_games(0, 20):
        tuned = connect4.parse_position(columns)
        assert fourinarow.parse_position(columns) == position
        assert fourinarow.position_text(position) == connect4.position_text(tuned)
        assert outcome(position) == outcome(tuned)
        assert legal_moves(position) == legal_moves(tuned)


@pytest.mark.long
@pytest.mark.slow
@needs_jit
def test_both_have_the_same_values():
    late = [columns for columns, position in random_games(1, 60) if position.stones > 24]
    positions = [fourinarow.parse_position(columns) for columns in late]
    batch = solve_many(positions)
    assert batch.values.tolist() == values(connect4.parse_position(columns) for columns in late)


@pytest.mark.slow
@needs_jit
def test_both_have_as_many_lines_of_play():
    assert perft(fourinarow.parse_position("4444"), 8) == perft(connect4.parse_position("4444"), 8)
