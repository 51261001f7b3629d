"""Solving layers and writing them to a folder, from one process or from several that share it.

The process that solves a layer writes its file, complete or not at all, so processes need to know
nothing of each other but the files that exist.
"""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from cutnode.contract.dispatch import defines
from cutnode.contract.errors import CutnodeError, GameError
from cutnode.tablebases.files import Folder
from cutnode.tablebases.layer_tables import Directory, LayerTable, kind_of
from cutnode.tablebases.solving import LayerWork, Settings
from cutnode.tablebases.spaces import Space, StoppedError, indexed

SAVE_SECONDS = 120.0
"""Seconds between saves of an unfinished layer, or more: saving takes at most a twentieth of
the time."""


STATE = 2
"""The version of saved unfinished work; work of another version is done again."""


class LayerBuilder:
    """Solves layers of a *space* and writes them to a folder.

    *look* is called from time to time with the work on the current layer.
    """

    def __init__(
        self,
        folder: Folder,
        space: Space,
        settings: Settings,
        stops: Sequence[threading.Event] = (),
        look: Callable[[LayerWork], None] | None = None,
    ):
        self.folder, self.space, self.settings = folder, space, settings
        self.stops, self._look = stops, look
        self.cls: Any = space.cls
        self.about = {"kind": kind_of(self.cls), "metric": settings.metric}
        self.directory = Directory(len(space.sizes), space.keys)
        self.load()

    @classmethod
    def of(
        cls,
        folder: Folder,
        example: Any,
        settings: Settings,
        stops: Sequence[threading.Event] = (),
    ) -> LayerBuilder:
        """Return a builder for a folder; if the game has no indices, its positions must be there.

        *example* is any position of the game.
        """
        if defines(type(example), "index"):
            return cls(folder, indexed(example), settings, stops)
        known = folder.load_space(example)
        if known is None:
            raise GameError(f"{folder.path} has no enumerated positions")
        return cls(folder, known[1], settings, stops)

    def load(self) -> None:
        """Load the layers that have appeared in the folder since the last call."""
        for number in self.folder.solved:
            if number in self.directory.layers:
                continue
            _, about, table = self.folder.load(number, self.cls)
            for name, value in self.about.items():
                if about.get(name) != value:
                    raise CutnodeError(
                        f"{self.folder.path} has a tablebase with {name} {about.get(name)}, not "
                        f"{value}: build in another folder"
                    )
            wanted = self.settings.tolerance
            if wanted is not None and table.error > wanted:
                raise CutnodeError(
                    f"{self.folder.path} has values with an error of up to {table.error:.3g}, more "
                    f"than the tolerance of {wanted:.3g}: build in another folder"
                )
            self.directory.add(table)

    def solve(self, number: int) -> LayerTable:
        """Solve a layer and write it to the folder, saving unfinished work from time to time.

        :class:`MissingLayerError` if it leads to an unsolved layer; :class:`StoppedError`.
        """
        return self.keep(self._solved(number))

    def keep(self, table: LayerTable) -> LayerTable:
        """Write a layer to the folder, and return it as loaded from there."""
        self.folder.save(self.cls, table, self.about)
        number = table.number
        del table  # free its memory: from here on, the mapped file is used instead
        return self.folder.load(number, self.cls)[2]

    def work(self, number: int) -> LayerWork:
        """Return the work on a layer."""
        return LayerWork(
            self.space,
            number,
            self.directory,
            self.settings,
            stops=self.stops,
            look=self._look,
            folder=self.folder.path,
        )

    def _solved(self, number: int) -> LayerTable:
        work = self.work(number)
        about = {**self.about, "layer": number, "size": work.size, "errors": work.error_before}
        about["state"] = STATE
        known = self.folder.load_partial(self.cls, number, about)
        if known is not None:
            work.restore(*known)
        save = functools.partial(self._save, work, about)
        last, took = time.monotonic(), 0.0

        def pause() -> None:
            nonlocal last, took
            now = time.monotonic()
            if now - last >= max(SAVE_SECONDS, 20 * took):
                save()
                last = time.monotonic()
                took = last - now

        try:
            return work.solve(pause)
        except StoppedError:
            save()
            raise

    def _save(self, work: LayerWork, about: dict[str, Any]) -> None:
        state = work.state()
        if state is not None:
            self.folder.save_partial(self.cls, work.number, {**about, **state[0]}, state[1])
