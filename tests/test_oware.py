"""Oware: rules compared with naive ones, values of endgames, claims, estimates, notation."""

from __future__ import annotations

import functools
import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from positions import moves_by, reached

from cutnode import legal_moves, load_game, rebuild, solve_many
from cutnode.contract.verbs import bounds, canonical, evaluate, key, noisy, order, outcome, play
from cutnode.games.oware import (
    parse_position,
    position_text,
    start,
)

pytestmark = pytest.mark.once


def listed(position):
    """Return the houses of the mover and the opponent, around the board, and both stores."""
    mine, theirs = ([word >> 8 * at & 255 for at in range(7)] for word in position[:2])
    return tuple(mine[:6] + theirs[:6]), (mine[6], theirs[6])


def board(houses, captured, variant="", second=False, quiet=0):
    """Return the position for the numbers of :func:`listed`."""
    words = (
        int.from_bytes(bytes([*houses[at : at + 6], captured[at // 6]]), "little") for at in (0, 6)
    )
    return rebuild(start(variant), *words, second, quiet)


@st.composite
def boards(draw):
    """A position with any board: few or many seeds, in few or many houses."""
    left = draw(st.integers(0, 48))
    places = draw(st.lists(st.integers(0, 11), min_size=1, max_size=12))
    houses = [0] * 12
    for number in range(left):
        houses[places[number * number % len(places)]] += 1
    mine = draw(st.integers(0, 48 - left))
    second, quiet = draw(st.booleans()), draw(st.integers(0, 7))
    variant = draw(st.sampled_from(("", "7", "255")))
    return board(houses, (mine, 48 - left - mine), variant, second, quiet)


positions = boards() | reached("oware")


# Rules


def sown(houses, house):
    """Sow seed by seed; return the houses after a move, and the seeds captured."""
    houses = list(houses)
    seeds, houses[house] = houses[house], 0
    at = house
    while seeds:
        at = (at + 1) % 12
        if at != house:
            houses[at] += 1
            seeds -= 1
    before, gained = list(houses), 0
    while at >= 6 and houses[at] in (2, 3):
        gained += houses[at]
        houses[at] = 0
        at -= 1
    if gained and not any(houses[6:]):
        return tuple(before), 0
    return tuple(houses), gained


def legal(houses):
    """Return the moves from own houses with seeds; if the opponent has none, only feeding moves."""
    moves = [house for house in range(6) if houses[house]]
    if not any(houses[6:]):
        moves = [house for house in moves if any(sown(houses, house)[0][6:])]
    return moves


@given(positions)
def test_moves_are_as_naive_rules_say(position):
    houses, captured = listed(position)
    moves = legal(houses)
    over = max(captured) > 24 or position.quiet >= position.LIMIT or not moves
    assert outcome(position)[0] == over
    assert legal_moves(position) == ([] if over else moves)
    for move in legal_moves(position):
        after, gained = sown(houses, move)
        child = play(position, move)
        assert listed(child) == (after[6:] + after[:6], (captured[1], captured[0] + gained))
        assert child.quiet == (0 if gained else position.quiet + 1)
        assert child.second != position.second


@given(positions)
def test_seeds_are_conserved(position):
    houses, captured = listed(position)
    assert sum(houses + captured) == 48
    over, value = outcome(position)
    if over:
        own = captured[0] + (sum(houses[:6]) if max(captured) <= 24 else 0)
        assert value == (1 if own > 24 else 0 if own == 24 else -1)


@pytest.mark.parametrize(
    ("text", "moves", "value"),
    [
        # If the opponent has no seeds, the mover has to feed him.
        ("[20] 0 0 0 0 0 0 / 1 5 3 0 0 1 [18] south", [1, 5], 0),
        ("[20] 0 0 0 0 0 0 / 5 4 3 2 0 0 [14] south", [], 1),
        # Or, if feeding is impossible, captures the rest; likewise if the mover has no seeds.
        ("[20] 0 0 0 0 0 0 / 4 0 0 0 0 0 [24] south", [], 1),
        ("[24] 0 0 0 0 0 0 / 4 0 0 0 0 0 [20] south", [], 0),
        ("[24] 0 0 0 0 0 0 / 1 0 0 0 0 0 [23] north", [], 0),
        ("[22] 0 0 0 0 0 0 / 3 0 0 0 0 0 [23] north", [], -1),
        # 25 seeds, and 24 each.
        ("[23] 0 0 0 0 0 0 / 0 0 0 0 0 0 [25] north", [], -1),
        ("[24] 0 0 0 0 0 0 / 0 0 0 0 0 0 [24] north", [], 0),
        ("[20] 1 0 0 0 1 0 / 1 0 0 0 0 0 [25] south", [], 1),
        # Moves without a capture.
        ("[20] 1 0 0 0 1 0 / 2 0 0 0 0 1 [23] south 49", [0, 5], 0),
        ("[20] 1 0 0 0 1 0 / 2 0 0 0 0 1 [23] south 50", [], 1),
        ("[20] 1 0 0 0 1 0 / 2 0 0 0 0 1 [23] north 50", [], -1),
    ],
)
def test_ends(text, moves, value):
    position = parse_position(text)
    assert legal_moves(position) == moves
    assert outcome(position) == (not moves, value)


# Values


@functools.cache
def by_hand(houses, captured, quiet, limit):
    """Return the value in plain Python, by naive rules."""
    moves = legal(houses)
    if max(captured) > 24 or quiet >= limit or not moves:
        own = captured[0] + (sum(houses[:6]) if max(captured) <= 24 else 0)
        return (own > 24) - (own < 24)
    best = -1
    for move in moves:
        after, gained = sown(houses, move)
        both = (captured[1], captured[0] + gained)
        value = -by_hand(after[6:] + after[:6], both, 0 if gained else quiet + 1, limit)
        best = max(best, value)
    return best


ENDGAMES = [
    ((0, 0, 1, 0, 0, 2, 1, 0, 1, 0, 0, 0), (21, 22)),
    ((0, 0, 1, 0, 0, 2, 1, 0, 1, 0, 0, 0), (22, 21)),
    ((1, 0, 0, 0, 0, 1, 1, 1, 0, 0, 0, 1), (21, 22)),
    ((1, 1, 0, 0, 0, 0, 0, 1, 0, 0, 1, 1), (20, 23)),
    ((0, 0, 0, 0, 3, 0, 1, 0, 0, 0, 0, 0), (22, 22)),
    ((2, 0, 0, 1, 0, 1, 0, 0, 0, 0, 2, 0), (21, 21)),
    ((2, 0, 0, 1, 0, 1, 1, 0, 0, 0, 2, 0), (20, 21)),
    ((0, 1, 0, 0, 1, 2, 0, 0, 1, 1, 0, 1), (21, 20)),
]


def test_endgames():
    """In plain Python, which takes less time than compiling the solver."""
    limit = 12
    begun = list(itertools.product(ENDGAMES, (0, 5)))
    wanted = [by_hand(*endgame, quiet, limit) for endgame, quiet in begun]
    plain = type(load_game(f"oware:{limit}", plain=True).start())
    starts = [plain(*board(*endgame, str(limit), False, quiet)) for endgame, quiet in begun]
    assert set(wanted) == {-1, 0, 1}
    assert solve_many(starts).values.tolist() == wanted


# Encoding and claims about values


@given(positions, positions)
def test_keys(position, other):
    if type(position) is type(other):
        assert (key(position) == key(other)) == (position == other)
    turned = rebuild(position, position.mine, position.theirs, not position.second, position.quiet)
    assert key(turned) != key(position)
    assert canonical(turned) == canonical(position)
    later = rebuild(position, position.mine, position.theirs, position.second, position.quiet + 1)
    assert canonical(later) != canonical(position)


@given(positions)
def test_bounds_narrow(position):
    lower, upper = bounds(position, -1, 1)
    assert -1 <= lower <= upper <= 1
    for move in legal_moves(position):
        low, high = bounds(play(position, move), -1, 1)
        assert lower <= -high <= -low <= upper


def test_bounds():
    assert bounds(parse_position("[24] 0 0 0 0 0 1 / 1 1 1 0 0 0 [20] north"), -1, 1) == (0, 1)
    assert bounds(parse_position("[24] 0 0 0 0 0 1 / 1 1 1 0 0 0 [20] south"), -1, 1) == (-1, 0)
    assert bounds(parse_position("[25] 0 0 0 0 0 0 / 1 1 1 0 0 0 [20] south"), -1, 1) == (-1, -1)


def test_longest_games():
    """Captures are of two seeds or more, with at most a limit of moves between them."""
    assert start().MAX_PLIES == 25 * 50
    assert start("7").MAX_PLIES == 25 * 7


@given(positions)
def test_captures_come_first_and_are_noisy(position):
    if outcome(position)[0]:
        return
    wanted, scores = [], {}
    for move in legal_moves(position):
        child = play(position, move)
        gained = listed(child)[1][1] - listed(position)[1][0]
        assert -evaluate(child) == evaluate(position) + gained
        scores[move] = (order(position, move, child), gained)
        if gained:
            wanted.append(move)
    assert moves_by(noisy, position) == wanted
    ranking = sorted(scores.values(), reverse=True)
    assert [gained for _, gained in ranking] == sorted((g for _, g in ranking), reverse=True)


# Notation


@given(boards())
def test_any_board_is_read_back(position):
    assert parse_position(position_text(position), position.VARIANT) == position


def test_drawing():
    assert str(start()) == "\n".join(
        ["[0]   4   4   4   4   4   4", "      4   4   4   4   4   4 [0]", "south to move"]
    )
    assert str(parse_position("3")).splitlines()[2] == "north to move, 1 since the last capture"
