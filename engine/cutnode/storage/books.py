"""Opening books: proven values of a game's first positions, to look up.

A book holds every position that can be reached in a number of moves, each class of equivalent
positions once, with proven bounds on its value and a best move.

The file (see ``cutnode.storage.arrays``) has five arrays: the canonical keys in ascending order,
lower and upper bounds, best moves in the canonical frame, and one position of each class (as text,
if the rules are plain Python).  If keys are hashed, the odds that a position outside the book is
taken for one inside are the size of the book to 2 ** 64.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from cutnode.contract.derived import most_value
from cutnode.contract.dispatch import defines, game_name, is_plain
from cutnode.contract.errors import CutnodeError
from cutnode.contract.messages import position_text
from cutnode.contract.notation import notation_of
from cutnode.contract.positions import Packed, coerce, words_each
from cutnode.contract.verbs import INFINITE, NO_MOVE, canonical, original_move
from cutnode.kernels.expansion import fill
from cutnode.storage.arrays import class_in, identity, read_arrays, write_arrays
from cutnode.storage.tables import Table

KIND = b"cutnode book\n"


class Book:
    """Positions of a game with bounds on their values, sorted by canonical key.

    *positions* has one of each class of equivalent positions; *bests* has best moves in the
    canonical frame, ``NO_MOVE`` where none is known.
    """

    def __init__(
        self,
        keys: Any,
        lower: Any,
        upper: Any,
        bests: Any,
        positions: Packed,
        *,
        plies: int,
        name: str = "a book",
    ):
        self.keys, self.lower, self.upper, self.bests = keys, lower, upper, bests
        self.positions = positions
        self.cls: Any = type(positions.example)
        self.plies = plies
        """The most moves played before any position of the book."""
        self.name = name

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def proven(self) -> Any:
        """Flags of the positions whose exact value is proven."""
        return self.lower == self.upper

    def __repr__(self) -> str:
        return f"<book of {game_name(self.cls)}: {len(self):,} positions, {self.plies} plies>"

    def require(self, cls: Any) -> None:
        """Raise :class:`CutnodeError` if the book is not about positions of a class."""
        if cls is not self.cls:
            given = game_name(cls) if defines(cls, "moves") else cls.__name__
            raise CutnodeError(f"{self.name} is about {game_name(self.cls)}, not {given}")

    def answer(self, position: Any) -> tuple[int, int, int | None] | None:
        """Return bounds on the value of a position, and a best move if one is known.

        None if the position is not in the book.  :class:`CutnodeError` if it is of another game.
        """
        self.require(type(position))
        word, symmetry = canonical(position)
        at = int(np.searchsorted(self.keys, np.uint64(word)))
        if at == len(self.keys) or int(self.keys[at]) != int(word):
            return None
        best = int(self.bests[at])
        move = None if best == NO_MOVE else int(original_move(position, best, symmetry))
        return int(self.lower[at]), int(self.upper[at]), move

    def fill(self, table: Table) -> None:
        """Store the whole book in a table, where proofs of values find it.

        Their own entries may replace it: fill the table again before the next proof.
        """
        table.claim(self.cls)
        limit = most_value(self.positions.example)
        lower, upper = self.lower.astype(np.int64), self.upper.astype(np.int64)
        lower[(lower <= -limit) & ~self.proven] = -INFINITE
        upper[(upper >= limit) & ~self.proven] = INFINITE
        run = fill.specialise(self.cls)
        known: list[Any] = [lower, upper, self.bests.astype(np.int64)]
        if is_plain(self.cls):
            known = [numbers.tolist() for numbers in known]
        run(coerce(self.positions.example), self.positions.words, *known, table.words)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the book to a file, which appears only when all of it is written."""
        if is_plain(self.cls):
            text = "\n".join(map(position_text, self.positions))
            positions = {"texts": np.frombuffer(text.encode(), np.uint8)}
        else:
            positions = {"positions": self.positions.words}
        arrays = {
            "keys": self.keys,
            "lower": self.lower,
            "upper": self.upper,
            "bests": self.bests,
            **positions,
        }
        about = {**identity(self.cls), "plies": self.plies}
        write_arrays(path, KIND, about, arrays)

    @staticmethod
    def load(path: str | os.PathLike[str], *, map: bool = True) -> Book:
        """Load a book from a file; with *map*, map it instead of reading it.

        :class:`CutnodeError` if the file is not a book, is damaged, or is about a game that is not
        loaded or has other rules now.
        """
        about, arrays = read_arrays(path, KIND, CutnodeError, map=map)
        cls = class_in(about, path, CutnodeError)
        if "texts" in arrays:
            parse, variant = notation_of(cls).parse_position, getattr(cls, "VARIANT", "")
            texts = arrays.pop("texts").tobytes().decode().split("\n")
            positions = Packed.of([parse(text, variant) for text in texts])
        elif is_plain(cls):
            raise CutnodeError(f"{path} was made by compiled rules, but these are plain Python")
        else:
            example = coerce(cls._make([0] * words_each(cls)))
            positions = Packed(arrays.pop("positions"), example)
        return Book(**arrays, positions=positions, plies=about["plies"], name=str(path))
