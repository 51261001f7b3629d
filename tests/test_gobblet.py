"""Gobblet Gobblers: the rules compared with stacks of men in lists, and small variants solved."""

from __future__ import annotations

from random import Random

import pytest
from data import FOLDER, rows
from marks import compiled_only
from test_tablebases import in_memory, reachable, solved_by_sweeps

from cutnode import PositionError, legal_moves, load_game, solve
from cutnode.contract.verbs import cell, outcome, play

pytestmark = pytest.mark.once

FACTS = {variant: tuple(map(int, numbers)) for variant, *numbers in rows(FOLDER / "gobblet.txt")}
LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))


class Stacks:
    """The physical board: cells with men on top of each other, ``(player, size)``."""

    def __init__(self, men):
        self.men = men
        self.cells = [[] for _ in range(9)]

    def in_hand(self, player, size):
        out = sum(stack.count((player, size)) for stack in self.cells)
        return self.men[size] - out

    def visible(self, place):
        return self.cells[place][-1] if self.cells[place] else (None, -1)

    def lines(self, player):
        return [line for line in LINES if all(self.visible(n)[0] == player for n in line)]

    def moves(self, player):
        """Return the origin (a cell or the hand) and the destination of each move."""
        sources = [("hand", size) for size, _ in enumerate(self.men) if self.in_hand(player, size)]
        sources += [(n, self.visible(n)[1]) for n in range(9) if self.visible(n)[0] == player]
        return {
            (source, size, target)
            for source, size in sources
            for target in range(9)
            if target != source and self.visible(target)[1] < size
        }

    def play(self, player, move):
        """Play a move; return the winner, if any: the opponent, if his uncovered row stays."""
        source, size, target = move
        if source != "hand":
            assert self.cells[source].pop() == (player, size)
        uncovered = self.lines(1 - player)
        self.cells[target].append((player, size))
        if any(target not in line for line in uncovered):
            return 1 - player
        return player if self.lines(player) else None

    def contents(self, mover):
        """Return, for each size and cell: nothing, a man of the mover, or a man of the opponent."""
        found = [0] * (9 * len(self.men))
        for place, stack in enumerate(self.cells):
            assert [size for _, size in stack] == sorted({size for _, size in stack})
            for player, size in stack:
                found[9 * size + place] = 1 if player == mover else 2
        return found


def named(position, move):
    """Return a move in the form of the stacks."""
    source, target = divmod(move, 32)
    if source >= 9:
        return "hand", source - 9, target
    size = max(size for size in range(len(position.MEN)) if cell(position, 9 * size + source))
    return source, size, target


def random_game(men, position, rng):
    """Play a random game, comparing the rules after each ply; return whether the last mover won."""
    stacks = Stacks(men)
    for ply in range(200):
        mover = ply % 2
        known = {named(position, move): move for move in legal_moves(position)}
        assert known.keys() == stacks.moves(mover)
        move = rng.choice(sorted(known, key=str))
        winner = stacks.play(mover, move)
        position = play(position, known[move])
        assert [cell(position, n) for n in range(9 * len(men))] == stacks.contents(1 - mover)
        expected = (False, 0) if winner is None else (True, -1 if winner == mover else 1)
        assert outcome(position) == expected
        if winner is not None:
            return winner == mover
    return None


@pytest.mark.parametrize("variant", ["2-2-2", "1-2-3", "2-1", "4"])
def test_random_games_against_stacks(variant):
    rng = Random(variant)
    start = load_game(f"toys.gobblet:{variant}", plain=True).start()
    results = {random_game(start.MEN, start, rng) for _ in range(60)}
    assert {True, False} <= results or variant == "4"  # nothing is covered there


@pytest.mark.parametrize(
    ("small", "large", "move", "expected"),
    [
        # A row of the opponent is uncovered, and stays or is covered again.
        ("ooo/x../...", "x../.../...", (0, 4), (True, 1)),
        ("ooo/x../...", "x../.../...", (0, 2), (False, 0)),
        # A row of one's own as well, which covers the opponent's row or does not.
        ("ooo/xx./...", "x../.../...", (0, 5), (True, 1)),
        ("ooo/.x./.x.", "x../.../...", (0, 1), (True, -1)),
        # Part of a row of one's own is uncovered.
        ("xx./oo./...", "x../.../...", (0, 2), (True, -1)),
    ],
)
def test_rows_that_are_uncovered(small, large, move, expected):
    position = load_game("toys.gobblet:3-1", plain=True).parse(f"{small}/{large}")
    assert outcome(position) == (False, 0)
    number = 32 * move[0] + move[1]
    assert number in legal_moves(position)
    assert outcome(play(position, number)) == expected


def test_a_man_does_not_return_to_its_cell():
    position = load_game("toys.gobblet:1-1", plain=True).parse("x../.../.../o../.../...")
    assert {move >> 5 for move in legal_moves(position)} == {10}  # the small one is covered
    position = load_game("toys.gobblet:1", plain=True).parse("x../.o./...")
    assert sorted(legal_moves(position)) == [1, 2, 3, 5, 6, 7, 8]


def test_what_is_refused():
    for variant in ("0-1", "5", "1-1-1-1", "2x2"):
        with pytest.raises(PositionError, match="1 to 4 men for each of 1 to 3 sizes"):
            load_game(f"toys.gobblet:{variant}").start()
    with pytest.raises(PositionError, match="more than 1 men of size 1"):
        load_game("toys.gobblet:2-1").parse("x../.../.../o.o/.../...")


def assert_as_by_sweeps(variant, plain):
    start = load_game(f"toys.gobblet:{variant}", plain=plain).start()
    base, (positions, edges) = in_memory(start, threads=2), reachable(start)
    naive = solved_by_sweeps(edges)
    assert len(base) == len(positions)
    for word, position in positions.items():
        entry = base.entry(position)
        assert (entry.value, entry.distance) == naive[word], position


def test_every_distance_against_sweeps():
    assert_as_by_sweeps("3", plain=True)


@compiled_only
@pytest.mark.slow
@pytest.mark.long
def test_every_distance_with_men_that_cover_others():
    assert_as_by_sweeps("2-1", plain=False)


@compiled_only
@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("variant", [*FACTS])
def test_small_variants(variant):
    wins, draws, losses, longest = FACTS[variant]
    start = load_game(f"toys.gobblet:{variant}").start()
    base = in_memory(start, threads=2)
    (found,) = base.layers()
    assert (found["wins"], found["draws"], found["losses"]) == (wins, draws, losses)
    assert found["longest"] == longest
    assert base.entry(start).value == 0
    assert base.verify(threads=2).wrong == 0
    for number in Random(variant).sample(range(len(base)), 10):
        position = base.position_at("all", number)
        if not outcome(position)[0]:
            result, entry = solve(position), base.entry(position)
            assert (result.value, result.depth) == (entry.value, entry.distance or 0)
