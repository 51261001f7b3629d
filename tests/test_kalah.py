"""Kalah: values of boards, rules against naive ones, encoding, claims, estimates, notation."""

from __future__ import annotations

import pytest
from data import FOLDER, rows
from hypothesis import given
from hypothesis import strategies as st

from engine import PositionError, Table, legal_moves, rebuild, solve
from engine.compiler.jit import jit_enabled
from engine.contract.messages import description as describe
from engine.contract.verbs import (
    bounds,
    canonical,
    evaluate,
    key,
    noisy,
    order,
    outcome,
    play,
    plies_left,
    turn,
)
from games import kalah
from games.kalah import (
    board,
    lead,
    move_text,
    parse_move,
    parse_position,
    position_text,
    start,
)

BOARDS = [(variant, int(value)) for variant, value in rows(FOLDER / "kalah_boards.txt")]
VARIANTS = ("6x4", "6x4,empty", "4x3", "3x2,empty", "1x1", "2x6", "7x18", "1x127,empty", "6x6")


def listed(position):
    """South's houses and store, then north's."""
    south, north = (
        (position.theirs, position.mine) if position.second else (position.mine, position.theirs)
    )
    cells = range(position.HOUSES + 1)
    return [*(south >> 8 * n & 255 for n in cells), *(north >> 8 * n & 255 for n in cells)]


@st.composite
def reached(draw, variants=VARIANTS):
    """A position of some board after random moves."""
    position = start(draw(st.sampled_from(variants)))
    for choice in draw(st.lists(st.integers(0, 6), max_size=80)):
        moves = legal_moves(position)
        if not moves:
            break
        position = play(position, moves[choice % len(moves)])
    return position


def variant_of(position):
    seeds = position.SEEDS // (2 * position.HOUSES)
    return f"{position.HOUSES}x{seeds}{',empty' * position.EMPTY}"


# Rules


def sown(cells, player, house, empty):
    """One seed after the other: the cells after a move, and who is to move."""
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


@given(reached())
def test_moves_are_as_naive_rules_say(position):
    cells, player = listed(position), turn(position)
    own = cells[player * (position.HOUSES + 1) :][: position.HOUSES]
    over = not any(own)
    assert outcome(position)[0] == over
    assert legal_moves(position) == [house for house, seeds in enumerate(own) if seeds]
    for move in legal_moves(position):
        child = play(position, move)
        assert (listed(child), turn(child)) == sown(cells, player, move, position.EMPTY)


@given(reached())
def test_seeds_are_conserved(position):
    cells, size = listed(position), position.HOUSES
    assert sum(cells) == position.SEEDS
    south = cells[size] - cells[-1]
    over, value = outcome(position)
    assert value == (over and (-south if position.second else south))
    assert any(cells[:size]) == any(cells[size + 1 : -1]) == (not over)


@pytest.mark.parametrize(
    ("variant", "before", "move", "after"),
    [
        ("3x2", "[0] 2 2 2 / 2 2 2 [0] south", "2", "[0] 2 2 2 / 2 0 3 [1] south"),
        ("3x2", "[0] 2 2 2 / 2 2 2 [0] south", "3", "[0] 2 2 3 / 2 2 0 [1] north"),
        ("3x2", "[0] 2 2 2 / 2 2 2 [0] north", "1", "[0] 3 3 0 / 2 2 2 [0] south"),
        # A capture, of what is there, or of nothing.
        ("3x2", "[3] 2 0 2 / 1 0 2 [2] south", "1", "[3] 2 0 2 / 0 1 2 [2] north"),
        ("3x2,empty", "[3] 2 0 2 / 1 0 2 [2] south", "1", "[3] 2 0 2 / 0 0 2 [3] north"),
        ("3x2", "[3] 2 3 0 / 1 0 2 [1] south", "1", "[3] 2 0 0 / 0 0 2 [5] north"),
        ("3x2", "[3] 2 0 1 / 1 3 0 [2] north", "1", "[7] 2 0 0 / 1 0 0 [2] south"),
        # Not from the other's empty houses, nor in own ones that are not empty.
        ("3x2", "[3] 2 2 0 / 1 1 1 [2] south", "3", "[3] 2 2 0 / 1 1 0 [3] south"),
        ("3x2", "[3] 2 0 1 / 0 1 2 [3] south", "3", "[3] 2 0 2 / 0 1 0 [4] north"),
        # Once around the board, into the house where the seeds were; and further.
        ("3x3", "[0] 2 1 2 / 7 2 1 [3] south", "1", "[0] 0 2 3 / 0 3 2 [8] north"),
        ("3x4", "[1] 2 1 2 / 9 1 1 [7] south", "1", "[1] 3 2 3 / 1 3 3 [8] north"),
        ("3x4", "[1] 1 1 1 / 1 1 16 [2] south", "3", "[1] 3 3 4 / 3 3 2 [5] north"),
        # One side is empty after a move, of either player, an extra move or not.
        ("3x2", "[4] 2 1 0 / 0 0 1 [4] south", "3", "[7] 0 0 0 / 0 0 0 [5] south"),
        ("3x2", "[4] 0 1 0 / 0 1 2 [4] south", "2", "[4] 0 1 0 / 0 0 3 [4] north"),
        ("3x2", "[4] 0 1 0 / 1 0 2 [4] south", "1", "[4] 0 0 0 / 0 0 0 [8] north"),
        ("1x1", "[0] 1 / 1 [0] south", "1", "[1] 0 / 0 [1] south"),
    ],
)
def test_moves(variant, before, move, after):
    position = parse_position(before, variant)
    assert position_text(play(position, parse_move(position, move))) == after


# Values


def by_hand(position, known):
    """The value in plain Python: what is gained from here on, whatever the stores have."""
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
"""The most seeds in a house with which a board of so many houses is solved in seconds."""


def on_largest(variant):
    """The start of a variant on the largest board of as many houses, and of the same rule.

    Rules do not depend on how many seeds there are, and a class takes seconds to compile.
    """
    houses, rule = variant[0], variant[3:]
    return type(start(f"{houses}x{LARGEST[houses]}{rule}"))(*start(variant))


@pytest.mark.parametrize(("variant", "value"), [fact for fact in BOARDS if small(fact[0])])
def test_small_boards(variant, value):
    assert by_hand(start(variant), {}) == value


@pytest.mark.parametrize(
    ("variant", "value"),
    [
        pytest.param(variant, value, marks=pytest.mark.slow)
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


@given(reached(("4x3", "6x4", "6x6", "3x2,empty")), reached(("4x3", "6x4", "6x6", "3x2,empty")))
def test_keys(position, other):
    if type(position) is type(other):
        assert (key(position) == key(other)) == (position == other)
    turned = exchanged(position)
    assert key(turned) != key(position)
    assert canonical(turned) == canonical(position)


def exchanged(position):
    """The players exchanged."""
    return rebuild(position, position.mine, position.theirs, not position.second)


def test_all_keys():
    """Of all positions of a small board."""
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


@given(reached())
def test_players_do_not_matter(position):
    other = exchanged(position)
    assert legal_moves(other) == legal_moves(position)
    assert outcome(other) == outcome(position)
    assert evaluate(other) == evaluate(position) == lead(position)


@given(reached())
def test_bounds_and_plies_narrow(position):
    """A move makes the interval no wider; seeds in stores stay there."""
    lower, upper = bounds(position, -1, 1)
    assert lower <= lead(position) <= upper
    assert (lower == upper) == outcome(position)[0]
    for move in legal_moves(position):
        child = play(position, move)
        low, high = bounds(child, -1, 1)
        low, high = (low, high) if turn(child) == turn(position) else (-high, -low)
        assert lower <= low <= high <= upper
        assert plies_left(child) < plies_left(position)


@pytest.mark.parametrize("variant", VARIANTS)
def test_longest_games(variant):
    assert plies_left(start(variant)) == start(variant).MAX_PLIES


def test_bounds():
    position = parse_position("[5] 0 2 1 / 1 1 0 [2] north", "3x2")
    assert bounds(position, -1, 1) == (-2, 8)
    assert bounds(parse_position("[5] 0 0 0 / 0 0 0 [7] north", "3x2"), -1, 1) == (-2, -2)


# Search


def test_moves_that_give_another_come_first():
    position = parse_position("[0] 4 4 0 4 4 5 / 1 5 4 4 4 1 [8] south")
    scores = {
        move_text(position, move): order(position, move, play(position, move))
        for move in legal_moves(position)
    }
    ranking = sorted(scores, key=scores.__getitem__, reverse=True)
    assert ranking[:3] == ["6", "3", "2"]


def test_captures_come_next():
    position = parse_position("[0] 6 6 6 6 6 6 / 2 2 0 4 4 0 [0] south", "6x4")
    moves = legal_moves(position)
    scores = [order(position, move, play(position, move)) for move in moves]
    assert move_text(position, moves[scores.index(max(scores))]) == "1"


@given(reached())
def test_noisy_moves(position):
    if outcome(position)[0]:
        return
    buffer = [None] * 20
    end = noisy(position, buffer, 3)
    store, wanted = position.mine >> 8 * position.HOUSES, []
    for move in legal_moves(position):
        child = play(position, move)
        again = turn(child) == turn(position)
        gained = ((child.mine if again else child.theirs) >> 8 * position.HOUSES) - store
        if again or gained > 1:
            wanted.append(move)
    assert buffer[3:end] == wanted


# Notation


@given(reached())
def test_texts_are_read_back(position):
    variant, text = variant_of(position), position_text(position)
    for same in (text, str(position), text.upper(), text.replace("/", "\n"), f"{text} to move"):
        assert parse_position(same, variant) == position
    for move in legal_moves(position):
        assert parse_move(position, move_text(position, move)) == move


def test_moves_with_or_without_blanks():
    position = parse_position("[0] 5 5 6 6 6 0 / 0 5 1 6 6 0 [2] north")
    for text in ("3 6 1 1", "3611", "3,6,1,1", " 3\t6 , 11 "):
        assert parse_position(text) == position
    assert parse_position("") == parse_position("  ") == start()


def test_drawing():
    assert str(start()) == "\n".join(
        ["[0]   4   4   4   4   4   4", "      4   4   4   4   4   4 [0]", "south to move"]
    )
    assert str(parse_position("11", "2x60")) == "\n".join(
        ["[15]   87   14", "       26   86 [12]", "north to move"]
    )
    assert str(parse_position("1", "1x127")).splitlines()[:2] == [" [0]  169", "       42 [43]"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("0", "move 1 of '0': there is no house 0; houses are 1..6"),
        ("7", "there is no house 7; houses are 1..6"),
        ("33", "move 2 of '33': south has no seeds in house 3"),
        ("3611 1", "move 5 of '3611 1': "),
        ("3x", "move 2 of '3x': 'x' is not a house; houses are 1..6"),
        ("-1", "'-' is not a house"),
        ("²", "'²' is not a house"),
        ("٤", "is not a house"),
    ],
)
def test_moves_that_are_none(text, words):
    with pytest.raises(PositionError) as caught:
        parse_position(text)
    assert words in str(caught.value)


def test_moves_after_the_end():
    with pytest.raises(PositionError, match="house 1 is played after the game is over"):
        parse_position("11", "1x1")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[0] 2 2 2 / 2 2 2 [0]", "say who is to move: south or north"),
        ("[0] 2 2 2 / 2 2 2 [0] x", "say who is to move: south or north"),
        ("[0] 2 2 2 / 2 2 2 [0] southnorth", "say who is to move: south or north"),
        ("[0] 2 2 2 2 2 2 [0] south", "the board has 1 rows; it has two"),
        ("[0] 2 2 2 / 2 2 2 [0] / 0 south", "the board has 3 rows; it has two"),
        ("2 2 2 [0] / 2 2 2 [0] south", "'2 2 2 [0]' is not north's row"),
        ("[0] 2 2 2 / [0] 2 2 2 south", "'[0] 2 2 2' is not south's row"),
        ("[0] 2 2 / 2 2 2 [0] south", "the seeds of 3 houses, and of the store in brackets"),
        ("[0] 2 2 2 2 / 2 2 2 [0] south", "is not north's row"),
        ("[0] 2 2 2 / 2 2 -2 [0] south", "is not south's row"),
        ("[0] 2 2 2 / 2 2 ² [0] south", "is not south's row"),
        ("[] 2 2 2 / 2 2 2 [0] south", "is not north's row"),
        ("[0] 2 2 2 / 2 2 2 [1] south", "13 seeds are on the board; all houses and stores"),
        ("[0] 0 0 0 / 0 0 0 [0] south", "0 seeds are on the board"),
        ("[0] 2 2 2 / 2 2 999999999 [0] south", "1000000009 seeds are on the board"),
        ("[6] 0 0 0 / 2 2 2 [0] south", "north has no seeds in houses: the game is over"),
        ("[0] 2 2 2 / 0 0 0 [6] south", "south has no seeds in houses: the game is over"),
    ],
)
def test_boards_that_are_none(text, words):
    with pytest.raises(PositionError) as caught:
        parse_position(text, "3x2")
    assert words in str(caught.value)


@pytest.mark.parametrize("size", ["8x1", "0x4", "6x0", "7x19", "1x128", "999999999x999999999"])
def test_boards_of_no_size(size):
    with pytest.raises(PositionError, match="there is no board of"):
        start(size)


@pytest.mark.parametrize(
    "variant", ["6", "6x", "x4", "6x4,", "6x4,full", "6x4empty", "6 x 4", "empty"]
)
def test_variants_that_are_none(variant):
    with pytest.raises(PositionError, match="is not a variant"):
        start(variant)


def test_a_class_for_each_board():
    assert board(6, 4, False) is type(start()) is type(start("6x4")) is kalah.Position6x4
    assert board(6, 4, True) is type(start("6x4,empty")) is kalah.Position6x4__empty
    assert type(start()).VARIANT == ""
    assert type(start("6x4,empty")).VARIANT == "6x4,empty"
    assert type(start("4x3")).VARIANT == "4x3"
    with pytest.raises(AttributeError, match="'Position6'"):
        _ = kalah.Position6


@pytest.mark.parametrize(
    ("text", "value", "words"),
    [
        ("", 8, "south wins by 8"),
        ("", -8, "north wins by 8"),
        ("2", 2, "north wins by 2"),
        ("1", 0, "a draw"),
        ("[10] 0 0 0 0 0 0 / 0 0 0 0 0 0 [38] north", -28, "south has won by 28"),
    ],
)
def test_values_in_words(text, value, words):
    assert describe(parse_position(text), value) == words
