"""A program as a user writes it; lines with a comment that begins with "error" are mistakes."""

import asyncio
from typing import Any, assert_type

import cutnode
from cutnode import (
    Board,
    Engine,
    Game,
    Handle,
    MonteCarloResult,
    Result,
    SearchResult,
    Statistics,
    Table,
    TreeStatistics,
    analyse,
    load_game,
    make_player,
    match,
    play_game,
    record_tree,
    search,
    solve,
    solve_many,
    to_svg,
)

game = load_game("tictactoe")
assert_type(game, Game)
board = Board(game)
board.push("5")
assert_type(board.legal_moves, list[int])

result = solve("tictactoe", "15", table=64, nodes=1000)
assert_type(result, Result)
assert_type(result.value, int | None)
assert_type(analyse(board).scores, dict[int, int | None] | None)
solve("tictactoe", nodse=3)  # error: a wrong keyword
solve("tictactoe", nodes="many")  # error: a wrong type
solve()  # error: no position
cutnode.slove("tictactoe")  # error: a wrong name
assert_type(solve_many([board, game])[0], Result)

found = search(board, depth=4)
assert_type(found, SearchResult)
assert_type(found.statistics, Statistics)
assert_type(search(board, engine="mcts", playouts=10).statistics, TreeStatistics)
assert_type(cutnode.search(board, engine="auto", seconds=1), SearchResult | MonteCarloResult)
search(board, dept=4)  # error: a wrong keyword

with Engine(game, table=Table(16)) as engine:
    assert_type(engine.search(depth=4), SearchResult)
    assert_type(engine.search(board, seconds=0.1).statistics.nodes, int)
    assert_type(engine.solve(), Result)
    assert_type(engine.start(board, depth=3).wait(), SearchResult)
    assert_type(engine.start(board, "solve").wait(), Result)
    assert_type(engine.ponder(board), Handle[SearchResult])
    engine.search(second=1)  # error: a wrong keyword
with Engine("hex:5", engine="mcts", rave=300) as tree:
    assert_type(tree.search(playouts=100).statistics, TreeStatistics)
Engine(game, tabel=64)  # error: a wrong keyword


def best(any_engine: Engine, handle: Handle) -> int | None:
    assert_type(any_engine.search(depth=2), SearchResult | MonteCarloResult)
    handle.stop()
    return any_engine.search(depth=2).best_move


best(engine, engine.start())
best(tree, tree.start())


async def later(held: Engine[SearchResult]) -> str | None:
    assert_type(await held.start(board, depth=3), SearchResult)
    answer = await held.search_async(board, depth=3)
    async for iteration in held.start(board, depth=3):
        print(iteration.depth)
    return answer.move_text()


asyncio.run(later(engine))

players = [make_player(game, strength=60), make_player(game, "hard", seconds=1)]
make_player(game, strenght=60)  # error: a wrong keyword
play_game(players, game)
match(game, "hard", "random", pairs=2)
svg: str = to_svg(record_tree(game, 2))


def evaluate(position: Any) -> int:
    return 0


search(board, depth=2, evaluation=evaluate, techniques=["table"], lines=2)
