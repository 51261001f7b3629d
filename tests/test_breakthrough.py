"""Breakthrough: solved boards, rules and claims about values, symmetry, estimates, notation."""

from __future__ import annotations

import pytest
from data import FOLDER, rows
from hypothesis import given
from hypothesis import strategies as st

from engine import PositionError, legal_moves, load_game, search, solve
from engine.compiler.jit import jit_enabled
from engine.contract.messages import description as describe
from engine.contract.verbs import (
    NO_MOVE,
    bounds,
    candidates,
    canonical,
    canonical_move,
    evaluate,
    extension,
    forced,
    key,
    noisy,
    order,
    outcome,
    play,
    plies_left,
    skip,
)
from games.breakthrough import (
    board,
    evaluate_material,
    move_text,
    parse_move,
)

NOTATION = load_game("breakthrough").notation
parse_position, position_text = NOTATION.parse_position, NOTATION.position_text
start = NOTATION.start

BOARDS = rows(FOLDER / "breakthrough_boards.txt")


def drawn(position):
    return position_text(position)[:-2].split("/")


SIZES = ("8x8", "6x6", "5x5", "4x4", "2x4", "2x8", "8x4", "3x7", "7x5")


@st.composite
def reached(draw):
    """A position of some board after random moves."""
    position = start(draw(st.sampled_from(SIZES)))
    for choice in draw(st.lists(st.integers(0, 47), max_size=100)):
        moves = legal_moves(position)
        if not moves:
            break
        position = play(position, moves[choice % len(moves)])
    return position


def variant_of(position):
    return f"{position.WIDTH}x{position.HEIGHT}"


def listed(verb, position):
    buffer = [0] * position.MAX_MOVES
    return buffer[: verb(position, buffer, 0)]


def exchanged(position):
    """The players exchanged: the board from the other end, and the other to move."""
    swapped = [row.translate(str.maketrans("xo", "ox")) for row in drawn(position)[::-1]]
    to_move = "x" if position.second else "o"
    return parse_position("/".join(swapped) + f" {to_move}", variant_of(position))


def mirrored(position):
    reflected = "/".join(row[::-1] for row in drawn(position))
    to_move = "o" if position.second else "x"
    return parse_position(f"{reflected} {to_move}", variant_of(position))


# Values


MARKS = {"2x6": [], "5x5": [pytest.mark.slow]}


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
    if variant != "2x6" and not jit_enabled():
        pytest.skip("many nodes")
    assert solve(start(variant), weak=True).value == winner


@pytest.mark.slow
def test_plies_of_best_play():
    (plies,) = (int(plies) for variant, _, plies in BOARDS if variant == "4x4")
    result = search(start("4x4"), depth=plies, exact=True)
    assert len(result.pv) == plies
    assert outcome(line_end(start("4x4"), result.pv)) == (True, -1)


def line_end(position, line):
    for move in line:
        position = play(position, move)
    return position


def layers(variant):
    """All positions of a board that can be reached, by the number of moves."""
    found = [{start(variant)}]
    while found[-1]:
        found.append({play(p, move) for p in found[-1] for move in legal_moves(p)})
    return found


@pytest.mark.parametrize("variant", ["2x5", pytest.param("3x4", marks=pytest.mark.slow)])
def test_all_positions(variant):
    """What bounds, candidates and the like claim about every position of a small board."""
    values, classes, keys = {}, {}, {}
    for layer in reversed(layers(variant)):
        for position in layer - values.keys():
            over, value = outcome(position)
            children = {move: play(position, move) for move in legal_moves(position)}
            if not over:
                value = max(-values[child] for child in children.values())
            values[position] = value
            lower, upper = bounds(position, -1, 1)
            assert lower <= value <= upper
            assert keys.setdefault(key(position), position) == position
            assert classes.setdefault(canonical(position)[0], value) == value
            if lower < upper:
                good = listed(candidates, position)
                assert max(-values[children[move]] for move in good) == value
                assert forced(position) == NO_MOVE or [forced(position)] == good
    assert values[start(variant)] == {v: int(winner) for v, winner, _ in BOARDS}[variant]


# Rules


@given(reached())
def test_steps(position):
    """The moves by the rules' own words, on the board as it is drawn."""
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


@given(reached())
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


def test_longest_games():
    """Nobody can avoid a win for longer than the steps before it allow."""
    for size in SIZES:
        assert plies_left(start(size)) == start(size).MAX_PLIES


# Bounds


@pytest.mark.parametrize(
    ("text", "interval"),
    [
        ("..o../x..../...../...../..... x", (1, 1)),  # on the last row with the next step
        ("..o../...../...x./...../..... x", (1, 1)),  # past the last stone
        (".oo../...../..x../...../..... x", (-1, 1)),  # two stones guard all its steps
        (".oo../...../...x./...../..... x", (1, 1)),  # but not from here
        ("...../...../x..../....o/..... x", (-1, -1)),  # a row too far, and nobody to take it
        ("...../...../x..../...o./....x x", (-1, 1)),  # that one is taken
        ("...../...../x..../.o.o./..x.. x", (-1, -1)),  # only one of two is taken
    ],
)
def test_races(text, interval):
    assert bounds(parse_position(text, "5x5"), -1, 1) == interval


def test_a_threat_leaves_one_move():
    position = parse_position("...../o..../.x.../...o./.x..x x", "5x5")
    assert move_text(position, forced(position)) == "e1xd2"
    position = parse_position("...../o..../.x.../...o./..x.x x", "5x5")
    assert forced(position) == NO_MOVE
    assert [move_text(position, m) for m in listed(candidates, position)] == ["e1xd2", "c1xd2"]


# Symmetry and estimates


@given(reached())
def test_reflection_keeps_the_class(position):
    image = mirrored(position)
    assert canonical(image)[0] == canonical(position)[0]
    assert (key(image) == key(position)) == (image == position)
    assert bounds(image, -1, 1) == bounds(position, -1, 1)
    assert evaluate(image) == evaluate(position)
    moves = {canonical_move(position, move, 1) for move in legal_moves(position)}
    assert moves == set(legal_moves(image))


@given(reached())
def test_players_do_not_matter(position):
    other = exchanged(position)
    assert other != position
    assert key(other) != key(position)
    assert canonical(other) == canonical(position)
    assert legal_moves(other) == legal_moves(position)
    assert evaluate(other) == evaluate(position)


@given(reached())
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


@given(reached())
def test_noisy_moves(position):
    if outcome(position)[0]:
        return
    last = ("1", "2") if position.second else (str(position.HEIGHT), str(position.HEIGHT - 1))
    texts = [move_text(position, move) for move in legal_moves(position)]
    wanted = [text for text in texts if "x" in text or text[-1] in last]
    assert [move_text(position, move) for move in listed(noisy, position)] == wanted


@given(reached())
def test_threats_are_searched_deeper(position):
    for move in legal_moves(position):
        child = play(position, move)
        row = int(move_text(position, move)[-1])
        left = row - 1 if position.second else position.HEIGHT - row
        assert extension(position, move, child) == (left <= 1)


def test_captures_come_first():
    position = parse_position("a2a3 b7b6 a3a4 b6b5")
    scores = {
        move_text(position, move): order(position, move, play(position, move))
        for move in legal_moves(position)
    }
    assert max(scores, key=scores.__getitem__) == "a4xb5"
    assert scores["a4a5"] < scores["c2c3"]


def test_passes():
    assert skip(start())[0]
    assert position_text(skip(start("4x4"))[1]) == "oooo/oooo/xxxx/xxxx o"
    threatened = parse_position("...../.o.../.xxx./xx.o./....x x", "5x5")
    few = parse_position("...../.o.../.xxx./...../..... x", "5x5")
    assert not skip(threatened)[0] and not skip(few)[0]


# Notation


@given(reached())
def test_texts_are_read_back(position):
    variant, text = variant_of(position), position_text(position)
    for same in (text, str(position), text.upper(), text.replace("/", "\n"), f"{text} to move"):
        assert parse_position(same, variant) == position
    for move in legal_moves(position):
        text = move_text(position, move)
        assert parse_move(position, text) == move
        assert parse_move(position, text.upper()) == move
        assert parse_move(position, text[:2] + text[-2:]) == move


def test_moves_with_or_without_blanks():
    position = parse_position("b2c3 b4xc3 d2xc3", "4x5")
    for text in ("b2c3b4xc3d2xc3", "b2c3,b4c3, d2c3", " B2C3\tB4XC3 d2c3 "):
        assert parse_position(text, "4x5") == position
    assert parse_position("") == parse_position("  ") == start()


def test_drawing():
    assert str(parse_position("b2c3", "3x5")) == "\n".join(
        ["5 o o o", "4 o o o", "3 . . x", "2 x . x", "1 x x x", "  a b c", "o to move"]
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a2a4", "x steps one row up"),
        ("a2c3", "x steps one row up"),
        ("a2a3 a4a3", "a3 is taken, and captures are diagonal"),
        ("a2a3 b4c4", "o steps one row down"),
        ("a2a3 a3a4", "move 2 of 'a2a3 a3a4': a3a4: there is no o on a3"),
        ("a1a2", "the mover has a stone on a2"),
        ("a2xb3", "there is nothing to capture on b3"),
        ("e2e3", "e2 is not on the board, whose cells are a1..c5"),
        ("a2a3 a9a8", "move 2 of 'a2a3 a9a8': 'a9a8' is not a move"),
        ("a2", "'a2' is not a move; moves are written as in a2a3"),
        ("a2a3b", "move 2 of 'a2a3b': 'b' is not a move"),
        ("²", "is not a move"),
        ("b2b3 a4xb3 b1b2 b3xa2 b2b3 a2b1 c2c3", "c2c3 is played after the game is over"),
    ],
)
def test_moves_that_are_none(text, words):
    with pytest.raises(PositionError) as caught:
        parse_position(text, "3x5")
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("ooo/ooo/.../xxx/xxx", "say who is to move: x or o"),
        ("o o o/o o o/. . ./x x x/x x x", "it is not said who is to move"),
        ("ooo/ooo/.../.../...", "say who is to move"),
        ("ooo/ooo/.../xxx/xxxx", "say who is to move"),
        ("ooo/ooo/.../xxx/xxx z", "say who is to move"),
        ("ooo/ooo/xxx/xxx x", "has 4 rows"),
        ("ooo/ooo/../xxx/xxx x", "row 3 from the top has 2 cells"),
        ("ooo/o?o/.../xxx/xxx x", "'?' in row 2 from the top, column 2"),
        ("ooo/ooo/x../xxx/xxx x", "7 x: a player has 6 stones at the beginning"),
        ("oox/oo./.../xx./xxx x", "x is to move but has a stone on the last row already"),
        ("oo./oo./.../xx./xox o", "o is to move but has a stone on the last row already"),
        ("x.x/oo./.../xx./xx. o", "x has two stones on the last row"),
        (".../oo./.../.../... o", "o is to move but x has no stones left"),
        (".../.../.../.../... x", "x is to move but o has no stones left"),
    ],
)
def test_boards_that_are_none(text, words):
    with pytest.raises(PositionError) as caught:
        parse_position(text, "3x5")
    assert words in str(caught.value)


@pytest.mark.parametrize("size", ["1x5", "9x8", "8x9", "5x3", "0x0", "999999999x999999999"])
def test_boards_of_no_size(size):
    with pytest.raises(PositionError, match="there is no board of"):
        start(size)


@pytest.mark.parametrize("size", ["8", "8x", "x8", "-8x8", "8x8x8", "eight", "8 x 8"])
def test_sizes_that_are_none(size):
    with pytest.raises(PositionError, match="is not a board size"):
        start(size)


def test_a_class_for_each_size():
    assert board(8, 8) is type(start()) is type(start("8x8"))
    assert type(start("6x5")).VARIANT == "6x5"
    assert type(start()).VARIANT == ""


@pytest.mark.parametrize(
    ("text", "value", "words"),
    [
        ("", 1, "first player (x) wins"),
        ("", -1, "second player (o) wins"),
        ("a2a3", 1, "second player (o) wins"),
        ("b2b3 a4xb3 b1b2 b3xa2 b2b3 a2b1", -1, "second player (o) has won"),
    ],
)
def test_values_in_words(text, value, words):
    assert describe(parse_position(text, "3x5"), value) == words
