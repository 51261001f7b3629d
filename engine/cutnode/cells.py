"""The board of a game, for drawings and texts: its cells, and boards of several sizes.

Rules import these; the page *Boards* of the documentation explains them.
"""

from cutnode.contract.cells import STONES as STONES
from cutnode.contract.cells import Cells as Cells
from cutnode.contract.cells import Grid as Grid
from cutnode.contract.cells import Hexagons as Hexagons
from cutnode.contract.cells import Points as Points
from cutnode.contract.cells import Triangles as Triangles
from cutnode.contract.cells import counts as counts
from cutnode.contract.variants import board_size as board_size
from cutnode.contract.variants import variants as variants

__all__ = [
    "STONES",
    "Cells",
    "Grid",
    "Hexagons",
    "Points",
    "Triangles",
    "board_size",
    "counts",
    "variants",
]
