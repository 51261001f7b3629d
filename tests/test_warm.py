"""Games are compiled ahead of time, so that later commands only load code."""

import json
import os
import subprocess
import sys
import time

import pytest
from commands import FROM_HERE, run_cutnode
from marks import compiled_only

import cutnode
from cutnode import ContractError, CutnodeError, GameError
from cutnode.cli import serve, warm
from cutnode.cli.exit_codes import BAD_INPUT, BREAKS_CONTRACT
from cutnode.contract.choices import USES
from cutnode.playing import warming

pytestmark = compiled_only

GAME = """
from typing import NamedTuple

from cutnode import compiled


class Position(NamedTuple):
    left: int = 6


@compiled
def moves(position, buffer, at):
    buffer[at] = 1
    return at + 1


@compiled
def play(position, move):
    return Position(position.left - move)


@compiled
def outcome(position):
    return {outcome}
"""


@pytest.fixture
def file(tmp_path):
    """A function that writes a small game with an outcome, and returns its path."""

    def written(name, outcome="position.left == 0, -1"):
        path = tmp_path / f"{name}.py"
        path.write_text(f"# {tmp_path}\n{GAME.format(outcome=outcome)}")
        os.utime(path, (time.time() - 10_000,) * 2)  # code of a file edited just now is not kept
        return str(path)

    return written


def test_kernels_are_compiled_once(file):
    path = file("warm_once")
    (kernel,) = cutnode.warm(path, uses=["perft"], workers=1)
    assert kernel[:4] == ("warm_once", "perft", "perft_node", True)
    (given,) = cutnode.warm(cutnode.load_game(file("warm_given")), uses=["perft"])
    assert (given.game, given.kernel) == ("warm_given", "perft_node")
    assert cutnode.warm(path, uses=["perft"], workers=1) == []  # this process has it


def test_command_lists_kernels(file):
    path = file("warm_listed")
    result = run_cutnode("warm", path, "--for", "perft", "--workers", 1)
    assert result.exit_code == 0
    assert result.stdout.split()[:3] == ["warm_listed", "perft_node", "compiled"]
    environment = os.environ | FROM_HERE
    command = [sys.executable, "-m", "cutnode", "warm", path, "--for", "perft", "--json"]
    output = subprocess.check_output(command, env=environment, text=True)
    kernel = json.loads(output)
    seconds = kernel.pop("seconds")
    assert seconds >= 0
    assert kernel == {
        "game": "warm_listed",
        "use": "perft",
        "kernel": "perft_node",
        "compiled": False,
    }


def test_game_that_does_not_compile_leaves_the_others(file):
    bad, good = file("warm_bad", "position.left == 0, 'lost'"), file("warm_good")
    result = run_cutnode("warm", bad, good, "--for", "perft", "--workers", 1)
    assert result.exit_code == BREAKS_CONTRACT
    assert result.stdout.split()[:3] == ["warm_good", "perft_node", "compiled"]
    (line,) = result.stderr.splitlines()
    assert line.startswith("cutnode: warm_bad: warm_bad.outcome returns a tuple of bool, a text")
    with pytest.raises(ContractError, match=r"warm_bad\.outcome returns"):
        cutnode.warm(bad, uses=["perft"], workers=1)


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["conect4"], "cutnode: unknown game 'conect4' (did you mean 'connect4'?)"),
        (["tictactoe", "--for", "serch"], "cutnode: unknown use 'serch' (did you mean 'search'?)"),
        (["tictactoe", "--for", "x"], f"cutnode: unknown use 'x'; there are {', '.join(USES)}"),
        (["ur", "--for", "mate"], "cutnode: ur does not allow mate"),
        (["hex", "--for", ""], "cutnode: name at least one use of solve"),
    ],
)
def test_bad_input_is_one_line(words, complaint):
    result = run_cutnode("warm", *words)
    assert result.exit_code == BAD_INPUT
    (line,) = result.stderr.splitlines()
    assert line.startswith(complaint)
    assert result.stdout == ""


def test_bad_arguments():
    with pytest.raises(CutnodeError, match="workers must be 1 to 256, got 0"):
        cutnode.warm("tictactoe", workers=0)
    with pytest.raises(GameError, match="unknown game"):
        cutnode.warm("tictactoe", "conect4", uses=["perft"])


def test_without_a_cache_there_is_nothing_to_do(monkeypatch):
    monkeypatch.setattr(warming, "cache_directory", lambda: None)
    with pytest.raises(CutnodeError, match="set CUTNODE_CACHE to a writable folder"):
        cutnode.warm("tictactoe", uses=["perft"], workers=1)


def test_tasks_of_a_game_are_far_from_each_other():
    tasks = warming._tasks(["tictactoe", "ur"], None)
    names = [(game.name, use) for game, use in tasks]
    assert names[:2] == [("tictactoe", "solve"), ("ur", "solve")]
    assert ("ur", "mate") not in names
    assert ("tictactoe", "mate") in names
    every = warming._tasks([], ["perft"])
    assert [game.name for game, _ in every] == cutnode.game_names()


def test_plain_rules_need_no_code(tmp_path):
    path = tmp_path / "warm_plain.py"
    text = GAME.format(outcome="position.left == 0, -1")
    path.write_text(text.replace("@compiled\n", "").replace("from cutnode import compiled", ""))
    assert cutnode.warm(str(path), workers=1) == []


def test_service_compiles_before_it_listens(monkeypatch):
    asked = []

    def compile_ahead(games, show):
        asked.append(games)
        show(warming.WarmKernel("hex", "search", "search_root", True, 1.5))
        return BREAKS_CONTRACT

    monkeypatch.setattr(serve, "compile_ahead", compile_ahead)
    result = run_cutnode("serve", "--warm", "--games", "hex,y")
    assert result.exit_code == BREAKS_CONTRACT  # without an address
    assert result.stdout == ""
    assert result.stderr.split() == ["cutnode:", "hex", "search_root", "compiled", "1.5", "s"]
    assert asked == [("hex", "y")]
    assert serve.line_of is warm.line_of


@pytest.mark.slow
def test_commands_compile_nothing_afterwards(tmp_path):
    environment = os.environ | FROM_HERE | {"CUTNODE_CACHE": str(tmp_path)}
    command = [sys.executable, "-m", "cutnode"]

    def run(*words):
        ran = subprocess.run(
            [*command, *words], env=environment, text=True, capture_output=True, timeout=500
        )
        assert ran.returncode == 0, ran.stderr
        return ran.stdout

    lines = run("warm", "tictactoe", "--workers", "2").splitlines()
    assert {line.split()[2] for line in lines} >= {"compiled"}
    kept = set(tmp_path.rglob("*.code"))
    assert len(kept) > 10
    run("solve", "tictactoe", "1")
    run("solve", "tictactoe", "1", "--engine", "pn")
    run("search", "tictactoe", "1", "--depth", "3")
    run("search", "tictactoe", "1", "--engine", "mcts", "--playouts", "100")
    run("mate", "tictactoe", "1524", "--moves", "2")
    run("perft", "tictactoe", "--depth", "3")
    assert set(tmp_path.rglob("*.code")) == kept
    lines = run("warm", "tictactoe", "--workers", "2").splitlines()
    assert {line.split()[2] for line in lines} == {"loaded"}
