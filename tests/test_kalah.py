"""Kalah: values of boards, rules against naive ones, encoding, claims, estimates, notation."""

from __future__ import annotations

import pytest
from data import FOLDER, rows
from hypothesis import given
from positions import moves_by, order_scores, reached

from cutnode import Table, legal_moves, solve
from cutnode.compiler.jit import jit_enabled
from cutnode.contract.verbs import (
    bounds,
    canonical,
    evaluate,
    key,
    noisy,
    outcome,
    play,
    turn,
)
from cutnode.games.kalah import (
    lead,
    parse_position,
    start,
)

pytestmark = pytest.mark.once

BOARDS = [(variant, int(value)) for variant, value in rows(FOLDER / "kalah_boards.txt")]


def listed(position):
    """Return South's houses and store, then North's."""
    south, north = (
        (position.theirs, position.mine) if position.second else (position.mine, position.theirs)
    )
    cells = range(position.HOUSES + 1)
    return [*(south >> 8 * n & 255 for n in cells), *(north >> 8 * n & 255 for n in cells)]


# Rules


def sown(cells, player, house, empty):
    """Sow seed by seed; return the cells after a move, and the player to move."""
    cells, size = list(cells), len(cells) // 2 - 1
    own, other = player * (size + 1), (1 - player) * (size + 1)
    at = own + house
    seeds, cells[at] = cells[at], 0
    while seeds:
        at = (at + 1) % len(cells)
        if at != other + size:
            cells[at] += 1
            seeds -= 1
    opposite = 2 * size - at
    if own <= at < own + size and cells[at] == 1 and (empty or cells[opposite]):
        cells[own + size] += cells[opposite] + 1
        cells[at] = cells[opposite] = 0
    if not any(cells[:size]) or not any(cells[size + 1 : -1]):
        cells[size] += sum(cells[:size])
        cells[-1] += sum(cells[size + 1 : -1])
        cells[:size] = cells[size + 1 : -1] = [0] * size
    return cells, player if at == own + size else 1 - player


@given(reached("kalah"))
def test_moves_are_as_naive_rules_say(position):
    cells, player = listed(position), turn(position)
    own = cells[player * (position.HOUSES + 1) :][: position.HOUSES]
    over = not any(own)
    assert outcome(position)[0] == over
    assert legal_moves(position) == [house for house, seeds in enumerate(own) if seeds]
    for move in legal_moves(position):
        child = play(position, move)
        assert (listed(child), turn(child)) == sown(cells, player, move, position.EMPTY)


@given(reached("kalah"))
def test_seeds_are_conserved(position):
    cells, size = listed(position), position.HOUSES
    assert sum(cells) == position.SEEDS
    south = cells[size] - cells[-1]
    over, value = outcome(position)
    assert value == (over and (-south if position.second else south))
    assert any(cells[:size]) == any(cells[size + 1 : -1]) == (not over)


# Values


def by_hand(position, known):
    """Return the value in plain Python: the gain from here on, whatever the stores hold."""
    over, value = outcome(position)
    if over:
        return value
    houses = (position.mine & position.ROW, position.theirs & position.ROW)
    if houses not in known:
        values = []
        for move in legal_moves(position):
            child = play(position, move)
            value = by_hand(child, known)
            values.append(value if turn(child) == turn(position) else -value)
        known[houses] = max(values) - lead(position)
    return known[houses] + lead(position)


def small(variant):
    houses, seeds = int(variant[0]), int(variant[2])
    return houses < 3 or (houses < 6 and houses * seeds < 7)


LARGEST = {"3": 6, "4": 6, "5": 4, "6": 3}
"""The most seeds per house with which a board of that many houses is solved in seconds."""


def on_largest(variant):
    """Return the start of a variant in the class of the largest board with its houses and rule.

    Rules do not depend on the number of seeds, and a class takes seconds to compile.
    """
    houses, rule = variant[0], variant[3:]
    return type(start(f"{houses}x{LARGEST[houses]}{rule}"))(*start(variant))


@pytest.mark.parametrize(("variant", "value"), [fact for fact in BOARDS if small(fact[0])])
def test_small_boards(variant, value):
    assert by_hand(start(variant), {}) == value


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize(
    ("variant", "value"),
    [
        pytest.param(
            variant, value, marks=[pytest.mark.slow] + [pytest.mark.long] * (variant != "3x3")
        )
        for variant, value in BOARDS
        if not small(variant) and int(variant[2]) <= LARGEST[variant[0]]
    ],
)
def test_boards(variant, value):
    if not jit_enabled():
        pytest.skip("many nodes")
    assert solve(on_largest(variant)).value == value


@pytest.mark.slow
@pytest.mark.long
def test_usual_board():
    """Some 180 million nodes, three minutes."""
    (value,) = (value for variant, value in BOARDS if variant == "6x4")
    assert solve(start("6x4"), table=Table(4096)).value == value


# Encoding and claims about values


def test_all_keys():
    """The keys of all positions of a small board."""
    found, fresh = set(), {start("3x2")}
    while fresh:
        found |= fresh
        fresh = {play(p, move) for p in fresh for move in legal_moves(p)} - found
    assert len(found) > 1000
    assert len({key(position) for position in found}) == len(found)
    assert len({canonical(p)[0] for p in found}) == len({(p.mine, p.theirs) for p in found})


def test_keys_are_exact_on_small_boards():
    assert start("6x4").EXACT and start("5x5").EXACT and start("1x30").EXACT
    assert not start("6x5").EXACT and not start("1x31").EXACT


def test_bounds():
    position = parse_position("[5] 0 2 1 / 1 1 0 [2] north", "3x2")
    assert bounds(position, -1, 1) == (-2, 8)
    assert bounds(parse_position("[5] 0 0 0 / 0 0 0 [7] north", "3x2"), -1, 1) == (-2, -2)


@given(reached("kalah"))
def test_bounds_narrow(position):
    """A move never widens the interval; seeds in stores stay there."""
    lower, upper = bounds(position, -1, 1)
    assert lower <= lead(position) == evaluate(position) <= upper
    assert (lower == upper) == outcome(position)[0]
    for move in legal_moves(position):
        child = play(position, move)
        low, high = bounds(child, -1, 1)
        low, high = (low, high) if turn(child) == turn(position) else (-high, -low)
        assert lower <= low <= high <= upper


# Search


def test_moves_that_give_another_come_first():
    scores = order_scores(parse_position("[0] 4 4 0 4 4 5 / 1 5 4 4 4 1 [8] south"))
    assert sorted(scores, key=scores.__getitem__, reverse=True)[:3] == ["6", "3", "2"]


def test_captures_come_next():
    scores = order_scores(parse_position("[0] 6 6 6 6 6 6 / 2 2 0 4 4 0 [0] south", "6x4"))
    assert max(scores, key=scores.__getitem__) == "1"


@given(reached("kalah"))
def test_noisy_moves(position):
    if outcome(position)[0]:
        return
    store, wanted = position.mine >> 8 * position.HOUSES, []
    for move in legal_moves(position):
        child = play(position, move)
        again = turn(child) == turn(position)
        gained = ((child.mine if again else child.theirs) >> 8 * position.HOUSES) - store
        if again or gained > 1:
            wanted.append(move)
    assert moves_by(noisy, position) == wanted


# Notation


def test_drawing():
    assert str(start()) == "\n".join(
        ["[0]   4   4   4   4   4   4", "      4   4   4   4   4   4 [0]", "south to move"]
    )
    assert str(parse_position("11", "2x60")) == "\n".join(
        ["[15]   87   14", "       26   86 [12]", "north to move"]
    )
    assert str(parse_position("1", "1x127")).splitlines()[:2] == [" [0]  169", "       42 [43]"]
