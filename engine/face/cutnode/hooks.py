"""What hooks of a technique answer, and what they may ask: see :class:`cutnode.Technique`."""

from cutnode import Technique as Technique  # finds the engine
from engine.kernels.hooks import change_depth as change_depth
from engine.kernels.hooks import cut as cut
from engine.kernels.hooks import extend as extend
from engine.kernels.hooks import history_score as history_score
from engine.kernels.hooks import quiet_score as quiet_score
from engine.kernels.hooks import reduce as reduce
from engine.kernels.hooks import skip as skip
from engine.kernels.hooks import skip_rest as skip_rest
from engine.kernels.hooks import with_tests as with_tests

__all__ = [
    "change_depth",
    "cut",
    "extend",
    "history_score",
    "quiet_score",
    "reduce",
    "skip",
    "skip_rest",
    "with_tests",
]
