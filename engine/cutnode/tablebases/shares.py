"""A layer that several processes solve together: each looks at a share of its blocks in each pass.

All have the codes of the whole layer, and none writes those of another's share: what is decided in
a pass goes into a file of the folder, which the others read before the next.  So the files are all
that has to be kept: a process that takes the place of one that died reads them from the first on.
Shares are solved by sweeps (see :mod:`cutnode.tablebases.retrograde`), since predecessors are
anywhere.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cutnode.contract.errors import CutnodeError
from cutnode.kernels.retrograde import BLOCK_SHIFT
from cutnode.storage.arrays import identity
from cutnode.tablebases.builder import LayerBuilder
from cutnode.tablebases.files import NO_MODULES
from cutnode.tablebases.retrograde import RetrogradeLayer
from cutnode.tablebases.tables import LayerTable, table_of_codes


class SharedLayer:
    """The codes of a layer in one of the processes that solve it, in so many *shares*.

    Pass 0 is the first look at all positions; in pass *n* those up to distance *n - 1* are decided.
    """

    def __init__(self, builder: LayerBuilder, number: int, shares: int):
        self.builder, self.number, self.shares = builder, number, shares
        work = builder.work(number)
        assert isinstance(work.layer, RetrogradeLayer)
        self.layer: RetrogradeLayer = work.layer
        self.about = {
            **identity(builder.cls, NO_MODULES),
            **builder.about,
            "layer": number,
            "size": work.size,
            "shares": shares,
        }
        self._read = 0
        """Passes whose files were read."""

    def farthest(self, step: int, share: int) -> int | None:
        """Return the longest distance that was found up to a pass; None if it is not done."""
        found = self._load(step, share)
        return None if found is None else int(found[0]["farthest"])

    def do(self, step: int, share: int) -> int:
        """Do a pass over a share, and return the longest distance that was found so far."""
        known = self.farthest(step, share)
        if known is not None:
            return known
        self._catch_up(step)
        layer = self.layer
        layer.threads.take_share(share, self.shares)
        if step == 0:
            layer.begin()
            farthest = int(max(layer.threads.each("farthest")))
            arrays = {"codes": self._codes(share)}
        else:
            before = self._codes(share)
            farthest = layer.sweep(step - 1, share, self.shares)
            after = self._codes(share)
            places = np.flatnonzero(before != after)
            arrays = {"places": places, "codes": after[places]}
        about = {**self.about, "farthest": farthest}
        self.builder.folder.save_share(self.number, step, share, about, arrays)
        return farthest

    def table(self, steps: int) -> LayerTable:
        """Return the solved layer, after so many passes over all shares."""
        self._catch_up(steps)
        space = self.builder.space
        name, metric = space.names[self.number], self.builder.settings.metric
        return table_of_codes(space.cls, self.number, name, self.layer.codes, metric)

    def _codes(self, share: int) -> Any:
        """Return a copy of the codes of a share."""
        blocks = list(self.layer.blocks_of(share, self.shares))
        return np.concatenate(blocks) if blocks else self.layer.codes[:0].copy()

    def _load(self, step: int, share: int) -> tuple[dict[str, Any], dict[str, Any]] | None:
        found = self.builder.folder.load_share(self.number, step, share)
        if found is None or all(found[0].get(name) == value for name, value in self.about.items()):
            return found
        raise CutnodeError(
            f"{self.builder.folder.path} has passes of other work: delete its files "
            f"layer-{self.number:04}.pass-*"
        )

    def _catch_up(self, steps: int) -> None:
        """Read what was found in the passes before, over all shares."""
        for step in range(self._read, steps):
            for share in range(self.shares):
                found = self._load(step, share)
                if found is None:
                    raise CutnodeError(
                        f"a pass over layer {self.number} is missing in {self.builder.folder.path}"
                    )
                self._write(step, share, found[1])
            self._read = step + 1

    def _write(self, step: int, share: int, arrays: dict[str, Any]) -> None:
        """Write codes that were found in a pass."""
        codes, size = arrays["codes"], 1 << BLOCK_SHIFT
        if step == 0:
            first = 0
            for block in self.layer.blocks_of(share, self.shares):
                block[:] = codes[first : first + len(block)]
                first += len(block)
            return
        places = np.asarray(arrays["places"])
        blocks = places // size * self.shares + share
        self.layer.codes[blocks * size + places % size] = codes
