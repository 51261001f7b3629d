"""A solved tablebase: looking positions up, counting what it holds, and verifying it."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from cutnode.compiler.memory import Memory
from cutnode.contract.derived import legal_moves
from cutnode.contract.dispatch import defines, game_name, is_plain
from cutnode.contract.errors import CutnodeError, PositionError, require_path
from cutnode.contract.messages import description, move_text, position_text
from cutnode.contract.notebook import lines_html
from cutnode.contract.positions import coerce, words_each
from cutnode.contract.repetition import require_draws
from cutnode.contract.text import quoted
from cutnode.contract.verbs import chance, chance_outcome, moves_again, outcome, play
from cutnode.kernels.codes import new_codes
from cutnode.kernels.probing import (
    ABSENT,
    LOOKUP,
    compare_codes,
    compare_points,
    compare_values,
    probe_code,
    probe_points,
    probe_value,
    unpack_codes,
    unpack_values,
)
from cutnode.kernels.tablebase import is_hole
from cutnode.kernels.tablebase_scores import NO_DISTANCE, TO_THE_END
from cutnode.kernels.tablebase_scores import POINTS as IN_POINTS
from cutnode.tablebases.files import Folder
from cutnode.tablebases.layer_tables import CHANCES, DISTANCES, POINTS, Directory, kind_of
from cutnode.tablebases.spaces import Space, indexed
from cutnode.tablebases.threads import LayerThreads

NOWHERE = 1 << 40
"""The number of no layer."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A tablebase's result for a position, or for a move from the point of view of its mover."""

    value: float
    """The value of perfect play for the mover; in a tablebase of distances, 1 for a win, 0 for a
    draw and -1 for a loss."""
    distance: int | None
    """Plies to the end, or to where the tablebase's metric stops counting; None if not kept."""

    def __str__(self) -> str:
        plies = "" if self.distance is None else f"\nplies  {self.distance}"
        return f"value  {self.value:g}{plies}"

    def _repr_html_(self) -> str:
        return lines_html(str(self))


@dataclass(frozen=True, slots=True)
class Verification:
    """The result of comparing each entry with what the entries one ply later imply."""

    compared: int
    wrong: int
    examples: tuple[tuple[str, int], ...]
    """The layer and index of the first wrong entry, for each layer that has one."""


class Tablebase:
    """The solved positions of a game.

    :func:`Tablebase.open` opens the ones in a folder.  Several threads may look positions up at
    once.
    """

    def __init__(self, space: Space, directory: Directory, *, metric: str, name: str):
        self.space, self.directory = space, directory
        self.cls: Any = space.cls
        self.metric = metric
        self.name = name
        self.kind = kind_of(self.cls)
        self._local = threading.local()
        kernels = {DISTANCES: probe_code, POINTS: probe_points, CHANCES: probe_value}
        self._go = kernels[self.kind].specialise(self.cls)

    @staticmethod
    def open(path: str | os.PathLike[str]) -> Tablebase:
        """Open the tablebase in a folder.

        :class:`CutnodeError` if there is none, it is damaged, or other rules made it.
        """
        folder = Folder(require_path(path, "a tablebase"))
        folder.require()
        solved = folder.solved
        cls, about, first = folder.load(solved[0])
        example = _any_position(cls)
        if defines(cls, "index"):
            space = indexed(example)
        else:
            known = folder.load_space(example)
            if known is None:
                raise CutnodeError(f"{path} has no positions.tb, which lists its positions")
            space = known[1]
        directory = Directory(len(space.sizes), space.keys)
        directory.add(first)
        for number in solved[1:]:
            directory.add(folder.load(number, cls)[2])
        return Tablebase(space, directory, metric=about["metric"], name=os.fspath(path))

    @staticmethod
    def of(given: Tablebase | str | os.PathLike[str] | None, cls: Any) -> Tablebase | None:
        """Return a tablebase for positions of a class, opening it if *given* is a folder.

        :class:`CutnodeError` if *given* is neither, or is about another game.
        """
        if given is None:
            return None
        if not isinstance(given, Tablebase | str | os.PathLike):
            raise CutnodeError(f"tablebase must be a folder or a Tablebase, got {given!r}")
        base = given if isinstance(given, Tablebase) else Tablebase.open(given)
        base.require(cls)
        return base

    def __repr__(self) -> str:
        layers = f"{len(self.directory.layers)} of {len(self.space.sizes)} layers"
        return f"<tablebase of {game_name(self.cls)}: {len(self):,} positions, {layers}>"

    def __len__(self) -> int:
        return sum(table.counts["positions"] for table in self.directory.layers.values())

    def require(self, cls: Any) -> None:
        """Raise :class:`CutnodeError` if the tablebase is not about positions of a class."""
        require_draws(cls, "a tablebase")
        if cls is not self.cls:
            given = game_name(cls) if defines(cls, "moves") else cls.__name__
            raise CutnodeError(f"{self.name} is about {game_name(self.cls)}, not {given}")

    def lend(self, words: Mapping[str, Any]) -> None:
        """Let the kernels of a search look positions up; *words* are the words of its memory.

        This does nothing if the kernels cannot look up, because positions have no index.
        """
        if "tables" not in words:
            return
        words["tables"][:] = self.directory.numbers
        kind = TO_THE_END if self.metric == "dtm" else NO_DISTANCE
        words["tablebase"][0] = kind if self.kind == DISTANCES else IN_POINTS

    # Looking positions up

    def entry(self, position: Any) -> Entry | None:
        """Return the entry of a position; None if it is not in the tablebase.

        :class:`CutnodeError` if it is a position of another game.
        """
        self.require(type(position))
        memory, buffer, codes = self._room()
        tables, room = self.directory.numbers, self.space.room
        found = self._go(coerce(position), memory, tables, buffer, codes, room)
        if self.kind == CHANCES:
            return Entry(float(found), None) if found == found else None
        if found == ABSENT:
            return None
        if self.kind == POINTS:
            return Entry(int(found), None)
        return self._entry_of_code(int(found))

    def _entry_of_code(self, code: int) -> Entry:
        value = (code > 0) - (code < 0)
        return Entry(value, abs(code) - 1 if value and self.metric != "wdl" else None)

    def _room(self) -> tuple[Any, Any, Any]:
        """Return the memory of the calling thread."""
        if not hasattr(self._local, "room"):
            memory = Memory(self.cls, LOOKUP)
            memory["layer"] = NOWHERE
            memory["conversion"] = 0
            nothing = np.zeros(0) if self.kind == CHANCES else new_codes(self.cls, 0)
            self._local.room = memory.argument, self.space.buffer(), nothing
            self._local.memory = memory
        room: tuple[Any, Any, Any] = self._local.room
        return room

    def moves(self, position: Any) -> dict[int, Entry]:
        """Return the known entries of legal moves, from the mover's point of view, best first.

        Distances count the move itself.  At a chance node there are no moves.
        """
        if outcome(position)[0] or chance(position):
            return {}
        found = {}
        for move in legal_moves(position):
            child = play(position, move)
            entry = self.entry(child)
            if entry is None:
                continue
            same = moves_again(position, child)
            distance = None if entry.distance is None else entry.distance + 1
            found[move] = Entry(entry.value if same else -entry.value, distance)
        order = sorted(found, key=lambda move: _merit(found[move]), reverse=True)
        return {move: found[move] for move in order}

    def line(self, position: Any, most: int = 500) -> list[int]:
        """Return best play to the end, or as far as the tablebase tells."""
        line: list[int] = []
        while len(line) < most:
            best = self.moves(position)
            if not best:
                return line
            move = next(iter(best))
            if best[move].value == 0 or best[move].distance is None:
                return line
            line.append(move)
            position = play(position, move)
        return line

    def probe(self, position: Any) -> dict[str, Any]:
        """Return plain data about a position: its value, distance and moves.

        :class:`PositionError` if it is not in the tablebase.
        """
        entry = self.entry(position)
        text = position_text(position)
        if entry is None:
            raise PositionError(f"{quoted(text)} is not in {self.name}, which has {self._extent()}")
        return {
            "game": game_name(self.cls),
            "position": text,
            "value": entry.value,
            "distance": entry.distance,
            "meaning": self.meaning(position, entry),
            "moves": {
                move_text(position, move): {"value": known.value, "distance": known.distance}
                for move, known in self.moves(position).items()
            },
            "chances": self._chances(position),
        }

    def _chances(self, position: Any) -> dict[str, dict[str, Any]]:
        """Return the odds and value of each outcome of chance, by the position it leads to."""
        found = {}
        over = outcome(position)[0]
        for event in range(0 if over else chance(position)):
            odds, child = chance_outcome(position, event)
            entry = self.entry(child) if odds > 0 else None
            if entry is not None:
                found[position_text(child)] = {"odds": odds, "value": entry.value}
        return found

    def meaning(self, position: Any, entry: Entry) -> str:
        """Return the entry of a position in words."""
        if self.kind != DISTANCES:
            return description(position, entry.value) or f"{entry.value:.12g}"
        words = {1: "wins", 0: "draw", -1: "loses"}[int(entry.value)]
        if entry.distance is None or entry.value == 0:
            return words
        plies = "1 ply" if entry.distance == 1 else f"{entry.distance} plies"
        return f"{words} in {plies}" + ("" if self.metric == "dtm" else " (to the next layer)")

    def _extent(self) -> str:
        names = [table.name for table in self.directory.layers.values()]
        few = ", ".join(names[:6]) + (", ..." if len(names) > 6 else "")
        return f"the layers {few}" if not self.space.is_enumerated else f"{len(self):,} positions"

    # Statistics and verification

    def stats(self) -> dict[str, Any]:
        """Return statistics of the whole tablebase."""
        tables = self.directory.layers.values()
        total = {
            name: sum(table.counts[name] for table in tables)
            for name in ("positions", "wins", "draws", "losses")
            if all(name in table.counts for table in tables)
        }
        indices = sum(table.size for table in tables)
        stored = sum(table.symbols.nbytes for table in tables)
        longest = max(tables, key=lambda table: table.farthest)
        data: dict[str, Any] = {
            "game": game_name(self.cls),
            "kind": self.kind,
            "metric": self.metric if self.kind == DISTANCES else None,
            "layers": len(self.directory.layers),
            "indices": indices,
            **total,
        }
        if "longest" in longest.counts:
            data |= {"longest": longest.farthest, "longest_in": longest.name}
        if self.kind == CHANCES:
            data["error"] = max(table.error for table in tables)
        data["bytes"] = stored
        data["bits_per_position"] = round(8 * stored / max(total["positions"], 1), 3)
        return data

    def layers(self) -> Iterator[dict[str, Any]]:
        """Yield statistics of each layer."""
        for number in sorted(self.directory.layers):
            table = self.directory.layers[number]
            counts = {name: table.counts[name] for name in table.counts if name != "codes"}
            yield {"layer": table.name, "indices": table.size, "bits": table.bits, **counts}

    def distances(self) -> Mapping[int, int]:
        """Return how many positions have each code: see :mod:`cutnode.kernels.retrograde`."""
        found: dict[int, int] = {}
        for table in self.directory.layers.values():
            for code, count in table.counts.get("codes", {}).items():
                found[int(code)] = found.get(int(code), 0) + count
        return dict(sorted(found.items()))

    def verify(
        self,
        *,
        threads: int = 1,
        stop: threading.Event | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> Verification:
        """Compare each entry with the entries that the moves from its position lead to.

        For a tablebase with distances this proves every entry: a win or loss rests on entries with
        smaller distances, and from a draw each player can keep the draw.  *progress* is called with
        the number of indices done and the total.  :class:`StoppedError` if it was stopped early.
        """
        compared = wrong = done = 0
        examples = []
        total = sum(table.size for table in self.directory.layers.values())
        for number, table in sorted(self.directory.layers.items()):
            work = LayerThreads(
                self.space,
                number,
                LOOKUP,
                threads,
                () if stop is None else (stop,),
            )
            self._compare(work, number, table.size)
            compared += int(sum(work.each("compared")))
            here = int(sum(work.each("wrong")))
            wrong += here
            if here:
                examples.append((table.name, int(min(filter(None, work.each("first_wrong")))) - 1))
            done += table.size
            if progress is not None:
                progress(done, total)
        return Verification(compared, wrong, tuple(examples))

    def _compare(self, work: LayerThreads, number: int, size: int) -> None:
        tables, words = self.directory.numbers, self.space.words
        if self.kind == CHANCES:
            values = np.zeros(size)
            unpack_values.specialise(self.cls)(tables, number, values)
            work.run(compare_values, tables, words, None, values, self.space.room)
            return
        codes = new_codes(self.cls, size)
        unpack_codes.specialise(self.cls)(tables, number, size, codes)
        work.set(conversion=int(self.metric != "dtm"), signs=int(self.metric == "wdl"))
        kernel = compare_points if self.kind == POINTS else compare_codes
        work.run(kernel, tables, words, None, codes, self.space.room)

    def position_at(self, layer: str, number: int) -> Any:
        """Return the position at an index of a layer; :class:`CutnodeError` if there is none."""
        at = self.space.number_of(layer)
        if not 0 <= number < self.space.sizes[at]:
            raise CutnodeError(
                f"layer {layer} has indices 0 to {self.space.sizes[at] - 1:,}, got {number:,}"
            )
        position = self.space.position(at, number)
        if is_hole(position, at, number):
            raise CutnodeError(f"index {number:,} of layer {layer} has no position")
        return position


def _merit(entry: Entry) -> tuple[float, float]:
    """Return a key to sort moves by: the value, then the quicker win or the slower loss."""
    distance = entry.distance or 0
    return entry.value, -distance if entry.value > 0 else distance


def _any_position(cls: Any) -> Any:
    """Return some position of a class, which compiled code and lookups need for its constants."""
    return coerce(cls._make([0] * words_each(cls))) if not is_plain(cls) else cls()
