"""A layer that several processes solve together, each examining a share of its blocks in each pass.

Every process has the codes of the whole layer, and writes only the codes of its own share.  It
writes what it decided in a pass to a file in the folder, which the others read before the next
pass.  So only the files have to be kept: a process that replaces one that died reads all of them
from the first.  Shares are solved by sweeps (see :mod:`cutnode.tablebases.retrograde`), since
predecessors can be in any share.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cutnode.contract.errors import CutnodeError
from cutnode.kernels.blocks import BLOCK_SHIFT
from cutnode.storage.arrays import identity
from cutnode.tablebases.builder import LayerBuilder
from cutnode.tablebases.files import NO_MODULES
from cutnode.tablebases.layer_tables import LayerTable, table_of_codes
from cutnode.tablebases.retrograde import RetrogradeLayer


class SharedLayer:
    """The codes of a layer in one of the processes that solve it in a number of *shares*.

    Pass 0 is the first look at all positions; pass *n* starts with those up to distance *n - 1*
    decided.
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
        """The number of passes whose files were read."""

    def farthest(self, step: int, share: int) -> int | None:
        """Return the longest distance found up to a pass over a share; None if it is not done."""
        found = self._load(step, share)
        return None if found is None else int(found[0]["farthest"])

    def do(self, step: int, share: int) -> int:
        """Do a pass over a share, and return the longest distance found so far."""
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
        """Return the solved layer, after *steps* passes over all shares."""
        self._catch_up(steps)
        space = self.builder.space
        name, metric = space.names[self.number], self.builder.settings.metric
        layer = self.layer
        return table_of_codes(space.cls, self.number, name, layer.size, layer.codes, metric)

    def _codes(self, share: int) -> Any:
        """Return a copy of the codes of a share."""
        blocks = self.layer.blocks_of(share, self.shares)
        codes = [self.layer.read(numbers).astype(np.int16) for numbers in blocks]
        return np.concatenate([np.zeros(0, np.int16), *codes])

    def _load(self, step: int, share: int) -> tuple[dict[str, Any], dict[str, Any]] | None:
        found = self.builder.folder.load_share(self.number, step, share)
        if found is None or all(found[0].get(name) == value for name, value in self.about.items()):
            return found
        raise CutnodeError(
            f"{self.builder.folder.path} has passes of other work: delete its files "
            f"layer-{self.number:04}.pass-*"
        )

    def _catch_up(self, steps: int) -> None:
        """Read what all shares found in the first *steps* passes."""
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
        """Write the codes that a share found in a pass into the layer."""
        codes = np.asarray(arrays["codes"]).astype(np.int64)
        if step == 0:
            first = 0
            for block in self.layer.blocks_of(share, self.shares):
                self.layer.write(np.array(block), codes[first : first + len(block)])
                first += len(block)
            return
        places, size = np.asarray(arrays["places"]), 1 << BLOCK_SHIFT
        blocks = places // size * self.shares + share
        self.layer.write(blocks * size + places % size, codes)
