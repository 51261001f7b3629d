"""The text of the contract is right: its examples run, and each verb has one."""

import inspect
import re
import textwrap

import pytest

import cutnode
from cutnode import GameError, load_game, solve
from cutnode.conformance import check
from cutnode.contract import verbs
from cutnode.contract.dispatch import VERBS
from cutnode.contract.verbs import bounds, outcome

GROUPS = ("core", "solver", "heuristics", "chance", "symmetry", "tablebase", "sums")


def example(text, title):
    """Return the indented block after a line that ends with a title and two colons."""
    (block,) = re.findall(rf"{title}::\n\n((?:    .*\n|\n)+)", text + "\n")
    return textwrap.dedent(block)


@pytest.mark.parametrize("name", VERBS)
def test_each_verb_has_an_example(name):
    space = {**vars(verbs), "Bits": cutnode.Bits, "popcount": cutnode.popcount}
    exec(example(inspect.getdoc(VERBS[name]), "Example"), space)
    wanted, given = (inspect.signature(verb).parameters for verb in (VERBS[name], space[name]))
    assert list(wanted) == list(given)


def test_each_verb_is_in_one_group():
    words = re.split(rf"^({'|'.join(GROUPS)})\b", verbs.__doc__, flags=re.MULTILINE)
    listed = " ".join(re.match(r"\s+``([a-z_\s]+)``", text)[1] for text in words[2::2])
    assert words[1::2] == list(GROUPS)
    assert listed.split() == list(VERBS)


@pytest.mark.parametrize(
    "plain", [True, pytest.param(False, marks=[pytest.mark.slow, pytest.mark.long])]
)
def test_the_whole_game_of_the_text(tmp_path, plain):
    file = tmp_path / f"nim_of_the_text_{plain}.py"
    file.write_text(example(verbs.__doc__, "A whole game"))
    assert len([line for line in file.read_text().splitlines() if line]) <= 25
    game = load_game(str(file), plain=plain)
    assert check(game) == []
    assert solve(game.start()).value == 1
    assert solve(game.parse("1")).value == -1 == solve(game.parse("left=20")).value


def test_a_verb_calls_the_rule_that_a_game_has_now(monkeypatch):
    game = load_game("tictactoe", plain=True)
    start = game.start()
    for _ in range(2):
        assert (outcome(start), bounds(start, -1, 1)) == ((False, 0), (-32001, 32001))
    monkeypatch.setattr(game.module, "outcome", lambda position: (True, 1))
    monkeypatch.setattr(game.module, "bounds", lambda position, alpha, beta: (0, 1), raising=False)
    assert (outcome(start), bounds(start, -1, 1)) == ((True, 1), (0, 1))
    monkeypatch.undo()
    assert (outcome(start), bounds(start, -1, 1)) == ((False, 0), (-32001, 32001))
    monkeypatch.delattr(game.module, "outcome")
    with pytest.raises(GameError, match="does not define outcome"):
        outcome(start)
