"""The exact solver: values, best lines, limits, and reproducible node counts."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from commands import FROM_HERE, printed_by
from data import SETS, rows
from marks import compiled_only
from positions import GAME, LATE, SEARCHED
from toys import isola

import cutnode
from cutnode import (
    ContractError,
    Table,
    alphabeta,
    analyse,
    legal_moves,
    load_game,
    minimax,
    perft,
    search,
    solve,
    solve_many,
)
from cutnode.compiler.jit import jit_enabled
from cutnode.contract.verbs import moves_again, outcome, play
from cutnode.kernels.parameters import ENHANCED_PLIES, TABLE_PLIES
from cutnode.kernels.profiles import plies_for
from cutnode.kernels.solver import question
from cutnode.kernels.table import BUCKETS
from cutnode.runtime.running import Limits
from cutnode.search import game_solver
from cutnode.search.solving import LINE_FACTOR, SHORT_NODES, Goal, Resources, Solver

EASY, HARD = (
    [GAME.parse(text) for text, _ in rows(SETS / f"connect4_{name}.txt")[::100]]
    for name in ("L3_R1", "L2_R1")
)


def end_of(position, line):
    """Return the value at the end of a line of play, for the mover of *position*."""
    same = True
    for move in line:
        assert move in legal_moves(position)
        child = play(position, move)
        same = same == moves_again(position, child)
        position = child
    over, value = outcome(position)
    assert over
    return value if same else -value


# The parts


@pytest.mark.parametrize("near", [0, 1, 5, 64000])
def test_questions_narrow_every_interval(near):
    """Whatever the question, each answer narrows the interval."""
    for lower in range(-12, 12):
        for upper in range(lower + 1, 13):
            for guess in range(lower, upper + 1):
                assert lower < question(lower, upper, guess, near) <= upper


@pytest.mark.parametrize(
    ("game", "plies"),
    [("connect4", (10, 15)), ("connect4:9x6", (9, 14)), ("toys.kayles", (5, 8)), ("ur", (10, 15))],
)
def test_table_is_used_where_the_work_is(game, plies):
    """The more moves a position may have, the fewer plies it takes for the same number of lines."""
    cls = type(load_game(game).start())
    assert tuple(plies_for(cls, usual) for usual in (TABLE_PLIES, ENHANCED_PLIES)) == plies


# Values


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("", True),
        pytest.param("", False, marks=[pytest.mark.slow, pytest.mark.long]),
        pytest.param("3", False, marks=pytest.mark.slow),
    ],
)
def test_extra_turns(name, plain):
    """Dots and boxes: a player who completes a box moves again."""
    start = load_game(f"toys.boxes:{name}", plain=plain).start()
    result = analyse(start)
    assert result.value == minimax(start).value
    assert max(result.scores.values()) == result.value
    assert end_of(start, result.pv) == result.value


@pytest.mark.long
@pytest.mark.slow
def test_turns_of_two_actions():
    start = isola.Position()
    value = analyse(start).value if jit_enabled() else None
    for move in legal_moves(start)[:2]:
        child = play(start, move)
        assert moves_again(start, child)
        if jit_enabled():
            assert solve(child).value == minimax(child).value <= value


@compiled_only
def test_lines_lead_to_the_value():
    for position in EASY + HARD:
        result = solve(position)
        assert result.proven and result.lower == result.upper == result.value
        assert result.best_move == result.pv[0]
        assert result.depth == len(result.pv)
        assert end_of(position, result.pv) == result.value


@compiled_only
def test_scores_are_those_of_the_children():
    for position in EASY[:5] + HARD[:5]:
        result = analyse(position)
        assert list(result.scores) == legal_moves(position)
        for move, score in result.scores.items():
            assert score == -solve(play(position, move)).value
        assert max(result.scores.values()) == result.scores[result.best_move] == result.value


@compiled_only
def test_weak_values_are_signs():
    for position in EASY + HARD:
        exact, weak = solve(position), solve(position, weak=True)
        assert weak.value == (exact.value > 0) - (exact.value < 0)
        assert weak.lower == weak.upper == weak.value
        assert (end_of(position, weak.pv) > 0) == (weak.value > 0)
    total = solve_many(HARD, cold=True).nodes.sum()
    assert solve_many(HARD, cold=True, weak=True).nodes.sum() < total


def test_finished_positions():
    over = GAME.parse("1212121")
    result = analyse(over)
    assert (result.value, result.best_move, result.pv, result.scores) == (-18, None, (), {})
    assert (result.nodes, result.reason) == (0, "proven")


def test_positions_that_bounds_decide():
    result = solve(GAME.parse("121212"))
    assert (result.value, result.nodes) == (18, 0)
    assert result.pv == (0,)


# Reproducible node counts


@compiled_only
@pytest.mark.slow
def test_the_limit_of_a_turn_is_none_of_the_line(monkeypatch):
    """Where engines take turns, the one that has a proof finds its whole line."""
    monkeypatch.setattr(game_solver, "TRIAL_NODES", SHORT_NODES + 1)
    position = load_game("breakthrough:5x5").parse("ooooo/xoo.o/...../x.oxx/xxxxx x")
    result = solve(position, engine="auto")
    assert end_of(position, result.pv) == result.value


def test_a_limit_of_nodes_holds_for_the_line_too():
    """Where bounds already say who wins, finding the line can be all the work."""
    game = load_game("breakthrough", plain=True)
    position = game.parse(
        "ooo.oo.o/.......o/.oo..o../...xx..o/xxo.o.ox/.xxo...x/.xxxx.xx/......x. o"
    )
    solver = Solver(Resources(type(position), Table(1)))
    result = solver.prove(Goal(position, weak=False), Limits(1_000))
    assert (result.value, result.nodes, result.reason) == (1, 0, "proven")
    assert 1_000 < solver.memories[0]["nodes"] <= LINE_FACTOR * 1_000


def test_nodes_are_the_same_every_time():
    first = solve(SEARCHED)
    assert first.nodes > 50
    for table in (None, Table(1), Table(64)):
        assert solve(SEARCHED, table=table).nodes == first.nodes
    whole = analyse(SEARCHED)
    assert whole.nodes == analyse(SEARCHED).nodes > first.nodes  # with the other moves


@compiled_only
def test_cold_batch_is_many_single_solves():
    alone = [solve(position, table=Table(1)).nodes for position in EASY + HARD]
    table = Table(1)
    for _ in range(2):
        batch = solve_many(EASY + HARD, table=table, cold=True)
        assert batch.nodes.tolist() == alone
    by_two = solve_many(EASY + HARD, table=Table(2), cold=True, threads=2)
    assert by_two.nodes.tolist() == alone
    with_lines = solve_many(EASY + HARD, table=table, cold=True, lines=True)
    assert with_lines.nodes.tolist() == alone


@compiled_only
def test_used_table_saves_work():
    table = Table(16)
    first = solve(SEARCHED, table=table)
    again = solve(SEARCHED, table=table)
    assert again.value == first.value
    assert again.nodes < first.nodes / 10
    table.forget()
    assert solve(SEARCHED, table=table).nodes == first.nodes


@pytest.mark.once
@pytest.mark.skipif(not jit_enabled(), reason="is the other half of the comparison")
def test_plain_python_visits_the_same_nodes():
    """The same functions, uncompiled, search the same tree."""
    program = (
        "from cutnode import *\n"
        "from cutnode.compiler.jit import jit_enabled\n"
        "assert not jit_enabled()\n"
        "game = load_game('connect4')\n"
        "print(*(r.nodes for r in map(analyse, map(game.parse, "
        "('52677675164321472411331752454', '2252576253462244111563365343671351441')))),\n"
        "    solve(load_game('tictactoe').parse('5')).nodes,\n"
        "    search(game.start(), depth=4).nodes, search(game.start(), depth=3, exact=True).nodes)"
    )
    plain = printed_by(program, NUMBA_DISABLE_JIT="1")
    corner = solve(load_game("tictactoe").parse("5"))
    assert list(map(int, plain.split())) == [
        analyse(SEARCHED).nodes,
        analyse(LATE).nodes,
        corner.nodes,
        search(GAME.start(), depth=4).nodes,
        search(GAME.start(), depth=3, exact=True).nodes,
    ]


def test_table_of_another_board_is_forgotten():
    """Exact keys of different boards coincide."""
    table = Table(1)
    late = load_game("tictactoe").parse("1234")
    for position in (SEARCHED, late, SEARCHED):
        assert solve(position, table=table).nodes == solve(position, table=Table(1)).nodes


@compiled_only
def test_small_table_is_enough_for_the_truth():
    position = GAME.parse("12345671")
    small, large = solve(position, table=Table(1)), solve(position, table=Table(64))
    assert small.value == large.value == 0
    assert small.table.overwrites > large.table.overwrites
    assert small.nodes > large.nodes


@compiled_only
@pytest.mark.parametrize("threads", [2, 3])
def test_threads_find_the_same(threads):
    position = GAME.parse("274552224131661")
    result = analyse(position, table=Table(16), threads=threads)
    alone = analyse(position, table=Table(16))
    assert (result.value, result.scores) == (alone.value, alone.scores)
    assert end_of(position, result.pv) == 0


@compiled_only
def test_threads_come_back_for_a_larger_table(monkeypatch):
    monkeypatch.setattr(cutnode.search.solving, "LEAST_ROUND", 1 << 11)
    position = GAME.parse("257771314744")
    table, alone = Table(16), solve(position)
    assert alone.nodes > 20_000
    limited = solve(position, table=table, threads=2, nodes=10_001)
    assert (limited.reason, limited.value) == ("node limit", None)
    assert 9_990 < limited.nodes <= 10_001
    table.forget()
    together = solve(position, table=table, threads=2)
    assert (together.value, len(together.pv)) == (alone.value, len(alone.pv))


@compiled_only
@pytest.mark.parametrize(
    ("game", "text"),
    [
        ("connect4", "257771314744"),
        pytest.param(
            "othello",
            "--XXXXX--OOOXX-O-OOOXXOX-OXOXOXXOXXXOXXX--XOXOXX-XXXOOO--OOOOO-- X",
            marks=pytest.mark.slow,
        ),
    ],
    ids=["connect4", "othello"],
)
def test_threads_use_no_more_of_the_table(game, text):
    """Neither the threads of a proof nor the search before it open more than one thread needs."""
    position = load_game(game).parse(text)
    used = set()
    for threads in (1, 2):
        table = Table(16)
        solve(position, table=table, threads=threads)
        used.add(int(table.words[BUCKETS]))
        assert table.words[BUCKETS] < table.buckets
    assert len(used) == 1


@pytest.mark.slow
@pytest.mark.long
@compiled_only
def test_signature_of_the_search():
    """Nodes over the public sets; a change of the search shows here first."""
    root = Path(__file__).parent.parent / "benchmarks"
    environment = os.environ | FROM_HERE
    found = subprocess.run(
        [sys.executable, root / "signature.py"], env=environment, capture_output=True, text=True
    )
    assert found.returncode == 0, found.stdout + found.stderr
    kept = (root / "signature.txt").read_text().splitlines()
    assert set(kept) <= set(found.stdout.splitlines())


# Games that break the contract


@pytest.fixture
def edited(tmp_path):
    """A function that makes a game in its own file: the template with source text replaced."""

    def edited(name, old, new, compiled=False):
        source = Path(cutnode.__file__).with_name("cli").joinpath("template.py").read_text()
        assert old in source
        if not compiled:
            source = source.replace("@compiled\n", "")
        file = tmp_path / f"{name}.py"
        file.write_text(source.replace(old, new))
        return load_game(str(file))

    return edited


@pytest.mark.slow
@pytest.mark.long
def test_more_moves_than_the_game_said(edited):
    """No search writes outside its part of the stack, and none returns an answer."""
    game = edited("crowded_nim", "MAX_MOVES = HEAPS * MOST", "MAX_MOVES = 5", jit_enabled())
    start, end = game.start(), game.parse("1/2/2")
    crowded = r"crowded_nim breaks the contract at '3/5/7': moves wrote 15 moves, more than .* = 5"
    searches = [
        solve,
        lambda start: solve_many([end, start, end]),
        lambda start: search(start, depth=2),
        lambda start: alphabeta(start, 2),
        lambda start: minimax(start, 2),
        lambda start: perft(start, 1),
        legal_moves,
    ]
    for run in searches:
        with pytest.raises(ContractError, match=crowded):
            run(start)
    assert solve(end).value == 1
    assert len(legal_moves(end)) == 5


def test_no_moves_but_not_over(edited):
    game = edited("stuck_nim", "range(1, position[heap] + 1)", "range(1, position[heap])")
    for run in (solve, lambda start: minimax(start, 9)):
        with pytest.raises(ContractError, match="moves wrote no move, but the game is not over"):
            run(game.parse("1/2/2"))


def test_values_beyond_the_limit_of_the_game(edited):
    game = edited("dear_nim", "return over, -1 if", "return over, -3 if")
    with pytest.raises(
        ContractError, match="'0/0/0': outcome: the value must be from -1 to 1, got -3"
    ):
        solve(game.parse("1/2/3"))
    with pytest.raises(
        ContractError, match="'0/0/0': outcome: the value must be from -1 to 1, got -3"
    ):
        solve(game.parse("0/0/0"))


def test_nothing_better_than_a_win_is_looked_for(edited):
    position = "2/3/4"
    known = edited("known_nim", "VALUE_LIMIT = 1", "VALUE_LIMIT = 1")
    unknown = edited("unknown_nim", "VALUE_LIMIT = 1", "UNKNOWN_LIMIT = 1")
    with_limit, without = (solve(game.parse(position)) for game in (known, unknown))
    assert with_limit.value == without.value == 1
    assert with_limit.nodes < without.nodes
    assert (solve(known.start(), nodes=10).lower, solve(known.start(), nodes=10).upper) == (-1, 1)
