"""The solver of sums: values, nimbers, outcome classes, limits, threads, and unsuitable games."""

from __future__ import annotations

import sys

import pytest
from marks import compiled_only
from test_proof_numbers import positions_of

import cutnode
from cutnode import GameError, Table, load_game, solve, write_proof
from cutnode.contract.derived import legal_moves
from cutnode.contract.verbs import outcome, play, swapped
from cutnode.search.game_solver import GameSolver

pytestmark = pytest.mark.once

GAMES = ["clobber:3x4", "cram:4x4", "nogo:3x3", "kayles:9", "toads:3,3,2"]


def start(name):
    """Return the first position of a game by name, with its rules in plain Python."""
    return load_game(name, plain=True).start()


def random_positions(name, count):
    """Return positions of random games, some of them in several parts."""
    return positions_of(start(name), 6, count, seed=48)


# Answers


@pytest.mark.parametrize("name", GAMES)
def test_agrees_with_the_search_of_whole_positions(name):
    table, whole = Table(8), Table(8)
    for position in random_positions(name, 6):
        result = solve(position, table=table)
        assert result.engine == "sums"
        assert result.value == solve(position, engine="alphabeta", table=whole).value
        for move, score in cutnode.analyse(position, table=table).scores.items():
            child = play(position, move)
            value = -1 if outcome(child)[0] else solve(child, engine="alphabeta").value
            assert score == -value


@pytest.mark.parametrize("name", GAMES)
def test_lines_are_best_play(name):
    for position in random_positions(name, 6):
        result = solve(position)
        for move in result.pv:
            assert move in legal_moves(position)
            position = play(position, move)
        assert outcome(position)[0]
        assert len(result.pv) % 2 == (result.value == 1)  # the loser is the one who cannot move


def test_outcome_classes():
    for position in random_positions("toads:3,3,2", 12):
        first = solve(position, engine="alphabeta").value
        other = swapped(position)
        second = -1 if outcome(other)[0] else solve(other, engine="alphabeta").value
        expected = {(1, 1): "N", (1, -1): "L", (-1, 1): "R", (-1, -1): "P"}[first, second]
        assert solve(position).outcome_class == expected


KAYLES = [0, 1, 2, 3, 1, 4, 3, 2, 1, 4, 2, 6, 4, 1, 2, 7, 1, 4, 3, 2, 1, 4, 6]
"""Nimbers of rows of 0 to 22 pins ("Winning Ways", chapter 4)."""


def row(*pins):
    """Return rows of pins with gaps between them."""
    text = ".".join("|" * count for count in pins)
    return load_game("kayles:22", plain=True).parse(text.ljust(22, "."))


def test_nimbers():
    for pins in range(1, len(KAYLES)):
        result = solve(row(pins))
        assert result.nimber == KAYLES[pins]
        assert result.outcome_class == "N"


def test_nimbers_of_parts_are_added(monkeypatch):
    monkeypatch.setattr("cutnode.search.sums.FORM_CELLS", 0)  # search them all
    result = solve(row(6, 6))
    assert (result.value, result.nimber) == (-1, 0)
    assert solve(row(5, 7)).nimber == KAYLES[5] ^ KAYLES[7] == 6


@compiled_only
def test_published_outcomes():
    assert solve("clobber:4x5").outcome_class == "N"


@compiled_only
@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 2])
def test_a_published_nimber(threads):
    assert solve("cram:5x6", threads=threads, table=16).nimber == 2


# Options


def test_is_the_engine_of_games_with_parts():
    assert solve(start("cram:3x3"), engine="auto").engine == "sums"
    assert solve(start("cram:3x3"), engine="pn").engine == "pn"
    assert solve(start("cram:3x3"), engine="alphabeta").engine == "alphabeta"
    with pytest.raises(GameError, match="engine=sums needs a game that defines parts; tictactoe"):
        solve("tictactoe", engine="sums")


def test_weak_proofs_and_questions_are_only_of_the_winner():
    weak = solve(start("cram:3x4"), weak=True)
    assert (weak.value, weak.outcome_class, weak.nimber) == (1, None, None)
    asked = solve(start("cram:3x4"), at_least=1)
    assert asked.answer and asked.outcome_class is None
    assert not solve(start("cram:3x3"), at_least=1).answer


@compiled_only
def test_a_table_continues_a_search():
    table = Table(16)
    first = solve("clobber:4x5", nodes=2_000, table=table)
    assert first.value is None and first.reason == "node limit" and first.nodes <= 2_001
    assert first.numbers is not None and first.best_move is not None
    fresh = solve("clobber:4x5")
    assert solve("clobber:4x5").nodes == fresh.nodes
    assert solve("clobber:4x5", table=table).nodes < fresh.nodes


@compiled_only
def test_threads_find_the_same_value():
    result = solve("clobber:4x5", threads=2, table=16)
    assert (result.value, result.outcome_class) == (1, "N")


def test_batches():
    positions = random_positions("cram:4x4", 5)
    values = [solve(position).value for position in positions]
    assert [result.value for result in cutnode.solve_many(positions)] == values


def test_proofs_have_ordinary_moves():
    position = start("clobber:3x4")
    proof = write_proof(position, at_most=-1)
    proof.verify()
    assert len(proof.answers) > 1


def test_progress_and_stops():
    solver = GameSolver(type(start("cram:3x4")), Table(1))
    solver.prepare()
    solver.stop()
    assert solver.progress() == (0, None, None)


# Rules that are no sums


@pytest.fixture
def game():
    """Return a function that makes a plain game with some rules more, and returns its start."""
    module = load_game("kayles:9", plain=True)
    position = module.start()
    rules = sys.modules[type(position).__module__]
    kept = dict(vars(rules))

    def make(**changes):
        vars(rules).update(changes)
        return position

    yield make
    vars(rules).clear()
    vars(rules).update(kept)


@pytest.mark.parametrize("verb", ["turn", "reversible", "drawn", "settled"])
def test_refuses_what_is_no_sum(game, verb):
    with pytest.raises(GameError, match=f"defines parts and {verb}: sums need normal play"):
        solve(game(**{verb: lambda *arguments: 0}))


def test_refuses_scores(game):
    with pytest.raises(GameError, match="VALUE_LIMIT must be 1, got 2: whoever cannot move loses"):
        solve(game(VALUE_LIMIT=2))
