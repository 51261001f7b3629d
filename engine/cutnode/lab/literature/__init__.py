"""Published results of search and pruning, measured again with the laboratory's experiments.

Each result is a data file in the folder ``entries``: its source, the claim, the published numbers,
and the experiments that measure them here (:mod:`cutnode.lab.literature.entries`).
"""

from cutnode.lab.literature.entries import Entry, entries
from cutnode.lab.literature.experiment import draw, listed, literature, summarise

__all__ = ["Entry", "draw", "entries", "listed", "literature", "summarise"]
