"""Chess, by the rules of FIDE, from any position of chess or Chess960.

Rules: the FIDE laws of chess (E01, https://handbook.fide.com).  A game is drawn when a
position occurs for the third time, after fifty moves of each player without a capture or a
pawn move, and when neither player has the pieces to give mate.

Values: 1 a win, 0 a draw, -1 a loss.

Text: a position is written as FEN.  Also accepted are FEN without its two counters, or followed by
the operations of EPD (``hmvc`` and ``fmvn`` are the counters), and castling rights as in X-FEN and
Shredder-FEN (castling rights without king or rook at home, and en passant squares that no pawn can
have passed, are dropped with a note); FEN and moves from there, ``FEN moves e2e4`` as in UCI; the
moves from the start, with or without numbers (``1. e4 e5 2. Nf3``); and ``960:518``, a start
position of Chess960 by its number.  Moves are written in short algebraic notation (SAN), and read
in SAN or as UCI writes them (``games/chess/notation.py``).

Encoding: boards have a bit for each square as the mover sees it (``games/chess/squares.py``), so
each move turns them upside down.  Moves are described in ``games/chess/generator.py``.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np

from cutnode import (
    Bits,
    PositionError,
    compiled,
    lowest,
    lowest_index,
    mix,
    play_texts,
    quoted,
    without_lowest,
)
from cutnode.contract.bits import bytes_reversed
from cutnode.contract.constants import Constant
from cutnode.contract.counting import NOWHERE
from cutnode.contract.notation import prints_board
from cutnode.contract.plies import Ply
from cutnode.games.chess.boards import sides
from cutnode.games.chess.endings import LAYER_NAMES as LAYER_NAMES
from cutnode.games.chess.endings import LAYER_SIZES as LAYER_SIZES
from cutnode.games.chess.endings import ending_at, taken_back
from cutnode.games.chess.endings import index as index
from cutnode.games.chess.endings import layer as layer
from cutnode.games.chess.endings import retreats as retreats
from cutnode.games.chess.evaluation import SQUARES
from cutnode.games.chess.evaluation import adjust as adjust
from cutnode.games.chess.evaluation import evaluate as evaluate
from cutnode.games.chess.evaluation import evaluate_material as evaluate_material
from cutnode.games.chess.evaluation import evaluate_squares as evaluate_squares
from cutnode.games.chess.exchange import exchange as exchange
from cutnode.games.chess.exchange import gain as gain
from cutnode.games.chess.exchange import kind_at
from cutnode.games.chess.generator import (
    BISHOP,
    CASTLING,
    KING,
    KNIGHT,
    PASSANT,
    PAWN,
    PROMOTION,
    QUEEN,
    ROOK,
    castled,
    checkers,
    kind_of,
    passant_is_safe,
    snipers,
    source_of,
    target_of,
    write_moves,
    write_noisy,
)
from cutnode.games.chess.hints import hint as hint
from cutnode.games.chess.notation import (
    CELLS,
    LETTERS,
    LONGEST_TEXT,
    Placement,
    caption,  # noqa: F401
    chess960,
    fen,
    king_of,
    note_passant,
    parse_fen,
    parse_move,  # noqa: F401
    placement_of,
    player,
    refuse_impossible,
    san,
    square_name,
    was_passed,
)
from cutnode.games.chess.pgn import read_pgn, words_of, write_pgn
from cutnode.games.chess.planes import opponent_planes as opponent_planes
from cutnode.games.chess.planes import planes as planes
from cutnode.games.chess.squares import DARK, UPSIDE_DOWN

MAX_MOVES = 218
"""Reached in R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1."""

MAX_PLIES = 11797
"""The longest game under the fifty-move rule."""

REPETITIONS = 3
DECISIVE = True
VALUE_LIMIT = 1
UNIT = 100
PROFILE = "tactical"

RECORD_SUFFIX = ".pgn"

SEMICOLONS = True

USUAL_START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"

DRAWN_CLOCK = 100
LATE_CLOCK = 36
"""The clock from which on it is part of the key.

No search goes deeper than ``DRAWN_CLOCK`` less this.
"""


@prints_board
class Position(NamedTuple):
    """A position: the pieces of the mover, of the other player, and of each kind."""

    mine: Bits
    theirs: Bits
    pawns: Bits
    knights: Bits
    bishops: Bits
    rooks: Bits
    queens: Bits
    kings: Bits
    castling: Bits
    """The rooks, of both players, that may castle."""
    passant: Bits
    """The square that a pawn has just passed with a double step, if it can be captured there."""
    clock: int
    """Plies since the last capture or pawn move."""
    ply: int
    """Plies since the start of the game; odd when black is to move."""
    placed: int
    """The sum of piece-square weights (``games/chess/evaluation.py``)."""
    zobrist: Bits
    """A hash of the pieces, the side to move, castling rights and en passant."""


def random_words(count: int, seed: int) -> list[int]:
    return [mix(mix(seed) ^ number) for number in range(count)]


ZOBRIST = Constant("chess.zobrist", np.array(random_words(14 * 64, seed=1), np.uint64))
"""A random word for each kind of piece of white and of black on each square of white's view,
then for rooks that may castle, and for en passant squares."""

BLACK = Bits(mix(2))
"""The part of the hash when black is to move."""


@compiled
def hashed(kind, other, black, square):
    """Return the word of a piece on a square as the mover sees it."""
    color = 6 * (other ^ black)
    return Bits(ZOBRIST[((color + kind) << 6) | (square ^ (UPSIDE_DOWN * black))])


@compiled
def rights_hashed(squares, part, black):
    """Return the words of rooks that may castle (part 0) or of an en passant square (1)."""
    word = Bits(0)
    while squares:
        square = lowest_index(squares) ^ (UPSIDE_DOWN * black)
        word ^= Bits(ZOBRIST[((12 + part) << 6) | square])
        squares = without_lowest(squares)
    return word


@compiled
def cell(position, index):
    """Return 0 for an empty square, 1 to 6 for a piece of white's, 7 to 12 for one of black's."""
    black = position.ply & 1
    piece = Bits(1) << Bits(index if black else index ^ UPSIDE_DOWN)
    if not (position.mine | position.theirs) & piece:
        return 0
    other = 1 if position.theirs & piece else 0
    return 1 + kind_at(position, piece) + 6 * (other ^ black)


@compiled
def moves(position, buffer, at):
    return write_moves(position, buffer, at)


@compiled
def noisy(position, buffer, at):
    return write_noisy(position, buffer, at)


@compiled
def play(position, move):
    source, target, kind = source_of(move), target_of(move), kind_of(move)
    start, end = Bits(1) << Bits(source), Bits(1) << Bits(target)
    black = position.ply & 1
    both = start | end
    mine, theirs = position.mine ^ both, position.theirs
    pawns, knights, bishops = position.pawns, position.knights, position.bishops
    rooks, queens, kings = position.rooks, position.queens, position.kings
    castling = position.castling
    clock, placed, zobrist = position.clock + 1, position.placed, hash_after(position)

    if theirs & end and kind != CASTLING:
        taken = kind_at(position, end)
        zobrist ^= hashed(taken, 1, black, target)
        placed += SQUARES[(taken << 6) | (target ^ UPSIDE_DOWN)]
        clock = 0
        theirs ^= end
        pawns &= ~end
        knights &= ~end
        bishops &= ~end
        rooks &= ~end
        queens &= ~end

    if kind <= KING:
        pawns ^= both if kind == PAWN else Bits(0)
        knights ^= both if kind == KNIGHT else Bits(0)
        bishops ^= both if kind == BISHOP else Bits(0)
        rooks ^= both if kind == ROOK else Bits(0)
        queens ^= both if kind == QUEEN else Bits(0)
        kings ^= both if kind == KING else Bits(0)
        zobrist ^= hashed(kind, 0, black, source) ^ hashed(kind, 0, black, target)
        placed += SQUARES[(kind << 6) | target] - SQUARES[(kind << 6) | source]
        if kind == PAWN:
            clock = 0
    elif kind == CASTLING:
        king_to, rook_to = castled(source, target)
        king_end, rook_end = Bits(1) << Bits(king_to), Bits(1) << Bits(rook_to)
        mine = (position.mine & ~both) | king_end | rook_end
        kings = kings ^ start ^ king_end
        rooks = rooks ^ end ^ rook_end
        zobrist ^= hashed(KING, 0, black, source) ^ hashed(KING, 0, black, king_to)
        zobrist ^= hashed(ROOK, 0, black, target) ^ hashed(ROOK, 0, black, rook_to)
        placed += SQUARES[(KING << 6) | king_to] - SQUARES[(KING << 6) | source]
        placed += SQUARES[(ROOK << 6) | rook_to] - SQUARES[(ROOK << 6) | target]
    else:
        clock = 0
        piece = PAWN
        pawns ^= start
        if kind == PASSANT:
            pawns ^= end | (end >> Bits(8))
            theirs ^= end >> Bits(8)
            zobrist ^= hashed(PAWN, 1, black, target - 8)
            placed += SQUARES[(target - 8) ^ UPSIDE_DOWN]
        else:
            piece = kind - PROMOTION + KNIGHT
            knights ^= end if piece == KNIGHT else Bits(0)
            bishops ^= end if piece == BISHOP else Bits(0)
            rooks ^= end if piece == ROOK else Bits(0)
            queens ^= end if piece == QUEEN else Bits(0)
        zobrist ^= hashed(PAWN, 0, black, source) ^ hashed(piece, 0, black, target)
        placed += SQUARES[(piece << 6) | target] - SQUARES[source]

    if castling:
        lost = castling & both
        if start & position.kings:
            lost |= castling & position.mine
        if lost:
            zobrist ^= rights_hashed(lost, 0, black)
            castling ^= lost
    moved = Position(
        mine, theirs, pawns, knights, bishops, rooks, queens, kings, castling,
        Bits(0), clock, position.ply, placed, zobrist,
    )  # fmt: skip
    child = handed_over(moved, clock, zobrist)
    if kind == PAWN and target - source == 16 and sides(end) & theirs & pawns:
        return passed(child, (target - 8) ^ UPSIDE_DOWN)
    return child


@compiled
def hash_after(position):
    """Return the hash with the other player to move, without the right to capture en passant."""
    zobrist = position.zobrist ^ BLACK
    if position.passant:
        zobrist ^= rights_hashed(position.passant, 1, position.ply & 1)
    return zobrist


@compiled
def handed_over(position, clock, zobrist):
    """Return the position as the other player sees it, to move, with another clock and hash."""
    return Position(
        bytes_reversed(position.theirs),
        bytes_reversed(position.mine),
        bytes_reversed(position.pawns),
        bytes_reversed(position.knights),
        bytes_reversed(position.bishops),
        bytes_reversed(position.rooks),
        bytes_reversed(position.queens),
        bytes_reversed(position.kings),
        bytes_reversed(position.castling),
        Bits(0),
        clock,
        position.ply + 1,
        -position.placed,
        zobrist,
    )


@compiled(inline=False)
def passed(position, square):
    """Return the position with an en passant square, if a pawn can be captured there."""
    bit = Bits(1) << Bits(square)
    king = lowest_index(position.kings & position.mine)
    pawns = sides(bit >> Bits(8)) & position.pawns & position.mine
    while pawns:
        source = lowest_index(pawns)
        pawns = without_lowest(pawns)
        if passant_is_safe(position, king, position.mine | position.theirs, source, square):
            zobrist = position.zobrist ^ rights_hashed(bit, 1, position.ply & 1)
            return position._replace(passant=bit, zobrist=zobrist)
    return position


@compiled
def outcome(position):
    if checkers(position):
        if write_moves(position, NOWHERE, 0) == 0:
            return True, -1
        return False, 0
    if surely_moves(position):
        return False, 0
    return write_moves(position, NOWHERE, 0) == 0, 0


@compiled
def surely_moves(position):
    """Return whether an unpinned piece can surely move, if that is cheap to see."""
    king = lowest_index(position.kings & position.mine)
    occupied = position.mine | position.theirs
    steps = (position.pawns & position.mine) << Bits(8) & ~occupied
    return steps != Bits(0) and snipers(position, king) == Bits(0)


@compiled
def key(position):
    """Return the hash, with the clock where a search can come near its end."""
    if position.clock < LATE_CLOCK:
        return position.zobrist
    return position.zobrist ^ mix(Bits(position.clock))


@compiled
def recurrence(position):
    return position.zobrist


@compiled
def reversible(position, child):
    return child.clock > 0


@compiled
def drawn(position):
    """Return whether the fifty-move rule applies, or neither player can mate."""
    return position.clock >= DRAWN_CLOCK or cannot_mate(position)


@compiled
def cannot_mate(position):
    """Return whether there are only kings, one minor piece, or bishops on squares of one colour."""
    if position.pawns | position.rooks | position.queens:
        return False
    minor = position.knights | position.bishops
    if without_lowest(minor) == Bits(0):
        return True
    dark = position.bishops & DARK
    return position.knights == Bits(0) and (dark == Bits(0) or dark == position.bishops)


# Heuristics for searches that stop before the end of the game


@compiled
def check(position):
    return checkers(position) != Bits(0)


@compiled
def pattern(position, move):
    """Return the piece and its target square."""
    return move >> 6


@compiled
def extension(position, move, child):
    """Extend checks by one."""
    return 1 if checkers(child) else 0


@compiled
def skip(position):
    """Allow a null move unless in check, or with one piece at most and pawns (zugzwang)."""
    pieces = position.mine & ~(position.pawns | position.kings)
    allowed = without_lowest(pieces) != Bits(0) and not check(position)
    return allowed, handed_over(position, position.clock + 1, hash_after(position))


# Tablebase (games/chess/endings.py)


@compiled
def position_at(example, layer, index):
    found = ending_at(example, layer, index)
    return found if found.castling else with_sums(found)  # castling: no position, men may overlap


@compiled
def retreat(position, number):
    return with_sums(taken_back(position, number))


@compiled
def with_sums(position):
    """Return the position with its hash and piece-square sum; it has at most four men."""
    black = position.ply & 1
    placed, zobrist = 0, BLACK if black else Bits(0)
    men = position.mine | position.theirs
    for _ in range(4):
        man = lowest(men)
        men ^= man
        if man:
            kind, square = kind_at(position, man), lowest_index(man)
            other = 1 if position.theirs & man else 0
            zobrist ^= hashed(kind, other, black, square)
            worth = SQUARES[(kind << 6) | (square ^ (UPSIDE_DOWN * other))]
            placed += -worth if other else worth
    if position.passant:
        zobrist ^= rights_hashed(position.passant, 1, black)
    return position._replace(placed=placed, zobrist=zobrist)


# Text


def start(variant: str = "") -> Position:
    """Return the first position of the usual game (see :func:`parse_position` for Chess960)."""
    return parse_position(USUAL_START, variant)


def parse_position(text: str, variant: str = "") -> Position:
    """Read FEN, the moves from the start, or a start of Chess960 (see the module's docstring)."""
    if variant:
        raise PositionError(
            f"chess has no variant {quoted(variant)}; a start of Chess960 is the position 960:518"
        )
    said = text.strip()
    if len(said) > LONGEST_TEXT:
        raise PositionError(f"a position has {LONGEST_TEXT} characters at most, not {len(said)}")
    if number := re.fullmatch(r"960:([0-9]{1,9})\s*(?:;.*)?", said):
        return set_up(chess960(int(number[1])))
    if "/" not in said.partition(" ")[0]:
        return play_texts(start(), words_of(said), said)
    if played := re.fullmatch(r"((?:\S+\s+){4}(?:[\d-]\S*\s+){0,2})moves\b(.*)", said, re.DOTALL):
        return play_texts(parse_position(played[1]), words_of(played[2]), played[2])
    placement = parse_fen(said)
    position = set_up(placement)
    refuse_impossible(position)
    if placement.passant is not None and not was_passed(position, placement.passant):
        note_passant(placement.passant)
        return set_up(placement._replace(passant=None))
    return position


def from_cells(contents: list[int], mover: str, start: Position) -> Position:
    """Return the position with these pieces; kings and rooks that are at home may castle."""
    usual, letters = placement_of(start), CELLS.symbols(contents)
    at_home = {
        square for square, letter in usual.pieces.items() if letters[square ^ UPSIDE_DOWN] == letter
    }
    rooks = "".join(
        square_name(rook)[0].upper() if rook < 32 else square_name(rook)[0]
        for rook in usual.castling
        if {rook, king_of(usual.pieces, rook >= 32)} <= at_home
    )
    board, side = CELLS.text(contents, mover).split()
    rows = re.sub(r"\.+", lambda dots: str(len(dots[0])), board)
    return parse_position(f"{rows} {side[0]} {rooks or '-'} - 0 1")


def position_text(position: Position) -> str:
    return fen(placement_of(position))


def move_text(position: Position, move: int) -> str:
    return san(position, move)


def mover(position: Position) -> str:
    return player(position.ply & 1)


def record_text(start: Position, moves: list[str], about: dict[str, Any]) -> str:
    """Return a game as PGN, from whatever position it began with."""
    black = start.ply & 1
    tags = {"Date": str(about["date"]).replace("-", ".")}
    tags |= zip(("Black", "White") if black else ("White", "Black"), about["players"], strict=True)
    tags |= about.get("headers", {})
    value = about["value"]
    if value is not None:
        white = -value if black else value
        tags["Result"] = "1-0" if white > 0 else "0-1" if white < 0 else "1/2-1/2"
    for name in ("SetUp", "FEN"):
        tags.pop(name, None)
    if (text := position_text(start)) != USUAL_START:
        tags |= {"SetUp": "1", "FEN": text}
    number = start.ply // 2 + 1
    return write_pgn(
        tags, moves, number=number, black=bool(black), comment=about.get("comment", "")
    )


def parse_record(text: str) -> tuple[str, list[Ply], dict[str, Any]]:
    """Return the first position of a game in PGN, its moves, and its tags and first comment."""
    tags, moves, comment = read_pgn(text)
    return tags.get("FEN", ""), moves, {"headers": tags, "comment": comment}


def set_up(placement: Placement) -> Position:
    """Return the position of a placement, with all sums computed anew."""
    black = int(placement.black)
    view = UPSIDE_DOWN * black
    mine, theirs, placed, zobrist = 0, 0, 0, BLACK * black
    kinds = [0] * 6
    for square, letter in placement.pieces.items():
        kind, seen, other = LETTERS.index(letter.lower()), square ^ view, letter.islower() ^ black
        kinds[kind] |= 1 << seen
        zobrist ^= hashed(kind, other, black, seen)
        if other:
            theirs |= 1 << seen
            placed -= SQUARES[(kind << 6) | (seen ^ UPSIDE_DOWN)]
        else:
            mine |= 1 << seen
            placed += SQUARES[(kind << 6) | seen]
    castling = sum(1 << (rook ^ view) for rook in placement.castling)
    position = Position(
        *map(Bits, (mine, theirs, *kinds, castling, 0)),
        placement.clock,
        2 * (placement.number - 1) + black,
        placed,
        Bits(zobrist ^ rights_hashed(castling, 0, black)),
    )
    if placement.passant is None:
        return position
    return passed(position, placement.passant ^ view)
