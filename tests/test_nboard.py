"""Othello for NBoard: games in GGF, and a session with a process."""

from __future__ import annotations

import queue
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from cutnode import PositionError
from cutnode.compiler.jit import jit_enabled
from cutnode.games.othello import parse_position, position_text
from cutnode.games.othello.nboard import read_game

ROOT = Path(__file__).parent.parent
PATIENCE = 300
"""The seconds to wait for an answer: the search may have to be compiled."""

GAME = (
    "(;GM[Othello]PC[NBoard]DT[2014-02-21 20:52:27 GMT]PB[a]PW[b]RE[?]TI[15:00]TY[8]"
    "BO[8 ---------------------------O*------*O--------------------------- *]{};)"
)
"""The game of the protocol's example session, and its moves."""

MOVES = "B[F5]W[F6]B[D3]W[C5]B[E6]W[F7]B[E7]W[F4]"

LATE = "BO[8 -XXXXXX---XOOOO--XOXXOOX-OOOOOOOOOOOXXOOOOOXXOOX--XXOO----XXXXX- *]"
"""Position 2 of the FFO test suite: 14 empty squares, a4 wins by 10."""


# Games


def test_games_are_read():
    game, left = read_game(GAME.format(MOVES))
    assert len(game) == 9
    assert game[-1] == parse_position("f5f6d3c5e6f7e7f4")
    assert left == {False: 900, True: 900}


def test_clocks():
    _, left = read_game(GAME.format("B[F5//2.5]W[F6/-1.25/10]B[D3/3]"))
    assert left == {False: 897.5, True: 890}
    assert read_game(GAME.format("").replace("15:00", "1:00:30"))[1][True] == 3630
    assert read_game(GAME.format("").replace("TI[15:00]", ""))[1] == {}


@pytest.mark.parametrize("word", ["B[PA]", "B[pass/0/1]", ""])
def test_passes(word):
    squares = "d3c3f5d2d1e1b2c1"
    moves = "".join(f"{'BW'[n // 2 % 2]}[{squares[n : n + 2]}]" for n in range(0, 16, 2))
    game, _ = read_game(GAME.format(f"{moves}{word}W[A3]"))
    assert len(game) == 11
    assert game[-1] == parse_position(squares + "a3")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "'' is not a game in GGF: it has no board, BO[8 ...]"),
        ("f5d6", "is not a game in GGF"),
        ("(;BO[10 ---- *];)", "'BO[10 ---- *]' is not a board of 8x8 squares"),
        ("(;BO[8];)", "'BO[8]' is not a board of 8x8 squares"),
        ("(;BO[8 f5d6];)", "'BO[8 f5d6]' is not a board of 8x8 squares"),
        ("(;BO[8 ; *];)", "'BO[8 ; *]' is not a board of 8x8 squares"),
        ("(;BO[8 --- *];)", "there are 3 squares"),
        (GAME.format("W[F5]"), "move 1 of the game, 'W[F5]', is not that player's"),
        (GAME.format("B[F5]B[D6]"), "move 2 of the game, 'B[D6]', is not that player's"),
        (GAME.format("B[A1]"), "move 1 of the game: A1: X turns nothing over there"),
        (GAME.format("B[]"), "move 1 of the game: '' is not a move"),
    ],
)
def test_invalid_games(text, words):
    with pytest.raises(PositionError) as caught:
        read_game(text)
    assert words in str(caught.value)


# Sessions


class Process:
    """A session whose answers are read as they arrive."""

    def __init__(self, *options):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "cutnode.games.othello.nboard", "--table", "8", *options],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.lines = queue.Queue()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            self.lines.put(line.rstrip("\n"))
        self.lines.put(None)

    def send(self, *lines):
        self.process.stdin.write("".join(f"{line}\n" for line in lines))
        self.process.stdin.flush()

    def until(self, beginning):
        """Return all answers up to and including the first that begins with *beginning*."""
        found = []
        while not found or not found[-1].startswith(beginning):
            line = self.lines.get(timeout=PATIENCE)
            assert line is not None, (found, self.process.stderr.read())
            found.append(line)
        return found

    def hint(self, count):
        """Return all output until the session is idle again."""
        self.send(f"hint {count}")
        found = self.until("status")
        while found[-1] != "status":
            found += self.until("status")
        return found

    def ask(self, *lines):
        """Return all answers to some commands."""
        self.send(*lines, "ping 77")
        return self.until("pong 77")[:-1]

    def end(self):
        self.process.stdin.close()
        code = self.process.wait(timeout=PATIENCE)
        error = self.process.stderr.read()
        self.process.stdout.close()
        self.process.stderr.close()
        return code, error


@pytest.fixture(scope="module")
def nboard():
    if not jit_enabled():
        pytest.skip("slow")
    process = Process("--seconds", "1000000")
    process.send("nboard 2")
    assert process.until("set myname") == ["set myname cutnode"]
    yield process
    assert process.end() == (0, "")


@pytest.mark.slow
def test_it_plays(nboard):
    nboard.send(f"set game {GAME.format(MOVES)}", "set  depth   6", "set contempt 50", "ping 1")
    assert nboard.until("pong") == ["pong 1"]
    nboard.send("go")
    answers = nboard.until("===")
    square, value, seconds = answers[-1].removeprefix("=== ").split("/")
    position = parse_position("f5f6d3c5e6f7e7f4")
    assert position_text(position) and parse_position(f"f5f6d3c5e6f7e7f4{square}")
    assert abs(float(value)) <= 64 and float(seconds) >= 0
    assert answers[0].startswith("status ")
    searched = [line.split() for line in answers if line.startswith("search ")]
    assert [words[4] for words in searched] == ["2", "4", "6"]
    assert searched[-1][1].startswith(square) and searched[-1][2] == value
    assert any(line.startswith("nodestats ") for line in answers)


@pytest.mark.slow
def test_moves_are_made(nboard):
    """The engine plays no moves by itself."""
    nboard.ask(f"set game {GAME.format('')}", "move F5//1.5", "move  d6/0.25/2", "move C3")
    assert nboard.ask("move c3") == ["status 'move': c3: there is a disc already"]


@pytest.mark.slow
@pytest.mark.parametrize("line", ["set game (;GM[Othello]BO[8 *];)", "set game", "move a1", "move"])
def test_after_a_refusal_there_is_no_move(nboard, line):
    """It does not use the previous game, until another game is accepted."""
    nboard.ask(f"set game {GAME.format(MOVES)}", "set depth 2")
    nboard.ask("set game of before")  # also refused
    (refusal,) = nboard.ask(line)
    for command in ("go", "hint 1", "analyze", "move f5", "go"):
        (answer,) = nboard.ask(command)
        name = command.partition(" ")[0]
        assert answer.startswith(f"status {name!r}: there is no position to search: ")
        assert answer.endswith(refusal.partition(": ")[2])
    assert nboard.ask(f"set game {GAME.format(MOVES)}") == []
    nboard.send("go")
    assert nboard.until("===")[-1].startswith("=== ")
    nboard.until("status")


@pytest.mark.slow
def test_hints_give_several_moves(nboard):
    nboard.ask(f"set game {GAME.format(MOVES)}", "set depth 4")
    deepest = [
        line.split() for line in nboard.hint(3) if line.startswith("search") and line[-1] == "4"
    ]
    assert len({words[1][:2] for words in deepest}) == 3


@pytest.mark.slow
def test_a_ping_ends_a_hint(nboard):
    nboard.ask(f"set game {GAME.format(MOVES)}", "set depth 60")
    nboard.send("hint 1")
    nboard.until("search")
    assert nboard.ask()[-1] == "status"  # which nothing else ends before its limit
    assert nboard.ask() == []


@pytest.mark.slow
def test_late_positions_are_solved(nboard):
    nboard.ask(f"set game (;GM[Othello]{LATE};)", "set depth 4")
    nboard.send("go")
    answers = nboard.until("===")
    assert answers[-1].startswith("=== A4/10.00/")
    assert any(line.startswith("search A4") and line.endswith(" 10.00 0 100%") for line in answers)
    nboard.until("status")
    solved = [line.split() for line in nboard.hint(3) if line.endswith("100%")]
    assert [(words[1][:2], words[2]) for words in solved[-3:]] == [
        ("A4", "10.00"),
        ("B2", "0.00"),
        ("A3", "-6.00"),
    ]


@pytest.mark.slow
def test_passes_and_ends_are_answered(nboard):
    nboard.ask(f"set game (;BO[8 O*{'-' * 62} *];)")
    nboard.send("go")
    assert nboard.until("===")[-1] == "=== PA"
    nboard.until("status")
    nboard.ask(f"set game (;BO[8 XX{'-' * 62} O];)")
    assert "the game is over" in nboard.ask("go")[-1]
    assert "the game is over" in nboard.ask("hint 1")[-1]


@pytest.mark.slow
def test_games_are_analysed(nboard):
    """For black, from the end; this game is over after nine moves, and black has won."""
    squares = "e6f4e3f6g5d6e7f5c5"
    moves = "".join(f"{'BW'[n // 2 % 2]}[{squares[n : n + 2]}]" for n in range(0, 18, 2))
    nboard.ask(f"set game {GAME.format(moves)}", "set depth 2")
    nboard.send("analyze")
    answers = [line.split() for line in nboard.until("analysis 0")[1:]]
    assert [words[:2] for words in answers] == [["analysis", str(n)] for n in range(9, -1, -1)]
    assert answers[0][2] == answers[1][2] == "64.00"


@pytest.mark.slow
def test_rubbish_is_survived(nboard):
    nboard.ask(f"set game {GAME.format(MOVES)}")
    assert nboard.ask("", "   ", "nonsense 1", "set", "set colour red", "\0", "é") == []
    wrong = "set depth x", "set depth", "set game", "set game (;", "move", "move z9", "hint x"
    for line in wrong:
        (answer,) = nboard.ask(line)
        assert answer.startswith("status ")
    nboard.ask(f"set game {GAME.format(MOVES)}")
    nboard.send("set depth 2", "go")
    assert nboard.until("===")[-1].startswith("=== ")
    assert nboard.ask("learn")[-1] == "learned"
    assert nboard.ask("set depth 999", "set depth 0") == []


@pytest.mark.slow
def test_the_end_of_input_ends_it():
    if not jit_enabled():
        pytest.skip("slow")
    process = Process("--depth", "60", "--seconds", "1000")
    process.send("nboard 2", "hint 1")
    process.until("search")
    assert process.end() == (0, "")
    process = Process()
    process.send("quit", "nboard 2")
    assert process.end() == (0, "")


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize(("seconds", "code"), [("0", 2), ("nan", 1)])
def test_options(seconds, code):
    run = subprocess.run(
        [sys.executable, "-m", "cutnode.games.othello.nboard", "--seconds", seconds],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert run.returncode == code and "seconds" in run.stderr
