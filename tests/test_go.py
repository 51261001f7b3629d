"""Go: rules compared with a plain implementation, legal positions, solved boards, texts."""

from __future__ import annotations

import itertools
import subprocess
import sys
from random import Random

import pytest
from data import FOLDER, rows
from hypothesis import given
from positions import reached

from cutnode import (
    Bits,
    Board,
    CutnodeError,
    PositionError,
    compiled,
    legal_moves,
    load_game,
    perft,
    solve,
)
from cutnode.compiler.jit import jit_enabled
from cutnode.contract.cells import Points
from cutnode.contract.choices import ENGINES
from cutnode.contract.notation import notation_of
from cutnode.contract.verbs import bounds, canonical, outcome, play, policy
from cutnode.games.go import (
    KO,
    breathing,
    from_cells,
    mover,
    parse_position,
    parse_record,
    position_text,
    record_text,
    start,
)
from cutnode.games.go.gtp import COMMANDS, Session
from cutnode.playing.records import read_record

COLUMNS = "ABCDEFGHJKLMNOP"
SIZES = ("1x1", "2x2", "1x11", "3x3", "4x3", "5x5", "8x8", "9x9")
RULES = [
    f"ko={ko}{suicide}"
    for ko in ("positional", "situational", "simple")
    for suicide in ("", ",suicide=yes")
]


class Naive:
    """A game of Go on a dictionary, by the words of the rules; positions are compared as texts."""

    def __init__(self, variant):
        size, *options = variant.split(",")
        self.width, self.height = map(int, size.split("x"))
        self.options = dict(option.split("=") for option in options)
        names = COLUMNS[: self.width]
        rows = range(self.height, 0, -1)
        self.points = [f"{column}{row}" for row in rows for column in names]
        self.line = [({}, "x", 0)]

    def near(self, point):
        column, row = COLUMNS.index(point[0]), int(point[1:])
        steps = ((column + 1, row), (column - 1, row), (column, row + 1), (column, row - 1))
        return [
            COLUMNS[x] + str(y) for x, y in steps if 0 <= x < self.width and 1 <= y <= self.height
        ]

    def reach(self, point, board):
        """Return the points of the same content that are joined with one, and all next to them."""
        joined, edge, waiting = {point}, set(), [point]
        while waiting:
            for near in self.near(waiting.pop()):
                if board.get(near) != board.get(point):
                    edge.add(near)
                elif near not in joined:
                    joined.add(near)
                    waiting.append(near)
        return joined, edge

    def after(self, move):
        """Return the position after a move; None if the move is illegal."""
        board, player, passes = self.line[-1]
        other = "o" if player == "x" else "x"
        if move == "pass":
            return board, other, passes + 1
        if move in board:
            return None
        after = {**board, move: player}
        for near in [*self.near(move), move]:
            if near in after:
                chain, edge = self.reach(near, after)
                if all(point in after for point in edge) and (
                    near != move or after[near] == player
                ):
                    if after[near] == other or near == move:
                        if near == move and self.options.get("suicide") != "yes":
                            return None
                        after = {point: s for point, s in after.items() if point not in chain}
        return after, other, 0

    def legal(self, superko):
        """Return the legal moves; without *superko* only by the last two boards."""
        found = ["pass"]
        rule = self.options.get("ko", "positional")
        for move in self.points:
            after = self.after(move)
            if after is None:
                continue
            board, other, _ = after
            boards = [before for before, _, _ in self.line]
            if board == boards[-1]:
                continue
            if rule == "situational":
                if superko and any((board, other, 0) == (b, o, min(p, 1)) for b, o, p in self.line):
                    continue
            elif [board] == boards[-2:-1] or (superko and rule == "positional" and board in boards):
                continue
            found.append(move)
        return found

    def area(self):
        """Return the area of black minus white's."""
        board, _, _ = self.line[-1]
        total = 0
        for point in self.points:
            owner = {board[point]} if point in board else set()
            if not owner:
                _, edge = self.reach(point, board)
                owner = {board[near] for near in edge}
            total += {"x": 1, "o": -1}[min(owner)] if len(owner) == 1 else 0
        return total


def drawn(naive):
    board, player, passes = naive.line[-1]
    marks = [board.get(point, ".") for point in naive.points]
    width = naive.width
    lines = ["".join(marks[at : at + width]) for at in range(0, len(marks), width)]
    return f"{'/'.join(lines)} {player}", passes


def count(naive, depth):
    """Count the lines of play of some plies, by the last two boards alone."""
    if depth == 0:
        return 1
    if naive.line[-1][2] == 2:
        return 0
    total = 0
    for move in naive.legal(False):
        naive.line.append(naive.after(move))
        total += count(naive, depth - 1)
        naive.line.pop()
    return total


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(("size", "depth"), [("1x1", 4), ("1x3", 6), ("2x2", 4)])
def test_lines_of_play(size, depth, rule):
    variant = f"{size},{rule}"
    empty = load_game(f"go:{variant}", plain=True).start()
    assert perft(empty, depth) == count(Naive(variant), depth)


@pytest.mark.parametrize("variant", ["3x2", "2x2,ko=simple,suicide=yes"])
def test_lines_of_play_in_compiled_code(variant):
    assert perft(start(variant), 6) == count(Naive(variant), 6)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("size", SIZES)
def test_random_games(size, rule):
    """Legal moves with superko, boards, ends and scores are as the words of the rules say."""
    variant = f"{size},{rule},komi=0.5"
    for seed in range(1 if size in ("8x8", "9x9") else 2):
        board, naive, random = Board(f"go:{variant}"), Naive(variant), Random(seed)
        for _ in range(120):
            legal = naive.legal(True)
            assert sorted(map(board.move_text, board.legal_moves)) == sorted(legal)
            some = [move for move in legal if move != "pass"]
            move = random.choice(some if some and random.random() < 0.9 else legal)
            board.push(move)
            naive.line.append(naive.after(move))
            text, passes = drawn(naive)
            assert position_text(board.position).startswith(text)
            assert board.position.passes == passes
            if board.is_game_over():
                break
        if board.position.passes == 2:
            sign = 1 if mover(board.position) == "x" else -1
            assert board.outcome() == sign * (2 * naive.area() - 1)


# Go Text Protocol


def answers(session, *commands):
    return [session.answer(command).strip() for command in commands]


def test_protocol():
    session = Session()
    setup = ("boardsize 3", "komi 0.5", "play b B2", "play B a2 # a comment", "play white PASS")
    assert answers(session, *setup) == ["="] * 5
    assert answers(session, "1 final_score", "2 undo", "\tundo ") == ["=1 B+8.5", "=2", "="]
    assert "3 . . .\n2 . x .\n1 . . ." in session.answer("showboard")
    assert answers(session, "undo", "undo") == ["=", "? cannot undo"]
    assert answers(session, "final_score", "", "# only a comment") == ["= W+0.5", "", ""]
    assert answers(session, "known_command play", "known_command no", "no") == [
        *("= true", "= false", "? unknown command")
    ]
    assert answers(session, "protocol_version", "name") == ["= 2", "= cutnode"]
    assert set(session.answer("list_commands")[2:].split()) == COMMANDS.keys()
    assert all(session.answer(command).endswith("\n\n") for command in ("name", "no"))


@pytest.mark.parametrize(
    ("command", "error"),
    [
        *(("boardsize 19", "unacceptable size"), ("boardsize 2.5", "unacceptable size")),
        *(("boardsize", "syntax error"), ("boardsize x", "syntax error")),
        *(
            ("komi nan", "syntax error"),
            ("komi 2.3", "komi must be -25 to 25 in steps of 0.5, got 2.3"),
        ),
        *(
            ("play b I3", "illegal move"),
            ("play b F1", "illegal move"),
            ("play b C3", "illegal move"),
        ),
        *(("play x C3", "syntax error"), ("play b", "syntax error"), ("genmove", "syntax error")),
        *(("time_settings 1 2", "syntax error"), ("time_left x 1 0", "syntax error")),
    ],
)
def test_refused_commands(command, error):
    session = Session()
    assert answers(session, "play b C3", f"5 {command}") == ["=", f"?5 {error}"]
    assert session.answer("final_score") == "= B+25\n\n"


def test_superko_in_the_protocol():
    session = Session()
    moves = "b b2", "w c2", "b a3", "w b3", "b pass", "w c1", "b b1", "w a2", "b a1", "w a3"
    assert answers(session, "boardsize 3", *(f"play {move}" for move in moves))[-1] in "=?"
    for line in session.lines:
        boards = [str(position_text(position)).split()[0] for position in line]
        changes = [b for a, b in itertools.pairwise(boards) if a != b]
        assert len(set(changes)) == len(changes)


def test_clocks():
    session = Session(seconds=100.0)
    assert session.time_to_move(False) == 100
    assert answers(session, "time_settings 60 0 0") == ["="]
    assert 0 < session.time_to_move(False) < 10
    assert answers(session, "time_left w 8 2") == ["="]
    assert 0 < session.time_to_move(True) <= 4
    assert answers(session, "time_settings 0 10 5") == ["="]
    assert 0 < session.time_to_move(True) <= 2
    assert answers(session, "time_settings 0 10 0") == ["="]  # no limit, says the protocol
    assert session.time_to_move(True) == 100


@pytest.mark.skipif(not jit_enabled(), reason="slow")
def test_seeds():
    def game(session):
        return answers(session, "clear_board", *(["genmove b", "genmove w"] * 4))

    first, *others = (Session(nodes=2_000, seconds=60.0, seed=seed, table=16) for seed in range(4))
    known = game(first)
    assert game(first) == known == game(Session(nodes=2_000, seconds=60.0, seed=0, table=16))
    assert any(game(session) != known for session in others)


@pytest.mark.slow
@pytest.mark.skipif(not jit_enabled(), reason="slow")
@pytest.mark.parametrize("engine", ENGINES)
def test_a_game_by_pipe(engine):
    commands = ["boardsize 2", *["genmove b", "genmove w"] * 9, "final_score", "quit", "name"]
    done = subprocess.run(
        [sys.executable, "-m", "cutnode.games.go.gtp", "--seconds=0.3", "--engine", engine],
        input="\n".join(commands),
        capture_output=True,
        text=True,
        check=True,
    )
    said = done.stdout.split("\n\n")
    assert all(line.startswith("=") for line in said[:-1]) and len(said) == len(commands)
    assert "= pass" in said


# Records

RECORD = """(;GM[1]FF[4]SZ[9]KM[6.5]PB[A [x\\]]PW[B]RE[W+R]C[a game];B[ee]C[the middle];W[cc]BM[1]
(;B[gg];W[];B[tt])(;B[cg];W[gc](;B[aa])(;B[bb])))"""


def test_records():
    text, moves, about = parse_record(RECORD)
    assert text == "" and about["variant"] == "9x9,komi=6.5" and about["comment"] == "a game"
    assert about["headers"] == {"PB": "A [x]", "PW": "B", "RE": "W+R"}
    assert moves == ["E5", "C7", "G3", "pass", "pass"]
    assert (moves[0].comment, moves[1].mark) == ("the middle", "?")
    ((other,),) = [moves[2].variations]
    assert other == ["C3", "G7", "A9"] and other[2].variations == [["B8"]]
    empty = start(about["variant"])
    about |= {"players": ("A [x]", "B"), "date": "2026-01-01", "value": -13}
    written = record_text(empty, moves, about)
    assert "KM[6.5]" in written and "RE[W+R]" in written
    again, same, _ = parse_record(written)
    assert again == text and same == moves
    assert (same[0].comment, same[1].mark) == ("the middle", "?")
    assert same[2].variations == moves[2].variations
    assert same[2].variations[0][2].variations == [["B8"]]


def test_records_of_positions(tmp_path):
    text = "(;SZ[3:2]HA[2]AB[aa][bb]RU[NZ];W[ca];B[ba])"
    position, moves, about = parse_record(text)
    assert (position, moves) == ("x../.x. o", ["C2", "B2"])
    assert about["variant"] == "3x2,ko=situational,suicide=yes"
    first = parse_position(position, about["variant"])
    facts = {"players": ("w", "b"), "date": "2026-01-01", "value": None}
    assert parse_record(record_text(first, moves, facts))[:2] == (position, moves)
    file = tmp_path / "game.sgf"
    file.write_text(text)
    assert read_record(str(file), None).name == "go:3x2,ko=situational,suicide=yes"
    with pytest.raises(CutnodeError, match=r"it is a game of go:3x2.*, not of go:9x9"):
        read_record(str(file), "go:9x9")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "it is not a game in SGF"),
        ("(;B[aa]", "line 1 of the SGF cannot be read: ''"),
        ("()", "the SGF has no node"),
        ("(B[aa])", "B stands before the first ;"),
        ("(;GM[2])", "GM[2] is another game"),
        ("(;SZ[19])", "there is no board of 19x19: a board has 1 to 19 columns and rows"),
        ("(;B[aa])", "there is no board of 19x19"),
        ("(;SZ[x])", "SZ[x] is not a size"),
        ("(;SZ[5]KM[3.75])", "komi must be a number in steps of 0.5, got KM[3.75]"),
        ("(;SZ[5];B[ff])", "'ff' is not a point of a board of 5x5"),
        ("(;SZ[5];B[aa];B[bb])", "B[bb] is not a move of white, whose turn it is"),
        ("(;SZ[5];B[aa];AW[bb])", "stones are set up after the first move"),
        ("(;SZ[2]AB[aa][ab][ba][bb])", "the chain of A2 has no liberty"),
        ("(;SZ[2]" + "(;" * 400, "more than 300 variations"),
    ],
)
def test_refused_records(text, words):
    with pytest.raises(PositionError) as caught:
        parse_record(text)
    assert words in str(caught.value)


# Positions and values


@pytest.mark.parametrize(
    ("size", "count"),
    [
        pytest.param(*row, marks=[pytest.mark.slow, pytest.mark.long] if row[0] == "4x4" else [])
        for row in rows(FOLDER / "go_positions.txt")
    ],
)
def test_number_of_legal_positions(size, count):
    """All colourings, built point by point: a chain that is complete must have a liberty."""
    width, height = map(int, size.split("x"))
    cls = load_game(f"go:{size}", plain=True).start()
    if width * height > 9:
        assert compiled_count(start(size)) == int(count)
        return
    found = 0
    for number in range(3 ** (width * height)):
        contents = [number // 3**place % 3 for place in range(width * height)]
        try:
            from_cells(contents, "x", cls)
        except PositionError:
            continue
        found += 1
    assert found == int(count)


@compiled
def compiled_count(position):
    found = 0
    for black in range(1 << position.AREA):
        stones = Bits(black)
        left = position.BOARD & ~stones
        white = Bits(0)
        while True:
            empty = left & ~white
            alive = breathing(position, stones, empty) == stones
            if alive and breathing(position, white, empty) == white:
                found += 1
            white = Bits(white - left) & left
            if not white:
                break
    return found


NAMES = {"p": "positional", "s": "situational", "d": "simple"}


@pytest.mark.slow
@pytest.mark.skipif(not jit_enabled(), reason="many nodes")
@pytest.mark.parametrize(
    ("size", "value", "rule"),
    [
        (size, int(value), rule)
        for size, value, letters in rows(FOLDER / "go_boards.txt")
        for rule in letters
    ],
)
def test_boards(size, value, rule):
    assert solve(start(f"{size},ko={NAMES[rule]}")).value == value


def test_values_depend_on_the_rule_of_repetition():
    value = {ko: solve(load_game(f"go:2x2,ko={ko}", plain=True).start()).value for ko in KO}
    assert value == {"positional": 1, "situational": 1, "simple": 0}


@pytest.mark.parametrize("variant", ["5x5", "6x3,ko=situational,suicide=yes"])
def test_rollouts_fill_no_eyes(variant):
    """Until nothing else is left to play, which ends the game."""
    random = Random(variant)
    for _ in range(5):
        position, naive = load_game(f"go:{variant}", plain=True).start(), Naive(variant)
        notation = notation_of(type(position))
        while not outcome(position)[0]:
            board, player, _ = naive.line[-1]
            eyes = {
                point
                for point in naive.points
                if point not in board
                and all(board.get(near) == player for near in naive.near(point))
            }
            move = notation.move_text(position, policy(position, random.getrandbits(64)))
            if move in eyes:  # then it is a false one
                x, y = COLUMNS.index(move[0]), int(move[1:])
                corners = [COLUMNS[a] + str(b) for a in (x - 1, x + 1) for b in (y - 1, y + 1)]
                assert any(board.get(corner, player) != player for corner in corners)
            if move == "pass" and position.SIMPLE:
                assert set(naive.legal(False)) - eyes == {"pass"}
            position = play(position, notation.parse_move(position, move))
            naive.line.append(naive.after(move))
        assert len(naive.line) > naive.width * naive.height


def test_only_who_wins_counts():
    """Values are signs, and a solver needs no more."""
    for komi, value in (("2.5", 1), ("3", 0), ("-0.5", 1)):
        assert solve(load_game(f"go:1x3,komi={komi},goal=win", plain=True).start()).value == value


def test_komi_is_taken_from_the_value():
    for komi, value in (("0.5", 2 * 3 - 1), ("2", 3 - 2), ("-0.5", 2 * 3 + 1)):
        assert solve(load_game(f"go:1x3,komi={komi}", plain=True).start()).value == value
    assert load_game("go:1x3,komi=0.5").notation.describe(start("1x3,komi=0.5"), 5) == (
        "black wins by 2.5"
    )


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        (".x.x./xxxx./...../...../..... x", -25 + 2 * 8, 25),  # two eyes, six stones
        (".xxx./xxxx./...../...../..... x", -25, 25),  # one eye
        (".x.x./xxxxx/ooooo/o.o.o/.ooo. o", -25 + 2 * 15, 25 - 2 * 10),
        (".x..x/xxxxx/...../...../..... x", -25 + 2 * 8 + 1, 25),  # of two points one is nobody's
        (".xo.x/xxxxx/...../...../..... x", -25 + 2 * 8 + 1, 25),  # the same with a stone inside
        (".x.o./xxoo./...../...../..... x", -25, 25),
    ],
)
def test_unconditional_life(text, least, most):
    assert bounds(parse_position(text), -25, 25) == (least, most)


@given(reached("go"))
def test_images_are_equivalent(position):
    """Mirrored and turned positions have one class, and so do players exchanged without komi."""
    word, _ = canonical(position)
    lines = position_text(position).split(" ")[0].split("/")
    rest = position_text(position).partition(" ")[2].partition(" ko ")[0]
    if position.ko >= 0 or sum(line.count(".") for line in lines) < position.AREA - 8:
        return
    variant = type(position).VARIANT
    passed = position._replace(passes=0)
    word, _ = canonical(passed)
    for image in ([line[::-1] for line in lines], lines[::-1]):
        assert canonical(parse_position(f"{'/'.join(image)} {rest[0]}", variant))[0] == word
    if not position.COLOURED:
        assert canonical(passed._replace(second=not passed.second))[0] == word


@pytest.mark.parametrize(
    ("variant", "words"),
    [
        ("10x9", "there is no board of 10x9: a board has 1 to 19 columns and rows"),
        ("5", "'5' is not a board size; write WIDTHxHEIGHT, as in 5x5"),
        ("5x5,komi=x", "'komi=x' is not an option of Go; after the size there may be komi=2.5"),
        ("5x5,komi=2.3", "'komi=2.3' is not an option of Go"),
        ("5x5,ko=super", "'ko=super' is not an option of Go"),
        ("5x5,ko=simple,ko=simple", "ko is given twice"),
        ("5x5,komi=26", "komi must be -25 to 25 on this board, got 26"),
    ],
)
def test_refused_variants(variant, words):
    with pytest.raises(PositionError) as caught:
        start(variant)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("A1 A1", "there is a stone on A1 already"),
        ("A1 F1", "F1 is not on the board, whose points are A1..E5"),
        ("A1 I1", "'I1' is not a move; moves are points, A1..E5, or pass"),
        ("pass pass C3", "C3 is played after the game is over"),
        (".x.../x..../...../...../..... o", ""),
        ("xo.../o..../...../...../..... o", "the chain of A5 has no liberty"),
        (".x.../x..../...../...../..... o ko C3", "no stone can have been taken in a ko on C3"),
    ],
)
def test_refused_positions(text, words):
    if words:
        with pytest.raises(PositionError) as caught:
            parse_position(text)
        assert words in str(caught.value)
        return
    with pytest.raises(PositionError, match="a stone on A5 would have no liberty"):
        load_game("go").notation.parse_move(parse_position(text), "A5")


def test_a_ko_is_read_back():
    position = parse_position("C4 C3 B3 B2 D3 D2 pass C1")
    position = parse_position(position_text(position))
    taken = load_game("go").parse(".xo../x.xo./.xo../...../..... o")
    after = play(taken, load_game("go").notation.parse_move(taken, "B4"))
    assert position_text(after) == ".xo../xo.o./.xo../...../..... x ko C4"
    assert parse_position(position_text(after)) == after
    with pytest.raises(PositionError, match="C4 would retake a ko at once"):
        load_game("go").notation.parse_move(after, "C4")


def test_the_board_has_lines():
    cells = start("3x2").CELLS
    assert isinstance(cells, Points) and len(cells.lines) == 7


@pytest.mark.parametrize(
    ("size", "plies"),
    [(5, 1500), (9, 500), pytest.param(9, 100_000, marks=[pytest.mark.slow, pytest.mark.long])],
)
def test_moves_and_results_are_those_of_openspiel(size, plies):
    """Its games, by simple ko and without suicide, end where a board comes back."""
    pyspiel, random = pytest.importorskip("pyspiel"), Random(size)
    game = pyspiel.load_game(f"go(board_size={size})")
    while plies > 0:
        position = start(f"{size}x{size},komi=7.5,ko=simple")
        notation = notation_of(type(position))
        state = game.new_initial_state()
        for _ in range(plies):
            names = {
                state.action_to_string(action).split()[1].upper(): action
                for action in state.legal_actions()
            }
            legal = {notation.move_text(position, move): move for move in legal_moves(position)}
            assert {name.upper() for name in legal} == names.keys()
            choice = random.choice(sorted(legal))
            position = play(position, legal[choice])
            state.apply_action(names[choice.upper()])
            plies -= 1
            if state.is_terminal():
                break
        over, value = outcome(position)
        if over:
            black = -value if position.second else value
            assert state.returns() == [1 if black > 0 else -1, -1 if black > 0 else 1]
