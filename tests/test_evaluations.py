"""User-defined evaluations: functions in files, and the messages about invalid ones."""

from __future__ import annotations

import sys

import pytest
from commands import run_cutnode
from marks import compiled_only

from cutnode import Evaluation, GameError, Searcher, compiled, load_game, minimax, search
from cutnode.cli.main import main
from cutnode.storage.evaluations import chosen_evaluation

pytestmark = pytest.mark.once

SOURCE = """
from cutnode import compiled

CENTRE = 16


@compiled
def holds(cells):
    return (cells & CENTRE) != 0


@compiled
def centre(position):
    return 3 * (int(holds(position.mine)) - int(holds(position.theirs)))


@compiled
def against(position, other):
    return 0


@compiled
def broken(position):
    return position.nothing


def ordinary(position):
    return 3 * (bool(position.mine & CENTRE) - bool(position.theirs & CENTRE))
"""


@pytest.fixture
def file(tmp_path, monkeypatch):
    """A file of evaluations for tic-tac-toe, in the current folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    path = tmp_path / "own_estimates.py"
    path.write_text(SOURCE)
    yield path
    sys.modules.pop("own_estimates", None)


def test_a_function_in_a_file_estimates(file):
    game = load_game("tictactoe")
    taken = game.parse("5")  # the centre, taken by the opponent
    assert minimax(taken, 0, evaluation="own_estimates.py:centre").value == -3
    import own_estimates

    assert minimax(taken, 0, evaluation=own_estimates.centre).value == -3
    chosen = chosen_evaluation(type(taken), own_estimates.centre)
    assert chosen.name == "own_estimates.py:centre"
    assert chosen_evaluation(type(taken), str(file) + ":centre").name == chosen.name


def test_games_in_plain_python_take_plain_functions(file):
    game = load_game("tictactoe", plain=True)
    found = search(game, depth=1, evaluation="own_estimates.py:ordinary", techniques=())
    assert (found.value, found.move_text()) == (3, "5")
    with pytest.raises(GameError, match=r"do not run: .*'nothing', in broken \(own_estimates.py"):
        search(game, depth=1, evaluation="own_estimates.py:broken")


WRONG = {
    "nowhere.py:centre": "there is no file 'nowhere.py'",
    "own_estimates.py": "name the function of own_estimates.py that is the evaluation, as in",
    "own_estimates.py:": "name the function of own_estimates.py that is the evaluation, as in",
    "own_estimates.py:center": "own_estimates.py defines no 'center' (did you mean 'centre'",
    "own_estimates.py:CENTRE": "evaluation must be a name or a compiled function, got 16",
    "own_estimates.py:against": "own_estimates.py:against takes 2 parameters; an evaluation takes",
}


@pytest.mark.parametrize("name", WRONG)
def test_invalid_evaluations(file, name):
    result = run_cutnode("search", "tictactoe", "--depth", 1, "--evaluation", name)
    assert result.exit_code == 2
    assert f"cutnode: {WRONG[name]}" in result.output


WRONG_IF_COMPILED = {
    "ordinary": "own_estimates.py:ordinary is not compiled: put @compiled before it",
    "broken": "own_estimates.py:broken does not compile: Position has no field 'noth.*, line 24",
}


@compiled_only
@pytest.mark.parametrize("name", WRONG_IF_COMPILED)
def test_what_does_not_compile(file, name):
    with pytest.raises(GameError, match=WRONG_IF_COMPILED[name]):
        minimax("tictactoe", 1, evaluation=f"own_estimates.py:{name}")


def test_files_that_cannot_be_loaded(file):
    file.write_text("def centre(position) return 0")
    with pytest.raises(GameError, match=r"cannot load 'own_estimates.py': SyntaxError"):
        Searcher("tictactoe", evaluation="own_estimates.py:centre")


def test_functions_that_a_module_lacks():
    for function, why in ((lambda position: 0, "top level of a module"), (len, "in Python")):
        with pytest.raises(GameError, match=why):
            Evaluation(compiled(function) if function is not len else function)


def test_a_service_loads_no_files(file):
    from cutnode.kernels.evaluation import evaluation_of

    with pytest.raises(GameError, match=r"tictactoe has no evaluation 'own_estimates"):
        evaluation_of(type(load_game("tictactoe").start()), "own_estimates.py:centre")


def test_completion_of_functions(file):
    from click.shell_completion import ShellComplete

    completer = ShellComplete(main, {}, "cutnode", "_CUTNODE_COMPLETE")
    arguments = ["search", "tictactoe", "--evaluation"]
    for incomplete, wanted in (
        ("own_e", ["own_estimates.py"]),
        ("own_estimates.py:ce", ["own_estimates.py:centre"]),
        ("own_estimates.py:ag", []),
    ):
        found = completer.get_completions(arguments, incomplete)
        assert [item.value for item in found] == wanted
