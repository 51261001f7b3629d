"""Amazons, and dots and boxes: untuned games, and pitfalls for their searches."""

from __future__ import annotations

from pathlib import Path

import pytest
from toys import amazons, dots_and_boxes, teeko

from cutnode import PositionError, Searcher, legal_moves, load_game
from cutnode.contract.verbs import evaluate, outcome, play
from cutnode.kernels.techniques import choose, leave_out
from cutnode.lab.sampling import sample_positions

pytestmark = pytest.mark.once

TOYS = Path(__file__).parent / "toys"

# Their rules

DIRECTIONS = [(x, y) for x in (-1, 0, 1) for y in (-1, 0, 1) if x or y]


def queen_moves(size, taken, row, column):
    """Return the cells that a queen can reach, by an independent version of the rule on sets."""
    for down, right in DIRECTIONS:
        place = row + down, column + right
        while place not in taken and min(place) >= 0 and max(place) < size:
            yield place
            place = place[0] + down, place[1] + right


def turns(size, mine, taken):
    """Count the turns of a player of amazons."""
    return sum(
        len(list(queen_moves(size, (taken - {amazon}) | {target}, *target)))
        for amazon in mine
        for target in queen_moves(size, taken, *amazon)
    )


@pytest.mark.parametrize("size", [4, 5, 6, 8])
def test_turns_of_amazons(size):
    start = amazons.start(f"{size}x{size}")
    places = [
        {(cell // 8, cell % 8) for cell in range(64) if word >> cell & 1}
        for word in (start.mine, start.theirs)
    ]
    assert list(map(len, places)) == [4, 4]
    found = sum(
        len(legal_moves(play(start, move))) for move in legal_moves(start) if start.moved == 64
    )
    assert found == turns(size, places[0], places[0] | places[1])


def test_amazons_start_level():
    assert evaluate(amazons.start("6x6")) == 0


def plain_value(name, depth):
    start = load_game(f"{TOYS / name}", plain=True).start()
    return Searcher(start, table=1, exact=True).search(start, depth=depth).value


def test_boxes_in_a_row_are_the_same_game():
    """Compared with ``toys.boxes``, which has its own lines."""
    for depth in (5, 6):
        assert plain_value("dots_and_boxes.py:1x2", depth) == plain_value("boxes.py:2", depth)


def test_all_boxes_are_won():
    position = dots_and_boxes.board(2, 2)()
    for move in range(12):
        assert not outcome(position)[0] and move in legal_moves(position)
        position = play(position, move)
    over, value = outcome(position)
    assert over and abs(value) in (0, 2, 4)


@pytest.mark.parametrize("text", ["0x3", "9x9", "3", "x"])
def test_invalid_sizes(text):
    for game in (amazons, dots_and_boxes):
        with pytest.raises(PositionError):
            game.start(text) if game is amazons else game.board.of(text)


# Their searches


@pytest.mark.slow
@pytest.mark.long
def test_quiet_searches_do_not_take_over():
    """In Gomoku one four leads to the next, and leaves would use up all possible depth."""
    game = load_game("mnk:8x8x5")
    searcher = Searcher(game, table=1)
    for position in sample_positions(game.start(), 5, plies=(8, 16)):
        searcher.clear()
        result = searcher.search(position, nodes=4000)
        assert result.depth >= 2


def test_the_same_search_shortens_the_same():
    game = load_game("mnk:8x8x5", plain=True)
    [position] = sample_positions(game.start(), 1, plies=(10, 10), seed=1)
    searcher = Searcher(game, table=1)
    found = []
    for _ in range(2):
        searcher.clear()
        found.append(searcher.search(position, depth=3).nodes)
    assert found[0] == found[1] == Searcher(game, table=1).search(position, depth=3).nodes


def test_razoring_needs_quiescence():
    """An unconfirmed estimate is no reason to cut."""
    boxes = type(dots_and_boxes.board(2, 2)())
    assert {"futility", "reverse_futility"} <= choose(boxes, None)
    assert "razoring" not in choose(boxes, None)
    gomoku = type(load_game("mnk:8x8x5").start())
    assert "razoring" in choose(gomoku, None)
    assert "razoring" not in leave_out(choose(gomoku, None), ["quiescence"])


def test_late_moves_are_searched_where_nothing_is_estimated():
    """All scores are 0 until a win is seen: a late move may be the winning one, and most positions
    have no hash move.
    """
    less = {"late_move_pruning", "late_move_reductions", "internal_iterative_reduction"}
    assert not less & choose(teeko.Position, None)
    assert less <= choose(amazons.Position, None)


@pytest.mark.slow
@pytest.mark.long
def test_late_moves_are_searched_where_they_cut_too_often():
    """Their statistics last until everything learned is forgotten."""
    game = load_game(f"{TOYS / 'dots_and_boxes.py'}:4x4")
    [position] = sample_positions(game.start(), 1, plies=(14, 14), seed=1)
    skipped = {}
    for most in (100, 25, 0):
        searcher = Searcher(game, table=1, parameters={"late_move_pruning.cutoffs": most})
        found = []
        for _ in range(2):
            searcher.clear()
            result = searcher.search(position, depth=7)
            found.append((result.nodes, result.statistics.late))
        assert found[0] == found[1]
        skipped[most] = found[0][1]
    assert skipped[0] < skipped[25] < 0.75 * skipped[100]
