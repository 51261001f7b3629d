"""Dobutsu shogi: published distances, the rules in words, indices and retreats."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from data import FOLDER, rows
from hypothesis import given
from marks import compiled_only
from numbering import (
    assert_legally_reached,
    assert_no_faults,
    assert_numbered,
    assert_taken_back,
    entry_at,
    following,
    sizes,
)
from positions import moves_by, random_positions, reached

from cutnode import legal_moves, minimax
from cutnode.compiler.jit import jit_enabled
from cutnode.contract.verbs import (
    bounds,
    canonical,
    check,
    evaluate,
    gain,
    index,
    layer,
    noisy,
    outcome,
    play,
    reversible,
)
from cutnode.games.dobutsu import (
    move_text,
    parse_position,
    position_text,
    rules,
    start,
    takes_lion,
)
from cutnode.kernels.scores import WIN

pytestmark = pytest.mark.once

VALUES = [(text, int(plies)) for text, plies in rows(FOLDER / "dobutsu_values.txt")]
SHORT = [fact for fact in VALUES if 0 < abs(fact[1]) <= (5 if jit_enabled() else 2)]

WAYS = {
    "L": "n ne e se s sw w nw",
    "E": "ne se sw nw",
    "G": "n e s w",
    "C": "n",
    "R": "n ne e s w nw",
}
"""The steps of each piece, seen by its owner."""
STEPS = {
    way: (("n" in way) - ("s" in way), ("e" in way) - ("w" in way)) for way in WAYS["L"].split()
}


# Values


@pytest.mark.parametrize(("text", "plies"), SHORT)
def test_wins_and_losses_by_minimax(text, plies):
    """The quickest wins and the longest defences; a ply less decides nothing."""
    position = parse_position(text)
    scores = [minimax(position, depth).value for depth in (abs(plies) - 1, abs(plies))]
    assert scores[1] == (WIN - plies if plies > 0 else -WIN - plies)
    assert abs(scores[0]) < WIN // 2


# Rules


def men_of(position):
    """Return the letters of all men by column and row, counting rows from sente's side."""
    rows = position_text(position).split("/")[1:5]
    return {
        (3 - number, column): letter
        for number, row in enumerate(rows)
        for column, letter in enumerate(row)
        if letter != "-"
    }


def steps(men, sente):
    """Yield the origin and destination of each step of a player's men."""
    for (row, column), letter in men.items():
        if letter.isupper() == sente:
            for way in WAYS[letter.upper()].split():
                up, right = STEPS[way] if sente else (-STEPS[way][0], -STEPS[way][1])
                target = row + up, column + right
                if target[0] in range(4) and target[1] in range(3):
                    if target not in men or men[target].isupper() != sente:
                        yield (row, column), target


def name(cell):
    return f"{'abc'[cell[1]]}{4 - cell[0]}"


@given(reached("dobutsu"))
def test_moves_by_their_own_words(position):
    men, sente = men_of(position), not position.second
    lion, other = ("L", "l") if sente else ("l", "L")
    cells = {letter: cell for cell, letter in men.items()}
    if lion not in cells:
        assert outcome(position) == (True, -1)
        return
    found = {
        f"{name(source)}{'x' * (target in men)}{name(target)}": target
        for source, target in steps(men, sente)
    }
    home = 0 if sente else 3
    takes = cells[other] in found.values()
    assert takes == takes_lion(position)
    tried = cells[other][0] == home and not takes
    assert outcome(position) == ((True, -1) if tried else (False, 0))
    if tried:
        return
    hand = position_text(position).split("/")[5]
    drops = {letter.upper() for letter in hand if letter != "-" and letter.isupper() == sente}
    free = [(row, column) for row in range(4) for column in range(3) if (row, column) not in men]
    wanted = {*found, *(f"{letter}*{name(cell)}" for letter in drops for cell in free)}
    moves = legal_moves(position)
    assert {move_text(position, move) for move in moves} == wanted
    assert len(moves) == len(wanted)
    taken = [found.get(move_text(position, move)) == cells[other] for move in moves]
    assert taken == sorted(taken, reverse=True)
    assert check(position) == (cells[lion] in {target for _, target in steps(men, not sente)})
    captures = [move_text(position, move) for move in moves if gain(position, move) > 0]
    assert {text for text in wanted if "x" in text} == set(captures)
    assert {move_text(position, move) for move in moves_by(noisy, position)} == set(captures)


@given(reached("dobutsu", ""))
def test_no_man_is_lost(position):
    board, hand = position_text(position)[1:].rsplit("/", 1)
    men = (board + hand).upper().replace("R", "C")
    over = outcome(position)[0]
    assert [men.count(letter) for letter in "EGC"] == [2, 2, 2]
    assert men.count("L") == 2 or over


@given(reached("dobutsu", "vanish"))
def test_men_vanish(position):
    assert position_text(position).endswith("/-")
    for move in legal_moves(position):
        child = play(position, move)
        lost = gain(position, move) > 0
        assert layer(child) < layer(position) or not lost or outcome(child)[0]
        assert reversible(position, child) == (not lost)


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("G/L--/---/---/--l/cceegg", True),
        ("G/L--/---/l--/---/cceegg", True),
        ("G/Ll-/---/---/---/cceegg", False),  # it can be captured
        ("G/L--/-e-/---/--l/ccegg", False),
        ("G/L--/e--/---/--l/ccegg", True),
        ("S/--L/---/l--/---/cceegg", False),  # and was not
    ],
)
def test_lion_on_the_last_row(text, ends):
    assert outcome(parse_position(text)) == ((True, -1) if ends else (False, 0))


def test_player_without_a_move_loses():
    blocked = parse_position("S/LGE/CC-/--l/---/eg")
    assert outcome(blocked) == (True, -1)
    in_hand = parse_position("S/LGE/CC-/--l/---/Eg")
    assert outcome(in_hand) == (False, 0)


@pytest.mark.slow
@pytest.mark.long
def test_positions_without_drops():
    """Source: research/reproduction.md of github.com/brianhliou/dobutsu-shogi @9faa7f3.

    Positions in which the mover wins at once are counted, but their successors are not.
    """
    found, left = {canonical(start("vanish"))[0]}, [start("vanish")]
    while left:
        position = left.pop()
        children = [] if takes_lion(position) else following(position)
        if children and len(children) == len(legal_moves(position)):
            for child in children:
                word = canonical(child)[0]
                if word not in found:
                    found.add(word)
                    left.append(child)
    assert len(found) == 797_658


# Estimates and symmetry


@given(reached("dobutsu"))
def test_estimates_are_of_both_players(position):
    other = position._replace(mine=position.theirs, theirs=position.mine)
    assert evaluate(position) == -evaluate(other)
    if not outcome(position)[0]:
        assert bounds(position, -1, 1) == ((1, 1) if takes_lion(position) else (-1, 1))


# Tablebase


def indexed(variant=""):
    """Return positions of random games that have an index."""
    pool = random_positions("dobutsu", *5 * [variant])
    return [met for met in pool if not outcome(met)[0] and index(met) >= 0]


def numbered(variant, count):
    """Return positions of random indices, drawn evenly from all layers."""
    example, dice = start(variant), Random(count)
    found = []
    while len(found) < count:
        number = dice.randrange(len(sizes(type(example))))
        entry = number, dice.randrange(sizes(type(example))[number])
        position = entry_at(example, entry)
        if position is not None and not outcome(position)[0]:
            found.append(position)
    return found


@pytest.mark.parametrize("variant", ["", "vanish"])
def test_indices(variant):
    """Indices of random games, and positions of random indices."""
    met = indexed(variant)
    assert len(met) > 20
    for position in met[:60] + numbered(variant, 60):
        assert canonical(assert_numbered(position))[0] == canonical(position)[0]


@pytest.mark.parametrize("variant", ["", "vanish"])
def test_moves_backwards(variant):
    for position in indexed(variant)[:20] + numbered(variant, 20):
        assert_taken_back(position)
        assert_legally_reached(position)


def test_positions_without_an_index_are_won_at_once():
    """The first move wins by capturing the lion."""
    pool = random_positions("dobutsu", *5 * [""])
    won = [met for met in pool if not outcome(met)[0] and index(met) < 0]
    assert len(won) > 20
    for position in won:
        child = play(position, legal_moves(position)[0])
        assert takes_lion(position) and outcome(child) == (True, -1)


def test_mirror_images_have_one_index():
    for position in indexed()[:60]:
        side, *board, hand = position_text(position).split("/")
        image = parse_position("/".join([side, *(row[::-1] for row in board), hand]))
        assert index(image) == index(position)
        assert evaluate(image) == evaluate(position)


def test_layers_of_men_that_vanish():
    cls = rules(False)
    assert len(sizes(cls)) == len(cls.LAYER_NAMES) == 27
    assert layer(start("vanish")) == 26
    assert cls.LAYER_NAMES[26] == "2 elephants, 2 giraffes, 2 chicks"
    assert layer(parse_position("S/-l-/--g/---/-L-/-", "vanish")) == 3


@pytest.mark.long
@pytest.mark.slow
@compiled_only
@pytest.mark.slow
def test_compiled_moves_backwards():
    indices = np.random.default_rng(1).integers(0, sizes(rules(True))[0], 30_000)
    assert assert_no_faults(start(), 0, indices) > 10_000
