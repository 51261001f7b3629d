"""Monte Carlo tree search: sound proofs, converging estimates, the same search both ways."""

from __future__ import annotations

import json
import threading
from random import Random

import pytest
from click.testing import CliRunner
from positions import random_step
from toys import boxes, duel, race

import cutnode
from cutnode import CutnodeError, GameError, PositionError, legal_moves, load_game, minimax, solve
from cutnode.cli.search import search as search_command
from cutnode.compiler.jit import jit_enabled
from cutnode.contract.choices import PRIORS
from cutnode.contract.verbs import outcome, play
from cutnode.kernels.scores import MOST_ESTIMATE, WIN
from cutnode.search.monte_carlo import MonteCarlo

compiled_too = pytest.mark.skipif(not jit_enabled(), reason="nothing is compiled")

TICTACTOE = load_game("tictactoe")
PLAIN = load_game("tictactoe", plain=True)
SMALL = 16 << 20
"""The bytes for a tree."""


def mcts(position, playouts, **options):
    return cutnode.search(position, engine="mcts", playouts=playouts, memory=SMALL, **options)


def sign(number):
    return (number > 0) - (number < 0)


def random_position(start, plies, dice):
    """Return the position after at most *plies* random moves and outcomes, before the end."""
    position = start
    for _ in range(dice.randrange(plies)):
        following = random_step(position, dice)
        if outcome(following)[0]:
            break
        position = following
    return position


def holds(result, value):
    """Return whether a search's proof agrees with a value."""
    if not result.lower <= value <= result.upper:
        return False
    if not result.proven:
        return True
    same = sign(result.lower or result.upper) == sign(value)
    return same if result.decisive else result.lower == result.upper == value


# Proofs


@pytest.mark.parametrize("name", ["tictactoe", "toys.boxes", "toys.duel"])
def test_what_is_proven_is_true(name):
    """Wins and losses, points with extra turns, and draws by repetition."""
    game = load_game(name, plain=True)
    dice = Random(name)
    proven = 0
    for number in range(12):
        position = random_position(game.start(), 8, dice)
        value = solve(position).value
        result = mcts(position, 150, seed=number)
        assert holds(result, value), (position, result)
        proven += result.proven
    assert proven >= 3 or name == "toys.duel"  # it does not declare the largest value of a win


@compiled_too
def test_proofs_of_positions_of_tictactoe():
    dice = Random(0)
    search = MonteCarlo(TICTACTOE, memory=SMALL)
    for number in range(300):
        position = random_position(TICTACTOE.start(), 8, dice)
        result = search.search(position, playouts=1 + dice.randrange(2000), seed=number)
        assert holds(result, minimax(position).value)
        if result.proven:
            assert holds(result, -minimax(play(position, result.best_move)).value)


SMALL_GAMES = [
    *("tictactoe", "connect4:4x4", "breakthrough:4x4", "kalah:2x3", "othello:4x4"),
    *("toys.boxes", "toys.duel", "toys.pursuit", "toys.hexapawn", "toys.bargain", "toys.kayles"),
]


@compiled_too
@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("selection", ["uct", "puct"])
@pytest.mark.parametrize("name", SMALL_GAMES)
def test_proofs_of_ten_thousand_positions(name, selection):
    """All positions share a tree; every proof must be right, even where the tree was in use."""
    game = load_game(name)
    dice = Random(name)
    search = MonteCarlo(game, memory=SMALL, selection=selection)
    table = cutnode.Table(64)
    proven = 0
    for number in range(1000):
        position = random_position(game.start(), 40, dice)
        for _ in range(2):
            result = search.search(position, playouts=3000, seed=number)
            value = solve(position, table=table).value
            assert holds(result, value), (position, result)
            proven += result.proven
            if result.best_move is None or outcome(play(position, result.best_move))[0]:
                break
            position = play(position, result.best_move)
    # Few duels are ever proven, and fewer where the evaluation directs the search.
    least = {"uct": 50, "puct": 25}[selection] if name == "toys.duel" else 100
    assert proven > least


@pytest.mark.parametrize(("moves", "best"), [("1425", "3"), ("152", "3"), ("5192", "3")], ids=str)
def test_wins_and_losses_in_one_move_are_seen(moves, best):
    position = PLAIN.parse(moves)
    result = mcts(position, 60)
    assert result.line_text()[0] == best


def test_a_win_at_once_is_proven_by_the_first_playout():
    result = mcts(PLAIN.parse("1425"), 10)
    assert (result.proven, result.playouts, result.reason) == (True, 1, "proven")
    assert result.value > MOST_ESTIMATE
    assert result.win_rate == 1.0
    assert "the player to move wins" in str(result)


def test_draws_by_repetition():
    """The tree knows the line to each node, so a repetition is a draw there, and only there."""
    position = duel.Position(0, 2, False)
    game = load_game("toys.duel", plain=True)
    for start in (game.start(), type(game.start())(*position)):
        result = mcts(start, 400)
        assert holds(result, solve(start).value)


# Estimates


def test_a_game_of_chance_comes_near_its_expectation():
    start = race.Position()
    exact = minimax(start._replace(roll=2)).value
    for options in ({}, {"minimax": 0.3, "rave": 50.0}):
        result = mcts(twin("toys.race", start._replace(roll=2)), 800, **options)
        assert result.value == pytest.approx(exact, abs=15)
    result = mcts(twin("toys.race", start), 300)
    assert (result.lines, result.best_move) == ((), None)
    assert result.value == pytest.approx(minimax(start).value, abs=20)


def twin(name, position):
    """Return the same position in the plain copy of its game."""
    return type(load_game(name, plain=True).start())(*position)


@pytest.mark.parametrize(
    "options",
    [
        *({"selection": "uct"}, {"selection": "puct"}, {"rave": 100.0}, {"minimax": 0.5}),
        *({"cut_after": 0}, {"cut_after": 3}, {"rollouts": "bounds"}),
        *({"priors": "evaluation"}, {"priors": "uniform"}),
        {"selection": "puct", "rave": 30.0, "minimax": 0.2, "exploration": 0.5},
    ],
    ids=str,
)
@pytest.mark.parametrize("name", ["connect4:4x4"])
def test_every_option_finds_the_move(name, options):
    game = load_game(name, plain=True)
    position = game.parse("11223")
    result = mcts(position, 200, **options)
    assert result.line_text()[0] == "4"
    assert holds(result, solve(position).value)


# The same search both ways


@compiled_too
@pytest.mark.parametrize(
    "options",
    [
        *({}, {"selection": "puct"}, {"rave": 50.0}, {"minimax": 0.3, "cut_after": 2}),
        *({"priors": "evaluation"}, {"moves": [0, 4]}),
    ],
    ids=str,
)
def test_plain_python_grows_the_same_tree(options):
    results = [mcts(game.start(), 400, seed=3, **options) for game in (TICTACTOE, PLAIN)]
    compiled, plain = (
        (r.value, r.lines, r.moves, r.nodes, r.statistics.tree_size, r.statistics.settled)
        for r in results
    )
    assert compiled == plain


@compiled_too
@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "toys.boxes",
        *(
            pytest.param(name, marks=pytest.mark.long)
            for name in (
                *("toys.gamble", "toys.duel", "toys.race", "toys.pig", "connect4:4x4"),
                *("kalah:3x2", "ur:finkel-2", "breakthrough:4x4", "othello:4x4"),
            )
        ),
    ],
)
def test_plain_python_grows_the_same_trees(name):
    games = [load_game(name), load_game(name, plain=True)]
    options = {"minimax": 0.1, "rave": 20.0}
    if name in ("connect4:4x4", "breakthrough:4x4"):
        options["rollouts"] = "order"
    if name in ("kalah:3x2", "othello:4x4", "toys.gamble"):
        options["priors"] = "evaluation"
    results = [mcts(game.start(), 250, **options) for game in games]
    compiled, plain = ((r.value, r.lines, r.moves, r.statistics.tree_size) for r in results)
    assert compiled == plain


@pytest.mark.slow
@pytest.mark.long
@compiled_too
def test_plain_python_grows_the_same_tree_of_results():
    """Where a game draws the result of random play directly."""
    results = [
        mcts(load_game("hex:5", plain=plain).start(), 150, seed=5, rollouts="uniform")
        for plain in (False, True)
    ]
    compiled, plain = ((r.moves, r.statistics) for r in results)
    assert compiled[0] == plain[0]
    assert compiled[1].rollouts == compiled[1].rollout_plies == plain[1].rollouts > 20
    played = mcts(load_game("hex:5").start(), 150, rollouts="uniform", cut_after=25)
    assert played.statistics.rollout_plies > 5 * played.statistics.rollouts


def test_priors_are_by_what_was_asked_for():
    game = load_game("connect4", plain=True)  # has an order, and learned weights
    found = {}
    for priors in PRIORS:
        result = mcts(game.start(), 50, seed=1, priors=priors)
        found[priors] = {each.move: each.prior for each in result.moves}
        assert sum(found[priors].values()) == pytest.approx(1)
    assert set(found["uniform"].values()) == {1 / 7}
    search = cutnode.MonteCarlo(game, priors="evaluation", memory=SMALL)
    children = {move: play(game.start(), move) for move in legal_moves(game.start())}
    guesses = {move: -search.evaluation(child) for move, child in children.items()}
    ranked = sorted(guesses, key=guesses.__getitem__)
    assert sorted(found["evaluation"], key=found["evaluation"].__getitem__)[-1] == ranked[-1]
    assert found["evaluation"][ranked[-1]] > 1 / 7
    assert (
        mcts(game.start(), 50, seed=1).moves == mcts(game.start(), 50, seed=1, priors="order").moves
    )


def test_priors_need_something_to_go_by():
    game = load_game("toys.hexapawn", plain=True)
    with pytest.raises(CutnodeError, match="has no evaluate, which priors='evaluation' needs"):
        mcts(game.start(), 10, priors="evaluation")


def test_the_seed_decides():
    start = PLAIN.start()
    first, same, other = (mcts(start, 100, seed=seed) for seed in (1, 1, 2))
    assert first.moves == same.moves
    assert first.moves != other.moves


def test_all_moves_are_tried_where_values_are_points():
    """An untried move's initial value is in the unit of the values that playouts have shown."""
    start = load_game("kalah", plain=True).start()
    result = cutnode.search(start, engine="mcts", playouts=600, memory=20_000_000, seed=5)
    assert min(move.visits for move in result.moves) > 0
    assert result.statistics.rollouts > 500


# The tree between searches


def test_the_tree_is_used_again():
    search = MonteCarlo(PLAIN, memory=SMALL)
    first = search.search(PLAIN.start(), playouts=300)
    line = [play(PLAIN.start(), first.pv[0])]
    line.append(play(line[0], first.pv[1]))
    second = search.search(line[1], playouts=50)
    assert 0 < second.statistics.kept < first.statistics.tree_size
    assert sum(move.visits for move in second.moves) > 50
    again = search.search(line[1], playouts=50)
    assert again.statistics.kept == second.statistics.tree_size
    elsewhere = search.search(PLAIN.parse("9876"), playouts=50)
    assert elsewhere.statistics.kept == 0
    search.clear()
    assert search.search(PLAIN.parse("9876"), playouts=50).statistics.kept == 0
    fresh = MonteCarlo(PLAIN, memory=SMALL, reuse=False)
    fresh.search(PLAIN.start(), playouts=100)
    assert fresh.search(PLAIN.start(), playouts=100).statistics.kept == 0


def test_the_tree_of_chosen_moves_is_not_used_again():
    search = MonteCarlo(PLAIN, memory=SMALL)
    few = search.search(PLAIN.start(), playouts=100, moves=[0, 1])
    assert {move.move for move in few.moves} == {0, 1}
    assert len(search.search(PLAIN.start(), playouts=100).moves) == 9


def test_proofs_by_repetition_are_not_kept():
    """They depend on the earlier moves."""
    game = load_game("toys.duel", plain=True)
    search = MonteCarlo(game, memory=SMALL)
    position = game.start()
    for _ in range(4):
        result = search.search(position, playouts=200)
        assert holds(result, solve(position).value)
        position = play(position, result.best_move)
        if outcome(position)[0]:
            break


def test_history_is_remembered():
    game = load_game("toys.duel", plain=True)
    start = game.start()
    line = [start]
    for move in (0, 1, 1, 0):
        line.append(play(line[-1], move))
    result = mcts(line[-1], 100, history=line[:-1])
    assert result.best_move in legal_moves(line[-1])


@pytest.mark.parametrize(
    ("game", "memory", "playouts"),
    [pytest.param(TICTACTOE, 400_000, 50_000, marks=compiled_too), (PLAIN, 2_200_000, 1_500)],
    ids=["compiled", "plain"],
)
def test_memory_is_bounded(game, memory, playouts):
    search = MonteCarlo(game, memory=memory)
    assert search.megabytes <= 3
    result = search.search(game.start(), playouts=playouts)
    assert result.statistics.copies > 0
    assert result.statistics.tree_size <= search.tree.capacity
    assert result.playouts == playouts or result.proven
    assert holds(result, 0)


# Limits, threads, interrupts


@compiled_too
def test_threads_grow_one_tree():
    dice = Random(1)
    search = MonteCarlo(TICTACTOE, memory=SMALL, threads=3)
    result = search.search(TICTACTOE.start(), playouts=30_000)
    assert result.playouts >= 30_000 or result.proven
    assert abs(sum(move.visits for move in result.moves) - result.playouts) < 3000
    for _ in range(30):
        position = random_position(TICTACTOE.start(), 8, dice)
        result = search.search(position, playouts=3000)
        assert holds(result, minimax(position).value)
    small = MonteCarlo(TICTACTOE, memory=600_000, threads=2)
    assert small.search(TICTACTOE.start(), playouts=40_000).statistics.copies > 0


@pytest.mark.parametrize("no_solver", [True, False])
def test_playouts_that_pass_the_root_together_count_one_by_one(no_solver):
    search = MonteCarlo(PLAIN, memory=SMALL, no_solver=no_solver)
    for name in ("shared", "everywhere", "together"):  # as where threads share the tree
        search.memories[0][name] = 1
    result = search.search(PLAIN.start(), playouts=2000)
    assert result.playouts == sum(move.visits for move in result.moves) == 2000
    if no_solver:  # all virtual losses are taken back: results are wins, draws and losses
        sums = [move.worth * move.visits for move in result.moves]
        assert sums == pytest.approx([*map(round, sums)], abs=1e-6)
    else:
        assert holds(result, 0)


def test_rollouts_follow_the_policy_of_a_game():
    go = load_game("go:2x2", plain=True).start()
    result = mcts(go, 60)
    assert result.playouts == 60 and 1 in range(result.lower, result.upper + 1)


def test_limits():
    result = mcts(PLAIN.start(), 30)
    assert (result.playouts, result.reason) == (30, "playout limit")
    result = cutnode.search(PLAIN.start(), engine="mcts", nodes=200, memory=SMALL)
    assert 200 <= result.nodes < 230
    assert result.reason == "node limit"
    result = cutnode.search(PLAIN.start(), engine="mcts", seconds=0.05, memory=SMALL)
    assert result.reason == "time limit"
    stop = threading.Event()
    stop.set()
    result = cutnode.search(PLAIN.start(), engine="mcts", stop=stop, memory=SMALL)
    assert (result.reason, result.playouts) == ("stopped", 0)
    assert result.best_move in legal_moves(PLAIN.start())


def test_ctrl_c_keeps_the_best_so_far(interrupt_soon):
    interrupt_soon()
    result = cutnode.search(PLAIN.start(), engine="mcts", seconds=60, memory=SMALL)
    assert result.reason == "interrupted"
    assert result.best_move is not None
    assert result.seconds < 30


def test_a_finished_game_has_no_move():
    result = mcts(PLAIN.parse("14253"), 10)
    assert (result.lines, result.moves, result.proven) == ((), (), True)
    assert result.value == -WIN


def test_progress_is_told():
    told = []
    mcts(PLAIN.start(), 3000, progress=told.append)
    assert all(step.lines and step.nodes for step in told)


def test_results_print_and_convert():
    result = mcts(PLAIN.start(), 100, lines=2)
    assert len(result.lines) == 2
    assert "playouts" in str(result)
    data = result.to_dict()
    assert data["best_move"] == result.line_text()[0]
    assert data["moves"][0]["visits"] == max(move.visits for move in result.moves)
    assert data["statistics"]["playouts_per_second"] > 0


# Interfaces


def test_an_engine_searches_by_playouts():
    with cutnode.Engine(PLAIN, engine="mcts", memory=SMALL, table=1) as held:
        result = held.search(PLAIN.parse("15"), playouts=200, lines=3)
        assert len(result.lines) == 3
        assert held.search(PLAIN.parse("15"), playouts=10).statistics.kept > 100
        held.new_game()
        assert held.search(PLAIN.parse("15"), playouts=10).statistics.kept == 0
        handle = held.start(PLAIN.start(), seconds=60)
        handle.stop()
        assert handle.wait().reason == "stopped"
        assert handle.progress.nodes == handle.wait().nodes
        pondering = held.ponder(PLAIN.start(), seconds=0.01)
        pondering.hit()
        assert pondering.wait().reason in ("time limit", "proven")
        assert held.solve(PLAIN.parse("15")).value == 0
        assert held.megabytes >= SMALL >> 20
    with pytest.raises(CutnodeError, match="engine must be one of"):
        cutnode.Engine(PLAIN, engine="oracle")


def test_players_by_playouts():
    player = cutnode.make_player(PLAIN, "engine=mcts,playouts=80,exploration=0.8,memory=16")
    player.new_game(5)
    choice = player.choose(PLAIN.parse("1425"))
    assert (choice.move, choice.reason) == (2, "proven")
    first, again = player.choose(PLAIN.start()), player.choose(PLAIN.start())
    assert first.move == again.move
    for text, message in (
        ("engine=mcts", "needs a limit"),
        ("engine=mcts,playouts=10,depth=2", "depth does not go with engine=mcts"),
        ("depth=3,rave=10", "rave does not go with engine=alphabeta"),
        ("engine=best,depth=3", "engine must be one of alphabeta, mcts"),
    ):
        with pytest.raises(CutnodeError, match=message):
            cutnode.make_player(PLAIN, text)


@compiled_too
def test_the_command_searches_by_playouts():
    found = CliRunner().invoke(
        search_command, ["tictactoe", "15", "--engine", "mcts", "--playouts", "100000", "--json"]
    )
    data = json.loads(found.output)
    assert (data["value"], data["proven"]) == (0, True)
    assert len(data["moves"]) == 7 and data["moves"][0].keys() > {"visits", "win_rate", "prior"}
    for wrong in (["--engine", "mcts", "--exact"], ["--rave", "5"], ["--playouts", "9"]):
        found = CliRunner().invoke(search_command, ["tictactoe", *wrong])
        assert isinstance(found.exception, CutnodeError)


# Bad input


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"playouts": 0}, "at least 1"),
        ({"playouts": 10, "exploration": -1.0}, "exploration must be at least 0"),
        ({"playouts": 10, "exploration": float("nan")}, "exploration must be at least 0"),
        ({"playouts": 10, "minimax": 2}, "minimax must be 0..1"),
        ({"playouts": 10, "rave": "much"}, "rave must be a number"),
        ({"playouts": 10, "selection": "best"}, "uct, puct"),
        ({"playouts": 10, "rollouts": "clever"}, "uniform, order, bounds"),
        ({"playouts": 10, "priors": "policy"}, "priors must be one of uniform, order, evaluation"),
        ({"playouts": 10, "priors": "order"}, "has no order, which priors="),
        ({"playouts": 10, "selection": "uct", "priors": "uniform"}, "priors need selection='puct'"),
        ({"playouts": 10, "cut_after": -1}, "cut_after must be at least 0"),
        ({"playouts": 10, "memory": 1000}, "bytes of memory"),
        ({"playouts": 10, "depth": 3}, "depth does not limit"),
        ({"playouts": 10, "rollouts": "bounds"}, "has no bounds"),
        ({"playouts": 10, "rollouts": "policy"}, "has no policy"),
        ({}, "needs a limit"),
    ],
    ids=str,
)
def test_bad_options_are_told(options, message):
    with pytest.raises(CutnodeError, match=message):
        cutnode.search(PLAIN.start(), engine="mcts", **options)


def test_engines_are_told_apart():
    with pytest.raises(CutnodeError, match="alphabeta, mcts"):
        cutnode.search(PLAIN.start(), engine="magic", depth=1)
    with pytest.raises(CutnodeError, match="playouts limit only Monte Carlo"):
        cutnode.search(PLAIN.start(), playouts=10)
    with pytest.raises(TypeError, match="no option 'driver'"):
        cutnode.search(PLAIN.start(), engine="mcts", playouts=10, driver="mtdf")
    with pytest.raises(PositionError, match="legal"):
        cutnode.search(PLAIN.start(), engine="mcts", playouts=10, moves=[77])
    with pytest.raises(GameError, match="this searcher is for"):
        MonteCarlo(PLAIN, memory=SMALL).search(boxes.start(), playouts=10)


# Printed results


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--playouts", "9"], "--playouts limits Monte Carlo tree search: add --engine mcts"),
        (["--engine", "mcts", "--depth", "3"], "--engine mcts takes --playouts, --nodes or"),
        (["--engine", "auto", "--playouts", "5"], "add --engine mcts"),
        (["--engine", "auto", "--nodes", "5"], "--engine auto needs --seconds"),
    ],
)
def test_limits_are_checked_before_a_board_is_drawn(words, message):
    found = CliRunner().invoke(search_command, ["tictactoe", *words])
    assert found.output == "" and message in str(found.exception)


def test_missing_limits_are_those_of_the_engine():
    with pytest.raises(CutnodeError, match="a limit: playouts, nodes, seconds, or stop"):
        cutnode.search(PLAIN.start(), engine="mcts")
    held = cutnode.Engine(PLAIN, engine="auto", memory=SMALL, table=1)
    with held, pytest.raises(CutnodeError, match="a limit: seconds"):
        held.search(PLAIN.start())


@pytest.mark.parametrize(
    ("text", "word", "meaning"),
    [
        ("14253", "loss", "the game is over: the player to move has lost"),
        ("1425", "win", "the player to move wins"),
        ("", None, "of the points, estimated by 20 playouts"),
    ],
)
def test_values_say_what_they_are(text, word, meaning):
    result = mcts(PLAIN.parse(text), 20)
    assert result.meaning().endswith(meaning)
    assert result.value_text() == (word or f"{result.win_rate:.1%}")
    assert str(result).startswith(f"value  {result.meaning()}  (")
