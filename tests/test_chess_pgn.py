"""PGN files in all their variety, compared with python-chess's reader."""

from __future__ import annotations

import io
import random
import re

import pytest

from cutnode import PositionError, PositionWarning
from cutnode.games.chess import parse_move, parse_position, parse_record, play, position_text
from cutnode.games.chess.pgn import read_pgn
from cutnode.playing.records import read_record
from cutnode.storage.files import decoded

pytestmark = pytest.mark.once

chess = pytest.importorskip("chess")
pgn = pytest.importorskip("chess.pgn")

# Random games, written in random styles

SIGNS = (
    "!",
    "?",
    "!?",
    "?!",
    "!!",
    "??",
    "±",
    "∓",
    "⩲",
    "+-",
    "-+",
    "+/-",
    "=",
    "∞",
    "□",
    "N",
    "↑",
)
COMMENTS = (
    "best",
    "e4 (or d4",
    "[%clk 0:01:02]",
    "; not a line",
    '"quoted"',
    "Gr\u00fc\u00dfe",
    "1-0 *",
)
ENDS = ("\n", "\r\n", "\r")
FIGURES = str.maketrans("KQRBN", "♔♕♖♗♘")


class Writer:
    """A writer of random games in random styles.

    With *plain*, it writes only what python-chess reads.
    """

    def __init__(self, seed, plain):
        self.random = random.Random(seed)
        self.plain = plain
        self.board = self.first()
        self.start = self.board.fen()
        self.crowded = self.random.random()
        words = [
            *self.game(1 + self.random.randrange(60)),
            self.random.choice(("*", "1-0", "1/2-1/2", "")),
        ]
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
            tags += ['[SetUp "1"]'] * self.chance(0.5) + [
                '[Variant "Chess960"]'
            ] * self.board.chess960
        self.random.shuffle(tags)
        return "\n".join(tags) + self.random.choice(("\n\n", "\n \n")) * bool(tags)

    def value(self):
        return self.random.choice(
            ("", "x", r"a \"b\" \\", "{ (", "1. e4 *", "Gr\u00fc\u00dfe", 'a "b" c')
        )

    def game(self, plies):
        """Return the words of a game from here on, with variations and comments."""
        board, told = self.board, False
        for _ in range(plies):
            if board.is_game_over():
                return
            number = board.fullmove_number
            if board.turn:
                yield self.random.choice((f"{number}.", f"{number}. ", f"{number} .", ""))
            elif not told or self.chance(0.2):
                yield self.random.choice(
                    (f"{number}...", f"{number}. ...", f"{number}\u2026", "...")
                )
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
        """Return a move as books print it."""
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
        """Return words separated by spaces or line ends, sometimes with nothing after a number."""
        text = ""
        for word in words:
            glued = text.endswith(".") and self.chance(0.5)
            text += word if glued or not text else self.random.choice((" ", " ", "\n", "  ")) + word
        if self.plain:  # an empty line ends a game for python-chess
            text = re.sub(r"\n\s*\n", "\n", text)
        return text + "\n"

    def data(self):
        """Return the bytes of a file."""
        text = self.text.replace("\n", self.random.choice(ENDS))
        codes = ["utf-8", "utf-16"]
        try:
            text.encode("latin-1")
            codes.append("latin-1")
        except UnicodeEncodeError:
            pass
        return text.encode(self.random.choice(codes))


def final_fen(text):
    start, moves, _ = parse_record(text)
    position = parse_position(start)
    for move in moves:
        position = play(position, parse_move(position, move))
    return position_text(position)


def check_game(seed):
    writer = Writer(seed, plain=seed % 2 == 0)
    text = decoded(writer.data())
    assert final_fen(text) == writer.board.fen(), (seed, writer.text)
    if writer.plain:
        read = pgn.read_game(io.StringIO(text.lstrip("\ufeff")))
        assert read.end().board().fen() == writer.board.fen(), (seed, writer.text)


@pytest.mark.filterwarnings("ignore::cutnode.contract.errors.PositionWarning")
def test_random_games_are_read_as_python_chess_reads_them():
    for seed in range(60):
        check_game(seed)


# Kinds of texts


@pytest.mark.parametrize(
    ("text", "moves"),
    [
        ("1. ... Kg4 2. Nf6+ Kf5 *", "Kg4 Nf6+ Kf5"),
        ("1\u2026 Kg4 2 . Nf6", "Kg4 Nf6"),
        ("1.e4 e5 2.Nf3+-Nc6\u00b1 3.Bb5 +/- a6 \u221e", "e4 e5 Nf3 Nc6 Bb5 a6"),
        ("1 e4 e5 2 O-O+! 0-0-0?! 1/2", "e4 e5 O-O 0-0-0"),
        ("3. exd6 e.p. exd3ep fxe6 e.p.+- 4. N1c3N D", "exd6 exd3 fxe6 N1c3"),
        ("e8(Q)+ e1=(N) e8/Q e8=Q# \u2659xe8=\u2655 e8Q", "e8(Q)+ e1=(N) e8/Q e8=Q# Pxe8=Q e8Q"),
        ("\u2658f3 e2\u2013e4 N\u00d7d4 0\u20130 1\u20130", "Nf3 e2-e4 Nxd4 0-0"),
        ("e2e4 e7e5 g1f3 a7a8q", "e2e4 e7e5 g1f3 a7a8q"),
        ("1. e4 (1. d4 (1. c4 ; (\n) d5 {)}) e5 {( } ... $1 $ 2. d4\n% (\nd5 ? !", "e4 e5 d4 d5"),
        ("1. e4 * {the end}", "e4"),
        ("1. e4 e5 1/2-1/2 2. Nf3", "e4 e5 Nf3"),
        ("1. e4 e5 2. Sf3 2", "e4 e5 Sf3 2"),
        ("\ufeff%\r1. e4\r\re5\r2. d4\x1a", "e4 e5 d4"),
        (
            "1. e4 d5 2. Bb5 ch c6 3. Nd6 dis. ch. Ke7 4. Qf3N!? Qh4mate!",
            "e4 d5 Bb5 c6 Nd6 Ke7 Qf3 Qh4",
        ),
        ("1. e4 a6 2. exd6 en passant Nf6+dis 3. e8 = Q dbl ch", "e4 a6 exd6 Nf6+ e8=Q"),
        ("1. e4 e5 White resigns", "e4 e5"),
        ("1. e4 e5 1 - 0", "e4 e5"),
        ("1. e4 e5 0:1", "e4 e5"),
        ("1. e4 e5 draw agreed", "e4 e5"),
        ("1. e4 e5 2. N f3", "e4 e5 N f3"),
    ],
)
def test_moves_are_found(text, moves):
    assert read_pgn(text)[:2] == ({}, moves.split())


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("1. e4 -- 2. d4", "move 2, '--', is no move, but a pass"),
        ("1. e4 e5 2. Z0", "move 3, 'Z0', is no move, but a pass"),
        ("1. e4 {never closed", "the braces of '{never closed' do not match"),
        ("1. e4 } e5", "the braces of '} e5' do not match"),
        ("1. e4 (1. d4", "do not match"),
        ("1. e4 e5) 2. d4", "do not match"),
        ("", "it holds no game in PGN"),
        ("{nothing}", "it holds no game in PGN"),
        ('[FEN "8/8/8/8/8/8/8/8 w - -]\n*', "is not a tag"),
        ('[Variant "Atomic"]\n1. e4', "the game is of the variant 'Atomic', not chess"),
        ("[" * 1000 + "1. e4 " * 200_000, "longer than 1,000,000 characters"),
    ],
)
def test_files_without_games_are_refused(text, reason):
    with pytest.raises(PositionError, match=reason):
        read_pgn(text)


def test_tags():
    text = (
        '[Site "C:\\"]\n[Event "a \\"b\\" \\\\"]\n[Round "the "last" one"]\n[broken]\n'
        '[White "x"\n{[Black "no"]}\n[fen "4k3/8/8/8/8/8/8/4K3 w - -"]\n'
        '[My-Tag_1 "1. e4 (d4 { ;"]\n\n*\n'
    )
    tags, moves, _ = read_pgn(text)
    assert tags == {
        "Event": 'a "b" \\',
        "Site": "C:\\",
        "Round": 'the "last" one',
        "FEN": "4k3/8/8/8/8/8/8/4K3 w - -",
        "My-Tag_1": "1. e4 (d4 { ;",
    }
    assert moves == []


@pytest.mark.parametrize(
    "text",
    [
        '[Event "1"]\n\n1. e4 e5 *\n\n[Event "2"]\n\n1. d4 *\n',
        '[Event "1"]\n\n1. e4 e5\n[Event "2"]\n1. d4',
        '[Event "1"]\n\n1. e4 e5 1-0 {x} 1. d4 d5 0-1',
        '[Event "1"]\n\n1. e4 e5\n\n1. d4 d5\n',
        '[Event "1"]\n\n1. e4 e5\n\n[FEN "damaged]\n\n1. d4 d5\n',
        '[Event "1"]\n\n1. e4 e5 *' + ' [Event "2"] 1. d4 *' * 100_000,
    ],
)
def test_the_first_of_several_games_is_read(text):
    with pytest.warns(PositionWarning, match="it holds more than one game: the first is read"):
        assert read_pgn(text)[:2] == ({"Event": "1"}, ["e4", "e5"])


def test_files_of_windows(tmp_path):
    file = tmp_path / "game.pgn"
    file.write_bytes(
        b"1. e4 {the \x93best\x94} e5 2. Nf3 2\x85Nf6 3. Bc4 Bc5 4. 0\x960 \xbd\x96\xbd"
    )
    assert read_record(str(file), "chess").steps == ["e4", "e5", "Nf3", "Nf6", "Bc4", "Bc5", "0-0"]


@pytest.mark.parametrize("code", ["utf-8", "utf-8-sig", "latin-1", "utf-16"])
@pytest.mark.parametrize("end", ENDS)
def test_files_of_any_code_and_line_ends(tmp_path, code, end):
    file = tmp_path / "game.pgn"
    text = '[Site "Gr\u00fc\u00dfe"]\n\n1. e4 {caf\u00e9} e5 ; \u00e9\n2. Nf3 *\n'
    file.write_bytes(text.replace("\n", end).encode(code))
    assert read_record(str(file), None)[:3] == ("chess", "", ["e4", "e5", "Nf3"])


def test_stale_rights_in_a_game_are_noted():
    start, moves, _ = parse_record('[FEN "4k3/8/8/8/8/8/8/4K3 w KQ - 0 1"]\n\n1. Kd2 *')
    with pytest.warns(PositionWarning, match="castling KQ is read as -"):
        position = parse_position(start)
    assert moves == ["Kd2"] and position_text(position).split()[2] == "-"
