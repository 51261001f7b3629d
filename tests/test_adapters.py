"""Games of other libraries, and games for them: the same rules, and the same values."""

from __future__ import annotations

import importlib.metadata
import pickle
import random
import sys
import warnings
from collections import deque

import numpy as np
import pytest
from commands import run_cutnode

from cutnode import CutnodeError, Engine, PositionError, iterate, load_game, match, perft, solve
from cutnode.adapters import exported, openspiel_game, pettingzoo_env
from cutnode.conformance import check
from cutnode.contract.derived import legal_moves
from cutnode.contract.errors import ContractError, GameError
from cutnode.contract.extras import extra
from cutnode.contract.verbs import outcome, play, turn
from cutnode.kernels.scores import win_distance
from cutnode.lab.ablation import ablation
from cutnode.playing.players import make_player
from cutnode.tree.recording import record_tree

pytestmark = pytest.mark.once


def needed(module, name):
    """Return a module of an extra; skip the test, with the reason, if it is missing or broken."""
    try:
        return extra(module, name, "these tests need")
    except CutnodeError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def pyspiel():
    return needed("pyspiel", "openspiel")


@pytest.fixture(scope="module")
def easyai():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return needed("easyAI", "easyai")


# Games of OpenSpiel ---------------------------------------------------------------------------


def both(pyspiel, name, steps=()):
    """Return a state of OpenSpiel and the engine's position after the same steps."""
    state = pyspiel.load_game(name).new_initial_state()
    position = load_game(f"openspiel:{name}").start()
    for step in steps:
        state.apply_action(step)
        position = position.after(step)
    return state, position


def random_steps(pyspiel, name, left, least):
    """Return the first steps of a random game of *least* steps or more, all but *left* of them."""
    dice = random.Random(1)
    while True:
        state = pyspiel.load_game(name).new_initial_state()
        while not state.is_terminal():
            state.apply_action(dice.choice(state.legal_actions()))
        if len(state.history()) >= least:
            return state.history()[: len(state.history()) - left]


def lines(state, depth):
    """Count the lines of play to a depth in OpenSpiel."""
    if depth == 0 or state.is_terminal():
        return depth == 0
    return sum(lines(state.child(action), depth - 1) for action in state.legal_actions())


SOLVED = [
    ("tic_tac_toe", 0, 0),
    ("nim(pile_sizes=2;3;4)", 0, 0),
    ("breakthrough(rows=4,columns=3)", 0, 0),
    ("clobber(rows=3,columns=3)", 0, 0),
    ("hex(board_size=3)", 0, 0),
    ("y(board_size=3)", 0, 0),
    ("havannah(board_size=2)", 0, 0),
    ("gomoku(size=3,connect=3)", 0, 0),
    ("misere(game=tic_tac_toe())", 4, 7),
    ("connect_four", 9, 38),
    ("othello", 6, 58),
    ("mancala", 6, 30),
    ("dots_and_boxes", 8, 12),
    ("ultimate_tic_tac_toe", 8, 60),
]


@pytest.mark.parametrize(("name", "left", "least"), SOLVED, ids=[row[0] for row in SOLVED])
def test_values_of_openspiel(pyspiel, name, left, least):
    from open_spiel.python.algorithms.minimax import alpha_beta_search

    steps = random_steps(pyspiel, name, left, least) if left else []
    state, position = both(pyspiel, name, steps)
    value, _ = alpha_beta_search(state.get_game(), state=state, maximum_depth=1000)
    result = solve(position)
    assert result.value == value
    assert [perft(position, depth) for depth in (1, 2)] == [lines(state, 1), lines(state, 2)]
    after = state.child(result.best_move)
    mover = state.current_player()
    assert value == (
        after.player_return(mover)
        if after.is_terminal()
        else alpha_beta_search(after.get_game(), after, None, 1000, mover)[0]
    )


SEARCHED = [
    ("chess", "f3 e5 g4", 2),
    ("checkers", "", 3),
    ("oware", "A b", 4),
    ("lines_of_action", "", 2),
    ("pig(winscore=8)", "roll 3 roll 2", 4),
    ("backgammon", "start", 1),
    ("einstein_wurfelt_nicht", "start", 1),
]


@pytest.mark.parametrize(("name", "text", "depth"), SEARCHED, ids=[row[0] for row in SEARCHED])
def test_searches_of_openspiel(pyspiel, name, text, depth):
    """Exact to a depth: equal to expectiminimax that evaluates leaves as 0."""
    from open_spiel.python.algorithms.minimax import expectiminimax

    game = load_game(f"openspiel:{name}")
    position = game.parse(text)
    dice = random.Random(3)
    while not legal_moves(position):
        odds = position.RULES.odds(position.state)
        position = position.after(dice.choice(odds)[0])
    with Engine(game, exact=True, depth_in="actions", table=1) as engine:
        found = engine.search(position, depth=depth).value
    if win_distance(found) is not None:
        found = 1 if found > 0 else -1
    wanted, _ = expectiminimax(position.state, depth, lambda state: 0, turn(position))
    assert found == pytest.approx(wanted, abs=1e-9)


def test_dice_of_openspiel(pyspiel):
    game = load_game("openspiel:pig(horizon=6,winscore=8)")
    from open_spiel.python.algorithms.minimax import expectiminimax

    start = game.start()
    wanted, _ = expectiminimax(start.state, 100, None, 0)
    result = iterate(start)
    assert result.value == pytest.approx(wanted)
    assert result.meaning() == f"player 0 expects {wanted:+.6g}"
    with pytest.raises(GameError, match="has chance: iterate"):
        solve(start)


@pytest.mark.parametrize(
    "name",
    [
        *("tic_tac_toe", "nim", "breakthrough(rows=4,columns=3)", "clobber(rows=3,columns=3)"),
        *("connect_four(rows=4,columns=4)", "hex(board_size=3,swap=True)", "y(board_size=3)"),
        *("havannah(board_size=2,swap=True)", "mnk(m=3,n=3,k=3)", "gomoku(size=4,connect=3)"),
        *("mancala", "othello", "pentago", "pig(horizon=8,winscore=10)", "dots_and_boxes"),
    ],
)
def test_equal_positions_have_the_same_future(pyspiel, name):
    """Where OpenSpiel's text identifies a state, equal texts have the same continuations."""
    start = load_game(f"openspiel:{name}").start()

    def future(position):
        state = position.state
        returns = state.returns() if state.is_terminal() else None
        return returns, state.is_chance_node(), after(position)

    def after(position):
        odds = position.RULES.odds(position.state)
        over = outcome(position)[0]
        steps = odds or ([] if over else [(move, 0.0) for move in legal_moves(position)])
        return [(step, odd, position.after(step)) for step, odd in steps]

    known, queue, merged = {start: start}, deque([start]), 0
    most = {"pentago": 60, "havannah(board_size=2,swap=True)": 600, "gomoku(size=4,connect=3)": 600}
    while queue and len(known) < most.get(name, 300):
        for _, _, child in after(queue.popleft()):
            if child in known:
                merged += 1
                assert future(child) == future(known[child])
            else:
                known[child] = child
                queue.append(child)
    assert merged > 0 or name in ("mancala", "pentago", "othello")
    assert {position.RULES.shown for position in known} == {True}


def test_other_positions_are_told_apart_by_their_steps(pyspiel):
    game = load_game("openspiel:chess")
    there, back = game.parse("Nf3 Nf6 Ng1 Ng8"), game.start()
    assert str(there.state).split()[:4] == str(back.state).split()[:4]
    assert there != back
    assert there == game.parse("Nf3 Nf6 Ng1 Ng8")
    assert len({there, back, game.start()}) == 2


@pytest.mark.parametrize(
    "name", ["tic_tac_toe", "dots_and_boxes(num_rows=1,num_cols=1)", "pig(horizon=4,winscore=6)"]
)
def test_games_of_openspiel_keep_to_the_contract(pyspiel, name):
    assert check(load_game(f"openspiel:{name}"), games=1) == []


def test_texts_of_openspiel(pyspiel):
    game = load_game("openspiel:nim(pile_sizes=1;2)")
    position = game.parse("pile:1,take:1")
    assert game.notation.position_text(position) == "pile:1,take:1"
    assert repr(position) == "load_game('openspiel:nim(pile_sizes=1;2)').parse('pile:1,take:1')"
    assert str(position) == "(1): 0 2"
    move = legal_moves(position)[0]
    assert game.notation.parse_move(position, "pile:2, take:1;") == move
    assert game.parse(f"pile:1,take:1 {move}") == play(position, move)
    assert game.parse("") == game.parse("start") == game.start()
    with pytest.raises(PositionError, match=r"step 2 of 'pile:1,take:1 x': 'x' is not a legal"):
        game.parse("pile:1,take:1 x")
    with pytest.raises(PositionError, match="there are none"):
        game.parse("pile:1,take:1 pile:2,take:2 1")
    with pytest.raises(AttributeError, match="positions are immutable"):
        position.mover = 0
    copy = pickle.loads(pickle.dumps(position))
    assert copy == position
    assert copy.steps == position.steps
    with pytest.raises(PositionError, match="not a legal move; there are none"):
        game = load_game("openspiel:backgammon")
        game.notation.parse_move(game.start(), "0")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("leduc_poker", "imperfect information"),
        ("goofspiel", "players move at the same time"),
        ("pig(players=3)", "it has 3 players, not 2"),
        ("chinese_checkers(players=3)", "it has 3 players"),
        ("morpion_solitaire", "it has 1 players"),
        ("tic_tac_to", "no game 'tic_tac_to' .did you mean 'tic_tac_toe'"),
        ("", "an OpenSpiel game needs a name, as in openspiel:tic_tac_toe"),
        ("hex(sides=3)", r"cannot load 'hex\(sides=3\)': Unknown parameter 'sides'"),
    ],
)
def test_games_that_no_search_is_for(pyspiel, name, message):
    with pytest.raises(GameError, match=message):
        load_game(f"openspiel:{name}")


def test_all_that_takes_a_game_takes_one_of_openspiel(pyspiel, tmp_path):
    name = "openspiel:tic_tac_toe"
    game = load_game(name, plain=True)
    assert game.module is load_game(name).module
    assert match(game, "depth=2", "random", pairs=1).games == 2
    assert make_player(game, "level=easy").choose is not None
    assert record_tree(game.parse("x(1,1)"), depth=2).game == name
    assert ablation([game.parse("x(1,1) o(0,0) x(0,2)")], depth=3).rows
    for words in (
        ("solve", name, "x(1,1) o(0,1)"),
        ("search", name, "--depth", "3"),
        ("perft", name, "--depth", "3"),
        ("show", name, "4 0"),
        ("check", name, "--games", "1"),
        ("tree", name, "x(1,1)", "--depth", "2", "--out", str(tmp_path / "tree.svg")),
    ):
        result = run_cutnode(*words)
        assert result.exit_code == 0, result.output
    result = run_cutnode("solve", "openspiel:kuhn_poker")
    assert result.exit_code == 2
    assert "cannot be searched: it is a game of imperfect information" in result.stderr


def test_returns_that_are_no_whole_numbers(pyspiel):
    position = load_game("openspiel:tic_tac_toe").parse("0 3 1 4 2")

    class Half:
        is_terminal = staticmethod(lambda: True)
        player_return = staticmethod(lambda player: 0.5)

    with pytest.raises(ContractError, match=r"returns must be whole numbers, got 0\.5"):
        position.RULES.value(Half, 0)


# easyAI games -----------------------------------------------------------------------------

OWN = """
from easyAI.games import Cram, Knights, Nim
from easyAI.games.Hexapawn import Hexapawn

def pawns(players):
    return Hexapawn(players, (3, 3))

def small_nim(players):
    return Nim(players, piles=(1, 2, 3))

def knights(players):
    return Knights(players, (3, 4))

def cram(players):
    return Cram(players, (3, 3))

def broken(players):
    raise RuntimeError("no")

class Circle(Nim):
    "Round and round."
    REPEATS = True
    MAX_PLIES = 20
    def __init__(self, players):
        super().__init__(players, piles=(2,))
        self.way = {"round": [0]}
    def possible_moves(self):
        return ["0,0"]
    def make_move(self, move):
        self.way["round"][0] = (self.way["round"][0] + 1) % 2
"""


@pytest.fixture
def own(easyai, tmp_path):
    path = tmp_path / "games_for_easyai.py"
    path.write_text(OWN)
    yield lambda name: load_game(f"easyai:{path}:{name}")
    sys.modules.pop(path.stem, None)


def negamax(game):
    """Return the value of a game for the player to move, using only the game's own functions."""
    if game.is_over():
        if hasattr(game, "lose") and game.lose():
            return -1
        return 1 if hasattr(game, "win") and game.win() else 0
    best = -1
    for move in game.possible_moves():
        after = game.copy()
        after.make_move(move)
        after.switch_player()
        best = max(best, -negamax(after))
    return best


@pytest.mark.parametrize("name", ["pawns", "small_nim", "knights", "cram"])
def test_values_of_easyai(own, name):
    game = own(name)
    result = solve(game.start())
    assert result.value == negamax(game.start().state.copy())
    after = play(game.start(), result.best_move)
    assert -result.value == negamax(after.state.copy())


def test_solver_of_easyai(own, easyai):
    game = own("small_nim")
    made = game.start().state.copy()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        value, _, _ = easyai.solve_with_iterative_deepening(
            made, range(2, 10), win_score=80, verbose=False
        )
    assert solve(game.start()).value == value


def test_negamax_of_easyai(easyai):
    """A game's evaluations, and the values they lead to a few plies deeper."""
    game = load_game("easyai:easyAI.games:ConnectFour")
    line = game.parse("3 3 2 2 1")
    algorithm = easyai.Negamax(4)
    state = line.state.copy()
    best = algorithm(state)
    with Engine(game, exact=True, table=1) as engine:
        result = engine.search(line, depth=4)
    assert game.notation.move_text(line, result.best_move) == str(best)


@pytest.mark.parametrize("name", ["TicTacToe", "ThreeMusketeers"])
def test_games_for_easyai_keep_to_the_contract(easyai, name):
    """ThreeMusketeers changes when asked whether it is over."""
    assert check(load_game(f"easyai:easyAI.games:{name}"), games=1) == []


def test_texts_of_easyai(own, easyai):
    game = own("pawns")
    position = game.parse("A1_B1")
    assert str(position) == ". 1 1\n1 . .\n2 2 2"
    assert game.notation.parse_move(position, "C2 B1") == 1
    assert solve(position).meaning() == "player 2 wins"
    assert pickle.loads(pickle.dumps(position)) == position
    assert position.state.game.players[0].pawns == [(1, 0), (0, 1), (0, 2)]
    assert legal_moves(position) == legal_moves(position)
    assert load_game("easyai:easyAI.games:TicTacToe").module.__doc__.startswith("The board")


def test_positions_that_come_back(own):
    assert solve(own("Circle").start()).value == 0


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("easyai:Nim", "an easyAI game needs a file or module"),
        ("easyai:easyAI.games:Nimm", "has no game 'Nimm' .did you mean 'Nim'"),
        ("easyai:easyAI.games.nothing:Nim", "cannot load 'easyAI.games.nothing': ModuleNotFound"),
        ("easyai:nothing.py:Nim", "there is no file 'nothing.py'"),
        ("easyai:easyAI:Negamax", "does not make an easyAI game: it has no possible_moves"),
    ],
)
def test_objects_that_are_not_easyai_games(easyai, name, message):
    with pytest.raises(GameError, match=message):
        load_game(name)


def test_games_that_cannot_be_made(own):
    with pytest.raises(GameError, match="cannot make a game for two players: RuntimeError: no"):
        own("broken")


# Games for other libraries ----------------------------------------------------------------------


@pytest.mark.parametrize("name", ["tictactoe", "connect4", "ur:finkel-1", "tests/toys/nim.py"])
def test_games_for_openspiel(pyspiel, name, capfd):
    game = openspiel_game(name)
    pyspiel.random_sim_test(game, 2, True, False)
    assert pyspiel.load_game(game.get_type().short_name).num_players() == 2
    capfd.readouterr()


def test_observations_for_openspiel(pyspiel):
    from open_spiel.python.observation import make_observation

    game = openspiel_game("tictactoe")
    state = game.new_initial_state()
    state.apply_action(4)
    seen = make_observation(game)
    seen.set_from(state, 0)
    planes = seen.dict["observation"]
    assert planes.shape == (4, 3, 3)
    assert [planes[at].sum() for at in range(4)] == [8, 1, 0, 9]
    assert planes[1, 1, 1] == 1
    assert seen.string_from(state, 0) == ".../.x./..."
    assert (game.num_distinct_actions(), game.max_game_length(), game.max_utility()) == (9, 9, 1)


@pytest.mark.parametrize(
    ("name", "text"), [("tictactoe", "x../.o./..."), ("tests/toys/boxes.py", "aBCdefg +0 1")]
)
def test_there_and_back(pyspiel, name, text):
    """A game of the engine, exported to OpenSpiel and adapted back."""
    ours = load_game(name, plain=True).parse(text)
    game = openspiel_game(ours)
    again = load_game(f"openspiel:{game}").start()
    assert [perft(again, depth) for depth in range(4)] == [perft(ours, depth) for depth in range(4)]
    value = solve(ours).value
    sign = (value > 0) - (value < 0)
    assert solve(again).value == (sign if game.max_utility() == 1 else value)


def test_there_and_back_with_dice(pyspiel):
    ours = load_game("tests/toys/race.py", plain=True).parse("4 4 1")
    again = load_game(f"openspiel:{openspiel_game(ours)}").start()
    assert iterate(again).value == pytest.approx(iterate(ours).value)


@pytest.mark.parametrize("name", ["tictactoe", "ur:finkel-1"])
def test_environments(name, capsys):
    needed("pettingzoo", "pettingzoo")
    from pettingzoo.test import api_test, seed_test

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Observation")  # a dictionary, as of any game with a mask
        api_test(pettingzoo_env(name), num_cycles=40)
        seed_test(lambda: pettingzoo_env(name, actions=64), num_cycles=20)


def test_a_game_in_an_environment():
    needed("pettingzoo", "pettingzoo")
    env = pettingzoo_env("tictactoe", render_mode="ansi")
    env.reset()
    for action in (0, 3, 1, 4):
        env.step(action)
    seen, reward, over, _, _ = env.last()
    assert (reward, over, env.agent_selection) == (0, False, "player_0")
    assert np.flatnonzero(seen["action_mask"]).tolist() == [2, 5, 6, 7, 8]
    assert not env.observe("player_1")["action_mask"].any()
    with pytest.raises(PositionError, match="not a legal move"):
        env.step(0)
    env.step(2)
    assert env.rewards == {"player_0": 1.0, "player_1": -1.0}
    assert env.render() == "x x x\no o .\n. . ."
    with pytest.raises(CutnodeError, match="render_mode must be 'ansi' or None, got 'human'"):
        pettingzoo_env("tictactoe", render_mode="human")


def test_actions_of_exported_games():
    assert exported.Exported("connect4").actions == 7
    few = exported.Exported("connect4", 3)
    with pytest.raises(CutnodeError, match="connect4 has move 6, not below actions=3"):
        few.legal(few.play())
    with pytest.raises(CutnodeError, match=r"actions must be 1\.\.65535, got 0"):
        exported.Exported("connect4", 0)


def test_what_an_exported_game_shows():
    nim = exported.Exported("tests/toys/nim.py")
    assert (nim.observed, nim.shape) == ("fields", (66,))
    start = nim.observation(nim.play())
    word = sum(int(bit) << at for at, bit in enumerate(start[:64]))
    assert word == nim.start.heaps
    with pytest.raises(CutnodeError, match="'3' is not a position: pass a game's name"):
        exported.Exported(3)


def test_libraries_that_are_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyspiel", None)
    monkeypatch.setitem(sys.modules, "easyAI", None)
    monkeypatch.setitem(sys.modules, "pettingzoo", None)
    for name, use in (
        ("openspiel", lambda: load_game("openspiel:chess")),
        ("easyai", lambda: load_game("easyai:my_file.py:MyGame")),
        ("openspiel", lambda: openspiel_game("tictactoe")),
        ("pettingzoo", lambda: pettingzoo_env("tictactoe")),
    ):
        with pytest.raises(CutnodeError, match=rf"pip install 'cutnode\[{name}\]'"):
            use()


@pytest.mark.parametrize(
    "text, reason",
    [
        ("from .AI import Negamax", "No module named 'easyAI.AI'"),
        ("import gone_since", "No module named 'gone_since'"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
    ],
)
def test_libraries_that_are_broken(monkeypatch, tmp_path, text, reason):
    (tmp_path / "easyAI").mkdir()
    (tmp_path / "easyAI" / "__init__.py").write_text(text)
    metadata = tmp_path / "easyAI-2.1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: easyAI\nVersion: 2.1.0\n")
    (metadata / "top_level.txt").write_text("easyAI\n")
    for module in [name for name in sys.modules if name.partition(".")[0] == "easyAI"]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.syspath_prepend(tmp_path)
    # All distributions here need not be read for each.
    monkeypatch.setattr(
        importlib.metadata, "packages_distributions", lambda: {"easyAI": ["easyAI"]}
    )
    with pytest.raises(CutnodeError, match=rf"easyAI 2\.1\.0 cannot be imported \(.*{reason}"):
        load_game("easyai:my_file.py:MyGame")
