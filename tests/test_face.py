"""A programmer's first attempts work: names of games, boards, results, the package cutnode."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from toys import duel, pig

import cutnode
from cutnode import (
    Board,
    Book,
    Engine,
    Game,
    Parameter,
    PositionError,
    Record,
    Sprt,
    Table,
    Tablebase,
    Technique,
    analyse,
    compiled,
    count_moves,
    game_names,
    iterate,
    legal_moves,
    load_game,
    make_player,
    match,
    minimax,
    perft,
    play_game,
    prove_win,
    read_proofs,
    read_results,
    record_tree,
    run_batch,
    save_proofs,
    search,
    solve,
    solve_many,
    to_json,
    to_svg,
    write_proof,
)
from cutnode.cli.mcp import mcp
from cutnode.cli.serve import run_service
from cutnode.cluster.tasks import require_distributed
from cutnode.contract.errors import CutnodeError, GameError
from cutnode.contract.text import nearest
from cutnode.lab.plots import check_plot
from cutnode.playing.configurations import KEYS, PlayerKeywords
from cutnode.training.fitting import require_jax

TICTACTOE = load_game("tictactoe")
RANDOM = [make_player(TICTACTOE, "random")] * 2


# Positions


@pytest.mark.parametrize("given", ["tictactoe", TICTACTOE, Board(TICTACTOE), TICTACTOE.start()])
def test_calls_take_games_by_name_games_boards_and_positions(given):
    assert solve(given).score == 0
    assert set(analyse(given).scores.values()) == {0}
    assert search(given, depth=2).depth == 2
    assert minimax(given, 3).nodes == 1 + 9 + 72 + 504
    assert perft(given, 3) == 504
    assert record_tree(given, 1).position == ".../.../..."
    assert prove_win(given, 1).value is None
    with Engine(given, table=1) as held:
        board = Board(given) if isinstance(given, str) else given
        assert held.search(board, depth=2).depth == 2
        assert held.solve(board).score == 0


def test_a_text_goes_with_its_game():
    assert solve("tictactoe", "1524").line_text() == analyse(TICTACTOE, "1524").line_text()
    assert search("tictactoe", "15", depth=3).position == TICTACTOE.parse("15")
    with Engine("tictactoe", table=1) as held:
        assert held.search("15", depth=3).position == TICTACTOE.parse("15")
    with pytest.raises(PositionError, match="the text '15' needs the game"):
        solve(TICTACTOE.start(), "15")
    with pytest.raises(PositionError, match="'q' is not a cell"):
        solve("tictactoe", "q")


@pytest.mark.parametrize("thing", [None, 7, (1, 2), TICTACTOE.module.Position])
def test_invalid_position_arguments(thing):
    with pytest.raises(GameError, match="is not a position: pass a game's name, a game"):
        search(thing, depth=1)


def test_results_of_every_kind_have_a_score_a_move_and_a_line():
    late = TICTACTOE.parse("1524")
    for result in (solve(late), search(late, depth=5), search(late, engine="mcts", playouts=99)):
        assert (result.score, result.move) == (result.value, result.best_move)
        assert result.line == result.pv
        assert result.move == result.line[0]
        assert result.move_text() == result.line_text()[0]
        assert result.nodes_per_second > 0
    quick = prove_win(TICTACTOE.parse("1425"), 1)
    assert (quick.score, quick.move_text()) == (1, "3")
    over = solve(TICTACTOE.parse("14253"))
    assert (over.move, over.move_text(), over.line) == (None, None, ())


def test_value_iteration_gives_a_result_as_the_others():
    result = iterate(pig.Position())
    assert result.score == result.value
    assert result.nodes == result.positions
    assert len(result.line) == (result.move is not None)


def test_players_by_the_name_of_a_level():
    game = play_game(
        [make_player("tictactoe", "hard"), make_player("tictactoe", "expert")], "tictactoe"
    )
    assert game.ending() == "rules"


def test_settings_of_a_player_as_keywords():
    game = load_game("tictactoe", plain=True)
    board = Board(game, "15")
    for made, text in (
        (make_player(game, strength=60), "strength=60"),
        (make_player(game, "depth=3", without=["history", "killers"], exact=False), ""),
        (make_player(game, depth=3, set={"lmr.base": 0.5}, seconds=None), ""),
        (make_player(game, random=True), "random"),
    ):
        assert made.choose(board).move in board.legal_moves
        assert not text or type(made) is type(make_player(game, text))
    assert PlayerKeywords.__annotations__.keys() == KEYS.keys() - {"game"}
    for settings, message in (
        ({"strenght": 60}, r"there is no setting 'strenght' \(did you mean 'strength'\?\)"),
        ({"strength": 2.5}, "strength must be a whole number, got '2.5'"),
        ({"strength": 101}, "strength must be 0..100, got 101"),
        ({"text": "hard", "level": "easy"}, "level is set twice"),
        ({"tablebase": "a,b"}, "tablebase cannot hold a comma, got 'a,b'"),
    ):
        with pytest.raises(CutnodeError, match=message):
            make_player(game, **settings)


def test_an_engine_begins_at_its_game_or_position():
    game = load_game("tictactoe", plain=True)
    with Engine(game, table=1) as held:
        assert held.search(depth=2).position == game.start()
        assert held.solve().score == 0
        assert held.start(depth=1).wait().position == game.start()
        assert held.evaluate() == 0
    with Engine(Board(game, "1524"), table=1) as held:
        assert held.analyse().position == game.parse("1524")
    with Engine(type(game.start()), table=1) as held:
        assert held.search(depth=1).position == game.start()


@pytest.mark.parametrize(
    ("name", "moves", "value", "words"),
    [
        ("tictactoe", "14253", -1, "the player to move has lost"),
        ("tictactoe", "123546879", 0, "a draw"),
        ("connect4", "1212121", -18, "first player (x) has won"),
    ],
)
def test_finished_positions_say_so(name, moves, value, words):
    game = load_game(name, plain=True)
    over = game.parse(moves)
    for result in (
        solve(over, table=1),
        solve(over, weak=True),
        search(over, depth=3),
        search(over, engine="mcts", playouts=3),
        prove_win(over, 2),
    ):
        assert result.ending() == result.meaning() == f"the game is over: {words}"
        assert result.meaning() in str(result)
        assert "30000" not in str(result)
        assert result.move is None
    assert str(search(over, depth=3)).startswith(f"value  {value}  (the game is over")
    assert solve(game.parse(moves[:-1])).ending() == ""


# Games


@pytest.mark.parametrize("name", game_names())
def test_the_repr_of_games_and_positions_reads_back(name):
    game = load_game(name)
    start = game.start()
    names = {"load_game": load_game}
    assert eval(repr(game), names) == game
    assert eval(repr(start), names) == start
    assert Game.of(start).start() == start


def test_games_of_files_read_back(tmp_path):
    file = tmp_path / "pile.py"
    file.write_text((Path(__file__).parent / "toys" / "race.py").read_text())
    game = load_game(file)
    assert eval(repr(game), {"load_game": load_game}) == game


def test_invalid_names_of_games():
    with pytest.raises(GameError, match="a game must be given by its name or the path of its file"):
        load_game(7)


def test_a_game_plays_moves_by_number_and_by_text():
    position = TICTACTOE.play(TICTACTOE.play(TICTACTOE.start(), "5"), 0)
    assert TICTACTOE.position_text(position) == "o../.x./..."
    assert TICTACTOE.draw(position).split() == list("o...x....")
    assert TICTACTOE.legal_moves(position) == [1, 2, 3, 5, 6, 7, 8]
    assert TICTACTOE.move_text(position, 8) == "9"
    assert TICTACTOE.parse_move(position, "9") == 8
    assert TICTACTOE.outcome(position) is None
    assert TICTACTOE.outcome(TICTACTOE.parse("14253")) == -1
    assert TICTACTOE.chances(position) == []
    for wrong in (0, 4, 9, -1, True, 2.5, 3.0, None):
        with pytest.raises(
            PositionError, match=r"is not a legal move; legal moves are 1 \(2\), 2 \(3\)"
        ):
            TICTACTOE.play(position, wrong)
    with pytest.raises(PositionError, match="cell 5 is marked already"):
        TICTACTOE.play(position, "5")
    with pytest.raises(PositionError, match="99 is not a legal move"):
        TICTACTOE.move_text(position, 99)
    with pytest.raises(PositionError, match="a position must be given as text, got 5"):
        TICTACTOE.parse(5)
    with pytest.raises(GameError, match="a position must come from a game, got one of type str"):
        TICTACTOE.legal_moves("15")


def test_chances_are_probabilities_and_positions():
    ur = load_game("ur:finkel-1")
    chances = ur.chances(ur.start())
    assert sum(odds for odds, _ in chances) == pytest.approx(1)
    assert all(type(position) is type(ur.start()) for _, position in chances)
    assert ur.legal_moves(ur.start()) == []


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        *(
            ("conect4", "connect4"),
            ("Chess", "chess"),
            ("hax", "hex"),
            ("tic-tac-toe", "tictactoe"),
        ),
        *(("nosuch", ""), ("checkers", ""), ("reversi", ""), ("", "")),
    ],
)
def test_names_are_suggested_where_they_are_close(name, meant):
    ending = f" (did you mean {meant!r}?)" if meant else "; games are"
    with pytest.raises(GameError) as caught:
        load_game(name)
    assert str(caught.value).startswith(f"unknown game {name!r}{ending}")
    assert nearest("depht", ["Depth"]) == " (did you mean 'Depth'?)"
    assert nearest("x", ["Depth"]) == ""


# Boards


def test_a_board_is_played_on():
    board = Board("tictactoe")
    board.push("5")
    board.push(0)
    assert (board.turn, board.moves, board.text) == (0, [4, 0], "o../.x./...")
    assert board.history == [TICTACTOE.start(), TICTACTOE.parse("5")]
    assert board.move_text(8) == "9"
    assert board.pop() == 0
    assert (board.turn, board.text) == (1, ".../.x./...")
    other = board.copy()
    assert other == board
    other.push("9")
    assert other != board
    assert str(other) == str(other.position)
    assert eval(repr(other), {"Board": Board}).position == other.position


@pytest.mark.parametrize(
    ("game", "text", "player"),
    [("tictactoe", "1", 1), ("connect4", "44", 0), ("chess", "e4", 1), ("hex:3", "a1", 1)],
)
def test_the_player_to_move_is_known_from_the_position(game, text, player):
    assert Board(game, text).turn == player


def test_players_and_batches_take_boards():
    board = Board("tictactoe", "1524")
    assert make_player("tictactoe", "hard").choose(board).move in board.legal_moves
    assert solve_many([board, "tictactoe"]).values.tolist() == [1, 0]
    assert solve("tictactoe", board.position).score == solve(TICTACTOE, board).score
    assert Board("tictactoe", board) == Board("tictactoe", board.position)


def test_the_end_of_a_board():
    board = Board("tictactoe", "1425")
    assert (board.is_game_over(), board.outcome()) == (False, None)
    board.push("3")
    assert (board.is_game_over(), board.outcome(), board.legal_moves) == (True, -1, [])
    with pytest.raises(PositionError, match=r"the game is over \(rules\): '6' cannot be played"):
        board.push("6")
    board.pop()
    with pytest.raises(IndexError, match="no move to take back"):
        board.pop()


def test_a_board_rolls_dice():
    board = Board("ur:finkel-1", seed=3)
    with pytest.raises(PositionError, match="chance decides here"):
        board.push(0)
    rolled = board.roll()
    assert board.moves == [rolled]
    assert Board("ur:finkel-1", seed=3).roll() == rolled
    again = board.copy()
    assert again == board
    board.pop()
    assert board.roll(2) == 2
    board.pop()
    with pytest.raises(PositionError, match="chance has no outcome 99"):
        board.roll(99)


def test_searches_know_the_history_of_a_board():
    board = Board(load_game(duel.__file__, plain=True))
    board.push(board.legal_moves[0])
    told = search(board, depth=3)
    asked = search(board.position, depth=3, history=board.history)
    assert (told.score, told.line) == (asked.score, asked.line)
    with Engine(board, table=1) as held:
        assert held.search(board, depth=3).line == told.line
        assert held.start(board, depth=3).wait().line == told.line


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Board(7), "a board needs a game or its name, got 7"),
        (lambda: Board("tictactoe", load_game("hex:3").start()), "is not a position of tictactoe"),
        (lambda: Board("tictactoe", 7), "7 is not a position of tictactoe"),
        (lambda: Board("tictactoe", "99"), "cell 9 is marked already"),
        (lambda: Board("tictac"), "unknown game 'tictac'"),
    ],
)
def test_invalid_boards(make, message):
    with pytest.raises(CutnodeError, match=message):
        make()


# The package


def test_a_name_that_cutnode_has_not():
    with pytest.raises(AttributeError, match="module 'cutnode' has no attribute 'solv'"):
        _ = cutnode.solv


def run(folder, *arguments):
    return subprocess.run(
        [sys.executable, *arguments], cwd=folder, capture_output=True, text=True, check=False
    )


def test_files_called_engine_and_games_are_in_nobodys_way(tmp_path):
    (tmp_path / "engine.py").write_text("raise SystemExit('the wrong one')\n")
    (tmp_path / "games").mkdir()
    code = "import cutnode; print(cutnode.load_game('hex'))"
    assert run(tmp_path, "-c", code).stdout == "load_game('hex')\n"
    assert "tictactoe" in run(tmp_path, "-m", "cutnode", "games").stdout


def test_public_names_are_typed():
    """The file that tells type checkers so (PEP 561)."""
    assert (Path(cutnode.__file__).parent / "py.typed").exists()


# Tables for other programs


def test_batches_as_tables():
    pandas, pyarrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    batch = solve_many([TICTACTOE.parse("1524"), TICTACTOE.parse("14253")])
    frame = batch.to_pandas()
    assert frame["value"].tolist() == [1, -1]
    assert pyarrow.table(batch).to_pylist() == frame.to_dict("records")
    assert isinstance(frame, pandas.DataFrame)
    assert "<th>position</th>" in batch._repr_html_()


@pytest.mark.parametrize(
    ("package", "name", "use"),
    [
        ("pandas", "pandas", lambda: solve_many([TICTACTOE.parse("14253")]).to_pandas()),
        ("pyarrow", "parquet", lambda: solve_many([TICTACTOE.parse("14253")]).to_arrow()),
        ("jax", "train", require_jax),
        ("optax", "train", require_jax),
        ("distributed", "cluster", require_distributed),
        ("matplotlib", "plot", lambda: check_plot("a.svg")),
        ("prometheus_client", "serve", lambda: run_service("127.0.0.1", 0, print, hosts=())),
        ("websockets", "serve", lambda: run_service("127.0.0.1", 0, print, hosts=())),
        ("mcp", "mcp", lambda: mcp.main([], standalone_mode=False)),
    ],
)
def test_missing_extras_are_named(monkeypatch, package, name, use):
    late = ("cutnode.service", "mcp.", "uvicorn.protocols.websockets")
    for loaded in [each for each in sys.modules if each.startswith(late)]:
        monkeypatch.delitem(sys.modules, loaded)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(CutnodeError, match=rf"needs? {package}: pip install 'cutnode\[{name}\]'"):
        use()


def test_trees_fit_a_notebook():
    assert "max-width: 100%" in record_tree("tictactoe", 2)._repr_html_()


# Wrong arguments


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: Game("tictactoe"), "takes a module and the name of a variant, got 'tictactoe'"),
        (lambda: solve_many(3), "positions must be iterable, got 3"),
        (lambda: solve_many(["tictactoe"], progress=1), "progress must be a function, got 1"),
        (lambda: search("tictactoe", depth=1, moves=0), "moves must be iterable, got 0"),
        (lambda: search("tictactoe", depth=1, history=None), "history must be iterable, got None"),
        (lambda: search("tictactoe", depth=1, progress="x"), "progress must be a function"),
        (lambda: search("tictactoe", depth=1, bounds=[]), r"bounds must be a function, got \[\]"),
        (lambda: solve("tictactoe", memory="x"), "memory in bytes must be a whole number, got 'x'"),
        (lambda: solve("tictactoe", memory=-1), "memory must be 0 bytes or more, got -1"),
        (
            lambda: Engine.room("tictactoe", table="x"),
            "table in MiB must be a whole number, got 'x'",
        ),
        (
            lambda: write_proof("tictactoe", at_least=10**30),
            "values of tictactoe are -32000 to 32000, got 10",
        ),
        (lambda: save_proofs("none", 3), "proofs must be iterable, got 3"),
        (lambda: save_proofs("none", [3]), "proofs must come from write_proof, got 3"),
        (lambda: run_batch(["tictactoe"], []), "task must be 'solve' or 'search'"),
        (lambda: play_game([], "tictactoe"), "two players as make_player returns them"),
        (lambda: play_game(None, "tictactoe"), "players must be iterable, got None"),
        (
            lambda: play_game(RANDOM, "tictactoe", plies="x"),
            "a limit of plies must be a whole number",
        ),
        (lambda: play_game(RANDOM, "tictactoe", until=1), "until must be a function, got 1"),
        (lambda: match(None, "random", "random"), "game must be a game or its name, got None"),
        (lambda: match("tictactoe", "random", "random", sprt=1), "sprt must be an Sprt, got 1"),
        (lambda: match("tictactoe", "random", "random", openings=1), "openings must be iterable"),
        (lambda: Sprt(0, None), "elo1 must be a number, got None"),
        (lambda: Sprt(0, 5, "x"), "alpha must be a number, got 'x'"),
        (lambda: to_svg(None), "tree must be a tree that record_tree returns, got None"),
        (lambda: to_json("x"), "tree must be a tree that record_tree returns, got 'x'"),
        (lambda: to_svg("1" * 10_000), r"record_tree returns, got '1{116}\.\.\.$"),
        (lambda: solve_many(np.array(3)), r"positions must be iterable, got array\(3\)"),
        (lambda: solve_many(Many()), "positions must be iterable, got one two$"),
        (lambda: run_batch(TICTACTOE.start()), "is not a position: pass a game's name"),
        (lambda: legal_moves(TICTACTOE), "must come from a game, got one of type Game"),
        (lambda: count_moves(Board("tictactoe")), "must come from a game, got one of type Board"),
        (lambda: legal_moves(np.int64(3)), "must come from a game, got one of type int64"),
        (lambda: Record(None), "must come from a game, got one of type NoneType"),
        (lambda: Game.of(3), "must come from a game, got one of type int"),
        (lambda: Game.of(TICTACTOE), "must come from a game, got one of type Game"),
        (lambda: compiled(3), "what @compiled is put before must be a function, got 3"),
        (lambda: read_results(None), "results must be the path of a file, got None"),
        (lambda: read_results("a\0b"), r"results must be the path of a file, got 'a\\x00b'"),
        (lambda: read_proofs(b"x"), "proofs must be the path of a file, got b'x'"),
        (lambda: Table.load(3), "path must be the path of a file, got 3"),
        (lambda: Book.load("\ud800"), "path must be the path of a file"),
        (lambda: Tablebase.open("1" * 5000), "a tablebase must be the path of a file, got '111"),
        (lambda: play_game(np.array([1, 2]), "tictactoe"), "two players as make_player"),
        (lambda: Technique("x", True, "", parameters="ab"), "must be Parameters, got 'ab'"),
        (lambda: Technique("x", True, "", memory=[]), r"must be sizes by name, got \[\]"),
        (lambda: Parameter("x", "1", 0, 2, ""), "default of x must be a number, got '1'"),
    ],
)
def test_wrong_arguments_are_told_in_one_line(call, said):
    with pytest.raises(CutnodeError, match=said):
        call()


class Many:
    def __repr__(self) -> str:
        return "one\n   two"


def test_scalars_of_numpy_do_not_overflow():
    small = np.int8(100)
    assert Table(small).megabytes == 100
    assert Sprt(np.int8(0), np.int8(100)).elo1 == 100
    assert Parameter("x", np.int64(1), np.int64(0), np.int64(2), "").is_integer
    assert Engine.room("tictactoe", table=small, threads=np.int8(2)) == Engine.room(
        "tictactoe", table=100, threads=2
    )
    assert match("tictactoe", "random", "random", pairs=np.uint8(1), plies=np.int8(1)).games == 2
    assert search("tictactoe", depth=np.uint8(1), soonest=np.True_).depth == 1


def test_a_board_is_made_of_a_path(tmp_path):
    path = tmp_path / "my_nim.py"
    path.write_text(Path(duel.__file__).read_text())
    assert Board(path).legal_moves == Board(str(path)).legal_moves


def test_large_limits_are_none():
    late = TICTACTOE.parse("1524")
    found = search(late, engine="mcts", playouts=10**30, nodes=10**30, cut_after=10**30)
    assert found.proven
    assert search(late, depth=1, soonest="yes").value == search(late, depth=1).value
