"""Games of chess in files as the field writes them, compared with python-chess's reader."""

from __future__ import annotations

import io
import random
import re
from pathlib import Path

import chess
import chess.pgn
import pytest

from engine import PositionError
from engine.contract.errors import PositionWarning
from engine.playing.records import read_record
from engine.storage.files import decoded
from games.chess import parse_move, parse_position, parse_record, play, position_text
from games.chess.pgn import read_pgn

DATA = Path(__file__).parent / "data"

# Random games, written in random ways

SIGNS = ("!", "?", "!?", "?!", "!!", "??", "±", "∓", "⩲", "+-", "-+", "+/-", "=", "∞", "□", "N", "↑")
COMMENTS = ("best", "e4 (or d4", "[%clk 0:01:02]", "; not a line", '"quoted"', "Gr\u00fc\u00dfe", "1-0 *")
ENDS = ("\n", "\r\n", "\r")
FIGURES = str.maketrans("KQRBN", "♔♕♖♗♘")


class Writer:
    """Plays a random game, and writes it in a random way.

    *plain* keeps to what python-chess reads.
    """

    def __init__(self, seed, plain):
        self.random = random.Random(seed)
        self.plain = plain
        self.board = self.first()
        self.start = self.board.fen()
        self.crowded = self.random.random()
        words = [*self.game(1 + self.random.randrange(60)), self.random.choice(("*", "1-0", "1/2-1/2", ""))]
        self.text = self.random.choice(("", "\ufeff", "\n\n")) + self.tags() + self.lines(words)
        if self.chance(0.3):
            self.text += '\n[Event "another"]\n\n1. d4 *\n'

    def chance(self, share):
        return self.random.random() < share

    def first(self):
        if self.chance(0.2):
            return chess.Board.from_chess960_pos(self.random.randrange(960))
        board = chess.Board()
        for _ in range(self.random.choice((0, 0, 0, 9, 40))):
            if not board.is_game_over():
                board.push(self.random.choice([*board.legal_moves]))
        return chess.Board(board.fen())

    def tags(self):
        tags = [f'[{name} "{self.value()}"]' for name in ("Event", "White", "Annotator_2")]
        tags = self.random.sample(tags, self.random.randrange(4))
        if self.start != chess.STARTING_FEN:
            tags.append(f'[FEN "{self.start}"]')
            tags += ['[SetUp "1"]'] * self.chance(0.5) + ['[Variant "Chess960"]'] * self.board.chess960
        self.random.shuffle(tags)
        return "\n".join(tags) + self.random.choice(("\n\n", "\n \n")) * bool(tags)

    def value(self):
        return self.random.choice(("", "x", r"a \"b\" \\", "{ (", "1. e4 *", "Gr\u00fc\u00dfe", 'a "b" c'))

    def game(self, plies):
        """The words of a game from here on, and of variations and comments in it."""
        board, told = self.board, False
        for _ in range(plies):
            if board.is_game_over():
                return
            number = board.fullmove_number
            if board.turn:
                yield self.random.choice((f"{number}.", f"{number}. ", f"{number} .", ""))
            elif not told or self.chance(0.2):
                yield self.random.choice((f"{number}...", f"{number}. ...", f"{number}\u2026", "..."))
            told = True
            choices = [*board.legal_moves]
            move = self.random.choice(choices)
            yield self.move(board, move)
            if self.chance(self.crowded):
                yield from self.decorations(board, choices)
            board.push(move)

    def decorations(self, board, choices):
        for _ in range(self.random.randrange(3)):
            kind = self.random.randrange(4)
            if kind == 0:
                yield self.random.choice((*SIGNS, f"${self.random.randrange(140)}"))
            elif kind == 1:
                yield f"{{{self.random.choice(COMMENTS)}{self.random.choice(('', chr(10)))}}}"
            elif kind == 2:
                yield self.random.choice((";", "\n%")) + self.random.choice(COMMENTS) + "\n"
            else:
                inner = board.copy()
                other = self.random.choice(choices)
                yield f"( {inner.fullmove_number}... {inner.san(other)}"
                inner.push(other)
                if self.chance(0.5) and (replies := [*inner.legal_moves]):
                    yield inner.san(self.random.choice(replies))
                    yield from self.decorations(inner, replies)
                yield ")"

    def move(self, board, move):
        text = board.san(move)
        is_passant = board.is_en_passant(move)
        if self.chance(0.1) and not board.is_castling(move):
            text = self.random.choice((board.lan(move), board.uci(move)))
        if text.startswith("O"):
            text = self.random.choice((text, text.replace("O", "0")))
        elif self.chance(0.2):
            text = text.replace("=", "")
        if self.chance(0.2):
            text = text.rstrip("+#")
        if not self.plain:
            text = self.printed(text)
        if is_passant:
            text += self.random.choice(("", " e.p.", "e.p.", " ep"))
        return text + self.random.choice(("", "", "", "!", "?!", "+-"))

    def printed(self, text):
        """A move as books print it."""
        if self.chance(0.3) and "=" in text:
            head, _, tail = text.partition("=")
            text = self.random.choice((f"{head}({tail[0]}){tail[1:]}", f"{head}/{tail}"))
        if self.chance(0.2) and text[0] in "abcdefgh" and not text[1:2].isdigit():
            text = f"P{text}"
        if self.chance(0.2):
            text = text.translate(FIGURES)
        if self.chance(0.2):
            text = text.replace("-", "\u2013").replace("x", "\u00d7")
        return text

    def lines(self, words):
        """Words with spaces or line ends between them, and none after a number at times."""
        text = ""
        for word in words:
            glued = text.endswith(".") and self.chance(0.5)
            text += word if glued or not text else self.random.choice((" ", " ", "\n", "  ")) + word
        if self.plain:  # an empty line ends a game of python-chess's
            text = re.sub(r"\n\s*\n", "\n", text)
        return text + "\n"

    def data(self):
        """The bytes of a file."""
        text = self.text.replace("\n", self.random.choice(ENDS))
        codes = ["utf-8", "utf-16"]
        try:
            text.encode("latin-1")
            codes.append("latin-1")
        except UnicodeEncodeError:
            pass
        return text.encode(self.random.choice(codes))


def final_fen(text):
    start, moves = parse_record(text)
    position = parse_position(start)
    for move in moves:
        position = play(position, parse_move(position, move))
    return position_text(position)


def check_game(seed):
    writer = Writer(seed, plain=seed % 2 == 0)
    text = decoded(writer.data())
    assert final_fen(text) == writer.board.fen(), (seed, writer.text)
    if writer.plain:
        read = chess.pgn.read_game(io.StringIO(text.lstrip("\ufeff")))
        assert read.end().board().fen() == writer.board.fen(), (seed, writer.text)


@pytest.mark.filterwarnings("ignore::engine.contract.errors.PositionWarning")
def test_random_games_are_read_as_python_chess_reads_them():
    for seed in range(60):
        check_game(seed)
