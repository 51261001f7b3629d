"""First answers: small questions answered as plain Python before their game is compiled."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from dataclasses import replace

import pytest
from marks import LONG, compiled_only
from test_interpreted import random_positions

import cutnode
from cutnode import ContractError, Searcher, load_game
from cutnode.compiler import rules
from cutnode.contract.dispatch import VERBS
from cutnode.contract.verbs import outcome
from cutnode.runtime.running import Limits
from cutnode.search import tiers
from cutnode.search.loops import has_loops
from cutnode.search.solving import Goal, Resources, Solver
from cutnode.storage.tables import Table

pytestmark = compiled_only

NIM = """
from typing import NamedTuple
from cutnode import compiled

MOST = {most}

class Position(NamedTuple):
    left: int = MOST

@compiled
def moves(position, buffer, at):
    for count in range(1, min(position.left, 3) + 1):
        buffer[at] = count
        at += 1
    return at

@compiled
def play(position, move):
    return Position(position.left - move)

@compiled
def outcome(position):
    return position.left == 0, -1 if position.left == 0 else 0

@compiled
def evaluate(position):
    return 10 if position.left % 4 else -10
"""


@pytest.fixture
def on(monkeypatch):
    """Switch first answers on, for classes that have not been searched."""
    monkeypatch.setenv("CUTNODE_TIERS", "1")


@pytest.fixture
def fresh(on, tmp_path):
    """A function that returns the start of a game that has never been compiled."""

    def make(text=NIM, most=21):
        path = tmp_path / f"game{len(list(tmp_path.iterdir()))}.py"
        path.write_text(text.replace("{most}", str(most)))
        return load_game(path).start()

    return make


def found(result):
    """Return all that a result says, except for its times and whether it was compiled."""
    names = set(result.__dataclass_fields__) - {"seconds", "compiled"}
    facts = {name: getattr(result, name) for name in names}
    if "statistics" in facts:
        facts["statistics"] = replace(facts["statistics"], seconds=0.0)
        facts["iterations"] = [replace(each, seconds=0.0) for each in facts["iterations"]]
    return facts


def compiled_answer(monkeypatch, call, *args, **options):
    with monkeypatch.context() as patch:
        patch.setenv("CUTNODE_TIERS", "0")
        result = call(*args, **options)
    assert result.compiled
    return result


# Answers


@pytest.mark.parametrize(
    "options",
    [{}, {"weak": True}, {"at_least": 1}, {"nodes": 5}, {"seconds": 60}],
    ids=str,
)
def test_a_first_proof_is_the_compiled_one(fresh, monkeypatch, options):
    position = fresh()
    first = cutnode.solve(position, **options)
    assert not first.compiled
    assert found(first) == found(compiled_answer(monkeypatch, cutnode.solve, position, **options))


def test_a_first_analysis_is_the_compiled_one(fresh, monkeypatch):
    position = fresh()
    first = cutnode.analyse(position)
    assert not first.compiled
    assert found(first) == found(compiled_answer(monkeypatch, cutnode.analyse, position))


@pytest.mark.parametrize(
    "options",
    [
        {"depth": 6},
        {"depth": 6, "exact": True, "driver": "mtdf"},
        {"depth": 5, "lines": 2},
        {"depth": 5, "seed": 3},
        {"depth": 5, "moves": [1, 3]},
        {"nodes": 100},
        {"seconds": 60},
    ],
    ids=str,
)
def test_a_first_search_is_the_compiled_one(fresh, monkeypatch, options):
    position = fresh()
    first = cutnode.search(position, **options)
    assert not first.compiled
    assert found(first) == found(compiled_answer(monkeypatch, cutnode.search, position, **options))


def test_a_compiled_game_is_not_searched_as_plain_python(fresh, monkeypatch):
    position = fresh()
    compiled_answer(monkeypatch, cutnode.solve, position)
    assert cutnode.solve(position).compiled


def test_threads_get_first_answers_at_the_same_time(fresh):
    position = fresh(most=30)
    answers = []
    threads = [
        threading.Thread(target=lambda: answers.append(cutnode.search(position, depth=9)))
        for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [found(answer) for answer in answers] == [found(answers[0])] * 3


def test_what_takes_too_long_is_compiled(fresh, monkeypatch):
    position = fresh(most=200)
    monkeypatch.setattr(tiers, "PATIENCE", 1e-9)
    told = []
    result = cutnode.search(position, nodes=200_000, progress=lambda each: told.append(each.depth))
    assert result.compiled
    assert told == [each.depth for each in result.iterations]
    assert found(result) == found(
        compiled_answer(monkeypatch, cutnode.search, position, nodes=200_000)
    )


def test_time_in_plain_python_is_limited_in_all(fresh, monkeypatch):
    position = fresh()
    assert not cutnode.solve(position).compiled
    monkeypatch.setitem(tiers._spent, type(position), tiers.PATIENCE)
    assert cutnode.solve(position).compiled


def test_a_search_out_of_time_is_compiled(fresh):
    result = cutnode.search(fresh(most=200), seconds=1e-6)
    assert result.compiled
    assert result.reason == "time limit"


def test_a_stopped_search_returns(fresh):
    stop = threading.Event()
    stop.set()
    assert cutnode.search(fresh(), depth=5, stop=stop).reason == "stopped"


def test_an_error_in_a_callback_is_raised(fresh):
    def fail(iteration):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        cutnode.search(fresh(), depth=5, progress=fail)


def test_a_table_of_the_caller_is_filled_by_the_compiled_search(fresh):
    position = fresh()
    assert cutnode.solve(position, table=Table(1)).compiled
    assert not cutnode.search(position, depth=3, table=1).compiled
    assert cutnode.search(position, depth=3, table=Table(1)).compiled


def test_results_say_how_they_were_found(fresh):
    result = cutnode.solve(fresh())
    assert "as plain Python" in str(result)
    assert result.to_dict()["compiled"] is False


def test_commands_answer_first(on, tmp_path):
    path = tmp_path / "counters.py"
    path.write_text(NIM.replace("{most}", "20"))
    before = path.stat().st_mtime - 60
    os.utime(path, (before, before))
    environment = {**os.environ, "CUTNODE_CACHE": str(tmp_path / "cache")}
    for command in (["solve"], ["search", "--depth", "4"]):
        run = subprocess.run(
            [sys.executable, "-m", "cutnode", command[0], str(path), *command[1:], "--json"],
            capture_output=True,
            env=environment,
            text=True,
        )
        assert run.returncode == 0, run.stderr
        assert json.loads(run.stdout)["details"]["compiled"] is False
    kept = {file.name.partition("-")[0] for file in (tmp_path / "cache").rglob("*.code")}
    assert kept and all(name.startswith("cutnode.compiler.rules.") for name in kept)


# Rules that plain Python would read otherwise

WRAPPING = """
from typing import NamedTuple
from cutnode import Bits, compiled

MAX_MOVES = 4
MAX_PLIES = 12

class Position(NamedTuple):
    word: Bits = Bits(0x9E3779B97F4A7C15)
    number: int = 88172645463325252
    plies: int = 0

@compiled
def moves(position, buffer, at):
    for move in range(4):
        buffer[at] = move
        at += 1
    return at

@compiled
def play(position, move):
    word = position.word * Bits(0xBF58476D1CE4E5B9) + Bits(move)
    number = position.number * 6364136223846793005 + 1442695040888963407 * move
    return Position(word ^ (word >> Bits(29)), number ^ (number >> 17), position.plies + 1)

@compiled
def outcome(position):
    over = position.plies == 6
    value = (position.number >> 60) + top_bits(position)
    return over, value if over else 0

@compiled
def top_bits(position):
    return int(~position.word >> Bits(61)) - 3

@compiled
def key(position):
    return position.word ^ Bits(position.number)

@compiled
def evaluate(position):
    return (position.number << 3 >> 50) // 7 - popcount_of(position.word)

@compiled
def popcount_of(word):
    count = 0
    while word != 0:
        word &= word - 1
        count += 1
    return count
"""


def test_overflow_means_what_it_means_compiled(fresh, monkeypatch):
    position = fresh(WRAPPING)
    first = cutnode.solve(position)
    assert not first.compiled
    assert found(first) == found(compiled_answer(monkeypatch, cutnode.solve, position))
    position = fresh(WRAPPING)
    for depth in (1, 2):
        first = cutnode.search(position, depth=depth)
        assert not first.compiled
        other = compiled_answer(monkeypatch, cutnode.search, fresh(WRAPPING), depth=depth)
        assert first.lines == other.lines
        assert replace(first.statistics, seconds=0) == replace(other.statistics, seconds=0)


@pytest.mark.parametrize(
    ("rule", "returned"),
    [
        ("evaluate", "    return 1 << 40\n"),
        ("evaluate", "    return Bits(position.left)\n"),
        ("evaluate", "    return 0.5 * position.left\n"),
        ("key", "    return -position.left\n"),
    ],
)
def test_unusual_results_do_not_change_the_answer(fresh, monkeypatch, rule, returned):
    text = NIM.replace("import compiled", "import Bits, compiled").partition("@compiled\ndef eval")
    text = f"{text[0]}@compiled\ndef {rule}(position):\n{returned}"
    first, other = fresh(text), fresh(text)
    try:
        expected = compiled_answer(monkeypatch, cutnode.search, other, depth=4)
    except cutnode.CutnodeError as error:
        with pytest.raises(type(error)):
            cutnode.search(first, depth=4)
        return
    result = cutnode.search(first, depth=4)
    assert result.lines == expected.lines
    assert result.nodes == expected.nodes


def test_rules_that_do_not_compile_are_reported(fresh):
    position = fresh(NIM.replace("position.left - move", "position.left - len([move])"))
    with pytest.raises(ContractError, match="play"):
        cutnode.solve(position)


def test_rules_that_break_the_contract_are_reported(fresh):
    position = fresh(NIM.replace("-1 if position.left == 0", "-40000 if position.left == 0"))
    with pytest.raises(ContractError):
        cutnode.solve(position)


def test_every_verb_of_a_search_has_a_kernel():
    tuples = {"features", "planes", "opponent_planes"}
    for name in VERBS.keys() - tuples:
        assert rules._kernel(name).function.__name__ == name


# Every game, both ways


@pytest.mark.parametrize(
    "name",
    [
        "tictactoe",
        "toys.isola",
        *(pytest.param(name, marks=LONG) for name in cutnode.game_names() if name != "tictactoe"),
    ],
)
def test_games_search_the_same_both_ways(name):
    start = load_game(name).start()
    if cutnode.contract.dispatch.defines(type(start), "chance"):
        pytest.skip("games of chance have no first answers")
    for exact in (False, True):
        compiled = Searcher(start, exact=exact, table=1, evaluation="own")
        for position in random_positions(start, 30, 3, seed=name):
            for limits in ({"depth": 2}, {"depth": 3, "lines": 2}, {"nodes": 700}):
                compiled.clear()
                plain = Searcher(start, exact=exact, table=1, evaluation="own", interpreted=True)
                same = compiled.search(position, **limits), plain.search(position, **limits)
                assert found(same[0]) == found(same[1])
    if not has_loops(type(start)):
        prove_both_ways(start, name)


def prove_both_ways(start, name):
    cls = type(start)
    compiled = Solver(Resources(cls, Table(1)))
    for position in random_positions(start, 30, 3, seed=name):
        if outcome(position)[0]:
            continue
        for weak in (False, True):
            compiled.table.forget()
            plain = Solver(Resources(cls, Table(1), interpreted=True))
            goal = Goal(position, weak, scores=True)
            same = compiled.prove(goal, Limits(1500)), plain.prove(goal, Limits(1500))
            assert found(same[0]) == found(same[1])


EXPLODING = """
from typing import NamedTuple
from cutnode import Bits, compiled

MAX_MOVES = 200
MAX_PLIES = 60

class Position(NamedTuple):
    word: Bits = Bits(1)
    plies: int = 0

@compiled
def moves(position, buffer, at):
    for move in range(200):
        buffer[at] = move
        at += 1
    return at

@compiled
def noisy(position, buffer, at):
    return moves(position, buffer, at)

@compiled
def play(position, move):
    return Position(position.word ^ Bits(move + 1) << Bits(position.plies), position.plies + 1)

@compiled
def outcome(position):
    return position.plies == 60, 0

@compiled
def evaluate(position):
    return (position.word & 1023) % 63 - 30 - position.plies % 2 * 1000
"""


def test_the_time_limit_also_holds_within_a_depth(fresh, monkeypatch):
    position = fresh(EXPLODING)
    monkeypatch.setattr(tiers, "PATIENCE", 0.05)
    spent = []
    monkeypatch.setattr(tiers.FirstSearch, "__init__", timed(tiers.FirstSearch.__init__, spent))
    assert cutnode.search(position, depth=1, nodes=30_000).compiled
    assert cutnode.solve(fresh(EXPLODING), nodes=2_000).compiled
    assert all(nodes < 2_000 for nodes in spent)


def timed(init, spent):
    """Wrap a first search, and keep how many nodes it has visited."""

    def wrapped(self, *args, **options):
        made = []
        original = tiers.ProvingSearcher

        def keep(*args, **options):
            made.append(original(*args, **options))
            return made[-1]

        tiers.ProvingSearcher = keep
        try:
            init(self, *args, **options)
        finally:
            tiers.ProvingSearcher = original
        spent.append(made[0].nodes())

    return wrapped
