"""Batches: thousands or millions of positions, solved or searched on all cores.

Threads take spans of positions from a common queue, large ones at first and small ones at the
end, and each runs one compiled loop over a span.  What is done goes into a journal, so that a
batch whose process was killed goes on where it was, and into arrays, of which files are
written: Parquet, or JSON lines.

*Cold*, each position starts from nothing.  Then all that is found, node counts included, is the
same whatever was done before a batch was resumed, and whatever the number of threads as long as
each has a part of the table of the same size; only times differ.  Else proofs build on what was
found of other positions, in a table that threads share: values are exact all the same, nodes are
fewer where positions are similar, and depend on what came first.

:func:`run_batch` is all of that; :func:`search_many` searches some positions in a call of
compiled code for each thread, and keeps no journal.
"""

from cutnode.batches.books import build_book
from cutnode.batches.results import BatchResult, read_positions, read_results
from cutnode.batches.running import BatchProgress, run_batch
from cutnode.batches.searching import BatchSearcher, search_many
from cutnode.storage.books import Book

__all__ = [
    "BatchProgress",
    "BatchResult",
    "BatchSearcher",
    "Book",
    "build_book",
    "read_positions",
    "read_results",
    "run_batch",
    "search_many",
]
