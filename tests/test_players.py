"""Players: levels, strengths and configurations, and the games they play."""

from __future__ import annotations

import random
from itertools import pairwise
from pathlib import Path

import pytest
from toys import boxes, duel, race

from cutnode import (
    LEVELS,
    CutnodeError,
    GameError,
    PositionError,
    Record,
    legal_moves,
    load_game,
    make_player,
    match,
    play_game,
)
from cutnode.compiler.jit import jit_enabled
from cutnode.playing.configurations import parse_configuration
from cutnode.playing.players import EnginePlayer, StrengthPlayer, full_width, level_evaluation

pytestmark = pytest.mark.once

GAME = load_game("tictactoe")
ROOT = Path(__file__).parents[1]
PLAYERS = ("random", "level=easy", "level=expert", "strength=0", "strength=30", "strength=85")


def course(first, second, seed, game=GAME):
    players = make_player(game, first), make_player(game, second)
    return play_game(players, game.start(), seed=seed).steps


# Players


@pytest.mark.parametrize("text", ["nodes=300", f"path={ROOT},nodes=300"])
def test_a_player_avoids_the_repetition_that_ends_the_game(text):
    chess = load_game("chess")
    position = chess.parse("8/8/2k1B3/4K3/8/8/8/6R1 w - - 20 60")
    player = make_player(chess, text)
    move = player.choose(position).move
    after = chess.play(position, move)
    assert player.choose(position, [after]).move == move  # a second time is no draw
    assert player.choose(position, [after, after]).move != move


class Forgetful:
    """A player of one's own that does not take the game so far."""

    def new_game(self, seed):
        """Begin a game."""

    def choose(self, position):
        return make_player("tictactoe", "random").choose(position)


def test_a_player_has_to_take_the_game_so_far_where_it_matters():
    forgetful = Forgetful()
    assert play_game((forgetful, forgetful), GAME.start()).ending() == "rules"
    with pytest.raises(CutnodeError, match=r"Forgetful.* must have choose\(position, history\)"):
        play_game((forgetful, forgetful), load_game("chess", plain=True).start())


def test_players_win_against_a_bare_king():
    chess = load_game("chess")
    player = make_player(chess, "nodes=1500")
    for fen in ("8/8/2k1B3/4K3/8/8/8/6R1 w - - 0 1", "8/8/2k5/4K3/8/8/8/6R1 w - - 0 1"):
        record = play_game((player, player), chess.parse(fen))
        assert record.ending() == "rules"
        assert record.value() == 1
        assert len(record.steps) < 40


@pytest.mark.parametrize("text", PLAYERS)
def test_same_seed_same_game(text):
    first, again = (course(text, "random", seed=5) for _ in range(2))
    assert first == again
    assert len({tuple(course(text, "random", seed)) for seed in range(8)}) > 1


@pytest.mark.parametrize("text", PLAYERS)
def test_choice_depends_on_position_and_seed_alone(text):
    """A game can be replayed from its middle."""
    player, opponent = make_player(GAME, text), make_player(GAME, "random")
    record = play_game((player, opponent), GAME.start(), seed=3)
    for number in reversed(range(0, len(record.steps), 2)):
        assert player.choose(record.positions[number]).move == record.steps[number]


@pytest.mark.parametrize("text", PLAYERS)
def test_moves_are_legal_to_the_end(text):
    """``play_game`` refuses illegal moves."""
    player = make_player(GAME, text)
    for seed in range(10):
        assert play_game((player, player), GAME.start(), seed=seed).ending() == "rules"


def test_choice_says_what_the_player_thinks():
    choice = make_player(GAME, "depth=4").choose(GAME.parse("51"))
    assert choice.pv[0] == choice.move
    assert (choice.depth, choice.reason) == (4, "depth limit")
    assert choice.nodes > 0 and choice.value is not None
    assert make_player(GAME, "random").choose(GAME.start()).value is None


@pytest.mark.parametrize("text", PLAYERS)
def test_nobody_chooses_when_the_game_is_over(text):
    with pytest.raises(PositionError, match="no move to choose"):
        make_player(GAME, text).choose(GAME.parse("14253"))


def test_expert_never_loses_tictactoe():
    players = make_player(GAME, "level=expert"), make_player(GAME, "random")
    for seed in range(10):
        assert play_game(players, GAME.start(), seed=seed).value() >= 0
        assert play_game(players[::-1], GAME.start(), seed=seed).value() <= 0


def test_levels_by_depth():
    assert [level.depth for level in LEVELS.values()] == [1, 2, 4, None]
    depths = [make_player(GAME, f"level={name}").choose(GAME.start()).depth for name in LEVELS]
    assert depths[:3] == [1, 2, 4] and depths[3] >= 9  # an expert has the time to see the end
    assert make_player(GAME, "level=expert").limits == {"depth": None, "nodes": None, "seconds": 3}
    assert make_player(GAME, "level=hard,seconds=2").limits["seconds"] == 2


def test_levels_of_games_without_features_use_their_estimate():
    cls = type(GAME.start())
    assert all(level_evaluation(cls, level, random.Random(1)) is None for level in LEVELS.values())


def test_full_width_leaves_nothing_out():
    cls = type(load_game("breakthrough").start())
    chosen = full_width(cls)
    assert {"quiescence", "table", "pvs", "killers"} <= chosen
    assert (
        not {
            "late_move_pruning",
            "futility",
            "reverse_futility",
            "razoring",
            "late_move_reductions",
            "null_move",
        }
        & chosen
    )


def test_full_strength_is_the_engine():
    techniques = full_width(type(GAME.start()))
    dial = StrengthPlayer(GAME, 100, depth=6)
    engine = EnginePlayer(GAME, depth=6, techniques=techniques)
    for seed in range(10):
        dial.new_game(seed)
        engine.new_game(seed)
        assert dial.choose(GAME.start()).move == engine.choose(GAME.start()).move


@pytest.mark.parametrize("strength", [20, 50, 99])
def test_wins_and_losses_in_one_are_seen(strength):
    player = make_player(GAME, f"strength={strength}")
    for seed in range(30):
        player.new_game(seed)
        assert player.choose(GAME.parse("1425")).move == 2  # completes the row
        assert player.choose(GAME.parse("142")).move == 2  # blocks the opponent's


def test_strength_rises():
    """Losses against an expert in 20 games; strength 20 sees everything within one move."""
    losses = []
    for strength in (0, 10, 100):
        players = make_player(GAME, f"strength={strength}"), make_player(GAME, "level=expert")
        games = (play_game(players, GAME.start(), seed=seed) for seed in range(20))
        losses.append(sum(record.value() < 0 for record in games))
    assert losses == sorted(losses, reverse=True)
    assert losses[0] > 10 and losses[-1] == 0


# Configurations


def test_configuration_is_read():
    assert parse_configuration("depth=6, without=history+killers,exact") == {
        "depth": 6,
        "without": ["history", "killers"],
        "exact": True,
    }
    player = make_player(GAME, "nodes=300,without=table,driver=mtdf")
    assert not {"table", "enhanced_cutoffs"} & player.engine.techniques
    assert player.engine.driver == "mtdf"
    assert make_player(GAME, "depth=3,techniques=").engine.techniques == frozenset()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "there is no setting ''"),
        ("dept=3", "there is no setting 'dept' .did you mean 'depth'"),
        ("level=heavy", "there is no level 'heavy'"),
        ("level=hard,depth=3", "level does not go with depth"),
        ("random,depth=3", "random does not go with depth"),
        ("depth=3,depth=4", "depth is set twice"),
        ("depth=x", "depth must be a whole number, got 'x'"),
        ("seconds=soon", "seconds must be a number, got 'soon'"),
        ("seconds=-1", "seconds must be positive"),
        ("seconds=nan", "seconds must be positive"),
        ("depth", "'depth' should be depth=..."),
        ("exact=1", "'exact=1' should be exact, without a value"),
        ("exact", "needs a limit: depth, nodes or seconds"),
        ("strength=101", "strength must be 0..100"),
        ("depth=99", "depth must be 1..63"),
        ("nodes=0", "nodes must be at least 1"),
        ("depth=3,without=magic", "there is no technique 'magic'"),
        ("depth=3,evaluation=magic", "has no evaluation 'magic'"),
        ("depth=3,driver=magic", "driver must be one of"),
    ],
)
def test_invalid_configurations(text, reason):
    with pytest.raises(CutnodeError, match=reason.replace("?", r"\?").replace("...", r"\.\.\.")):
        make_player(GAME, text)


# Records of games


def play_at_random(record, seed):
    choose = random.Random(seed).choice
    while not record.ending():
        if record.is_chance():
            record.draw()
        else:
            record.play(choose(legal_moves(record.position)))


@pytest.mark.parametrize(
    "start", [GAME.start(), boxes.start("3"), duel.Position(), race.Position()]
)
def test_record_is_followed_again(start):
    for seed in range(10):
        record = Record(start, seed=seed)
        play_at_random(record, seed)
        again = Record(start, seed=seed)
        again.follow(record.to_dict()["steps"])
        assert (again.positions, again.sides) == (record.positions, record.sides)
        assert (again.ending(), again.value()) == (record.ending(), record.value())
        for _ in record.steps:
            again.take_back()
        assert again.positions == [start] and not again.ending()


def test_extra_turns_keep_the_side():
    for seed in range(10):
        record = Record(boxes.start("3"))
        play_at_random(record, seed)
        assert record.sides == [0 if position.first else 1 for position in record.positions]
        last = record.position
        assert record.value() == (last.lead if last.first else -last.lead)


def test_repetition_is_a_draw():
    record = Record(duel.Position())
    record.follow(["back", "back", "forth", "forth"])
    assert (record.ending(), record.value(), record.score(0)) == ("repetition", 0, 0.5)
    with pytest.raises(PositionError, match="is not a legal move"):
        record.play(duel.BACK)
    record = Record(duel.Position())
    record.follow(["forth", "leap", "forth", "back", "back"])
    assert record.ending() == ""
    record.play(duel.FORTH)
    assert record.ending() == "repetition"


def test_too_long_is_a_draw():
    record = Record(GAME.start(), plies=3)
    record.follow(["1", "4", "2"])
    assert (record.ending(), record.score(0)) == ("plies", 0.5)


def test_chance_keeps_to_its_odds():
    outcomes = []
    for seed in range(400):
        record = Record(race.Position(), seed=seed)
        assert record.is_chance()
        outcomes.append(record.draw())
        assert record.position.roll == outcomes[-1] + 1
        assert record.side == 0
    assert 70 <= outcomes.count(0) <= 130  # one in four
    dice = [Record(race.Position(), seed=7) for _ in range(2)]
    assert dice[0].draw() == dice[1].draw()


def test_invalid_steps():
    for start, steps, reason in (
        (GAME.start(), ["5", "5"], "step 2: cell 5 is marked already"),
        (GAME.start(), [4], "step 1: a move must be a string, got 4"),
        (race.Position(), [2], "step 1: chance has no outcome 2"),
        (race.Position(), ["1"], "step 1: an outcome of chance must be a whole number"),
        (GAME.start(), ["1", "4", "2", "5", "3", "6"], "step 6: "),
    ):
        with pytest.raises(CutnodeError, match=reason):
            Record(start).follow(steps)


def test_illegal_choices_are_the_players_fault():
    class Cheat:
        def new_game(self, seed):
            pass

        def choose(self, position):
            return make_player(GAME, "random").choose(GAME.start())

    with pytest.raises(GameError, match="chose an illegal move"):
        play_game((Cheat(), Cheat()), GAME.start(), seed=1)


# Measured strength


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.skipif(not jit_enabled(), reason="many nodes")
@pytest.mark.parametrize(
    ("game", "pairs"),
    [("connect4", {"easy": 20, "medium": 100, "hard": 400}), ("breakthrough", {})],
)
def test_levels_rise(game, pairs):
    names = list(LEVELS)
    for weaker, stronger in pairwise(names):
        number = pairs.get(weaker, 40)
        result = match(load_game(game), f"level={stronger}", f"level={weaker}", pairs=number)
        assert result.los > 0.95, str(result)


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.skipif(not jit_enabled(), reason="many nodes")
@pytest.mark.parametrize("game", ["connect4", pytest.param("breakthrough", marks=pytest.mark.long)])
def test_strengths_rise(game):
    for weaker, stronger in pairwise((0, 20, 60, 100)):
        players = (f"strength={strength},depth=4" for strength in (stronger, weaker))
        result = match(load_game(game), *players, pairs=20)
        assert result.score > 0.55, str(result)
