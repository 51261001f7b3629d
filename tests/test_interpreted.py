"""Games in plain Python: the same searches, node for node, and errors with their place."""

from __future__ import annotations

import linecache
import sys
from random import Random

import pytest
from toys import boxes, drops, duel, isola, race

import cutnode
from cutnode import (
    CutnodeError,
    GameError,
    Searcher,
    alphabeta,
    analyse,
    game_names,
    legal_moves,
    load_game,
    minimax,
    perft,
    solve,
    solve_many,
)
from cutnode.compiler.folding import folded
from cutnode.compiler.jit import jit_enabled
from cutnode.conformance import check
from cutnode.contract.dispatch import defines, is_plain
from cutnode.contract.numbering import MOST_KNOWN, Numbering
from cutnode.contract.verbs import chance, chance_outcome, outcome, play

compiled_too = pytest.mark.skipif(not jit_enabled(), reason="nothing is compiled")


def twin(game, position):
    """Return the same position in the other copy of its game."""
    return type(game.start())(*position)


def random_positions(position, plies, count, seed=0):
    """Return positions after random moves and chance outcomes."""
    random = Random(seed)
    found = []
    for _ in range(count):
        reached = position
        for _ in range(random.randrange(plies)):
            if outcome(reached)[0]:
                break
            if chance(reached):
                reached = chance_outcome(reached, random.randrange(chance(reached)))[1]
            else:
                reached = play(reached, random.choice(legal_moves(reached)))
        found.append(reached)
    return found


LATE = "223411432", "423434432", "331144131"

# Every game, both ways


def quickly(*names):
    """Return the shipped games, with marks for all but those named, which take long to compile."""
    long = [pytest.mark.slow, pytest.mark.long]
    return [pytest.param(name, marks=[] if name in names else long) for name in game_names()]


def both_ways(name, plain_search):
    """Compiled and plain searches of a game give the same results, nodes included."""
    compiled, plain = load_game(name), load_game(name, plain=True)
    assert is_plain(type(plain.start())) and not is_plain(type(compiled.start()))
    for position in random_positions(compiled.start(), 30, 4, seed=name):
        plain_search(position, twin(plain, position))


def same_counts(position, other):
    for depth in range(3):
        assert perft(position, depth) == perft(other, depth)
        a, b = minimax(position, depth), minimax(other, depth)
        assert (a.value, a.nodes, a.leaves) == (b.value, b.nodes, b.leaves)
        if not defines(type(position), "chance"):
            a, b = alphabeta(position, depth + 1), alphabeta(other, depth + 1)
            assert (a.value, a.nodes) == (b.value, b.nodes)


def same_searches(position, other):
    for exact in (True, False):
        a = Searcher(position, exact=exact, table=1).search(position, depth=3)
        b = Searcher(other, exact=exact, table=1).search(other, depth=3)
        assert a.lines == b.lines
        assert a.statistics.nodes == b.statistics.nodes
        assert a.statistics.table_cutoffs == b.statistics.table_cutoffs


@compiled_too
@pytest.mark.parametrize(
    "name",
    quickly("connect4", "tictactoe"),
)
def test_shipped_games_count_the_same_both_ways(name):
    both_ways(name, same_counts)


@compiled_too
@pytest.mark.parametrize(
    "name",
    quickly("connect4", "tictactoe"),
)
def test_shipped_games_search_the_same_both_ways(name):
    both_ways(name, same_searches)


@pytest.mark.slow
@pytest.mark.long
@compiled_too
@pytest.mark.parametrize(
    "name", ["tictactoe", pytest.param("connect4:4x4", marks=pytest.mark.slow)]
)
def test_games_solve_the_same_both_ways(name):
    compiled, plain = load_game(name), load_game(name, plain=True)
    late = [p for p in random_positions(compiled.start(), 12, 60) if not outcome(p)[0]][:12]
    for position in late:
        if sum(map(int.bit_count, map(int, position))) < 5:
            continue
        a, b = analyse(position), analyse(twin(plain, position))
        assert (a.value, a.best_move, a.scores, a.pv) == (b.value, b.best_move, b.scores, b.pv)
        assert (a.nodes, a.table) == (b.nodes, b.table)


@compiled_too
@pytest.mark.parametrize("toy", [boxes, duel, isola, race], ids=lambda toy: toy.__name__)
def test_toys_count_the_same_both_ways(toy):
    both_ways(toy.__name__, same_counts)


# A prototype


def test_a_prototype_keeps_to_the_contract():
    assert check(load_game("toys.drops"), games=1) == []


@compiled_too
@pytest.mark.slow
@pytest.mark.long
def test_a_prototype_has_the_values_of_the_compiled_game():
    game = load_game("connect4:4x4")
    for text in ("", "1", "2234114", *LATE):
        position, prototype = game.parse(text), drops.parse_position(text)
        assert perft(position, 4) == perft(prototype, 4)
        if text in LATE:
            a, b = analyse(position), analyse(prototype)
            assert (a.value, a.scores) == (b.value, b.scores)


def test_searches_of_a_prototype_agree():
    late = [drops.parse_position(text) for text in (*LATE, "2234114")]
    values = [minimax(position).value for position in late[:2]]
    assert [solve(position).value for position in late[:2]] == values
    assert solve_many(late[:2], lines=True).values.tolist() == values
    for position in late:
        for techniques in (None, ["table", "deepening"], ["killers", "history"], []):
            result = Searcher(position, exact=True, techniques=techniques).search(position, depth=4)
            assert result.value == minimax(position, 4).value
            assert result.best_move in legal_moves(position)
            assert [str(move + 1) for move in result.pv] == result.to_dict()["lines"][0]["pv"]


def test_limits_hold_for_prototypes():
    result = Searcher(drops.start()).search(drops.start(), nodes=300)
    assert result.reason == "node limit"
    assert result.nodes <= 301
    assert solve(drops.start(), nodes=200).reason == "node limit"
    assert Searcher(drops.start()).search(drops.start(), seconds=0.05).reason == "time limit"


def test_prototypes_run_on_one_thread():
    with pytest.raises(CutnodeError, match="runs on one thread"):
        solve(drops.start(), threads=2)
    with pytest.raises(CutnodeError, match="runs on one thread"):
        Searcher(drops.start(), threads=2)


def test_a_rule_defined_again_counts(monkeypatch):
    position = drops.parse_position(LATE[0])
    before = minimax(position, 1).value
    monkeypatch.setattr(drops, "evaluate", lambda position: 7)
    assert before != -7
    assert minimax(position, 1).value == -7


def test_failing_rules_say_where(monkeypatch):
    def broken(position, move):
        return drops.Board(position.columns[move].missing)

    monkeypatch.setattr(drops, "outcome", drops.outcome)
    broken.__code__ = broken.__code__.replace(co_filename=drops.__file__, co_name="play")
    monkeypatch.setattr(drops, "play", broken)
    message = r"toys.drops.play, line \d+, at '-': AttributeError: .*missing"
    with pytest.raises(GameError, match=message):
        minimax(drops.start(), 2)


# Finding


GAME = """
from cutnode import compiled
{position}

def start(variant=""):
    return {start}

{compiled}
def moves(position, buffer, at):
    return at

def play(position, move):
    return position

def outcome(position):
    return True, 0

def parse_position(text, variant=""):
    return start()

def position_text(position):
    return "-"

def parse_move(position, text):
    return 0

def move_text(position, move):
    return "-"
"""


def load_source(tmp_path, name, **parts):
    path = tmp_path / f"{name}.py"
    path.write_text(GAME.format(**{"position": "", "start": "''", "compiled": "", **parts}))
    return load_game(str(path))


@compiled_too
def test_positions_have_to_be_of_the_game(tmp_path):
    with pytest.raises(GameError, match="of class str from module builtins; the class must be"):
        load_source(tmp_path, "strings_game")


@compiled_too
def test_positions_have_to_be_immutable(tmp_path):
    with pytest.raises(GameError, match=r"unhashable type: 'Cells'.*NamedTuple or a frozen"):
        load_source(tmp_path, "lists_game", position="class Cells(list): pass", start="Cells()")


@compiled_too
def test_rules_are_compiled_all_or_none(tmp_path):
    with pytest.raises(GameError, match="only partly compiled: put @compiled before play, outcome"):
        load_source(
            tmp_path,
            "mixed_game",
            position="class Cells(tuple): pass",
            start="Cells()",
            compiled="@compiled",
        )


def test_plain_copies_are_apart():
    compiled, plain = load_game("tictactoe"), load_game("tictactoe", plain=True)
    assert compiled.module is not plain.module
    assert load_game("tictactoe", plain=True).module is plain.module
    assert sys.modules["cutnode.games.tictactoe_plain"] is plain.module
    assert cutnode.solve(plain.parse("xxo/oox/x..")).value == 0


# Numbers for positions without a key


@pytest.mark.parametrize(
    "other", ["limit = 3\n", "def unlike(a):\n    return 4\n", "while True:\n", "", "('''\n"]
)
def test_generated_functions_have_no_source(monkeypatch, other):
    # From 3.13 on, the text of ``python -c`` has the name that generated code has.
    monkeypatch.setitem(linecache.cache, "<string>", (len(other), None, [other], "<string>"))
    made: dict = {}
    exec("def generated(a):\n    return a + 1", made)
    assert folded(made["generated"], {}) is made["generated"].__code__


def test_folded_code_is_kept_for_equal_meanings(tmp_path):
    made = []
    for folder, answer in (("one", 1), ("one", 1), ("one", 2), ("other", 1)):
        path = tmp_path / folder / "named.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text("def called(a):\n    return answer(a) and a > 3\n")
        names: dict = {}
        exec(compile(path.read_text(), str(path), "exec"), names)
        names["answer"] = eval(f"lambda a: {answer}")
        made.append(folded(names["called"], names))
    one, again, two, other = made
    assert again is one and two is not one
    assert other.co_filename == str(tmp_path / "other" / "named.py")


def test_equal_positions_have_equal_numbers():
    number = Numbering(forgets=True)
    assert number(("a",)) == number(("a",)) != number(("b",))


def test_numbers_are_never_given_twice(monkeypatch):
    monkeypatch.setattr("cutnode.contract.numbering.MOST_KNOWN", 3)
    assert MOST_KNOWN > 3
    number = Numbering(forgets=True)
    assert [number(name) for name in "abcda"] == [1, 2, 3, 4, 5]
    number = Numbering(forgets=False)
    assert [number(name) for name in "abcda"] == [1, 2, 3, 4, 1]
