"""Morris games: moves by the rules in words, symmetry, all positions, notation."""

from __future__ import annotations

from itertools import combinations
from random import Random

import pytest
from data import FOLDER, rows
from hypothesis import given
from numbering import assert_no_faults_in_layers
from positions import moves_by, order_scores, random_positions, reached, texts_of

from cutnode import Bits, legal_moves
from cutnode.compiler.jit import jit_enabled
from cutnode.contract.positions import coerce
from cutnode.contract.verbs import (
    NO_INDEX,
    canonical,
    canonical_move,
    evaluate,
    gain,
    index,
    key,
    layer,
    noisy,
    original_move,
    outcome,
    play,
    position_at,
    retreat,
    retreats,
    reversible,
)
from cutnode.games import morris
from cutnode.games.morris import evaluate_material, move_text, parse_move, start
from cutnode.games.morris.board import SYMMETRIES, image

pytestmark = pytest.mark.once

parse, text_of, _ = texts_of("morris")

FACTS = {(variant, what): value for variant, what, value in rows(FOLDER / "morris.txt")}

VARIANTS = ("nine", "lasker", "morabaraba", "six", "six-4,flying", "three")


# Rules


def named_points(position):
    """Return the men on the board, ``w`` and ``b``, by the names of their points."""
    board = text_of(position).split()[0].replace("/", "")
    return {name: man for name, man in zip(position.NAMES, board, strict=True) if man != "."}


def lines_of(position):
    """Return the mills of a board, as the rules draw them: three points in a row or a column."""
    places = {name: ("abcdefg".index(name[0]), int(name[1]) - 1) for name in position.NAMES}
    near = {tuple(sorted((position.NAMES[a], position.NAMES[b]))) for a, b in position.CELLS.lines}
    found = set()
    for chosen in combinations(sorted(position.NAMES), 3):
        ordered = sorted(chosen, key=places.__getitem__)
        (ax, ay), (bx, by), (cx, cy) = (places[name] for name in ordered)
        joined = all(tuple(sorted(pair)) in near for pair in (ordered[:2], ordered[1:]))
        if joined and (ax + cx, ay + cy) == (2 * bx, 2 * by):
            found.add(frozenset(chosen))
    return found, near


SHAPES = {
    # Points, lines between neighbours, and mills.
    "nine": (24, 32, 16),
    "lasker": (24, 32, 16),
    "morabaraba": (24, 40, 20),
    "six": (16, 20, 8),
    "three": (9, 16, 8),
}


@pytest.mark.parametrize(("variant", "shape"), SHAPES.items())
def test_boards(variant, shape):
    mills, near = lines_of(start(variant))
    assert (len(start(variant).NAMES), len(near), len(mills)) == shape


def moves_by_words(position):
    """Return all moves by the rules in words, as texts."""
    men, (mills, near) = named_points(position), lines_of(position)
    mine, theirs = "bw" if position.second else "wb"
    on_board = [name for name, man in men.items() if man == mine]
    hand = position.hand
    ways = []
    empty = [name for name in position.NAMES if name not in men]
    if hand:
        ways += [(None, target) for target in empty]
    if not hand or position.EARLY:
        far = position.FLYING and len(on_board) == 3 and not hand
        for source in on_board:
            ways += [
                (source, target)
                for target in empty
                if far or tuple(sorted((source, target))) in near
            ]
    in_mills = {name for mill in mills if {men.get(n) for n in mill} == {theirs} for name in mill}
    others = [name for name, man in men.items() if man == theirs]
    prey = [name for name in others if name not in in_mills] or others
    texts = []
    for source, target in ways:
        after = {name for name in on_board if name != source} | {target}
        text = f"{source}-{target}" if source else target
        if (
            any(target in mill and mill <= after for mill in mills)
            and prey
            and not position.LINE_WINS
        ):
            texts += [f"{text}x{name}" for name in prey]
        else:
            texts.append(text)
    return texts


def lost(position):
    """Return whether the mover has lost, with too few men or against a line."""
    men, (mills, _) = named_points(position), lines_of(position)
    mine, theirs = "bw" if position.second else "wb"
    if position.LINE_WINS:
        return any({men.get(name) for name in mill} == {theirs} for mill in mills)
    return list(men.values()).count(mine) + position.hand < 3


def assert_moves_by_words(position):
    texts = moves_by_words(position)
    if len(named_points(position)) == len(position.NAMES):
        assert outcome(position) == (True, 0)
    elif lost(position) or not texts:
        assert outcome(position) == (True, -1)
    else:
        assert outcome(position) == (False, 0)
        listed = legal_moves(position)
        assert sorted(move_text(position, move) for move in listed) == sorted(texts)
        assert len(set(listed)) == len(listed)
        assert [parse_move(position, move_text(position, move)) for move in listed] == listed


@pytest.mark.parametrize("variant", VARIANTS)
def test_moves(variant):
    for position in random_positions("morris", variant)[::6]:
        assert_moves_by_words(position)


def random_board(dice, variant):
    """Return men anywhere, often with none in hand and few on the board."""
    cls = morris.ruleset.of(variant)
    points = [1 << point for point in cls.POINTS]
    dice.shuffle(points)
    mine, theirs = (dice.randrange(3, min(cls.MEN, 7) + 1) for _ in range(2))
    words = sum(points[:mine]), sum(points[mine : mine + theirs])
    hands = dice.choice([(0, 0), (0, 0), (1, 0), (1, 1)])
    hand, their_hand = min(hands[0], cls.MEN - mine), min(hands[1], cls.MEN - theirs)
    return coerce(cls(*words, hand, their_hand, dice.random() < 0.5))


@pytest.mark.parametrize("variant", VARIANTS)
def test_moves_of_any_board(variant):
    dice = Random(variant)
    for _ in range(30):
        position = random_board(dice, variant)
        if not (position.LINE_WINS and morris.completing(position, position.mine) & position.mine):
            assert_moves_by_words(position)


@given(reached("morris"))
def test_moves_change_the_board(position):
    if outcome(position)[0]:
        return
    before, mine = named_points(position), "wb"[position.second]
    for move in legal_moves(position):
        child, text = play(position, move), move_text(position, move)
        way, _, taken = text.partition("x")
        source, _, target = way.rpartition("-")
        after = dict(before)
        after.pop(source, None)
        after.pop(taken, None)
        assert named_points(child) == after | {target: mine}
        assert child.their_hand == position.hand - (not source)
        assert child.hand == position.their_hand and child.second != position.second
        assert reversible(position, child) == bool(source and not taken)


@pytest.mark.parametrize(
    ("variant", "position", "value"),
    [
        ("nine", "w../.w./.../b...../bbb/.../w.. white", None),
        ("nine", "w../.w./.../b...../bbb/.../... white", -1),  # two men left
        ("nine", "w../.w./.../b...../bbb/.../... white 1 0", None),
        ("nine", "wb./.../.../w...../.../.../wb. black", -1),
        ("nine", "wbw/.../.../b....b/.../.../wbw white", -1),  # no legal move
        ("six", "wbw/.../b..b/.../wbw white", -1),
        ("three", "www/b.b/..b black", -1),
        ("three", "wbw/.wb/..b black", None),
        ("three", "w.b/bw./.bw black", -1),
    ],
)
def test_ends(variant, position, value):
    assert outcome(parse(position, variant)) == (value is not None, value or 0)


def test_a_full_board_is_a_draw():
    text = "wbw/bwb/wbw/bwbwbw/bwb/wbw/bwb white"
    assert outcome(parse(text, "morabaraba")) == (True, 0)


# Values of three men's morris


def graph(first):
    """Return all reachable positions and their successors; players do not matter."""
    found, new = {}, [first._replace(second=False)]
    while new:
        position = new.pop()
        if position not in found:
            over = outcome(position)[0]
            children = [play(position, move) for move in ([] if over else legal_moves(position))]
            found[position] = [child._replace(second=False) for child in children]
            new += found[position]
    return found


def distances(children):
    """Return the plies to the end of all decided positions, by sweeps; losses have even ones."""
    known = {position: 0 for position in children if outcome(position)[0]}
    before = -1
    while len(known) > before:
        before, seen = len(known), dict(known)
        for position, following in children.items():
            if position not in seen:
                even = [seen[child] for child in following if seen.get(child, 1) % 2 == 0]
                if even:
                    known[position] = 1 + min(even)
                elif all(child in seen for child in following):
                    known[position] = 1 + max(seen[child] for child in following)
    return known


def test_three_mens_morris():
    first = start("three")
    children = graph(first)
    plies = distances(children)
    assert len(children) == int(FACTS["three", "states"])
    assert sum(n % 2 for n in plies.values()) == int(FACTS["three", "wins"])
    assert sum(n % 2 == 0 for n in plies.values()) == int(FACTS["three", "losses"])
    assert len(children) - len(plies) == int(FACTS["three", "draws"])
    assert plies[first] == int(FACTS["three", "plies"])
    openings = {}
    for move in legal_moves(first):
        child = play(first, move)._replace(second=False)
        openings[move_text(first, move)] = "DWL"[(child in plies) * (1 + plies.get(child, 0) % 2)]
    assert [openings[name] for name in first.NAMES] == FACTS["three", "openings"].split()


# Symmetry


@given(reached("morris"))
def test_images(position):
    """Symmetric boards have the same class, and corresponding moves."""
    dice = Random(key(position))
    number = dice.randrange(SYMMETRIES)
    turned = image(position, position.mine | position.theirs << 32, number)
    other = position._replace(mine=Bits(turned & 0xFFFFFFFF), theirs=Bits(turned >> 32))
    assert outcome(other) == outcome(position)
    assert canonical(other)[0] == canonical(position)[0]
    if outcome(position)[0]:
        return
    assert evaluate(other) == evaluate(position)
    symmetry = canonical(position)[1]
    seen = {canonical_move(position, move, symmetry) for move in legal_moves(position)}
    other_symmetry = canonical(other)[1]
    others = [original_move(other, move, other_symmetry) for move in seen]
    children = {canonical(play(other, move))[0] for move in others}
    assert sorted(others) == sorted(legal_moves(other))
    assert children == {canonical(play(position, move))[0] for move in legal_moves(position)}
    for move in legal_moves(position):
        there = canonical_move(position, move, symmetry)
        assert original_move(position, there, symmetry) == move


# All positions


def test_numbers_of_nine_mens_morris():
    assert sum(map(int, start().LAYER_SIZES)) == int(FACTS["nine", "numbers"])
    assert start().LAYER_NAMES[:3] == ("3-3", "4-3", "4-4")
    assert {"3-3", "1+2-0+3", "3+0-3+0"} <= set(start("three").LAYER_NAMES)


@pytest.mark.parametrize("variant", VARIANTS)
def test_numbers_of_positions(variant):
    """Some indices of all layers, a few of which are holes, and positions of random games."""
    dice, example = Random(variant), start(variant)
    for number, size in enumerate(map(int, example.LAYER_SIZES)):
        for wanted in {0, size - 1, *(dice.randrange(size) for _ in range(10))} if size else ():
            position = position_at(example, number, wanted)
            found = index(position)
            assert layer(position) == number and found <= wanted
            assert index(position_at(example, number, found)) == found
    for position in random_positions("morris", variant):
        if outcome(position)[0]:
            continue
        number, found = layer(position), index(position)
        if found == NO_INDEX:
            assert number == len(example.LAYER_SIZES)
            assert position.hand + position.their_hand > 0 and not position.HAND_LAYERS
        else:
            assert found < example.LAYER_SIZES[number]
            assert canonical(position_at(example, number, found))[0] == canonical(position)[0]
        assert all(layer(play(position, move)) <= number for move in legal_moves(position))


@pytest.mark.parametrize(("variant", "name"), [("three", "3-3"), ("six", "3-3"), ("nine", "4-3")])
def test_moves_taken_back(variant, name):
    """Retreats are the inverse of moves, up to symmetry, for some positions of a layer."""
    example = start(variant)
    number = example.LAYER_NAMES.index(name)
    dice, size = Random(variant), int(example.LAYER_SIZES[number])
    for here in dice.sample(range(size), min(size, 60)):
        position = position_at(example, number, here)
        here = index(position)
        if outcome(position)[0]:
            continue
        for move in legal_moves(position)[::5]:
            child = play(position, move)
            if layer(child) == number and index(child) != NO_INDEX:
                before = [retreat(child, back) for back in moves_by(retreats, child)]
                assert here in map(index, before)
        for back in moves_by(retreats, position)[::5]:
            before = retreat(position, back)
            assert layer(before) == number
            if not outcome(before)[0]:
                assert here in {index(play(before, move)) for move in legal_moves(before)}


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.skipif(not jit_enabled(), reason="many positions")
@pytest.mark.parametrize(
    "variant", ["six", *(pytest.param(name, marks=pytest.mark.long) for name in ("nine", "lasker"))]
)
def test_some_positions_of_all_layers(variant):
    assert_no_faults_in_layers(start(variant), 1000)


# Estimates


@given(reached("morris"))
def test_estimates_are_of_both_players(position):
    mine, theirs, hand, their_hand, second = position
    other = type(position)(theirs, mine, their_hand, hand, not second)
    assert evaluate(other) == -evaluate(position)
    assert evaluate_material(other) == -evaluate_material(position)


@given(reached("morris"))
def test_noisy_moves_take_men(position):
    if outcome(position)[0]:
        return
    taking = [move for move in legal_moves(position) if gain(position, move)]
    assert sorted(moves_by(noisy, position)) == sorted(taking)
    assert all("x" in move_text(position, move) for move in taking)


def test_order():
    """First mills, then moves that prevent the opponent's mills."""
    scores = order_scores(parse("a1 a7 d1 d7"))
    best = sorted(scores, key=scores.__getitem__, reverse=True)
    assert set(best[:2]) == {"g1xa7", "g1xd7"} and best[2] == "g7"


# Notation


def test_drawing():
    lines = str(parse("a1 a7 d1 d7 g1xa7")).splitlines()
    assert lines == [
        "7 .     b     .",
        "6   .   .   .",
        "5     . . .",
        "4 . . .   . . .",
        "3     . . .",
        "2   .   .   .",
        "1 w     w     w",
        "  a b c d e f g",
        "black to move, white has 6 and black 7 men in hand",
    ]
    assert str(parse("w../.w./.../b...../bbb/.../w.. white")).endswith("\nwhite to move")
