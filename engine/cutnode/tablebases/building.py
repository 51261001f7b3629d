"""Building a tablebase in a folder, layer by layer, so that an interrupted build can resume."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from cutnode.contract.dispatch import defines, game_name, is_plain
from cutnode.contract.errors import CutnodeError, GameError
from cutnode.contract.messages import position_text
from cutnode.contract.positions import coerce
from cutnode.contract.repetition import require_draws
from cutnode.tablebases.builder import LayerBuilder
from cutnode.tablebases.files import Folder
from cutnode.tablebases.layer_tables import CHANCES, LayerTable, kind_of
from cutnode.tablebases.solving import LayerWork, Settings, solve_layers
from cutnode.tablebases.spaces import Space, StoppedError, enumerated, indexed

BYTES_OF_POSITION = 40
"""Bytes of memory for each enumerated position: its key, its fields and its slot."""


@dataclass(frozen=True, slots=True)
class BuildProgress:
    """The progress of a build."""

    layer: str
    """The name of the layer being solved."""
    step: str
    """The current step of that layer."""
    part: float
    """The finished fraction of this step, 0 to 1."""
    solved: int
    """The number of indices in all solved layers."""
    total: int
    """The number of indices in all layers to solve, as far as they are known."""
    seconds: float
    left: float | None
    """Estimated seconds left, at the rate of the layers solved so far; None if unknown."""


def compress_tablebase(folder: str | os.PathLike[str]) -> int:
    """Compress the layers of a tablebase that shrink enough, and return the bytes saved.

    A compressed layer is expanded in memory when the tablebase is opened; it cannot be mapped.  An
    interrupted call leaves each layer either unchanged or compressed.
    """
    place = Folder(folder)
    place.require()
    with place.writing():
        saved = 0
        for number in place.solved:
            cls, about, _ = place.load(number)
            saved += place.compress(cls, number, {key: about[key] for key in ("kind", "metric")})
    return saved


@dataclass(frozen=True, slots=True)
class LayerJob:
    """Layers to solve on other machines, which share the folder."""

    builder: LayerBuilder
    root: Any
    wanted: set[int]
    """The layers to solve, including solved ones; layers found to be needed are added."""
    report: Callable[[str, str, float], None]
    """A function to call from time to time with a layer's name, its step and the step's
    finished fraction."""


Elsewhere = Callable[[LayerJob], str]
"""A function that does a job on other machines and returns why it ended: "done", or the reason
why it stopped early."""


def build_tablebase(
    root: Any,
    folder: str | os.PathLike[str],
    *,
    layers: Sequence[str] = (),
    through: str | None = None,
    settings: Settings | None = None,
    stop: threading.Event | None = None,
    progress: Callable[[BuildProgress], None] | None = None,
    elsewhere: Elsewhere | None = None,
) -> str:
    """Solve a game's positions, write them to a folder, and return why the build ended.

    It ended because it is done, or because it was stopped or interrupted; the same call then
    resumes it.  If the game has indices, this solves the layers that *root* leads to, or the
    *layers* with these names and all layers that they lead to, or all layers up to the one named
    *through*.  Otherwise it solves all positions that can be reached from *root*.  *progress* is
    called from time to time.  *elsewhere* solves the layers in place of local threads, on a
    cluster for example.

    :class:`CutnodeError` if there is too little room, the folder has another tablebase, or
    another process writes there; :class:`GameError` if the game breaks the contract.
    """
    require_draws(type(root), "a tablebase")
    settings = settings or Settings()
    place = Folder(folder)
    with place.writing():
        build = _Build(coerce(root), place, settings, () if stop is None else (stop,), progress)
        try:
            return build.run(layers, through, elsewhere)
        except StoppedError as stopped:
            return str(stopped)


class _Build:
    """The build of a tablebase."""

    def __init__(
        self,
        root: Any,
        folder: Folder,
        settings: Settings,
        stops: Sequence[threading.Event],
        progress: Callable[[BuildProgress], None] | None,
    ):
        self.root, self.folder, self.settings, self.stops = root, folder, settings, stops
        self.cls: Any = type(root)
        self.progress = progress
        self._started = time.monotonic()
        self._solved_before = 0
        self._wanted: set[int] = set()

    def run(self, layers: Sequence[str], through: str | None, elsewhere: Elsewhere | None) -> str:
        """Solve the wanted layers that do not exist yet; return why the build ended."""
        self.space = space = self._find_space()
        self.builder = LayerBuilder(self.folder, space, self.settings, self.stops, self._tell)
        self.directory = self.builder.directory
        self._solved_before = sum(table.size for table in self.directory.layers.values())
        self._wanted = set(self._find_wanted(layers, through))
        if elsewhere is not None:
            return elsewhere(LayerJob(self.builder, self.root, self._wanted, self._report))
        solve_layers(space, self.directory, self._wanted, self._solve)
        return "done"

    def _find_space(self) -> Space:
        if defines(self.cls, "index"):
            return indexed(self.root)
        if is_plain(self.cls):
            raise GameError(
                f"{game_name(self.cls)} is plain Python: a tablebase in a folder needs compiled "
                f"rules, so add types and @compiled"
            )
        root = position_text(self.root)
        known = self.folder.load_space(self.root)
        if known is not None:
            about, space = known
            if about.get("root") != root:
                raise CutnodeError(
                    f"{self.folder.path} has a tablebase that begins at {about.get('root')!r}, not "
                    f"at {root!r}: build in another folder"
                )
            return space
        most = self.settings.memory // BYTES_OF_POSITION
        found = enumerated(self.root, most, self.stops)
        if found is None:
            raise CutnodeError(
                f"more than {most:,} positions of {game_name(self.cls)} can be reached, which "
                f"takes more than {self.settings.memory / 2**20:,.0f} MiB: allow more memory, "
                f"begin at a later position, or let the game number its positions (index, layer)"
            )
        self.folder.save_space(found, {"root": root})
        return found

    def _find_wanted(self, layers: Sequence[str], through: str | None) -> Iterable[int]:
        space = self.space
        if through is not None:
            return range(space.number_of(through) + 1)
        if layers:
            return [space.number_of(name) for name in layers]
        first = space.first_layer(self.root)
        return range(first + 1) if kind_of(self.cls) == CHANCES else [first]

    def _solve(self, number: int) -> LayerTable:
        """Solve a layer and write it to the folder."""
        self._wanted.add(number)
        return self.builder.solve(number)

    def _tell(self, work: LayerWork) -> None:
        """Report the progress of the build."""
        if self.progress is not None:
            self._report(self.space.names[work.number], *work.step())

    def _report(self, layer: str, step: str, part: float) -> None:
        if self.progress is None:
            return
        sizes = self.space.sizes
        solved = sum(table.size for table in self.directory.layers.values())
        total = max(sum(sizes[number] for number in self._wanted), solved)
        seconds = time.monotonic() - self._started
        fresh = solved - self._solved_before
        left = seconds * (total - solved) / fresh if fresh > 0 else None
        self.progress(BuildProgress(layer, step, part, solved, total, seconds, left))
