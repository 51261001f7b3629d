"""The Royal Game of Ur: perft, values, rules compared with naive ones, encoding, notation."""

from __future__ import annotations

import functools
from fractions import Fraction

import pytest
from data import FOLDER, rows
from hypothesis import given
from marks import compiled_only
from positions import following, order_scores, reached

from cutnode import iterate, legal_moves, load_game, minimax
from cutnode.compiler.jit import jit_enabled
from cutnode.contract.verbs import (
    chance,
    chance_outcome,
    evaluate,
    outcome,
    play,
    turn,
)
from cutnode.games.ur import (
    PASS,
    move_text,
    parse_position,
    start,
)

pytestmark = pytest.mark.once


def test_rolls_are_said():
    game = load_game("ur:masters")
    assert game.notation.chance_text(game.start(), 0) == "roll of 1"
    assert game.notation.chance_text(load_game("ur").start(), 4) == "roll of 4"
    race = load_game("toys.race")
    assert race.notation.chance_text(race.parse("5 5 0"), 0).startswith("outcome 1 of ")


# Counts

PUBLISHED = (1, 10, 58, 362, 2_622, 21_055, 183_456, 1_697_273, 16_541_998)
"""Published nodes of expectiminimax from the start, by depth in moves: rolls and moves count, but
a roll that allows only a pass does not."""


@functools.cache
def passes(position, depth):
    """Count the rolls that allow only a pass, to *depth* moves from a position before a roll.

    Exchanging the players does not change the count, so both cases are counted once.
    """
    if depth == 0 or outcome(position)[0]:
        return 0
    count = 0
    for rolled in following(position):
        moves = legal_moves(rolled)
        after = [play(rolled, move)._replace(second=False) for move in moves]
        count += (moves == [PASS]) + sum(passes(child, depth - 1) for child in after)
    return count


@pytest.mark.parametrize(
    "depth", [*range(8 if jit_enabled() else 5), pytest.param(8, marks=pytest.mark.slow)]
)
def test_minimax_visits_the_published_nodes_and_passes(depth):
    nodes = minimax(start(), depth, depth_in="actions").nodes
    assert nodes == PUBLISHED[depth] + passes(start(), depth)


# Values


@functools.cache
def solved(variant):
    """Solve a variant with the class for all pieces, as the rules do not depend on their number.

    One piece is solved in plain Python, which takes less time than compiling.
    """
    if "-1" in variant:
        return iterate(load_game(f"ur:{variant}", plain=True).start(), tolerance=1e-11)
    name, *options = variant.split(",")
    whole = type(start(",".join([name.partition("-")[0], *options])))
    return iterate(whole(*start(variant)), tolerance=1e-11, positions=20_000_000)


def marks_of(variant):
    """Return marks for expensive variants: three pieces take seconds, four a minute and 3 GB.

    Two pieces with other rules than the default need another compilation.
    """
    if "-1" in variant or variant == "finkel-2":
        return []
    return [pytest.mark.slow] if variant == "finkel-3" else [pytest.mark.slow, pytest.mark.long]


@compiled_only
@pytest.mark.parametrize(
    ("variant", "wins", "open_states", "states"),
    [
        pytest.param(*fact, id=fact[0], marks=marks_of(fact[0]))
        for fact in rows(FOLDER / "ur_starts.txt")
    ],
)
def test_starts(variant, wins, open_states, states):
    result = solved(variant)
    digits = len(wins.partition(".")[2])
    assert (result.value + 100) / 2 == pytest.approx(float(wins), abs=10**-digits)
    if states:
        assert result.chances == int(open_states)
        assert result.chances + result.finished == int(states)
    assert result.decisions == result.chances * start(variant).ROLLS


@compiled_only
@pytest.mark.parametrize(
    ("text", "odds", "best"),
    [(text, odds, best) for text, odds, *best in rows(FOLDER / "ur_values.txt")],
)
def test_two_pieces(text, odds, best):
    """Values of the solved game with two pieces, and the best moves for each roll."""
    states, cls = solved("finkel-2"), type(solved("finkel-2").position)
    position = cls(*parse_position(text, "finkel-2"))
    assert odds_of(states.value_of(position)) == pytest.approx(float(odds), abs=1e-9)
    for fact in best:
        roll, wanted, odds_after = fact.split()
        rolled = position._replace(roll=int(roll))
        values = {move_text(rolled, move): value for move, value in behind(states, rolled)}
        assert max(values, key=values.__getitem__) == wanted
        assert odds_of(values[wanted]) == pytest.approx(float(odds_after), abs=1e-9)


def odds_of(value):
    return (value + 100) / 200


def behind(states, position):
    """Return each move with its value for the player who makes it."""
    for move in legal_moves(position):
        child = play(position, move)
        value = states.value_of(child)
        yield move, value if turn(child) == turn(position) else -value


@compiled_only
@pytest.mark.parametrize(
    ("text", "odds"),
    [
        # Source: doc/solve.rst of github.com/jheled/royalur @3ba7ec3
        ("0 *...--l. / ...*.... / 0 *...--d. light", Fraction(4, 7)),
        ("0 *...--*l / ...*.... / 0 *...--d. light", Fraction(116, 161)),
        ("0 *...--l. / ...*.... / 0 *...--*d light", Fraction(74, 161)),
        ("0 *...--l. / ...*.... / 0 *...--*d dark", Fraction(116, 161)),
    ],
)
def test_endgames(text, odds):
    """Far from positions with all pieces: the last ones of seven."""
    result = iterate(parse_position(text))
    assert odds_of(result.value) == pytest.approx(float(odds), abs=1e-11)
    assert result.lower <= 200 * odds - 100 <= result.upper


# Rules

LIGHT = {
    False: [(0, 3), (0, 2), (0, 1), (0, 0), *((1, n) for n in range(8)), (0, 7), (0, 6)],
    True: [
        *((0, 3), (0, 2), (0, 1), (0, 0), *((1, n) for n in range(7))),
        *((2, 6), (2, 7), (1, 7), (0, 7), (0, 6)),
    ],
}
"""The cells of Light's route, short and long."""

ROSETTES = {(0, 0), (2, 0), (1, 3), (0, 6), (2, 6)}


def route(position, dark):
    long = position.RULES != "finkel"
    return [(2 - row if dark else row, column) for row, column in LIGHT[long]]


def board_of(position):
    """Return the player on each occupied cell, and each player's waiting pieces."""
    words = position[:2][::-1] if position.second else position[:2]
    cells = {}
    for dark, word in enumerate(words):
        for square, cell in enumerate(route(position, bool(dark)), 1):
            if word >> square & 1:
                assert cell not in cells
                cells[cell] = dark
    return cells, [word >> 20 for word in words]


def naive_moves(position):
    """Return, for each movable piece, its origin, the board afterwards, and the next mover."""
    cells, waiting = board_of(position)
    own = turn(position)
    path = [None, *route(position, bool(own)), None]
    found = {}
    for source in range(len(path) - position.roll):
        target = source + position.roll
        has_piece = waiting[own] > 0 if source == 0 else cells.get(path[source]) == own
        if position.roll == 0 or not has_piece or source == len(path) - 1:
            continue
        after, waits = dict(cells), list(waiting)
        if source == 0:
            waits[own] -= 1
        else:
            del after[path[source]]
        cell, again = path[target], False
        if cell is not None:
            safe = position.RULES == "finkel" and cell == (1, 3) and not is_unsafe(position)
            if cells.get(cell) == own or (cell in cells and safe):
                continue
            if cell in cells:
                waits[1 - own] += 1
                again = position.RULES == "blitz" or "captures" in position.VARIANT
            after[cell] = own
            again = again or cell in ROSETTES
        found[source] = (after, waits), own if again else 1 - own
    return found or {PASS: ((cells, waiting), 1 - own)}


def is_unsafe(position):
    return "unsafe" in position.VARIANT


@given(reached("ur"))
def test_moves_are_as_naive_rules_say(position):
    cells, waiting = board_of(position)
    pieces = [waiting[player] + list(cells.values()).count(player) for player in (0, 1)]
    assert max(pieces) <= position.PIECES
    assert outcome(position) == ((True, -100) if pieces[1 - turn(position)] == 0 else (False, 0))
    if outcome(position)[0] or chance(position):
        return
    naive = naive_moves(position)
    assert legal_moves(position) == sorted(naive)
    for move, (after, mover) in naive.items():
        child = play(position, move)
        assert (board_of(child), turn(child)) == (after, mover)
        assert child.roll == -1


@given(reached("ur"))
def test_rolls(position):
    if outcome(position)[0] or not chance(position):
        return
    events = [chance_outcome(position, index) for index in range(chance(position))]
    odds = {child.roll: odds for odds, child in events}
    if position.RULES == "masters":
        assert odds == {1: 3 / 8, 2: 3 / 8, 3: 1 / 8, 4: 1 / 8}
    else:
        assert odds == {0: 1 / 16, 1: 1 / 4, 2: 3 / 8, 3: 1 / 4, 4: 1 / 16}
    assert {child._replace(roll=-1) for _, child in events} == {position}


# Encoding and estimates


@given(reached("ur"))
def test_estimates(position):
    """10 for a piece that is home, 1 for one on the board."""
    cells, waiting = board_of(position)
    counts = []
    for player in (turn(position), 1 - turn(position)):
        squares = list(cells.values()).count(player)
        counts.append(10 * (position.PIECES - waiting[player] - squares) + squares)
    assert evaluate(position) == counts[0] - counts[1]
    assert abs(evaluate(position)) <= 10 * position.PIECES


def test_order():
    """Extra rolls first, then captures, pieces brought home, and the most advanced pieces."""
    scores = order_scores(parse_position("5 *...--l. / d..*l... / 5 *...--*. light 1"))
    assert sorted(scores, key=scores.__getitem__) == ["9-10", "hand-1", "14-home"]
    scores = order_scores(parse_position("5 ..l.--*. / d..*l... / 5 *...--*. light 3"))
    assert max(scores, key=scores.__getitem__) == "2-5"


# Notation


def test_drawing():
    assert str(parse_position("5 *...--l. / ...d.... / 5 *.d.--*. dark 3")) == "\n".join(
        [
            "light * . . .     l .",
            "      . . . d . . . .",
            "dark  * . d .     * .",
            "light: 5 waiting, 1 home",
            "dark: 5 waiting, 0 home",
            "dark has rolled 3",
        ]
    )
    assert str(start()).endswith("dark: 7 waiting, 0 home\nlight to roll")
