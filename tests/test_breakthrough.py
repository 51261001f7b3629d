"""Breakthrough: solved boards, rules and claims about values, symmetry, estimates, notation."""

from __future__ import annotations

import functools
import itertools

import pytest
from data import FOLDER, rows
from hypothesis import given
from positions import moves_by, order_scores, reached, texts_of, values_as_claimed

from cutnode import legal_moves, load_game, search, solve
from cutnode.compiler.jit import jit_enabled
from cutnode.contract.verbs import (
    NO_MOVE,
    bounds,
    candidates,
    evaluate,
    extension,
    forced,
    noisy,
    outcome,
    play,
    skip,
)
from cutnode.games.breakthrough import (
    evaluate_material,
    move_text,
)
from cutnode.games.breakthrough.fights import fights

pytestmark = pytest.mark.once

parse_position, position_text, start = texts_of("breakthrough")

BOARDS = rows(FOLDER / "breakthrough_boards.txt")


def drawn(position):
    return position_text(position)[:-2].split("/")


def variant_of(position):
    return f"{position.WIDTH}x{position.HEIGHT}"


def exchanged(position):
    """Exchange the players: the board seen from the other end, with the other player to move."""
    swapped = [row.translate(str.maketrans("xo", "ox")) for row in drawn(position)[::-1]]
    to_move = "x" if position.second else "o"
    return parse_position("/".join(swapped) + f" {to_move}", variant_of(position))


# Values


SMALLEST = "2x6"
MARKS = {SMALLEST: [], "5x5": [pytest.mark.slow, pytest.mark.long]}


@pytest.mark.parametrize(
    ("variant", "winner"),
    [
        pytest.param(
            variant,
            int(winner),
            marks=MARKS.get(variant, [pytest.mark.slow, pytest.mark.long]),
        )
        for variant, winner, _ in BOARDS
    ],
)
def test_boards(variant, winner):
    """The smallest boards run in plain Python, which takes less time than compiling the solver."""
    if variant != SMALLEST and not jit_enabled():
        pytest.skip("many nodes")
    game = load_game(f"breakthrough:{variant}", plain=variant == SMALLEST)
    assert solve(game.start(), weak=True).value == winner


@pytest.mark.slow
@pytest.mark.long
def test_plies_of_best_play():
    (plies,) = (int(plies) for variant, _, plies in BOARDS if variant == "4x4")
    result = search(start("4x4"), depth=plies, exact=True)
    assert len(result.pv) == plies
    assert outcome(line_end(start("4x4"), result.pv)) == (True, -1)


def line_end(position, line):
    for move in line:
        position = play(position, move)
    return position


@pytest.mark.parametrize(
    "variant", ["2x5", *(pytest.param(v, marks=pytest.mark.slow) for v in ("2x6", "3x4"))]
)
def test_all_positions(variant):
    """The claims of bounds, candidates and similar verbs about all positions of a small board."""
    values = values_as_claimed(start(variant))
    assert values[start(variant)] == {v: int(winner) for v, winner, _ in BOARDS}[variant]


# Rules


@given(reached("breakthrough"))
def test_steps(position):
    """The moves according to the rules in words, on the board as it is drawn."""
    cells = drawn(position)[::-1]
    height, width = position.HEIGHT, position.WIDTH
    mover, other, up = ("o", "x", -1) if position.second else ("x", "o", 1)
    x_home, o_home = "x" in cells[-1], "o" in cells[0]
    alive = any("x" in row for row in cells) and any("o" in row for row in cells)
    assert outcome(position) == ((True, -1) if x_home or o_home or not alive else (False, 0))
    if outcome(position)[0]:
        return
    found = set()
    for row in range(height):
        for column in range(width):
            for aside in (-1, 0, 1):
                if cells[row][column] == mover and 0 <= column + aside < width:
                    target = cells[row + up][column + aside]
                    if target == "." or (target == other and aside):
                        taken = "x" if target == other else ""
                        end = f"{'abcdefgh'[column + aside]}{row + up + 1}"
                        found.add(f"{'abcdefgh'[column]}{row + 1}{taken}{end}")
    moves = legal_moves(position)
    assert {move_text(position, move) for move in moves} == found
    assert len(moves) == len(found)


@given(reached("breakthrough"))
def test_moves_change_two_cells(position):
    for move in legal_moves(position):
        text = move_text(position, move)
        begin, end = text.replace("x", "")[:2], text[-2:]
        before, after = cells_of(position), cells_of(play(position, move))
        assert after.pop(end) == before.pop(begin)
        assert after.pop(begin) == "."
        assert ("x" in text) == (before.pop(end) != ".")
        assert before == after


def cells_of(position):
    return {
        f"{'abcdefgh'[column]}{row}": cell
        for row, line in enumerate(drawn(position)[::-1], 1)
        for column, cell in enumerate(line)
    }


def test_order_of_moves():
    texts = [move_text(start("3x4"), move) for move in legal_moves(start("3x4"))]
    assert texts == ["b2xa3", "c2xb3", "a2xb3", "b2xc3"]
    texts = [move_text(start("3x5"), move) for move in legal_moves(start("3x5"))]
    assert texts == ["b2a3", "c2b3", "a2a3", "b2b3", "c2c3", "a2b3", "b2c3"]


# Bounds


@pytest.mark.parametrize(
    ("text", "interval"),
    [
        ("..o../x..../...../...../..... x", (1, 1)),  # one step from the last row
        ("..o../...../...x./...../..... x", (1, 1)),  # past the last opposing stone
        (".oo../...../..x../...../..... x", (-1, 1)),  # two stones guard all its steps
        (".oo../...../...x./...../..... x", (1, 1)),  # but not from here
        ("...../...../x..../....o/..... x", (-1, -1)),  # a row too far, and nobody can capture it
        ("...../...../x..../...o./....x x", (-1, 1)),  # that one is captured
        ("...../...../x..../.o.o./..x.. x", (-1, -1)),  # only one of the two is captured
    ],
)
def test_races(text, interval):
    assert bounds(parse_position(text, "5x5"), -1, 1) == interval


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("..o./o.oo/x.x./.o../.x.x/.x.. x", 1),
        ("..../o.o./o.../o.o./xxx./.... x", -1),
    ],
)
def test_fights_decide(text, value):
    assert bounds(parse_position(text, "4x6"), -1, 1) == (value, value)


@pytest.mark.parametrize("join", [False, True])
def test_fights(join):
    """All fights of two columns, by plain recursion: see ``cutnode.games.breakthrough.fights``."""
    sides = (0, 1)

    def steps(stones, others, up):
        for row, column in stones:
            for end in sides:
                to = (row - up, end)
                if 0 <= to[0] < 3 and to not in stones and (end != column or to not in others):
                    yield stones - {(row, column)} | {to}, others - {to}

    @functools.cache
    def left(attackers, defenders, attacker_moves):
        if attacker_moves:
            if any(row == 1 for row, _ in attackers):
                return 0
            return min((left(*s, False) for s in steps(attackers, defenders, 1)), default=7)
        after = [left(attackers, defenders, True)]
        after += [left(a, d, True) for d, a in steps(defenders, attackers, -1)]
        return min(1 + max(after), 7)

    @functools.cache
    def holds(attackers, defenders, turns):
        if turns == 0 or any(row == 1 for row, _ in attackers):
            return turns == 0
        moves = [(attackers, defenders), *steps(attackers, defenders, 1)]
        if join:
            moves += [(attackers | {(2, c)}, defenders - {(2, c)}) for c in sides]
        return all(
            holds(a, d, turns - 1) or any(holds(*s[::-1], turns) for s in steps(d, a, -1))
            for a, d in moves
        )

    cells = [(row, column) for row in (2, 1, 0) for column in (1, 0)]
    contents = itertools.product(*[range(3)] * 4, *[range(2)] * 2)
    for stones, answers in zip(contents, fights(2).tolist(), strict=True):
        defenders, attackers = (
            frozenset(c for c, stone in zip(cells, stones, strict=True) if stone == n)
            for n in (1, 2)
        )
        assert answers & 7 == left(attackers, defenders, True)
        assert answers >> 3 & 7 == left(attackers, defenders, False)
        turns = answers >> (9 if join else 6) & 7
        assert holds(attackers, defenders, turns)
        assert turns == 6 or not holds(attackers, defenders, turns + 1)


def test_a_threat_leaves_one_move():
    position = parse_position("...../o..../.x.../...o./.x..x x", "5x5")
    assert move_text(position, forced(position)) == "e1xd2"
    position = parse_position("...../o..../.x.../...o./..x.x x", "5x5")
    assert forced(position) == NO_MOVE
    assert [move_text(position, m) for m in moves_by(candidates, position)] == ["e1xd2", "c1xd2"]


# Symmetry and estimates


@given(reached("breakthrough"))
def test_players_are_exchanged_by_turning_the_board(position):
    assert exchanged(position) == position._replace(second=not position.second)


@given(reached("breakthrough"))
def test_estimates_are_of_both_players(position):
    passed = skip(position)[1]
    assert skip(passed)[1] == position
    assert evaluate(passed) == -evaluate(position)
    assert evaluate_material(passed) == -evaluate_material(position)


def test_estimates():
    assert evaluate(start()) == evaluate_material(start()) == 0
    ahead = parse_position("a2a3 b7b6 a3a4 b6b5 a4xb5")
    assert evaluate_material(ahead) == -100
    assert evaluate(ahead) < -100


@given(reached("breakthrough"))
def test_noisy_moves(position):
    if outcome(position)[0]:
        return
    last = ("1", "2") if position.second else (str(position.HEIGHT), str(position.HEIGHT - 1))
    texts = [move_text(position, move) for move in legal_moves(position)]
    wanted = [text for text in texts if "x" in text or text[-1] in last]
    assert [move_text(position, move) for move in moves_by(noisy, position)] == wanted


@given(reached("breakthrough"))
def test_threats_are_searched_deeper(position):
    for move in legal_moves(position):
        child = play(position, move)
        row = int(move_text(position, move)[-1])
        left = row - 1 if position.second else position.HEIGHT - row
        assert extension(position, move, child) == (left <= 1)


def test_captures_come_first():
    scores = order_scores(parse_position("a2a3 b7b6 a3a4 b6b5"))
    assert max(scores, key=scores.__getitem__) == "a4xb5"
    assert scores["a4a5"] < scores["c2c3"]


def test_passes():
    assert skip(start())[0]
    assert position_text(skip(start("4x4"))[1]) == "oooo/oooo/xxxx/xxxx o"
    threatened = parse_position("...../.o.../.xxx./xx.o./....x x", "5x5")
    few = parse_position("...../.o.../.xxx./...../..... x", "5x5")
    assert not skip(threatened)[0] and not skip(few)[0]


# Notation


def test_drawing():
    assert str(parse_position("b2c3", "3x5")) == "\n".join(
        ["5 o o o", "4 o o o", "3 . . x", "2 x . x", "1 x x x", "  a b c", "o to move"]
    )
