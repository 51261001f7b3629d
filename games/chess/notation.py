"""The texts of chess: FEN and EPD, moves in SAN and as UCI writes them, and the board.

Sources: the PGN standard, https://github.com/fsmosca/PGN-Standard (FEN 16.1, EPD 16.2, SAN 8.2.3);
for castling in Chess960 https://www.chessprogramming.org/Forsyth-Edwards_Notation (X-FEN and
Shredder-FEN).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from cutnode import PositionError, legal_moves, quoted
from cutnode.contract.cells import Grid
from cutnode.contract.notation import contents_of
from cutnode.contract.notes import note
from cutnode.contract.verbs import check, outcome, play, skip
from cutnode.games.chess.generator import (
    CASTLING,
    KING,
    KNIGHT,
    PASSANT,
    PAWN,
    PROMOTION,
    attackers,
    castled,
    checkers,
    kind_of,
    source_of,
    target_of,
)
from cutnode.games.chess.pgn import PRINTED, SPOKEN
from cutnode.games.chess.squares import UPSIDE_DOWN

__all__ = [
    "CELLS",
    "LONGEST_TEXT",
    "Placement",
    "caption",
    "chess960",
    "fen",
    "note_passant",
    "operations_in",
    "parse_fen",
    "parse_move",
    "placement_of",
    "player",
    "refuse_impossible",
    "san",
    "uci",
    "was_passed",
]

LONGEST_TEXT = 10_000
"""The most characters of a position: a game of 800 moves by each side."""

MOST_PLIES = 9999
"""The largest counter of a position."""

LETTERS = "pnbrqk"
NAMES = ("pawn", "knight", "bishop", "rook", "queen", "king")
FILES = "abcdefgh"

CELLS = Grid(
    8,
    8,
    contents={
        ".": "empty",
        **{letter.upper(): f"white {name}" for letter, name in zip(LETTERS, NAMES, strict=True)},
        **{letter: f"black {name}" for letter, name in zip(LETTERS, NAMES, strict=True)},
    },
    glyphs={".": "·"} | dict(zip("PNBRQKpnbrqk", "♙♘♗♖♕♔♟♞♝♜♛♚", strict=True)),
    players={"white": "white", "black": "black"},
    row_names="87654321",
    column_names=FILES,
)

USUAL = Counter(p=8, n=2, b=2, r=2, q=1, k=1)
"""The pieces of a player at the start."""

PLIES_SHOWN = 20
"""The plies without progress from which on a board's caption mentions them."""


def square_name(square: int) -> str:
    return f"{FILES[square & 7]}{(square >> 3) + 1}"


def square_of(name: str) -> int:
    return FILES.index(name[0]) + 8 * (int(name[1]) - 1)


def player(black: int) -> str:
    return "black" if black else "white"


# Positions


class Placement(NamedTuple):
    """A position as FEN gives it: squares as white sees them, a1 is 0 and h8 is 63."""

    pieces: dict[int, str]
    """The letter of the piece on each occupied square, a capital for white."""
    black: bool
    """Whether black is to move."""
    castling: tuple[int, ...]
    """The squares of the rooks that may castle."""
    passant: int | None
    """The square that a pawn has just passed with a double step."""
    clock: int
    """Plies since the last capture or pawn move."""
    number: int
    """The move number, from 1; it goes up after black's move."""


def placement_of(position: Any) -> Placement:
    """Return the contents of the squares, and everything else that a FEN holds."""
    black = position.ply & 1
    view = UPSIDE_DOWN * black
    letters = enumerate(CELLS.symbols(contents_of(position)))
    pieces = {index ^ UPSIDE_DOWN: letter for index, letter in letters if letter != "."}
    castling = tuple(square for square in range(64) if position.castling >> (square ^ view) & 1)
    passed = position.passant.bit_length() - 1
    passant = passed ^ view if position.passant else None
    return Placement(pieces, bool(black), castling, passant, position.clock, position.ply // 2 + 1)


def fen(placement: Placement) -> str:
    """Return the FEN of a position; a castling rook that is not the outer one is named by file."""
    rows = [
        "".join(placement.pieces.get(8 * row + file, "1") for file in range(8))
        for row in range(7, -1, -1)
    ]
    board = re.sub("1+", lambda ones: str(len(ones[0])), "/".join(rows))
    passant = "-" if placement.passant is None else square_name(placement.passant)
    fields = (board, player(placement.black)[0], castling_text(placement), passant)
    return f"{' '.join(fields)} {placement.clock} {placement.number}"


def castling_text(placement: Placement) -> str:
    letters = []
    for black in (0, 1):
        king = king_of(placement.pieces, black)
        for rook in sorted(placement.castling, reverse=True):
            if rook >> 3 == 7 * black:
                side = rook > king
                outer = outer_rook(placement.pieces, black, side)
                letter = ("qk"[side]) if rook == outer else FILES[rook & 7]
                letters.append(letter if black else letter.upper())
    return "".join(letters) or "-"


def king_of(pieces: dict[int, str], black: int) -> int:
    return next(square for square, letter in pieces.items() if letter == "Kk"[black])


def outer_rook(pieces: dict[int, str], black: int, side: bool) -> int | None:
    """Return the rook nearest the corner, on a player's first row and on one side of the king.

    *side*: the side of higher files, where the king castles short.
    """
    king = king_of(pieces, black)
    row = range(56 * black, 56 * black + 8)
    rooks = [s for s in row if pieces.get(s) == "Rr"[black] and (s > king) == side]
    return (max(rooks) if side else min(rooks)) if rooks else None


def parse_fen(text: str) -> Placement:
    """Read FEN: four fields, and the two counters, which may be omitted or ``-`` (0 and 1).

    The operations of EPD may follow; ``hmvc`` and ``fmvn`` are the counters, and others are ignored
    (see :func:`operations_in`).  Castling rights without their king or rook, and en passant squares
    that no pawn can have passed, are dropped with a note.  :class:`PositionError` says what is
    wrong with the board, where, and what is allowed; :func:`refuse_impossible` checks the rest.
    """
    (board, mover, castling, passant, *counters), operations = fields_of(text)
    pieces = parse_pieces(board)
    refuse_counts(pieces)
    if mover not in ("w", "b"):
        raise PositionError(f"{quoted(mover)} is not the player to move: w or b")
    black = mover == "b"
    counted = dict(zip(("hmvc", "fmvn"), counters, strict=False))
    for name, operands in split_operations(operations):
        if name in ("hmvc", "fmvn"):
            counted[name] = " ".join(operands)
    clock, number = (
        parse_counter(text) if text != "-" else default
        for text, default in ((counted.get("hmvc", "-"), 0), (counted.get("fmvn", "-"), 1))
    )
    return Placement(
        pieces,
        black,
        parse_castling(castling, pieces),
        parse_passant(passant, pieces, black),
        clock,
        max(number, 1),
    )


def fields_of(text: str) -> tuple[list[str], str]:
    """Return the four to six fields of FEN, and what follows them: operations of EPD."""
    *fields, rest = [*text.split(None, 4), "", "", "", "", ""][:5]
    if not fields[3]:
        count = len(text.split())
        raise PositionError(
            f"{quoted(text)} has {count} of the fields of FEN: the board, w or b, castling "
            f"(KQkq or -), en passant (a square or -), and mostly two counters"
        )
    fields[3], *more = re.split("(;)", fields[3], maxsplit=1)
    rest = f"{''.join(more)} {rest}".strip()
    counters: list[str] = []
    if first := re.match(r"([^a-zA-Z;\s][^;\s]*)\s*", rest):
        counters.append(first[1])
        rest = rest[first.end() :]
        if second := re.match(r"([^a-zA-Z;\s][^;\s]*|[^;\s]+$)\s*", rest):  # no operation
            counters.append(second[1])
            rest = rest[second.end() :]
    if rest and not re.match("[a-zA-Z;]", rest):
        raise PositionError(f"{quoted(rest)} follows the six fields of FEN")
    return [*fields, *counters], rest


def parse_pieces(board: str) -> dict[int, str]:
    rows = board.split("/")
    if len(rows) != 8:
        raise PositionError(f"the board has {len(rows)} rows, separated by '/'; it has 8")
    pieces = {}
    for row, letters in zip(range(7, -1, -1), rows, strict=True):
        file = 0
        for at, letter in enumerate(letters):
            if letter in "12345678":
                if at and letters[at - 1] in "12345678":
                    raise PositionError(
                        f"row {row + 1}, {quoted(letters)}: empty squares are counted in one number"
                    )
                file += int(letter)
            elif letter.isascii() and letter.lower() in LETTERS:
                pieces[8 * row + file] = letter
                file += 1
            else:
                raise PositionError(
                    f"{letter!r} in row {row + 1}, {quoted(letters)}: pieces are P N B R Q K, "
                    f"small for black, and empty squares are counted by 1 to 8"
                )
            if file > 8:
                break
        if file != 8:
            count = "more than 8" if file > 8 else file
            raise PositionError(f"row {row + 1}, {quoted(letters)}, has {count} squares; it has 8")
    return pieces


def refuse_counts(pieces: dict[int, str]) -> None:
    """Raise :class:`PositionError` for impossible numbers of pieces, or pawns on the end rows."""
    for black in (0, 1):
        found = Counter(p.lower() for p in pieces.values() if p.islower() == black)
        who = player(black)
        if found["k"] != 1:
            raise PositionError(f"{who} has {found['k']} kings; a player has one")
        if found["p"] > 8:
            raise PositionError(f"{who} has {found['p']} pawns; a player has 8 at most")
        if found.total() > 16:
            raise PositionError(f"{who} has {found.total()} pieces; a player has 16 at most")
        more = (found - USUAL).total()
        if found["p"] + more > 8:
            raise PositionError(
                f"{who} has {found['p']} pawns and {more} pieces more than at the start: "
                f"only pawns become pieces, and there were 8"
            )
    for square, letter in pieces.items():
        if letter in "Pp" and square >> 3 in (0, 7):
            raise PositionError(f"a pawn on {square_name(square)}: none stands on row 1 or 8")


def parse_castling(text: str, pieces: dict[int, str]) -> tuple[int, ...]:
    """Return the rooks that may castle: ``KQkq`` (the outer rooks) or their files, ``HAha``.

    Rights without their king or rook on the first row are dropped with a note.  If there are any,
    or if the rights do not fit one start of Chess960, ``KQkq`` mean the usual squares only.
    """
    if text == "-":
        return ()
    rights = []
    for letter in text:
        if letter not in "KQABCDEFGHkqabcdefgh":
            raise PositionError(
                f"{letter!r} in castling {quoted(text)}: it is -, letters of KQkq, "
                f"or the files of rooks such as HAha"
            )
        rook = castling_rook(letter, pieces)
        if rook is not None:
            rights.append((letter, king_of(pieces, letter.islower()), rook))
    if len(rights) < len(text) or not of_one_start(rights):
        rights = [right for right in rights if right[0] not in HOMES or right in HOMES.values()]
    sides = {(letter.islower(), rook > king) for letter, king, rook in rights}
    if len(sides) < len(rights):
        raise PositionError(f"castling {quoted(text)} names a side of a player twice")
    kept = "".join(letter for letter, _, _ in rights)
    if dropped := [letter for letter in text if letter not in kept]:
        note(
            f"castling {text} is read as {kept or '-'}: king or rook is not at home for "
            f"{' '.join(dropped)}"
        )
    return tuple(sorted(rook for _, _, rook in rights))


HOMES = {"K": ("K", 4, 7), "Q": ("Q", 4, 0), "k": ("k", 60, 63), "q": ("q", 60, 56)}
"""The squares of the king and the rook that may castle in usual chess."""


def castling_rook(letter: str, pieces: dict[int, str]) -> int | None:
    """Return the rook that a castling letter means; None if it or the king is not at home."""
    black = int(letter.islower())
    king = king_of(pieces, black)
    if king >> 3 != 7 * black:
        return None
    if letter in HOMES:
        return outer_rook(pieces, black, letter in "Kk")
    rook = 56 * black + FILES.index(letter.lower())
    return rook if pieces.get(rook) == "Rr"[black] else None


def of_one_start(rights: list[tuple[str, int, int]]) -> bool:
    """Return whether these kings, and these rooks on each side of them, began on one file."""
    return all(
        len({square & 7 for square in squares}) <= 1
        for squares in (
            [king for _, king, _ in rights],
            [rook for _, king, rook in rights if rook > king],
            [rook for _, king, rook in rights if rook < king],
        )
    )


def parse_passant(text: str, pieces: dict[int, str], black: bool) -> int | None:
    """Return the square that a pawn has just passed; an impossible one is dropped with a note."""
    if text == "-":
        return None
    if not re.fullmatch("[a-h][1-8]", text):
        raise PositionError(f"en passant {quoted(text)}: it is -, or a square such as e3")
    row, ahead = (2, 8) if black else (5, -8)
    square = square_of(text)
    if (
        square >> 3 == row
        and pieces.get(square + ahead) == "pP"[black]
        and not {square, square - ahead} & pieces.keys()
    ):
        return square
    note_passant(square)
    return None


def note_passant(square: int) -> None:
    note(f"en passant {square_name(square)} is read as -: no pawn can just have passed there")


def parse_counter(text: str) -> int:
    if not re.fullmatch("[0-9]{1,9}", text) or int(text) > MOST_PLIES:
        raise PositionError(f"{quoted(text)} is not a counter: a number of 0 to {MOST_PLIES}")
    return int(text)


def refuse_impossible(position: Any) -> None:
    """Raise :class:`PositionError` if no move can have led to the checks of a position."""
    black = position.ply & 1
    if checkers(skip(position)[1]):
        raise PositionError(
            f"{player(not black)}'s king is attacked, and it is {player(black)}'s move"
        )
    count = checkers(position).bit_count()
    if count > 2:
        raise PositionError(f"{count} pieces give check; no move makes more than 2 do that")


def was_passed(position: Any, passant: int) -> bool:
    """Return whether the other player's pawn can just have passed a square of white's view.

    Before that double step the mover's king must not have been in check.
    """
    square = passant ^ (UPSIDE_DOWN * (position.ply & 1))
    pawn, origin = 1 << square - 8, 1 << square + 8
    king = (position.kings & position.mine).bit_length() - 1
    occupied = (position.mine | position.theirs) ^ pawn | origin
    return not attackers(position, king, occupied) & ~pawn


def chess960(number: int) -> Placement:
    """Return start position 0 to 959 of Chess960, numbered as by R. Scharnagl; 518 is the usual."""
    if not 0 <= number < 960:
        raise PositionError(f"there is no start position {number} of Chess960: they are 0 to 959")
    row = [""] * 8
    number, light = divmod(number, 4)
    number, dark = divmod(number, 4)
    row[2 * light + 1], row[2 * dark] = "b", "b"
    number, queen = divmod(number, 6)
    put(row, queen, "q")
    first, second = [(a, b) for a in range(5) for b in range(a + 1, 5)][number]
    put(row, second, "n")
    put(row, first, "n")
    for letter in "rkr":
        put(row, 0, letter)
    pieces: dict[int, str] = {}
    for file, letter in enumerate(row):
        pieces |= {file: letter.upper(), 8 + file: "P", 48 + file: "p", 56 + file: letter}
    rooks = [file for file in range(8) if row[file] == "r"]
    return Placement(pieces, False, (*rooks, *(56 + file for file in rooks)), None, 0, 1)


def put(row: list[str], number: int, letter: str) -> None:
    """Put a piece on the free square with a number, counted from the left."""
    row[[file for file in range(8) if not row[file]][number]] = letter


def caption(position: Any) -> str:
    """State who is to move, and what else a board does not show."""
    placement = placement_of(position)
    notes = [f"{player(placement.black)} to move"]
    if placement.castling:
        notes.append(f"castling {castling_text(placement)}")
    if placement.passant is not None:
        notes.append(f"en passant {square_name(placement.passant)}")
    if placement.clock >= PLIES_SHOWN:
        notes.append(f"{placement.clock} plies without a capture or a move of a pawn")
    return ", ".join(notes)


# Moves


def san(position: Any, move: int) -> str:
    """Return a legal move in short algebraic notation: ``Nf3``, ``exd5``, ``e8=Q+``, ``O-O``."""
    child = play(position, move)
    sign = ""
    if check(child):
        sign = "#" if outcome(child)[0] else "+"
    return f"{unsigned_san(position, move, legal_moves(position))}{sign}"


def unsigned_san(position: Any, move: int, legal: Iterable[int]) -> str:
    """Return a move without the sign for check; *legal* are the moves to distinguish it from."""
    kind, source, target = kind_of(move), source_of(move), target_of(move)
    if kind == CASTLING:
        return "O-O" if target > source else "O-O-O"
    origin, end = ends(position, move)
    takes = "x" if kind == PASSANT or position.theirs >> target & 1 else ""
    piece = piece_of(move)
    if piece == LETTERS[PAWN]:
        becomes = promoted(move).upper()
        return f"{origin[0] + takes if takes else ''}{end}{f'={becomes}' if becomes else ''}"
    rivals = [
        ends(position, other)[0]
        for other in legal
        if (kind_of(other), target_of(other)) == (kind, target) and other != move
    ]
    if not rivals:
        origin = ""
    elif all(rival[0] != origin[0] for rival in rivals):
        origin = origin[0]
    elif all(rival[1] != origin[1] for rival in rivals):
        origin = origin[1]
    return f"{piece.upper()}{origin}{takes}{end}"


def ends(position: Any, move: int) -> tuple[str, str]:
    """Return the names of a move's source and target squares; the rook's if it is castling."""
    view = UPSIDE_DOWN * (position.ply & 1)
    return square_name(source_of(move) ^ view), square_name(target_of(move) ^ view)


def promoted(move: int) -> str:
    """Return the letter of the piece that a pawn becomes, if it does."""
    kind = kind_of(move)
    return LETTERS[kind - PROMOTION + KNIGHT] if PROMOTION <= kind < CASTLING else ""


def uci(position: Any, move: int, *, chess960: bool = False) -> str:
    """Return a move as UCI writes it: ``e2e4``, ``e7e8q``.

    Castling is written as a king's move (``e1g1``), or as the king taking the rook (``e1h1``) in
    Chess960, and where king and rook do not stand as in usual chess.
    """
    source, target = ends(position, move)
    usual = source[0] == "e" and target[0] in "ah"
    if kind_of(move) == CASTLING and usual and not chess960:
        target = f"{'g' if target[0] == 'h' else 'c'}{target[1]}"
    return f"{source}{target}{promoted(move)}"


WRITTEN = re.compile(
    r"([KQRBNP])?([a-h])?([1-8])?[-x:]?([a-h][1-8])(?:[=/]?([QRBNqrbn])|=?\(([QRBNqrbn])\))?"
)
"""A piece, its source, its target, and the piece it becomes."""

LONGEST_MOVE = 20


def parse_move(position: Any, text: str) -> int:
    """Read a legal move in short or long algebraic notation, or as UCI writes it.

    Signs for check and annotations such as ``!`` need not be right.  A text that fits several moves
    is an error that names them.
    """
    said = text.strip()[: LONGEST_MOVE + 1].translate(PRINTED)
    said = re.sub(rf"(\s*{SPOKEN}|[+#!?\u2020\u2021])*$", "", said)
    match, castling = WRITTEN.fullmatch(said), re.fullmatch("[O0o]-[O0o](-[O0o])?", said)
    if len(text.strip()) > LONGEST_MOVE or not (match or castling):
        raise PositionError(f"{quoted(text)} is not a move such as Nf3, exd5, e8=Q, O-O or e2e4")
    legal = legal_moves(position)
    if not legal:
        raise PositionError(f"{quoted(text)} is played after the game is over")
    if match:
        found, others = fitting(position, legal, match)
    else:
        others = [move for move in legal if kind_of(move) == CASTLING]
        found = [
            m for m in others if (target_of(m) < source_of(m)) == bool(castling and castling[1])
        ]
    if len(found) == 1:
        return found[0]
    who = player(position.ply & 1)
    if found:
        choices = " or ".join(unsigned_san(position, move, legal) for move in found)
        raise PositionError(f"{quoted(text)} is ambiguous: {choices}")
    choices = " ".join(unsigned_san(position, move, legal) for move in others)
    instead = f"; {who} has {choices}" if others else ""
    raise PositionError(f"{quoted(text)} is not a legal move of {who}{instead}")


def fitting(position: Any, legal: list[int], match: re.Match[str]) -> tuple[list[int], list[int]]:
    """Return the moves that a text fits, and all moves of the same piece."""
    letter, file, row, target = match.group(1, 2, 3, 4)
    becomes = (match[5] or match[6] or "").lower()
    if file and row and not letter:  # as UCI writes it: the piece is the one that stands there
        others = [move for move in legal if ends(position, move)[0] == file + row]
    else:
        others = [move for move in legal if piece_of(move) == (letter or "P").lower()]
    if not letter:
        file = file or target[0]  # a pawn that captures is identified by its file
    pattern = f"{file or '.'}{row or '.'}{target}"
    found = [
        move
        for move in others
        if re.fullmatch(pattern, "".join(ends(position, move))) and becomes in ("", promoted(move))
    ]
    if not found and not becomes:
        found = [move for move in others if king_castles_to(position, move) == target]
    return found, others


def piece_of(move: int) -> str:
    """Return the letter of the piece that moves; none for castling."""
    kind = kind_of(move)
    return LETTERS[kind] if kind <= KING else "" if kind == CASTLING else LETTERS[PAWN]


def king_castles_to(position: Any, move: int) -> str:
    """Return the name of the square on which the king ends, if the move is castling."""
    if kind_of(move) != CASTLING:
        return ""
    king_to, _ = castled(source_of(move), target_of(move))
    return square_name(king_to ^ (UPSIDE_DOWN * (position.ply & 1)))


# EPD


def operations_in(text: str) -> dict[str, tuple[str, ...]]:
    """Return the operations of an EPD record, each with its operands, without their quotes.

    ``bm Qd1+; id "BK.01";`` is ``{"bm": ("Qd1+",), "id": ("BK.01",)}``; ``bm=Qd1+`` is also
    accepted.  :class:`PositionError` if an operation has no name, or occurs twice.
    """
    found: dict[str, tuple[str, ...]] = {}
    for name, operands in split_operations(fields_of(text)[1]):
        if not re.fullmatch("[a-zA-Z][a-zA-Z0-9_]{0,14}", name):
            raise PositionError(f"{quoted(name)} is not the name of an operation such as bm or id")
        if name in found:
            raise PositionError(f"the operation {name} is there twice")
        found[name] = operands
    return found


def split_operations(text: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the name and the operands of each operation, as they are written."""
    for operation in re.findall(r'(?:"[^"]*"|[^;"]|"[^"]*$)+', text):
        operation = re.sub(r"^(\s*\w+)=", r"\1 ", operation)
        name, *operands = re.findall(r'"[^"]*"?|[^\s"]+', operation) or [""]
        if name:
            yield name, tuple(operand.strip('"') for operand in operands)
