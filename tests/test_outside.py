"""Techniques from outside the engine: user files with hooks that nodes call."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from commands import printed_by, run_cutnode
from marks import compiled_only
from toys.techniques import ideas

from cutnode import Engine, GameError, Parameter, Searcher, Technique, compiled, load_game, minimax
from cutnode.contract.errors import ContractError, CutnodeError
from cutnode.kernels.declarations import POINTS
from cutnode.kernels.hooks import (
    NodeInfo,
    change_depth,
    cut,
    decide,
    extend,
    plan,
    reduce,
    skip,
    skip_rest,
    with_tests,
)
from cutnode.kernels.profiles import profile_of
from cutnode.kernels.techniques import (
    OUTSIDE,
    TECHNIQUES,
    choose,
    every_technique,
    find_parameter,
    parameters_of,
    reference,
    register,
    technique_of,
)

GAME = "breakthrough:5x5"
SMALL = "breakthrough:4x4"
BASIC = ["table", "order", "history", "deepening", "pvs"]
IDEAS = [value for value in vars(ideas).values() if isinstance(value, Technique)]
FILE = Path(ideas.__file__)
BARE = FILE.parents[1] / "drops.py"
"""A game in plain Python."""


def searched(techniques, *, plain=True, depth=5, **options):
    """Return the result of a search, in plain Python to avoid compiling each set of hooks."""
    game = load_game(SMALL, plain=plain)
    searcher = Searcher(game, table=1, techniques=techniques, evaluation="own", **options)
    return searcher.search(game.start(), depth=depth)


# Effects of hooks


@pytest.mark.slow
def test_plain_python_visits_the_same_nodes():
    """Its counters count the same, too."""
    quick, plain = (searched([*BASIC, *IDEAS], plain=plain) for plain in (False, True))
    assert quick.nodes == plain.nodes
    assert quick.value == plain.value
    assert quick.statistics.counters == plain.statistics.counters
    assert quick.statistics.counters["observer.searched"] > 0


def test_exact_ones_keep_the_score_of_minimax():
    exact = [idea for idea in IDEAS if idea.exact]
    assert len(exact) > 1
    result = searched([..., *exact], exact=True)
    assert result.exact
    assert result.value == minimax(load_game(SMALL).start(), 5, evaluation="own").value
    assert result.statistics.counters["observer.searched"] > 50


def test_the_engines_own_techniques_can_be_written_with_hooks():
    """User-defined reverse futility pruning visits the same nodes as the built-in one."""
    inside = searched([*BASIC, "reverse_futility"], depth=7)
    outside = searched([*BASIC, ideas.far_above], depth=7)
    assert inside.statistics.reverse_cutoffs > 0
    assert (inside.nodes, inside.value) == (outside.nodes, outside.value)
    assert outside.nodes != searched(BASIC, depth=7).nodes


@pytest.mark.parametrize(
    ("idea", "counter"),
    [
        (ideas.multicut, "multicut.tests"),
        (ideas.forward_pruning, "forward_pruning.tests"),
        (ideas.history_pruning, "history_pruning.skipped"),
        (ideas.root_reductions, "root_reductions.reduced"),
        (ideas.confirmed, "confirmed.cuts"),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_selective_ones_are_at_work(idea, counter):
    eager = {"history_pruning.limit": 0} if idea is ideas.history_pruning else None
    result = searched([*BASIC, idea], depth=7, parameters=eager)
    without = searched(BASIC, depth=7)
    assert result.statistics.counters[counter] > 0
    assert result.nodes != without.nodes
    assert without.statistics.counters == {}
    assert not result.exact


@compiled_only
@pytest.mark.slow
def test_threads_count_together():
    game = load_game(SMALL)
    techniques = [*BASIC, *IDEAS]
    searcher = Searcher(game, table=1, threads=2, evaluation="own", techniques=techniques)
    result = searcher.search(game.start(), depth=12)
    assert result.statistics.counters["observer.searched"] > 100
    again = searcher.search(game.start(), depth=1)
    assert again.statistics.counters["observer.searched"] < 30


def test_memory_is_forgotten_with_what_the_search_learned():
    game = load_game(SMALL, plain=True)
    searcher = Searcher(game, table=1, techniques=["pvs", ideas.best_moves])
    first = searcher.search(game.start(), depth=4)
    assert max(searcher.words["best_moves_times"]) > 0
    searcher.clear()
    assert max(searcher.words["best_moves_times"]) == 0
    assert searcher.search(game.start(), depth=4).nodes == first.nodes


def test_a_parameter_changes_what_its_technique_does():
    techniques = [*BASIC, ideas.multicut]
    eager = searched(techniques, depth=6, parameters={"multicut.cuts": 1})
    assert searched(techniques, depth=6).nodes != eager.nodes


def test_engine_takes_them():
    game = load_game(SMALL, plain=True)
    engine = Engine(game, techniques=[..., ideas.observer], parameters={"lmr.base": 1})
    assert engine.search(game.start(), depth=3).statistics.counters


def test_a_plan_and_a_decision_are_values():
    wanted = change_depth(with_tests(plan(), 3, 2, 10), -1)
    assert (wanted.tests, wanted.depth, wanted.bound, wanted.change) == (3, 2, 10, -1)
    assert cut(7).cuts
    assert cut(7).score == 7
    decision = extend(reduce(decide(), 2), 1)
    assert (decision.action, decision.reduction, decision.extension) == (0, 2, 1)
    assert skip(decision, 5, True).sound
    assert skip_rest(decision).action == 2
    assert "static_eval" in NodeInfo._fields


# Refusals


@compiled
def does_nothing(node, plan, search):
    return plan


@compiled
def fails(node, plan, search):
    return plan + node


def not_compiled(node, plan, search):
    return plan


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Technique("My Idea", True, ""), "a technique's name must match"),
        (lambda: Technique("idea", True, "", before_moves=7), "before_moves of idea must be"),
        (
            lambda: Technique("idea", True, "", rank=lambda move: 0),
            r"rank of idea must take \(node, move, search\), got \(move\)",
        ),
        (lambda: Technique("idea", True, "", memory={"a": 0}), "a of idea must hold 1 to 16"),
        (lambda: Technique("idea", True, "", counters=("a b",)), "names in idea must match"),
        (
            lambda: Technique("idea", True, "", counters=("a",), memory={"a": 1}),
            "idea uses the name a twice",
        ),
        (lambda: Parameter("depth", 9, 0, 3, ""), "default of depth must be from 0 to 3, got 9"),
        (lambda: Parameter("", 1, 0, 3, ""), "a parameter's name must match"),
        (lambda: register(Technique("killers", True, "")), "killers is a technique of the engine"),
        (lambda: technique_of("nowhere.py:idea"), "nowhere.py"),
        (
            lambda: choose(type(load_game(GAME).start()), [7]),
            "a technique must be a name or a Technique",
        ),
    ],
)
def test_invalid_techniques(make, message):
    with pytest.raises(CutnodeError, match=message):
        make()


@compiled_only
def test_hooks_have_to_be_compiled():
    plain = Technique("plain_idea", True, "", before_moves=not_compiled)
    with pytest.raises(CutnodeError, match="before_moves of plain_idea is not compiled"):
        Searcher(load_game(GAME), techniques=[plain], ready=False)
    assert Searcher(load_game(GAME, plain=True), techniques=[plain])


@compiled_only
@pytest.mark.slow
def test_a_hook_that_does_not_compile_is_named():
    wrong = Technique("wrong_idea", True, "", before_moves=fails)
    with pytest.raises(
        ContractError, match=r"the technique wrong_idea does not compile: .*test_outside"
    ):
        Searcher(load_game(SMALL), techniques=[wrong])


@compiled
def forgets_the_plan(node, plan, search):
    if node.depth > 1:
        return plan


@compiled
def returns_true(node, child, decision, search):
    return True


@compiled
def ranks_nothing(node, move, search):
    pass


WRONG_ANSWERS = [
    ({"before_moves": forgets_the_plan}, "before_moves of forgetful must return the plan"),
    ({"before_child": returns_true}, "before_child of forgetful must return the decision"),
    ({"rank": ranks_nothing}, "rank of forgetful must return a number; got"),
]


@pytest.mark.parametrize(("hook", "message"), WRONG_ANSWERS)
def test_what_a_hook_has_to_return(hook, message):
    with pytest.raises(ContractError, match=message):
        searched([*BASIC, Technique("forgetful", False, "", **hook)])


@compiled_only
@pytest.mark.slow
def test_what_a_compiled_hook_has_to_return():
    hook, message = WRONG_ANSWERS[0]
    with pytest.raises(ContractError, match=message):
        Searcher(load_game(SMALL), techniques=[Technique("forgetful", False, "", **hook)])


def test_selective_ones_are_not_exact():
    with pytest.raises(CutnodeError, match="multicut is selective"):
        Searcher(load_game(GAME), techniques=[ideas.multicut], exact=True)


def test_games_of_chance_and_games_without_what_is_needed():
    with pytest.raises(GameError, match="has chance: a search with chance cannot use multicut"):
        Searcher(load_game("ur"), techniques=[ideas.multicut], ready=False)
    with pytest.raises(GameError, match="does not allow far_above: it does not define UNIT"):
        Searcher(load_game("tictactoe"), techniques=[ideas.far_above], ready=False)


# Parameters


def test_every_parameter_has_a_field_and_a_range():
    searcher = Searcher(load_game("chess"), ready=False)
    for name, field, parameter in parameters_of(TECHNIQUES.values()):
        assert field in searcher.words, name
        assert parameter.least <= parameter.default <= parameter.most
        assert parameter.about
        assert find_parameter(name) == (name, parameter)
    assert searcher.words["late_move_reductions_depth"][0] == 3
    assert profile_of(type(load_game("chess").start())).values["late_move_reductions.depth"] == 3


def test_parameters_go_before_the_profile():
    chosen = Searcher(load_game("chess"), parameters={"lmr.depth": 5}, ready=False)
    assert chosen.words["late_move_reductions_depth"][0] == 5
    table = chosen.words["lmr_reductions"][:]
    other = Searcher(load_game("chess"), parameters={"lmr.base": 3.5}, ready=False)
    assert list(table) != list(other.words["lmr_reductions"])
    assert chosen.words["purpose"] != other.words["purpose"]
    margin = Searcher(load_game("chess"), parameters={"futility.margin": 2}, ready=False)
    assert margin.words["futility_margin"][0] == 200


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"lmr.bas": 1}, r"there is no parameter 'lmr.bas' .did you mean .*base"),
        ({"lmr.base": "x"}, "lmr.base must be a number from -4 to 8, got 'x'"),
        ({"lmr.depth": 1.5}, "lmr.depth must be an integer from 1 to 63, got 1.5"),
        ({"lmr.depth": 99}, "lmr.depth must be an integer from 1 to 63, got 99"),
        ({"lmr.depth": True}, "lmr.depth must be an integer"),
        ({"probcut.depth": 4}, "probcut.depth changes nothing"),
        (7, "parameters must be values by name"),
    ],
)
def test_invalid_parameters(parameters, message):
    with pytest.raises(CutnodeError, match=message):
        Searcher(load_game("chess"), parameters=parameters, ready=False)


# The command line


def test_the_command_line_takes_files_and_parameters():
    result = run_cutnode(
        "search", BARE, "--depth", 3, "--json",
        "--techniques", f"...,{FILE}:multicut", "--set", "multicut.cuts=2", "--set", "lmr.base=0.5",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "multicut.tests" in json.loads(result.stdout)["statistics"]["counters"]
    assert technique_of(reference("multicut")).name == "multicut"
    assert reference("killers") == "killers"


def test_a_whole_file_is_all_of_its_techniques():
    names = choose(type(load_game(GAME).start()), [str(FILE)])
    assert names == {idea.name for idea in IDEAS} <= OUTSIDE.keys()


def test_an_order_of_ones_own(tmp_path):
    file = tmp_path / "my_order.py"
    file.write_text(
        "from cutnode import compiled\n\n"
        "@compiled\ndef order(position, move, child):\n    return 1000 * move\n"
    )
    command = ["search", BARE, "--depth", 6, "--exact", "--json"]
    usual, own = run_cutnode(*command), run_cutnode(*command, "--order", f"{file}:order")
    assert own.exit_code == 0, own.output
    usual, own = json.loads(usual.stdout), json.loads(own.stdout)
    assert usual["value"] == own["value"]
    assert usual["statistics"]["nodes"] != own["statistics"]["nodes"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--set", "lmr"], "'lmr' is not NAME=VALUE, such as lmr.base=0.8"),
        (["--set", "lmr.base=x"], "is not NAME=VALUE"),
        (["--exact", "--set", "lmr.base=1"], "lmr.base changes nothing"),
        (["--techniques", f"{FILE}:multicat"], "did you mean 'multicut'"),
        (["--techniques", f"{FILE}:math"], "must be a Technique"),
        (["--order", "nowhere.py:order"], "nowhere.py"),
    ],
)
def test_the_command_line_says_what_is_wrong(arguments, message):
    result = run_cutnode("search", GAME, "--depth", 3, *arguments)
    assert result.exit_code == 2
    assert message in result.output
    assert "Traceback" not in result.output


def test_parameters_are_listed():
    result = run_cutnode("lab", "parameters", "chess", "--json")
    rows = {row["parameter"]: row for row in json.loads(result.stdout)["rows"]}
    assert rows["late_move_reductions.depth"]["value"] == 3
    assert rows["late_move_reductions.depth"]["default"] == 4
    assert set(rows) == {name for name, _, _ in parameters_of(every_technique())}


# The cache


@compiled_only
@pytest.mark.slow
def test_an_edited_technique_is_compiled_anew(tmp_path):
    """A technique that was not edited is loaded."""
    file = tmp_path / "edited.py"
    source = (
        "from cutnode import Technique, compiled\n\n"
        "@compiled\ndef rank(node, move, search):\n    return move * {}\n\n"
        "idea = Technique('edited_idea', True, '', rank=rank)\n"
    )
    code = (
        "from cutnode import Searcher, load_game\n"
        f"game = load_game({str(FILE.parents[1] / 'hexapawn.py')!r})\n"
        f"searcher = Searcher(game, table=1, techniques=['pvs', {str(file) + ':idea'!r}])\n"
        "print(searcher.search(game.start(), depth=6).nodes)\n"
    )
    found, files = [], []
    for factor in (5, 5, -5):
        if not found or factor < 0:
            file.write_text(source.format(factor))
            os.utime(file, (1_000_000_000 + len(found), 1_000_000_000 + len(found)))
        found.append(int(printed_by(code, CUTNODE_CACHE=str(tmp_path / "cache"))))
        written = (tmp_path / "cache").rglob("*search_node-*.code")
        files.append({path: path.stat().st_mtime_ns for path in written})
    assert found[0] == found[1] != found[2]
    assert files[0] == files[1] and len(files[0]) == 1
    assert len(files[2]) == 2


def test_every_point_is_documented():
    assert all(f"``{point}(" in Technique.__doc__ for point in POINTS)
