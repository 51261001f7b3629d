"""The files of a tablebase: one for each layer, in a folder that one build at a time writes.

A layer's file appears when the layer is solved, complete or not at all, so the existing files are
the journal of a build.  The unfinished work on a slow layer is saved from time to time, in a file
that is deleted when the layer is done.  When several processes solve a layer, each writes what it
found in a pass to a file, which is also deleted when the layer is done.

All are files of arrays (:mod:`cutnode.storage.arrays`): they have a checksum for each MiB and a
digest of the rules, and are mapped into memory to read them.  The header of a layer describes its
symbols and holds its error and the numbers of won, drawn and lost positions; its arrays are the
packed ``symbols`` and their ``meanings``.  If the symbols are compressed, ``frames`` holds the
sizes of the frames, and the symbols are expanded in memory instead of mapped.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from cutnode.compiler.locks import lock
from cutnode.contract.dispatch import game_name
from cutnode.contract.errors import CutnodeError
from cutnode.storage.arrays import class_in, identity, read_arrays, write_arrays
from cutnode.tablebases.compression import compressed, expanded
from cutnode.tablebases.layer_tables import LayerTable
from cutnode.tablebases.spaces import Space

LAYER_KIND = b"cutnode tablebase layer\n"
SHARE_KIND = b"cutnode tablebase share\n"
PARTIAL_KIND = b"cutnode tablebase partial layer\n"
KEYS_KIND = b"cutnode tablebase keys\n"
FORMAT = 1
"""The version of the files: the meaning of symbols and codes."""

NO_MODULES = ()
"""The engine's modules in the digest of the rules: none, as entries depend on the game alone."""

LAYER_FILE = re.compile(r"layer-(\d+)\.tb")


class Folder:
    """The folder of a tablebase."""

    def __init__(self, path: str | os.PathLike[str]):
        self.path = Path(path)

    def _layer(self, number: int) -> Path:
        return self.path / f"layer-{number:04}.tb"

    def _partial(self, number: int) -> Path:
        return self.path / f"layer-{number:04}.partial"

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """Make the folder, and keep other processes from writing there."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            file = (self.path / "lock").open("ab")
        except OSError as error:
            raise CutnodeError(f"{self.path} cannot be written: {error.strerror}") from None
        with file:
            if not lock(file):
                raise CutnodeError(f"another process is building the tablebase in {self.path}")
            for left in self.path.glob(".writing-*"):  # by a process that was killed
                left.unlink(missing_ok=True)
            for number in self.solved:
                self._forget_work(number)
            yield

    @property
    def solved(self) -> list[int]:
        """The numbers of the solved layers."""
        matches = (LAYER_FILE.fullmatch(path.name) for path in self.path.glob("layer-*.tb"))
        return sorted(int(match[1]) for match in matches if match)

    def require(self) -> None:
        """:class:`CutnodeError` if there is no tablebase."""
        if not self.path.is_dir():
            raise CutnodeError(f"there is no tablebase in {self.path}: it is not a folder")
        if not self.solved:
            raise CutnodeError(
                f"there is no tablebase in {self.path}: it has no solved layer (no layer-*.tb)"
            )

    # Layers

    def save(self, cls: Any, table: LayerTable, about: Mapping[str, Any]) -> None:
        """Write a solved layer, and delete its unfinished work."""
        arrays = {"symbols": table.symbols, "meanings": table.meanings}
        self._write(cls, table, about, arrays)
        self._forget_work(table.number)

    def _forget_work(self, number: int) -> None:
        """Delete the files of a layer's unfinished work."""
        for path in self._partial(number), *self.path.glob(f"layer-{number:04}.pass-*"):
            path.unlink(missing_ok=True)

    def compress(self, cls: Any, number: int, about: Mapping[str, Any]) -> int:
        """Compress the symbols of a layer if that saves enough; return the bytes saved, or 0."""
        _, arrays = read_arrays(self._layer(number), LAYER_KIND, CutnodeError, map=True)
        found = None if "frames" in arrays else compressed(arrays["symbols"])
        if found is None:
            return 0
        table = self.load(number, cls)[2]
        packed, frames = found
        kept = {"symbols": packed, "frames": frames, "meanings": arrays["meanings"]}
        old = self._layer(number).stat().st_size
        self._write(cls, table, {**about, "words": len(arrays["symbols"])}, kept)
        return old - self._layer(number).stat().st_size

    def _write(
        self, cls: Any, table: LayerTable, about: Mapping[str, Any], arrays: dict[str, Any]
    ) -> None:
        head = {
            **identity(cls, NO_MODULES),
            **about,
            "format": FORMAT,
            "layer": table.number,
            "name": table.name,
            "size": table.size,
            "bits": table.bits,
            "error": table.error,
            "counts": dict(table.counts),
        }
        write_arrays(self._layer(table.number), LAYER_KIND, head, arrays)

    def load(self, number: int, cls: Any = None) -> tuple[Any, dict[str, Any], LayerTable]:
        """Return the class of a layer's positions, its header, and the layer.

        :class:`CutnodeError` if the file is damaged, another program's, or not about class *cls*.
        """
        path = self._layer(number)
        about, arrays = read_arrays(path, LAYER_KIND, CutnodeError, map=True)
        if about.get("format") != FORMAT:
            raise CutnodeError(f"{path} has format {about.get('format')}, not {FORMAT}")
        found = class_in(about, path, CutnodeError, NO_MODULES)
        if cls is not None and found is not cls:
            raise CutnodeError(f"{path} is about {about['game']}, not {game_name(cls)}")
        symbols = arrays["symbols"]
        if "frames" in arrays:
            symbols = expanded(symbols, arrays["frames"], about["words"])
        if about["layer"] != number or len(symbols) * 64 < about["size"] * about["bits"]:
            raise CutnodeError(f"{path} is not layer {number} of the tablebase")
        table = LayerTable(
            number,
            about["name"],
            about["size"],
            about["bits"],
            symbols,
            arrays["meanings"],
            about["error"],
            about["counts"],
        )
        return found, about, table

    # Unfinished layers

    def save_partial(
        self, cls: Any, number: int, about: Mapping[str, Any], arrays: Mapping[str, Any]
    ) -> None:
        """Save the unfinished work on a layer: numbers and arrays."""
        head = {**identity(cls, NO_MODULES), **about}
        write_arrays(self._partial(number), PARTIAL_KIND, head, arrays)

    def load_partial(
        self, cls: Any, number: int, about: Mapping[str, Any]
    ) -> tuple[dict[str, Any], dict[str, Any]] | None:
        """Return the saved work on a layer; None if there is none, or it is about other work."""
        path = self._partial(number)
        if not path.exists():
            return None
        head, arrays = read_arrays(path, PARTIAL_KIND, CutnodeError, map=False)
        same = {**identity(cls, NO_MODULES), **about}
        if any(head.get(name) != value for name, value in same.items()):
            return None
        return head, arrays

    # Results of a pass over a share of a layer

    def _share(self, number: int, step: int, share: int) -> Path:
        return self.path / f"layer-{number:04}.pass-{step:05}.share-{share:04}"

    def shares_of(self, number: int) -> int:
        """Return the number of shares in which a layer is being solved; 0 if it is not."""
        for path in self.path.glob(f"{self._share(number, 0, 0).stem}.share-*"):
            return int(read_arrays(path, SHARE_KIND, CutnodeError, map=True)[0]["shares"])
        return 0

    def save_share(
        self, number: int, step: int, share: int, about: Mapping[str, Any], arrays: dict[str, Any]
    ) -> None:
        """Save what the process of a share found in pass *step*."""
        write_arrays(self._share(number, step, share), SHARE_KIND, about, arrays)

    def load_share(
        self, number: int, step: int, share: int
    ) -> tuple[dict[str, Any], dict[str, Any]] | None:
        """Return what was saved of a share in pass *step*; None if nothing was."""
        path = self._share(number, step, share)
        if not path.exists():
            return None
        return read_arrays(path, SHARE_KIND, CutnodeError, map=True)

    # Positions of a game without indices

    def save_space(self, space: Space, about: Mapping[str, Any]) -> None:
        """Write the enumerated positions."""
        arrays = {"keys": space.keys}
        if space.words is not space.keys:
            arrays["words"] = space.words
        head = {**identity(space.cls, NO_MODULES), **about}
        write_arrays(self.path / "positions.tb", KEYS_KIND, head, arrays)

    def load_space(self, example: Any) -> tuple[dict[str, Any], Space] | None:
        """Return the header and the enumerated positions; None if the folder has none."""
        path = self.path / "positions.tb"
        if not path.exists():
            return None
        about, arrays = read_arrays(path, KEYS_KIND, CutnodeError, map=True)
        cls = class_in(about, path, CutnodeError, NO_MODULES)
        if cls is not type(example):
            raise CutnodeError(f"{path} is about {about['game']}, not {game_name(type(example))}")
        keys = np.asarray(arrays["keys"])
        words = arrays.get("words", keys)
        return about, Space(example, [len(keys)], ["all"], keys, words)

    def size(self) -> int:
        """Return the total size of the tablebase's files, in bytes."""
        return sum(path.stat().st_size for path in self.path.glob("*.tb"))
