"""Values in points for each position of a layer, in which play may repeat.

Infinite play is worth 0, not counting the points that a game calls ``settled`` if its positions
have an index.  So a value of *t* points or more is one that the mover can force in finitely many
moves, and each threshold *t* makes the layer a game of wins, losses and draws.  The threshold
starts at the largest value and falls one by one.  At each, positions with a move to *t* or more
become *t*, and positions whose moves all lead to *-t* or less become *-t*, until nothing changes.
Positions left at the end are worth 0.  A move within a layer must not settle points.

Source: J. Romein and H. Bal, "Solving awari with parallel retrograde analysis" (2003).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cutnode.contract.dispatch import game_name
from cutnode.contract.errors import GameError
from cutnode.kernels.codes import new_codes
from cutnode.kernels.layer_points import lower_threshold
from cutnode.kernels.retrograde import MISSING, STUCK
from cutnode.tablebases.retrograde import MissingLayerError, known_codes, restore_codes
from cutnode.tablebases.threads import LayerTask


class PointsLayer:
    """The analysis of a layer: ``codes``, the value of each index."""

    def __init__(self, task: LayerTask):
        self.space, self.number, self.threads = task.space, task.number, task.threads
        self.tables = task.directory.numbers
        self.codes = new_codes(task.space.cls, task.size, task.scratch.zeros)
        self.threshold = -1

    @property
    def step(self) -> str:
        """The current step."""
        return "first look" if self.threshold < 0 else f"{self.threshold} points"

    def state(self) -> tuple[dict[str, Any], dict[str, Any]] | None:
        """Return the threshold and the values known so far."""
        known = {"threshold": self.threshold}
        return (known, known_codes(self.codes)) if self.threshold >= 0 else None

    def restore(self, numbers: dict[str, Any], arrays: dict[str, Any]) -> None:
        """Resume from a state."""
        restore_codes(self.codes, arrays)
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
        """Sweep once at a threshold (-1: the first look); return how many positions it decides."""
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
                    f"{space.names[self.number]} play leads to a later layer, or to an index out "
                    f"of range"
                )
        return int(sum(threads.each("decided")))
