"""Beyond one machine: work spread over a cluster of Dask workers.

:func:`solve_split` proves the value of one hard position.  It needs ``distributed``: ``pip install
'cutnode[cluster]'``.  What splitting costs, and where it stops to pay, is told in
``engine/docs/cluster.md``.
"""

from engine.cluster.driver import SplitProgress, SplitResult, solve_split

__all__ = ["SplitProgress", "SplitResult", "solve_split"]
