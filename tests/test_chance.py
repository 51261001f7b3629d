"""The search of games of chance: every set of techniques returns the score of plain minimax."""

from __future__ import annotations

import functools
import itertools
import json
import math
import pickle
import threading
from pathlib import Path
from random import Random

import numpy as np
import pytest
from commands import run_cutnode
from marks import compiled_only
from toys import gamble, race
from toys import pig as compiled_pig

from cutnode import (
    Evaluation,
    GameError,
    Searcher,
    Table,
    compiled,
    legal_moves,
    load_game,
    minimax,
    solve,
)
from cutnode.conformance import check
from cutnode.contract.bits import WORD, Bits, mix
from cutnode.contract.derived import is_free_move
from cutnode.contract.dispatch import value_limit
from cutnode.contract.errors import CutnodeError
from cutnode.contract.stop import DEPTH_IN
from cutnode.contract.verbs import NO_MOVE, canonical, chance, evaluate, moves_again, outcome, play
from cutnode.games import ur
from cutnode.kernels import chance_table as module
from cutnode.kernels.chance import chance_node, chance_root
from cutnode.kernels.table import (
    AGE,
    AGES,
    BUCKETS,
    COLD,
    HEADER_WORDS,
    depth_of,
    is_proven,
    move_of,
)
from cutnode.kernels.techniques import EXACT, REQUIRED, TECHNIQUES, choose, fits, leave_out
from cutnode.lab.ablation import ablation
from cutnode.lab.depths import depths

pig = load_game("toys.pig", plain=True).module


def some_gambles(cls, count, repeating=True):
    random = Random(2)
    graphs = [random.randrange(0, 99, 1 if repeating else 2) for _ in range(count)]
    return [cls(g, random.randrange(48), random.randrange(2), random.randrange(3)) for g in graphs]


POSITIONS = {
    "race": [race.Position(5, 5, 0), race.Position(5, 4, 2), race.Position(1, 3, 0), (2, 0, 0)],
    "pig": [(0, 0, 0, 0, False), (4, 6, 3, 1, True), (9, 6, 2, 0, False), (6, 9, 0, 1, False)],
    "gamble": some_gambles(gamble.Position, 12),
    "decisive": some_gambles(gamble.Decisive, 12),
}
POSITIONS["race"][3] = race.Position(2, 0, 0)
POSITIONS["pig"] = [compiled_pig.Position(*fields) for fields in POSITIONS["pig"]]

DEPTHS = {"turns": range(5), "actions": range(7)}
"""The depths to search; a turn is up to two actions, so its trees are larger."""

PARAMETERS = (
    "race",
    pytest.param("gamble", marks=pytest.mark.slow),
    *(
        pytest.param(name, marks=[pytest.mark.slow, pytest.mark.long])
        for name in ("pig", "decisive")
    ),
)


def same(a, b):
    return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9)


def sets_of(cls):
    """Return each technique alone, each left out, and random sets."""
    suited = [name for name in TECHNIQUES if name in EXACT and fits(cls, TECHNIQUES[name])]
    yield frozenset()
    for name in suited:
        yield frozenset({name} | REQUIRED.get(name, set()))
        yield leave_out(suited, [name])
    random = Random(1)
    for _ in range(10):
        out = [name for name in suited if random.random() < 0.4]
        yield leave_out(suited, out)


@compiled_only
@pytest.mark.parametrize("name", PARAMETERS)
def test_techniques_score_as_minimax(name):
    """One table serves all searches, so that entries of other sets and depths are found."""
    positions = POSITIONS[name]
    table = Table(1)
    wanted = {
        (position, depth, counted): minimax(
            position, depth, depth_in=counted[0], soonest=counted[1]
        ).value
        for position in positions
        for counted in itertools.product(DEPTH_IN, (True, False))
        for depth in DEPTHS[counted[0]]
    }
    for number, techniques in enumerate(sets_of(type(positions[0]))):
        depth_in, soonest = DEPTH_IN[number // 2 % 2], number % 3 > 0
        engine = Searcher(
            positions[0],
            table=table,
            techniques=techniques,
            exact=True,
            soonest=soonest,
            depth_in=depth_in,
            debug=number % 2 == 0,
        )
        for position in positions:
            for depth in DEPTHS[depth_in]:
                result = engine.search(position, depth=depth)
                context = sorted(techniques), position, depth, depth_in, soonest
                assert isinstance(result.value, float)
                assert same(result.value, wanted[position, depth, (depth_in, soonest)]), context
                assert result.exact
                if outcome(position)[0] or chance(position):
                    assert result.lines == ()
                elif name != "gamble" and depth > 0 and not (name == "decisive" and soonest):
                    child = play(position, result.best_move)
                    if is_free_move(position, result.best_move, child, 0, engine.turns):
                        continue
                    value = minimax(child, depth - 1, depth_in=depth_in, soonest=soonest).value
                    value = value if moves_again(position, child) else -value
                    repeating = name == "decisive" and position.graph % 2
                    assert repeating or same(value, result.value), context


@pytest.mark.slow
@compiled_only
def test_events_with_many_outcomes():
    """Events with more outcomes than the list holds, almost all of them impossible."""
    engine = Searcher(gamble.start(), table=1, exact=True)
    for position in (gamble.Position(99, 3, 0, 1), gamble.Position(299, 5, 1, 1)):
        for depth in range(3):
            found = engine.search(position, depth=depth)
            assert same(found.value, minimax(position, depth).value)
    assert found.statistics.star2_probes == 0


def test_scores_in_small():
    """Small scores, in plain Python as well."""
    engine = Searcher(race.Position(), table=1, exact=True)
    for position in (race.Position(), race.Position(2, 3, 1), race.Position(1, 1, 0)):
        for depth in range(4):
            found = engine.search(position, depth=depth).value
            assert same(found, minimax(position, depth).value)


def test_chance_keeps_the_count_of_free_moves():
    """In pig a first roll is free; the move after the roll costs depth, whoever makes it."""
    in_turns = minimax(pig.Position(), 1)
    in_actions = minimax(pig.Position(), 2, depth_in="actions")
    assert (in_turns.value, in_turns.nodes) == (in_actions.value, in_actions.nodes)
    for depth_in in DEPTH_IN:
        engine = Searcher(pig.Position(), table=1, exact=True, depth_in=depth_in)
        result = engine.search(pig.Position(), depth=1)
        assert same(result.value, minimax(pig.Position(), 1, depth_in=depth_in).value)
        assert same(result.value, in_turns.value) == (depth_in == "turns")


UR = (
    "7 *...--*. / ...*.... / 7 *...--*. light",
    "4 *.l.--l. / .d.l.... / 5 *.d.--*. light",
    "3 *l..--*. / ...d.l.. / 3 .d..--*. dark 2",
    "2 *...--l. / .l.d.... / 3 *d..--d. light",
)


@compiled
def hashed(position):
    """Return a pseudo-random evaluation, the same for equivalent positions."""
    word, _ = canonical(position)
    return int(mix(Bits(word)) % Bits(201)) - 100


def test_techniques_of_ur_score_as_minimax_in_plain_python():
    """A shipped game with chance, whose functions need not be compiled for this."""
    game, evaluation = load_game("ur", plain=True), Evaluation(hashed)
    positions = [game.parse(text) for text in UR[:2]]
    table = Table(1)

    @functools.cache
    def wanted(position, depth, **counted):
        return minimax(position, depth, evaluation=evaluation, **counted).value

    for number, techniques in enumerate(sets_of(type(positions[0]))):
        counted = {"depth_in": DEPTH_IN[number // 2 % 2], "soonest": number % 3 > 0}
        how = {"table": table, "techniques": techniques, "evaluation": evaluation, **counted}
        engine = Searcher(positions[0], exact=True, **how)
        for position in positions:
            for depth in range(3 if counted["depth_in"] == "actions" else 2):
                found = engine.search(position, depth=depth).value
                assert same(found, wanted(position, depth, **counted)), (sorted(techniques), depth)


@pytest.mark.slow
@pytest.mark.long
@compiled_only
@pytest.mark.parametrize("depth", [3, 4])
def test_star_techniques_save_nodes(depth):
    """In the toys, a Star2 probe is too large a part of a decision to save much."""
    everything = choose(ur.Position, None, exact=True)
    nodes = []
    for out in (["star1", "star2"], ["star2"], []):
        techniques = leave_out(everything, out)
        engine = Searcher(
            ur.Position, table=1, techniques=techniques, exact=True, depth_in="actions"
        )
        counts = []
        for position in map(ur.parse_position, UR):
            engine.clear()
            result = engine.search(position, depth=depth)
            assert same(result.value, minimax(position, depth, depth_in="actions").value)
            counts.append(result.statistics)
        nodes.append(sum(count.nodes for count in counts))
        for name in ("star1", "star2"):
            cutoffs = sum(getattr(count, f"{name}_cutoffs") for count in counts)
            assert (cutoffs > 0) == (name not in out)
    assert nodes[2] < nodes[1] < nodes[0]


@pytest.mark.slow
@pytest.mark.long
@compiled_only
def test_faster_mode_takes_deeper_entries():
    pig, table = compiled_pig, Table(4)
    shared = {"table": table, "depth_in": "actions"}
    exact, fast = (Searcher(pig.Position(), exact=exact, **shared) for exact in (True, False))
    assert (exact.exact, fast.exact) == (True, False)
    slow = exact.search(pig.Position(), depth=10)
    quick = fast.search(pig.Position(), depth=10)
    assert (slow.exact, quick.exact) == (True, False)
    assert quick.nodes < slow.nodes
    assert same(slow.value, minimax(pig.Position(), 10, depth_in="actions").value)
    again = exact.search(pig.Position(), depth=4)
    assert same(again.value, minimax(pig.Position(), 4, depth_in="actions").value)
    assert fast.search(pig.Position(), depth=4).value == quick.value


# Results


@pytest.fixture(scope="module")
def engine():
    return Searcher(pig.Position(), table=1, exact=True)


def test_statistics_add_up(engine):
    engine.clear()
    count = engine.search(pig.Position(), depth=4).statistics
    assert count.nodes == count.leaves + count.interior + count.table_cutoffs
    assert 0 < count.chance_nodes < count.interior
    assert count.star2_cutoffs <= count.star2_probes
    assert count.deepest >= 8
    assert 0 < count.fill < 1


def test_lines_end_where_chance_decides():
    engine = Searcher(pig.Position(), table=1, exact=True, depth_in="actions")
    result = engine.search(pig.Position(4, 2, 3, 0, False), depth=5, lines=5)
    assert sorted(line.move for line in result.lines) == [pig.HOLD, pig.ROLL]
    assert result.lines[0].value == result.value >= result.lines[1].value
    pv = {line.move: line.pv for line in result.lines}
    assert pv == {pig.ROLL: (pig.ROLL,), pig.HOLD: (pig.HOLD, pig.ROLL)}
    position = result.position
    for line in result.lines:
        child = play(position, line.move)
        value = minimax(child, 4, depth_in="actions").value
        assert same(line.value, value if moves_again(position, child) else -value)


def test_position_where_chance_decides(engine):
    engine.clear()
    position = pig.Position(4, 2, 3, 0, True)
    result = engine.search(position, depth=3, lines=2, seed=1)
    assert same(result.value, minimax(position, 3).value)
    assert (result.lines, result.best_move, result.pv) == ((), None, ())
    data = json.loads(json.dumps(result.to_dict()))
    assert (data["best_move"], data["lines"], data["value"]) == (None, [], result.value)
    assert [step["best_move"] for step in data["iterations"]] == [None, None]
    assert pickle.loads(pickle.dumps(result)) == result
    assert str(result).startswith(f"value  {result.value:.6g}  (estimated 3 plies deep)\ndepth  3")


def test_depth_of_nothing_is_the_estimate(engine):
    """This also holds at a chance node: the outcome is still undecided."""
    for rolling in (False, True):
        position = pig.Position(4, 2, 3, 1, rolling)
        result = engine.search(position, depth=0)
        assert result.value == minimax(position, 0).value == evaluate(position)
        assert result.best_move in ([None] if rolling else legal_moves(position))


def test_wins_are_proven(engine):
    engine.clear()
    result = engine.search(pig.Position(6, 9, 8, 0, False), depth=2)
    assert (result.value, result.proven) == (0.5, True)
    assert result.meaning() == "the game is over: the player to move has won"


@pytest.mark.slow
@compiled_only
def test_seed_chooses_among_equal_moves():
    engine = Searcher(gamble.start(), table=1, exact=True, depth_in="actions")

    def scores(position):
        children = [play(position, move) for move in legal_moves(position)]
        signs = [1 if moves_again(position, child) else -1 for child in children]
        return [s * minimax(child, 0).value for s, child in zip(signs, children, strict=True)]

    position = next(
        position
        for position in some_gambles(gamble.Position, 1000, repeating=False)
        if len(legal_moves(position)) > 1 and len(set(scores(position))) == 1
    )
    chosen = {engine.search(position, depth=1, seed=seed).best_move for seed in range(20)}
    assert chosen == set(legal_moves(position))


# Limits


@pytest.mark.long
@pytest.mark.slow
@compiled_only
def test_limits():
    pig = compiled_pig
    engine = Searcher(pig.Position(), table=1, techniques=("deepening", "order", "star1"))
    result = engine.search(pig.Position(), nodes=50_000)
    assert (result.reason, result.nodes <= 50_000, result.depth > 2) == ("node limit", True, True)
    assert same(result.value, minimax(pig.Position(), result.depth).value)
    result = engine.search(pig.Position(), seconds=0.5)
    assert (result.reason, result.depth > 2) == ("time limit", True)
    stop = threading.Event()
    stop.set()
    result = engine.search(pig.Position(4, 2, 3, 0, True), depth=20, stop=stop)
    assert (result.reason, result.depth, result.lines) == ("stopped", 0, ())
    assert same(result.value, minimax(result.position, 0).value)

    def end(iteration):
        if iteration.depth > 2:
            threading.Thread(target=engine.stop).start()

    assert engine.search(pig.Position(), depth=60, progress=end).reason == "stopped"


def test_same_limits_same_nodes(engine):
    found = []
    for _ in range(2):
        engine.clear()
        found.append(engine.search(pig.Position(), depth=4).nodes)
    assert found[0] == found[1]


# Errors


def test_techniques_that_need_null_windows_are_refused():
    for name in (
        "pvs",
        "aspiration",
        "late_move_reductions",
        "enhanced_cutoffs",
        "mate_distance",
        "quiescence",
    ):
        with pytest.raises(
            GameError, match=f"race has chance: a search with chance cannot use {name}"
        ):
            Searcher(race.Position(), techniques=[name, "deepening"])
    with pytest.raises(GameError, match=r"race has chance, which mtdf does not support"):
        Searcher(race.Position(), driver="mtdf")
    with pytest.raises(GameError, match=r"tictactoe does not allow star1"):
        choose(type(load_game("tictactoe").start()), ["star1"])
    with pytest.raises(CutnodeError, match=r"star2 makes no sense without star1, table"):
        choose(race.Position, ["star2"])
    with pytest.raises(GameError, match=r"tictactoe has no chance"):
        Searcher(load_game("tictactoe"), debug=True)


def test_a_limit_of_values_can_be_a_number_of_numpy(monkeypatch):
    monkeypatch.setattr(race, "VALUE_LIMIT", np.int64(39))
    assert value_limit(race.Position) == 39


@pytest.mark.parametrize("limit", [0, -1, 32001, "much", math.nan])
def test_invalid_limits_of_values(monkeypatch, limit):
    monkeypatch.setattr(race, "VALUE_LIMIT", limit)
    with pytest.raises(
        GameError, match=r"VALUE_LIMIT of toys.race must be a number above 0 and at most"
    ):
        value_limit(race.Position)


FAULTS = (
    ("0.25 if index == 0 else 0.75", "0.25 if index == 0 or position.mine == 2 else 0.75"),
    ("return over, -100 if over else 0", "return over, -(99 + position.mine) if over else 0"),
    (
        "return 10 * (position.theirs - position.mine)",
        "return math.nan if position.mine == 5 else 10.0 * (position.theirs - position.mine)",
    ),
    (
        "Position(position.mine, position.theirs, index + 1)",
        "Position(position.mine, position.theirs, 0 if position.mine == 3 else index + 1)",
    ),
    ("from typing", "import math\nfrom typing"),
)


@pytest.mark.parametrize(
    "plain", [True, pytest.param(False, marks=[pytest.mark.slow, pytest.mark.long])]
)
def test_debug_finds_what_breaks_the_contract(tmp_path, plain):
    source = Path(race.__file__).read_text()
    for rule, fault in FAULTS:
        assert source.count(rule) == 1, rule
        source = source.replace(rule, fault)
    path = tmp_path / "loaded.py"
    path.write_text(source)
    game = load_game(str(path), plain=plain)
    engine = Searcher(game, debug=True, table=1)
    for text, depth, where, found in (
        ("2 1 0", 1, "2 1 0", "chance_outcome: probabilities must be 0 or more and sum to 1"),
        ("1 4 1", 1, "4 0 0", "outcome: the value must be from -100 to 100, got -103"),
        ("4 5 1", 1, "5 3 0", "evaluate must be from -100 to 100, got nan"),
        ("3 4 0", 1, "3 4 0", "play: the game is not over after 20 plies, or a turn does not end"),
    ):
        with pytest.raises(GameError) as error:
            engine.search(game.parse(text), depth=depth)
        assert f"breaks the contract at '{where}': {found}" in str(error.value)
    assert {finding.verb for finding in check(game, compile=False)} >= {"chance", "outcome"}


# The table


def words_of(buckets):
    words = np.zeros(HEADER_WORDS + 8 * buckets, np.uint64)
    words[COLD] = 1
    module.begin(words, False)
    return words


def test_entries_are_found_again():
    words = words_of(8)
    assert module.probe(words, Bits(7)).data == 0
    module.store(words, Bits(7), -0.25, 1.5, 3, 4, True)
    entry = module.probe(words, Bits(7))
    assert (entry.lower, entry.upper, move_of(entry.data)) == (-0.25, 1.5, 3)
    assert (depth_of(entry.data), is_proven(entry.data)) == (4, True)
    module.store(words, Bits(7), 0.125, 9.0, NO_MOVE, 4, True)
    entry = module.probe(words, Bits(7))
    assert (entry.lower, entry.upper, move_of(entry.data)) == (0.125, 1.5, 3)
    module.store(words, Bits(7), 1.0, 1.0, 2, 3, True)  # shallower: not stored
    assert module.probe(words, Bits(7)).lower == 0.125
    module.begin(words, False)
    module.store(words, Bits(7), 1.0, 1.0, 2, 3, True)  # stored in a later search
    assert module.probe(words, Bits(7)).lower == 1.0


def test_region_grows_and_ages_begin_again():
    words = words_of(64)
    words[BUCKETS] = 4
    keys = [Bits(mix(Bits(number))) for number in range(60)]
    for number, key in enumerate(keys):
        module.store(words, key, float(number), number + 0.5, number, 1, False)
    assert words[BUCKETS] == 64
    kept = [number for number, key in enumerate(keys) if module.probe(words, key).data != 0]
    assert len(kept) > 30
    for _ in range(AGES + 5):
        module.begin(words, False)
    assert words[AGE] < 10
    for number in kept:
        entry = module.probe(words, keys[number])
        assert (entry.lower, entry.upper) == (number, number + 0.5)
        assert (move_of(entry.data), entry.word < WORD) == (number, True)


def test_entries_of_another_form_are_cleared():
    table = Table(1)
    table.lay_out(module.ENTRY_WORDS)
    module.begin(table.words, False)
    module.store(table.words, Bits(7), 0.5, 0.5, 3, 4, True)
    table.lay_out(module.ENTRY_WORDS)
    assert module.probe(table.words, Bits(7)).lower == 0.5
    table.claim(race.Position)
    assert not table.words[HEADER_WORDS:].any()
    assert table.words[COLD] == 1


@pytest.mark.slow
@pytest.mark.long
def test_games_of_both_kinds_share_a_table():
    """Games with and without chance, and the solver, alternate with one table."""
    table = Table(1)
    small = load_game("tictactoe")
    engines = [Searcher(race.Position(), table=table, exact=True), Searcher(small, table=table)]
    for _ in range(2):
        for engine in engines:
            position = engine.cls(5, 5, 0) if engine.has_chance else small.parse("159")
            wanted = minimax(position, 2).value
            assert same(engine.search(position, depth=2).value, wanted)
            assert 0 <= table.fill() < 1
        assert solve(small.parse("159"), table=table).value == minimax(small.parse("159")).value


# On the command line


def test_command_line():
    shared = "--exact", "--table-mb", 1
    result = run_cutnode("search", "toys.race", "5 4 2", "--depth", 2, "--debug", *shared)
    value = minimax(race.Position(5, 4, 2), 2).value
    assert f"value  {value:.6g}  (estimated 2 plies deep)\nbest   2\n" in result.output
    result = run_cutnode("search", "toys.race", "5 4 0", "--depth", 2, "--json", *shared)
    data = json.loads(result.output)
    assert same(data["value"], minimax(race.Position(5, 4, 0), 2).value)
    assert (data["move"], data["moves"]) == (None, [])
    result = run_cutnode("search", "tictactoe", "--depth", 1, "--debug")
    assert (result.exit_code, "has no chance" in result.output) == (2, True)


@compiled_only
@pytest.mark.parametrize("text", ["5 4 2", "5 4 0"])
def test_experiments(text):
    """The laboratory accepts games of chance, even at a chance node."""
    position = race.parse_position(text)
    study = ablation([position], 3, exact=True, runs=1)
    rows = {row["step"]: row for row in study.rows}
    assert "alpha-beta" not in rows and "+ star2" in rows
    assert {row["value"] for row in study.rows} == {1.0}
    assert rows["search"]["fewer"] == 1
    table = depths([position], 3, exact=True, runs=1)
    assert same(table.rows[-1]["score"], minimax(position, 3).value)
    assert ("move" in table.rows[-1]) == (text == "5 4 2")


@compiled_only
def test_kernels_have_one_signature_for_a_position_class():
    """A second signature, by an untyped literal, would crash when loaded from the cache."""
    engine = Searcher(race.Position(), table=1)
    engine.search(race.Position(), depth=2)
    for kernel in (chance_node, chance_root):
        kernel.specialise(race.Position, engine.evaluation)
        classes = [signature[0] for signature in kernel.dispatcher.signatures]
        assert classes and len(set(classes)) == len(classes)
