"""df-pn: values, games with cycles, limits, threads, choosing an engine."""

from __future__ import annotations

import gc
import weakref
from dataclasses import replace
from random import Random

import pytest
from marks import compiled_only
from nim import nim
from test_solver import end_of
from toys import circles

import cutnode
from cutnode import (
    CutnodeError,
    Engine,
    GameError,
    Table,
    ValueProof,
    analyse,
    legal_moves,
    load_game,
    solve,
    solve_many,
    write_proof,
)
from cutnode.contract.verbs import outcome, play
from cutnode.kernels.proof_numbers import keep_numbers, known_numbers
from cutnode.kernels.table import SOLVED, begin
from cutnode.search import game_solver
from cutnode.search.proof_numbers import Interval

pytestmark = pytest.mark.once


def positions_of(start, plies, count, seed=1):
    """Return unfinished positions of random games, after at most *plies* plies."""
    dice, found = Random(seed), []
    while len(found) < count:
        position = start
        for _ in range(dice.randrange(plies + 1)):
            if not outcome(position)[0]:
                position = play(position, dice.choice(legal_moves(position)))
        if not outcome(position)[0]:
            found.append(position)
    return found


# The parts


@pytest.mark.parametrize("bounds", [(-1, 1), (-5, 9), (-9, -2), (3, 8), (0, 1), (-1, 0)])
def test_questions_narrow_every_interval(bounds):
    interval = Interval(*bounds)
    asked = interval.target()
    assert interval.lower < asked <= interval.upper
    if interval.lower < 1 <= interval.upper:
        assert asked == 1  # first, the question who wins


@pytest.mark.parametrize("proof", [True, False])
@pytest.mark.parametrize("depends", [-1, 0, 3])
def test_answers_of_a_line_are_found_on_that_line_only(proof, depends):
    table = Table(1)
    begin(table.words, True)
    word, line = cutnode.Bits(12345), cutnode.Bits(777)
    answer = (0, SOLVED) if proof else (SOLVED, 0)
    keep_numbers(word, line, *answer, depends, 7, 1, table.words)
    assert known_numbers(word, line, table.words) == (True, *answer, depends)
    assert not known_numbers(word, cutnode.Bits(778), table.words)[0]
    assert not known_numbers(word, cutnode.Bits(0), table.words)[0]


# Values


@pytest.mark.parametrize("plain", [True, pytest.param(False, marks=compiled_only)])
def test_tictactoe(plain):
    game = load_game("tictactoe", plain=plain)
    for position in [game.start(), *positions_of(game.start(), 6, 20)]:
        result = solve(position, engine="pn")
        assert result.engine == "pn"
        assert result.value == solve(position).value
        assert end_of(position, result.pv) == result.value


@compiled_only
def test_plain_python_visits_the_same_nodes():
    found = [
        solve(load_game("tictactoe", plain=plain).start(), engine="pn") for plain in (True, False)
    ]
    assert found[0].nodes == found[1].nodes
    assert found[0].pv == found[1].pv


@pytest.mark.parametrize(
    ("name", "plies", "count"),
    [
        ("toys.boxes:3", 6, 5),  # extra turns, and points
        ("toys.kayles", 4, 5),
        ("connect4:3x3", 4, 5),
        pytest.param("kalah:3x2", 6, 20, marks=pytest.mark.slow),
    ],
)
def test_values_and_lines(name, plies, count):
    for position in positions_of(load_game(name, plain=True).start(), plies, count):
        result = solve(position, engine="pn")
        assert result.value == solve(position).value
        assert end_of(position, result.pv) == result.value


@compiled_only
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "plies"),
    [
        pytest.param("connect4:5x4", 12, marks=pytest.mark.long),
        pytest.param("breakthrough:4x4", 8, marks=pytest.mark.long),
        pytest.param("kalah:3x3", 8, marks=pytest.mark.long),
    ],
)
def test_values_and_margins_are_those_of_alpha_beta(name, plies):
    positions = positions_of(load_game(name).start(), plies, 100)
    expected = [result.value for result in solve_many(positions)]
    # All in one table, which also stores the margins.
    assert [result.value for result in solve_many(positions, engine="pn")] == expected
    assert [solve(position, engine="pn").value for position in positions[:20]] == expected[:20]


FORCED = """
def moves(position, buffer, at):
    buffer[at] = 1
    buffer[at + 1] = 2
    return at + (1 if position.left % 4 == 3 else 2)

def outcome(position):
    return position.left < 1, -1

def forced(position):
    return 1 if position.left % 4 == 3 else 65535

def order(position, move, child):
    assert child == play(position, move)
    return move
"""


def test_order_is_asked_of_the_position_before_forced_replies(tmp_path):
    path = tmp_path / "forced_replies.py"
    path.write_text(nim(heap=17, most=2) + FORCED)
    start = load_game(str(path)).start()
    assert solve(start, engine="pn").value == solve(start).value == -1


# Games with cycles


def values_by_sweeps(successors):
    """Return the values of a graph's nodes: wins and losses in finitely many moves, else draws."""
    values = {node: 1 if node % 2 else -1 for node, edges in successors.items() if not edges}
    changed = True
    while changed:
        changed = False
        for node, edges in successors.items():
            if node not in values:
                children = [values.get(child) for child in edges]
                if -1 in children or set(children) == {1}:
                    values[node] = 1 if -1 in children else -1
                    changed = True
    return {node: values.get(node, 0) for node in successors}


@pytest.mark.parametrize("seed", range(60))
def test_repetition_is_a_draw(seed):
    """On random graphs with many cycles, a result for one line is never used for another."""
    dice = Random(seed)
    nodes = dice.randrange(4, 16)
    circles.GRAPH = {
        node: [] if dice.random() < 0.2 else dice.choices(range(nodes), k=dice.randrange(1, 4))
        for node in range(nodes)
    }
    circles.GRAPH = {node: sorted(set(edges)) for node, edges in circles.GRAPH.items()}
    values = values_by_sweeps(circles.GRAPH)
    table = Table(1)
    for node, value in values.items():
        position = circles.Position(node, seed)
        assert solve(position, engine="pn", table=table).value == value


@compiled_only
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "plies"),
    [
        pytest.param("toys.pursuit", 8, marks=pytest.mark.long),
        pytest.param("morris:three", 9, marks=pytest.mark.long),
        pytest.param("toys.quixo:3x3", 8, marks=pytest.mark.long),
    ],
)
def test_repetition_compiled(name, plies):
    for position in positions_of(load_game(name).start(), plies, 60, seed=2):
        value = solve(position).value
        result = solve(position, engine="pn", weak=True, nodes=3_000_000)
        assert result.value == (value > 0) - (value < 0)


# Every move, batches, engines


def test_analyse_gives_every_move():
    start = load_game("tictactoe").parse("152")
    found = analyse(start, engine="pn")
    assert found.scores == analyse(start).scores


def test_many_positions():
    positions = positions_of(load_game("tictactoe").start(), 6, 10)
    batch = solve_many(positions, engine="pn", cold=True)
    assert list(batch.values) == [result.value for result in solve_many(positions)]
    assert batch[0].engine == "pn"
    assert batch[0].nodes == batch.nodes[0] > 0


def test_an_engine_continues_with_its_table():
    start = load_game("tictactoe").start()
    with Engine(start) as mine:
        first = mine.solve(start, engine="pn")
        assert mine.solve(start, engine="pn").nodes < first.nodes


@pytest.mark.parametrize("name", ["tictactoe", "toys.kayles"])
def test_the_engine_that_proves_it_first_is_named(name):
    start = load_game(name, plain=True).start()
    result = solve(start, engine="auto")
    assert result.value == solve(start).value
    assert result.engine in ("alphabeta", "pn")
    assert "proved it with" in result.why
    assert result.to_dict()["why"] in str(result)


def test_engines_in_turn_lose_nothing(monkeypatch):
    """More nodes never widen the bounds, whichever engine has the last turn."""
    monkeypatch.setattr(game_solver, "TRIAL_NODES", 20)
    start = load_game("kalah:3x3", plain=True).start()
    value = solve(start).value
    lower, upper, last, asked = -99, 99, set(), set()
    for nodes in range(50, 1500, 100):
        result = solve(start, engine="auto", nodes=nodes)
        assert lower <= result.lower <= value <= result.upper <= upper
        lower, upper = result.lower, result.upper
        if not result.proven:
            last.add(result.engine)
            asked.add((result.engine, result.target is not None))
            assert result.best_move in legal_moves(start)
    assert last == {"alphabeta", "pn"}
    assert ("alphabeta", True) in asked
    assert result.value == value


# One question


@pytest.mark.parametrize("name", ["alphabeta", "pn", "auto"])
def test_is_the_value_at_least_so_much(name):
    start = load_game("kalah:3x2", plain=True).start()
    for position in [start, *positions_of(start, 4, 4)]:
        value = solve(position).value
        for asked in range(value - 2, value + 3):
            result = solve(position, engine=name, at_least=asked)
            assert result.answered and result.reason == "proven"
            assert (result.at_least, result.answer) == (asked, value >= asked)
            assert result.lower <= value <= result.upper
            if result.answer and not outcome(position)[0]:
                assert analyse(position).scores[result.best_move] >= asked


def test_an_open_question_has_a_name():
    start = load_game("kalah:3x3", plain=True).start()
    result = solve(start, engine="pn", at_least=3, nodes=100)
    assert (result.answer, result.answered, result.target) == (None, False, 3)
    proof, disproof = result.numbers
    assert "answer open: value >= 3" in str(result)
    assert f"open   value >= 3: proof number {proof:,}, disproof number {disproof:,}" in str(result)
    assert solve(start, at_least=3, nodes=20).answer is None
    assert "answer no: value >= 3" in str(solve(start, at_least=3))


def test_questions_where_play_goes_round():
    circles.GRAPH = {0: [1], 1: [0, 2], 2: []}
    start = circles.Position(0, -2)
    value = solve(start).value
    for name in ("alphabeta", "pn", "auto"):
        for asked in (-1, 0, 1):
            assert solve(start, engine=name, at_least=asked).answer == (value >= asked)


def test_questions_that_make_no_sense():
    start = load_game("connect4:3x3", plain=True).start()
    with pytest.raises(CutnodeError, match="weak and at_least exclude each other"):
        solve(start, at_least=1, weak=True)
    with pytest.raises(CutnodeError, match=r"at_least must be a whole number, got 0\.5"):
        solve(start, at_least=0.5)
    with pytest.raises(CutnodeError, match=r"values of connect4:3x3 are .*, got 33000"):
        solve(start, at_least=33_000)
    with pytest.raises(TypeError, match="there is no option 'at_least'"):
        analyse(start, at_least=1)
    with pytest.raises(GameError, match="has chance"):
        solve(load_game("toys.pig", plain=True).start(), at_least=1)


# Limits, threads, and what is refused


def test_limits_leave_bounds_numbers_and_a_move():
    start = load_game("tictactoe").start()
    result = solve(start, engine="pn", nodes=50, weak=True)
    assert (result.value, result.lower, result.upper) == (None, -1, 1)
    assert result.reason == "node limit"
    assert min(result.numbers) > 0
    assert result.best_move in legal_moves(start)
    assert "proof number" in str(result)
    assert result.nodes <= 52


def test_numbers_at_a_limit_are_those_of_now():
    """With a focus on one move, the root is not updated again before a stop."""
    start = load_game("kalah:3x3", plain=True).start()
    found = [solve(start, engine="pn", at_least=3, nodes=nodes) for nodes in (10, 100, 300)]
    assert [result.target for result in found] == [3, 3, 3]
    assert len({result.numbers for result in found}) > 1
    assert all(min(result.numbers) > 0 for result in found)


def test_a_limit_that_is_over_at_once_leaves_first_numbers_and_a_move():
    start = load_game("kalah:3x3", plain=True).start()
    result = solve(start, engine="pn", seconds=1e-9)
    assert (result.reason, result.target, result.numbers) == ("time limit", 1, (1, 4))
    assert result.best_move in legal_moves(start)
    assert result.nodes <= 2


@pytest.mark.parametrize(
    "seed", [*range(4), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(4, 8))]
)
def test_a_stopped_search_continues_with_its_table(seed):
    """It finds the right values, and the work of stopped searches saves nodes."""
    start = load_game("kalah:3x3", plain=True).start()
    (position,) = positions_of(start, 6, 1, seed)
    table, nodes, limit = Table(1), 0, Random(seed).randrange(5, 100)
    whole = solve(position, engine="pn")
    result = None
    while result is None or not result.proven:
        result = solve(position, engine="pn", table=table, nodes=limit)
        nodes += result.nodes
        limit *= 2
    assert result.value == whole.value
    assert result.nodes < whole.nodes or nodes == whole.nodes


@pytest.mark.parametrize(
    "seed", [*range(20), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(20, 60))]
)
def test_stops_where_play_goes_round_leave_nothing_that_is_wrong(seed):
    """No result for one line is stored for all lines, or loses its margin."""
    dice = Random(seed)
    nodes = dice.randrange(6, 24)
    circles.GRAPH = {
        node: []
        if dice.random() < 0.15
        else sorted(set(dice.choices(range(nodes), k=dice.randrange(1, 4))))
        for node in range(nodes)
    }
    values = values_by_sweeps(circles.GRAPH)
    table = Table(1)
    for limit in (2, 3, 5, 8, 13, 30, None):
        for node, value in values.items():
            position = circles.Position(node, seed)
            result = solve(position, engine="pn", table=table, weak=True, nodes=limit)
            assert result.lower <= value <= result.upper
    assert result.proven


@compiled_only
@pytest.mark.slow
def test_stopped_threads_continue_with_their_table():
    start = load_game("breakthrough:5x5").start()
    table = Table(64)
    numbers = set()
    for nodes in (20_000, 100_000, 300_000):
        result = solve(start, engine="pn", table=table, threads=2, nodes=nodes)
        numbers.add(result.numbers)
    assert len(numbers) > 1
    assert solve(start, engine="pn", table=table, threads=2).value == -1


@compiled_only
@pytest.mark.slow
def test_time_and_ctrl_c_end_a_proof(interrupt_soon):
    start = load_game("breakthrough:5x5").start()
    assert solve(start, engine="pn", seconds=0.01).reason == "time limit"
    interrupt_soon(True)
    result = analyse(start, engine="pn")
    assert result.reason == "interrupted"
    assert result.numbers is not None


@compiled_only
@pytest.mark.slow
@pytest.mark.parametrize(("threads", "mebibytes"), [(1, 1), (2, 64)])
def test_threads_and_small_tables_lose_no_proof(threads, mebibytes):
    """The second player wins on 5x5, as alpha-beta also finds."""
    start = load_game("breakthrough:5x5").start()
    result = solve(start, engine="pn", threads=threads, table=Table(mebibytes))
    assert result.value == -1
    assert end_of(start, result.pv) == -1


@pytest.mark.parametrize(("name", "engine"), [("tictactoe", "pn"), ("kayles:9", "sums")])
def test_the_table_is_given_back_at_once(name, engine):
    """It is large, and a collection of garbage may be long in coming."""
    start, table = load_game(name, plain=True).start(), Table(1)
    kept = weakref.ref(table)
    gc.disable()
    try:
        assert solve(start, engine=engine, nodes=3_000, table=table).engine == engine
        del table
        assert kept() is None
    finally:
        gc.enable()


def test_wrong_input():
    start = load_game("tictactoe").start()
    with pytest.raises(CutnodeError, match="must be one of alphabeta, pn, sums, auto, got 'df'"):
        solve(start, engine="df")
    with pytest.raises(GameError, match="has chance"):
        solve(load_game("toys.pig", plain=True).start(), engine="pn")


# Written proofs


@pytest.mark.parametrize(("claim", "answers"), [({"at_least": 0}, 50), ({"at_most": 0}, 50)])
def test_proofs_are_checked_by_the_rules(claim, answers):
    start = load_game("tictactoe").start()
    proof = write_proof(start, **claim)
    assert len(proof) > answers
    proof.verify()
    assert len(proof.to_dict()["answers"]) == len(proof)


def test_a_wrong_proof_is_found_out():
    start = load_game("tictactoe").start()
    proof = write_proof(start, at_least=0)
    first = proof.answers[start]
    missing = {met: move for met, move in proof.answers.items() if met == start}
    with pytest.raises(CutnodeError, match="there is no answer"):
        replace(proof, answers=missing).verify()
    with pytest.raises(CutnodeError, match="the answer is not a legal move"):
        replace(proof, answers=dict.fromkeys(proof.answers, first)).verify()
    with pytest.raises(CutnodeError, match="it is over, with 0 for the player, not 1"):
        replace(proof, least=1).verify()


def test_a_false_claim_has_no_proof():
    start = load_game("tictactoe").start()
    with pytest.raises(CutnodeError, match="the value is less than 1 at"):
        write_proof(start, at_least=1)
    with pytest.raises(CutnodeError, match="more than 3 positions"):
        write_proof(start, at_least=0, positions=3)
    with pytest.raises(CutnodeError, match="at_least or at_most"):
        write_proof(start)
    with pytest.raises(
        CutnodeError, match=r"no proof yet: node limit; at \.+/.* between -\d+ and "
    ):
        write_proof(start, at_least=0, nodes=20)
    with pytest.raises(CutnodeError, match=r"value >= 0: proof number \d+, disproof number \d+$"):
        write_proof(start, at_least=0, nodes=20)


def values_below(position, known):
    """Note the values of a position and everything reachable from it, by plain minimax."""
    if position not in known:
        over, value = outcome(position)
        children = [] if over else [play(position, move) for move in legal_moves(position)]
        known[position] = max((-values_below(child, known) for child in children), default=value)
    return known[position]


@compiled_only
@pytest.mark.parametrize("step", [23, pytest.param(1, marks=[pytest.mark.slow, pytest.mark.long])])
def test_true_claims_are_proven_and_no_others(step):
    """Every claim about positions of tic-tac-toe, including finished ones and impossible values."""
    known = {}
    values_below(load_game("tictactoe").start(), known)
    table = Table(1)
    for position, value in list(known.items())[::step]:
        for bound in range(-2, 3):
            for claim, true in (("at_least", value >= bound), ("at_most", value <= bound)):
                if true:
                    write_proof(position, table=table, **{claim: bound}).verify()
                    continue
                has = "less" if claim == "at_least" else "more"
                with pytest.raises(CutnodeError, match=f"the value is {has} than {bound} at "):
                    write_proof(position, table=table, **{claim: bound})


def test_a_line_that_comes_back_is_a_draw():
    circles.GRAPH = {0: [1], 1: [0, 2], 2: []}
    start = circles.Position(0, -1)
    write_proof(start, at_most=0).verify()
    with pytest.raises(GameError, match="has cycles, so no strategy"):
        write_proof(start, at_least=1)
    circles.GRAPH = {0: [1], 1: [0]}
    round_and_round = ValueProof(start, 1, True, {start: 1})
    with pytest.raises(CutnodeError, match="play can repeat it, with 0"):
        round_and_round.verify()
