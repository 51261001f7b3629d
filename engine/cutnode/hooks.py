"""What hooks of a technique answer, and what they may ask: see :class:`cutnode.Technique`."""

from cutnode.kernels.hooks import change_depth as change_depth
from cutnode.kernels.hooks import cut as cut
from cutnode.kernels.hooks import extend as extend
from cutnode.kernels.hooks import history_score as history_score
from cutnode.kernels.hooks import quiet_score as quiet_score
from cutnode.kernels.hooks import reduce as reduce
from cutnode.kernels.hooks import skip as skip
from cutnode.kernels.hooks import skip_rest as skip_rest
from cutnode.kernels.hooks import with_tests as with_tests

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
