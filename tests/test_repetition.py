"""Tests of what a repetition means: a draw, a win, a loss, or no legal move."""

from collections import Counter

import pytest
from marks import compiled_only
from toys.walk import walk

from cutnode import (
    Board,
    GameError,
    PositionError,
    Searcher,
    analyse,
    iterate,
    load_game,
    make_player,
    minimax,
    prove_win,
    solve,
    write_proof,
)
from cutnode import search as board_search
from cutnode.contract.repetition import RULES, repetition_rule
from cutnode.export.packages import export
from cutnode.playing.matches import play_game
from cutnode.search.monte_carlo import MonteCarlo
from cutnode.service.games import GameRegistry
from cutnode.service.views import view
from cutnode.tablebases.building import build_tablebase

GAME = "toys.walk:{}"
MOST = 2


def naive(graph, rule):
    """Return the value of a graph by the rule alone, over whole lines of play."""
    after = [[n for n in range(8) if graph.edges >> 8 * at + n & 1] for at in range(8)]
    labels = [graph.labels >> 4 * at & 15 for at in range(8)]

    def word(at, second):
        return labels[at], second and graph.counts

    def value(at, second, words):
        if not after[at]:
            return (graph.values >> 4 * at & 15) - 2
        found = []
        same = bool(graph.again >> at & 1)
        for node in after[at]:
            mover = second if same else not second
            now = word(node, mover)
            stays = rule != "draw" and now == words[-1]
            if not after[node] or stays or now not in words:
                below = value(node, mover, [*words, now])
                found.append(below if same else -below)
            elif rule != "illegal":
                found.append({"draw": 0, "loss": -MOST, "win": MOST}[rule])
        return max(found, default=-MOST)

    return value(graph.at, graph.second, [word(graph.at, graph.second)])


def graphs(game, rule, seeds):
    """Yield random graphs and their values."""
    for seed in seeds:
        position = game.module.random_walk(seed, rule)
        yield position, naive(position, rule)


def selective_value(game, position, value):
    """Return what a selective search proves, or the known *value* if it proves nothing."""
    found = Searcher(game, table=1).search(position, depth=12)
    return found.value if found.proven else value


def wrong_values(game, rule, seeds):
    """Return what solvers find on random graphs, where it is not the value."""
    wrong, searcher = [], Searcher(game, exact=True, table=1)
    for seed, (position, value) in zip(seeds, graphs(game, rule, seeds), strict=True):
        found = {
            "alphabeta": solve(position).value,
            "pn": solve(position, engine="pn").value,
            "search": searcher.search(position, depth=30).value,
            "minimax": minimax(position).value,
            "selective": selective_value(game, position, value),
        }
        wrong += [(seed, name, value, got) for name, got in found.items() if got != value]
    return wrong


@pytest.mark.parametrize("rule", RULES)
def test_plain_searches_follow_the_rule(rule):
    assert wrong_values(load_game(GAME.format(rule), plain=True), rule, range(60)) == []


def test_compiled_searches_follow_the_rule():
    assert wrong_values(load_game(GAME.format("illegal")), "illegal", range(150)) == []


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
def test_all_searches_follow_the_rule(rule):
    assert wrong_values(load_game(GAME.format(rule)), rule, range(2500)) == []


@pytest.mark.parametrize("rule", RULES)
def test_tree_searches_prove_by_the_rule(rule):
    game, proven = load_game(GAME.format(rule), plain=True), 0
    for position, value in graphs(game, rule, range(40)):
        found = MonteCarlo(game, memory=4 << 20).search(position, playouts=3000, seed=1)
        assert not found.proven or found.value == value, position
        proven += found.proven
    assert proven >= 30


def ring(rule, labels=0x76543210):
    """Return a board: a cycle of three nodes, where node 2 also leads to a won end, node 3."""
    edges = 1 << 1 | (1 << 2) << 8 | (1 << 0 | 1 << 3) << 16
    position = walk(rule)(0, False, edges, labels, 4 << 12, 0, False)
    return Board(load_game(GAME.format(rule)), position)


@pytest.mark.parametrize(
    ("rule", "legal", "value"),
    [("draw", [0, 3], 0), ("illegal", [3], None), ("loss", [0, 3], -2), ("win", [0, 3], 2)],
)
def test_boards_know_what_a_repetition_is(rule, legal, value):
    board = ring(rule)
    board.push(1)
    board.push(2)
    assert board.legal_moves == legal
    if rule == "illegal":
        with pytest.raises(PositionError, match="'0' brings an earlier position back"):
            board.push(0)
        board.push(3)
        assert board.outcome() == 2
        return
    board.push(0)
    assert board.is_game_over() and board.record.ending() == "repetition"
    assert board.outcome() == -value  # for the other player, who is to move now
    assert board.copy() == board
    board.pop()
    assert not board.is_game_over()


def test_a_player_without_a_legal_move_loses():
    board = ring("illegal", labels=0x0210)  # node 3 has no edges: it ends the game all the same
    edges = int(board.position.edges) & ~(1 << 19)
    board = Board(board.game, board.position._replace(edges=edges))
    for move in (1, 2):
        board.push(move)
    assert board.is_game_over() and board.record.ending() == "repetition"
    assert board.legal_moves == [] and board.outcome() == -2
    with pytest.raises(PositionError, match="the game is over"):
        board.push(0)


def test_a_move_that_stays_at_its_place_repeats_nothing():
    board = ring("illegal", labels=0x3110)
    for move in (1, 2, 3):
        assert move in board.legal_moves
        board.push(move)
    assert board.record.ending() == "rules"


@pytest.mark.once
def test_searches_know_the_history_of_a_board():
    edges = 1 << 1 | (1 << 2) << 8 | (1 << 0 | 1 << 3) << 16
    start = walk("illegal")(0, False, edges, 0x76543210, 0, 0, False)  # node 3 loses for its mover
    game = load_game(GAME.format("illegal"))
    board = Board(game, start._replace(values=4 << 12))  # and now it wins for him
    for move in (1, 2):
        board.push(move)
    for engine in ("alphabeta", "mcts"):
        limits = {"depth": 5} if engine == "alphabeta" else {"playouts": 100}
        found = board_search(board, engine=engine, **limits)
        assert (found.best_move, found.value) == (3, -2)
    with pytest.raises(PositionError, match="moves must be legal moves, at least one, got 0"):
        board_search(board, depth=2, moves=[0])
    with pytest.raises(GameError, match="solve\\(\\) of a board with a history cannot handle"):
        solve(board)


@pytest.mark.parametrize("rule", ["illegal", "loss", "win"])
def test_matches_end_by_the_rule(rule):
    game = load_game(GAME.format(rule), plain=True)
    players = [make_player(game, text) for text in ("random", "depth=6")]
    endings = Counter()
    for seed in range(20):
        record = play_game(players, game.module.random_walk(seed, rule), seed=seed)
        endings[record.ending()] += 1
    assert set(endings) <= {"rules", "repetition"} and endings["repetition"] > 0


@pytest.mark.parametrize(
    ("constants", "message"),
    [
        ({"REPETITION": "superko"}, 'must be "draw", "illegal", "loss" or "win", got \'superko\''),
        ({"REPETITION": 1}, 'must be "draw", "illegal", "loss" or "win", got 1'),
        ({"REPETITION": "loss", "REPETITIONS": 3}, '"loss", so REPETITIONS must be 2, got 3'),
        ({"REPETITION": "win", "reversible": None}, "needs reversible\\(position, child\\)"),
        ({"REPETITION": "illegal", "chance": lambda position: 0}, "in a game of chance"),
    ],
)
def test_wrong_constants_are_refused(monkeypatch, constants, message):
    game = load_game("toys.duel", plain=True)
    for name, value in constants.items():
        monkeypatch.setattr(game.module, name, value, raising=False)
    with pytest.raises(GameError, match=message):
        repetition_rule(type(game.start()))


@compiled_only
def test_functions_that_need_values_of_positions_refuse(tmp_path):
    game = load_game(GAME.format("illegal"))
    start, of_line = game.start(), 'is "illegal", so a value is no property of a position'
    for refuse in (
        lambda: build_tablebase(start, tmp_path),
        lambda: iterate(start),
        lambda: prove_win(start, 3),
        lambda: write_proof(start, at_least=-2),
        lambda: export(game, tmp_path),
    ):
        with pytest.raises(GameError, match=of_line):
            refuse()
    with pytest.raises(GameError, match="use engine=alphabeta"):
        analyse(start, engine="pn")


def test_analyses_know_the_position_they_begin_with():
    board = ring("illegal")
    assert analyse(board.position).scores == {1: solve(board.position).value}


def test_the_service_tells_pages_what_a_repetition_is():
    board = ring("illegal")
    registry = GameRegistry((GAME.format("illegal"), GAME.format("loss")), only=True)
    games = [registry.view(name) for name in registry.names()]
    assert [(each.repetition, each.repetitions) for each in games] == [("illegal", 2), ("loss", 2)]
    for move in (1, 2):
        board.push(move)
    words = [move.recurrence for move in view(GAME, board.position, []).moves]
    assert words == ["0", None]  # node 3 ends the game, so it repeats nothing
    assert view(GAME, ring("loss").position, []).moves[0].recurrence is None
    for level in ("easy", "expert"):
        player = make_player(board.game, f"level={level}")
        assert player.choose(board.position, board.history).move == 3
