"""Properties of games whose positions fall apart, and their sums played by the verbs alone."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cutnode.compiler.jit import Numbers, Position, Words, kernel
from cutnode.conformance.compiled import COMPILED
from cutnode.conformance.minimax import AFFORDABLE, UnaffordableError
from cutnode.conformance.rules import word_complaints
from cutnode.conformance.sample import Properties, Sample
from cutnode.contract.bits import WORD, Bits
from cutnode.contract.derived import MOST_PARTS, legal_moves, masks_of
from cutnode.contract.dispatch import defines, game_constant, is_plain, value_limit
from cutnode.contract.positions import coerce, pack, width
from cutnode.contract.verbs import (
    asymmetry,
    moves,
    outcome,
    part,
    part_key,
    parts,
    play,
    swapped,
)

SUMS = Properties()

UNSUITABLE = {
    "chance": "chance",
    "turn": "passes and extra moves",
    "reversible": "cycles",
    "drawn": "draws",
    "settled": "scores",
}
"""Features that normal play excludes, by the verb that defines them."""


# Sums by the verbs alone


@dataclass
class SumSearch:
    """Normal play of several positions at once, each seen by the player to move."""

    nodes_left: int = AFFORDABLE
    known: dict[Any, bool] = field(default_factory=dict)

    def wins(self, positions: list[Any]) -> bool:
        """Return whether the player to move wins a sum; each position is split into its parts.

        :class:`UnaffordableError` if that takes more nodes than allowed.
        """
        summands = [piece for position in positions for piece in pieces_of(position)]
        key = frozenset(Counter(summands).items())
        if key not in self.known:
            self.nodes_left -= 1
            if self.nodes_left < 0:
                raise UnaffordableError
            self.known[key] = any(not self.wins(after) for after in _options(summands))
        return self.known[key]


def _options(summands: list[Any]) -> Iterator[list[Any]]:
    """Yield the sums after each move, seen by the other player."""
    for at, summand in enumerate(summands):
        others = [swapped(other) for other in (*summands[:at], *summands[at + 1 :])]
        for move in legal_moves(summand):
            yield [*others, play(summand, move)]


def pieces_of(position: Any) -> list[Any]:
    """Return the parts of a position as positions, without any that have no move."""
    return [piece for piece in (part(position, mask) for mask in masks_of(position)) if live(piece)]


def live(position: Any) -> bool:
    """Return whether either player has a move."""
    return not (outcome(position)[0] and outcome(swapped(position))[0])


# Properties


def summed(sample: Sample) -> list[Any]:
    """Return the positions to check as sums; none after any complaint, which explains the rest."""
    return [] if sample.found() else [p for p in sample.positions() if defines(type(p), "parts")]


def valued(sample: Sample) -> list[Any]:
    """Return the positions to check that have canonical values, whether they have parts or not."""
    if sample.found():
        return []
    verbs = "parts", "swapped"
    return [p for p in sample.positions() if any(defines(type(p), verb) for verb in verbs)]


def whole(sample: Sample) -> list[Any]:
    """Return the positions of :func:`valued` that have no parts."""
    return [p for p in valued(sample) if not defines(type(p), "parts")]


def small_sums(sample: Sample) -> list[Any]:
    """Return the positions of known value that :func:`summed` has."""
    return [position for position in summed(sample) if position in sample.exact]


@SUMS.about("swapped", whole)
@SUMS.about("parts", summed)
def sums_follow_normal_play(position: Any, sample: Sample) -> Iterator[str]:
    cls = type(position)
    for verb, missing in UNSUITABLE.items():
        if defines(cls, verb):
            yield f"sums follow normal play, without {missing}, but the game defines {verb}"
    if value_limit(cls) != 1:
        yield "in normal play a win is 1 and a loss is -1: declare VALUE_LIMIT = 1"
    over, value = outcome(position)
    if over and value != -1:
        yield f"in normal play a player without a move loses: the value must be -1, got {value}"
    room = [0] * (game_constant(cls, "MAX_MOVES", 256) + MOST_PARTS)
    if over and (count := moves(position, room, 0)):
        yield f"in normal play a game with moves left is not over, but moves writes {count}"


@SUMS.about("swapped", valued)
def roles_are_exchanged(position: Any, sample: Sample) -> Iterator[str]:
    """Roles exchanged twice are as before.

    So a part and its negative cancel, however wrong the roles are: who moves second copies each
    move.  Wrong roles show in :func:`sums_have_the_value_of_the_whole`.
    """
    other = swapped(position)
    if type(other) is not type(position):
        yield f"returns a {type(other).__qualname__}"
    elif swapped(other) != position:
        yield "done twice, does not return the same position"


@SUMS.about("parts", summed)
def parts_are_apart(position: Any, sample: Sample) -> Iterator[str]:
    for seen in (position, swapped(position)):
        buffer: list[Any] = [None] * (3 + MOST_PARTS + 64)
        end = parts(seen, buffer, 3)
        if not 3 <= end <= 3 + MOST_PARTS:
            yield f"returns {end} for at = 3: not the end of 0 to {MOST_PARTS} parts"
        if any(mask is not None for mask in buffer[:3] + buffer[end:]):
            yield "writes outside of its part of the buffer, buffer[at:end]"
        union = 0
        for mask in buffer[3:end]:
            yield from word_complaints(mask)
            if not mask:
                yield "a part is a mask of at least one bit, got 0"
            if union & int(mask):
                yield f"bits of {int(mask):#x} are in another part too"
            union |= int(mask)


@SUMS.about("part", summed)
def parts_are_positions(position: Any, sample: Sample) -> Iterator[str]:
    for mask in masks_of(position):
        piece = part(position, mask)
        if type(piece) is not type(position):
            yield f"returns a {type(piece).__qualname__} for {int(mask):#x}"


@SUMS.about("parts", summed)
def moves_are_moves_of_parts(position: Any, sample: Sample) -> Iterator[str]:
    for seen in (position, swapped(position)):
        count = Counter(m for mask in masks_of(seen) for m in legal_moves(part(seen, mask)))
        legal = set(legal_moves(seen))
        if missing := sorted(legal - count.keys()):
            yield f"moves {missing} are in no part"
        if extra := sorted(count.keys() - legal):
            yield f"moves {extra} of parts are not legal"
        if twice := sorted(move for move, times in count.items() if times > 1):
            yield f"moves {twice} are in two parts"


@SUMS.about("parts", small_sums, most=60)
def sums_have_the_value_of_the_whole(position: Any, sample: Sample) -> Iterator[str]:
    with contextlib.suppress(UnaffordableError):
        found, value = 1 if SumSearch().wins([position]) else -1, sample.exact[position]
        if found != value:
            hint = "" if defines(type(position), "swapped") else " (swapped is not defined)"
            yield f"the value is {value:g}, but {found} where the parts are played as a sum{hint}"


@SUMS.about("part_key", summed)
def keys_are_words(position: Any, sample: Sample) -> Iterator[str]:
    for piece in pieces_of(position):
        word = part_key(piece)
        yield from word_complaints(word)
        if not is_plain(type(piece)) and part_key(coerce(piece)) != word:
            yield "an equal part has another key"


@SUMS.about("asymmetry", summed)
def asymmetry_is_of_both_players(position: Any, sample: Sample) -> Iterator[str]:
    for piece in pieces_of(position):
        found, other = asymmetry(piece), asymmetry(swapped(piece))
        if found < 0 or found != other:
            yield f"{found} for a part and {other} for its negative: must be equal, and 0 or more"


@SUMS.about("parts", summed)
def moves_change_one_part(position: Any, sample: Sample) -> Iterator[str]:
    """After a move, the keys of all other parts are there as the other player sees them."""
    pieces = pieces_of(position)
    others = [part_key(swapped(piece)) for piece in pieces]
    for at, piece in enumerate(pieces):
        kept = Counter(others[:at] + others[at + 1 :])
        for move in legal_moves(piece):
            if kept - Counter(map(part_key, pieces_of(play(position, move)))):
                yield f"move {move} in one part changes the key of another"


@SUMS.about("part_key", small_sums, most=100)
def equal_keys_mean_equal_values(position: Any, sample: Sample) -> Iterator[str]:
    """Whoever moves loses the difference of two parts with the same key."""
    for piece in pieces_of(position):
        other = sample.part_keys.setdefault(int(part_key(piece)), piece)
        if other == piece:
            continue
        with contextlib.suppress(UnaffordableError):
            search = SumSearch()
            differ = search.wins([piece, swapped(other)]) or search.wins([swapped(piece), other])
            sample.compared["part_key"] += 1
            if differ:
                yield (
                    f"{sample.text(piece)!r} and {sample.text(other)!r} have the same key "
                    f"{part_key(piece)}, but different values (see PART_IMAGES)"
                )


# Compiled


@kernel
def observe_parts(position: Position, buffer: Numbers, words: Words) -> int:
    """Write the parts of a position, with their keys and negatives, and return their number."""
    end = parts(position, buffer, 0)
    at = 0
    for number in range(end):
        mask = Bits(buffer[number])
        piece = part(position, mask)
        words[at] = mask
        words[at + 1] = Bits(part_key(piece))
        pack(words, at + 2, piece)
        pack(words, at + 2 + width(piece), swapped(piece))
        at += 2 + 2 * width(piece)
    return at


@COMPILED.about("compiled", summed, most=200)
def compiled_parts_are_the_same(position: Any, sample: Sample) -> Iterator[str]:
    position = coerce(position)
    observe_parts.specialise(type(position))
    size = MOST_PARTS * (2 + 2 * len(position))
    plain, words = [0] * size, np.zeros(size, np.uint64)
    count = observe_parts.function(position, [0] * MOST_PARTS, plain)
    found = observe_parts(position, np.zeros(MOST_PARTS, np.int64), words)
    if words[:found].tolist() != [int(word) & WORD for word in plain[:count]]:
        yield "parts, or their keys or negatives, differ from plain Python"
