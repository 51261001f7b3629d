"""Every tunable number of the search, each with what was measured when it was chosen.

Figures: Connect Four 7x6, nodes and time per position on 60 positions of 12 plies.
"""

TABLE_PLIES = 10
"""A node with fewer plies left neither probes nor stores: searching it again is cheaper
than a cache miss.  0 instead of 10: 7 % fewer nodes, 20 % more time."""

ENHANCED_PLIES = 15
"""A node with at least this many plies left looks its children up before it searches one
(enhanced transposition cutoffs).  12: 7 % fewer nodes, the same time; 18: 10 % slower."""

FAR_FRACTION = 4
"""The driver asks for far values first while an end of the interval is further from zero
than this fraction of the first interval.  4 solves balanced positions as cheaply as
MTD(f) from 0, and positions with a quick win with a sixteenth of its nodes."""

SMALLEST_REGION = 1 << 13
"""Buckets with which a table starts: half a MiB, which stays in the second-level cache."""

REGION_GROWTH = 4
"""A region that is half full grows by this factor."""

SHARED_PLIES = 16
"""Of threads that share a search, one puts off a child that another searches if its parent
has at least this many plies left.  Two threads so take 0.7 of the time of one (and 1.2 of
its nodes); without it 1.2, and 2.4.  12 to 23: the same within the noise."""
