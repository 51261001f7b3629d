"""The functions that hooks of a technique call, and the types of their arguments.

A hook answers with :func:`cut`, :func:`change_depth` or :func:`with_tests` for a node, and with
:func:`skip`, :func:`skip_rest`, :func:`reduce` or :func:`extend` for a move.  It can ask for
:func:`quiet_score` and :func:`history_score`.  See :class:`cutnode.Technique`.
"""

from cutnode.kernels.hooks import ChildInfo as ChildInfo
from cutnode.kernels.hooks import NodeInfo as NodeInfo
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
    "ChildInfo",
    "NodeInfo",
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
