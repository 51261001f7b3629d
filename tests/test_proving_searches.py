"""Searches that also try a proof: what they find, when, and what remains if it fails."""

from __future__ import annotations

import json
import pickle
import random
import threading
import time
from types import SimpleNamespace

import pytest
from commands import run_cutnode

import cutnode
from cutnode import CutnodeError, Engine, GameError, PositionError, load_game, make_player, minimax
from cutnode.contract.dispatch import module_of
from cutnode.kernels.clock import Clock
from cutnode.kernels.parameters import MOST_MOVES
from cutnode.kernels.scores import MOST_ESTIMATE, WIN, win_distance
from cutnode.kernels.tablebase_scores import FAR
from cutnode.search import proving_searcher
from cutnode.search.options import SearchOptions
from cutnode.search.proving_searcher import ProvingSearcher, WinAttempt
from cutnode.search.searcher import Searcher

pytestmark = pytest.mark.once

GAME = load_game("connect4")
LATE = "52677675164321472411331752454"
"""Its value is 0, which several moves keep."""
PLAIN = load_game("tictactoe", plain=True)


def proving(game=GAME, share=0.5, **options):
    return ProvingSearcher(game, table=1, proof_share=share, **options)


def sign(value):
    return (value > 0) - (value < 0)


def random_positions(game, count, seed):
    draw = random.Random(seed)
    while count:
        position = game.start()
        for _ in range(draw.randrange(8)):
            if cutnode.legal_moves(position):
                position = game.play(position, draw.choice(cutnode.legal_moves(position)))
        if cutnode.legal_moves(position):
            count -= 1
            yield position


def test_a_proof_is_the_result():
    position = GAME.parse(LATE)
    wanted = cutnode.analyse(position)
    result = proving().search(position, nodes=10_000)
    assert (result.proven, result.exact, result.reason) == (True, False, "proven")
    assert wanted.scores[result.best_move] == wanted.value
    assert result.statistics.proof_nodes > 0 < result.statistics.nodes
    assert result.pv == wanted.pv
    assert result.depth == result.statistics.depth == len(wanted.pv)
    assert result.why == f"the exact solver: {wanted.meaning()}"
    assert f"engine {result.why}" in str(result)
    assert result.nodes == result.statistics.proof_nodes + result.statistics.nodes


@pytest.mark.slow
def test_a_proven_value_of_a_game_of_points_is_exact():
    game = load_game("kalah:3x2")
    result = proving(game, 0.9).search(game.start(), nodes=20_000)
    assert (result.proven, result.exact) == (True, True)
    assert result.why.startswith("the exact solver: ")
    assert result.value == cutnode.solve(game).value


def test_the_result_can_be_kept():
    result = proving().search(GAME.parse(LATE), nodes=10_000)
    assert pickle.loads(pickle.dumps(result)) == result


@pytest.mark.parametrize(
    "name",
    [
        "tictactoe",
        *(
            pytest.param(name, marks=[pytest.mark.slow, pytest.mark.long])
            for name in ("connect4:4x3", "domineering:4x4")
        ),
        pytest.param("kalah:3x2", marks=pytest.mark.slow),
        "toys.hexapawn",
    ],
)
def test_values_are_those_of_minimax(name):
    game = load_game(name, plain=name.startswith("toys."))
    searcher = proving(game)
    for position in random_positions(game, 12, name):
        result = searcher.search(position, nodes=10_000)
        wanted = minimax(position, 63).value
        if not result.decisive:
            assert result.value == wanted
        assert sign(result.value) == sign(wanted)
        scores = cutnode.analyse(position).scores
        assert scores[result.best_move] == max(scores.values())


def test_a_win_that_is_proven_says_nothing_of_how_soon():
    won = GAME.parse("44444326555535")
    result = proving().search(won, nodes=50_000)
    assert MOST_ESTIMATE < result.value <= WIN - FAR
    assert win_distance(result.value) == FAR + len(result.pv)
    assert result.meaning() == "the player to move wins"


def test_a_search_follows_a_proof_that_failed():
    position = GAME.start()
    result = proving(GAME, 0.25).search(position, nodes=4_000)
    alone = Searcher(GAME, table=1).search(position, nodes=3_000)
    assert not result.proven
    assert result.reason == "node limit"
    assert 900 < result.statistics.proof_nodes <= 1_000
    assert result.nodes <= 4_000
    assert result.nodes == result.statistics.proof_nodes + result.statistics.nodes
    assert result.iterations[0].nodes < 100
    assert result.iterations[-1].nodes > result.statistics.proof_nodes
    assert abs(result.depth - alone.depth) <= 1
    assert result.why == f"alphabeta; no proof in {result.statistics.proof_nodes:,} nodes"


def test_nothing_is_tried_without_a_share():
    position = GAME.parse("1122")
    one, other = proving(GAME, 0), Searcher(GAME, table=1)
    results = [each.search(position, nodes=3_000).to_dict() for each in (one, other)]
    for result in results:
        result["seconds"] = result["statistics"] = None
        for iteration in result["iterations"]:
            iteration["seconds"] = None
    assert results[0] == results[1]
    assert one.solver is None


@pytest.mark.parametrize(
    "options",
    [{"depth": 3}, {"nodes": 1_000, "lines": 2}, {"nodes": 1_000, "moves": [0, 1]}],
    ids=["a depth", "lines", "moves"],
)
def test_a_search_for_something_else_tries_no_proof(options):
    result = proving().search(GAME.start(), **options)
    assert (result.statistics.proof_nodes, result.why) == (0, "")


def test_the_solver_waits_for_a_search_that_may_try_a_proof():
    searcher = proving(PLAIN, ready=False)
    searcher.search(PLAIN.start(), depth=2)
    assert searcher.solver is None
    searcher.search(PLAIN.start(), nodes=100)
    assert searcher.solver is not None


def test_a_finished_game_needs_no_proof():
    over = PLAIN.parse("14253")
    assert proving(PLAIN).search(over, nodes=100).nodes == 0


@pytest.mark.parametrize("limit", ["seconds", "soft_seconds"])
def test_time_is_shared_too(limit):
    result = proving().search(GAME.start(), **{limit: 0.1})
    assert result.statistics.proof_nodes > 0 < result.statistics.nodes
    assert result.reason == "time limit"


def test_the_seed_chooses_among_moves_of_the_same_value():
    position = GAME.parse(LATE)
    scores = cutnode.analyse(position).scores
    searcher = proving()
    moves = {searcher.search(position, nodes=200_000, seed=seed).best_move for seed in range(12)}
    assert moves == {move for move, score in scores.items() if score == max(scores.values())}
    again = [searcher.search(position, nodes=200_000, seed=3).best_move for _ in range(2)]
    assert again[0] == again[1]


def test_progress_is_told():
    found = []
    result = proving().search(GAME.parse(LATE), nodes=10_000, progress=found.append)
    assert found == list(result.iterations)
    assert (found[-1].proven, found[-1].nodes) == (True, result.nodes)


def test_plain_python():
    position = PLAIN.parse("12")
    result = proving(PLAIN).search(position, nodes=100_000)
    assert result.proven
    assert sign(result.value) == sign(minimax(position, 9).value)


def test_a_limit_of_one_node():
    result = proving().search(GAME.start(), nodes=1)
    assert result.best_move in cutnode.legal_moves(GAME.start())


@pytest.mark.parametrize("share", [-0.1, 0.95, "half", float("nan"), True])
def test_a_share_is_a_number_in_its_range(share):
    with pytest.raises(CutnodeError, match=r"proof_share must be a number from 0 to 0\.9, got"):
        proving(share=share)


@pytest.mark.parametrize(("name", "reason"), [("ur:finkel", "chance"), ("morris", "cycles")])
def test_games_without_such_proofs(name, reason):
    with pytest.raises(GameError, match=f"has {reason}, so its searches try no proof"):
        proving(load_game(name))
    assert ProvingSearcher(load_game(name), table=1, proof_share=0, ready=False).share == 0


def test_a_game_says_its_share(monkeypatch):
    assert ProvingSearcher(load_game("tictactoe"), table=1, ready=False).share == 0
    module = module_of(type(PLAIN.start()))
    monkeypatch.setattr(module, "PROFILE", {"solver.proof_share": 0.25}, False)
    assert ProvingSearcher(PLAIN, table=1, ready=False).share == 0.25
    assert ProvingSearcher(PLAIN, table=1, proof_share=0, ready=False).share == 0
    monkeypatch.setattr(module, "PROFILE", {"solver.proof_share": 1.5}, False)
    with pytest.raises(GameError, match=r"solver\.proof_share must be a number from 0 to 0\.9"):
        ProvingSearcher(PLAIN, table=1, ready=False)


# Forced wins


def test_a_search_of_chess_finds_the_quickest_mate():
    """Quiet moves lead to both mates; the search alone misses one, and finds a longer other one."""
    chess = load_game("chess")
    hidden = chess.parse("k1B5/2p5/NbN5/8/P2p4/P2p4/P1prp3/2RbK3 w - - 0 1")
    longer = chess.parse("8/8/8/8/8/6P1/6k1/4KR1R w K - 0 1")
    with Engine(chess, table=8) as engine, Engine(chess, table=8, proof_share=0) as alone:
        for position in (hidden, longer):
            assert alone.search(position, nodes=100_000).value < WIN - 5
            found = engine.search(position, nodes=100_000)
            assert found.value == WIN - 5 and found.proven
            assert found.why == "the search for forced wins"
            assert len(found.pv) == 5
            assert found.nodes == found.statistics.nodes + found.statistics.proof_nodes < 100_000


def test_a_short_search_attempts_no_win():
    chess = load_game("chess", plain=True)
    searcher = ProvingSearcher(chess, table=1, ready=False)
    position = chess.start()
    for limits in ({"nodes": 500}, {"nodes": 500, "seconds": 9.0}, {"seconds": 0.1}, {"depth": 1}):
        assert searcher.search(position, **limits).statistics.proof_nodes == 0
    assert searcher.prover is None


def test_an_attempt_at_a_win_heeds_the_game_before(monkeypatch):
    monkeypatch.setattr(proving_searcher, "WIN_NODES", 1)
    chess = load_game("chess", plain=True)
    position = chess.parse("7k/8/5K2/8/8/8/8/4Q3 w - - 20 90")
    searcher = ProvingSearcher(chess, table=1, proof_share=0.9)
    first = searcher.search(position, nodes=2_000)
    assert first.value == WIN - 3
    after = chess.play(position, first.best_move)
    other = searcher.search(position, nodes=2_000, history=[after, after])
    assert other.value != WIN - 3 or other.best_move != first.best_move


def test_where_a_repetition_is_no_draw_no_win_is_attempted(monkeypatch):
    chess = load_game("chess", plain=True)
    assert ProvingSearcher(chess, table=1, ready=False).share > 0
    monkeypatch.setattr(chess.module, "REPETITION", "loss", False)
    monkeypatch.setattr(chess.module, "REPETITIONS", 2)
    assert ProvingSearcher(chess, table=1, ready=False).share == 0


class FruitlessProver:
    """A prover that finds nothing, uses up its nodes, and keeps what it was asked."""

    def __init__(self, refuted=0):
        self.refuted = refuted
        self.asked = []

    def prove(self, position, moves, *, nodes, **others):
        self.asked.append((moves, nodes))
        return SimpleNamespace(
            nodes=nodes, seconds=0, reason="", best_move=None, refuted=min(self.refuted, moves)
        )


class SearchSoFar:
    """A search: the values that it has found so far, and its nodes."""

    def __init__(self):
        self.iterations, self.clock = [], Clock(None)
        self.reason, self.stops = "", []
        self.used = 10_000

    def found(self, value, proven=False):
        self.iterations.append(SimpleNamespace(value=value, proven=proven))
        return self

    def spend(self, nodes):
        self.used += nodes

    def nodes(self):
        return self.used

    def rest(self):
        pass


def attempt_with(prover):
    options = SearchOptions(nodes=200_000)
    return WinAttempt(prover, load_game("chess").start(), options, options.limits(), 0.1, (WIN, 1))


def test_a_far_win_is_no_more_moves_than_a_proof_may_have():
    prover = FruitlessProver()
    for value in (WIN - 4_000, WIN - 7, WIN - 1, 0, 4_000 - WIN):
        attempt_with(prover)(SearchSoFar().found(value, value > 0))
    assert [moves for moves, _ in prover.asked] == [MOST_MOVES, 3, 1, MOST_MOVES, MOST_MOVES]


def test_a_win_is_attempted_again_as_the_score_rises():
    """The shares are 1, 10 and 40 percent, and after a win all that is left."""
    prover = FruitlessProver()
    attempt, search = attempt_with(prover), SearchSoFar()
    for value, proven in ((-30, False), (-90, False), (20, False), (10, False), (-5, False)):
        attempt(search.found(value, proven))
    assert [nodes for _, nodes in prover.asked] == [2_000, 18_000]
    attempt(search.found(550))
    assert prover.asked[2:] == [(MOST_MOVES, 60_000)]
    attempt(search.found(WIN - 9, proven=True))
    assert prover.asked[3:] == [(4, 110_000)]
    assert attempt.nodes() + 10_000 == search.nodes() == 200_000


def test_no_quicker_win_is_attempted_where_none_exists():
    prover = FruitlessProver(refuted=4)
    attempt, search = attempt_with(prover), SearchSoFar()
    attempt(search.found(20))
    attempt(search.found(WIN - 9, proven=True))
    assert len(prover.asked) == 1


def test_the_quickest_win_is_found_after_a_longer_one():
    """The search proves a mate in four, then the attempt at a win finds the mate in three."""
    chess = load_game("chess")
    position = chess.parse("4R3/1k6/bp6/1p1P4/1K6/8/1B6/3Q4 w - - 0 1")
    with Engine(chess, table=8) as engine:
        assert engine.search(position, nodes=100_000).value == WIN - 5


# Reasons for ending


def test_an_event_ends_it():
    stop = threading.Event()
    stop.set()
    result = proving().search(GAME.start(), nodes=1 << 40, stop=stop)
    assert (result.reason, result.proven) == ("stopped", False)
    assert result.best_move in cutnode.legal_moves(GAME.start())


def test_an_interrupt_ends_it(monkeypatch):
    searcher = proving()
    prove = searcher.solver.prove

    def interrupted(goal, limits):
        result = prove(goal, limits.__class__(nodes=1))
        object.__setattr__(result, "reason", "interrupted")
        return result

    monkeypatch.setattr(searcher.solver, "prove", interrupted)
    result = searcher.search(GAME.start(), nodes=10_000)
    assert (result.reason, result.proven) == ("interrupted", False)
    assert result.best_move in cutnode.legal_moves(GAME.start())


def test_an_engine_stops_it():
    with Engine("connect4", table=1, proof_share=0.9) as searching:
        handle = searching.start("", nodes=10_000_000)
        while handle.progress.nodes < 1_000_000:
            time.sleep(0.001)
        handle.stop()
        result = handle.wait()
    assert result.reason == "stopped"
    assert result.statistics.proof_nodes > 0


def test_pondering_tries_none():
    with Engine("connect4", table=1, proof_share=0.5) as searching:
        handle = searching.ponder("", nodes=2_000)
        result = handle.wait()
    assert result.statistics.proof_nodes == 0


# Reports


def test_engines_and_players_take_it():
    position = GAME.parse(LATE)
    with Engine(GAME, table=1, proof_share=0.5) as searching:
        assert searching.search(position, nodes=10_000).proven
        assert searching.megabytes >= 1
    assert cutnode.search(position, nodes=10_000, proof_share=0.5, table=1).proven
    player = make_player(GAME, "nodes=10000,proof_share=0.5,table=1")
    player.new_game(1)
    assert player.choose(position).reason == "proven"
    with pytest.raises(CutnodeError, match=r"proof_share does not go with engine=mcts"):
        make_player(GAME, "engine=mcts,playouts=10,proof_share=0.5")
    with pytest.raises(PositionError):
        player.choose(GAME.parse("1212121"))


def test_command_takes_it():
    limits = ["--nodes", "10000", "--proof-share", "0.5"]
    arguments = ["search", "connect4", LATE, *limits, "--json"]
    done = run_cutnode(*arguments)
    assert done.exit_code == 0, done.output
    data = json.loads(done.output)
    assert data["proven"]
    assert data["details"]["why"].startswith("the exact solver: ")
    done = run_cutnode(*arguments, "--engine", "mcts")
    assert "--proof-share is an option of alpha-beta, not of mcts" in done.stderr
