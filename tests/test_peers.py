"""Other packages search the same trees: the same rules, and equal counts."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path
from random import Random

import pytest
from click.testing import CliRunner
from marks import compiled_only

from benchmarks.peers import comparison
from benchmarks.peers.comparison import compare_peers, draw, reference
from benchmarks.peers.packages import PEERS
from benchmarks.peers.programs import Count, Found, Program, Work
from benchmarks.peers.rules import EMPTY, MUTABLE, RULES, has_four, score_of
from benchmarks.studies.peers import main
from cutnode import CutnodeError, load_game, solve
from cutnode.contract.derived import legal_moves
from cutnode.contract.messages import position_text
from cutnode.contract.verbs import bounds, outcome, play, plies_left
from cutnode.lab.plots import write_plot

pytestmark = [compiled_only, pytest.mark.once]


def of(study, **wanted):
    """Return the rows with the *wanted* figures."""
    return [row for row in study.rows if wanted.items() <= row.items()]


INSTALLED = [name for name, peer in PEERS.items() if find_spec(peer.module.partition(".")[0])]
WORKS = [Work("tictactoe", 9), Work("connect4", 3), Work("connect4", 6)]


@pytest.mark.parametrize("quickest", [False, True])
def test_published_counts(quickest):
    works = [*WORKS, Work("connect4", 8)]
    counts = [reference(work, quickest) for work in works]
    tictactoe = 20_866 if quickest else 18_297
    assert [count.nodes for count in counts[:1] + counts[2:]] == [tictactoe, 11_767, 204_037]
    assert counts[3].found.score == -1


@pytest.mark.parametrize("name", INSTALLED)
@pytest.mark.parametrize("work", WORKS, ids=lambda work: f"{work.game}-{work.depth}")
def test_peers_visit_the_same_positions(name, work):
    try:
        programs = PEERS[name].make()
    except ImportError as error:
        pytest.skip(f"{name} is installed and cannot be imported: {error}")
    for program in programs:
        count = program.count(work)
        wanted = reference(work, program.quickest)
        assert count.nodes == wanted.nodes
        assert count.found.move == wanted.found.move
        assert comparison._agreement(program, count, wanted) == "yes"
        assert program.run(work) == count.found


@pytest.mark.parametrize("game", ["tictactoe", "connect4"])
def test_rules_of_peers(game):
    """The rules written for peers equal the game's rules, along every line of some plies."""
    rules = RULES[game]

    def compare(position, state, mutable, left):
        moves = legal_moves(position)
        over, value = outcome(position)
        assert over == (rules.is_lost(state) or rules.is_full(state)) == mutable.is_over()
        assert score_of(rules, state) == mutable.scoring()
        assert (score_of(rules, state) < -5000) == (over and value < 0)
        if over or left == 0:
            return
        assert moves == rules.moves(state) == mutable.possible_moves()
        for move in moves:
            before = mutable.ttentry()
            mutable.make_move(move)
            mutable.current_player = 3 - mutable.current_player
            compare(play(position, move), rules.play(state, move), mutable, left - 1)
            mutable.current_player = 3 - mutable.current_player
            mutable.unmake_move(move)
            assert mutable.ttentry() == before

    compare(load_game(game).start(), EMPTY, MUTABLE[game](), 3)
    compare(*line(game, "1425"), 4)


def line(game, text):
    """Return a position, a state and a mutable game after the same moves."""
    position, state, mutable = load_game(game).start(), EMPTY, MUTABLE[game]()
    for symbol in text:
        move = int(symbol) - 1
        position, state = play(position, move), RULES[game].play(state, move)
        mutable.make_move(move)
        mutable.current_player = 3 - mutable.current_player
    return position, state, mutable


def test_estimates_of_peers():
    start = load_game("connect4")
    evaluate = start.module.evaluate_cells
    for text in ("", "4", "44", "1234567", "4455", "7654321123"):
        position, state, mutable = line("connect4", text)
        assert evaluate(position) == state.balance == mutable.scoring()


def test_lines_of_four():
    assert has_four(0b1111)
    assert not has_four(0b111 | 1 << 7)
    for step in (6, 7, 8):
        assert has_four(sum(1 << (7 + step * n) for n in range(4)))


def test_study_of_peers():
    study = compare_peers(("tictactoe",), runs=1)
    plain = of(study, program="cutnode alphabeta")
    assert [(row["nodes"], row["ratio"]) for row in plain] == [(18_297, 1.0), (20_866, 1.0)]
    assert {row["agrees"] for row in study.rows if "agrees" in row} == {"yes"}
    for name in set(PEERS) - set(INSTALLED):
        (row,) = of(study, program=name)
        assert row["note"] == f"not installed: {PEERS[name].install}"


def test_peers_that_are_not_there(monkeypatch):
    for name, peer in PEERS.items():
        monkeypatch.setitem(sys.modules, peer.module, None)
        assert comparison._load(peer) == ([], f"not installed: {PEERS[name].install}")


def test_peers_that_go_wrong():
    """A wrong count is reported, and a failing program has a row with the reason."""

    def fail(work):
        raise ValueError("no")

    def differ(work):
        return Count(Found(0, 0.0), 5)

    good = comparison._cutnode()[:2]
    wrong = Program("wrong", False, True, differ, lambda work: differ(work).found)
    broken = Program("broken", False, True, fail, fail)
    rows = comparison._compare(WORKS[0], [*good, wrong, broken], 1)
    assert [row.get("agrees") for row in rows] == ["yes", "yes", "NO", None]
    assert rows[-1]["note"] == "failed: ValueError: no"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"games": ("uniform",)}, "on tictactoe, connect4, not on 'uniform'"),
        ({"depths": (0,)}, r"1\.\.41, not 0"),
        ({"packages": ("pgx",)}, "no peer 'pgx'; peers are easyAI"),
        ({"runs": 0}, "at least 1 run"),
    ],
)
def test_comparisons_of_nothing(options, message):
    with pytest.raises(CutnodeError, match=message):
        compare_peers(**options)


def test_command():
    result = CliRunner().invoke(
        main, ["--games", "tictactoe", "--packages", "easyAI", "--runs", "1"]
    )
    assert result.exit_code == 0
    assert "20,866" in result.output


def test_plot(tmp_path):
    pytest.importorskip("matplotlib")
    path = tmp_path / "peers.png"
    write_plot(compare_peers(("tictactoe",), packages=(), runs=1), draw, str(path))
    assert path.read_bytes().startswith(b"\x89PNG")


# Ultimate tic-tac-toe


def value_by_minimax(position):
    over, value = outcome(position)
    if over:
        return value
    return max(-value_by_minimax(play(position, move)) for move in legal_moves(position))


def test_what_is_seen_of_ultimate_tictactoe_is_so():
    """Claims about positions near the end of random games, compared with plain minimax."""
    path = Path(__file__).parents[1] / "benchmarks" / "peers" / "ultimate.py"
    game, dice, met = load_game(str(path), plain=True), Random(1), 0
    while met < 40:
        position = game.start()
        while not outcome(position)[0]:
            if plies_left(position) <= 9:
                value = value_by_minimax(position)
                lower, upper = bounds(position, -1, 1)
                assert lower <= value <= upper
                assert solve(position, engine="pn").value == value
                assert game.parse(position_text(position)) == position
                met += 1
            position = play(position, dice.choice(legal_moves(position)))
