"""``engine="auto"``: a trial decides between alpha-beta and Monte Carlo tree search."""

from __future__ import annotations

import json
import threading

import pytest
from commands import run_cutnode

import cutnode
from cutnode import CutnodeError, load_game
from cutnode.search.options import SearchOptions
from cutnode.search.record import position_of_game
from cutnode.search.trials import ENOUGH_LEAD, AutoSearcher, Trial

pytestmark = pytest.mark.once

PLAIN = load_game("tictactoe", plain=True)
SMALL = 8 << 20


def auto(position, seconds=0.2, **options):
    return cutnode.search(position, engine="auto", seconds=seconds, memory=SMALL, **options)


def trial_of(game, seconds):
    search = AutoSearcher(game.start(), table=1, memory=SMALL)
    return Trial(search, game.start(), SearchOptions(seconds=seconds), threading.Event())


def test_result_says_why():
    result = auto(PLAIN.start(), 0.6)
    name, _, score = result.why.partition(", after a trial of ")
    assert name in ("alphabeta", "mcts")
    assert score.endswith("points") or ": not decided" in score
    assert result.to_dict()["why"] == result.why
    assert str(result).splitlines()[-1] == f"engine {result.why}"
    assert result.best_move in cutnode.legal_moves(PLAIN.start())


def test_game_without_estimates_needs_no_trial():
    result = auto(load_game("toys.hexapawn", plain=True).start(), 0.05)
    assert isinstance(result, cutnode.MonteCarloResult)
    assert result.why == "mcts, as toys.hexapawn has no evaluate"


def test_finished_game_needs_no_trial():
    result = auto(PLAIN.parse("142536"[:5]), 0.05)
    assert (result.best_move, result.why) == (None, "")


def test_games_are_played_with_both_sides_and_counted():
    trial = trial_of(PLAIN, 40.0)
    position = position_of_game(trial.position, 1, trial.random)
    assert len(cutnode.legal_moves(position)) == 8
    trial._play_pair(position)
    assert trial.games == 2
    assert abs(trial.lead) <= 2


def test_half_a_pair_decides_nothing(monkeypatch):
    trial = trial_of(PLAIN, 40.0)
    monkeypatch.setattr(trial, "_play", lambda record, first: first == 0)
    monkeypatch.setattr(cutnode.Record, "score", lambda record, side: 1.0)
    trial._play_pair(PLAIN.start())
    assert (trial.games, trial.lead) == (0, 0)
    search, why = trial.verdict()
    assert search is trial.engines[0]
    assert why.endswith(" s: not decided, as no pair of games was finished")


@pytest.mark.parametrize(
    ("lead", "better", "score"),
    [
        *((4, 0, "4 of 4 points"), (-4, 1, "4 of 4 points"), (-1, 1, "2.5 of 4 points")),
        (0, 0, "not decided by 4 games"),
    ],
)
def test_verdict(lead, better, score):
    trial = trial_of(PLAIN, 1.0)
    trial.games, trial.lead = 4, lead
    assert trial._is_over() == (abs(lead) >= ENOUGH_LEAD)
    search, why = trial.verdict()
    assert search is trial.engines[better]
    assert why.startswith(("alphabeta", "mcts")[better])
    assert why.endswith(f": {score}")


def test_trial_keeps_to_its_part_of_the_time():
    result = auto(PLAIN.start(), 0.4)
    assert result.seconds < 20
    assert result.reason in ("proven", "time limit")


def test_stop_during_the_trial():
    stop = threading.Event()
    stop.set()
    result = auto(PLAIN.start(), 5, stop=stop)
    assert (result.reason, result.why) == ("stopped", "alphabeta, interrupted in the trial")
    assert result.best_move in cutnode.legal_moves(PLAIN.start())


def test_ctrl_c_in_the_trial_gives_a_move_that_was_searched(interrupt_soon):
    interrupt_soon(waiting=False)
    result = auto(PLAIN.parse("1425"), 20)  # 2 wins for the first player only
    assert (result.reason, result.why) == ("interrupted", "alphabeta, interrupted in the trial")
    assert result.best_move == 2 and result.depth > 0
    assert result.seconds < 20


def test_ctrl_c_between_the_searches_of_a_trial(monkeypatch):
    def press(trial, opening):
        raise KeyboardInterrupt

    monkeypatch.setattr(Trial, "_play_pair", press)
    result = auto(PLAIN.parse("1425"), 20)
    assert (result.reason, result.best_move) == ("interrupted", 2)


def test_choice_is_kept_until_the_next_game():
    with cutnode.Engine(PLAIN, engine="auto", memory=SMALL, table=1) as held:
        first = held.search(PLAIN.start(), seconds=0.2)
        again = held.search(PLAIN.parse("1"), seconds=0.05)
        assert again.why == first.why != ""
        handle = held.start(PLAIN.parse("15"), seconds=0.05)
        assert handle.wait().why == first.why
        held.new_game()
        assert held._searcher.chosen is None


def test_dice():
    result = auto(load_game("toys.race", plain=True).start(), 0.3)
    assert result.why


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"nodes": 10}, "engine=auto needs a limit of seconds"),
        ({"seconds": 1, "depth": 3}, "depth limits one engine only"),
        ({"seconds": 1, "playouts": 3}, "playouts limits one engine only"),
    ],
)
def test_limits_of_one_engine(options, words):
    with pytest.raises(CutnodeError, match=words):
        cutnode.search(PLAIN.start(), engine="auto", memory=SMALL, **options)


def test_options_of_one_engine():
    with pytest.raises(TypeError, match="no option 'rave'"):
        auto(PLAIN.start(), rave=3)


@pytest.mark.slow
@pytest.mark.long
def test_command():
    asked = ["search", "tictactoe", "15", "--engine", "auto", "--memory-mb", "8"]
    asked += ["--seconds", "0.2"]
    found = run_cutnode(*asked, "--json")
    assert json.loads(found.stdout)["details"]["why"]
    found = run_cutnode(*asked)
    assert "\nengine " in found.stdout
    wrong = run_cutnode(*asked, "--rave", "5")
    assert wrong.exit_code == 2
    assert "--rave is an option of mcts, not of auto" in wrong.output


# Players


def test_player_chooses_once():
    player = cutnode.make_player(PLAIN, "engine=auto,seconds=0.02,table=1,memory=8")
    player.new_game(1)
    choice = player.choose(PLAIN.parse("1425"))
    assert choice.move == 2
    why = player.engine.why
    assert "after a trial of " in why
    player.new_game(2)
    assert player.choose(PLAIN.parse("142")).move == 2
    assert player.engine.why == why


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("engine=auto", "engine=auto': an auto player needs a limit of seconds"),
        ("engine=auto,nodes=5", "needs a limit of seconds"),
        ("engine=auto,seconds=1,depth=3", "depth does not go with engine=auto"),
        ("engine=auto,seconds=1,rave=3", "rave does not go with engine=auto"),
        ("engine=pn,seconds=1", "engine must be one of alphabeta, mcts, auto, got 'pn'"),
    ],
)
def test_players_say_what_does_not_suit_them(text, words):
    with pytest.raises(CutnodeError, match=words):
        cutnode.make_player(PLAIN, text)
