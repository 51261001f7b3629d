"""The symmetries of a game: rotations and reflections of its board that preserve the rules.

If the game defines ``canonical``, a map is a symmetry if every position has the same key as its
image.  If it does not, or if keys differ (a game may only turn early positions), random games are
played in pairs, one from a position and one from its image.  Each move then needs a counterpart in
the other game that leads to the image of its position, and both games have to end at the same time
with the same value.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from typing import Any

from cutnode.contract.derived import legal_moves, same_after_chance
from cutnode.contract.dispatch import defines
from cutnode.contract.errors import CutnodeError
from cutnode.contract.notation import contents_of
from cutnode.contract.positions import coerce
from cutnode.contract.verbs import canonical, chance, chance_outcome, moves_again, outcome, play
from cutnode.training.boards import LONGEST_GAME, Bit, BoardReading
from cutnode.training.windows import Symmetry, automorphisms

ImageOf = Callable[[Any], Any]
"""The image of a position; None if a bit of it has none."""


def symmetries_of(reading: BoardReading, samples: list[Any]) -> list[Symmetry]:
    """Return the group of symmetries of a game, the identity first.

    All rotations and reflections of the board are tried on *samples*, positions of random games.
    """
    every = automorphisms(reading.board)
    found: frozenset[Symmetry] = frozenset(every[:1])
    refused: set[Symmetry] = set()
    for symmetry in every:
        if symmetry in found:
            continue
        group = _generated(found | {symmetry})
        if group.isdisjoint(refused) and _changes_nothing(reading, symmetry, samples):
            found = group
        else:
            refused.add(symmetry)
    return [symmetry for symmetry in every if symmetry in found]


def _generated(symmetries: frozenset[Symmetry]) -> frozenset[Symmetry]:
    """Return the group that some symmetries generate."""
    products = {tuple(one[cell] for cell in other) for one in symmetries for other in symmetries}
    return symmetries if products <= symmetries else _generated(symmetries | products)


def image_of_bits(reading: BoardReading, symmetry: Symmetry) -> dict[Bit, Bit | None]:
    """Return the image of each bit of all fields; None for a bit without one.

    Bits that do not depend on a cell stay where they are.
    """
    images: dict[Bit, Bit | None] = {
        (number, bit): (number, bit) for number in range(len(reading.fields)) for bit in range(64)
    }
    taken: set[Bit] = set()
    for at, (cell, says) in sorted(reading.said.items(), key=lambda item: item[0]):
        alike = {
            other: len(says.items() & others.items())
            for other, (place, others) in reading.said.items()
            if place == symmetry[cell]
            and other not in taken
            and says.keys() & others.keys()
            and all(others.get(what, yes) == yes for what, yes in says.items())
        }
        # If several bits have this meaning, prefer the same field, then the most evidence.
        images[at] = min(alike, key=lambda bit: (bit[0] != at[0], -alike[bit], bit), default=None)
        taken.add(images[at] or at)
    return images


def _image_of_positions(reading: BoardReading, symmetry: Symmetry) -> ImageOf:
    images = image_of_bits(reading, symmetry)

    def image(position: Any) -> Any:
        words = [0] * len(reading.fields)
        for number, field in enumerate(reading.fields):
            word = int(position[field])
            for bit in range(64):
                if word >> bit & 1:
                    moved = images[number, bit]
                    if moved is None:
                        return None
                    words[moved[0]] |= 1 << moved[1]
        changed = dict(zip(reading.fields, words, strict=True))
        return coerce(type(position)(*(changed.get(n, old) for n, old in enumerate(position))))

    return image


def _changes_nothing(reading: BoardReading, symmetry: Symmetry, samples: list[Any]) -> bool:
    image = _image_of_positions(reading, symmetry)
    try:
        if not all(_is_laid_out(reading, symmetry, each, image(each)) for each in samples):
            return False
        if defines(reading.cls, "canonical") and all(
            canonical(each)[0] == canonical(image(each))[0] for each in samples
        ):
            return True
        chosen = random.Random("symmetries")
        return all(
            _has_same_moves(reading, image, each)
            and _goes_the_same_way(reading, symmetry, image, each, chosen)
            for each in samples
        )
    except (ArithmeticError, LookupError, ValueError, CutnodeError):
        return False  # rules may fail on an image that is not a position of the game


def _is_laid_out(reading: BoardReading, symmetry: Symmetry, position: Any, image: Any) -> bool:
    """Return whether the board of the image has each content on the image of its cell."""
    if image is None:
        return False
    here = contents_of(reading.seen_position(position))
    there = contents_of(reading.seen_position(image))
    return all(there[symmetry[cell]] == content for cell, content in enumerate(here))


def _look(reading: BoardReading, before: Any, position: Any) -> tuple[Any, ...]:
    """Return what has to agree in two positions: the fields read, the mover, and the outcome.

    Other fields, such as the key of a position, need no image: any difference that they make shows
    later in the games.
    """
    over, value = outcome(position)
    again = bool(moves_again(before, position))
    return tuple(int(position[field]) for field in reading.fields), again, bool(over), value


def _has_same_moves(reading: BoardReading, image: ImageOf, position: Any) -> bool:
    """Return whether the moves from an image lead to the images of a position's children."""
    other = image(position)
    children = [play(position, move) for move in legal_moves(position)]
    images = [(image(child), outcome(child)) for child in children]
    if any(moved is None or outcome(moved) != end for moved, end in images):
        return False
    wanted = sorted(_look(reading, other, moved) for moved, _ in images)
    return wanted == sorted(_look(reading, other, play(other, move)) for move in legal_moves(other))


def _goes_the_same_way(
    reading: BoardReading, symmetry: Symmetry, image: ImageOf, position: Any, chosen: random.Random
) -> bool:
    """Return whether a random game from a position can be mirrored from its image."""
    other = image(position)
    for _ in range(LONGEST_GAME):
        if outcome(position) != outcome(other) or chance(position) != chance(other):
            return False
        if outcome(position)[0]:
            return True
        if chance(position):
            number = chosen.randrange(chance(position))
            (odds, child), (others_odds, others) = (
                chance_outcome(each, number) for each in (position, other)
            )
            again = same_after_chance(position, child)
            if odds != others_odds or again != same_after_chance(other, others):
                return False
            children: Iterable[Any] = [others]
        else:
            move = chosen.choice(legal_moves(position))
            child = play(position, move)
            # If a move is the number of a cell, its counterpart is the number of the cell's image.
            likely = symmetry[move] if move < len(symmetry) else move
            moves = sorted(legal_moves(other), key=lambda number: number != likely)
            children = (play(other, number) for number in moves)
        moved = image(child)
        if moved is None:
            return False
        wanted = _look(reading, other, moved)
        following = next((each for each in children if _look(reading, other, each) == wanted), None)
        if following is None:
            return False
        position, other = child, following
    return True
