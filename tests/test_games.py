"""Every shipped game: texts, variants, keys and claims, checked on random positions.

Refused texts, moves with their results, and values in words are in files of ``tests/data``: a new
case is a new line.
"""

from __future__ import annotations

import itertools
import json
import pickle
import re
from random import Random

import pytest
from data import FOLDER, rows
from hypothesis import given, note
from hypothesis import strategies as st
from positions import VARIANTS, following, random_positions

from cutnode import PositionError, game_names, legal_moves, load_game
from cutnode.contract.dispatch import defines
from cutnode.contract.messages import description
from cutnode.contract.notation import notation_of
from cutnode.contract.variants import variants_of
from cutnode.contract.verbs import (
    bounds,
    canonical,
    canonical_move,
    chance,
    evaluate,
    key,
    outcome,
    play,
    plies_left,
    random_move,
)

LONGEST_MESSAGE = 300
"""The most characters in a message about a text, however long the text is."""

pytestmark = pytest.mark.once

games = pytest.mark.parametrize("name", game_names())


def cases(file, fields):
    """Return the lines of a data file, split into *fields* fields; the last may have semicolons."""
    lines = rows(FOLDER / file, fields)
    return [pytest.param(*line, id="-".join(line)[:80]) for line in lines]


def refusal(read, *args):
    """Return the message with which a text is refused."""
    with pytest.raises(PositionError) as caught:
        read(*args)
    assert len(str(caught.value)) < 200
    return str(caught.value)


def text_of(position):
    return notation_of(type(position)).position_text(position)


def variant_of(position):
    return getattr(position, "VARIANT", "")


def some(name, count):
    """Return some positions of random games."""
    pool = random_positions(name)
    return Random(name).sample(pool, min(count, len(pool)))


def test_all_games_have_variants_here():
    assert sorted(VARIANTS) == sorted(game_names())


# Texts

SPELLINGS = {
    "breakthrough": lambda text: (text.upper(), f"{text} to move"),
    "chess": lambda text: (text.replace(" ", "  "), text.replace(" ", "\t")),
    "clobber": lambda text: (text.upper(), f"{text} to move"),
    "connect4": lambda text: (text.upper(),),
    "cram": lambda text: (text.replace("/", " / "),),
    "dobutsu": lambda text: (text.lower()[0] + text[1:], text.replace("/", " / ")),
    "domineering": lambda text: (text.upper(), f"{text} to move"),
    "draughts": lambda text: (text.lower(), f"{text}.", text.replace(",", " , ")),
    "go": lambda text: (text.upper(),),
    "hex": lambda text: (text.upper(), f"{text} to move"),
    "kalah": lambda text: (text.upper(), f"{text} to move"),
    "kayles": lambda text: (" ".join(text),),
    "othello": lambda text: (
        *(text.lower(), text.replace("X", "*"), text.replace("-", "."), f"{text} to move"),
        *(f"{text}; A1:+0; B3:-2", f"{text};"),
    ),
    "mnk": lambda text: (text.upper(),),
    "morris": lambda text: (text.upper(), text.replace("te ", "te to move ")),
    "nogo": lambda text: (text.upper(), f"{text} to move"),
    "oware": lambda text: (text.upper(),),
    "qubic": lambda text: (text.upper(),),
    "skirmish": lambda text: (text.replace(" ", "  "),),
    "tictactoe": lambda text: (text.upper(),),
    "toads": lambda text: (text.lower(), f"{text} to move"),
    "uniform": lambda text: (),
    "ur": lambda text: (text.upper(), text.replace("--", ""), text.replace(" / ", "\n/ ")),
    "y": lambda text: (text.upper(),),
}
"""Other ways to write the text of a position."""

SLASHES = set(game_names()) - {"chess", "draughts", "uniform", "ur"}
"""The games that accept each row on its own line."""

DRAWINGS = (
    *(
        "breakthrough",
        "clobber",
        "connect4",
        "cram",
        "domineering",
        "hex",
        "kalah",
        "kayles",
        "mnk",
        "nogo",
        "othello",
        "oware",
        "qubic",
    ),
    "tictactoe",
    "toads",
    "y",
)
"""The games that accept the drawing of a position."""

MOVE_SPELLINGS = {
    "breakthrough": lambda text: (text.upper(), text[:2] + text[-2:]),
    "clobber": lambda text: (text.upper(), re.sub("(?<=[0-9])(?=[a-z])", "-", text)),
    "cram": lambda text: (text.upper(), re.sub("(.[0-9]+)(.[0-9]+)", r"\2-\1", text)),
    "dobutsu": lambda text: (text.upper(), text.lower(), text.replace("x", "")),
    "domineering": lambda text: (text.upper(),),
    "draughts": lambda text: (text.upper(), text.replace("-", "x")),
    "go": lambda text: (text.lower(),),
    "hex": lambda text: (text.upper(),),
    "kayles": lambda text: ("-".join(text.split("-")[::-1]),),
    "mnk": lambda text: (text.upper(),),
    "morris": lambda text: (text.upper(), text.replace("-", "")),
    "nogo": lambda text: (text.upper(),),
    "othello": lambda text: (text.upper(),),
    "skirmish": lambda text: (text.upper(),),
    "ur": lambda text: (text.upper(),),
    "y": lambda text: (text.upper(),),
}
"""Other ways to write the text of a move."""


@games
def test_texts_are_read_back(name):
    for position in some(name, 40):
        game, text = notation_of(type(position)), text_of(position)
        same = [text, f"  {text} ", *SPELLINGS[name](text)]
        same += [text.replace("/", "\n")] * (name in SLASHES) + [str(position)] * (name in DRAWINGS)
        for spelling in same:
            read = game.parse_position(spelling, variant_of(position))
            assert read == position and type(read) is type(position)
        for move in legal_moves(position):
            text = game.move_text(position, move)
            for spelling in (text, *MOVE_SPELLINGS.get(name, lambda text: ())(text)):
                assert game.parse_move(position, spelling) == move


SEPARATORS = {"connect4": "", "connect4:10x5": ",", "tictactoe": "", "uniform": "."}
"""The separator of moves in a line, where it is not a blank."""


@games
def test_positions_are_read_from_their_moves(name):
    dice = Random(name)
    for variant in VARIANTS[name]:
        game = load_game(f"{name}:{variant}")
        position, texts = game.start(), []
        for _ in range(dice.randrange(10, 60)):
            if not legal_moves(position):
                break
            move = dice.choice(legal_moves(position))
            texts.append(game.notation.move_text(position, move))
            position = play(position, move)
        separator = SEPARATORS.get(f"{name}:{variant}", SEPARATORS.get(name, " "))
        assert game.parse(separator.join(texts)) == position


@pytest.mark.parametrize(
    ("name", "text", "spellings"),
    [
        ("breakthrough:4x5", "b2c3 b4xc3 d2xc3", ("b2c3b4xc3d2xc3", "b2c3,b4c3, d2c3")),
        ("breakthrough:4x5", "b2c3 b4xc3 d2xc3", (" B2C3\tB4XC3 d2c3 ",)),
        ("connect4:10x5", "10,1,10", ("10 1 10", "10 1, 10")),
        ("go", "C3 D4 pass", ("c3d4pass", "C3,d4, PASS")),
        ("hex", "b2 a10 c3", ("b2a10c3", "B2,a10, C3")),
        ("kalah", "3 6 1 1", ("3611", "3,6,1,1", " 3\t6 , 11 ")),
        ("domineering", "a2a1 b1c1", ("a2a1b1c1", "A1A2,c1B1")),
        ("clobber", "a5b5 c4c5", ("a5b5c4c5", "A5-B5,c4-C5")),
        ("cram", "a2a1 b1c1", ("a2a1b1c1", "A1-A2,c1B1")),
        ("kayles", "3-4 7 1-2", ("3-4,7, 2-1",)),
        ("nogo", "a1 b5 c3", ("a1b5c3", "A1,b5, C3")),
        ("toads", "5 9 4", ("5,9, 4",)),
        ("qubic", "111 444 121", ("111444121", "111,444, 121")),
        ("mnk", "h8 i10 a1", ("h8i10a1", "H8,i10, A1")),
        ("y", "b3 a10 k11", ("b3a10k11", "B3,a10, K11")),
        ("oware", "3 1 1", ("311", "3,1,1", " 3\t1 , 1 ")),
        ("dobutsu", "b3xb2 b1xb2 C*b3", ("b3b2b1b2c*b3", "B3xB2,b1xb2, C*b3")),
        ("othello", "f5d6c3", ("F5D6C3", "f5 d6 c3", "f5,D6, c3", " f5\nd6\tc3 ")),
        ("othello", "f5d6c3", ("f5d6c3 ; a comment",)),
        ("skirmish", "b1-b2 build fire end", ("b1-b2, build fire, end",)),
        ("skirmish", "b1-b2 build fire end", ("B1-B2,Build  Fire,END", " b1-b2\tbuild fire\tend ")),
    ],
)
def test_lines_of_moves_are_read_leniently(name, text, spellings):
    for spelling in spellings:
        assert load_game(name).parse(spelling) == load_game(name).parse(text)


@games
def test_no_text_is_the_start(name):
    game = load_game(name)
    assert game.parse("") == game.parse("  ") == game.start()


NONSENSE = ("\0", "²", "٤", "İ/x", "?" * 1000, "1" * 5000, "/" * 1000, "0x5", "-1", "7x6\n")
"""Texts that resemble nothing."""

FENS = st.tuples(
    st.lists(st.sampled_from(["8", "pppppppp", "4k3", "r3K2r", "PPP2PPP", "3pP3"]), min_size=8).map(
        lambda rows: "/".join(rows[:8])
    ),
    st.sampled_from("wbx"),
    st.sampled_from(["-", "KQkq", "HAha", "KK"]),
    st.sampled_from(["-", "e3", "d6", "e9"]),
).map(" ".join)

TEXTS = {
    "chess": FENS | st.text("rnbqkRNBQKpP12345678/ wbKQkq-e36", max_size=90),
    "connect4": st.lists(st.text("xo.", min_size=7, max_size=7), min_size=6, max_size=6).map(
        "/".join
    ),
    "tictactoe": st.lists(st.text("xo.", min_size=3, max_size=3), min_size=3, max_size=3).map(
        "/".join
    ),
    "uniform": st.text("0123./ ", max_size=12),
}
"""Texts that are almost positions."""

ANY_TEXTS = st.text(max_size=80) | st.text("0123456789xXoO./-, \n\t", max_size=80)


@games
def test_nonsense_is_refused_or_read(name):
    game = load_game(name).notation
    for variant, text in itertools.product(VARIANTS[name], NONSENSE):
        assert_read_or_refused(game, text, variant)


@given(ANY_TEXTS)
def test_text_is_a_position_or_an_error(text):
    """In every game: a text costs more to make than to read."""
    for name in game_names():
        note(name)
        assert_read_or_refused(load_game(name).notation, text)


@pytest.mark.filterwarnings("ignore::cutnode.contract.errors.PositionWarning")
@pytest.mark.parametrize("name", TEXTS)
def test_text_is_almost_a_position(name):
    game = load_game(name).notation
    given(TEXTS[name])(lambda text: assert_read_or_refused(game, text))()


@games
def test_misprint_is_a_position_or_an_error(name):
    dice = Random(name)
    for position in some(name, 60):
        text = text_of(position)
        at = dice.randrange(len(text) + 1)
        wrong = text[:at] + dice.choice([*text, *"?9x-/ .=,", ""]) + text[at + 1 :]
        assert_read_or_refused(notation_of(type(position)), wrong, variant_of(position))


def assert_read_or_refused(game, text, variant=""):
    """Assert that a text is a position that can be written again, or is refused briefly."""
    try:
        read = game.parse_position(text, variant)
    except PositionError as error:
        assert 0 < len(str(error)) < LONGEST_MESSAGE
    else:
        assert type(read) is type(game.start(variant))
        assert game.parse_position(game.position_text(read), variant_of(read)) == read
        assert isinstance(str(read), str)


@games
def test_text_is_a_legal_move_or_an_error(name):
    dice = Random(name)
    for position in some(name, 20):
        game = notation_of(type(position))
        known = [game.move_text(position, move) for move in legal_moves(position)]
        letters = sorted({*"".join(known), *"0123456789"})
        nearly = ["".join(dice.choices(letters, k=dice.randrange(6))) for _ in range(4)]
        for text in (*NONSENSE, *nearly):
            try:
                move = game.parse_move(position, text)
            except PositionError as error:
                assert 0 < len(str(error)) < LONGEST_MESSAGE
            else:
                assert move in legal_moves(position)


PARTS = ("8x6", "random", "ordered", "ordered=", "noise=5", "seed=", "empty", "finkel", "-", ",")

ANY_VARIANTS = (
    st.text(max_size=8)
    | st.from_regex(r"\d{1,3}x\d{1,3}", fullmatch=True)
    | st.lists(st.sampled_from(PARTS)).map("".join)
)


@games
def test_nonsense_is_a_variant_or_refused(name):
    game = load_game(name).notation
    for variant in (*NONSENSE, "9" * 5000 + "x1", "1000x1000"):
        assert_start_or_refused(game, variant)


@given(ANY_VARIANTS)
def test_variant_is_a_first_position_or_an_error(variant):
    for name in game_names():
        note(name)
        assert_start_or_refused(load_game(name).notation, variant)


def assert_start_or_refused(game, variant):
    """Assert that a variant has a first position that can be written, or is refused briefly."""
    try:
        start = game.start(variant)
    except PositionError as error:
        assert 0 < len(str(error)) < LONGEST_MESSAGE
    else:
        assert not outcome(start)[0]
        assert game.parse_position(game.position_text(start), variant_of(start)) == start


@pytest.mark.parametrize(("name", "variant", "words"), cases("refused/variants.txt", 3))
def test_invalid_variants(name, variant, words):
    assert words in refusal(load_game(name).notation.start, variant)


@pytest.mark.parametrize(("name", "text", "words"), cases("refused/positions.txt", 3))
def test_invalid_positions(name, text, words):
    assert words in refusal(load_game(name).parse, text)


@pytest.mark.parametrize(("name", "text", "move", "words"), cases("refused/moves.txt", 4))
def test_invalid_moves(name, text, move, words):
    game = load_game(name)
    assert words in refusal(game.notation.parse_move, game.parse(text), move)


@pytest.mark.parametrize(("name", "text", "value", "words"), cases("values_in_words.txt", 4))
def test_values_in_words(name, text, value, words):
    game = load_game(name)
    assert description(game.parse(text), json.loads(value)) == words


# Variants


@pytest.mark.parametrize(
    ("name", "variant", "usual", "cls"),
    [
        ("breakthrough", "8x8", "", "Position8x8"),
        ("breakthrough", "6x5", "6x5", "Position6x5"),
        ("clobber", "5x5", "", "Position5x5"),
        ("clobber", "04x6", "4x6", "Position4x6"),
        ("connect4", "7x6", "", "Position7x6"),
        ("connect4", "8x7", "8x7", "Position8x7"),
        ("cram", "6x5", "6x5", "Position6x5"),
        ("dobutsu", "drops", "", "Positiondrops"),
        ("dobutsu", "vanish", "vanish", "Positionvanish"),
        ("domineering", "8x8,vertical", "", "Position8x8"),
        ("domineering", "5x4,horizontal", "5x4,horizontal", "Position5x4__horizontal"),
        ("draughts", "8x8", "", "Position8x8"),
        ("draughts", "4x4", "4x4", "Position4x4"),
        ("go", "5x5", "", "Position5x5"),
        ("go", "9x9,komi=06.5,suicide=no", "9x9,komi=6.5", "Position9x9__komi_6point5"),
        (
            *("go", "3x3,goal=win,komi=-0.5"),
            *("3x3,komi=-0.5,goal=win", "Position3x3__komi_minus0point5__goal_win"),
        ),
        ("hex", "11x11", "", "Position11"),
        ("hex", "6x6", "6", "Position6"),
        ("hex", "6x07", "6x7", "Position6x7"),
        ("kalah", "6x4", "", "Position6x4"),
        ("kalah", "6x4,empty", "6x4,empty", "Position6x4__empty"),
        ("kalah", "4x3", "4x3", "Position4x3"),
        ("kayles", "20", "", "Position20"),
        ("kayles", "dawson,09", "dawson,9", "Positiondawson__9"),
        ("mnk", "15x15x5", "", "Position15x15x5"),
        ("mnk", "3x3x03", "3x3x3", "Position3x3x3"),
        ("morris", "nine", "", "Positionnine"),
        ("morris", "nine-9,flying", "", "Positionnine"),
        ("morris", "six-4,flying", "six-4,flying", "Positionsix_4__flying"),
        ("nogo", "4x5", "4x5", "Position4x5"),
        ("othello", "8x8", "", "Position8x8"),
        ("othello", "6x6", "6x6", "Position6x6"),
        ("othello", "4x4", "4x4", "Position4x4"),
        ("oware", "50", "", "Position50"),
        ("oware", "20", "20", "Position20"),
        ("skirmish", "6x6", "", "Position6x6"),
        ("skirmish", "5x5", "5x5", "Position5x5"),
        ("skirmish", "4x4", "4x4", "Position4x4"),
        ("toads", "5,3,05", "", "Position5__3__5"),
        ("toads", "5,1,0", "5,1,0", "Position5__1__0"),
        ("uniform", "4x6", "", "Position4x6__random"),
        ("uniform", "4x6,random,seed=8", "", "Position4x6__random"),
        ("uniform", "04x06", "", "Position4x6__random"),
        ("uniform", "8x6,seed=3,ordered=100,noise=0", "8x6,ordered", "Position8x6__ordered"),
        (
            *("uniform", "8x6,noise=5,ordered=75"),
            *("8x6,ordered=75,noise=5", "Position8x6__ordered_75__noise_5"),
        ),
        ("uniform", "8x6,incremental", "8x6,incremental", "Position8x6__incremental"),
        ("ur", "finkel", "", "Positionfinkel"),
        ("ur", "finkel-7", "", "Positionfinkel"),
        ("ur", "blitz-5", "blitz", "Positionblitz"),
        (
            *("ur", "finkel-2,unsafe,captures"),
            *("finkel-2,captures,unsafe", "Positionfinkel_2__captures__unsafe"),
        ),
    ],
)
def test_a_class_for_each_variant(name, variant, usual, cls):
    game = load_game(name)
    start = game.notation.start(variant)
    assert usual == type(start).VARIANT
    assert type(start) is getattr(game.module, cls) is variants_of(game.module).of(variant)
    assert type(start) is type(game.notation.start(usual))
    assert pickle.loads(pickle.dumps(start)) == start


@pytest.mark.parametrize(
    ("name", "missing"),
    [
        *(("kalah", "Position6"), ("oware", "Positions"), ("ur", "Piece")),
        *(("skirmish", "Position7x7"), ("uniform", "Position"), ("uniform", "Position8x6")),
        *(("uniform", "Position8x6__seed_3"), ("uniform", "Node8x6")),
    ],
)
def test_other_names_are_no_classes(name, missing):
    with pytest.raises(AttributeError, match=f"no attribute '{missing}'"):
        getattr(load_game(name).module, missing)


@games
def test_positions_are_pickled(name):
    for position in some(name, 10):
        read = pickle.loads(pickle.dumps(position))
        assert read == position and type(read) is type(position)


# Rules and claims


@pytest.mark.parametrize(("name", "before", "move", "after"), cases("moves.txt", 4))
def test_moves(name, before, move, after):
    game = load_game(name)
    position = game.parse(before)
    child = play(position, game.notation.parse_move(position, move))
    assert game.notation.position_text(child) == after


@games
def test_keys_tell_positions_apart(name):
    """Keys of positions of one variant, and of all their successors."""
    for variant in VARIANTS[name]:
        pool = random_positions(name, variant)
        found = {met for position in pool[::15] for met in (position, *following(position))}
        assert len({key(met) for met in found}) == len(found)
        assert all(0 <= key(met) < 1 << 64 for met in found)


LIMITED = ["breakthrough", "connect4", "hex", "kalah", "mnk", "qubic", "skirmish", "uniform", "y"]
"""The games whose first position determines how long they can last."""


@pytest.mark.parametrize("name", [*LIMITED, "othello"])
def test_plies_left_become_fewer(name):
    for position in some(name, 60):
        assert plies_left(position) <= type(position).MAX_PLIES
        for child in following(position):
            assert plies_left(child) < plies_left(position)


@pytest.mark.parametrize("name", LIMITED)
def test_longest_games(name):
    for variant in VARIANTS[name]:
        start = load_game(f"{name}:{variant}").start()
        assert plies_left(start) == start.MAX_PLIES


SIDES = {
    "breakthrough": "second",
    "clobber": "second",
    "dobutsu": "second",
    "draughts": "second",
    "kalah": "second",
    "morris": "second",
    "nogo": "second",
    "othello": "white",
    "oware": "second",
    "toads": "right",
    "ur": "second",
}
"""The fields that say which of two symmetric players is to move."""


@pytest.mark.parametrize(("name", "side"), SIDES.items())
def test_players_do_not_matter(name, side):
    for position in some(name, 60):
        other = position._replace(**{side: not getattr(position, side)})
        assert key(other) != key(position)
        assert canonical(other) == canonical(position)
        assert outcome(other) == outcome(position)
        assert legal_moves(other) == legal_moves(position)
        assert chance(other) == chance(position)
        assert evaluate(other) == evaluate(position)


@pytest.mark.parametrize("name", ["breakthrough", "connect4"])
def test_reflection_keeps_the_class(name):
    for position in some(name, 100):
        board, *mover = text_of(position).split()
        turned = " ".join(["/".join(row[::-1] for row in board.split("/")), *mover])
        image = notation_of(type(position)).parse_position(turned, variant_of(position))
        assert canonical(image)[0] == canonical(position)[0]
        assert (key(image) == key(position)) == (image == position)
        assert bounds(image, -1, 1) == bounds(position, -1, 1)
        assert outcome(image) == outcome(position)
        if not outcome(position)[0]:
            assert evaluate(image) == evaluate(position)
            moves = {canonical_move(position, move, 1) for move in legal_moves(position)}
            assert moves == set(legal_moves(image))


@games
def test_random_moves_are_equally_likely(name):
    """Words at equal distances draw each move equally often."""
    position = load_game(name, plain=True).start()
    if not defines(type(position), "random_move"):
        return
    dice = Random(name)
    for _ in range(40):
        if outcome(position)[0]:
            break
        legal = legal_moves(position)
        each = 4 * len(legal)
        drawn = [random_move(position, (2 * n + 1 << 63) // each) for n in range(each)]
        assert sorted(drawn) == sorted(4 * legal)
        position = play(position, dice.choice(legal))
