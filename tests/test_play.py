"""Playing in the terminal, by scripts: moves, commands, saved games, and endings."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
from commands import run_cutnode
from toys import duel, race

import cutnode
from cutnode import CutnodeError, Game, load_game
from cutnode.playing.play import COMMANDS, PERSON, Session, resume
from cutnode.playing.players import EnginePlayer
from cutnode.playing.records import read_record
from cutnode.search.record import Record

GAME = load_game("tictactoe")


def play(*args, script=""):
    """Return the result of the command: its output and exit code."""
    return run_cutnode("play", *args, stdin=script)


class Script:
    """A view that replays a script and remembers what it is shown."""

    def __init__(self, *lines):
        self.lines = list(lines)
        self.shown = []

    def show(self, text):
        self.shown.append(text)

    def ask(self, prompt):
        self.shown.append(prompt)
        line = self.lines.pop(0) if self.lines else None
        if isinstance(line, BaseException):
            raise line
        return line

    def thinking(self):
        return pytest.MonkeyPatch.context()


def session(*players, game=GAME, name="tictactoe", start="", seed=0):
    return Session(game, name, Record(game.parse(start), seed=seed), players=players)


def people(*script, **options):
    """Let two people play a script; return the session and what was shown."""
    view = Script(*script)
    played = session(PERSON, PERSON, **options)
    assert played.run(view)
    return played, view.shown


# Games


def test_game_is_won_and_ends():
    output = play("tictactoe", "--both", script="1\n4\n2\n5\n3\n").output
    assert "x x x\no o .\n. . .\n\nplayer 1 wins\n" in output
    assert output.endswith("goodbye\n")


def test_person_against_the_engine():
    """A person's random replies lose to an expert, whoever begins."""
    for side in ("--first", "--second"):
        script = "\n".join("123456789" * 2) + "\n"
        result = play("tictactoe", side, "--level", "expert", "--seed", 1, script=script)
        assert result.exit_code == 0
        assert "the engine plays " in result.output
        assert "\nthe engine wins\n" in result.output or "\ndraw\n" in result.output
        assert ("your move> " in result.output) and "you win" not in result.output


def test_win_of_a_person():
    result = play("tictactoe", "xx./oo./...", "--both", script="3\n")
    assert "player 1 wins" in result.output
    result = play("tictactoe", "xx./oo./...", "--level", "easy", script="3\n")
    assert "\nyou win\n" in result.output


def test_same_seed_same_game():
    first, again = (play("tictactoe", "--watch", "--seed", 5).output for _ in range(2))
    assert first == again
    assert first.count("plays") >= 5
    assert re.search("player [12] wins|draw", first)
    assert play("tictactoe", "--watch", "--seed", 6, "--strength", 0).output != first


def test_thoughts_are_shown():
    output = play("tictactoe", "--level", "hard", "--thoughts", script="5\n").output
    assert re.search(r"the engine plays (\d)  \(value [+-]\d+ at depth 4: \1 ", output)
    assert "value" not in play("tictactoe", "--level", "hard", script="5\n").output


def test_first_prompt_shows_the_board_once():
    output = play("tictactoe", "--both", script="moves\nmoves\n1\n").output
    assert output.count(". . .\n. . .\n. . .") == 1
    assert output.count("x . .\n. . .\n. . .") == 1


def test_chance_and_points():
    played, shown = people("1", game=Game(race), name="toys.race", start="1 5 0")
    assert shown[-3].endswith("\n\nplayer 1 wins by 100")
    assert any(text.startswith("chance decides: outcome ") for text in shown)
    assert played.record.value() == 100


def test_repetition_is_told():
    moves = ("back", "back", "forth", "forth")
    _, shown = people(*moves, game=Game(duel), name="toys.duel", start="0 3 leap")
    assert shown[-3].endswith("draw: the position repeats")


# Input


def test_wrong_moves_get_another_try():
    output = play("tictactoe", "--both", script="5\n5\nhelpp\n0\n\n1\n").output
    assert "cell 5 is marked already (moves lists the moves, help lists the commands)\n" in output
    assert " (did you mean 'help'?)" in output
    assert "'0' is not a cell" in output
    assert "o . .\n. x .\n. . ." in output


def test_help_tells_every_command():
    output = play("tictactoe", "--both", script="HELP\n").output
    for command in COMMANDS.values():
        assert f"{command.usage} " in output and command.about in output


def test_moves_are_listed():
    assert "\n2 3 4 5 6 7 8 9\n" in play("tictactoe", "1", "--both", script="moves\n").output


def test_hint_and_eval():
    output = play("tictactoe", "xx./oo./...", "--both", script="hint\neval\n").output
    assert "try 3\n" in output
    assert "value +29999 for the player to move (the player to move wins in 1 ply)\n" in output
    assert "line  3\n" in output


@pytest.mark.parametrize(
    ("start", "told"),
    [
        ("", "proven: player 1 can force a draw, but no more"),
        ("xx./oo./...", "proven: player 1 can force a win"),
        ("15", "proven: player 1 can force a draw, but no more"),
        ("142", "proven: player 1 loses against best play"),
        ("12534", "proven: player 1 loses against best play"),
        ("14253", "player 2 wins"),
    ],
)
def test_outlook(start, told):
    _, shown = people("outlook", start=start)
    assert told in shown


def test_undo_takes_back_to_the_persons_turn():
    played = session(PERSON, "level=medium", seed=2)
    view = Script("5", "undo", "undo", "1", "undo", "undo")
    assert played.run(view)
    assert played.record.steps == []
    assert view.shown.count("taken back") == 2
    assert view.shown.count("there is no move of yours to take back") == 2


def test_undo_of_a_finished_game():
    played, shown = people("1", "4", "2", "5", "3", "undo", "undo", "9")
    assert "undo, save or quit> " in shown
    assert [played.record.step_text(number) for number in range(4)] == ["1", "4", "2", "9"]


def test_undo_meets_the_same_dice():
    game = {"game": Game(race), "name": "toys.race", "start": "5 5 0", "seed": 9}
    played, shown = people("1", "1", "undo", "undo", "1", "1", **game)
    dice = [text for text in shown if text.startswith("chance")]
    again = [text for text in dice[1:] if text == dice[1]]
    assert len(again) >= 2
    assert played.record.steps[0] == int(dice[0].split()[3]) - 1


def test_level_strength_and_swap():
    played = session(PERSON, "level=easy")
    view = Script("level", "level expert", "strength 40", "strength 400", "level magic", "swap")
    assert played.run(view)
    told = "\n".join(view.shown)
    assert "the engine plays with level=easy\n" in told
    assert "the engine plays with level=expert from now on" in told
    assert "strength must be 0..100, got 400" in told
    assert "there is no level 'magic'" in told
    assert played.players == ["strength=40", PERSON]
    assert len(played.record.steps) == 1
    assert "sides are swapped\nthe engine plays" in told


def test_two_people_have_no_engine():
    _, shown = people("level hard", "strength 3", "swap")
    assert shown.count("no engine plays in this game") == 3


def test_interrupted_command_returns_to_the_prompt(monkeypatch):
    def interrupt(self):
        raise KeyboardInterrupt

    monkeypatch.setattr(Session, "_advice", interrupt)
    _, shown = people("hint", "5")
    assert "interrupted" in shown


@pytest.fixture
def interrupted(monkeypatch):
    """Interrupt every search of an engine, as Ctrl-C would."""
    choose = EnginePlayer.choose
    monkeypatch.setattr(
        EnginePlayer,
        "choose",
        lambda self, position: replace(choose(self, position), reason="interrupted"),
    )


def test_ctrl_c_while_the_engine_thinks_plays_its_best_so_far(interrupted):
    played = session(PERSON, "level=medium")
    view = Script("5")
    assert played.run(view)
    assert len(played.record.steps) == 2
    assert view.shown[-2] == "your move> "


def test_ctrl_c_ends_watching(interrupted):
    played = session("level=easy", "level=easy")
    assert not played.run(Script())
    assert len(played.record.steps) == 1


def test_ctrl_c_at_the_prompt_leaves():
    view = Script("5", KeyboardInterrupt())
    assert not session(PERSON, PERSON).run(view)
    assert view.shown[-1] == "to continue from here: cutnode play tictactoe .../.x./..."


# Leaving, saving, resuming


def test_end_of_input_says_how_to_continue():
    result = play("tictactoe", "--both", script="5\n")
    assert result.exit_code == 0
    assert result.output.endswith("to continue from here: cutnode play tictactoe .../.x./...\n")
    assert "to continue from here" in play("tictactoe", "--both", script="quit\n1\n").output


def test_saved_game_is_resumed(tmp_path):
    file = tmp_path / "game.json"
    script = f"5\nsave {file}\n"
    output = play("tictactoe", "--level", "medium", "--seed", 4, script=script).output
    assert output.endswith(f"to resume: cutnode play tictactoe --resume {file}\n") is False
    assert output.endswith(f"to resume: cutnode play --resume {file}\n")
    whole = play("tictactoe", "--level", "medium", "--seed", 4, script="5\n9\n1\n3\n2\n").output
    rest = play("--resume", file, script="9\n1\n3\n2\n").output
    assert rest.splitlines()[-6:] == whole.splitlines()[-6:]
    assert resume(str(file), "tictactoe").to_dict() == json.loads(file.read_text())
    undone = play("--resume", file, script="undo\n")
    assert ". . .\n. . .\n. . ." in undone.output
    assert "to continue from here" in undone.output


def test_saved_game_of_chance_is_resumed(tmp_path):
    file = str(tmp_path / "game.json")
    game = Game(race)
    played = session(PERSON, PERSON, game=game, name="toys.race", start="5 5 0", seed=3)
    played.run(Script("1", "1", f"save {file}"))
    again = resume(file, "toys.race")
    assert again.record.positions == played.record.positions
    with pytest.raises(CutnodeError, match=r"it is a game of 'toys\.race', which has to be named"):
        resume(file)


def test_save_keeps_other_files(tmp_path):
    mine = tmp_path / "mine.txt"
    mine.write_text("mine")
    game = tmp_path / "game.json"
    lines = ("save", f"save {mine}", f"save {tmp_path}/no/where", f"save {game}", f"save {game}")
    _, shown = people(*lines)
    assert mine.read_text() == "mine"
    assert "save needs the name of a file" in shown
    assert f"{mine} exists, and is not a saved game" in shown
    assert any("there is no folder" in text for text in shown)
    assert sum(text.startswith("saved; to resume later") for text in shown) == 2


def test_boards_for_people_have_a_legend_and_mark_the_last_move():
    played = session(PERSON, PERSON)
    played.look = {"colours": True, "glyphs": True}
    view = Script("5", "1")
    assert played.run(view)
    assert "first player" in view.shown[0] and "second player" in view.shown[0]
    marked = [text.count(";7m") for text in view.shown if "\n" in text and "\x1b" in text]
    assert marked == [0, 0, 1, 1]


def test_moves_of_any_game_are_saved_and_resumed(tmp_path):
    file = tmp_path / "game.txt"
    play("tictactoe", "--both", "5", script=f"1\n9\nsave {file}\n")
    assert file.read_text() == "# moves of tictactoe, from .../.x./...\n1\n9\n"
    output = play("--resume", file, "--both", script="2\n").output
    assert "o o .\n. x .\n. . x" in output
    dice = tmp_path / "dice.txt"
    played = session(PERSON, PERSON, game=Game(race), name="toys.race", start="5 5 0", seed=3)
    played.run(Script("1", "1", f"save {dice}"))
    assert "\nchance " in dice.read_text()
    rest = play("toys.race", "--resume", dice, "--both", script="undo\n").output
    assert "taken back" in rest


def test_annotations_of_a_list_are_left(tmp_path):
    file = tmp_path / "game.txt"
    file.write_text(
        "# moves of tictactoe\n# Event: a game\n5 !?\n# why\n1\n(\n2 $14\n# other\n3\n)\n9\n"
    )
    recorded = read_record(str(file), None)
    assert (recorded.steps, recorded.headers) == (["5", "1", "9"], {"Event": "a game"})
    assert (recorded.plies[0].mark, recorded.plies[0].comment) == ("!?", "why")
    assert recorded.plies[1].variations == [["2", "3"]]
    assert "o . .\n. x .\n. . x" in play("--resume", file, "--both").output


def test_games_of_chess_are_pgn(tmp_path):
    import io

    import chess.pgn

    file = tmp_path / "game.pgn"
    moves = ["e4", "e5", "Bc4", "Nc6", "Qh5", "Nf6", "Qxf7#"]
    play("chess", "--both", script="\n".join([*moves, f"save {file}"]))
    read = chess.pgn.read_game(io.StringIO(file.read_text()))
    assert not read.errors
    assert (read.headers["Result"], read.headers["White"]) == ("1-0", "person")
    assert read.end().board().is_checkmate()
    assert "player 1 wins" in play("--resume", file, "--both").output
    black = "8/8/8/8/8/6k1/5r2/7K b - - 0 7"
    play("chess", black, "--both", script=f"Rf1#\nsave {file}\n")
    assert "\n7... Rf1# 0-1\n" in file.read_text()
    assert "to continue from here" in play("--resume", file, "--both", script="undo\nquit\n").output
    read = chess.pgn.read_game(io.StringIO(file.read_text()))
    assert read.end().board().fen() == "8/8/8/8/8/6k1/8/5r1K w - - 1 8"


WRITTEN = """[Event "A game"]
[White "A \\"quick\\" one"]

1. e4 {best by test} e5 (1... c5 2. Nf3 (2. c3)) 2. Nf3 $1 Nc6 ; a line
3. Bb5 *
"""


def test_pgn_is_not_for_other_games(tmp_path):
    file = tmp_path / "game.pgn"
    file.write_text("1. e4 e5 *")
    with pytest.raises(CutnodeError, match=r"not a game of connect4, which has no \.pgn files"):
        read_record(str(file), "connect4")


def test_foreign_pgn_is_read(tmp_path):
    file = tmp_path / "game.pgn"
    file.write_text(WRITTEN)
    output = play("--resume", file, "--both").output
    assert "r1bqkbnr/pppp1ppp/2n5/1B2p3/4P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3" in output


def test_notes_on_a_record_are_told(tmp_path):
    file = tmp_path / "games.pgn"
    file.write_text('[FEN "4k3/8/8/8/8/8/8/4K2R w KQ - 0 1"]\n\n1. O-O * 1. d4 *')
    output = play("--resume", file, "--both").output
    assert "cutnode: note: it holds more than one game: the first is read\n" in output
    assert "cutnode: note: castling KQ is read as K: king or rook is not at home for Q\n" in output
    assert "4k3/8/8/8/8/8/8/5RK1 b - - 1 1" in output


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("game.pgn", "1. e4 e6 2. Ke3 *", "step 3: 'Ke3' is not a legal move of white"),
        ("game.pgn", "1. e4 -- *", "game.pgn: move 2, '--', is no move, but a pass"),
        ("game.pgn", "1. e4 (1. d4 *", "do not match"),
        ("game.pgn", "", "it holds no game in PGN"),
        ("game.txt", "5\n1\n", "does not say which game it is"),
        ("game.txt", "# moves of tictactoe\n5\n5\n", "step 2: cell 5 is marked already"),
        ("game.txt", "# moves of tictactoe, from x\n5\n", "the board has 1 rows"),
    ],
)
def test_damaged_records_are_refused(tmp_path, name, text, reason):
    file = tmp_path / name
    file.write_text(text)
    result = play("--resume", file)
    assert (result.exit_code, result.output.count("\n")) == (2, 1)
    assert reason in result.output


def test_other_games_have_no_pgn(tmp_path):
    _, shown = people("5", f"save {tmp_path}/game.pgn")
    assert "tictactoe has no .pgn files" in shown


@pytest.mark.parametrize(
    ("options", "player"),
    [
        ((), "level=medium"),
        (("--seconds", 0.5), "seconds=0.5"),
        (("-d", 3, "-n", 2_000_000), "depth=3,nodes=2000000"),
        (("--level", "expert", "-s", 2), "level=expert,seconds=2"),
        (("--strength", 40, "-d", 4), "strength=40,depth=4"),
        (("--engine", "mcts"), "engine=mcts,seconds=1"),
        (("-e", "mcts", "--playouts", 500, "-s", 2), "engine=mcts,playouts=500,seconds=2"),
    ],
)
def test_limits_of_the_engine(options, player):
    assert f"player 2: {player}" in play("tictactoe", *options, script="quit\n").output


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("tictactoe", "--depth", 1), "depth=1 (the game's own estimate)"),
        (("connect4", "--nodes", 9), "nodes=9 (weights of connect4.weights)"),
        pytest.param(
            ("connect4", "--evaluation", "own"),
            "seconds=1,evaluation=own (the game's own estimate)",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            ("connect4", "--evaluation", "cells", "--depth", 1),
            "depth=1,evaluation=cells (cells)",
            marks=[pytest.mark.slow, pytest.mark.long],
        ),
        (("tictactoe", "--engine", "mcts"), "seconds=1 (the game's own estimate)"),
        (("tictactoe", "--engine", "auto"), "seconds=1 (the game's own estimate)"),
    ],
)
def test_the_first_line_says_with_what_it_estimates(options, said):
    assert said in play(*options, script="quit\n").output


SAVED = {
    "format": "cutnode game",
    "version": 1,
    "game": "tictactoe",
    "players": ["person", "person"],
    "thoughts": False,
    "start": ".../.../...",
    "seed": 3,
    "steps": ["5"],
}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"format": "chess"}, "is not a saved game of cutnode"),
        ({"version": 2}, "it has version 2, not 1"),
        ({"version": None}, "it lacks 'version'"),
        ({"steps": None}, "it lacks 'steps'"),
        ({"steps": ["5", "5"]}, "step 2: cell 5 is marked already"),
        ({"steps": [5]}, "step 1: a move must be a string, got 5"),
        ({"steps": "5"}, "must have two players and a list of steps"),
        ({"players": ["person"]}, "must have two players and a list of steps"),
        ({"players": ["person", 3]}, "must be texts"),
        ({"players": 7}, "cannot be resumed: "),
        ({"players": ["person", "magic"]}, "there is no setting 'magic'"),
        ({"players": ["person", "depth=3,path=."]}, "would load code from other files"),
        ({"players": ["person", "depth=3,evaluation=a.py:b"]}, "would load code from other files"),
        ({"start": "xxx"}, "cannot be resumed: "),
        ({"start": 4}, "must be texts"),
        ({"seed": "x"}, "a seed must be a whole number"),
        (
            {"game": "mine.py"},
            "it is a game of 'mine.py', which has to be named: cutnode play mine.py",
        ),
        ({"game": "tictactoe:9"}, "tictactoe has no variant"),
        ({"game": 5}, "must be texts"),
    ],
)
def test_damaged_games_are_refused(tmp_path, change, reason):
    file = tmp_path / "game.json"
    data = {name: value for name, value in (SAVED | change).items() if value is not None}
    file.write_text(json.dumps(data))
    result = play("--resume", file)
    assert (result.exit_code, result.output.count("\n")) == (2, 1)
    assert reason in result.output


@pytest.mark.parametrize("data", [b"", b"[]", b"{", b"\xff\xfe", b"[" * 100_000, b'"text"', b"7"])
def test_foreign_files_are_refused(tmp_path, data):
    file = tmp_path / "game.json"
    file.write_bytes(data)
    result = play("--resume", file)
    assert (result.exit_code, result.output.count("\n")) == (2, 1)
    assert "is not a saved game" in result.output


@pytest.mark.parametrize(
    ("args", "reason"),
    [
        ((), "say which game to play"),
        (("magic",), "unknown game 'magic'"),
        (("tictactoe", "55"), "cell 5 is marked already"),
        (("tictactoe", "--level", "hard", "--strength", 4), "exclude each other"),
        (("tictactoe", "--level", "hard", "--depth", 4), "--level and --depth exclude each other"),
        (("tictactoe", "--level", "easy", "--evaluation", "own"), "a level sets both"),
        (("tictactoe", "--engine", "mcts", "--level", "hard"), "--level needs alpha-beta"),
        (("tictactoe", "--engine", "mcts", "--depth", 4), "depth does not go with engine=mcts"),
        (("tictactoe", "--playouts", 4), "playouts does not go with engine=alphabeta"),
        (("--resume", "nothing.json"), "nothing.json cannot be read: "),
        (("--resume", "nothing.json", "--seed", 3), "keeps its settings: leave out --seed"),
    ],
)
def test_bad_input_is_one_line(args, reason):
    result = play(*args)
    assert (result.exit_code, result.output.count("\n")) == (2, 1)
    assert reason in result.output


def test_names_are_exported():
    assert cutnode.play_game and cutnode.make_player and cutnode.match
