"""Properties of texts: a game reads back the texts that it writes, and rejects nonsense."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from cutnode.conformance.findings import raised, raising_verb
from cutnode.conformance.sample import Properties, Sample
from cutnode.contract.derived import legal_moves
from cutnode.contract.errors import CutnodeError, PositionError
from cutnode.contract.notation import board_of, contents_of, fields_text
from cutnode.contract.verbs import chance, key, outcome

TEXTS = Properties()

NONSENSE = ("?", "nonsense", "-1", "0", "99999999999999999999", "²", "é", "\0", " ", "()")
"""Texts that are hardly positions or moves: reading them must not raise unexpected errors."""


NO_POSITION = "a text that is not a position must raise PositionError (import it from cutnode)"


@TEXTS.about("position_text")
def position_texts_are_read_back(position: Any, sample: Sample) -> Iterator[str]:
    text = sample.game.notation.position_text(position)
    if len(text.splitlines()) != 1:
        yield f"{text!r} is not one line"
    again = sample.game.parse(text)
    if again != position or type(again) is not type(position):
        read, wanted = map(fields_text, (again, position))
        yield f"parse_position({text!r}) is {read}, not {wanted}"
    elif key(again) != key(position):
        yield f"parse_position({text!r}) has another key"


@TEXTS.about("parse_position")
def other_texts_are_positions_or_errors(position: Any, sample: Sample) -> Iterator[str]:
    text = sample.game.notation.position_text(position)
    at = sample.random.randrange(len(text) + 1)
    typo = sample.random.choice([*text, "?", "9", "x", "-", " ", ""])
    own = "parse_position"
    for wrong in (text[:at] + typo + text[at + 1 :], sample.random.choice(NONSENSE)):
        try:
            read = sample.game.parse(wrong)
        except PositionError:
            continue
        except Exception as error:
            if isinstance(error, CutnodeError) or raising_verb(error, sample.game) != own:
                raise
            yield f"{raised(error)} for {wrong!r}; {NO_POSITION}"
            continue
        if sample.game.parse(sample.game.notation.position_text(read)) != read:
            yield f"reads {wrong!r} as {fields_text(read)}, whose own text it reads otherwise"


@TEXTS.about("move_text", Sample.choices)
def move_texts_are_read_back(position: Any, sample: Sample) -> Iterator[str]:
    module = sample.game.notation
    for move in legal_moves(position):
        text = module.move_text(position, move)
        sample.move_texts.add(text)
        if module.parse_move(position, text) != move:
            yield f"{text!r}, move {move}, is read as {module.parse_move(position, text)}"


@TEXTS.about("parse_move")
def other_texts_are_legal_moves_or_errors(position: Any, sample: Sample) -> Iterator[str]:
    known = sorted(sample.move_texts)
    texts = sample.random.sample(known, min(20, len(known)))
    allowed = [] if chance(position) else legal_moves(position)
    for text in (*texts, *NONSENSE):
        with contextlib.suppress(PositionError):
            move = sample.game.notation.parse_move(position, text)
            if move not in allowed:
                yield f"reads {text!r} as {move}, which is not legal"


@TEXTS.about("winning_line", Sample.ends)
def winning_lines_are_cells_of_the_winner(position: Any, sample: Sample) -> Iterator[str]:
    board, notation = board_of(type(position)), sample.game.notation
    cells = notation.winning_line(position)
    if not cells or board is None:
        return
    if len(set(cells)) < len(cells) or not 0 <= cells[0] <= cells[-1] < len(board.places):
        yield f"gives {cells}, not different cells from 0 to {len(board.places) - 1}"
        return
    line = next(line for line in sample.lines if line.positions[-1] == position)
    first = notation.player(line.positions[0]) or 0
    winner = first ^ line.sides[-1] ^ (outcome(position)[1] < 0)
    contents = contents_of(position)
    if not all(contents[c] and board.owners[contents[c]] in (winner, None) for c in cells):
        yield f"gives {cells}, which are not all cells of the winner"


@TEXTS.about("describe", Sample.endings)
def values_are_put_in_words(position: Any, sample: Sample) -> Iterator[str]:
    describe = getattr(sample.game.module, "describe", None)
    if describe is not None:
        words = describe(position, int(sample.values[position]))
        if not isinstance(words, str) or not words:
            yield f"gives {words!r}"
