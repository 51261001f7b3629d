"""First answers: small questions answered as plain Python before their game is compiled."""

from __future__ import annotations

import functools
import json
import threading
from dataclasses import replace

import pytest
from commands import run_cutnode
from marks import LONG, compiled_only
from test_interpreted import random_positions, twin

import cutnode
from cutnode import ContractError, Searcher, load_game
from cutnode.compiler import rules
from cutnode.contract.dispatch import VERBS
from cutnode.contract.verbs import outcome
from cutnode.kernels.evaluation import OWN
from cutnode.runtime.running import Limits
from cutnode.search import tiers
from cutnode.search.loops import has_loops
from cutnode.search.options import ProofOptions, SearchOptions
from cutnode.search.proving_searcher import ProvingSearcher
from cutnode.search.solving import Goal, Resources, Solver
from cutnode.storage.tables import Table

pytestmark = compiled_only

NIM = """
from typing import NamedTuple
from cutnode import compiled

MOST = 21

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


def made(folder, text=NIM):
    """Return the start of a game that has never been compiled."""
    path = folder / f"game{len(list(folder.iterdir()))}.py"
    path.write_text(text)
    return load_game(path).start()


@pytest.fixture
def fresh(on, tmp_path):
    """A function that returns the start of a game that has never been compiled."""
    return functools.partial(made, tmp_path)


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

QUESTIONS = [
    (cutnode.solve, {}),
    (cutnode.solve, {"weak": True}),
    (cutnode.solve, {"at_least": 1}),
    (cutnode.solve, {"nodes": 5}),
    (cutnode.solve, {"seconds": 60}),
    (cutnode.analyse, {}),
    (cutnode.search, {"depth": 6}),
    (cutnode.search, {"depth": 6, "exact": True, "driver": "mtdf"}),
    (cutnode.search, {"depth": 5, "lines": 2}),
    (cutnode.search, {"depth": 5, "seed": 3}),
    (cutnode.search, {"depth": 5, "moves": [1, 3]}),
    (cutnode.search, {"nodes": 100}),
    (cutnode.search, {"seconds": 60}),
    (cutnode.search, {"depth": 3, "table": 1}),
]


class Answers:
    """A game, its first answers to all questions, and the answers of compiled searches."""

    def __init__(self, folder, monkeypatch):
        self.position = made(folder)
        self.filled = []
        """Whether the answers with a table of the caller, which come second, are compiled."""
        with monkeypatch.context() as patch:
            patch.setenv("CUTNODE_TIERS", "1")
            patch.setattr(tiers, "PATIENCE", 60)
            self.first = [call(self.position, **options) for call, options in QUESTIONS]
            for call, options in ((cutnode.solve, {}), (cutnode.search, {"depth": 3})):
                self.filled.append(call(self.position, table=Table(1), **options).compiled)
        self.compiled = [
            compiled_answer(monkeypatch, call, self.position, **options)
            for call, options in QUESTIONS
        ]


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """The answers about a game that all tests of this file share."""
    with pytest.MonkeyPatch.context() as patch:
        return Answers(tmp_path_factory.mktemp("games"), patch)


@pytest.fixture
def unready(answers, on, monkeypatch):
    """The start of the game of those answers, as if it were not compiled yet."""
    monkeypatch.setattr(tiers, "solver_is_ready", lambda cls: False)
    monkeypatch.setattr(tiers.search_root, "is_ready", lambda cls, evaluation: False)
    monkeypatch.setitem(tiers._spent, type(answers.position), 0.0)
    return answers.position


@pytest.mark.once
@pytest.mark.parametrize(
    "index", range(len(QUESTIONS)), ids=[f"{call.__name__}-{given}" for call, given in QUESTIONS]
)
def test_a_first_answer_is_the_compiled_one(answers, index):
    first = answers.first[index]
    assert not first.compiled
    assert found(first) == found(answers.compiled[index])


def test_a_compiled_game_is_not_searched_as_plain_python(answers, on):
    assert cutnode.solve(answers.position).compiled
    assert cutnode.search(answers.position, depth=2).compiled


def test_threads_get_first_answers_at_the_same_time(unready):
    answers = []
    threads = [
        threading.Thread(target=lambda: answers.append(cutnode.search(unready, depth=7)))
        for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [answer.compiled for answer in answers] == [False] * 3
    assert [found(answer) for answer in answers] == [found(answers[0])] * 3


def test_what_takes_too_long_is_compiled(unready, monkeypatch):
    position = unready._replace(left=200)
    monkeypatch.setattr(tiers, "PATIENCE", 1e-9)
    told = []
    result = cutnode.search(position, nodes=200_000, progress=lambda each: told.append(each.depth))
    assert result.compiled
    assert told == [each.depth for each in result.iterations]
    assert found(result) == found(
        compiled_answer(monkeypatch, cutnode.search, position, nodes=200_000)
    )


def test_time_in_plain_python_is_limited_in_all(unready, monkeypatch):
    assert not cutnode.solve(unready).compiled
    monkeypatch.setitem(tiers._spent, type(unready), tiers.PATIENCE)
    assert cutnode.solve(unready).compiled


def test_a_search_out_of_time_is_compiled(unready):
    result = cutnode.search(unready._replace(left=200), seconds=1e-6)
    assert result.compiled
    assert result.reason == "time limit"


def test_a_stopped_search_returns(unready):
    stop = threading.Event()
    stop.set()
    result = cutnode.search(unready, depth=5, stop=stop)
    assert (result.reason, result.compiled) == ("stopped", False)


def test_an_error_in_a_callback_is_raised(unready):
    def fail(iteration):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        cutnode.search(unready, depth=5, progress=fail)


def test_a_table_of_the_caller_is_filled_by_the_compiled_search(answers):
    assert answers.filled == [True, True]


def test_results_say_how_they_were_found(answers):
    result = answers.first[0]
    assert "as plain Python" in str(result)
    assert result.to_dict()["compiled"] is False


def test_commands_answer_first(on, tmp_path):
    path = tmp_path / "counters.py"
    path.write_text(NIM)
    for command in (["solve", path], ["search", path, "--depth", 4]):
        printed = run_cutnode(*command, "--json")
        assert printed.exit_code == 0, printed.output
        assert json.loads(printed.stdout)["details"]["compiled"] is False
    cls = type(load_game(path).start())
    assert not tiers.search_root.is_ready(cls, OWN)
    assert not tiers.solve_batch.is_ready(cls)


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
    return int(position.word) ^ position.number  # negative in half of all positions

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


@pytest.mark.once
def test_overflow_means_what_it_means_compiled(fresh, monkeypatch):
    position = fresh(WRAPPING)
    questions = [
        (cutnode.solve, {}),
        (cutnode.search, {"depth": 1}),
        (cutnode.search, {"depth": 2}),
    ]
    first = [call(position, **options) for call, options in questions]
    assert not any(each.compiled for each in first)
    for (call, options), each in zip(questions, first, strict=True):
        assert found(each) == found(compiled_answer(monkeypatch, call, position, **options))


@pytest.mark.parametrize("returned", ["1 << 40", "Bits(position.left)", "0.5 * position.left"])
def test_no_first_answer_comes_from_unusual_results(fresh, returned):
    """The compiled search reads them in its own way, or reports them."""
    text = NIM.replace("import compiled", "import Bits, compiled")
    assert "10 if position.left % 4 else -10" in text
    position = fresh(text.replace("10 if position.left % 4 else -10", returned))
    options = SearchOptions.of("search", {"depth": 4})
    assert tiers.FirstSearch(position, options, Table(1), {}).result is None


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


OFTEN = ["tictactoe", "connect4"]
"""Games of the quick and the slow tests; each other game compiles for long."""


@pytest.mark.parametrize(
    "name",
    [
        "tictactoe",
        pytest.param("connect4", marks=pytest.mark.slow),
        *(
            pytest.param(name, marks=LONG)
            for name in ("toys.isola", *cutnode.game_names())
            if name not in OFTEN
        ),
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


def test_compiled_rules_answer_as_in_plain_python():
    """Isolation has symmetries, and two moves in each turn."""
    game, plain = load_game("toys.isola"), load_game("toys.isola", plain=True)
    options = {"table": 1, "evaluation": "own"}
    for position in random_positions(game.start(), 30, 3, seed="isola"):
        first = Searcher(game, interpreted=True, **options).search(position, depth=3)
        other = Searcher(plain, **options).search(twin(plain, position), depth=3)
        assert first.lines == other.lines
        assert replace(first.statistics, seconds=0) == replace(other.statistics, seconds=0)
        first = Solver(Resources(type(position), Table(1), interpreted=True))
        other = Solver(Resources(type(plain.start()), Table(1)))
        answers = [
            solver.prove(Goal(where, weak=False, scores=True), Limits(1500))
            for solver, where in ((first, position), (other, twin(plain, position)))
        ]
        assert found(answers[0]) == found(answers[1])


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
    """No answer is made of them, though a depth or a proof would take much longer."""
    monkeypatch.setattr(tiers, "PATIENCE", 0.05)
    visited = []

    class Kept(ProvingSearcher):
        def run(self, *args):
            try:
                return super().run(*args)
            finally:
                visited.append(self.nodes())

    monkeypatch.setattr(tiers, "ProvingSearcher", Kept)
    options = SearchOptions.of("search", {"depth": 1, "nodes": 30_000})
    assert tiers.FirstSearch(fresh(EXPLODING), options, Table(1), {}).result is None
    assert 0 < visited[0] < 2_000
    options = ProofOptions(nodes=2_000)
    assert tiers.first_proof("solve", fresh(EXPLODING), options, Table(1)) is None
