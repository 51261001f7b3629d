"""Beyond one machine: work spread over a cluster of Dask workers.

:func:`solve_split` proves the value of one hard position; :func:`solve_many` and
:func:`search_many` run batches; :func:`build_tablebase` solves all positions of a game.  They need
``distributed``: ``pip install 'cutnode[cluster]'``.
``engine/docs/explanation/splitting.md`` explains the cost of splitting, and where it stops paying.
"""

from cutnode.cluster.driver import SplitProgress, SplitResult, solve_split
from cutnode.cluster.layers import build_tablebase
from cutnode.cluster.many import search_many, solve_many

__all__ = [
    "SplitProgress",
    "SplitResult",
    "build_tablebase",
    "search_many",
    "solve_many",
    "solve_split",
]
