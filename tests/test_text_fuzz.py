"""Reading positions: every text is a position or a :class:`PositionError`, nothing else."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engine import PositionError, legal_moves, load_game
from engine.contract.notation import notation_of
from engine.contract.verbs import outcome, play

NAMES = ("connect4", "connect4:8x7", "connect4:10x5", "connect4:4x4", "tictactoe", "breakthrough")
GAMES = {name: load_game(name) for name in NAMES}

games = st.sampled_from(NAMES).map(GAMES.__getitem__)
# Texts of all sorts, and some that are nearly positions.
texts = (
    st.text(max_size=60)
    | st.text("0123456789", max_size=45)
    | st.text("0123456789xXoO./-, \n\t", max_size=80)
    | st.lists(st.text("xo.", min_size=7, max_size=7), min_size=6, max_size=6).map("/".join)
    | st.lists(st.text("xo.", min_size=3, max_size=3), min_size=3, max_size=3).map("/".join)
)


@st.composite
def played(draw):
    """A game, a position that legal moves lead to, and the moves as texts."""
    game = draw(games)
    position, moves = game.start(), []
    for _ in range(draw(st.integers(0, 64))):
        legal = legal_moves(position)
        if not legal:
            break
        move = draw(st.sampled_from(legal))
        moves.append(game.notation.move_text(position, move))
        position = play(position, move)
    return game, position, moves


@given(games, texts)
@example(GAMES["connect4"], "\x00")
@example(GAMES["connect4"], "²")
@example(GAMES["connect4"], "٤")
@example(GAMES["connect4:10x5"], "1" * 5000)
@example(GAMES["tictactoe"], "²")
@example(GAMES["tictactoe"], "İ/x")
def test_text_is_a_position_or_an_error(game, text):
    try:
        position = game.parse(text)
    except PositionError as error:
        assert str(error)
    else:
        assert type(position) is type(game.start())
        assert game.parse(game.notation.position_text(position)) == position
        assert isinstance(str(position), str)


@given(played())
def test_played_positions_are_read_from_their_moves(case):
    game, position, moves = case
    separator = "," if getattr(position, "WIDTH", 3) > 9 else ""
    assert game.parse(separator.join(moves)) == position


@given(played())
def test_played_positions_are_read_from_their_boards(case):
    game, position, _ = case
    text = game.notation.position_text(position)
    for same in (text, text.upper(), text.replace("/", "\n"), str(position)):
        assert game.parse(same) == position


@given(games, st.text(max_size=3) | st.text("0123456789", max_size=3))
def test_move_is_legal_or_an_error(game, text):
    position = game.start()
    try:
        move = game.notation.parse_move(position, text)
    except PositionError as error:
        assert str(error)
    else:
        assert move in legal_moves(position)


@given(st.text(max_size=8) | st.from_regex(r"\d{1,3}x\d{1,3}", fullmatch=True))
@example("7x6\n")
@example("0x5")
@example("9" * 5000 + "x1")
@example("1000x1000")
def test_variant_is_a_board_or_an_error(variant):
    for name in ("connect4", "tictactoe"):
        try:
            position = GAMES[name].notation.start(variant)
        except PositionError as error:
            assert str(error)
        else:
            assert not outcome(position)[0]
            assert notation_of(type(position)).position_text(position)


def test_board_as_wide_as_two_digits_separates_columns():
    game = GAMES["connect4:10x5"]
    assert game.parse("10 10, 1") == game.parse("10,10,1")
    with pytest.raises(PositionError, match="move 2"):
        game.parse("1 11")
