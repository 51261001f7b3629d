"""Batches: thousands or millions of positions, solved or searched on all cores.

Threads take spans of positions from a common queue, large spans first and small ones at the end,
and each thread runs one compiled loop over a span.  Results go into arrays, which can be written
as Parquet or JSON Lines, and into a journal, so that a batch whose process was killed resumes
where it was.

In a *cold* batch each position starts with empty tables.  Then all results, node counts included,
are reproducible: they depend neither on where a batch was interrupted nor, as long as each
thread's part of the table has the same size, on the number of threads; only times differ.
Otherwise proofs reuse entries from other positions, in a table that threads share: values are
still exact, but similar positions take fewer nodes, and node counts depend on the order.

:func:`run_batch` does all of this; :func:`search_many` searches some positions with one call of
compiled code per thread, and keeps no journal.
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
