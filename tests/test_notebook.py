"""Notebook output: boards, with a result's text next to them."""

import pickle

import pytest

from cutnode import game_names, load_game, perft, search, solve

pytestmark = pytest.mark.once


@pytest.mark.parametrize("name", game_names())
def test_positions_show_their_board(name):
    start = load_game(name).start()
    first, *_ = str(start).splitlines()
    assert start._repr_html_().startswith("<pre")
    assert first.rstrip() in start._repr_html_()


def test_results_show_what_they_say():
    game = load_game("tictactoe")
    position = game.parse("15")
    for result in (solve(position), search(position, depth=3, lines=2)):
        shown = result._repr_html_()
        assert position._repr_html_() in shown
        for line in str(result).splitlines():
            assert line[7:] in shown
        assert pickle.loads(pickle.dumps(result)) == result


def test_texts_of_a_game_are_no_markup_and_its_own_markup_stays(tmp_path):
    lines = (
        "class Position(tuple):",
        "    def __str__(self): return '<b> & co'",
        "class Own(Position):",
        "    def _repr_html_(self): return 'its own'",
        "def moves(position, buffer, at): return at",
        "def play(position, move): return position",
        "def outcome(position): return True, 0",
        "def start(variant=''): return Own() if variant else Position()",
        "def parse_position(text, variant=''): return start(variant)",
        "def position_text(position): return ''",
        "def parse_move(position, text): return 0",
        "def move_text(position, move): return ''",
    )
    file = tmp_path / "marked_up.py"
    file.write_text("\n".join(lines))
    assert "&lt;b&gt; &amp; co" in load_game(str(file)).start()._repr_html_()
    assert load_game(f"{file}:own").start()._repr_html_() == "its own"
    assert perft(load_game(str(file)).start(), 1) == 0
