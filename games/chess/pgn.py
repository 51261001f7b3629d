"""Records of games of chess in Portable Game Notation: its export format, and a lenient reader.

The reader also accepts moves and signs as printed in books (figurines, ``±``), and other spaces and
line ends than the standard's.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence

from cutnode.contract.errors import PositionError
from cutnode.contract.notes import note
from cutnode.contract.plies import MARKS, Ply
from cutnode.contract.text import quoted

__all__ = ["PRINTED", "SPOKEN", "read_pgn", "words_of", "write_pgn"]

ROSTER = ("Event", "Site", "Date", "Round", "White", "Black", "Result")
"""The tags that every game has, in this order."""

LINE = 79
MOST_CHARACTERS = 1_000_000
MOST_NESTED = 32
"""The most variations around a move."""

NAME = r"[\w+#=:-]+"
PRINTED = str.maketrans("♔♕♖♗♘♙♚♛♜♝♞♟\u2010\u2011\u2013\u2014\u2212\u00d7", "KQRBNPKQRBNP-----x")
"""Figurines, dashes and capture signs as printed in books."""

SPOKEN = (
    r"(?i:(?:disc?|dbl|double|discovered)\b\.?\s*(?:ch|check)?|ch|check|(?:check)?mate|matt"
    r"|e\.?\s?p\.?|en\ passant)(?!\w)\.?"
)
"""Words after a move: ``dis ch``, ``mate``, ``e.p.``"""

TOKEN = re.compile(
    rf"""
    (?P<skipped> ^%[^\n]* )
    | (?P<comment> \{{[^}}]*\}} | ;[^\n]* )
    | (?P<annotation> \$[0-9]* )
    | \[\s* (?P<name>{NAME}) \s*"(?P<value>(?:[^"\\]|\\.)*)"\s* \]
    | ^[ \t]*\[ (?P<line>[^\n]*)
    | (?P<open> \( )
    | (?P<close> \) )
    | (?P<castling> [O0o]-[O0o](?:-[O0o])? )
    | (?P<result>
        \* | (?i:(?:(?:white|black)\s+)?resign(?:s|ed)? | (?:white|black)\s+wins
        | draw(?:n|\s+agreed)?)(?!\w)
        | (?:1\s*[-:]\s*[0Oo] | [0Oo]\s*[-:]\s*1 | 1/2(?:-1/2)? | ½(?:-½)? | 0[.,]5-0[.,]5)
          (?![\w/-]|\.\w)
    )
    | (?P<null> -- | Z0 | 0000 | @@@@ )
    | (?P<number> [0-9]+(?![0-9]) (?: (?:\s*[.…]+)+ | (?=\s*[a-hKQRBNP]|\s+[O0]) ) )
    | (?P<move>
        (?: P?[a-h]?[1-8]?[-x:]?[a-h][18]
            (?:(?:\s?=\s?|/)?[QRBNqrbn](?![a-h1-8x:]) | =?\([QRBNqrbn]\))
        | [KQRBNP]?[a-h]?[1-8]?[-x:]?[a-h][1-8] )
        (?: \+(?![-+/=]) | \# )?
    )
    | (?P<sign>
        [-+=/!?~.…,\#_|^<>]+ | [^\x00-\x7f\w\s]+ | {SPOKEN}
        | (?<![.…])(?<![.…]\s)(?:N|D|TN)(?![^\s!?(){{}}$;])
    )
    | (?P<brace> [{{}}] )
    | (?P<word> [^\s{{}}();]+ )
    """,
    re.VERBOSE | re.MULTILINE | re.DOTALL,
)
"""A part of a game: a comment or a numeric annotation, a tag, a move, an Informant sign, ..."""

OTHER_TAG = re.compile(rf'\s*({NAME})\s*"(.*)"\s*\]\s*', re.DOTALL)
"""The rest of a line with a tag whose value has unescaped quotes or backslashes."""

BRACES = str.maketrans("{}", "()")
"""Signs for the braces of a comment, which would end it."""

OWN_NAMES = {"fen": "FEN", "variant": "Variant"}
"""The tags that matter, in any mix of capital and small letters."""

OWN_VARIANTS = (
    *("", "standard", "classical", "normal", "chess", "fromposition"),
    *("chess960", "fischerandom", "fischerrandom"),
)
"""The games that the tag Variant may name, in small letters and digits only."""


def write_pgn(
    tags: Mapping[str, str], moves: Sequence[str], *, number: int, black: bool, comment: str = ""
) -> str:
    """Return a game as text: *tags*, and the moves in short algebraic notation.

    Moves may be :class:`~cutnode.contract.plies.Ply`s, whose annotations are written too.  *number*
    is the number of the first move, *black* says whether it is black's, and *comment* precedes it.
    """
    tags = {"Result": "*"} | dict(tags)
    names = [*ROSTER, *(name for name in tags if name not in ROSTER)]
    lines = [f'[{name} "{_escaped(tags.get(name, "?"))}"]' for name in names]
    words = [*_comment(comment), *_words(moves, 2 * number + black), tags["Result"]]
    text = textwrap.fill(" ".join(words), LINE, break_long_words=False, break_on_hyphens=False)
    return "\n".join([*lines, "", text, ""])


def _words(moves: Sequence[str], ply: int) -> Iterator[str]:
    """Yield the words of a line whose first move is *ply*, twice its number and 1 if black's."""
    is_numbered = False
    for at, move in enumerate(moves, ply):
        if at % 2 == 0 or not is_numbered:
            yield f"{at // 2}." + ".." * (at % 2)
        yield move
        is_numbered = True
        if isinstance(move, Ply):
            for mark in move.mark.split():
                yield f"${MARKS.index(mark) + 1}" if mark in MARKS else mark
            yield from _comment(move.comment)
            for variation in move.variations:
                yield from f"({' '.join(_words(variation, at))})".split()
            is_numbered = not (move.comment or move.variations)


def _comment(text: str) -> list[str]:
    return [f"{{{' '.join(text.translate(BRACES).split())}}}"] if text else []


def read_pgn(text: str) -> tuple[dict[str, str], list[Ply], str]:
    """Return the tags and the moves of the first game of a text, and the comment before the moves.

    Comments, variations and annotations stay with their moves; Informant signs are skipped.  A note
    says if another game follows.  :class:`PositionError` if there is no game.
    """
    said = text.replace("\r\n", "\n").replace("\r", "\n").lstrip("\ufeff").rstrip("\0\x1a")
    tags, moves, comment, end = _first_game(said[:MOST_CHARACTERS])
    if end == MOST_CHARACTERS < len(said):
        raise PositionError(f"a record of a game is longer than {MOST_CHARACTERS:,} characters")
    if end < len(said):
        note("it holds more than one game: the first is read")
    if not tags and not moves:
        raise PositionError("it holds no game in PGN")
    variant = tags.get("Variant", "")
    if re.sub("[^a-z0-9]", "", variant.lower()) not in OWN_VARIANTS:
        raise PositionError(f"the game is of the variant {quoted(variant)}, not chess")
    return tags, moves, comment


def words_of(text: str) -> list[Ply]:
    """Return the moves of a line such as ``1. e4 e5 2. Nf3``, and any words not understood."""
    tags, moves, _, end = _first_game(text)
    if tags or end < len(text):
        raise PositionError(f"{quoted(text)} is not one line of moves")
    return moves


class Moves:
    """The moves of a game while they are read: the line at hand, and the lines that it leaves."""

    def __init__(self) -> None:
        self.line: list[Ply] = []
        self.left: list[list[Ply]] = []
        self.comment = ""
        """The comment before the first move."""

    def annotate(self, kind: str, text: str) -> None:
        """Take in a comment, a mark, or the beginning or end of a variation."""
        if kind == "open":
            if len(self.left) == MOST_NESTED:
                raise PositionError(f"variations are nested more than {MOST_NESTED} deep")
            self.left.append(self.line)
            self.line = []
        elif kind == "close":
            variation, self.line = self.line, self.left.pop()
            if variation and self.line:
                self.line[-1].variations.append(variation)
        elif kind == "comment":
            said = " ".join(text.strip("{};").split())
            if self.line:
                self.line[-1].add_comment(said)
            elif not self.left:
                self.comment = "\n".join(filter(None, (self.comment, said)))
        elif self.line and text != "$":
            number = int(text[1:]) if kind == "annotation" else 0
            self.line[-1].add_mark(MARKS[number - 1] if 1 <= number <= len(MARKS) else text)


def _first_game(text: str) -> tuple[dict[str, str], list[Ply], str, int]:
    """Return the first game: its tags, its moves, and the comment before them.

    The last part of the result says where the text after the game begins.
    """
    tags: dict[str, str] = {}
    found, before, has_result, is_apart = Moves(), 0, False, False
    for token in TOKEN.finditer(text.translate(PRINTED)):
        kind, word = str(token.lastgroup), token[0]
        is_apart = is_apart or bool(re.search(r"\n[ \t]*\n", text[before : token.start()]))
        before = token.end()
        if kind in ("value", "line"):
            if found.line or has_result:
                break
            tag = _tag(text, token)
            if tags and is_apart and tag.keys() & {"Event", *tags}:
                break
            tags |= tag
            is_apart = False
        elif kind == "brace":
            raise PositionError(f"the braces of {quoted(text[token.start() :])} do not match")
        elif kind == "close" and not found.left:
            raise _unmatched(text)
        elif kind in ("comment", "annotation", "open", "close") or word in MARKS:
            found.annotate(kind, text[token.start() : token.end()])
        elif kind == "number" and not found.left:
            if found.line and (has_result or is_apart) and re.fullmatch(r"1\s*\.?", word):
                break
        elif kind == "result" and not found.left:
            has_result = True
        elif kind == "null" and not found.left:
            number = len(found.line) + 1
            raise PositionError(f"move {number}, {quoted(word)}, is no move, but a pass")
        elif _is_in_place_of_a_move(kind, word, found):
            found.line.append(Ply("".join(word.split())))
            has_result = is_apart = False
    else:
        token = None
    if found.left:
        raise _unmatched(text)
    return tags, found.line, found.comment, len(text) if token is None else token.start()


def _is_in_place_of_a_move(kind: str, word: str, found: Moves) -> bool:
    if kind == "sign":
        return not (found.left or found.line or re.fullmatch("[.…]+", word))
    return kind not in ("skipped", "number", "result")


def _unmatched(text: str) -> PositionError:
    return PositionError(f"the parentheses of {quoted(' '.join(text.split()))} do not match")


def _tag(text: str, token: re.Match[str]) -> dict[str, str]:
    """Return the tag of a token; a damaged one is dropped unless it gives the position."""
    name, value = token["name"], re.sub(r"\\(.)", r"\1", text[slice(*token.span("value"))])
    if name is None:
        line = text[slice(*token.span("line"))]
        other = OTHER_TAG.fullmatch(line)
        if other is None:
            if line.strip().upper().startswith("FEN"):
                raise PositionError(f'{quoted(f"[{line}")} is not a tag: write [FEN "..."]')
            return {}
        name, value = other[1], other[2]
    return {OWN_NAMES.get(name.lower(), name): value}


def _escaped(value: str) -> str:
    return " ".join(value.split()).replace("\\", "\\\\").replace('"', '\\"')
