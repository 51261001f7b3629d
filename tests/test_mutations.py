"""Small games with beginners' mistakes: each is reported in one line that names it."""

import re
from random import Random

import pytest
from commands import run_cutnode
from nim import nim

from cutnode import ContractError, analyse, load_game, minimax, perft, search, solve
from cutnode.cli import watchdog
from cutnode.cli.exit_codes import BAD_INPUT, BREAKS_CONTRACT
from cutnode.conformance import check, examine
from cutnode.conformance.sample import Sample
from cutnode.conformance.suspicions import CONSTANTS
from cutnode.contract import verbs
from cutnode.contract.verbs import play

BOARD = """
from cutnode.contract.cells import Grid

LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))
CELLS = Grid(3, 3, contents={".": "empty", "x": "first player", "o": "second player"})

class Position:
    def __init__(self, cells=(0,) * 9, player=1):
        self.cells = list(cells)
        self.player = player

    def __eq__(self, other):
        return (self.cells, self.player) == (other.cells, other.player)

    def __hash__(self):
        return hash((tuple(self.cells), self.player))

    def copy(self):
        return Position(self.cells, self.player)

def position_text(position):
    return "".join(".xo"[cell] for cell in position.cells) + ("x" if position.player == 1 else "o")

def parse_position(text, variant=""):
    from cutnode import PositionError
    if len(text) != 10 or set(text) - set(".xo") or text[9] == ".":
        raise PositionError("nine cells and the player to move")
    return Position([(0, 1, -1)[".xo".index(c)] for c in text[:9]], 1 if text[9] == "x" else -1)

def cell(position, index):
    return position.cells[index] % 3

def moves(position, buffer, at):
    for index in range(9):
        if position.cells[index] == 0:
            buffer[at] = index
            at += 1
    return at

def play(position, move):
    child = position.copy()
    child.cells[move] = child.player
    child.player = -child.player
    return child

def outcome(position):
    cells = position.cells
    for a, b, c in LINES:
        if cells[a] and cells[a] == cells[b] == cells[c]:
            return True, -1
    return 0 not in cells, 0
"""

CLOBBER = """
from typing import NamedTuple
from cutnode.contract.cells import Grid

W, H = 3, 3
N = W * H
CELLS = Grid(H, W, contents={".": "empty", "x": "first player", "o": "second player"})
MAX_MOVES = 4 * N
MAX_PLIES = N
VALUE_LIMIT = 1
LEFT = sum(1 << i for i in range(N) if i % W)
RIGHT = sum(1 << i for i in range(N) if i % W != W - 1)

class Position(NamedTuple):
    mine: int = 0b101010101
    theirs: int = 0b010101010
    second: bool = False

def cell(position, index):
    a, b = position.mine >> index & 1, position.theirs >> index & 1
    return b + 2 * a if position.second else a + 2 * b

def target(position, d):
    m, t = position.mine, position.theirs
    return m & (RIGHT & t >> 1, LEFT & t << 1, t >> W, t << W)[d]

def moves(position, buffer, at):
    for d in range(4):
        for i in range(N):
            if target(position, d) >> i & 1:
                buffer[at] = 4 * i + d
                at += 1
    return at

def play(position, move):
    i, d = divmod(move, 4)
    a, b = 1 << i, 1 << i + (1, -1, W, -W)[d]
    return Position(position.theirs & ~b, position.mine & ~a | b, not position.second)

def outcome(position):
    over = not any(target(position, d) for d in range(4))
    return over, -1 if over else 0

def key(position):
    return position.mine | position.theirs << N | position.second << 2 * N

def turned(word):
    return sum(1 << N - 1 - i for i in range(N) if word >> i & 1)

def canonical(position):
    image = Position(turned(position.mine), turned(position.theirs), position.second)
    return min((key(position), 0), (key(image), 1))

def canonical_move(position, move, symmetry):
    return (4 * (N - 1 - move // 4) + (move % 4 ^ 1)) if symmetry else move
"""

ROWS = """
import copy

class Position:
    def __init__(self):
        self.rows = [[0] * 2 for _ in range(2)]
        self.who = "x"

    def __eq__(self, other):
        return (self.rows, self.who) == (other.rows, other.who)

    def __hash__(self):
        return hash((str(self.rows), self.who))

def moves(position, buffer, at):
    for index in range(4):
        if position.rows[index // 2][index % 2] == 0:
            buffer[at] = index
            at += 1
    return at

def play(position, move):
    child = copy.deepcopy(position)
    child.rows[move // 2][move % 2] = position.who
    child.who = "o" if position.who == "x" else "x"
    return child

def outcome(position):
    if any(a != 0 and a == b for a, b in (*position.rows, *zip(*position.rows))):
        return True, -1
    return all(0 not in row for row in position.rows), 0

def position_text(position):
    return "".join((c or ".") for row in position.rows for c in row) + position.who

def parse_position(text, variant=""):
    from cutnode import PositionError
    if len(text) != 5 or set(text[:4]) - set(".xo") or text[4] not in "xo":
        raise PositionError("four cells and who moves")
    position = Position()
    position.rows = [[0 if c == "." else c for c in part] for part in (text[:2], text[2:4])]
    position.who = text[4]
    return position
"""

DICE = """
from typing import NamedTuple

MAX_MOVES = 2

class Position(NamedTuple):
    left: int = 6
    roll: int = 0

def moves(position, buffer, at):
    buffer[at], buffer[at + 1] = 0, 1
    return at + 2

def play(position, move):
    return Position(max(position.left - position.roll - move, 0), 0)

def outcome(position):
    return position.left == 0, -1 if position.left == 0 else 0

def chance(position):
    return 2 if position.roll == 0 else 0

def chance_outcome(position, index):
    return 0.5, position._replace(roll=index + 1)
"""

AGAIN = """
from typing import NamedTuple

MAX_MOVES = 3

class Position(NamedTuple):
    left: int = 10
    player: int = 0

def moves(position, buffer, at):
    for count in range(1, min(position.left, 3) + 1):
        buffer[at] = count
        at += 1
    return at

def play(position, move):
    player = position.player if move == 2 else 1 - position.player
    return Position(position.left - move, player)

def outcome(position):
    return position.left == 0, -1 if position.left == 0 else 0

def turn(position):
    return position.player
"""

STEPS = """
from typing import NamedTuple

MAX_MOVES = 2

class Position(NamedTuple):
    mine: int = 0
    theirs: int = 0

def moves(position, buffer, at):
    for step in (0, 1):
        if 0 <= position.mine + 2 * step - 1 <= 4:
            buffer[at] = step
            at += 1
    return at

def play(position, move):
    return Position(position.theirs, position.mine + 2 * move - 1)

def outcome(position):
    return position.theirs == 4, -1 if position.theirs == 4 else 0

def reversible(position, child):
    return True
"""

WIDE_PLAY = """
    return Position(position.left - 1)

class Position(NamedTuple):
    left: int = 40

MAX_PLIES = 40
"""

GAMES = {
    "nim": nim(),
    "board": BOARD,
    "clobber": CLOBBER,
    "rows": ROWS,
    "dice": DICE,
    "again": AGAIN,
    "steps": STEPS,
}

MORE = "\n\n"

FINDINGS = [
    # In-place changes.
    ("board", "child = position.copy()", "child = position", "play", "it changes the position"),
    (
        "board",
        "return Position(self.cells, self.player)",
        "child = Position((), self.player); child.cells = self.cells; return child",
        *("play", "cells was [0, 0, 0, 0, 0, 0, 0, 0, 0], is now"),
    ),
    (
        "board",
        "    for index in range(9):\n",
        "    position.cells.sort()\n    for index in range(9):\n",
        *("moves", "it changes the position it is given"),
    ),
    (
        "board",
        "    return 0 not in cells, 0",
        "    position.player = -position.player\n    return 0 not in cells, 0",
        *("outcome", "player was 1, is now -1): work on a copy"),
    ),
    (
        "board",
        "    return position.cells[index] % 3",
        "    return position.cells.pop(index) % 3",
        *("cell", "it changes the position it is given"),
    ),
    (
        "board",
        "def position_text(position):",
        "def position_text(position):\n    position.player = 1",
        *("position_text", "player was -1, is now 1): work on a copy"),
    ),
    (
        "board",
        "def cell(",
        "def evaluate(position):\n    position.cells[0] = 1\n    return 0\n\ndef cell(",
        *("evaluate", "it changes the position it is given"),
    ),
    # Equal positions.
    (
        "board",
        "return hash((tuple(self.cells), self.player))",
        "return id(self)",
        *("position", "another hash: make __hash__ from the fields that __eq__ compares"),
    ),
    (
        "board",
        "return (self.cells, self.player) == (other.cells, other.player)",
        "return self.cells[:8] == other.cells[:8]",
        *("position", "compare all fields in __eq__"),
    ),
    ("rows", "str(self.rows)", "id(self)", "position", "another hash"),
    (
        "rows",
        "[[0] * 2 for _ in range(2)]",
        "[[0] * 2] * 2",
        *("play", "rows[0] and rows[1], which are one list"),
    ),
    (
        "rows",
        "copy.deepcopy(position)",
        "copy.deepcopy(position); child.rows[0] = tuple(child.rows[0])",
        *("play", "item assignment"),
    ),
    (
        "rows",
        "position.who = text[4]",
        "position.who = 'x'",
        *("position_text", "] who='x', not rows="),
    ),
    # Moves.
    ("nim", "buffer[at] = count", "buffer[at] = -count", "moves", "numbers in range(65535)"),
    ("nim", "buffer[at] = count", "buffer[at] = count / 2", "moves", "numbers in range(65535)"),
    ("nim", "buffer[at] = count", "buffer[at] = 65534 + count", "moves", "range(65535)"),
    ("nim", "buffer[at] = count", "buffer[at] = 1", "moves", "lists a move twice"),
    ("nim", "MAX_MOVES = 3", "MAX_MOVES = 2", "moves", "MAX_MOVES = 2"),
    ("nim", "    return at\n", "", "moves", "return the index at which the next move"),
    (
        "nim",
        "range(1, min(position.left, 3) + 1)",
        "range(2, min(position.left, 3) + 1)",
        "moves",
        "there are none, but the game is not over",
    ),
    (
        "nim",
        "position.left == 0, -1 if position.left == 0",
        "position.left == 9, -1 if position.left == 9",
        "moves",
        "there are none, but the game is not over",
    ),
    # Play and outcome.
    ("nim", "return Position(position.left - move)", "return position.left - move", "play", "int"),
    (
        "nim",
        "return Position(position.left - move)",
        "Position(position.left - move)",
        "play",
        "NoneType",
    ),
    (
        "nim",
        "return position.left == 0, -1 if",
        "return position.left == 0, -1 if True or",
        "outcome",
        "not over, but its value is -1",
    ),
    (
        "nim",
        "MAX_MOVES = 3",
        "MAX_MOVES = 3\nVALUE_LIMIT = 0.5",
        "outcome",
        "further from 0 than 0.5",
    ),
    (
        "nim",
        "MAX_MOVES = 3",
        "MAX_MOVES = 3\nMAX_PLIES = 5",
        "MAX_PLIES",
        "longer than MAX_PLIES = 5",
    ),
    (
        "nim",
        "def play(position, move):",
        "def play(position, move):\n    global turns\n    turns += 1",
        "play",
        "raises NameError",
    ),
    (
        "nim",
        "def play(position, move):\n",
        "import random\ndef play(position, move):\n    move = random.choice((1, move))\n",
        "play",
        "played twice, has different effects",
    ),
    ("rows", "return True, -1", "return True, -1 / 2", "outcome", "is -0.5, not a whole number"),
    ("rows", "return True, -1", "return True, float('nan')", "outcome", "is nan, not a whole"),
    ("rows", "return True, -1", "return True", "outcome", "must return two things, whether"),
    # Symmetry and keys.
    (
        "nim",
        "def outcome",
        "def key(position):\n    return -position.left\n\ndef outcome",
        *("key", "is not a word of 64 bits: keep the lowest 64, & (1 << 64) - 1"),
    ),
    (
        "nim",
        "def outcome",
        "def key(position):\n    hash(position)\n\ndef outcome",
        *("key", "is None, not a whole number (is a return missing?)"),
    ),
    (
        "nim",
        "def outcome",
        "def key(position):\n    return tuple(position)\n\ndef outcome",
        *("key", "is (10,), not a whole number"),
    ),
    (
        "clobber",
        "turned(position.theirs), position.second)",
        "position.theirs, position.second)",
        "canonical",
        "not a symmetry of the game (turn all fields of a position alike)",
    ),
    (
        "clobber",
        "position.mine | position.theirs << N",
        "position.mine ^ position.theirs << 1",
        "key",
        "the same key",
    ),
    ("clobber", "(move % 4 ^ 1)) if", "(move % 4)) if", "canonical_move", "is not a move of"),
    # Turns, chance, and repeated positions.
    ("again", "return position.player", "return 1 + position.player", "turn", "is 2, not 0 or 1"),
    ("again", "return position.player", "position.player", "turn", "is None, not a whole number"),
    (
        "dice",
        "return 2 if position.roll == 0 else 0",
        "return 2.0",
        "chance",
        "is 2.0, not a whole",
    ),
    ("dice", "return 2 if position.roll == 0 else 0", "pass", "chance", "is None, not a whole"),
    (
        "dice",
        "return 0.5, p",
        "return 50, p",
        "chance",
        "are [50, 50], not numbers from 0 that sum",
    ),
    (
        "dice",
        "return 0.5, position._replace(roll=index + 1)",
        "return position._replace(roll=index + 1), 0.5",
        *("chance_outcome", "returns Position, float; the contract is a probability, and the"),
    ),
    (
        "clobber",
        '"o": "second player"})',
        '"o": "second player"}, players={"x": "first", "o": "second"})',
        *(
            "mover",
            "is not defined, but CELLS names players: let mover(position) return 'x' or 'o'",
        ),
    ),
    ("dice", "return 0.5,", "return 1 / 3,", "chance", "the probabilities are [0.333"),
    ("dice", "def chance(position):", "def dice(position):", "chance", "is not defined, but"),
    (
        "dice",
        "return 2 if position.roll == 0 else 0",
        "return 2",
        "chance_outcome",
        "chance never ends",
    ),
    (
        "steps",
        "\ndef reversible(position, child):\n    return True",
        "",
        "reversible",
        "is not defined, but play comes back here",
    ),
    ("steps", "return True", "return False", "reversible", "says no, but play comes back here"),
    (
        "dice",
        "return 2 if position.roll == 0 else 0",
        "return 2 if position.roll == 0 else -1",
        *("chance", "is -1, not the number of outcomes"),
    ),
    (
        "dice",
        "return 2 if position.roll == 0 else 0",
        "return 100_000 if position.roll == 0 else 0",
        *("chance", "are [0.5, 0.5, 0.5, 0.5, 0.5, 0.5], and 99,994 more, not numbers"),
    ),
    (
        "dice",
        "position.left - position.roll - move",
        "position.left",
        *("MAX_PLIES", "raise it; if dice let play continue forever, 4096 is enough"),
    ),
    # Texts.
    ("rows", "def parse_position", "def parse", "parse_position", "but position_text is"),
    (
        "rows",
        "    return position\n",
        "    position\n",
        "position_text",
        "must return a position of the game, got None",
    ),
    (
        "rows",
        'raise PositionError("four cells and who moves")',
        "raise ValueError(text)",
        *("parse_position", "a text that is not a position must raise PositionError"),
    ),
    (
        "nim",
        "def outcome",
        "def move_text(position, move):\n    str(move)\n\ndef outcome",
        *("parse_position", ".move_text must return a text, got None (is a return missing?)"),
    ),
    (
        "nim",
        "left: int = 10",
        "left: int = 10\n    used: frozenset = frozenset()",
        *("position_text", "used=frozenset() cannot be read: a field must be a number, a text or"),
    ),
    (
        "board",
        "return position.cells[index] % 3",
        'return ".xo"[position.cells[index]]',
        *("cell", "must return the number of a content of CELLS, 0 to 2; got"),
    ),
    # Estimates and bounds.
    (
        "nim",
        "def outcome",
        "from itertools import count\nasked = count()\n\n"
        "def evaluate(position):\n    return next(asked) % 2\n\ndef outcome",
        *("evaluate", "when asked again: let it depend on the position alone"),
    ),
    (
        "nim",
        "def outcome",
        "def order(position, move, child):\n    return move / 2\n\ndef outcome",
        *("order", "of move 1 is 0.5, not a whole number"),
    ),
    (
        "nim",
        "def outcome",
        "def bounds(position, alpha, beta):\n    return 0, 1\n\ndef outcome",
        "bounds",
        "but the value is -1",
    ),
    (
        "nim",
        "def outcome",
        "def plies_left(position):\n    return position.left // 3\n\ndef outcome",
        "plies_left",
        "plies were played",
    ),
    (
        "nim",
        "def outcome",
        "def evaluate(position, depth):\n    return 0\n\ndef outcome",
        "evaluate",
        "the contract is evaluate(position)",
    ),
    (
        "nim",
        "def outcome",
        "def evaluate(position):\n    return 10**6\n\ndef outcome",
        "evaluate",
        "further from 0",
    ),
    (
        "nim",
        "def outcome",
        "def evaluate(position):\n    return position.left / 3\n\ndef outcome",
        *("evaluate", "not a whole number: divide by // instead of /, or round it"),
    ),
    (
        "nim",
        "def outcome",
        "def evaluate(position):\n    position.left\n\ndef outcome",
        *("evaluate", "is None, not a whole number (is a return missing?)"),
    ),
]
"""A game, the source text to replace, its replacement, and the verb and words of the finding."""

REFUSED = [
    (
        "nim",
        "return position.left == 0, -1 if position.left == 0 else 0",
        "return -1 if position.left == 0 else 0, position.left == 0",
        "outcome must return, in this order, whether the game is over",
    ),
    ("nim", "def play", "async def play", "play is async: write def instead of async def"),
    (
        "nim",
        "return position.left == 0, -1 if position.left == 0 else 0",
        "return position.left == 0",
        "outcome must return two things, whether the game is over",
    ),
    ("nim", "def outcome", "def outcom", "does not define outcome (did you mean 'outcom'?)"),
    ("nim", "def moves", "def Moves", "does not define moves (did you mean 'Moves'?)"),
    (
        "rows",
        "str(self.rows), self.who",
        "self.rows, self.who",
        "cannot be hashed or compared (unhashable type: 'list'): make Position immutable",
    ),
    (
        "rows",
        "(self.rows, self.who) == (other.rows, other.who)",
        "bool([][0])",
        "cannot be hashed or compared (list index out of range)",
    ),
    ("nim", "MAX_MOVES = 3", "MAX_MOVES = 10**12", "must be a whole number from 0 to 1000000"),
    ("nim", "MAX_MOVES = 3", "MAX_PLIES = '20'", "must be a whole number from 0 to 1000000"),
    ("nim", "MAX_MOVES = 3", "MAX_MOVES = MAX_PLIES = 10**6", "got 1000000 times 1000000"),
    ("nim", "MAX_MOVES = 3", "exit(3)", "SystemExit: 3"),
    ("board", "__eq__", "equals", "Position has no __eq__: make it a NamedTuple"),
    ("board", "def __hash__", "def hash", "cannot be hashed or compared"),
    ("board", '"o": "second player"}', '"o": "second player"}, players=("x", "o")', "a dictionary"),
    (
        "nim",
        "left: int = 10",
        "left: int",
        "give left of Position a default, or define start(variant)",
    ),
]
"""A game, the source text to replace, its replacement, and the words with which it is refused."""

WARNINGS = [
    (
        "steps",
        "def reversible",
        "class Position(NamedTuple):\n    mine: int = 0\n    theirs: int = 0\n    ply: int = 0\n\n"
        "def play(position, move):\n"
        "    return Position(position.theirs, position.mine + 2 * move - 1, position.ply + 1)\n\n"
        "def reversible",
        *("reversible", "no position comes back, as every move changes ply: leave ply out"),
    ),
    (
        "nim",
        "def outcome",
        "def evalaute(position):\n    return 0\n\ndef outcome",
        "evalaute",
        "did you mean evaluate?",
    ),
    (
        "nim",
        "def outcome",
        "def Bounds(position, alpha, beta):\n    return 0, 1\n\ndef outcome",
        "Bounds",
        "did you mean bounds?",
    ),
    ("nim", "MAX_MOVES", "MAX_MOVE", "MAX_MOVE", "did you mean MAX_MOVES?"),
    ("nim", "MAX_MOVES = 3", "MAX_PLYS = 10", "MAX_PLYS", "did you mean MAX_PLIES?"),
    ("nim", "MAX_MOVES = 3", "DECISVE = True", "DECISVE", "did you mean DECISIVE?"),
    (
        "again",
        "return position.player",
        "return 0",
        "turn",
        "the same player moved in all 4 games",
    ),
    (
        "again",
        "player = position.player if move == 2 else 1 - position.player",
        "player = position.player",
        "turn",
        "the same player moved in all 4 games",
    ),
    (
        "again",
        "def turn(position):\n    return position.player",
        "",
        *("play", "player stays after"),
    ),
    (
        "rows",
        '"o" if position.who == "x" else "x"',
        '"x" if position.who == "x" else "x"',
        *("play", "who stays after"),
    ),
    (
        "nim",
        "position.left == 0, -1 if position.left == 0",
        "position.left > 0, -1 if position.left > 0",
        *("outcome", "the game is over at the start"),
    ),
    (
        "clobber",
        "Position(position.theirs & ~b, position.mine & ~a | b,",
        "Position(position.mine & ~a | b, position.theirs & ~b,",
        "play",
        "does not swap mine and theirs",
    ),
    (
        "clobber",
        "b + 2 * a if position.second else a + 2 * b",
        "a + 2 * b",
        "cell",
        "each piece changes its owner with every move",
    ),
    (
        "board",
        "child.player = -child.player",
        "child.player = 1",
        "play",
        "no piece of second was ever moved or placed",
    ),
    (
        "clobber",
        "def canonical_move",
        "def turned_move",
        "canonical_move",
        "canonical turns positions",
    ),
    (
        "dice",
        "def chance(",
        "def reversible(position, child):\n    return True\n\ndef chance(",
        "reversible",
        "remove it",
    ),
]
"""The same, with the words of a warning."""


@pytest.fixture
def written(tmp_path, request):
    """A function that writes a game into its own file, with some of its source replaced."""

    def write(name, old="", new=""):
        source = GAMES[name]
        assert old in source
        file = tmp_path / f"mutated_{abs(hash((request.node.name, tmp_path)))}.py"
        file.write_text(source.replace(old, new))
        return str(file)

    return write


def ids(rows):
    return [f"{row[3]}-{number}" for number, row in enumerate(rows)]


@pytest.mark.parametrize("name", GAMES)
def test_the_games_themselves(written, name):
    report = examine(load_game(written(name)), games=2)
    assert report.findings == report.warnings == []
    assert report.summary is not None


def test_perft_of_the_board(written):
    assert perft(load_game(written("board")).start(), 3) == 504


@pytest.mark.once
@pytest.mark.parametrize(("name", "old", "new", "verb", "words"), FINDINGS, ids=ids(FINDINGS))
def test_findings(written, name, old, new, verb, words):
    games = 2 if name == "board" else 6  # guarding its list takes ten times as long
    findings = check(load_game(written(name, old, new)), games=games, compile=False)
    told = {finding.verb: str(finding) for finding in findings}
    assert words in told[verb]
    assert "\n" not in told[verb]


@pytest.mark.parametrize(("name", "old", "new", "words"), REFUSED, ids=range(len(REFUSED)))
def test_refused(written, name, old, new, words):
    file = written(name, old, new)
    answers = [run_cutnode(command, file) for command in ("check", "solve")]
    assert [answer.exit_code for answer in answers] == [BAD_INPUT, BAD_INPUT]
    for answer in answers:
        assert words in answer.output and answer.output.count("\n") == 1


@pytest.mark.parametrize(("name", "old", "new", "verb", "words"), WARNINGS, ids=ids(WARNINGS))
def test_warnings(written, name, old, new, verb, words):
    report = examine(load_game(written(name, old, new)), games=4, compile=False)
    told = {finding.verb: str(finding) for finding in report.warnings}
    assert words in told[verb]
    assert "\n" not in told[verb]


@pytest.mark.parametrize(("name", "old", "new", "verb", "words"), FINDINGS, ids=ids(FINDINGS))
def test_solving_has_no_traceback(written, name, old, new, verb, words):
    """If a proof comes across a mistake, it ends with one line."""
    start = [".........x"] if name == "board" else []
    command = ["solve", "--nodes", "300", written(name, old, new), *start]
    answer = run_cutnode(*command)
    assert answer.exception is None or isinstance(answer.exception, SystemExit)
    assert "Traceback" not in answer.output
    if verb in ("play", "moves", "outcome") and "changes the position" in words:
        assert (
            answer.exit_code == BREAKS_CONTRACT
            and f".{verb} breaks the contract: {words}" in answer.output
        )


@pytest.mark.parametrize(
    ("name", "old", "new", "words"),
    [
        ("nim", "buffer[at] = count", "buffer[at] = 1", "a move is listed twice: [1, 1, 1]"),
        (
            "nim",
            "        at += 1\n    return at",
            "        while True:\n            buffer[at] = at\n            at += 1\n    return at",
            "does its loop end?",
        ),
        ("again", "return position.player", "position.player", "turn is None, not a whole number"),
        ("dice", "return 2 if position.roll == 0 else 0", "pass", "chance is None, not a whole"),
        ("dice", "return 0.5, p", "return 50, p", "sum to 1, got [50, 50]"),
        ("dice", "def chance_outcome", "def outcome_of", "chance_outcome is not defined, but"),
        ("rows", "return True, -1", "return True, -1 / 2", "outcome returns a value that is -0.5"),
        ("rows", "return True, -1", "return True", "outcome must return two things, whether"),
        ("rows", "return True, -1", "exit(3)", "SystemExit: 3"),
    ],
)
def test_solving_refuses_what_check_finds(written, name, old, new, words):
    answer = run_cutnode("solve", written(name, old, new))
    assert answer.exit_code == BREAKS_CONTRACT
    assert words in answer.output.splitlines()[-1]


@pytest.mark.parametrize("ask", [lambda p: perft(p, 3), minimax, solve, analyse])
def test_searches_refuse_rules_that_work_in_place(written, ask):
    game = load_game(written("board", "child = position.copy()", "child = position"))
    with pytest.raises(
        ContractError, match=r"play breaks the contract: .*change and return a copy"
    ):
        ask(game.start())
    with pytest.raises(ContractError, match="player was 1, is now -1"):
        search(game.start(), depth=2)


def test_dice_games_can_last_forever(written):
    """A player who may stay is not asked to for longer than the longest line."""
    file = written("dice", "position.left - position.roll - move", "position.left - move")
    report = examine(load_game(file), games=6)
    assert report.findings == report.warnings == []


def test_positions_without_moves_are_named_by_tablebases(written):
    file = written("steps", "<= 4:", "<= 4 and position.theirs != 2:")
    answer = run_cutnode("solve", file)
    assert answer.exit_code == BAD_INPUT
    assert "has no moves, but the game is not over" in answer.output.splitlines()[-1]


def test_a_check_ends_where_few_positions_have_a_huge_tree(written):
    """Minimax without a table would visit 3 ** 40 nodes."""
    file = written("nim", "    return Position(position.left - move)", WIDE_PLAY)
    game = load_game(file)
    sample = Sample(game, Random(0))
    sample.play_game(reluctant=False)
    assert len(sample.small_trees()) == 10
    assert len(sample.endings()) == 41


def test_numbers_of_numpy_are_written_as_those_of_python(written):
    change = "    import numpy as np\n    return Position(position.left - np.int64(move))"
    game = load_game(written("nim", "    return Position(position.left - move)", change))
    after = play(game.start(), 2)
    assert game.notation.position_text(after) == "left=8"
    assert examine(game, games=4, compile=False).findings == []


def test_values_can_be_numbers_of_numpy(written):
    change = "    import numpy as np\n    return position.left == 0, np.int64(-1) if"
    file = written("nim", "    return position.left == 0, -1 if", change)
    assert check(load_game(file), games=2) == []


def test_a_rule_that_does_not_return_is_named(written, monkeypatch):
    monkeypatch.setattr(watchdog, "PATIENCE", 0.1)
    slow = "CALLS = []\ndef play(position, move):\n    import time\n    CALLS.append(move)\n"
    slow += "    time.sleep(0.5 if len(CALLS) == 1 else 0)"
    file = written("nim", "def play(position, move):", slow)
    answer = run_cutnode("perft", file, "--depth", "1")
    assert re.search(r"\.play, line \d+, at 'left=10': one call has run for 0.1 s", answer.stderr)
    assert answer.stderr.count("does its loop end?") == 1


def test_constants_are_those_of_the_contract():
    assert set(CONSTANTS) == set(re.findall(r"``([A-Z_]{4,})\b", str(verbs.__doc__)))
