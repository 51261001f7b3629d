"""Values in points for each position of a layer, in which play may go round.

Infinite play is worth 0, beyond what a game counts as ``settled`` where its positions have an
index.  So a value of *t* points or more is what the mover can force in finitely many moves, and for
each threshold that is a game which is won, lost or drawn.  Thresholds are lowered one by one from
the largest value on: positions with a move to *t* or more are worth *t*, those whose moves all lead
to *-t* or less are worth *-t*, again and again until nothing changes.  What is left is worth 0.
A move within a layer must not settle points.

Source: J. Romein and H. Bal, "Solving awari with parallel retrograde analysis" (2003).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cutnode.contract.dispatch import game_name
from cutnode.contract.errors import GameError
from cutnode.kernels.layer_points import lower_threshold
from cutnode.kernels.retrograde import MISSING, STUCK
from cutnode.tablebases.retrograde import MissingLayerError, code_type
from cutnode.tablebases.scratch import Scratch
from cutnode.tablebases.spaces import Space
from cutnode.tablebases.tables import Directory
from cutnode.tablebases.threads import LayerThreads


class PointsLayer:
    """The analysis of a layer: ``codes``, the value of each index."""

    def __init__(
        self,
        space: Space,
        number: int,
        directory: Directory,
        threads: LayerThreads,
        scratch: Scratch,
    ):
        self.space, self.number, self.threads = space, number, threads
        self.tables = directory.numbers
        self.codes = scratch.zeros(space.sizes[number], code_type(space.cls))
        self.threshold = -1

    @property
    def step(self) -> str:
        """What is done now."""
        return "first look" if self.threshold < 0 else f"{self.threshold} points"

    def state(self) -> tuple[dict[str, Any], Any] | None:
        """Return the threshold, and the values that are known."""
        return ({"threshold": self.threshold}, self.codes) if self.threshold >= 0 else None

    def restore(self, numbers: dict[str, Any], codes: Any) -> None:
        """Go on from a state."""
        self.codes[:] = codes
        self.threshold = int(numbers["threshold"])

    def solve(self, pause: Callable[[], None] | None = None) -> None:
        """Find all values; *pause* is called between thresholds."""
        if self.threshold < 0:
            self._sweep(-1)
            self.threshold = int(max(self.threads.each("largest"), default=0))
        while self.threshold > 0:
            if pause is not None:
                pause()
            while self._sweep(self.threshold):
                pass
            self.threshold -= 1

    def _sweep(self, threshold: int) -> int:
        """Lower the threshold, or look again; return how many positions that decided."""
        threads, space = self.threads, self.space
        threads.set(threshold=threshold, decided=0, done=0)
        threads.run(lower_threshold, self.tables, space.words, None, self.codes, space.room)
        for memory in threads.memories:
            if memory["fault"] == MISSING:
                raise MissingLayerError(int(memory["fault_layer"]))
            if memory["fault"] == STUCK:
                raise GameError(space.stuck(self.number, int(memory["fault_index"])))
            if memory["fault"]:
                raise GameError(
                    f"{game_name(space.cls)}: from index {int(memory['fault_index']):,} of layer "
                    f"{space.names[self.number]} play leads to a later layer, or to an index that "
                    f"is none"
                )
        return int(sum(threads.each("decided")))
