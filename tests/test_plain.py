"""Minimax, alpha-beta and perft, compared with published counts and with each other."""

from __future__ import annotations

from pathlib import Path

import pytest
from data import FOLDER, rows
from toys import boxes, duel, race

from cutnode import CutnodeError, GameError, alphabeta, load_game, minimax, perft
from cutnode.cli import template
from cutnode.compiler.jit import jit_enabled
from cutnode.kernels.scores import WIN

AFFORDABLE = 10_000_000 if jit_enabled() else 20_000
"""The most lines that a test may count."""

PERFT = [
    (path.stem, variant, position, *map(int, count.split()))
    for path in sorted((FOLDER / "perft").glob("*.txt"))
    for variant, position, *counts in rows(path)
    for count in counts
]


def id_of(fact):
    name, variant, position, depth, _ = fact
    return "-".join(filter(None, (name, variant, position, str(depth))))


FEW = 2_000
"""The most lines of a variant that are counted in plain Python instead of compiling it."""


def marks_of(name, variant, position, depth, lines):
    """Return the marks for long counts, and for further compilations."""
    if not variant:
        many = lines > 50_000_000 or name == "skirmish"
        return [pytest.mark.slow] if many else []
    if lines <= FEW:
        return []
    return [pytest.mark.slow, pytest.mark.long]


@pytest.mark.parametrize(
    "fact",
    [pytest.param(fact, id=id_of(fact), marks=marks_of(*fact)) for fact in PERFT],
)
def test_perft(fact):
    name, variant, position, depth, lines = fact
    if lines > AFFORDABLE and not jit_enabled():
        pytest.skip("too many for plain Python")
    game = load_game(f"{name}:{variant}", plain=bool(variant) and lines <= FEW)
    assert perft(game.parse(position), depth) == lines


def test_perft_beyond_the_end():
    game = load_game("tictactoe")
    late = game.parse("1234576")
    assert [perft(late, depth) for depth in (0, 1, 2, 3, 10**30)] == [1, 2, 2, 0, 0]
    assert [perft(game.parse("14253"), depth) for depth in (0, 1)] == [1, 0]


def test_perft_counts_finished_games():
    """Of the 255,168 games of tic-tac-toe, 1440 end after 5 moves and 5328 after 6."""
    start = load_game("tictactoe").start()
    counts = [perft(start, depth, finished=True) for depth in (4, 5, 6, 7, 9, 10**30)]
    assert counts == [3024, 15120, 56160, 148176 + 1440 + 5328, 255168, 255168]
    over = load_game("tictactoe").parse("14253")
    assert [perft(over, depth, finished=True) for depth in (0, 1, 2)] == [1, 1, 1]


def test_perft_of_moves_that_are_read_while_they_are_made(tmp_path):
    """The last moves are not written where nothing reads them."""
    source = Path(template.__file__).read_text()
    reading = source.replace("at += 1", "at += buffer[at] > 0")
    assert reading != source
    (tmp_path / "reading_nim.py").write_text(reading)
    game = load_game(str(tmp_path / "reading_nim.py"))
    for depth in range(5):
        assert perft(game.start(), depth) == perft(template.start(), depth)


def test_perft_multiplies_lines_by_outcomes_of_chance():
    assert [perft(race.Position(), depth) for depth in (0, 1, 2)] == [1, 3, 9]


# Counts for the empty board, with cells in natural order: 1 + 9 + 72 + ... + 127872, and the nodes
# of textbook alpha-beta.
@pytest.mark.skipif(not jit_enabled(), reason="half a million nodes")
def test_tictactoe_counts():
    start = load_game("tictactoe").start()
    plain, pruned = minimax(start), alphabeta(start)
    assert (plain.value, plain.nodes, plain.leaves) == (0, 549_946, 255_168)
    assert (pruned.value, pruned.nodes) == (0, 18_297)


def test_depth_limits_the_tree():
    start = load_game("tictactoe").start()
    assert [minimax(start, depth).nodes for depth in range(4)] == [1, 10, 82, 586]
    assert minimax(start, 3).leaves == 504
    assert minimax(start, 0).value == minimax(start, 0).leaves - 1 == 0


def test_evaluation_stands_for_the_value_where_depth_ends():
    game = load_game("tictactoe")
    assert minimax(game.parse("5"), 0).value == -4  # four lines of the opponent
    assert minimax(game.start(), 1).value == 4
    assert alphabeta(game.start(), 1).value == 4


def test_quicker_wins_score_higher():
    game = load_game("tictactoe")
    assert minimax(game.parse("1425"), 1).value == WIN - 1
    assert alphabeta(game.parse("1425"), 3).value == WIN - 1
    assert minimax(game.parse("1425"), 3, soonest=False).value == WIN


def test_end_of_the_game_comes_before_the_depth():
    over = load_game("tictactoe").parse("14253")
    assert [minimax(over, depth).value for depth in (0, 1, None)] == [-WIN, -WIN, -1]
    assert minimax(over).nodes == alphabeta(over).nodes == 1


@pytest.mark.parametrize("name", ["tictactoe", "connect4", "connect4:4x4"])
@pytest.mark.parametrize("depth", range(5))
def test_alphabeta_is_minimax(name, depth):
    start = load_game(name).start()
    plain, pruned = minimax(start, depth), alphabeta(start, depth)
    assert plain.value == pruned.value
    assert type(plain.value) is type(pruned.value) is int
    assert pruned.nodes <= plain.nodes


def test_players_who_move_again():
    start = boxes.start()
    if not jit_enabled():
        start = boxes.parse_position("aBcDEFg +0 1")
    assert minimax(start).value == alphabeta(start).value
    last = boxes.parse_position("ABCDEFg +1 1")  # the last line completes the second box
    assert minimax(last).value == 2


def test_chance_takes_the_expectation():
    # One step each: the player to move wins. Two steps: after a 1 the opponent wins.
    assert minimax(race.Position(1, 1, 0)).value == 100
    assert minimax(race.Position(2, 1, 0)).value == 0.25 * -100 + 0.75 * 100
    with pytest.raises(GameError, match="alpha-beta does not support games of chance"):
        alphabeta(race.Position())


def test_repetitions_are_draws():
    """If the players chase each other around the ring without leaping, neither is ever caught."""
    chase = duel.Position(0, 2, False)
    assert minimax(chase).value == alphabeta(chase).value == 0
    assert minimax(duel.Position()).value == alphabeta(duel.Position()).value


def test_lines_that_are_too_long(monkeypatch):
    monkeypatch.setattr(duel, "MAX_PLIES", 1)
    with pytest.raises(GameError, match="longer than MAX_PLIES = 1"):
        minimax(duel.parse_position("0 2"))


@pytest.mark.parametrize("count", [minimax, alphabeta, perft])
def test_depth_is_not_negative(count):
    with pytest.raises(CutnodeError, match="depth must be at least 0, got -1"):
        count(load_game("tictactoe").start(), -1)


def test_results_print():
    result = minimax(load_game("tictactoe").start(), 2)
    assert "82" in str(result)
